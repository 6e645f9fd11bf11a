/*
 * The subscriptions of a job: those it names, or, where it names topics, those that are made for it, one a topic:
 * weir-JOB-TOPIC, so that they are found again, by people too.
 */
#include "source/subscription_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#define OWN_DEADLINE_S 60
#define OWN_RETENTION_S (7 * 86400)

/* A name that would be too long ends in a hash of all of it (FNV-1a). */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

bool subscription_own_name(const char *job, const char *topic, const char *project, char out[PUBSUB_NAME_BYTES],
                           struct error *err)
{
	char name[700];
	size_t len;

	snprintf(name, sizeof(name), "weir-%s-%s", job, pubsub_short_name(topic));
	len = strlen(name);
	if (len > PUBSUB_SHORT_MAX) {
		uint64_t hash = hash_of(name);

		snprintf(name + PUBSUB_SHORT_MAX - 17, 18, "-%016" PRIx64, hash);
		len = PUBSUB_SHORT_MAX;
	}
	return pubsub_full_name(PUBSUB_SUBSCRIPTION, span_make(name, len), project, out, err);
}

static struct subscription_wish own_wish(const struct job_options *options, const char *name, const char *topic)
{
	return (struct subscription_wish){
		.name = name,
		.topic = topic,
		.ack_deadline_s = OWN_DEADLINE_S,
		.retention_s = OWN_RETENTION_S,
		.is_ordered = true,  /* costs nothing where there are no keys, and cannot be added later */
		.keeps_acked = true, /* so that a seek to the past brings something back */
		.label = options->name,
	};
}

static bool own_names(const struct job_options *options, const struct pubsub_names *topics, const char *project,
                      struct pubsub_names *out, struct error *err)
{
	OWNED(text) list = text_new(PUBSUB_SUBSCRIPTIONS_MAX * PUBSUB_NAME_BYTES);
	char name[PUBSUB_NAME_BYTES];

	for (size_t i = 0; i < topics->count; i++) {
		if (!subscription_own_name(options->name, topics->items[i], project, name, err))
			return false;
		text_add_format(list, "%s%s", i ? "," : "", name);
	}
	return pubsub_names_read(PUBSUB_SUBSCRIPTION, list->at, project, out, err);
}

bool subscription_names_of(const struct job_options *options, struct google *google, struct pubsub_names *out,
                           struct error *err)
{
	const char *project = google_project(google);
	struct pubsub_names topics;
	bool is_fine;

	if (!options->input_topics)
		return pubsub_names_read(PUBSUB_SUBSCRIPTION, job_options_subscriptions(options), project, out, err);
	if (!pubsub_names_read(PUBSUB_TOPIC, options->input_topics, project, &topics, err))
		return false;
	is_fine = own_names(options, &topics, project, out, err);
	pubsub_names_free(&topics);
	return is_fine;
}

/*
 * Made at the job's start, and removed with it
 */

struct own_call {
	const char *store;
	void (*on_shared)(void *context, const char *name);
	void *context;
};

/* A job of the same name in another home has the same name for it, and each would get a part of the messages. */
static void look_whose(const struct subscription *there, const struct own_call *own, const char *name)
{
	if (own->store && there->store[0] && strcasecmp(there->store, own->store) != 0)
		own->on_shared(own->context, name);
}

static bool make_one(const struct job_options *options, struct google *google, const char *topic, const struct own_call *own,
                     struct error *err)
{
	char name[PUBSUB_NAME_BYTES];
	struct subscription_wish wish = own_wish(options, name, topic);
	struct subscription there;
	enum grpc_code code;
	struct error failure = { 0 };
	bool was_there;

	wish.store = own->store;
	if (!subscription_own_name(options->name, topic, google_project(google), name, err))
		return false;
	/* It is there at every start but the first, and looking needs less of a right than making. */
	if (subscription_get(google, name, ADMIN_WAIT_MS, &there, &code, &failure)) {
		look_whose(&there, own, name);
		return true;
	}
	if (code == GRPC_NOT_FOUND || code == GRPC_PERMISSION_DENIED)
		return subscription_make(google, &wish, ADMIN_WAIT_MS, &was_there, err);
	if (err)
		*err = failure;
	return false;
}

bool subscriptions_make_own(const struct job_options *options, struct google *google, const char *store,
                            void (*on_shared)(void *context, const char *name), void *context, struct error *err)
{
	struct own_call own = { store, on_shared, context };
	struct pubsub_names topics;
	bool is_fine = true;

	if (!options->input_topics)
		return true;
	if (!pubsub_names_read(PUBSUB_TOPIC, options->input_topics, google_project(google), &topics, err))
		return false;
	for (size_t i = 0; is_fine && i < topics.count; i++)
		is_fine = make_one(options, google, topics.items[i], &own, err);
	pubsub_names_free(&topics);
	return is_fine;
}

bool subscriptions_remove_own(const struct job_options *options, struct google *google,
                              void (*on_left)(void *context, const char *name, const struct error *why), void *context,
                              struct error *err)
{
	struct pubsub_names names;
	bool is_fine = true;

	if (!options->input_topics)
		return true;
	if (!subscription_names_of(options, google, &names, err))
		return false;
	for (size_t i = 0; i < names.count; i++) {
		struct error why = { 0 };

		if (subscription_remove(google, names.items[i], ADMIN_WAIT_MS, &why))
			continue;
		on_left(context, names.items[i], &why);
		is_fine = false;
	}
	pubsub_names_free(&names);
	return is_fine || fail(err, ERROR_TRANSIENT, "subscription_left", "not all subscriptions of the job could be removed");
}
