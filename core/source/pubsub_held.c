/* Parcels of messages that are not confirmed yet: their ids, numbers and leases. */
#include "source/pubsub_held.h"

#include "base/arena.h"
#include "base/wire.h"

#include <stdlib.h>

#define PARCEL_ROOM 512
#define AGAIN_LEAST_MS 1000 /* a call that extends is not answered: so long after it another one is made */

void held_begin(struct held *held, uint64_t first_number)
{
	*held = (struct held){ .next_number = first_number, .due_ms = INT64_MAX };
}

static void parcel_free(struct parcel *parcel)
{
	free(parcel->ids);
	free(parcel);
}

void held_clear(struct held *held)
{
	while (held->first) {
		struct parcel *parcel = held->first;

		held->first = parcel->next;
		parcel_free(parcel);
	}
	held->last = NULL;
	held->count = held->bytes = 0;
	held->due_ms = INT64_MAX;
}

/*
 * Messages that come
 */

/* A fourth of the lease is left for what the network held back before we saw the message. */
static struct parcel *parcel_new(struct held *held, uint32_t channel, int64_t lease_ms, int64_t now_ms)
{
	struct parcel *parcel = memory_zalloc(sizeof(*parcel));

	parcel->channel = channel;
	parcel->first = held->next_number;
	parcel->received_ms = now_ms;
	parcel->until_ms = now_ms + lease_ms;
	parcel->due_ms = now_ms + lease_ms / 4;
	parcel->room = PARCEL_ROOM;
	parcel->ids = memory_alloc(parcel->room);
	if (held->last)
		held->last->next = parcel;
	else
		held->first = parcel;
	held->last = parcel;
	if (parcel->due_ms < held->due_ms)
		held->due_ms = parcel->due_ms;
	return parcel;
}

/* What came at the same moment is leased for the same time. */
static bool takes_more(const struct parcel *parcel, uint32_t channel, size_t id_len, int64_t now_ms)
{
	return parcel && parcel->channel == channel && parcel->received_ms == now_ms && !parcel->gone && !parcel->errand &&
	       parcel->count < PARCEL_MESSAGES && parcel->len + id_len + 2 < REQUEST_BYTES / 2;
}

static void parcel_add(struct parcel *parcel, struct span id)
{
	size_t wanted = parcel->len + id.len + WIRE_VARINT_ROOM;
	char *at;

	if (wanted > parcel->room) {
		parcel->room = wanted < parcel->room * 2 ? parcel->room * 2 : wanted;
		parcel->ids = memory_grow(parcel->ids, parcel->room);
	}
	at = wire_varint(id.len, parcel->ids + parcel->len);
	memcpy(at, id.at, id.len);
	parcel->len = (size_t)(at - parcel->ids) + id.len;
	parcel->count++;
}

uint64_t held_add(struct held *held, uint32_t channel, struct span id, size_t bytes, int64_t lease_ms, int64_t now_ms)
{
	struct parcel *parcel = held->last;

	if (!takes_more(parcel, channel, id.len, now_ms))
		parcel = parcel_new(held, channel, lease_ms, now_ms);
	parcel_add(parcel, id);
	parcel->bytes += bytes;
	held->bytes += bytes;
	held->count++;
	return held->next_number++;
}

/*
 * Packed ids
 */

/* The id at `at` with its length; they are our own, so they are whole. */
static size_t id_size(const char *at)
{
	const unsigned char *byte = (const unsigned char *)at;

	return byte[0] < 128 ? 1 + (size_t)byte[0] : 2 + ((size_t)(byte[0] & 127) | (size_t)byte[1] << 7);
}

static size_t ids_size(const char *ids, uint32_t count)
{
	size_t len = 0;

	while (count--)
		len += id_size(ids + len);
	return len;
}

bool ids_put(struct text *request, struct span ids, char tag)
{
	for (size_t at = 0; at < ids.len;) {
		size_t size = id_size(ids.at + at);

		if (!text_add_char(request, tag) || !text_add_span(request, span_make(ids.at + at, size)))
			return false;
		at += size;
	}
	return true;
}

/*
 * Messages that are safe
 */

static void drop_first(struct held *held)
{
	struct parcel *parcel = held->first;

	held->first = parcel->next;
	if (!held->first)
		held->last = NULL;
	held->bytes -= parcel->bytes;
	parcel_free(parcel);
}

void held_confirm(struct held *held, uint64_t behind, int64_t now_ms, held_ids on_ids, void *context)
{
	struct parcel *parcel;

	while ((parcel = held->first) && parcel->first + parcel->gone < behind) {
		uint64_t left = parcel->count - parcel->gone, wanted = behind - parcel->first - parcel->gone;
		uint32_t count = (uint32_t)(left < wanted ? left : wanted);
		size_t len = count == left ? parcel->len - parcel->gone_len : ids_size(parcel->ids + parcel->gone_len, count);

		on_ids(context, parcel->channel, span_make(parcel->ids + parcel->gone_len, len), count,
		       now_ms - parcel->received_ms);
		held->count -= count;
		parcel->gone += count;
		parcel->gone_len += len;
		if (parcel->gone < parcel->count)
			return;
		drop_first(held);
	}
}

