/* weir-job(5): the job file and every parameter, from the option table. */
#include "manual/manual.h"
#include "manual/roff_private.h"

#include "options/options.h"

static const struct entry members[] = {
	{ "name", "1 to 63 letters, digits, `_` and `-`, a letter or digit first." },
	{ "template", "The Dataflow template whose parameters these are; the chapters below have their names." },
	{ "project", "Id of the Google Cloud project; may be missing." },
	{ "format", "Format of the file, 1; may be missing." },
	{ "parameters", "An object. A value is JSON, or text in Dataflow's spelling; an empty text means \"not given\"." },
};

static const char *const example =
	"{\n"
	"  \"name\": \"orders\",\n"
	"  \"template\": \"Cdc_To_BigQuery_Template\",\n"
	"  \"parameters\": {\n"
	"    \"warehouse\": \"local\",\n"
	"    \"inputFile\": \"orders.jsonl\",\n"
	"    \"changeLogDataset\": \"shop_log\",\n"
	"    \"replicaDataset\": \"shop\"\n"
	"  }\n"
	"}\n";

/* `NAME`, then what is allowed and the default in one line, then the help. */
static void add_parameter(struct text *out, const struct option *option)
{
	OWNED(text) allowed = text_new(4096);

	option_allowed(option, allowed);
	if (option->fallback)
		text_add_format(allowed, "; default %s", option->fallback);
	text_add(out, ".TP\n");
	roff_text(out, option->name);
	roff_text(out, allowed->at);
	text_add(out, ".br\n");
	roff_text(out, option->help);
	if (!option->is_available)
		roff_text(out, "Not available yet: stored and checked, refused at start.");
}

static void add_parameters(struct text *out, const struct option_section *section)
{
	roff_subsection(out, section->title);
	roff_text(out, section->intro);
	for (size_t i = 0; i < job_option_count; i++) {
		if (section->holds(&job_option_table[i]))
			add_parameter(out, &job_option_table[i]);
	}
}

bool manual_job(struct text *out)
{
	roff_title(out, "weir-job", 5, "a job of weir as its owner writes it");
	roff_section(out, "DESCRIPTION");
	roff_text(out, "A job says from where, to where and how. It is one JSON file, at most 1 MiB, with the parameter names of "
	               "Google's Dataflow templates. `weir check FILE` tells every problem with its line; `weir run FILE` "
	               "registers the job under its name. `--param NAME=VALUE` overrides a parameter. Relative paths are relative "
	               "to the folder of the file, those of `--param` to the working folder.");
	roff_example(out, example);
	roff_section(out, "MEMBERS");
	roff_items(out, members, sizeof(members) / sizeof(members[0]));
	roff_section(out, "PARAMETERS");
	for (size_t i = 0; i < option_section_count; i++)
		add_parameters(out, &option_sections[i]);
	roff_section(out, "SEE ALSO");
	roff_text(out, "`weir`(1), `weird`(8)");
	return !out->is_full;
}
