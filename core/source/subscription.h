/*
 * Subscriptions, topics and snapshots of Pub/Sub as administration sees them:
 * their names, what a subscription says of itself, and the calls that look at
 * them, make and remove them. Messages are the source's (pubsub.h).
 */
#ifndef WEIR_SOURCE_SUBSCRIPTION_H
#define WEIR_SOURCE_SUBSCRIPTION_H

#include "base/error.h"
#include "base/span.h"
#include "base/text.h"
#include "google/answer.h"
#include "options/options.h"

/*
 * Names. Full: "projects/P/subscriptions/S"; short: "S", in the job's project.
 */
#define PUBSUB_NAME_BYTES 400     /* of a full name, with its NUL */
#define PUBSUB_SHORT_MAX 255      /* characters of a short one */
#define PUBSUB_SHORT_LEAST 3
#define PUBSUB_SUBSCRIPTIONS_MAX 100 /* of one job: each is a stream and a lease book */

enum pubsub_kind { PUBSUB_SUBSCRIPTION, PUBSUB_TOPIC, PUBSUB_SNAPSHOT };

/* "subscription", "topic", "snapshot". */
const char *pubsub_kind_word(enum pubsub_kind kind);
/* Short or full into full. `project` may be NULL where the name is full. False: `bad_parameter`, of a name that Pub/Sub
 * would refuse; `project_missing`, of a short one without a project. */
bool pubsub_full_name(enum pubsub_kind kind, struct span given, const char *project, char out[PUBSUB_NAME_BYTES],
                      struct error *err);
/* The last part of a full name; a short one is itself. Points into `name`. */
const char *pubsub_short_name(const char *name);
/* "P" of "projects/P/...", empty if it is no full name. */
struct span pubsub_project(const char *full_name);
/* As people read it: the short name where the project is `project`, else the full one. Points into `name`. */
const char *pubsub_shown_name(const char *full_name, const char *project);

/* Names of a job's list, full, one by one. */
struct pubsub_names {
	char (*items)[PUBSUB_NAME_BYTES];
	size_t count;
};
/* A list with commas between ("a, projects/p/subscriptions/b"). A name twice, or more than PUBSUB_SUBSCRIPTIONS_MAX of them
 * are `bad_parameter`. NULL is no name. Free it. */
bool pubsub_names_read(enum pubsub_kind kind, const char *list, const char *project, struct pubsub_names *out,
                       struct error *err);
void pubsub_names_free(struct pubsub_names *names);
/* "subscription=projects/p/subscriptions/s" for x-goog-request-params; what may not stand there is percent-encoded. */
bool pubsub_params(struct text *out, const char *key, const char *full_name);

/*
 * What GetSubscription says. Times in milliseconds; -1: not said.
 */
enum delivery { DELIVERY_PULL, DELIVERY_PUSH, DELIVERY_BIGQUERY, DELIVERY_CLOUD_STORAGE, DELIVERY_BIGTABLE };
enum subscription_state { SUBSCRIPTION_STATE_UNKNOWN, SUBSCRIPTION_ACTIVE, SUBSCRIPTION_RESOURCE_ERROR };
#define DELETED_TOPIC "_deleted-topic_"
#define SUBSCRIPTION_FILTER_BYTES 1024

#define SUBSCRIPTION_LABEL_BYTES 64

struct subscription {
	char store[SUBSCRIPTION_LABEL_BYTES]; /* label "weir-store": for whose store weir made it; "" none */
	char name[PUBSUB_NAME_BYTES];
	char topic[PUBSUB_NAME_BYTES];     /* DELETED_TOPIC: it is gone */
	enum delivery delivery;            /* anything but pull cannot be pulled */
	char endpoint[512];                /* of push: where to; of the others the table or bucket */
	int64_t ack_deadline_ms;           /* 10 s where it says 0 */
	bool keeps_acked;
	int64_t retention_ms;              /* 7 days where it says nothing */
	int64_t topic_retention_ms;        /* -1: the topic keeps nothing */
	bool is_ordered, is_exactly_once, is_detached;
	enum subscription_state state;
	bool never_expires;
	int64_t expires_after_ms;          /* of doing nothing; 31 days where it says nothing */
	char filter[SUBSCRIPTION_FILTER_BYTES]; /* "" none */
	char dead_letter_topic[PUBSUB_NAME_BYTES]; /* "" no policy */
	int32_t delivery_attempts_max;     /* of the policy: 5 where it says 0 */
	bool has_retry_policy;
	int64_t retry_least_ms, retry_most_ms;
	size_t transforms;                 /* message transforms: what comes is not what was published */
};

