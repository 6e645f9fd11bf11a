/*
 * `weir why`: why a table does not work, with its first bad event, all that stands open, what was done before, and what
 * one can do. Of several jobs that have such a table those are answered that need somebody.
 */
#include "base/clean.h"
#include "base/clock.h"
#include "engine/commands_private.h"
#include "engine/journal.h"
#include "engine/letter_replica.h"
#include "engine/metrics_private.h"
#include "engine/result_private.h"
#include "engine/why_cause.h"
#include "engine/why_steps.h"

#include <stdlib.h>
#include <string.h>

#define BEFORE_LINES 5
#define BEFORE_BYTES (4u << 20) /* a long silence is not searched to its beginning */
#define WHY_GROUPS_MAX 50 /* of one table; `weir dlq groups` has them all */
#define BEFORE_US (INT64_C(7) * 86400 * 1000000)

static char *first_letter(const struct engine *engine, struct job_files *files, const struct job_options *options,
                          const char *table, struct error *err)
{
	struct sink_setup setup = { .options = options, .warehouse = engine->home->warehouse };
	struct dlq_filter filter = { .job = options->name, .ask_newer = letters_ask_newer, .context = &setup };

	return files->dlq ? dlq_first_letter(files->dlq, &filter, table, err) : NULL;
}

/*
 * Groups
 */

struct groups {
	json_t *list;      /* worst first */
	json_int_t more;   /* that are not in it */
	const char *table;
};

/* The states of letters that wait for somebody. */
static bool is_waiting(const json_t *group)
{
	const char *state = json_string_value(json_object_get(group, "state"));

	return state && (strcmp(state, "new") == 0 || strcmp(state, "failed again") == 0);
}

static json_int_t open_of(const json_t *group)
{
	return json_integer_value(json_object_get(group, "open"));
}

/* The most letters first; of as many the older group. */
static void insert_group(struct groups *groups, json_t *group)
{
	size_t at = json_array_size(groups->list);

	while (at && open_of(json_array_get(groups->list, at - 1)) < open_of(group))
		at--;
	json_array_insert(groups->list, at, group);
	if (json_array_size(groups->list) > WHY_GROUPS_MAX && json_array_remove(groups->list, WHY_GROUPS_MAX) == 0)
		groups->more++;
}

static bool add_group(void *context, const char *json)
{
	struct groups *groups = context;
	json_t *group = json_loads(json, JSON_ALLOW_NUL, NULL);
	const char *table = json_string_value(json_object_get(group, "table"));

	if (table && strcmp(table, groups->table) == 0 && is_waiting(group))
		insert_group(groups, group);
	json_decref(group);
	return true;
}

static bool add_groups(json_t *answer, const struct job_files *files, const struct job_options *options,
                       const char *table, struct error *err)
{
	struct groups groups = { .list = json_array(), .table = table };
	struct dlq_filter filter = { .job = options->name };
	bool is_fine = !files->dlq || dlq_groups(files->dlq, &filter, add_group, &groups, err);

	json_object_set_new(answer, "groups", groups.list);
	if (groups.more)
		json_object_set_new(answer, "groups_more", json_integer(groups.more));
	return is_fine;
}

/*
 * Tables
 */

struct why {
	struct engine *engine;
	const char *wanted;
	const char *job;  /* --job, or NULL */
	json_t *answers;  /* one a job: of its worst table of that name */
	json_t *near;     /* names of tables that are not meant, for "did you mean" */
};

static bool answer_needs(const json_t *answer)
{
	return json_is_true(json_object_get(answer, "needs"));
}

static const char *text_of(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return text ? text : "";
}

/* How much it is, as `weir tables` counts it. */
static void add_numbers(json_t *answer, const json_t *row)
{
	static const char *const members[] = { "column",        "reason", "open_letters", "received", "written", "filtered",
		                               "dead_lettered", "parked", "rates",        "lag_ms",   "replica_age_ms" };

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *member = json_object_get(row, members[i]);

		if (member)
			json_object_set(answer, members[i], member);
	}
}

static void add_steps(json_t *answer, const struct job_options *options)
{
	const json_t *letter = json_object_get(answer, "first");
	struct why_subject of = {
		.job = text_of(answer, "job"),
		.table = text_of(answer, "table"),
		.code = text_of(answer, "code"),
		.group = json_integer_value(json_object_get(letter, "group")),
		.is_paused = json_object_get(answer, "paused") != NULL,
		.column = text_of(letter, "column"),
		.types = json_object_get(options->parameters, "columnTypes"),
		.is_append = options->replication_mode == REPLICATION_APPEND,
		.has_own_name = json_object_get(options->parameters, "tableNamePattern") != NULL,
	};

	json_object_set_new(answer, "steps", why_steps(&of));
}

/* NULL with err: it cannot be told. */
static json_t *explain_table(const struct engine *engine, struct job_files *files, const struct job_options *options, json_t *row, bool needs,
                             struct error *err)
{
	const char *name = json_string_value(json_object_get(row, "table"));
	const char *lost = json_string_value(json_object_get(files->lost, name));
	const json_t *paused = json_object_get(row, "paused");
	char *text = lost ? NULL : first_letter(engine, files, options, name, err);
	json_t *letter = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
	json_t *answer = json_pack("{s:s, s:s, s:O, s:b}", "table", name, "job", options->name, "state",
	                           json_object_get(row, "state"), "needs", needs);

