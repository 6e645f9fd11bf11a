/* The line that readline edits: keys, ends, history, and that readline itself writes nowhere. */
#include "base/arena.h"
#include "base/file.h"
#include "prompt/prompt.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/weir-prompt-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	/* The caller's .inputrc is no part of these tests; this one has a mistake, which readline would tell. */
	if (!mkdtemp(root))
		return -1;
	char *inputrc = path_join(root, "inputrc");

	file_replace(inputrc, SPAN("set no-such-thing on\n\"\\C-x\n"), NULL);
	setenv("INPUTRC", inputrc, 1);
	free(inputrc);
	return 0;
}

static void forget(const char *name)
{
	char *path = path_join(root, name);

	unlink(path);
	free(path);
}

static int tear_down(void **state)
{
	(void)state;
	forget("inputrc");
	forget("h/console-line");
	forget("h/console-filter");
	char *folder = path_join(root, "h");

	rmdir(folder);
	free(folder);
	return rmdir(root);
}

/* Each byte a key of its own. */
static enum prompt_end type(struct prompt *prompt, const char *keys)
{
	enum prompt_end end = PROMPT_GOES_ON;

	for (; *keys && end == PROMPT_GOES_ON; keys++)
		end = prompt_feed(prompt, span_make(keys, 1));
	return end;
}

static enum prompt_end key(struct prompt *prompt, const char *bytes)
{
	return prompt_feed(prompt, span_of(bytes));
}

static void a_line_is_edited_and_taken(void **state)
{
	struct prompt *prompt = prompt_new(NULL);

	(void)state;
	assert_false(prompt_is_open(prompt));
	prompt_open(prompt, PROMPT_LINE, "pause ");
	assert_true(prompt_is_open(prompt));
	assert_int_equal(type(prompt, "shop"), PROMPT_GOES_ON);
	assert_string_equal(prompt_text(prompt), "pause shop");
	assert_int_equal(key(prompt, "\x1b[D"), PROMPT_GOES_ON); /* left */
	assert_int_equal(key(prompt, "\x7f"), PROMPT_GOES_ON);
	assert_string_equal(prompt_text(prompt), "pause shp");
	assert_int_equal(prompt_point(prompt), 8);
	assert_int_equal(key(prompt, "\x1f"), PROMPT_GOES_ON); /* undo */
	assert_string_equal(prompt_text(prompt), "pause shop");
	assert_int_equal(key(prompt, "\r"), PROMPT_TAKEN);
	assert_false(prompt_is_open(prompt));
	assert_string_equal(prompt_text(prompt), "pause shop");
	prompt_free(prompt);
}

static void a_wide_character_comes_in_bytes_or_at_once(void **state)
{
	struct prompt *prompt = prompt_new(NULL);

	(void)state;
	prompt_open(prompt, PROMPT_LINE, "");
	type(prompt, "\xe6\xbc\xa2");
	key(prompt, "\xc3\xa4");
	assert_string_equal(prompt_text(prompt), "\xe6\xbc\xa2\xc3\xa4");
	key(prompt, "\x7f");
	assert_string_equal(prompt_text(prompt), "\xe6\xbc\xa2");
	prompt_free(prompt);
}

static void esc_ctrl_c_and_ctrl_d_leave(void **state)
{
	struct prompt *prompt = prompt_new(NULL);

	(void)state;
	prompt_open(prompt, PROMPT_LINE, "stop shop");
	assert_int_equal(key(prompt, "\x1b"), PROMPT_LEFT);
	assert_false(prompt_is_open(prompt));
	assert_int_equal(key(prompt, "x"), PROMPT_LEFT); /* closed: stays so */
	prompt_open(prompt, PROMPT_LINE, "stop shop");
	assert_int_equal(key(prompt, "\x03"), PROMPT_LEFT);
	prompt_open(prompt, PROMPT_LINE, "");
	assert_string_equal(prompt_text(prompt), "");
	assert_int_equal(key(prompt, "\x04"), PROMPT_LEFT);
	prompt_open(prompt, PROMPT_LINE, "x");
	assert_int_equal(key(prompt, "\x04"), PROMPT_GOES_ON);
	prompt_free(prompt);
}

