/*
 * The ledger: every message that was received is written, filtered, a dead
 * letter, parked or in flight, and the sums agree.
 */
#include "record/batch.h"

#include <assert.h>

void ledger_add(struct ledger *to, const struct ledger *from)
{
	to->received += from->received;
	to->written += from->written;
	to->filtered += from->filtered;
	to->dead_lettered += from->dead_lettered;
	to->parked += from->parked;
	to->repeated += from->repeated;
	to->rows += from->rows;
}

bool ledger_balances(const struct ledger *l, uint64_t in_flight)
{
	/* No part is larger than the whole: a counter that went below zero is no balance. */
	return l->received == l->written + l->filtered + l->dead_lettered + l->parked + in_flight &&
	       l->written <= l->received && l->parked <= l->received;
}

/* How many of a message's records have each verdict. */
struct verdicts {
	uint32_t of[VERDICT_PARKED + 1];
	uint32_t altered; /* written, but no rows */
};

static struct verdicts verdicts_of(const struct batch *batch, const struct message *message)
{
	struct verdicts verdicts = { { 0 }, 0 };

	for (uint32_t i = 0; i < message->record_count; i++) {
		const struct record *record = &batch->records[message->first_record + i];

		verdicts.of[record->verdict]++;
		verdicts.altered += record->operation == OP_ALTER && record->verdict == VERDICT_WRITTEN;
	}
	return verdicts;
}

/* A message that is open needs records, all of them decided. */
static bool is_final(const struct batch *batch, const struct message *message)
{
	const struct record *record = &batch->records[message->first_record];

	if (message->fate != MESSAGE_OPEN)
		return true;
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (record[i].verdict == VERDICT_PENDING)
			return false;
	}
	return message->record_count > 0;
}

bool message_is_written(const struct batch *batch, const struct message *message)
{
	struct verdicts v;

	if (message->fate != MESSAGE_OPEN)
		return false;
	v = verdicts_of(batch, message);
	return !v.of[VERDICT_REFUSED] && !v.of[VERDICT_PARKED];
}

static void count_open(struct ledger *ledger, const struct batch *batch, const struct message *message)
{
	struct verdicts v = verdicts_of(batch, message);

	ledger->rows += v.of[VERDICT_WRITTEN] - v.altered;
	if (v.of[VERDICT_REFUSED])
		ledger->dead_lettered++;
	else if (v.of[VERDICT_PARKED])
		ledger->parked++;
	else
		ledger->written++;
	if (v.of[VERDICT_REPEATED] == message->record_count)
		ledger->repeated++;
}

/* Its records are what a schema change does to rows: they may be refused or wait for their table, and the message with them. */
static void count_filtered(struct ledger *ledger, const struct batch *batch, const struct message *message)
{
	struct verdicts v = verdicts_of(batch, message);

	if (v.of[VERDICT_REFUSED])
		ledger->dead_lettered++;
	else if (v.of[VERDICT_PARKED])
		ledger->parked++;
	else
		ledger->filtered++;
}

bool ledger_count(struct ledger *tables, size_t count, const struct batch *batch)
{
	for (size_t i = 0; i < batch->message_count; i++) {
		if (!is_final(batch, &batch->messages[i]))
			return false;
	}
	for (size_t i = 0; i < batch->message_count; i++) {
		const struct message *message = &batch->messages[i];
		struct ledger *ledger = &tables[message->table == TABLE_NONE ? count : message->table];

		assert(message->table == TABLE_NONE || message->table < count);
		if (message->is_counted)
			continue;
		ledger->received++;
		ledger->dead_lettered += message->fate == MESSAGE_REFUSED;
		ledger->parked += message->fate == MESSAGE_HELD;
		if (message->fate == MESSAGE_FILTERED)
			count_filtered(ledger, batch, message);
		if (message->fate == MESSAGE_OPEN)
			count_open(ledger, batch, message);
	}
	return true;
}
