/* Logs that begin anew, or of which one takes over from another: the epoch rises once, and late events keep theirs. */
#include "transform_help.h"

#define EVENT_OF(connector, fields, ms, op, snapshot) \
	"{\"op\":\"" op "\",\"before\":null,\"after\":{\"id\":1},\"source\":{\"connector\":\"" connector "\",\"name\":\"c\"," \
	"\"db\":\"d\",\"table\":\"t\",\"ts_ms\":" #ms ",\"snapshot\":\"" snapshot "\"," fields "},\"transaction\":null}"

static uint64_t epoch_of(struct rig *rig, const char *body)
{
	return rig_position(rig, rig_send(rig, body, "{\"id\":1}"), 0).epoch;
}

#undef PG
#define PG(commit, lsn, ms) \
	EVENT_OF("postgresql", "\"lsn\":" #lsn ",\"sequence\":\"[\\\"" #commit "\\\",\\\"" #lsn "\\\"]\"", ms, "u", "false")
#define PG_ROW(lsn, ms, snapshot) \
	EVENT_OF("postgresql", "\"lsn\":" #lsn ",\"sequence\":\"[null,\\\"" #lsn "\\\"]\"", ms, "r", snapshot)

/* A standby that had not got the end of the log was promoted: its timeline uses those positions again. */
static void test_a_timeline_that_goes_back_begins_an_epoch(void **state)
{
	struct rig rig, next;

	(void)state;
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, PG_ROW(900, 5000, "first")), 0);
	assert_int_equal(epoch_of(&rig, PG(1000, 1010, 10000)), 0);
	assert_int_equal(epoch_of(&rig, PG(1050, 990, 20000)), 0);  /* written before, committed later */
	assert_int_equal(epoch_of(&rig, PG(1000, 1020, 10000)), 0); /* again, after a restart of the connector */
	assert_int_equal(epoch_of(&rig, PG_ROW(900, 21000, "true")), 0); /* a late row of the snapshot */
	assert_int_equal(rig_schema(&rig, "t")->history.len, 0);
	assert_null(rig_note(&rig, "history_changed"));
	assert_int_equal(epoch_of(&rig, PG(1030, 1040, 30000)), 1);
	assert_non_null(rig_note(&rig, "history_changed"));
	assert_true(rig_schema(&rig, "t")->notes & NOTE_HISTORY_CHANGED);
	assert_int_equal(epoch_of(&rig, PG(1020, 1060, 20000)), 0); /* late */
	assert_int_equal(epoch_of(&rig, PG(1040, 1041, 31000)), 1);
	assert_int_equal(epoch_of(&rig, PG_ROW(100, 60000, "first")), 2); /* dumped and restored, then a snapshot */
	assert_int_equal(epoch_of(&rig, PG_ROW(100, 60010, "last")), 2);
	assert_int_equal(epoch_of(&rig, PG(1041, 1042, 32000)), 1);

	const struct table_schema *tables[] = { rig_schema(&rig, "t") };

	rig_open_with(&next, "", tables, 1, false);
	assert_int_equal(epoch_of(&next, PG(200, 210, 61000)), 2);
	assert_int_equal(epoch_of(&next, PG(1041, 1042, 32000)), 1);
	assert_int_equal(epoch_of(&next, PG(1020, 1060, 20000)), 0);
	rig_close(&next);
	rig_close(&rig);
}

#define SQLSERVER(commit, ms) \
	EVENT_OF("sqlserver", "\"commit_lsn\":\"" commit ":0001\",\"change_lsn\":\"" commit ":0001\",\"event_serial_no\":1", ms, "u", "false")
#define ORACLE(scn, ms, commit_ms) \
	EVENT_OF("oracle", "\"scn\":\"" #scn "\",\"commit_scn\":\"" #scn "\",\"commit_ts_ms\":" #commit_ms ",\"redo_thread\":1", ms, "u", "false")
#define DB2(commit, ms) \
	EVENT_OF("db2", "\"commit_lsn\":\"00000000:" commit ":0000000000000001\",\"change_lsn\":\"01\"", ms, "u", "false")

static void test_a_restored_database_begins_an_epoch(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, SQLSERVER("00000027:00000758", 10000)), 0);
	assert_int_equal(epoch_of(&rig, SQLSERVER("00000028:00000001", 20000)), 0);
	assert_int_equal(epoch_of(&rig, SQLSERVER("00000027:00000759", 20900)), 0); /* within what clocks differ */
	assert_int_equal(epoch_of(&rig, SQLSERVER("00000027:00000758", 30000)), 1);
	assert_int_equal(epoch_of(&rig, SQLSERVER("00000028:00000001", 20000)), 0);
	rig_close(&rig);
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, ORACLE(200, 10000, 20000)), 0);
	assert_int_equal(epoch_of(&rig, ORACLE(199, 19000, 19500)), 0); /* late; a long transaction hid how far the clock was */
	assert_int_equal(epoch_of(&rig, ORACLE(150, 30000, 30000)), 1); /* OPEN RESETLOGS */
	rig_close(&rig);
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, ORACLE(200, 10000, null)), 0); /* only the time of the change is known */
	assert_int_equal(epoch_of(&rig, ORACLE(199, 19000, null)), 0);
	assert_int_equal(epoch_of(&rig, ORACLE(150, 90000, null)), 1);
	rig_close(&rig);
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, DB2("00001e36", 10000)), 0);
	assert_int_equal(epoch_of(&rig, DB2("00001e35", 10500)), 0);
	assert_int_equal(epoch_of(&rig, DB2("00001e35", 12000)), 1);
	rig_close(&rig);
}

