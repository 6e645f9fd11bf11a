/* Feeds that cannot be read twice (stdin, FIFO), and lines that are too long to hold. */
#include "unit/feed_help.h"

#include "base/file.h"
#include "base/hash.h"

#include <sys/resource.h>

static void write_to(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* Puts the reading end of a pipe in place of stdin; returns the writing one. */
static int stdin_is_a_pipe(void)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	return ends[1];
}

static void stdin_is_read_until_it_is_closed(void **state)
{
	struct bench *b = *state;
	OWNED(text) out = text_new(4096);
	char dash[] = "-";
	int to = stdin_is_a_pipe();
	int64_t begun_ms = clock_mono_ms();

	b->options.input_file = dash;
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull(b, 60), PULLED_NOTHING);
	assert_true(clock_mono_ms() - begun_ms >= 60);
	write_to(to, "{\"id\":\"1\",\"data\":1}\n[2");
	assert_int_equal(pull_all(b, 1, out), PULLED_NOTHING);
	write_to(to, "]\n\n3");
	assert_int_equal(pull_all(b, 1, out), PULLED_NOTHING);
	close(to);
	assert_int_equal(pull_all(b, 1, out), PULLED_END);
	assert_int_equal(pull_all(b, 1, out), PULLED_END);
	assert_string_equal(out->at, "1@0 1||||1\n2@20 ||||[2]\n4@25 ||||3\n");
}

static void each_run_of_stdin_is_a_source_of_its_own(void **state)
{
	struct bench *b = *state;
	struct source_position one, two;
	char dash[] = "-";
	int to = stdin_is_a_pipe();

	b->options.input_file = dash;
	assert_true(start(b, NULL, 0));
	one = keep(b);
	one.offset = 7;
	assert_true(start(b, &one, 0));
	two = keep(b);
	assert_false(span_equal(one.identity, two.identity));
	assert_int_equal(two.identity.len, sizeof("{\"run\":\"\"}") - 1 + 32);
	assert_int_equal(two.offset, 0);
	/* A file in place of stdin starts at its beginning. */
	feed_is(b, "1\n");
	b->options.input_file = b->path;
	assert_true(start(b, &one, 0));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	drop(&one);
	drop(&two);
	close(to);
}

static void a_fifo_is_like_stdin(void **state)
{
	struct bench *b = *state;
	OWNED(text) out = text_new(4096);
	int to;

	assert_int_equal(mkfifo(b->path, 0600), 0);
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull(b, 0), PULLED_NOTHING);
	to = open(b->path, O_WRONLY | O_CLOEXEC);
	assert_true(to >= 0);
	write_to(to, "1\n2");
	close(to);
	assert_int_equal(pull_all(b, 1, out), PULLED_END);
	assert_string_equal(out->at, "1@0 ||||1\n2@2 ||||2\n");
}

/*
 * Too long to hold
 */

static void assert_stored(struct bench *b, const struct message *m, struct span line)
{
	unsigned char digest[SHA256_BYTES];
	char name[SHA256_TEXT_BYTES], path[256];
	char *content;
	size_t len;

	sha256(line, digest);
	sha256_text(digest, name);
	assert_non_null(m->big);
	assert_string_equal(m->big->sha256, name);
	assert_int_equal(m->big->size, line.len);
	snprintf(path, sizeof(path), "%s/%s", b->big, name);
	assert_true(file_read(path, 1 << 20, &content, &len, &b->err));
	assert_true(span_equal(span_make(content, len), line));
	free(content);
	assert_true(span_equal(m->body, line));
	assert_int_equal(m->fate, MESSAGE_REFUSED);
	assert_string_equal(m->refusal->code, "record_too_large");
	assert_string_equal(m->refusal->stage, "source");
}

static void a_line_beyond_the_limit_goes_to_a_file_and_the_next_is_read(void **state)
{
	struct bench *b = *state;
	static const char feed[] = "12345678\n123456789\r\n12345678\r\n\"1234567\r89\"\n{\"a\": [1]}";

	b->options.max_record_bytes = 8;
	feed_is(b, feed);
	for (size_t block = 1; block < 30; block++) {
		batch_reset(b->batch);
		assert_true(start(b, NULL, block));
		for (size_t i = 0; i < 5; i++)
			assert_int_equal(pull(b, 0), PULLED_MESSAGE);
		assert_int_equal(pull(b, 0), PULLED_END);
		assert_true(span_is(b->batch->messages[0].body, "12345678"));
		assert_stored(b, &b->batch->messages[1], SPAN("123456789"));
		assert_int_equal(b->batch->messages[1].offset, 9);
		assert_true(span_is(b->batch->messages[2].body, "12345678"));
		assert_int_equal(b->batch->messages[2].offset, 20);
		assert_int_equal(b->batch->messages[2].fate, MESSAGE_OPEN);
		assert_stored(b, &b->batch->messages[3], SPAN("\"1234567\r89\""));
		assert_stored(b, &b->batch->messages[4], SPAN("{\"a\": [1]}"));
		assert_int_equal(b->batch->messages[4].line, 5);
		mark(b);
		assert_int_equal(b->batch->end.offset, sizeof(feed) - 1);
	}
}

