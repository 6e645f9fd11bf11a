/* weird(8): how the engine is started, ended and kept. */
#include "manual/manual.h"
#include "manual/roff_private.h"
#include "options/settings.h"

static const struct entry invocations[] = {
	{ "weird --serve [--end-when-idle] [--tell-ready]", "Answers on the socket of this home. With `--end-when-idle` it ends "
	  "after ten minutes without a running job and without a session, as the engine does that `weir` starts. With "
	  "`--tell-ready` it writes one line to standard output when it answers, or why it cannot: "
	  "{\"ready\":{\"pid\":N}} or {\"error\":{..}}." },
	{ "weird --run FILE|JOB ...", "Runs one job and answers meanwhile; takes the options of `weir run`, which becomes this "
	  "where no engine answers." },
	{ "weird --bench [NAME] ...", "Measures; takes the options of `weir bench`." },
	{ "weird --version [--json]", "Prints versions of program, libraries, protocol and state files." },
};

static const struct entry signals[] = {
	{ "SIGTERM, SIGINT", "The first drains all jobs and ends the engine. The second ends it at once; what is committed is "
	  "safe, the rest is received again." },
	{ "SIGHUP", "Ignored: the engine outlives the terminal." },
	{ "SIGKILL", "Costs what was in flight. Start the engine again: positions, ledgers and letters agree." },
};

static const char *const unit_lines =
	"systemctl --user enable --now weird\n"
	"loginctl enable-linger\n";

bool manual_weird(struct text *out)
{
	roff_title(out, "weird", 8, "the engine of weir");
	roff_section(out, "SYNOPSIS");
	text_add(out, "\\fBweird\\fR \\fB\\-\\-serve\\fR [\\fB\\-\\-end\\-when\\-idle\\fR] [\\fB\\-\\-tell\\-ready\\fR]\n");
	roff_section(out, "DESCRIPTION");
	roff_text(out, "`weird` owns the jobs of one home and answers `weir`(1) on a unix socket. It keeps no state of its own: "
	               "everything is in the files of the home. One engine a home: a second one ends with `engine_running`.");
	roff_paragraph(out, "People do not start it; `weir` does.");
	roff_section(out, "OPTIONS");
	roff_items(out, invocations, sizeof(invocations) / sizeof(invocations[0]));
	roff_section(out, "SETTINGS");
	roff_text(out, "`config.json` in the folder of configuration, one JSON object; only its owner writes it. It is read when the "
	               "engine starts. A mistake in it keeps the engine from starting and is told with line and column "
	               "(`bad_setting`).");
	settings_explain(out, roff_item);
	roff_section(out, "ACCESS");
	roff_text(out, "The kernel says who connects. The engine's own user and root may do everything; members of `socketGroup` may "
	               "look, `operators` among them may act on what is there. Nobody else connects (`not_a_member`). Who tries "
	               "what it may not do is refused with `not_allowed`, and the try is in the journal.");
	roff_section(out, "SIGNALS");
	roff_items(out, signals, sizeof(signals) / sizeof(signals[0]));
	roff_section(out, "SYSTEMD");
	roff_text(out, "An engine that `weir` has started goes on when SSH drops, unless logind ends a user's processes at logout "
	               "(`KillUserProcesses=yes`). An engine that the user unit `weird.service` keeps comes back after a crash "
	               "and with the machine. It lives with the user's own systemd, which ends with the last session unless the user "
	               "lingers. Both are kept by");
	roff_example(out, unit_lines);
	roff_paragraph(out, "Where the user lingers and the unit is installed, `weir` starts the unit instead of an engine of its "
	                    "own, for the home without `WEIR_HOME`, `XDG_CONFIG_HOME` and `XDG_STATE_HOME`; another home has "
	                    "always an engine of its own.");
	roff_exit_statuses(out);
	roff_section(out, "SEE ALSO");
	roff_text(out, "`weir`(1), `weir-job`(5), `loginctl`(1), `logind.conf`(5), `systemctl`(1)");
	return !out->is_full;
}
