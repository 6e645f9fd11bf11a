/* Verification finds every way in which a replica and its changelog can come apart. */
#include "unit/local_help.h"

static const char *const columns[][2] = { { "id", "INT64" }, { "total", "NUMERIC" }, { "rate", "FLOAT64" },
	                                  { "paid", "BOOL" }, { "raw", "BYTES" } };

static void fill(struct world *world)
{
	world_make(world, REPLICATION_MERGE, false);
	batch_add_change(world->batch, 0, schema_of(world->batch, "orders", 1, columns, 5, 1), "new table");
	put(world, OP_INSERT, 1, 0, key_one(world->batch, "7"),
	    "{\"id\":7,\"total\":\"12.5\",\"rate\":0.1,\"paid\":true,\"raw\":\"AP8=\"}");
	put(world, OP_INSERT, 2, 0, key_one(world->batch, "8"),
	    "{\"id\":8,\"total\":\"0\",\"rate\":\"NaN\",\"paid\":false,\"raw\":null}");
	put(world, OP_INSERT, 3, 0, key_one(world->batch, "9"),
	    "{\"id\":9,\"total\":null,\"rate\":\"-Infinity\",\"paid\":null,\"raw\":\"\"}");
	put(world, OP_DELETE, 4, 0, key_one(world->batch, "9"), NULL);
	put(world, OP_UPDATE, 5, 0, key_one(world->batch, "8"),
	    "{\"id\":8,\"total\":\"1\",\"rate\":1e22,\"paid\":false,\"raw\":null}");
	flush_batch(world);
	merge_all(world);
}

static void untouched_replica_is_equal(void **state)
{
	struct world world;
	struct verified verified;

	(void)state;
	fill(&world);
	assert_true(verify(&world, &verified));
	assert_int_equal(verified.tables, 1);
	assert_int_equal(verified.rows, 2);
	assert_string_equal(ask(&world, "shop", "SELECT id, total, rate, paid, hex(raw), typeof(total), typeof(rate), typeof(raw) "
	                                        "FROM orders ORDER BY id"),
	                    "7|12.5|0.1|1|00FF|text|real|blob\n8|1|1.0e+22|0||text|real|null");
	world_end(&world);
}

/* What somebody did, where, and what the first difference says. */
static const struct spoil {
	const char *dataset, *sql, *says;
} spoils[] = {
	{ "shop", "UPDATE orders SET total='12.3' WHERE id=7", "id=7: column total: replica 12.3, changelog 12.5" },
	{ "shop", "UPDATE orders SET total=12.5 WHERE id=7", NULL }, /* TEXT affinity: stays the text 12.5 */
	{ "shop", "UPDATE orders SET rate=0.10000000000000002 WHERE id=7", "id=7: column rate" },
	{ "shop", "UPDATE orders SET paid=NULL WHERE id=8", "id=8: column paid: replica NULL, changelog 0" },
	{ "shop", "UPDATE orders SET raw=x'00FE' WHERE id=7", "id=7: column raw" },
	{ "shop", "UPDATE orders SET raw='' WHERE id=8", "id=8: column raw" },
	{ "shop", "DELETE FROM orders WHERE id=8", "id=8: only in the changelog" },
	{ "shop", "INSERT INTO orders VALUES(9, NULL, NULL, NULL, NULL, x'00')", "id=9: only in the replica" },
	{ "shop", "DROP TABLE orders", "the replica table is missing" },
	{ "shop", "ALTER TABLE orders DROP COLUMN paid", "paid" },
	{ "shop", "UPDATE _weir_replica SET watermark=4", "id=8: column total: replica 1, changelog 0" },
	{ "shop", "UPDATE _weir_replica SET watermark=6", "the replica's watermark is 6, the changelog ends at 5" },
	{ "shop", "UPDATE _weir_replica SET watermark=0", "id=7: only in the replica" },
	{ "shop_log", "UPDATE orders_changelog SET fullRecord=replace(fullRecord, '12.5', '12.6')",
	  "id=7: column total: replica 12.5, changelog 12.6" },
	{ "shop_log", "UPDATE orders_changelog SET fullRecord='[]' WHERE rowid=1", "only in the" },
	{ "shop_log", "UPDATE orders_changelog SET operation='DELETE' WHERE rowid=5", "id=8: only in the replica" },
	{ "shop_log", "DELETE FROM orders_changelog WHERE rowid=4", "id=9: only in the changelog" },
	{ "shop_log", "DELETE FROM orders_changelog WHERE rowid=2",
	  "the changelog has 4 changes up to the watermark, 5 were merged" },
	{ "shop_log", "DELETE FROM orders_changelog WHERE rowid=5", "id=8: column total" },
	{ "shop_log", "INSERT INTO orders_changelog SELECT '{\"id\":5}', primaryKey, operation, 0, '', x'00', x'05', NULL, NULL, 0 "
	              "FROM orders_changelog WHERE rowid=1", NULL }, /* above the watermark: not merged yet */
};

