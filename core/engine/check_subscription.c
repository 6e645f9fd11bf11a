/* Checks of one subscription: what GetSubscription says of it, fact by fact. A fact is a row. */
#include "engine/check_subscription_private.h"

#include <stdio.h>

/* What was tried is the call and the subscription; findings begin with the latter. */
#define GET "GetSubscription, "
#define GET_CHARS (sizeof(GET) - 1)

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)
#define DEADLINE_SHORT_MS 30000
#define RETENTION_SHORT_MS DAY_MS
#define EXPIRES_SOON_MS (7 * DAY_MS)
#define ATTEMPTS_FEW 10

static void span_text(int64_t ms, char out[32])
{
	if (ms >= 2 * DAY_MS)
		snprintf(out, 32, "%lld days", (long long)(ms / DAY_MS));
	else if (ms >= 2 * HOUR_MS)
		snprintf(out, 32, "%lld hours", (long long)(ms / HOUR_MS));
	else if (ms >= 2 * MINUTE_MS)
		snprintf(out, 32, "%lld minutes", (long long)(ms / MINUTE_MS));
	else
		snprintf(out, 32, "%lld s", (long long)(ms / 1000));
}

/* "gcloud pubsub subscriptions update S --project P " and what follows. */
static void fix_update(const struct subscription *s, const char *flags, char fix[CHECK_FIX_BYTES])
{
	snprintf(fix, CHECK_FIX_BYTES, "gcloud pubsub subscriptions update %s --project %.*s %s", pubsub_short_name(s->name),
	         SPAN_ARG(pubsub_project(s->name)), flags);
}

static void check_kind(struct check *check, struct finding *about, const struct subscription *s)
{
	char fix[CHECK_FIX_BYTES];
	struct error why = { 0 };

	if (!subscription_can_pull(s, &why)) {
		fix_update(s, "--push-endpoint=''", fix);
		about->fix = s->delivery == DELIVERY_PUSH && !s->is_detached ? fix : NULL;
		check_fails(check, about, &why);
	} else if (strcmp(s->topic, DELETED_TOPIC) == 0) {
		check_warning(check, about, "subscription_topic_gone",
		              "%s: its topic is gone; what it holds can be read, nothing new will come", about->tried + GET_CHARS);
	} else {
		check_ok(check, about, "%s can be pulled, of topic %s", about->tried + GET_CHARS, s->topic);
	}
}

static void check_deadline(struct check *check, struct finding *about, const struct subscription *s)
{
	char fix[CHECK_FIX_BYTES];

	if (s->ack_deadline_ms >= DEADLINE_SHORT_MS) {
		check_ok(check, about, "%s: acknowledgement deadline %lld s", about->tried + GET_CHARS, (long long)(s->ack_deadline_ms / 1000));
		return;
	}
	fix_update(s, "--ack-deadline 60", fix);
	about->fix = fix;
	check_warning(check, about, "subscription_deadline_short",
	              "%s: acknowledgement deadline %lld s; leases are extended, but a slow network may bring messages twice",
	              about->tried + GET_CHARS, (long long)(s->ack_deadline_ms / 1000));
}

static bool is_append(const struct job_options *options)
{
	return options->replication_mode == REPLICATION_APPEND;
}

static void check_order(struct check *check, struct finding *about, const struct subscription *s)
{
	check_ok(check, about, s->is_ordered ? "%s: ordering keys are kept in order"
	         : is_append(check->options) ? "%s: no message ordering; rows are added as they come"
	         : "%s: no message ordering; which change wins is decided by log positions, where messages have them", about->tried + GET_CHARS);
}

/* Append tables of BigQuery have no place of a row, by which it could be told. */
static bool may_be_twice(const struct job_options *options)
{
	return is_append(options) && options->warehouse == WAREHOUSE_BIGQUERY &&
	       (!options->use_storage_write_api || options->at_least_once);
}

static void check_once(struct check *check, struct finding *about, const struct subscription *s)
{
	if (!s->is_exactly_once && may_be_twice(check->options))
		check_ok(check, about, "%s: at-least-once delivery; what comes twice may be two rows, but with useStorageWriteApi and "
		         "storageWriteApiTriggeringFrequencySec", about->tried + GET_CHARS);
	else
		check_ok(check, about, s->is_exactly_once ? "%s: exactly-once delivery, each acknowledgement is confirmed by itself"
		         : "%s: at-least-once delivery; what comes twice is recognised and counted as repeated", about->tried + GET_CHARS);
}

