/* Reading a feed: lines and their ends, resuming, growth, replacement, what cannot be opened. */
#include "unit/feed_help.h"

static const char lines[] =
	"{\"id\":\"1\",\"data\":{\"a\":1}}\n"
	"\n"
	"{\"id\":\"2\",\"key\":\"k\\n\",\"data\":{\"b\":\"\xc3\xa9\"}}\r\n"
	" \t\r\n"
	"not json at all, and rather longer than the other lines are\n"
	"{\"data_b64\":\"eA==\",\"id\":\"3\"}\r\n"
	"[4]";
static const char gives[] =
	"1@0 1||||{\"a\":1}\n"
	"3@27 2|k\n|||{\"b\":\"\xc3\xa9\"}\n"
	"5@73 ||||not json at all, and rather longer than the other lines are\n"
	"6@133 3||||x\n"
	"7@163 ||||[4]\n";

static void lines_have_numbers_and_offsets_blank_ones_count(void **state)
{
	assert_feed_gives(*state, lines, gives);
	assert_feed_gives(*state, "", "");
	assert_feed_gives(*state, "\n\r\n \n", "");
	assert_feed_gives(*state, "\n1\n", "2@1 ||||1\n");
	assert_feed_gives(*state, "1\r\r\n", "1@0 ||||1\r\n");
}

static void every_line_may_cross_the_edge_of_a_block_and_of_a_batch(void **state)
{
	struct bench *b = *state;

	feed_is(b, lines);
	for (size_t block = 1; block < 40; block++) {
		for (size_t per_batch = 1; per_batch < 4; per_batch++) {
			OWNED(text) out = text_new(4096);

			batch_reset(b->batch);
			assert_true(start(b, NULL, block));
			assert_int_equal(pull_all(b, per_batch, out), PULLED_END);
			assert_string_equal(out->at, gives);
		}
	}
}

static void a_run_goes_on_behind_each_line(void **state)
{
	struct bench *b = *state;

	feed_is(b, lines);
	for (size_t first = 0; first <= 5; first++) {
		OWNED(text) out = text_new(4096);
		struct source_position at;

		batch_reset(b->batch);
		assert_true(start(b, NULL, 7));
		for (size_t i = 0; i < first; i++) {
			assert_int_equal(pull(b, 0), PULLED_MESSAGE);
			show(out, last(b));
		}
		at = keep(b);
		assert_true(start(b, &at, 0));
		assert_int_equal(pull_all(b, 1, out), PULLED_END);
		assert_string_equal(out->at, gives);
		drop(&at);
	}
}

/* A message is whole, or it was not read: whatever byte the feed was cut at, the rest comes with the next run. */
static void a_feed_that_was_cut_anywhere_loses_nothing(void **state)
{
	struct bench *b = *state;

	for (size_t cut = 0; cut < sizeof(lines); cut++) {
		OWNED(text) out = text_new(4096);
		struct source_position at;

		batch_reset(b->batch);
		put(b->path, O_TRUNC, span_make(lines, cut));
		assert_true(start(b, NULL, 0));
		assert_int_equal(pull_all(b, 2, out), PULLED_END);
		at = keep(b);
		feed_grows(b, lines + cut);
		assert_true(start(b, &at, 0));
		assert_int_equal(pull_all(b, 2, out), PULLED_END);
		assert_string_equal(out->at, gives);
		drop(&at);
	}
}

static void a_last_line_that_is_cut_off_is_left_unread_and_noted(void **state)
{
	struct bench *b = *state;
	struct error note = { 0 };

	assert_feed_gives(b, "1\n{\"a\":", "1@0 ||||1\n");
	assert_true(b->source->ops->note(b->source, &note));
	assert_string_equal(note.code, "truncated_line");
	assert_non_null(strstr(note.message, "line 2, from byte 2)"));
	assert_false(b->source->ops->note(b->source, &note));
	mark(b);
	assert_int_equal(b->batch->end.offset, 2);
	assert_int_equal(b->batch->end.line, 1);
}

static void a_last_line_that_is_whole_or_blank_needs_no_note(void **state)
{
	struct bench *b = *state;
	struct error note = { 0 };

	assert_feed_gives(b, "1\n{\"a\":1}\r", "1@0 ||||1\n2@2 ||||{\"a\":1}\n");
	assert_false(b->source->ops->note(b->source, &note));
	assert_feed_gives(b, "1\n  ", "1@0 ||||1\n");
	assert_false(b->source->ops->note(b->source, &note));
}

static void the_newline_of_a_whole_last_line_may_come_later(void **state)
{
	struct bench *b = *state;
	OWNED(text) out = text_new(4096);
	struct source_position at;

	assert_feed_gives(b, "1\n2", "1@0 ||||1\n2@2 ||||2\n");
	at = keep(b);
	feed_grows(b, "\r\n3\n");
	assert_true(start(b, &at, 1));
	assert_int_equal(pull_all(b, 9, out), PULLED_END);
	assert_string_equal(out->at, "3@5 ||||3\n");
	drop(&at);
}

