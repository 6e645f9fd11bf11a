/*
 * Parked messages come back before anything newer is read, in the order in which
 * they arrived, once nothing stands against them any more. A message that would
 * be parked again stays where it is.
 *
 * Rows and ledger commit in the warehouse's file, the parked messages lie in the
 * job's own: no transaction spans both. So the ids that came back commit with the
 * rows (source_position.unparked), and then the messages are removed. After a kill
 * between the two they are removed at the next start, before anything else.
 */
#include "base/crash.h"
#include "dlq/dlq.h"
#include "pipeline/pipeline_private.h"

#include <string.h>

#define UNPARK_MESSAGES 500
#define UNPARK_PLACE ((uint64_t)1 << 62) /* above every offset */

struct unpark {
	struct batch *batch;
	int64_t ids[UNPARK_MESSAGES]; /* of the batch's messages */
	int64_t after_id;
	bool has_more;
};

static bool is_parked_again(const struct batch *batch, const struct message *message)
{
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (batch->records[message->first_record + i].verdict == VERDICT_PARKED)
			return true;
	}
	return false;
}

/* Takes the newest message, and its records, out of the batch again. */
static void leave_parked(struct batch *batch, const struct message *message)
{
	if (message->record_count)
		batch->record_count = message->first_record;
	batch->message_count--;
}

static bool fill(struct pipeline *p, struct unpark *unpark, struct error *err)
{
	struct batch *batch = unpark->batch;

	batch_reset(batch);
	while (batch->message_count < UNPARK_MESSAGES && !batch_is_full(batch)) {
		struct message *message = &batch->messages[batch->message_count];
		int64_t id;

		if (!dlq_unpark_next(p->dlq, NULL, unpark->after_id, batch, &id, err))
			return false;
		unpark->has_more = id != 0;
		if (!id)
			break;
		unpark->after_id = id;
		p->transform->ops->apply(p->transform, batch, message);
		pipeline_learn_tables(p, batch);
		pipeline_hold(p, batch, message);
		if (is_parked_again(batch, message))
			leave_parked(batch, message);
		else
			unpark->ids[batch->message_count - 1] = id;
	}
	return true;
}

/* What the first ledger counted as received and parked is written, filtered or a letter from now on. After --from-start
 * it does not know the message at all, and counts it as received. */
static void move_counts(struct pipeline *p, struct ledger *added)
{
	uint64_t left = p->total.parked;

	for (size_t i = 0; i <= p->table_count; i++) {
		uint64_t moved = added[i].received < left ? added[i].received : left;

		added[i].received -= moved;
		added[i].parked -= moved; /* wraps: the sum with what is stored is what counts */
		left -= moved;
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

bool pipeline_unpark(struct pipeline *p, struct error *err)
{
	struct unpark unpark = { .batch = batch_new(), .has_more = true };
	bool is_fine = pipeline_finish_unpark(p, err);

	while (is_fine && unpark.has_more) {
		is_fine = fill(p, &unpark, err);
		if (is_fine && unpark.batch->message_count)
			is_fine = write_back(p, &unpark, err);
	}
	batch_free(unpark.batch);
	progress_set_total(p->progress, &p->total);
	return is_fine;
}
