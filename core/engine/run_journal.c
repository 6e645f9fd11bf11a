/* `weir journal` and `weir note`. */
#include "base/clean.h"
#include "base/clock.h"
#include "engine/commands_private.h"
#include "engine/journal.h"

#include <string.h>

#define LINES_DEFAULT 100
#define LINES_MOST 100000
#define NOTE_BYTES_MAX 4096

bool run_journal(struct call *call, struct error *err)
{
	const char *since = call_text_or(call, "since", NULL);
	struct journal_filter filter = {
		.job = call_text_or(call, "job", NULL),
		.what = call_text_or(call, "what", NULL),
		.limit = (size_t)call_number(call, "limit", since ? LINES_MOST : LINES_DEFAULT),
		.without_ended = call_number(call, "limit", 0) > 0, /* so many lines are asked for, and come */
	};
	struct error unknown = { 0 };
	json_t *lines, *line;
	size_t i;

	if (since && !journal_time(since, clock_utc_us(), &filter.since_us, err))
		return false;
	/* 0 is all of them, as in every list; none would be an answer without a question. */
	if (!filter.limit || filter.limit > LINES_MOST)
		filter.limit = LINES_MOST;
	journal_refused_settle(call->engine->journal, true);
	if (!(lines = journal_read(call->engine->journal, &filter, err)))
		return false;
	/* Of a job that was deleted the journal still tells; of one that never was it is silent. */
	if (filter.job && !json_array_size(lines) && !job_is_registered(call->engine->home, filter.job, &unknown))
		call_note(call, "%s", unknown.message);
	json_array_foreach(lines, i, line) {
		if (!call_line(call, json_incref(line)))
			break;
	}
	json_decref(lines);
	return true;
}

static json_t *note_line(struct call *call, const char *text)
{
	char time[CLOCK_TEXT_BYTES];

	clock_text(clock_utc_us(), time);
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:s*, s:s*, s:s*, s:s}", "time", time, "kind", "note", "who",
	                 call->peer.user, "uid", (json_int_t)call->peer.uid, "pid", (json_int_t)call->peer.pid,
	                 "ssh_as_client_said", call->peer.ssh[0] ? call->peer.ssh : NULL, "job",
	                 call_text_or(call, "job", NULL), "table", call_text_or(call, "table", NULL), "text", text);
}

bool run_note(struct call *call, struct error *err)
{
	const char *text;
	json_t *line;

	if (!call_text(call, "text", &text, err))
		return false;
	if (!text[strspn(text, " \t\n")] || strlen(text) > NOTE_BYTES_MAX)
		return fail(err, ERROR_USAGE, "bad_argument", "a note has 1 to %d bytes of text", NOTE_BYTES_MAX);
	line = note_line(call, text);
	if (!journal_add(call->engine->journal, json_incref(line), true, err)) {
		json_decref(line);
		return false;
	}
	call_line(call, line);
	return true;
}
