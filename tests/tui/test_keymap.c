/* Keys to actions: the default keys against the table of actions, lookups in chains, files of users. */
#include "action/places.h"
#include "base/file.h"
#include "keymap/keymap_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#undef fail
#include <cmocka.h>

static struct sequence keys_of(const char *names)
{
	struct sequence keys = { .count = 0 };

	while (*names) {
		size_t len = strcspn(names, " ");

		assert_true(key_parse(span_make(names, len), &keys.keys[keys.count++]));
		names += len + (names[len] == ' ');
	}
	return keys;
}

/* "quit", "go dead-letters", ": status", "(more)" or "(none)". */
static struct text *found(const struct keymap *keymap, const char *table, const char *names)
{
	struct sequence keys = keys_of(names);
	const struct binding *binding = NULL;
	enum key_found what = keymap_find(keymap, table, &keys, &binding);
	struct text *out = text_new(1000);

	if (what != KEY_FOUND)
		text_add(out, what == KEY_PREFIX ? "(more)" : "(none)");
	else
		text_add_format(out, "%s%s%s", binding->is_run ? ":" : action_table[binding->action].name,
		                *binding->argument ? " " : "", binding->argument);
	return out;
}

static void check_found(const struct keymap *keymap, const char *table, const char *names, const char *expected)
{
	OWNED(text) what = found(keymap, table, names);

	assert_string_equal(what->at, expected);
}

static void the_default_file_has_no_mistake(void **state)
{
	OWNED(text) problems = text_new(10000);
	struct keymap *keymap = keymap_compiled(problems);

	(void)state;
	assert_string_equal(problems->at, "");
	assert_true(keymap->table_count > 20);
	keymap_free(keymap);
}

static void every_action_has_a_key(void **state)
{
	struct keymap *keymap = keymap_new();
	bool is_bound[ACTIONS] = { false };

	(void)state;
	for (size_t i = 0; i < keymap->table_count; i++) {
		for (size_t k = 0; k < keymap->tables[i].count; k++)
			is_bound[keymap->tables[i].rows[k].binding.action] = true;
	}
	for (size_t i = 0; i < ACTIONS; i++) {
		if (!is_bound[i])
			fail_msg("action '%s' has no key", action_table[i].name);
	}
	keymap_free(keymap);
}

static void every_place_has_the_key_of_its_row(void **state)
{
	struct keymap *keymap = keymap_new();

	(void)state;
	for (size_t i = 0; i < place_count; i++) {
		OWNED(text) keys = text_new(100);
		OWNED(text) expected = text_new(100);

		keymap_key_of(keymap, "list", ACTION_go, place_table[i].name, keys);
		if (*place_table[i].key)
			text_add_format(expected, "g %s", place_table[i].key);
		assert_string_equal(keys->at, expected->at);
	}
	keymap_free(keymap);
}

/* Tables may bind the same keys anew, but none may turn a key of another into a beginning, or a beginning into a key. */
static void no_key_begins_another_in_a_chain(void **state)
{
	struct keymap *keymap = keymap_new();

	(void)state;
	for (size_t i = 0; i < keymap->table_count; i++) {
		const struct key_table *top = &keymap->tables[i];

		for (size_t k = 0; k < top->count; k++) {
			for (const struct key_table *in = top; in; in = in->below) {
				for (size_t m = 0; m < in->count; m++) {
					const struct sequence *a = &top->rows[k].binding.keys, *b = &in->rows[m].binding.keys;

					if (&top->rows[k] != &in->rows[m] && sequences_meet(a, b) && (in == top || a->count != b->count))
						fail_msg("table %s: '%s' meets '%s' of %s", top->name, top->rows[k].binding.note,
						         in->rows[m].binding.note, in->name);
				}
			}
		}
	}
	keymap_free(keymap);
}

static void all_that_is_listed_is_found(void **state)
{
	struct keymap *keymap = keymap_new();

	(void)state;
	for (size_t i = 0; keymap_table_at(keymap, i); i++) {
		const char *table = keymap_table_at(keymap, i);
		const struct binding *binding, *again;
		size_t at = 0;

		for (; (binding = keymap_at(keymap, table, at)); at++) {
			assert_int_equal(keymap_find(keymap, table, &binding->keys, &again), KEY_FOUND);
			assert_ptr_equal(again, binding);
		}
		assert_true(at > 30);
	}
	keymap_free(keymap);
}

