/* `weir job list | show | create | set | delete`. */
#include "base/file.h"
#include "dlq/dlq.h"
#include "engine/commands_private.h"
#include "engine/job_private.h"
#include "engine/journal.h"
#include "engine/result_private.h"
#include "pipeline/pipeline.h"
#include "google/google.h"
#include "runner/runner.h"
#include "source/subscription.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Where the job names topics: what is read is not in its file. */
static void add_own_subscriptions(json_t *line, const struct job_options *options)
{
	struct pubsub_names topics;
	json_t *list;

	if (!options->input_topics || !options->project ||
	    !pubsub_names_read(PUBSUB_TOPIC, options->input_topics, options->project, &topics, NULL))
		return;
	list = json_array();
	for (size_t i = 0; i < topics.count; i++) {
		char name[PUBSUB_NAME_BYTES];

		if (subscription_own_name(options->name, topics.items[i], options->project, name, NULL))
			json_array_append_new(list, json_string(name));
	}
	pubsub_names_free(&topics);
	json_object_set_new(line, "subscriptions", list);
}

/* The members of run's last line, the state as it is now (shown, and the job's own), and with `show` the options. */
json_t *job_line(struct call *call, const struct job_options *options, bool with_options, struct error *err)
{
	struct job *running = job_find_running(call->engine, options->name);
	struct job_standing standing;
	struct progress_view view = { .state = STATE_STOPPED };
	struct run_facts facts = { .this_run = &view.this_run };
	json_t *line;
	int ignored;

	job_standing(call->engine, options->name, &standing);
	if (running) {
		struct progress *progress = job_progress(running);

		progress_look(progress, &view);
		progress_free(progress);
		facts.in_flight = view.in_flight;
	}
	facts.state = progress_state_name(standing.state);
	line = result_make(call->engine->home, options, &facts, &ignored, err);
	if (!line)
		return NULL;
	json_object_set(line, "own_state", json_object_get(line, "state"));
	json_object_set_new(line, "state", json_string(progress_state_name(result_shown_state(line))));
	json_object_set_new(line, "code", json_string(standing.code));
	json_object_set_new(line, "sentence", json_string(standing.sentence));
	json_object_set_new(line, "running", json_boolean(standing.is_running));
	json_object_set_new(line, "template", json_string(job_template_name(options->template)));
	if (with_options) {
		json_object_set(line, "parameters", options->parameters);
		add_own_subscriptions(line, options);
	}
	return line;
}

static json_t *look_at_job(struct call *call, const struct job_options *options, void *with_options, struct error *err)
{
	json_t *line = job_line(call, options, with_options != NULL, err);

	if (!line)
		because(err, "job '%s'", options->name);
	return line;
}

static bool send_jobs(struct call *call, const char *only, void *with_options, struct error *err)
{
	bool is_fine;
	json_t *lines = job_look_all(call, only, look_at_job, with_options, &is_fine, err), *line;
	size_t i;

	json_array_foreach(lines, i, line)
		call_line(call, json_incref(line));
	json_decref(lines);
	return is_fine;
}

bool run_job_list(struct call *call, struct error *err)
{
	return send_jobs(call, NULL, NULL, err);
}

bool run_job_show(struct call *call, struct error *err)
{
	const char *name;

	return call_text(call, "job", &name, err) && send_jobs(call, name, call, err);
}

/*
 * create and set
 */

bool run_job_create(struct call *call, struct error *err)
{
	const char *params[256];
	size_t count = call_params(call, params);
	const char *file;
	struct job_options *options;
	bool is_fine;

	if (!call_text(call, "file", &file, err))
		return false;
	if (!(options = job_load(call->engine->home, file, params, count, err)))
		return false;
	journal_act_job(call, options->name);
	is_fine = job_register(call->engine, options, call_flag(call, "replace"), err) && send_jobs(call, options->name, NULL, err);
	if (is_fine)
		column_names_tell(call, options);
	job_options_free(options);
	return is_fine;
}

/* What is set, beside what was, for the journal. */
static void tell_change(struct call *call, const struct job_options *options)
{
	struct error ignored = { 0 };
	struct job_options *old = job_load_named(call->engine->home, options->name, &ignored);
	char *old_text, *new_text, *lines;

	if (!old)
		return;
	old_text = job_options_text(old);
	new_text = job_options_text(options);
	lines = job_options_difference(old_text, new_text);
	journal_act_difference(call, lines);
	free(lines);
	free(new_text);
	free(old_text);
	job_options_free(old);
}

/* Also while the job runs, but not while it is deleted. */
static bool register_again(struct call *call, const struct job_options *options, struct error *err)
{
	bool is_fine;

	if (!job_hold_registered(call->engine, options->name, err))
		return false;
	is_fine = job_register(call->engine, options, true, err);
	job_let_name(call->engine, options->name);
	return is_fine;
}

bool run_job_set(struct call *call, struct error *err)
{
	const char *settings[256];
	const json_t *list = json_object_get(call->args, "name=values");
	size_t count = 0;
	const char *name;
	struct job_options *options;
	bool is_fine;

	if (!call_text(call, "job", &name, err))
		return false;
	for (; count < json_array_size(list) && count < 256; count++)
		settings[count] = json_string_value(json_array_get(list, count));
	if (!count)
		return fail(err, ERROR_USAGE, "bad_argument", "'job set' needs what to set: NAME=VALUE");
	if (!job_is_registered(call->engine->home, name, err) ||
	    !(options = job_load(call->engine->home, name, settings, count, err)))
		return false;
	tell_change(call, options);
	is_fine = job_options_startable(options, err) && register_again(call, options, err);
	if (is_fine) {
		job_open_again(call->engine, options->name);
		is_fine = send_jobs(call, options->name, call, err);
		column_names_tell(call, options);
	}
	job_options_free(options);
	return is_fine;
}

