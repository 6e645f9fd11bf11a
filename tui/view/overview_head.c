/*
 * Above and under the overview's list: the whole engine's numbers, and where there is
 * room what is wrong with the selected row.
 */
#include "view/overview_private.h"

#include "view/names.h"
#include "view/totals.h"
#include "widget/chart.h"

#define ROWS_WITH_HEAD 20

static void rate_add(const char *name, double rate, struct text *out)
{
	text_add(out, name);
	number_text((int64_t)(rate + 0.5), out);
	text_add(out, "/s");
}

static void lag_add(const struct totals *totals, const char *words, bool with_name, struct text *out)
{
	if (totals->lag_ms < 0)
		return;
	text_add(out, words);
	age_text(totals->lag_ms, out);
	if (with_name)
		text_add_format(out, " %s", totals->lag_name);
	text_add(out, "   ");
}

static void letters_add(const struct totals *totals, struct text *out)
{
	text_add(out, "dlq ");
	number_text(totals->dead_letters, out);
	if (totals->dead_rate >= 0.5) {
		text_add(out, " (+");
		number_text((int64_t)(totals->dead_rate + 0.5), out);
		text_add(out, "/min)");
	}
}

static const char *ledger_word(const struct totals *totals)
{
	return totals->unbalanced ? "ledger OFF" : "ledger balanced";
}

/* Where it is narrow or low, one row has what matters. Gives the rows taken, with the rule. */
static int draw_short_head(struct view *view, const struct totals *totals, struct area area)
{
	OWNED(text) line = text_new(OVERVIEW_LINE_BYTES);

	lag_add(totals, "lag ", false, line);
	letters_add(totals, line);
	text_add_format(line, "   %s", ledger_word(totals));
	draw_span(area, 0, 1, totals->unbalanced ? ROLE_error : console_role(view->console, ROLE_text), text_span(line));
	draw_rule(area, 1, "", "");
	return 2;
}

int overview_head(struct view *view, struct area area)
{
	struct totals totals;
	bool is_roomy = area.cols >= OVERVIEW_PREVIEW_COLS;
	OWNED(text) first = text_new(OVERVIEW_LINE_BYTES);
	OWNED(text) second = text_new(OVERVIEW_LINE_BYTES);

	totals_ask(view->console, &totals);
	if (!totals.is_known)
		return 0;
	if (area.cols < OVERVIEW_JOBS_COLS || area.canvas->rows < ROWS_WITH_HEAD)
		return draw_short_head(view, &totals, area);
	lag_add(&totals, "lag worst ", true, first);
	rate_add("in ", totals.in, first);
	if (is_roomy && totals.bytes_in >= 1) {
		text_add_char(first, ' ');
		bytes_rate_text(totals.bytes_in, first);
	}
	rate_add("   out ", totals.out, first);
	text_add(first, "   in flight ");
	number_text(totals.in_flight, first);
	text_add_format(second, "%s   ", ledger_word(&totals));
	letters_add(&totals, second);
	if (totals.groups)
		text_add_format(second, " in %d group%s", (int)totals.groups, totals.groups == 1 ? "" : "s");
	text_add(second, "   parked ");
	number_text(totals.parked, second);
	draw_span(area, 0, 1, console_role(view->console, ROLE_text), text_span(first));
	draw_span(area, 1, 1, totals.unbalanced ? ROLE_error : console_role(view->console, ROLE_text), text_span(second));
	draw_rule(area, 2, "", "");
	return 3;
}

int overview_preview(struct view *view, const struct overview_row *row, struct area area)
{
	const json_t *thing = row ? overview_thing(row) : NULL;
	const char *sentence = member_text(thing, "sentence");
	OWNED(text) line = text_new(OVERVIEW_LINE_BYTES);
	int rows;

	if (!row || !*sentence)
		return 0;
	draw_rule(area, 0, overview_name(row), "Enter why");
	rows = 1 + draw_paragraph(area, 1, 1, area.cols - 2, 3, console_role(view->console, ROLE_text), span_of(sentence));
	if (!member_int(thing, "first_letter"))
		return rows;
	text_add_format(line, "first: letter %lld, ", (long long)member_int(thing, "first_letter"));
	console_time(view->console, member_text(thing, "since"), true, line);
	text_add_format(line, "; f opens it   letters open: ");
	number_text(member_int(thing, "open_letters"), line);
	draw_span(area, rows, 1, console_role(view->console, ROLE_text), text_span(line));
	return rows + 1;
}
