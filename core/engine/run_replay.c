/*
 * `weir dlq replay` and `weir dlq discard`. A replay runs in the job's own
 * threads; a job that does not run is opened for it alone.
 */
#include "base/clock.h"
#include "engine/commands_private.h"
#include "engine/letter_choice.h"
#include "engine/result_private.h"
#include "pipeline/pipeline.h"
#include "pipeline/replay.h"
#include "runner/runner.h"

#include <stdlib.h>
#include <unistd.h>

#define LOOK_MS 100
#define TRIES 5

/* The store of a job that has run. */
static struct dlq *store_open_of(struct call *call, const char *name, enum dlq_mode mode, struct error *err)
{
	struct job_paths paths;
	struct dlq *dlq = NULL;

	job_paths_make(&paths, call->engine->home, name);
	if (access(paths.store, F_OK) == 0)
		dlq = dlq_open(paths.store, mode, err);
	else
		fail(err, ERROR_USAGE, "letter_unknown", "job '%s' has never run: it has no dead letters", name);
	job_paths_clear(&paths);
	return dlq;
}

static void none_has(struct call *call, struct error *err)
{
	const json_t *group = json_object_get(call->args, "group");

	if (json_is_integer(group))
		fail(err, ERROR_USAGE, "group_unknown", "there is no group %lld of dead letters", (long long)json_integer_value(group));
	else if (group)
		fail(err, ERROR_USAGE, "group_unknown", "there is no group %.80s of dead letters", call_text_or(call, "group", ""));
	else if (json_object_get(call->args, "id"))
		fail(err, ERROR_USAGE, "letter_unknown", "there is no letter %lld", (long long)call_number(call, "id", 0));
	else
		fail(err, ERROR_USAGE, "letter_unknown", "there are no such letters");
}

/* The registered job that the call means: by name, or the only one that has the group or letter. */
static struct job_options *options_of(struct call *call, struct error *err)
{
	if (!letters_choose_job(call, err))
		return NULL;
	if (!json_object_get(call->args, "job")) {
		none_has(call, err);
		return NULL;
	}
	return job_load_named(call->engine->home, call_text_or(call, "job", ""), err);
}

/*
 * replay
 */

static void tell_unfit(struct call *call, uint64_t unfit)
{
	if (unfit)
		call_note(call, "%llu letters are left: lines too long to hold, or no messages at all; export them, mend them, and "
		          "run them as a feed", (unsigned long long)unfit);
}

/* Said once with the count, before anything is touched. */
static bool is_confirmed(struct call *call, const char *name, const struct replay_wish *wish, struct error *err)
{
	struct dlq *dlq = store_open_of(call, name, DLQ_READ, err);
	uint64_t fit = 0, unfit = 0;
	bool is_fine = dlq && dlq_replay_ahead(dlq, wish->group, wish->states, &fit, &unfit, err);

	dlq_close(dlq);
	if (!is_fine || !fit || call_flag(call, "yes"))
		return is_fine;
	return fail(err, ERROR_USAGE, "replay_not_confirmed", "%llu letter%s of group %lld of job '%s' would be replayed",
	            (unsigned long long)fit, fit == 1 ? "" : "s", (long long)wish->group, name);
}

/* A job that ended while its replay stood open: what is claimed is freed here. */
static void free_abandoned(struct call *call, const char *name, struct replay_view *view, struct error *err)
{
	struct dlq *dlq;

	if (view->phase == REPLAY_ASKED) {
		fail(err, ERROR_CANCELLED, "replay_stopped", "job '%s' ended before the replay had begun", name);
		return;
	}
	dlq = store_open_of(call, name, DLQ_WRITE, err);
	if (dlq)
		dlq_replay_end(dlq, view->run.run, "stopped", &view->run, err);
	dlq_close(dlq);
}

/* Until the replay has ended. The first cancel stops it; what was done so far is said. */
static bool wait_for(struct call *call, struct job *job, struct replay_view *view, struct error *err)
{
	struct error of_job = { 0 }, failure = { 0 };

	while (!replay_desk_wait(job->desk, LOOK_MS, view)) {
		if (atomic_load(&call->is_cancelled))
			replay_desk_stop(job->desk);
		if (!job_leave_replay(job, view, &of_job))
			continue;
		if (view->phase != REPLAY_ENDED)
			free_abandoned(call, call_text_or(call, "job", ""), view, &failure);
		if (of_job.kind != ERROR_NONE)
			view->failure = of_job;
		else if (failure.kind != ERROR_NONE)
			view->failure = failure;
		break;
	}
	if (view->failure.kind == ERROR_NONE)
		return true;
	*err = view->failure;
	return false;
}

/* Whether the source can be read does not matter: sink and transform say what they cannot do. */
static struct job *begin(struct call *call, const struct replay_wish *wish, struct error *err)
{
	struct job_options *options = job_load_named(call->engine->home, call_text_or(call, "job", ""), err);

	return options ? job_replay(call->engine, options, wish, err) : NULL;
}

static void say_result(struct call *call, const struct replay_view *view)
{
	const struct dlq_replay *run = &view->run;

	/* Also to one who has cancelled: how far it came is what they wait for. */
	call->send_line(call, json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:I}", "run", (json_int_t)run->run, "done",
	                                (json_int_t)run->done, "no_effect", (json_int_t)run->no_effect, "failed_again",
	                                (json_int_t)run->failed_again, "left", (json_int_t)run->left, "job",
	                                call_text_or(call, "job", ""), "group", (json_int_t)run->group));
	tell_unfit(call, run->unfit);
	if (run->left > run->unfit)
		call_note(call, "%llu letters were not replayed and are as they were: the replay was stopped, or their table is paused",
		          (unsigned long long)(run->left - run->unfit));
	if (!run->done && !run->no_effect && !run->failed_again && !run->left)
		call_note(call, "nothing was replayed: no letter of group %lld is open%s", (long long)run->group,
		          json_object_get(call->args, "state") ? " in such a state" : "");
	call->exit = run->failed_again ? 1 : 0;
}

