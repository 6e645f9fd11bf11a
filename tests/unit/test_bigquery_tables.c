/* Tables of BigQuery beside what is to be written; limits; what answers mean. */
#include "sink/bigquery.h"
#include "sink/bigquery_table_private.h"

#include "base/reason.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct table_field inner_fields[] = { { .name = { "id", 2 }, .kind = BQ_INT64, .number = 1 },
	                                           { .name = { "Name", 4 }, .kind = BQ_STRING, .number = 2 } };
static const struct table_field fields[] = {
	{ .name = { "row", 3 }, .kind = BQ_STRUCT, .number = 1, .fields = inner_fields, .field_count = 2 },
	{ .name = { "price", 5 }, .kind = BQ_NUMERIC, .number = 2 },
	{ .name = { "tags", 4 }, .kind = BQ_STRING, .is_array = true, .number = 3 },
};
static const struct table_shape shape = { .fields = fields, .count = COUNT(fields) };

static struct shape_difference compare(const char *present)
{
	struct shape_difference difference;
	json_t *json = json_loads(present, 0, NULL);

	assert_non_null(json);
	shape_compare(json, &shape, &difference);
	json_decref(json);
	return difference;
}

static void a_table_as_it_was_made_lacks_nothing(void **state)
{
	struct shape_difference difference;
	json_t *json = shape_json(&shape);

	(void)state;
	shape_compare(json, &shape, &difference);
	assert_null(difference.merged);
	assert_int_equal(difference.conflicts, 0);
	json_decref(json);
}

/* Older names of types, another order and case, columns of others: all of that is the same table. */
static void names_of_answers_are_understood(void **state)
{
	struct shape_difference difference = compare(
		"[{\"name\":\"TAGS\",\"type\":\"STRING\",\"mode\":\"REPEATED\"},{\"name\":\"own\",\"type\":\"RANGE\"},"
		"{\"name\":\"Row\",\"type\":\"RECORD\",\"fields\":[{\"name\":\"name\",\"type\":\"STRING\"},"
		"{\"name\":\"ID\",\"type\":\"INTEGER\",\"mode\":\"REQUIRED\"}]},{\"name\":\"price\",\"type\":\"DECIMAL\"}]");

	(void)state;
	assert_null(difference.merged);
	assert_int_equal(difference.conflicts, 0);
}

/* What is there stays as it came, with what we do not know, in its order; what is missing comes behind, at its level. */
static void missing_columns_come_behind_those_that_are_there(void **state)
{
	struct shape_difference difference = compare(
		"[{\"name\":\"price\",\"type\":\"NUMERIC\",\"policyTags\":{\"names\":[\"x\"]}},"
		"{\"name\":\"row\",\"type\":\"RECORD\",\"description\":\"d\",\"fields\":[{\"name\":\"id\",\"type\":\"INTEGER\"}]}]");
	char *text = json_dumps(difference.merged, JSON_COMPACT);

	(void)state;
	assert_int_equal(difference.missing, 2);
	assert_string_equal(difference.first_missing, "row.Name");
	assert_string_equal(text, "[{\"name\":\"price\",\"type\":\"NUMERIC\",\"policyTags\":{\"names\":[\"x\"]}},"
	                          "{\"name\":\"row\",\"type\":\"RECORD\",\"description\":\"d\",\"fields\":[{\"name\":\"id\",\"type\":"
	                          "\"INTEGER\"},{\"name\":\"Name\",\"type\":\"STRING\"}]},"
	                          "{\"name\":\"tags\",\"type\":\"STRING\",\"mode\":\"REPEATED\"}]");
	free(text);
	json_decref(difference.merged);
}

static void a_column_of_another_type_is_named_with_both(void **state)
{
	struct shape_difference difference = compare(
		"[{\"name\":\"price\",\"type\":\"FLOAT\"},{\"name\":\"tags\",\"type\":\"STRING\"},"
		"{\"name\":\"row\",\"type\":\"RECORD\",\"fields\":[{\"name\":\"id\",\"type\":\"STRING\"},{\"name\":\"name\",\"type\":\"STRING\"}]}]");

	(void)state;
	assert_int_equal(difference.conflicts, 3);
	assert_string_equal(difference.conflict, "row.id");
	assert_string_equal(difference.conflict_has, "STRING");
	assert_string_equal(difference.conflict_wants, "INT64");
	json_decref(difference.merged);
}

