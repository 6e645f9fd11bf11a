/* The charts of a job; see job_charts.h. From `weir status JOB --history --json`: seconds of the last ten minutes. */
#include "view/job_charts.h"
#include "base/arena.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LABEL_COLS 9
#define LINE_BYTES 1024
#define FLOW_ROWS 6
#define LEGS_ROWS 6
#define BATCH_ROWS 2
#define SECONDS 600

static const struct {
	const char *name, *label;
} legs[] = { { "publish", "commit -> publish" },
	     { "receive", "publish -> receive" },
	     { "changelog", "receive -> changelog" },
	     { "replica", "changelog -> replica" } };

/* The job's own seconds: the first object with step_s 1 and no table. */
static const json_t *seconds_of(const json_t *lines)
{
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		if (member_int(line, "step_s") == 1 && !json_object_get(line, "table"))
			return json_object_get(line, "values");
	}
	return NULL;
}

/* Ten minutes, oldest first; a gap where the job was not there yet. */
static void samples_of(const json_t *values, const char *name, double out[SECONDS])
{
	const json_t *array = json_object_get(values, name);
	size_t count = json_array_size(array), known = count < SECONDS ? count : SECONDS;

	for (size_t i = 0; i < SECONDS; i++) {
		const json_t *value = i < SECONDS - known ? NULL : json_array_get(array, count - (SECONDS - i));

		out[i] = json_is_number(value) ? json_number_value(value) : CHART_GAP;
	}
}

static double chart_line(const json_t *values, const char *name, struct area area, enum role role, double ceiling)
{
	double *samples = memory_alloc(SECONDS * sizeof(*samples));
	size_t want = chart_samples(area.cols);
	double *pieces = memory_alloc((want + 1) * sizeof(*pieces));
	struct chart chart = { .samples = pieces, .count = want, .role = role, .ceiling = ceiling };

	samples_of(values, name, samples);
	chart_pieces(samples, SECONDS, pieces, want);
	if (ceiling <= 0)
		chart.ceiling = chart_ceiling(pieces, want, 0);
	chart_draw(area, &chart);
	free(samples);
	free(pieces);
	return chart.ceiling;
}

static double ceiling_of(const json_t *values, const char *name, size_t want)
{
	double *samples = memory_alloc(SECONDS * sizeof(*samples));
	double *pieces = memory_alloc((want + 1) * sizeof(*pieces));
	double ceiling;

	samples_of(values, name, samples);
	chart_pieces(samples, SECONDS, pieces, want);
	ceiling = chart_ceiling(pieces, want, 0);
	free(samples);
	free(pieces);
	return ceiling;
}

static void axis(struct area area, int row)
{
	int cols = area.cols - LABEL_COLS - 1;

	draw_text(area, row, LABEL_COLS + 1, ROLE_chart_axis, "-10m");
	draw_text(area, row, LABEL_COLS + 1 + cols / 2 - 1, ROLE_chart_axis, "-5m");
	draw_text(area, row, area.cols - 4, ROLE_chart_axis, "now");
}

static void flow_label(struct area area, int row, const char *name, double ceiling)
{
	OWNED(text) label = text_new(LINE_BYTES);

	text_add_format(label, "%-4s", name);
	number_short(ceiling, label);
	draw_field(area, row, 1, LABEL_COLS - 1, -1, ROLE_chart_axis, text_span(label));
}

/* In and out share one scale. */
static int draw_flow(const json_t *job, const json_t *values, struct area area)
{
	const json_t *rates = json_object_get(job, "rates");
	size_t want = chart_samples(area.cols - LABEL_COLS - 2);
	double in = ceiling_of(values, "received", want), out = ceiling_of(values, "written", want);
	double ceiling = in > out ? in : out;
	OWNED(text) note = text_new(LINE_BYTES);

	text_add(note, "in ");
	number_text((int64_t)(member_number(rates, "received") + 0.5), note);
	text_add(note, "  ");
	bytes_rate_text(member_number(rates, "bytes"), note);
	text_add(note, "   out ");
	number_text((int64_t)(member_number(rates, "written") + 0.5), note);
	draw_rule(area, 0, "messages/s, last 10 min", note->at);
	flow_label(area, 1, "in", ceiling);
	chart_line(values, "received", area_part(area, 1, LABEL_COLS + 1, 2, area.cols - LABEL_COLS - 2), ROLE_chart_1, ceiling);
	flow_label(area, 3, "out", ceiling);
	chart_line(values, "written", area_part(area, 3, LABEL_COLS + 1, 2, area.cols - LABEL_COLS - 2), ROLE_chart_2, ceiling);
	axis(area, 5);
	return FLOW_ROWS;
}

