/* What a job was: its series as JSON, from memory alone. */
#include "engine/metrics_private.h"
#include "engine/result_private.h"
#include "runner/runner.h"

#include <math.h>
#include <stdio.h>

/* Which slots of which ring, and what they hold. */
struct stretch {
	const struct ring *ring;
	int64_t first, last, kept;
	int step_s;
	enum metric_kept least;
};

/* A second in which nothing was measured has no mean. */
static json_t *value_json(enum metric_kind kind, double value)
{
	if (kind != HISTOGRAM)
		return json_real(round(value * 10) / 10);
	return value > 0 ? json_real(round(value * 1000) / 1000) : json_null();
}

static json_t *one_series(const struct stretch *stretch, enum metric_kind kind, size_t field)
{
	json_t *series = json_array();

	for (int64_t slot = stretch->first; slot <= stretch->last; slot++)
		json_array_append_new(series, value_json(kind, (double)ring_get(stretch->ring, slot, field)));
	return series;
}

static json_t *values_json(const struct stretch *stretch)
{
	json_t *values = json_object();
	size_t field = 0;

	for (int i = 0; i < METRICS; i++) {
		const struct metric *metric = &metric_table[i];
		char name[64];

		if (metric->kept < stretch->least)
			continue;
		snprintf(name, sizeof(name), "%s%s", metric->id, metric->kind == HISTOGRAM ? "_ms" : "");
		json_object_set_new(values, name, one_series(stretch, metric->kind, field++));
	}
	return values;
}

/* Only slots since the job was first seen to do something. */
static void stretch_add(json_t *list, struct stretch stretch, const char *job, const char *table)
{
	if (stretch.last - stretch.first >= stretch.kept)
		stretch.first = stretch.last - stretch.kept + 1;
	json_array_append_new(list, json_pack("{s:i, s:I, s:I, s:o, s:s, s:s*}", "step_s", stretch.step_s, "slot",
	                                      (json_int_t)stretch.last, "count",
	                                      (json_int_t)(stretch.last >= stretch.first ? stretch.last - stretch.first + 1 : 0),
	                                      "values", values_json(&stretch), "job", job, "table", table));
}

static void add_job(json_t *list, const struct job *job, const struct history_wish *wish)
{
	const struct job_metrics *m = job->metrics;
	struct stretch seconds = { &m->seconds, m->begun_second, m->second, SECONDS_KEPT, 1, OF_JOB };
	struct stretch minutes = { &m->minutes, m->begun_second / 60, m->minute - 1, MINUTES_KEPT, 60, OF_JOB };

	if (!wish->step_s || wish->step_s == seconds.step_s)
		stretch_add(list, seconds, job->options->name, NULL);
	if (!wish->step_s || wish->step_s == minutes.step_s)
		stretch_add(list, minutes, job->options->name, NULL);
}

static void add_table(json_t *list, const struct job *job, size_t index, const struct history_wish *wish)
{
	const struct job_metrics *m = job->metrics;
	const struct table_metrics *kept = &m->tables[index];
	struct stretch tens = { &kept->tens.ring, m->begun_ten, m->ten - 1, TENS_KEPT, TEN_MS / 1000, OF_TABLE };
	struct stretch minutes = { &kept->minutes.ring, m->begun_second / 60, m->minute - 1, MINUTES_KEPT, 60, OF_TABLE };
	struct table_progress table;

	progress_table(job->progress, index, &table);
	if (!kept->minutes.ring.pieces || (wish->table && !table_is_named(table.name, wish->table)))
		return;
	if (!wish->step_s || wish->step_s == tens.step_s)
		stretch_add(list, tens, job->options->name, table.name);
	if (!wish->step_s || wish->step_s == minutes.step_s)
		stretch_add(list, minutes, job->options->name, table.name);
}

json_t *live_history(const struct job *job, const struct history_wish *wish)
{
	json_t *list = json_array();

	if (!job->metrics)
		return list;
	if (!wish->table)
		add_job(list, job, wish);
	for (size_t i = 0; i < job->metrics->table_count; i++)
		add_table(list, job, i, wish);
	return list;
}
