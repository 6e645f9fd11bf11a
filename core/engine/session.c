/*
 * What a session is sent and what it sends: frames, the hello, lines that wait
 * behind a call. By the control thread, which never waits; only session_send is
 * the call's thread's.
 */
#include "engine/session_private.h"

#include "base/clock.h"
#include "engine/version.h"

#include <stdlib.h>
#include <unistd.h>

/* What is too long for a frame is told from nobody who reads: in its place goes what it was and why it is not here. */
static char *print_frame(const json_t *object)
{
	static const char *const members[] = { "id", "event", "seq" };
	char *line = frame_print(object);
	struct error err = { 0 };
	json_t *instead;

	if (line)
		return line;
	fail(&err, ERROR_RECORD, "answer_too_large", "this is longer than %u bytes and was left out", FRAME_BYTES_MAX);
	instead = json_pack("{s:o}", "error", error_to_json(&err));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		json_object_set(instead, members[i], json_object_get(object, members[i]));
	line = frame_print(instead);
	json_decref(instead);
	return line;
}

/* By the call's thread; waits while the other end does not read. */
bool session_send(struct session *session, json_t *object)
{
	char *line = print_frame(object);
	bool is_sent = line && outbox_write(&session->out, line, strlen(line));

	json_decref(object);
	free(line);
	return is_sent;
}

bool session_post(struct session *session, json_t *object)
{
	char *line = print_frame(object);
	bool is_posted = line && outbox_post(&session->out, line, strlen(line));

	json_decref(object);
	free(line);
	return is_posted;
}

void session_post_error(struct session *session, int64_t id, const struct error *err)
{
	/* Who does not even read errors is of no use to anybody. */
	if (!session_post(session, json_pack("{s:I, s:o}", "id", (json_int_t)id, "error", error_to_json(err))))
		session->is_closing = true;
}

/*
 * What it sends
 */

/* What every screen shows of an engine comes with its greeting: a viewer cannot read the settings' file. */
static json_t *our_hello(const struct session *session)
{
	const struct settings *settings = &session->engine->settings;
	char host[SETTING_NAME_BYTES];

	return json_pack("{s:i, s:s, s:s, s:s, s:i, s:s, s:b}", "protocol", PROTOCOL_VERSION, "program", "weird", "version",
	                 version_number(), "access", access_name(session->access), "pid", (int)getpid(), "name",
	                 settings_engine_name(settings, host), "production", settings->is_production);
}

/* The number of the protocol is not a lock: names are never reused, so what a client knows of the other version it may
 * look at. */
static void take_hello(struct session *session, const json_t *frame)
{
	const json_t *hello = json_object_get(frame, "hello");
	int64_t theirs = json_integer_value(json_object_get(hello, "protocol"));
	const char *wish = json_string_value(json_object_get(hello, "access"));
	struct error err = { 0 };

	if (!json_is_object(hello))
		fail(&err, ERROR_USAGE, "bad_frame", "the first line must be a hello: {\"hello\":{\"protocol\":%d}}",
		     PROTOCOL_VERSION);
	else if (theirs < 1)
		fail(&err, ERROR_UNREACHABLE, "protocol_differs",
		     "this engine speaks protocol %d, the client none; let both come from one version", PROTOCOL_VERSION);
	if (err.kind != ERROR_NONE) {
		session_post(session, json_pack("{s:o}", "error", error_to_json(&err)));
		session->is_closing = true;
		return;
	}
	session->has_greeted = true;
	session->is_other_version = theirs != PROTOCOL_VERSION;
	session->only_looks = wish && strcmp(wish, access_name(VIEW)) == 0;
	if (session->only_looks)
		session->access = VIEW;
	peer_set_ssh(&session->peer, json_string_value(json_object_get(hello, "ssh")));
	session_post(session, json_pack("{s:o}", "hello", our_hello(session)));
}

static void take_frame(struct session *session, const json_t *frame)
{
	struct error err = { 0 };

	if (!json_is_object(frame)) {
		fail(&err, ERROR_USAGE, "bad_frame", "a frame is one JSON object a line");
		session_post_error(session, 0, &err);
		session->is_closing = true;
	} else if (!session->has_greeted) {
		take_hello(session, frame);
	} else if (!json_object_get(frame, "cancel")) {
		session_start_call(session, frame);
	}
}

static void take_line(struct session *session, const char *line, size_t len)
{
	json_t *frame = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);

	take_frame(session, frame);
	json_decref(frame);
}

/* Lines that wait behind a running call: only a cancel is taken from them, and each is looked at once. */
static void look_ahead(struct session *session)
{
	char *at = session->buffer + session->looked;
	char *end = session->buffer + session->used;
	char *newline;

	for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
		json_t *frame;

		if (!memmem(at, (size_t)(newline - at), "cancel", 6))
			continue;
		frame = json_loadb(at, (size_t)(newline - at), JSON_REJECT_DUPLICATES, NULL);
		if (json_object_get(frame, "cancel"))
			session_take_cancel(session, json_object_get(frame, "cancel"));
		json_decref(frame);
	}
	session->looked = (size_t)(at - session->buffer);
}

static void refuse_line(struct session *session, const struct error *err)
{
	session_post_error(session, 0, err);
	session->is_closing = true;
}

static void refuse_long_line(struct session *session)
{
	struct error err = { 0 };

	fail(&err, ERROR_USAGE, "bad_frame", "a line is longer than %u bytes", FRAME_BYTES_MAX);
	refuse_line(session, &err);
}

/* Since when the rest of a line is waited for. Behind a call lines wait for us, not we for them. */
static void note_half_line(struct session *session, bool has_taken)
{
	if (session->call || !session->used)
		session->half_since_ms = 0;
	else if (has_taken || !session->half_since_ms)
		session->half_since_ms = clock_mono_ms();
}

void session_refuse_half(struct session *session, int64_t now_ms)
{
	struct error err = { 0 };

	if (session->is_closing || !session->half_since_ms || now_ms - session->half_since_ms <= LINE_WAIT_MS)
		return;
	fail(&err, ERROR_USAGE, "bad_frame", "a line was begun and not ended within %d seconds", LINE_WAIT_MS / 1000);
	refuse_line(session, &err);
}

void session_take_lines(struct session *session)
{
	char *at = session->buffer;
	char *end = session->buffer + session->used;
	char *newline;
	size_t taken;

	while (!session->is_closing && !session->call && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		take_line(session, at, (size_t)(newline - at));
		at = newline + 1;
	}
	taken = (size_t)(at - session->buffer);
	session->used -= taken;
	session->looked -= session->looked < taken ? session->looked : taken;
	if (taken && session->used)
		memmove(session->buffer, at, session->used);
	if (session->call)
		look_ahead(session);
	else
		session->cancelled_count = 0;
	/* Calls that wait behind a running one may be many; one line may not be longer than this. */
	if (session->used > FRAME_BYTES_MAX && !memchr(session->buffer, '\n', session->used))
		refuse_long_line(session);
	note_half_line(session, taken > 0);
}
