/*
 * A replay: letters of one group go through the job's own pipeline. Who asks for
 * it, the reader that fetches the letters and the writer that decides about them
 * meet at a desk, one a job; it outlives the pipelines that the job opens.
 */
#ifndef WEIR_PIPELINE_REPLAY_H
#define WEIR_PIPELINE_REPLAY_H

#include "dlq/dlq.h"
#include "pipeline/pipeline.h"

enum replay_phase {
	REPLAY_NONE,
	REPLAY_ASKED, /* nobody has begun it */
	REPLAY_RUNS,  /* its letters are claimed */
	REPLAY_ENDED, /* to be taken off the desk by who asked */
};

struct replay_wish {
	int64_t group, rate; /* messages a second, 0: as fast as it goes */
	unsigned states;     /* of dlq_replay */
	char who[256];
};

struct replay_view {
	enum replay_phase phase;
	struct replay_wish wish;
	struct dlq_replay run;  /* numbers as of the last commit */
	bool should_stop;
	struct error failure;   /* of an ended one; kind NONE: none */
};

struct replay_desk;

struct replay_desk *replay_desk_new(void);
void replay_desk_free(struct replay_desk *desk);
void replay_desk_look(struct replay_desk *desk, struct replay_view *out); /* a NULL desk holds nothing */

/* Who asks: ask, wait until it has ended (the desk is free then), maybe stop or give up before that. */
bool replay_desk_ask(struct replay_desk *desk, const struct replay_wish *wish, struct error *err); /* `replay_running` */
bool replay_desk_wait(struct replay_desk *desk, int64_t wait_ms, struct replay_view *out);
void replay_desk_stop(struct replay_desk *desk);
/* The job has ended without a word: gives the desk free; *out says how far it was. */
void replay_desk_leave(struct replay_desk *desk, struct replay_view *out);

/* The job's threads. */
void replay_desk_begun(struct replay_desk *desk, const struct dlq_replay *run);
void replay_desk_count(struct replay_desk *desk, const uint64_t outcomes[LETTER_OUTCOMES]);
void replay_desk_fail(struct replay_desk *desk, const struct error *failure); /* it will end with this */
void replay_desk_end(struct replay_desk *desk, const struct dlq_replay *run, const struct error *failure);

/*
 * The reader's half.
 */

/* Claims the letters of the wish. `store`: the job's, opened for this alone. */
bool replay_claim(const char *store, const struct replay_wish *wish, struct dlq_replay *out, struct error *err);
/* Fills an empty batch with at most `limit` letters; at the end of them the batch says so (ends_replay). */
bool pipeline_fill_letters(struct pipeline *pipeline, struct source *letters, struct batch *batch, size_t limit,
                           struct error *err);

/*
 * The writer's half.
 */

/*
 * Writes rows and commits them with the position as it stands and no counters: a replay never moves the source, nor the
 * first ledger. Then moves the letters' states. A kill between the two frees the letters at the next start, and their
 * next replay finds the rows there. False: may be called again with the same batch.
 */
bool pipeline_write_replay(struct pipeline *pipeline, struct batch *batch, struct replay_desk *desk, struct error *err);
/* The job ends while a replay runs: what is left is freed. `failure` may be NULL. */
void pipeline_end_replay(struct pipeline *pipeline, struct replay_desk *desk, const struct error *failure);

#endif
