/* `weir logs`: the newest lines of the log, and with --follow those that come. */
#include "base/log.h"
#include "engine/commands_private.h"

#include <stdint.h>
#include <stdlib.h>

#define LINES_DEFAULT 100
#define LOOK_MS 200

static bool send_skipped(struct call *call, uint64_t skipped)
{
	if (skipped)
		call_note(call, "%llu lines skipped: they came faster than they were read",
		          (unsigned long long)skipped);
	return true;
}

/* Sends what there is behind *seq. False: nobody reads any more. */
static bool send_lines(struct call *call, const struct log_filter *filter, uint64_t *seq)
{
	uint64_t skipped = 0;
	bool goes_on = true;
	char *json;

	while (goes_on && (json = log_next(call->engine->log, filter, seq, &skipped))) {
		send_skipped(call, skipped);
		goes_on = call_line(call, json_loads(json, 0, NULL));
		free(json);
	}
	return goes_on && send_skipped(call, skipped);
}

static bool goes_on(const struct call *call)
{
	return !atomic_load(&call->is_cancelled) && !atomic_load(&call->is_gone) &&
	       !atomic_load(&call->engine->is_stopping);
}

static bool read_filter(struct call *call, struct log_filter *out, struct error *err)
{
	const char *level = call_text_or(call, "level", "debug");

	*out = (struct log_filter){ .job = call_text_or(call, "job", NULL) };
	if (!log_level_find(level, &out->least))
		return fail(err, ERROR_USAGE, "bad_argument",
		            "'%.40s' is no level; there are: debug, info, warn, error", level);
	return true;
}

bool run_logs(struct call *call, struct error *err)
{
	struct log_filter filter;
	int64_t limit;
	uint64_t seq;

	if (!read_filter(call, &filter, err))
		return false;
	limit = call_number(call, "limit", LINES_DEFAULT);
	seq = log_back(call->engine->log, &filter, limit || call_flag(call, "follow") ? (size_t)limit : SIZE_MAX);
	if (!send_lines(call, &filter, &seq) || !call_flag(call, "follow"))
		return true;
	while (goes_on(call)) {
		if (log_wait(call->engine->log, seq, LOOK_MS) && !send_lines(call, &filter, &seq))
			break;
	}
	return true;
}
