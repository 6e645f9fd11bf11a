/* Columns that widen, values that are left out, tables that are emptied and dropped. */
#include "unit/local_help.h"

static const char *const u_columns[][2] = { { "id", "INT64" }, { "bio", "STRING" }, { "n", "INT64" } };

static void begin(struct world *world, const char *name, const char *const columns[][2], size_t count, size_t keys)
{
	batch_add_change(world->batch, 0, schema_of(world->batch, name, 1, columns, count, keys), "new table");
}

static void check_verified(struct world *world)
{
	struct verified verified;

	if (!verify(world, &verified))
		fail_msg("verify: %s", verified.difference);
}

static void settle(struct world *world)
{
	flush_batch(world);
	merge_all(world);
	check_verified(world);
}

static void without_bio(struct world *world, enum operation operation, uint64_t a, const char *key, const char *json,
                        const char *old_key)
{
	struct record *record = put(world, operation, a, 1, key_one(world->batch, key), json);

	record->unavailable = SPAN("[\"bio\"]");
	if (old_key)
		record->old_key = key_one(world->batch, old_key);
}

/* B22, in one merge, in two, and with the merge made again. */
static void unchanged_large_value_is_kept(void **state)
{
	(void)state;
	for (int merges = 1; merges <= 2; merges++) {
		struct world world;

		world_make(&world, REPLICATION_MERGE, false);
		begin(&world, "u", u_columns, 3, 1);
		put(&world, OP_INSERT, 10, 0, key_one(world.batch, "1"), "{\"id\":1,\"bio\":\"long text\",\"n\":1}");
		if (merges == 2)
			settle(&world);
		without_bio(&world, OP_UPDATE, 20, "1", "{\"id\":1,\"bio\":null,\"n\":2}", NULL);
		settle(&world);
		assert_string_equal(ask(&world, "shop", "SELECT bio, n FROM u"), "long text|2");
		ask(&world, "shop", "UPDATE _weir_replica SET watermark=0");
		merge_all(&world);
		assert_string_equal(ask(&world, "shop", "SELECT bio, n FROM u"), "long text|2");
		check_verified(&world);
		world_end(&world);
	}
}

static void missing_value_is_listed_until_its_event_comes(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "u", u_columns, 3, 1);
	without_bio(&world, OP_UPDATE, 20, "1", "{\"id\":1,\"bio\":null,\"n\":2}", NULL);
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT bio, n FROM u"), "NULL|2");
	assert_string_equal(ask(&world, "shop", "SELECT table_name, column_name FROM _weir_unavailable"), "u|bio");
	without_bio(&world, OP_UPDATE, 30, "1", "{\"id\":1,\"bio\":null,\"n\":3}", NULL);
	settle(&world);
	put(&world, OP_INSERT, 10, 0, key_one(world.batch, "1"), "{\"id\":1,\"bio\":\"long text\",\"n\":1}");
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT bio, n FROM u"), "long text|3");
	assert_string_equal(ask(&world, "shop", "SELECT count(*) FROM _weir_unavailable"), "0");
	world_end(&world);
}

/* The insert behind a key change has the value only under its old key, in whatever order the three come. */
static void value_survives_a_key_change(void **state)
{
	static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	(void)state;
	for (size_t order = 0; order < 6; order++) {
		struct world world;

		world_make(&world, REPLICATION_MERGE, order % 2);
		begin(&world, "u", u_columns, 3, 1);
		for (size_t i = 0; i < 3; i++) {
			if (orders[order][i] == 0)
				put(&world, OP_INSERT, 10, 0, key_one(world.batch, "5"), "{\"id\":5,\"bio\":\"long text\",\"n\":1}");
			else if (orders[order][i] == 1)
				put(&world, OP_DELETE, 20, 0, key_one(world.batch, "5"), NULL);
			else
				without_bio(&world, OP_INSERT, 20, "6", "{\"id\":6,\"bio\":null,\"n\":1}", "5");
			settle(&world);
		}
		assert_string_equal(ask(&world, "shop", "SELECT id, bio FROM u"), "6|long text");
		world_end(&world);
	}
}

