/* The charts of a job; see job_charts.h. From `weir status JOB --history --json`: seconds of the last ten minutes, or minutes. */
#include "view/job_charts.h"
#include "base/arena.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LABEL_COLS 9
#define LINE_BYTES 1024
#define FLOW_ROWS 6
#define LEGS_ROWS 6
#define BATCH_ROWS 2

static const struct {
	const char *name, *label;
} legs[] = { { "publish", "commit -> publish" },
	     { "receive", "publish -> receive" },
	     { "changelog", "receive -> changelog" },
	     { "replica", "changelog -> replica" } };

/* What is charted: the seconds of ten minutes, or the minutes of longer (their values are sums). */
struct span_of_time {
	const char *name;
	const char *axis[2];   /* at the left end, in the middle */
	int seconds, step_s;
};

static const struct span_of_time ranges[] = {
	{ "10 min", { "-10m", "-5m" }, 600, 1 },
	{ "hour", { "-1h", "-30m" }, 3600, 60 },
	{ "24 h", { "-24h", "-12h" }, 86400, 60 },
};

static const struct span_of_time *range_of(const struct console *console)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		if (ranges[i].seconds == console_range_s(console))
			return &ranges[i];
	}
	return &ranges[0];
}

/* The job's own values of that step: the first such object without a table. */
static const json_t *values_of(const json_t *lines, int step_s)
{
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		if (member_int(line, "step_s") == step_s && !json_object_get(line, "table"))
			return json_object_get(line, "values");
	}
	return NULL;
}

struct series {
	const json_t *values;
	const struct span_of_time *range;
};

static size_t sample_count(const struct series *series)
{
	return (size_t)(series->range->seconds / series->range->step_s);
}

/* A second's rate each, oldest first; a gap where the job was not there yet. The caller frees. */
static double *samples_of(const struct series *series, const char *name)
{
	const json_t *array = json_object_get(series->values, name);
	size_t wanted = sample_count(series), count = json_array_size(array), known = count < wanted ? count : wanted;
	double *out = memory_alloc(wanted * sizeof(*out));

	for (size_t i = 0; i < wanted; i++) {
		const json_t *value = i < wanted - known ? NULL : json_array_get(array, count - (wanted - i));

		out[i] = json_is_number(value) ? json_number_value(value) / series->range->step_s : CHART_GAP;
	}
	return out;
}

static void chart_line(const struct series *series, const char *name, struct area area, enum role role, double ceiling)
{
	double *samples = samples_of(series, name);
	size_t want = chart_samples(area.cols);
	double *pieces = memory_alloc((want + 1) * sizeof(*pieces));
	struct chart chart = { .samples = pieces, .count = want, .role = role, .ceiling = ceiling };

	chart_pieces(samples, sample_count(series), pieces, want);
	chart_draw(area, &chart);
	free(samples);
	free(pieces);
}

static double ceiling_of(const struct series *series, const char *name, size_t want)
{
	double *samples = samples_of(series, name);
	double *pieces = memory_alloc((want + 1) * sizeof(*pieces));
	double ceiling;

	chart_pieces(samples, sample_count(series), pieces, want);
	ceiling = chart_ceiling(pieces, want, 0);
	free(samples);
	free(pieces);
	return ceiling;
}

static void axis(const struct span_of_time *range, struct area area, int row)
{
	int cols = area.cols - LABEL_COLS - 1;

	draw_text(area, row, LABEL_COLS + 1, ROLE_chart_axis, range->axis[0]);
	draw_text(area, row, LABEL_COLS + 1 + cols / 2 - 1, ROLE_chart_axis, range->axis[1]);
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
static int draw_flow(const json_t *job, const struct series *series, struct area area)
{
	const json_t *rates = json_object_get(job, "rates");
	size_t want = chart_samples(area.cols - LABEL_COLS - 2);
	double in = ceiling_of(series, "received", want), out = ceiling_of(series, "written", want);
	double ceiling = in > out ? in : out;
	OWNED(text) note = text_new(LINE_BYTES);
	OWNED(text) title = text_new(64);

	text_add(note, "in ");
	number_text((int64_t)(member_number(rates, "received") + 0.5), note);
	text_add(note, "  ");
	bytes_rate_text(member_number(rates, "bytes"), note);
	text_add(note, "   out ");
	number_text((int64_t)(member_number(rates, "written") + 0.5), note);
	text_add_format(title, "messages/s, last %s", series->range->name);
	draw_rule(area, 0, title->at, note->at);
	flow_label(area, 1, "in", ceiling);
	chart_line(series, "received", area_part(area, 1, LABEL_COLS + 1, 2, area.cols - LABEL_COLS - 2), ROLE_chart_1, ceiling);
	flow_label(area, 3, "out", ceiling);
	chart_line(series, "written", area_part(area, 3, LABEL_COLS + 1, 2, area.cols - LABEL_COLS - 2), ROLE_chart_2, ceiling);
	axis(series->range, area, 5);
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
	text_add(line, member_int(batch, "count") == 1 ? " batch" : " batches");
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
	const struct span_of_time *range = range_of(console);
	struct series series = { values_of(history->lines, range->step_s), range };
	int rows = 0;

	if (series.values && area.rows >= FLOW_ROWS)
		rows += draw_flow(job, &series, area_part(area, 0, 0, FLOW_ROWS, area.cols));
	if (json_object_size(json_object_get(job, "latency")) && area.rows >= rows + LEGS_ROWS)
		rows += draw_legs(job, area_part(area, rows, 0, LEGS_ROWS, area.cols));
	if (json_object_size(json_object_get(job, "latency")) && area.rows >= rows + BATCH_ROWS)
		rows += draw_batches(job, area_part(area, rows, 0, BATCH_ROWS, area.cols));
	return rows;
}
