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

#define SHORT_TROUBLE_MS 2000 /* what is over by then is just tried again; after that its table's rows are parked */
#define PROBE_FIRST_MS 500
#define PROBE_MOST_MS 10000

#define SILENT_MS 4000        /* a table whose answer is later than that while others have theirs: others need not wait for it */
#define ALONE_MS 600000       /* how long a table that was silent, or ended a call, has a connection of its own */
#define PATIENCE_MOST_MS 32000 /* insertAll: each silence doubles the time that the table's next answer may take */
#define SILENT_SHARED_MS 8000 /* who only stands behind the silent one in its connection is sent again over another */

/* Why nothing enters a table for now. */
struct table_trouble {
	bool is_there;
	bool needs_you;            /* else it passes by itself */
	bool is_over;              /* the next try is due: its parked rows come back, nothing newer enters before them */
	bool is_desk;              /* the desk has it, and says when it is over; else a try tells */
	bool was_tried;            /* the rows that come back are that try: what fails of them fails at once */
	struct error error;
	int64_t since_us;          /* clock_utc_us */
	int64_t next_ms;           /* clock_mono_ms: when it is tried again */
	struct backoff backoff;
};

/* Requests that are refused as a whole, without a word about a row: is a row of them guilty, or the table? What else the table
 * takes behind the first of them tells. Of one batch. */
struct table_doubt {
	bool is_there, was_taken;
	uint64_t since;            /* a number of `sends` */
	uint64_t sends;            /* requests, each with its number */
	unsigned refusals;         /* since anything was taken */
};

struct bigquery;

/* One table of the job at BigQuery; its schema and number are the books' (books.tables[number]). */
struct bigquery_table {
	const struct bigquery *sink;
	struct arena *arena;       /* of what follows from its schema; another schema, another arena */
	const struct table_schema *shape_of; /* the schema that it was made from */
	const struct table_shape *shape;
	struct span descriptor;    /* serialised DescriptorProto of `shape` */
	uint64_t shape_version;    /* of all shapes of the sink: moves with each */
	char *path;                /* "projects/P/datasets/D/tables/orders_changelog" */
	char *name;                /* as people say it: "D.orders_changelog" */
	size_t desk_number;
	int64_t fine_ms;           /* clock_mono_ms: rows were taken; 0: not yet */
	uint64_t fine_version;     /* shape_version of those */
	struct table_trouble trouble;
	struct table_doubt doubt;
	struct fitting *fitting;   /* to the columns that it has (bigquery_fit.c); NULL: rows are written as they are */
	bool is_unfit;             /* rows of the batch were not sent, for its columns are others than theirs */
	uint64_t waits_at;         /* the look at which a part of it waited */
	struct exactly *exactly;   /* its committed streams (bigquery_exactly.c); NULL: none yet */
	int64_t patience_ms;       /* insertAll: how long its answer is waited for while others have theirs; 0: SILENT_MS */
	int64_t alone_until_ms;    /* clock_mono_ms: it was silent, or ended a call, lately: nobody else shall share its connection */
	size_t unanswered;         /* requests that are late, with their rows parked (bigquery_late.c) */
	struct place *landed;      /* rows of such that were taken after all, sorted: no more to be sent; landed_count */
	size_t landed_count;
};

/* Rows of one table, one partition and one shape, in the batch's order. */
struct bigquery_part {
	struct bigquery_table *table;
	uint32_t number;           /* the table's, in the job */
	const struct table_shape *shape;
	struct span descriptor;
	uint64_t shape_version;
	bool is_begun;             /* its requests are made, or its table is in trouble */
	struct span partition;     /* that the rows name, "20240131"; empty: none */
	uint32_t older;            /* part + 1 of the same table and shape; 0: none */
	uint32_t *records;         /* indices; those whose verdict is still PENDING are to be written */
	size_t count;
};

/* What of a batch has landed until the books have it: when it is written again, those rows are left out. */
struct bigquery_done {
	const struct batch *batch;
	uint64_t number;
	size_t count;
	uint8_t *verdicts;         /* WRITTEN and REPEATED count */
};

