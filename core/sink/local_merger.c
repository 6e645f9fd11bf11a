/*
 * The merger: changes above a replica's watermark, folded and sorted, become rows.
 * Reading and folding hold no lock; rows and watermark commit together.
 */
#include "sink/merger_private.h"

#include "base/crash.h"

#include <stdio.h>

#define OVERTAKEN_MOST 10 /* in one step */

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

struct history *step_history(struct merger *merger, const struct catalog_table *table)
{
	return history_open(merger->changelog_store, changelog_name(merger->catalog, table->schema.name),
	                    table->has_history_index);
}

static bool step_run(struct merger *merger, struct step *step, struct error *err)
{
	bool is_fine;

	ahead_check(merger, step->table);
	if (!(step->place = merger_replica(merger, step->table, err)))
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
bool changelog_freeze(struct merger *merger, struct error *err)
{
	return store_exec(merger->changelog_store, "BEGIN", err);
}

void changelog_thaw(struct merger *merger)
{
	if (!sqlite3_get_autocommit(merger->changelog_store->db))
		sqlite3_exec(merger->changelog_store->db, "COMMIT", NULL, NULL, NULL);
}

/* Whatever failed: nothing of the step counts, and what the open replicas remember may be ahead of the file. */
static bool step_undo(struct merger *merger)
{
	changelog_thaw(merger);
	store_rollback(merger->replica_store);
	merger_close_replicas(merger);
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

	ahead_drop(merger);
	if (!changelog_freeze(merger, err) || !merger_refresh(merger, err) ||
	    !(step->table = table_named(merger, table, err)) ||
	    !merger_last(merger, step->table, &step->last, err) ||
	    !(step->place = merger_replica(merger, step->table, err)))
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
