/*
 * Ranges: a start, and an end that is left out, of dates, civil times or instants.
 * BigQuery writes them [start, end) with UNBOUNDED; PostgreSQL's come as
 * [2020-01-01,2020-02-01), with quotes around times and nothing where there is no
 * bound.
 */
#include "record/type_time_private.h"

#include "base/text.h"

#include <strings.h>

enum bq_kind bq_range_element(enum bq_kind kind)
{
	static const enum bq_kind elements[BQ_KINDS] = {
		[BQ_RANGE_DATE] = BQ_DATE, [BQ_RANGE_DATETIME] = BQ_DATETIME, [BQ_RANGE_TIMESTAMP] = BQ_TIMESTAMP,
	};

	return elements[kind];
}

/* One side, its value still text. */
struct side {
	struct span text;
	bool is_bounded, is_included;
	int64_t number;
	enum time_fault fault;
};

static struct span trim(struct span text)
{
	while (text.len && *text.at == ' ') {
		text.at++;
		text.len--;
	}
	while (text.len && text.at[text.len - 1] == ' ')
		text.len--;
	if (text.len >= 2 && *text.at == '"' && text.at[text.len - 1] == '"')
		text = span_make(text.at + 1, text.len - 2);
	return text;
}

static bool is_word(struct span text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.at, word, text.len) == 0;
}

/* PostgreSQL's infinities are bounds of its own; nothing of BigQuery's lies beyond them. */
static bool is_unbounded(struct span text, const char *infinity)
{
	return !text.len || is_word(text, "UNBOUNDED") || is_word(text, "NULL") || is_word(text, infinity);
}

static bool side_read(struct side *side, enum bq_kind element, const char *infinity)
{
	side->is_bounded = !is_unbounded(side->text, infinity);
	side->fault = TIME_FINE;
	if (side->is_bounded)
		side->fault = time_parse(element, side->text, &side->number);
	return side->fault != TIME_SYNTAX;
}

/* "[start, end)" and its kin, cut at the comma. */
static bool range_cut(struct span text, struct side *start, struct side *end)
{
	const char *comma;
	char last;

	text = trim(text);
	if (text.len < 3 || (*text.at != '[' && *text.at != '('))
		return false;
	last = text.at[text.len - 1];
	comma = memchr(text.at, ',', text.len);
	if ((last != ']' && last != ')') || !comma)
		return false;
	*start = (struct side){ .text = trim(span_make(text.at + 1, (size_t)(comma - text.at) - 1)), .is_included = *text.at == '[' };
	*end = (struct side){ .text = trim(span_make(comma + 1, (size_t)(text.at + text.len - comma) - 2)), .is_included = last == ']' };
	return true;
}

/* Days have neighbours: what begins behind a day begins at the next one. Times have none. */
static bool sides_settle(struct side *start, struct side *end, enum bq_kind element)
{
	bool is_start_moved = start->is_bounded && !start->is_included, is_end_moved = end->is_bounded && end->is_included;

	if (element != BQ_DATE)
		return !is_start_moved && !is_end_moved;
	start->number += is_start_moved && start->fault == TIME_FINE;
	end->number += is_end_moved && end->fault == TIME_FINE;
	if (start->is_bounded && start->fault == TIME_FINE)
		start->fault = time_clamp(element, &start->number);
	if (end->is_bounded && end->fault == TIME_FINE)
		end->fault = time_clamp(element, &end->number);
	return true;
}

static char *put_text(const char *text, char *at)
{
	size_t len = strlen(text);

	memcpy(at, text, len);
	return at + len;
}

static char *side_print(const struct side *side, enum bq_kind element, char *at)
{
	return side->is_bounded && side->fault == TIME_FINE ? time_print(element, side->number, at) : put_text("UNBOUNDED", at);
}

#define RANGE_TEXT_BYTES (2 * TIME_TEXT_BYTES + 4)

/* "Escaped" as the inside of a JSON string, which this is as it stands: who copies plain texts must not copy this one into
 * a row's protobuf, where it is a message. */
static void range_print(struct arena *arena, const struct side *start, const struct side *end, enum bq_kind element,
                        struct cell *out)
{
	char *text = arena_bytes(arena, RANGE_TEXT_BYTES), *at = text;

	*at++ = '[';
	at = put_text(", ", side_print(start, element, at));
	at = side_print(end, element, at);
	*at++ = ')';
	arena_shrink(arena, text, RANGE_TEXT_BYTES, (size_t)(at - text));
	*out = (struct cell){ .kind = CELL_TEXT, .is_escaped = true, .text = span_make(text, (size_t)(at - text)) };
}

static enum convert_result not_half_open(struct reading *r, struct cell *cell, const char *message)
{
	*cell = (struct cell){ .kind = CELL_NULL };
	return reading_out_of_range(r, "range_not_half_open", message);
}

enum convert_result reading_range(struct reading *r, struct cell *cell)
{
	enum bq_kind element = bq_range_element(r->to->kind);
	struct span text = cell_plain(cell, r->arena);
	struct side start, end;

	if (is_word(text, "empty"))
		return not_half_open(r, cell, "an empty range, and RANGE holds none");
	if (!range_cut(text, &start, &end) || !side_read(&start, element, "-infinity") || !side_read(&end, element, "infinity"))
		return reading_mismatch(r, "text that is no range where one is meant");
	if (!sides_settle(&start, &end, element))
		return not_half_open(r, cell, "a range of times that leaves out its start or includes its end, which RANGE cannot say");
	if (start.fault == TIME_ABOVE || end.fault == TIME_BELOW) {
		*cell = (struct cell){ .kind = CELL_NULL };
		return reading_out_of_range(r, "range_out_of_range", "the range lies outside the years 1 to 9999");
	}
	if (start.is_bounded && end.is_bounded && !start.fault && !end.fault && start.number >= end.number)
		return start.number > end.number ? reading_mismatch(r, "a range whose start lies behind its end")
		                                 : not_half_open(r, cell, "an empty range, and RANGE holds none");
	range_print(r->arena, &start, &end, element, cell);
	if (!start.fault && !end.fault)
		return CONVERT_OK;
	return reading_out_of_range(r, "range_out_of_range", "the ends of a RANGE lie in the years 1 to 9999");
}

bool range_ends(struct span canonical, enum bq_kind kind, struct range_ends *out)
{
	enum bq_kind element = bq_range_element(kind);
	struct side start, end;

	if (!range_cut(canonical, &start, &end) || !side_read(&start, element, "") || !side_read(&end, element, ""))
		return false;
	*out = (struct range_ends){ start.is_bounded, end.is_bounded, start.number, end.number };
	return true;
}

void range_text(struct text *out, enum bq_kind kind, const struct range_ends *ends)
{
	char text[RANGE_TEXT_BYTES], *at = text;
	enum bq_kind element = bq_range_element(kind);

	*at++ = '[';
	at = ends->has_start ? time_print(element, ends->start, at) : put_text("UNBOUNDED", at);
	at = put_text(", ", at);
	at = ends->has_end ? time_print(element, ends->end, at) : put_text("UNBOUNDED", at);
	*at++ = ')';
	text_add_span(out, span_make(text, (size_t)(at - text)));
}
