/*
 * Subscriptions of the running jobs: is each read, since when not and why, what comes again, how leases do. From
 * `weir status --json`.
 */
#include "base/arena.h"
#include "view/rows_view.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LINE_BYTES 2048
#define DETAILS_ROWS 8

struct source_rows {
	struct rows *rows;
	json_t *made; /* a subscription each, with its job's name and figures */
};

enum column { STATE, JOB, SUBSCRIPTION, RECEIVED, AGAIN, RESTARTS, ANSWER };

static const struct list_column columns[] = {
	[STATE] = { "STATE", "state", 9, -1, 0, 0, false, 's' },
	[JOB] = { "JOB", "job", 10, -1, 1, 0, false, 'j' },
	[SUBSCRIPTION] = { "SUBSCRIPTION", "subscription", 16, -1, 0, 0, true, 'w' },
	[RECEIVED] = { "RECEIVED", "received", 9, 1, 2, 0, false, 'r' },
	[AGAIN] = { "AGAIN", "again", 6, 1, 0, 0, false, 'a' },
	[RESTARTS] = { "STREAMS", "streams", 7, 1, 3, 0, false, 'n' },
	[ANSWER] = { "ANSWERED", "answered", 9, 1, 0, 0, false, 'l' },
};

static double share_again(const json_t *row)
{
	int64_t received = member_int(row, "received");

	return received ? 100.0 * (double)member_int(row, "redelivered") / (double)received : 0;
}

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	switch ((enum column)column) {
	case STATE: text_add(out, state_column(member_text(row, "state"))); return;
	case JOB: text_add(out, member_text(row, "job")); return;
	case SUBSCRIPTION: text_add(out, member_text(row, "subscription")); return;
	case RECEIVED: number_text(member_int(row, "received"), out); return;
	case AGAIN: text_add_format(out, "%.2f%%", share_again(row)); return;
	case RESTARTS: number_text(member_int(row, "restarts"), out); return;
	case ANSWER:
		if (*member_text(row, "answered"))
			console_time(console, member_text(row, "answered"), true, out);
		else
			text_add(out, "-");
		return;
	}
}

static bool cell_number(const json_t *row, size_t column, double *out)
{
	*out = column == AGAIN ? share_again(row) : (double)member_int(row, column == RECEIVED ? "received" : "restarts");
	return column == RECEIVED || column == AGAIN || column == RESTARTS;
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%s %.200s", member_text(row, "job"), member_text(row, "full_name"));
}

static const struct answer *ask(struct view *view)
{
	return model_ask(console_model(view->console), LANE_LOOK, "status", NULL, "jobs journal");
}

static void add_rows(struct view *view, struct rows *rows, const json_t *job, const json_t *source)
{
	struct source_rows *state = view->state;
	const json_t *each;
	size_t i;

	json_array_foreach(json_object_get(source, "subscriptions"), i, each) {
		json_t *row = json_copy((json_t *)each);

		json_object_set(row, "job", json_object_get(job, "job"));
		json_object_set(row, "source", (json_t *)source);
		json_object_set(row, "job_state", json_object_get(job, "own_state"));
		json_array_append_new(state->made, row);
		rows_add(rows, row);
	}
}

static void collect(struct view *view, struct rows *rows)
{
	struct source_rows *state = view->state;
	const json_t *job;
	size_t i;

	json_array_clear(state->made);
	json_array_foreach(ask(view)->lines, i, job) {
		const json_t *source = json_object_get(job, "source");

		if (source)
			add_rows(view, rows, job, source);
	}
}

static const struct rows_spec spec = { columns, sizeof(columns) / sizeof(*columns), cell_text, cell_number, row_key, NULL,
	                               collect };

/*
 * The selected one
 */

/* "1,204 held, the oldest for 0.3s, 0 leases expired, extended in 12ms (99 of 100)", of the job, whose leases are one book. */
static void leases_add(const json_t *source, struct text *out)
{
	number_text(member_int(source, "held"), out);
	text_add(out, " messages held");
	if (member_int(source, "held")) {
		text_add(out, ", the oldest for ");
		age_text(member_int(source, "oldest_held_ms"), out);
	}
	text_add(out, "; ");
	number_text(member_int(source, "expired_leases"), out);
	text_add(out, " leases expired");
	if (member_int(source, "extend_p99_ms"))
		text_add_format(out, "; extended in %lld ms", (long long)member_int(source, "extend_p99_ms"));
}

static void acks_add(const json_t *row, struct text *out)
{
	text_add(out, "acknowledged ");
	number_text(member_int(row, "acknowledged"), out);
	text_add(out, ", refused ");
	number_text(member_int(row, "refused_acks"), out);
	text_add_format(out, "; leases of %lld s%s%s", (long long)(member_int(row, "lease_ms") / 1000),
	                member_bool(row, "exactly_once") ? "; exactly once" : "",
	                member_bool(row, "dead_letter_policy") ? "; has a dead-letter policy" : "");
}

