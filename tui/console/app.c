/*
 * The console's loop: keys, the engine, signals, one frame at most each time around.
 * It owns everything that a screen needs and gives the terminal back however it ends.
 */
#include "console/app.h"
#include "base/arena.h"
#include "base/clean.h"
#include "base/clock.h"
#include "console/console_private.h"
#include "console/files.h"
#include "view/overview.h"
#include "view/totals.h"
#include "widget/chart.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES 4096
#define TICK_MS 1000
#define NOTE_BYTES 4096
#define FIRST_WAIT_MS 60 /* for the answers that the first frame shows; then it says that it waits for them */

/*
 * Frames.
 */
static void canvas_fit(struct console *console)
{
	int rows, cols;

	term_size(console->term, &rows, &cols);
	if (console->canvas && console->canvas->rows == rows && console->canvas->cols == cols)
		return;
	canvas_free(console->canvas);
	console->canvas = canvas_new(rows, cols);
}

/* A screen that says only that it waits, and is replaced as soon as it can be read, is not worth its bytes. */
static bool is_too_soon(const struct console *console)
{
	return !console->drawn_ms && console->now_ms < console->begun_ms + FIRST_WAIT_MS && !console_is_blind(console) &&
	       !model_is_answered(console->model);
}

static void draw(struct console *console)
{
	canvas_fit(console);
	frame_draw(console);
	if (!term_show(console->term, console->canvas))
		return; /* it takes nothing now: what is newer then is drawn later */
	console->box.is_drawn = console->has_box;
	console->is_dirty = false;
	console->drawn_ms = console->now_ms;
}

/* Answers a test's token when keys are handled, questions are answered and the frame is out. */
static void sync_step(struct console *console)
{
	char answer[SYNC_TOKEN_BYTES + 16];
	int len;

	if (!console->has_token)
		return;
	if (!console->sync_asked) {
		model_sync(console->model);
		console->sync_asked = true;
		return;
	}
	if (console->is_dirty || console->ahead_count || !model_is_idle(console->model))
		return;
	console->has_token = false;
	len = snprintf(answer, sizeof(answer), "\033]7717;%s\a", console->token);
	term_send(console->term, span_make(answer, (size_t)len));
}

static void reach_step(struct console *console)
{
	struct reach reach = model_reach(console->model);
	bool is_blind = console_is_blind(console);

	if (reach.is_there && reach.greeting->name[0])
		snprintf(console->name, sizeof(console->name), "%s", reach.greeting->name);

	if (is_blind && !console->was_blind)
		console->blind_ms = console->now_ms, console->blind_us = console->now_us;
	if (!is_blind && console->was_blind && model_reach(console->model).connections > 1) {
		OWNED(text) gone = text_new(64);

		duration_text(console->now_ms - console->blind_ms, gone);
		console_say(console, "engine back after %s, all numbers new", gone->at);
	}
	console->was_blind = is_blind;
}

/*
 * Input.
 */
