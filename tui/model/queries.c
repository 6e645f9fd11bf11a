/* Questions: who asked for what, how old the answer is, and when to ask again. */
#include "model/model_private.h"
#include "base/arena.h"

#include <stdlib.h>

void query_free(struct query *query)
{
	if (!query)
		return;
	free(query->call);
	free(query->topics);
	json_decref(query->args);
	json_decref(query->answer.lines);
	json_decref(query->incoming);
	free(query);
}

/* No arguments are as good as an empty object. */
static bool args_equal(const json_t *a, const json_t *b)
{
	if (!json_object_size(a) || !json_object_size(b))
		return json_object_size(a) == json_object_size(b);
	return json_equal(a, b);
}

static struct query *query_find(struct model *model, const char *call, const json_t *args)
{
	for (size_t i = 0; i < model->query_count; i++) {
		struct query *query = model->queries[i];

		if (strcmp(query->call, call) == 0 && args_equal(query->args, args))
			return query;
	}
	return NULL;
}

static void query_drop(struct model *model, size_t at)
{
	for (int i = 0; i < LANES; i++) {
		struct lane_state *lane = &model->lanes[i];

		for (size_t k = 0; k < lane->call_count; k++) {
			if (lane->calls[k].query == model->queries[at])
				lane->calls[k].query = NULL;
		}
	}
	query_free(model->queries[at]);
	model->queries[at] = model->queries[--model->query_count];
}

/* Makes room by the one that was not asked for the longest. */
static struct query *query_add(struct model *model, const char *call, json_t *args)
{
	struct query *query = memory_zalloc(sizeof(*query));
	size_t oldest = 0;

	for (size_t i = 1; i < model->query_count; i++) {
		if (model->queries[i]->frame < model->queries[oldest]->frame)
			oldest = i;
	}
	if (model->query_count == QUERIES_MAX)
		query_drop(model, oldest);
	query->call = strdup(call);
	query->args = args;
	query->topics = strdup("");
	query->answer.lines = json_array();
	query->is_stale = query->is_forced = true;
	model->queries[model->query_count++] = query;
	return query;
}

const struct answer *model_ask(struct model *model, enum lane lane, const char *call, json_t *args, const char *topics)
{
	struct query *query = query_find(model, call, args);

	if (query)
		json_decref(args);
	else
		query = query_add(model, call, args);
	if (strcmp(query->topics, topics) != 0) {
		free(query->topics);
		query->topics = strdup(topics);
	}
	query->lane = lane;
	query->frame = model->frame;
	query->wanted_ms = model->now_ms;
	return &query->answer;
}

void model_frame_done(struct model *model)
{
	model->frame++;
	for (size_t i = 0; i < model->query_count;) {
		const struct query *query = model->queries[i];
		bool is_large = json_array_size(query->answer.lines) > LINES_KEPT;

		if (query->frame + FRAMES_KEPT < model->frame && (is_large || query->wanted_ms + ASKED_KEPT_MS <= model->now_ms))
			query_drop(model, i);
		else
			i++;
	}
}

void model_refresh(struct model *model)
{
	for (size_t i = 0; i < model->query_count; i++)
		model->queries[i]->is_stale = model->queries[i]->is_forced = true;
}

static bool topics_have(const char *topics, const char *topic)
{
	size_t len = strlen(topic);

	for (const char *at = topics; (at = strstr(at, topic)); at += len) {
		if ((at == topics || at[-1] == ' ') && (at[len] == '\0' || at[len] == ' '))
			return true;
	}
	return false;
}

/* What stands behind a call that the engine has not answered has not begun: its answer will be newer than what comes now. */
static bool is_behind_control(const struct model *model, const struct query *query)
{
	const struct lane_state *lane = &model->lanes[query->lane];
	bool has_control = false;

	for (size_t i = 0; i < lane->call_count; i++) {
		if (lane->calls[i].query == query)
			return has_control;
		has_control |= lane->calls[i].what == PENDING_CONTROL;
	}
	return false;
}

void query_event(struct model *model, const char *topic)
{
	for (size_t i = 0; i < model->query_count; i++) {
		if (!topics_have(model->queries[i]->topics, topic) || is_behind_control(model, model->queries[i]))
			continue;
		model->queries[i]->is_stale = true;
		model->queries[i]->is_forced |= model->is_syncing;
	}
}

static int64_t query_ready_ms(const struct query *query, int64_t now_ms)
{
	if (!query->is_stale || query->answer.is_asking)
		return -1;
	return query->is_forced || !query->asked_ms ? now_ms : query->asked_ms + ASK_AGAIN_MS;
}

int64_t query_due_ms(const struct model *model, enum lane lane, int64_t now_ms)
{
	int64_t due = -1;

	for (size_t i = 0; i < model->query_count; i++) {
		int64_t at = model->queries[i]->lane == lane ? query_ready_ms(model->queries[i], now_ms) : -1;

		if (at >= 0 && (due < 0 || at < due))
			due = at;
	}
	return due;
}

