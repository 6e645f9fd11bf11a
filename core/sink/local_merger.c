/*
 * The merger: changes above a replica's watermark, folded and sorted, become rows.
 * Reading and folding hold no lock; rows and watermark commit together.
 */
#include "sink/merger_private.h"

#include "base/crash.h"

#include <stdio.h>
#include <stdlib.h>

#define OVERTAKEN_MOST 10 /* in one step */

/*
 * Opening
 */

static bool has_replica(const struct job_options *options, struct error *err)
{
	if (options->replication_mode == REPLICATION_MERGE)
		return true;
	return fail(err, ERROR_CONFIG, "no_replica", "job '%s' has no replica that is merged; only replicationMode merge has "
	            "one", options->name);
}

/* A replica in a file of its own is derived, and its watermark commits with its rows: after a power cut the last steps
 * may be gone, together with their watermarks, and are made again. A file that holds the changelog keeps FULL. */
static bool replica_relax(struct merger *merger, const struct job_options *options, struct error *err)
{
	if (strcmp(options->change_log_dataset, options->replica_dataset) == 0)
		return true;
	merger->is_relaxed = true;
	return store_exec(merger->replica_store, "PRAGMA synchronous=NORMAL", err);
}

/* A step goes through its pages in order and once, so a larger cache would not spare it one: the rest of the share is
 * left to what a step holds of its changes. */
static bool stores_open(struct merger *merger, const struct sink_setup *setup, struct error *err)
{
	const struct job_options *options = setup->options;
	struct store *store = local_open(setup->warehouse, options->change_log_dataset, STORE_WRITE, 0, 0, err);

	if (!store)
		return false;
	store_close(store); /* it exists now */
	merger->replica_store = local_open(setup->warehouse, options->replica_dataset, STORE_WRITE,
	                                   setup->cache_bytes / 2, LOCAL_CHECKPOINT_PAGES, err);
	if (!merger->replica_store || !replica_relax(merger, options, err))
		return false;
	merger->changelog_store = local_open(setup->warehouse, options->change_log_dataset, STORE_READ,
	                                     setup->cache_bytes / 16, 0, err);
	return merger->changelog_store;
}

struct merger *merger_open(const struct sink_setup *setup, struct error *err)
{
	struct merger *merger;

	if (!has_replica(setup->options, err))
		return NULL;
	merger = memory_zalloc(sizeof(*merger));
	merger->job = memory_string(setup->options->name);
	merger->setup = *setup;
	merger->changelog_dataset = memory_string(setup->options->change_log_dataset);
	merger->catalog = arena_new(64u << 10);
	merger->limits = merge_limits;
	merger->rows = arena_new(1u << 20);
	fold_init(&merger->fold, NULL);
	merger->fold.is_sorted = true;
	if (!stores_open(merger, setup, err)) {
		merger_close(merger);
		return NULL;
	}
	return merger;
}

static void open_replica_close(struct open_replica *place)
{
	sqlite3_finalize(place->read);
	sqlite3_finalize(place->scan);
	sqlite3_finalize(place->fetch);
	replica_free(place->replica);
	*place = (struct open_replica){ 0 };
}

static void replicas_close(struct merger *merger)
{
	for (size_t i = 0; i < REPLICAS_OPEN; i++) {
		open_replica_close(&merger->open[i]);
	}
}

void merger_close(struct merger *merger)
{
	if (!merger)
		return;
	replicas_close(merger);
	store_close(merger->changelog_store);
	store_close(merger->replica_store);
	fold_free(&merger->fold);
	sieve_free(&merger->sieve);
	free(merger->queue.items);
	free(merger->fetches);
	arena_free(merger->rows);
	arena_free(merger->catalog);
	free(merger->changelog_dataset);
	free(merger->job);
	free(merger);
}

/*
 * Replicas stay open from step to step
 */

static bool replica_make(struct merger *merger, const struct catalog_table *table, struct open_replica *place,
                         struct error *err)
{
	struct span name = table->schema.name;
	struct replica_source source = { merger->changelog_dataset, changelog_name(merger->catalog, name), table->identity };

	open_replica_close(place);
	if (!changes_prepare(merger, place, source.changelog, err))
		return false;
	place->replica = replica_open(merger->replica_store, name, &source, err);
	return place->replica;
}

/* What an open replica remembers is the file's, unless somebody else has merged since. */
static struct open_replica *replica_get(struct merger *merger, const struct catalog_table *table, struct error *err)
{
	struct open_replica *place;
	int64_t watermark;

