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

/* A moment in which nobody begins or deletes the job: they wait for it (job_names.c). False: it runs, or is just being
 * begun or deleted. */
bool job_look_name(struct engine *engine, const char *name, struct error *err);
void job_let_look(struct engine *engine, const char *name);

/* The job broke and was not stopped: it is looked at from time to time, and begun when the cause is gone (job_again.c).
 * `is_unread`: when the engine started its store could not tell whether it ran. Given up when somebody stops, begins or
 * deletes it. */
void job_hope(struct engine *engine, const char *name, const char *code, bool is_unread);
void job_give_up(struct engine *engine, const char *name);

/* How the store keeps the state of a job that broke and was not stopped: to others it needs somebody, the next engine goes
 * on looking at it. */
#define HOPE_WORD "needs you until it passes"
bool job_keep_standing(const struct home *home, const char *name, const struct job_standing *standing,
                       struct error *err);

/* What the job's store has kept of its state; false: it cannot be read now, out->code says why. */
bool job_kept_standing(const struct home *home, const char *name, struct job_standing *out);

#endif
