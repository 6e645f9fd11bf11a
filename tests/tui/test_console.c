/*
 * The console without a terminal: keys go in, frames are drawn on a canvas, a fake engine answers. What acts: the menu, the
 * question, the count to be typed; lines of its own.
 */
#include "fake_engine.h"
#include "console/console_private.h"
#include "term/cells.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail

static struct fake fake;
static struct home home;
static const struct console_wishes wishes;
static struct console *console;
static char heard[4096]; /* calls that change something, as "call ARGS\n" */
static const char *refusal; /* what acts are answered instead */

static const char status_line[] =
	"{\"job\":\"shop\",\"state\":\"ok\",\"worst\":\"needs you\",\"tables\":["
	"{\"table\":\"shop.a\",\"state\":\"needs you\",\"code\":\"unknown_column\"},"
	"{\"table\":\"shop.b\",\"state\":\"retrying\"},{\"table\":\"shop.c\",\"state\":\"paused\"}]}";

static const char *answer_of(const char *call)
{
	static const struct {
		const char *call, *lines;
	} answers[] = {
		{ "status", status_line },
		{ "tables", "{\"job\":\"shop\",\"table\":\"shop.a\",\"state\":\"needs you\"}|"
		            "{\"job\":\"shop\",\"table\":\"shop.b\",\"state\":\"retrying\"}|"
		            "{\"job\":\"shop\",\"table\":\"shop.c\",\"state\":\"paused\"}|"
		            "{\"job\":\"shop\",\"table\":\"shop.d\",\"state\":\"ok\"}" },
		{ "dlq.groups", "{\"job\":\"shop\",\"group\":1,\"code\":\"x\",\"count\":7,\"open\":5,\"state\":\"new\",\"sample\":1}|"
		                "{\"job\":\"shop\",\"group\":2,\"code\":\"y\",\"count\":3,\"open\":3,\"state\":\"new\",\"sample\":2}" },
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		if (strcmp(answers[i].call, call) == 0)
			return answers[i].lines;
	}
	return "";
}

static bool is_act(const char *call)
{
	static const char *const acts[] = { "pause", "resume", "note", "dlq_discard", "dlq_replay" };

	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		if (strcmp(acts[i], call) == 0)
			return true;
	}
	return false;
}

/* A line about a group that the call did not choose is no answer to it. */
static bool is_chosen(const json_t *frame, const char *line)
{
	const json_t *group = json_object_get(json_object_get(frame, "args"), "group");
	char member[40];

	if (!json_is_integer(group))
		return true;
	snprintf(member, sizeof(member), "\"group\":%lld,", (long long)json_integer_value(group));
	return memmem(line, strcspn(line, "|"), member, strlen(member)) != NULL;
}

static void reply(size_t session, json_t *frame)
{
	const char *call = json_string_value(json_object_get(frame, "call"));
	long long id = json_integer_value(json_object_get(frame, "id"));
	OWNED(text) out = text_new(1u << 20);

	if (!call) {
		fake_say(&fake, session, FAKE_HELLO);
		return;
	}
	for (const char *line = answer_of(call); *line; line += strcspn(line, "|"), line += *line == '|') {
		if (is_chosen(frame, line))
			text_add_format(out, "{\"id\":%lld,\"line\":%.*s}\n", id, (int)strcspn(line, "|"), line);
	}
	if (is_act(call)) {
		char *args = json_dumps(json_object_get(frame, "args"), JSON_COMPACT | JSON_SORT_KEYS);
		size_t len = strlen(heard);

		snprintf(heard + len, sizeof(heard) - len, "%s %s\n", call, args);
		free(args);
	}
	if (is_act(call) && refusal)
		text_add_format(out, "{\"id\":%lld,\"error\":{\"kind\":\"usage\",\"code\":\"no\",\"message\":\"%s\"}}\n", id, refusal);
	else
		text_add_format(out, "{\"id\":%lld,\"ok\":{\"exit\":0}}\n", id);
	fake_say(&fake, session, out->at);
}

static bool serve(void)
{
	bool did = false;

	if (fake_ready(fake.listener, 0))
		fake_accept(&fake), did = true;
	for (size_t i = 0; i < fake.count; i++) {
		while (fake_is_called(&fake, i)) {
			json_t *frame = fake_hear(&fake, i);

			if (!frame)
				break;
			reply(i, frame);
			json_decref(frame);
			did = true;
		}
	}
	return did;
}

/* Frames, until nothing is asked and nothing comes any more. */
static void settle(void)
{
	bool did = true;

	for (int round = 0; did && round < 100; round++) {
		frame_draw(console);
		console->box.is_drawn = true;
		model_step(console->model, console->now_ms);
		did = serve();
		did |= model_step(console->model, console->now_ms);
		outcomes_say(console);
		did |= console->ahead_count > 0;
		ahead_step(console);
	}
}