/*
 * Following
 */

static void a_followed_feed_waits_for_the_rest_of_a_line(void **state)
{
	struct bench *b = *state;
	int64_t begun_ms = clock_mono_ms();

	b->setup.is_followed = true;
	feed_is(b, "{\"a\":1");
	assert_true(start(b, NULL, 3));
	assert_int_equal(pull(b, 60), PULLED_NOTHING);
	assert_true(clock_mono_ms() - begun_ms >= 60);
	mark(b);
	batch_reset(b->batch);
	feed_grows(b, "}\n12");
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_true(span_is(last(b)->body, "{\"a\":1}"));
	assert_int_equal(pull(b, 0), PULLED_NOTHING);
	feed_grows(b, "3\n");
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_true(span_is(last(b)->body, "123"));
	assert_int_equal(last(b)->line, 2);
	assert_int_equal(pull(b, 0), PULLED_NOTHING);
}

static void a_feed_that_rested_goes_on_in_the_middle_of_a_line(void **state)
{
	struct bench *b = *state;

	b->setup.is_followed = true;
	feed_is(b, "{\"data\":{\"a\":1}}\n{\"data\":{\"a\"");
	assert_true(start(b, NULL, 0));
	b->source->ops->rest(b->source);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pull(b, 0), PULLED_MESSAGE);
		assert_true(span_is(last(b)->body, i ? "{\"a\":2}" : "{\"a\":1}"));
		assert_int_equal(pull(b, 0), PULLED_NOTHING);
		mark(b);
		batch_reset(b->batch);
		b->source->ops->rest(b->source);
		b->source->ops->rest(b->source);
		assert_int_equal(b->source->ops->has_news(b->source), false);
		if (i == 0)
			feed_grows(b, ":2}}\n");
	}
}

static void a_followed_object_counts_before_its_newline(void **state)
{
	struct bench *b = *state;

	b->setup.is_followed = true;
	feed_is(b, "{\"a\":1}");
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(pull(b, 0), PULLED_NOTHING);
	feed_grows(b, "\n\n{}\n");
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(last(b)->line, 3);
	assert_int_equal(last(b)->offset, 9);
}

static void assert_changed(struct bench *b, const char *how)
{
	assert_int_equal(pull(b, 0), PULLED_FAILED);
	assert_string_equal(b->err.code, "feed_changed");
	assert_int_equal(b->err.kind, ERROR_CONFIG);
	assert_non_null(strstr(b->err.message, how));
	assert_non_null(strstr(b->err.message, b->path));
}

static void a_followed_feed_that_was_rotated_truncated_or_removed_says_so(void **state)
{
	struct bench *b = *state;
	char other[128];

	snprintf(other, sizeof(other), "%s.1", b->path);
	b->setup.is_followed = true;
	feed_is(b, "1\n2\n");
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	feed_is(b, "3\n");
	/* What was pulled leaves before the failure is told. */
	assert_int_equal(pull(b, 0), PULLED_NOTHING);
	assert_changed(b, "became shorter");

	batch_reset(b->batch);
	assert_true(start(b, NULL, 0));
	assert_int_equal(rename(b->path, other), 0);
	assert_int_equal(pull(b, 0), PULLED_MESSAGE);
	mark(b);
	batch_reset(b->batch);
	assert_changed(b, "was removed");
	feed_is(b, "4\n");
	assert_changed(b, "was replaced");
}

/*
 * The same file?
 */

static bool resumes(struct bench *b, const struct source_position *at)
{
	bool is_fine = start(b, at, 0);

	if (!is_fine)
		assert_string_equal(b->err.code, "feed_changed");
	return is_fine;
}

static struct source_position read_all(struct bench *b)
{
	OWNED(text) out = text_new(1 << 20);

	batch_reset(b->batch);
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull_all(b, 100, out), PULLED_END);
	return keep(b);
}

static void a_feed_that_is_another_one_is_refused(void **state)
{
	struct bench *b = *state;
	struct source_position at;

	feed_is(b, "1\n2\n");
	at = read_all(b);
	assert_true(resumes(b, &at));
	feed_is(b, "1\n3\n");
	assert_false(resumes(b, &at));
	feed_is(b, "1\n");
	assert_false(resumes(b, &at));
	assert_non_null(strstr(b->err.message, "shorter"));
	feed_is(b, "1\n2\n3\n");
	assert_true(resumes(b, &at));
	drop(&at);
}

