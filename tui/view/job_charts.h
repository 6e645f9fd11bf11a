/* The charts of a job: messages a second in and out, lag by leg (job_legs.c), batch latency. */
#ifndef WEIR_TUI_VIEW_JOB_CHARTS_H
#define WEIR_TUI_VIEW_JOB_CHARTS_H

#include "view/series.h"

#define CHART_LABEL_COLS 9

/* Draws what fits, the most telling first; gives the rows taken. A job that never ran has no chart: 0. `parameters` as the
 * job's file has them. */
int job_charts_draw(struct console *console, const json_t *job, const json_t *parameters, struct area area);

/* Percentiles of each leg, how it was, and which table makes it slow: six rows. */
void job_legs_draw(struct console *console, const json_t *job, const json_t *parameters, const struct series *series,
                   struct area area);

#endif
