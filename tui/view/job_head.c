/*
 * What a job's screen says above its charts, and in their place: where from and where to, what is in flight, why its own
 * thread does not go on; parameters and threads. See job_head.h.
 */
#include "view/job_head.h"
#include "view/facts.h"
#include "widget/chart.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 2048
#define COMMITTED_COLS 72
#define TROUBLE_ROWS 4
#define LETTERS_WHOLE_ROWS 16 /* a screen with fewer rows left has one for why letters wait */

/* Nothing is to be said of a job's own thread that runs, or was told to end. */
static bool is_at_work(const char *own_state)
{
	return !*own_state || strcmp(own_state, "ok") == 0 || strcmp(own_state, "stopped") == 0 ||
	       strcmp(own_state, "catching up") == 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "shop-sub -> acme-data shop + shop_log, merge every 300 s": as far as it was given. */
static void flow_add(const json_t *parameters, struct text *out)
{
	const char *subscriptions = member_text(parameters, "inputSubscriptions"), *feed = member_text(parameters, "inputFile");
	const char *changelog = member_text(parameters, "changeLogDataset"), *replica = member_text(parameters, "replicaDataset");

	text_add_format(out, "%s -> %s%s%s", *subscriptions ? subscriptions : base_name(feed), replica, *replica && *changelog ? " + " : "",
	                changelog);
	if (member_int(parameters, "updateFrequencySecs"))
		text_add_format(out, ", merge every %lld s", (long long)member_int(parameters, "updateFrequencySecs"));
}

static void since_add(struct view *view, const json_t *job, struct text *out)
{
	if (!*member_text(job, "since")) {
		text_add(out, member_bool(job, "running") ? "" : "   stopped");
		return;
	}
	text_add(out, member_bool(job, "running") ? "   on since " : "   stopped ");
	console_time(view->console, member_text(job, "since"), true, out);
}

static void batches_add(const json_t *job, struct text *out)
{
	int64_t batches = member_int(json_object_get(job, "queue"), "batches");

	if (batches && member_int(job, "in_flight"))
		text_add_format(out, " in %lld batch%s", (long long)batches, batches == 1 ? "" : "es");
}

/* "committed 15:18:37 (0.1s ago)", on a narrow screen only how long ago. */
static void committed_add(struct view *view, const json_t *job, bool is_narrow, struct text *out)
{
	const char *time = member_text(job, "committed");

	if (!*time)
		return;
	text_add(out, "committed ");
	if (!is_narrow) {
		console_time(view->console, time, true, out);
		text_add(out, " (");
	}
	console_ago(view->console, time, out);
	text_add(out, is_narrow ? "  " : ")   ");
}

/* "BigQuery   3 requests in flight   answered 0.1s ago   12,400 rows/s   9.1M/s   EMULATOR": a destination that is a service. */
static void sink_add(struct view *view, const json_t *sink, const char *gap, struct text *out)
{
	text_add_format(out, "%s%s", member_text(sink, "service"), gap);
	if (member_bool(sink, "emulator"))
		text_add_format(out, "EMULATOR%s", gap);
	text_add_format(out, "%lld request%s in flight%s", (long long)member_int(sink, "in_flight"),
	                member_int(sink, "in_flight") == 1 ? "" : "s", gap);
	text_add(out, "answered ");
	if (*member_text(sink, "answered"))
		console_ago(view->console, member_text(sink, "answered"), out);
	else
		text_add(out, "never");
	text_add(out, gap);
	number_text((int64_t)json_number_value(json_object_get(sink, "rows_rate")), out);
	text_add_format(out, " rows/s%s", gap);
	number_text((int64_t)json_number_value(json_object_get(sink, "bytes_rate")), out);
	text_add(out, " B/s");
}

/* "   340 wait, the oldest 12s (40s ago)": of Monitoring, whose figures come late. */
static void backlog_add(const struct console *console, const json_t *source, const char *gap, struct text *out)
{
	if (!json_is_integer(json_object_get(source, "backlog")))
		return;
	text_add(out, gap);
	number_text(member_int(source, "backlog"), out);
	text_add(out, " wait");
	if (member_int(source, "backlog_oldest_s")) {
		text_add(out, ", the oldest ");
		age_text(member_int(source, "backlog_oldest_s") * 1000, out);
	}
	text_add(out, " (");
	console_ago(console, member_text(source, "backlog_at"), out);
	text_add(out, ")");
}

/* "Pub/Sub   EMULATOR   1,204 held, the oldest 0.3s   0.01% came again   0 leases expired": a source that is a service. */
static void source_add(const struct console *console, const json_t *source, const char *gap, struct text *out)
{
	int64_t received = member_int(source, "received"), again = member_int(source, "redelivered");

	text_add_format(out, "%s%s%s", member_text(source, "service"), member_bool(source, "emulator") ? gap : "",
	                member_bool(source, "emulator") ? "EMULATOR" : "");
	text_add(out, gap);
	number_text(member_int(source, "held"), out);
	text_add(out, " held");
	if (member_int(source, "held")) {
		text_add(out, ", the oldest ");
		age_text(member_int(source, "oldest_held_ms"), out);
	}
	text_add_format(out, "%s%.2f%% came again%s", gap, received ? 100.0 * (double)again / (double)received : 0.0, gap);
	number_text(member_int(source, "expired_leases"), out);
	text_add(out, " leases expired");
	backlog_add(console, source, gap, out);
}

int job_head_rows(const json_t *job)
{
	return 2 + (json_object_get(job, "source") != NULL) + (json_object_get(job, "sink") != NULL);
}

void job_head_draw(struct view *view, const json_t *job, const json_t *parameters, struct area area)
{
	enum role role = console_role(view->console, ROLE_text);
	bool is_narrow = area.cols < COMMITTED_COLS;
	const char *gap = is_narrow ? "  " : "   ";
	OWNED(text) first = text_new(LINE_BYTES);
	OWNED(text) second = text_new(LINE_BYTES);
	OWNED(text) third = text_new(LINE_BYTES);
	int row = 2;

	if (parameters)
		flow_add(parameters, first);
	else
		text_add(first, member_text(job, "template"));
	since_add(view, job, first);
	/* What must not be cut comes first. */
	text_add_format(second, "%s%s", member_bool(job, "balanced") ? "ledger balanced" : "ledger OFF", gap);
	committed_add(view, job, is_narrow, second);
	text_add(second, "in flight ");
	number_text(member_int(job, "in_flight"), second);
	batches_add(job, second);
	text_add_format(second, "%sparked ", gap);
	number_text(member_int(job, "parked"), second);
	draw_field(area, 0, 1, area.cols - 2, -1, role, text_span(first));
	draw_field(area, 1, 1, area.cols - 2, -1, role, text_span(second));
	if (json_object_get(job, "source")) {
		source_add(view->console, json_object_get(job, "source"), gap, third);
		draw_field(area, row++, 1, area.cols - 2, -1, role, text_span(third));
		text_clear(third);
	}
	if (!json_object_get(job, "sink"))
		return;
	sink_add(view, json_object_get(job, "sink"), gap, third);
	draw_field(area, row, 1, area.cols - 2, -1, role, text_span(third));
}

/* A job whose own thread is in trouble says so whole: no red thing without a sentence. Gives the rows taken. */
int job_trouble_draw(const json_t *job, struct area area)
{
	const char *state = member_text(job, "own_state"), *code = member_text(job, "code");
	OWNED(text) title = text_new(LINE_BYTES);
	int rows;

	if (is_at_work(state) || !*member_text(job, "sentence"))
		return 0;
	text_add_format(title, "%s%s%s", state_column(state), *code ? ": " : "", code);
	draw_rule(area, 0, title->at, *code ? "e explains, and says what to do" : "");
	rows = draw_paragraph(area, 1, 1, area.cols - 2, TROUBLE_ROWS, state_role(state), span_of(member_text(job, "sentence")));
	return 1 + rows;
}

/* "dead-letter table ok   p:d.errors"; "dead-letter table waiting: google_quota   p:d.errors", and below it why. */
static void way_add(const json_t *way, const char *gap, struct text *out)
{
	const char *code = member_text(way, "code");

	text_add_format(out, "dead-letter %s %s%s%s%s%s", member_text(way, "kind"), state_column(member_text(way, "state")), *code ? ": " : "",
	                code, gap, member_text(way, "target"));
}

/* "since 15:18:37, again 15:18:42: table 'd.errors': a quota is used up". */
static void way_trouble_add(const struct console *console, const json_t *way, struct text *out)
{
	text_add(out, "since ");
	console_time(console, member_text(way, "since"), true, out);
	text_add(out, ", again ");
	console_time(console, member_text(way, "until"), true, out);
	text_add_format(out, ": %s", member_text(way, "sentence"));
}

int job_letters_draw(const struct console *console, const json_t *job, struct area area)
{
	int rows_most = area.rows < LETTERS_WHOLE_ROWS ? 1 : TROUBLE_ROWS, row = 0;
	const char *gap = area.cols < COMMITTED_COLS ? "  " : "   ";
	const json_t *way;
	size_t i;

	json_array_foreach(json_object_get(job, "letters_to"), i, way) {
		bool is_fine = !*member_text(way, "code");
		OWNED(text) line = text_new(LINE_BYTES);

		way_add(way, gap, line);
		draw_field(area, row++, 1, area.cols - 2, -1, is_fine ? console_role(console, ROLE_text) : state_role(member_text(way, "state")),
		           text_span(line));
		text_clear(line);
		if (is_fine)
			continue;
		way_trouble_add(console, way, line);
		row += draw_paragraph(area, row, 1, area.cols - 2, rows_most, ROLE_text, text_span(line));
	}
	return row;
}

static void fact(struct area area, int *row, const char *name, const char *value)
{
	if (*row >= area.rows)
		return;
	draw_field(area, *row, 1, 30, -1, ROLE_dim, span_of(name));
	draw_field(area, *row, 32, area.cols - 33, -1, ROLE_text, span_of(value));
	(*row)++;
}

/* Parameters as they were given, and what each thread does. */
void job_facts_draw(const json_t *job, const json_t *parameters, struct area area)
{
	const json_t *value, *thread;
	const char *name;
	size_t i;
	int row = 1;

	draw_rule(area, 0, "parameters that were given", "");
	json_object_foreach((json_t *)parameters, name, value) {
		char *text = json_is_string(value) ? strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY);

		fact(area, &row, name, text ? text : "");
		free(text);
	}
	if (row < area.rows)
		draw_rule(area, row++, "threads", "");
	if (!json_array_size(json_object_get(job, "activity")) && row < area.rows)
		draw_text(area, row, 1, ROLE_text, "at rest: the job does not run");
	json_array_foreach(json_object_get(job, "activity"), i, thread)
		fact(area, &row, member_text(thread, "thread"), member_text(thread, "doing"));
}