static void upsert_keeps_values_without_a_changelog(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_UPSERT, false);
	begin(&world, "u", u_columns, 3, 1);
	put(&world, OP_INSERT, 10, 0, key_one(world.batch, "5"), "{\"id\":5,\"bio\":\"it's \\\"long\\\"\",\"n\":1}");
	flush_batch(&world);
	put(&world, OP_DELETE, 20, 0, key_one(world.batch, "5"), NULL);
	flush_batch(&world);
	world_reopen(&world);
	without_bio(&world, OP_INSERT, 20, "6", "{\"id\":6,\"bio\":null,\"n\":1}", "5");
	without_bio(&world, OP_UPDATE, 30, "6", "{\"id\":6,\"bio\":null,\"n\":2}", NULL);
	flush_batch(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id, bio, n FROM u"), "6|it's \"long\"|2");
	put(&world, OP_UPDATE, 25, 0, key_one(world.batch, "6"), "{\"id\":6,\"bio\":\"old\",\"n\":0}");
	put(&world, OP_INSERT, 5, 0, key_one(world.batch, "5"), "{\"id\":5,\"bio\":\"old\",\"n\":0}");
	flush_batch(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id, bio, n FROM u"), "6|it's \"long\"|2");
	put(&world, OP_UPDATE, 30, 1, key_one(world.batch, "6"), "{\"id\":6,\"bio\":\"x\",\"n\":2}");
	write_batch(&world);
	assert_int_equal(world.batch->records[0].verdict, VERDICT_REPEATED);
	commit_batch(&world);
	assert_string_equal(ask(&world, "shop", "SELECT type FROM _weir_columns WHERE table_name='u' AND name='n'"), "INT64");
	world_end(&world);
}

static void widened_columns_hold_canonical_text(void **state)
{
	static const char *const narrow[][2] = { { "id", "INT64" },  { "i", "INT64" }, { "f", "FLOAT64" }, { "b", "BOOL" },
		                                 { "y", "BYTES" }, { "r", "INT64" }, { "nulls", "STRING" } };
	static const char *const wide[][2] = { { "id", "STRING" }, { "i", "STRING" },  { "f", "STRING" }, { "b", "STRING" },
		                               { "y", "STRING" }, { "r", "FLOAT64" }, { "nulls", "INT64" }, { "more", "STRING" } };
	static const char row_1[] = "{\"id\":1,\"i\":7,\"f\":2.50,\"b\":true,\"y\":\"AP8=\",\"r\":3,\"nulls\":null}";
	static const char row_2[] = "{\"id\":2,\"i\":-9223372036854775808,\"f\":1e15,\"b\":false,\"y\":\"\",\"r\":4,\"nulls\":null}";
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "w", narrow, 7, 1);
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "1"), row_1);
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT typeof(id), typeof(i), typeof(f), typeof(b), typeof(y) FROM w"),
	                    "integer|integer|real|integer|blob");
	/* read from the changelog with the old types behind the widening */
	put(&world, OP_INSERT, 2, 0, key_one(world.batch, "2"), row_2);
	batch_add_change(world.batch, 0, schema_of(world.batch, "w", 2, wide, 8, 1), "widened");
	put(&world, OP_INSERT, 3, 0, key_one(world.batch, "x"),
	    "{\"id\":\"x\",\"i\":\"007\",\"f\":\"f\",\"b\":\"b\",\"y\":\"y\",\"r\":0.5,\"nulls\":8,\"more\":\"m\"}");
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id, i, f, b, y, r, nulls, more, typeof(id), typeof(i) FROM w ORDER BY id"),
	                    "1|7|2.5|true|AP8=|3.0|NULL|NULL|text|text\n"
	                    "2|-9223372036854775808|1000000000000000|false||4.0|NULL|NULL|text|text\n"
	                    "x|007|f|b|y|0.5|8|m|text|text");
	put(&world, OP_DELETE, 4, 0, key_one(world.batch, "1"), NULL);
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT count(*) FROM w"), "2");
	world_end(&world);
}

static void truncate_hides_smaller_never_equal(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "u", u_columns, 3, 1);
	put(&world, OP_READ, 10, 0, key_one(world.batch, "1"), "{\"id\":1,\"n\":1}");
	put(&world, OP_READ, 20, 0, key_one(world.batch, "2"), "{\"id\":2,\"n\":2}");
	put(&world, OP_TRUNCATE, 20, 0, (struct span){ 0 }, NULL);
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id FROM u"), "2");
	put(&world, OP_INSERT, 15, 0, key_one(world.batch, "3"), "{\"id\":3,\"n\":3}");
	put(&world, OP_INSERT, 21, 0, key_one(world.batch, "4"), "{\"id\":4,\"n\":4}");
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id FROM u ORDER BY id"), "2\n4");
	assert_string_equal(ask(&world, "shop_log", "SELECT count(*) FROM u_changelog"), "5");
	world_end(&world);
}

