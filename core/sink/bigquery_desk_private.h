/*
 * The desk's inside: what it knows of a table, and the steps that bring a table to
 * the wanted shape. All of it is under the desk's lock, except what only the desk's
 * thread touches.
 */
#ifndef WEIR_SINK_BIGQUERY_DESK_PRIVATE_H
#define WEIR_SINK_BIGQUERY_DESK_PRIVATE_H

#include "google/wait.h"
#include "sink/bigquery_table_private.h"

#include <pthread.h>

#define DESK_TRY_MS 30000        /* one call */
#define DESK_FIRST_WAIT_MS 250   /* between tries; a repair is noticed within DESK_MOST_WAIT_MS */
#define DESK_MOST_WAIT_MS 8000
#define SETTLE_FIRST_MS 50       /* between looks at the write path */
#define SETTLE_MOST_MS 2000
#define SETTLE_LONGEST_MS 600000 /* after that rows are sent; what the write path says to them decides */

/* A row of steps[] in bigquery_desk_steps.c. STEP_NONE: nothing to do. */
enum desk_step { STEP_NONE, STEP_GET, STEP_CREATE, STEP_PATCH, STEP_SETTLE, DESK_STEPS };

struct desk_table {
	/* under the lock */
	char *dataset, *name;
	struct arena *wanted_in;
	const struct table_shape *wanted; /* NULL: nothing is wanted yet */
	enum desk_step step;
	int64_t due_ms;                   /* of the step, if no call is under way */
	bool is_doubted;                  /* asked to look again, maybe while a call is under way */
	bool is_daily;                    /* made with daily partitions, where the job says nothing of them */
	bool is_expected;                 /* it must be there: rows of ours are in it */
	struct table_view view;

	json_t *fields;                   /* as last read; NULL: none */

	/* of the desk's thread */
	struct rest_call *call;
	struct grpc_call *look;           /* at the write path */
	uint64_t token;
	char etag[128];
	int64_t made_ms;                  /* its creationTime; 0: not known */
	int64_t trouble_ms;               /* since when it fails for what passes (clock_mono_ms); 0: it does not */
	unsigned looks;                   /* answers one after the other that were overtaken by somebody else */
	int64_t settles_ms;               /* since when we ask the write path (clock_mono_ms); 0: we do not */
	struct backoff backoff, settling;
	struct limiter updates;
};

struct table_desk {
	struct google *google;
	char *project;
	const struct job_options *options;
	bool asks_write_path;
	void (*on_change)(void *context, size_t table);
	void *context;

	pthread_mutex_t lock;
	pthread_cond_t news;
	uint64_t changes;                 /* of states, so far */
	struct desk_table **tables;
	size_t count, room;
	bool is_closing;
	pthread_t thread;

	struct rest_client *client;
	struct limiter limits[QUOTAS];    /* of the project */
};

/* The table's state is another one, or its error: tells who waits. Under the lock. */
void desk_state(struct table_desk *desk, struct desk_table *table, enum table_state state, const struct error *error,
                int64_t next_ms);
/* Begins the step if nothing is under way and it is due; false: it waits, see due_ms. Under the lock, which is given up
 * meanwhile. */
void desk_begin(struct table_desk *desk, size_t number);
/* An answer has come. Under the lock. */
void desk_answer(struct table_desk *desk, struct desk_table *table, const struct rest_answer *answer, bool is_fine, bool is_again,
                 const struct error *error);
/* Next step, now. */
void desk_step(struct desk_table *table, enum desk_step step, int64_t due_ms);
/* The step failed: what that means for the table (bigquery_desk_fates.c), and when it is tried again. */
void desk_failed(struct table_desk *desk, struct desk_table *table, const struct rest_answer *answer, const struct error *error);
/* What the table has beside what is wanted: the next step, or none. */
void desk_compare(struct table_desk *desk, struct desk_table *table);

/* The body of the call that makes the table, or gives it columns (bigquery_table_json.c). The caller's reference. */
json_t *table_json(const struct table_desk *desk, const struct desk_table *table);
json_t *table_patch_json(json_t *merged);

/* The write path (bigquery_settle.c): asks what it knows of the table; desk->client is woken when it has answered. */
void settle_begin(struct table_desk *desk, struct desk_table *table);
void settle_look(struct table_desk *desk, struct desk_table *table);

#endif
