/* Events that have no row as such: MongoDB's documents, CloudEvents, and updates that carry only what was changed. */
#include "transform_help.h"

#define MONGO(op, before, after, more) \
	"{\"op\":\"" op "\",\"before\":" before ",\"after\":" after ",\"ts_ms\":1,\"source\":{\"connector\":\"mongodb\"," \
	"\"db\":\"shop\",\"collection\":\"pets\",\"ts_ms\":1700000000000,\"ord\":2" more "}}"

static void test_a_document_is_a_row_of_its_id_and_its_text(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_send(&rig, MONGO("c", "null", "\"{\\\"_id\\\": {\\\"$oid\\\": \\\"5f\\\"},\\\"n\\\": {\\\"$numberLong\\\": "
	                             "\\\"7\\\"},\\\"t\\\": \\\"a\\\\nb\\\"}\"", ""), "{\"id\":\"{\\\"$oid\\\" : \\\"5f\\\"}\"}");

	row_is(&rig, m, "{\"_id\":\"{\\\"$oid\\\":\\\"5f\\\"}\",\"document\":\"{\\\"_id\\\": {\\\"$oid\\\": \\\"5f\\\"},\\\"n\\\": "
	       "{\\\"$numberLong\\\": \\\"7\\\"},\\\"t\\\": \\\"a\\\\nb\\\"}\"}");
	rig_type_is(&rig, "pets", "_id", "STRING");
	rig_type_is(&rig, "pets", "document", "JSON");
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"_id\":\"{\\\"$oid\\\":\\\"5f\\\"}\"}");
	span_is_text(rig_schema(&rig, "pets")->source, "shop.pets");
	assert_int_equal(rig_schema(&rig, "pets")->notes & NOTE_INFERRED, 0);
	m = rig_send(&rig, MONGO("d", "null", "null", ""), "{\"id\":\"{\\\"$oid\\\" : \\\"5f\\\"}\"}");
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_DELETE);
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"_id\":\"{\\\"$oid\\\":\\\"5f\\\"}\"}");
	m = rig_send(&rig, MONGO("d", "\"{\\\"_id\\\": 7, \\\"n\\\": 1}\"", "null", ""), "");
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"_id\":\"7\"}");
	rig_close(&rig);
}

