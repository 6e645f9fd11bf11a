/* Opens a job's merger: which of its replicas are lost is said, and a full disk or a locked file is waited for. */
#include "base/hash.h"
#include "pipeline/witness.h"
#include "runner/runner_private.h"
#include "sink/sink.h"

/* Told once, not each time the job wakes. */
static void add_lost(void *context, struct span table, const char *sentence)
{
	uint64_t *which = context;

	(void)sentence;
	*which += hash_bytes(table);
}

/* A table whose replica is lost waits for somebody, the others are merged. */
static void tell_lost(void *context, struct span table, const char *sentence)
{
	const struct run_setup *setup = context;
	OWNED(text) name = text_new(4096);
	OWNED(text) words = text_new(8192);

	text_add_format(name, "%s.", setup->options->replica_dataset);
	text_add_span(name, table);
	text_add_format(words, "%s; 'weir merge %s ", sentence, setup->options->name);
	text_add_span(words, table);
	text_add(words, " --rebuild' makes it again from the changelog");
	if (setup->on_event)
		setup->on_event(setup->context, name->at, "replica_lost", words->at);
}

static struct merger *try_to_open(const struct merge_opening *opening, struct sink_setup *setup, struct dlq **dlq,
                                  struct error *err)
{
	const struct run_setup *run = opening->setup;
	struct job_paths paths;
	uint64_t lost = 0;

	job_paths_make(&paths, run->home, run->options->name);
	*dlq = dlq_open(paths.store, DLQ_WRITE, err);
	job_paths_clear(&paths);
	if (!*dlq || !witnesses_read(*dlq, opening->arena, setup, err) || !warehouse_lost(setup, add_lost, &lost, err) ||
	    (lost != *opening->told_lost && !warehouse_lost(setup, tell_lost, (void *)run, err)))
		return NULL;
	*opening->told_lost = lost;
	return merger_open(setup, err);
}

struct merger *merge_open(const struct merge_opening *opening, struct sink_setup *setup, struct dlq **out_dlq,
                          struct error *err)
{
	struct patience patience = { .setup = opening->setup, .thread = THREAD_MERGER };
	struct error failure = { 0 };
	struct dlq *dlq = NULL;
	struct merger *merger;

	while (!(merger = try_to_open(opening, setup, &dlq, &failure))) {
		dlq_close(dlq);
		dlq = NULL;
		if (run_should_leave(opening->setup))
			return NULL;
		if (!patience_wait(&patience, &failure)) {
			*err = failure;
			return NULL;
		}
		failure = (struct error){ 0 };
	}
	patience_over(&patience);
	*out_dlq = dlq;
	return merger;
}
