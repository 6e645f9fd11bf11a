/*
 * The calls of a session, one at a time, each in a thread of its own that writes
 * its answer and waits for a slow reader; and cancels, which come meanwhile.
 */
#include "engine/session_private.h"

#include "base/arena.h"

#include <stdlib.h>

static void call_send_note(struct call *call, const char *sentence)
{
	struct session *session = call->context;

	session_send(session, json_pack("{s:I, s:s}", "id", (json_int_t)session->id, "note", sentence));
}

/* Which one it was, as far as it has a name. */
static void describe(const json_t *line, char *out, size_t room)
{
	static const char *const members[] = { "job", "table", "group", "id" };
	OWNED(text) words = text_new(room - 1);

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const json_t *value = json_object_get(line, members[i]);

		if (json_is_string(value))
			text_add_format(words, " %s %.100s", members[i], json_string_value(value));
		else if (json_is_integer(value))
			text_add_format(words, " %s %lld", members[i], (long long)json_integer_value(value));
	}
	memcpy(out, words->at, words->len + 1);
}

/* An object that fits into no frame is left out; the others go on, and the call fails when it has ended. */
static void leave_out(struct session *session, const json_t *line)
{
	if (!session->left_out++)
		describe(line, session->left_out_first, sizeof(session->left_out_first));
}

static bool call_send_line(struct call *call, json_t *line)
{
	struct session *session = call->context;
	json_t *object = json_pack("{s:I, s:O?}", "id", (json_int_t)session->id, "line", line);
	char *frame = line ? frame_print(object) : NULL;
	bool is_sent = true;

	if (frame)
		is_sent = outbox_write(&session->out, frame, strlen(frame));
	else
		leave_out(session, line);
	json_decref(object);
	json_decref(line);
	free(frame);
	return is_sent;
}

/* What went wrong in the call itself is worse than an answer with holes. */
static bool dispatch(struct session *session, struct error *err)
{
	if (!call_dispatch(session->call, session->name, err))
		return false;
	/* Half an answer, or none, would look like a whole one. */
	if (session->call->lacks_lines && atomic_load(&session->call->is_cut))
		return fail(err, ERROR_UNREACHABLE, "connection_lost", "the engine ended before it had answered");
	if (!session->left_out)
		return true;
	return fail(err, ERROR_RECORD, "answer_too_large", "%d objects of the answer are longer than %u bytes and were left out; "
	            "the first:%s", session->left_out, FRAME_BYTES_MAX,
	            *session->left_out_first ? session->left_out_first : " one without a name");
}

static void *call_main(void *context)
{
	struct session *session = context;
	struct error err = { 0 };

	if (dispatch(session, &err))
		session_send(session, json_pack("{s:I, s:{s:i}}", "id", (json_int_t)session->id, "ok", "exit",
		                               session->call->exit));
	else
		session_send(session, json_pack("{s:I, s:o}", "id", (json_int_t)session->id, "error", error_to_json(&err)));
	atomic_store(&session->call_has_ended, true);
	engine_wake(session->engine);
	return NULL;
}

static void end_call(struct session *session)
{
	json_decref(session->call->args);
	free(session->call);
	session->call = NULL;
}

static bool was_cancelled(struct session *session, int64_t id)
{
	size_t count = session->cancelled_count < CANCELS_KEPT ? session->cancelled_count : CANCELS_KEPT;

	for (size_t i = 0; i < count; i++) {
		if (session->cancelled[i] == id)
			return true;
	}
	return false;
}

void session_start_call(struct session *session, const json_t *frame)
{
	const char *name = json_string_value(json_object_get(frame, "call"));
	json_t *args = json_object_get(frame, "args");
	int64_t id = json_integer_value(json_object_get(frame, "id"));
	struct error err = { 0 };
	int failed;

	if (!name || strlen(name) >= sizeof(session->name)) {
		fail(&err, ERROR_USAGE, "bad_frame", "a frame has 'call' with the name of a command and 'id' with a number");
		session_post_error(session, id, &err);
		return;
	}
	if (events_call(session, name, id, args))
		return;
	session->id = id;
	memcpy(session->name, name, strlen(name) + 1);
	session->call = memory_zalloc(sizeof(*session->call));
	*session->call = (struct call){
		.engine = session->engine,
		.args = json_is_object(args) ? json_incref(args) : json_object(),
		.access = session->access,
		.is_other_version = session->is_other_version,
		.only_looks = session->only_looks,
		.is_cancelled = was_cancelled(session, id),
		.peer = session->peer,
		.send_line = call_send_line,
		.send_note = call_send_note,
		.context = session,
	};
	session->left_out = 0;
	atomic_store(&session->call_has_ended, false);
	failed = pthread_create(&session->thread, NULL, call_main, session);
	if (failed == 0)
		return;
	end_call(session);
	fail(&err, ERROR_TRANSIENT, "no_threads", "cannot make a thread for the call: %s", strerror(failed));
	session_post_error(session, id, &err);
}

void session_join_call(struct session *session)
{
	pthread_join(session->thread, NULL);
	end_call(session);
}

/*
 * Cancels. They are seen while their call runs, also behind calls that wait; those for a call that waits are kept.
 */

void session_take_cancel(struct session *session, const json_t *value)
{
	int64_t id = json_integer_value(value);

	if (!session->call)
		return;
	if (!json_is_integer(value) || id == session->id)
		atomic_store(&session->call->is_cancelled, true);
	else
		session->cancelled[session->cancelled_count++ % CANCELS_KEPT] = id;
}