/* A range's element is a member of its own in the API's words. */
static void ranges_are_told_with_their_elements(void **state)
{
	static const struct table_field ranges[] = { { .name = { "days", 4 }, .kind = BQ_RANGE_DATE, .number = 1 },
		                                     { .name = { "times", 5 }, .kind = BQ_RANGE_TIMESTAMP, .is_array = true, .number = 2 } };
	static const struct table_shape wanted = { .fields = ranges, .count = COUNT(ranges) };
	struct shape_difference difference;
	json_t *json = shape_json(&wanted);
	char *text = json_dumps(json, JSON_COMPACT);

	(void)state;
	assert_string_equal(text, "[{\"name\":\"days\",\"type\":\"RANGE\",\"rangeElementType\":{\"type\":\"DATE\"}},"
	                          "{\"name\":\"times\",\"type\":\"RANGE\",\"rangeElementType\":{\"type\":\"TIMESTAMP\"},\"mode\":\"REPEATED\"}]");
	free(text);
	shape_compare(json, &wanted, &difference);
	assert_null(difference.merged);
	assert_int_equal(difference.conflicts, 0);
	json_decref(json);
	json = json_loads("[{\"name\":\"days\",\"type\":\"RANGE\",\"rangeElementType\":{\"type\":\"DATETIME\"}},"
	                  "{\"name\":\"times\",\"type\":\"TIMESTAMP\"}]", 0, NULL);
	shape_compare(json, &wanted, &difference);
	assert_int_equal(difference.conflicts, 2);
	assert_string_equal(difference.conflict_has, "RANGE<DATETIME>");
	assert_string_equal(difference.conflict_wants, "RANGE<DATE>");
	json_decref(json);
}

/* Exactly: a decimal is never written into a column that would round it. */
static void only_what_loses_nothing_is_taken(void **state)
{
	(void)state;
	assert_true(shape_takes(BQ_BIGNUMERIC, BQ_NUMERIC));
	assert_true(shape_takes(BQ_NUMERIC, BQ_INT64));
	assert_true(shape_takes(BQ_STRING, BQ_JSON));
	assert_false(shape_takes(BQ_NUMERIC, BQ_BIGNUMERIC));
	assert_false(shape_takes(BQ_FLOAT64, BQ_NUMERIC));
	assert_false(shape_takes(BQ_FLOAT64, BQ_INT64));
	assert_false(shape_takes(BQ_STRING, BQ_INT64));
	assert_false(shape_takes(BQ_TIMESTAMP, BQ_DATETIME));
}

static void a_changelog_has_columns_of_template_and_weir(void **state)
{
	struct arena *arena = arena_new(4096);
	struct column columns[] = { { .name = { "id", 2 }, .type = { .kind = BQ_INT64 }, .key_ordinal = 1 },
	                            { .name = { "v", 1 }, .type = { .kind = BQ_TIMESTAMP } } };
	uint16_t keys[] = { 0 };
	struct table_schema schema = { .source = { "db.t", 4 }, .name = { "t", 1 }, .count = 2, .columns = columns, .key_count = 1,
	                               .keys = keys };
	const struct table_shape *full = changelog_shape(arena, &schema), *copy = shape_copy(arena, full);

	(void)state;
	assert_int_equal(full->count, 11);
	assert_int_equal(shape_columns(full), 14);
	assert_string_equal(full->description, "Changelog Table for db.t");
	assert_true(shape_equal(full, copy));
	schema.key_count = 0;
	const struct table_shape *keyless = changelog_shape(arena, &schema);

	assert_int_equal(keyless->count, 10);
	assert_int_equal(keyless->fields[1].number, 3);
	assert_false(shape_equal(full, keyless));
	arena_free(arena);
}

