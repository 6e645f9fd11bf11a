/*
 * Unary calls: what a subscription is, acknowledgements, longer leases, handing back.
 * Each goes its own way, so that a slow one holds up no other. Acknowledgements are
 * made until they are taken; a lease that could not be extended is simply due again.
 */
#include "base/clock.h"
#include "source/pubsub_private.h"

#include <stdlib.h>

#define ASK_DEADLINE_MS 10000
#define DEADLINE_MS 60000
#define ACK_DEADLINE_MS 15000  /* of the first try; what is acknowledged twice is acknowledged */
#define EXTENDING_MAX 32       /* calls at once */
#define EXTENDING_LOOK_MS 200
#define EXTEND_AGAIN_MS 500
#define LATENCY_FALLS 16

enum { FIELD_SUBSCRIPTION = 1, FIELD_ACK_IDS = 2, FIELD_DEADLINE = 3, FIELD_EXTEND_IDS = 4 };
#define TAG(field) ((char)((field) << 3 | WIRE_BYTES))

static const struct errand_facts {
	const char *path, *words;
	int64_t deadline_ms;
} facts[ERRANDS] = {
	[ERRAND_ASK] = { "/google.pubsub.v1.Subscriber/GetSubscription", "looking at", ASK_DEADLINE_MS },
	[ERRAND_ACK] = { "/google.pubsub.v1.Subscriber/Acknowledge", "acknowledging to", ACK_DEADLINE_MS },
	[ERRAND_EXTEND] = { "/google.pubsub.v1.Subscriber/ModifyAckDeadline", "extending leases of", DEADLINE_MS },
	[ERRAND_HAND_BACK] = { "/google.pubsub.v1.Subscriber/ModifyAckDeadline", "handing back to", DEADLINE_MS },
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

static struct text *request_begin(const struct channel *channel)
{
	struct text *request = text_new(REQUEST_BYTES + ACK_ID_BYTES_MAX + PUBSUB_NAME_BYTES);

	proto_put_text(request, FIELD_SUBSCRIPTION, channel->name);
	return request;
}

void errand_ask(struct channel *channel, int64_t now_ms)
{
	channel->is_asked = true;
	errand_add(channel, ERRAND_ASK, request_begin(channel), 0, now_ms);
}

void errand_send_acks(struct channel *channel, int64_t now_ms)
{
	if (!channel->ack_count)
		return;
	errand_add(channel, ERRAND_ACK, channel->acks, channel->ack_count, now_ms);
	channel->acks = request_begin(channel);
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
	ids_put(channel->acks, ids, TAG(FIELD_ACK_IDS));
	channel->ack_count += count;
}

static struct text *deadline_begin(const struct channel *channel, int64_t lease_ms)
{
	struct text *request = request_begin(channel);

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

static void failed(struct errand *errand, const struct error *failure, int64_t now_ms); /* below: Failures */

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
		failed(errand, &failure, now_ms);
}

/*
 * Answers
 */

static void learn_latency(struct pubsub *pubsub, int64_t took_ms)
{
	histogram_add(&pubsub->extend_times, took_ms * 1000, 1);
	if (took_ms > pubsub->latency_ms)
		pubsub->latency_ms = took_ms;
	else
		pubsub->latency_ms -= (pubsub->latency_ms - took_ms) / LATENCY_FALLS;
}

static void known(struct channel *channel, int64_t now_ms)
{
	channel->is_asked = false;
	channel->is_known = true;
	channel->retry_ms = now_ms;
}

/* One that was deleted and made anew may be another one. */
static void learn(struct errand *errand, int64_t now_ms)
{
	struct channel *channel = errand->of;
	struct subscription *facts_of = memory_alloc(sizeof(*facts_of));
	struct error failure = { 0 };
	bool is_read = errand->answer &&
	               subscription_read(span_make(errand->answer->bytes, errand->answer->len), facts_of);

	known(channel, now_ms);
	if (is_read) {
		channel->has_dead_letters = facts_of->dead_letter_topic[0] != '\0';
		channel->is_exactly_once = facts_of->is_exactly_once;
		channel->lease.least_ms = facts_of->ack_deadline_ms;
		if (facts_of->is_exactly_once && channel->lease.least_ms < EXACTLY_ONCE_LEASE_MS)
			channel->lease.least_ms = EXACTLY_ONCE_LEASE_MS;
		if (!subscription_can_pull(facts_of, &failure))
			channel_fail(channel, &failure, now_ms);
	}
	channel->last_us = clock_utc_us();
	free(facts_of);
}

/* What the server did not take comes again when its lease is over. */
static void refused(struct channel *channel, uint64_t ids, int64_t now_ms)
{
	channel->refused_acks += ids;
	if (ids)
		channel->lost_until_ms = now_ms + channel_lease_ms(channel) + LOST_MORE_MS;
}

static void acknowledged(struct channel *channel, uint64_t ids)
{
	channel->acknowledged += ids;
	channel->ack_failure = (struct error){ 0 };
	channel->ack_failed_us = 0;
}

static void worked(struct errand *errand, int64_t now_ms)
{
	struct pubsub *pubsub = errand->of->of;

	errand->of->last_us = clock_utc_us();
	if (errand->kind == ERRAND_ASK) {
		learn(errand, now_ms);
	} else if (errand->kind == ERRAND_ACK) {
		acknowledged(errand->of, errand->ids);
	} else if (errand->kind == ERRAND_EXTEND) {
		learn_latency(pubsub, now_ms - errand->sent_ms);
		held_extended(&pubsub->held, errand->number, errand->sent_ms, errand->lease_ms, pubsub->latency_ms);
	}
}

/*
 * Exactly once: each id has an answer of its own
 */

struct sorting {
	struct text *again;            /* a request of those that may be taken later */
	uint32_t again_count, lost;
};

static void sort_id(void *context, struct span id, struct span verdict)
{
	static const char transient[] = "TRANSIENT_", permanent[] = "PERMANENT_";
	struct sorting *sorting = context;

	if (verdict.len >= sizeof(transient) - 1 && memcmp(verdict.at, transient, sizeof(transient) - 1) == 0) {
		proto_put_bytes(sorting->again, FIELD_ACK_IDS, id);
		sorting->again_count++;
	} else if (verdict.len >= sizeof(permanent) - 1 && memcmp(verdict.at, permanent, sizeof(permanent) - 1) == 0) {
		sorting->lost++;
	}
}

/* Ids that the answer does not name were taken. True: this errand goes on with the others, if there are any. */
static bool sort_ids(struct errand *errand, struct span details, int64_t now_ms)
{
	struct sorting sorting = { .again = request_begin(errand->of) };
	uint32_t named;

	if (!status_metadata_header(details, sort_id, &sorting) || !(named = sorting.again_count + sorting.lost)) {
		text_free(sorting.again);
		return false;
	}
	acknowledged(errand->of, named < errand->ids ? errand->ids - named : 0);
	refused(errand->of, sorting.lost, now_ms);
	text_free(errand->request);
	errand->request = sorting.again;
	errand->ids = sorting.again_count;
	errand->is_over = !errand->ids;
	return true;
}

/*
 * Failures
 */

static void again_later(struct errand *errand, int64_t asked_ms, int64_t now_ms)
{
	errand->due_ms = now_ms + backoff_next(&errand->wait, asked_ms);
}

/* A subscription that may not be looked at can be read all the same. */
static void ask_failed(struct errand *errand, const struct error *failure, int64_t now_ms)
{
	struct channel *channel = errand->of;
	bool is_hidden = strcmp(failure->code, "google_denied") == 0 || strcmp(failure->code, "google_not_supported") == 0;

	known(channel, now_ms);
	if (is_hidden)
		return;
	channel->is_known = false;
	channel_fail(channel, failure, now_ms);
}

static void ack_failed(struct errand *errand, const struct error *failure, int64_t now_ms)
{
	struct channel *channel = errand->of;

	errand->is_over = failure->kind == ERROR_RECORD || strcmp(failure->code, "google_not_found") == 0;
	if (errand->is_over) {
		refused(channel, errand->ids, now_ms);
		return;
	}
	/* A server may only be slow. */
	errand->deadline_ms = errand->deadline_ms * 2 < DEADLINE_MS ? errand->deadline_ms * 2 : DEADLINE_MS;
	channel->ack_failure = *failure;
	if (!channel->ack_failed_us)
		channel->ack_failed_us = clock_utc_us();
	again_later(errand, failure_passes(failure) ? failure->retry_after_ms : 1000, now_ms);
}

static void failed(struct errand *errand, const struct error *failure, int64_t now_ms)
{
	errand->is_over = true;
	if (errand->kind == ERRAND_ACK)
		ack_failed(errand, failure, now_ms);
	else if (errand->kind == ERRAND_ASK)
		ask_failed(errand, failure, now_ms);
	else if (errand->kind == ERRAND_EXTEND)
		held_not_extended(&errand->of->of->held, errand->number, now_ms + EXTEND_AGAIN_MS);
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
		worked(errand, now_ms);
		errand->is_over = true;
	} else if (again && !errand->was_renewed) {
		errand->was_renewed = true;
		errand->due_ms = now_ms;
	} else if (errand->kind == ERRAND_ACK && result.details.len && sort_ids(errand, result.details, now_ms)) {
		again_later(errand, failure.retry_after_ms, now_ms);
	} else {
		errand->was_renewed = false;
		failed(errand, &failure, now_ms);
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
