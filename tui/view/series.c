/* Series of the engine's history as charts; see series.h. */
#include "view/series.h"
#include "base/arena.h"
#include "widget/chart.h"

#include <stdlib.h>
#include <string.h>

#define NOW_COLS 4

static const struct series_range ranges[] = {
	{ "10 min", { "-10m", "-5m" }, 600, 1, 10 },
	{ "hour", { "-1h", "-30m" }, 3600, 60, 60 },
	{ "24 h", { "-24h", "-12h" }, 86400, 60, 60 },
};

const struct series_range *series_range(const struct console *console)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		if (ranges[i].seconds == console_range_s(console))
			return &ranges[i];
	}
	return &ranges[0];
}

static json_t *arguments(const char *job, const char *table, int step_s)
{
	return json_pack("{s:s, s:b, s:i, s:s*}", "job", job, "history", 1, "step", step_s, "table", table);
}

/* The answer holds a job's tables too: its own series is the one without a name. */
static const json_t *line_of(const json_t *lines, const char *table)
{
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		if (strcmp(member_text(line, "table"), table ? table : "") == 0)
			return line;
	}
	return NULL;
}

struct series series_ask(struct console *console, const char *job, const char *table)
{
	const struct series_range *range = series_range(console);
	int step_s = table ? range->table_step_s : range->step_s;
	const struct answer *answer = model_ask(console_model(console), LANE_LOOK, "status", arguments(job, table, step_s), "jobs");
	const json_t *line = line_of(answer->lines, table);

	return (struct series){ json_object_get(line, "values"), (uint64_t)member_int(line, "slot"),
		                (size_t)(range->seconds / step_s), step_s };
}

/* A mean is one already; what is counted in a slot is so much a second. */
static bool is_mean(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && strcmp(name + len - 3, "_ms") == 0;
}

/* Oldest first; a gap where the job was not there yet, or nothing was measured. The caller frees. */
static double *samples_of(const struct series *series, const char *name)
{
	const json_t *array = json_object_get(series->values, name);
	size_t count = json_array_size(array), known = count < series->count ? count : series->count;
	double *out = memory_alloc(series->count * sizeof(*out)), each = is_mean(name) ? 1 : series->step_s;

	for (size_t i = 0; i < series->count; i++) {
		const json_t *value = i < series->count - known ? NULL : json_array_get(array, count - (series->count - i));

		out[i] = json_is_number(value) ? json_number_value(value) / each : CHART_GAP;
	}
	return out;
}

/* As many as a chart of so many columns shows; the caller frees. */
static double *pieces_of(const struct series *series, const char *name, size_t want)
{
	double *samples = samples_of(series, name), *pieces = memory_alloc((want + 1) * sizeof(*pieces));

	chart_pieces(samples, series->count, series->newest, pieces, want);
	free(samples);
	return pieces;
}

double series_ceiling(const struct series *series, const char *name, int cols)
{
	size_t want = chart_samples(cols);
	double *pieces = pieces_of(series, name, want);
	double ceiling = chart_ceiling(pieces, want, 0);

	free(pieces);
	return ceiling;
}

void series_draw(const struct series *series, const char *name, struct area area, enum role role, double ceiling)
{
	size_t want = chart_samples(area.cols);
	double *pieces = pieces_of(series, name, want);
	struct chart chart = { .samples = pieces, .count = want, .role = role, .ceiling = ceiling, .is_sweep = charts_sweep() };

	if (chart.is_sweep)
		chart.now = chart_ring(pieces, want, series->count, series->newest);
	chart_draw(area, &chart);
	free(pieces);
}

void series_axis(const struct series_range *range, struct area area, int row)
{
	if (charts_sweep()) {
		draw_format(area, row, 0, ROLE_chart_axis, "%s; now is at the gap", range->name);
		return;
	}
	draw_text(area, row, 0, ROLE_chart_axis, range->axis[0]);
	draw_text(area, row, area.cols / 2 - 1, ROLE_chart_axis, range->axis[1]);
	draw_text(area, row, area.cols - NOW_COLS + 1, ROLE_chart_axis, "now");
}
