/* `weir merge` and `weir verify`. */
#include "base/clock.h"
#include "engine/commands_private.h"
#include "engine/result_private.h"
#include "pipeline/pipeline.h"
#include "pipeline/witness.h"
#include "sink/sink.h"

#define LOCK_WAIT_MS 60000 /* for one step, behind the 5 s that SQLite waits by itself */
#define LOCK_LOOK_MS 200

static bool open_job(struct call *call, struct job_options **out, struct error *err)
{
	const char *name;

	if (!call_text(call, "job", &name, err))
		return false;
	*out = job_load_named(call->engine->home, name, err);
	return *out != NULL;
}

static struct sink_setup setup_for(const struct call *call, const struct job_options *options)
{
	return (struct sink_setup){
		.options = options,
		.warehouse = call->engine->home->warehouse,
		.cache_bytes = options->local_cache_bytes / 2,
	};
}

static bool send_step(struct call *call, const struct job_options *options, const struct merge_result *step)
{
	char name[600];

	if (!step->table[0])
		return true;
	snprintf(name, sizeof(name), "%s.%s", options->replica_dataset, step->table);
	return call_line(call, json_pack("{s:s, s:I, s:I}", "table", name, "changes", (json_int_t)step->changes, "rows",
	                                 (json_int_t)step->rows));
}

/* A lock that another merge holds: the job's own, or another job's into the same dataset. */
struct lock_wait {
	int64_t until_ms; /* 0: nothing was in the way yet */
};

/* Is it worth another try? An operator who merges beside a running job is not to be sent away because the job's own
 * merger is at it; but who waits is told, and not for ever. */
static bool lock_wait(struct call *call, const struct job_options *options, struct lock_wait *wait,
                      const struct error *failure)
{
	if (strcmp(failure->code, "database_locked") != 0 || atomic_load(&call->is_cancelled) || atomic_load(&call->is_gone))
		return false;
	if (!wait->until_ms) {
		wait->until_ms = clock_mono_ms() + LOCK_WAIT_MS;
		call_note(call, "waiting for another merge into '%s', at most %d seconds", options->replica_dataset,
		          LOCK_WAIT_MS / 1000);
	}
	if (clock_mono_ms() >= wait->until_ms)
		return false;
	clock_sleep_ms(LOCK_LOOK_MS);
	return true;
}

static bool step_patiently(struct call *call, struct merger *merger, const struct job_options *options, const char *table,
                           bool (*act)(struct merger *, const char *, struct merge_result *, struct error *),
                           struct merge_result *out, struct error *err)
{
	struct lock_wait wait = { 0 };
	struct error failure = { 0 };

	while (!act(merger, table, out, &failure)) {
		if (!lock_wait(call, options, &wait, &failure)) {
			*err = failure;
			return false;
		}
		failure = (struct error){ 0 };
	}
	return true;
}

static bool merge_until_done(struct call *call, struct merger *merger, const struct job_options *options,
                             const char *table, struct error *err)
{
	struct merge_result step = { .has_more = true };

	while (step.has_more) {
		step = (struct merge_result){ 0 };
		if (!step_patiently(call, merger, options, table, merger_step, &step, err))
			return false;
		if (!send_step(call, options, &step))
			break;
	}
	return true;
}

static bool rebuild(struct call *call, struct merger *merger, const struct job_options *options, const char *table,
                    struct error *err)
{
	struct merge_result step = { 0 };

	if (!step_patiently(call, merger, options, table, merger_rebuild, &step, err))
		return false;
	send_step(call, options, &step);
	return true;
}

/* A job's files, and what its store remembers of them. */
struct replica_files {
	struct job_files files;
	struct sink_setup setup;
};

static bool open_files(struct call *call, const struct job_options *options, struct replica_files *out, struct error *err)
{
	out->setup = setup_for(call, options);
	return files_open(&out->files, call->engine->home, options, err) &&
	       (!out->files.dlq || witnesses_read(out->files.dlq, out->files.arena, &out->setup, err));
}

static bool keep_patiently(struct call *call, const struct job_options *options, struct dlq *dlq, struct merger *merger,
                           struct error *err)
{
	struct lock_wait wait = { 0 };
	struct error failure = { 0 };

	while (!witness_keep_replicas(dlq, options, merger, &failure)) {
		if (!lock_wait(call, options, &wait, &failure)) {
			*err = failure;
			return false;
		}
		failure = (struct error){ 0 };
	}
	return true;
}

