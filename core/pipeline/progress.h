/*
 * What a running job shows to others: its state in words and its ledger, as of
 * the last commit. The job's threads write it, anybody reads copies.
 */
#ifndef WEIR_PIPELINE_PROGRESS_H
#define WEIR_PIPELINE_PROGRESS_H

#include "base/error.h"
#include "record/batch.h"

struct progress;

/* Worst first; the words are those of the contract (progress_state_name). */
enum job_state {
	STATE_NEEDS_YOU,
	STATE_RETRYING,
	STATE_WAITING,
	STATE_CATCHING_UP,
	STATE_PAUSED,
	STATE_DRAINING,
	STATE_OK,
	STATE_STOPPED,
	JOB_STATES
};

struct progress_view {
	enum job_state state;
	char code[40];          /* why, or "" */
	char sentence[512];
	struct ledger total;    /* since the job was made or --from-start */
	struct ledger this_run;
	uint64_t in_flight;     /* messages taken from the source and not yet committed */
	uint64_t bytes;         /* of message bodies, this run */
};

struct progress *progress_new(void);
void progress_free(struct progress *progress);

const char *progress_state_name(enum job_state state);

void progress_set_state(struct progress *progress, enum job_state state, const char *code, const char *sentence);
void progress_begin(struct progress *progress); /* nothing is in flight: a run begins, maybe again */
void progress_set_total(struct progress *progress, const struct ledger *total);
void progress_taken(struct progress *progress, uint64_t messages, uint64_t bytes);
void progress_committed(struct progress *progress, const struct ledger *added);
void progress_look(struct progress *progress, struct progress_view *out);

#endif
