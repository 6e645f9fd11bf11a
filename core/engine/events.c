/*
 * Subscriptions: what a session watches, answered and sent by the control thread.
 * A topic that shows how things stand is made anew from memory whenever there is
 * room for it, so a slow session gets fewer events, never old ones. A topic of
 * lines has a ring; a session that falls behind it is told how many it missed.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/event_lines_private.h"
#include "engine/metrics_private.h"
#include "engine/session_private.h"

#include <stdlib.h>

#define EVERY_MS 950           /* at most once a second; ticks are not exact */
#define TABLES_AN_EVENT 500
#define LINES_BYTES_MAX (FRAME_BYTES_MAX / 2)

/*
 * Making events. Each gives the members besides event and seq, or NULL: nothing to say.
 */

/* A job's state may change while the list is sorted: it is asked once. */
struct ranked_job {
	const struct job *job;
	enum job_state state;
};

static int by_state(const void *a, const void *b)
{
	const struct ranked_job *x = a, *y = b;

	return x->state != y->state ? (int)x->state - (int)y->state
	                            : strcmp(x->job->options->name, y->job->options->name);
}

static struct ranked_job *rank_jobs(const struct engine *engine, size_t *out_count)
{
	struct ranked_job *jobs = memory_alloc(sizeof(*jobs));
	size_t count = 0;

	for (const struct job *job = engine->jobs; job; job = job->next) {
		struct progress_view view;

		progress_look(job->progress, &view);
		jobs = memory_grow(jobs, (count + 1) * sizeof(*jobs));
		jobs[count++] = (struct ranked_job){ job, live_state(job, &view) };
	}
	qsort(jobs, count, sizeof(*jobs), by_state);
	*out_count = count;
	return jobs;
}

static json_t *make_jobs(struct session *session, struct subscription *sub)
{
	json_t *list = json_array();
	size_t count;
	struct ranked_job *jobs = rank_jobs(session->engine, &count);

	(void)sub;
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, live_short(jobs[i].job));
	free(jobs);
	return json_pack("{s:o}", "jobs", list);
}

static json_t *make_job(struct session *session, struct subscription *sub)
{
	const struct job *job = live_find(session->engine, sub->argument);

	return job ? json_pack("{s:o}", "job", live_full(job)) : NULL;
}

static json_t *make_dlq(struct session *session, struct subscription *sub)
{
	const struct job *job = live_find(session->engine, sub->argument);
	struct progress_view view = { .state = STATE_STOPPED };

	if (job)
		progress_look(job->progress, &view);
	return json_pack("{s:I, s:I, s:I}", "dead_lettered", (json_int_t)view.total.dead_lettered, "parked",
	                 (json_int_t)view.total.parked, "acts", (json_int_t)atomic_load(&session->engine->dlq_acts));
}

/* A job that was begun anew has new tables: all of them are sent again. */
static void follow_tables(struct subscription *sub, const struct job *job, size_t count)
{
	if (sub->seen_run != job->run_number) {
		free(sub->seen);
		sub->seen = NULL;
		sub->seen_count = 0;
		sub->seen_run = job->run_number;
	}
	if (count < sub->seen_count)
		return;
	sub->seen = memory_grow(sub->seen, (count + 1) * sizeof(*sub->seen));
	for (size_t i = sub->seen_count; i <= count; i++)
		sub->seen[i] = UINT64_MAX;
	sub->seen_count = count + 1;
}

static json_t *make_tables(struct session *session, struct subscription *sub)
{
	const struct job *job = live_find(session->engine, sub->argument);
	bool is_whole = job && sub->seen_run != job->run_number;
	int64_t now_us = clock_utc_us();
	json_t *list;
	size_t count;

	if (!job)
		return NULL;
	list = json_array();
	count = progress_table_count(job->progress);
	follow_tables(sub, job, count);
	for (size_t i = 0; i < count && json_array_size(list) < TABLES_AN_EVENT; i++) {
		struct table_progress table;

		progress_table(job->progress, i, &table);
		if (table.version == sub->seen[i])
			continue;
		sub->seen[i] = table.version;
		json_array_append_new(list, live_table(&table, now_us, false));
	}
	if (json_array_size(list) || is_whole)
		return json_pack("{s:o, s:b}", "tables", list, "whole", is_whole);
	json_decref(list);
	return NULL;
}