bool query_send(struct model *model, enum lane lane, int64_t now_ms)
{
	for (size_t i = 0; i < model->query_count; i++) {
		struct query *query = model->queries[i];
		struct lane_call *call;
		int64_t at = query->lane == lane ? query_ready_ms(query, now_ms) : -1;

		if (at < 0 || at > now_ms)
			continue;
		query->is_stale = query->is_forced = false;
		query->asked_ms = now_ms;
		call = lane_call(model, lane, PENDING_QUERY, query->call, json_incref(query->args));
		if (!call) {
			fail(&query->answer.error, ERROR_USAGE, "frame_too_long", "the call is longer than %u bytes",
			     FRAME_BYTES_MAX);
			query->answer.is_known = true;
			continue;
		}
		call->query = query;
		query->answer.is_asking = true;
		json_decref(query->incoming);
		query->incoming = json_array();
		query->incoming_is_cut = false;
		return true;
	}
	return false;
}

void query_line(struct query *query, json_t *frame)
{
	json_t *line = json_object_get(frame, "line");

	if (!query || !line)
		return;
	if (json_array_size(query->incoming) < ANSWER_LINES_MAX)
		json_array_append(query->incoming, line);
	else
		query->incoming_is_cut = true;
}

/* A failed answer keeps the lines of the one before: old numbers with their age say more than none. */
void query_end(struct model *model, struct query *query, const json_t *frame, int64_t now_ms)
{
	const json_t *error = json_object_get(frame, "error");

	if (!query)
		return;
	query->answer.is_asking = false;
	memset(&query->answer.error, 0, sizeof(query->answer.error));
	if (error)
		error_from_json(error, &query->answer.error);
	if (!error || json_array_size(query->incoming) || !query->answer.is_known) {
		json_decref(query->answer.lines);
		query->answer.lines = query->incoming ? query->incoming : json_array();
		query->answer.is_cut = query->incoming_is_cut;
		query->incoming = NULL;
	}
	query->answer.is_known = true;
	query->answer.at_ms = now_ms;
	query->answer.generation = ++model->generation;
}

/*
 * Topics.
 */
void topics_forget(struct model *model)
{
	while (model->subscribed_count)
		free(model->subscribed[--model->subscribed_count]);
}

static bool is_wanted(const struct model *model, const char *topic)
{
	for (size_t i = 0; i < model->query_count; i++) {
		if (topics_have(model->queries[i]->topics, topic))
			return true;
	}
	return false;
}

static bool is_subscribed(const struct model *model, struct span topic)
{
	for (size_t i = 0; i < model->subscribed_count; i++) {
		if (span_is(topic, model->subscribed[i]))
			return true;
	}
	return false;
}

/* Those of a question that are not subscribed yet go to `to`, and count as subscribed. */
static void topics_add_of(struct model *model, const char *topics, json_t *to)
{
	for (const char *at = topics; *at;) {
		size_t len = strcspn(at, " ");

		if (model->is_one_by_one && json_array_size(to))
			return;
		if (len && !is_subscribed(model, span_make(at, len)) && model->subscribed_count < TOPICS_MAX) {
			model->subscribed[model->subscribed_count++] = memory_string_of(span_make(at, len));
			json_array_append_new(to, json_stringn(at, len));
		}
		at += len + (at[len] == ' ');
	}
}

static void topics_drop(struct model *model, json_t *to)
{
	for (size_t i = 0; i < model->subscribed_count;) {
		char *topic = model->subscribed[i];

		if (is_wanted(model, topic)) {
			i++;
			continue;
		}
		model->subscribed[i] = model->subscribed[--model->subscribed_count];
		json_array_append_new(to, json_string(topic));
		free(topic);
	}
}

void topics_refused(struct model *model)
{
	if (!model->is_one_by_one)
		topics_forget(model); /* those that the engine has are no harm a second time */
	model->is_one_by_one = true;
}

/* All of them in one call: a screen that opens waits for one answer, not for one a topic. How things stand comes between that
 * call and the next one: questions that are asked behind both know it. */
static bool topics_call(struct model *model, const char *call, json_t *topics)
{
	const struct lane_state *lane = &model->lanes[LANE_LOOK];

	if (!lane_call(model, LANE_LOOK, PENDING_CONTROL, call, json_pack("{s:o}", "topics", topics)))
		return false;
	if (lane->call_count < LANE_CALLS_MAX)
		lane_call(model, LANE_LOOK, PENDING_CONTROL, "sync", NULL);
	return true;
}

bool topics_send(struct model *model)
{
	json_t *changed = json_array();

	for (size_t i = 0; i < model->query_count; i++)
		topics_add_of(model, model->queries[i]->topics, changed);
	if (json_array_size(changed))
		return topics_call(model, "subscribe", changed);
	topics_drop(model, changed);
	if (json_array_size(changed))
		return topics_call(model, "unsubscribe", changed);
	json_decref(changed);
	return false;
}
