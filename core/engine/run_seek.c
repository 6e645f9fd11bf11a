/*
 * `weir seek`: the subscriptions of a job that does not run are put to another moment or snapshot. First it says what
 * would come again and what would be passed over; it is done only when the job's name is typed, and
 * not before a snapshot holds what was, so that it can be undone.
 */
#include "base/clock.h"
#include "engine/commands_private.h"
#include "engine/job_private.h"
#include "engine/journal.h"
#include "google/google.h"
#include "sink/sink.h"
#include "source/backlog.h"
#include "source/subscription.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MONITORING_WAIT_MS 5000

struct seek {
	struct call *call;
	const struct job_options *options;
	struct google *google;
	struct pubsub_names names;
	const char *snapshot;               /* NULL: to a time */
	char full_snapshot[PUBSUB_NAME_BYTES];
	int64_t to_us;
	bool is_dry, wants_snapshot;
};

/*
 * What is wished
 */

/* "JOB [--to TIME|--snapshot NAME]": one of the two. */
static bool read_aim(struct seek *seek, struct error *err)
{
	const char *to = call_text_or(seek->call, "to", NULL);

	if (!to == !seek->snapshot)
		return fail(err, ERROR_USAGE, "bad_argument", "'seek' needs --to TIME or --snapshot NAME, one of the two");
	if (seek->snapshot)
		return pubsub_full_name(PUBSUB_SNAPSHOT, span_of(seek->snapshot), google_project(seek->google), seek->full_snapshot,
		                        err);
	return journal_time(to, clock_utc_us(), &seek->to_us, err);
}

/* One of the job's subscriptions alone. */
static bool choose(struct seek *seek, const char *only, struct error *err)
{
	char full[PUBSUB_NAME_BYTES];

	if (!pubsub_full_name(PUBSUB_SUBSCRIPTION, span_of(only), google_project(seek->google), full, err))
		return false;
	for (size_t i = 0; i < seek->names.count; i++) {
		if (strcmp(seek->names.items[i], full) != 0)
			continue;
		memcpy(seek->names.items[0], full, sizeof(full));
		seek->names.count = 1;
		return true;
	}
	return fail(err, ERROR_CONFIG, "bad_argument", "%s is no subscription of job '%s'", full, seek->options->name);
}

static bool read_names(struct seek *seek, struct error *err)
{
	const char *only = call_text_or(seek->call, "subscription", NULL);

	if (!job_options_subscriptions(seek->options) && !seek->options->input_topics)
		return fail(err, ERROR_CONFIG, "wrong_state", "job '%s' reads no subscription; a feed is read again with --from-start",
		            seek->options->name);
	if (!subscription_names_of(seek->options, seek->google, &seek->names, err) || (only && !choose(seek, only, err)))
		return false;
	/* A snapshot is one subscription's. */
	return !seek->snapshot || seek->names.count == 1 ||
	       fail(err, ERROR_USAGE, "bad_argument", "job '%s' has %zu subscriptions: say with --subscription which of them goes to "
	            "the snapshot", seek->options->name, seek->names.count);
}

/*
 * The preview
 */

static void say_backlog(struct seek *seek, const char *name, json_t *line)
{
	struct rest_setup setup = { .ca_file = seek->call->engine->settings.ca_file };
	struct error ignored = { 0 };
	struct rest_client *rest;
	struct backlog backlog;

	if (google_is_emulated(seek->google, SERVICE_PUBSUB) && !google_is_emulated(seek->google, SERVICE_MONITORING))
		return;
	rest = rest_open(&setup, &ignored);
	if (rest && backlog_ask(seek->google, rest, name, MONITORING_WAIT_MS, &backlog, &ignored) && backlog.messages >= 0) {
		json_object_set_new(line, "waiting", json_integer(backlog.messages));
		if (backlog.oldest_s >= 0)
			json_object_set_new(line, "oldest_s", json_integer(backlog.oldest_s));
	}
	rest_close(rest);
}

/* A snapshot that weir made carries its moment in its name. */
static int64_t moment_of(const char *snapshot)
{
	size_t len = strlen(snapshot);
	struct tm tm = { 0 };
	const char *end = len > 16 ? strptime(snapshot + len - 16, "%Y%m%dt%H%M%Sz", &tm) : NULL;

	return end && !*end ? (int64_t)timegm(&tm) * 1000000 : 0;
}

