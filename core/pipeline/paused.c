/*
 * Paused tables. The set is read when the pipeline opens; who changes it opens
 * the pipeline anew. What is held here is parked like any other message that
 * waits for its table, and unpark.c brings it back.
 */
#include "base/arena.h"
#include "dlq/dlq.h"
#include "pipeline/pipeline_private.h"

#include <stdlib.h>

static const struct refusal is_paused = {
	.stage = "write",
	.code = "paused",
	.message = "the table is paused",
};

static void add_paused(void *context, struct span table)
{
	struct pipeline *p = context;

	p->paused = memory_grow(p->paused, (p->paused_count + 1) * sizeof(*p->paused));
	p->paused[p->paused_count++] = memory_string_of(table);
}

bool pipeline_read_paused(struct pipeline *p, struct error *err)
{
	return dlq_paused(p->dlq, add_paused, p, err);
}

void pipeline_clear_paused(struct pipeline *p)
{
	for (size_t i = 0; i < p->paused_count; i++)
		free(p->paused[i]);
	free(p->paused);
	free(p->are_paused);
}

bool pipeline_is_paused(const struct pipeline *p, const char *table)
{
	for (size_t i = 0; i < p->paused_count; i++) {
		if (strcmp(p->paused[i], table) == 0)
			return true;
	}
	return false;
}

static bool waits(const struct pipeline *p, uint32_t table)
{
	if (table >= p->table_count)
		return false;
	return p->are_paused[table] || (p->troubled_count && p->sink->ops->holds(p->sink, table));
}

/* Why a message is parked; NULL: it is not. */
const struct refusal *pipeline_why_parked(const struct batch *batch, const struct message *message)
{
	if (message->fate == MESSAGE_HELD)
		return &is_paused;
	/* A schema change is no row, but what it does to rows is: the destination may have parked that. */
	return message->fate == MESSAGE_REFUSED ? NULL : pipeline_first_refusal(batch, message, VERDICT_PARKED);
}

/* Whole or not at all: the half that is written would have to be told apart when the message comes back. What the
 * transform refused waits with the rest, and is refused then. */
void pipeline_hold(const struct pipeline *p, struct batch *batch, struct message *message)
{
	struct record *records = &batch->records[message->first_record];
	bool is_held = false;

	if (message->fate == MESSAGE_REFUSED && waits(p, message->table))
		message->fate = MESSAGE_HELD;
	if (message->fate != MESSAGE_OPEN)
		return;
	for (uint32_t i = 0; i < message->record_count; i++)
		is_held = is_held || waits(p, records[i].table);
	for (uint32_t i = 0; is_held && i < message->record_count; i++) {
		if (records[i].operation == OP_ALTER) /* it is not made again when the message comes back */
			continue;
		records[i].verdict = VERDICT_PARKED;
		records[i].refusal = &is_paused;
	}
}

void pipeline_hold_paused(const struct pipeline *p, struct batch *batch)
{
	for (size_t i = 0; p->paused_count && i < batch->message_count; i++)
		pipeline_hold(p, batch, &batch->messages[i]);
}
