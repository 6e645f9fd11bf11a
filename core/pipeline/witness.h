/*
 * What a job's store remembers of the warehouse, as the sink asks for it. Written
 * behind the commits it tells of, so a kill leaves it behind and never ahead.
 */
#ifndef WEIR_PIPELINE_WITNESS_H
#define WEIR_PIPELINE_WITNESS_H

#include "base/arena.h"
#include "dlq/dlq.h"
#include "sink/sink.h"

/* Fills the setup's witnesses, which live in the arena. */
bool witnesses_read(struct dlq *dlq, struct arena *arena, struct sink_setup *setup, struct error *err);
/* False and `ledger_mismatch`: the warehouse has fewer commits than the job has made; `state_damaged`: its books are not what was
 * written. */
bool witness_commits(const struct sink_setup *setup, const struct sink_state *state, struct error *err);
/* False and `ledger_mismatch`: the warehouse knows the job, whose store is missing. */
bool witness_no_store(const struct job_options *options, const struct sink_state *state, struct error *err);
/* The same, for whoever is about to make a store: it looks at the warehouse, and makes nothing. */
bool witness_may_make_store(const char *store, const struct sink_setup *setup, struct error *err);
/* Is what was filled still there? Nothing is made in its place. */
bool witness_files(const struct sink_setup *setup, struct error *err);
bool witness_keep_commits(struct dlq *dlq, const struct job_options *options, int64_t commits, struct error *err);
bool witness_forget_commits(struct dlq *dlq, const struct job_options *options, struct error *err);
/* What has been merged is brought to the disk and remembered. */
bool witness_keep_replicas(struct dlq *dlq, const struct job_options *options, struct merger *merger, struct error *err);

#endif