/* What BigQuery makes of messages that come again: it is no upsert's replica, and tells no rows apart. */
static const char *repeats_words(const struct job_options *options)
{
	bool is_once = options->use_storage_write_api && !options->at_least_once;

	if (options->warehouse != WAREHOUSE_BIGQUERY)
		return "what has come since would come again, where the destination knows it as repeated";
	if (options->replication_mode == REPLICATION_APPEND && is_once)
		return "what has come since would come again: the newest messages, 131072 at least, are known and stay one row, those "
		       "before them would be rows a second time";
	return "what has come since would come again, and each message of it would be a row a second time";
}

static const char *say_repeats(struct seek *seek, int64_t since_us, json_t *line, struct error *err)
{
	struct sink_setup setup = { .options = seek->options, .warehouse = seek->call->engine->home->warehouse, .incarnation = "" };
	uint64_t changes = 0;
	bool is_known = false;

	if (!warehouse_since(&setup, since_us, &changes, &is_known, err))
		return NULL;
	if (is_known)
		json_object_set_new(line, "repeats", json_integer((json_int_t)changes));
	return is_known ? "changes that the job has written since would come again; they count as repeated and change nothing"
	                : repeats_words(seek->options);
}

/* Back in time brings back only what is kept. */
static const char *keeps_words(const struct subscription *s, int64_t since_us)
{
	int64_t age_ms = (clock_utc_us() - since_us) / 1000;
	int64_t kept_ms = s->keeps_acked ? s->retention_ms : -1;

	if (s->topic_retention_ms > kept_ms)
		kept_ms = s->topic_retention_ms;
	if (kept_ms < 0)
		return "acknowledged messages are not kept, so none of them comes again (gcloud pubsub subscriptions update "
		       "--retain-acked-messages keeps those from now on)";
	return age_ms > kept_ms ? "messages are not kept that long: only what is still kept comes again" : "";
}

/* Where the subscription goes, what comes again, what is passed over. */
static json_t *preview(struct seek *seek, const char *name, struct error *err)
{
	int64_t since_us = seek->snapshot ? moment_of(seek->full_snapshot) : seek->to_us;
	json_t *line = json_pack("{s:s, s:s, s:b}", "job", seek->options->name, "subscription", name, "dry_run", seek->is_dry);
	char at[CLOCK_TEXT_BYTES];
	struct subscription facts;
	const char *words = "it is not known what the snapshot holds: it was not made by weir", *kept = "";

	clock_text(since_us, at);
	json_object_set_new(line, seek->snapshot ? "snapshot" : "to", json_string(seek->snapshot ? seek->full_snapshot : at));
	if (!subscription_get(seek->google, name, ADMIN_WAIT_MS, &facts, NULL, err) ||
	    (since_us && !(words = say_repeats(seek, since_us, line, err)))) {
		json_decref(line);
		return NULL;
	}
	if (since_us && !seek->snapshot)
		kept = keeps_words(&facts, since_us);
	say_backlog(seek, name, line);
	json_object_set_new(line, "sentence", json_string(words));
	if (*kept)
		json_object_set_new(line, "kept", json_string(kept));
	if (!seek->snapshot)
		json_object_set_new(line, "passed_over", json_string("messages published before that moment are acknowledged, also those "
		                                                      "that were never read"));
	return line;
}

/*
 * Doing it
 */

/* "weir-JOB-20261130t172200z": its moment is read again by moment_of. */
static bool make_undo(struct seek *seek, const char *name, size_t i, struct snapshot *out, struct error *err)
{
	char shorter[PUBSUB_NAME_BYTES], full[PUBSUB_NAME_BYTES], number[24] = "", stamp[32];
	struct span project = pubsub_project(name);
	time_t now = (time_t)(clock_utc_us() / 1000000);
	struct tm tm;
	char of[128];

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dt%H%M%Sz", &tm);
	if (i)
		snprintf(number, sizeof(number), "-%zu", i + 1);
	snprintf(shorter, sizeof(shorter), "weir-%s%s-%s", seek->options->name, number, stamp);
	snprintf(of, sizeof(of), "%.*s", SPAN_ARG(project));
	if (!pubsub_full_name(PUBSUB_SNAPSHOT, span_of(shorter), of, full, err) ||
	    !snapshot_make(seek->google, full, name, ADMIN_WAIT_MS, out, err))
		return because(err, "the snapshot by which the seek could be undone (--no-snapshot does without)");
	snprintf(out->name, sizeof(out->name), "%s", full);
	return true;
}

