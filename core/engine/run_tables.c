/* `weir tables`: what the tables' files say. */
#include "base/clean.h"
#include "engine/commands_private.h"
#include "engine/metrics_private.h"
#include "engine/result_private.h"
#include "pipeline/pipeline.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA_BYTES_MAX ((size_t)400 << 10) /* columns, and again the timeline */

/*
 * tables
 */

static json_t *schema_json(const struct table_schema *schema)
{
	json_t *columns = json_array();

	for (size_t i = 0; schema && i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		const char *guess = result_column_guess(column);
		json_t *row;
		OWNED(text) type = text_new(1 << 20);

		bq_type_print(type, &column->type);
		row = json_pack("{s:s%, s:s, s:i, s:b}", "name", column->name.at, (int)column->name.len, "type", type->at,
		                "key_ordinal", (int)column->key_ordinal, "inferred", column->is_inferred);
		if (!span_equal(column->source_name, column->name))
			json_object_set_new(row, "source", json_stringn(column->source_name.at, column->source_name.len));
		if (guess)
			json_object_set_new(row, "unsure", json_string(guess));
		json_array_append_new(columns, row);
	}
	return columns;
}

/* NULL: err says why. */
static json_t *timeline_json(struct dlq *dlq, const char *table, struct error *err)
{
	char *text;
	json_t *timeline;

	if (!dlq)
		return json_array();
	text = dlq_timeline_json(dlq, table, err);
	if (!text)
		return NULL;
	timeline = json_loads(text, JSON_ALLOW_NUL, NULL);
	free(text);
	if (!timeline)
		fail(err, ERROR_BUG, "state_damaged", "the schema timeline of '%s' is not JSON", table);
	return timeline;
}

static size_t printed_size(const json_t *value)
{
	char *line = json_line(value);
	size_t size = line ? strlen(line) : 0;

	free(line);
	return size;
}

/* Takes items off one end until the rest fits; gives how many. */
static size_t trim(json_t *list, size_t room, bool from_front)
{
	size_t count = json_array_size(list), kept = 0;

	for (size_t i = 0; i < count; i++) {
		size_t size = printed_size(json_array_get(list, from_front ? count - 1 - i : i));

		if (size > room)
			break;
		room -= size;
		kept++;
	}
	for (size_t i = kept; i < count; i++)
		json_array_remove(list, from_front ? 0 : json_array_size(list) - 1);
	return count - kept;
}

/* One answer is one line of the socket: the oldest changes and the last columns are left out, and counted. */
static void set_list(json_t *row, const char *name, json_t *list, bool from_front)
{
	size_t left_out = trim(list, SCHEMA_BYTES_MAX, from_front);
	OWNED(text) counter = text_new(64);

	json_object_set_new(row, name, list);
	text_add_format(counter, "%s_left_out", name);
	if (left_out)
		json_object_set_new(row, counter->at, json_integer((json_int_t)left_out));
}

/* Steps of one statement have its position: each gets the number of rows that it has given other values. */
static void add_rows(void *context, const unsigned char *position, int64_t rows)
{
	char at[2 * POSITION_BYTES + 1];
	const json_t *change;
	json_t *step;
	size_t i, k;

	for (i = 0; i < POSITION_BYTES; i++)
		snprintf(at + 2 * i, 3, "%02x", position[i]);
	json_array_foreach((const json_t *)context, i, change) {
		json_array_foreach(json_object_get(change, "steps"), k, step) {
			const char *place = json_string_value(json_object_get(step, "at"));

			if (place && strcmp(place, at) == 0)
				json_object_set_new(step, "rows", json_integer((json_int_t)rows));
		}
	}
}

static bool add_schema(const struct job_files *files, size_t table, const struct sink_setup *setup, json_t *row,
                       struct error *err)
{
	const struct table_schema *schema = files_schema(files, table);
	json_t *timeline = timeline_json(files->dlq, json_string_value(json_object_get(row, "table")), err);

	if (!timeline)
		return false;
	if (schema && !warehouse_altered(setup, arena_string(files->arena, schema->name), add_rows, timeline, err)) {
		json_decref(timeline);
		return false;
	}
	set_list(row, "columns", schema_json(schema), false);
	set_list(row, "timeline", timeline, true);
	return true;
}

struct table_list {
	json_t *rows;
	bool wants_schema;
	const char *wanted; /* one table, as it was typed; NULL: all */
	json_t *near;       /* names of those that are not meant */
};

/* Another one than the one that was asked for. */
static bool is_left_out(struct table_list *list, const json_t *row)
{
	json_t *name = json_object_get(row, "table");

	if (!list->wanted || table_is_named(json_string_value(name), list->wanted))
		return false;
	json_array_append(list->near, name);
	return true;
}

/* What each of them does now, when this engine knows the job. */
static void add_live(struct engine *engine, const char *name, const json_t *rows)
{
	const struct job *job;

	pthread_mutex_lock(&engine->lock);
	job = live_find(engine, name);
	if (job)
		live_add_tables(rows, job);
	pthread_mutex_unlock(&engine->lock);
}

static bool list_tables(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	struct table_list *list = context;
	struct sink_setup setup = { .options = options, .warehouse = call->engine->home->warehouse };
	struct job_files files;
	json_t *rows;
	bool is_fine = true;

	if (!files_open(&files, call->engine->home, options, err))
		return because(err, "job '%s'", options->name);
	rows = json_array();
	for (size_t i = 0; is_fine && i <= files.state.table_count; i++) {
		bool needs = false;
		json_t *row;

		if (i == files.state.table_count && !files_ledger(&files, i)->received)
			break;
		row = result_table(&files, options, i, &needs, err);
		is_fine = row != NULL;
		if (!row)
			break;
		if (is_left_out(list, row)) {
			json_decref(row);
			continue;
		}
		json_object_set_new(row, "job", json_string(options->name));
		is_fine = !list->wants_schema || add_schema(&files, i, &setup, row, err);
		json_array_append_new(rows, row);
	}
	files_close(&files);
	add_live(call->engine, options->name, rows);
	json_array_extend(list->rows, rows);
	json_decref(rows);
	return is_fine;
}

/* The rows of one state, in the order of jobs and tables. */
static void send_rows(struct call *call, const json_t *rows, enum job_state state)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		if (strcmp(json_string_value(json_object_get(row, "state")), progress_state_name(state)) == 0)
			call_line(call, json_incref(row));
	}
}

static bool no_such_table(struct call *call, const struct table_list *list, struct error *err)
{
	const char *job = call_text_or(call, "job", NULL);
	OWNED(text) who = text_new(128);

	if (job)
		text_add_format(who, "job '%s' has no table", job);
	else
		text_add(who, "no job has a table");
	return table_unknown(who->at, list->wanted, list->near, err);
}

bool run_tables(struct call *call, struct error *err)
{
	struct table_list list = { .rows = json_array(), .wants_schema = call_flag(call, "schema"),
		                   .wanted = call_text_or(call, "table", NULL), .near = json_array() };
	bool is_fine = job_each(call, call_text_or(call, "job", NULL), list_tables, &list, err);

	/* Worst first. What could be read is shown also when a job could not. */
	for (int state = 0; state < JOB_STATES; state++) {
		if (state == STATE_NEEDS_YOU || !call_flag(call, "failing"))
			send_rows(call, list.rows, (enum job_state)state);
	}
	if (is_fine && list.wanted && !json_array_size(list.rows))
		is_fine = no_such_table(call, &list, err);
	json_decref(list.rows);
	json_decref(list.near);
	return is_fine;
}