static bool read_keys(struct console *console)
{
	char bytes[READ_BYTES];
	ssize_t n = read(term_fd(), bytes, sizeof(bytes));

	if (n > 0)
		input_feed(console->input, bytes, (size_t)n, console->now_ms);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void take_keys(struct console *console)
{
	struct key_event event;

	while (!console->is_ending && input_next(console->input, console->now_ms, &event)) {
		console->keyed_ms = console->now_ms;
		keys_take(console, &event);
	}
}

static void take_signals(struct console *console)
{
	unsigned signals = term_signals();

	if (signals & (SIGNAL_END | SIGNAL_HANGUP))
		console->is_ending = console->is_told_to_end = true;
	if (signals & SIGNAL_STOP)
		term_suspend(console->term);
	else if (signals & SIGNAL_CONTINUE)
		term_continue(console->term);
	if (signals & SIGNAL_RESIZE)
		term_resize(console->term);
	console->is_dirty |= signals & (SIGNAL_STOP | SIGNAL_CONTINUE | SIGNAL_RESIZE);
}

static int64_t sooner(int64_t wait, int64_t due_ms, int64_t now_ms)
{
	int64_t left = due_ms < 0 ? wait : due_ms > now_ms ? due_ms - now_ms : 0;

	return left < wait ? left : wait;
}

/* Until a key, the engine, a signal, or something that is due. */
static void wait_for_work(struct console *console, bool *out_has_keys)
{
	struct pollfd fds[MODEL_FDS + 2];
	int64_t model_due = model_poll(console->model, fds + 2), wait;

	/* What a frame has asked for is due since before it: the time that drawing took is not waited for again. */
	console->now_ms = clock_mono_ms();
	console->now_us = clock_utc_us();
	wait = TICK_MS - console->now_us / 1000 % TICK_MS;
	fds[0] = (struct pollfd){ .fd = term_fd(), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = term_signal_fd(), .events = POLLIN };
	wait = sooner(wait, model_due, console->now_ms);
	wait = sooner(wait, input_due_ms(console->input), console->now_ms);
	if (console->is_dirty)
		wait = sooner(wait, is_too_soon(console) ? console->begun_ms + FIRST_WAIT_MS : link_frame_ms(console), console->now_ms);
	poll(fds, MODEL_FDS + 2, (int)wait);
	*out_has_keys = fds[0].revents;
	console->now_ms = clock_mono_ms();
	console->now_us = clock_utc_us();
}

static void loop(struct console *console)
{
	int64_t second = 0;

	while (!console->is_ending) {
		bool has_keys;

		wait_for_work(console, &has_keys);
		take_signals(console);
		if (has_keys && !read_keys(console))
			return; /* the terminal is gone */
		take_keys(console);
		console->is_dirty |= model_step(console->model, console->now_ms);
		reach_step(console);
		outcomes_say(console);
		console->is_dirty |= console->now_us / 1000000 != second;
		second = console->now_us / 1000000;
		ahead_step(console);
		if (console->is_dirty && !is_too_soon(console) && (has_keys || console->has_token || console->is_arriving || console->now_ms >= link_frame_ms(console)))
			draw(console);
		sync_step(console);
	}
}

/*
 * Begin and end.
 */
/* Each is kept for :messages; the last stands in the status row. */
static void notes_say(struct console *console, const char *notes)
{
	for (; *notes; notes += strcspn(notes, "\n"), notes += *notes == '\n') {
		if (*notes != '\n')
			console_say(console, "%.*s", (int)strcspn(notes, "\n"), notes);
	}
}

static bool console_begin(struct console *console, struct error *err)
{
	struct term_wishes wishes = { .no_color = console->wishes->no_color, .ascii = console->wishes->ascii };
	OWNED(text) notes = text_new(NOTE_BYTES);

	console->theme = theme_open(console->home, console->wishes->theme, notes);
	console->keymap = keymap_open(console->home, console->wishes->keys_file, notes);
	wishes.theme = console->theme;
	console->term = term_open(&wishes, notes, err);
	if (!console->term)
		return false;
	console->now_ms = clock_mono_ms();
	console->now_us = clock_utc_us();
	console->input = input_new();
	console->prompt = prompt_new(console->home->state);
	link_settings(console);
	notes_say(console, notes->at);
	return console_go(console, "overview", "") &&
	       (!console->wishes->place || console_go(console, console->wishes->place, ""));
}

/* The console hides what was on the terminal; who leaves shall not wonder whether he has ended more than that. */
static void farewell_add(struct console *console, struct text *out)
{
	struct totals totals;

	totals_ask(console, &totals);
	text_add_format(out, "weir: the engine '%s' ", console->name);
	text_add(out, totals.is_blind ? "was not reachable; its jobs may go on" : "goes on without this console: ");
	if (!totals.is_blind)
		totals_verdict(&totals, true, out);
	text_add(out, "\nweir: 'weir' opens the console again, 'weir status' says how the jobs stand\n");
}

/* The terminal's answer to the console's question is not for the shell that reads after it. */
static void take_owed(struct console *console)
{
	struct pollfd keys = { .fd = term_fd(), .events = POLLIN };

	while (term_owes_answer(console->term, clock_mono_ms()) && !(term_signals() & (SIGNAL_END | SIGNAL_HANGUP)) &&
	       poll(&keys, 1, 50) >= 0) {
		struct key_event event;

		console->now_ms = clock_mono_ms();
		if (keys.revents && !read_keys(console))
			return;
		while (input_next(console->input, console->now_ms, &event)) {
			if (event.key.code == KEY_REPORT_)
				term_heard(console->term, event.text, console->now_ms);
		}
	}
}

static void console_end(struct console *console, bool has_begun)
{
	OWNED(text) farewell = text_new(NOTE_BYTES);

	if (has_begun && !console->is_told_to_end)
		take_owed(console);
	if (has_begun)
		farewell_add(console, farewell);
	if (console->box.ops && console->box.ops->close)
		console->box.ops->close(&console->box);
	stack_free(console);
	term_close(console->term, text_span(farewell));
	matches_clear(&console->matches);
	free(console->filter_was);
	prompt_free(console->prompt);
	input_free(console->input);
	model_free(console->model);
	keymap_free(console->keymap);
	theme_free(console->theme);
	canvas_free(console->canvas);
}

int console_run_app(const struct home *home, const struct console_wishes *wishes, struct client *client)
{
	struct console *console = memory_zalloc(sizeof(*console));
	struct error err = { 0 };
	bool has_begun;

	console->home = home;
	console->wishes = wishes;
	console->range_s = CHART_RANGE_S;
	console->model = model_new(home, wishes->is_read_only);
	console->begun_ms = clock_mono_ms();
	model_adopt(console->model, client);
	/* The engine answers while the terminal is made ready. */
	overview_foresee(console->model);
	model_step(console->model, console->begun_ms);
	has_begun = console_begin(console, &err);
	if (has_begun)
		loop(console);
	console_end(console, has_begun);
	free(console->copied);
	free(console);
	if (!has_begun) {
		char *words = error_line(&err, "weir", false);

		fputs(words, stderr);
		free(words);
		return error_policies[err.kind].exit_status;
	}
	return 0;
}
