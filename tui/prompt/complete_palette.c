/*
 * The palette: what was typed last, commands and places, found by any of their words. Whole lines, which are only put
 * onto the line: nothing runs from here but going to a place.
 */
#include "action/places.h"
#include "base/arena.h"
#include "control/control.h"
#include "prompt/complete_private.h"

#include <strings.h>

#define RECENT_MOST 5 /* of what was typed last, while nothing is typed to find more */
#define WORD_BYTES 200

enum fit { FIT_ALL, FIT_SOME, FIT_NOTE, FITS, FIT_NONE };

/* Each word that is typed stands in the line or in what is said of it; the more in the line, the better. */
static enum fit fit_of(const char *typed, const char *line, const char *note)
{
	bool in_line = false, in_note = false;

	while (*(typed += strspn(typed, " "))) {
		size_t len = strcspn(typed, " ");
		char word[WORD_BYTES];

		snprintf(word, sizeof(word), "%.*s", (int)len, typed);
		if (strcasestr(line, word))
			in_line = true;
		else if (strcasestr(note, word))
			in_note = true;
		else
			return FIT_NONE;
		typed += len;
	}
	return !in_note ? FIT_ALL : in_line ? FIT_SOME : FIT_NOTE;
}

static bool is_there(const struct matches *out, const char *line)
{
	for (size_t i = 0; i < out->count; i++) {
		if (strcmp(out->match[i].text, line) == 0)
			return true;
	}
	return false;
}

static void offer(struct completing *completing, const char *line, const char *note, enum fit fit)
{
	if (fit_of(completing->word, line, note) == fit && !is_there(completing->out, line))
		match_add_line(completing, line, note);
}

static void offer_recent(struct completing *completing, const struct prompt *prompt, enum fit fit)
{
	const char *line;

	for (size_t i = 0; (line = prompt_recent(prompt, i)); i++) {
		if (!*completing->word && completing->out->count == RECENT_MOST)
			return;
		offer(completing, line, "typed before", fit);
	}
}

void complete_palette(const struct prompt *prompt, struct matches *out)
{
	struct completing completing = { .out = out, .command = "", .kind = "", .word = prompt_text(prompt) };

	*out = (struct matches){ .title = memory_string("palette: lines typed before, commands, places"),
		                 .effect = memory_string("Enter goes to a place, or puts the command onto the line: nothing runs yet") };
	for (enum fit fit = FIT_ALL; fit < FITS; fit++) {
		offer_recent(&completing, prompt, fit);
		for (size_t i = 0; i < place_count; i++) {
			if (place_table[i].exists)
				offer(&completing, place_table[i].name, place_table[i].help, fit);
		}
		for (int i = 0; i < COMMANDS; i++)
			offer(&completing, command_table[i].name, command_table[i].help, fit);
		for (size_t i = 0; i < console_line_count; i++)
			offer(&completing, console_line_table[i].name, console_line_table[i].help, fit);
	}
}
