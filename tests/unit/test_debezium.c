/* What a Debezium message becomes: kinds of messages, records, order, keys. */
#include "transform_help.h"

static void test_an_insert_becomes_one_row(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_send(&rig, EVENT("c", "null", "{\"id\":1,\"name\":\"a\\u00e9\\n\",\"n\":null}",
	                                         PG("people", 1000)), "{\"id\":1}");

	row_is(&rig, m, "{\"id\":1,\"name\":\"a\\u00e9\\n\",\"n\":null}");
	struct record *r = rig_record(&rig, m, 0);

	assert_int_equal(r->operation, OP_INSERT);
	assert_int_equal(r->timestamp_ms, 1700000000123);
	span_is_text(r->primary_key, "{\"id\":1}");
	assert_int_equal(r->key.len, 3);
	assert_memory_equal(r->key.at, "\x01\x01" "1", 3);
	const struct table_schema *schema = rig_schema(&rig, "people");

	span_is_text(schema->source, "shop.public.people");
	assert_int_equal(schema->version, 1);
	assert_int_equal(schema->count, 3);
	assert_int_equal(schema->key_count, 1);
	assert_true(schema->columns[2].is_provisional);
	assert_true(schema->notes & NOTE_INFERRED);
	assert_int_equal(m->table, 0);
	assert_ptr_equal(m->position, r->position);
	rig_close(&rig);
}

/* B01 and B05: the tuple (number of the file, pos, row) is the order. */
static void test_binlog_positions_compare_as_numbers(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *paid = rig_send(&rig, EVENT("u", "{\"id\":7}", "{\"id\":7}", MY("orders", "bin.000004", 566, 0)),
	                                "{\"id\":7}");
	struct message *new = rig_send(&rig, EVENT("c", "null", "{\"id\":7}", MY("orders", "bin.000004", 410, 0)), "");
	struct message *late = rig_send(&rig, EVENT("c", "null", "{\"id\":7}", MY("orders", "bin.999999", 9, 9)), "");
	struct message *roll = rig_send(&rig, EVENT("c", "null", "{\"id\":7}", MY("orders", "bin.1000000", 4, 0)), "");
	struct position p = rig_position(&rig, paid, 0);

	assert_int_equal(p.epoch, 0);
	assert_int_equal(p.a, 4);
	assert_int_equal(p.b, 566);
	assert_int_equal(p.c, 1);
	assert_true(memcmp(paid->position, new->position, POSITION_BYTES) > 0);
	assert_true(memcmp(roll->position, late->position, POSITION_BYTES) > 0);
	rig_close(&rig);
}

/* B03: the delete comes first, the insert knows where the row was before. */
static void test_a_key_change_in_one_event_is_a_delete_and_an_insert(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, ",\"primaryKey\":\"id\"");
	struct message *m = rig_send(&rig, EVENT("u", "{\"id\":1,\"name\":\"ann\"}", "{\"id\":2,\"name\":\"ann\"}",
	                                         PG("people", 1010)), "");

	assert_int_equal(m->record_count, 2);
	struct record *gone = rig_record(&rig, m, 0), *here = rig_record(&rig, m, 1);

	assert_int_equal(gone->operation, OP_DELETE);
	span_is_text(gone->primary_key, "{\"id\":1}");
	assert_int_equal(gone->full_record.len, 0);
	assert_int_equal(here->operation, OP_INSERT);
	span_is_text(here->primary_key, "{\"id\":2}");
	assert_true(span_equal(here->old_key, gone->key));
	assert_int_equal(rig_position(&rig, m, 0).ordinal, 0);
	assert_int_equal(rig_position(&rig, m, 1).ordinal, 1);
	rig_close(&rig);
}