static bool remember(struct call *call, const struct job_options *options, struct merger *merger, struct error *err)
{
	struct job_paths paths;
	struct dlq *dlq;
	bool is_fine;

	job_paths_make(&paths, call->engine->home, options->name);
	dlq = dlq_open(paths.store, DLQ_WRITE, err);
	job_paths_clear(&paths);
	is_fine = dlq && keep_patiently(call, options, dlq, merger, err);
	dlq_close(dlq);
	return is_fine;
}

/* A lost replica is made again by the command that says so, not on the way. */
static bool none_is_lost(const struct replica_files *files, const struct job_options *options, const char *table,
                         struct error *err)
{
	const char *name;
	const json_t *sentence;
	size_t len = strlen(options->replica_dataset) + 1;

	json_object_foreach(files->files.lost, name, sentence) {
		if (!table || strcmp(name + len, table) == 0)
			return fail(err, ERROR_CONFIG, "replica_lost", "table '%s': %s; 'weir merge %s %s --rebuild' makes it again from "
			            "the changelog", name, json_string_value(sentence), options->name, name + len);
	}
	return true;
}

static bool merge(struct call *call, const struct job_options *options, struct replica_files *files, const char *table,
                  struct error *err)
{
	struct merger *merger = merger_open(&files->setup, err);
	bool is_fine = merger && (!table || files_have_table(&files->files, options, table, err));

	if (is_fine && call_flag(call, "rebuild"))
		is_fine = rebuild(call, merger, options, table, err);
	else if (is_fine)
		is_fine = merge_until_done(call, merger, options, table, err) && none_is_lost(files, options, table, err);
	/* A job that has never run has no store. */
	if (is_fine && files->files.dlq)
		is_fine = remember(call, options, merger, err);
	merger_close(merger);
	return is_fine;
}

bool run_merge(struct call *call, struct error *err)
{
	const char *table = call_text_or(call, "table", NULL);
	struct replica_files files = { 0 };
	struct job_options *options;
	bool is_fine;

	/* Before anything is opened: a command that is refused makes no file. */
	if (!table && call_flag(call, "rebuild"))
		return fail(err, ERROR_USAGE, "bad_argument", "--rebuild needs the name of one table");
	if (!open_job(call, &options, err))
		return false;
	table = table ? table_plain_name(options, table) : NULL;
	is_fine = open_files(call, options, &files, err) && merge(call, options, &files, table, err);
	files_close(&files.files);
	job_options_free(options);
	return is_fine;
}

struct verified {
	struct call *call;
	size_t tables;
};

static void send_verified(void *context, const struct verify_table *table)
{
	struct verified *verified = context;

	verified->tables++;
	call_line(verified->call, json_pack("{s:s, s:I, s:b, s:s?}", "table", table->table, "rows", (json_int_t)table->rows, "equal",
	                          table->is_equal, "first_difference", table->first_difference));
}

static void send_verdict(struct call *call, const struct job_options *options, bool has_changelog, bool is_equal,
                         size_t tables)
{
	json_t *last = json_pack("{s:s}", "job", options->name);

	json_object_set_new(last, "equal", has_changelog ? json_boolean(is_equal) : json_null());
	if (!has_changelog)
		json_object_set_new(last, "notes", json_pack("[{s:s, s:s}]", "code", "no_changelog", "text",
		                                             options->replication_mode == REPLICATION_APPEND
		                                             ? "rows are added as they come; there is no changelog and no replica to compare"
		                                             : "upsert mode keeps no changelog to compare with"));
	else if (!tables)
		json_object_set_new(last, "notes", json_pack("[{s:s, s:s}]", "code", "no_replica", "text",
		                                             "the job has no replica that could be compared"));
	else if (!is_equal)
		json_object_set_new(last, "code", json_string("replica_differs"));
	call->exit = has_changelog && !is_equal ? 1 : 0;
	call_line(call, last);
}

bool run_verify(struct call *call, struct error *err)
{
	struct job_options *options;
	struct replica_files files = { 0 };
	struct verified verified = { .call = call };
	bool is_equal = true, is_fine, has_changelog;

	if (!open_job(call, &options, err))
		return false;
	is_fine = open_files(call, options, &files, err);
	has_changelog = options->replication_mode != REPLICATION_UPSERT && options->replication_mode != REPLICATION_APPEND;
	if (is_fine && options->replication_mode == REPLICATION_MERGE)
		is_fine = verify_run(&files.setup, send_verified, &verified, &is_equal, err);
	if (is_fine)
		send_verdict(call, options, has_changelog, is_equal, verified.tables);
	files_close(&files.files);
	job_options_free(options);
	return is_fine;
}
