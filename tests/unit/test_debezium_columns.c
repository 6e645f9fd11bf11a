/* A table's columns: how they come to be, change, are refused, and what the owner may say about them. */
#include "transform_help.h"

#define ROW(table, pos, after) EVENT("c", "null", after, MY(table, "bin.000001", pos, 0))
#define BLOCK(fields) \
	"{\"type\":\"struct\",\"fields\":[{\"type\":\"struct\",\"fields\":[" fields "],\"optional\":true,\"field\":\"before\"}," \
	"{\"type\":\"struct\",\"fields\":[" fields "],\"optional\":true,\"field\":\"after\"}]}"
#define WRAPPED(fields, payload) "{\"schema\":" BLOCK(fields) ",\"payload\":" payload "}"
#define ID "{\"type\":\"int32\",\"field\":\"id\"}"

/* B11 */
static void test_a_new_column_is_added_before_the_row_that_needs_it(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	rig_send(&rig, ROW("t", 10, "{\"id\":1,\"a\":\"x\"}"), "{\"id\":1}");
	struct message *m = rig_send(&rig, ROW("t", 20, "{\"id\":2,\"a\":\"y\",\"phone\":\"555\"}"), "{\"id\":2}");

	row_is(&rig, m, "{\"id\":2,\"a\":\"y\",\"phone\":\"555\"}");
	struct schema_change *change = rig.batch->changes->next;

	assert_int_equal(change->before, 1);
	assert_int_equal(change->schema->version, 2);
	assert_int_equal(change->schema->count, 3);
	assert_string_equal(change->why, "new column phone");
	assert_int_equal(rig.batch->changes->schema->count, 2); /* the older one is untouched */
	rig_close(&rig);
}

static void test_reject_refuses_only_values_of_unknown_columns(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, ",\"schemaChanges\":\"reject\"");
	rig_send(&rig, ROW("t", 10, "{\"id\":1,\"a\":\"x\"}"), "{\"id\":1}");
	struct message *m = rig_send(&rig, ROW("t", 20, "{\"id\":2,\"a\":\"y\",\"phone\":\"5\"}"), "{\"id\":2}");

	refused_as(m, "unknown_column");
	span_is_text(m->refusal->column, "phone");
	assert_string_equal(m->refusal->stage, "map");
	assert_non_null(m->position);
	row_is(&rig, rig_send(&rig, ROW("t", 30, "{\"id\":3,\"a\":\"y\",\"phone\":null}"), "{\"id\":3}"),
	       "{\"id\":3,\"a\":\"y\"}");
	m = rig_send(&rig, ROW("t", 40, "{\"id\":\"four\",\"a\":\"y\"}"), "{\"id\":3}");
	refused_as(m, "type_mismatch");
	span_is_text(m->refusal->path, "after.id");
	rig_close(&rig);
}

static void test_ignore_counts_what_it_leaves_out(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, ",\"schemaChanges\":\"ignore\"");
	rig_send(&rig, ROW("t", 10, "{\"id\":1}"), "{\"id\":1}");
	for (int i = 0; i < 2; i++)
		row_is(&rig, rig_send(&rig, ROW("t", 20, "{\"id\":2,\"phone\":\"5\"}"), ""), "{\"id\":2}");
	const struct batch_note *note = rig_note(&rig, "unknown_column");

	assert_non_null(note);
	assert_int_equal(note->count, 2);
	span_is_text(note->column, "phone");
	rig_close(&rig);
}