static void the_nearest_table_wins(void **state)
{
	struct keymap *keymap = keymap_new();

	(void)state;
	check_found(keymap, "logs", "F", "follow");
	check_found(keymap, "tables", "F", "(none)");
	check_found(keymap, "tables", "g", "(more)");
	check_found(keymap, "tables", "g g", "first");
	check_found(keymap, "tables", "g d", "go dead-letters");
	check_found(keymap, "tables", "g x", "(none)");
	check_found(keymap, "why", "3", "step 3");
	check_found(keymap, "popup", "Tab", "next");
	check_found(keymap, "no such view", "q", "back");
	check_found(keymap, "no such view", "j", "(none)");
	assert_string_equal(keymap_rests_on(keymap, "why"), "text");
	assert_null(keymap_rests_on(keymap, "global"));
	assert_true(keymap_has_table(keymap, "letter"));
	assert_false(keymap_has_table(keymap, "lettres"));
	keymap_free(keymap);
}

static void a_prefix_has_its_continuations(void **state)
{
	struct keymap *keymap = keymap_new();
	struct sequence g = keys_of("g");
	const struct binding *binding;
	size_t count = 0;

	(void)state;
	for (; (binding = keymap_continue(keymap, "tables", &g, count)); count++)
		assert_true(binding->keys.count == 2 && binding->keys.keys[0].code == 'g');
	assert_int_equal(count, 19); /* 18 places, and the first row */
	assert_string_equal(keymap_continue(keymap, "tables", &g, 0)->argument, "");
	keymap_free(keymap);
}

static void the_key_of_an_action(void **state)
{
	struct keymap *keymap = keymap_new();
	OWNED(text) key = text_new(100);

	(void)state;
	keymap_key_of(keymap, "tables", ACTION_go, "dead-letters", key);
	text_add(key, "|");
	keymap_key_of(keymap, "tables", ACTION_open, NULL, key);
	text_add(key, "|");
	keymap_key_of(keymap, "tables", ACTION_follow, NULL, key);
	assert_string_equal(key->at, "g d|Enter|");
	keymap_free(keymap);
}

static void read_into(struct keymap *keymap, const char *text, const char *expected)
{
	OWNED(text) problems = text_new(10000);

	keymap_read(keymap, "k", text, problems);
	assert_string_equal(problems->at, expected);
}

static void a_file_changes_line_by_line(void **state)
{
	struct keymap *keymap = keymap_new();
	struct sequence key = keys_of("C-r");
	const struct binding *binding;

	(void)state;
	read_into(keymap,
	          "# mine\r\ntable list\n\tC-r   : note \"a b\" --job shop  \"say it\"\nx quit \"out\"\nx help \"no, help\"\n"
	          "table logs : text\nC-x C-s go tables \"to the tables\"\n",
	          "");
	check_found(keymap, "tables", "C-r", ": note \"a b\" --job shop");
	check_found(keymap, "tables", "x", "help");
	check_found(keymap, "logs", "C-x C-s", "go tables");
	assert_string_equal(keymap_rests_on(keymap, "logs"), "text");
	assert_int_equal(keymap_find(keymap, "list", &key, &binding), KEY_FOUND);
	assert_true(binding->is_yours && binding->is_run);
	assert_string_equal(binding->note, "say it");
	assert_string_equal(binding->table, "list");
	keymap_free(keymap);
}

static void nothing_takes_away(void **state)
{
	struct keymap *keymap = keymap_new();

	(void)state;
	read_into(keymap, "table list\np nothing\ng g nothing\ntable tables\nd nothing\ng nothing \"no places here\"\ntable global\nQ nothing\n",
	          "");
	check_found(keymap, "job", "p", "(none)");
	check_found(keymap, "job", "g", "(more)");
	check_found(keymap, "job", "g g", "(none)");
	check_found(keymap, "job", "d", "letters");
	check_found(keymap, "tables", "d", "(none)");
	check_found(keymap, "tables", "g", "(none)");
	check_found(keymap, "tables", "g d", "(none)");
	check_found(keymap, "job", "Q", "(none)");
	check_found(keymap, "overview", "p", "toggle pause");
	read_into(keymap, "table tables\nd letters \"back again\"\n", "");
	check_found(keymap, "tables", "d", "letters");
	keymap_free(keymap);
}