static void test_a_before_without_the_key_is_no_key_change(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_send(&rig, EVENT("u", "{\"name\":\"x\"}", "{\"id\":2,\"name\":\"y\"}", PG("people", 1)),
	                             "{\"id\":2}");

	assert_int_equal(m->record_count, 1);
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_UPDATE);
	m = rig_send(&rig, EVENT("u", "{\"id\":null,\"name\":\"x\"}", "{\"id\":2,\"name\":\"y\"}", PG("people", 2)), "");
	assert_int_equal(m->record_count, 1);
	m = rig_send(&rig, EVENT("u", "{\"id\":\"2\",\"name\":\"x\"}", "{\"id\":2,\"name\":\"y\"}", PG("people", 3)), "");
	assert_int_equal(m->record_count, 1);
	rig_close(&rig);
}

static void test_the_insert_of_the_sources_own_key_change_has_the_old_key(void **state)
{
	struct rig rig;
	struct attribute old = { SPAN("__debezium.oldkey"), SPAN("{\"schema\":null,\"payload\":{\"id\":5}}") };

	(void)state;
	rig_open(&rig, "");
	struct message *gone = rig_send(&rig, EVENT("d", "{\"id\":5}", "null", PG("t", 9)), "{\"id\":5}");
	struct message *m = rig_message(&rig, EVENT("c", "null", "{\"id\":6}", PG("t", 9)), "{\"id\":6}");

	m->attrs = &old;
	m->attr_count = 1;
	rig_apply(&rig, m);
	assert_true(span_equal(rig_record(&rig, m, 0)->old_key, rig_record(&rig, gone, 0)->key));
	assert_int_equal(rig_position(&rig, gone, 0).ordinal, 0);
	assert_int_equal(rig_position(&rig, m, 0).ordinal, 1);
	rig_close(&rig);
}

static void test_messages_that_are_no_rows_are_filtered(void **state)
{
	static const char *const bodies[] = {
		"{\"ts_ms\":1796000000000}",
		"{\"schema\":{\"type\":\"struct\"},\"payload\":{\"ts_ms\":1}}",
		"{\"status\":\"BEGIN\",\"id\":\"1:2\",\"ts_ms\":1,\"event_count\":null,\"data_collections\":null}",
		"{\"op\":\"m\",\"ts_ms\":1,\"source\":{\"connector\":\"postgresql\",\"table\":\"\"},\"message\":{}}",
		"{\"id\":\"x\",\"type\":\"COMPLETED\",\"aggregate_type\":\"Initial Snapshot\",\"timestamp\":1}",
		"{\"source\":{\"connector\":\"mysql\",\"file\":\"b.1\",\"pos\":1},\"tableChanges\":[{\"type\":\"CREATE\"}]}",
		"null", "", " \n",
		"{\"schema\":{\"type\":\"struct\"},\"payload\":null}",
	};
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		filtered(rig_send(&rig, bodies[i], "{\"id\":1}"));
	assert_int_equal(rig.batch->record_count, 0);
	assert_null(rig.batch->changes);
	rig_close(&rig);
}

/* B31 */
static void test_bodies_without_anything_are_letters(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	refused_as(rig_send(&rig, "", ""), "empty_message");
	struct message *m = rig_message(&rig, "null", "");

	m->body_is_null = true;
	refused_as(rig_apply(&rig, m), "null_root");
	refused_as(rig_send(&rig, "\xff\xfe", ""), "not_utf8");
	rig_close(&rig);
}

static void test_a_truncate_is_a_record_of_its_table(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_send(&rig, EVENT("t", "null", "null", PG("carts", 77)), "default");
	struct record *r = rig_record(&rig, m, 0);

	assert_int_equal(r->operation, OP_TRUNCATE);
	assert_int_equal(r->key.len, 0);
	assert_int_equal(r->full_record.len, 0);
	/* Its key is found with the first row. */
	m = rig_send(&rig, EVENT("c", "null", "{\"id\":1}", PG("carts", 78)), "{\"id\":1}");
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"id\":1}");
	assert_int_equal(rig_schema(&rig, "carts")->key_count, 1);
	rig_close(&rig);
}

