/*
 * What may be done to a job in which state: one table, so that every act in
 * every state has an answer, and the answer is words.
 */
#include "engine/job_acts_private.h"

#include <stddef.h>

enum job_phase job_phase(const struct job_standing *standing)
{
	if (standing->is_running)
		return standing->state == STATE_DRAINING ? PHASE_DRAINING : PHASE_RUNNING;
	if (standing->state == STATE_PAUSED)
		return PHASE_PAUSED;
	return standing->state == STATE_NEEDS_YOU ? PHASE_BROKEN : PHASE_STOPPED;
}

const struct job_answer job_answers[JOB_ACTS][JOB_PHASES] = {
	[ACT_START] = {
		[PHASE_STOPPED] = { ANSWER_BEGIN, NULL },
		[PHASE_RUNNING] = { ANSWER_NOTHING, "it runs already" },
		[PHASE_DRAINING] = { ANSWER_REFUSE, "it is draining; start it when it has stopped" },
		[PHASE_PAUSED] = { ANSWER_BEGIN, NULL },
		[PHASE_BROKEN] = { ANSWER_BEGIN, NULL },
	},
	[ACT_PAUSE] = {
		[PHASE_STOPPED] = { ANSWER_REFUSE, "it does not run" },
		[PHASE_RUNNING] = { ANSWER_END, NULL },
		[PHASE_DRAINING] = { ANSWER_REFUSE, "it is draining and will stop" },
		[PHASE_PAUSED] = { ANSWER_NOTHING, "it is paused already" },
		[PHASE_BROKEN] = { ANSWER_REFUSE, "it does not run: it needs you" },
	},
	[ACT_RESUME] = {
		[PHASE_STOPPED] = { ANSWER_REFUSE, "it is stopped, not paused; start it" },
		[PHASE_RUNNING] = { ANSWER_NOTHING, "it runs already" },
		[PHASE_DRAINING] = { ANSWER_REFUSE, "it is draining; start it when it has stopped" },
		[PHASE_PAUSED] = { ANSWER_BEGIN, NULL },
		[PHASE_BROKEN] = { ANSWER_REFUSE, "it needs you; mend the cause and start it" },
	},
	[ACT_DRAIN] = {
		[PHASE_STOPPED] = { ANSWER_NOTHING, "it is stopped already" },
		[PHASE_RUNNING] = { ANSWER_END, NULL },
		[PHASE_DRAINING] = { ANSWER_END, NULL },
		[PHASE_PAUSED] = { ANSWER_MARK, "nothing was in flight" },
		[PHASE_BROKEN] = { ANSWER_MARK, "nothing was in flight" },
	},
	[ACT_STOP] = {
		[PHASE_STOPPED] = { ANSWER_NOTHING, "it is stopped already" },
		[PHASE_RUNNING] = { ANSWER_END, NULL },
		[PHASE_DRAINING] = { ANSWER_END, NULL },
		[PHASE_PAUSED] = { ANSWER_MARK, "nothing was in flight" },
		[PHASE_BROKEN] = { ANSWER_MARK, "nothing was in flight" },
	},
};
