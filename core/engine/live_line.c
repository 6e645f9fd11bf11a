/* The live ledger line: ASCII within 79 columns, less where the terminal has less, so that it fits any terminal and any locale. */
#include "engine/live_line_private.h"

#include "base/clean.h"
#include "base/clock.h"
#include "base/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_MS 200
#define COLUMNS 79
#define NAME_COLUMNS 16

/* NO_COLOR counts when it is not empty (no-color.org). */
static bool wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return !(no_colour && *no_colour) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

size_t terminal_columns(int fd)
{
	struct winsize size;

	return isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : PAGE_ENDLESS;
}

void terminal_say(const char *lines)
{
	size_t page = terminal_columns(STDERR_FILENO);

	while (*lines) {
		size_t len = strcspn(lines, "\n");
		OWNED(text) line = text_new(65536);
		OWNED(text) folded = text_new(131072);

		text_add_span(line, span_make(lines, len));
		page_fold(folded, line->at, page, 0, 0);
		fprintf(stderr, "%s\n", folded->at);
		lines += len + (lines[len] == '\n');
	}
}

bool live_line_open(struct live_line *line)
{
	*line = (struct live_line){ .has_colour = wants_colour() };
	pthread_mutex_init(&line->lock, NULL);
	return isatty(STDERR_FILENO) == 1;
}

/* The least wanted number goes first where there is no room: `count` of them stay. Gives where the state begins. */
static int numbers_text(const char *job_name, const struct progress_view *view, int count, char *out, size_t room)
{
	const struct ledger *total = &view->total;
	const struct {
		const char *name;
		uint64_t number;
		int rank;
	} pieces[] = {
		{ "received", total->received + view->in_flight, 3 },
		{ "written", total->written, 2 },
		{ "filtered", total->filtered, 4 },
		{ "letters", total->dead_lettered, 1 },
	};
	int len = snprintf(out, room, "%.*s: ", NAME_COLUMNS, job_name);

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		if (pieces[i].rank <= count)
			len += snprintf(out + len, room - (size_t)len, "%s %" PRIu64 "  ", pieces[i].name, pieces[i].number);
	}
	return len;
}

#define NUMBERS 4

static size_t live_line_text(const char *job_name, const struct progress_view *view, int columns, char *out, size_t room)
{
	const char *state = progress_state_name(view->state);
	int count = NUMBERS, len;

	while ((len = numbers_text(job_name, view, count, out, room)) + (int)strlen(state) > columns && count > 0)
		count--;
	snprintf(out + len, room - (size_t)len, "%s", state);
	return (size_t)len;
}

/* Blanks at the end wipe what a longer line has left. */
static void live_line_draw_locked(struct live_line *line)
{
	int before = (int)line->state_at, rest = line->columns > before ? line->columns - before : 0;
	const char *state = line->last + before;
	const char *colour = strcmp(state, progress_state_name(STATE_OK)) == 0 ? "\033[32m" : "\033[33m";

	fprintf(stderr, "\r%.*s%s%-*.*s%s", before, line->last, line->has_colour ? colour : "", rest, rest, state,
	        line->has_colour ? "\033[0m" : "");
	fflush(stderr);
	line->is_shown = true;
	line->is_changed = false;
}

void live_line_show(struct live_line *line, const char *job_name, const struct progress_view *view)
{
	char now[sizeof(line->last)];
	size_t page = terminal_columns(STDERR_FILENO);
	/* The last column stays free: some terminals go to the next line behind it. */
	int columns = page > COLUMNS ? COLUMNS : (int)page - 1;
	size_t state_at = live_line_text(job_name, view, columns, now, sizeof(now));
	int64_t now_ms = clock_mono_ms();

	pthread_mutex_lock(&line->lock);
	if (strcmp(now, line->last) != 0) {
		snprintf(line->last, sizeof(line->last), "%s", now);
		line->state_at = state_at;
		line->columns = columns;
		line->is_changed = true;
	}
	if (line->is_changed && now_ms - line->drawn_ms >= REDRAW_MS) {
		line->drawn_ms = now_ms;
		live_line_draw_locked(line);
	}
	pthread_mutex_unlock(&line->lock);
}

static void live_line_leave_locked(struct live_line *line)
{
	if (line->is_shown)
		fputc('\n', stderr);
	line->is_shown = false;
}

void live_line_note(struct live_line *line, const char *sentence)
{
	OWNED(text) words = text_new(8192);

	text_add(words, "weir: ");
	clean_text(words, span_of(sentence));
	pthread_mutex_lock(&line->lock);
	live_line_leave_locked(line);
	terminal_say(words->at);
	pthread_mutex_unlock(&line->lock);
}

void live_line_end(struct live_line *line)
{
	pthread_mutex_lock(&line->lock);
	if (line->is_changed)
		live_line_draw_locked(line);
	live_line_leave_locked(line);
	pthread_mutex_unlock(&line->lock);
}
