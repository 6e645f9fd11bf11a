/*
 * A job with several datasets: a sink for each file, and one for the job's books.
 * Tables have one number in the job and another in their file.
 */
#ifndef WEIR_SINK_MANY_PRIVATE_H
#define WEIR_SINK_MANY_PRIVATE_H

#include "sink/local_sink_private.h"

struct many_file {
	char *dataset;
	struct sink *sink;
	int64_t level;             /* its commits, as the books know */
	uint64_t done_batch;       /* committed with this batch, whatever became of the others */
	bool is_touched;           /* by the open transaction */
};

struct many_table {
	uint32_t file, local;
};

struct many {
	struct sink sink;
	struct sink_setup setup;   /* of the files */
	struct arena *arena;
	struct sink *books;        /* the job's: position, counters of no table, what there is */
	struct many_file *files;
	size_t file_count, kept_files;
	struct many_table *tables; /* by the job's number */
	size_t count, kept_count, room;
	size_t listed_count;       /* the first of them that stand in the books in this order */
	const struct table_schema **schemas;
	struct ledger *ledgers;    /* count + 1 */
	const char *damage;
	uint64_t *offsets;         /* up to where each table's file has the source */
	uint64_t batch;            /* its number, while it is written */
	struct span unparked;      /* ids that had come back when the job was opened: of files that were ahead, of the books */
	int64_t *back_ids;         /* of what comes back with the batch, */
	uint32_t *back_files;      /* and the file of each */
	size_t back_count, back_room;
};

struct store *many_books(struct many *m);
struct sink_state many_state_of(struct sink *sink);
/* Behind the others; `level`: commits that the books know of. */
bool many_file_open(struct many *m, const char *dataset, int64_t level, struct error *err);
/* Arrays by table have room for `count` of them. */
void many_tables_room(struct many *m, size_t count);

/* Operations of the sink (many_write.c, many_commit.c). */
bool many_write(struct sink *self, struct batch *batch, struct error *err);
bool many_commit(struct sink *self, const struct source_position *position, const struct ledger *added, size_t table_count,
                 struct error *err);

/* many_books.c: which datasets and tables the job has, in the order of their numbers. */
struct many_entry {
	const char *name;          /* dataset, or a table's source */
	int64_t level;
};
bool many_datasets_read(struct store *books, const char *job, struct arena *arena, struct many_entry **out, size_t *out_count,
                        struct error *err);
bool many_order_read(struct store *books, const char *job, struct arena *arena, struct many_entry **out, size_t *out_count,
                     struct error *err);
/* In a transaction of their own, before the dataset has anything. */
bool many_dataset_add(struct store *books, const char *job, size_t number, const char *dataset, struct error *err);
/* In that of the books. */
bool many_level_write(struct store *books, const char *job, size_t number, int64_t level, struct error *err);
bool many_order_write(struct store *books, const char *job, size_t number, struct span source, struct error *err);

/* The job's order of the tables of `states`: those that the books list, then the others. `out` has room for all. */
size_t many_arrange(const struct sink_state *states, size_t state_count, const struct many_entry *order, size_t order_count,
                    struct many_table *out);

#endif
