/*
 * The parameters of a job file and those given as NAME=VALUE, which win. A value
 * that is not fine is noted as refused, so that no rule complains about it again.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "options/job_file_private.h"

#include <stdlib.h>

static const char *near_option(const char *name, unsigned template)
{
	const char **names = memory_alloc(job_option_count * sizeof *names), *near;
	size_t count = 0;

	for (size_t i = 0; i < job_option_count; i++)
		if (!template || job_option_table[i].applies_to & template)
			names[count++] = job_option_table[i].name;
	near = nearest_word(name, names, count);
	free(names);
	return near;
}

static void parameter_unknown(struct draft *draft, const char *name, const char *spot)
{
	const char *near = near_option(name, draft->has_template ? draft->options->template : 0);

	if (near)
		problem_add(draft, "unknown_parameter", spot, name, NULL,
		            "there is no parameter of this name; did you mean '%s'", near);
	else
		problem_add(draft, "unknown_parameter", spot, name, NULL,
		            "there is no parameter of this name in %s",
		            draft->has_template ? job_template_name(draft->options->template) : "any template");
}

/* Whose parameter it is: the first template that has it. */
static const char *owner_of(const struct option *option)
{
	for (size_t i = 0; i < JOB_TEMPLATES; i++) {
		if (option->applies_to & job_templates[i].template)
			return job_templates[i].name;
	}
	return "another template";
}

static void parameter_keep(struct draft *draft, const struct option *option, const json_t *value, const char *base,
                           const char *spot)
{
	struct arena *arena = arena_new(1024);
	struct complaint complaint = { .why = text_new(WHY_MAX) };
	json_t *canonical = option_accept(option, value, base, &complaint);

	if (canonical) {
		json_object_set_new(draft->options->parameters, option->name, canonical);
	} else {
		if (spot && complaint.inside && *complaint.inside)
			spot = arena_printf(arena, "%s.%s", spot, complaint.inside);
		problem_add(draft, complaint.code, spot, option->name, NULL, "%s", complaint.why->at);
		json_object_set_new(draft->refused, option->name, json_true());
	}
	text_free(complaint.why);
	free(complaint.inside);
	arena_free(arena);
}

/* `spot` NULL: the value comes from an override. An empty text means "not given", as in Dataflow's forms. */
static void parameter_read(struct draft *draft, const char *name, const json_t *value, const char *spot)
{
	const struct option *option = option_find(name);
	struct arena *arena = arena_new(1024);
	const char *name_spot = spot ? arena_printf(arena, "@%s", spot) : NULL;

	if (!option)
		parameter_unknown(draft, name, name_spot);
	else if (draft->has_template && !(option->applies_to & draft->options->template))
		problem_add(draft, "unknown_parameter", name_spot, name, NULL, "it is a parameter of %s, not of %s",
		            owner_of(option), job_template_name(draft->options->template));
	else if (!json_is_string(value) || json_string_length(value) > 0) {
		json_object_set_new(draft->mentioned, name, json_true());
		parameter_keep(draft, option, value, spot ? draft->base : draft->working_folder, spot);
	}
	arena_free(arena);
}

void parameters_read(struct draft *draft, const json_t *value)
{
	struct arena *arena = arena_new(1024);
	const char *name;
	json_t *each;

	if (!json_is_object(value))
		problem_add(draft, "bad_parameter", "parameters", "parameters", NULL, "%s is given, an object is allowed",
		            json_kind(value));
	json_object_foreach((json_t *)value, name, each) {
		if (!json_object_get(draft->overridden, name))
			parameter_read(draft, name, each, arena_printf(arena, "parameters.%s", name));
		arena_reset(arena);
	}
	arena_free(arena);
}

/* The name in front of '=', or NULL. The caller frees. */
static char *override_name(const char *override)
{
	const char *equals = strchr(override, '=');

	return equals && equals > override ? memory_string_of(span_make(override, (size_t)(equals - override))) : NULL;
}

void overrides_note(struct draft *draft, const char *const *overrides, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *name = override_name(overrides[i]);

		if (name)
			json_object_set_new(draft->overridden, name, json_true());
		free(name);
	}
}

static void override_read(struct draft *draft, const char *override)
{
	char *name = override_name(override), room[SHOWN_MAX];
	json_t *value = name ? json_string(override + strlen(name) + 1) : NULL;

	if (!name)
		problem_add(draft, "bad_parameter", NULL, NULL, NULL, "%s is given on the command line, NAME=VALUE is allowed",
		            shown(override, room));
	else if (!value)
		problem_add(draft, "bad_parameter", NULL, NULL, NULL, "%s on the command line is not UTF-8", shown(name, room));
	else
		parameter_read(draft, name, value, NULL);
	json_decref(value);
	free(name);
}

void overrides_read(struct draft *draft, const char *const *overrides, size_t count)
{
	for (size_t i = 0; i < count; i++)
		override_read(draft, overrides[i]);
}