static void only_the_first_4096_bytes_are_compared(void **state)
{
	struct bench *b = *state;
	OWNED(text) feed = text_new(10000);
	struct source_position at;

	while (feed->len < 4096)
		text_add(feed, "1\n");
	text_add(feed, "2\n3\n");
	feed_is(b, feed->at);
	at = read_all(b);
	feed->at[4096] = '9';
	feed_is(b, feed->at);
	assert_true(resumes(b, &at));
	feed->at[4094] = '9';
	feed_is(b, feed->at);
	assert_false(resumes(b, &at));
	drop(&at);
}

/* Letters are unique by the identity: it must not change when the feed grows, or moves to another disk. */
static void a_feed_that_grows_or_is_copied_keeps_its_identity(void **state)
{
	struct bench *b = *state;
	struct source_position at, from_start, later;

	feed_is(b, "1\n");
	at = read_all(b);
	assert_int_equal(unlink(b->path), 0);
	feed_is(b, "1\n2\n");
	assert_true(resumes(b, &at));
	later = keep(b);
	assert_true(span_equal(at.identity, later.identity));
	drop(&later);

	from_start = (struct source_position){ .identity = at.identity };
	assert_true(resumes(b, &from_start));
	later = keep(b);
	assert_true(span_equal(at.identity, later.identity));
	assert_int_equal(later.offset, 0);
	drop(&later);

	feed_is(b, "9\n");
	assert_true(resumes(b, &from_start));
	later = keep(b);
	assert_false(span_equal(at.identity, later.identity));
	drop(&later);
	drop(&at);
}

static void the_identity_names_device_inode_and_head(void **state)
{
	struct bench *b = *state;
	struct source_position at;
	char wanted[256];
	struct stat st;

	feed_is(b, "abc");
	assert_true(start(b, NULL, 0));
	at = keep(b);
	assert_int_equal(stat(b->path, &st), 0);
	snprintf(wanted, sizeof(wanted),
	         "{\"device\":%" PRIu64 ",\"inode\":%" PRIu64 ",\"head_bytes\":3,\"head_sha256\":"
	         "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}",
	         (uint64_t)st.st_dev, (uint64_t)st.st_ino);
	assert_true(span_is(at.identity, wanted));
	drop(&at);
}

static void assert_refused(struct bench *b, const char *path, enum error_kind kind, const char *code)
{
	b->options.input_file = (char *)path;
	assert_false(start(b, NULL, 0));
	assert_string_equal(b->err.code, code);
	assert_int_equal(b->err.kind, kind);
	assert_non_null(strstr(b->err.message, path));
}

static void what_cannot_be_opened_says_why(void **state)
{
	struct bench *b = *state;

	assert_refused(b, b->path, ERROR_CONFIG, "no_such_file");
	assert_refused(b, b->folder, ERROR_CONFIG, "not_a_file");
	if (geteuid() == 0)
		return; /* root may read everything */
	feed_is(b, "1\n");
	assert_int_equal(chmod(b->path, 0), 0);
	assert_refused(b, b->path, ERROR_ACCESS, "no_permission");
}

static void options_choose_the_source(void **state)
{
	struct job_options options = { .name = (char[]){ "t" }, .input_file = (char[]){ "-" } };
	struct error err = { 0 };

	(void)state;
	assert_ptr_equal(source_choose(&options, &err), &source_feed);
	options.input_file = NULL;
	assert_null(source_choose(&options, &err));
	assert_string_equal(err.code, "bad_parameter");
	options.input_subscriptions = options.name;
	assert_ptr_equal(source_choose(&options, &err), &source_pubsub);
	options.input_subscriptions = NULL;
	options.input_topics = options.name;
	assert_ptr_equal(source_choose(&options, &err), &source_pubsub);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FEED_TEST(lines_have_numbers_and_offsets_blank_ones_count),
		FEED_TEST(every_line_may_cross_the_edge_of_a_block_and_of_a_batch),
		FEED_TEST(a_run_goes_on_behind_each_line),
		FEED_TEST(a_feed_that_was_cut_anywhere_loses_nothing),
		FEED_TEST(a_last_line_that_is_cut_off_is_left_unread_and_noted),
		FEED_TEST(a_last_line_that_is_whole_or_blank_needs_no_note),
		FEED_TEST(the_newline_of_a_whole_last_line_may_come_later),
		FEED_TEST(a_followed_feed_waits_for_the_rest_of_a_line),
		FEED_TEST(a_feed_that_rested_goes_on_in_the_middle_of_a_line),
		FEED_TEST(a_followed_object_counts_before_its_newline),
		FEED_TEST(a_followed_feed_that_was_rotated_truncated_or_removed_says_so),
		FEED_TEST(a_feed_that_is_another_one_is_refused),
		FEED_TEST(only_the_first_4096_bytes_are_compared),
		FEED_TEST(a_feed_that_grows_or_is_copied_keeps_its_identity),
		FEED_TEST(the_identity_names_device_inode_and_head),
		FEED_TEST(what_cannot_be_opened_says_why),
		cmocka_unit_test(options_choose_the_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
