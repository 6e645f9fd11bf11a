/* Shared by the rooms of the runner. */
#ifndef WEIR_RUNNER_RUNNER_PRIVATE_H
#define WEIR_RUNNER_RUNNER_PRIVATE_H

#include "pipeline/pipeline.h"
#include "pipeline/replay.h"
#include "runner/runner.h"

bool run_should_end(const struct run_setup *setup);
/* Even a wait for the disk is cut short: what is not written is read again. */
bool run_should_leave(const struct run_setup *setup);
void run_say(const struct run_setup *setup, enum job_state state, const char *code, const char *sentence);

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
 * The merger's thread. A job without a replica has one that does nothing.
 */
struct merge_thread;

struct merge_thread *merge_thread_start(const struct run_setup *setup, struct error *err);
void merge_thread_wake(struct merge_thread *merge, uint64_t new_changes);
bool merge_thread_failed(struct merge_thread *merge, struct error *out_err);
/* Merges all that waits (unless the wish is to leave), ends the thread, frees. `err` may be NULL. */
bool merge_thread_finish(struct merge_thread *merge, struct error *err);

#endif
