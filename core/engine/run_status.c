/* `weir status`: the jobs, worst first, with what they do now; or all metrics; or what they were. */
#include "base/clock.h"
#include "engine/commands_private.h"
#include "engine/health_private.h"
#include "engine/metrics_private.h"
#include "engine/result_private.h"
#include "runner/runner.h"

#include <stdlib.h>

void status_add_live(struct call *call, json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "job"));
	const struct job *job;

	pthread_mutex_lock(&call->engine->lock);
	job = live_find(call->engine, name);
	if (job)
		live_add(line, job);
	else
		json_object_set_new(line, "activity", json_array());
	pthread_mutex_unlock(&call->engine->lock);
}

static json_t *look_at_job(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	json_t *line = job_line(call, options, false, err);

	(void)context;
	if (!line) {
		because(err, "job '%s'", options->name);
		return NULL;
	}
	status_add_live(call, line);
	json_object_set(line, "worst", json_object_get(line, "state"));
	return line;
}

static bool send_jobs(struct call *call, const char *only, struct error *err)
{
	bool is_fine;
	json_t *lines = job_look_all(call, only, look_at_job, NULL, &is_fine, err);

	for (int state = 0; state < JOB_STATES; state++) {
		size_t i;
		json_t *line;

		json_array_foreach(lines, i, line) {
			if (result_shown_state(line) == (enum job_state)state)
				call_line(call, json_incref(line));
			call->exit = result_shown_state(line) == STATE_NEEDS_YOU ? 1 : call->exit;
		}
	}
	json_decref(lines);
	return is_fine;
}

static json_t *history_of(struct call *call, const char *name)
{
	struct history_wish wish = { .step_s = call_number(call, "step", 0), .table = call_text_or(call, "table", NULL) };
	const struct job *job;
	json_t *list;

	pthread_mutex_lock(&call->engine->lock);
	job = live_find(call->engine, name);
	list = job ? live_history(job, &wish) : json_array();
	pthread_mutex_unlock(&call->engine->lock);
	return list;
}

static bool send_history(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	json_t *list = history_of(call, options->name);
	size_t i;
	json_t *line;

	(void)context;
	(void)err;
	json_array_foreach(list, i, line)
		call_line(call, json_incref(line));
	json_decref(list);
	return true;
}

bool run_status(struct call *call, struct error *err)
{
	const char *only = call_text_or(call, "job", NULL);

	if (call_flag(call, "metrics"))
		return metrics_send(call, only, err);
	if (call_flag(call, "history"))
		return job_each(call, only, send_history, NULL, err);
	return send_jobs(call, only, err);
}
