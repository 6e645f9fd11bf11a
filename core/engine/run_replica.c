/* `weir merge` and `weir verify`. */
#include "engine/commands_private.h"
#include "pipeline/pipeline.h"
#include "sink/sink.h"

static bool open_job(struct call *call, struct job_options **out, struct error *err)
{
	const char *name;

	if (!call_text(call, "job", &name, err))
		return false;
	*out = job_load(call->engine->home, name, NULL, 0, err);
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

/* "orders" and "shop.orders" both name a table. */
static const char *plain_table(const struct job_options *options, const char *table)
{
	const char *dataset = pipeline_dataset(options);
	size_t len = strlen(dataset);

	return strncmp(table, dataset, len) == 0 && table[len] == '.' ? table + len + 1 : table;
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

static bool merge_until_done(struct call *call, struct merger *merger, const struct job_options *options,
                             const char *table, struct error *err)
{
	struct merge_result step = { .has_more = true };

	while (step.has_more) {
		step = (struct merge_result){ 0 };
		if (!merger_step(merger, table, &step, err))
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

	if (!merger_rebuild(merger, table, &step, err))
		return false;
	send_step(call, options, &step);
	return true;
}

bool run_merge(struct call *call, struct error *err)
{
	const char *table = call_text_or(call, "table", NULL);
	struct job_options *options;
	struct sink_setup setup;
	struct merger *merger;
	bool is_fine;

	/* Before anything is opened: a command that is refused makes no file. */
	if (!table && call_flag(call, "rebuild"))
		return fail(err, ERROR_USAGE, "bad_argument", "--rebuild needs the name of one table");
	if (!open_job(call, &options, err))
		return false;
	setup = setup_for(call, options);
	table = table ? plain_table(options, table) : NULL;
	merger = merger_open(&setup, err);
	is_fine = merger != NULL;
	if (merger && call_flag(call, "rebuild"))
		is_fine = rebuild(call, merger, options, table, err);
	else if (merger)
		is_fine = merge_until_done(call, merger, options, table, err);
	merger_close(merger);
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
		                                             "upsert mode keeps no changelog to compare with"));
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
	struct sink_setup setup;
	struct verified verified = { .call = call };
	bool is_equal = true, is_fine = true, has_changelog;

	if (!open_job(call, &options, err))
		return false;
	setup = setup_for(call, options);
	has_changelog = options->replication_mode != REPLICATION_UPSERT;
	if (options->replication_mode == REPLICATION_MERGE)
		is_fine = verify_run(&setup, send_verified, &verified, &is_equal, err);
	if (is_fine)
		send_verdict(call, options, has_changelog, is_equal, verified.tables);
	job_options_free(options);
	return is_fine;
}