#define VITESS(shard, gtid, ms) \
	EVENT_OF("vitess", "\"shard\":\"" shard "\",\"vgtid\":\"[{\\\"keyspace\\\":\\\"k\\\",\\\"shard\\\":\\\"" shard "\\\"," \
	         "\\\"gtid\\\":\\\"MySQL56/" gtid "\\\"}]\"", ms, "u", "false")

static void test_a_shard_takes_over_from_those_whose_keys_it_has(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, VITESS("-80", "a:1-41", 1000)), 0);
	assert_int_equal(epoch_of(&rig, VITESS("80-", "b:1-7", 900)), 0);   /* other keys: beside it */
	assert_int_equal(epoch_of(&rig, VITESS("-80", "a:1-41,c:1-3", 9000)), 0); /* another primary goes on */
	assert_null(rig_note(&rig, "history_changed"));
	assert_int_equal(epoch_of(&rig, VITESS("-40", "d:1-2", 20000)), 1);
	assert_int_equal(epoch_of(&rig, VITESS("40-80", "e:1-2", 20000)), 1);
	assert_int_equal(epoch_of(&rig, VITESS("80-", "b:1-8", 21000)), 0);
	assert_int_equal(epoch_of(&rig, VITESS("-80", "a:1-40", 1000)), 0); /* late */
	assert_int_equal(epoch_of(&rig, VITESS("-", "f:1", 30000)), 2);     /* merged again */
	assert_int_equal(epoch_of(&rig, VITESS("-", "g:1-2", 31000)), 2);
	assert_int_equal(epoch_of(&rig, VITESS("-", "g:1", 40000)), 3);     /* restored */
	rig_close(&rig);
}

/* The connector's own order of transactions is taken where it is there. */
static void test_vitess_may_order_its_transactions_itself(void **state)
{
	static const char body[] = "{\"op\":\"u\",\"before\":null,\"after\":{\"id\":1},\"source\":{\"connector\":\"vitess\",\"name\":\"c\","
		"\"db\":\"\",\"keyspace\":\"k\",\"table\":\"t\",\"ts_ms\":1,\"shard\":\"-80\",\"vgtid\":\"[]\"},\"transaction\":{\"id\":\"x\","
		"\"total_order\":2,\"data_collection_order\":1,\"transaction_epoch\":3,\"transaction_rank\":\"53\"}}";
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	struct position position = rig_position(&rig, rig_send(&rig, body, "{\"id\":1}"), 0);

	assert_int_equal(position.epoch, 3);
	assert_int_equal(position.a, 53);
	assert_int_equal(position.b, 1);
	assert_int_equal(position.c, 2);
	span_is_text(rig_schema(&rig, "t")->source, "k.t");
	rig_close(&rig);
}