static int begin(void **state)
{
	(void)state;
	fake_begin(&fake);
	heard[0] = '\0';
	refusal = NULL;
	home = (struct home){ .socket = fake.path, .config = fake.folder, .state = fake.folder };
	console = memory_zalloc(sizeof(*console));
	console->home = &home;
	console->wishes = &wishes;
	console->range_s = CHART_RANGE_S;
	console->now_ms = clock_mono_ms();
	console->now_us = clock_utc_us();
	console->model = model_new(&home, false);
	console->keymap = keymap_new();
	console->prompt = prompt_new(NULL);
	console->input = input_new();
	console->canvas = canvas_new(30, 100);
	console_go(console, "overview", "");
	settle();
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (console->box.ops && console->box.ops->close)
		console->box.ops->close(&console->box);
	stack_free(console);
	matches_clear(&console->matches);
	prompt_free(console->prompt);
	input_free(console->input);
	model_free(console->model);
	keymap_free(console->keymap);
	theme_free(console->theme);
	canvas_free(console->canvas);
	free(console->copied);
	free(console);
	fake_end(&fake);
	return 0;
}

/* Keys by their names, without a frame in between. */
static void press_blind(const char *names)
{
	for (; *names; names += strspn(names, " ")) {
		size_t len = strcspn(names, " ");
		struct key_event event = { .key = { 0 } };

		assert_true(key_parse(span_make(names, len), &event.key));
		keys_take(console, &event);
		names += len;
	}
}

static void press(const char *names)
{
	for (; *names; names += strspn(names, " ")) {
		char name[24];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(names, " "), names);
		press_blind(name);
		settle();
		names += strlen(name);
	}
}

static void click(enum mouse_act act, int row)
{
	struct key_event event = { .key = { .code = KEY_MOUSE_ }, .mouse = act, .row = row };

	keys_take(console, &event);
	settle();
}

static void run(const char *line)
{
	console_run(console, line);
	settle();
}

static const char *said(void)
{
	int64_t us;
	bool is_error;

	return console_message_count(console) ? console_message(console, 0, &us, &is_error) : "";
}

/* The row that has the text, or -1. */
static int row_of(const char *wanted)
{
	OWNED(text) screen = text_new(1u << 20);
	const char *at;
	int row = 0;

	canvas_text(console->canvas, screen);
	at = strstr(screen->at, wanted);
	for (const char *c = screen->at; at && c < at; c++)
		row += *c == '\n';
	return at ? row : -1;
}

#define assert_shown(wanted) assert_true(row_of(wanted) >= 0)

static const char *selected_table(void)
{
	static struct subject subject;
	struct view *view = console_view(console);

	subject = (struct subject){ 0 };
	view->ops->subject(view, &subject);
	return subject.table;
}

/*
 * p, and why.
 */
static void p_says_what_it_did_and_the_way_back(void **state)
{
	(void)state;
	run("tables");
	press("p");
	assert_string_equal(heard, "pause {\"job\":\"shop\",\"table\":\"shop.a\"}\n");
	assert_string_equal(said(), "paused shop.a; p resumes, :note says why");
	assert_shown("paused shop.a; p resumes, :note says why");
	press("G k p"); /* shop.c is paused */
	assert_non_null(strstr(heard, "resume {\"job\":\"shop\",\"table\":\"shop.c\"}\n"));
	assert_string_equal(said(), "shop.c goes on; p pauses it again, :note says why");
}

/* The first note after an act is about it, wherever the selection went; the next one about what is selected. */
static void a_note_after_an_act_is_about_it(void **state)
{
	(void)state;
	run("tables");
	press("p j");
	heard[0] = '\0';
	run("note 'the source is moved'");
	assert_string_equal(heard, "note {\"job\":\"shop\",\"table\":\"shop.a\",\"text\":\"the source is moved\"}\n");
	assert_string_equal(said(), "noted on shop.a: the source is moved");
	heard[0] = '\0';
	run("note again");
	assert_string_equal(heard, "note {\"job\":\"shop\",\"table\":\"shop.b\",\"text\":\"again\"}\n");
	heard[0] = '\0';
	run("note it can't be helped");
	assert_string_equal(said(), "noted on shop.b: it can't be helped");
	run("note");
	assert_non_null(strstr(said(), "TEXT"));
	heard[0] = '\0';
	run("note two words --job other");
	assert_string_equal(heard, "note {\"job\":\"other\",\"text\":\"two words\"}\n");
	heard[0] = '\0';
	run("note --job other hm");
	assert_string_equal(heard, "note {\"job\":\"other\",\"text\":\"hm\"}\n");
}

static void what_the_engine_refuses_is_said(void **state)
{
	(void)state;
	refusal = "not now";
	run("tables");
	press("p");
	assert_string_equal(said(), "no: not now");
}

