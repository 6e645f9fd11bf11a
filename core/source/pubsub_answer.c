/*
 * What an answer to a unary call means: for the subscription, for leases, and for
 * the errand itself, which is over or goes on.
 */
#include "base/clock.h"
#include "source/pubsub_private.h"

#include <stdlib.h>

#define EXTEND_AGAIN_MS 500
#define LATENCY_FALLS 16

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

void errand_worked(struct errand *errand, int64_t now_ms)
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
		proto_put_bytes(sorting->again, ERRAND_FIELD_ACK_IDS, id);
		sorting->again_count++;
	} else if (verdict.len >= sizeof(permanent) - 1 && memcmp(verdict.at, permanent, sizeof(permanent) - 1) == 0) {
		sorting->lost++;
	}
}

bool errand_sort_ids(struct errand *errand, struct span details, int64_t now_ms)
{
	struct sorting sorting = { .again = errand_request(errand->of) };
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
	errand->deadline_ms = errand->deadline_ms * 2 < ERRAND_DEADLINE_MS ? errand->deadline_ms * 2 : ERRAND_DEADLINE_MS;
	channel->ack_failure = *failure;
	if (!channel->ack_failed_us) {
		channel->ack_failed_us = clock_utc_us();
		channel->ack_failed_ms = now_ms;
	}
	errand_again_later(errand, failure_passes(failure) ? failure->retry_after_ms : 1000, now_ms);
}

void errand_failed(struct errand *errand, const struct error *failure, int64_t now_ms)
{
	errand->is_over = true;
	if (errand->kind == ERRAND_ACK)
		ack_failed(errand, failure, now_ms);
	else if (errand->kind == ERRAND_ASK)
		ask_failed(errand, failure, now_ms);
	else if (errand->kind == ERRAND_EXTEND)
		held_not_extended(&errand->of->of->held, errand->number, now_ms + EXTEND_AGAIN_MS);
}