#define BINLOG(server, file, pos, ms) \
	EVENT_OF("mysql", "\"server_id\":" #server ",\"file\":\"b.00000" #file "\",\"pos\":" #pos ",\"row\":0", ms, "u", "false")

#define OF_DATABASE(db, commit, ms) \
	"{\"op\":\"u\",\"before\":null,\"after\":{\"id\":1},\"source\":{\"connector\":\"sqlserver\",\"name\":\"c\",\"db\":\"" db "\"," \
	"\"schema\":\"dbo\",\"table\":\"t\",\"ts_ms\":" #ms ",\"commit_lsn\":\"" commit ":0001\",\"change_lsn\":\"" commit ":0001\"," \
	"\"event_serial_no\":1}}"
#define FLAT(db, table, file, ms) \
	"{\"id\":1,\"__op\":\"u\"," db "\"__table\":\"" table "\",\"__file\":\"b.00000" #file "\",\"__pos\":4,\"__row\":0," \
	"\"__server_id\":1,\"__source_ts_ms\":" #ms "}"

/* SQL Server has a log for each database; of flattened rows it may not be known whose log they are from. */
static void test_logs_beside_each_other_do_not_meet(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(epoch_of(&rig, OF_DATABASE("a", "00000099:00000758", 10000)), 0);
		assert_int_equal(epoch_of(&rig, OF_DATABASE("b", "00000011:00000001", 20000)), 0);
		assert_int_equal(epoch_of(&rig, FLAT("\"__db\":\"a\",", "t", 9, 10000)), 0);
		assert_int_equal(epoch_of(&rig, FLAT("\"__db\":\"b\",", "t", 1, 20000)), 0);
		assert_int_equal(epoch_of(&rig, FLAT("", "x", 9, 10000)), 0);
		assert_int_equal(epoch_of(&rig, FLAT("", "y", 1, 20000)), 0);
	}
	assert_int_equal(epoch_of(&rig, OF_DATABASE("a", "00000098:00000758", 30000)), 1);
	assert_int_equal(epoch_of(&rig, FLAT("", "x", 8, 30000)), 1);
	rig_close(&rig);
}

/* A replica's binlog has the changes of its primary, of the one before, and its own. */
static void test_a_log_with_changes_of_several_servers_is_one_log(void **state)
{
	struct rig rig, next;

	(void)state;
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, BINLOG(1, 7, 100, 10000)), 0);
	assert_int_equal(epoch_of(&rig, BINLOG(2, 7, 200, 10000)), 0);
	assert_int_equal(epoch_of(&rig, BINLOG(1, 7, 300, 20000)), 0);
	assert_int_equal(epoch_of(&rig, BINLOG(2, 8, 4, 30000)), 0);
	assert_int_equal(epoch_of(&rig, BINLOG(3, 7, 400, 20000)), 0); /* late */
	assert_int_equal(epoch_of(&rig, BINLOG(1, 8, 90, 30500)), 0);
	assert_null(rig_note(&rig, "history_changed"));
	rig.transform->ops->finish(rig.transform, rig.batch);
	struct transform_setup setup = { .options = rig.options, .wants_json = true, .logs = rig.batch->end.logs };
	struct error err = { 0 };

	next = (struct rig){ .options = rig.options, .batch = batch_new() };
	next.transform = transform_debezium.open(&setup, &err);
	assert_int_equal(epoch_of(&next, BINLOG(3, 8, 120, 31000)), 0);
	assert_int_equal(epoch_of(&next, BINLOG(2, 8, 110, 30900)), 0);
	assert_int_equal(epoch_of(&next, BINLOG(4, 8, 100, 40000)), 1); /* later, and yet before: another log */
	assert_int_equal(epoch_of(&next, BINLOG(1, 8, 130, 31500)), 0); /* the old one's last */
	next.transform->ops->close(next.transform);
	batch_free(next.batch);
	rig_close(&rig);
}

/* What happened while weir was down is told by what the job's last commit remembered. */
static void test_a_log_that_went_back_between_two_runs_begins_an_epoch(void **state)
{
	struct rig rig, next;

	(void)state;
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, PG(1000, 1010, 10000)), 0);
	rig.transform->ops->finish(rig.transform, rig.batch);
	assert_true(rig.batch->end.logs.len > 0);
	struct span logs = rig.batch->end.logs;

	rig.batch->end.logs = (struct span){ 0 };
	assert_int_equal(epoch_of(&rig, PG(999, 1001, 9000)), 0);
	rig.transform->ops->finish(rig.transform, rig.batch);
	assert_int_equal(rig.batch->end.logs.len, 0); /* nothing more to remember */
	for (int is_remembered = 0; is_remembered < 2; is_remembered++) {
		struct transform_setup setup = { .options = rig.options, .wants_json = true };
		struct error err = { 0 };

		if (is_remembered)
			setup.logs = logs;
		next = (struct rig){ .options = rig.options, .batch = batch_new() };
		next.transform = transform_debezium.open(&setup, &err);
		assert_int_equal(epoch_of(&next, PG(990, 1000, 10500)), 0);
		assert_int_equal(epoch_of(&next, PG(980, 985, 20000)), 1);
		next.transform->ops->close(next.transform);
		next.transform = transform_debezium.open(&setup, &err);
		assert_int_equal(epoch_of(&next, PG(980, 985, 20000)), (uint64_t)is_remembered);
		next.transform->ops->close(next.transform);
		batch_free(next.batch);
	}
	rig_close(&rig);
}

