/* Signs for borders and rules, as this terminal can show them. */
#include "term/term.h"

static const struct {
	const char *unicode, *ascii;
} glyphs[GLYPHS] = {
	[GLYPH_RULE] = { "\u2500", "-" },
	[GLYPH_VERTICAL] = { "\u2502", "|" },
	[GLYPH_TOP_LEFT] = { "\u250c", "+" },
	[GLYPH_TOP_RIGHT] = { "\u2510", "+" },
	[GLYPH_BOTTOM_LEFT] = { "\u2514", "+" },
	[GLYPH_BOTTOM_RIGHT] = { "\u2518", "+" },
};

static bool has_unicode = true;
static enum chart_glyphs charts_now = CHART_BRAILLE;

void glyphs_set(bool is_unicode, enum chart_glyphs charts)
{
	has_unicode = is_unicode;
	charts_now = charts;
}

const char *glyph_text(enum glyph_id id)
{
	return has_unicode ? glyphs[id].unicode : glyphs[id].ascii;
}

enum chart_glyphs glyphs_charts(void)
{
	return charts_now;
}
