/* `weir keys`: the keys in force, in the form of a key file. */
#include "cli/cli_private.h"

#include "base/file.h"
#include "keymap/keymap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROBLEMS_BYTES_MAX 65536

/* The file that was asked for, or the user's own, which need not be there. */
static bool read_user_keys(const struct home *home, const char *file, struct keymap *keymap, struct text *problems,
                           struct error *err)
{
	char *own = path_join(home->config, KEYS_FILE), *bytes = NULL;
	const char *path = file ? file : own;
	size_t len = 0;
	bool is_fine = true;

	if (file || access(own, F_OK) == 0)
		is_fine = file_read(path, KEYS_FILE_BYTES_MAX, &bytes, &len, err);
	/* What follows a NUL would be left out without a word. */
	if (bytes && strlen(bytes) != len)
		is_fine = fail(err, ERROR_CONFIG, "bad_key_file", "%.300s is no text: it holds a NUL", path);
	if (is_fine && bytes)
		keymap_read(keymap, path, bytes, problems);
	free(bytes);
	free(own);
	return is_fine;
}

static void print_row(const struct binding *binding)
{
	OWNED(text) keys = text_new(200);
	OWNED(text) action = text_new(2048);
	OWNED(text) row = text_new(4096);

	sequence_text(&binding->keys, keys);
	text_add_format(action, "%s%s%s", binding->is_run ? ":" : action_table[binding->action].name,
	                *binding->argument ? " " : "", binding->argument);
	text_add_format(row, "  %-9s %-14s \"%s\"", keys->at, action->at, binding->note);
	cli_print_text(row->at);
	putchar('\n');
}

static void print_object(const struct keymap *keymap, const struct binding *binding)
{
	const char *below = keymap_rests_on(keymap, binding->table);
	OWNED(text) keys = text_new(200);
	json_t *object;

	sequence_text(&binding->keys, keys);
	object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "table", binding->table, "rests_on", below ? below : "", "keys",
	                   keys->at, "action", binding->is_run ? ":" : action_table[binding->action].name, "argument",
	                   binding->argument, "note", binding->note, "yours", binding->is_yours);
	cli_print_json(object);
	json_decref(object);
}

/* A table's own rows stand first in what holds there. */
static void print_table(const struct keymap *keymap, const char *table, bool is_json)
{
	const char *below = keymap_rests_on(keymap, table);
	const struct binding *binding;

	if (!is_json)
		printf("table %s%s%s\n", table, below && strcmp(below, "global") != 0 ? " : " : "",
		       below && strcmp(below, "global") != 0 ? below : "");
	for (size_t at = 0; (binding = keymap_at(keymap, table, at)) && strcmp(binding->table, table) == 0; at++) {
		if (is_json)
			print_object(keymap, binding);
		else
			print_row(binding);
	}
}

/* All mistakes for people; scripts get the first and how many follow. */
static int complain(const struct text *problems, const struct command_line *line)
{
	size_t first = strcspn(problems->at, "\n"), more = 0;
	struct error err = { 0 };

	for (const char *at = problems->at + first + 1; *at; at += strcspn(at, "\n") + 1)
		more++;
	if (!line->is_json)
		cli_fold_lines(stderr, problems->at);
	fail(&err, ERROR_CONFIG, "bad_key_file", "%.*s%s", (int)(first < 400 ? first : 400), problems->at,
	     more ? "; others follow" : "");
	return cli_complain(&err, line);
}

int cli_keys(const struct home *home, const struct command_line *line)
{
	const char *file = json_string_value(json_object_get(line->args, "file"));
	struct keymap *keymap = keymap_new();
	OWNED(text) problems = text_new(PROBLEMS_BYTES_MAX);
	struct error err = { 0 };
	int status = 0;

	if (!read_user_keys(home, file, keymap, problems, &err)) {
		status = cli_complain(&err, line);
	} else if (json_is_true(json_object_get(line->args, "try"))) {
		status = cli_keys_try(keymap, line);
	} else {
		for (size_t i = 0; keymap_table_at(keymap, i); i++)
			print_table(keymap, keymap_table_at(keymap, i), line->is_json);
	}
	/* The good lines are in force all the same, and printed. */
	if (!status && problems->len)
		status = complain(problems, line);
	keymap_free(keymap);
	return status;
}