static void a_mistake_is_said_and_the_rest_holds(void **state)
{
	struct keymap *keymap = keymap_new();

	(void)state;
	read_into(keymap,
	          "x quit \"too early\"\n"
	          "table lsit\n"
	          "x quit \"not read\"\n"
	          "table list\n"
	          "xx quit \"a\"\n"
	          "x quit\n"
	          "x qiut \"a\"\n"
	          "x go \"a\"\n"
	          "x quit now \"a\"\n"
	          "x step 0 \"a\"\n"
	          "x go nowhere \"a\"\n"
	          "x : \"a\"\n"
	          "a b c d quit \"a\"\n"
	          "g quit \"a\"\n"
	          "x \"a\"\n"
	          "x nothing\n"
	          "table global : list\n"
	          "table list text\n"
	          "x quit \"a\001\"\n"
	          "  x   quit  \"it holds\"",
	          "k:1:1: a binding stands below a line 'table NAME'\n"
	          "k:2:7: there is no table 'lsit'; did you mean 'list'?\n"
	          "k:5:1: 'xx' is no key\n"
	          "k:6:7: a note in quotes is missing at the end: it becomes the help\n"
	          "k:7:3: there is no action 'qiut'; did you mean 'quit'?\n"
	          "k:8:3: action 'go' needs an argument\n"
	          "k:9:3: action 'quit' takes no argument\n"
	          "k:10:3: a step is a number from 1 to 9\n"
	          "k:11:3: there is no place 'nowhere'\n"
	          "k:12:4: a command is missing behind ':'\n"
	          "k:13:7: more than 3 keys\n"
	          "k:14:1: 'g g' is bound in this table; take it away first: g g nothing\n"
	          "k:15:3: an action is missing\n"
	          "k:16:1: these keys do nothing already\n"
	          "k:17:16: table 'list' rests on this one already\n"
	          "k:18:12: after the name: nothing, or ': TABLE' that it rests on\n"
	          "k:19:10: a control character\n");
	check_found(keymap, "list", "x", "quit");
	keymap_free(keymap);
}

static void bindings_have_a_limit(void **state)
{
	struct keymap *keymap = keymap_new();
	OWNED(text) file = text_new(1u << 20);
	OWNED(text) problems = text_new(1000);

	(void)state;
	text_add(file, "table list\n");
	for (int i = 0; i < BINDINGS_MAX + 100; i++)
		text_add_format(file, "C-x %c%c quit \"n\"\nC-x %c %c quit \"n\"\n", 'a', 'b', 'a' + i % 26, 0x21 + i / 26);
	keymap_read(keymap, "k", file->at, problems);
	assert_true(problems->is_full);
	assert_int_equal(keymap->binding_count, BINDINGS_MAX);
	check_found(keymap, "list", "j", "down");
	keymap_free(keymap);
}

static void the_other_key_files_have_no_mistake(void **state)
{
	static const char *const files[] = { "keys/arrows.keys", "keys/emacs.keys", "keys/default.keys" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct keymap *keymap = keymap_new();
		struct error err = { 0 };
		char *text;
		size_t len;

		if (!file_read(files[i], KEYS_FILE_BYTES_MAX, &text, &len, &err))
			fail_msg("%s", err.message);
		read_into(keymap, text, "");
		check_found(keymap, "tables", "Enter", "open");
		free(text);
		keymap_free(keymap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_file_has_no_mistake),
		cmocka_unit_test(every_action_has_a_key),
		cmocka_unit_test(every_place_has_the_key_of_its_row),
		cmocka_unit_test(no_key_begins_another_in_a_chain),
		cmocka_unit_test(all_that_is_listed_is_found),
		cmocka_unit_test(the_nearest_table_wins),
		cmocka_unit_test(a_prefix_has_its_continuations),
		cmocka_unit_test(the_key_of_an_action),
		cmocka_unit_test(a_file_changes_line_by_line),
		cmocka_unit_test(nothing_takes_away),
		cmocka_unit_test(a_mistake_is_said_and_the_rest_holds),
		cmocka_unit_test(bindings_have_a_limit),
		cmocka_unit_test(the_other_key_files_have_no_mistake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