/* B13 */
static void test_nested_values_become_arrays_and_json(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	rig_send(&rig, "{\"op\":\"c\",\"before\":null,\"after\":{\"id\":1,\"k1\":\"x\",\"k2\":[\"a\",\"b\"],\"k3\":{\"id\":1},"
	         "\"k4\":[{\"id\":1},{\"id\":2}],\"k5\":[]},\"source\":{\"connector\":\"mongodb\",\"db\":\"shop\","
	         "\"table\":\"docs\",\"ord\":1,\"ts_ms\":1700000000000}}", "{\"id\":1}");
	rig_type_is(&rig, "docs", "k2", "ARRAY<STRING>");
	rig_type_is(&rig, "docs", "k3", "JSON");
	rig_type_is(&rig, "docs", "k4", "JSON");
	rig_type_is(&rig, "docs", "k5", "JSON");
	row_is(&rig, &rig.batch->messages[0], "{\"id\":1,\"k1\":\"x\",\"k2\":\"[\\\"a\\\",\\\"b\\\"]\",\"k3\":\"{\\\"id\\\":1}\","
	       "\"k4\":\"[{\\\"id\\\":1},{\\\"id\\\":2}]\",\"k5\":\"[]\"}");
	assert_int_equal(rig_position(&rig, &rig.batch->messages[0], 0).a, 1700000000ull << 32 | 1);
	rig_close(&rig);
}

/* B14 */
static void test_names_that_differ_by_case_are_one_column(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	rig_send(&rig, ROW("t", 10, "{\"id\":1,\"userId\":\"a\"}"), "{\"id\":1}");
	row_is(&rig, rig_send(&rig, ROW("t", 20, "{\"id\":2,\"userid\":\"b\"}"), ""), "{\"id\":2,\"userId\":\"b\"}");
	refused_as(rig_send(&rig, ROW("t", 30, "{\"id\":3,\"userId\":\"c\",\"userid\":\"d\"}"), ""), "column_case_collision");
	row_is(&rig, rig_send(&rig, ROW("t", 40, "{\"id\":4,\"userid\":\"b\"}"), ""), "{\"id\":4,\"userId\":\"b\"}");
	assert_int_equal(rig_schema(&rig, "t")->count, 2);
	rig_close(&rig);
}

/* B15, and names that are ours or SQLite's. */
static void test_odd_signs_become_lines_and_reserved_names_get_a_mark(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	row_is(&rig, rig_send(&rig, ROW("merge", 10, "{\"order\":3,\"select\":true,\"a\\\"b\":1,\"_weir_key\":5}"),
	       "{\"order\":3}"), "{\"order\":3,\"select\":true,\"a_b\":1,\"__weir_key\":5}");
	assert_true(rig_schema(&rig, "merge")->notes & NOTE_RENAMED);
	rig_send(&rig, ROW("sqlite_x", 20, "{\"id\":3}"), "{\"id\":3}");
	span_is_text(rig_schema(&rig, "_sqlite_x")->source, "shop.sqlite_x");
	assert_non_null(rig_note(&rig, "renamed"));
	rig_close(&rig);
}

static void test_guessed_columns_widen_without_losing_digits(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	rig_send(&rig, ROW("t", 1, "{\"id\":1,\"a\":1,\"b\":9007199254740993,\"c\":null,\"d\":true}"), "{\"id\":1}");
	rig_type_is(&rig, "t", "c", "STRING");
	rig_send(&rig, ROW("t", 2, "{\"id\":1,\"a\":1.5,\"b\":1.5,\"c\":7,\"d\":\"x\"}"), "");
	rig_type_is(&rig, "t", "a", "FLOAT64");
	rig_type_is(&rig, "t", "b", "STRING");
	rig_type_is(&rig, "t", "c", "INT64"); /* only NULL had been seen */
	rig_type_is(&rig, "t", "d", "STRING");
	assert_non_null(strstr(rig.batch->changes->next->why, "column a is now FLOAT64"));
	row_is(&rig, rig_send(&rig, ROW("t", 3, "{\"id\":1,\"a\":2,\"b\":9007199254740993,\"c\":\"z\",\"d\":false}"), ""),
	       "{\"id\":1,\"a\":2,\"b\":\"9007199254740993\",\"c\":\"z\",\"d\":\"false\"}");
	row_is(&rig, rig_send(&rig, ROW("t", 4, "{\"id\":1,\"a\":9007199254740993}"), ""),
	       "{\"id\":1,\"a\":\"9007199254740993\"}");
	rig_close(&rig);
}