static void test_one_identity_has_one_text(void **state)
{
	static const struct {
		const char *id, *text;
	} cases[] = {
		{ "{\\\"$numberLong\\\": \\\"1004\\\"}", "1004" }, { "1004", "1004" }, { "{\\\"$numberInt\\\":\\\"-3\\\"}", "-3" },
		{ "{\\\"$numberDouble\\\":\\\"1.5\\\"}", "1.5" }, { "{ \\\"$numberDouble\\\" : \\\"-Infinity\\\" }",
		  "{\\\"$numberDouble\\\":\\\"-Infinity\\\"}" },
		{ "{\\\"$date\\\": 1004}", "{\\\"$date\\\":\\\"1970-01-01T00:00:01.004Z\\\"}" },
		{ "{\\\"$date\\\": {\\\"$numberLong\\\": \\\"0\\\"}}", "{\\\"$date\\\":\\\"1970-01-01T00:00:00Z\\\"}" },
		{ "{\\\"$date\\\": -1}", "{\\\"$date\\\":{\\\"$numberLong\\\":\\\"-1\\\"}}" },
		{ "{\\\"$date\\\": 253402300799999}", "{\\\"$date\\\":\\\"9999-12-31T23:59:59.999Z\\\"}" },
		{ "{\\\"$date\\\": 253402300800000}", "{\\\"$date\\\":{\\\"$numberLong\\\":\\\"253402300800000\\\"}}" },
		{ "{\\\"$binary\\\": \\\"AQ==\\\", \\\"$type\\\": \\\"04\\\"}",
		  "{\\\"$binary\\\":{\\\"base64\\\":\\\"AQ==\\\",\\\"subType\\\":\\\"04\\\"}}" },
		{ "{\\\"a\\\": [1, {\\\"$numberLong\\\": \\\"2\\\"}], \\\"b\\\": null}", "{\\\"a\\\":[1,2],\\\"b\\\":null}" },
		{ "\\\"1004\\\"", "\\\"1004\\\"" }, { "{\\\"$numberDecimal\\\":\\\"1.0\\\"}", "{\\\"$numberDecimal\\\":\\\"1.0\\\"}" },
		{ "{}", "{}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;
		char body[1024], key[512], expected[512];

		/* Once from the document, once from the key. */
		rig_open(&rig, "");
		snprintf(body, sizeof(body), MONGO("r", "null", "\"{\\\"_id\\\": %s}\"", ""), cases[i].id);
		snprintf(key, sizeof(key), "{\"id\":\"%s\"}", cases[i].id);
		snprintf(expected, sizeof(expected), "{\"_id\":\"%s\"}", cases[i].text);
		span_is_text(rig_record(&rig, rig_send(&rig, body, ""), 0)->primary_key, expected);
		span_is_text(rig_record(&rig, rig_send(&rig, MONGO("d", "null", "null", ""), key), 0)->primary_key, expected);
		rig_close(&rig);
	}
}

static void test_what_tells_no_document_is_refused(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	refused_as(rig_send(&rig, MONGO("u", "null", "null", ""), "{\"id\":\"7\"}"), "partial_row");
	refused_as(rig_send(&rig, MONGO("d", "null", "null", ""), ""), "missing_key");
	refused_as(rig_send(&rig, MONGO("c", "null", "\"{\\\"a\\\":1}\"", ""), ""), "missing_key");
	refused_as(rig_send(&rig, MONGO("c", "null", "\"{\\\"_id\\\":\"", ""), ""), "bad_envelope");
	rig_close(&rig);
}

static void test_documents_may_come_into_a_table_of_rows(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	row_is(&rig, rig_send(&rig, MONGO("c", "null", "{\"id\":1,\"a\":2}", ""), "{\"_id\":1}"), "{\"id\":1,\"a\":2}");
	row_is(&rig, rig_send(&rig, MONGO("u", "null", "\"{\\\"_id\\\":7}\"", ""), ""),
	       "{\"_id\":\"7\",\"document\":\"{\\\"_id\\\":7}\"}");
	rig_close(&rig);
}

static void test_a_text_is_no_row_of_another_connector(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	refused_as(rig_send(&rig, EVENT("c", "null", "\"{\\\"_id\\\":1}\"", PG("t", 1)), ""), "bad_envelope");
	rig_close(&rig);
}

/* The key of a message is called id, the column _id; a document may have an id of its own. */
static void test_flattened_documents_are_known_by_their_id(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_send(&rig, "{\"_id\":\"5f\",\"id\":9,\"n\":1,\"__op\":\"c\",\"__collection\":\"toys\",\"__ord\":1,"
	                             "\"__source_ts_ms\":1700000000000}", "{\"id\":\"5f\"}");

	row_is(&rig, m, "{\"_id\":\"5f\",\"id\":9,\"n\":1}");
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"_id\":\"5f\"}");
	m = rig_send(&rig, "{\"__deleted\":\"true\",\"__op\":\"d\",\"__collection\":\"toys\",\"__ord\":2,"
	             "\"__source_ts_ms\":1700000000000}", "{\"id\":\"5f\"}");
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_DELETE);
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"_id\":\"5f\"}");
	rig_close(&rig);
	/* The delete comes first. */
	rig_open(&rig, "");
	m = rig_send(&rig, "{\"__deleted\":\"true\",\"__op\":\"d\",\"__collection\":\"toys\",\"__ord\":2,"
	             "\"__source_ts_ms\":1700000000000}", "{\"id\":7}");
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"_id\":7}");
	rig_close(&rig);
}

