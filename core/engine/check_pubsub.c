/* Checks of Pub/Sub: where it is, subscriptions, topics, rights one by one, what waits. */
#include "base/clock.h"
#include "engine/check_subscription_private.h"
#include "source/backlog.h"

#include <stdio.h>

#define AGENT_END "@gcp-sa-pubsub.iam.gserviceaccount.com"

static const struct needed of_subscriptions[] = {
	{ "pubsub.subscriptions.consume", "roles/pubsub.subscriber", "pull and acknowledge", false },
	{ "pubsub.subscriptions.get", "roles/pubsub.viewer", "look at the subscription", true },
	{ "pubsub.subscriptions.update", "roles/pubsub.editor", "change deadline or retention from here", true },
};
static const struct needed of_topics[] = {
	{ "pubsub.topics.attachSubscription", "roles/pubsub.editor", "make the job's own subscription", false },
	{ "pubsub.topics.get", "roles/pubsub.viewer", "look at the topic", true },
};
static const struct needed of_letter_topics[] = {
	{ "pubsub.topics.publish", "roles/pubsub.publisher", "publish dead letters", false },
	{ "pubsub.topics.get", "roles/pubsub.viewer", "look at the topic", true },
};

bool check_has_subscriptions(const struct job_options *options)
{
	return job_options_subscriptions(options) != NULL;
}

bool check_has_topics(const struct job_options *options)
{
	return options->input_topics != NULL;
}

bool check_has_letter_topic(const struct job_options *options)
{
	return job_options_letter_topic(options) != NULL;
}

bool check_reads_pubsub(const struct job_options *options)
{
	return check_has_subscriptions(options) || check_has_topics(options) || check_has_letter_topic(options);
}

void check_pubsub_place(struct check *check)
{
	const struct finding about = { .tried = "the endpoint of Pub/Sub" };

	check->has_pubsub = check_endpoint(check, SERVICE_PUBSUB, &about, "Pub/Sub");
}

/*
 * Rights
 */

static void fix_grant(struct check *check, enum pubsub_kind kind, const char *resource, const char *role,
                      char fix[CHECK_FIX_BYTES])
{
	char member[320];

	check_member(check, member);
	snprintf(fix, CHECK_FIX_BYTES, "gcloud pubsub %ss add-iam-policy-binding %s --project %.*s --member %s --role %s",
	         pubsub_kind_word(kind), pubsub_short_name(resource), SPAN_ARG(pubsub_project(resource)), member, role);
}

static void say_right(struct check *check, struct finding *about, const struct needed *needed, const char *resource,
                      bool may)
{
	struct error why = { 0 };

	if (may) {
		about->fix = NULL;
		check_ok(check, about, "%s on %s", needed->permission, resource);
		return;
	}
	fail(&why, ERROR_ACCESS, "google_denied", "%s on %s is missing, to %s", needed->permission, resource, needed->why);
	if (needed->is_wanted_only)
		check_unknown(check, about, &why);
	else
		check_fails(check, about, &why);
}

void check_rights(struct check *check, const char *parameter, enum pubsub_kind kind, const char *resource,
                  const struct needed *needed, size_t count)
{
	const char *permissions[PERMISSIONS_MAX];
	const char *shown = pubsub_shown_name(resource, check->options->project);
	bool may[PERMISSIONS_MAX];
	struct error why = { 0 };
	char tried[PUBSUB_NAME_BYTES + 40];

	snprintf(tried, sizeof(tried), "testIamPermissions %s", shown);
	for (size_t i = 0; i < count; i++)
		permissions[i] = needed[i].permission;
	if (!pubsub_may(check->google, resource, permissions, count, check_wait_ms(check), may, &why)) {
		struct finding about = { .parameter = parameter, .tried = tried };

		check_unknown(check, &about, &why);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		char fix[CHECK_FIX_BYTES];
		struct finding about = { .parameter = parameter, .tried = tried, .fix = fix };

		fix_grant(check, kind, resource, needed[i].role, fix);
		say_right(check, &about, &needed[i], shown, may[i]);
	}
}

/*
 * Subscriptions
 */