/*
 * delete
 */

static bool remove_file(const char *path, struct error *err)
{
	if (unlink(path) == 0 || errno == ENOENT)
		return true;
	return fail_errno(err, errno, "cannot remove '%s'", path);
}

static bool remove_big(const char *folder, struct error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool is_fine = true;

	while (dir && is_fine && (entry = readdir(dir))) {
		char *path;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		path = path_join(folder, entry->d_name);
		is_fine = remove_file(path, err);
		free(path);
	}
	if (dir)
		closedir(dir);
	if (is_fine && dir && rmdir(folder) != 0)
		return fail_errno(err, errno, "cannot remove '%s'", folder);
	return is_fine;
}

static bool remove_store(const char *store, struct error *err)
{
	static const char *const tails[] = { "-wal", "-shm", "" };
	bool is_fine = true;

	for (size_t i = 0; is_fine && i < 3; i++) {
		OWNED(text) path = text_new(8192);

		text_add_format(path, "%s%s", store, tails[i]);
		is_fine = remove_file(path->at, err);
	}
	return is_fine;
}

/* The warehouse forgets position and ledger, so that a new job of this name begins anew; its tables stay. */
static bool forget_position(struct call *call, const struct job_options *options, struct error *err)
{
	struct sink_setup setup = { .options = options, .warehouse = call->engine->home->warehouse, .incarnation = "" };
	const struct sink_ops *ops = sink_choose(options, err);
	struct sink *sink = ops ? ops->open(&setup, err) : NULL;
	bool is_fine = sink && ops->forget(sink, err);

	if (sink)
		ops->close(sink);
	return is_fine;
}

static bool remove_job(struct call *call, const struct job_options *options, bool has_run, struct error *err)
{
	OWNED(text) file = text_new(8192);
	struct job_paths paths;
	bool is_fine;

	job_paths_make(&paths, call->engine->home, options->name);
	text_add_format(file, "%s/%s.json", call->engine->home->jobs_config, options->name);
	/* The job file goes last: until then the job can be seen and deleted again. */
	is_fine = (!has_run || forget_position(call, options, err)) && remove_store(paths.store, err) &&
	          remove_big(paths.big, err) && remove_file(paths.doing, err) && remove_file(file->at, err);
	job_paths_clear(&paths);
	return is_fine;
}

static void tell_left(void *context, const char *name, const struct error *why)
{
	struct span project = pubsub_project(name);

	call_note(context, "%s; it gathers messages until you remove it: gcloud pubsub subscriptions delete %s --project %.*s",
	          why->message, pubsub_short_name(name), SPAN_ARG(project));
}

/* Those that were made for the job. One that cannot be removed now keeps nobody from deleting the job: it is told of. */
static void remove_subscriptions(struct call *call, const struct job_options *options)
{
	struct google *google = NULL;
	struct error why = { 0 };

	if (!options->input_topics)
		return;
	if (!secrets_serve(call->engine, options, &google, &why) ||
	    (!subscriptions_remove_own(options, google, tell_left, call, &why) && strcmp(why.code, "subscription_left") != 0))
		call_note(call, "the subscriptions of job '%s' (weir-%s-TOPIC) were not removed: %s", options->name, options->name,
		          why.message);
	google_close(google);
}

/* The name is ours: nobody begins the job meanwhile. */
static bool delete_job(struct call *call, const struct job_options *options, struct error *err)
{
	struct job_files files;
	uint64_t open = 0, needs = 0;
	bool is_fine, has_run;

	if (!files_open_as_they_are(&files, call->engine->home, options, err))
		return false;
	has_run = files.dlq != NULL || files.state.is_known;
	is_fine = !files.dlq || dlq_open_count(files.dlq, NULL, &open, &needs, err);
	files_close(&files);
	if (is_fine && open && !call_flag(call, "yes"))
		return fail(err, ERROR_CONFIG, "not_confirmed", "job '%s' has %llu open dead letters, which would be gone; "
		            "--yes deletes it all the same", options->name, (unsigned long long)open);
	if (!is_fine || !remove_job(call, options, has_run, err))
		return false;
	remove_subscriptions(call, options);
	return true;
}

static bool take_name(struct call *call, const char *name, struct error *err)
{
	struct error failure = { 0 };

	if (job_take_name(call->engine, name, true, &failure))
		return true;
	if (strcmp(failure.code, "job_running") == 0)
		return fail(err, ERROR_CONFIG, "wrong_state", "job '%s' runs; stop it first", name);
	*err = failure;
	return false;
}

bool run_job_delete(struct call *call, struct error *err)
{
	const char *name;
	struct job_options *options;
	bool is_fine;

	if (!call_text(call, "job", &name, err) || !(options = job_load_named(call->engine->home, name, err)))
		return false;
	is_fine = take_name(call, options->name, err);
	if (is_fine) {
		is_fine = delete_job(call, options, err);
		if (is_fine)
			job_give_up(call->engine, options->name);
		job_give_name(call->engine, options->name);
	}
	if (is_fine)
		call_line(call, json_pack("{s:s, s:s}", "job", options->name, "state", "deleted"));
	job_options_free(options);
	return is_fine;
}
