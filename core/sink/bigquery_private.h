/*
 * The BigQuery sink, shared by its rooms. A batch is split into parts: rows of one
 * table and one shape. A writer (Storage Write, or insertAll) takes all parts of a
 * batch at once and gives each row its verdict; what only one table suffers from is
 * that table's trouble, and its rows are parked. Tables themselves are the desk's
 * (bigquery_table_private.h).
 *
 * Position, ledger and tables are kept in a file of this machine, made as the local
 * warehouse's files are: the same code reads, checks and writes them (local_books.c).
 */
#ifndef WEIR_SINK_BIGQUERY_PRIVATE_H
#define WEIR_SINK_BIGQUERY_PRIVATE_H

#include "google/google.h"
#include "google/wait.h"
#include "sink/bigquery_table_private.h"
#include "sink/local_sink_private.h"

#include <pthread.h>

/* What is appended to a changelog row's bytes (record.proto) at the sink: field numbers, see changelog_shape. CHANGE is
 * the JSON of an ALTER or RENAME, which no fullRecord can hold: a JSON column `_weir_change`. */
#define CHANGELOG_CHANGE 11

#define SHORT_TROUBLE_MS 2000 /* what is over by then is just tried again; after that its table's rows are parked */
#define PROBE_FIRST_MS 500
#define PROBE_MOST_MS 10000

/* Why nothing enters a table for now. */
struct table_trouble {
	bool is_there;
	bool needs_you;            /* else it passes by itself */
	struct error error;
	int64_t since_us;          /* clock_utc_us */
	int64_t next_ms;           /* clock_mono_ms: when it is looked at again */
	struct backoff backoff;
	bool is_over;              /* a probe went well: its parked rows may come back, nothing newer enters before them */
	struct refusal refusal;    /* VERDICT_PARKED's; texts live in the sink's arena and are written anew with each trouble */
};

/* One table of the job at BigQuery; its schema and number are the books' (books.tables[number]). */
struct bigquery_table {
	char *id;                  /* "orders_changelog" */
	char *path;                /* "projects/P/datasets/D/tables/orders_changelog" */
	size_t desk_number;
	const struct table_shape *shape; /* wanted now; in an arena that lives as long as the sink */
	const struct table_schema *shape_of; /* the schema that it was made from */
	struct span descriptor;    /* serialised DescriptorProto of `shape` */
	uint64_t shape_version;    /* moves with shape and descriptor */
	uint64_t incarnation;      /* as the desk knew it at the last append */
	struct table_trouble trouble;
};

/* Rows of one table and one shape, in the batch's order. */
struct bigquery_part {
	struct bigquery_table *table;
	const struct table_shape *shape;
	struct span descriptor;
	uint64_t shape_version;
	uint32_t *records;         /* indices; those whose verdict is still PENDING are to be written */
	size_t count;
};

struct bigquery {
	struct local_sink books;   /* first: its `sink` is ours */
	const struct job_options *options;
	struct google *google;
	const char *project;       /* of the tables */
	struct table_desk *desk;
	struct bigquery_table **tables; /* books.count */
	size_t table_room;
	struct append *append;     /* Storage Write's state; NULL: not used */
	struct insert *insert;     /* insertAll's; NULL: not used */

	pthread_mutex_t lock;      /* of `rings` */
	pthread_cond_t bell;
	uint64_t rings;            /* an answer has come, or the desk has news */
};

/*
 * The sink (bigquery.c, bigquery_write.c).
 */
extern const struct sink_ops sink_bigquery;

/* A row's verdict: a letter, with BigQuery's words. `column` may be empty. */
void bigquery_refuse(struct batch *batch, struct record *record, const char *code, struct span column, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
/* Nothing enters this table for now. What still waits of it in this batch is parked, with all other records of the same
 * messages. */
void bigquery_trouble(struct bigquery *sink, struct bigquery_table *table, bool needs_you, const struct error *why);
/* A request of it was taken. */
void bigquery_table_fine(struct bigquery_table *table);

/* From any thread. */
void bigquery_ring(void *sink);
/* Sleeps until somebody has rung since `*inout_seen` (0 at first), or until_ms (clock_mono_ms). */
void bigquery_wait_ring(struct bigquery *sink, uint64_t *inout_seen, int64_t until_ms);

/*
 * Storage Write (bigquery_append*.c).
 */
struct append *append_open(struct bigquery *sink, struct error *err);
void append_close(struct append *append);
/* All parts at once; each record gets a verdict, or its table has trouble. False: everything has it (no network, no
 * credentials), nothing of the batch counts. */
bool append_write(struct append *append, struct batch *batch, struct bigquery_part *parts, size_t count, struct error *err);

/* A DescriptorProto of a shape (bigquery_descriptor.c), serialised, in the arena. */
struct span descriptor_make(struct arena *arena, const struct table_shape *shape);

/*
 * insertAll (bigquery_insert*.c): the same contract as append_write, for useStorageWriteApi=false.
 */
struct insert *insert_open(struct bigquery *sink, struct error *err);
void insert_close(struct insert *insert);
bool insert_write(struct insert *insert, struct batch *batch, struct bigquery_part *parts, size_t count, struct error *err);

#endif
