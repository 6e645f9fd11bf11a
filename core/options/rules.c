/* Rules across parameters: the table of rules.def, asked of a job file whose parameters were read one by one. */
#include "base/arena.h"
#include "options/rules_private.h"

#include <stdlib.h>

#define RULE_FIELDS 6
#define CDC_ONLY TEMPLATE_CDC
#define EVERY_TEMPLATE (TEMPLATE_PUBSUB_CDC | TEMPLATE_CDC | TEMPLATE_BIGTABLE)

struct rule {
	bool (*is_broken)(const struct draft *draft);
	unsigned applies_to;
	const char *fields[RULE_FIELDS]; /* the first one that is given is where the message points */
	const char *code;
	bool is_warning;
	const char *message, *fix;
};

static bool is_given(const struct draft *draft, const char *name)
{
	return json_object_get(draft->mentioned, name) != NULL;
}

#define EXCLUSIVE "exclusive_parameters", false
#define MISSING "missing_parameter", false
#define RANGE "out_of_range", false
#define UNUSED "parameter_not_used", true
#define FIELDS(...) { __VA_ARGS__ }

static const struct rule rules[] = {
#define RULE(name, templates, fields, ...) { rule_##name, templates, fields, __VA_ARGS__ },
#include "options/rules.def"
#undef RULE
};

static bool is_silent(const struct rule *rule, const struct draft *draft)
{
	for (size_t i = 0; i < RULE_FIELDS && rule->fields[i]; i++) {
		if (json_object_get(draft->refused, rule->fields[i]))
			return true;
	}
	return !(rule->applies_to & draft->options->template);
}

/* The first field that stands somewhere; if none does, the first of all. */
static const char *rule_field(const struct rule *rule, const struct draft *draft)
{
	for (size_t i = 0; i < RULE_FIELDS && rule->fields[i]; i++) {
		if (is_given(draft, rule->fields[i]))
			return rule->fields[i];
	}
	return rule->fields[0];
}

static void rule_report(const struct rule *rule, struct draft *draft)
{
	bool is_missing = strcmp(rule->code, "missing_parameter") == 0 && !is_given(draft, rule->fields[0]);
	const char *field = is_missing ? rule->fields[0] : rule_field(rule, draft);
	struct arena *arena = arena_new(512);
	const char *spot = arena_printf(arena, "@parameters.%s", field);

	if (strcmp(field, "project") == 0)
		spot = is_missing ? "" : "project";
	else if (json_object_get(draft->overridden, field))
		spot = NULL;
	else if (!is_given(draft, field))
		spot = "@parameters";
	if (rule->is_warning)
		problem_add_warning(draft, rule->code, spot, field, rule->fix, rule->message);
	else
		problem_add(draft, rule->code, spot, field, rule->fix, "%s", rule->message);
	arena_free(arena);
}

void rules_apply(struct draft *draft)
{
	if (!draft->has_template || !json_is_object(json_object_get(draft->root, "parameters")))
		return;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		if (!is_silent(&rules[i], draft) && rules[i].is_broken(draft))
			rule_report(&rules[i], draft);
	}
}
