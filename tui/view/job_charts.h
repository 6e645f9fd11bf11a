/* The charts of a job: messages a second in and out, lag by leg, batch latency. */
#ifndef WEIR_TUI_VIEW_JOB_CHARTS_H
#define WEIR_TUI_VIEW_JOB_CHARTS_H

#include "view/view.h"

/* Draws what fits, the most telling first; gives the rows taken. A job that never ran has no chart: 0. */
int job_charts_draw(struct console *console, const json_t *job, const char *name, struct area area);

#endif
