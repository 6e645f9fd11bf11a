/*
 * Reading ahead: while changes gather for a merge, those that have come are read,
 * sorted and piled, so that the step has only to write. What is ahead is the
 * beginning of the next step, or of no use: then it is dropped and read again.
 */
#include "sink/merger_private.h"

void ahead_drop(struct merger *merger)
{
	/* What the replica remembers of changes that nobody has merged goes with it. */
	if (merger->ahead.is_any)
		merger_close_replicas(merger);
	merger->ahead = (struct ahead){ 0 };
}

/* Placeholders need all rows of a step at once; other columns may sort otherwise. */
static bool is_as_it_was(const struct ahead *ahead, const struct catalog_table *table)
{
	return span_equal(replica_name(ahead->replica), table->schema.name) && ahead->version == table->schema.version &&
	       ahead->columns == table->schema.count && !table->has_history_index;
}

void ahead_check(struct merger *merger, const struct catalog_table *table)
{
	merger->ahead.is_refused = false;
	if (merger->ahead.is_any && !is_as_it_was(&merger->ahead, table))
		ahead_drop(merger);
}

bool ahead_take(struct merger *merger, struct step *step)
{
	struct ahead *ahead = &merger->ahead;

	if (!ahead->is_any || ahead->replica != step->place->replica)
		return false;
	step->begin = ahead->begin;
	step->end = ahead->end;
	step->result.changes += ahead->changes;
	*ahead = (struct ahead){ 0 };
	return true;
}

/* That of the last look, while it is as it was; else the table that waits longest. */
static bool table_choose(struct merger *merger, struct step *step, uint32_t *out_number, struct error *err)
{
	*out_number = merger->ahead.number;
	if (merger->ahead.is_any && !merger_look_at(merger, *out_number, &step->table, err))
		return false;
	if (merger->ahead.is_any && step->table)
		ahead_check(merger, step->table);
	if (merger->ahead.is_any)
		return true;
	return merger_peek(merger, &step->table, out_number, err);
}

static bool step_choose(struct merger *merger, struct step *step, uint32_t *out_number, struct error *err)
{
	if (!changelog_freeze(merger, err) || !table_choose(merger, step, out_number, err) ||
	    (step->table && !merger_last(merger, step->table, &step->last, err)))
		return false;
	changelog_thaw(merger);
	return true;
}

static bool step_read(struct merger *merger, struct step *step, struct error *err)
{
	bool is_fine;

	if (!(step->place = merger_replica(merger, step->table, err)))
		return false;
	step->history = step_history(merger, step->table);
	is_fine = changes_read_more(merger, step, err);
	history_close(step->history);
	return is_fine;
}

static bool read_on(struct merger *merger, struct error *err)
{
	struct step step = { 0 };
	uint32_t number;

	if (!step_choose(merger, &step, &number, err))
		return false;
	merger->ahead.is_refused = !step.table || step.table->has_history_index;
	if (merger->ahead.is_refused)
		return true;
	if (!step_read(merger, &step, err))
		return false;
	merger->ahead = (struct ahead){
		.is_any = true,
		.replica = step.place->replica,
		.number = number,
		.version = step.table->schema.version,
		.columns = step.table->schema.count,
		.begin = step.begin,
		.end = step.end,
		.changes = step.result.changes,
	};
	return true;
}

void merger_read_ahead(struct merger *merger)
{
	struct error ignored = { 0 };

	if (merger->ahead.is_refused)
		return;
	if (read_on(merger, &ignored))
		return;
	/* The step says what is wrong, if it still is. */
	changelog_thaw(merger);
	merger_close_replicas(merger);
	merger->ahead = (struct ahead){ .is_refused = true };
}