/* B22 */
static void test_placeholders_are_listed_and_say_nothing_of_the_type(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	rig_send(&rig, ROW("u", 1, "{\"id\":1,\"bio\":\"long\",\"n\":1,\"c\":null}"), "{\"id\":1}");
	struct message *m = rig_send(&rig, ROW("u", 2, "{\"id\":1,\"bio\":\"__debezium_unavailable_value\",\"n\":2,"
	                                       "\"c\":\"__debezium_unavailable_value\"}"), "");

	row_is(&rig, m, "{\"id\":1,\"bio\":null,\"n\":2,\"c\":null}");
	span_is_text(rig_record(&rig, m, 0)->unavailable, "[\"bio\",\"c\"]");
	assert_true(rig_schema(&rig, "u")->notes & NOTE_PLACEHOLDERS);
	assert_true(rig_schema(&rig, "u")->columns[3].is_provisional);
	rig_close(&rig);
	rig_open(&rig, ",\"unavailableValue\":\"gone\"");
	m = rig_send(&rig, ROW("u", 1, "{\"id\":1,\"bio\":\"gone\"}"), "{\"id\":1}");
	span_is_text(rig_record(&rig, m, 0)->unavailable, "[\"bio\"]");
	rig_close(&rig);
}

static const char *const until_event =
	WRAPPED(ID ",{\"type\":\"int64\",\"optional\":true,\"name\":\"io.debezium.time.MicroTimestamp\",\"field\":\"until\"}",
	        EVENT("c", "null", "{\"id\":1,\"until\":253402300800000000}", MY("t", "bin.000001", 1, 0)));

/* B19 */
static void test_a_date_beyond_the_year_9999_is_null_and_counted(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	for (int i = 0; i < 3; i++)
		row_is(&rig, rig_send(&rig, until_event, "{\"id\":1}"), "{\"id\":1,\"until\":null}");
	assert_int_equal(rig_note(&rig, "value_not_representable")->count, 3);
	span_is_text(rig_note(&rig, "value_not_representable")->column, "until");
	rig_close(&rig);
	rig_open(&rig, ",\"onUnrepresentable\":\"dead_letter\"");
	struct message *m = rig_send(&rig, until_event, "{\"id\":1}");

	refused_as(m, "timestamp_out_of_range");
	span_is_text(m->refusal->column, "until");
	rig_close(&rig);
	rig_open(&rig, ",\"onUnrepresentable\":\"clamp\"");
	row_is(&rig, rig_send(&rig, until_event, "{\"id\":1}"), "{\"id\":1,\"until\":\"9999-12-31T23:59:59.999999\"}");
	rig_close(&rig);
	rig_open(&rig, ",\"onUnrepresentable\":\"text\"");
	for (int i = 0; i < 2; i++) /* the second meets a column of text */
		row_is(&rig, rig_send(&rig, until_event, "{\"id\":1}"), "{\"id\":1,\"until\":\"+10000-01-01T00:00:00\"}");
	rig_type_is(&rig, "t", "until", "STRING");
	rig_close(&rig);
}

static void test_a_schema_block_tells_types_and_is_known_again(void **state)
{
	static const char decimal[] = "{\"type\":\"bytes\",\"optional\":true,\"name\":"
		"\"org.apache.kafka.connect.data.Decimal\",\"version\":1,\"parameters\":{\"scale\":\"2\","
		"\"connect.decimal.precision\":\"10\"},\"field\":\"price\"}";
	char body[4096];
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	snprintf(body, sizeof(body), "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"struct\",\"fields\":[%s,%s],"
	         "\"field\":\"after\"}]},\"payload\":%s}", ID, decimal, ROW("t", 1, "{\"id\":1,\"price\":\"Jbc=\"}"));
	for (int i = 0; i < 3; i++)
		row_is(&rig, rig_send(&rig, body, "{\"id\":1}"), "{\"id\":1,\"price\":\"96.55\"}");
	rig_type_is(&rig, "t", "price", "NUMERIC");
	assert_int_equal(rig_schema(&rig, "t")->version, 1);
	assert_false(rig_schema(&rig, "t")->notes & NOTE_INFERRED);
	rig_close(&rig);
}