/* Of a serialised Subscription. False: broken (*out is not to be used). */
bool subscription_read(struct span message, struct subscription *out);
/* False: nothing of it can ever be pulled, `subscription_detached` or `subscription_not_pull`. One whose topic is gone can
 * be: what it holds is still there. */
bool subscription_can_pull(const struct subscription *subscription, struct error *err);

/*
 * Calls of administration. Each waits at most `wait_ms`, its tries together: what passes is tried again as Google's own
 * clients do it. NULL of `out_code`: nobody asks.
 */
struct google;
#define ADMIN_WAIT_MS 20000

bool subscription_get(struct google *google, const char *name, int64_t wait_ms, struct subscription *out,
                      enum grpc_code *out_code, struct error *err);

struct subscription_wish {
	const char *name, *topic;      /* full */
	int64_t ack_deadline_s, retention_s;
	bool is_ordered, keeps_acked;  /* ordered: for good, it cannot be changed later */
	const char *label;             /* the job's name: label "weir-job"; NULL none */
	const char *store;             /* the job's store, lower case: label "weir-store"; NULL none */
};
/* One that never expires. Is it there already, that is said by *out_was_there, and it stays as it is. */
bool subscription_make(struct google *google, const struct subscription_wish *wish, int64_t wait_ms, bool *out_was_there,
                       struct error *err);
/* One that is not there is fine. */
bool subscription_remove(struct google *google, const char *name, int64_t wait_ms, struct error *err);

/* Takes about a minute to reach everything that is under way. */
bool subscription_seek_time(struct google *google, const char *name, int64_t utc_us, int64_t wait_ms, struct error *err);
bool subscription_seek_snapshot(struct google *google, const char *name, const char *snapshot, int64_t wait_ms,
                                struct error *err);

struct snapshot {
	char name[PUBSUB_NAME_BYTES], topic[PUBSUB_NAME_BYTES];
	int64_t expires_us; /* 0: not said */
};
bool snapshot_make(struct google *google, const char *name, const char *subscription, int64_t wait_ms,
                   struct snapshot *out, struct error *err);
bool snapshot_get(struct google *google, const char *name, int64_t wait_ms, struct snapshot *out, struct error *err);
bool snapshot_remove(struct google *google, const char *name, int64_t wait_ms, struct error *err);

struct topic_facts {
	char name[PUBSUB_NAME_BYTES];
	int64_t retention_ms; /* -1: it keeps nothing */
};
bool topic_get(struct google *google, const char *name, int64_t wait_ms, struct topic_facts *out, enum grpc_code *out_code,
               struct error *err);

/* What of the account's permissions holds on a resource: out_may[i] of permissions[i]. */
#define PERMISSIONS_MAX 16
bool pubsub_may(struct google *google, const char *resource, const char *const *permissions, size_t count,
                int64_t wait_ms, bool out_may[], struct error *err);
/* Is there a binding of this role to a member that ends so, on the resource itself? What the project grants is not seen. */
bool pubsub_has_binding(struct google *google, const char *resource, const char *role, const char *member_end,
                        int64_t wait_ms, bool *out_has, struct error *err);

/*
 * The subscriptions of a job: those it names, and those that are made for it where it names topics.
 */
/* weir-JOB-TOPIC in `project`. */
bool subscription_own_name(const char *job, const char *topic, const char *project, char out[PUBSUB_NAME_BYTES],
                           struct error *err);
/* All of them by their full names; free with pubsub_names_free. */
bool subscription_names_of(const struct job_options *options, struct google *google, struct pubsub_names *out,
                           struct error *err);
/* For each topic its subscription, if it is not there: 60 s deadline, 7 days, ordered, never expiring, acknowledged messages
 * kept. Nothing to do for a job that names subscriptions. */
bool subscriptions_make_own(const struct job_options *options, struct google *google, const char *store,
                            void (*on_shared)(void *context, const char *name), void *context, struct error *err);
/* Removes them; `on_left` is told of each that could not be: then false, `subscription_left`. */
bool subscriptions_remove_own(const struct job_options *options, struct google *google,
                              void (*on_left)(void *context, const char *name, const struct error *why), void *context,
                              struct error *err);

#endif
