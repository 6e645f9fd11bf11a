/* What a user sees of the local warehouse: tables, positions, counters, repeats, names. */
#include "unit/local_help.h"

#include <sys/stat.h>

static const char *const two[][2] = { { "id", "INT64" }, { "state", "STRING" } };

static void begin(struct world *world, const char *table)
{
	batch_add_change(world->batch, 0, schema_of(world->batch, table, 1, two, 2, 1), "new table");
}

static void change_comes_twice_and_counts_as_repeated(void **state)
{
	struct world world;
	struct record *second;
	struct sink_state sink_state;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "orders");
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	second = put(&world, OP_INSERT, 1, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	write_batch(&world);
	assert_int_equal(second->verdict, VERDICT_REPEATED);
	commit_batch(&world);
	world_reopen(&world);
	world.sink->ops->state(world.sink, &sink_state);
	assert_true(sink_state.is_known);
	assert_string_equal(sink_state.incarnation, "first");
	assert_int_equal(sink_state.position.offset, 200);
	assert_int_equal(sink_state.position.line, 2);
	assert_int_equal(sink_state.table_count, 1);
	assert_int_equal(sink_state.ledgers[0].received, 2);
	assert_int_equal(sink_state.ledgers[0].repeated, 1);
	assert_string_equal(ask(&world, "shop_log", "SELECT operation, fullRecord, tableName, length(_weir_position) FROM "
	                                            "orders_changelog"),
	                    "INSERT|{\"id\":7,\"state\":\"new\"}|db.public.orders|33");
	world_end(&world);
}

/* B01: two changes of one millisecond, the newer delivered first; in one merge and in two. */
static void busy_row_keeps_the_later_change(void **state)
{
	(void)state;
	for (int merges = 1; merges <= 2; merges++) {
		struct world world;

		world_make(&world, REPLICATION_MERGE, false);
		begin(&world, "orders");
		put(&world, OP_UPDATE, 566, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"paid\"}")->timestamp_ms = 123;
		if (merges == 2) {
			flush_batch(&world);
			merge_all(&world);
		}
		put(&world, OP_INSERT, 410, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}")->timestamp_ms = 123;
		flush_batch(&world);
		merge_all(&world);
		assert_string_equal(ask(&world, "shop", "SELECT id, state FROM orders"), "7|paid");
		assert_string_equal(ask(&world, "shop_log", "SELECT count(*) FROM orders_changelog"), "2");
		world_end(&world);
	}
}

/* B03: a key change is a delete and an insert of one position. */
static void key_change_leaves_one_row(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, true);
	begin(&world, "people");
	put(&world, OP_INSERT, 1000, 0, key_one(world.batch, "1"), "{\"id\":1,\"state\":\"ann\"}");
	put(&world, OP_DELETE, 1010, 0, key_one(world.batch, "1"), NULL);
	put(&world, OP_INSERT, 1010, 1, key_one(world.batch, "2"), "{\"id\":2,\"state\":\"ann\"}");
	flush_batch(&world);
	merge_all(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id, state FROM people"), "2|ann");
	put(&world, OP_INSERT, 1020, 0, key_one(world.batch, "1"), "{\"id\":1,\"state\":\"bob\"}");
	flush_batch(&world);
	merge_all(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id, state FROM people ORDER BY id"), "1|bob\n2|ann");
	world_end(&world);
}

/* B05: the position's first part decides before the second, and no date window passes anything over. */
static void next_log_file_beats_a_smaller_offset(void **state)
{
	struct world world;
	struct position file_157 = { .a = 157, .b = 90000, .c = 1 }, file_158 = { .a = 158, .b = 120, .c = 1 };

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "t");
	position_pack(&file_157, put(&world, OP_UPDATE, 0, 0, key_one(world.batch, "9"), "{\"id\":9,\"state\":\"old\"}")->position);
	flush_batch(&world);
	position_pack(&file_158, put(&world, OP_UPDATE, 0, 0, key_one(world.batch, "9"), "{\"id\":9,\"state\":\"new\"}")->position);
	flush_batch(&world);
	merge_all(&world);
	assert_string_equal(ask(&world, "shop", "SELECT state FROM t"), "new");
	world_end(&world);
}