/* One block more than are kept: all are forgotten, and nothing that was learned from them. */
static void test_more_schema_blocks_than_are_kept(void **state)
{
	static const char format[] =
		"{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"struct\",\"fields\":[" ID
		",{\"type\":\"struct\",\"name\":\"io.debezium.data.geometry.Point\",\"fields\":[{\"type\":\"double\",\"field\":"
		"\"x\"},{\"type\":\"double\",\"field\":\"y\"}],\"field\":\"p\"}],\"field\":\"after\",\"version\":%d}]},\"payload\":%s}";
	char body[1024];
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	for (int i = 0; i < 1002; i++) {
		snprintf(body, sizeof(body), format, i, ROW("t", 1, "{\"id\":1,\"p\":{\"x\":1.5,\"y\":2}}"));
		struct message *m = rig_message(&rig, body, "{\"id\":1}");

		m->body = arena_copy(rig.batch->arena, m->body);
		rig_apply(&rig, m);
	}
	row_is(&rig, &rig.batch->messages[0], "{\"id\":1,\"p\":\"{\\\"x\\\":1.5,\\\"y\\\":2}\"}");
	assert_true(span_equal(rig_record(&rig, &rig.batch->messages[1001], 0)->full_record, rig.batch->records[0].full_record));
	rig_type_is(&rig, "t", "p", "STRUCT<x FLOAT64, y FLOAT64>");
	assert_null(rig.batch->changes->next);
	/* The table's own schema does not lean on what was forgotten. */
	row_is(&rig, rig_send(&rig, ROW("t", 1, "{\"id\":2,\"q\":1}"), ""), "{\"id\":2,\"q\":1}");
	rig_type_is(&rig, "t", "p", "STRUCT<x FLOAT64, y FLOAT64>");
	rig_close(&rig);
}

static void test_a_changed_block_adds_and_widens(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	rig_send(&rig, WRAPPED(ID, ROW("t", 1, "{\"id\":1}")), "{\"id\":1}");
	rig_send(&rig, WRAPPED("{\"type\":\"string\",\"field\":\"id\"},{\"type\":\"int64\",\"field\":\"n\"}",
	                       ROW("t", 2, "{\"id\":\"1\",\"n\":null}")), "{\"id\":\"1\"}");
	rig_type_is(&rig, "t", "id", "STRING");
	rig_type_is(&rig, "t", "n", "INT64");
	/* An event of before the change comes late: same key. */
	struct message *m = rig_send(&rig, WRAPPED(ID, ROW("t", 1, "{\"id\":1}")), "{\"id\":1}");

	row_is(&rig, m, "{\"id\":\"1\"}");
	assert_true(span_equal(rig_record(&rig, m, 0)->key, rig.batch->records[0].key));
	assert_true(span_equal(rig_record(&rig, m, 0)->key, rig.batch->records[1].key));
	rig_close(&rig);
}

static void rig_open_file(struct rig *rig, const char *schema, const char *more)
{
	char path[] = "/tmp/weir-test-schema-XXXXXX", parameters[512];
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, schema, strlen(schema)), (ssize_t)strlen(schema));
	close(file);
	snprintf(parameters, sizeof(parameters), ",\"sourceSchema\":\"%s\"%s", path, more);
	rig_open(rig, parameters);
	unlink(path);
}

static void test_a_schema_file_tells_columns_and_keys(void **state)
{
	static const char schema[] =
		"{\"public.t\":{\"primary_key\":[\"id\"],\"rows\":1,\"columns\":{\"id\":{\"bigquery\":\"INT64\"},"
		"\"price\":{\"bigquery\":\"NUMERIC\",\"debezium\":{\"type\":\"string\"}},"
		"\"day\":{\"debezium\":[{\"type\":\"string\"},{\"type\":\"int32\",\"name\":\"io.debezium.time.Date\"}]}}},"
		"\"t\":{\"columns\":{\"wrong\":{\"bigquery\":\"BOOL\"}}}}";
	struct rig rig;

	(void)state;
	rig_open_file(&rig, schema, "");
	struct message *m = rig_send(&rig, EVENT("c", "null", "{\"id\":1,\"price\":\"12.30\",\"day\":1,\"new\":2}", PG("t", 1)),
	                             "default");

	row_is(&rig, m, "{\"id\":1,\"price\":\"12.3\",\"day\":\"1970-01-02\",\"new\":2}");
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"id\":1}");
	rig_type_is(&rig, "t", "day", "DATE");
	assert_true(rig_schema(&rig, "t")->notes & NOTE_INFERRED); /* "new" */
	refused_as(rig_send(&rig, EVENT("c", "null", "{\"id\":\"x\"}", PG("t", 2)), ""), "type_mismatch");
	rig_close(&rig);
	rig_open_file(&rig, schema, ",\"schemaChanges\":\"reject\"");
	refused_as(rig_send(&rig, EVENT("c", "null", "{\"id\":1,\"new\":2}", PG("t", 1)), ""), "unknown_column");
	rig_close(&rig);
}