struct bigquery {
	struct local_sink books;   /* first: its `sink` is ours */
	const struct job_options *options;
	struct google *google;     /* NULL: only the books are wanted */
	struct sink_figures *figures, nobody_looks; /* never NULL */
	struct row_fitter *fitter; /* NULL: none */
	char *project;             /* of the tables */
	bool is_open;              /* desk and writer are; with the first rows */
	struct table_desk *desk;
	struct bigquery_table **tables; /* table_room; NULL where there is none yet */
	size_t table_room;
	uint64_t shape_versions;
	struct arena **old_shapes; /* those that parts of this batch may still use */
	size_t old_shape_count;
	struct bigquery_done done;
	struct append *append;     /* Storage Write's state; NULL: not used */
	struct insert *insert;     /* insertAll's; NULL: not used */

	pthread_mutex_t lock;      /* of `rings` */
	pthread_cond_t bell;
	uint64_t rings;            /* an answer has come, or the desk has news */
};

/*
 * The sink (bigquery.c: operations, bigquery_write.c: a batch, bigquery_trouble.c).
 */
/* Desk and writer, with the first rows: whoever only looks, or forgets, asks nothing of Google. */
bool bigquery_reach(struct bigquery *sink, struct error *err);
bool bigquery_write(struct sink *self, struct batch *batch, struct error *err);
/* The table of a number, with the shape of its schema of now. */
struct bigquery_table *bigquery_table_of(struct bigquery *sink, uint32_t number);

/* A row's verdict: a letter, with BigQuery's words. `column` may be empty. */
void bigquery_refuse(struct batch *batch, struct record *record, const char *code, struct span column, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
/* Nothing enters this table for now. `is_desk`: the desk has it, and looks when it is over. */
void bigquery_trouble(struct bigquery_table *table, bool needs_you, bool is_desk, const struct error *why);
/* Rows of it were taken, by the request of that number (table_doubt.sends) with rows of that shape. */
void bigquery_table_fine(struct bigquery_table *table, uint64_t sent, uint64_t shape_version);
/* A request was refused as a whole. True: it is worth looking for the guilty row by halves; false: it is the table. */
bool bigquery_doubt(struct bigquery_table *table);
/*
 * Append tables that are not as the transform thinks (bigquery_fit.c).
 */
/* Learns the columns that it has. */
void fitting_learn(struct bigquery *sink, struct bigquery_table *table);
/* Have others been read since? Then the next look at the table's shape takes them. */
void fitting_refresh(struct bigquery *sink, struct bigquery_table *table);
/* The shape of its rows with the schema as it is now, in the arena. */
const struct table_shape *fitting_shape(const struct bigquery *sink, struct fitting *fitting, struct arena *arena,
                                        const struct table_schema *schema);
/* Writes the record's row for it; false: it is refused. */
bool fitting_row(struct bigquery *sink, struct bigquery_table *table, struct batch *batch, struct record *record);
void fitting_free(struct fitting *fitting);

/* What waits of a table in trouble is parked, with all other records of the same messages. */
void bigquery_park(struct bigquery *sink, struct batch *batch);
/* Has any other table had rows taken lately? Then what fails is one table's trouble. */
bool bigquery_others_are_fine(const struct bigquery *sink, const struct bigquery_table *but);
/* Is what the desk says of this table the network's or the credentials' trouble? Then the job waits, and nothing is parked. */
bool bigquery_is_everybodys(const struct bigquery *sink, const struct bigquery_table *table, const struct table_view *view);

/* sink_ops. */
int64_t bigquery_tend(struct sink *self, bool *out_freed);
void bigquery_free_tables(struct sink *self);
const struct refusal *bigquery_holds(struct sink *self, uint32_t number);
bool bigquery_trouble_of(struct sink *self, uint32_t number, struct sink_trouble *out);

/* From any thread. */
void bigquery_ring(void *sink);
/* Sleeps until somebody has rung since `*inout_seen` (0 at first), or until_ms (clock_mono_ms). */
void bigquery_wait_ring(struct bigquery *sink, uint64_t *inout_seen, int64_t until_ms);
uint64_t bigquery_rings(struct bigquery *sink);

/*
 * Storage Write (bigquery_append*.c).
 */
struct append *append_open(struct bigquery *sink, struct error *err);
void append_close(struct append *append);
/* Late answers, between two batches. */
void append_tend(struct append *append);
/* Exactly once: what is behind the position need not be remembered. Inside the books' transaction. */
bool exactly_commit(struct append *append, struct error *err);
/* The transaction is committed. */
void exactly_committed(struct append *append);
void exactly_free(struct exactly *exactly);
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
