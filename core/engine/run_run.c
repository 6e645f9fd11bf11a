/* `weir run`: load, compare, register, begin; then follow the job to its end and say the result. */
#include "base/arena.h"
#include "base/clock.h"
#include "dlq/dlq.h"
#include "engine/commands_private.h"
#include "engine/journal.h"
#include "pipeline/pipeline.h"
#include "runner/runner.h"

#include <stdlib.h>

#define PARAMS_MAX 256
#define LOOK_MS 50
#define LETTERS_LOOK_MS 1000

size_t call_params(struct call *call, const char *out[PARAMS_MAX])
{
	const json_t *params = json_object_get(call->args, "params");
	size_t count = json_array_size(params);

	if (count > PARAMS_MAX)
		count = PARAMS_MAX;
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(params, i));

		out[i] = text ? text : "";
	}
	return count;
}

/*
 * Following: notes when the job begins to wait or goes on, the live line for who watches.
 */

static void say_changes(struct call *call, const struct progress_view *before, const struct progress_view *now)
{
	bool waited = before->state == STATE_WAITING, waits = now->state == STATE_WAITING;

	if (waits && (!waited || strcmp(before->code, now->code) != 0))
		call_note(call, "waiting: %s: %s", now->code, now->sentence);
	else if (waited && !waits && now->state == STATE_OK)
		call_note(call, "goes on");
}

struct following {
	struct progress_view seen;
	uint64_t letters; /* when the store was asked last */
	int64_t asked_ms;
	bool needs;       /* a letter waits for somebody */
};

/* The store is asked again when letters have come, and while some stand open: somebody may have replayed them. */
static void ask_for_letters(struct call *call, const struct job *job, const struct progress_view *now,
                            struct following *following)
{
	uint64_t letters = now->total.dead_lettered, open = 0, needs = 0;
	int64_t now_ms = clock_mono_ms();
	struct error ignored = { 0 };
	struct job_paths paths;
	struct dlq *dlq;

	if ((letters == following->letters && !following->needs) ||
	    (now->state != STATE_STOPPED && now_ms - following->asked_ms < LETTERS_LOOK_MS))
		return;
	following->letters = letters;
	following->asked_ms = now_ms;
	job_paths_make(&paths, call->engine->home, job->name);
	dlq = dlq_open(paths.store, DLQ_READ, &ignored);
	job_paths_clear(&paths);
	if (dlq && dlq_open_count(dlq, NULL, &open, &needs, &ignored))
		following->needs = needs > 0;
	dlq_close(dlq);
}

/* Not yet open: there is nothing to show. Ended: what came since the last look is. */
static void show(struct call *call, const struct job *job, const struct progress_view *now, struct following *following)
{
	struct progress_view shown = *now;

	if (!call->show_progress || (now->state == STATE_STOPPED && following->seen.state == STATE_STOPPED))
		return;
	ask_for_letters(call, job, now, following);
	shown.state = following->needs ? STATE_NEEDS_YOU : progress_state_shown(now);
	call->show_progress(call, job->name, &shown);
}

static void look(struct call *call, const struct job *job, struct progress *progress, struct following *following)
{
	struct progress_view now;

	progress_look(progress, &now);
	say_changes(call, &following->seen, &now);
	show(call, job, &now, following);
	following->seen = now;
}

/* A cancel (the first C-c) drains the job. Whoever goes away leaves it running. */
static void follow(struct call *call, struct job *job, struct progress *progress)
{
	struct following following = { .seen.state = STATE_STOPPED };

	while (!job_wait(job, LOOK_MS)) {
		if (atomic_load(&call->is_cancelled))
			run_wish_first(&job->wish, RUN_DRAIN);
		look(call, job, progress, &following);
	}
	look(call, job, progress, &following);
}

static bool send_result(struct call *call, const struct job *job, const struct job_end *end,
                        struct progress *progress, struct error *err)
{
	struct job_options *options = job_load(call->engine->home, job->name, NULL, 0, err);
	struct progress_view view;
	struct run_facts facts = { .note = &end->note, .failure = &end->failure };
	json_t *result;

	if (!options)
		return false;
	progress_look(progress, &view);
	facts.this_run = &view.this_run;
	/* What was in flight when a job broke is not lost: it is received again at the next start. */
	facts.state = progress_state_name(end->failure.kind != ERROR_NONE ? STATE_NEEDS_YOU
	                                  : end->is_paused ? STATE_PAUSED : STATE_STOPPED);
	result = result_make(call->engine->home, options, &facts, &call->exit, err);
	job_options_free(options);
	if (result)
		call->send_line(call, result);
	return result != NULL;
}

static bool run_job(struct call *call, struct job *job, struct error *err)
{
	struct progress *progress = job_progress(job);
	struct job_end end;
	bool is_fine = true;

	follow(call, job, progress);
	job_end(job, &end);
	/* A job that never got as far as reading has no result, only the reason. */
	if (end.failure.kind == ERROR_NONE || end.has_run)
		is_fine = send_result(call, job, &end, progress, err);
	progress_free(progress);
	if (is_fine && end.failure.kind != ERROR_NONE)
		*err = end.failure;
	return is_fine && end.failure.kind == ERROR_NONE;
}

bool run_run(struct call *call, struct error *err)
{
	const struct home *home = call->engine->home;
	const char *params[PARAMS_MAX];
	size_t param_count = call_params(call, params);
	struct job_run run = {
		.until_idle = call_flag(call, "until_idle"),
		.from_start = call_flag(call, "from_start"),
		.pace = call_number(call, "pace", 0),
	};
	const char *what;
	struct job_options *options;
	struct job *job;

	if (!call_text(call, "job", &what, err))
		return false;
	if (!(options = job_load(home, what, params, param_count, err)))
		return false;
	journal_act_job(call, options->name);
	if (!job_options_startable(options, err) || !job_register(call->engine, options, call_flag(call, "replace"), err)) {
		job_options_free(options);
		return false;
	}
	job = job_begin(call->engine, options, &run, err);
	return job && run_job(call, job, err);
}
