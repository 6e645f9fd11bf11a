/* Dead letters that also go elsewhere: what the thread (letters_out.c) and the ways out share. */
#ifndef WEIR_RUNNER_LETTERS_OUT_PRIVATE_H
#define WEIR_RUNNER_LETTERS_OUT_PRIVATE_H

#include "runner/runner_private.h"

#include <jansson.h>
#include <pthread.h>

#define LETTERS_TARGET_BYTES 2400 /* a table: project, dataset and a name of 1,024 bytes */

struct letters_out {
	const struct run_setup *setup;
	struct letters_out *next; /* the job's other way out; NULL */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t end;
	bool ends;                /* under the lock */
	enum letters_way way;
	const char *code;         /* of what is told, reasons.def */
	char target[LETTERS_TARGET_BYTES]; /* as people are told of it */
	/* Sends what waits; false with `failure`: what is left is tried again. */
	bool (*round)(struct letters_out *);
	struct job_paths paths;
	/* the thread's */
	uint64_t seen;            /* letters of this run when it looked last */
	bool has_looked, has_failed;
	int64_t again_ms;         /* how soon it is tried again after a failure */
	json_t *page;             /* letters as `dlq list` has them */
	int64_t told_letter;      /* the last that the target never takes, of which somebody was told */
	int64_t failed_letter;    /* the first that was not published; 0: none */
	struct error failure;
};

/* Told once a letter, for a page is read again after a failure: the target never takes this one, it stays in the store. */
void letters_out_unfit(struct letters_out *out, int64_t letter, const char *why);

/* letters_topic.c, letters_table.c */
bool letters_topic_round(struct letters_out *out);
bool letters_table_round(struct letters_out *out);

#endif