/* What cannot be looked at: not there, or not to be seen. */
static void say_hidden(struct check *check, struct finding *about, const char *name, enum grpc_code code,
                       const struct error *why)
{
	char fix[CHECK_FIX_BYTES] = "";

	if (code == GRPC_NOT_FOUND)
		snprintf(fix, sizeof(fix), "gcloud pubsub subscriptions create %s --project %.*s --topic TOPIC --ack-deadline 60 "
		         "--message-retention-duration 7d --expiration-period never --enable-message-ordering",
		         pubsub_short_name(name), SPAN_ARG(pubsub_project(name)));
	about->fix = fix;
	/* Without the right to look the job may still read: the rights say. */
	if (code == GRPC_PERMISSION_DENIED)
		check_unknown(check, about, why);
	else
		check_fails(check, about, why);
}

static void check_one_subscription(struct check *check, const char *parameter, const char *name)
{
	char tried[PUBSUB_NAME_BYTES + 20];
	struct finding about = { .parameter = parameter, .tried = tried };
	struct subscription subscription;
	enum grpc_code code;
	struct error why = { 0 };

	snprintf(tried, sizeof(tried), "GetSubscription %s", name);
	if (subscription_get(check->google, name, check_wait_ms(check), &subscription, &code, &why))
		check_facts(check, parameter, &subscription);
	else
		say_hidden(check, &about, name, code, &why);
	if (code == GRPC_OK || code == GRPC_PERMISSION_DENIED)
		check_rights(check, parameter, PUBSUB_SUBSCRIPTION, name, of_subscriptions,
		             sizeof(of_subscriptions) / sizeof(*of_subscriptions));
}

static void each_name(struct check *check, enum pubsub_kind kind, const char *list, const char *parameter,
                      void (*ask)(struct check *check, const char *parameter, const char *name))
{
	struct pubsub_names names;
	struct finding about = { .parameter = parameter };
	struct error why = { 0 };

	if (!check->google || !check->has_pubsub)
		return;
	if (!pubsub_names_read(kind, list, google_project(check->google), &names, &why)) {
		check_fails(check, &about, &why);
		return;
	}
	for (size_t i = 0; i < names.count && check_wait_ms(check) > 0; i++)
		ask(check, parameter, names.items[i]);
	pubsub_names_free(&names);
}

/* The parameter's own name, as the template has it. */
static const char *given_as(const struct check *check, const char *plural, const char *singular)
{
	return json_object_get(check->options->parameters, plural) ? plural : singular;
}

void check_subscriptions(struct check *check)
{
	each_name(check, PUBSUB_SUBSCRIPTION, job_options_subscriptions(check->options),
	          given_as(check, "inputSubscriptions", "inputSubscription"), check_one_subscription);
}

/*
 * Topics
 */

static bool check_topic(struct check *check, const char *parameter, const char *name)
{
	char tried[PUBSUB_NAME_BYTES + 20], fix[CHECK_FIX_BYTES] = "";
	struct finding about = { .parameter = parameter, .tried = tried, .fix = fix };
	struct topic_facts topic;
	enum grpc_code code;
	struct error why = { 0 };

	snprintf(tried, sizeof(tried), "GetTopic %s", name);
	if (topic_get(check->google, name, check_wait_ms(check), &topic, &code, &why)) {
		check_ok(check, &about, "topic %s is there", pubsub_shown_name(name, check->options->project));
		return true;
	}
	if (code == GRPC_NOT_FOUND)
		snprintf(fix, sizeof(fix), "gcloud pubsub topics create %s --project %.*s", pubsub_short_name(name),
		         SPAN_ARG(pubsub_project(name)));
	if (code == GRPC_PERMISSION_DENIED)
		check_unknown(check, &about, &why);
	else
		check_fails(check, &about, &why);
	return code == GRPC_PERMISSION_DENIED;
}

static void check_one_topic(struct check *check, const char *parameter, const char *name)
{
	if (check_topic(check, parameter, name))
		check_rights(check, parameter, PUBSUB_TOPIC, name, of_topics, sizeof(of_topics) / sizeof(*of_topics));
}

void check_topics(struct check *check)
{
	each_name(check, PUBSUB_TOPIC, check->options->input_topics, given_as(check, "inputTopics", "inputTopic"),
	          check_one_topic);
}

static void check_one_letter_topic(struct check *check, const char *parameter, const char *name)
{
	if (check_topic(check, parameter, name))
		check_rights(check, parameter, PUBSUB_TOPIC, name, of_letter_topics,
		             sizeof(of_letter_topics) / sizeof(*of_letter_topics));
}

void check_letter_topic(struct check *check)
{
	each_name(check, PUBSUB_TOPIC, job_options_letter_topic(check->options), "deadLetters", check_one_letter_topic);
}

