/*
 * Any text as a theme: looks are in range at every level, each mistake is a line
 * with its place, and nothing in it reaches a terminal unclean. Reaches
 * term/theme.c and term/colour.c.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "term/term.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_look(struct look look, enum colour_level level)
{
	int most = level == COLOUR_256 ? 255 : level == COLOUR_16 ? 15 : -1;

	assert(look.fg >= -1 && look.fg <= most && look.bg >= -1 && look.bg <= most);
	assert(look.attributes < 2 * LOOK_ITALIC);
}

static void check_problems(const struct text *problems)
{
	for (const char *line = problems->at; *line;) {
		size_t len = strcspn(line, "\n");
		OWNED(text) clean = text_new(4096);
		int row = 0, column = 0;

		assert(len < 400 && clean_text(clean, span_make(line, len)));
		assert(span_equal(text_span(clean), span_make(line, len)));
		/* The last one may not have had room. */
		if (line[len])
			assert(sscanf(line, "f:%d:%d: ", &row, &column) == 2 && row > 0 && column > 0);
		line += len + (line[len] ? 1 : 0);
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = memory_string_of(span_make((const char *)data, size));
	struct text *problems = text_new(1u << 16);
	struct theme *theme = theme_read("f", text, problems);
	OWNED(text) about = text_new(1000);

	for (int role = 0; role < (int)ROLES; role++) {
		for (int level = COLOUR_NONE; level <= (int)COLOUR_256; level++)
			check_look(theme_look(theme, (enum role)role, (enum colour_level)level), (enum colour_level)level);
	}
	assert(clean_text(about, span_of(theme_about(theme))));
	assert(strcmp(about->at, theme_about(theme)) == 0);
	assert(theme_background_name(theme_background(theme)));
	if (!problems->is_full)
		check_problems(problems);
	theme_free(theme);
	text_free(problems);
	free(text);
	return 0;
}