/*
 * Many.
 */
static void marked_rows_are_asked_once_with_their_count(void **state)
{
	(void)state;
	run("tables");
	press("*"); /* all four */
	press("a");
	assert_shown("acts on 4 marked");
	press("p");
	assert_shown("pause 3 tables?");
	assert_shown("1 more is left out");
	assert_string_equal(heard, "");
	press("Enter");
	assert_string_equal(heard, "pause {\"job\":\"shop\",\"table\":\"shop.a\"}\n"
	                           "pause {\"job\":\"shop\",\"table\":\"shop.b\"}\n"
	                           "pause {\"job\":\"shop\",\"table\":\"shop.d\"}\n");
	assert_string_equal(said(), "pause 3 tables: done");
	assert_null(console->box.ops);
}

static void esc_leaves_them_all_alone(void **state)
{
	(void)state;
	run("tables");
	press("* a p x Esc");
	assert_string_equal(heard, "");
	assert_null(console->box.ops);
}

static void a_filter_is_never_called_all(void **state)
{
	struct error err = { 0 };
	struct view *view;

	(void)state;
	run("tables");
	view = console_view(console);
	assert_true(view->ops->filter(view, "state:retrying", true, &err));
	press("a");
	assert_shown("acts on 1 filtered");
	press("p");
	assert_shown("pause 1 filtered table?");
	press("Enter");
	assert_string_equal(heard, "pause {\"job\":\"shop\",\"table\":\"shop.b\"}\n");
}

static void how_many_failed_is_said(void **state)
{
	(void)state;
	refusal = "not now";
	run("tables");
	press("* a p Enter");
	assert_string_equal(said(), "pause 3 tables: 0 done, 3 not: not now");
}

/* A mark stays on what has left the list; the act is not on it, and the menu says so. */
static void marks_that_are_gone_are_told(void **state)
{
	(void)state;
	run("tables");
	press("* !"); /* only trouble: the one that is ok is not in the list */
	press("a");
	assert_shown("acts on 3 marked; 1 more are not in the list now");
	press("Esc U a");
	assert_shown("acts on table shop.a");
}

static void no_row_no_menu(void **state)
{
	(void)state;
	run("tables");
	struct error err = { 0 };
	struct view *view = console_view(console);
	assert_true(view->ops->filter(view, "table:nothing", true, &err));
	press("a");
	assert_null(console->box.ops);
	assert_string_equal(said(), "nothing is selected to act on");
}

/*
 * What is lossy.
 */
static void only_the_exact_count_acts(void **state)
{
	(void)state;
	run("dlq discard --group 1 --job shop");
	assert_shown("discard 5 dead letters");
	press("7 Enter");
	assert_shown("that is not it: nothing has been done");
	press("C-u 5 Enter");
	assert_string_equal(heard, ""); /* a reason is needed */
	press("Enter");
	assert_shown("a reason is needed");
	press("t e s t Enter");

	assert_string_equal(heard, "dlq_discard {\"confirm\":5,\"group\":1,\"job\":\"shop\",\"why\":\"test\"}\n");
	assert_null(console->box.ops);
}

static void esc_discards_nothing(void **state)
{
	(void)state;
	run("dlq discard --group 1 --job shop");
	press("5 Enter y Esc");
	assert_string_equal(heard, "");
	assert_string_equal(said(), "nothing done");
}

/* Typed ahead of what could not be read yet: nothing of it counts. */
static void keys_before_the_first_draw_are_dropped(void **state)
{
	(void)state;
	console_run(console, "dlq discard --group 1 --job shop");
	press_blind("5 Enter y Enter");
	assert_non_null(console->box.ops);
	settle();
	press("Enter");
	assert_shown("that is not it");
	assert_string_equal(heard, "");
}

static void a_resize_keeps_what_is_typed(void **state)
{
	(void)state;
	run("dlq discard --group 1 --job shop");
	press("5 Enter o k");
	canvas_free(console->canvas);
	console->canvas = canvas_new(16, 60);
	settle();
	assert_shown("ok");
	canvas_free(console->canvas);
	console->canvas = canvas_new(4, 30); /* too small for a box: it waits */
	settle();
	canvas_free(console->canvas);
	console->canvas = canvas_new(30, 100);
	settle();
	press("Enter");
	assert_string_equal(heard, "dlq_discard {\"confirm\":5,\"group\":1,\"job\":\"shop\",\"why\":\"ok\"}\n");
}

static void marked_groups_ask_for_the_sum_and_confirm_each(void **state)
{
	(void)state;
	run("dead-letters");
	press("* a");
	assert_shown("acts on 2 marked");
	press("X");
	assert_shown("discard 8 dead letters");
	press("8 Enter s u m Enter");
	assert_string_equal(heard, "dlq_discard {\"confirm\":5,\"group\":1,\"job\":\"shop\",\"why\":\"sum\"}\n"
	                           "dlq_discard {\"confirm\":3,\"group\":2,\"job\":\"shop\",\"why\":\"sum\"}\n");
}