static void take(struct prompt *prompt, enum prompt_kind kind, const char *line)
{
	prompt_open(prompt, kind, line);
	assert_int_equal(key(prompt, "\r"), PROMPT_TAKEN);
}

static void each_prompt_has_its_own_history(void **state)
{
	struct prompt *prompt = prompt_new(NULL);

	(void)state;
	take(prompt, PROMPT_LINE, "status");
	take(prompt, PROMPT_LINE, "status");
	take(prompt, PROMPT_FILTER, "code:x");
	prompt_open(prompt, PROMPT_LINE, "");
	key(prompt, "\x1b[A");
	assert_string_equal(prompt_text(prompt), "status");
	key(prompt, "\x1b[A"); /* only once in it */
	assert_string_equal(prompt_text(prompt), "status");
	type(prompt, " and more"); /* changed, then left: the history has it as it was */
	prompt_close(prompt);
	prompt_open(prompt, PROMPT_LINE, "");
	key(prompt, "\x1b[A");
	assert_string_equal(prompt_text(prompt), "status");
	prompt_open(prompt, PROMPT_FILTER, "");
	key(prompt, "\x1b[A");
	assert_string_equal(prompt_text(prompt), "code:x");
	prompt_free(prompt);
}

static void a_search_is_shown_and_esc_leaves_only_it(void **state)
{
	struct prompt *prompt = prompt_new(NULL);
	struct canvas *canvas = canvas_new(1, 40);
	OWNED(text) out = text_new(1000);

	(void)state;
	take(prompt, PROMPT_LINE, "pause shop");
	prompt_open(prompt, PROMPT_LINE, "");
	key(prompt, "\x12");
	type(prompt, "au");
	prompt_draw(prompt, area_whole(canvas), 0, NULL);
	canvas_text(canvas, out);
	assert_non_null(strstr(out->at, "au"));
	assert_non_null(strstr(out->at, "pause shop"));
	assert_int_equal(key(prompt, "\x1b"), PROMPT_GOES_ON);
	assert_string_equal(prompt_text(prompt), "");
	key(prompt, "\x12");
	type(prompt, "au");
	prompt_close(prompt); /* in the midst of a search */
	prompt_open(prompt, PROMPT_LINE, "");
	type(prompt, "x");
	assert_string_equal(prompt_text(prompt), "x");
	prompt_free(prompt);
	canvas_free(canvas);
}

static void a_history_file_is_private_and_has_no_secrets(void **state)
{
	char *folder = path_join(root, "h"), *path = path_join(folder, "console-line"), *text;
	struct prompt *prompt = prompt_new(folder);
	struct stat found;
	size_t len;

	(void)state;
	take(prompt, PROMPT_LINE, "pause shop");
	take(prompt, PROMPT_LINE, "secret put key");
	take(prompt, PROMPT_LINE, "secret  put key hunter2"); /* refused, but typed */
	take(prompt, PROMPT_LINE, "secret unlock hunter2");
	take(prompt, PROMPT_LINE, "job set shop password=hunter2");
	take(prompt, PROMPT_LINE, " status");
	take(prompt, PROMPT_LINE, "why \"a b\"");
	prompt_free(prompt);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 0777, 0600);
	assert_true(file_read(path, 1000, &text, &len, NULL));
	assert_string_equal(text, "pause shop\nwhy \"a b\"\n");
	free(text);
	prompt = prompt_new(folder);
	prompt_open(prompt, PROMPT_LINE, "");
	key(prompt, "\x1b[A");
	key(prompt, "\x1b[A");
	assert_string_equal(prompt_text(prompt), "pause shop");
	prompt_free(prompt);
	free(path);
	free(folder);
}

