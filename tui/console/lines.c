/* Lines that only the console takes: the functions of the rows of action/lines.def, in their order. */
#include "action/places.h"
#include "base/arena.h"
#include "console/console_private.h"
#include "console/files.h"
#include "widget/chart.h"

#include <errno.h>
#include <stdlib.h>

#define SCREEN_BYTES (4u << 20)
#define NOTE_BYTES 4096

static void line_quit(struct console *console, const char *word)
{
	(void)word;
	console->is_ending = true;
}

/* Text and roles of the screen before the line was opened: useful in bug reports. */
static void line_save_screen(struct console *console, const char *word)
{
	OWNED(text) out = text_new(SCREEN_BYTES);
	FILE *file = fopen(word, "wxe");
	bool is_written;

	if (!file) {
		console_say(console, "cannot write '%s': %s", word, strerror(errno));
		return;
	}
	frame_draw(console);
	canvas_text(console->canvas, out);
	text_add(out, "\n");
	canvas_roles(console->canvas, out);
	is_written = fwrite(out->at, 1, out->len, file) == out->len;
	if (fclose(file) != 0 || !is_written)
		console_say(console, "cannot write '%s': %s", word, strerror(errno));
	else
		console_say(console, "the screen is in '%s'", word);
}

static void line_mouse(struct console *console, const char *word)
{
	console->has_mouse = strcmp(word, "on") == 0;
	if (console->term)
		term_mouse(console->term, console->has_mouse);
	console_say(console, console->has_mouse ? "the wheel scrolls, a click selects a row; most terminals select text with Shift" :
	                                          "the mouse is the terminal's");
}

static void line_range(struct console *console, const char *word)
{
	static const struct {
		const char *word;
		int seconds;
	} ranges[] = { { "10m", 600 }, { "1h", 3600 }, { "24h", 86400 } };

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		if (strcmp(ranges[i].word, word) == 0)
			console->range_s = ranges[i].seconds;
	}
	console_say(console, "charts show the last %s", word);
}

static void line_charts(struct console *console, const char *word)
{
	console->has_charts = true;
	charts_set_sweep(strcmp(word, "sweep") == 0);
	console_say(console, charts_sweep() ? "charts write over their oldest; now is at the gap" : "charts move on; now is at the right");
}

/* One that cannot be read leaves the colours as they are; of one with mistakes the rest is taken. */
static void line_theme(struct console *console, const char *word)
{
	OWNED(text) notes = text_new(NOTE_BYTES);
	struct theme *theme = theme_load(console->home, word, notes);

	if (theme) {
		if (console->term)
			term_theme(console->term, theme);
		theme_free(console->theme);
		console->theme = theme;
	}
	if (notes->len)
		console_say(console, "%.*s", (int)strcspn(notes->at, "\n"), notes->at);
	else
		console_say(console, "theme %s", word);
}

static void line_keys(struct console *console, const char *word)
{
	(void)word;
	console_go(console, "help", console_view(console)->ops->table);
}

static void line_copy(struct console *console, const char *word)
{
	(void)word;
	bare_open(console);
}

static const struct {
	void (*run)(struct console *console, const char *word);
} own_lines[] = {
#define LINE(id, name, usage, help) { line_##id },
#include "action/lines.def"
#undef LINE
};

/* The usage is the grammar: "" nothing, "FILE" one word, "on|off" one of these. */
static bool fits(const char *usage, const struct words *words)
{
	const char *word = word_at(words, 1);
	size_t len = strlen(word);

	if (words->count != (*usage ? 2 : 1))
		return false;
	if (!strchr(usage, '|'))
		return !*usage || len;
	for (const char *at = usage; len && (at = strstr(at, word)); at += len) {
		if ((at == usage || at[-1] == '|') && (at[len] == '|' || at[len] == '\0'))
			return true;
	}
	return false;
}

bool line_run(struct console *console, const struct words *words)
{
	const struct console_line *line = console_line_find(span_of(word_at(words, 0)));

	if (!line)
		return false;
	if (fits(line->usage, words))
		own_lines[line - console_line_table].run(console, word_at(words, 1));
	else
		console_say(console, "usage: %s%s%s", line->name, *line->usage ? " " : "", line->usage);
	return true;
}
