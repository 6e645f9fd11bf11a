/*
 * The result of a run, and of any job at rest, from its files: the ledger of each
 * table, its state in words, and the exit status.
 */
#include "engine/result_private.h"
#include "pipeline/pipeline.h"
#include "pipeline/witness.h"
#include "sink/bigquery.h"

#include <stdlib.h>
#include <unistd.h>

static const struct ledger no_ledger;

json_t *result_ledger(const struct ledger *ledger, uint64_t in_flight)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "received", (json_int_t)(ledger->received + in_flight),
	                 "written", (json_int_t)ledger->written, "filtered", (json_int_t)ledger->filtered, "dead_lettered",
	                 (json_int_t)ledger->dead_lettered, "parked", (json_int_t)ledger->parked, "in_flight",
	                 (json_int_t)in_flight, "repeated", (json_int_t)ledger->repeated, "rows", (json_int_t)ledger->rows);
}

static json_t *table_key(const struct table_schema *schema)
{
	json_t *key = json_array();

	for (size_t i = 0; schema && i < schema->key_count; i++) {
		struct span name = schema->columns[schema->keys[i]].name;

		json_array_append_new(key, json_stringn(name.at, name.len));
	}
	return key;
}

bool result_table_needs(struct dlq *dlq, const char *table, const struct table_schema *schema,
                        const struct ledger *ledger, bool *out_needs, struct error *err)
{
	uint64_t open = 0, needs = 0;

	if (dlq && !dlq_open_count(dlq, table, &open, &needs, err))
		return false;
	*out_needs = needs > 0 || (schema && (schema->notes & NOTE_NAME_COLLISION) && ledger->parked > 0);
	return true;
}

void result_table_name(const struct job_options *options, const struct table_schema *schema, char *out, size_t room)
{
	OWNED(text) name = text_new(4096);

	if (schema)
		pipeline_name_table(options, schema, name);
	snprintf(out, room, "%s", schema ? name->at : "-");
}

static bool read_paused(struct job_files *files, struct error *err)
{
	char *text = files->dlq ? dlq_paused_json(files->dlq, NULL, err) : NULL;
	json_t *list = text ? json_loads(text, 0, NULL) : NULL;
	size_t i;
	json_t *item;

	files->paused = json_object();
	json_array_foreach(list, i, item)
		json_object_set(files->paused, json_string_value(json_object_get(item, "table")), item);
	json_decref(list);
	free(text);
	return text || !files->dlq;
}

/* What the store remembers is read first: the warehouse may know more by then, never less. */
static bool open_files(struct job_files *files, struct sink_setup *setup, const struct home *home, struct error *err)
{
	struct job_paths paths;
	bool is_fine = true;

	*files = (struct job_files){ .arena = arena_new(1 << 16) };
	job_paths_make(&paths, home, setup->options->name);
	if (access(paths.store, F_OK) == 0)
		is_fine = (files->dlq = dlq_open(paths.store, DLQ_READ, err)) != NULL;
	job_paths_clear(&paths);
	is_fine = is_fine && read_paused(files, err) && table_facts_read(files, err) &&
	          (!files->dlq || witnesses_read(files->dlq, files->arena, setup, err)) &&
	          warehouse_look(setup, files->arena, &files->state, err);
	if (!is_fine)
		files_close(files);
	return is_fine;
}

bool files_open_as_they_are(struct job_files *files, const struct home *home, const struct job_options *options,
                            struct error *err)
{
	struct sink_setup setup = { .options = options, .warehouse = home->warehouse };

	return open_files(files, &setup, home, err);
}

/* A job that begins anew meanwhile forgets first in its store, then in the warehouse: asked again, both have forgotten. */
static bool check_commits(struct job_files *files, struct sink_setup *setup, struct error *err)
{
	struct error failure = { 0 };

	return witness_commits(setup, &files->state, &failure) ||
	       (witnesses_read(files->dlq, files->arena, setup, err) && witness_commits(setup, &files->state, err));
}

struct losing {
	json_t *lost;
	const char *dataset;
};

