/* Pages of words; see lines.h. */
#include "widget/lines.h"
#include "base/arena.h"
#include "term/cells.h"

#include <stdlib.h>
#include <strings.h>

#define LINE_BYTES 8192

struct line {
	char *text;      /* of a rule: the title */
	char *note;      /* of a rule, else NULL */
	enum role role;
};

struct lines {
	struct line *line;
	size_t count, room, top;
	int cols, page;
	char *word;
	size_t hit;
};

struct lines *lines_new(void)
{
	struct lines *lines = memory_zalloc(sizeof(*lines));

	lines->word = memory_string("");
	lines->page = 1;
	return lines;
}

static void lines_clear(struct lines *lines)
{
	while (lines->count) {
		struct line *line = &lines->line[--lines->count];

		free(line->text);
		free(line->note);
	}
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	lines_clear(lines);
	free(lines->line);
	free(lines->word);
	free(lines);
}

void lines_begin(struct lines *lines, int cols)
{
	lines_clear(lines);
	lines->cols = cols;
}

static void line_take(struct lines *lines, enum role role, char *text, char *note)
{
	if (lines->count == LINES_MAX) {
		free(text);
		free(note);
		return;
	}
	if (lines->count == lines->room) {
		lines->room = lines->room * 2 + 64;
		lines->line = memory_grow(lines->line, lines->room * sizeof(*lines->line));
	}
	lines->line[lines->count++] = (struct line){ text, note, role };
}

void lines_add(struct lines *lines, enum role role, const char *format, ...)
{
	char text[LINE_BYTES];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	line_take(lines, role, memory_string(text), NULL);
}

void lines_rule(struct lines *lines, const char *title, const char *note)
{
	line_take(lines, ROLE_rule, memory_string(title), memory_string(note));
}

/* How much of the text goes onto one line: whole words, a longer one cut where it must. */
static size_t line_fit(struct span text, int cols)
{
	int taken;
	size_t fit = cells_fit(text, cols, &taken), end = fit;

	if (fit >= text.len)
		return text.len;
	while (end && text.at[end] != ' ')
		end--;
	return end ? end : fit ? fit : text.len;
}

static void paragraph_line(struct lines *lines, enum role role, int indent, struct span text)
{
	do {
		size_t fit = line_fit(text, lines->cols - indent);
		char *line = memory_zalloc((size_t)indent + fit + 1);

		memset(line, ' ', (size_t)indent);
		memcpy(line + indent, text.at, fit);
		line_take(lines, role, line, NULL);
		text = span_make(text.at + fit, text.len - fit);
		while (text.len && *text.at == ' ')
			text = span_make(text.at + 1, text.len - 1);
	} while (text.len);
}

void lines_paragraph(struct lines *lines, enum role role, int indent, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		paragraph_line(lines, role, indent, span_make(text, len));
		text += len + (text[len] == '\n');
	}
}

static bool has_word(const struct lines *lines, size_t at)
{
	return *lines->word && strcasestr(lines->line[at].text, lines->word);
}

/* What is cut says so. The role begins with the words: a bar or a line under what is before them means nothing. */
static void line_show(const struct line *line, struct area area, int row)
{
	int indent = (int)strspn(line->text, " ");
	struct span words = span_of(line->text + indent);

	if (cells_width(words) > area.cols - indent)
		draw_field(area, row, indent, area.cols - indent, -1, line->role, words);
	else
		draw_span(area, row, indent, line->role, words);
}

size_t lines_count(const struct lines *lines)
{
	return lines->count;
}

void lines_draw(struct lines *lines, struct area area)
{
	lines->page = area.rows > 0 ? area.rows : 1;
	if (lines->top + (size_t)lines->page > lines->count)
		lines->top = lines->count > (size_t)lines->page ? lines->count - (size_t)lines->page : 0;
	for (int row = 0; row < area.rows && lines->top + (size_t)row < lines->count; row++) {
		const struct line *line = &lines->line[lines->top + (size_t)row];

		if (line->note)
			draw_rule(area, row, line->text, line->note);
		else
			line_show(line, area, row);
		if (has_word(lines, lines->top + (size_t)row))
			draw_role(area, row, 0, area.cols, ROLE_match);
	}
	cursor_put(area, 0, 0);
}

static void hit_next(struct lines *lines, bool is_back, struct text *say)
{
	for (size_t step = 1; step <= lines->count; step++) {
		size_t at = (lines->hit + (is_back ? lines->count - step : step)) % lines->count;

		if (!has_word(lines, at))
			continue;
		lines->hit = lines->top = at;
		return;
	}
	text_add(say, *lines->word ? "no line has that" : "nothing is searched for; / begins");
}

bool lines_act(struct lines *lines, enum action_id action, struct text *say)
{
	size_t page = (size_t)lines->page, half = page > 1 ? page / 2 : 1;
	size_t last = lines->count > page ? lines->count - page : 0;

	switch ((int)action) {
	case ACTION_down: lines->top += 1; break;
	case ACTION_up: lines->top -= lines->top > 0; break;
	case ACTION_half_down: lines->top += half; break;
	case ACTION_half_up: lines->top -= lines->top < half ? lines->top : half; break;
	case ACTION_page_down: lines->top += page; break;
	case ACTION_page_up: lines->top -= lines->top < page ? lines->top : page; break;
	case ACTION_first: lines->top = 0; break;
	case ACTION_last: lines->top = last; break;
	case ACTION_next: hit_next(lines, false, say); break;
	case ACTION_previous: hit_next(lines, true, say); break;
	default: return false;
	}
	if (lines->top > last)
		lines->top = last;
	return true;
}

size_t lines_search(struct lines *lines, const char *word)
{
	size_t hits = 0;

	free(lines->word);
	lines->word = memory_string(word);
	for (size_t at = lines->count; at-- > 0;) {
		if (!has_word(lines, at))
			continue;
		hits++;
		lines->hit = at;
	}
	if (hits)
		lines->top = lines->hit;
	return hits;
}

const char *lines_searched(const struct lines *lines)
{
	return lines->word;
}

void lines_status(const struct lines *lines, struct text *out)
{
	size_t last = lines->top + (size_t)lines->page < lines->count ? lines->top + (size_t)lines->page : lines->count;

	if (lines->count)
		text_add_format(out, "%zu-%zu of %zu", lines->top + 1, last, lines->count);
}

bool lines_text(const struct lines *lines, struct text *out)
{
	for (size_t i = 0; i < lines->count; i++)
		text_add_format(out, "%s\n", lines->line[i].text);
	return lines->count > 0;
}