static void test_a_drop_is_remembered_but_counts_as_filtered(void **state)
{
	static const char drop[] = "{\"source\":{\"connector\":\"mysql\",\"db\":\"shop\",\"table\":\"t\",\"snapshot\":%s,"
	                           "\"file\":\"b.000002\",\"pos\":9,\"row\":3},\"ts_ms\":5,\"ddl\":\"%s\",\"tableChanges\":[%s]}";
	static const char change[] = "{\"type\":\"DROP\",\"id\":\"\\\"shop\\\".\\\"t\\\"\",\"table\":null}";
	char body[1024];
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	snprintf(body, sizeof(body), drop, "\"true\"", "DROP TABLE IF EXISTS `shop`.`t`", change);
	struct message *m = rig_send(&rig, body, "{\"databaseName\":\"shop\"}");

	filtered(m);
	assert_int_equal(m->record_count, 0); /* the table is not known */
	rig_send(&rig, EVENT("r", "null", "{\"id\":1}", MY("t", "b.000001", 4, 0)), "{\"id\":1}");
	m = rig_send(&rig, body, "");
	filtered(m);
	assert_int_equal(m->record_count, 1);
	assert_int_equal(rig.batch->records[m->first_record].operation, OP_DROP);
	assert_int_equal(rig.batch->records[m->first_record].table, 0);
	struct position p;

	position_unpack(rig.batch->records[m->first_record].position, &p);
	assert_int_equal(p.c, 0); /* every message of a snapshot */
	snprintf(body, sizeof(body), drop, "null", "DROP TABLE `shop`.`t`, other", "");
	m = rig_send(&rig, body, "");
	assert_int_equal(m->record_count, 1);
	position_unpack(rig.batch->records[m->first_record].position, &p);
	assert_int_equal(p.c, 4);
	snprintf(body, sizeof(body), drop, "null", "drop database shop", "");
	assert_int_equal(rig_send(&rig, body, "")->record_count, 1);
	snprintf(body, sizeof(body), drop, "null", "DROP TABLE `unclosed", "");
	assert_int_equal(rig_send(&rig, body, "")->record_count, 0);
	rig_close(&rig);
}

static void test_wrong_shapes_are_refused_by_name(void **state)
{
	static const struct {
		const char *body, *code;
	} cases[] = {
		{ "[1]", "unexpected_root" },
		{ "42", "unexpected_root" },
		{ "\"x\"", "unexpected_root" },
		{ "{\"schema\":{},\"payload\":[]}", "unexpected_root" },
		{ "{}", "bad_envelope" },
		{ "{\"schema\":{\"type\":\"struct\"}}", "bad_envelope" },
		{ "{\"specversion\":\"1.0\",\"data\":{}}", "bad_envelope" },
		{ EVENT("x", "null", "{}", PG("t", 1)), "unknown_op" },
		{ "{\"op\":1,\"after\":{\"id\":1}," PG("t", 1) "}", "unknown_op" },
		{ "{\"op\":\"c\",\"after\":{\"id\":1}}", "no_source_table" },
		{ EVENT("c", "null", "{\"id\":1}", PG("", 1)), "no_source_table" },
		{ EVENT("c", "null", "{\"id\":1}", "\"source\":\"t\""), "bad_envelope" },
		{ EVENT("c", "null", "null", PG("t", 1)), "bad_envelope" },
		{ EVENT("u", "null", "null", PG("t", 1)), "bad_envelope" },
		{ EVENT("c", "null", "\"row\"", PG("t", 1)), "bad_envelope" },
		{ EVENT("c", "[]", "{\"id\":1}", PG("t", 1)), "bad_envelope" },
		{ EVENT("c", "null", "{\"id\":1}", PG("t", "abc")), "bad_position" },
		{ EVENT("c", "null", "{\"id\":1}", MY("t", "binlog", 1, 0)), "bad_position" },
		{ EVENT("c", "null", "{\"id\":1}", MY("t", "b.1", -1, 0)), "bad_position" },
		{ EVENT("d", "null", "null", PG("t", 1)), "no_key" },
		{ EVENT("c", "null", "{\"id\":1,\"id\":2}", PG("t", 1)), "duplicate_key" },
		{ "{\"op\":\"c\",\"op\":\"c\",\"after\":{\"id\":1}," PG("t", 1) "}", "duplicate_key" },
		{ "{\"op\":\"c\",\"after\":{\"id\":1},\"source\":{\"table\":\"t\",\"table\":\"u\"}}", "duplicate_key" },
		{ EVENT("c", "null", "{\"a`b\":1}", PG("t", 1)), "bad_name" },
		{ EVENT("c", "null", "{\"a\\u0000b\":1}", PG("t", 1)), "bad_name" },
		{ EVENT("c", "null", "{\"\":1}", PG("t", 1)), "bad_name" },
		{ EVENT("c", "null", "{\"id\":1}", PG("a\\u001bb", 1)), "bad_name" },
		{ "{\"id\":1,\"name\":\"x\"}", "no_source_table" },
		{ "{\"id\":1} x", "not_json" },
		{ "{\"id\":", "not_json" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;

		rig_open(&rig, "");
		refused_as(rig_send(&rig, cases[i].body, ""), cases[i].code);
		/* A second time too: what was remembered of the first must not let it pass. */
		refused_as(rig_send(&rig, cases[i].body, ""), cases[i].code);
		rig_close(&rig);
	}
}

static void test_key_columns_come_by_option_then_message_key(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, ",\"primaryKey\":{\"orders\":[\"a\"],\"public.orders\":[\"b\",\"a\"],\"lines\":[\"x\"]}");
	struct message *m = rig_send(&rig, EVENT("c", "null", "{\"a\":1,\"b\":\"q\",\"id\":3}", PG("orders", 1)),
	                             "{\"id\":3}");

	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"b\":\"q\",\"a\":1}");
	/* "orders" is no end of a table called reorders. */
	m = rig_send(&rig, EVENT("c", "null", "{\"a\":1,\"id\":3}", PG("reorders", 2)), "{\"id\":3}");
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"id\":3}");
	rig_close(&rig);
}

