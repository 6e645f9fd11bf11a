/* The reference page of all parameters, made from the option table, and what a manual page is made from. */
#include "options/job_options_private.h"

#include <inttypes.h>

#define EVERY_TEMPLATE (TEMPLATE_PUBSUB_CDC | TEMPLATE_CDC | TEMPLATE_BIGTABLE)

static bool is_of_every_template(const struct option *option)
{
	return option->applies_to == EVERY_TEMPLATE && !option->is_ours;
}

static bool is_ours(const struct option *option)
{
	return option->is_ours;
}

static bool is_of_cdc(const struct option *option)
{
	return !option->is_ours && !is_of_every_template(option) && option->applies_to & TEMPLATE_CDC;
}

static bool is_of_pubsub(const struct option *option)
{
	return !option->is_ours && !is_of_every_template(option) && option->applies_to & TEMPLATE_PUBSUB_CDC;
}

static bool is_of_bigtable(const struct option *option)
{
	return !option->is_ours && !is_of_every_template(option) && option->applies_to & TEMPLATE_BIGTABLE;
}

const struct option_section option_sections[] = {
	{ "Cdc_To_BigQuery_Template", "Debezium changes into changelog tables and replica tables.", is_of_cdc },
	{ "PubSub_CDC_to_BigQuery", "JSON messages appended to tables named by templates.", is_of_pubsub },
	{ "Bigtable_Change_Streams_to_BigQuery", "Bigtable change streams into one changelog table.", is_of_bigtable },
	{ "Parameters of weir's own", "Left out when the job is launched on Dataflow.", is_ours },
	{ "Dataflow", "For a launch on Dataflow, with every template.", is_of_every_template },
};
const size_t option_section_count = sizeof option_sections / sizeof *option_sections;

bool option_allowed(const struct option *option, struct text *out)
{
	for (size_t i = 0; option->choices && option->choices[i]; i++)
		text_add_format(out, "%s%s", i ? ", " : "", option->choices[i]);
	if (option->choices)
		return !out->is_full;
	text_add(out, option->type->form);
	if (option->most)
		text_add_format(out, ", %" PRId64 " to %" PRId64, option->least, option->most);
	if (option->type->example)
		text_add_format(out, ", as in %s=%s", option->name, option->type->example);
	return !out->is_full;
}

/* Text of ours into a cell of a markdown table. */
static void add_cell(struct text *out, const char *piece)
{
	for (; *piece; piece++) {
		if (*piece == '|')
			text_add_char(out, '\\');
		text_add_char(out, *piece);
	}
}

static void add_allowed(struct text *out, const struct option *option)
{
	for (size_t i = 0; option->choices && option->choices[i]; i++)
		text_add_format(out, "%s`%s`", i ? ", " : "", option->choices[i]);
	if (option->choices)
		return;
	add_cell(out, option->type->form);
	if (option->most)
		text_add_format(out, ", %" PRId64 " to %" PRId64, option->least, option->most);
	if (option->type->example)
		text_add_format(out, ", as in `%s`", option->type->example);
}

static void add_row(struct text *out, const struct option *option)
{
	text_add_format(out, "| `%s` | ", option->name);
	add_allowed(out, option);
	text_add(out, " | ");
	if (option->fallback)
		text_add_format(out, "`%s`", option->fallback);
	text_add(out, " | ");
	add_cell(out, option->help);
	if (!option->is_available)
		text_add(out, " *Not available yet: stored and checked, refused at start.*");
	text_add(out, " |\n");
}

static void add_section(struct text *out, const struct option_section *section)
{
	text_add_format(out, "\n## %s\n\n%s\n\n| name | allowed | default | meaning |\n|---|---|---|---|\n", section->title,
	                section->intro);
	for (size_t i = 0; i < job_option_count; i++) {
		if (section->holds(&job_option_table[i]))
			add_row(out, &job_option_table[i]);
	}
}

bool job_options_explain(struct text *out)
{
	text_add(out, "# Parameters of a job\n\nMade from the option table. Values may be written as JSON or as text in "
	              "Dataflow's spelling; an empty text means \"not given\".\n");
	for (size_t i = 0; i < option_section_count; i++)
		add_section(out, &option_sections[i]);
	return !out->is_full;
}