static void add_lost(void *context, struct span table, const char *sentence)
{
	struct losing *losing = context;
	OWNED(text) name = text_new(4096);

	text_add_format(name, "%s.", losing->dataset);
	text_add_span(name, table);
	json_object_set_new(losing->lost, name->at, json_string(sentence));
}

bool files_open(struct job_files *files, const struct home *home, const struct job_options *options,
                struct error *err)
{
	struct sink_setup setup = { .options = options, .warehouse = home->warehouse };
	struct losing losing = { .dataset = options->replica_dataset };

	if (!open_files(files, &setup, home, err))
		return false;
	losing.lost = files->lost = json_object();
	if (!files->dlq && !files->state.is_known)
		return true;
	if ((files->dlq || witness_no_store(options, &files->state, err)) && check_commits(files, &setup, err) && warehouse_lost(&setup, add_lost, &losing, err))
		return true;
	files_close(files);
	return false;
}

void files_close(struct job_files *files)
{
	dlq_close(files->dlq);
	arena_free(files->arena);
	json_decref(files->paused);
	json_decref(files->lost);
	json_decref(files->troubles);
	*files = (struct job_files){ 0 };
}

const struct ledger *files_ledger(const struct job_files *files, size_t table)
{
	return files->state.ledgers ? &files->state.ledgers[table] : &no_ledger;
}

const struct table_schema *files_schema(const struct job_files *files, size_t table)
{
	return table < files->state.table_count ? files->state.tables[table] : NULL;
}

/* Worst first: what needs somebody, then what somebody has paused. */
static enum job_state table_state(bool needs, const json_t *paused)
{
	return needs ? STATE_NEEDS_YOU : paused ? STATE_PAUSED : STATE_OK;
}

/* {"since","who","why"} */
static json_t *paused_member(const json_t *paused)
{
	json_t *member = json_copy((json_t *)paused);

	json_object_del(member, "table");
	return member;
}

/* What the destination said when it was parked, as long as it is: a job that runs says it anew (live.c). Always true. */
static bool add_trouble(json_t *object, const char *code, const char *sentence)
{
	json_object_set_new(object, "trouble", json_true());
	json_object_set_new(object, "code", json_string(code));
	json_object_set_new(object, "reason", json_string(code));
	json_object_set_new(object, "sentence", json_string(sentence));
	return true;
}

json_t *result_table(const struct job_files *files, const struct job_options *options, size_t table, bool *out_needs,
                     struct error *err)
{
	const struct table_schema *schema = files_schema(files, table);
	const struct ledger *ledger = files_ledger(files, table);
	char name[2300];
	const json_t *paused, *lost;
	const char *code, *sentence;
	json_t *object, *notes;

	result_table_name(options, schema, name, sizeof(name));
	if (!result_table_needs(files->dlq, name, schema, ledger, out_needs, err))
		return NULL;
	lost = json_object_get(files->lost, name);
	*out_needs = *out_needs || lost;
	object = json_pack("{s:s}", "table", name);
	json_object_update_new(object, result_ledger(ledger, 0));
	paused = json_object_get(files->paused, name);
	if (!paused && ledger->parked && files->dlq && dlq_parked_why(files->dlq, name, &code, &sentence) &&
	    !bigquery_code_passes(code))
		*out_needs = add_trouble(object, code, sentence);
	json_object_set_new(object, "state", json_string(progress_state_name(table_state(*out_needs, paused))));
	if (paused)
		json_object_set_new(object, "paused", paused_member(paused));
	json_object_set_new(object, "key", table_key(schema));
	notes = result_notes(files->dlq, name, schema);
	if (lost)
		json_array_insert_new(notes, 0, json_pack("{s:s, s:O}", "code", "replica_lost", "text", lost));
	json_object_set_new(object, "notes", notes);
	if (table_facts_add(object, files, name, err))
		return object;
	json_decref(object);
	return NULL;
}

bool result_is_nothing(const struct job_files *files, size_t table)
{
	json_t *notes;
	bool has_notes;

	if (table < files->state.table_count || files_ledger(files, table)->received)
		return false;
	notes = result_notes(files->dlq, "-", NULL);
	has_notes = json_array_size(notes) > 0;
	json_decref(notes);
	return !has_notes;
}

