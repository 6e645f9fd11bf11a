/*
 * Reads a job file: syntax, members, parameters (job_parameters.c), rules. Every problem
 * is collected with its place, so that one reading of the messages is enough to
 * repair the file.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "base/file.h"
#include "options/job_file_private.h"
#include "options/job_scan_private.h"

#include <stdlib.h>
#include <unistd.h>

static void on_duplicate(void *context, const char *name, size_t first, size_t second)
{
	struct draft *draft = context;
	struct json_place before, again;
	char room[SHOWN_MAX], message[WHY_MAX];

	if (draft->problems->count >= PROBLEMS_MAX) {
		draft->problems->errors++;
		return;
	}
	before = json_place(draft->text, first);
	again = json_place(draft->text, second);
	snprintf(message, sizeof message, "%s stands twice, on line %d and on line %d, once is allowed",
	         shown(name, room), before.line, again.line);
	problem_add_at(draft, "duplicate_member", again.line, again.column, option_find(name) ? name : NULL,
	               "Keep one of the two.", message);
}

/* jansson refuses a little more than the grammar does: numbers beyond 64 bits, half surrogate pairs. */
static bool draft_load(struct draft *draft)
{
	json_error_t error;
	char message[WHY_MAX];

	draft->root = json_loadb(draft->text.at, draft->text.len, JSON_DECODE_ANY, &error);
	if (draft->root)
		return true;
	snprintf(message, sizeof message, "the file is not JSON: %s", error.text);
	/* Its place is the end of the token; its columns count characters. */
	problem_add_at(draft, draft->syntax_code, error.line, error.column > 0 ? error.column : 1, NULL, NULL, message);
	return false;
}

bool draft_parse(struct draft *draft)
{
	struct scan_listener listener = { on_duplicate, draft };
	struct scan_fault fault;
	struct json_place place;
	char message[WHY_MAX];

	if (!draft->text.len) {
		problem_add_at(draft, draft->syntax_code, 1, 1, NULL, NULL, "the file is empty, a JSON object is allowed");
		return false;
	}
	if (json_scan(draft->text, &listener, &fault))
		return draft_load(draft);
	place = json_place(draft->text, fault.offset);
	snprintf(message, sizeof message, "the file is not JSON: %s", fault.message);
	problem_add_at(draft, draft->syntax_code, place.line, place.column, NULL, NULL, message);
	return false;
}

/*
 * Members at the top.
 */
static void read_name(struct draft *draft, const json_t *value)
{
	const char *name = json_string_value(value);
	size_t len = name ? strlen(name) : 0, i;
	char room[SHOWN_MAX];

	for (i = 0; i < len && i <= JOB_NAME_MAX; i++) {
		bool is_alnum = (name[i] >= '0' && name[i] <= '9') || ((name[i] | 0x20) >= 'a' && (name[i] | 0x20) <= 'z');

		if (!is_alnum && (i == 0 || !strchr("_-", name[i])))
			break;
	}
	if (len > 0 && i == len && len <= JOB_NAME_MAX)
		draft->options->name = memory_string(name);
	else
		problem_add(draft, "bad_job_name", "name", "name", NULL, "%s is no job name, 1 to 63 letters, digits, '_' and "
		            "'-' are allowed, a letter or digit first", name ? shown(name, room) : json_kind(value));
}

static void read_template(struct draft *draft, const json_t *value)
{
	const char *names[JOB_TEMPLATES], *name = json_string_value(value), *near;
	char room[SHOWN_MAX];

	for (size_t i = 0; i < JOB_TEMPLATES; i++) {
		names[i] = job_templates[i].name;
		if (name && strcmp(name, names[i]) == 0) {
			draft->options->template = job_templates[i].template;
			draft->has_template = true;
			return;
		}
	}
	near = name ? nearest_word(name, names, JOB_TEMPLATES) : NULL;
	problem_add(draft, "unknown_template", "template", "template", NULL, "%s is no template, one of %s, %s, %s is%s%s%s",
	            name ? shown(name, room) : json_kind(value), names[0], names[1], names[2],
	            near ? "; did you mean '" : "", near ? near : "", near ? "'" : "");
}

static void read_project(struct draft *draft, const json_t *value)
{
	const char *project = json_string_value(value);

	if (!project)
		problem_add(draft, "bad_parameter", "project", "project", NULL, "%s is given, a project id is allowed",
		            json_kind(value));
	else if (*project)
		draft->options->project = memory_string(project);
}

static const struct top_member {
	const char *name;
	void (*read)(struct draft *draft, const json_t *value); /* NULL: read before (draft_is_too_new) */
	bool is_needed;
} top_members[] = {
	/* The template first: it says which parameters there are. */
	{ "template", read_template, true }, { "name", read_name, true },
	{ "project", read_project, false },  { "format", NULL, false },
	{ "parameters", parameters_read, true },
};
#define TOP_MEMBERS (sizeof top_members / sizeof *top_members)

static void top_member_unknown(struct draft *draft, const char *name)
{
	const char *names[TOP_MEMBERS], *near;
	char *spot;
	struct arena *arena = arena_new(1024);

	for (size_t i = 0; i < TOP_MEMBERS; i++)
		names[i] = top_members[i].name;
	near = nearest_word(name, names, TOP_MEMBERS);
	spot = arena_printf(arena, "@%s", name);
	if (option_find(name))
		problem_add(draft, "unknown_member", spot, name, "Move it into parameters.",
		            "it is a parameter, which is allowed below parameters only");
	else
		problem_add(draft, "unknown_member", spot, name, NULL, "it is no member of a job file, name, template, "
		            "project, format and parameters are%s%s%s",
		            near ? "; did you mean '" : "", near ? near : "", near ? "'" : "");
	arena_free(arena);
}