/* Two changes of one transaction have one cluster time; without its order, arrival is the order. */
static void test_changes_of_one_transaction_keep_their_order(void **state)
{
	struct rig rig;
	const char *body = MONGO("u", "null", "\"{\\\"_id\\\":1}\"", ",\"lsid\":\"x\",\"txnNumber\":3");

	(void)state;
	rig_open(&rig, "");
	struct position first = rig_position(&rig, rig_send(&rig, body, ""), 0);
	struct message *again = rig_message(&rig, body, "");
	struct position second = rig_position(&rig, rig_apply(&rig, again), 0);

	assert_int_equal(position_compare(&first, &second), -1);
	assert_true(rig_schema(&rig, "pets")->notes & NOTE_ORDER_BY_ARRIVAL);
	struct message *redelivered = rig_message(&rig, body, "");

	redelivered->line = again->line;
	redelivered->id = again->id;
	first = rig_position(&rig, rig_apply(&rig, redelivered), 0);
	assert_int_equal(position_compare(&first, &second), 0);
	rig_close(&rig);
}

#define EXTENSIONS \
	"\"id\":\"x\",\"source\":\"/debezium/postgresql/s\",\"specversion\":\"1.0\",\"type\":\"io.debezium.postgresql.datachangeevent\"," \
	"\"iodebeziumconnector\":\"postgresql\",\"iodebeziumname\":\"s\",\"iodebeziumtsms\":\"1578923739738\"," \
	"\"iodebeziumdb\":\"postgres\",\"iodebeziumschema\":\"s1\",\"iodebeziumtable\":\"a\",\"iodebeziumtxId\":\"565\"," \
	"\"iodebeziumlsn\":\"29274832\",\"iodebeziumxmin\":null,\"iodebeziumtxid\":\"565\",\"iodebeziumtxtotalorder\":\"4\","

static void test_cloud_events_carry_the_source_block_in_their_attributes(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_send(&rig, "{" EXTENSIONS "\"iodebeziumop\":\"c\",\"iodebeziumsnapshot\":\"false\",\"data\":{\"before\":"
	                             "null,\"after\":{\"pk\":1,\"name\":\"Bob\"}}}", "{\"pk\":1}");
	struct position position = rig_position(&rig, m, 0);

	row_is(&rig, m, "{\"pk\":1,\"name\":\"Bob\"}");
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_INSERT);
	assert_int_equal(rig_record(&rig, m, 0)->timestamp_ms, 1578923739738);
	assert_int_equal(position.a, 29274832);
	assert_int_equal(position.b, 1);
	assert_int_equal(position.c, 4);
	span_is_text(rig_schema(&rig, "a")->source, "postgres.s1.a");
	m = rig_send(&rig, "{" EXTENSIONS "\"iodebeziumop\":\"r\",\"iodebeziumsnapshot\":\"true\",\"data\":{\"before\":null,\"after\":"
	             "{\"pk\":1,\"name\":\"Bob\"}}}", "{\"pk\":1}");
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_READ);
	assert_int_equal(rig_position(&rig, m, 0).b, 0);
	m = rig_send(&rig, "{" EXTENSIONS "\"iodebeziumop\":\"d\",\"data\":{\"before\":{\"pk\":1,\"name\":null},\"after\":null}}", "");
	assert_int_equal(rig_record(&rig, m, 0)->operation, OP_DELETE);
	m = rig_send(&rig, "{\"specversion\":\"1.0\",\"source\":\"/x\",\"iodebeziumconnector\":\"mongodb\",\"iodebeziumdb\":\"zoo\","
	             "\"iodebeziumcollection\":\"pets\",\"iodebeziumtsms\":\"1700000000000\",\"iodebeziumord\":\"2\",\"iodebeziumop\":\"u\","
	             "\"data\":{\"before\":null,\"after\":\"{\\\"_id\\\":1}\",\"updateDescription\":null}}", "");
	span_is_text(rig_record(&rig, m, 0)->primary_key, "{\"_id\":\"1\"}");
	assert_int_equal(rig_position(&rig, m, 0).a, 1700000000ull << 32 | 2);
	filtered(rig_send(&rig, "{" EXTENSIONS "\"iodebeziumop\":\"m\",\"data\":{}}", ""));
	refused_as(rig_send(&rig, "{" EXTENSIONS "\"data\":{\"after\":{}}}", ""), "bad_envelope");
	refused_as(rig_send(&rig, "{" EXTENSIONS "\"iodebeziumop\":\"c\",\"data\":\"AAAAAAEAAgICAg==\"}", ""), "bad_envelope");
	refused_as(rig_send(&rig, "{" EXTENSIONS "\"iodebeziumop\":\"c\",\"iodebeziumop\":\"c\",\"data\":{}}", ""), "duplicate_key");
	rig_close(&rig);
}

