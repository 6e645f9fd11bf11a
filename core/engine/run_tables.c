/* `weir tables` and `weir why`: what a table's files say, and what to do about it. */
#include "base/clean.h"
#include "base/reason.h"
#include "engine/commands_private.h"
#include "engine/journal.h"
#include "engine/result_private.h"
#include "pipeline/pipeline.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA_BYTES_MAX ((size_t)400 << 10) /* columns, and again the timeline */
#define BEFORE_LINES 5
#define BEFORE_BYTES (4u << 20) /* a long silence is not searched to its beginning */

/*
 * tables
 */

static json_t *schema_json(const struct table_schema *schema)
{
	json_t *columns = json_array();

	for (size_t i = 0; schema && i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		OWNED(text) type = text_new(1 << 20);

		bq_type_print(type, &column->type);
		json_array_append_new(columns, json_pack("{s:s%, s:s, s:i, s:b}", "name", column->name.at,
		                                         (int)column->name.len, "type", type->at, "key_ordinal",
		                                         (int)column->key_ordinal, "inferred", column->is_inferred));
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

static bool add_schema(const struct job_files *files, size_t table, json_t *row, struct error *err)
{
	json_t *timeline = timeline_json(files->dlq, json_string_value(json_object_get(row, "table")), err);

	if (!timeline)
		return false;
	set_list(row, "columns", schema_json(files_schema(files, table)), false);
	set_list(row, "timeline", timeline, true);
	return true;
}

struct table_list {
	json_t *rows;
	bool wants_schema;
};

static bool list_tables(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	struct table_list *list = context;
	struct job_files files;
	bool is_fine = true;

	if (!files_open(&files, call->engine->home, options, err))
		return because(err, "job '%s'", options->name);
	for (size_t i = 0; is_fine && i <= files.state.table_count; i++) {
		bool needs = false;
		json_t *row;

		if (i == files.state.table_count && !files_ledger(&files, i)->received)
			break;
		row = result_table(&files, options, i, &needs, err);
		is_fine = row != NULL;
		if (!row)
			break;
		json_object_set_new(row, "job", json_string(options->name));
		is_fine = !list->wants_schema || add_schema(&files, i, row, err);
		json_array_append_new(list->rows, row);
	}
	files_close(&files);
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

bool run_tables(struct call *call, struct error *err)
{
	struct table_list list = { .rows = json_array(), .wants_schema = call_flag(call, "schema") };
	bool is_fine = job_each(call, call_text_or(call, "job", NULL), list_tables, &list, err);

	/* Worst first. What could be read is shown also when a job could not. */
	for (int state = 0; state < JOB_STATES; state++) {
		if (state == STATE_NEEDS_YOU || !call_flag(call, "failing"))
			send_rows(call, list.rows, (enum job_state)state);
	}
	json_decref(list.rows);
	return is_fine;
}

/*
 * why
 */

struct why {
	const char *wanted;
	json_t *answer;  /* of the worst match */
	bool needs;
};

/* "shop.orders", "orders", or "-". */
static bool is_wanted(const char *name, const char *wanted)
{
	const char *dot = strchr(name, '.');

	return strcmp(name, wanted) == 0 || (dot && strcmp(dot + 1, wanted) == 0);
}

static char *first_letter(struct job_files *files, const struct job_options *options, const char *table,
                          struct error *err)
{
	struct dlq_filter filter = { .job = options->name };

	return files->dlq ? dlq_first_letter(files->dlq, &filter, table, err) : NULL;
}

static json_t *next_steps(const struct job_options *options, const char *code, const json_t *letter)
{
	const struct reason *reason = reason_find(code);
	json_t *next = json_array();
	OWNED(text) line = text_new(4096);

	if (letter) {
		text_add_format(line, "weir dlq show %lld --job %s",
		                (long long)json_integer_value(json_object_get(letter, "id")), options->name);
		json_array_append_new(next, json_string(line->at));
		text_clear(line);
		text_add_format(line, "weir dlq list --job %s --group %lld", options->name,
		                (long long)json_integer_value(json_object_get(letter, "group")));
		json_array_append_new(next, json_string(line->at));
		text_clear(line);
	}
	text_add_format(line, "weir explain %s", code);
	json_array_append_new(next, json_string(line->at));
	if (reason)
		json_array_append_new(next, json_string(reason->next));
	return next;
}

static void explain_letter(json_t *answer, const struct job_options *options, const json_t *letter)
{
	const char *code = json_string_value(json_object_get(letter, "code"));
	const struct reason *reason = reason_find(code ? code : "");
	OWNED(text) sentence = text_new(8192);

	text_add_format(sentence, "%s%s%s", reason ? reason->summary : "", reason ? " " : "",
	                "The first bad event says: ");
	text_add(sentence, json_string_value(json_object_get(letter, "message")));
	json_object_set_new(answer, "code", json_string(code));
	json_object_set_new(answer, "sentence", json_string(sentence->at));
	json_object_set(answer, "since", json_object_get(letter, "first"));
	json_object_set(answer, "first", (json_t *)letter);
	json_object_set_new(answer, "next", next_steps(options, code ? code : "", letter));
}

/* Who wanted it, and how it goes on. */
static void explain_paused(json_t *answer, const struct job_options *options, const json_t *paused)
{
	const char *who = json_string_value(json_object_get(paused, "who"));
	const char *why = json_string_value(json_object_get(paused, "why"));
	const char *table = strchr(json_string_value(json_object_get(answer, "table")), '.');
	OWNED(text) text = text_new(65536);

	text_add(text, "The table is paused");
	text_add_format(text, "%s%s", who ? " by " : "", who ? who : "");
	text_add_format(text, "%s%s%s", why ? " (" : "", why ? why : "", why ? ")" : "");
	text_add(text, "; its messages are parked and come back in order when it goes on.");
	json_object_set_new(answer, "code", json_string("paused"));
	json_object_set_new(answer, "sentence", json_string(text->at));
	json_object_set(answer, "since", json_object_get(paused, "since"));
	json_object_set_new(answer, "first", json_null());
	text_clear(text);
	text_add_format(text, "weir resume %s %s", options->name, table ? table + 1 : "");
	json_object_set_new(answer, "next", json_pack("[s, s]", text->at, "weir explain paused"));
}

static void explain_other(json_t *answer, const struct job_options *options, bool needs, const char *lost)
{
	const char *code = lost ? "replica_lost" : needs ? "name_collision" : "";
	const struct reason *reason = reason_find(code);
	OWNED(text) sentence = text_new(8192);

	text_add(sentence, reason ? reason->summary : "Nothing is wrong with this table.");
	if (lost)
		text_add_format(sentence, " Of this one: %s.", lost);
	json_object_set_new(answer, "code", json_string(code));
	json_object_set_new(answer, "sentence", json_string(sentence->at));
	json_object_set_new(answer, "since", json_null());
	json_object_set_new(answer, "first", json_null());
	json_object_set_new(answer, "next", needs ? next_steps(options, code, NULL) : json_array());
}

static bool explain_table(struct job_files *files, const struct job_options *options, size_t table, struct why *why,
                          struct error *err)
{
	bool needs = false;
	json_t *row = result_table(files, options, table, &needs, err);
	const char *name = json_string_value(json_object_get(row, "table"));
	const json_t *paused = json_object_get(row, "paused");
	const char *lost = json_string_value(json_object_get(files->lost, name));
	json_t *letter = NULL;
	char *text;

	if (!row)
		return false;
	if (!is_wanted(name, why->wanted) || (why->answer && (why->needs || !needs))) {
		json_decref(row);
		return true;
	}
	text = lost ? NULL : first_letter(files, options, name, err);
	letter = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
	free(text);
	json_decref(why->answer);
	why->answer = json_pack("{s:s, s:s, s:O}", "table", name, "job", options->name, "state",
	                        json_object_get(row, "state"));
	why->needs = needs;
	if (letter)
		explain_letter(why->answer, options, letter);
	else if (paused && !needs)
		explain_paused(why->answer, options, paused);
	else
		explain_other(why->answer, options, needs, lost);
	if (paused)
		json_object_set(why->answer, "paused", (json_t *)paused);
	json_object_set_new(why->answer, "before", json_array());
	json_object_set(why->answer, "notes", json_object_get(row, "notes"));
	json_decref(letter);
	json_decref(row);
	return err->kind == ERROR_NONE;
}

static bool ask_job(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	struct why *why = context;
	struct job_files files;
	bool is_fine = true;

	if (!files_open(&files, call->engine->home, options, err))
		return because(err, "job '%s'", options->name);
	for (size_t i = 0; is_fine && i <= files.state.table_count; i++)
		is_fine = explain_table(&files, options, i, why, err);
	files_close(&files);
	return is_fine;
}

/* What the journal says of the time before it began: the cause often stands there. */
static void add_before(struct call *call, json_t *answer)
{
	const char *since = json_string_value(json_object_get(answer, "since"));
	struct journal_filter filter = {
		.job = json_string_value(json_object_get(answer, "job")),
		.table = json_string_value(json_object_get(answer, "table")),
		.with_jobless = true,
		.limit = BEFORE_LINES,
		.bytes_max = BEFORE_BYTES,
	};
	struct error ignored = { 0 };
	json_t *lines = NULL;

	if (since && journal_time(since, 0, &filter.until_us, &ignored))
		lines = journal_read(call->engine->journal, &filter, &ignored);
	if (lines)
		json_object_set_new(answer, "before", lines);
}

bool run_why(struct call *call, struct error *err)
{
	struct why why = { 0 };
	struct error failure = { 0 };

	if (!call_text(call, "table", &why.wanted, err))
		return false;
	if (!job_each(call, call_text_or(call, "job", NULL), ask_job, &why, &failure)) {
		if (!why.answer)
			*err = failure;
		else
			call_note(call, "%s: %s", failure.code, failure.message);
		if (!why.answer)
			return false;
	}
	if (!why.answer)
		return fail(err, ERROR_USAGE, "table_unknown", "no job has a table '%.200s'", why.wanted);
	add_before(call, why.answer);
	call->exit = why.needs ? 1 : 0;
	call_line(call, why.answer);
	return true;
}
