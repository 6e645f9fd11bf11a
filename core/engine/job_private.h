/* Shared by the rooms of jobs: their thread, beginning and end, and looking at them. */
#ifndef WEIR_ENGINE_JOB_PRIVATE_H
#define WEIR_ENGINE_JOB_PRIVATE_H

#include "engine/engine.h"

/* Under engine->lock. */
struct job *job_find_locked(struct engine *engine, const char *name);
/* Does it run for a replay alone, and nobody has started it since? */
bool job_only_replays_locked(const struct job *job);

/* The thread of a job (job_run.c); `context` is the job. */
void *job_main(void *context);

/* The name is given back in one step with whatever else is done under engine->lock. */
void job_give_name_locked(struct engine *engine, const char *name);

/* What the job's store has kept of its state. */
void job_kept_standing(const struct home *home, const char *name, struct job_standing *out);

#endif
