/* Messages of a subscription that are rows already: remembered across runs, the newest only, and nothing that was rolled back. */
#include "sink/bigquery_append_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define GENERATION 131072
#define BATCH 4096

struct books {
	char folder[32];
	struct local_sink sink;
	struct recent *recent;
	uint64_t batch;
};

static void books_open(struct books *b)
{
	static char job[] = "job";
	struct error err = { 0 };

	b->sink = (struct local_sink){ .job = job };
	b->sink.store = bigquery_books_open(b->folder, "job", STORE_WRITE, &err);
	assert_non_null(b->sink.store);
	b->recent = recent_open(&b->sink, &err);
	assert_non_null(b->recent);
}

static void books_close(struct books *b)
{
	recent_close(b->recent);
	store_close(b->sink.store);
}

static void books_begin(struct books *b)
{
	memcpy(b->folder, "/tmp/weir-recent-XXXXXX", sizeof("/tmp/weir-recent-XXXXXX"));
	assert_non_null(mkdtemp(b->folder));
	b->batch = 1;
	books_open(b);
}

static void books_end(struct books *b)
{
	char command[64];

	books_close(b);
	snprintf(command, sizeof(command), "rm -rf %s", b->folder);
	assert_int_equal(system(command), 0);
}

static bool is_repeat(struct books *b, uint64_t at, uint32_t record)
{
	struct place place = { .at = at, .kind = PLACE_NUMBER };

	return recent_is_repeat(b->recent, b->batch, record, &place);
}

static void commit(struct books *b, bool is_committed)
{
	struct error err = { 0 };

	assert_true(store_begin(b->sink.store, &err));
	assert_true(recent_commit(b->recent, &err));
	if (is_committed) {
		assert_true(store_commit(b->sink.store, &err));
		recent_committed(b->recent);
	} else {
		store_rollback(b->sink.store);
	}
	b->batch++;
}

/* Messages first .. first + count - 1 become rows, a commit for each BATCH of them. */
static void rows(struct books *b, uint64_t first, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		recent_put(b->recent, &(struct place){ .at = first + i, .kind = PLACE_NUMBER });
		if ((i + 1) % BATCH == 0 || i + 1 == count)
			commit(b, true);
	}
}

static void what_was_committed_is_known_in_the_next_run(void **state)
{
	struct books b;

	(void)state;
	books_begin(&b);
	assert_false(is_repeat(&b, 7, 0));
	rows(&b, 7, 3);
	assert_true(is_repeat(&b, 7, 0));
	assert_false(is_repeat(&b, 10, 1));
	books_close(&b);
	books_open(&b);
	assert_true(is_repeat(&b, 9, 0));
	assert_false(is_repeat(&b, 10, 1));
	books_end(&b);
}

static void what_was_rolled_back_is_written_with_the_next_commit(void **state)
{
	struct books b;

	(void)state;
	books_begin(&b);
	recent_put(b.recent, &(struct place){ .at = 5, .kind = PLACE_NUMBER });
	commit(&b, false);
	assert_false(is_repeat(&b, 5, 0));
	rows(&b, 6, 1);
	books_close(&b);
	books_open(&b);
	assert_true(is_repeat(&b, 5, 0));
	assert_true(is_repeat(&b, 6, 1));
	books_end(&b);
}

/* The same record asked for again is the same row; another one of that message is not. */
static void a_message_twice_in_one_batch_is_one_row(void **state)
{
	struct books b;

	(void)state;
	books_begin(&b);
	assert_false(is_repeat(&b, 5, 0));
	assert_false(is_repeat(&b, 5, 0));
	assert_true(is_repeat(&b, 5, 1));
	b.batch++;
	assert_false(is_repeat(&b, 5, 1));
	books_end(&b);
}

static void the_newest_are_remembered_and_the_oldest_forgotten_in_the_books_too(void **state)
{
	struct books b;

	(void)state;
	books_begin(&b);
	rows(&b, 0, 2 * GENERATION);
	assert_true(is_repeat(&b, 0, 0));
	rows(&b, 2 * GENERATION, 1);
	for (int turn = 0; turn < 2; turn++) {
		assert_false(is_repeat(&b, 0, 0));
		assert_false(is_repeat(&b, GENERATION - 1, 1));
		assert_true(is_repeat(&b, GENERATION, 2));
		assert_true(is_repeat(&b, 2 * GENERATION, 3));
		books_close(&b);
		books_open(&b);
	}
	books_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_committed_is_known_in_the_next_run),
		cmocka_unit_test(what_was_rolled_back_is_written_with_the_next_commit),
		cmocka_unit_test(a_message_twice_in_one_batch_is_one_row),
		cmocka_unit_test(the_newest_are_remembered_and_the_oldest_forgotten_in_the_books_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