static void a_paste_is_one_line_and_a_line_has_an_end(void **state)
{
	struct prompt *prompt = prompt_new(NULL);
	char *large = memory_alloc(9000);

	(void)state;
	prompt_open(prompt, PROMPT_LINE, "");
	prompt_insert(prompt, SPAN("a\nb\tc"));
	assert_string_equal(prompt_text(prompt), "a b c");
	memset(large, 'x', 9000);
	prompt_insert(prompt, span_make(large, 9000));
	assert_int_equal(strlen(prompt_text(prompt)), PROMPT_BYTES_MAX - 1);
	type(prompt, "yz");
	assert_int_equal(strlen(prompt_text(prompt)), PROMPT_BYTES_MAX - 1);
	key(prompt, "\x15"); /* C-u */
	assert_string_equal(prompt_text(prompt), "");
	for (const char *c = "999999999"; *c; c++)
		prompt_feed(prompt, span_make((const char[]){ '\x1b', *c }, 2));
	type(prompt, "x");
	assert_true(strlen(prompt_text(prompt)) < PROMPT_BYTES_MAX);
	prompt_free(prompt);
	free(large);
}

static void a_match_takes_the_place_of_the_word(void **state)
{
	struct prompt *prompt = prompt_new(NULL);

	(void)state;
	prompt_open(prompt, PROMPT_LINE, "pause sh");
	prompt_take(prompt, 6, "shop ");
	assert_string_equal(prompt_text(prompt), "pause shop ");
	assert_int_equal(prompt_point(prompt), 11);
	prompt_take(prompt, 99, "never");
	assert_string_equal(prompt_text(prompt), "pause shop ");
	prompt_free(prompt);
}

static void a_long_line_is_drawn_scrolled_with_the_cursor_inside(void **state)
{
	struct prompt *prompt = prompt_new(NULL);
	struct canvas *canvas = canvas_new(1, 10);
	OWNED(text) out = text_new(1000);

	(void)state;
	prompt_open(prompt, PROMPT_LINE, "ab");
	prompt_draw(prompt, area_whole(canvas), 0, "7 of");
	canvas_text(canvas, out);
	assert_string_equal(out->at, ":ab   7 of\n");
	assert_int_equal(canvas->cursor_col, 3);
	type(prompt, "cdefghijklm");
	text_clear(out);
	prompt_draw(prompt, area_whole(canvas), 0, "7 of");
	canvas_text(canvas, out);
	assert_string_equal(out->at, ":fghijklm\n");
	assert_int_equal(canvas->cursor_col, 9);
	prompt_free(prompt);
	canvas_free(canvas);
}

/* Everything that readline would say goes nowhere: both outputs are a file while it is asked for noise. */
static void readline_writes_nothing_itself(void **state)
{
	FILE *caught = tmpfile();
	int out = dup(1), err = dup(2);
	struct prompt *prompt;

	(void)state;
	fflush(stdout);
	dup2(fileno(caught), 1);
	dup2(fileno(caught), 2);
	prompt = prompt_new(NULL);
	prompt_open(prompt, PROMPT_LINE, "/");
	type(prompt, "\t\t\x0c\x07\x12zz\x07");
	key(prompt, "\x1b?");
	key(prompt, "\x1b/");
	key(prompt, "\x1b*");
	key(prompt, "\x18\x12"); /* reads .inputrc again, elsewhere */
	key(prompt, "\x1b[A");
	key(prompt, "\r");
	prompt_free(prompt);
	fflush(stdout);
	dup2(out, 1);
	dup2(err, 2);
	close(out);
	close(err);
	assert_int_equal(lseek(fileno(caught), 0, SEEK_END), 0);
	fclose(caught);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readline_writes_nothing_itself),
		cmocka_unit_test(a_line_is_edited_and_taken),
		cmocka_unit_test(a_wide_character_comes_in_bytes_or_at_once),
		cmocka_unit_test(esc_ctrl_c_and_ctrl_d_leave),
		cmocka_unit_test(each_prompt_has_its_own_history),
		cmocka_unit_test(a_search_is_shown_and_esc_leaves_only_it),
		cmocka_unit_test(a_history_file_is_private_and_has_no_secrets),
		cmocka_unit_test(a_paste_is_one_line_and_a_line_has_an_end),
		cmocka_unit_test(a_match_takes_the_place_of_the_word),
		cmocka_unit_test(a_long_line_is_drawn_scrolled_with_the_cursor_inside),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