static void read_top(struct draft *draft)
{
	const char *name;
	json_t *value;

	for (size_t i = 0; i < TOP_MEMBERS; i++) {
		value = json_object_get(draft->root, top_members[i].name);
		if (value && top_members[i].read)
			top_members[i].read(draft, value);
		else if (!value && top_members[i].is_needed)
			problem_add(draft, "missing_parameter", "", top_members[i].name, NULL, "it is missing from the job file");
	}
	json_object_foreach(draft->root, name, value) {
		size_t i = 0;

		while (i < TOP_MEMBERS && strcmp(top_members[i].name, name) != 0)
			i++;
		if (i == TOP_MEMBERS)
			top_member_unknown(draft, name);
	}
}

/*
 * The whole.
 */
static bool draft_is_too_new(struct draft *draft)
{
	const json_t *format = json_object_get(draft->root, "format");

	if (!format || (json_is_integer(format) && json_integer_value(format) == JOB_FILE_FORMAT))
		return false;
	if (json_is_integer(format) && json_integer_value(format) > JOB_FILE_FORMAT)
		problem_add(draft, "job_file_too_new", "format", "format", "Use a newer weir.",
		            "the file has format %" JSON_INTEGER_FORMAT ", this weir reads %d", json_integer_value(format),
		            JOB_FILE_FORMAT);
	else
		problem_add(draft, "bad_parameter", "format", "format", NULL, "%s is given, the number %d is allowed",
		            json_is_integer(format) ? "a number below 1" : json_kind(format), JOB_FILE_FORMAT);
	return json_is_integer(format) && json_integer_value(format) > JOB_FILE_FORMAT;
}

/* What was given first, since some defaults depend on it. */
static void options_fill(struct job_options *options)
{
	for (size_t i = 0; i < job_option_count; i++) {
		const struct option *option = &job_option_table[i];
		const json_t *value = json_object_get(options->parameters, option->name);

		if (value && option->at != NOT_READ)
			option->type->store(option, value, options);
	}
	for (size_t i = 0; i < job_option_count; i++) {
		const struct option *option = &job_option_table[i];
		json_t *value;

		if (option->at == NOT_READ || json_object_get(options->parameters, option->name))
			continue;
		value = option_default_value(option, options);
		if (value)
			option->type->store(option, value, options);
		json_decref(value);
	}
}

/* Messages of a PubSub_CDC job choose their datasets. Where there is only one, the books are in it; else in a file of their
 * own, under a name that no dataset may have (base/name_rules.def). */
static void books_choose(struct job_options *options)
{
	OWNED(text) books = text_new(JOB_NAME_MAX + 16);

	if (options->template != TEMPLATE_PUBSUB_CDC || !options->name)
		return;
	if (job_has_one_dataset(options)) {
		text_add(books, options->output_dataset_template);
	} else {
		text_add_format(books, "_weir_%s", options->name);
		for (size_t i = 0; i < books->len; i++)
			books->at[i] = books->at[i] == '-' ? '_' : books->at[i];
	}
	options->change_log_dataset = memory_string(books->at);
	options->replica_dataset = memory_string(books->at);
}

static void draft_read(struct draft *draft, const char *const *overrides, size_t override_count)
{
	bool is_parsed = draft_parse(draft);

	if (draft_holds_secret(draft, overrides, override_count) || !is_parsed)
		return;
	if (!json_is_object(draft->root)) {
		problem_add(draft, "job_file_syntax", "", NULL, NULL, "the file holds %s, a JSON object is allowed",
		            json_kind(draft->root));
		return;
	}
	if (draft_is_too_new(draft))
		return;
	overrides_note(draft, overrides, override_count);
	read_top(draft);
	overrides_read(draft, overrides, override_count);
	options_fill(draft->options);
	books_choose(draft->options);
	rules_apply(draft);
}

static char *absolute_folder(const char *folder)
{
	char *here = getcwd(NULL, 0), *whole = path_resolve(here ? here : "/", folder ? folder : "");

	free(here);
	return whole;
}

struct job_options *job_options_read(struct span text, const char *path, const char *base_folder,
                                     const char *const *overrides, size_t override_count,
                                     struct option_problems *out_problems)
{
	struct draft draft = {
		.text = text, .base = absolute_folder(base_folder), .working_folder = absolute_folder(""),
		.problems = out_problems, .syntax_code = "job_file_syntax", .mentioned = json_object(), .refused = json_object(),
		.overridden = json_object(), .options = memory_zalloc(sizeof *draft.options),
	};

	(void)path; /* each problem tells its place; who prints it adds the path */
	*out_problems = (struct option_problems){ 0 };
	draft.options->parameters = json_object();
	draft_read(&draft, overrides, override_count);
	problems_sort(out_problems);
	json_decref(draft.root);
	json_decref(draft.mentioned);
	json_decref(draft.refused);
	json_decref(draft.overridden);
	free(draft.base);
	free(draft.working_folder);
	if (out_problems->errors == 0)
		return draft.options;
	job_options_free(draft.options);
	return NULL;
}

void job_options_free(struct job_options *options)
{
	if (!options)
		return;
	for (size_t i = 0; i < job_option_count; i++) {
		if (job_option_table[i].at != NOT_READ)
			job_option_table[i].type->release(&job_option_table[i], options);
	}
	json_decref(options->parameters);
	free(options->project);
	free(options->name);
	free(options);
}
