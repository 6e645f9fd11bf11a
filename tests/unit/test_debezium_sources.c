/* Where changes stand in their source's log, one case a connector; and rows that lost their envelope. */
#include "transform_help.h"

#define SOURCE(fields, op) \
	"{\"op\":\"" op "\",\"before\":null,\"after\":{\"id\":1},\"ts_ms\":1,\"source\":{\"db\":\"d\",\"table\":\"t\"," fields "}" \
	",\"transaction\":{\"id\":\"1\",\"total_order\":7}}"

static void test_each_connector_has_its_own_order(void **state)
{
	static const struct {
		const char *body;
		struct position position;
	} cases[] = {
		/* spec/types.md 8: 0/7B/11D7/3 */
		{ SOURCE("\"connector\":\"mysql\",\"file\":\"binlog.000123\",\"pos\":4567,\"row\":2", "c"), { 0, 0x7b, 0x11d7, 3, 0 } },
		{ SOURCE("\"connector\":\"mysql\",\"file\":\"binlog.000123\",\"pos\":4567,\"row\":2", "r"), { 0, 0x7b, 0x11d7, 0, 0 } },
		{ SOURCE("\"connector\":\"mariadb\",\"file\":\"b.000001\",\"pos\":4,\"row\":0,\"snapshot\":\"first\"", "c"),
		  { 0, 1, 4, 0, 0 } },
		{ SOURCE("\"connector\":\"mariadb\",\"file\":\"b.000001\",\"pos\":4,\"row\":0,\"snapshot\":null", "c"),
		  { 0, 1, 4, 1, 0 } },
		{ SOURCE("\"connector\":\"postgresql\",\"lsn\":96266888,\"sequence\":\"[\\\"1\\\",\\\"2\\\"]\"", "c"),
		  { 0, 96266888, 1, 7, 0 } },
		{ SOURCE("\"connector\":\"postgresql\",\"lsn\":5,\"snapshot\":\"true\"", "r"), { 0, 5, 0, 0, 0 } },
		{ SOURCE("\"connector\":\"postgresql\",\"lsn\":null,\"snapshot\":\"incremental\",\"sequence\":\"[null,\\\"77\\\"]\"",
		         "r"), { 0, 77, 0, 0, 0 } },
		{ SOURCE("\"connector\":\"postgresql\",\"sequence\":\"[ null, \\\"18446744073709551615\\\" ]\"", "c"),
		  { 0, UINT64_MAX, 1, 7, 0 } },
		{ SOURCE("\"connector\":\"postgresql\",\"sequence\":\"[\\\"1\\\",\\\"18446744073709551615\\\"]\"", "c"),
		  { 0, UINT64_MAX, 1, 7, 0 } },
		{ SOURCE("\"connector\":\"sqlserver\",\"commit_lsn\":\"00000027:00000758:0005\",\"change_lsn\":"
		         "\"00000027:00000758:0003\",\"event_serial_no\":1", "c"),
		  { 0, 0x2700000758, 0x5000000270000, 0x758000300000001, 0 } },
		{ SOURCE("\"connector\":\"sqlserver\",\"commit_lsn\":\"00000027:00000758:0005\",\"change_lsn\":null", "r"),
		  { 0, 0x2700000758, 0x5000000000000, 0, 0 } },
		{ SOURCE("\"connector\":\"oracle\",\"scn\":\"100\",\"commit_scn\":\"200\",\"txSeq\":3,\"ssn\":9", "c"),
		  { 0, 200, 100, 3, 0 } },
		{ SOURCE("\"connector\":\"oracle\",\"scn\":\"100\",\"commit_scn\":\"200\",\"ssn\":1,"
		         "\"rs_id\":\"001234.00012345.0124\"", "c"), { 0, 200, 100, 0x123450124ull << 16 | 1, 0 } },
		{ SOURCE("\"connector\":\"oracle\",\"scn\":\"100\",\"commit_scn\":\"200\",\"ssn\":1,"
		         "\"rs_id\":\" 0x001234.00012345.0124 \"", "c"), { 0, 200, 100, 0x123450124ull << 16 | 1, 0 } },
		{ SOURCE("\"connector\":\"oracle\",\"scn\":\"100\"", "r"), { 0, 100, 0, 0, 0 } },
		{ SOURCE("\"connector\":\"oracle\",\"lcr_position\":\"0000000000000001000000000000000200000000000000030004\"", "c"),
		  { 0, 1, 2, 3, 0 } },
		{ SOURCE("\"connector\":\"mongodb\",\"ts_ms\":1700000000000,\"ord\":2", "c"),
		  { 0, 1700000000ull << 32 | 2, 7, 0, 0 } },
		{ SOURCE("\"connector\":\"mongodb\",\"ts_ms\":1700000000000,\"ord\":2", "r"),
		  { 0, 1700000000ull << 32 | 2, 0, 0, 0 } },
		/* Of 32 digits: the commit's all, the change's last 16. */
		{ SOURCE("\"connector\":\"db2\",\"commit_lsn\":\"00000000:00001e36:000000000004a1b4\",\"change_lsn\":"
		         "\"00000000:00000000:000000000446140f\"", "c"), { 0, 0x1e36, 0x4a1b4, 0x446140f, 0 } },
		{ SOURCE("\"connector\":\"db2\",\"commit_lsn\":\"00000027:00000758:0005\",\"change_lsn\":null", "r"),
		  { 0, 0, 0x27000007580005, 0, 0 } },
		{ SOURCE("\"connector\":\"spanner\",\"ts_ms\":1670955531785,\"ts_us\":1670955531785123,\"sequence\":\"4\","
		         "\"mod_number\":0", "c"), { 0, 1670955531785123, 4, 1, 0 } },
		{ SOURCE("\"connector\":\"spanner\",\"ts_ms\":1670955531785,\"sequence\":\"00000004\",\"mod_number\":2", "u"),
		  { 0, 1670955531785000, 4, 3, 0 } },
		{ SOURCE("\"connector\":\"vitess\",\"ts_ms\":1000,\"shard\":\"-80\",\"vgtid\":\"[{\\\"keyspace\\\":\\\"k\\\","
		         "\\\"shard\\\":\\\"80-\\\",\\\"gtid\\\":\\\"MariaDB/0-54610504-47\\\"},{\\\"keyspace\\\":\\\"k\\\","
		         "\\\"shard\\\":\\\"-80\\\",\\\"gtid\\\":\\\"MariaDB/0-1592148-45\\\"}]\"", "c"), { 0, 45, 1, 7, 0 } },
		{ SOURCE("\"connector\":\"vitess\",\"ts_ms\":1000,\"vgtid\":\"[{\\\"keyspace\\\":\\\"k\\\",\\\"shard\\\":\\\"0\\\","
		         "\\\"gtid\\\":\\\"MySQL56/a-b:1-41:43-44,c-d:t:1-3,e:7\\\"}]\"", "c"), { 0, 47, 1, 7, 0 } },
		{ SOURCE("\"connector\":\"vitess\",\"ts_ms\":1000,\"vgtid\":\"[{\\\"keyspace\\\":\\\"k\\\",\\\"shard\\\":\\\"0\\\","
		         "\\\"gtid\\\":\\\"MySQL56/a-b:1-41\\\"}]\"", "r"), { 0, 41, 0, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct position expected = cases[i].position, got;
		struct rig rig;

		rig_open(&rig, "");
		got = rig_position(&rig, rig_send(&rig, cases[i].body, "{\"id\":1}"), 0);
		if (position_compare(&got, &expected) != 0)
			fail_msg("case %zu: %llx/%llx/%llx", i, (unsigned long long)got.a, (unsigned long long)got.b,
			         (unsigned long long)got.c);
		rig_close(&rig);
	}
}

static void test_positions_that_cannot_be_read_are_refused(void **state)
{
	static const char *const bodies[] = {
		SOURCE("\"connector\":\"sqlserver\",\"commit_lsn\":\"27:758\"", "c"),
		SOURCE("\"connector\":\"oracle\",\"scn\":\"x\"", "c"),
		SOURCE("\"connector\":\"oracle\",\"lcr_position\":\"xyz\"", "c"),
		SOURCE("\"connector\":\"mongodb\",\"ts_ms\":1,\"ord\":\"a\"", "c"),
		SOURCE("\"connector\":\"postgresql\",\"sequence\":\"[1]\"", "c"),
		SOURCE("\"connector\":\"postgresql\",\"sequence\":\"[null,\\\"x\\\"]\"", "c"),
		SOURCE("\"connector\":\"postgresql\",\"sequence\":\"[null,\\\"1\\\"\"", "c"),
		SOURCE("\"connector\":\"postgresql\",\"lsn\":1.5", "c"),
		SOURCE("\"connector\":\"db2\",\"commit_lsn\":\"x\"", "c"),
		SOURCE("\"connector\":\"spanner\",\"ts_ms\":1,\"sequence\":\"a\"", "c"),
		SOURCE("\"connector\":\"vitess\",\"vgtid\":\"{}\"", "c"),
		SOURCE("\"connector\":\"vitess\",\"vgtid\":\"[{\\\"shard\\\":\\\"0\\\",\\\"gtid\\\":\\\"current\\\"}]\"", "c"),
		SOURCE("\"connector\":\"vitess\",\"shard\":\"1\",\"vgtid\":\"[{\\\"shard\\\":\\\"0\\\",\\\"gtid\\\":"
		       "\\\"MySQL56/a:1\\\"}]\"", "c"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct rig rig;

		rig_open(&rig, "");
		refused_as(rig_send(&rig, bodies[i], "{\"id\":1}"), "bad_position");
		rig_close(&rig);
	}
}

static void test_without_a_position_publish_time_is_the_order(void **state)
{
	struct rig rig;
	const char *body = "{\"id\":1,\"__op\":\"c\",\"__table\":\"t\"}";

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_message(&rig, body, "{\"id\":1}");

	m->id = SPAN("12");
	m->publish = SPAN("2026-11-30T01:00:39.887114Z");
	rig_apply(&rig, m);
	assert_int_equal(rig_position(&rig, m, 0).a, 1796000439887114);
	assert_int_equal(rig_position(&rig, m, 0).c, 12);
	assert_true(rig_schema(&rig, "t")->notes & NOTE_ORDER_BY_TIME);
	m = rig_message(&rig, body, "{\"id\":1}");
	m->id = SPAN("13");
	m->publish = SPAN("2026-11-30T01:00:39.887114999Z");
	m->publish_us = 1796000439887114; /* a source that has it as a number says the same */
	rig_apply(&rig, m);
	assert_int_equal(rig_position(&rig, m, 0).a, 1796000439887114);
	m = rig_message(&rig, body, "{\"id\":1}");
	m->id = m->publish = SPAN("");
	m->line = 9;
	rig_apply(&rig, m);
	assert_int_equal(rig_position(&rig, m, 0).a, 9);
	assert_true(rig_schema(&rig, "t")->notes & NOTE_ORDER_BY_LINE);
	rig_close(&rig);
}

#define BINLOG(server, file, ms) \
	"{\"op\":\"u\",\"before\":null,\"after\":{\"id\":1},\"source\":{\"connector\":\"mysql\",\"name\":\"c\",\"db\":\"d\"," \
	"\"table\":\"t\",\"server_id\":" #server ",\"file\":\"b.00000" #file "\",\"pos\":4,\"row\":0,\"ts_ms\":" #ms "}}"

static uint64_t epoch_of(struct rig *rig, const char *body)
{
	return rig_position(rig, rig_send(rig, body, "{\"id\":1}"), 0).epoch;
}

static void test_another_server_begins_an_epoch_and_late_events_keep_theirs(void **state)
{
	struct rig rig, next;

	(void)state;
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, BINLOG(0, 1, 1000000)), 0); /* unknown: says nothing */
	assert_int_equal(epoch_of(&rig, BINLOG(77, 9, 1000000)), 0);
	assert_int_equal(epoch_of(&rig, BINLOG(77, 8, 999000)), 0); /* shuffled */
	assert_null(rig_note(&rig, "history_changed"));
	assert_int_equal(epoch_of(&rig, BINLOG(78, 1, 1005000)), 1);
	assert_non_null(rig_note(&rig, "history_changed"));
	assert_int_equal(epoch_of(&rig, BINLOG(77, 9, 1004000)), 0); /* late */
	assert_int_equal(epoch_of(&rig, BINLOG(0, 1, 1006000)), 1);
	assert_int_equal(epoch_of(&rig, BINLOG(77, 9, 1010000)), 2); /* failed back */
	assert_int_equal(epoch_of(&rig, BINLOG(78, 2, 1006500)), 1);
	assert_int_equal(epoch_of(&rig, BINLOG(77, 1, 1020000)), 3); /* RESET MASTER */
	/* The next run still knows. */
	const struct table_schema *tables[] = { rig_schema(&rig, "t") };

	rig_open_with(&next, "", tables, 1, false);
	assert_int_equal(epoch_of(&next, BINLOG(77, 1, 1020001)), 3);
	assert_int_equal(epoch_of(&next, BINLOG(78, 2, 1006500)), 1);
	assert_int_equal(epoch_of(&next, BINLOG(77, 9, 1000000)), 0);
	assert_null(next.batch->changes);
	rig_close(&next);
	rig_close(&rig);
}

static void test_a_flattened_row_has_table_op_and_position_in_its_fields(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_send(&rig, "{\"isbn\":\"a\",\"n\":1,\"op\":\"x\",\"__deleted\":\"false\",\"__op\":\"c\","
	                             "\"__table\":\"books\",\"__lsn\":77,\"__source_ts_ms\":5,\"__transaction_total_order\":3,"
	                             "\"__mine\":1}", "{\"isbn\":\"a\"}");

	row_is(&rig, m, "{\"isbn\":\"a\",\"n\":1,\"op\":\"x\",\"__mine\":1}");
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_INSERT);
	assert_int_equal(rig_record(&rig, m, 0)->timestamp_ms, 5);
	assert_int_equal(rig_position(&rig, m, 0).a, 77);
	assert_int_equal(rig_position(&rig, m, 0).b, 1);
	assert_int_equal(rig_position(&rig, m, 0).c, 3);
	m = rig_send(&rig, "{\"isbn\":\"a\",\"n\":null,\"__deleted\":\"true\",\"__op\":\"d\",\"____tbl\":\"books\",\"__lsn\":78}", "");
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_DELETE);
	assert_int_equal(rig_record(&rig, m, 0)->table, 0);
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"isbn\":\"a\"}");
	refused_as(rig_send(&rig, "{\"isbn\":\"a\",\"__op\":\"q\",\"__table\":\"books\"}", ""), "unknown_op");
	rig_close(&rig);
}

