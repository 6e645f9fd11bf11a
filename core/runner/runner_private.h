/* Shared by the rooms of the runner. */
#ifndef WEIR_RUNNER_RUNNER_PRIVATE_H
#define WEIR_RUNNER_RUNNER_PRIVATE_H

#include "runner/runner.h"

bool run_should_end(const struct run_setup *setup);
/* Even a wait for the disk is cut short: what is not written is read again. */
bool run_should_leave(const struct run_setup *setup);
void run_say(const struct run_setup *setup, enum job_state state, const char *code, const char *sentence);

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
