/*
 * A warehouse in a temporary folder, and batches made by hand, for the tests of
 * the local warehouse.
 */
#ifndef WEIR_TESTS_LOCAL_HELP_H
#define WEIR_TESTS_LOCAL_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clean.h"
#include "base/text.h"
#include "record/batch.h"
#include "record/key.h"
#include "sink/sink.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* last: it has a macro called fail */
#include <cmocka.h>

struct world {
	char folder[64];
	struct job_options options;
	struct sink_setup setup;
	struct sink *sink;
	struct batch *batch;
	struct ledger added[4];
	uint64_t line;
};

static inline void world_make(struct world *world, enum replication_mode mode, bool one_file)
{
	static char job[] = "test", log[] = "shop_log", shop[] = "shop";
	struct error err = { 0 };

	memset(world, 0, sizeof(*world));
	snprintf(world->folder, sizeof(world->folder), "/tmp/weir-local-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	world->options.name = job;
	world->options.warehouse = WAREHOUSE_LOCAL;
	world->options.replication_mode = mode;
	world->options.change_log_dataset = one_file ? shop : log;
	world->options.replica_dataset = shop;
	world->options.tombstone_days = -1;
	world->setup = (struct sink_setup){ .options = &world->options, .warehouse = world->folder, .incarnation = "first",
	                                     .cache_bytes = 4 << 20 };
	world->batch = batch_new();
	world->sink = sink_local.open(&world->setup, &err);
	if (!world->sink)
		fail_msg("open: %s", err.message);
}

static inline void world_end(struct world *world)
{
	char command[128];

	if (world->sink)
		world->sink->ops->close(world->sink);
	batch_free(world->batch);
	snprintf(command, sizeof(command), "rm -rf '%s'", world->folder);
	assert_int_equal(system(command), 0);
}

static inline void world_reopen(struct world *world)
{
	struct error err = { 0 };

	world->sink->ops->close(world->sink);
	world->sink = sink_local.open(&world->setup, &err);
	if (!world->sink)
		fail_msg("open: %s", err.message);
}

/* "id INT64 key, note STRING": types by name, key columns in order. */
static inline const struct table_schema *schema_of(struct batch *batch, const char *name, uint32_t version,
                                                   const char *const columns[][2], size_t count, size_t keys)
{
	struct column *made = arena_zalloc(batch->arena, (count + 1) * sizeof(*made));
	uint16_t *key_list = arena_zalloc(batch->arena, (keys + 1) * sizeof(*key_list));
	struct table_schema *schema = arena_zalloc(batch->arena, sizeof(*schema));

	for (size_t i = 0; i < count; i++) {
		made[i].name = made[i].source_name = span_of(columns[i][0]);
		assert_true(bq_type_parse(span_of(columns[i][1]), batch->arena, &made[i].type));
		made[i].key_ordinal = i < keys ? (uint16_t)(i + 1) : 0;
		key_list[i < keys ? i : keys] = (uint16_t)i;
	}
	schema->source = span_of(arena_printf(batch->arena, "db.public.%s", name));
	schema->name = span_of(arena_string(batch->arena, span_of(name)));
	schema->version = version;
	schema->count = count;
	schema->columns = made;
	schema->key_count = keys;
	schema->keys = key_list;
	return schema;
}

/* Parts as canonical texts, NULL at the end. */
static inline struct span key_of(struct batch *batch, const char *const *parts)
{
	struct text *key = text_new(4096);
	struct span copy;

	for (; *parts; parts++) {
		text_add_char(key, 1);
		assert_true(strlen(*parts) < 128);
		text_add_char(key, (char)strlen(*parts));
		text_add(key, *parts);
	}
	copy = arena_copy(batch->arena, text_span(key));
	text_free(key);
	return copy;
}

static inline struct span key_one(struct batch *batch, const char *part)
{
	const char *parts[] = { part, NULL };

	return key_of(batch, parts);
}

static inline struct record *put(struct world *world, enum operation operation, uint64_t a, uint8_t ordinal,
                                 struct span key, const char *record_json)
{
	struct message *message = batch_add_message(world->batch);
	struct record *record;
	struct position position = { .a = a, .ordinal = ordinal };

	message->body = SPAN("{}");
	message->table = 0;
	message->line = ++world->line;
	record = batch_add_record(world->batch, message);
	record->table = 0;
	record->operation = operation;
	position_pack(&position, record->position);
	record->key = key;
	record->full_record = record_json ? arena_copy(world->batch->arena, span_of(record_json)) : (struct span){ 0 };
	record->primary_key = key.len ? SPAN("{}") : (struct span){ 0 };
	record->timestamp_ms = (int64_t)a;
	return record;
}

static inline void write_batch(struct world *world)
{
	struct error err = { 0 };

	if (!world->sink->ops->write(world->sink, world->batch, &err))
		fail_msg("write: %s %s", err.code, err.message);
}

static inline void commit_batch(struct world *world)
{
	struct error err = { 0 };
	struct source_position position = { .identity = SPAN("feed"), .offset = world->line * 100, .line = world->line };
	struct sink_state state;

	memset(world->added, 0, sizeof(world->added));
	world->sink->ops->state(world->sink, &state);
	assert_true(state.table_count <= 3);
	assert_true(ledger_count(world->added, state.table_count, world->batch));
	if (!world->sink->ops->commit(world->sink, &position, world->added, state.table_count, &err))
		fail_msg("commit: %s %s", err.code, err.message);
	batch_reset(world->batch);
}

static inline void flush_batch(struct world *world)
{
	write_batch(world);
	commit_batch(world);
}

static inline uint64_t merge_all(struct world *world)
{
	struct error err = { 0 };
	struct merge_result result = { .has_more = true };
	struct merger *merger = merger_open(&world->setup, &err);
	uint64_t changes = 0;

	if (!merger)
		fail_msg("merger: %s %s", err.code, err.message);
	while (result.has_more) {
		if (!merger_step(merger, NULL, &result, &err))
			fail_msg("merge: %s %s", err.code, err.message);
		changes += result.changes;
	}
	merger_close(merger);
	return changes;
}

struct verified {
	char difference[400];
	uint64_t rows;
	size_t tables;
};

static inline void on_verified(void *context, const struct verify_table *table)
{
	struct verified *verified = context;

	verified->tables++;
	verified->rows = table->rows;
	if (table->first_difference)
		snprintf(verified->difference, sizeof(verified->difference), "%s", table->first_difference);
}

static inline bool verify(struct world *world, struct verified *out)
{
	struct error err = { 0 };
	bool is_equal = false;

	memset(out, 0, sizeof(*out));
	if (!verify_run(&world->setup, on_verified, out, &is_equal, &err))
		fail_msg("verify: %s %s", err.code, err.message);
	return is_equal;
}

/* All rows of a query as one text: columns by '|', rows by a newline, NULL as "NULL". */
static inline const char *ask(struct world *world, const char *dataset, const char *sql)
{
	static char answer[65536];
	char path[256];
	sqlite3 *db;
	sqlite3_stmt *stmt;
	size_t len = 0;

	snprintf(path, sizeof(path), "%s/%s.db", world->folder, dataset);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	answer[0] = '\0';
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			const char *text = (const char *)sqlite3_column_text(stmt, i);

			len += (size_t)snprintf(answer + len, sizeof(answer) - len, "%s%s", i ? "|" : len ? "\n" : "",
			                        text ? text : "NULL");
			assert_true(len < sizeof(answer));
		}
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return answer;
}

#endif