static bool add_tables(json_t *result, const struct job_files *files, const struct job_options *options,
                       struct ledger *sum, bool *balances, bool *any_needs,
                       struct error *err)
{
	json_t *tables = json_array();

	json_object_set_new(result, "tables", tables);
	for (size_t i = 0; i <= files->state.table_count; i++) {
		bool needs = false;
		json_t *table;

		if (result_is_nothing(files, i))
			break;
		table = result_table(files, options, i, &needs, err);
		if (!table)
			return false;
		json_array_append_new(tables, table);
		ledger_add(sum, files_ledger(files, i));
		*balances = *balances && ledger_balances(files_ledger(files, i), 0);
		*any_needs = *any_needs || needs;
	}
	return true;
}

static enum job_state state_of(const json_t *object)
{
	const char *name = json_string_value(json_object_get(object, "state"));

	for (int i = 0; name && i < JOB_STATES; i++) {
		if (strcmp(progress_state_name((enum job_state)i), name) == 0)
			return (enum job_state)i;
	}
	return STATE_STOPPED;
}

enum job_state result_tables_state(const json_t *line)
{
	enum job_state worst = STATE_OK;
	size_t i;
	json_t *table;

	json_array_foreach(json_object_get(line, "tables"), i, table) {
		enum job_state state = state_of(table);

		worst = state < worst ? state : worst;
	}
	return worst;
}

enum job_state job_shown_state(enum job_state own, enum job_state tables)
{
	return tables != STATE_OK && tables < own ? tables : own;
}

enum job_state result_shown_state(const json_t *line)
{
	return job_shown_state(state_of(line), result_tables_state(line));
}

static json_t *job_notes(const struct run_facts *facts)
{
	json_t *notes = json_array();
	const struct error *all[] = { facts->note, facts->failure };

	for (size_t i = 0; i < 2; i++) {
		if (all[i] && all[i]->kind != ERROR_NONE)
			json_array_append_new(notes, json_pack("{s:s, s:s}", "code", all[i]->code, "text", all[i]->message));
	}
	return notes;
}

static int exit_of(const struct run_facts *facts, bool balanced, bool any_needs)
{
	if (facts->failure && facts->failure->kind != ERROR_NONE)
		return error_policies[facts->failure->kind].exit_status;
	if (!balanced)
		return 70;
	return any_needs || (facts->note && facts->note->kind != ERROR_NONE) ? 1 : 0;
}

static json_int_t sum_of(const json_t *result, const char *member)
{
	json_int_t sum = 0;
	size_t i;
	json_t *table;

	json_array_foreach(json_object_get(result, "tables"), i, table)
		sum += json_integer_value(json_object_get(table, member));
	return sum;
}

json_t *result_make(const struct home *home, const struct job_options *options, const struct run_facts *facts,
                    int *out_exit, struct error *err)
{
	struct job_files files;
	struct ledger sum = { 0 };
	json_t *result;
	bool any_needs = false, balanced = true;

	if (!files_open(&files, home, options, err))
		return NULL;
	result = json_pack("{s:s, s:s}", "job", options->name, "state", facts->state);
	if (!add_tables(result, &files, options, &sum, &balanced, &any_needs, err)) {
		json_decref(result);
		files_close(&files);
		return NULL;
	}
	balanced = balanced && ledger_balances(&sum, 0);
	json_object_update_new(result, result_ledger(&sum, facts->in_flight));
	json_object_set_new(result, "open_letters", json_integer(sum_of(result, "open_letters")));
	json_object_set_new(result, "open_groups", json_integer((json_int_t)files.trouble_count));
	json_object_set_new(result, "balanced", json_boolean(balanced));
	json_object_set_new(result, "this_run", result_ledger(facts->this_run ? facts->this_run : &no_ledger,
	                                                       facts->in_flight));
	json_object_set_new(result, "notes", job_notes(facts));
	files_close(&files);
	*out_exit = exit_of(facts, balanced, any_needs);
	return result;
}
