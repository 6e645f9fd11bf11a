/* weir(1): commands, exit statuses, environment, files, reason codes. */
#include "manual/manual.h"
#include "manual/roff_private.h"

#include "base/reason.h"
#include "control/control.h"

static const struct entry options[] = {
	{ "--json", "Prints JSON, one object a line; members are only ever added. Errors go to standard error as "
	            "{\"error\":{\"code\",\"message\",\"next\"}}." },
	{ "--help", "Tells the arguments of a command; `weir --help` lists the commands." },
};

static const struct entry environment[] = {
	{ "WEIR_HOME", "Folder of everything that weir keeps; a relative one is looked for from the working folder. "
	  "Without it the folders of the XDG base directories are used." },
	{ "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR", "Without `WEIR_HOME`: job files lie in `weir` below the first, "
	  "tables and letters below the second, the socket below the third." },
	{ "NO_COLOR, TERM", "With `NO_COLOR` set, or `TERM=dumb`, nothing is coloured." },
};

static const struct entry files[] = {
	{ "jobs/NAME.json", "The registered job; see `weir-job`(5)." },
	{ "jobs/NAME.db", "Dead letters and parked records of the job." },
	{ "warehouse/DATASET.db", "The local warehouse: tables, position and ledger, in SQLite." },
	{ "weird.sock, weird.lock", "Of the engine that runs for this home." },
};

static const char *const examples =
	"weir check orders.json\n"
	"weir run orders.json --until-idle\n"
	"weir tables --failing\n"
	"weir why shop.orders\n"
	"weir dlq groups\n";

static void add_commands(struct text *out)
{
	roff_section(out, "COMMANDS");
	for (int i = 0; i < COMMANDS; i++) {
		text_add(out, ".TP\n");
		roff_usage(out, command_table[i].name, command_table[i].args);
		roff_text(out, command_table[i].help);
	}
}

static void add_reasons(struct text *out)
{
	roff_section(out, "REASON CODES");
	roff_paragraph(out, "Every failure has one; `weir explain CODE` tells its likely causes, what to check and the next "
	                    "safe step.");
	for (size_t i = 0; i < reason_count; i++)
		roff_item(out, reasons[i].code, reasons[i].summary);
}

bool manual_weir(struct text *out)
{
	roff_title(out, "weir", 1, "carries change events into tables and says what did not arrive, and why");
	roff_section(out, "SYNOPSIS");
	text_add(out, "\\fBweir\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR ...] [\\fB\\-\\-json\\fR]\n");
	roff_section(out, "DESCRIPTION");
	roff_text(out, "`weir` carries inserts, updates and deletes of a source database, as Debezium writes them, into tables "
	               "that people can query. A ledger balances to the message; what was refused is kept, byte for byte, as "
	               "a dead letter with the reason and the next step.");
	roff_paragraph(out, "Jobs run in the engine, `weird`(8). `weir` asks the engine that answers for this home and starts one "
	                    "where there is none; a terminal that goes away changes nothing for a running job.");
	add_commands(out);
	roff_section(out, "OPTIONS");
	roff_text(out, "Every command takes");
	roff_items(out, options, sizeof(options) / sizeof(options[0]));
	roff_exit_statuses(out);
	roff_section(out, "ENVIRONMENT");
	roff_items(out, environment, sizeof(environment) / sizeof(environment[0]));
	roff_section(out, "FILES");
	roff_text(out, "Below `WEIR_HOME`:");
	roff_items(out, files, sizeof(files) / sizeof(files[0]));
	roff_section(out, "EXAMPLES");
	roff_text(out, "A job from its check to what failed:");
	roff_example(out, examples);
	add_reasons(out);
	roff_section(out, "SEE ALSO");
	roff_text(out, "`weird`(8), `weir-job`(5)");
	return !out->is_full;
}
