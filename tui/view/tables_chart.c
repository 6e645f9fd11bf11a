/* The chart of a table; see tables_chart.h. From `weir status JOB --history --table TABLE --json` and the table's own row. */
#include "view/tables_chart.h"
#include "base/arena.h"
#include "widget/chart.h"

#define LABEL_COLS 11
#define CHART_ROWS 3
#define LINE_BYTES 2048
#define SECONDS_A_MINUTE 60

static void number_add(const char *before, double number, const char *unit, struct text *out)
{
	text_add(out, before);
	number_text((int64_t)(number + 0.5), out);
	text_add(out, unit);
}

static void draw_head(struct console *console, const json_t *row, struct area area)
{
	const json_t *rates = json_object_get(row, "rates");
	OWNED(text) title = text_new(LINE_BYTES);
	OWNED(text) note = text_new(LINE_BYTES);

	text_add_format(title, "%s, last %s", member_text(row, "table"), series_range(console)->name);
	number_add("now ", member_number(rates, "received"), " in/s", note);
	number_add(", ", member_number(rates, "written"), " out/s", note);
	number_add(", ", member_number(rates, "dead_lettered") * SECONDS_A_MINUTE, " errors/min", note);
	draw_rule(area, 0, title->at, note->at);
}

/* "key id   received 4,182   written 4,000   filtered 0" */
static void draw_facts(const json_t *row, struct area area, int at)
{
	const json_t *key = json_object_get(row, "key"), *column;
	OWNED(text) line = text_new(LINE_BYTES);
	size_t i;

	text_add(line, json_array_size(key) ? "key " : "no key");
	json_array_foreach(key, i, column)
		text_add_format(line, "%s%s", i ? ", " : "", json_string_value(column));
	number_add("   received ", member_number(row, "received"), "", line);
	number_add("   written ", member_number(row, "written"), "", line);
	number_add("   filtered ", member_number(row, "filtered"), "", line);
	draw_field(area, at, 1, area.cols - 2, -1, ROLE_text, text_span(line));
}

static struct series series_of(struct console *console, const json_t *row)
{
	return series_ask(console, member_text(row, "job"), member_text(row, "table"));
}

bool tables_chart_has(struct console *console, const json_t *row)
{
	return row && series_of(console, row).values;
}

void tables_chart_draw(struct console *console, const json_t *row, struct area area)
{
	struct series series = series_of(console, row);
	struct area chart = area_part(area, 1, LABEL_COLS + 1, CHART_ROWS, area.cols - LABEL_COLS - 2);
	OWNED(text) label = text_new(64);
	double ceiling;

	ceiling = series_ceiling(&series, "received", chart.cols);
	text_add(label, "in/s ");
	number_short(ceiling, label);
	draw_head(console, row, area);
	draw_field(area, 1, 1, LABEL_COLS - 1, -1, ROLE_chart_axis, text_span(label));
	series_draw(&series, "received", chart, ROLE_chart_1, ceiling);
	series_axis(series_range(console), area_part(area, 1 + CHART_ROWS, LABEL_COLS + 1, 1, chart.cols), 0);
	draw_facts(row, area, 2 + CHART_ROWS);
}
