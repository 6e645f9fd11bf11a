/*
 * Any text as a key file over the default: reading it never crashes, each problem is a line with
 * its place, and what is listed in a table is found by its keys.
 */
#include "base/text.h"
#include "keymap/keymap.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_problems(const char *problems)
{
	while (*problems) {
		size_t len = strcspn(problems, "\n");

		assert(len > 6 && strncmp(problems, "k:", 2) == 0 && problems[len] == '\n');
		problems += len + 1;
	}
}

static void check_table(const struct keymap *keymap, const char *table)
{
	const struct binding *binding, *again;

	for (size_t at = 0; (binding = keymap_at(keymap, table, at)); at++) {
		OWNED(text) keys = text_new(200);

		assert(keymap_find(keymap, table, &binding->keys, &again) == KEY_FOUND && again == binding);
		assert(sequence_text(&binding->keys, keys) && keys->len);
		assert(binding->note[0] && binding->action < ACTIONS);
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct keymap *keymap = keymap_new();
	char *text = strndup((const char *)data, size);
	OWNED(text) problems = text_new(1u << 20);

	keymap_read(keymap, "k", text, problems);
	if (!problems->is_full)
		check_problems(problems->at);
	check_table(keymap, "global");
	check_table(keymap, "list");
	check_table(keymap, "why");
	free(text);
	keymap_free(keymap);
	return 0;
}
