/* Bytes in rows; see hex.h. */
#include "widget/hex.h"

#define ROW_BYTES 16
#define ROW_BYTES_NARROW 8
#define COLS_WIDE 75 /* sixteen a row take so many */
#define HEX_COL 8
#define ROWS_ABOVE 4 /* before what is pointed at */

static size_t row_bytes(const struct hex *hex)
{
	return hex->row_bytes ? (size_t)hex->row_bytes : ROW_BYTES;
}

static size_t row_count(const struct hex *hex)
{
	return (hex->bytes.len + row_bytes(hex) - 1) / row_bytes(hex);
}

/* What stood first on the screen stays on it when the rows become shorter or longer. */
static void row_bytes_set(struct hex *hex, int cols)
{
	size_t first = hex->top * row_bytes(hex);

	hex->row_bytes = cols >= COLS_WIDE ? ROW_BYTES : ROW_BYTES_NARROW;
	hex->top = first / row_bytes(hex);
}

static void draw_byte(const struct hex *hex, struct area area, int row, size_t at)
{
	unsigned char byte = (unsigned char)hex->bytes.at[at];
	enum role role = at >= hex->from && at < hex->to ? ROLE_match : ROLE_text;
	int column = (int)(at % row_bytes(hex)), text_col = HEX_COL + (int)row_bytes(hex) * 3 + 3;
	char text[2] = { byte >= ' ' && byte < 0x7f ? (char)byte : '.', '\0' };

	draw_format(area, row, HEX_COL + column * 3 + (column >= ROW_BYTES / 2), role, "%02x", byte);
	draw_text(area, row, text_col + column, byte >= ' ' && byte < 0x7f ? role : role == ROLE_text ? ROLE_dim : role, text);
}

void hex_draw(struct hex *hex, struct area area)
{
	row_bytes_set(hex, area.cols);
	hex->page = area.rows > 0 ? area.rows : 1;
	for (int row = 0; row < area.rows && hex->top + (size_t)row < row_count(hex); row++) {
		size_t begin = (hex->top + (size_t)row) * row_bytes(hex);

		draw_format(area, row, 1, ROLE_dim, "%06zx", begin);
		for (size_t at = begin; at < begin + row_bytes(hex) && at < hex->bytes.len; at++)
			draw_byte(hex, area, row, at);
	}
	cursor_put(area, 0, 0);
}

void hex_point(struct hex *hex, size_t from, size_t to)
{
	size_t row = from / row_bytes(hex);

	hex->from = from;
	hex->to = to;
	hex->top = row > ROWS_ABOVE ? row - ROWS_ABOVE : 0;
}

bool hex_act(struct hex *hex, enum action_id action)
{
	size_t page = (size_t)(hex->page > 0 ? hex->page : 1), rows = row_count(hex), last = rows > page ? rows - page : 0;

	switch ((int)action) {
	case ACTION_down: hex->top++; break;
	case ACTION_up: hex->top -= hex->top > 0; break;
	case ACTION_half_down: hex->top += page / 2; break;
	case ACTION_half_up: hex->top -= hex->top < page / 2 ? hex->top : page / 2; break;
	case ACTION_page_down: hex->top += page; break;
	case ACTION_page_up: hex->top -= hex->top < page ? hex->top : page; break;
	case ACTION_first: hex->top = 0; break;
	case ACTION_last: hex->top = last; break;
	default: return false;
	}
	if (hex->top > last)
		hex->top = last;
	return true;
}

bool hex_search(struct hex *hex, struct span word)
{
	size_t begin = hex->to ? hex->from + 1 : 0;

	for (int round = 0; word.len && word.len <= hex->bytes.len && round < 2; round++, begin = 0) {
		const char *hit = begin < hex->bytes.len ?
			                  memmem(hex->bytes.at + begin, hex->bytes.len - begin, word.at, word.len) : NULL;

		if (!hit)
			continue;
		hex->from = (size_t)(hit - hex->bytes.at);
		hex->to = hex->from + word.len;
		hex->top = hex->from / row_bytes(hex);
		return true;
	}
	return false;
}