static void dropped_table_is_readable_until_it_is_made_again(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "u", u_columns, 3, 1);
	put(&world, OP_INSERT, 10, 0, key_one(world.batch, "1"), "{\"id\":1,\"n\":1}");
	put(&world, OP_DROP, 20, 0, (struct span){ 0 }, NULL);
	batch_add_change(world.batch, 0, NULL, "dropped");
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id, n FROM u"), "1|1");
	put(&world, OP_UPDATE, 15, 0, key_one(world.batch, "1"), "{\"id\":1,\"n\":2}"); /* late: no effect */
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id, n FROM u"), "1|1");
	put(&world, OP_INSERT, 30, 0, key_one(world.batch, "2"), "{\"id\":2,\"n\":3}");
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id, n FROM u"), "2|3");
	world_end(&world);
}

/* 15 lies between the two drops: it was made again by the row at 20, and starts empty at 15. */
static void earlier_drop_that_comes_late_hides_what_was_before_it(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "u", u_columns, 3, 1);
	put(&world, OP_INSERT, 10, 0, key_one(world.batch, "1"), "{\"id\":1,\"n\":1}");
	put(&world, OP_INSERT, 20, 0, key_one(world.batch, "2"), "{\"id\":2,\"n\":2}");
	put(&world, OP_DROP, 30, 0, (struct span){ 0 }, NULL);
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id FROM u ORDER BY id"), "1\n2");
	put(&world, OP_DROP, 15, 0, (struct span){ 0 }, NULL);
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT id FROM u"), "2");
	world_end(&world);
}

static void old_event_does_not_bring_a_deleted_row_back(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "u", u_columns, 3, 1);
	put(&world, OP_DELETE, 20, 0, key_one(world.batch, "1"), NULL);
	settle(&world);
	put(&world, OP_INSERT, 10, 0, key_one(world.batch, "1"), "{\"id\":1,\"n\":1}");
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT count(*) FROM u"), "0");
	put(&world, OP_INSERT, 30, 0, key_one(world.batch, "1"), "{\"id\":1,\"n\":3}");
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT n FROM u"), "3");
	world_end(&world);
}

/* The parameter's help says so: at least that long. */
static void local_delete_is_remembered_beyond_tombstone_days(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	world.options.tombstone_days = 1;
	begin(&world, "u", u_columns, 3, 1);
	put(&world, OP_DELETE, 20, 0, key_one(world.batch, "1"), NULL);
	world.batch->messages[0].received_us = 1; /* 1970 */
	settle(&world);
	put(&world, OP_INSERT, 10, 0, key_one(world.batch, "1"), "{\"id\":1,\"n\":1}");
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT count(*) FROM u"), "0");
	assert_string_equal(ask(&world, "shop", "SELECT count(*) FROM _weir_deleted"), "1");
	world_end(&world);
}

static void merge_follows_several_tables_and_counts_what_waits(void **state)
{
	struct world world;
	struct merger *merger;
	struct merge_result result;
	struct error err = { 0 };
	uint64_t waiting;

	(void)state;
	world_make(&world, REPLICATION_MERGE, true);
	begin(&world, "a", u_columns, 3, 1);
	batch_add_change(world.batch, 1, schema_of(world.batch, "b", 1, u_columns, 3, 1), "new table");
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "1"), "{\"id\":1,\"n\":1}");
	put(&world, OP_INSERT, 2, 0, key_one(world.batch, "2"), "{\"id\":2,\"n\":1}");
	put(&world, OP_INSERT, 3, 0, key_one(world.batch, "1"), "{\"id\":1,\"n\":1}")->table = 1;
	world.batch->messages[2].table = 1;
	flush_batch(&world);
	assert_non_null(merger = merger_open(&world.setup, &err));
	assert_true(merger_waiting(merger, &waiting, &err));
	assert_int_equal(waiting, 3);
	assert_true(merger_step(merger, "b", &result, &err));
	assert_string_equal(result.table, "b");
	assert_int_equal(result.changes, 1);
	assert_true(merger_step(merger, NULL, &result, &err));
	assert_string_equal(result.table, "a");
	assert_int_equal(result.rows, 2);
	assert_false(result.has_more);
	assert_true(merger_step(merger, NULL, &result, &err));
	assert_string_equal(result.table, "");
	assert_true(merger_waiting(merger, &waiting, &err));
	assert_int_equal(waiting, 0);
	merger_close(merger);
	check_verified(&world);
	world_end(&world);
}

