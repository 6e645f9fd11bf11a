/*
 * Replaying: the reader fills batches with letters, the writer writes them and
 * says of each letter what became of it.
 *
 * Two commits, in this order: rows, then states. The source's position and the
 * first ledger stay as they are in both.
 */
#include "pipeline/replay.h"

#include "base/arena.h"
#include "base/crash.h"
#include "pipeline/pipeline_private.h"

bool replay_claim(const char *store, const struct replay_wish *wish, struct dlq_replay *out, struct error *err)
{
	struct dlq *dlq = dlq_open(store, DLQ_WRITE, err);
	struct dlq_replay run = { .group = wish->group, .states = wish->states, .rate = wish->rate };
	bool is_fine = dlq && dlq_replay_begin(dlq, &run, wish->who, err);

	dlq_close(dlq);
	if (is_fine)
		*out = run;
	return is_fine;
}

bool pipeline_fill_letters(struct pipeline *p, struct source *letters, struct batch *batch, size_t limit,
                           struct error *err)
{
	letters->ops->mark(letters, batch);
	while (batch->message_count < limit && !pipeline_is_full(p, batch)) {
		enum pulled pulled = letters->ops->pull(letters, batch, 0, err);

		if (pulled == PULLED_FAILED)
			return false;
		batch->ends_replay = pulled == PULLED_END;
		if (batch->ends_replay)
			return true;
		pipeline_take_message(p, batch);
	}
	return true;
}

/*
 * Rows
 */

static bool store_timeline(struct pipeline *p, const struct batch *batch, struct error *err)
{
	if (!batch->changes)
		return true;
	if (!dlq_begin(p->dlq, err))
		return false;
	if (pipeline_store_timeline(p, batch, err) && dlq_commit(p->dlq, err))
		return true;
	dlq_rollback(p->dlq);
	return false;
}

static bool write_rows_once(struct pipeline *p, struct batch *batch, struct error *err)
{
	struct sink_state state;

	pipeline_learn_tables(p, batch);
	pipeline_hold_paused(p, batch);
	if (!p->sink->ops->write(p->sink, batch, err) || !store_timeline(p, batch, err))
		return false;
	p->sink->ops->state(p->sink, &state);
	state.position.unparked = state.position.logs = (struct span){ 0 };
	memset(p->added, 0, (p->table_count + 1) * sizeof(*p->added));
	return p->sink->ops->commit(p->sink, &state.position, p->added, p->table_count, err);
}

static bool write_rows(struct pipeline *p, struct batch *batch, struct error *err)
{
	uint8_t *kept = pipeline_keep_verdicts(batch);

	if (!write_rows_once(p, batch, err)) {
		p->sink->ops->rollback(p->sink);
		pipeline_restore_verdicts(batch, kept);
		return false;
	}
	batch->has_rows_committed = true;
	crash_point(replay_rows_committed);
	p->has_news = true;
	pipeline_remember(p, false);
	return true;
}

/*
 * States
 */

/* Records of one table whose row is there now. */
static size_t collect(const struct batch *batch, bool *are_asked, uint32_t table, struct newer_question *out)
{
	size_t count = 0;

	for (uint32_t i = 0; i < batch->record_count; i++) {
		const struct record *record = &batch->records[i];

		if (are_asked[i] || record->table != table)
			continue;
		are_asked[i] = true;
		if (record->verdict == VERDICT_WRITTEN && record->primary_key.len)
			out[count++] = (struct newer_question){ .key = record->key, .position = record->position, .record = i };
	}
	return count;
}

/* A row that is in the changelog, but whose key has a newer change, changes nothing that anybody reads. What cannot be
 * told is taken for an effect: the row is written. */
static bool *find_outdated(struct pipeline *p, const struct batch *batch)
{
	struct sink_setup setup = { .options = p->options, .warehouse = p->warehouse };
	bool *are_asked = arena_zalloc(batch->arena, batch->record_count + 1);
	bool *are_outdated = arena_zalloc(batch->arena, batch->record_count + 1);
	struct newer_question *questions = arena_alloc(batch->arena, (batch->record_count + 1) * sizeof(*questions));
	struct error ignored = { 0 };

	if (p->options->replication_mode == REPLICATION_CHANGELOG || p->options->replication_mode == REPLICATION_APPEND)
		return are_outdated;
	for (size_t i = 0; i < batch->record_count; i++) {
		uint32_t table = batch->records[i].table;
		size_t count = are_asked[i] ? 0 : collect(batch, are_asked, table, questions);

		if (!count || !warehouse_ask_newer(&setup, pipeline_table_name(p, table), questions, count, &ignored))
			continue;
		for (size_t q = 0; q < count; q++)
			are_outdated[questions[q].record] = questions[q].is_newer;
	}
	return are_outdated;
}