static void test_column_types_override_all_else(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, ",\"columnTypes\":{\"t.h\":{\"type\":\"BYTES\",\"encoding\":\"hex\"},"
	               "\"t.b\":{\"type\":\"BYTES\",\"encoding\":\"base64\"},\"t.n\":\"NUMERIC\"}");
	row_is(&rig, rig_send(&rig, ROW("t", 1, "{\"id\":1,\"h\":\"00fF\",\"b\":\"AP8=\",\"n\":1.50}"), "{\"id\":1}"),
	       "{\"id\":1,\"h\":\"AP8=\",\"b\":\"AP8=\",\"n\":\"1.5\"}");
	rig_type_is(&rig, "t", "h", "BYTES");
	refused_as(rig_send(&rig, ROW("t", 2, "{\"id\":1,\"h\":\"0\"}"), ""), "type_mismatch");
	refused_as(rig_send(&rig, ROW("t", 3, "{\"id\":1,\"h\":\"zz\"}"), ""), "type_mismatch");
	refused_as(rig_send(&rig, ROW("t", 4, "{\"id\":1,\"n\":\"many\"}"), ""), "type_mismatch");
	rig_close(&rig);
}

static void test_a_bad_schema_file_is_named(void **state)
{
	static const char *const files[] = { "[]", "{", "{\"t\":[]}", "{\"t\":{\"columns\":{\"a\":{\"bigquery\":\"INT\"}}}}",
		"{\"t\":{\"columns\":{\"a\":{\"debezium\":{\"x\":1}}}}}", "{\"t\":{\"primary_key\":[1]}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[] = "/tmp/weir-test-schema-XXXXXX";
		struct job_options options = { .source_schema = path };
		struct transform_setup setup = { .options = &options, .wants_json = true };
		struct error err = { 0 };
		int file = mkstemp(path);

		assert_int_equal(write(file, files[i], strlen(files[i])), (ssize_t)strlen(files[i]));
		close(file);
		assert_null(transform_debezium.open(&setup, &err));
		assert_string_equal(err.code, "bad_source_schema");
		unlink(path);
	}
}

static void test_a_table_may_not_have_more_columns_than_the_limit(void **state)
{
	struct text *body = text_new(1 << 20);
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	text_add(body, "{\"op\":\"c\"," PG("wide", 1) ",\"after\":{\"id\":1");
	for (int i = 1; i < SCHEMA_COLUMNS_MAX; i++)
		text_add_format(body, ",\"c%d\":%d", i, i);
	size_t fits = body->len;

	text_add(body, "}}");
	assert_int_equal(rig_send(&rig, body->at, "{\"id\":1}")->record_count, 1);
	assert_int_equal(rig_schema(&rig, "wide")->count, SCHEMA_COLUMNS_MAX);
	body->len = fits;
	text_add(body, ",\"one_more\":1}}");
	refused_as(rig_send(&rig, body->at, "{\"id\":1}"), "too_many_columns");
	text_free(body);
	rig_close(&rig);
}

