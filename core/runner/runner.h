/*
 * Who runs a job: a pipeline in threads of this process. The calling thread is
 * the writer (sink, dead letters, position); it makes a reader, and a merger
 * where the job has a replica.
 */
#ifndef WEIR_RUNNER_RUNNER_H
#define WEIR_RUNNER_RUNNER_H

#include "base/error.h"
#include "options/options.h"
#include "pipeline/progress.h"

#include <stdatomic.h>

#define RUN_BATCHES 4 /* that a job has: one being filled, one being written, two between */

struct google;
struct replay_desk;

/* What is wanted of a running job. Set from outside, by one who knows that the job runs; looked at by its threads. A
 * wish only grows stronger (run_wish_for): whoever drains does not undo a stop. */
enum run_wish {
	RUN_ON,
	RUN_AGAIN, /* end soon, to be opened anew: options or paused tables have changed */
	RUN_PAUSE, /* take no more, write and merge what was taken, end */
	RUN_DRAIN, /* the same */
	RUN_STOP,  /* end after the batch that is being written; what was read behind it is read again later */
};

/* A job that rests is woken by it, so nobody sets a wish of a running job in another way. */
void run_wish_for(atomic_int *wish, enum run_wish stronger);
/* Only if nothing else is wished. */
void run_wish_first(atomic_int *wish, enum run_wish first);
/* Will it end rather than be opened anew? */
bool run_is_ending(const atomic_int *wish);
/* A job that rests looks about: a replay lies on its desk. `wish` says which one. */
void run_wake(const atomic_int *wish);

struct run_setup {
	const struct job_options *options;
	const struct home *home;
	struct progress *progress;
	bool until_idle;            /* end when the source has no more and all is merged */
	bool from_start;
	atomic_int *wish;           /* enum run_wish */
	int64_t pace_messages_per_s; /* 0: as fast as it goes; the demo on a terminal is paced */
	/* What `progress` shows of the state may have changed: the job waits, or goes on. From any of its threads. */
	void (*on_state)(void *context);
	/* Something that happened for the first time: a group of letters, a schema change. From the writer, after its commit. */
	void (*on_event)(void *context, const char *table, const char *code, const char *sentence);
	/* A note that stands with its table for good, when it is new. From the writer, too. */
	void (*on_note)(void *context, const char *table, const char *code, const char *sentence);
	void *context;
	struct google *google;      /* credentials and clients of the job; NULL: it asks nothing of Google */
	struct replay_desk *desk;   /* where replays are asked for; NULL: never (pipeline/replay.h) */
	bool is_replay;             /* nothing but the replay on the desk: the source is not read */
	struct error *out_note;     /* filled at the end if the source has one (a last line cut off); kind NONE: none */
};

/* Runs to the end: nothing more to read, or another wish. False: the job stopped by an error (needs you); with
 * `no_threads` nothing was begun. A job that follows a file rests while that has nothing new (rest.c). */
bool run_local(const struct run_setup *setup, struct error *err);

#endif