static void a_long_line_that_is_cut_off_leaves_nothing_behind(void **state)
{
	struct bench *b = *state;
	struct error note = { 0 };
	char path[256];

	b->options.max_record_bytes = 8;
	feed_is(b, "1\n{\"a\":\"123456}");
	assert_true(start(b, NULL, 4));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(pull(b, 0), PULLED_END);
	assert_true(b->source->ops->note(b->source, &note));
	assert_string_equal(note.code, "truncated_line");
	mark(b);
	assert_int_equal(b->batch->end.offset, 2);
	snprintf(path, sizeof(path), "%s/unfinished", b->big);
	assert_int_not_equal(access(path, F_OK), 0);
}

static void a_long_line_may_come_slowly(void **state)
{
	struct bench *b = *state;

	b->options.max_record_bytes = 8;
	b->setup.is_followed = true;
	feed_is(b, "1234567");
	assert_true(start(b, NULL, 4));
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pull(b, 0), PULLED_NOTHING);
		mark(b);
		assert_int_equal(b->batch->end.offset, 0);
		batch_reset(b->batch);
		feed_grows(b, "abcd\r");
	}
	feed_grows(b, "\n2\n");
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_stored(b, last(b), SPAN("1234567abcd\rabcd\rabcd\rabcd"));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(last(b)->line, 2);
	assert_int_equal(last(b)->offset, 28);
}

/* The folder cannot be made: nothing is skipped, and once it can be the line is read again. */
static void a_long_line_that_cannot_be_stored_is_tried_again(void **state)
{
	struct bench *b = *state;

	b->options.max_record_bytes = 8;
	feed_is(b, "1\n123456789\n2\n");
	put(b->big, 0, SPAN("in the way"));
	assert_true(start(b, NULL, 4));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(pull(b, 0), PULLED_NOTHING);
	mark(b);
	batch_reset(b->batch);
	assert_int_equal(pull(b, 0), PULLED_FAILED);
	assert_int_equal(pull(b, 0), PULLED_FAILED);
	assert_int_equal(unlink(b->big), 0);
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_stored(b, last(b), SPAN("123456789"));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(last(b)->line, 3);
}

static long max_kib(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static void a_line_of_200_mb_is_never_held(void **state)
{
	struct bench *b = *state;
	const uint64_t size = 200u << 20;
	long before_kib = max_kib();

	feed_is(b, "");
	assert_int_equal(truncate(b->path, (off_t)size), 0);
	feed_grows(b, "\n1\n");
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(last(b)->big->size, size);
	assert_int_equal(last(b)->body.len, 64 << 10);
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(last(b)->offset, size + 1);
	assert_true(max_kib() - before_kib < 96 << 10);
}

static void a_line_of_just_the_limit_is_held(void **state)
{
	struct bench *b = *state;
	const size_t size = 3u << 20;
	char *line = malloc(size);

	b->options.max_record_bytes = (int64_t)size;
	memset(line, '1', size);
	put(b->path, O_TRUNC, span_make(line, size));
	feed_grows(b, "\n");
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_null(last(b)->big);
	assert_true(span_equal(last(b)->body, span_make(line, size)));
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FEED_TEST(a_line_of_200_mb_is_never_held), /* first: the peak of memory never sinks */
		FEED_TEST(stdin_is_read_until_it_is_closed),
		FEED_TEST(each_run_of_stdin_is_a_source_of_its_own),
		FEED_TEST(a_fifo_is_like_stdin),
		FEED_TEST(a_line_beyond_the_limit_goes_to_a_file_and_the_next_is_read),
		FEED_TEST(a_long_line_that_is_cut_off_leaves_nothing_behind),
		FEED_TEST(a_long_line_may_come_slowly),
		FEED_TEST(a_long_line_that_cannot_be_stored_is_tried_again),
		FEED_TEST(a_line_of_just_the_limit_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