/* B15: words of SQL as names, and quotes inside them. */
static void reserved_words_and_quotes_are_only_names(void **state)
{
	static const char *const odd[][2] = { { "select", "STRING" }, { "order", "INT64" },   { "group", "STRING" },
		                              { "it's \"x\"", "BOOL" }, { "end", "STRING" } };
	struct world world;
	struct verified verified;

	(void)state;
	world_make(&world, REPLICATION_MERGE, true);
	batch_add_change(world.batch, 0, schema_of(world.batch, "merge", 1, odd, 5, 2), "new table");
	put(&world, OP_INSERT, 1, 0, key_of(world.batch, (const char *[]){ "h'\"", "3", NULL }),
	    "{\"select\":\"h'\\\"\",\"order\":3,\"group\":\"g\\u0000h\",\"it's \\\"x\\\"\":true,\"end\":null}");
	flush_batch(&world);
	merge_all(&world);
	assert_string_equal(ask(&world, "shop", "SELECT \"select\", \"order\", hex(CAST(\"group\" AS BLOB)), "
	                                        "\"it's \"\"x\"\"\", \"end\" FROM \"merge\""),
	                    "h'\"|3|670068|1|NULL");
	assert_true(verify(&world, &verified));
	assert_int_equal(verified.rows, 1);
	world_end(&world);
}

static void rolled_back_batch_is_written_whole_later(void **state)
{
	struct world world;
	struct sink_state sink_state;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "orders");
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	write_batch(&world);
	world.sink->ops->rollback(world.sink);
	world.sink->ops->state(world.sink, &sink_state);
	assert_int_equal(sink_state.table_count, 0);
	assert_false(sink_state.is_known);
	assert_string_equal(ask(&world, "shop_log", "SELECT count(*) FROM sqlite_master WHERE name LIKE 'orders%'"), "0");
	flush_batch(&world);
	assert_string_equal(ask(&world, "shop_log", "SELECT count(*) FROM orders_changelog"), "1");
	world_end(&world);
}

static void from_start_keeps_tables_and_zeroes_counters(void **state)
{
	struct world world;
	struct sink_state sink_state;
	struct error err = { 0 };

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "orders");
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	flush_batch(&world);
	assert_true(world.sink->ops->forget(world.sink, &err));
	world_reopen(&world);
	world.sink->ops->state(world.sink, &sink_state);
	assert_false(sink_state.is_known);
	assert_int_equal(sink_state.table_count, 1);
	assert_int_equal(sink_state.ledgers[0].received, 0);
	assert_int_equal(sink_state.tables[0]->count, 2);
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	write_batch(&world);
	assert_int_equal(world.batch->records[0].verdict, VERDICT_REPEATED);
	commit_batch(&world);
	world_end(&world);
}

static void oversized_row_is_refused_alone(void **state)
{
	struct world world;
	struct record *large;
	const size_t len = (64u << 20) + 1;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "orders");
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	large = put(&world, OP_INSERT, 2, 0, key_one(world.batch, "8"), "{}");
	large->full_record = span_make(arena_bytes(world.batch->arena, len), len);
	write_batch(&world);
	assert_int_equal(large->verdict, VERDICT_REFUSED);
	assert_string_equal(large->refusal->code, "row_too_large");
	assert_string_equal(large->refusal->stage, "write");
	assert_ptr_equal(world.batch->messages[1].refusal, large->refusal);
	assert_int_equal(world.batch->records[0].verdict, VERDICT_WRITTEN);
	commit_batch(&world);
	world_end(&world);
}

static void dataset_names_stay_in_the_folder(void **state)
{
	static char evil[] = "../x", empty[] = "";
	struct world world;
	struct error err = { 0 };

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	world.options.change_log_dataset = evil;
	assert_null(sink_local.open(&world.setup, &err));
	assert_string_equal(err.code, "bad_dataset");
	world.options.change_log_dataset = empty;
	assert_null(sink_local.open(&world.setup, &err));
	assert_string_equal(err.code, "bad_dataset");
	world_end(&world);
}

