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

/* `line` behind `before`, and by itself. */
static void check(struct envelope_reader *reader, struct span before, struct span line)
{
	struct envelope_reader *fresh = envelope_reader_new();
	struct batch *batch = batch_new();
	struct trial first = read_line(reader, batch, before), got = read_line(reader, batch, line);
	struct trial wanted = read_line(fresh, batch, line);

	assert_same(got.message, wanted.message, line.at);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_mean_the_same_behind_any_other),
		cmocka_unit_test(a_line_that_no_longer_fits_is_read_as_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
