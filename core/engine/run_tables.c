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

/* Only read: jobs are looked at by several threads. */
struct table_wish {
	bool wants_schema;
	const char *wanted; /* one table, as it was typed; NULL: all */
};

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

/* A row, or the name of a table that is not meant. */
static bool add_table(const struct job_files *files, size_t table, const struct sink_setup *setup,
                      const struct table_wish *wish, json_t *answer, struct error *err)
{
	bool needs = false;
	json_t *row = result_table(files, setup->options, table, &needs, err), *name = json_object_get(row, "table");
	bool is_fine = row != NULL;

	if (is_fine && wish->wanted && !table_is_named(json_string_value(name), wish->wanted)) {
		json_array_append(json_object_get(answer, "near"), name);
	} else if (is_fine) {
		json_object_set_new(row, "job", json_string(setup->options->name));
		is_fine = !wish->wants_schema || add_schema(files, table, setup, row, err);
		json_array_append(json_object_get(answer, "rows"), row);
	}
	json_decref(row);
	return is_fine;
}

/* {"rows": as far as they could be read, "near": names} */
static json_t *look_at_tables(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	struct sink_setup setup = { .options = options, .warehouse = call->engine->home->warehouse };
	struct job_files files;
	json_t *answer;
	bool is_fine = true;

	if (!files_open(&files, call->engine->home, options, err)) {
		because(err, "job '%s'", options->name);
		return NULL;
	}
	answer = json_pack("{s:[], s:[]}", "rows", "near");
	for (size_t i = 0; is_fine && i <= files.state.table_count; i++) {
		if (result_is_nothing(&files, i))
			break;
		is_fine = add_table(&files, i, &setup, context, answer, err);
	}
	files_close(&files);
	add_live(call->engine, options->name, json_object_get(answer, "rows"));
	return answer;
}

/* Worst first; those of one state in the order of jobs and tables. Gives how many there are, sent or not. */
static size_t send_rows(struct call *call, const json_t *answers)
{
	size_t i, k, count = 0;
	const json_t *answer;
	json_t *row;

	for (int state = 0; state < JOB_STATES; state++) {
		const char *name = progress_state_name((enum job_state)state);

		json_array_foreach(answers, i, answer) {
			json_array_foreach(json_object_get(answer, "rows"), k, row) {
				if (strcmp(json_string_value(json_object_get(row, "state")), name) != 0)
					continue;
				count++;
				if (state == STATE_NEEDS_YOU || !call_flag(call, "failing"))
					call_line(call, json_incref(row));
			}
		}
	}
	return count;
}

static bool no_such_table(struct call *call, const char *wanted, const json_t *answers, struct error *err)
{
	const char *job = call_text_or(call, "job", NULL);
	OWNED(text) who = text_new(128);
	json_t *near = json_array(), *answer;
	size_t i;

	json_array_foreach(answers, i, answer)
		json_array_extend(near, json_object_get(answer, "near"));
	if (job)
		text_add_format(who, "job '%s' has no table", job);
	else
		text_add(who, "no job has a table");
	table_unknown(who->at, wanted, near, err);
	json_decref(near);
	return false;
}

/* What could be read is shown also when a job could not. */
bool run_tables(struct call *call, struct error *err)
{
	struct table_wish wish = { .wants_schema = call_flag(call, "schema"), .wanted = call_text_or(call, "table", NULL) };
	bool is_fine;
	json_t *answers = job_look_all(call, call_text_or(call, "job", NULL), look_at_tables, &wish, &is_fine, err);
	size_t count = send_rows(call, answers);

	if (is_fine && wish.wanted && !count)
		is_fine = no_such_table(call, wish.wanted, answers, err);
	json_decref(answers);
	return is_fine;
}
