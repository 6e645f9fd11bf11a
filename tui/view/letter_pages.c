/* The payload of a dead letter as a tree, and its bytes. */
#include "base/arena.h"
#include "view/letter_private.h"
#include "view/payload.h"
#include "widget/chart.h"

#include <inttypes.h>

void letter_tabs(const struct letter *letter, const json_t *shown, struct area area)
{
	static const char *const names[] = { [PAGE_PAYLOAD] = "payload", [PAGE_RAW] = "raw", [PAGE_WHY] = "why" };
	int col = 1;

	for (int page = 0; page < PAGES; page++) {
		bool is_front = page == (int)letter->page;

		col += draw_format(area, 0, col, is_front ? ROLE_tab_current : ROLE_tab, is_front ? "[%s]" : " %s ", names[page]) + 1;
	}
	draw_field(area, 0, col + 2, area.cols - col - 3, -1, ROLE_text, span_of(member_text(shown, "message")));
}

static void rule_text(const struct letter *letter, const json_t *shown, const char *what, struct text *out)
{
	text_add_format(out, "%s, ", what);
	number_text(member_int(shown, "bytes"), out);
	text_add(out, " bytes");
	if (member_bool(shown, "cut"))
		text_add_format(out, ", the first %zu are here", letter->hex.bytes.len);
}

void letter_payload(const struct letter *letter, const json_t *shown, struct area area)
{
	OWNED(text) title = text_new(LINE_BYTES);
	OWNED(text) path = text_new(LINE_BYTES);
	OWNED(text) value = text_new(LINE_BYTES);

	rule_text(letter, shown, letter->payload ? "payload, JSON" : "payload, not JSON", title);
	draw_rule(area, 0, title->at, "Tab raw");
	if (!letter->payload) {
		draw_paragraph(area, 1, 1, area.cols - 2, 3, ROLE_warn,
		               span_of(member_bool(shown, "cut") ? "too long to be shown as a tree; Tab shows its first bytes" :
		                                                   "these bytes are no JSON; Tab shows them"));
		return;
	}
	tree_draw(letter->tree, area_part(area, 1, 0, area.rows - 3, area.cols));
	tree_selected(letter->tree, path, value);
	draw_rule(area, area.rows - 2, path->len ? path->at : "/", "");
	draw_field(area, area.rows - 1, 1, area.cols - 2, -1, ROLE_text, text_span(value));
}

/* "/after/phone  bytes 362-379 of 792: ..." */
static void draw_spot(const struct letter *letter, const json_t *shown, struct area area)
{
	const struct hex *hex = &letter->hex;
	OWNED(text) line = text_new(LINE_BYTES);
	OWNED(text) room = text_new(LINE_BYTES);
	const char *path;
	char title[32];

	snprintf(title, sizeof(title), "at %06zx", hex->from);
	draw_rule(area, 0, title, "");
	path = payload_path(shown, room);
	text_add_format(line, "%s  bytes %zu-%zu of %" PRId64 ": ", path ? path : "", hex->from, hex->to - 1,
	                member_int(shown, "bytes"));
	text_add_span(line, span_make(hex->bytes.at + hex->from, hex->to - hex->from));
	draw_field(area, 1, 1, area.cols - 2, -1, ROLE_text, text_span(line));
}

void letter_raw(struct letter *letter, const json_t *shown, struct area area)
{
	OWNED(text) title = text_new(LINE_BYTES);

	rule_text(letter, shown, json_object_get(shown, "payload") ? "valid UTF-8" : "not UTF-8", title);
	draw_rule(area, 0, title->at, letter->is_text ? "w: as hex" : "w: as text");
	area = area_part(area, 1, 0, area.rows - 1, area.cols);
	if (!letter->is_text && letter->hex.to && area.rows > 6) {
		draw_spot(letter, shown, area_part(area, area.rows - 2, 0, 2, area.cols));
		area = area_part(area, 0, 0, area.rows - 2, area.cols);
	}
	if (!letter->is_text) {
		hex_draw(&letter->hex, area);
		return;
	}
	lines_begin(letter->lines, area.cols - 1);
	lines_paragraph(letter->lines, ROLE_text, 1, letter->bytes ? letter->bytes : "");
	lines_draw(letter->lines, area);
}
