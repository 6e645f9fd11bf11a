/*
 * Lines read by the mold of the line before: whatever changes in them, they mean
 * what they mean to a reader that has seen no other.
 */
#include "unit/feed_help.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *const lines[] = {
	"{\"id\":\"1\",\"key\":\"{\\\"id\\\":1}\",\"attrs\":{},\"publish\":\"2026-11-30T00:53:20Z\",\"data\":{\"a\":\"x\"}}",
	"{\"id\":\"2\",\"key\":\"{\\\"id\\\":20}\",\"attrs\":{},\"publish\":\"2026-11-30T00:53:21Z\",\"data\":{\"a\":\"y\"} } ",
	"{\"id\":\"3\",\"key\":\"{\\\"schema\\\":{\\\"type\\\":\\\"struct\\\"},\\\"payload\\\":{\\\"id\\\":7}}\",\"data\":[]}",
	"{\"id\":\"4\",\"key\":\"{\\\"schema\\\":{\\\"type\\\":\\\"struct\\\"},\\\"payload\\\":{\\\"id\\\":8}}\",\"data\":null}",
	"{\"id\":\"5\",\"key\":\"{\\\"schema\\\":{\\\"type\\\":\\\"\\\\\\\\\\\"}\",\"data\":1}",
	"{\"id\":\"6\",\"key\":\"plain\",\"data\":{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":1}}}",
	"{ \"id\" : \"7\" , \"publish\" : \"p\" , \"data\" : \"x\" }",
	"{ \"data\" :null}",
	"{ \"data\" : null }",
	"{ \"data\" :\t{\"a\":1}\t}",
	"{\"id\":8,\"data\":1}",
	"{\"data_b64\":\"YQ==\",\"id\":\"9\"}",
	"{\"data\":1,\"id\":\"10\"}",
	"{\"a\":1}",
};

static void assert_same_span(struct span got, struct span wanted, const char *what, const char *line)
{
	if (span_equal(got, wanted))
		return;
	print_error("%s is '%.*s' instead of '%.*s' in %s\n", what, SPAN_ARG(got), SPAN_ARG(wanted), line);
	assert_true(span_equal(got, wanted));
}

static void assert_same(const struct message *got, const struct message *wanted, const char *line)
{
	assert_same_span(got->id, wanted->id, "id", line);
	assert_same_span(got->key, wanted->key, "key", line);
	assert_same_span(got->publish, wanted->publish, "publish", line);
	assert_same_span(got->body, wanted->body, "body", line);
	assert_int_equal(got->fate, wanted->fate);
	assert_int_equal(got->body_is_null, wanted->body_is_null);
	assert_int_equal(got->attr_count, wanted->attr_count);
	assert_int_equal(!got->json, !wanted->json);
}

/* One line with its reader. The copy is exactly as long as the line: sanitizers see a look behind its end. */
struct trial {
	char *copy;
	struct message *message;
};

static struct trial read_line(struct envelope_reader *reader, struct batch *batch, struct span line)
{
	struct trial trial = { malloc(line.len), batch_add_message(batch) };

	assert_non_null(trial.copy);
	memcpy(trial.copy, line.at, line.len);
	envelope_read(reader, batch, trial.message, span_make(trial.copy, line.len));
	return trial;
}

/* The line in front of another, if its end shows when it is read: then it is the newline. */
static bool check_front(struct envelope_reader *reader, struct batch *batch, struct span line, const struct message *wanted)
{
	size_t room = 2 * line.len + 1, len;
	char *text = malloc(room);
	struct message *got = batch_add_message(batch);

	assert_non_null(text);
	memcpy(text, line.at, line.len);
	text[line.len] = '\n';
	memcpy(text + line.len + 1, line.at, line.len);
	len = envelope_front(reader, span_make(text, room), room);
	if (len) {
		assert_int_equal(len, line.len);
		assert_ptr_equal(memchr(text, '\n', room), text + len);
		envelope_read(reader, batch, got, feed_without_cr(span_make(text, len)));
		assert_same(got, wanted, line.at);
		assert_int_equal(envelope_front(reader, span_make(text, room), len - 1), 0);
	}
	free(text);
	return len;
}

/* `line` behind `before`, and by itself. */
static void check(struct envelope_reader *reader, struct span before, struct span line)
{
	struct envelope_reader *fresh = envelope_reader_new();
	struct batch *batch = batch_new();
	struct trial first = read_line(reader, batch, before), got = read_line(reader, batch, line);
	struct trial wanted = read_line(fresh, batch, line);

	assert_same(got.message, wanted.message, line.at);
	check_front(reader, batch, line, wanted.message);
	free(first.copy);
	free(got.copy);
	free(wanted.copy);
	batch_free(batch);
	envelope_reader_free(fresh);
}

static void lines_mean_the_same_behind_any_other(void **state)
{
	struct envelope_reader *reader = envelope_reader_new();

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		for (size_t k = 0; k < COUNT(lines); k++)
			check(reader, span_of(lines[i]), span_of(lines[k]));
	}
	envelope_reader_free(reader);
}