/* "__ts_ms" is the connector's clock, which goes on while it reads old changes again. */
static void test_a_flattened_row_without_the_sources_clock_begins_no_epoch(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	assert_int_equal(epoch_of(&rig, "{\"id\":1,\"__op\":\"u\",\"__table\":\"t\",\"__file\":\"b.000009\",\"__pos\":4,\"__server_id\":7,"
	                          "\"__ts_ms\":10000}"), 0);
	struct message *m = rig_send(&rig, "{\"id\":1,\"__op\":\"u\",\"__table\":\"t\",\"__file\":\"b.000008\",\"__pos\":4,"
	                             "\"__server_id\":7,\"__ts_ms\":90000}", "{\"id\":1}");

	assert_int_equal(rig_position(&rig, m, 0).epoch, 0);
	assert_int_equal(rig_record(&rig, m, 0)->timestamp_ms, 90000);
	assert_int_equal(epoch_of(&rig, "{\"id\":1,\"__op\":\"u\",\"__table\":\"t\",\"__file\":\"b.000009\",\"__pos\":8,\"__server_id\":7,"
	                          "\"__source_ts_ms\":10000}"), 0);
	assert_int_equal(epoch_of(&rig, "{\"id\":1,\"__op\":\"u\",\"__table\":\"t\",\"__file\":\"b.000001\",\"__pos\":4,\"__server_id\":7,"
	                          "\"__source_ts_ms\":90000}"), 1);
	rig_close(&rig);
}

#define WITH_BLOCK(fields, row, lsn) \
	"{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"struct\",\"field\":\"after\",\"fields\":[{\"type\":\"int32\",\"field\":\"id\"}" \
	fields "]}]},\"payload\":{\"op\":\"c\",\"before\":null,\"after\":{\"id\":1" row "},\"source\":{\"connector\":\"postgresql\",\"name\":\"c\"," \
	"\"db\":\"d\",\"table\":\"t\",\"ts_ms\":1,\"lsn\":" #lsn ",\"sequence\":\"[null,\\\"" #lsn "\\\"]\"}}}"
#define C_FIELD ",{\"type\":\"int32\",\"field\":\"c\",\"optional\":true}"

/* How many records a row that has the column again makes in a run that was told `logs`. */
static unsigned records_of_comeback(const struct rig *of, struct span logs)
{
	const struct table_schema *tables[] = { rig_schema((struct rig *)of, "t") };
	struct transform_setup setup = { .options = of->options, .tables = tables, .table_count = 1, .logs = logs, .wants_json = true };
	struct rig next = { .options = of->options, .batch = batch_new() };
	struct error err = { 0 };

	next.transform = transform_debezium.open(&setup, &err);
	unsigned count = rig_send(&next, WITH_BLOCK(C_FIELD, ",\"c\":3", 30), "{\"id\":1}")->record_count;

	next.transform->ops->finish(next.transform, next.batch);
	assert_true(next.batch->end.logs.len > 0);
	next.transform->ops->close(next.transform);
	batch_free(next.batch);
	return count;
}

/* What is damaged of it is passed over, wherever it ends. */
static void test_a_column_that_was_gone_is_remembered(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "");
	rig_send(&rig, WITH_BLOCK(C_FIELD, ",\"c\":1", 10), "{\"id\":1}");
	rig_send(&rig, WITH_BLOCK("", "", 20), "{\"id\":1}");
	rig.transform->ops->finish(rig.transform, rig.batch);
	struct span logs = rig.batch->end.logs;

	assert_int_equal(records_of_comeback(&rig, logs), 2);
	assert_int_equal(records_of_comeback(&rig, SPAN("")), 1);
	for (size_t len = 0; len + 8 < logs.len; len++)
		assert_int_equal(records_of_comeback(&rig, span_make(logs.at, len)), 1);
	assert_int_equal(records_of_comeback(&rig, SPAN("\nddl")), 1);
	assert_int_equal(records_of_comeback(&rig, SPAN("\n7 1,,,,,0;")), 1);
	assert_int_equal(records_of_comeback(&rig, SPAN("\n0 99999999999999999999,,,,,0 5,/,1,2,3,0;;")), 1);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_timeline_that_goes_back_begins_an_epoch),
		cmocka_unit_test(test_a_restored_database_begins_an_epoch),
		cmocka_unit_test(test_a_shard_takes_over_from_those_whose_keys_it_has),
		cmocka_unit_test(test_vitess_may_order_its_transactions_itself),
		cmocka_unit_test(test_logs_beside_each_other_do_not_meet),
		cmocka_unit_test(test_a_column_that_was_gone_is_remembered),
		cmocka_unit_test(test_a_log_with_changes_of_several_servers_is_one_log),
		cmocka_unit_test(test_a_log_that_went_back_between_two_runs_begins_an_epoch),
		cmocka_unit_test(test_a_flattened_row_without_the_sources_clock_begins_no_epoch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
