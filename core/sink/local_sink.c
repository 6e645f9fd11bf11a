/*
 * The local warehouse as a sink: rows, position and counters of a batch commit in
 * one transaction of the dataset's file.
 */
#include "sink/local_sink_private.h"

#include "base/crash.h"

#include <stdlib.h>

static void local_close(struct sink *self);

static const char *dataset_of(const struct job_options *options)
{
	return options->replication_mode == REPLICATION_UPSERT ? options->replica_dataset : options->change_log_dataset;
}

static struct sink *local_open_sink(const struct sink_setup *setup, struct error *err)
{
	struct local_sink *sink = memory_zalloc(sizeof(*sink));

	sink->sink.ops = &sink_local;
	sink->arena = arena_new(64u << 10);
	sink->job = arena_string(sink->arena, span_of(setup->options->name));
	sink->dataset = arena_string(sink->arena, span_of(setup->dataset ? setup->dataset : dataset_of(setup->options)));
	sink->incarnation = arena_string(sink->arena, span_of(setup->incarnation));
	sink->is_upsert = setup->options->replication_mode == REPLICATION_UPSERT;
	sink->is_append = setup->options->replication_mode == REPLICATION_APPEND;
	sink->has_own_dataset = setup->options->template == TEMPLATE_PUBSUB_CDC;
	sink->may_make = setup->options->template != TEMPLATE_PUBSUB_CDC || setup->options->auto_map_tables;
	sink->known_commits = witness_level(setup, SPAN(""), NULL);
	sink->store = local_open(setup->warehouse, sink->dataset, STORE_WRITE, setup->cache_bytes,
	                         sink->is_upsert ? LOCAL_CHECKPOINT_PAGES : LOCAL_CHECKPOINT_PAGES_APPEND, err);
	if (!sink->store || !books_read(sink, err)) {
		local_close(&sink->sink);
		return NULL;
	}
	return &sink->sink;
}

void local_state(struct sink *self, struct sink_state *out)
{
	struct local_sink *sink = (struct local_sink *)self;

	*out = (struct sink_state){
		.is_known = sink->is_known,
		.damage = sink->damage,
		.incarnation = sink->known_incarnation,
		.position = sink->position,
		.commits = sink->commits,
		.tables = sink->schemas,
		.ledgers = sink->ledgers,
		.table_count = sink->count,
	};
}

/*
 * Commit
 */

static bool ledger_is_empty(const struct ledger *ledger)
{
	static const struct ledger empty;

	return memcmp(ledger, &empty, sizeof(empty)) == 0;
}

static bool ledger_commit(struct local_sink *sink, size_t at, const struct ledger *added, struct ledger *out_sum,
                          struct error *err)
{
	OWNED(text) name = text_new(4096);
	bool has_table = at < sink->count;

	*out_sum = sink->ledgers[at];
	if (ledger_is_empty(added))
		return true;
	ledger_add(out_sum, added);
	if (has_table)
		text_add_span(name, sink->tables[at].schema->name);
	return books_write_ledger(sink, has_table ? (uint32_t)at : BOOKS_NO_TABLE, has_table ? name->at : "-", out_sum, err);
}

static bool ledgers_commit(struct local_sink *sink, const struct ledger *added, size_t table_count,
                           struct ledger *out_sums, struct error *err)
{
	static const struct ledger nothing;

	for (size_t i = 0; i <= sink->count; i++) {
		const struct ledger *of = i == sink->count ? &added[table_count] : i < table_count ? &added[i] : &nothing;

		if (!ledger_commit(sink, i, of, &out_sums[i], err))
			return false;
	}
	return true;
}

