/*
 * Runs: who replays which letters. A letter is claimed by one run at a time; what
 * a run that died had claimed falls back to what it was before.
 */
#include "dlq/dlq_private.h"

#include "base/clock.h"

#include <inttypes.h>

/* One number from a statement whose parameters are bound. */
static bool number_of(struct dlq *dlq, sqlite3_stmt *stmt, uint64_t *out, bool *out_has, struct error *err)
{
	bool has_row = false;

	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out = has_row ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
	*out_has = has_row;
	sqlite3_reset(stmt);
	return true;
}

static bool ask(struct dlq *dlq, enum dlq_statement which, int64_t parameter, uint64_t *out, bool *out_has,
                struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, which, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, parameter);
	return number_of(dlq, stmt, out, out_has, err);
}

static bool change(struct dlq *dlq, enum dlq_statement which, int64_t parameter, uint64_t *out_rows, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, which, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, parameter);
	if (!dlq_run(dlq, stmt, err))
		return false;
	if (out_rows)
		*out_rows = (uint64_t)sqlite3_changes(dlq->store->db);
	return true;
}

static bool group_is_known(struct dlq *dlq, int64_t group, struct error *err)
{
	uint64_t ignored;
	bool is_known = false;

	if (!ask(dlq, GROUP_KNOWN, group, &ignored, &is_known, err))
		return false;
	return is_known || fail(err, ERROR_USAGE, "group_unknown", "there is no group %" PRId64 " of dead letters", group);
}

/*
 * Begin
 */

static bool run_add(struct dlq *dlq, struct dlq_replay *replay, const char *who, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, RUN_ADD, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, replay->group);
	sqlite3_bind_int64(stmt, 2, replay->rate);
	dlq_bind_optional(stmt, 3, span_of(who));
	sqlite3_bind_int64(stmt, 4, clock_utc_us());
	if (!dlq_run(dlq, stmt, err))
		return false;
	replay->run = sqlite3_last_insert_rowid(dlq->store->db);
	return true;
}

/* How many of a group's letters: all that could be claimed, or those that can. */
static bool count_group(struct dlq *dlq, enum dlq_statement which, int64_t group, unsigned states, uint64_t *out,
                        struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, which, err);
	bool has_row;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, group);
	sqlite3_bind_int64(stmt, 2, states ? states : ~0u);
	return number_of(dlq, stmt, out, &has_row, err);
}

static bool claim(struct dlq *dlq, struct dlq_replay *replay, struct error *err)
{
	bool is_due = replay->group == REPLAY_DUE;
	sqlite3_stmt *stmt = dlq_statement(dlq, is_due ? DUE_CLAIM : RUN_CLAIM, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, replay->run);
	if (!is_due)
		sqlite3_bind_int64(stmt, 2, replay->group);
	if (!is_due)
		sqlite3_bind_int64(stmt, 3, replay->states ? replay->states : ~0u);
	if (!dlq_run(dlq, stmt, err))
		return false;
	replay->claimed = (uint64_t)sqlite3_changes(dlq->store->db);
	/* What is still new or failed again afterwards could not be claimed. */
	return change(dlq, RUN_MARK, replay->run, NULL, err) &&
	       count_group(dlq, RUN_UNFIT, replay->group, replay->states, &replay->unfit, err);
}

bool dlq_replay_begin(struct dlq *dlq, struct dlq_replay *replay, const char *who, struct error *err)
{
	struct dlq_replay begun = { .group = replay->group, .states = replay->states, .rate = replay->rate };

	if (!dlq_begin(dlq, err))
		return false;
	if ((begun.group != REPLAY_DUE && !group_is_known(dlq, begun.group, err)) || !run_add(dlq, &begun, who, err) || !claim(dlq, &begun, err) ||
	    !dlq_replay_count(dlq, begun.run, (const uint64_t[LETTER_OUTCOMES]){ [LETTER_IS_LEFT] = begun.unfit }, err) ||
	    !dlq_commit(dlq, err)) {
		dlq_rollback(dlq);
		return false;
	}
	*replay = begun;
	return true;
}

bool dlq_replay_ahead(struct dlq *dlq, int64_t group, unsigned states, uint64_t *out_fit, uint64_t *out_unfit,
                      struct error *err)
{
	uint64_t fit, all;

	if (!group_is_known(dlq, group, err) || !count_group(dlq, RUN_AHEAD, group, states, &fit, err) ||
	    !count_group(dlq, RUN_UNFIT, group, states, &all, err))
		return false;
	*out_fit = fit;
	*out_unfit = all - fit;
	return true;
}

/*
 * Letters of a run
 */