static void put_in_both(struct world *world, int64_t position, const char *id)
{
	char row[64];

	snprintf(row, sizeof(row), "{\"id\":%s,\"n\":1}", id);
	put(world, OP_INSERT, position, 0, key_one(world->batch, id), row);
	put(world, OP_INSERT, position, 1, key_one(world->batch, id), row)->table = 1;
	world->batch->messages[1].table = 1;
	flush_batch(world);
}

static uint64_t merge_rest(struct merger *merger, struct error *err)
{
	struct merge_result result = { .has_more = true };
	uint64_t changes = 0;

	while (result.has_more) {
		assert_true(merger_step(merger, NULL, &result, err));
		changes += result.changes;
	}
	return changes;
}

/* Tables `a` and `b` with a row each, and two mergers of them. */
static void two_mergers_begin(struct world *world, struct merger **one, struct merger **other)
{
	struct error err = { 0 };

	world_make(world, REPLICATION_MERGE, true);
	begin(world, "a", u_columns, 3, 1);
	batch_add_change(world->batch, 1, schema_of(world->batch, "b", 1, u_columns, 3, 1), "new table");
	put_in_both(world, 1, "1");
	assert_non_null(*one = merger_open(&world->setup, &err));
	assert_non_null(*other = merger_open(&world->setup, &err));
}

static void two_mergers_end(struct world *world, struct merger *one, struct merger *other, const char *rows)
{
	merger_close(one);
	merger_close(other);
	assert_string_equal(ask(world, "shop", "SELECT count(*) FROM b"), rows);
	check_verified(world);
	world_end(world);
}

/* `weir merge` beside the job's own merger: each goes on where the other has come to, also in the middle of a round. */
static void two_mergers_take_turns(void **state)
{
	struct world world;
	struct merger *one, *other;
	struct merge_result result;
	struct error err = { 0 };

	(void)state;
	two_mergers_begin(&world, &one, &other);
	assert_true(merger_step(one, NULL, &result, &err) && result.has_more);
	assert_int_equal(merge_rest(other, &err), 1);
	assert_int_equal(merge_rest(one, &err), 0);
	put_in_both(&world, 2, "2");
	assert_int_equal(merge_rest(one, &err), 2);
	put_in_both(&world, 3, "3");
	assert_int_equal(merge_rest(other, &err), 2);
	put_in_both(&world, 4, "4");
	assert_int_equal(merge_rest(one, &err), 2);
	assert_string_equal(err.code, "");
	two_mergers_end(&world, one, other, "4");
}

/* While changes gather: both tables go on from what was read of the first, and what another one merges meanwhile is not
 * merged twice. */
static void what_was_read_ahead_is_the_steps(void **state)
{
	struct world world;
	struct merger *one, *other;
	struct merge_result result;
	struct error err = { 0 };

	(void)state;
	two_mergers_begin(&world, &one, &other);
	merger_read_ahead(one);
	put_in_both(&world, 2, "2");
	merger_read_ahead(one);
	put_in_both(&world, 3, "3");
	assert_true(merger_step(one, NULL, &result, &err));
	assert_string_equal(result.table, "a");
	assert_int_equal(result.changes, 3);
	assert_int_equal(merge_rest(one, &err), 3);
	put_in_both(&world, 4, "4");
	merger_read_ahead(one);
	assert_int_equal(merge_rest(other, &err), 2);
	put_in_both(&world, 5, "5");
	assert_int_equal(merge_rest(one, &err), 2);
	merger_read_ahead(one);
	put_in_both(&world, 6, "6");
	merger_read_ahead(one);
	assert_true(merger_rebuild(one, "a", &result, &err));
	assert_int_equal(result.changes, 6);
	assert_int_equal(merge_rest(one, &err), 1);
	assert_string_equal(err.code, "");
	two_mergers_end(&world, one, other, "6");
}

