/*
 * source -> transform -> sink, and the one promise that everything else serves:
 *
 *   a source is told "confirmed" only after every record before that position
 *   is in the destination, in the dead-letter store, or parked.
 *
 * A pipeline is a value: nothing here knows that it runs in threads. Its two
 * halves may: pipeline_fill belongs to the reader, pipeline_write to the writer.
 */
#ifndef WEIR_PIPELINE_PIPELINE_H
#define WEIR_PIPELINE_PIPELINE_H

#include "options/options.h"
#include "pipeline/progress.h"
#include "record/batch.h"
#include "sink/sink.h"
#include "source/source.h"
#include "transform/transform.h"

struct dlq;
struct doing;
struct measure;
struct post;

/* Files of one job, absolute. */
struct job_paths {
	char *store;   /* jobs/NAME.db */
	char *big;     /* jobs/NAME.big */
	char *doing;   /* jobs/NAME.doing */
};

void job_paths_make(struct job_paths *out, const struct home *home, const char *job_name);
void job_paths_clear(struct job_paths *paths);

struct pipeline_setup {
	const struct job_options *options;
	const struct home *home;
	struct progress *progress;
	bool is_followed;   /* wait at the end of the feed for more */
	bool from_start;    /* forget position and ledger first */
	size_t batch_messages; /* 0: as many as fit; a paced run keeps its batches short */
	struct source *kept_source; /* open since before a rest: taken on success, read on; NULL: one is opened */
	bool without_source; /* only letters are read: no source is opened, and nothing comes back from parking */
	struct google *google; /* lent until close; NULL: the job asks nothing of Google */
	int64_t replay;      /* the run that goes on; what other runs have claimed is freed */
	/* A group of letters or a schema change met for the first time, and a table's note, told after the commit; both NULL:
	 * nobody listens. */
	void (*on_event)(void *context, const char *table, const char *code, const char *sentence);
	void (*on_note)(void *context, const char *table, const char *code, const char *sentence);
	void *context;
	/* The source has news, from a thread of its own; see source_setup. NULL: nobody wants to know. */
	void (*on_news)(void *context);
	void *news_context;

	/* tests may put their own in place of what the options ask for */
	const struct source_ops *source;
	const struct transform_ops *transform;
	const struct sink_ops *sink;
};

struct pipeline {
	const struct job_options *options;
	struct progress *progress;
	struct job_paths paths;
	const char *warehouse;       /* folder; the home's */

	struct arena *arena;         /* of what lives as long as the pipeline */
	struct source_position from; /* where the source was opened; empty identity: at its start */

	/* the reader's */
	size_t batch_messages;
	struct source *source;       /* NULL: without_source */
	struct transform *transform;
	int64_t received_us;         /* of the messages read last */
	struct doing *doing;         /* which message is being transformed; NULL: nothing is guarded */

	/* the writer's */
	struct sink *sink;
	struct row_fitter *fitter;      /* of append tables at BigQuery; NULL: none */
	struct dlq *dlq;
	char **table_names;      /* "DATASET.TABLE", index = table number */
	bool *are_paused;        /* index = table number */
	char **paused;           /* names of paused tables, as of the opening */
	size_t paused_count;
	size_t troubled_count;   /* tables that have trouble of their own at the sink, as of the last pipeline_tend */
	struct table_told *told; /* what the journal was told of each table's trouble (tend.c); told_count */
	size_t told_count;
	void (*on_event)(void *context, const char *table, const char *code, const char *sentence); /* NULL: nobody listens */
	void *context;           /* of on_event */
	size_t table_count;
	struct ledger *added;    /* scratch: table_count + 1 */
	struct ledger total;     /* committed, over all tables */
	struct measure *measure; /* scratch */
	uint64_t next_batch;
	int64_t remembered_ms;   /* when the store was told of the warehouse's commits last; 0: never */
	bool has_news;           /* it has not been told of all */
	uint64_t fills, writes;  /* batches filled and written: none may be left out between two (the reader's, the writer's) */
	struct post *post;       /* its letters to table and folder, and back; NULL: it has neither */
	struct unpark *unpark;   /* while parked messages come back */
};

/* Opens store, sink, transform and source, in this order, and compares what they know: a difference is
 * `ledger_mismatch`. */
struct pipeline *pipeline_open(const struct pipeline_setup *setup, struct error *err);
void pipeline_close(struct pipeline *pipeline);

/* Fills an empty batch: until it is full, BATCH_AGE_MS old, or `until_ms` passes with nothing to read. */
bool pipeline_fill(struct pipeline *pipeline, struct batch *batch, int64_t until_ms, struct error *err);

/* Stores letters and parked messages, writes rows, commits all with the position. False: nothing of the batch counts;
 * it may be written again. */
bool pipeline_write(struct pipeline *pipeline, struct batch *batch, struct error *err);

/* Brings parked messages back whose cause has gone, before anything newer is read. */
bool pipeline_unpark(struct pipeline *pipeline, struct error *err);
/* One batch of them. False: nothing of it counts, it may be tried again. */
bool pipeline_unpark_some(struct pipeline *pipeline, bool *out_has_more, struct error *err);

/*
 * Tables with trouble of their own (sink.h). Between two batches, and when nothing comes: shows how each stands.
 */
struct pipeline_troubles {
	int64_t again_ms;    /* in so many milliseconds to be called again; -1: no table has trouble */
	size_t passing;      /* tables whose trouble passes by itself */
	bool may_come_back;  /* what was parked of some of them may come back: pipeline_free_tables, then pipeline_unpark_some */
};
void pipeline_tend(struct pipeline *pipeline, struct pipeline_troubles *out);
void pipeline_free_tables(struct pipeline *pipeline);

/* The dataset that names a job's tables: the replica's where there is one. */
const char *pipeline_dataset(const struct job_options *options);
/* "DATASET.TABLE" */
void pipeline_name_table(const struct job_options *options, const struct table_schema *schema, struct text *out);

#endif