static void spoiled_files_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
		struct world world;
		struct verified verified;
		bool is_equal;

		fill(&world);
		world.sink->ops->close(world.sink);
		world.sink = NULL;
		ask(&world, spoils[i].dataset, spoils[i].sql);
		is_equal = verify(&world, &verified);
		if (is_equal != !spoils[i].says || (spoils[i].says && !strstr(verified.difference, spoils[i].says)))
			fail_msg("%s: says '%s'", spoils[i].sql, verified.difference);
		world_end(&world);
	}
}

static void rebuild_repairs_a_spoiled_replica(void **state)
{
	struct world world;
	struct verified verified;
	struct merger *merger;
	struct merge_result result;
	struct error err = { 0 };

	(void)state;
	fill(&world);
	ask(&world, "shop", "UPDATE orders SET total='12.3' WHERE id=7");
	assert_false(verify(&world, &verified));
	assert_non_null(merger = merger_open(&world.setup, &err));
	assert_true(merger_rebuild(merger, "orders", &result, &err));
	assert_int_equal(result.changes, 5);
	assert_string_equal(result.table, "orders");
	assert_false(merger_rebuild(merger, "nothing", &result, &err));
	assert_string_equal(err.code, "no_such_table");
	merger_close(merger);
	assert_true(verify(&world, &verified));
	world_end(&world);
}

static void lost_changelog_is_not_passed_over(void **state)
{
	struct world world;
	struct merger *merger;
	struct merge_result result;
	struct error err = { 0 };

	(void)state;
	fill(&world);
	ask(&world, "shop_log", "DELETE FROM orders_changelog");
	assert_non_null(merger = merger_open(&world.setup, &err));
	assert_false(merger_step(merger, NULL, &result, &err));
	assert_string_equal(err.code, "replica_ahead");
	merger_close(merger);
	world_end(&world);
}

static void nothing_written_is_nothing_wrong(void **state)
{
	struct world world;
	struct verified verified;

	(void)state;
	world_make(&world, REPLICATION_MERGE, false);
	assert_true(verify(&world, &verified));
	assert_int_equal(verified.tables, 0);
	batch_add_change(world.batch, 0, schema_of(world.batch, "orders", 1, columns, 5, 1), "new table");
	flush_batch(&world);
	assert_true(verify(&world, &verified));
	merge_all(&world);
	assert_true(verify(&world, &verified));
	assert_int_equal(verified.tables, 1);
	assert_int_equal(verified.rows, 0);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(untouched_replica_is_equal),
		cmocka_unit_test(spoiled_files_are_told),
		cmocka_unit_test(rebuild_repairs_a_spoiled_replica),
		cmocka_unit_test(lost_changelog_is_not_passed_over),
		cmocka_unit_test(nothing_written_is_nothing_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
