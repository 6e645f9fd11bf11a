/*
 * `weir check`, the part that asks: rows of checks.def, a function each. A check says
 * what it tried and what it found, one line a finding, with the command that helps;
 * it never waits longer than it has time, and never fails: what cannot be asked
 * is a finding too.
 */
#ifndef WEIR_ENGINE_CHECK_PRIVATE_H
#define WEIR_ENGINE_CHECK_PRIVATE_H

#include "engine/commands_private.h"
#include "google/google.h"

#define CHECK_CALL_MS 10000   /* one question, its tries together */
#define CHECK_ALL_MS 120000   /* all of them */
#define CHECK_FIX_BYTES 2048

struct check {
	struct call *call;
	const struct job_options *options;
	struct google *google;        /* NULL: the credentials that the job names do not do */
	int64_t until_ms;             /* of all checks, monotonic */
	bool has_failed;
	bool only_access, only_unreachable; /* of what failed: then the exit status says so */
	/* What later rows need of earlier ones. */
	bool has_credentials, has_pubsub, has_bigquery, has_dataset, has_storage;
	bool has_date;                /* a service has told its time: */
	int64_t behind_s;             /* this clock is so far behind it; negative: ahead */
};

/* How long the next question may wait; 0: there is no time left, say so (check_out_of_time). */
int64_t check_wait_ms(const struct check *check);

/* What a finding is about, and what helps. All may be NULL. */
struct finding {
	const char *parameter; /* of the job file */
	const char *tried;     /* what was asked: "GetSubscription projects/p/subscriptions/s" */
	const char *fix;       /* a command to be pasted, or a sentence */
};
void check_ok(struct check *check, const struct finding *about, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* `code` is a row of reasons.def. */
void check_warning(struct check *check, const struct finding *about, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void check_fails(struct check *check, const struct finding *about, const struct error *why);
/* Where a service is, as a finding; `name` of it in words. False: nowhere, or there are no credentials, which has been said. */
bool check_endpoint(struct check *check, enum google_service service, const struct finding *about, const char *name);
/* A warning where the question itself could not be asked: what is not known is no failure. */
void check_unknown(struct check *check, const struct finding *about, const struct error *why);

/* "serviceAccount:weir@acme.iam.gserviceaccount.com" for commands to be pasted; "serviceAccount:ACCOUNT" while it is not known. */
void check_member(struct check *check, char out[320]);

/* When rows apply. */
bool check_always(const struct job_options *options);
bool check_used_account(const struct job_options *options);
bool check_reads_pubsub(const struct job_options *options);
bool check_has_subscriptions(const struct job_options *options);
bool check_has_topics(const struct job_options *options);
bool check_has_letter_topic(const struct job_options *options);
bool check_writes_bigquery(const struct job_options *options);
bool check_has_folder(const struct job_options *options);
bool check_has_schema_in_storage(const struct job_options *options);
bool check_has_letter_table(const struct job_options *options);

#define CHECK(id, applies, help) void check_##id(struct check *check);
#include "engine/checks.def"
#undef CHECK

#endif