static void test_a_delete_may_stand_in_the_attributes_alone(void **state)
{
	static const struct attribute attrs[] = {
		{ SPAN("__op"), SPAN("\"d\"") }, { SPAN("__table"), SPAN("\"books\"") }, { SPAN("__lsn"), SPAN("77368400") },
		{ SPAN("__db"), SPAN("{\"schema\":{},\"payload\":\"library\"}") },
	};
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_message(&rig, "", "{\"isbn\":\"978\"}");

	m->body_is_null = true;
	m->attrs = attrs;
	m->attr_count = 4;
	rig_apply(&rig, m);
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_DELETE);
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"isbn\":\"978\"}");
	assert_int_equal(rig_position(&rig, m, 0).a, 77368400);
	span_is_text(rig_schema(&rig, "books")->source, "library.books");
	/* Without a key it is a tombstone; with other attributes only, nothing tells. */
	m = rig_message(&rig, "", "");
	m->attrs = attrs;
	m->attr_count = 4;
	filtered(rig_apply(&rig, m));
	m = rig_message(&rig, "", "");
	m->attrs = (const struct attribute[]){ { SPAN("trace"), SPAN("x") } };
	m->attr_count = 1;
	refused_as(rig_apply(&rig, m), "empty_message");
	rig_close(&rig);
}