static void files_belong_to_their_owner_only(void **state)
{
	struct world world;
	char path[256];
	struct stat st;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	snprintf(path, sizeof(path), "%s/shop_log.db", world.folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	world_end(&world);
}

static void foreign_table_is_not_taken_over(void **state)
{
	struct world world;
	struct error err = { 0 };

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	ask(&world, "shop_log", "CREATE TABLE Orders_Changelog(x)");
	begin(&world, "orders");
	assert_false(world.sink->ops->write(world.sink, world.batch, &err));
	assert_string_equal(err.code, "name_collision");
	world.sink->ops->rollback(world.sink);
	world_end(&world);
}

static void locked_file_is_a_passing_failure(void **state)
{
	struct world world;
	struct error err = { 0 };
	char path[256];
	sqlite3 *other;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	snprintf(path, sizeof(path), "%s/shop_log.db", world.folder);
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	begin(&world, "orders");
	assert_false(world.sink->ops->write(world.sink, world.batch, &err));
	assert_int_equal(err.kind, ERROR_TRANSIENT);
	assert_string_equal(err.code, "database_locked");
	world.sink->ops->rollback(world.sink);
	sqlite3_close(other);
	flush_batch(&world);
	world_end(&world);
}

static void changelog_mode_has_no_replica(void **state)
{
	struct world world;
	struct error err = { 0 };
	bool is_equal;

	(void)state;
	world_make(&world, REPLICATION_CHANGELOG, false);
	begin(&world, "orders");
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	flush_batch(&world);
	assert_null(merger_open(&world.setup, &err));
	assert_string_equal(err.code, "no_replica");
	assert_false(verify_run(&world.setup, NULL, NULL, &is_equal, &err));
	assert_string_equal(err.code, "no_changelog");
	world_end(&world);
}

static void table_without_key_has_a_changelog_only(void **state)
{
	struct world world;
	struct verified verified;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	batch_add_change(world.batch, 0, schema_of(world.batch, "events", 1, two, 2, 0), "new table");
	put(&world, OP_INSERT, 1, 0, SPAN("hash"), "{\"id\":7,\"state\":\"new\"}")->primary_key = (struct span){ 0 };
	flush_batch(&world);
	assert_int_equal(merge_all(&world), 0);
	assert_true(verify(&world, &verified));
	assert_int_equal(verified.tables, 0);
	assert_string_equal(ask(&world, "shop", "SELECT count(*) FROM sqlite_master WHERE name='events'"), "0");
	world_end(&world);
}

static bool is_newer(struct world *world, const char *key, uint64_t a)
{
	struct position position = { .a = a };
	unsigned char packed[POSITION_BYTES];
	struct newer_question question = { .key = key_one(world->batch, key), .position = packed };
	struct error err = { 0 };

	position_pack(&position, packed);
	if (!warehouse_ask_newer(&world->setup, world->setup.options->replication_mode == REPLICATION_MERGE ? "shop.orders" : "orders",
	                         &question, 1, &err))
		fail_msg("newer: %s", err.message);
	return question.is_newer;
}

/* The row of a key, given as in the warehouse or as JSON; "none", or "no replica". */
static void row_is(struct world *world, const char *key, const char *json_key, const char *row)
{
	OWNED(text) found = text_new(4096);
	struct row_question question = { .key = key ? key_one(world->batch, key) : span_of(NULL), .json_key = span_of(json_key) };
	struct row_answer answer = { .row = found };
	struct error err = { 0 };

	if (!warehouse_row(&world->setup, "orders", &question, &answer, &err))
		fail_msg("row: %s", err.message);
	assert_string_equal(!answer.has_replica ? "no replica" : answer.is_found ? found->at : "none", row);
}

static void letter_knows_the_row_of_its_key(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "orders");
	put(&world, OP_INSERT, 5, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	flush_batch(&world);
	row_is(&world, "7", NULL, "no replica");
	merge_all(&world);
	row_is(&world, "7", NULL, "{\"id\":7,\"state\":\"new\"}");
	row_is(&world, NULL, "{\"id\":7}", "{\"id\":7,\"state\":\"new\"}");
	row_is(&world, "8", NULL, "none");
	row_is(&world, NULL, "{\"id\":8}", "none");
	row_is(&world, NULL, "{\"state\":\"new\"}", "none");
	row_is(&world, NULL, "7", "none");
	row_is(&world, NULL, NULL, "none");
	world_end(&world);
}

static void letter_knows_whether_a_newer_change_came(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "orders");
	put(&world, OP_INSERT, 5, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	put(&world, OP_INSERT, 6, 0, key_one(world.batch, "8"), "{\"id\":8,\"state\":\"new\"}");
	put(&world, OP_DELETE, 9, 0, key_one(world.batch, "8"), NULL);
	flush_batch(&world);
	for (int merged = 0; merged < 2; merged++) {
		assert_true(is_newer(&world, "7", 4));
		assert_false(is_newer(&world, "7", 5));
		assert_true(is_newer(&world, "8", 8));
		assert_false(is_newer(&world, "8", 9));
		assert_false(is_newer(&world, "1", 0));
		merge_all(&world);
	}
	world_end(&world);
}

static void letter_without_a_replica_asks_the_changelog(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_CHANGELOG, false);
	begin(&world, "orders");
	put(&world, OP_INSERT, 5, 0, key_one(world.batch, "7"), "{\"id\":7,\"state\":\"new\"}");
	flush_batch(&world);
	assert_true(is_newer(&world, "7", 4));
	assert_false(is_newer(&world, "7", 5));
	assert_false(is_newer(&world, "8", 0));
	row_is(&world, "7", NULL, "no replica");
	world_end(&world);
}

