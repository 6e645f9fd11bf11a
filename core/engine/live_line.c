/* The live ledger line: 79 columns of ASCII, so that it fits any terminal and any locale. */
#include "engine/live_line_private.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

bool live_line_open(struct live_line *line)
{
	*line = (struct live_line){ .has_colour = wants_colour() };
	pthread_mutex_init(&line->lock, NULL);
	return isatty(STDERR_FILENO) == 1;
}

/* Gives where the state begins. */
static size_t live_line_text(const char *job_name, const struct progress_view *view, char *out, size_t room)
{
	const struct ledger *total = &view->total;
	int len = snprintf(out, room,
	                   "%.*s: received %" PRIu64 "  written %" PRIu64 "  filtered %" PRIu64 "  letters %" PRIu64 "  ",
	                   NAME_COLUMNS, job_name, total->received + view->in_flight, total->written, total->filtered,
	                   total->dead_lettered);
	size_t state_at = len < COLUMNS ? (size_t)len : COLUMNS;

	snprintf(out + state_at, room - state_at, "%s", progress_state_name(view->state));
	return state_at;
}

/* Blanks at the end wipe what a longer line has left. */
static void live_line_draw_locked(struct live_line *line)
{
	int before = (int)line->state_at, rest = COLUMNS - before;
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
	size_t state_at = live_line_text(job_name, view, now, sizeof(now));
	int64_t now_ms = clock_mono_ms();

	pthread_mutex_lock(&line->lock);
	if (strcmp(now, line->last) != 0) {
		snprintf(line->last, sizeof(line->last), "%s", now);
		line->state_at = state_at;
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
	pthread_mutex_lock(&line->lock);
	live_line_leave_locked(line);
	fprintf(stderr, "weir: %s\n", sentence);
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
