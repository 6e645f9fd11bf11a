/* Inside of what a job shows, shared by progress.c and progress_table.c. */
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

struct progress {
	atomic_int holders;
	pthread_mutex_t lock;
	struct progress_view view;
	int64_t idle_ms;                      /* when the source had nothing to read */
	struct activity_view activities[JOB_THREADS];
	struct histogram latencies[LATENCIES];
	struct shown_table *tables;           /* table_count, and "-" */
	size_t table_count;
};

/* progress_table.c */
void tables_begin_locked(struct progress *progress);
void tables_free(struct progress *progress);

#endif