/* Five at once, and then one every two seconds; a table that rested may have five again. */
static void changes_of_a_table_keep_to_the_limit(void **state)
{
	struct limiter limiter = { 0 };
	int64_t now = 1000000, until = 0;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_true(limiter_take(&limiter, QUOTA_TABLE_UPDATE, now, &until));
	assert_false(limiter_take(&limiter, QUOTA_TABLE_UPDATE, now, &until));
	assert_int_equal(until, now + 2000);
	assert_true(limiter_take(&limiter, QUOTA_TABLE_UPDATE, until, &until));
	assert_false(limiter_take(&limiter, QUOTA_TABLE_UPDATE, now + 2001, &until));
	for (int i = 0; i < 5; i++)
		assert_true(limiter_take(&limiter, QUOTA_TABLE_UPDATE, now + 30000, &until));
	for (int quota = 0; quota < QUOTAS; quota++)
		assert_true(strlen(quota_words((enum quota)quota)) > 10);
}

static void every_row_of_fates_is_reached_and_has_a_page(void **state)
{
	(void)state;
	for (size_t i = 0; i < fate_row_count; i++) {
		const struct fate_row *row = &fate_rows[i];
		enum bigquery_call call = (enum bigquery_call)(row->calls & -row->calls);
		struct google_status status = { .code = row->code };
		struct fate fate;

		snprintf(status.reason, sizeof(status.reason), "%s", row->reason);
		snprintf(status.message, sizeof(status.message), "Some: %s here", row->text);
		fate = call == CALL_ROW ? bigquery_judge_row(status.reason, status.message) : bigquery_judge(call, row->http, &status);
		if (fate.sentence != row->sentence && strcmp(fate.sentence, row->sentence) != 0)
			fail_msg("row %zu ('%s', '%s') is never reached", i, row->reason, row->text);
		if (!reason_find(row->error_code))
			fail_msg("row %zu: '%s' has no page", i, row->error_code);
	}
}

/* Issue: quota, rate, backend, billing, permission, not found, schema, size, buffer. */
static const struct expectation {
	enum bigquery_call call;
	int http;
	enum grpc_code code;
	const char *reason, *message;
	enum bigquery_fate fate;
	const char *error_code;
} expectations[] = {
	{ CALL_INSERT_ALL, 403, GRPC_ANY, "quotaExceeded", "Quota exceeded", FATE_WAIT, "google_quota" },
	{ CALL_APPEND, 0, GRPC_RESOURCE_EXHAUSTED, "", "Exceeds throughput", FATE_WAIT, "google_quota" },
	{ CALL_TABLE_PATCH, 403, GRPC_ANY, "rateLimitExceeded", "Exceeded rate limits", FATE_WAIT, "google_rate_limited" },
	{ CALL_INSERT_ALL, 503, GRPC_ANY, "backendError", "Error", FATE_WAIT, "google_unavailable" },
	{ CALL_APPEND, 0, GRPC_UNAVAILABLE, "", "", FATE_WAIT, "google_unavailable" },
	{ CALL_APPEND, 0, GRPC_ABORTED, "", "Closing the stream because it has been inactive", FATE_WAIT, "google_conflict" },
	{ CALL_INSERT_ALL, 403, GRPC_ANY, "billingNotEnabled", "", FATE_NEEDS_YOU, "google_billing" },
	{ CALL_INSERT_ALL, 403, GRPC_ANY, "accessDenied", "Streaming insert is not allowed in the free tier", FATE_NEEDS_YOU, "google_billing" },
	{ CALL_INSERT_ALL, 403, GRPC_ANY, "accessDenied", "Access Denied", FATE_NEEDS_YOU, "bigquery_denied" },
	{ CALL_APPEND, 0, GRPC_PERMISSION_DENIED, "", "Permission denied", FATE_NEEDS_YOU, "bigquery_denied" },
	{ CALL_TABLE_CREATE, 404, GRPC_ANY, "notFound", "Not found: Dataset p:d", FATE_NEEDS_YOU, "dataset_missing" },
	{ CALL_TABLE_GET, 404, GRPC_ANY, "notFound", "Not found: Project p", FATE_NEEDS_YOU, "no_such_project" },
	{ CALL_TABLE_GET, 404, GRPC_ANY, "notFound", "Not found: Table p:d.t", FATE_LOOK, "table_missing" },
	{ CALL_APPEND, 0, GRPC_NOT_FOUND, "", "Requested entity was not found", FATE_LOOK, "table_missing" },
	{ CALL_TABLE_PATCH, 412, GRPC_ANY, "conditionNotMet", "Precondition", FATE_LOOK, "google_conflict" },
	{ CALL_TABLE_CREATE, 409, GRPC_ANY, "duplicate", "Already Exists", FATE_LOOK, "google_exists" },
	{ CALL_TABLE_CREATE, 400, GRPC_ANY, "invalid", "Invalid field name", FATE_NEEDS_YOU, "table_refused" },
	{ CALL_INSERT_ALL, 400, GRPC_ANY, "invalid", "The destination table has no schema.", FATE_LOOK, "column_not_yet" },
	{ CALL_INSERT_ALL, 413, GRPC_ANY, "", "Request Entity Too Large", FATE_SPLIT, "row_too_large" },
	{ CALL_INSERT_ALL, 400, GRPC_ANY, "invalid", "Request payload size exceeds the limit", FATE_SPLIT, "row_too_large" },
	{ CALL_TABLE_PATCH, 400, GRPC_ANY, "invalid", "rows in the streaming buffer", FATE_WAIT, "streaming_buffer" },
	{ CALL_TABLE_GET, 400, GRPC_ANY, "tableUnavailable", "", FATE_WAIT, "google_unavailable" },
};