static json_t *make_lines(struct session *session, struct subscription *sub)
{
	struct event_reader reader = { .topic = sub->topic, .next = sub->next, .base = sub->base, .told = sub->told };
	json_t *members;

	if (sub->topic == TOPIC_logs)
		log_level_find(sub->argument, &reader.level);
	members = event_lines_read(session->engine->lines, &reader, LINES_BYTES_MAX);
	sub->next = reader.next;
	sub->told = reader.told;
	return members;
}

static json_t *(*const makers[TOPICS])(struct session *session, struct subscription *sub) = {
	[TOPIC_jobs] = make_jobs, [TOPIC_job] = make_job,       [TOPIC_tables] = make_tables,
	[TOPIC_dlq] = make_dlq,   [TOPIC_journal] = make_lines, [TOPIC_logs] = make_lines,
};

/* Topics whose makers themselves know what is new. */
static bool is_of_changes(enum topic_id topic)
{
	return topic == TOPIC_tables || topic == TOPIC_journal || topic == TOPIC_logs;
}

/*
 * Sending
 */

/* True: the same was said last time; else it is remembered. */
static bool was_said(struct subscription *sub, const json_t *members)
{
	char *text;
	bool is_same;

	if (is_of_changes(sub->topic))
		return false;
	text = json_dumps(members, JSON_COMPACT);
	is_same = text && sub->last && strcmp(text, sub->last) == 0;
	free(sub->last);
	sub->last = text;
	return is_same;
}

static void send_event(struct session *session, struct subscription *sub, int64_t now_ms)
{
	json_t *members, *event;

	pthread_mutex_lock(&session->engine->lock);
	members = makers[sub->topic](session, sub);
	pthread_mutex_unlock(&session->engine->lock);
	if (!members || was_said(sub, members)) {
		json_decref(members);
		return;
	}
	sub->sent_ms = now_ms;
	event = json_pack("{s:s, s:I}", "event", sub->name, "seq", (json_int_t)++session->seq);
	json_object_update_new(event, members);
	session_post(session, event);
}

static void send_events(struct session *session, int64_t now_ms, bool at_once)
{
	for (size_t i = 0; i < session->subscription_count && !session->is_closing; i++) {
		struct subscription *sub = &session->subscriptions[i];

		/* What has not gone out yet would only grow old behind more of it. */
		if (outbox_pending(&session->out))
			return;
		if (at_once || now_ms - sub->sent_ms >= EVERY_MS)
			send_event(session, sub, now_ms);
	}
}

void events_tick(struct engine *engine, int64_t now_ms)
{
	for (struct session *session = engine->sessions; session; session = session->next)
		send_events(session, now_ms, false);
}

/*
 * Calls
 */

static size_t find_subscription(const struct session *session, const char *name)
{
	size_t i = 0;

	while (i < session->subscription_count && strcmp(session->subscriptions[i].name, name) != 0)
		i++;
	return i;
}

static void forget(struct session *session, size_t i)
{
	struct subscription *sub = &session->subscriptions[i];

	event_lines_listen(session->engine->lines, sub->topic, -1);
	free(sub->last);
	free(sub->seen);
	*sub = session->subscriptions[--session->subscription_count];
}

void events_forget(struct session *session)
{
	while (session->subscription_count)
		forget(session, session->subscription_count - 1);
	free(session->subscriptions);
	session->subscriptions = NULL;
}

