/* Shared by the rooms of the runner. */
#ifndef WEIR_RUNNER_RUNNER_PRIVATE_H
#define WEIR_RUNNER_RUNNER_PRIVATE_H

#include "pipeline/pipeline.h"
#include "pipeline/replay.h"
#include "runner/runner.h"

#include <pthread.h>
#include <stdatomic.h>

struct mailbox;

/* Patience (patience.c), one for each piece of work. */
struct patience {
	const struct run_setup *setup;
	enum job_thread thread;     /* whose word says it */
	int64_t wait_ms;            /* 0: nothing is waited for */
};

/* A job that runs: what its threads share. Batches go round between the two mailboxes; the rest is one thread's each. */
struct local {
	const struct run_setup *setup;
	struct pipeline *pipeline;
	struct source *source;      /* while the job rests; else the pipeline has it */
	struct mailbox *empty, *filled;
	struct merge_thread *merge;
	int64_t posted_ms;          /* the writer's: when letters were sent last */
	uint64_t told_lost;         /* the merger's, and kept while the job rests */
	pthread_t reader;
	struct letters *letters;    /* the reader's */
	struct patience patience;   /* the reader's, with its source */
	int64_t idle_wait_ms;       /* the reader's: of the next pull */
	int64_t idle_since_ms;      /* the reader's: nothing was read since; 0: something was */
	int64_t rest_after_ms;      /* so long idle, the job rests */
	struct error trouble;       /* the reader's: of the source, as it was told last; kind NONE: none */
	bool trouble_passes;
	atomic_bool has_trouble;    /* tables of the sink: the job does not rest */
	atomic_bool wants_back;     /* what was parked of some may come back: the reader clears the way (reader.c) */
	bool source_has_ended;      /* the reader's; letters may still be read */
	struct error reader_error;  /* these three are read after the reader has ended */
	bool reader_failed;
	bool rests;                 /* it has ended because there is nothing to do */
	bool has_left;              /* the writer's: a batch was left out */
};

/*
 * The reader (reader.c) and the writer (writer.c).
 */
void *reader_main(void *local);
/* A batch that comes back was committed: now its source may be told. */
void reader_confirm(struct pipeline *pipeline, struct batch *batch);
bool writer_unpark(struct local *local, struct error *err);
/* Writes until the reader has ended. */
bool writer_run(struct local *local, struct error *err);

/* `no_threads` */
bool run_make_thread(const struct run_setup *setup, pthread_t *out, void *(*body)(void *), void *context,
                     struct error *err);

/*
 * The merger (merge.c) opens (merge_open.c).
 */
struct merge_opening {
	const struct run_setup *setup;
	struct arena *arena;        /* as long as the merger */
	uint64_t *told_lost;        /* of which lost replicas the journal has been told; lent, and kept up to date */
};
struct dlq;
struct merger;
struct sink_setup;
/* With a connection of its own to the job's store, *out_dlq. NULL: it does not pass; or, without an error, the wish is to leave. */
struct merger *merge_open(const struct merge_opening *opening, struct sink_setup *setup, struct dlq **out_dlq,
                          struct error *err);

/*
 * Wishes and rest (rest.c).
 */
bool run_should_end(const struct run_setup *setup);
/* Even a wait for the disk is cut short: what is not written is read again. */
bool run_should_leave(const struct run_setup *setup);
/* May this source be left alone, and be looked at from outside? */
bool source_may_rest(struct source *source);
/* Sleeps until the source has news, something is wished, or a replay is asked for. */
void run_rest(const struct run_setup *setup, struct source *source);
bool run_is_asked_to_replay(const struct run_setup *setup);

/*
 * What a job says, and patience (patience.c).
 */
void run_say(const struct run_setup *setup, enum job_state state, const char *code, const char *sentence);
void run_tell(const struct run_setup *setup);
/* A wait that is nobody's sleep: part of the thread's work does not go on. */
void run_tell_wait(const struct run_setup *setup, enum job_thread thread, const struct error *failure);
/* Sleeps before the next try, shorter if the wish is to leave. False: this failure does not pass. */
bool patience_wait(struct patience *patience, const struct error *failure);
/* It worked. */
void patience_over(struct patience *patience);

/*
 * The reader's other source (letters.c): what a replay has claimed. All of it is the reader's.
 */
struct letters;

struct letters *letters_new(const struct run_setup *setup, struct pipeline *pipeline);
void letters_free(struct letters *letters);
bool letters_are_open(const struct letters *letters);
bool letters_have_ended(const struct letters *letters);
/* May the next batch be one of letters? Looks at the desk, and claims what is asked for there. */
bool letters_have_turn(struct letters *letters, bool source_has_more);
/* Until when the job's own source may be waited for. */
int64_t letters_wait_until_ms(const struct letters *letters, int64_t until_ms);
void letters_fill(struct letters *letters, struct batch *batch);

/*
 * Dead letters to a topic and to a table of BigQuery (letters_out.c), for as long as the job runs; NULL where it has neither.
 * At its end what came last is sent, if there is an answer.
 */
struct letters_out;

bool letters_out_start(const struct run_setup *setup, struct letters_out **out_thread, struct error *err);
void letters_out_end(struct letters_out *out);

/*
 * The merger's thread. A job without a replica has one that does nothing.
 */
struct merge_thread;

/* NULL: `no_threads`. Nothing is opened before it begins. */
struct merge_thread *merge_thread_start(const struct run_setup *setup, uint64_t *told_lost, struct error *err);
void merge_thread_begin(struct merge_thread *merge);
void merge_thread_wake(struct merge_thread *merge, uint64_t new_changes);
/* Has the source more than was taken? Then a merge may wait for it. */
void merge_thread_source(struct merge_thread *merge, bool has_more);
/* All is merged that was committed, or nothing will be any more. */
bool merge_thread_rests(struct merge_thread *merge);
bool merge_thread_failed(struct merge_thread *merge, struct error *out_err);
/* Merges all that waits (unless the wish is to leave), ends the thread, frees. `err` may be NULL. */
bool merge_thread_finish(struct merge_thread *merge, struct error *err);

#endif