static void answers_mean_what_the_issue_asks_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(expectations); i++) {
		const struct expectation *e = &expectations[i];
		struct google_status status = { .code = e->code };
		struct fate fate;

		snprintf(status.reason, sizeof(status.reason), "%s", e->reason);
		snprintf(status.message, sizeof(status.message), "%s", e->message);
		fate = bigquery_judge(e->call, e->http, &status);
		if (fate.fate != e->fate || strcmp(fate.error_code, e->error_code) != 0)
			fail_msg("%s '%s': %s, %d", e->reason, e->message, fate.error_code, (int)fate.fate);
	}
}

static void a_rows_error_is_a_letter_or_sent_again(void **state)
{
	(void)state;
	assert_int_equal(bigquery_judge_row("stopped", "").fate, FATE_AGAIN);
	assert_int_equal(bigquery_judge_row("invalid", "no such field: phone.").fate, FATE_LOOK);
	assert_string_equal(bigquery_judge_row("invalid", "Missing required field: Msg_0.id").error_code, "missing_required");
	assert_string_equal(bigquery_judge_row("invalid", "Cannot convert value to integer (bad value): x").error_code, "type_mismatch");
	assert_string_equal(bigquery_judge_row("", "Field value of ts is out of range").error_code, "value_not_representable");
	assert_string_equal(bigquery_judge_row("invalid", "Maximum size of row is 10MB; row too large").error_code, "row_too_large");
	assert_string_equal(bigquery_judge_row("", "whatever").error_code, "row_refused");
}

static void what_passes_is_known_by_its_code(void **state)
{
	static const char *const passing[] = { "google_quota", "google_rate_limited", "google_unavailable", "own_limit", "streaming_buffer" };
	static const char *const others[] = { "bigquery_denied", "dataset_missing", "table_dropped", "table_missing", "google_billing", "x" };

	(void)state;
	for (size_t i = 0; i < COUNT(passing); i++)
		assert_true(bigquery_code_passes(passing[i]));
	for (size_t i = 0; i < COUNT(others); i++)
		assert_false(bigquery_code_passes(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_as_it_was_made_lacks_nothing),
		cmocka_unit_test(names_of_answers_are_understood),
		cmocka_unit_test(missing_columns_come_behind_those_that_are_there),
		cmocka_unit_test(a_column_of_another_type_is_named_with_both),
		cmocka_unit_test(ranges_are_told_with_their_elements),
		cmocka_unit_test(only_what_loses_nothing_is_taken),
		cmocka_unit_test(a_changelog_has_columns_of_template_and_weir),
		cmocka_unit_test(changes_of_a_table_keep_to_the_limit),
		cmocka_unit_test(every_row_of_fates_is_reached_and_has_a_page),
		cmocka_unit_test(answers_mean_what_the_issue_asks_for),
		cmocka_unit_test(a_rows_error_is_a_letter_or_sent_again),
		cmocka_unit_test(what_passes_is_known_by_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