static void test_the_message_key_fills_what_the_row_lacks(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_send(&rig, EVENT("c", "null", "{\"id\":1}", PG("t", 1)), "{\"id\":1}");

	m = rig_send(&rig, EVENT("d", "null", "null", PG("t", 2)), "{\"schema\":{},\"payload\":{\"id\":1}}");
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_DELETE);
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"id\":1}");
	span_is_text(rig_record(&rig, rig_send(&rig, EVENT("u", "null", "{\"n\":1}", PG("t", 3)), "{\"id\":4}"), 0)->primary_key,
	             "{\"id\":4}");
	refused_as(rig_send(&rig, EVENT("c", "null", "{\"n\":1}", PG("t", 4)), "default"), "missing_key");
	refused_as(rig_send(&rig, EVENT("c", "null", "{\"id\":null}", PG("t", 5)), "7"), "null_key");
	rig_close(&rig);
}

static void test_a_table_without_key_says_so_and_tells_equal_rows_apart_by_their_order(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *a = rig_send(&rig, EVENT("c", "null", "{\"n\":1}", PG("log", 1)), "default");
	struct message *b = rig_send(&rig, EVENT("c", "null", "{\"n\":1}", PG("log", 1)), "default");
	struct message *c = rig_send(&rig, EVENT("c", "null", "{\"n\":1}", PG("log", 1)
	                             ",\"transaction\":{\"id\":\"1\",\"total_order\":2}"), "default");
	struct record *r = rig_record(&rig, a, 0);

	assert_int_equal(r->key.len, 32);
	assert_int_equal(r->primary_key.len, 0);
	assert_true(span_equal(r->key, rig_record(&rig, b, 0)->key));
	assert_false(span_equal(r->key, rig_record(&rig, c, 0)->key));
	assert_int_equal(rig_position(&rig, c, 0).c, 2);
	assert_true(rig_schema(&rig, "log")->notes & NOTE_NO_KEY);
	assert_non_null(rig_note(&rig, "no_key"));
	/* A key that comes later does not split the rows into two kinds. */
	struct message *d = rig_send(&rig, EVENT("c", "null", "{\"n\":1}", PG("log", 2)), "{\"n\":1}");

	assert_int_equal(rig_record(&rig, d, 0)->key.len, 32);
	rig_close(&rig);
}