static bool subscribe(struct session *session, const char *name, struct error *err)
{
	struct subscription sub = { .sent_ms = -EVERY_MS };
	const char *argument;

	if (!topic_find(name, &sub.topic, &argument, err))
		return false;
	if (find_subscription(session, name) < session->subscription_count)
		return true;
	if (session->subscription_count == SUBSCRIPTIONS_MAX)
		return fail(err, ERROR_USAGE, "too_many_topics", "this session has %d subscriptions already",
		            SUBSCRIPTIONS_MAX);
	snprintf(sub.argument, sizeof(sub.argument), "%s", argument);
	snprintf(sub.name, sizeof(sub.name), "%s", name);
	event_lines_listen(session->engine->lines, sub.topic, 1);
	event_lines_begin(session->engine->lines, sub.topic, argument, &sub.next, &sub.base);
	session->subscriptions =
		memory_grow(session->subscriptions, (session->subscription_count + 1) * sizeof(sub));
	session->subscriptions[session->subscription_count++] = sub;
	return true;
}

static bool unsubscribe(struct session *session, const char *name, struct error *err)
{
	enum topic_id topic;
	const char *argument;
	size_t i = find_subscription(session, name);

	if (!topic_find(name, &topic, &argument, err))
		return false;
	if (i < session->subscription_count)
		forget(session, i);
	return true;
}

static bool each_topic(struct session *session, const json_t *args,
                       bool (*act)(struct session *session, const char *name, struct error *err), struct error *err)
{
	const json_t *topics = json_object_get(args, "topics");
	size_t i;
	json_t *name;

	if (!json_is_array(topics))
		return fail(err, ERROR_USAGE, "bad_argument", "argument 'topics' is missing or no list of texts");
	json_array_foreach(topics, i, name) {
		if (!json_is_string(name))
			return fail(err, ERROR_USAGE, "bad_argument", "argument 'topics' is a list of texts");
		if (!act(session, json_string_value(name), err))
			return false;
	}
	return true;
}

static bool call_subscribe(struct session *session, const json_t *args, struct error *err)
{
	return each_topic(session, args, subscribe, err);
}

static bool call_unsubscribe(struct session *session, const json_t *args, struct error *err)
{
	return each_topic(session, args, unsubscribe, err);
}

/* What has changed is sent before the answer, so that after it nothing is pending. */
static bool call_sync(struct session *session, const json_t *args, struct error *err)
{
	(void)args;
	(void)err;
	send_events(session, clock_mono_ms(), true);
	return true;
}

static const struct {
	const char *name;
	bool (*answer)(struct session *session, const json_t *args, struct error *err);
	bool sends_first; /* events follow at once: a screen is drawn from them */
} calls[] = {
	{ "subscribe", call_subscribe, true },
	{ "unsubscribe", call_unsubscribe, false },
	{ "sync", call_sync, false },
};

static json_t *topics_json(const struct session *session)
{
	json_t *list = json_array();

	for (size_t i = 0; i < session->subscription_count; i++)
		json_array_append_new(list, json_string(session->subscriptions[i].name));
	return list;
}

static void answer(struct session *session, size_t which, int64_t id, const json_t *args)
{
	struct error err = { 0 };
	json_t *fine;

	if (!calls[which].answer(session, args, &err)) {
		session_post_error(session, id, &err);
		return;
	}
	fine = json_pack("{s:I, s:{s:i, s:o, s:I}}", "id", (json_int_t)id, "ok", "exit", 0, "topics", topics_json(session),
	                 "seq", (json_int_t)session->seq);
	/* Who asks and never reads the answers is closed. */
	if (!session_post(session, fine))
		session->is_closing = true;
	if (calls[which].sends_first)
		send_events(session, clock_mono_ms(), false);
}

bool events_call(struct session *session, const char *name, int64_t id, const json_t *args)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(calls[i].name, name) != 0)
			continue;
		answer(session, i, id, args);
		return true;
	}
	return false;
}
