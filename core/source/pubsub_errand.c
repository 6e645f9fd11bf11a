/*
 * Unary calls: what a subscription is, acknowledgements, longer leases, handing back.
 * Each goes its own way, so that a slow one holds up no other. Acknowledgements are
 * made until they are taken; a lease that could not be extended is simply due again.
 */
#include "source/pubsub_private.h"

#include <stdlib.h>

#define ASK_DEADLINE_MS 10000
#define ACK_DEADLINE_MS 15000  /* of the first try; what is acknowledged twice is acknowledged */
#define EXTENDING_MAX 32       /* calls at once */
#define EXTENDING_LOOK_MS 200

enum { FIELD_SUBSCRIPTION = 1, FIELD_DEADLINE = 3, FIELD_EXTEND_IDS = 4 };
#define TAG(field) ((char)((field) << 3 | WIRE_BYTES))

static const struct errand_facts {
	const char *path, *words;
	int64_t deadline_ms;
} facts[ERRANDS] = {
	[ERRAND_ASK] = { "/google.pubsub.v1.Subscriber/GetSubscription", "looking at", ASK_DEADLINE_MS },
	[ERRAND_ACK] = { "/google.pubsub.v1.Subscriber/Acknowledge", "acknowledging to", ACK_DEADLINE_MS },
	[ERRAND_EXTEND] = { "/google.pubsub.v1.Subscriber/ModifyAckDeadline", "extending leases of", ERRAND_DEADLINE_MS },
	[ERRAND_HAND_BACK] = { "/google.pubsub.v1.Subscriber/ModifyAckDeadline", "handing back to", ERRAND_DEADLINE_MS },
};

/*
 * Errands come and go
 */

static struct errand *errand_add(struct channel *of, enum errand_kind kind, struct text *request, uint32_t ids,
                                 int64_t now_ms)
{
	struct pubsub *pubsub = of->of;
	struct errand *errand = memory_zalloc(sizeof(*errand)), **at = &pubsub->errands;

	errand->kind = kind;
	errand->of = of;
	errand->number = ++pubsub->errand_number;
	errand->request = request;
	errand->ids = ids;
	errand->begun_ms = errand->due_ms = now_ms;
	errand->deadline_ms = facts[kind].deadline_ms;
	errand->wait = (struct backoff)BACKOFF(100, 10000, 2);
	while (*at)
		at = &(*at)->next;
	*at = errand;
	return errand;
}

static void errand_free(struct errand *errand)
{
	struct pubsub *pubsub = errand->of->of;

	pubsub->extending -= errand->kind == ERRAND_EXTEND;
	if (errand->call)
		google_ended(pubsub->google, errand->token, GRPC_CANCELLED);
	grpc_call_free(errand->call);
	grpc_message_free(errand->answer);
	text_free(errand->request);
	free(errand);
}

void errands_drop(struct pubsub *pubsub)
{
	while (pubsub->errands) {
		struct errand *errand = pubsub->errands;

		pubsub->errands = errand->next;
		errand_free(errand);
	}
}

struct text *errand_request(const struct channel *channel)
{
	struct text *request = text_new(REQUEST_BYTES + ACK_ID_BYTES_MAX + PUBSUB_NAME_BYTES);

	proto_put_text(request, FIELD_SUBSCRIPTION, channel->name);
	return request;
}

void errand_ask(struct channel *channel, int64_t now_ms)
{
	channel->is_asked = true;
	errand_add(channel, ERRAND_ASK, errand_request(channel), 0, now_ms);
}

void errand_send_acks(struct channel *channel, int64_t now_ms)
{
	if (!channel->ack_count)
		return;
	errand_add(channel, ERRAND_ACK, channel->acks, channel->ack_count, now_ms);
	channel->acks = errand_request(channel);
	channel->ack_count = 0;
}

/* Ids of confirmed messages: gathered into requests as large as the server takes. */
void channel_acknowledge(struct channel *channel, struct span ids, uint32_t count, int64_t now_ms)
{
	if (channel->ack_count &&
	    (channel->ack_count + count > PARCEL_MESSAGES || channel->acks->len + ids.len + count > REQUEST_BYTES))
		errand_send_acks(channel, now_ms);
	if (!channel->acks->len)
		proto_put_text(channel->acks, FIELD_SUBSCRIPTION, channel->name);
	ids_put(channel->acks, ids, TAG(ERRAND_FIELD_ACK_IDS));
	channel->ack_count += count;
}

static struct text *deadline_begin(const struct channel *channel, int64_t lease_ms)
{
	struct text *request = errand_request(channel);

	proto_put_int(request, FIELD_DEADLINE, lease_ms / 1000);
	return request;
}

