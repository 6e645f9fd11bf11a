/*
 * Names of jobs, and who has them: one who begins or deletes a job has its name
 * for itself; one who changes its files holds it, so that nobody deletes them
 * meanwhile (they would be made again, of a job that is gone).
 */
#include "engine/job_private.h"

#include <stdlib.h>

struct taken_name {
	struct taken_name *next;
	bool is_taken, is_deleted;
	bool is_looked_at;
	int holders;
	char name[JOB_NAME_MAX + 1];
};

static struct taken_name **find_locked(struct engine *engine, const char *name)
{
	struct taken_name **at = &engine->taken_names;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

static struct taken_name *find_or_make_locked(struct engine *engine, const char *name)
{
	struct taken_name *taken = *find_locked(engine, name);

	if (taken)
		return taken;
	taken = memory_zalloc(sizeof(*taken));
	snprintf(taken->name, sizeof(taken->name), "%s", name);
	taken->next = engine->taken_names;
	engine->taken_names = taken;
	return taken;
}

static void drop_locked(struct engine *engine, const char *name)
{
	struct taken_name **at = find_locked(engine, name);
	struct taken_name *taken = *at;

	if (!taken || taken->is_taken || taken->is_looked_at || taken->holders)
		return;
	*at = taken->next;
	free(taken);
}

static bool is_free_locked(struct engine *engine, const char *name, struct error *err)
{
	const struct taken_name *taken = *find_locked(engine, name);
	const struct job *job = job_find_locked(engine, name);

	if (job && job->is_running)
		return fail(err, ERROR_CONFIG, "job_running", "job '%s' already runs in this engine", name);
	if (taken && taken->is_deleted)
		return fail(err, ERROR_CONFIG, "wrong_state", "job '%s' is being deleted", name);
	return !taken || !taken->is_taken || fail(err, ERROR_CONFIG, "job_running", "job '%s' is being started", name);
}

/* Who holds a name does so for one transaction. */
static void wait_for_holders_locked(struct engine *engine, const char *name)
{
	for (;;) {
		const struct taken_name *taken = *find_locked(engine, name);

		if (!taken || !taken->holders)
			return;
		pthread_cond_wait(&engine->job_ended, &engine->lock);
	}
}

/* Files are opened and closed, no more. */
static void wait_for_look_locked(struct engine *engine, const char *name)
{
	for (;;) {
		const struct taken_name *taken = *find_locked(engine, name);

		if (!taken || !taken->is_looked_at)
			return;
		pthread_cond_wait(&engine->job_ended, &engine->lock);
	}
}

bool job_look_name(struct engine *engine, const char *name, struct error *err)
{
	bool is_free;

	pthread_mutex_lock(&engine->lock);
	is_free = is_free_locked(engine, name, err);
	if (is_free)
		find_or_make_locked(engine, name)->is_looked_at = true;
	pthread_mutex_unlock(&engine->lock);
	return is_free;
}

void job_let_look(struct engine *engine, const char *name)
{
	pthread_mutex_lock(&engine->lock);
	(*find_locked(engine, name))->is_looked_at = false;
	drop_locked(engine, name);
	pthread_cond_broadcast(&engine->job_ended);
	pthread_mutex_unlock(&engine->lock);
}

bool job_take_name(struct engine *engine, const char *name, bool deletes, struct error *err)
{
	bool is_free;

	pthread_mutex_lock(&engine->lock);
	wait_for_look_locked(engine, name);
	if (deletes)
		wait_for_holders_locked(engine, name);
	is_free = is_free_locked(engine, name, err);
	if (is_free) {
		struct taken_name *taken = find_or_make_locked(engine, name);

		taken->is_taken = true;
		taken->is_deleted = deletes;
	}
	pthread_mutex_unlock(&engine->lock);
	return is_free;
}

void job_give_name_locked(struct engine *engine, const char *name)
{
	struct taken_name *taken = *find_locked(engine, name);

	if (!taken)
		return;
	taken->is_taken = taken->is_deleted = false;
	drop_locked(engine, name);
}

void job_give_name(struct engine *engine, const char *name)
{
	pthread_mutex_lock(&engine->lock);
	job_give_name_locked(engine, name);
	pthread_mutex_unlock(&engine->lock);
}

bool job_hold_name(struct engine *engine, const char *name, struct error *err)
{
	struct taken_name *taken;
	bool is_deleted;

	pthread_mutex_lock(&engine->lock);
	taken = find_or_make_locked(engine, name);
	is_deleted = taken->is_deleted;
	taken->holders += !is_deleted;
	pthread_mutex_unlock(&engine->lock);
	return !is_deleted || fail(err, ERROR_CONFIG, "wrong_state", "job '%s' is being deleted", name);
}

bool job_hold_registered(struct engine *engine, const char *name, struct error *err)
{
	if (!job_hold_name(engine, name, err))
		return false;
	/* It may have been deleted before. */
	if (job_is_registered(engine->home, name, err))
		return true;
	job_let_name(engine, name);
	return false;
}

void job_let_name(struct engine *engine, const char *name)
{
	struct taken_name *taken;

	pthread_mutex_lock(&engine->lock);
	taken = *find_locked(engine, name);
	taken->holders--;
	drop_locked(engine, name);
	pthread_cond_broadcast(&engine->job_ended);
	pthread_mutex_unlock(&engine->lock);
}
