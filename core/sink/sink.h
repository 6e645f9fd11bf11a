/*
 * Where rows go. One batch at a time: write, then commit or roll back.
 */
#ifndef WEIR_SINK_SINK_H
#define WEIR_SINK_SINK_H

#include "base/error.h"
#include "options/options.h"
#include "record/batch.h"
#include "record/fit.h"

#include <stdatomic.h>

/* Rows between checkpoints decide the price of random upserts (spec: speed), so the log may grow. The baselines of
 * `weir bench` use the same. */
#define LOCAL_CHECKPOINT_PAGES 50000
#define LOCAL_CHECKPOINT_PAGES_APPEND 10000

/* Changes of one merge step at most. All that waits goes into one step: the larger it is, the fewer times a page is
 * written. The baseline's steps are as large. */
#define LOCAL_STEP_CHANGES 500000

struct google;

struct sink {
	const struct sink_ops *ops;
};

/* What a job's store remembers of the warehouse: a file that knows less is missing, or an older copy. */
struct witness {
	const char *table;          /* "": the job's position; else a replica table */
	const char *identity;       /* of the changelog that the replica was made from */
	int64_t level;              /* commits of the job; changes that the replica has merged */
};

/* What a destination that is a service is asked, for screens: counted by the sink's threads, read by anybody. */
struct sink_figures {
	_Atomic(const char *) service;  /* "BigQuery"; NULL: the destination is none */
	atomic_bool is_emulator;
	atomic_uint_fast64_t requests;  /* sent since the run began */
	atomic_uint_fast64_t answers;   /* of these; what is missing is in flight, or was lost */
	atomic_uint_fast64_t rows, bytes; /* taken; bytes of the requests as they were sent */
	atomic_int_fast64_t answered_us; /* the last answer; 0: none yet */
};
/* One request has its answer. */
void sink_figures_answered(struct sink_figures *figures, uint64_t rows);
/* One will have none: it is sent again, or given up. */
void sink_figures_lost(struct sink_figures *figures);

struct sink_setup {
	const struct job_options *options;
	const char *warehouse;      /* folder of the local warehouse */
	const char *incarnation;    /* random identity of this job's store (dlq), kept beside the position */
	int64_t cache_bytes;        /* this connection's share of localCacheBytes */
	const struct witness *witnesses; /* of this job and these datasets, sorted by table; lent until close */
	size_t witness_count;
	struct google *google;      /* lent until close; NULL: the job asks nothing of Google */
	const char *dataset;        /* of this sink alone, where a job has several (local_many.c); NULL: the job's */
	struct sink_figures *figures; /* lent until close; NULL: nobody looks */
	struct row_fitter *fitter;  /* of append tables at BigQuery, lent until close; NULL: rows are written as they are */
	bool is_anew;               /* position and ledger are forgotten next: what is missing may be made again */
};

/* What the destination knows of the job. Lent until close. */
struct sink_state {
	bool is_known;                           /* the job has committed here before */
	const char *damage;                      /* position or ledger are not what was written: in words; NULL: they are */
	const char *incarnation;                 /* as stored then */
	struct source_position position;
	int64_t commits;                         /* made here since the job began, or began anew; 0: not counted */
	const struct table_schema *const *tables; /* index = table number, the same in every run */
	const struct ledger *ledgers;            /* table_count + 1 entries, the last for table "-" */
	size_t table_count;
	/* Where files commit one by one: the source's offset up to which each table has it all counted, never less than the
	 * position's. NULL: the position's, all of them. */
	const uint64_t *offsets;
};

/* What keeps rows out of a table. */
struct sink_trouble {
	bool needs_you;             /* else it passes by itself */
	const struct error *error;  /* lent until the next call */
	int64_t since_us;           /* clock_utc_us */
	int64_t next_ms;            /* clock_mono_ms: when it is tried again */
};

struct sink_ops {
	const char *name;
	const char *help;

	struct sink *(*open)(const struct sink_setup *, struct error *);
	void (*state)(struct sink *, struct sink_state *out);

	/* Applies the batch's schema changes and writes its records that are still pending; gives each a final verdict.
	 * Nothing is durable before commit. False: nothing of the batch counts, roll back and decide by err. */
	bool (*write)(struct sink *, struct batch *, struct error *);

	/* Rows, position and counters (added to what is stored, table_count + 1 entries as in sink_state, where
	 * table_count counts the batch's new tables too) become durable together. */
	bool (*commit)(struct sink *, const struct source_position *, const struct ledger *added, size_t table_count,
	               struct error *);
	void (*rollback)(struct sink *);

	/* --from-start: forgets position and ledger, keeps tables. Where commits are missing the changelogs that are left
	 * become others: no replica goes on as if nothing had been lost. */
	bool (*forget)(struct sink *, struct error *);
	void (*close)(struct sink *);

	/*
	 * Of sinks whose tables may have trouble of their own (all of these, or none; NULL). Rows of such a table are parked
	 * by write. The writer tends the sink between two batches: when a table may be tried again, the sink waits for `free`,
	 * behind which all that was parked of it comes back before anything newer is given to write.
	 */
	/* In how many milliseconds to be called again (-1: no table has trouble); *out_freed: free is worth a call. */
	int64_t (*tend)(struct sink *, bool *out_freed);
	/* Rows of tables that may be tried again are taken from now on. */
	void (*free_tables)(struct sink *);
	/* Why nothing enters the table; NULL: rows may be tried. Lent until the next call of the sink. */
	const struct refusal *(*holds)(struct sink *, uint32_t table);
	/* False: it has none. */
	bool (*trouble)(struct sink *, uint32_t table, struct sink_trouble *out);
};