/* The job that was there a moment ago may have ended, and one that was not may be starting. */
static bool has_moved(struct call *call, const struct error *failure)
{
	if (atomic_load(&call->is_cancelled) || atomic_load(&call->engine->is_stopping))
		return false;
	if (strcmp(failure->code, "job_running") == 0)
		clock_sleep_ms(LOOK_MS);
	return strcmp(failure->code, "replay_stopped") == 0 || strcmp(failure->code, "job_running") == 0;
}

/* Opened for this alone, the job merges before it ends: then the replica shows the rows. */
static void wait_for_merge(struct call *call, struct job *job)
{
	uint64_t run = job_replay_run(job);

	while (run && !job_wait_run(job, run, LOOK_MS) && !atomic_load(&call->is_cancelled) && !atomic_load(&call->is_gone))
		continue;
}

static bool replay(struct call *call, const struct replay_wish *wish, struct error *err)
{
	struct replay_view view = { .phase = REPLAY_NONE };
	struct error failure = { 0 };
	struct job *job = NULL;
	int tries = TRIES;

	do {
		failure = (struct error){ 0 };
		job = begin(call, wish, &failure);
		if (job)
			wait_for(call, job, &view, &failure);
	} while (failure.kind != ERROR_NONE && --tries && has_moved(call, &failure));
	if (job)
		wait_for_merge(call, job);
	if (view.run.run)
		say_result(call, &view);
	if (failure.kind != ERROR_NONE)
		*err = failure;
	return failure.kind == ERROR_NONE;
}

bool run_dlq_replay(struct call *call, struct error *err)
{
	struct replay_wish wish = { .group = call_number(call, "group", 0), .rate = call_number(call, "rate", 0) };
	struct job_options *options;

	if (wish.group <= 0)
		return fail(err, ERROR_USAGE, "bad_argument", "'dlq replay' needs --group with the number of a group, from 1");
	if (json_object_get(call->args, "rate") && wish.rate <= 0)
		return fail(err, ERROR_USAGE, "bad_argument", "0 is given for '--rate', a number of messages a second from 1 is "
		            "allowed; without it they go as fast as it goes");
	if (!dlq_states_read(call_text_or(call, "state", ""), &wish.states, err) || !(options = options_of(call, err)))
		return false;
	json_object_set_new(call->args, "job", json_string(options->name));
	job_options_free(options);
	snprintf(wish.who, sizeof(wish.who), "%s", call->peer.user);
	return is_confirmed(call, call_text_or(call, "job", ""), &wish, err) && replay(call, &wish, err);
}

/*
 * discard
 */

/* A choice must be said: nothing at all would be every letter. */
static bool has_choice(struct call *call)
{
	static const char *const names[] = { "group", "state", "table", "code" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (json_object_get(call->args, names[i]))
			return true;
	}
	return call_flag(call, "all");
}

static bool check_discard(struct call *call, struct error *err)
{
	if (has_choice(call) == (json_object_get(call->args, "id") != NULL))
		return fail(err, ERROR_USAGE, "bad_argument", "'dlq discard' needs either --id N, or what is to be discarded: --group N, "
		            "--state, --table, --code, or --all");
	if (!json_object_get(call->args, "confirm"))
		return fail(err, ERROR_USAGE, "bad_argument", "'dlq discard' needs --confirm with the number of open letters");
	if (!*call_text_or(call, "why", ""))
		return fail(err, ERROR_USAGE, "bad_argument", "'dlq discard' needs --why: the journal keeps it");
	return true;
}

static bool discard(struct call *call, const char *job, uint64_t count, struct error *err)
{
	struct chosen_letters chosen = { 0 };
	struct dlq *dlq;
	bool is_fine;

	if (!chosen_read(call, job, &chosen, err))
		return false;
	dlq = store_open_of(call, job, DLQ_WRITE, err);
	is_fine = dlq && dlq_discard(dlq, &chosen.choice, call_number(call, "id", 0), count, err);
	dlq_close(dlq);
	chosen_clear(&chosen);
	return is_fine;
}

/* Which letters they were, as it was said. */
static json_t *discarded_line(struct call *call, const char *job, int64_t count)
{
	static const char *const names[] = { "id", "group", "state", "table", "code" };
	json_t *line = json_pack("{s:s}", "job", job);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (json_object_get(call->args, names[i]))
			json_object_set(line, names[i], json_object_get(call->args, names[i]));
	}
	json_object_set_new(line, "discarded", json_integer(count));
	return line;
}

bool run_dlq_discard(struct call *call, struct error *err)
{
	int64_t count = call_number(call, "confirm", 0);
	struct job_options *options;
	bool is_fine;

	if (!check_discard(call, err) || !(options = options_of(call, err)))
		return false;
	is_fine = job_hold_registered(call->engine, options->name, err);
	if (is_fine) {
		is_fine = discard(call, options->name, (uint64_t)count, err);
		job_let_name(call->engine, options->name);
	}
	if (is_fine)
		call_line(call, discarded_line(call, options->name, count));
	if (is_fine && !count)
		call_note(call, "nothing was discarded: none of these letters is open");
	job_options_free(options);
	return is_fine;
}