/*
 * Where a subscription's own policy sends messages
 */

static void check_agent(struct check *check, const char *resource, enum pubsub_kind kind, const char *role,
                        const char *why_needed)
{
	char fix[CHECK_FIX_BYTES], tried[PUBSUB_NAME_BYTES + 20];
	struct finding about = { .parameter = "inputSubscriptions", .tried = tried, .fix = fix };
	struct span project = pubsub_project(resource);
	struct error why = { 0 };
	bool has = false;

	snprintf(tried, sizeof(tried), "getIamPolicy %s", resource);
	snprintf(fix, sizeof(fix), "gcloud pubsub %ss add-iam-policy-binding %s --project %.*s --role %s --member "
	         "\"serviceAccount:service-$(gcloud projects describe %.*s --format='value(projectNumber)')" AGENT_END "\"",
	         pubsub_kind_word(kind), pubsub_short_name(resource), SPAN_ARG(project), role, SPAN_ARG(project));
	if (!pubsub_has_binding(check->google, resource, role, AGENT_END, check_wait_ms(check), &has, &why))
		check_unknown(check, &about, &why);
	else if (has)
		about.fix = NULL, check_ok(check, &about, "Pub/Sub's own account has %s on %s", role, resource);
	else
		check_warning(check, &about, "google_denied", "Pub/Sub's own account has no %s on %s, to %s; the project may grant it",
		              role, resource, why_needed);
}

void check_dead_letter_topic(struct check *check, const struct subscription *s)
{
	if (!check_topic(check, "inputSubscriptions", s->dead_letter_topic))
		return;
	check_agent(check, s->dead_letter_topic, PUBSUB_TOPIC, "roles/pubsub.publisher", "forward messages there");
	check_agent(check, s->name, PUBSUB_SUBSCRIPTION, "roles/pubsub.subscriber", "take forwarded messages out of it");
}

/*
 * What waits
 */

static void say_backlog(struct check *check, struct finding *about, const char *name, const struct backlog *backlog)
{
	const char *shown = pubsub_shown_name(name, check->options->project);

	if (backlog->messages < 0)
		check_ok(check, about, "subscription %s: Monitoring has no figure yet", shown);
	else if (backlog->oldest_s < 0)
		check_ok(check, about, "subscription %s: %lld messages wait", shown, (long long)backlog->messages);
	else
		check_ok(check, about, "subscription %s: %lld messages wait, the oldest for %lld s", shown,
		         (long long)backlog->messages, (long long)backlog->oldest_s);
}

static void take_date(struct check *check, const struct backlog *backlog)
{
	if (!backlog->server_utc_s)
		return;
	check->has_date = true;
	check->behind_s = backlog->server_utc_s - clock_utc_us() / 1000000;
}

static void check_one_backlog(struct check *check, const char *parameter, const char *name)
{
	char fix[CHECK_FIX_BYTES], member[320];
	struct finding about = { .parameter = parameter, .tried = "Monitoring timeSeries.list" };
	struct error why = { 0 };
	struct rest_setup setup = { .ca_file = check->call->engine->settings.ca_file };
	struct rest_client *rest = rest_open(&setup, &why);
	struct backlog backlog = { 0 };
	bool is_told = rest && backlog_ask(check->google, rest, name, check_wait_ms(check), &backlog, &why);

	take_date(check, &backlog);
	if (is_told) {
		say_backlog(check, &about, name, &backlog);
	} else {
		check_member(check, member);
		snprintf(fix, sizeof(fix), "gcloud projects add-iam-policy-binding %.*s --member %s --role roles/monitoring.viewer",
		         SPAN_ARG(pubsub_project(name)), member);
		about.fix = why.kind == ERROR_ACCESS ? fix : NULL;
		check_unknown(check, &about, &why);
	}
	rest_close(rest);
}

/* An emulator's subscriptions are none of Google's Monitoring. */
void check_backlog(struct check *check)
{
	if (!check->google || !check->has_pubsub)
		return;
	if (google_is_emulated(check->google, SERVICE_PUBSUB) && !google_is_emulated(check->google, SERVICE_MONITORING))
		return;
	each_name(check, PUBSUB_SUBSCRIPTION, job_options_subscriptions(check->options),
	          given_as(check, "inputSubscriptions", "inputSubscription"), check_one_backlog);
}