	if (!merger_watermark(merger, table->schema.name, &watermark, err))
		return NULL;
	for (size_t i = 0; i < REPLICAS_OPEN; i++) {
		place = &merger->open[i];
		if (!place->replica || !span_equal(replica_name(place->replica), table->schema.name))
			continue;
		return replica_watermark(place->replica) == watermark || replica_make(merger, table, place, err) ? place : NULL;
	}
	place = &merger->open[merger->next_victim++ % REPLICAS_OPEN];
	return replica_make(merger, table, place, err) ? place : NULL;
}

/*
 * Writing
 */

static bool rebuild_steps(struct merger *merger, struct step *step, struct error *err);

/* Rows come in pieces, and a schema change may stand anywhere among them: so all are known before the first. */
static bool alters_preload(struct merger *merger, struct step *step, struct error *err)
{
	struct text *sql = sql_new("SELECT _weir_position, fullRecord FROM ");
	sqlite3_stmt *stmt;
	bool has_row = false, is_fine, is_repeat;

	sql_name(sql, changelog_name(merger->catalog, step->table->schema.name));
	text_add(sql, " WHERE operation = 'ALTER' AND rowid <= ?1");
	if (!(stmt = sql_prepare(sql, merger->changelog_store, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, step->last);
	while ((is_fine = store_step(merger->changelog_store, stmt, &has_row, err)) && has_row) {
		struct span position = store_blob(stmt, 0);

		if (position.len != POSITION_BYTES ||
		    !replica_alter_add(step->place->replica, (const unsigned char *)position.at, store_text(stmt, 1), true,
		                       &is_repeat, err)) {
			is_fine = false;
			break;
		}
	}
	sqlite3_finalize(stmt);
	replica_alters_expect(step->place->replica);
	return is_fine;
}

/* A schema change has come behind a later one: stored rows cannot be changed as if it had come before. */
static bool step_remake(struct merger *merger, struct step *step, struct error *err)
{
	uint64_t changes = step->result.changes;

	if (!replica_empty(step->place->replica, err) || !alters_preload(merger, step, err))
		return false;
	crash_point(replica_remade);
	if (!rebuild_steps(merger, step, err))
		return false;
	step->result.changes = changes;
	return true;
}

static bool step_apply(struct merger *merger, struct step *step, struct error *err)
{
	struct replica *replica = step->place->replica;

	if (replica_has_late_alter(replica))
		return step_remake(merger, step, err);
	if (!replica_follow(replica, &step->table->schema, err))
		return false;
	crash_point(merge_schema_written);
	history_set_end(step->history, step->end);
	if (!chunks_apply(merger, step, err))
		return false;
	crash_point(merge_rows_written);
	if (!replica_save(replica, step->end, err))
		return false;
	crash_point(merge_watermark_written);
	return true;
}

/* Somebody else may have merged while this step was read: `weir merge` beside a running job. */
static bool watermark_check(struct merger *merger, struct step *step, struct error *err)
{
	int64_t watermark;

	if (!merger_watermark(merger, step->table->schema.name, &watermark, err))
		return false;
	step->was_overtaken = watermark != replica_watermark(step->place->replica);
	if (step->was_overtaken)
		return fail(err, ERROR_TRANSIENT, "database_locked", "table '%.*s' is being merged by another process",
		            SPAN_ARG(step->table->schema.name));
	return true;
}

static bool step_write(struct merger *merger, struct step *step, struct error *err)
{
	if (!store_begin(merger->replica_store, err))
		return false;
	return watermark_check(merger, step, err) && step_apply(merger, step, err) &&
	       store_commit(merger->replica_store, err);
}

static struct history *step_history(struct merger *merger, const struct catalog_table *table)
{
	return history_open(merger->changelog_store, changelog_name(merger->catalog, table->schema.name),
	                    table->has_history_index);
}

static bool step_run(struct merger *merger, struct step *step, struct error *err)
{
	bool is_fine;

	if (!(step->place = replica_get(merger, step->table, err)))
		return false;
	step->history = step_history(merger, step->table);
	is_fine = changes_read(merger, step, err);
	if (is_fine) {
		crash_point(merge_read);
		is_fine = step_write(merger, step, err);
	}
	history_close(step->history);
	return is_fine;
}

static void result_name(struct merge_result *result, struct span name)
{
	snprintf(result->table, sizeof(result->table), "%.*s", SPAN_ARG(name));
}

/* Columns and the last change are those of one moment, so that no change is read whose columns are not known yet. What
 * lies before it never changes; it is read later, in pieces. */
static bool changelog_freeze(struct merger *merger, struct error *err)
{
	return store_exec(merger->changelog_store, "BEGIN", err);
}

static void changelog_thaw(struct merger *merger)
{
	if (!sqlite3_get_autocommit(merger->changelog_store->db))
		sqlite3_exec(merger->changelog_store->db, "COMMIT", NULL, NULL, NULL);
}

/* Whatever failed: nothing of the step counts, and what the open replicas remember may be ahead of the file. */
static bool step_undo(struct merger *merger)
{
	changelog_thaw(merger);
	store_rollback(merger->replica_store);
	replicas_close(merger);
	return false;
}

static bool step_chosen(struct merger *merger, const char *table, struct step *step, struct error *err)
{
	if (!changelog_freeze(merger, err) || !merger_choose(merger, table, &step->table, err) ||
	    (step->table && !merger_last(merger, step->table, &step->last, err)))
		return false;
	changelog_thaw(merger);
	return !step->table || step_run(merger, step, err);
}

/* Who was overtaken looks again: the other's step has brought the replica on, so this ends when nothing waits. */
static bool step_try(struct merger *merger, const char *table, struct step *step, struct error *err)
{
	struct error failure = { 0 };

	for (int i = 0; i < OVERTAKEN_MOST; i++) {
		*step = (struct step){ 0 };
		if (step_chosen(merger, table, step, &failure))
			return true;
		step_undo(merger);
		if (!step->was_overtaken)
			break;
		merger->queue.leaves_rest = true;
	}
	*err = failure;
	return false;
}

bool merger_step(struct merger *merger, const char *table, struct merge_result *out, struct error *err)
{
	struct step step = { 0 };

	if (!step_try(merger, table, &step, err)) {
		merger_forget_queue(merger);
		return false;
	}
	if (step.table) {
		crash_point(merge_committed);
		result_name(&step.result, step.table->schema.name);
		step.result.is_all = !step.result.has_more;
		merger->queue.leaves_rest = merger->queue.leaves_rest || (!table && step.result.has_more);
		step.result.has_more = step.result.has_more || (!table && merger_has_others(merger));
	}
	*out = step.result;
	return true;
}

/*
 * Rebuilding
 */

static const struct catalog_table *table_named(const struct merger *merger, const char *name, struct error *err)
{
	for (size_t i = 0; i < merger->table_count; i++) {
		if (span_is(merger->tables[i].schema.name, name) && merger->tables[i].schema.key_count)
			return &merger->tables[i];
	}
	fail(err, ERROR_USAGE, "no_such_table", "job '%s' has no replica table '%s'", merger->job, name);
	return NULL;
}

static bool rebuild_steps(struct merger *merger, struct step *step, struct error *err)
{
	do {
		if (!changes_read(merger, step, err))
			return false;
		history_set_end(step->history, step->end);
		if (!replica_follow(step->place->replica, &step->table->schema, err) || !chunks_apply(merger, step, err) ||
		    !replica_save(step->place->replica, step->end, err))
			return false;
	} while (step->result.has_more);
	return true;
}

static bool rebuild_write(struct merger *merger, struct step *step, struct error *err)
{
	if (!store_begin(merger->replica_store, err) || !replica_empty(step->place->replica, err) ||
	    !alters_preload(merger, step, err))
		return false;
	crash_point(rebuild_emptied);
	return rebuild_steps(merger, step, err) && store_commit(merger->replica_store, err);
}

static bool rebuild_chosen(struct merger *merger, const char *table, struct step *step, struct error *err)
{
	bool is_fine;

	if (!changelog_freeze(merger, err) || !merger_refresh(merger, err) ||
	    !(step->table = table_named(merger, table, err)) ||
	    !merger_last(merger, step->table, &step->last, err) ||
	    !(step->place = replica_get(merger, step->table, err)))
		return false;
	changelog_thaw(merger);
	step->history = step_history(merger, step->table);
	is_fine = rebuild_write(merger, step, err);
	history_close(step->history);
	return is_fine;
}

bool merger_rebuild(struct merger *merger, const char *table, struct merge_result *out, struct error *err)
{
	struct step step = { 0 };

	if (!rebuild_chosen(merger, table, &step, err))
		return step_undo(merger);
	result_name(&step.result, step.table->schema.name);
	*out = step.result;
	return true;
}