/*
 * Lines of its own.
 */
static void a_line_is_checked_against_its_table(void **state)
{
	(void)state;
	run("range 2h");
	assert_string_equal(said(), "usage: range 10m|1h|24h");
	run("range 1");
	assert_string_equal(said(), "usage: range 10m|1h|24h");
	run("mouse");
	assert_string_equal(said(), "usage: mouse on|off");
	run("theme");
	assert_string_equal(said(), "usage: theme THEME");
	run("q now");
	assert_string_equal(said(), "usage: q");
	assert_false(console->is_ending);
	run("range 24h");
	assert_int_equal(console_range_s(console), 86400);
	run("range 10m");
	assert_int_equal(console_range_s(console), 600);
	run("quit");
	assert_true(console->is_ending);
}

static void a_theme_that_cannot_be_read_changes_nothing(void **state)
{
	(void)state;
	run("theme light");
	assert_string_equal(said(), "theme light");
	const struct theme *light = console->theme;
	run("theme no-such");
	assert_non_null(strstr(said(), "cannot read theme"));
	assert_ptr_equal(console->theme, light);
}

static void keys_are_those_of_the_screen(void **state)
{
	(void)state;
	run("tables");
	run("keys");
	assert_string_equal(console_view(console)->ops->name, "help");
	assert_string_equal(console_view(console)->argument, "tables");
}

static void the_wheel_scrolls_and_a_click_selects(void **state)
{
	(void)state;
	run("tables");
	assert_string_equal(selected_table(), "shop.a");
	click(MOUSE_CLICK, row_of("shop.c"));
	assert_string_equal(selected_table(), "shop.c");
	click(MOUSE_CLICK, 0);
	assert_string_equal(selected_table(), "shop.c");
	click(MOUSE_WHEEL_UP, 5);
	assert_string_equal(selected_table(), "shop.a");
	click(MOUSE_WHEEL_DOWN, 5);
	assert_string_equal(selected_table(), "shop.d");
}

static void what_was_copied_is_shown_bare(void **state)
{
	OWNED(text) screen = text_new(1u << 20);

	(void)state;
	run("copy");
	assert_non_null(strstr(said(), "nothing was copied yet"));
	console->copied = memory_zalloc(400);
	memset(console->copied, 'x', 250);
	memcpy(console->copied + 250, "\nend\033[2J", 8);
	run("copy");
	canvas_text(console->canvas, screen);
	assert_int_equal(strspn(screen->at, "x"), 100);
	assert_int_equal(strspn(screen->at + 202, "x"), 50);
	assert_null(strchr(screen->at, '\033'));
	assert_shown("any key goes back");
	press("j");
	assert_true(row_of("any key goes back") < 0);
	assert_shown("weir");
}

/* 10,000 frames: what is asked and drawn again and again does not add up (leaks are the sanitizer's to find). */
static void many_frames_ask_no_more_than_one(void **state)
{
	size_t sessions = fake.count;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		console->now_ms += 1;
		frame_draw(console);
		model_step(console->model, console->now_ms);
		serve();
	}
	assert_int_equal(fake.count, sessions);
	assert_false(console_is_blind(console));
}

#define WITH_CONSOLE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CONSOLE(p_says_what_it_did_and_the_way_back),
		WITH_CONSOLE(a_note_after_an_act_is_about_it),
		WITH_CONSOLE(what_the_engine_refuses_is_said),
		WITH_CONSOLE(marked_rows_are_asked_once_with_their_count),
		WITH_CONSOLE(esc_leaves_them_all_alone),
		WITH_CONSOLE(a_filter_is_never_called_all),
		WITH_CONSOLE(how_many_failed_is_said),
		WITH_CONSOLE(marks_that_are_gone_are_told),
		WITH_CONSOLE(no_row_no_menu),
		WITH_CONSOLE(only_the_exact_count_acts),
		WITH_CONSOLE(esc_discards_nothing),
		WITH_CONSOLE(keys_before_the_first_draw_are_dropped),
		WITH_CONSOLE(a_resize_keeps_what_is_typed),
		WITH_CONSOLE(marked_groups_ask_for_the_sum_and_confirm_each),
		WITH_CONSOLE(a_line_is_checked_against_its_table),
		WITH_CONSOLE(a_theme_that_cannot_be_read_changes_nothing),
		WITH_CONSOLE(keys_are_those_of_the_screen),
		WITH_CONSOLE(the_wheel_scrolls_and_a_click_selects),
		WITH_CONSOLE(what_was_copied_is_shown_bare),
		WITH_CONSOLE(many_frames_ask_no_more_than_one),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	cells_set_utf8(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
