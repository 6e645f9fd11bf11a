/* Names for completion: from the answers that the screens have asked for anyway, and from the tables. */
#include "view/known_names.h"
#include "base/reason.h"
#include "view/view.h"

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
