/* Words folded at the end of a page. */
#include "base/page.h"

/* Where UTF-8 has no meaning each byte is one column, as clean_text shows it. */
size_t page_width(struct span text)
{
	size_t columns = 0;

	for (size_t i = 0; i < text.len; i++)
		columns += ((unsigned char)text.at[i] & 0xc0) != 0x80;
	return columns;
}

static void new_line(struct text *out, size_t indent)
{
	text_add_format(out, "\n%*s", (int)indent, "");
}

size_t page_fold(struct text *out, const char *text, size_t width, size_t from, size_t indent)
{
	size_t column = from;
	bool is_movable = from > indent; /* the first word, when a label stands before it */

	while (*text) {
		size_t blanks = strspn(text, " "), len = strcspn(text + blanks, " ");
		struct span word = span_make(text + blanks, len);
		size_t end = column + blanks + page_width(word);

		if (!len)
			break;
		if (is_movable && end > width) {
			new_line(out, indent);
			end = indent + page_width(word);
			blanks = 0;
		}
		text_add_format(out, "%*s", (int)blanks, "");
		text_add_span(out, word);
		column = end;
		is_movable = true;
		text = word.at + len;
	}
	return column;
}
