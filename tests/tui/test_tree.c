/* JSON with folds: what is open at first, folding by hand, searching what is hidden, and documents that are too much. */
#include "base/arena.h"
#include "term/cells.h"
#include "widget/tree.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail

static struct tree *tree;
static struct text *say;

static int begin(void **state)
{
	(void)state;
	tree = tree_new();
	say = text_new(1u << 17);
	return 0;
}

static int end(void **state)
{
	(void)state;
	tree_free(tree);
	text_free(say);
	return 0;
}

static void set(const char *json, const char *pointed)
{
	json_t *root = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	assert_non_null(root);
	tree_set(tree, root, pointed);
	json_decref(root);
}

static bool act(enum action_id action)
{
	text_clear(say);
	return tree_act(tree, action, say);
}

static const char *path(void)
{
	static char out[2000];
	OWNED(text) at = text_new(4096);
	OWNED(text) value = text_new(1u << 17);

	snprintf(out, sizeof(out), "%s", tree_selected(tree, at, value) ? at->at : "(none)");
	return out;
}

static struct text *drawn(int rows, int cols)
{
	struct canvas *canvas = canvas_new(rows, cols);
	struct text *out = text_new(1u << 16);

	tree_draw(tree, area_whole(canvas));
	canvas_text(canvas, out);
	canvas_free(canvas);
	return out;
}

static bool is_drawn(const char *wanted)
{
	OWNED(text) screen = drawn(40, 80);

	return strstr(screen->at, wanted);
}

static const char letter[] = "{\"before\":{\"id\":1,\"old\":\"x\"},\"after\":{\"id\":1,\"phone\":\"+49\"},\"source\":{\"db\":\"shop\"}}";

static void what_is_pointed_at_is_open_and_selected(void **state)
{
	(void)state;
	set(letter, "before.old");
	assert_string_equal(path(), "/before/old");
	assert_true(is_drawn("old"));
	assert_true(is_drawn("phone")); /* the row after the change is always open */
	assert_false(is_drawn("\"shop\""));
}

static void folds_stay_from_letter_to_letter(void **state)
{
	(void)state;
	set(letter, "");
	act(ACTION_last);
	assert_string_equal(path(), "/source");
	act(ACTION_right);
	assert_true(is_drawn("\"shop\""));
	set("{\"source\":{\"db\":\"other\"}}", "");
	assert_true(is_drawn("\"other\""));
	act(ACTION_last);
	act(ACTION_left); /* from a member to its parent, */
	assert_string_equal(path(), "/source");
	act(ACTION_left); /* and that one folds */
	assert_false(is_drawn("\"other\""));
	act(ACTION_fold);
	assert_true(is_drawn("\"other\""));
	act(ACTION_open);
	assert_false(is_drawn("\"other\""));
}

static void a_value_that_is_cut_is_said_whole(void **state)
{
	(void)state;
	set("{\"a\":\"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 end\"}", "a");
	assert_false(is_drawn("end"));
	assert_true(act(ACTION_open));
	assert_non_null(strstr(say->at, "end"));
}

static void a_search_opens_what_hides_it(void **state)
{
	(void)state;
	set(letter, "");
	assert_false(is_drawn("\"shop\""));
	assert_true(tree_search(tree, "SHOP", false));
	assert_string_equal(path(), "/source/db");
	assert_true(tree_search(tree, "id", false));
	assert_true(tree_search(tree, "id", true));
	assert_false(tree_search(tree, "nowhere", false));
	assert_false(tree_search(tree, "", false));
	assert_string_equal(path(), "/after/id"); /* where the last hit was */
}

static void backwards_it_goes_the_other_way(void **state)
{
	(void)state;
	set("[\"one\",\"two\",\"one\",\"two\"]", "");
	assert_true(tree_search(tree, "one", true));
	assert_string_equal(path(), "/2");
	assert_true(tree_search(tree, "one", true));
	assert_string_equal(path(), "/0");
	assert_true(tree_search(tree, "two", false));
	assert_string_equal(path(), "/1");
}

/* A scalar, nothing, and no document at all. */
static void small_documents_are_drawn(void **state)
{
	(void)state;
	assert_false(act(ACTION_down));
	assert_string_equal(path(), "(none)");
	assert_false(tree_search(tree, "x", false));
	text_free(drawn(3, 20));
	set("null", "");
	assert_true(is_drawn("null"));
	act(ACTION_left);
	act(ACTION_open);
	set("{}", "gone.away");
	act(ACTION_fold);
	assert_true(is_drawn("(object, 0 members)"));
	tree_set(tree, NULL, "");
	assert_string_equal(path(), "(none)");
}

/* What a stranger wrote: escapes, a NUL, names without end. */
static void what_a_stranger_wrote_is_shown_clean(void **state)
{
	OWNED(text) json = text_new(1u << 16);
	OWNED(text) screen = NULL;

	(void)state;
	text_add(json, "{\"a\\u001b[2J\":\"x\\u0000y\\u001b]0;t\\u0007\",\"");
	for (int i = 0; i < 3000; i++)
		text_add(json, "n");
	text_add(json, "\":1}");
	set(json->at, "");
	screen = drawn(10, 40);
	assert_null(strchr(screen->at, '\033'));
	assert_null(strchr(screen->at, '\a'));
	act(ACTION_last);
	act(ACTION_open);
}

static void depth_and_size_have_ends(void **state)
{
	OWNED(text) json = text_new(1u << 20);

	(void)state;
	for (int i = 0; i < 200; i++)
		text_add(json, "[");
	for (int i = 0; i < 200; i++)
		text_add(json, "]");
	set(json->at, "");
	for (int i = 0; i < 300; i++) {
		act(ACTION_right);
		act(ACTION_down);
	}
	text_free(drawn(10, 40));
	text_clear(json);
	text_add(json, "[0");
	for (int i = 0; i < 30000; i++)
		text_add(json, ",1");
	text_add(json, "]");
	set(json->at, "");
	act(ACTION_last);
	text_free(drawn(10, 40));
	assert_string_equal(path(), "/19998");
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(what_is_pointed_at_is_open_and_selected),
		WITH_TREE(folds_stay_from_letter_to_letter),
		WITH_TREE(a_value_that_is_cut_is_said_whole),
		WITH_TREE(a_search_opens_what_hides_it),
		WITH_TREE(backwards_it_goes_the_other_way),
		WITH_TREE(small_documents_are_drawn),
		WITH_TREE(what_a_stranger_wrote_is_shown_clean),
		WITH_TREE(depth_and_size_have_ends),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	cells_set_utf8(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
