/* `weir start | pause | resume | drain | stop`: acts on a whole job, or on one table of it. */
#include "base/arena.h"
#include "dlq/dlq.h"
#include "engine/commands_private.h"
#include "engine/job_acts_private.h"
#include "engine/job_private.h"
#include "engine/result_private.h"
#include "pipeline/pipeline.h"
#include "runner/runner.h"

#include <stdlib.h>

#define END_LOOK_MS 50

static bool send_standing(struct call *call, const char *name, const char *sentence)
{
	struct job_standing now;
	json_t *line;

	job_standing(call->engine, name, &now);
	line = json_pack("{s:s, s:s, s:s, s:s}", "job", name, "state", progress_state_name(now.state), "code", now.code,
	                 "sentence", sentence ? sentence : now.sentence);
	call->exit = now.state == STATE_NEEDS_YOU ? 1 : 0;
	return call_line(call, line);
}

static bool begin(struct call *call, const char *name, struct error *err)
{
	struct job_run run = { .is_kept = true };
	struct job_options *options = job_load_named(call->engine->home, name, err);

	if (options && !job_options_startable(options, err)) {
		job_options_free(options);
		return false;
	}
	return options && job_begin(call->engine, options, &run, err);
}

/* The call waits until the job has ended; who cancels leaves it ending. */
static void end(struct call *call, const char *name, int wish)
{
	struct job *job = job_find_running(call->engine, name);

	if (!job)
		return;
	run_wish_for(&job->wish, (enum run_wish)wish);
	while (!job_wait(job, END_LOOK_MS) && !atomic_load(&call->is_cancelled))
		continue;
}

/* Its kept state alone changes. */
static bool mark_stopped(struct call *call, const char *name, struct error *err)
{
	bool is_fine;

	/* First, so that it ends also where that cannot be written down. */
	job_give_up(call->engine, name);
	if (!job_hold_registered(call->engine, name, err))
		return false;
	is_fine = job_keep_state(call->engine->home, name, STATE_STOPPED, "", "", err);
	job_let_name(call->engine, name);
	return is_fine;
}

/* A job that runs for a replay alone can be told to end; to all else it is as it was before. */
static enum job_phase phase_for(struct call *call, enum job_act what, const char *name)
{
	struct job_standing standing;

	job_standing(call->engine, name, &standing);
	if (standing.is_replay && standing.state != STATE_DRAINING && what != ACT_DRAIN && what != ACT_STOP) {
		standing = (struct job_standing){ 0 };
		job_kept_standing(call->engine->home, name, &standing);
	}
	return job_phase(&standing);
}

static bool act(struct call *call, enum job_act what, int wish, struct error *err)
{
	const char *name;
	const struct job_answer *answer;
	struct job_options *options;

	if (!call_text(call, "job", &name, err))
		return false;
	/* The name is checked before its files are looked for. */
	if (!(options = job_load_named(call->engine->home, name, err)))
		return false;
	job_options_free(options);
	answer = &job_answers[what][phase_for(call, what, name)];
	if (answer->answer == ANSWER_REFUSE)
		return fail(err, ERROR_CONFIG, "wrong_state", "job '%s': %s", name, answer->sentence);
	if (answer->answer == ANSWER_BEGIN && !begin(call, name, err))
		return false;
	if (answer->answer == ANSWER_END)
		end(call, name, wish);
	if (answer->answer == ANSWER_MARK && !mark_stopped(call, name, err))
		return false;
	send_standing(call, name, answer->sentence);
	return true;
}

/*
 * One table
 */

static bool write_paused(struct call *call, const char *name, const char *table, bool pauses, struct error *err)
{
	struct job_paths paths;
	struct dlq *dlq;
	bool is_fine, was_paused = false;

	job_paths_make(&paths, call->engine->home, name);
	dlq = dlq_open(paths.store, DLQ_WRITE, err);
	job_paths_clear(&paths);
	is_fine = dlq != NULL;
	if (dlq && pauses)
		is_fine = dlq_pause_table(dlq, table, call->peer.user, call_text_or(call, "why", ""), err);
	else if (dlq)
		is_fine = dlq_resume_table(dlq, table, &was_paused, err);
	if (is_fine && !pauses && !was_paused)
		is_fine = fail(err, ERROR_CONFIG, "wrong_state", "table '%s' of job '%s' is not paused", table, name);
	dlq_close(dlq);
	return is_fine;
}

static bool keep_paused(struct call *call, const char *name, const char *table, bool pauses, struct error *err)
{
	bool is_fine;

	if (!job_hold_registered(call->engine, name, err))
		return false;
	is_fine = write_paused(call, name, table, pauses, err);
	job_let_name(call->engine, name);
	return is_fine;
}

/* A table that has not come yet may be paused ahead, when it is said that this is meant: else it is a slip. */
static bool is_meant(struct call *call, const struct job_options *options, const char *table, bool *out_is_ahead,
                     struct error *err)
{
	struct error failure = { 0 };
	bool is_known = table_is_known(call->engine->home, options, table, &failure);

	*out_is_ahead = !is_known && strcmp(failure.code, "table_unknown") == 0 && call_flag(call, "ahead");
	if (is_known || *out_is_ahead)
		return true;
	*err = failure;
	return false;
}

static bool act_on_table(struct call *call, const char *table, bool pauses, struct error *err)
{
	const char *name;
	struct job_options *options;
	char *full;
	bool is_fine, is_ahead = false;

	if (!call_text(call, "job", &name, err))
		return false;
	if (!(options = job_load_named(call->engine->home, name, err)))
		return false;
	full = is_meant(call, options, table, &is_ahead, err) ? table_full_name(call->engine->home, options, table, err) : NULL;
	is_fine = full && keep_paused(call, options->name, full, pauses, err);
	if (is_fine) {
		job_open_again(call->engine, options->name);
		call_line(call, json_pack("{s:s, s:s, s:s, s:s}", "job", options->name, "table", full, "state",
		                          pauses ? "paused" : "ok", "sentence",
		                          is_ahead ? "no such table has come yet; it is parked from its first record on" : ""));
	}
	free(full);
	job_options_free(options);
	return is_fine;
}

/* An option that would be passed over in silence is refused. */
static bool ahead_has_table(struct call *call, const char *table, struct error *err)
{
	return table || !call_flag(call, "ahead") ||
	       fail(err, ERROR_USAGE, "bad_argument", "--ahead needs the name of a table that has not come yet");
}

bool run_start(struct call *call, struct error *err)
{
	struct job_options *options;
	struct error ignored = { 0 };
	const char *name = call_text_or(call, "job", "");

	if (!act(call, ACT_START, RUN_ON, err))
		return false;
	options = job_load_named(call->engine->home, name, &ignored);
	if (options)
		column_names_tell(call, options);
	job_options_free(options);
	return true;
}

bool run_pause(struct call *call, struct error *err)
{
	const char *table = call_text_or(call, "table", NULL);

	if (!ahead_has_table(call, table, err))
		return false;
	return table ? act_on_table(call, table, true, err) : act(call, ACT_PAUSE, RUN_PAUSE, err);
}

bool run_resume(struct call *call, struct error *err)
{
	const char *table = call_text_or(call, "table", NULL);

	return table ? act_on_table(call, table, false, err) : act(call, ACT_RESUME, RUN_ON, err);
}

bool run_drain(struct call *call, struct error *err)
{
	return act(call, ACT_DRAIN, RUN_DRAIN, err);
}

bool run_stop(struct call *call, struct error *err)
{
	return act(call, ACT_STOP, RUN_STOP, err);
}