/* What was decided in the transaction holds from now on. */
static void state_keep(struct local_sink *sink, const struct source_position *position, struct ledger *sums)
{
	free(sink->ledgers);
	sink->ledgers = sums;
	for (size_t i = 0; i < sink->count; i++) {
		sink->tables[i].committed = sink->tables[i].schema;
		sink->tables[i].had_history_index = sink->tables[i].has_history_index;
		sink->tables[i].is_touched = false;
	}
	sink->committed_count = sink->count;
	sink->commits++;
	sink->is_known = true;
	sink->known_incarnation = sink->incarnation;
	if (!span_equal(sink->position.identity, position->identity))
		sink->position.identity = arena_copy(sink->arena, position->identity);
	sink->position.offset = position->offset;
	sink->position.line = position->line;
	sink->position.unparked = sink->position.logs = (struct span){ 0 };
	sink->is_open = false;
}

bool local_commit(struct sink *self, const struct source_position *position, const struct ledger *added,
                         size_t table_count, struct error *err)
{
	struct local_sink *sink = (struct local_sink *)self;
	struct ledger *sums;

	if (table_count > sink->count)
		return fail(err, ERROR_BUG, "ledger_mismatch", "%zu tables are counted, the warehouse knows %zu", table_count,
		            sink->count);
	if (!sink->is_open && !store_begin(sink->store, err))
		return false;
	sink->is_open = true;
	sums = memory_zalloc((sink->room + 1) * sizeof(*sums));
	if (!books_write_position(sink, position, err) || !ledgers_commit(sink, added, table_count, sums, err)) {
		free(sums);
		return false;
	}
	crash_point(position_written);
	if (!store_commit(sink->store, err)) {
		free(sums);
		return false;
	}
	crash_point(rows_committed);
	state_keep(sink, position, sums);
	return true;
}

/*
 * Rollback
 */

static void table_close(struct local_table *table)
{
	sql_finalize(&table->insert);
	replica_free(table->replica);
	table->replica = NULL;
	fold_free(&table->fold);
}

void local_rollback(struct sink *self)
{
	struct local_sink *sink = (struct local_sink *)self;

	/* Statements first: SQLite refuses to roll back under a running one. */
	for (size_t i = 0; i < sink->count; i++) {
		table_close(&sink->tables[i]);
		sink->tables[i].schema = sink->tables[i].committed;
		sink->tables[i].has_history_index = sink->tables[i].had_history_index;
		sink->tables[i].is_touched = false;
		sink->schemas[i] = sink->tables[i].committed;
	}
	store_rollback(sink->store);
	sink->ledgers[sink->committed_count] = sink->ledgers[sink->count];
	sink->count = sink->committed_count;
	sink->is_open = false;
}

bool local_forget(struct sink *self, struct error *err)
{
	struct local_sink *sink = (struct local_sink *)self;

	if (!store_begin(sink->store, err))
		return false;
	if (!books_forget(sink, err) || !store_commit(sink->store, err)) {
		store_rollback(sink->store);
		return false;
	}
	memset(sink->ledgers, 0, (sink->room + 1) * sizeof(*sink->ledgers));
	sink->is_known = false;
	sink->damage = NULL;
	sink->known_incarnation = NULL;
	sink->commits = sink->known_commits = 0;
	sink->position = (struct source_position){ 0 };
	return true;
}

void local_clear(struct local_sink *sink)
{
	for (size_t i = 0; i < sink->count; i++)
		table_close(&sink->tables[i]);
	if (sink->store)
		store_rollback(sink->store);
	store_close(sink->store);
	free(sink->tables);
	free(sink->schemas);
	free(sink->ledgers);
	arena_free(sink->arena);
}

static void local_close(struct sink *self)
{
	struct local_sink *sink = (struct local_sink *)self;

	if (!sink)
		return;
	local_clear(sink);
	free(sink);
}

const struct sink_ops sink_local = {
	.name = "local",
	.help = "SQLite files on this machine, one a dataset.",
	.open = local_open_sink,
	.state = local_state,
	.write = local_write,
	.commit = local_commit,
	.rollback = local_rollback,
	.forget = local_forget,
	.close = local_close,
};