static void check_filter(struct check *check, struct finding *about, const struct subscription *s)
{
	if (*s->filter)
		check_warning(check, about, "subscription_filters",
		              "%s: only messages that fit its filter come (%s); the others never reach the job", about->tried + GET_CHARS, s->filter);
	else
		check_ok(check, about, "%s: no filter, each message of the topic comes", about->tried + GET_CHARS);
	if (s->transforms)
		check_warning(check, about, "subscription_filters", "%s: %zu message transforms change what was published",
		              about->tried + GET_CHARS, s->transforms);
}

static void check_retention(struct check *check, struct finding *about, const struct subscription *s)
{
	char fix[CHECK_FIX_BYTES], kept[32];

	span_text(s->retention_ms, kept);
	if (s->retention_ms >= RETENTION_SHORT_MS) {
		check_ok(check, about, "%s keeps messages for %s%s", about->tried + GET_CHARS, kept,
		         s->keeps_acked ? ", acknowledged ones too" : "");
		return;
	}
	fix_update(s, "--message-retention-duration 7d", fix);
	about->fix = fix;
	check_warning(check, about, "subscription_retention_short", "%s keeps messages for %s: a longer stop loses some",
	              about->tried + GET_CHARS, kept);
}

static void check_expiration(struct check *check, struct finding *about, const struct subscription *s)
{
	char fix[CHECK_FIX_BYTES], left[32];

	span_text(s->expires_after_ms, left);
	if (s->never_expires || s->expires_after_ms > EXPIRES_SOON_MS) {
		check_ok(check, about, s->never_expires ? "%s never expires" : "%s expires after %s without a reader", about->tried + GET_CHARS,
		         left);
		return;
	}
	fix_update(s, "--expiration-period never", fix);
	about->fix = fix;
	check_warning(check, about, "subscription_expires", "%s is deleted after %s without a reader: a longer stop loses it",
	              about->tried + GET_CHARS, left);
}

static void check_again(struct check *check, struct finding *about, const struct subscription *s)
{
	if (s->has_retry_policy)
		check_ok(check, about, "%s: what is handed back comes again after %lld s, later ones after up to %lld s",
		         about->tried + GET_CHARS, (long long)(s->retry_least_ms / 1000), (long long)(s->retry_most_ms / 1000));
	else
		check_ok(check, about, "%s: what is handed back comes again at once", about->tried + GET_CHARS);
}

static void check_attempts(struct check *check, struct finding *about, const struct subscription *s)
{
	char fix[CHECK_FIX_BYTES], flags[PUBSUB_NAME_BYTES + 100];

	if (!*s->dead_letter_topic) {
		check_ok(check, about, "%s: no dead-letter policy; what is refused is a dead letter of the job", about->tried + GET_CHARS);
		return;
	}
	if (s->delivery_attempts_max >= ATTEMPTS_FEW) {
		check_ok(check, about, "%s: after %d deliveries a message goes to %s", about->tried + GET_CHARS, s->delivery_attempts_max,
		         s->dead_letter_topic);
	} else {
		snprintf(flags, sizeof(flags), "--dead-letter-topic %s --max-delivery-attempts 100", s->dead_letter_topic);
		fix_update(s, flags, fix);
		about->fix = fix;
		check_warning(check, about, "subscription_counts_attempts",
		              "%s: after %d deliveries a message goes to %s, good ones too: restarts count as deliveries", about->tried + GET_CHARS,
		              s->delivery_attempts_max, s->dead_letter_topic);
	}
	check_dead_letter_topic(check, s);
}

/* Fact by fact, in the order in which they are read. */
static void (*const facts[])(struct check *, struct finding *, const struct subscription *) = {
	check_kind, check_deadline, check_order, check_once, check_filter, check_retention, check_expiration, check_again,
	check_attempts,
};

void check_facts(struct check *check, const char *parameter, const struct subscription *s)
{
	char name[PUBSUB_NAME_BYTES + 40];

	snprintf(name, sizeof(name), GET "subscription %s", pubsub_shown_name(s->name, check->options->project));
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		struct finding about = { .parameter = parameter, .tried = name };

		facts[i](check, &about, s);
	}
}