	free(text);
	if (json_object_get(row, "trouble"))
		cause_trouble(answer, options, row);
	else if (letter)
		cause_letter(answer, options, letter);
	else if (paused && !needs)
		cause_paused(answer, options, paused);
	else
		cause_other(answer, options, needs, lost, row);
	if (paused)
		json_object_set(answer, "paused", (json_t *)paused);
	json_object_set_new(answer, "before", json_array());
	json_object_set(answer, "notes", json_object_get(row, "notes"));
	add_numbers(answer, row);
	add_steps(answer, options);
	json_decref(letter);
	if (err->kind == ERROR_NONE && add_groups(answer, files, options, name, err))
		return answer;
	json_decref(answer);
	return NULL;
}

/* The table's answer replaces that of an earlier one of this name only if it is worse: a collision has two. */
static bool take_table(struct job_files *files, const struct job_options *options, size_t table, struct why *why,
                       json_t **answer, struct error *err)
{
	bool needs = false, is_fine = true;
	json_t *row = result_table(files, options, table, &needs, err);
	const char *name = json_string_value(json_object_get(row, "table"));

	if (!row)
		return false;
	if (!table_is_named(name, why->wanted)) {
		json_array_append(why->near, json_object_get(row, "table"));
	} else if (!*answer || (needs && !answer_needs(*answer))) {
		json_decref(*answer);
		live_add_row(why->engine, options->name, row);
		*answer = explain_table(why->engine, files, options, row, needs, err);
		is_fine = *answer != NULL;
	}
	json_decref(row);
	return is_fine;
}

static bool ask_job(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	struct why *why = context;
	struct job_files files;
	json_t *answer = NULL;
	bool is_fine = true;

	if (!files_open(&files, call->engine->home, options, err))
		return because(err, "job '%s'", options->name);
	for (size_t i = 0; is_fine && i <= files.state.table_count; i++) {
		/* "-" is there only when something belongs to no table. */
		if (i == files.state.table_count && !files_ledger(&files, i)->received && strcmp(why->wanted, "-") != 0)
			break;
		is_fine = take_table(&files, options, i, why, &answer, err);
	}
	files_close(&files);
	if (is_fine && answer)
		json_array_append(why->answers, answer);
	json_decref(answer);
	return is_fine;
}

/*
 * The answer
 */

/* What the journal says of the time before it began: the cause often stands there. */
static void add_before(struct call *call, json_t *answer)
{
	const char *since = json_string_value(json_object_get(answer, "since"));
	struct journal_filter filter = {
		.job = json_string_value(json_object_get(answer, "job")),
		.table = json_string_value(json_object_get(answer, "table")),
		.with_jobless = true,
		.causes_only = true,
		.limit = BEFORE_LINES,
		.bytes_max = BEFORE_BYTES,
	};
	struct error ignored = { 0 };
	json_t *lines = NULL;

	if (since && journal_time(since, 0, &filter.until_us, &ignored)) {
		filter.since_us = filter.until_us - BEFORE_US;
		lines = journal_read(call->engine->journal, &filter, &ignored);
	}
	if (lines)
		json_object_set_new(answer, "before", lines);
}

/* Those that need somebody; when none does, all. */
static void send_answers(struct call *call, const json_t *answers)
{
	size_t needing = 0, i;
	json_t *answer;
	OWNED(text) fine = text_new(512);

	json_array_foreach(answers, i, answer)
		needing += answer_needs(answer);
	json_array_foreach(answers, i, answer) {
		if (needing && !answer_needs(answer)) {
			text_add_format(fine, "%s%s", fine->len ? ", " : "", json_string_value(json_object_get(answer, "job")));
			continue;
		}
		add_before(call, answer);
		json_object_del(answer, "needs");
		call_line(call, json_incref(answer));
	}
	if (fine->len)
		call_note(call, "other jobs have such a table too, and it needs nobody there: %s; --job JOB shows it", fine->at);
	call->exit = needing ? 1 : 0;
}

static bool no_table(const struct why *why, struct error *err)
{
	OWNED(text) job = text_new(128);

	if (why->job)
		text_add_format(job, "job '%s' has no table", why->job);
	else
		text_add(job, "no job has a table");
	return table_unknown(job->at, why->wanted, why->near, err);
}

bool run_why(struct call *call, struct error *err)
{
	struct why why = { .engine = call->engine, .job = call_text_or(call, "job", NULL) };
	struct error failure = { 0 };
	bool is_fine;

	if (!call_text(call, "table", &why.wanted, err))
		return false;
	why.answers = json_array();
	why.near = json_array();
	is_fine = job_each(call, why.job, ask_job, &why, &failure);
	if (json_array_size(why.answers)) {
		send_answers(call, why.answers);
		/* One job that cannot be looked at does not hide what the others say. */
		if (!is_fine)
			call_note(call, "%s: %s", failure.code, failure.message);
		is_fine = true;
	} else if (is_fine) {
		is_fine = no_table(&why, err);
	} else {
		*err = failure;
	}
	json_decref(why.answers);
	json_decref(why.near);
	return is_fine;
}