/* Each byte becomes another, is doubled, or ends the line. */
static void check_changed(struct envelope_reader *reader, const char *line, size_t at)
{
	static const char others[] = "\"\\{},:0 n\x01\x7f\xc3";
	size_t len = strlen(line);
	char changed[512];

	assert_true(len + 2 < sizeof(changed));
	for (size_t i = 0; i < sizeof(others) - 1; i++) {
		memcpy(changed, line, len + 1);
		changed[at] = others[i];
		check(reader, span_of(line), span_make(changed, len));
	}
	memcpy(changed, line, at);
	memcpy(changed + at, line + at - (at > 0), len - at + 1 + (at > 0));
	check(reader, span_of(line), span_of(changed));
	check(reader, span_of(line), span_make(line, at + 1));
}

static void a_line_that_no_longer_fits_is_read_as_by_itself(void **state)
{
	struct envelope_reader *reader = envelope_reader_new();

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (size_t at = 0; lines[i][at]; at++)
			check_changed(reader, lines[i], at);
	}
	envelope_reader_free(reader);
}

static void the_end_of_a_line_like_the_one_before_is_found_by_reading_it(void **state)
{
	static const char *const fronts[] = {
		"{\"id\":\"1\",\"key\":\"{\\\"id\\\":1}\",\"attrs\":{},\"publish\":\"p\",\"data\":{\"a\":\"x\",\"b\":1,\"c\":null}}",
		"{\"id\":\"2\",\"data\":{\"a\":[1,{\"b\":[]}],\"c\":{\"d\":{\"e\":{\"f\":1}}}}}\r",
		"{\"id\":\"3\",\"data\":{\"schema\":{\"type\":\"struct\"},\"payload\":{\"a\":1}}}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(fronts); i++) {
		struct envelope_reader *reader = envelope_reader_new();
		struct batch *batch = batch_new();
		struct trial trial = read_line(reader, batch, feed_without_cr(span_of(fronts[i])));

		assert_true(check_front(reader, batch, span_of(fronts[i]), trial.message));
		free(trial.copy);
		batch_free(batch);
		envelope_reader_free(reader);
	}
}

/* White space of JSON is the end of a line here; a block that is new must be learned with its line. */
static void what_goes_on_behind_its_line_has_no_front(void **state)
{
	static const char *const pairs[][2] = {
		{ "{\"data\":{\"a\":[1,2]}}", "{\"data\":{\"a\":[1,\n2]}}" },
		{ "{\"data\":{\"a\":1,\"b\":2}}", "{\"data\":{\"a\":1,\n\"b\":2}}" },
		{ "{\"data\":{\"a\":1}}", "{\"data\":{\"a\":1\n}}" },
		{ "{\"data\":{\"a\":1}}", "{\"data\":{\"a\":1}\n}" },
		{ "{\"data\":{\"a\":1}}", "{\"data\":{\"a\":1}} \n" },
		{ "{\"data\":{\"a\":1}}", "{\"data\":{\"a\":1}}" },
		{ "{\"data\":{\"a\":1}}", "{\"data\":{\"a\":1}}\r" },
		{ "{\"data\":{\"a\":\"x\"}}", "{\"data\":{\"a\":\"x\n\"}}" },
		{ "{\"data\":{\"schema\":{\"a\":1},\"payload\":1}}", "{\"data\":{\"schema\":{\"a\":2},\"payload\":1}}\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct envelope_reader *reader = envelope_reader_new();
		struct batch *batch = batch_new();
		struct trial trial = read_line(reader, batch, span_of(pairs[i][0]));
		struct span text = span_of(pairs[i][1]);

		assert_int_equal(envelope_front(reader, text, text.len), 0);
		free(trial.copy);
		batch_free(batch);
		envelope_reader_free(reader);
	}
}

/* What was read of a line is that line's, and nobody else's. */
static void a_front_is_of_one_line(void **state)
{
	static const char text[] = "{\"id\":\"1\",\"data\":{\"a\":1}}\n{\"id\":\"2\",\"data\":{\"a\":2}}\n";
	struct envelope_reader *reader = envelope_reader_new();
	struct batch *batch = batch_new();
	size_t len = strlen(text) / 2 - 1;
	struct message *message;

	(void)state;
	envelope_read(reader, batch, batch_add_message(batch), span_make(text, len));
	assert_int_equal(envelope_front(reader, span_of(text), len), len);
	message = batch_add_message(batch);
	envelope_read(reader, batch, message, span_make(text + len + 1, len));
	assert_same_span(message->id, SPAN("2"), "id", text);
	batch_free(batch);
	envelope_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_mean_the_same_behind_any_other),
		cmocka_unit_test(a_line_that_no_longer_fits_is_read_as_by_itself),
		cmocka_unit_test(the_end_of_a_line_like_the_one_before_is_found_by_reading_it),
		cmocka_unit_test(what_goes_on_behind_its_line_has_no_front),
		cmocka_unit_test(a_front_is_of_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
