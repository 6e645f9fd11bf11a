/*
 * `dlq_groups`, `dlq_filter`: a million dead letters in 500 groups, kept through the store's own door; how long the list of
 * groups and the first page of a table's letters take, from the opened file to the last line.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "bench/bench_private.h"
#include "dlq/dlq.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define TABLES 50
#define COLUMNS 10
#define COMMIT_LETTERS 5000
#define PAGE_LETTERS 1000 /* what the console asks for at once */
#define LOOKS 9
#define LETTER_BYTES 1500 /* of the file, about */
#define MS_A_S 1000.0

static bool letter_keep(struct dlq *dlq, struct batch *batch, uint64_t at, int64_t now_us, struct error *err)
{
	struct refusal why = { .stage = "map", .code = "type_mismatch", .message = "no number where a whole number is meant" };
	struct message *message = batch_add_message(batch);
	char table[16], column[16], path[24];

	snprintf(table, sizeof(table), "shop.t%02d", (int)(at % TABLES));
	snprintf(column, sizeof(column), "c%d", (int)(at / TABLES % COLUMNS));
	snprintf(path, sizeof(path), "after.%s", column);
	why.column = span_of(column);
	why.path = span_of(path);
	message->body = span_of(arena_printf(batch->arena, "{\"before\":null,\"after\":{\"id\":%" PRIu64 ",\"%s\":\"text %" PRIu64
	                                     "\"},\"op\":\"c\"}", at, column, at));
	message->primary_key = span_of(arena_printf(batch->arena, "{\"id\":%" PRIu64 "}", at));
	message->offset = at;
	message->line = at + 1;
	message->received_us = now_us;
	message->fate = MESSAGE_REFUSED;
	message->refusal = &why;
	return dlq_keep(dlq, batch, message, table, err);
}

static bool letters_keep(struct bench *bench, struct dlq *dlq, uint64_t count, struct error *err)
{
	struct batch *batch = batch_new();
	bool is_fine = true;

	for (uint64_t at = 0; is_fine && at < count;) {
		uint64_t until = at + COMMIT_LETTERS < count ? at + COMMIT_LETTERS : count;
		int64_t now_us = clock_utc_us();

		batch_reset(batch);
		is_fine = bench_cancelled(bench, err) && dlq_begin(dlq, err);
		while (is_fine && at < until)
			is_fine = letter_keep(dlq, batch, at++, now_us, err);
		is_fine = is_fine && dlq_commit(dlq, err);
	}
	batch_free(batch);
	return is_fine;
}

static bool store_make(struct bench *bench, const char *path, uint64_t count, struct error *err)
{
	const struct dlq_origin origin = { .kind = "feed", .file = "bench", .identity = SPAN("bench"), .big_folder = bench->folder };
	struct dlq *dlq = dlq_open(path, DLQ_WRITE, err);
	bool is_fine = dlq != NULL;

	if (is_fine) {
		dlq_set_origin(dlq, &origin);
		is_fine = letters_keep(bench, dlq, count, err);
	}
	dlq_close(dlq);
	return is_fine;
}

/* Out of the system's memory: the first look after a night. */
static void forget_pages(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	bench_settle();
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

struct look {
	bool (*ask)(struct dlq *, const struct dlq_filter *, dlq_line, void *, struct error *);
	struct letter_choice choice;
	size_t lines, wanted; /* 0: all */
};

static bool take_line(void *context, const char *json)
{
	struct look *look = context;

	(void)json;
	return ++look->lines != look->wanted;
}

static bool look_once(const char *path, struct look *look, double *out_ms, struct error *err)
{
	const struct dlq_filter filter = { .job = "bench", .choice = look->choice };
	double begun_s = bench_now_s();
	struct dlq *dlq = dlq_open(path, DLQ_READ, err);
	bool is_fine;

	look->lines = 0;
	is_fine = dlq && look->ask(dlq, &filter, take_line, look, err);
	dlq_close(dlq);
	*out_ms = (bench_now_s() - begun_s) * MS_A_S;
	return is_fine;
}

static int compare_ms(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool looks(const char *path, struct look *look, size_t expected, struct bench_result *out, struct error *err)
{
	double cold_ms, ms[LOOKS];

	forget_pages(path);
	if (!look_once(path, look, &cold_ms, err))
		return false;
	for (size_t i = 0; i < LOOKS; i++) {
		if (!look_once(path, look, &ms[i], err))
			return false;
	}
	if (look->lines != expected)
		return fail(err, ERROR_BUG, "bench_failed", "%zu lines came, not %zu", look->lines, expected);
	qsort(ms, LOOKS, sizeof(*ms), compare_ms);
	out->value = ms[LOOKS / 2];
	out->more = json_pack("{s:f}", "cold_ms", cold_ms);
	return true;
}

static bool measure(struct bench *bench, const struct bench_row *row, struct look *look, size_t expected,
                    struct bench_result *out, struct error *err)
{
	char *path = path_join(bench->folder, "letters.db");
	bool is_fine = true;

	out->is_skipped = !bench_has_room(bench, row, row->rows * LETTER_BYTES);
	if (!out->is_skipped)
		is_fine = store_make(bench, path, row->rows, err) && looks(path, look, expected, out, err);
	free(path);
	return is_fine;
}

bool bench_dlq_groups(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct look look = { .ask = dlq_groups };

	return measure(bench, row, &look, TABLES * COLUMNS, out, err);
}

bool bench_dlq_filter(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err)
{
	struct look look = { .ask = dlq_list, .choice = { .table = "t07", .code = "type_mismatch" }, .wanted = PAGE_LETTERS };

	return measure(bench, row, &look, PAGE_LETTERS, out, err);
}