extern const struct sink_ops sink_local;
/* The same where messages choose their dataset: one file each, and one for the job's books. */
extern const struct sink_ops sink_local_many;
extern const struct sink_ops sink_bigquery;

/* What the local warehouse knows of the job, read only and without making anything; texts live in the arena.
 * is_known false: nothing there yet. May be called while the job runs. */
bool warehouse_look(const struct sink_setup *, struct arena *arena, struct sink_state *out, struct error *);

/* Is the file there in which the job's position stands? False where it cannot be said. */
bool warehouse_is_there(const struct sink_setup *);

/* A dead letter for the job's dead-letter table; `id` is its number in the store `incarnation`, and stands there once. */
struct letter_row {
	const struct message *message;
	const char *stage, *code, *text, *source;
	int64_t id, published_us;
	int64_t letter;      /* as `weir dlq` numbers it */
};
/* Makes dataset and table where missing, in one transaction with the rows. */
bool warehouse_add_letters(const char *warehouse, const char *dataset, const char *table, const char *incarnation,
                           const struct letter_row *rows, size_t count, struct error *err);

const struct sink_ops *sink_choose(const struct job_options *, struct error *);
/* Do the job's datasets commit one by one, each in a file of its own? At BigQuery there is one file of books. */
bool sink_has_many_files(const struct job_options *);

/*
 * The replica is derived: a merger applies changelog rows above the replica's
 * watermark. Its connections belong to the thread that uses it.
 */
struct merger;

struct merge_result {
	char table[256];          /* of the step: the replica table, or "" if nothing was waiting */
	uint64_t changes;         /* changelog rows read */
	uint64_t rows;            /* replica rows written or deleted */
	bool has_more;            /* call again */
	bool is_all;              /* all that waited of this table when the step began is merged */
};

/* NULL with err; modes without a changelog or a replica: `no_replica`. */
struct merger *merger_open(const struct sink_setup *, struct error *);
/* One transaction: all that waits of one table, at most LOCAL_STEP_CHANGES changes. `table` NULL: those that waited at one
 * look, one a call, whichever has waited longest first; what comes meanwhile is for the next round. */
bool merger_step(struct merger *, const char *table, struct merge_result *out, struct error *);
/* Reads what a step would read by now, as far as it can: that step then has only to write. */
void merger_read_ahead(struct merger *);
/* Empties one replica table and makes it again from the whole changelog, in one transaction. */
bool merger_rebuild(struct merger *, const char *table, struct merge_result *out, struct error *);
/* Brings what has been merged to the disk, and tells of each replica up to which change: from now on its file knows no
 * less. Texts are lent for the call. */
bool merger_settle(struct merger *, void (*on_replica)(void *context, const struct witness *replica), void *context,
                   struct error *);
/* Changes that wait, over all tables. */
bool merger_waiting(struct merger *, uint64_t *out_changes, struct error *);
void merger_close(struct merger *);

/* Compares each replica table with a rebuild from the changelog by plain SQL. Calls `on_table` once a table,
 * `first_difference` NULL if equal. The texts are lent for the call. */
struct verify_table {
	const char *table; /* DATASET.TABLE */
	uint64_t rows;
	bool is_equal;
	const char *first_difference;
};
bool verify_run(const struct sink_setup *, void (*on_table)(void *, const struct verify_table *), void *context,
                bool *out_equal, struct error *);

/* Replicas that are missing, older than the witnesses say, or made from another changelog; the sentence says which.
 * They are not merged until they are made again. Names are plain; texts are lent for the call. */
bool warehouse_lost(const struct sink_setup *, void (*on_lost)(void *context, struct span table, const char *sentence),
                    void *context, struct error *);

/* Which of many changes of one table have a newer one of their key? For `newer` of dead letters. The order of the questions
 * changes. */
struct newer_question {
	struct span key;
	const unsigned char *position;
	bool is_newer;
	uint32_t record;  /* the asker's own */
};
bool warehouse_ask_newer(const struct sink_setup *, const char *table, struct newer_question *questions, size_t count,
                         struct error *);

/* The row that the replica holds now for a key. */
struct row_question {
	struct span key;       /* _weir_key; empty: not known, */
	struct span json_key;  /* then the key columns as a JSON object; empty: not known either */
};
struct row_answer {
	struct text *row;      /* the asker's: JSON is added. Less than all of it if it is too long */
	unsigned char position[POSITION_BYTES]; /* of the change that wrote it */
	bool has_replica;      /* of this table */
	bool is_found, is_too_long;
};
bool warehouse_row(const struct sink_setup *, const char *table, const struct row_question *, struct row_answer *out,
                   struct error *);

/* Schema changes that have reached rows of a replica (its plain name): their positions, and how many rows each has given
 * other values, stored ones and such as came later. Nothing of a replica that is not there. */
bool warehouse_altered(const struct sink_setup *, const char *table,
                       void (*on_altered)(void *context, const unsigned char *position, int64_t rows), void *context,
                       struct error *err);

/* How many changes the local warehouse has received since a moment, by the changelogs of the job; *out_known false: it cannot
 * be told (no changelog, or not local). */
bool warehouse_since(const struct sink_setup *, int64_t since_us, uint64_t *out_changes, bool *out_known, struct error *);

#endif
