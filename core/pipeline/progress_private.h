/* Inside of what a job shows, shared by the files progress*.c. */
#ifndef WEIR_PIPELINE_PROGRESS_PRIVATE_H
#define WEIR_PIPELINE_PROGRESS_PRIVATE_H

#include "pipeline/progress.h"

#include <pthread.h>
#include <stdatomic.h>

#define WAITING_ROOM 16

/* Changes that were committed at one time (about: two are put together when there is no room) and wait for the merge. */
struct waiting {
	int64_t committed_us;
	uint64_t changes;
};

struct shown_table {
	char *name;
	struct table_progress view;
	struct waiting waiting[WAITING_ROOM]; /* oldest first */
	size_t waiting_count;
	bool is_exact;                        /* what waits is counted: a merge has once brought all of it */
};

#define NO_TABLE SIZE_MAX          /* a batch has many */
#define UNNAMED_TABLE (SIZE_MAX - 1) /* "-", whatever number it has by now */

/* What of a latency is young. */
struct recent_half {
	struct histogram histogram;
	size_t table;                         /* whose the longest is */
};
struct recent {
	struct recent_half young, old;
	int64_t young_since_ms;               /* 0: nothing yet */
};

/* A state with its reason, of the job or of one of its threads. */
struct word {
	enum job_state state;
	char code[40];
	char sentence[512];
	int64_t since_us, until_us;
};

struct progress {
	atomic_int holders;
	pthread_mutex_t lock;
	struct progress_view view;            /* its state is made from the words below */
	struct word own, waits[JOB_THREADS];  /* a wait's state is STATE_OK while there is none */
	bool is_resting;
	pthread_mutex_t source_lock;          /* of `source`, so that it lives while it is looked at */
	struct source *source;
	struct sink_figures figures;          /* atomic: under no lock */
	struct letters_view letters[LETTERS_WAYS];
	int64_t idle_ms;                      /* when the source had nothing to read */
	struct activity_view activities[JOB_THREADS];
	struct histogram latencies[LATENCIES];
	struct recent recent[LATENCIES];
	struct shown_table *tables;           /* table_count, and "-" */
	size_t table_count;
	char **old_names;                     /* of tables that have another now */
	size_t old_name_count;
};

/* progress_latency.c; the second gives whose the longest is. */
void recent_add(struct recent *recent, int64_t now_ms, size_t table, int64_t took_us, uint64_t weight);
size_t recent_look(const struct recent *recent, struct histogram *out);
void latency_add_locked(struct progress *progress, enum latency which, size_t table, int64_t took_us, uint64_t weight);

/* progress_state.c */
void words_begin_locked(struct progress *progress);

/* progress_table.c */
void tables_begin_locked(struct progress *progress);
void tables_free(struct progress *progress);
void tables_committed_locked(struct progress *progress, const struct ledger *added, size_t count);
void measured_locked(struct progress *progress, const struct batch_times *times, const struct ledger *added);

#endif