bool dlq_replay_next(struct dlq *dlq, int64_t run, int64_t after, struct batch *into, int64_t *out_letter,
                     struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, RUN_NEXT, err);
	bool has_row = false;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, run);
	sqlite3_bind_int64(stmt, 2, after);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_letter = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	if (has_row) {
		struct message *message = batch_add_message(into);

		message_unpack(message, into->arena, stmt);
		message->letter = *out_letter;
		message->letter_error = arena_string(into->arena, store_text(stmt, 14));
		message->letter_retries = sqlite3_column_int64(stmt, 15);
		message->kept = arena_copy(into->arena, store_blob(stmt, 16));
	}
	sqlite3_reset(stmt);
	return true;
}

static const struct outcome_row {
	enum letter_state state;
	int attempts; /* dlq_keep has counted a failure already */
} outcome_rows[LETTER_OUTCOMES] = {
	[LETTER_IS_DONE] = { LETTER_DONE, 1 },
	[LETTER_HAD_NO_EFFECT] = { LETTER_NO_EFFECT, 1 },
	[LETTER_FAILED] = { LETTER_FAILED_AGAIN, 0 },
};

bool dlq_replay_outcome(struct dlq *dlq, int64_t letter, enum letter_outcome outcome, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, outcome == LETTER_IS_LEFT ? RUN_FALL_BACK : RUN_OUTCOME, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, letter);
	if (outcome != LETTER_IS_LEFT) {
		sqlite3_bind_int(stmt, 2, outcome_rows[outcome].state);
		sqlite3_bind_int(stmt, 3, outcome_rows[outcome].attempts);
	}
	return dlq_run(dlq, stmt, err) && change(dlq, RUN_UNCLAIM, letter, NULL, err) &&
	       (outcome == LETTER_IS_LEFT || change(dlq, DUE_DROP, letter, NULL, err));
}

bool dlq_replay_count(struct dlq *dlq, int64_t run, const uint64_t outcomes[LETTER_OUTCOMES], struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, RUN_COUNT, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, run);
	for (int i = 0; i < LETTER_OUTCOMES; i++)
		dlq_bind_count(stmt, i + 2, outcomes[i]);
	return dlq_run(dlq, stmt, err);
}

/*
 * End
 */

static bool run_end(struct dlq *dlq, int64_t run, const char *state, struct error *err)
{
	uint64_t freed = 0;
	sqlite3_stmt *stmt;

	if (!change(dlq, RUN_FREE, run, NULL, err) || !change(dlq, RUN_DROP_CLAIMS, run, &freed, err) ||
	    !(stmt = dlq_statement(dlq, RUN_END, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, run);
	store_bind_text(stmt, 2, span_of(state));
	sqlite3_bind_int64(stmt, 3, clock_utc_us());
	dlq_bind_count(stmt, 4, freed);
	return dlq_run(dlq, stmt, err);
}

static bool run_get(struct dlq *dlq, int64_t run, struct dlq_replay *out, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, RUN_GET, err);
	bool has_row = false;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, run);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	if (!has_row)
		return fail(err, ERROR_BUG, "state_damaged", "the store '%s' has lost replay %" PRId64, dlq->store->path, run);
	*out = (struct dlq_replay){
		.run = run,
		.group = sqlite3_column_int64(stmt, 0),
		.rate = sqlite3_column_int64(stmt, 1),
		.done = (uint64_t)sqlite3_column_int64(stmt, 2),
		.no_effect = (uint64_t)sqlite3_column_int64(stmt, 3),
		.failed_again = (uint64_t)sqlite3_column_int64(stmt, 4),
		.left = (uint64_t)sqlite3_column_int64(stmt, 5),
	};
	sqlite3_reset(stmt);
	return true;
}

bool dlq_replay_end(struct dlq *dlq, int64_t run, const char *state, struct dlq_replay *out, struct error *err)
{
	struct dlq_replay ended;

	if (!dlq_begin(dlq, err))
		return false;
	if (!run_end(dlq, run, state, err) || !run_get(dlq, run, &ended, err) || !dlq_commit(dlq, err)) {
		dlq_rollback(dlq);
		return false;
	}
	*out = ended;
	return true;
}

bool dlq_replay_free_stale(struct dlq *dlq, int64_t keep, struct error *err)
{
	struct dlq_replay ignored;
	uint64_t run;
	bool has_run;

	for (;;) {
		if (!ask(dlq, RUN_STALE, keep, &run, &has_run, err))
			return false;
		if (!has_run)
			return true;
		if (!dlq_replay_end(dlq, (int64_t)run, "killed", &ignored, err))
			return false;
	}
}
