/*
 * The ledger of a running job in one line of the terminal, drawn again and again
 * in its place. Only for a person who watches `weir run`.
 */
#ifndef WEIR_ENGINE_LIVE_LINE_PRIVATE_H
#define WEIR_ENGINE_LIVE_LINE_PRIVATE_H

#include "pipeline/progress.h"

#include <pthread.h>

struct live_line {
	pthread_mutex_t lock; /* notes come from the job's threads, the line from its watcher */
	bool is_shown;        /* the cursor stands in it */
	bool has_colour;
	bool is_changed;      /* since it was drawn */
	int64_t drawn_ms;
	int columns;          /* that it may take */
	char last[256];
	size_t state_at;      /* where the state begins, which has the colour */
};

/* Columns of the terminal behind a descriptor, or PAGE_ENDLESS. */
size_t terminal_columns(int fd);
/* Clean lines on standard error, each folded to the terminal. */
void terminal_say(const char *lines);

/* False: standard error is no terminal, and there is nothing to show. */
bool live_line_open(struct live_line *line);
/* Draws at most some times a second, and only what has changed. */
void live_line_show(struct live_line *line, const char *job_name, const struct progress_view *view);
/* A sentence of its own above the line. */
void live_line_note(struct live_line *line, const char *sentence);
/* Draws the last state that was held back and leaves the line where it is. */
void live_line_end(struct live_line *line);

#endif
