/* The upper part of a job's screen, and its page of facts. */
#ifndef WEIR_TUI_VIEW_JOB_HEAD_H
#define WEIR_TUI_VIEW_JOB_HEAD_H

#include "view/view.h"

/* Its rows: two, and one more of a source or destination that is a service. */
int job_head_rows(const json_t *job);
/* Where from, where to, since when; what is in flight. `parameters` as the job's file has them, NULL: not known. */
void job_head_draw(struct view *view, const json_t *job, const json_t *parameters, struct area area);
/* A job whose own thread is in trouble says so whole: no red thing without a sentence. Gives the rows taken. */
int job_trouble_draw(const json_t *job, struct area area);
/* Where dead letters go beside the job's store, a row each, and what keeps them from getting there. Gives the rows taken. */
int job_letters_draw(const struct console *console, const json_t *job, struct area area);
/* Parameters as they were given, and what each thread does. */
void job_facts_draw(const json_t *job, const json_t *parameters, struct area area);

#endif
