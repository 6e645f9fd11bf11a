/*
 * Any bytes as a command line, words apart by NUL: reading it never crashes, a
 * failure has a code and a message, and what comes out can be sent as a frame.
 * Reaches core/control/args.c and the usage texts of the table of commands.
 */
#include "base/arena.h"
#include "base/reason.h"
#include "control/control.h"

#include <assert.h>
#include <stdlib.h>

#define WORDS_MOST 24

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Lends pointers into `text`, which ends with a NUL. */
static int words_split(char *text, size_t size, char **argv)
{
	int argc = 0;

	for (size_t at = 0; at < size && argc < WORDS_MOST; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	return argc;
}

static void check_error(const struct error *err)
{
	char *text = error_line(err, "weir", false), *json = error_line(err, "weir", true);

	assert(err->kind != ERROR_NONE && err->message[0]);
	assert(reason_find(err->code));
	assert(text && json);
	free(text);
	free(json);
}

static void check_line(const struct command_line *line)
{
	char *printed = json_line(line->args);
	json_t *again = printed ? json_loads(printed, 0, NULL) : NULL;

	assert(json_is_object(line->args));
	assert(again && json_equal(again, line->args));
	json_decref(again);
	free(printed);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = memory_string_of(span_make((const char *)data, size));
	char *argv[WORDS_MOST];
	int words = 0, argc = words_split(text, size, argv);
	const struct command *command = command_find(argc, argv, &words);
	struct command_line line = { 0 };
	struct error err = { 0 };

	assert(!command || (words >= 1 && words <= argc));
	if (command && command_line_parse(command, argc - words, argv + words, &line, &err)) {
		assert(err.kind == ERROR_NONE);
		check_line(&line);
	} else if (command) {
		check_error(&err);
	}
	json_decref(line.args);
	free(text);
	return 0;
}