/* The file's schema node was read from a stream with decimals as bytes; the flattened rows have text. */
static void test_decimals_as_text_are_read_though_the_file_says_bytes(void **state)
{
	char path[] = "/tmp/weir-test-schema-XXXXXX", parameters[200];
	static const char schema[] = "{\"t\":{\"primary_key\":[\"id\"],\"columns\":{\"p\":{\"bigquery\":\"NUMERIC\",\"debezium\":"
		"{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"2\"}}}}}}";
	struct rig rig;
	int file = mkstemp(path);

	(void)state;
	assert_int_equal(write(file, schema, strlen(schema)), (ssize_t)strlen(schema));
	close(file);
	snprintf(parameters, sizeof(parameters), ",\"sourceSchema\":\"%s\"", path);
	rig_open(&rig, parameters);
	row_is(&rig, rig_send(&rig, "{\"id\":1,\"p\":\"Jbc=\",\"__op\":\"c\",\"__table\":\"t\",\"__lsn\":1}", ""),
	       "{\"id\":1,\"p\":\"96.55\"}");
	row_is(&rig, rig_send(&rig, "{\"id\":1,\"p\":\"12.30\",\"__op\":\"c\",\"__table\":\"t\",\"__lsn\":1}", ""),
	       "{\"id\":1,\"p\":\"12.3\"}");
	row_is(&rig, rig_send(&rig, "{\"id\":1,\"p\":\"1234\",\"__op\":\"c\",\"__table\":\"t\",\"__lsn\":1}", ""),
	       "{\"id\":1,\"p\":\"1234\"}");
	rig_close(&rig);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_connector_has_its_own_order),
		cmocka_unit_test(test_positions_that_cannot_be_read_are_refused),
		cmocka_unit_test(test_without_a_position_publish_time_is_the_order),
		cmocka_unit_test(test_another_server_begins_an_epoch_and_late_events_keep_theirs),
		cmocka_unit_test(test_a_flattened_row_has_table_op_and_position_in_its_fields),
		cmocka_unit_test(test_a_delete_may_stand_in_the_attributes_alone),
		cmocka_unit_test(test_decimals_as_text_are_read_though_the_file_says_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
