/*
 * Parked messages come back before anything newer is read, in the order in which
 * they arrived, once nothing stands against them any more. A message that would
 * be parked again stays where it is.
 *
 * Rows, ledger and "these are back" cannot commit in one transaction, since they
 * lie in two files. So the rows commit first; after a kill between the two the
 * message is met again and its rows are found to be there (repeated).
 */
#include "base/crash.h"
#include "dlq/dlq.h"
#include "pipeline/pipeline_private.h"

#include <stdlib.h>

struct unpark {
	struct batch *batch;
	int64_t *ids;      /* of the batch's messages */
	int64_t after_id;
};

static bool is_parked_again(const struct batch *batch, const struct message *message)
{
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (batch->records[message->first_record + i].verdict == VERDICT_PARKED)
			return true;
	}
	return false;
}

/* Takes the next message that is free to go; the batch holds it alone, so that one that stays leaves nothing behind. */
static bool next_free(struct pipeline *p, struct unpark *unpark, int64_t *out_id, struct error *err)
{
	for (;;) {
		struct message *message;

		batch_reset(unpark->batch);
		if (!dlq_unpark_next(p->dlq, NULL, unpark->after_id, unpark->batch, out_id, err))
			return false;
		if (!*out_id)
			return true;
		unpark->after_id = *out_id;
		message = &unpark->batch->messages[0];
		p->transform->ops->apply(p->transform, unpark->batch, message);
		if (!is_parked_again(unpark->batch, message))
			return true;
	}
}

/* What the first ledger counted as parked is written, filtered or a letter from now on. After --from-start it does not
 * know the message at all, and counts it as received. */
static void move_counts(struct pipeline *p, struct ledger *added)
{
	struct ledger *entry = added;

	while (entry < &added[p->table_count] && !entry->received)
		entry++;
	if (p->total.parked == 0)
		return;
	entry->received--;
	entry->parked--; /* wraps: the sum with what is stored is what counts */
}

static bool write_back(struct pipeline *p, struct unpark *unpark, int64_t id, const struct source_position *position,
                       struct error *err)
{
	struct ledger sum;

	unpark->batch->end = *position;
	if (!pipeline_write_rows(p, unpark->batch, move_counts, &sum, err))
		return false;
	crash_point(unparked_written);
	ledger_add(&p->total, &sum);
	return dlq_begin(p->dlq, err) && dlq_unpark_done(p->dlq, id, err) && dlq_commit(p->dlq, err);
}

bool pipeline_unpark(struct pipeline *p, struct error *err)
{
	struct unpark unpark = { .batch = batch_new() };
	struct sink_state state;
	int64_t id = 0;
	bool is_fine;

	p->sink->ops->state(p->sink, &state);
	do {
		is_fine = next_free(p, &unpark, &id, err);
		if (is_fine && id)
			is_fine = write_back(p, &unpark, id, &state.position, err);
	} while (is_fine && id);
	batch_free(unpark.batch);
	progress_set_total(p->progress, &p->total);
	return is_fine;
}