/* Else an INT64 column with values beyond 2^53 could become FLOAT64 after a restart. In every mode. */
static void that_a_column_has_large_numbers_is_known_after_a_restart(void **state)
{
	static const enum replication_mode modes[] = { REPLICATION_CHANGELOG, REPLICATION_MERGE, REPLICATION_UPSERT };
	static const char *const columns[][2] = { { "id", "INT64" }, { "n", "INT64" } };
	struct sink_state known;
	struct world world;

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		world_make(&world, modes[i], false);
		for (uint32_t version = 1; version <= 2; version++) {
			const struct table_schema *schema = schema_of(world.batch, "t", version, columns, 2, 1);

			((struct column *)&schema->columns[1])->is_wide = version == 2;
			batch_add_change(world.batch, 0, schema, "large numbers in n");
			put(&world, OP_INSERT, (int)version, 0, key_one(world.batch, version == 1 ? "1" : "2"),
			    version == 1 ? "{\"id\":1,\"n\":1}" : "{\"id\":2,\"n\":9007199254740993}");
			flush_batch(&world);
		}
		world_reopen(&world);
		world.sink->ops->state(world.sink, &known);
		assert_int_equal(known.table_count, 1);
		assert_false(known.tables[0]->columns[0].is_wide);
		assert_true(known.tables[0]->columns[1].is_wide);
		world_end(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(that_a_column_has_large_numbers_is_known_after_a_restart),
		cmocka_unit_test(change_comes_twice_and_counts_as_repeated),
		cmocka_unit_test(busy_row_keeps_the_later_change),
		cmocka_unit_test(key_change_leaves_one_row),
		cmocka_unit_test(next_log_file_beats_a_smaller_offset),
		cmocka_unit_test(reserved_words_and_quotes_are_only_names),
		cmocka_unit_test(rolled_back_batch_is_written_whole_later),
		cmocka_unit_test(from_start_keeps_tables_and_zeroes_counters),
		cmocka_unit_test(oversized_row_is_refused_alone),
		cmocka_unit_test(dataset_names_stay_in_the_folder),
		cmocka_unit_test(files_belong_to_their_owner_only),
		cmocka_unit_test(foreign_table_is_not_taken_over),
		cmocka_unit_test(locked_file_is_a_passing_failure),
		cmocka_unit_test(changelog_mode_has_no_replica),
		cmocka_unit_test(table_without_key_has_a_changelog_only),
		cmocka_unit_test(letter_knows_whether_a_newer_change_came),
		cmocka_unit_test(letter_knows_the_row_of_its_key),
		cmocka_unit_test(letter_without_a_replica_asks_the_changelog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