static enum letter_outcome outcome_of(const struct batch *batch, const struct message *message,
                                      const bool *are_outdated)
{
	enum letter_outcome outcome = LETTER_HAD_NO_EFFECT;

	if (message->fate == MESSAGE_REFUSED)
		return LETTER_FAILED;
	if (pipeline_first_refusal(batch, message, VERDICT_REFUSED))
		return LETTER_FAILED;
	/* Its table is paused, or nothing can enter it: the letter waits as it was. */
	if (pipeline_why_parked(batch, message))
		return LETTER_IS_LEFT;
	for (uint32_t i = 0; i < message->record_count; i++) {
		uint32_t record = message->first_record + i;

		if (batch->records[record].verdict == VERDICT_WRITTEN && !are_outdated[record])
			outcome = LETTER_IS_DONE;
	}
	return outcome;
}

static bool move_letter(struct pipeline *p, struct batch *batch, struct message *message, enum letter_outcome outcome,
                        struct error *err)
{
	const struct refusal *why = pipeline_first_refusal(batch, message, VERDICT_REFUSED);

	if (outcome == LETTER_FAILED) {
		message->refusal = why ? why : message->refusal;
		if (!pipeline_keep_letter(p, batch, message, err))
			return false;
	}
	return dlq_replay_outcome(p->dlq, message->letter, outcome, err);
}

/* What the batch before counted is committed, and so is what this one counts: its rows are. */
static bool store_notes(struct pipeline *p, const struct batch *batch, struct error *err)
{
	return !batch->notes || (dlq_notes_settle(p->dlq, UINT64_MAX, err) && pipeline_store_notes(p, batch, err) &&
	                         dlq_notes_settle(p->dlq, UINT64_MAX, err));
}

static bool move_letters(struct pipeline *p, struct batch *batch, const uint8_t *outcomes,
                         const uint64_t counts[LETTER_OUTCOMES], struct error *err)
{
	bool is_fine = dlq_begin(p->dlq, err);

	for (size_t i = 0; is_fine && i < batch->message_count; i++)
		is_fine = move_letter(p, batch, &batch->messages[i], (enum letter_outcome)outcomes[i], err);
	is_fine = is_fine && dlq_replay_count(p->dlq, batch->replay, counts, err) && store_notes(p, batch, err);
	crash_point(replay_states_written);
	is_fine = is_fine && dlq_commit(p->dlq, err);
	if (!is_fine)
		dlq_rollback(p->dlq);
	return is_fine;
}

static bool decide_letters(struct pipeline *p, struct batch *batch, struct replay_desk *desk, struct error *err)
{
	uint8_t *outcomes = arena_alloc(batch->arena, batch->message_count + 1);
	const bool *are_outdated = find_outdated(p, batch);
	uint64_t counts[LETTER_OUTCOMES] = { 0 };

	for (size_t i = 0; i < batch->message_count; i++) {
		outcomes[i] = (uint8_t)outcome_of(batch, &batch->messages[i], are_outdated);
		counts[outcomes[i]]++;
	}
	if (!move_letters(p, batch, outcomes, counts, err))
		return false;
	replay_desk_count(desk, counts);
	/* Written once: a second call only ends the run. */
	batch->message_count = 0;
	return true;
}

static const char *ending_of(struct replay_desk *desk)
{
	struct replay_view view;

	replay_desk_look(desk, &view);
	return view.should_stop ? "stopped" : "ended";
}

bool pipeline_write_replay(struct pipeline *p, struct batch *batch, struct replay_desk *desk, struct error *err)
{
	struct dlq_replay ended;

	if (batch->message_count && !batch->has_rows_committed && !write_rows(p, batch, err))
		return because(err, "replaying letters");
	if (batch->message_count && !decide_letters(p, batch, desk, err))
		return because(err, "keeping the states of replayed letters");
	if (!batch->ends_replay)
		return true;
	if (!dlq_replay_end(p->dlq, batch->replay, ending_of(desk), &ended, err))
		return because(err, "ending a replay");
	replay_desk_end(desk, &ended, NULL);
	return true;
}

void pipeline_end_replay(struct pipeline *p, struct replay_desk *desk, const struct error *failure)
{
	struct replay_view view;
	struct dlq_replay ended;
	struct error ignored = { 0 };

	replay_desk_look(desk, &view);
	if (view.phase != REPLAY_RUNS)
		return;
	if (dlq_replay_end(p->dlq, view.run.run, "stopped", &ended, &ignored))
		view.run = ended;
	replay_desk_end(desk, &view.run, failure);
}
