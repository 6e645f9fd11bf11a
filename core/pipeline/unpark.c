/*
 * Parked messages come back before anything newer is read, in the order in which
 * they arrived, once nothing stands against them any more. A message that would
 * be parked again stays where it is.
 *
 * Rows and ledger commit in the warehouse's file, the parked messages lie in the
 * job's own: no transaction spans both. So the ids that came back commit with the
 * rows (source_position.unparked), and then the messages are removed. After a kill
 * between the two they are removed at the next start, before anything else. Of several datasets each commits those of its
 * own, so after a kill between two of them only the rest comes back once more.
 */
#include "base/crash.h"
#include "dlq/dlq.h"
#include "pipeline/pipeline_private.h"
#include "record/kept.h"

#include <stdlib.h>
#include <string.h>

#define UNPARK_MESSAGES 500
#define UNPARK_RECORDS_SPARE 500        /* beyond two a message; half of what the transform expects of a batch */
#define UNPARK_KEPT_BYTES (UINT64_C(1) << 14) /* of one message; one with more begins a batch */
#define UNPARK_PLACE ((uint64_t)1 << 62) /* above every offset */

struct unpark {
	struct batch *batch;
	int64_t ids[UNPARK_MESSAGES]; /* of the batch's messages */
	int64_t after_id;
	bool has_more;
	bool is_filled;               /* and not yet written */
};

static bool is_parked_again(const struct batch *batch, const struct message *message)
{
	return pipeline_why_parked(batch, message);
}

/* Takes the newest message, and its records, out of the batch again. */
static void leave_parked(struct batch *batch, const struct message *message)
{
	if (message->record_count)
		batch->record_count = message->first_record;
	batch->message_count--;
}

/* A message with very many kept records would not fit behind others. */
static bool leaves_no_room(const struct batch *batch, const struct message *message)
{
	return message->kept.len > UNPARK_KEPT_BYTES && batch->message_count > 1;
}

static bool is_fillable(const struct batch *batch)
{
	/* What stays parked leaves its bytes in the arena: it counts too. */
	return batch->message_count < UNPARK_MESSAGES && !batch_is_full(batch) && arena_used(batch->arena) < BATCH_BYTES_MAX &&
	       batch->record_count < 2 * batch->message_count + UNPARK_RECORDS_SPARE;
}

/* Records that were kept wait for their tables as others do. */
static void hold_kept(const struct pipeline *p, struct batch *batch, const struct message *message)
{
	for (uint32_t i = 0; p->troubled_count && i < message->record_count; i++) {
		struct record *record = &batch->records[message->first_record + i];
		const struct refusal *why = p->sink->ops->holds(p->sink, record->table);

		if (!why)
			continue;
		record->verdict = VERDICT_PARKED;
		record->refusal = why;
	}
}

static bool make_again(struct pipeline *p, struct batch *batch, struct message *message, struct error *err)
{
	if (!kept_unpack(batch, message))
		return fail(err, ERROR_BUG, "state_damaged", "records that were kept with a parked message are damaged");
	if (message->fate == MESSAGE_OPEN)
		p->transform->ops->apply(p->transform, batch, message);
	pipeline_learn_tables(p, batch);
	pipeline_hold(p, batch, message);
	hold_kept(p, batch, message);
	return true;
}

/* Tables that nothing enters now, by name; NULL: none. What is parked of them is not even read: to map all of it for each
 * try would cost the others more than all else that a table in trouble does. */
static json_t *held_tables(const struct pipeline *p)
{
	json_t *held = NULL;

	for (size_t i = 0; p->sink->ops->holds && i < p->table_count; i++) {
		if (!p->sink->ops->holds(p->sink, (uint32_t)i))
			continue;
		held = held ? held : json_array();
		json_array_append_new(held, json_string(p->table_names[i]));
	}
	return held;
}

static bool fill_stretch(struct pipeline *p, struct unpark *unpark, int64_t end_id, struct error *err)
{
	struct batch *batch = unpark->batch;

	while (is_fillable(batch)) {
		struct message *message = &batch->messages[batch->message_count];
		int64_t id;

		if (!dlq_unpark_next(p->dlq, batch, &id, err))
			return false;
		if (!id) {
			unpark->after_id = end_id;
			break;
		}
		if (leaves_no_room(batch, message)) {
			batch->message_count--;
			break;
		}
		unpark->after_id = id;
		if (!make_again(p, batch, message, err))
			return false;
		if (is_parked_again(batch, message))
			leave_parked(batch, message);
		else
			unpark->ids[batch->message_count - 1] = id;
		if (!batch->message_count && !batch->changes && !batch->notes)
			batch_reset(batch);
	}
	return true;
}

static bool fill(struct pipeline *p, struct unpark *unpark, struct error *err)
{
	json_t *held = held_tables(p);
	int64_t first;
	bool is_fine;

	batch_reset(unpark->batch);
	is_fine = dlq_unpark_begin(p->dlq, unpark->after_id, held, &first, err);
	json_decref(held);
	unpark->has_more = is_fine && first;
	is_fine = is_fine && (!first || fill_stretch(p, unpark, first + DLQ_STRETCH - 1, err));
	dlq_unpark_end(p->dlq);
	return is_fine;
}

