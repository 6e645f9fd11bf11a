/* Where the time goes: percentiles of each leg as `weir status` has them, how it was, and whose fault it is. */
#include "base/arena.h"
#include "view/job_charts.h"
#include "widget/chart.h"

#include <string.h>

#define LEGS 4
#define SLOW_MS 1000     /* a leg under it is not slow, whatever the others take */
#define SPARK_COL 52
#define SPARKS_FROM 80   /* columns of the screen; narrower, the sparks leave, and then the longest time */
#define MAX_FROM 66
#define NAMES_FROM 90    /* room for a table's name behind "slow: " */

static const struct leg {
	const char *name, *series, *label;
} legs[LEGS] = {
	{ "publish", "publish_ms", "commit -> publish" },
	{ "receive", "receive_ms", "publish -> receive" },
	{ "changelog", "changelog_ms", "receive -> changelog" },
	{ "replica", "replica_ms", "changelog -> replica" },
};

/* A replica waits for its merge: that is no slowness, as long as it was asked for. */
static double slowness_ms(const struct leg *leg, const json_t *times, const json_t *parameters)
{
	double ms = member_int(times, "count") ? member_number(times, "p99_ms") : 0;

	if (strcmp(leg->name, "replica") == 0)
		ms -= (double)member_int(parameters, "updateFrequencySecs") * 1000;
	return ms;
}

static const struct leg *slow_leg(const json_t *latency, const json_t *parameters)
{
	const struct leg *slow = NULL;
	double most_ms = SLOW_MS;

	for (size_t i = 0; i < LEGS; i++) {
		double ms = slowness_ms(&legs[i], json_object_get(latency, legs[i].name), parameters);

		if (ms < most_ms)
			continue;
		most_ms = ms;
		slow = &legs[i];
	}
	return slow;
}

static void draw_time(struct area area, int row, int col, const json_t *times, const char *name)
{
	OWNED(text) shown = text_new(64);

	if (member_int(times, "count"))
		duration_text((int64_t)member_number(times, name), shown);
	else
		text_add(shown, "-");
	draw_field(area, row, col, 7, 1, ROLE_text, text_span(shown));
}

static void draw_why(struct area area, int row, int col, const struct leg *leg, const json_t *times, const json_t *parameters,
                     bool is_slow)
{
	bool has_room = area.cols >= NAMES_FROM, is_replica = strcmp(leg->name, "replica") == 0;
	const char *table = member_text(times, "table");
	OWNED(text) why = text_new(1024);

	if (is_slow && has_room && *table && strcmp(table, "-") != 0)
		text_add_format(why, "slow: %s", table);
	else if (is_slow)
		text_add(why, "slow leg");
	else if (is_replica && has_room && member_int(parameters, "updateFrequencySecs"))
		text_add_format(why, "merge every %lld s", (long long)member_int(parameters, "updateFrequencySecs"));
	draw_field(area, row, col, area.cols - col - 1, -1, is_slow ? ROLE_warn : ROLE_text, text_span(why));
}

struct columns {
	int spark, spark_cols, why; /* 0: it has left */
	bool has_max;
};

static struct columns columns_of(int cols)
{
	struct columns columns = { .has_max = cols >= MAX_FROM };

	if (cols >= SPARKS_FROM) {
		columns.spark = SPARK_COL;
		columns.spark_cols = cols >= NAMES_FROM ? 24 : 14;
		columns.why = SPARK_COL + columns.spark_cols + 1;
	} else {
		columns.why = columns.has_max ? SPARK_COL : SPARK_COL - 8;
	}
	return columns;
}

static void draw_heads(const struct console *console, const struct columns *columns, struct area area)
{
	OWNED(text) last = text_new(64);

	text_add_format(last, "LAST %s", series_range(console)->name);
	for (char *at = last->at; *at; at++)
		*at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
	draw_rule(area, 0, "lag by leg", "");
	draw_text(area, 1, 1, ROLE_head, "LEG");
	draw_text(area, 1, 30, ROLE_head, "P50");
	draw_text(area, 1, 38, ROLE_head, "P99");
	if (columns->has_max)
		draw_text(area, 1, 46, ROLE_head, "MAX");
	if (columns->spark)
		draw_text(area, 1, columns->spark, ROLE_head, last->at);
	draw_text(area, 1, columns->why, ROLE_head, "WHY");
}

void job_legs_draw(struct console *console, const json_t *job, const json_t *parameters, const struct series *series,
                   struct area area)
{
	const json_t *latency = json_object_get(job, "latency");
	const struct leg *slow = slow_leg(latency, parameters);
	struct columns columns = columns_of(area.cols);

	draw_heads(console, &columns, area);
	for (size_t i = 0; i < LEGS; i++) {
		const json_t *times = json_object_get(latency, legs[i].name);
		int row = 2 + (int)i;

		draw_text(area, row, 1, ROLE_text, legs[i].label);
		draw_time(area, row, 26, times, "p50_ms");
		draw_time(area, row, 34, times, "p99_ms");
		if (columns.has_max)
			draw_time(area, row, 42, times, "max_ms");
		if (columns.spark && series->values)
			series_draw(series, legs[i].series, area_part(area, row, columns.spark, 1, columns.spark_cols), ROLE_chart_3, 0);
		draw_why(area, row, columns.why, &legs[i], times, parameters, &legs[i] == slow);
	}
}