/* A table event that was read ahead and given up counts once, and a wider key sorts otherwise. */
static void what_was_read_ahead_of_another_shape_is_read_again(void **state)
{
	static const char *const text_columns[][2] = { { "id", "STRING" }, { "n", "INT64" }, { "big", "STRING" } };
	struct world world;
	struct merger *merger;
	struct error err = { 0 };

	(void)state;
	world_make(&world, REPLICATION_MERGE, true);
	begin(&world, "u", u_columns, 3, 1);
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "9"), "{\"id\":9,\"n\":1}");
	put(&world, OP_INSERT, 2, 0, key_one(world.batch, "10"), "{\"id\":10,\"n\":1}");
	put(&world, OP_TRUNCATE, 3, 0, SPAN(""), NULL);
	put(&world, OP_INSERT, 4, 0, key_one(world.batch, "9"), "{\"id\":9,\"n\":2}");
	flush_batch(&world);
	assert_non_null(merger = merger_open(&world.setup, &err));
	merger_read_ahead(merger);
	batch_add_change(world.batch, 0, schema_of(world.batch, "u", 2, text_columns, 3, 1), "wider id");
	put(&world, OP_INSERT, 5, 0, key_one(world.batch, "10"), "{\"id\":\"10\",\"n\":3}");
	put(&world, OP_INSERT, 6, 0, key_one(world.batch, "x"), "{\"id\":\"x\",\"n\":4}");
	flush_batch(&world);
	assert_int_equal(merge_rest(merger, &err), 6);
	merger_close(merger);
	assert_string_equal(ask(&world, "shop", "SELECT group_concat(id || '=' || n, ' ') FROM (SELECT * FROM u ORDER BY n)"),
	                    "9=2 10=3 x=4");
	check_verified(&world);
	world_end(&world);
}

static void widest_table_is_merged_and_verified(void **state)
{
	static char names[SCHEMA_COLUMNS_MAX + 1][16];
	static const char *columns[SCHEMA_COLUMNS_MAX + 1][2];
	struct world world;
	struct merger *merger;
	struct merge_result result;
	struct error err = { 0 };

	(void)state;
	for (int i = 0; i <= SCHEMA_COLUMNS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "c%d", i);
		columns[i][0] = names[i];
		columns[i][1] = "INT64";
	}
	world_make(&world, REPLICATION_MERGE, false);
	begin(&world, "wide", (const char *const(*)[2])columns, SCHEMA_COLUMNS_MAX, 1);
	put(&world, OP_INSERT, 1, 0, key_one(world.batch, "1"), "{\"c0\":1,\"c1998\":5}");
	settle(&world);
	assert_string_equal(ask(&world, "shop", "SELECT c0, c1, c1998 FROM wide"), "1|NULL|5");
	begin(&world, "wide", (const char *const(*)[2])columns, SCHEMA_COLUMNS_MAX + 1, 1);
	put(&world, OP_INSERT, 2, 0, key_one(world.batch, "2"), "{\"c0\":2}");
	flush_batch(&world);
	assert_non_null(merger = merger_open(&world.setup, &err));
	assert_false(merger_step(merger, NULL, &result, &err));
	assert_string_equal(err.code, "too_many_columns");
	merger_close(merger);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchanged_large_value_is_kept),
		cmocka_unit_test(missing_value_is_listed_until_its_event_comes),
		cmocka_unit_test(value_survives_a_key_change),
		cmocka_unit_test(upsert_keeps_values_without_a_changelog),
		cmocka_unit_test(widened_columns_hold_canonical_text),
		cmocka_unit_test(truncate_hides_smaller_never_equal),
		cmocka_unit_test(dropped_table_is_readable_until_it_is_made_again),
		cmocka_unit_test(earlier_drop_that_comes_late_hides_what_was_before_it),
		cmocka_unit_test(old_event_does_not_bring_a_deleted_row_back),
		cmocka_unit_test(local_delete_is_remembered_beyond_tombstone_days),
		cmocka_unit_test(widest_table_is_merged_and_verified),
		cmocka_unit_test(merge_follows_several_tables_and_counts_what_waits),
		cmocka_unit_test(two_mergers_take_turns),
		cmocka_unit_test(what_was_read_ahead_is_the_steps),
		cmocka_unit_test(what_was_read_ahead_of_another_shape_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
