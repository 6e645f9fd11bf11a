/*
 * Any bytes as a job file: reading never crashes, every problem can be printed,
 * and a job that comes out has a registered text that reads back as itself. The
 * same bytes as config.json: read or refused, with a problem that can be printed.
 * Reaches core/options: the scanner, the readers, all types and rules.
 */
#include "options/options.h"
#include "options/settings.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void problems_print(struct option_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		OWNED(text) line = text_new(1 << 16);
		OWNED(text) json = text_new(1 << 16);
		json_t *parsed;

		assert(option_problem_line(&problems->items[i], "job.json", line));
		assert(option_problem_json(&problems->items[i], "job.json", json));
		parsed = json_loadb(json->at, json->len, 0, NULL);
		assert(parsed);
		json_decref(parsed);
	}
	option_problems_free(problems);
}

static void job_reads_back(const struct job_options *job)
{
	struct option_problems problems;
	char *text = job_options_text(job), *again, *difference;
	struct job_options *copy = job_options_read(span_of(text), "job.json", "/elsewhere", NULL, 0, &problems);

	assert(copy);
	again = job_options_text(copy);
	assert(strcmp(text, again) == 0);
	difference = job_options_difference(text, again);
	assert(!*difference);
	option_problems_free(&problems);
	job_options_free(copy);
	free(difference);
	free(again);
	free(text);
}

static void read_settings(struct span text)
{
	char state[] = "/srv/weir", socket[] = "/srv/weir/weird.sock";
	struct home home = { .config = state, .state = state, .socket = socket };
	struct option_problems problems;
	struct settings settings;
	bool is_fine = settings_read(&home, text, &settings, &problems);

	assert(is_fine == (problems.errors == 0));
	if (is_fine) {
		assert(settings.operator_count <= OPERATORS_MAX && settings.has_group == (settings.group_name != NULL));
		settings_release(&settings);
	}
	problems_print(&problems);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct option_problems problems;
	struct job_options *job = job_options_read(span_make((const char *)data, size), "job.json", "/base", NULL, 0,
	                                           &problems);
	struct error err = { 0 };

	assert((job == NULL) == (problems.errors > 0));
	if (!job)
		assert(!option_problems_error(&problems, "job.json", &err) && err.code[0]);
	problems_print(&problems);
	if (job)
		job_reads_back(job);
	job_options_free(job);
	read_settings(span_make((const char *)data, size));
	return 0;
}