static bool seek_one(struct seek *seek, size_t i, json_t *line, struct error *err)
{
	const char *name = seek->names.items[i];
	struct snapshot before = { 0 };
	char undo[3 * PUBSUB_NAME_BYTES];

	if (seek->wants_snapshot) {
		if (!make_undo(seek, name, i, &before, err))
			return false;
		snprintf(undo, sizeof(undo), "weir seek %s --snapshot %s --subscription %s --confirm %s", seek->options->name,
		         pubsub_short_name(before.name), pubsub_short_name(name), seek->options->name);
		json_object_set_new(line, "undo", json_string(undo));
	}
	return seek->snapshot ? subscription_seek_snapshot(seek->google, name, seek->full_snapshot, ADMIN_WAIT_MS, err)
	                      : subscription_seek_time(seek->google, name, seek->to_us, ADMIN_WAIT_MS, err);
}

/* Whoever has not seen what would happen is told, and nothing is done. */
static bool is_confirmed(struct seek *seek, struct error *err)
{
	const char *confirm = call_text_or(seek->call, "confirm", NULL);

	if (confirm && strcmp(confirm, seek->options->name) == 0)
		return true;
	return fail(err, ERROR_USAGE, "not_confirmed", "nothing was done: to seek, type the job's name behind --confirm (--confirm %s)",
	            seek->options->name);
}

static bool run_each(struct seek *seek, struct error *err)
{
	bool is_fine = true;

	for (size_t i = 0; is_fine && i < seek->names.count; i++) {
		json_t *line = preview(seek, seek->names.items[i], err);

		is_fine = line && (seek->is_dry || seek_one(seek, i, line, err));
		if (is_fine && !seek->is_dry)
			json_object_set_new(line, "sought", json_true());
		if (is_fine)
			call_line(seek->call, line);
		else
			json_decref(line);
	}
	if (is_fine && !seek->is_dry) {
		call_note(seek->call, "Pub/Sub needs about a minute until all of it is so: wait that long before you start the job");
		journal_act_changed(seek->call, "where it had read to", seek->snapshot ? seek->full_snapshot
		                                                                     : call_text_or(seek->call, "to", ""));
	}
	return is_fine;
}

/* Nobody begins or deletes the job meanwhile: they wait. */
static bool run_held(struct seek *seek, struct error *err)
{
	const char *name = seek->options->name;
	struct job_standing standing;
	bool is_fine;

	job_standing(seek->call->engine, name, &standing);
	if (standing.is_running)
		return fail(err, ERROR_CONFIG, "wrong_state", "job '%s' runs: pause or stop it first, a seek takes away what it holds", name);
	if (!is_confirmed(seek, err) || !job_look_name(seek->call->engine, name, err))
		return false;
	is_fine = run_each(seek, err);
	job_let_look(seek->call->engine, name);
	return is_fine;
}

bool run_seek(struct call *call, struct error *err)
{
	struct seek seek = { .call = call, .is_dry = call_flag(call, "dry_run"), .wants_snapshot = !call_flag(call, "no_snapshot"),
		             .snapshot = call_text_or(call, "snapshot", NULL) };
	struct job_options *options;
	const char *name;
	bool is_fine;

	if (!call_text(call, "job", &name, err) || !(options = job_load_named(call->engine->home, name, err)))
		return false;
	seek.options = options;
	is_fine = secrets_serve(call->engine, options, &seek.google, err) && read_names(&seek, err) && read_aim(&seek, err) &&
	          (seek.is_dry ? run_each(&seek, err) : run_held(&seek, err));
	pubsub_names_free(&seek.names);
	google_close(seek.google);
	job_options_free(options);
	return is_fine;
}