/* "1,204 not acknowledged, the oldest 12s old; by Monitoring 40s ago": such figures come late. */
static void backlog_add(const struct console *console, const json_t *row, const json_t *source, struct text *out)
{
	if (!json_is_integer(json_object_get(row, "backlog"))) {
		if (*member_text(source, "backlog_code"))
			text_add_format(out, "what waits is not known: %s", member_text(source, "backlog_sentence"));
		return;
	}
	number_text(member_int(row, "backlog"), out);
	text_add(out, " not acknowledged");
	if (member_int(row, "backlog_oldest_s")) {
		text_add(out, ", the oldest ");
		age_text(member_int(row, "backlog_oldest_s") * 1000, out);
		text_add(out, " old");
	}
	text_add(out, "; by Monitoring ");
	console_ago(console, member_text(row, "backlog_at"), out);
}

static void trouble_add(const struct console *console, const json_t *row, struct text *out)
{
	if (!*member_text(row, "code"))
		return;
	if (*member_text(row, "since")) {
		text_add(out, "since ");
		console_time(console, member_text(row, "since"), true, out);
		text_add(out, ": ");
	}
	text_add_format(out, "%s: %s", member_text(row, "code"), member_text(row, "sentence"));
}

static void draw_details(struct view *view, const json_t *row, struct area area)
{
	const json_t *source = json_object_get(row, "source");
	OWNED(text) leases = text_new(LINE_BYTES);
	OWNED(text) acks = text_new(LINE_BYTES);
	OWNED(text) backlog = text_new(LINE_BYTES);
	OWNED(text) trouble = text_new(LINE_BYTES);

	draw_rule(area, 0, member_text(row, "full_name"), member_bool(source, "emulator") ? "EMULATOR" : "");
	leases_add(source, leases);
	acks_add(row, acks);
	backlog_add(view->console, row, source, backlog);
	trouble_add(view->console, row, trouble);
	draw_field(area, 1, 1, area.cols - 2, -1, ROLE_text, text_span(leases));
	draw_field(area, 2, 1, area.cols - 2, -1, ROLE_text, text_span(acks));
	draw_field(area, 3, 1, area.cols - 2, -1, ROLE_text, text_span(backlog));
	draw_paragraph(area, 4, 1, area.cols - 2, area.rows - 4, console_role(view->console, ROLE_text), text_span(trouble));
}

static void source_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	int list = area.rows > DETAILS_ROWS + 3 ? area.rows - DETAILS_ROWS : area.rows;
	const json_t *row;

	rows_selected(view, rows);
	rows_draw(view, rows, area_part(area, 0, 0, list, area.cols), true);
	/* Drawing has collected them anew: a row from before is gone. */
	row = rows_selected(view, rows);
	if (!row) {
		rows_view_nothing(area_part(area, 1, 0, area.rows - 1, area.cols), ask(view),
		                  rows_are_filtered_out(rows) ? ROWS_FILTERED_OUT : "no running job reads a subscription");
		return;
	}
	if (list < area.rows)
		draw_details(view, row, area_part(area, list, 0, area.rows - list, area.cols));
}

static void source_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const json_t *job;
	size_t i, count = 0, troubles = 0;

	(void)out_has_verdict;
	json_array_foreach(ask(view)->lines, i, job) {
		const json_t *source = json_object_get(job, "source"), *each;
		size_t j;

		json_array_foreach(json_object_get(source, "subscriptions"), j, each) {
			count++;
			troubles += strcmp(member_text(each, "state"), "ok") != 0;
		}
	}
	text_add_format(out, "source  %zu subscription%s", count, count == 1 ? "" : "s");
	if (troubles)
		text_add_format(out, ", %zu not read", troubles);
}

static void source_status(struct view *view, struct text *left, struct text *right)
{
	text_add(left, "weir seek puts one back; weir check says what it may do");
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *source_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_open, ACTION_logs, ACTION_toggle_pause, ACTION_acts, ACTION_filter,
		                                ACTION_back, ACTIONS };

	(void)view;
	return hints;
}

static bool source_subject(struct view *view, struct subject *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	if (!row)
		return false;
	snprintf(out->job, sizeof(out->job), "%s", member_text(row, "job"));
	snprintf(out->state, sizeof(out->state), "%s", member_text(row, "job_state"));
	return true;
}

static bool source_act(struct view *view, enum action_id action, const char *argument)
{
	struct subject subject = { 0 };

	if (action != ACTION_open)
		return rows_act(view, rows_view_rows(view), action, argument);
	if (source_subject(view, &subject))
		console_go(view->console, "job", subject.job);
	else
		console_say(view->console, "nothing to open");
	return true;
}

static bool source_open(struct view *view, struct error *err)
{
	struct source_rows *state = memory_zalloc(sizeof(*state));

	(void)err;
	state->rows = rows_new(&spec);
	state->made = json_array();
	view->state = state;
	return true;
}

static void source_close(struct view *view)
{
	json_decref(((struct source_rows *)view->state)->made);
	rows_view_close(view);
}

static const enum action_id source_own[] = { ACTION_sort, ACTION_sort_reverse, ACTIONS };

const struct view_ops view_source = {
	.name = "source",
	.table = "source",
	.help = "subscriptions of the running jobs: what is held, what comes again, what is wrong",
	.open = source_open,
	.close = source_close,
	.draw = source_draw,
	.title = source_title,
	.status = source_status,
	.own = source_own,
	.hints = source_hints,
	.act = source_act,
	.subject = source_subject,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
