/* The charts of a job, and which of them fit; see job_charts.h. From `weir status JOB --history --json`. */
#include "view/job_charts.h"
#include "base/arena.h"
#include "widget/chart.h"

#define LINE_BYTES 1024
#define FLOW_ROWS 6
#define IN_ROWS 4 /* without what flows out */
#define LEGS_ROWS 6
#define BATCH_ROWS 2
#define BATCH_ROWS_MOST 3

static struct area chart_area(struct area area, int row, int rows)
{
	return area_part(area, row, CHART_LABEL_COLS + 1, rows, area.cols - CHART_LABEL_COLS - 2);
}

static void draw_label(struct area area, int row, const char *name, double ceiling)
{
	OWNED(text) label = text_new(LINE_BYTES);

	text_add_format(label, "%-4s", name);
	number_short(ceiling, label);
	draw_field(area, row, 1, CHART_LABEL_COLS - 1, -1, ROLE_chart_axis, text_span(label));
}

static void rate_add(const char *name, const json_t *rates, const char *messages, const char *bytes, struct text *out)
{
	text_add_format(out, "%s ", name);
	number_text((int64_t)(member_number(rates, messages) + 0.5), out);
	text_add(out, "  ");
	bytes_rate_text(member_number(rates, bytes), out);
}

/* In and out share one scale. */
static void draw_flow(struct console *console, const json_t *job, const struct series *series, struct area area)
{
	const json_t *rates = json_object_get(job, "rates");
	int cols = area.cols - CHART_LABEL_COLS - 2;
	double in = series_ceiling(series, "received", cols), out = series_ceiling(series, "written", cols);
	double ceiling = in > out ? in : out;
	OWNED(text) note = text_new(LINE_BYTES);
	OWNED(text) title = text_new(64);

	rate_add("in", rates, "received", "bytes", note);
	rate_add("   out", rates, "written", "written_bytes", note);
	text_add_format(title, "messages/s, last %s", series_range(console)->name);
	draw_rule(area, 0, title->at, note->at);
	draw_label(area, 1, "in", ceiling);
	series_draw(series, "received", chart_area(area, 1, 2), ROLE_chart_1, ceiling);
	if (area.rows >= FLOW_ROWS) {
		draw_label(area, 3, "out", ceiling);
		series_draw(series, "written", chart_area(area, 3, 2), ROLE_chart_2, ceiling);
	}
	series_axis(series_range(console), chart_area(area, area.rows - 1, 1), 0);
}

static void draw_batches(const json_t *job, const struct series *series, struct area area)
{
	const json_t *batch = json_object_get(json_object_get(job, "latency"), "batch");
	double ceiling = series_ceiling(series, "batch_ms", area.cols - CHART_LABEL_COLS - 2);
	OWNED(text) note = text_new(LINE_BYTES);

	if (member_int(batch, "count"))
		text_add_format(note, "p50 %.1f   p99 %.1f   max %.1f", member_number(batch, "p50_ms"), member_number(batch, "p99_ms"),
		                member_number(batch, "max_ms"));
	draw_rule(area, 0, "batch latency ms", note->at);
	draw_label(area, 1, "", ceiling);
	series_draw(series, "batch_ms", chart_area(area, 1, area.rows - 1), ROLE_chart_4, ceiling);
}

/* Where there is little room batch latency leaves first, then what flows out. */
struct heights {
	int flow, legs, batch;
};

static struct heights fit(int rows, bool has_flow, bool has_legs)
{
	struct heights heights = { 0 };

	if (has_flow && rows >= IN_ROWS)
		heights.flow = rows >= FLOW_ROWS && (rows < IN_ROWS + LEGS_ROWS || rows >= FLOW_ROWS + LEGS_ROWS || !has_legs) ?
		                       FLOW_ROWS :
		                       IN_ROWS;
	rows -= heights.flow;
	if (has_legs && rows >= LEGS_ROWS)
		heights.legs = LEGS_ROWS;
	rows -= heights.legs;
	if (heights.legs && has_flow && rows >= BATCH_ROWS)
		heights.batch = rows >= BATCH_ROWS_MOST ? BATCH_ROWS_MOST : BATCH_ROWS;
	return heights;
}

int job_charts_draw(struct console *console, const json_t *job, const json_t *parameters, struct area area)
{
	struct series series = series_ask(console, member_text(job, "job"), NULL);
	struct heights heights = fit(area.rows, series.values, json_object_size(json_object_get(job, "latency")));
	int row = heights.flow;

	if (heights.flow)
		draw_flow(console, job, &series, area_part(area, 0, 0, heights.flow, area.cols));
	if (heights.legs)
		job_legs_draw(console, job, parameters, &series, area_part(area, row, 0, heights.legs, area.cols));
	row += heights.legs;
	if (heights.batch)
		draw_batches(job, &series, area_part(area, row, 0, heights.batch, area.cols));
	return row + heights.batch;
}
