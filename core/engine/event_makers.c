/*
 * Making events, one function a topic: the members besides event and seq, or
 * NULL: nothing to say. Rendered from memory under the engine's lock.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/event_lines_private.h"
#include "engine/metrics_private.h"
#include "engine/session_private.h"

#include <stdlib.h>

#define TABLES_AN_EVENT 500
#define LINES_BYTES_MAX (FRAME_BYTES_MAX / 2)

/* A job's state may change while the list is sorted: it is asked once. */
struct ranked_job {
	const struct job *job;
	enum job_state state;
};

static int by_state(const void *a, const void *b)
{
	const struct ranked_job *x = a, *y = b;

	return x->state != y->state ? (int)x->state - (int)y->state
	                            : strcmp(x->job->options->name, y->job->options->name);
}

static struct ranked_job *rank_jobs(const struct engine *engine, size_t *out_count)
{
	struct ranked_job *jobs = memory_alloc(sizeof(*jobs));
	size_t count = 0;

	for (const struct job *job = engine->jobs; job; job = job->next) {
		struct progress_view view;

		progress_look(job->progress, &view);
		jobs = memory_grow(jobs, (count + 1) * sizeof(*jobs));
		jobs[count++] = (struct ranked_job){ job, live_state(job, &view) };
	}
	qsort(jobs, count, sizeof(*jobs), by_state);
	*out_count = count;
	return jobs;
}

static json_t *make_jobs(struct session *session, struct subscription *sub)
{
	json_t *list = json_array();
	size_t count;
	struct ranked_job *jobs = rank_jobs(session->engine, &count);

	(void)sub;
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, live_short(jobs[i].job));
	free(jobs);
	return json_pack("{s:o}", "jobs", list);
}

static json_t *make_job(struct session *session, struct subscription *sub)
{
	const struct job *job = live_find(session->engine, sub->argument);

	return job ? json_pack("{s:o}", "job", live_full(job)) : NULL;
}

static json_t *make_dlq(struct session *session, struct subscription *sub)
{
	const struct job *job = live_find(session->engine, sub->argument);
	struct progress_view view = { .state = STATE_STOPPED };

	if (job)
		progress_look(job->progress, &view);
	return json_pack("{s:I, s:I, s:I}", "dead_lettered", (json_int_t)view.total.dead_lettered, "parked",
	                 (json_int_t)view.total.parked, "acts", (json_int_t)atomic_load(&session->engine->dlq_acts));
}

/* A job that was begun anew has new tables: all of them are sent again. */
static void follow_tables(struct subscription *sub, const struct job *job, size_t count)
{
	if (sub->seen_run != job->run_number) {
		free(sub->seen);
		sub->seen = NULL;
		sub->seen_count = 0;
		sub->seen_run = job->run_number;
	}
	if (count < sub->seen_count)
		return;
	sub->seen = memory_grow(sub->seen, (count + 1) * sizeof(*sub->seen));
	for (size_t i = sub->seen_count; i <= count; i++)
		sub->seen[i] = UINT64_MAX;
	sub->seen_count = count + 1;
}

static json_t *make_tables(struct session *session, struct subscription *sub)
{
	const struct job *job = live_find(session->engine, sub->argument);
	bool is_whole = job && sub->seen_run != job->run_number;
	int64_t now_us = clock_utc_us();
	json_t *list;
	size_t count;

	if (!job)
		return NULL;
	list = json_array();
	count = progress_table_count(job->progress);
	follow_tables(sub, job, count);
	for (size_t i = 0; i < count && json_array_size(list) < TABLES_AN_EVENT; i++) {
		struct table_progress table;

		progress_table(job->progress, i, &table);
		if (table.version == sub->seen[i])
			continue;
		sub->seen[i] = table.version;
		json_array_append_new(list, live_table(&table, now_us, false));
	}
	if (json_array_size(list) || is_whole)
		return json_pack("{s:o, s:b}", "tables", list, "whole", is_whole);
	json_decref(list);
	return NULL;
}

static json_t *make_lines(struct session *session, struct subscription *sub)
{
	struct event_reader reader = { .topic = sub->topic, .next = sub->next, .base = sub->base, .told = sub->told };
	json_t *members;

	if (sub->topic == TOPIC_logs)
		log_level_find(sub->argument, &reader.level);
	members = event_lines_read(session->engine->lines, &reader, LINES_BYTES_MAX);
	sub->next = reader.next;
	sub->told = reader.told;
	return members;
}

json_t *(*const event_makers[TOPICS])(struct session *session, struct subscription *sub) = {
	[TOPIC_jobs] = make_jobs, [TOPIC_job] = make_job,       [TOPIC_tables] = make_tables,
	[TOPIC_dlq] = make_dlq,   [TOPIC_journal] = make_lines, [TOPIC_logs] = make_lines,
};

/* Topics whose makers themselves know what is new. */
bool event_is_of_changes(enum topic_id topic)
{
	return topic == TOPIC_tables || topic == TOPIC_journal || topic == TOPIC_logs;
}
