/* Names for completion and for "did you mean": from the answers that the screens have asked for anyway, and from the tables. */
#include "view/known_names.h"
#include "base/arena.h"
#include "base/clean.h"
#include "base/reason.h"
#include "view/names.h"

#include <stdlib.h>

typedef void (*add_name)(void *to, const char *name, const char *note);

static void each_job(struct console *console, add_name add, void *to)
{
	const struct answer *answer = model_ask(console_model(console), LANE_LOOK, "status", NULL, "jobs journal");
	const json_t *job;
	size_t i;

	json_array_foreach(answer->lines, i, job)
		add(to, member_text(job, "job"), member_text(job, "state"));
}

static void each_table(struct console *console, const char *of_job, add_name add, void *to)
{
	const struct answer *answer = model_ask(console_model(console), LANE_LOOK, "status", NULL, "jobs journal");
	const json_t *job, *table;
	size_t i, j;

	json_array_foreach(answer->lines, i, job) {
		if (*of_job && strcmp(of_job, member_text(job, "job")) != 0)
			continue;
		json_array_foreach(json_object_get(job, "tables"), j, table)
			add(to, member_text(table, "table"), member_text(table, "state"));
	}
}

static void each_group(struct console *console, const char *of_job, add_name add, void *to)
{
	const struct answer *answer = model_ask(console_model(console), LANE_LETTERS, "dlq.groups", NULL, "jobs");
	const json_t *group;
	size_t i;

	json_array_foreach(answer->lines, i, group) {
		char number[24];

		if (*of_job && strcmp(of_job, member_text(group, "job")) != 0)
			continue;
		snprintf(number, sizeof(number), "%lld", (long long)member_int(group, "group"));
		add(to, number, member_text(group, "code"));
	}
}

static void each_code(add_name add, void *to)
{
	for (size_t i = 0; i < reason_count; i++)
		add(to, reasons[i].code, "");
}

static void each_place(add_name add, void *to)
{
	for (size_t i = 0; i < view_count; i++)
		add(to, views[i]->name, views[i]->help);
}

void known_names_each(void *context, const char *kind, const char *job, add_name add, void *to)
{
	struct console *console = context;

	if (strcmp(kind, "JOB") == 0 || strcmp(kind, "FILE|JOB") == 0)
		each_job(console, add, to);
	else if (strcmp(kind, "TABLE") == 0)
		each_table(console, job, add, to);
	else if (strcmp(kind, "GROUP") == 0)
		each_group(console, job, add, to);
	else if (strcmp(kind, "CODE") == 0)
		each_code(add, to);
	else if (strcmp(kind, "PLACE") == 0)
		each_place(add, to);
}

/*
 * Does it exist?
 */
struct sought {
	const char *name;
	bool is_found;
	const char **near; /* the names as one would type this one; grown */
	size_t count;
};

static void near_add(struct sought *sought, const char *name)
{
	sought->near = memory_grow(sought->near, (sought->count + 1) * sizeof(*sought->near));
	sought->near[sought->count++] = name;
}

static void seek_job(void *to, const char *name, const char *note)
{
	struct sought *sought = to;

	(void)note;
	sought->is_found = sought->is_found || strcmp(name, sought->name) == 0;
	near_add(sought, name);
}

static void seek_table(void *to, const char *name, const char *note)
{
	struct sought *sought = to;
	const char *dot = strchr(name, '.'), *plain = dot ? dot + 1 : name;

	(void)note;
	sought->is_found = sought->is_found || name_is_table(sought->name, name);
	near_add(sought, strchr(sought->name, '.') ? name : plain);
}

/* All jobs with all their tables have been told, so that one that is not among them does not exist. */
static bool all_are_known(struct console *console)
{
	const struct answer *answer = model_ask(console_model(console), LANE_LOOK, "status", NULL, "jobs journal");

	return answer->is_known && answer->error.kind == ERROR_NONE && !answer->is_cut && !console_is_blind(console);
}

static bool is_found(struct sought *sought, const char *code, const char *who, const char *where, struct error *err)
{
	const char *near = sought->is_found ? NULL : nearest_word(sought->name, sought->near, sought->count);
	bool found = sought->is_found;

	if (!found && near)
		fail(err, ERROR_USAGE, code, "%s '%.200s'; did you mean '%.200s'?", who, sought->name, near);
	else if (!found)
		fail(err, ERROR_USAGE, code, "%s '%.200s'; %s", who, sought->name, where);
	free(sought->near);
	return found;
}

bool known_job(struct console *console, const char *job, struct error *err)
{
	struct sought sought = { .name = job };

	if (!*job || strcmp(job, "-") == 0 || !all_are_known(console))
		return true;
	each_job(console, seek_job, &sought);
	return is_found(&sought, "job_unknown", "there is no job", "g o shows the jobs", err);
}

bool known_table(struct console *console, const char *job, const char *table, struct error *err)
{
	struct sought sought = { .name = table };
	OWNED(text) who = text_new(128);

	if (!known_job(console, job, err))
		return false;
	if (!*table || strcmp(table, "-") == 0 || !all_are_known(console))
		return true;
	if (*job && strcmp(job, "-") != 0)
		text_add_format(who, "job '%.100s' has no table", job);
	else
		text_add(who, "no job has a table");
	each_table(console, strcmp(job, "-") == 0 ? "" : job, seek_table, &sought);
	return is_found(&sought, "table_unknown", who->at, "g t shows the tables", err);
}
