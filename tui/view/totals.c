/* Totals and verdict; see totals.h. */
#include "view/totals.h"
#include "widget/chart.h"

static bool is_watched(const char *state)
{
	return *state && strcmp(state, "ok") != 0 && strcmp(state, "stopped") != 0 && strcmp(state, "needs you") != 0;
}

static void count_state(struct totals *totals, const char *state, const char *name, const char *reason)
{
	if (strcmp(state, "needs you") == 0) {
		if (!totals->needs_you++) {
			totals->worst = name;
			totals->worst_reason = reason;
		}
	} else if (is_watched(state)) {
		if (!totals->watch++ && !totals->worst) {
			totals->worst = name;
			totals->worst_reason = reason;
		}
	}
}

static void lag_take(struct totals *totals, const json_t *object, const char *name)
{
	const json_t *lag = json_object_get(object, "lag_ms");

	if (!json_is_number(lag) || (int64_t)json_number_value(lag) <= totals->lag_ms)
		return;
	totals->lag_ms = (int64_t)json_number_value(lag);
	totals->lag_name = name;
}

/* A job whose own thread is in trouble counts beside its tables. */
static void job_take(struct totals *totals, const json_t *job)
{
	const json_t *rates = json_object_get(job, "rates"), *tables = json_object_get(job, "tables"), *table;
	int before = totals->needs_you + totals->watch;
	size_t i;

	totals->jobs++;
	totals->running += member_bool(job, "running");
	totals->dead_letters += member_int(job, "open_letters");
	totals->groups += member_int(job, "open_groups");
	totals->parked += member_int(job, "parked");
	totals->in_flight += member_int(job, "in_flight");
	totals->unbalanced += json_is_false(json_object_get(job, "balanced"));
	totals->in += member_number(rates, "received");
	totals->out += member_number(rates, "written");
	totals->bytes_in += member_number(rates, "bytes");
	totals->dead_rate += member_number(rates, "dead_lettered") * 60;
	json_array_foreach(tables, i, table) {
		count_state(totals, member_text(table, "state"), member_text(table, "table"), member_text(table, "code"));
		lag_take(totals, table, member_text(table, "table"));
	}
	lag_take(totals, job, member_text(job, "job"));
	if (totals->needs_you + totals->watch > before)
		return;
	totals->needing_jobs += strcmp(member_text(job, "worst"), "needs you") == 0;
	count_state(totals, member_text(job, "worst"), member_text(job, "job"), member_text(job, "code"));
}

void totals_ask(struct console *console, struct totals *out)
{
	const struct answer *answer = model_ask(console_model(console), LANE_LOOK, "status", NULL, "jobs journal");
	const json_t *job;
	size_t i;

	*out = (struct totals){ .is_known = answer->is_known, .lag_ms = -1, .lag_name = "", .is_blind = console_is_blind(console) };
	json_array_foreach(answer->lines, i, job)
		job_take(out, job);
}

static bool is_emulated(const json_t *job)
{
	return member_bool(json_object_get(job, "source"), "emulator") || member_bool(json_object_get(job, "sink"), "emulator");
}

/* "shop", "shop.orders" and "shop orders" are places of the job shop. */
static bool is_place_of(const json_t *job, const char *argument)
{
	const char *name = member_text(job, "job");
	size_t len = strlen(name);

	return len && strncmp(argument, name, len) == 0 && (!argument[len] || argument[len] == '.' || argument[len] == ' ');
}

bool totals_emulated(struct console *console, const char *argument)
{
	const struct answer *answer = model_ask(console_model(console), LANE_LOOK, "status", NULL, "jobs journal");
	const json_t *job;
	bool any = false;
	size_t i;

	json_array_foreach(answer->lines, i, job) {
		if (is_place_of(job, argument))
			return is_emulated(job);
		any = any || is_emulated(job);
	}
	return any;
}

enum role totals_role(const struct totals *totals)
{
	if (totals->is_blind || totals->needs_you || totals->unbalanced)
		return ROLE_state_needs_you;
	if (!totals->is_known)
		return ROLE_dim;
	return totals->watch ? ROLE_state_watch : ROLE_state_ok;
}

static void needs_text(const struct totals *totals, struct text *out)
{
	int jobs = totals->needing_jobs, tables = totals->needs_you - jobs;

	text_add(out, "RED: ");
	if (tables)
		text_add_format(out, "%d table%s", tables, tables == 1 ? "" : "s");
	if (jobs)
		text_add_format(out, "%s%d job%s", tables ? " and " : "", jobs, jobs == 1 ? "" : "s");
	text_add_format(out, " need%s you", totals->needs_you == 1 ? "s" : "");
}

void totals_verdict(const struct totals *totals, bool is_long, struct text *out)
{
	if (!totals->is_known && !totals->is_blind)
		text_add(out, "asking the engine");
	else if (totals->is_blind)
		text_add(out, is_long ? "NOT KNOWN: engine not reachable" : "NOT KNOWN");
	else if (totals->needs_you && is_long)
		needs_text(totals, out);
	else if (totals->needs_you)
		text_add_format(out, "RED %d", totals->needs_you);
	else if (totals->unbalanced)
		text_add(out, is_long ? "RED: the ledger is off" : "RED");
	else if (totals->watch)
		text_add_format(out, is_long ? "watch: %d not ok" : "watch %d", totals->watch);
	else
		text_add(out, is_long ? "ok: nothing needs you" : "ok");
}

void totals_worst(struct console *console, const struct totals *totals, struct text *out)
{
	(void)console;
	if (totals->worst)
		text_add_format(out, ": %s %s", totals->worst, totals->worst_reason ? totals->worst_reason : "");
	if (totals->lag_ms >= 0) {
		text_add(out, ", lag ");
		duration_text(totals->lag_ms, out);
	}
	text_add(out, ", dlq ");
	number_text(totals->dead_letters, out);
}
