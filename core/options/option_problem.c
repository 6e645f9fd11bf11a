/*
 * Problems of a job file: collected with their places, put into file order,
 * printed as a line for people or as JSON for scripts.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "base/json_path.h"
#include "options/job_file_private.h"

#include <inttypes.h>
#include <stdlib.h>

static struct option_problem *problem_new(struct option_problems *problems)
{
	if (problems->count % 16 == 0)
		problems->items = memory_grow(problems->items, (problems->count + 16) * sizeof *problems->items);
	return &problems->items[problems->count++];
}

static struct option_problem *problem_put(struct draft *draft, const char *code, int line, int column,
                                          const char *parameter, const char *fix, const char *message)
{
	struct option_problem *problem;

	if (draft->problems->count == PROBLEMS_MAX) {
		draft->problems->errors++;
		return NULL;
	}
	problem = problem_new(draft->problems);
	*problem = (struct option_problem){
		.line = line, .column = column, .code = memory_string(code), .parameter = memory_string(parameter),
		.message = memory_string(message), .fix = memory_string(fix),
	};
	draft->problems->errors++;
	return problem;
}

void problem_add_at(struct draft *draft, const char *code, int line, int column, const char *parameter,
                    const char *fix, const char *message)
{
	problem_put(draft, code, line, column, parameter, fix, message);
}

/* What cannot be found is looked for one level up: a wrong place is worse than a wide one. */
static struct json_spot spot_of(struct draft *draft, const char *path)
{
	struct json_spot spot = { 0, 0 };
	char *shorter = memory_string(path);

	while (shorter && spot.line == 0) {
		char *dot = strrchr(shorter, '.');

		spot = json_path_find(draft->text, shorter);
		if (!dot)
			break;
		*dot = '\0';
	}
	free(shorter);
	return spot;
}

void problem_add(struct draft *draft, const char *code, const char *spot, const char *parameter, const char *fix,
                 const char *format, ...)
{
	char message[WHY_MAX + SHOWN_MAX];
	struct json_spot at = { 0, 0 };
	va_list args;

	if (draft->problems->count < PROBLEMS_MAX)
		at = spot_of(draft, spot);
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	problem_add_at(draft, code, at.line, at.column, parameter, fix, message);
}

void problem_add_warning(struct draft *draft, const char *code, const char *spot, const char *parameter,
                         const char *fix, const char *message)
{
	struct json_spot at = spot_of(draft, spot);
	struct option_problem *problem = problem_put(draft, code, at.line, at.column, parameter, fix, message);

	draft->problems->errors--;
	if (problem)
		problem->is_warning = true;
}

static int problem_order(const struct option_problem *a, const struct option_problem *b)
{
	int line_a = a->line ? a->line : INT32_MAX, line_b = b->line ? b->line : INT32_MAX;

	if (line_a != line_b)
		return line_a < line_b ? -1 : 1;
	return (a->column > b->column) - (a->column < b->column);
}

/* Few and nearly in order: an insertion keeps equal places as they were found. */
void problems_sort(struct option_problems *problems)
{
	for (size_t i = 1; i < problems->count; i++) {
		struct option_problem moved = problems->items[i];
		size_t at = i;

		for (; at > 0 && problem_order(&problems->items[at - 1], &moved) > 0; at--)
			problems->items[at] = problems->items[at - 1];
		problems->items[at] = moved;
	}
}

void option_problems_free(struct option_problems *problems)
{
	if (!problems)
		return;
	for (size_t i = 0; i < problems->count; i++) {
		free(problems->items[i].code);
		free(problems->items[i].parameter);
		free(problems->items[i].message);
		free(problems->items[i].fix);
	}
	free(problems->items);
	*problems = (struct option_problems){ 0 };
}

bool option_problem_line(const struct option_problem *problem, const char *path, struct text *out)
{
	if (path) {
		clean_text(out, span_of(path));
		if (problem->line)
			text_add_format(out, ":%d:%d", problem->line, problem->column);
		text_add(out, ": ");
	}
	if (problem->parameter) {
		clean_text(out, span_of(problem->parameter));
		text_add(out, ": ");
	}
	text_add(out, problem->message);
	return !out->is_full;
}

static void text_or_null(struct text *out, const char *name, const char *value)
{
	text_add_format(out, ",\"%s\":", name);
	if (value)
		json_quote(out, span_of(value));
	else
		text_add(out, "null");
}

static void number_or_null(struct text *out, const char *name, int number)
{
	text_add_format(out, ",\"%s\":", name);
	if (number)
		text_add_int(out, number);
	else
		text_add(out, "null");
}

bool option_problem_json(const struct option_problem *problem, const char *path, struct text *out)
{
	text_add_format(out, "{\"level\":\"%s\"", problem->is_warning ? "warning" : "fails");
	text_or_null(out, "code", problem->code);
	text_or_null(out, "file", path);
	number_or_null(out, "line", problem->line);
	number_or_null(out, "column", problem->column);
	text_or_null(out, "parameter", problem->parameter);
	text_or_null(out, "message", problem->message);
	text_or_null(out, "fix", problem->fix);
	text_add(out, "}");
	return !out->is_full;
}

/* Most are mistakes in the file; some are about reading it. */
static enum error_kind kind_of(const char *code)
{
	static const struct {
		const char *code;
		enum error_kind kind;
	} rows[] = {
		{ "no_permission", ERROR_ACCESS },     { "io_error", ERROR_TRANSIENT },
		{ "no_descriptors", ERROR_TRANSIENT }, { "out_of_memory", ERROR_TRANSIENT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].code, code) == 0)
			return rows[i].kind;
	}
	return ERROR_CONFIG;
}

bool option_problems_error(const struct option_problems *problems, const char *path, struct error *err)
{
	OWNED(text) line = text_new(4096);
	const struct option_problem *first = NULL;
	size_t more = problems->errors - (problems->errors > 0);
	enum error_kind kind;

	for (size_t i = 0; i < problems->count && !first; i++)
		if (!problems->items[i].is_warning)
			first = &problems->items[i];
	if (!first)
		return fail(err, ERROR_BUG, "bad_parameter", "the job file was refused without a reason");
	kind = kind_of(first->code);
	option_problem_line(first, path, line);
	if (more)
		return fail(err, kind, first->code, "%.440s (and %zu more problem%s)", line->at, more, more > 1 ? "s" : "");
	return fail(err, kind, first->code, "%s", line->at);
}