static const json_t *slowest_leg(const json_t *latency)
{
	const json_t *slowest = NULL;

	for (size_t i = 0; i < sizeof(legs) / sizeof(*legs); i++) {
		const json_t *leg = json_object_get(latency, legs[i].name);

		if (member_int(leg, "count") && member_number(leg, "p99_ms") > member_number(slowest, "p99_ms"))
			slowest = leg;
	}
	return slowest;
}

static void leg_number(struct area area, int row, int col, const json_t *leg, const char *name)
{
	OWNED(text) shown = text_new(64);

	if (member_int(leg, "count"))
		duration_text((int64_t)member_number(leg, name), shown);
	else
		text_add(shown, "-");
	draw_field(area, row, col, 7, 1, ROLE_text, text_span(shown));
}

static int draw_legs(const json_t *job, struct area area)
{
	const json_t *latency = json_object_get(job, "latency"), *slowest = slowest_leg(latency);

	draw_rule(area, 0, "lag by leg", "");
	draw_text(area, 1, 1, ROLE_head, "LEG");
	draw_text(area, 1, 30, ROLE_head, "P50");
	draw_text(area, 1, 38, ROLE_head, "P99");
	draw_text(area, 1, 46, ROLE_head, "MAX");
	draw_text(area, 1, 51, ROLE_head, "WHY");
	for (size_t i = 0; i < sizeof(legs) / sizeof(*legs); i++) {
		const json_t *leg = json_object_get(latency, legs[i].name);
		int row = 2 + (int)i;

		draw_text(area, row, 1, ROLE_text, legs[i].label);
		leg_number(area, row, 26, leg, "p50_ms");
		leg_number(area, row, 34, leg, "p99_ms");
		leg_number(area, row, 42, leg, "max_ms");
		if (leg && leg == slowest)
			draw_text(area, row, 51, ROLE_warn, "slow leg");
	}
	return LEGS_ROWS;
}

static int draw_batches(const json_t *job, struct area area)
{
	const json_t *batch = json_object_get(json_object_get(job, "latency"), "batch");
	OWNED(text) line = text_new(LINE_BYTES);

	draw_rule(area, 0, "batch latency", "");
	number_text(member_int(batch, "count"), line);
	text_add(line, " batches");
	if (member_int(batch, "count"))
		text_add_format(line, "   p50 %.1f ms   p99 %.1f ms   max %.1f ms", member_number(batch, "p50_ms"),
		                member_number(batch, "p99_ms"), member_number(batch, "max_ms"));
	draw_span(area, 1, 1, ROLE_text, text_span(line));
	return BATCH_ROWS;
}

int job_charts_draw(struct console *console, const json_t *job, const char *name, struct area area)
{
	const struct answer *history = model_ask(console_model(console), LANE_LOOK, "status",
	                                         json_pack("{s:s, s:b}", "job", name, "history", 1), "jobs");
	const json_t *values = seconds_of(history->lines);
	int rows = 0;

	if (values && area.rows >= FLOW_ROWS)
		rows += draw_flow(job, values, area_part(area, 0, 0, FLOW_ROWS, area.cols));
	if (json_object_get(job, "latency") && area.rows >= rows + LEGS_ROWS)
		rows += draw_legs(job, area_part(area, rows, 0, LEGS_ROWS, area.cols));
	if (json_object_get(job, "latency") && area.rows >= rows + BATCH_ROWS)
		rows += draw_batches(job, area_part(area, rows, 0, BATCH_ROWS, area.cols));
	return rows;
}