static void test_a_row_larger_than_the_destination_takes_is_refused(void **state)
{
	static char body[10000600];
	struct rig rig;
	const char head[] = "{\"op\":\"c\"," PG("t", 1) ",\"after\":{\"id\":1,\"x\":\"";
	size_t used = sizeof(head) - 1;

	(void)state;
	rig_open(&rig, "");
	memcpy(body, head, used);
	/* {"id":1,"x":"..."} */
	size_t fits = 10000000 - 15;

	memset(body + used, 'x', fits);
	memcpy(body + used + fits, "\"}}", 4);
	assert_int_equal(rig_record(&rig, rig_send(&rig, body, "{\"id\":1}"), 0)->full_record.len, 10000000);
	memcpy(body + used + fits, "x\"}}", 5);
	refused_as(rig_send(&rig, body, "{\"id\":1}"), "row_too_large");
	rig_close(&rig);
}

static void test_a_table_of_an_earlier_run_goes_on_where_it_was(void **state)
{
	struct rig first, second;

	(void)state;
	rig_open(&first, "");
	rig_send(&first, ROW("t", 1, "{\"id\":1,\"a\":9007199254740993}"), "{\"id\":1}");
	const struct table_schema *tables[] = { rig_schema(&first, "t") };

	assert_true(tables[0]->columns[1].is_wide);
	rig_open_with(&second, "", tables, 1, false);
	struct message *m = rig_send(&second, ROW("t", 2, "{\"id\":2,\"a\":3}"), "");

	assert_null(second.batch->changes);
	assert_int_equal(rig_record(&second, m, 0)->table, 0);
	span_is_text(rig_record(&second, m, 0)->primary_key, "{\"id\":2}");
	rig_send(&second, ROW("t", 3, "{\"id\":2,\"a\":1.5}"), "");
	rig_type_is(&second, "t", "a", "STRING");
	assert_int_equal(rig_schema(&second, "t")->version, tables[0]->version + 1);
	rig_close(&first);
	rig_close(&second);
}

/* Field numbers and wire types by hand: the bytes are the contract with BigQuery's writer. */
static void test_the_storage_write_row_is_what_the_template_has(void **state)
{
	static const unsigned char expected[] = "\x0a\x05" "\x08\x01" "\x12\x01x" "\x12\x02" "\x08\x01" "\x1a\x06INSERT"
		"\x20\xfb\xd0\x95\xff\xbc\x31" "\x2a\x0dshop.public.t" "\x32\x21";
	struct rig rig;

	(void)state;
	rig_open_with(&rig, "", NULL, 0, true);
	struct message *m = rig_send(&rig, EVENT("c", "null", "{\"id\":1,\"a\":\"x\",\"b\":null}", PG("t", 1)), "{\"id\":1}");
	struct record *r = rig_record(&rig, m, 0);
	size_t head = sizeof(expected) - 1;

	assert_int_equal(r->proto.len, head + POSITION_BYTES + 2 + r->key.len);
	assert_memory_equal(r->proto.at, expected, head);
	assert_memory_equal(r->proto.at + head, r->position, POSITION_BYTES);
	assert_memory_equal(r->proto.at + head + POSITION_BYTES, "\x3a\x03\x01\x01" "1", 5);
	rig_close(&rig);
}

#define LIST "{\"type\":\"array\",\"items\":{\"type\":\"int32\",\"optional\":true},\"optional\":true,\"field\":\"a\"}"
#define LISTS "{\"type\":\"struct\",\"fields\":[" LIST "],\"optional\":true,\"field\":\"s\"}"