static void test_records_of_two_tables_with_one_name_are_parked(void **state)
{
	static const char other[] = "\"source\":{\"connector\":\"postgresql\",\"db\":\"shop\",\"schema\":\"sales\","
	                            "\"table\":\"Orders\",\"lsn\":2}";
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	rig_send(&rig, EVENT("c", "null", "{\"id\":1}", PG("orders", 1)), "{\"id\":1}");
	char body[512];

	snprintf(body, sizeof(body), "{\"op\":\"c\",\"after\":{\"id\":1},%s}", other);
	struct message *m = rig_send(&rig, body, "{\"id\":1}");
	struct record *r = rig_record(&rig, m, 0);

	assert_int_equal(r->verdict, VERDICT_PARKED);
	assert_string_equal(r->refusal->code, "name_collision");
	assert_int_equal(r->table, 1);
	assert_true(rig_schema(&rig, "shop.sales.Orders")->notes & NOTE_NAME_COLLISION);
	rig_close(&rig);
	rig_open(&rig, ",\"tableNamePattern\":\"{schema}_{table}\"");
	rig_send(&rig, EVENT("c", "null", "{\"id\":1}", PG("orders", 1)), "{\"id\":1}");
	assert_int_equal(rig_record(&rig, rig_send(&rig, body, "{\"id\":1}"), 0)->verdict, VERDICT_PENDING);
	assert_int_equal(rig_schema(&rig, "sales_Orders")->key_count, 1);
	rig_close(&rig);
}

static void test_one_table_more_than_allowed_is_refused(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, ",\"maxTables\":1");
	rig_send(&rig, EVENT("c", "null", "{\"id\":1}", PG("a", 1)), "{\"id\":1}");
	refused_as(rig_send(&rig, EVENT("c", "null", "{\"id\":1}", PG("b", 1)), "{\"id\":1}"), "too_many_tables");
	assert_int_equal(rig_send(&rig, EVENT("u", "null", "{\"id\":1}", PG("a", 2)), "")->record_count, 1);
	rig_close(&rig);
}

static void test_what_the_source_refused_stays_refused(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_message(&rig, EVENT("c", "null", "{\"id\":1}", PG("a", 1)), "");

	message_refuse(rig.batch, m, "source", "bad_base64", SPAN(""), SPAN(""), "no base64");
	rig_apply(&rig, m);
	refused_as(m, "bad_base64");
	assert_int_equal(rig.batch->record_count, 0);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_insert_becomes_one_row),
		cmocka_unit_test(test_binlog_positions_compare_as_numbers),
		cmocka_unit_test(test_a_key_change_in_one_event_is_a_delete_and_an_insert),
		cmocka_unit_test(test_a_before_without_the_key_is_no_key_change),
		cmocka_unit_test(test_the_insert_of_the_sources_own_key_change_has_the_old_key),
		cmocka_unit_test(test_messages_that_are_no_rows_are_filtered),
		cmocka_unit_test(test_bodies_without_anything_are_letters),
		cmocka_unit_test(test_a_truncate_is_a_record_of_its_table),
		cmocka_unit_test(test_a_drop_is_remembered_but_counts_as_filtered),
		cmocka_unit_test(test_wrong_shapes_are_refused_by_name),
		cmocka_unit_test(test_key_columns_come_by_option_then_message_key),
		cmocka_unit_test(test_the_message_key_fills_what_the_row_lacks),
		cmocka_unit_test(test_a_table_without_key_says_so_and_tells_equal_rows_apart_by_their_order),
		cmocka_unit_test(test_records_of_two_tables_with_one_name_are_parked),
		cmocka_unit_test(test_one_table_more_than_allowed_is_refused),
		cmocka_unit_test(test_what_the_source_refused_stays_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