#define ROW_BLOCK "{\"type\":\"struct\",\"field\":\"after\",\"fields\":[{\"type\":\"int32\",\"field\":\"pk\"},{\"type\":\"int32\"," \
	"\"name\":\"io.debezium.time.Date\",\"field\":\"day\"}]}"

static void test_the_data_of_cloud_events_may_have_a_schema_block(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	row_is(&rig, rig_send(&rig, "{" EXTENSIONS "\"iodebeziumop\":\"c\",\"data\":{\"schema\":{\"type\":\"struct\",\"fields\":["
	       ROW_BLOCK "]},\"payload\":{\"before\":null,\"after\":{\"pk\":1,\"day\":1}}}}", "{\"pk\":1}"),
	       "{\"pk\":1,\"day\":\"1970-01-02\"}");
	rig_close(&rig);
	rig_open(&rig, "");
	row_is(&rig, rig_send(&rig, "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"string\",\"field\":\"id\"},{\"type\":"
	       "\"struct\",\"field\":\"data\",\"fields\":[" ROW_BLOCK "]}]},\"payload\":{" EXTENSIONS "\"iodebeziumop\":\"c\",\"data\":"
	       "{\"before\":null,\"after\":{\"pk\":1,\"day\":1}}}}", "{\"pk\":1}"), "{\"pk\":1,\"day\":\"1970-01-02\"}");
	rig_close(&rig);
}

#define SPANNER(before, after, captured) \
	"{\"op\":\"u\",\"before\":" before ",\"after\":" after ",\"source\":{\"connector\":\"spanner\",\"db\":\"d\",\"table\":\"t\"," \
	"\"ts_us\":1670955531785123,\"sequence\":\"4\",\"mod_number\":0,\"value_capture_type\":\"" captured "\"}}"

static void test_columns_that_a_change_stream_left_out_are_not_null(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct message *m = rig_send(&rig, SPANNER("{\"id\":1,\"a\":\"x\",\"b\":null,\"c\":\"z\"}", "{\"id\":1,\"a\":\"y\",\"b\":null,\"c\":null}",
	                                           "OLD_AND_NEW_VALUES"), "{\"id\":1}");

	row_is(&rig, m, "{\"id\":1,\"a\":\"y\",\"b\":null,\"c\":null}");
	span_is_text(rig_record(&rig, m, 0)->unavailable, "[\"b\"]");
	m = rig_send(&rig, SPANNER("{\"id\":1,\"b\":null}", "{\"id\":1,\"a\":\"y\",\"b\":null,\"c\":null}", "NEW_ROW_AND_OLD_VALUES"),
	             "{\"id\":1}");
	assert_int_equal(rig_record(&rig, m, 0)->unavailable.len, 0);
	refused_as(rig_send(&rig, SPANNER("null", "{\"id\":1,\"a\":\"y\",\"b\":null,\"c\":null}", "NEW_VALUES"), "{\"id\":1}"), "partial_row");
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_document_is_a_row_of_its_id_and_its_text),
		cmocka_unit_test(test_one_identity_has_one_text),
		cmocka_unit_test(test_what_tells_no_document_is_refused),
		cmocka_unit_test(test_documents_may_come_into_a_table_of_rows),
		cmocka_unit_test(test_a_text_is_no_row_of_another_connector),
		cmocka_unit_test(test_flattened_documents_are_known_by_their_id),
		cmocka_unit_test(test_changes_of_one_transaction_keep_their_order),
		cmocka_unit_test(test_cloud_events_carry_the_source_block_in_their_attributes),
		cmocka_unit_test(test_the_data_of_cloud_events_may_have_a_schema_block),
		cmocka_unit_test(test_columns_that_a_change_stream_left_out_are_not_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