/* Messages that the stored ledger still counts as parked, of table number `at` (table_count: of none). */
static uint64_t parked_before(const struct sink_state *state, size_t at, size_t table_count)
{
	if (!state->ledgers || (at >= state->table_count && at < table_count))
		return 0;
	return state->ledgers[at < state->table_count ? at : state->table_count].parked;
}

/* Of what was counted as received just now, at most `left` was received long ago. Counters below zero wrap: their sum with
 * what is stored is what counts. */
static uint64_t take_received(struct ledger *added, uint64_t left)
{
	uint64_t moved = added->received < left ? added->received : left;

	added->received -= moved;
	return moved;
}

/* What the first ledger counted as received and parked is written, filtered or a letter from now on. After --from-start
 * it does not know the message at all, and counts it as received. */
static void move_counts(struct pipeline *p, struct ledger *added)
{
	struct sink_state state;
	uint64_t lost;

	p->sink->ops->state(p->sink, &state);
	for (size_t i = 0; i <= p->table_count; i++)
		added[i].parked -= take_received(&added[i], parked_before(&state, i, p->table_count));
	/* A message may have lost its table meanwhile: a letter of none now, it was received and parked for one. */
	lost = added[p->table_count].received;
	for (size_t i = 0; i < p->table_count && lost; i++) {
		uint64_t left = parked_before(&state, i, p->table_count) + added[i].parked;
		uint64_t moved = lost < left ? lost : left;

		added[i].received -= moved;
		added[i].parked -= moved;
		lost -= moved;
	}
}

void pipeline_keep_parked(struct batch *batch)
{
	struct span *ids = &batch->end.unparked;
	size_t count = ids->len / sizeof(int64_t), kept = 0;
	int64_t *left;

	if (!count)
		return;
	left = arena_alloc(batch->arena, ids->len);
	for (size_t i = 0; i < count; i++) {
		if (!is_parked_again(batch, &batch->messages[i]))
			memcpy(&left[kept++], ids->at + i * sizeof(int64_t), sizeof(int64_t));
	}
	if (kept < count)
		*ids = span_make((const char *)left, kept * sizeof(int64_t));
}

uint64_t pipeline_notes_place(const struct source_position *end)
{
	int64_t last;

	if (end->unparked.len < sizeof(last))
		return end->offset;
	memcpy(&last, end->unparked.at + end->unparked.len - sizeof(last), sizeof(last));
	return UNPARK_PLACE | (uint64_t)last;
}

/* Removes the messages of an earlier commit; ids that are gone do no harm. The notes of that commit are counted now: the
 * next one goes by the source's place again. */
static bool remove_messages(struct pipeline *p, struct span ids, struct error *err)
{
	bool is_fine = dlq_begin(p->dlq, err);

	for (size_t at = 0; is_fine && at + sizeof(int64_t) <= ids.len; at += sizeof(int64_t)) {
		int64_t id;

		memcpy(&id, ids.at + at, sizeof(id));
		is_fine = dlq_unpark_done(p->dlq, id, err);
	}
	is_fine = is_fine && dlq_notes_settle(p->dlq, UINT64_MAX, err) && dlq_commit(p->dlq, err);
	if (!is_fine)
		dlq_rollback(p->dlq);
	return is_fine;
}

static bool write_back(struct pipeline *p, struct unpark *unpark, struct error *err)
{
	struct batch *batch = unpark->batch;
	struct sink_state state;
	struct ledger sum;
	struct span ids = { (const char *)unpark->ids, batch->message_count * sizeof(unpark->ids[0]) };

	p->sink->ops->state(p->sink, &state);
	batch->end = state.position;
	batch->end.unparked = ids;
	if (!pipeline_write_rows(p, batch, move_counts, &sum, err))
		return false;
	crash_point(unparked_written);
	ledger_add(&p->total, &sum);
	progress_tables_committed(p->progress, p->added, p->table_count);
	return remove_messages(p, batch->end.unparked, err);
}

bool pipeline_finish_unpark(struct pipeline *p, struct error *err)
{
	struct sink_state state;

	p->sink->ops->state(p->sink, &state);
	return !state.position.unparked.len || remove_messages(p, state.position.unparked, err);
}

void pipeline_unpark_free(struct pipeline *p)
{
	if (!p->unpark)
		return;
	batch_free(p->unpark->batch);
	free(p->unpark);
	p->unpark = NULL;
}

/* A batch that could not be written is written again as it is: the transform has told its schema changes once. */
bool pipeline_unpark_some(struct pipeline *p, bool *out_has_more, struct error *err)
{
	struct unpark *unpark = p->unpark;

	if (!unpark) {
		unpark = p->unpark = memory_zalloc(sizeof(*unpark));
		unpark->batch = batch_new();
	}
	if (!pipeline_finish_unpark(p, err))
		return false;
	if (!unpark->is_filled && !fill(p, unpark, err))
		return false;
	unpark->is_filled = true;
	if ((unpark->batch->message_count || unpark->batch->changes) && !write_back(p, unpark, err))
		return false;
	unpark->is_filled = false;
	*out_has_more = unpark->has_more;
	if (!unpark->has_more)
		pipeline_unpark_free(p);
	progress_set_total(p->progress, &p->total);
	return true;
}

bool pipeline_unpark(struct pipeline *p, struct error *err)
{
	bool has_more = true;

	while (has_more) {
		if (!pipeline_unpark_some(p, &has_more, err))
			return false;
	}
	return true;
}
