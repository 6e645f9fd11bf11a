/*
 * Subscriptions: what a session watches, answered and sent by the control thread.
 * A topic that shows how things stand is made anew from memory whenever there is
 * room for it, so a slow session gets fewer events, never old ones. A topic of
 * lines has a ring; a session that falls behind it is told how many it missed.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "engine/event_lines_private.h"
#include "engine/session_private.h"

#include <stdlib.h>

#define EVERY_MS 950           /* at most once a second; ticks are not exact */

/*
 * Sending
 */

/* True: the same was said last time; else it is remembered. */
static bool was_said(struct subscription *sub, const json_t *members)
{
	char *text;
	bool is_same;

	if (event_is_of_changes(sub->topic))
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
	members = event_makers[sub->topic](session, sub);
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

bool events_want_states(const struct engine *engine)
{
	for (const struct session *session = engine->sessions; session; session = session->next) {
		for (size_t i = 0; i < session->subscription_count; i++) {
			if (session->subscriptions[i].topic == TOPIC_jobs || session->subscriptions[i].topic == TOPIC_job)
				return true;
		}
	}
	return false;
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