/*
 * Leases
 */

static void settle_due(struct held *held)
{
	held->due_ms = INT64_MAX;
	for (const struct parcel *p = held->first; p; p = p->next) {
		if (p->due_ms < held->due_ms)
			held->due_ms = p->due_ms;
	}
}

/* What was due first may be confirmed by now: the moment is that of another one then, or whoever waits for it would not
 * sleep any more. */
bool held_due_channel(struct held *held, int64_t now_ms, uint32_t *out_channel)
{
	if (held->due_ms > now_ms)
		return false;
	for (const struct parcel *p = held->first; p; p = p->next) {
		if (p->due_ms <= now_ms) {
			*out_channel = p->channel;
			return true;
		}
	}
	settle_due(held);
	return false;
}

uint32_t held_collect(struct held *held, uint32_t channel, char tag, uint64_t errand, int64_t lease_ms, int64_t now_ms,
                      struct text *request)
{
	int64_t again_ms = lease_ms / 4 > AGAIN_LEAST_MS ? lease_ms / 4 : AGAIN_LEAST_MS;
	uint32_t count = 0;

	for (struct parcel *p = held->first; p; p = p->next) {
		size_t len = p->len - p->gone_len;

		if (p->channel != channel || p->due_ms > now_ms)
			continue;
		if (count && (count + p->count - p->gone > PARCEL_MESSAGES ||
		              request->len + len + p->count > REQUEST_BYTES))
			break;
		ids_put(request, span_make(p->ids + p->gone_len, len), tag);
		p->errand = errand;
		p->due_ms = now_ms + again_ms;
		count += p->count - p->gone;
	}
	settle_due(held);
	return count;
}

/* Half of the lease is left for the next call, or the time of two slow ones. */
void held_extended(struct held *held, uint64_t errand, int64_t sent_ms, int64_t lease_ms, int64_t latency_ms)
{
	int64_t ahead_ms = 2 * latency_ms + 1000, wait_ms;

	if (ahead_ms < lease_ms / 2)
		ahead_ms = lease_ms / 2;
	wait_ms = lease_ms - ahead_ms > lease_ms / 4 ? lease_ms - ahead_ms : lease_ms / 4;
	for (struct parcel *p = held->first; p; p = p->next) {
		if (p->errand != errand)
			continue;
		if (sent_ms + lease_ms > p->until_ms)
			p->until_ms = sent_ms + lease_ms;
		p->due_ms = sent_ms + wait_ms;
		p->has_expired = false;
	}
	settle_due(held);
}

void held_not_extended(struct held *held, uint64_t errand, int64_t again_ms)
{
	for (struct parcel *p = held->first; p; p = p->next) {
		if (p->errand == errand && again_ms < p->due_ms)
			p->due_ms = again_ms;
	}
	settle_due(held);
}

void held_look(struct held *held, int64_t now_ms)
{
	for (struct parcel *p = held->first; p; p = p->next) {
		if (p->has_expired || p->until_ms >= now_ms)
			continue;
		p->has_expired = true;
		held->expired += p->count - p->gone;
	}
}

/*
 * How long a lease should be
 */

static const int64_t lease_steps_ms[LEASE_STEPS] = { 5000,  10000,  15000,  20000,  30000,  45000,
	                                                 60000, 100000, 180000, 300000, 450000, 600000 };
#define LEASE_COUNTS 100000 /* messages, after which old ones count half */

void lease_learn(struct lease *lease, int64_t held_ms, uint32_t messages)
{
	size_t step = 0;

	while (step < LEASE_STEPS - 1 && held_ms > lease_steps_ms[step])
		step++;
	lease->steps[step] += messages;
	lease->count += messages;
	if (lease->count < LEASE_COUNTS)
		return;
	lease->count = 0;
	for (size_t i = 0; i < LEASE_STEPS; i++)
		lease->count += lease->steps[i] /= 2;
}

bool held_long(struct held *held, int64_t now_ms)
{
	bool was_long = held->is_long;

	held->is_long = held->first && now_ms - held->first->received_ms >= HELD_LONG_MS;
	return held->is_long && !was_long;
}

static int64_t held_mostly_ms(const struct lease *lease)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < LEASE_STEPS; i++) {
		seen += lease->steps[i];
		if (seen * 100 >= lease->count * 99)
			return lease_steps_ms[i];
	}
	return LEASE_MOST_MS;
}

int64_t lease_wanted_ms(const struct lease *lease, int64_t latency_ms)
{
	int64_t wanted = held_mostly_ms(lease);

	/* A lease follows the slowest call that extends it, not how fast work usually is. */
	if (wanted < 4 * latency_ms)
		wanted = 4 * latency_ms;
	if (wanted < lease->least_ms)
		wanted = lease->least_ms;
	if (wanted < LEASE_LEAST_MS)
		wanted = LEASE_LEAST_MS;
	return wanted > LEASE_MOST_MS ? LEASE_MOST_MS : (wanted + 999) / 1000 * 1000;
}
