/* What columnTypes names, beside the tables that a job has: a name that fits none is told when it is set and when the job starts. */
#include "engine/commands_private.h"
#include "engine/result_private.h"

#include <stdlib.h>

static const char *text_at(struct arena *arena, struct span span)
{
	return arena_string(arena, span);
}

static void add_known(struct job_files *files, const struct table_schema *schema, struct known_column **known, size_t *count)
{
	for (size_t i = 0; schema && i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		struct span name = column->source_name.len ? column->source_name : column->name;

		*known = memory_grow(*known, (*count + 1) * sizeof(**known));
		(*known)[(*count)++] = (struct known_column){ text_at(files->arena, schema->source), text_at(files->arena, name) };
	}
}

static void tell(void *context, const char *sentence)
{
	call_note(context, "%s", sentence);
}

void column_names_tell(struct call *call, const struct job_options *options)
{
	struct known_column *known = NULL;
	struct error ignored = { 0 };
	struct job_files files;
	size_t count = 0;

	if (!options->column_type_count || !files_open_as_they_are(&files, call->engine->home, options, &ignored))
		return;
	for (size_t i = 0; i < files.state.table_count; i++)
		add_known(&files, files_schema(&files, i), &known, &count);
	if (!count) /* it has not run: what its file of columns says is all that is known */
		job_options_column_names(options, tell, call);
	for (size_t i = 0; count && i < options->column_type_count; i++) {
		OWNED(text) sentence = text_new(1024);

		if (!column_override_known(&options->column_types[i], known, count, sentence))
			call_note(call, "%s", sentence->at);
	}
	free(known);
	files_close(&files);
}
