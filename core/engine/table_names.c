/* Tables as one types them: with and without their dataset, and what was meant when there is none of that name. */
#include "base/arena.h"
#include "base/clean.h"
#include "engine/result_private.h"
#include "pipeline/pipeline.h"

#include <stdlib.h>
#include <string.h>

bool table_is_named(const char *full, const char *typed)
{
	const char *dot = strchr(full, '.');

	return strcmp(full, typed) == 0 || (dot && strcmp(dot + 1, typed) == 0);
}

const char *table_plain_name(const struct job_options *options, const char *typed)
{
	const char *dataset = pipeline_dataset(options);
	size_t len = strlen(dataset);

	return strncmp(typed, dataset, len) == 0 && typed[len] == '.' ? typed + len + 1 : typed;
}

/* Compared as they were typed: whole, or without the dataset. */
static const char *nearest_table(const char *typed, const json_t *names)
{
	const char **words = memory_zalloc((json_array_size(names) + 1) * sizeof(*words));
	bool is_whole = strchr(typed, '.') != NULL;
	const char *near;
	size_t i;
	json_t *name;

	json_array_foreach(names, i, name) {
		const char *dot = strchr(json_string_value(name), '.');

		words[i] = is_whole || !dot ? json_string_value(name) : dot + 1;
	}
	near = nearest_word(typed, words, json_array_size(names));
	for (i = 0; near && i < json_array_size(names); i++) {
		if (words[i] == near)
			near = json_string_value(json_array_get(names, i));
	}
	free(words);
	return near;
}

bool table_unknown(const char *who, const char *typed, const json_t *names, struct error *err)
{
	const char *near = nearest_table(typed, names);

	return fail(err, ERROR_USAGE, "table_unknown", "%s '%.200s'%s%s%s", who, typed, near ? "; did you mean '" : "",
	            near ? near : "", near ? "'?" : "");
}

/* What the job has tables of, and what is paused or lost of it. */
static json_t *known_tables(const struct job_files *files, const struct job_options *options)
{
	json_t *names = json_array();
	const char *name;
	json_t *ignored;

	for (size_t i = 0; i < files->state.table_count; i++) {
		char full[2300];

		result_table_name(options, files_schema(files, i), full, sizeof(full));
		json_array_append_new(names, json_string(full));
	}
	json_object_foreach(files->paused, name, ignored)
		json_array_append_new(names, json_string(name));
	json_object_foreach(files->lost, name, ignored)
		json_array_append_new(names, json_string(name));
	return names;
}

bool files_have_table(const struct job_files *files, const struct job_options *options, const char *typed,
                      struct error *err)
{
	OWNED(text) who = text_new(128);
	json_t *names = known_tables(files, options), *name;
	bool is_known = false;
	size_t i;

	json_array_foreach(names, i, name)
		is_known = is_known || table_is_named(json_string_value(name), table_plain_name(options, typed));
	text_add_format(who, "job '%s' has no table", options->name);
	if (!is_known)
		table_unknown(who->at, typed, names, err);
	json_decref(names);
	return is_known;
}

/* Where messages choose the dataset, it is that of the one table of this name. */
static bool find_dataset(const struct home *home, const struct job_options *options, const char *typed, struct text *out,
                         struct error *err)
{
	struct job_files files;
	json_t *names, *name;
	size_t count = 0, i;

	if (!files_open_as_they_are(&files, home, options, err))
		return false;
	names = known_tables(&files, options);
	json_array_foreach(names, i, name) {
		const char *full = json_string_value(name);

		if (!table_is_named(full, typed) || strcmp(full, out->at) == 0)
			continue;
		if (!count++)
			text_add(out, full);
	}
	json_decref(names);
	files_close(&files);
	if (count == 1)
		return true;
	return fail(err, ERROR_USAGE, "bad_argument", "job '%s' has several datasets, and %s of '%.200s'; say which, as DATASET.TABLE",
	            options->name, count ? "more than one has a table" : "none has a table yet", typed);
}

char *table_full_name(const struct home *home, const struct job_options *options, const char *typed, struct error *err)
{
	OWNED(text) name = text_new(4096);

	if (job_has_one_dataset(options))
		text_add_format(name, "%s.%s", pipeline_dataset(options), table_plain_name(options, typed));
	else if (strchr(typed, '.'))
		text_add(name, typed);
	else if (!find_dataset(home, options, typed, name, err))
		return NULL;
	return text_take(name);
}

bool table_is_known(const struct home *home, const struct job_options *options, const char *typed, struct error *err)
{
	struct job_files files;
	bool is_known;

	if (!files_open_as_they_are(&files, home, options, err))
		return false;
	is_known = files_have_table(&files, options, typed, err);
	files_close(&files);
	return is_known;
}
