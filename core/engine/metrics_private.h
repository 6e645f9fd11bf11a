/* Metrics: the table, what a job's numbers are now, and what they were. */
#ifndef WEIR_ENGINE_METRICS_PRIVATE_H
#define WEIR_ENGINE_METRICS_PRIVATE_H

#include "engine/engine.h"
#include "engine/ring_private.h"

enum metric_kind { COUNTER, GAUGE, HISTOGRAM, METRIC_KINDS };
/* Named apart from the words of the table, which are common ones. */
enum metric_scope { SCOPE_ENGINE, SCOPE_JOB, SCOPE_TABLE };
enum metric_kept { NOT_KEPT, OF_JOB, OF_TABLE };

enum metric_id {
#define METRIC(id, name, unit, kind, scope, kept, help) METRIC_##id,
#include "engine/metrics.def"
#undef METRIC
	METRICS
};

struct metric {
	const char *id, *name, *unit, *help;
	enum metric_kind kind;
	enum metric_scope scope;
	enum metric_kept kept;
};

extern const struct metric metric_table[METRICS];
const char *metric_kind_name(enum metric_kind kind);
/* The histogram of a job behind a row of kind HISTOGRAM. */
enum latency metric_latency(enum metric_id id);

struct metric_values {
	double of[METRICS];
};

#define SECONDS_KEPT 600
#define MINUTES_KEPT 1440
#define TENS_KEPT 60
#define TEN_MS 10000

/* What a table showed when it was looked at last: its rates are of the time between two looks a second apart. */
struct table_look {
	int64_t at_us;
	uint64_t received, written, dead_lettered;
	double received_rate, written_rate, dead_lettered_rate;
};

struct table_series {
	struct metric_values last;      /* at the end of the last slot */
	struct ring ring;               /* no pieces until something flows */
};

struct table_metrics {
	struct table_look look;
	struct table_series minutes, tens; /* tens of seconds */
};

struct latency_sum {
	uint64_t count, sum_us;
};

/* Histories begin when something flows. Slots are of the clock that never jumps. */
struct job_metrics {
	int64_t sampled_us;
	int64_t second, minute;         /* slots: the second written last, the minute that is being gathered */
	int64_t begun_second;
	int64_t ten, begun_ten;         /* slots of ten seconds: the one that is being gathered, the first */
	struct metric_values last;
	struct latency_sum latencies[METRICS]; /* at the last sample; of rows of kind HISTOGRAM */
	struct metric_values in_minute; /* sums of counters, greatest of gauges and of means */
	struct ring seconds, minutes;
	struct table_metrics *tables;   /* count, and one for "-" */
	size_t table_count;
};

/* Everything below: under engine->lock. */
void metrics_of_ledger(const struct ledger *ledger, struct metric_values *out); /* the rest of *out stays */
void metrics_of_table(const struct table_progress *table, int64_t now_us, struct metric_values *out);
void metrics_of_job(struct progress *progress, int64_t now_us, struct metric_values *out);
/* Of a counter, over so many seconds up to the last sample. */
double metrics_sum(const struct job_metrics *metrics, enum metric_id id, int64_t seconds);
/* A second, the mean of the last five. */
double metrics_rate(const struct job_metrics *metrics, enum metric_id id);
/* All metrics, or those of one job (`only`), as lines of the call (metrics_send.c); takes the lock itself. */
bool metrics_send(struct call *call, const char *only, struct error *err);
/* Memory of this process that is in RAM. */
double metrics_resident_bytes(void);
/* One sample; given apart from metrics_tick for tests. */
void metrics_sample(struct job *job, int64_t now_ms, int64_t now_us);

/*
 * What a running job shows, as JSON (live.c); new references.
 */
enum job_state live_own_state(const struct job *job, const struct progress_view *view);
/* What it shows: the worst of its own and its tables' (shown.c). */
enum job_state live_state(const struct job *job, const struct progress_view *view);
json_t *live_rates(const struct job *job);
json_t *live_latencies(const struct job *job);
json_t *live_activity(const struct job *job); /* live_activity.c */
int live_requests(const struct job *job);
json_t *live_time(int64_t utc_us); /* null for none */
json_t *live_table(const struct table_progress *table, int64_t now_us, bool with_age);
/* For the topics: nothing in it changes by itself. */
/* The source's own figures (live_source.c), where it is a service. */
void live_add_source(json_t *object, const struct job *job);
/* live_letters.c: `letters_to`, where the job has such ways. */
void live_add_letters(json_t *object, const struct job *job);
/* What files do not know: the source's figures as they are live; NULL: the job does not run. */
void metrics_keep_source(const struct metric_values *live, struct metric_values *out);
void metrics_add_source(struct progress *progress, int64_t now_us, struct metric_values *out);
json_t *live_short(const struct job *job);
json_t *live_full(const struct job *job);
/* Adds "activity", "rates", "lag", ... to a line of `weir status`. */
void live_add(json_t *line, const struct job *job);
/* "lag_ms", "replica_age_ms", "rates" for each of the tables that this run has met. */
void live_add_tables(const json_t *tables, const struct job *job);
/* The same for one row of `weir tables`, when this engine knows the job. Takes engine->lock. */
void live_add_row(struct engine *engine, const char *job_name, json_t *table);
/* A step of 0: all. A table ("DATASET.TABLE"): its series alone; NULL: those of the job and of its tables. */
struct history_wish {
	int64_t step_s;
	const char *table;
};
json_t *live_history(const struct job *job, const struct history_wish *wish);
/* The job of that name, running or ended; NULL: none. engine->lock is held. */
struct job *live_find(struct engine *engine, const char *name);

#endif
