/* Acts on jobs: the table of job_acts.c, and who carries it out (run_jobs.c). */
#ifndef WEIR_ENGINE_JOB_ACTS_PRIVATE_H
#define WEIR_ENGINE_JOB_ACTS_PRIVATE_H

#include "engine/engine.h"

enum job_act { ACT_START, ACT_PAUSE, ACT_RESUME, ACT_DRAIN, ACT_STOP, JOB_ACTS };

/* The life of a job as acts see it; the words of decisions.md are finer. */
enum job_phase { PHASE_STOPPED, PHASE_RUNNING, PHASE_DRAINING, PHASE_PAUSED, PHASE_BROKEN, JOB_PHASES };

enum answer {
	ANSWER_BEGIN,   /* give it threads */
	ANSWER_END,     /* tell its threads to end, wait for it */
	ANSWER_MARK,    /* only its kept state changes */
	ANSWER_NOTHING, /* it is so already: fine, and said */
	ANSWER_REFUSE,  /* `wrong_state` */
};

struct job_answer {
	enum answer answer;
	const char *sentence;
};

enum job_phase job_phase(const struct job_standing *standing);
extern const struct job_answer job_answers[JOB_ACTS][JOB_PHASES];

#endif