/* onUnrepresentable; the row; its fullRecord's bytes, or NULL if it is refused. */
static const struct {
	const char *parameters, *fields, *row, *bytes;
	size_t len;
	const char *note;
} nulls[] = {
	{ "", ID "," LIST, "{\"id\":1,\"a\":[1,null,2]}", NULL, 0, NULL },
	{ "", ID "," LIST, "{\"id\":1,\"a\":[1,2]}", "\x08\x01\x10\x01\x10\x02", 6, NULL },
	{ "", ID "," LIST, "{\"id\":1,\"a\":null}", "\x08\x01", 2, NULL },
	{ ",\"onUnrepresentable\":{\"other\":\"clamp\"}", ID "," LIST, "{\"id\":1,\"a\":[1,null,2]}", "\x08\x01\x10\x01\x10\x02", 6, "value_not_representable" },
	{ ",\"onUnrepresentable\":{\"other\":\"null\"}", ID "," LIST, "{\"id\":1,\"a\":[null]}", "\x08\x01", 2, "value_not_representable" },
	{ ",\"onUnrepresentable\":{\"other\":\"text\"}", ID "," LIST, "{\"id\":1,\"a\":[1,null]}", "\x08\x01\x12\x08[1,null]", 12, "value_not_representable" },
	{ ",\"onUnrepresentable\":{\"number\":\"null\"}", ID "," LIST, "{\"id\":1,\"a\":[1,null]}", NULL, 0, NULL },
	{ ",\"columnTypes\":{\"t.a\":\"JSON\"}", ID "," LIST, "{\"id\":1,\"a\":[1,null]}", "\x08\x01\x12\x08[1,null]", 12, NULL },
	{ "", ID "," LISTS, "{\"id\":1,\"s\":{\"a\":[null]}}", NULL, 0, NULL },
	{ "", ID "," LISTS, "{\"id\":1,\"s\":{\"a\":[3]}}", "\x08\x01\x12\x02\x08\x03", 6, NULL },
	{ "", ID "," LISTS, "{\"id\":1,\"s\":{\"a\":null}}", "\x08\x01\x12\x00", 4, NULL },
};

/* BigQuery's arrays have no NULL in them; it may not be left out in silence. */
static void test_null_among_elements_follows_on_unrepresentable(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++) {
		char *body = NULL;
		struct rig rig;

		assert_true(asprintf(&body, "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"struct\",\"fields\":[%s],\"optional\":true,\"field\":\"after\"}]},"
		                     "\"payload\":" EVENT("c", "null", "%s", MY("t", "bin.000001", 10, 0)) "}", nulls[i].fields, nulls[i].row) > 0);
		rig_open_with(&rig, nulls[i].parameters, NULL, 0, true);
		struct message *m = rig_send(&rig, body, "{\"id\":1}");

		if (!nulls[i].bytes) {
			refused_as(m, "null_element");
		} else {
			struct record *r = rig_record(&rig, m, 0);

			assert_int_equal(r->proto.at[0], 10);
			assert_int_equal(r->proto.at[1], nulls[i].len);
			assert_memory_equal(r->proto.at + 2, nulls[i].bytes, nulls[i].len);
		}
		assert_true(!nulls[i].note || rig_note(&rig, nulls[i].note));
		rig_close(&rig);
		free(body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_column_is_added_before_the_row_that_needs_it),
		cmocka_unit_test(test_reject_refuses_only_values_of_unknown_columns),
		cmocka_unit_test(test_ignore_counts_what_it_leaves_out),
		cmocka_unit_test(test_nested_values_become_arrays_and_json),
		cmocka_unit_test(test_names_that_differ_by_case_are_one_column),
		cmocka_unit_test(test_odd_signs_become_lines_and_reserved_names_get_a_mark),
		cmocka_unit_test(test_guessed_columns_widen_without_losing_digits),
		cmocka_unit_test(test_placeholders_are_listed_and_say_nothing_of_the_type),
		cmocka_unit_test(test_a_date_beyond_the_year_9999_is_null_and_counted),
		cmocka_unit_test(test_a_schema_block_tells_types_and_is_known_again),
		cmocka_unit_test(test_more_schema_blocks_than_are_kept),
		cmocka_unit_test(test_a_changed_block_adds_and_widens),
		cmocka_unit_test(test_a_schema_file_tells_columns_and_keys),
		cmocka_unit_test(test_column_types_override_all_else),
		cmocka_unit_test(test_a_bad_schema_file_is_named),
		cmocka_unit_test(test_a_table_may_not_have_more_columns_than_the_limit),
		cmocka_unit_test(test_a_row_larger_than_the_destination_takes_is_refused),
		cmocka_unit_test(test_a_table_of_an_earlier_run_goes_on_where_it_was),
		cmocka_unit_test(test_the_storage_write_row_is_what_the_template_has),
		cmocka_unit_test(test_null_among_elements_follows_on_unrepresentable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