void errands_extend(struct pubsub *pubsub, int64_t now_ms)
{
	uint32_t index;

	while (held_due_channel(&pubsub->held, now_ms, &index)) {
		struct channel *channel = &pubsub->channels[index];
		int64_t lease = channel_lease_ms(channel);
		struct errand *errand;

		if (pubsub->extending >= EXTENDING_MAX) {
			pubsub->held.due_ms = now_ms + EXTENDING_LOOK_MS;
			return;
		}
		errand = errand_add(channel, ERRAND_EXTEND, deadline_begin(channel, lease), 0, now_ms);
		errand->lease_ms = lease;
		errand->ids = held_collect(&pubsub->held, index, TAG(FIELD_EXTEND_IDS), errand->number, lease, now_ms,
		                           errand->request);
		pubsub->extending++;
	}
}

/* Nothing is handed back where the server counts it as a delivery that failed, or where nobody knows. */
void errands_hand_back(struct pubsub *pubsub, int64_t now_ms)
{
	for (struct parcel *p = pubsub->held.first; p; p = p->next)
		p->due_ms = pubsub->channels[p->channel].has_dead_letters ? INT64_MAX : now_ms;
	pubsub->held.due_ms = now_ms;
	for (uint32_t i = 0; i < pubsub->channel_count; i++) {
		struct channel *channel = &pubsub->channels[i];
		uint32_t ids = channel->has_dead_letters ? 0 : 1;

		while (ids) {
			struct text *request = deadline_begin(channel, 0);

			/* A lease far ahead: what was handed back is not due again. */
			ids = held_collect(&pubsub->held, i, TAG(FIELD_EXTEND_IDS), 0, LEASE_MOST_MS, now_ms, request);
			if (ids)
				errand_add(channel, ERRAND_HAND_BACK, request, ids, now_ms);
			else
				text_free(request);
		}
	}
}

/*
 * On their way
 */

static void start(struct errand *errand, int64_t now_ms)
{
	struct pubsub *pubsub = errand->of->of;
	struct error failure = { 0 };
	struct grpc_request request = {
		.path = facts[errand->kind].path,
		.deadline_ms = errand->deadline_ms,
		.on_ready = pubsub_on_ready,
		.context = pubsub,
		.unsent_bytes = 2 * REQUEST_BYTES,
	};

	errand->call = google_start(pubsub->google, SERVICE_PUBSUB, &request, errand->of->params, &errand->token, &failure);
	errand->sent_ms = now_ms;
	if (errand->call)
		grpc_send(errand->call, text_span(errand->request), true, 0);
	else
		errand_failed(errand, &failure, now_ms);
}

void errand_again_later(struct errand *errand, int64_t asked_ms, int64_t now_ms)
{
	errand->due_ms = now_ms + backoff_next(&errand->wait, asked_ms);
}

static void ended(struct errand *errand, int64_t now_ms)
{
	struct grpc_call *call = errand->call;
	struct grpc_result result = grpc_result(call);
	bool again = google_ended(errand->of->of->google, errand->token, result.code);
	struct error failure = { 0 };
	char what[440];

	errand->call = NULL;
	snprintf(what, sizeof(what), "%s subscription %.300s", facts[errand->kind].words, errand->of->shown);
	if (grpc_check(call, what, &failure)) {
		errand_worked(errand, now_ms);
		errand->is_over = true;
	} else if (again && !errand->was_renewed) {
		errand->was_renewed = true;
		errand->due_ms = now_ms;
	} else if (errand->kind == ERRAND_ACK && result.details.len && errand_sort_ids(errand, result.details, now_ms)) {
		errand_again_later(errand, failure.retry_after_ms, now_ms);
	} else {
		errand->was_renewed = false;
		errand_failed(errand, &failure, now_ms);
	}
	grpc_call_free(call);
}

static void step(struct errand *errand, int64_t now_ms)
{
	struct grpc_message *message;

	if (!errand->call && errand->due_ms <= now_ms)
		start(errand, now_ms);
	while (errand->call) {
		switch (grpc_receive(errand->call, &message, 0)) {
		case GRPC_DONE:
			grpc_message_free(errand->answer);
			errand->answer = message;
			break;
		case GRPC_TIMEOUT:
			return;
		case GRPC_ENDED:
			ended(errand, now_ms);
			break;
		}
	}
}

void errands_step(struct pubsub *pubsub, int64_t now_ms)
{
	struct errand **at = &pubsub->errands;

	while (*at) {
		struct errand *errand = *at;

		step(errand, now_ms);
		if (!errand->is_over) {
			at = &errand->next;
			continue;
		}
		*at = errand->next;
		errand_free(errand);
	}
}

int64_t errands_due_ms(const struct pubsub *pubsub)
{
	int64_t due_ms = INT64_MAX;

	for (const struct errand *e = pubsub->errands; e; e = e->next) {
		if (!e->call && e->due_ms < due_ms)
			due_ms = e->due_ms;
	}
	return due_ms;
}

size_t errands_open(const struct pubsub *pubsub, int64_t *out_since_ms)
{
	size_t count = 0;

	*out_since_ms = 0;
	for (const struct errand *e = pubsub->errands; e; e = e->next) {
		if (e->kind != ERRAND_ACK && e->kind != ERRAND_HAND_BACK)
			continue;
		count++;
		if (!*out_since_ms || e->begun_ms < *out_since_ms)
			*out_since_ms = e->begun_ms;
	}
	return count;
}
