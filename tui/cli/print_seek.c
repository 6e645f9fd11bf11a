/* `weir seek` for people: where each subscription goes, what comes again, and the way back. */
#include "cli/cli_private.h"

#include <stdio.h>

static void print_indented(const char *text)
{
	OWNED(text) line = text_new(65536);

	if (!*text)
		return;
	text_add_format(line, "  %s", text);
	cli_fold(stdout, line->at, 0, 2);
}

static void print_repeats(const json_t *line)
{
	OWNED(text) words = text_new(65536);
	const json_t *repeats = json_object_get(line, "repeats");

	if (repeats)
		text_add_format(words, "%lld ", (long long)json_integer_value(repeats));
	text_add(words, cli_word(line, "sentence"));
	print_indented(words->at);
}

static void print_waiting(const json_t *line)
{
	OWNED(text) words = text_new(1024);

	if (!json_object_get(line, "waiting"))
		return;
	text_add_format(words, "%lld messages wait in it now, by Monitoring", cli_number(line, "waiting"));
	print_indented(words->at);
}

void print_sought(const json_t *line, struct printer_state *state)
{
	bool is_done = json_is_true(json_object_get(line, "sought"));
	const char *to = cli_word(line, "to");
	OWNED(text) head = text_new(65536);

	if (!line)
		return;
	state->count++;
	text_add_format(head, "%s %s to %s%s", cli_word(line, "subscription"), is_done ? "was put" : "would be put",
	                *to ? "" : "snapshot ", *to ? to : cli_word(line, "snapshot"));
	cli_print_wrapped(head->at, 0);
	print_repeats(line);
	print_indented(cli_word(line, "kept"));
	print_indented(cli_word(line, "passed_over"));
	print_waiting(line);
	if (!*cli_word(line, "undo"))
		return;
	/* Whole, to be pasted. */
	printf("  back again: ");
	cli_print_text(cli_word(line, "undo"));
	putchar('\n');
}
