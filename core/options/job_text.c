/*
 * The registered form of a job: one text for all files that mean the same, and
 * the difference of two of them in words.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "options/job_options_private.h"

#include <stdlib.h>

#define DIFFERENCE_MAX ((size_t)1 << 20)

static json_t *parameters_given(const struct job_options *options)
{
	json_t *given = json_copy(options->parameters);

	for (size_t i = 0; i < job_option_count; i++) {
		json_t *fallback = option_default_value(&job_option_table[i], options);

		if (fallback && json_equal(fallback, json_object_get(given, job_option_table[i].name)))
			json_object_del(given, job_option_table[i].name);
		json_decref(fallback);
	}
	return given;
}

char *job_options_text(const struct job_options *options)
{
	json_t *root = json_pack("{s:i,s:s,s:s,s:o}", "format", JOB_FILE_FORMAT, "name", options->name, "template",
	                         job_template_name(options->template), "parameters", parameters_given(options));
	char *json, *text;
	size_t len;

	if (options->project)
		json_object_set_new(root, "project", json_string(options->project));
	json = json_dumps(root, JSON_SORT_KEYS | JSON_INDENT(2));
	json_decref(root);
	len = strlen(json);
	text = memory_alloc(len + 2);
	memcpy(text, json, len);
	memcpy(text + len, "\n", 2);
	free(json);
	return text;
}

/*
 * Difference.
 */
struct side {
	struct job_options *options; /* NULL: this weir cannot read it */
	json_t *root;
};

static void side_open(struct side *side, const char *text)
{
	struct option_problems problems;

	side->options = job_options_read(span_of(text), "", "/", NULL, 0, &problems);
	side->root = json_loads(text, 0, NULL);
	option_problems_free(&problems);
}

static void side_close(struct side *side)
{
	job_options_free(side->options);
	json_decref(side->root);
}

/* Names and values may come from a file of a stranger: only clean text is added. */
static void add_clean(struct text *out, const struct text *piece)
{
	clean_text(out, text_span(piece));
}

static void add_value(struct text *out, const struct side *side, const struct option *option, const json_t *value)
{
	OWNED(text) shown_value = text_new(VALUE_TEXT_MAX);
	const char *fallback = option ? option_default(option, side->options) : NULL;
	char *json;

	if (!value && !fallback) {
		text_add(out, "not given");
		return;
	}
	if (!value) {
		text_add_format(out, "%s (default)", fallback);
		return;
	}
	json = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	if (json_is_string(value))
		text_add(shown_value, json_string_value(value));
	else if (!option || !option_print(option, value, shown_value))
		text_add(shown_value, json);
	free(json);
	if (shown_value->is_full)
		text_add(out, "a long value");
	else
		add_clean(out, shown_value);
}

static void difference_line(struct text *out, const char *name, const struct side *old, const json_t *before,
                            const struct side *new, const json_t *after)
{
	const struct option *option = option_find(name);

	if (before && after && json_equal(before, after))
		return;
	clean_text(out, span_of(name));
	text_add(out, ": ");
	add_value(out, old, option, before);
	text_add(out, " -> ");
	add_value(out, new, option, after);
	text_add(out, "\n");
}

static int name_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Both sides' parameters, each once, sorted. */
static void difference_parameters(struct text *out, const struct side *old, const struct side *new)
{
	json_t *before = json_object_get(old->root, "parameters"), *after = json_object_get(new->root, "parameters");
	json_t *all = json_is_object(before) ? json_copy(before) : json_object(), *value;
	const char **names, *name;
	size_t count = 0;

	if (json_is_object(after))
		json_object_update_missing(all, after);
	names = memory_alloc((json_object_size(all) + 1) * sizeof *names);
	json_object_foreach(all, name, value)
		names[count++] = name;
	qsort(names, count, sizeof *names, name_order);
	for (size_t i = 0; i < count; i++)
		difference_line(out, names[i], old, json_object_get(before, names[i]), new,
		                json_object_get(after, names[i]));
	free(names);
	json_decref(all);
}

char *job_options_difference(const char *old_text, const char *new_text)
{
	static const char *const members[] = { "name", "template", "project" };
	OWNED(text) out = text_new(DIFFERENCE_MAX);
	struct side old, new;

	side_open(&old, old_text);
	side_open(&new, new_text);
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		const json_t *before = json_object_get(old.root, members[i]), *after = json_object_get(new.root, members[i]);

		if (before || after)
			difference_line(out, members[i], &old, before, &new, after);
	}
	difference_parameters(out, &old, &new);
	side_close(&old);
	side_close(&new);
	return text_take(out);
}
