/* The merger's state, shared by its rooms: stores and replicas (merger_open.c), choosing a table (local_waiting.c), steps. */
#ifndef WEIR_SINK_MERGER_PRIVATE_H
#define WEIR_SINK_MERGER_PRIVATE_H

#include "sink/local_private.h"
#include "sink/piles_private.h"
#include "sink/sieve_private.h"

#define REPLICAS_OPEN 16

struct open_replica {
	struct replica *replica;
	sqlite3_stmt *read; /* changes with their rows */
};

/* What a step may hold. A table with placeholders looks back and forth between its keys: it needs all rows at once. */
struct merge_limits {
	size_t changes;         /* of a step */
	size_t pile_changes;    /* that are sorted in memory together, and put on a pile if there are more */
	size_t pile_bytes;
	size_t chunk_changes;   /* from there into the table */
	size_t chunk_bytes;
	size_t history_changes; /* of a step of a table with placeholders */
	size_t history_bytes;
};
extern const struct merge_limits merge_limits;

/* Tables that waited at the last look at all of them. A look costs a statement or two a table, so a job of a thousand
 * tables is not looked at again for each of a thousand steps. */
struct merge_queue {
	struct queued {
		uint32_t number;
		int64_t since_us;
	} *items;               /* who waits longest first */
	size_t count, next;
	bool leaves_rest;       /* a step has left changes of a table behind: there will be another look */
};

/* What has been read of the next step before it is due (local_ahead.c): it lies in sieve and piles, and what table events say
 * of it is remembered by the open replica. */
struct ahead {
	bool is_any;
	bool is_refused;        /* it cannot be, until the next step */
	struct replica *replica; /* lent; closed, nothing is ahead any more */
	uint32_t number;        /* of the table */
	uint32_t version;
	size_t columns;
	int64_t begin, end;     /* as of a step */
	uint64_t changes;
};

struct merger {
	struct store *replica_store, *changelog_store;
	bool is_relaxed;                       /* the replica's file is synced at checkpoints and when it settles */
	struct arena *catalog;                 /* tables as of the last look, at all or at one */
	struct catalog_table *tables;
	size_t table_count;
	char *job, *changelog_dataset;
	struct sink_setup setup;               /* the witnesses; lent until close */
	struct merge_limits limits;
	struct merge_queue queue;
	struct ahead ahead;
	struct sieve sieve;
	struct arena *rows;                    /* of the sieve's changes */
	struct piles *piles;                   /* what has not fitted into it */
	struct fold fold;                      /* the chunk; its memory is elsewhere */
	struct arena *chunk;
	struct open_replica open[REPLICAS_OPEN];
	size_t next_victim;
};

/* merger_open.c */
/* What an open replica remembers is the file's, unless somebody else has merged since. */
struct open_replica *merger_replica(struct merger *merger, const struct catalog_table *table, struct error *err);
void merger_close_replicas(struct merger *merger);

/* local_waiting.c */
bool merger_refresh(struct merger *merger, struct error *err);
bool merger_watermark(struct merger *merger, struct span table, int64_t *out, struct error *err);
/* Of the tables that waited at one look each in its turn, or the named one; *out NULL: nothing waits. */
bool merger_choose(struct merger *merger, const char *name, const struct catalog_table **out, struct error *err);
/* Does another table wait, as of that look? */
bool merger_has_others(const struct merger *merger);
/* The table that would be the next, and its number; it stays the next. */
bool merger_peek(struct merger *merger, const struct catalog_table **out, uint32_t *out_number, struct error *err);
/* A table by its number, as it is now; *out NULL: nothing of it waits. */
bool merger_look_at(struct merger *merger, uint32_t number, const struct catalog_table **out, struct error *err);
void merger_forget_queue(struct merger *merger);
/* Of the newest change in a table's changelog; 0: none. */
bool merger_last(struct merger *merger, const struct catalog_table *table, int64_t *out, struct error *err);

/* local_changes.c */
/* A step: where it ends is decided in one look at the changelog, together with the columns that are known. */
struct step {
	const struct catalog_table *table;
	struct open_replica *place;
	struct history *history;
	int64_t last;             /* rowid: later changes are not looked at */
	int64_t begin, end;       /* behind the watermark; the last that was read */
	bool was_overtaken;       /* somebody else has merged some of it meanwhile: nothing was written */
	struct merge_result result;
};
bool changes_prepare(struct merger *merger, struct open_replica *place, struct span changelog, struct error *err);
/* Changes up to `last`, or as many as a step holds, into the sieve; or, if there are more, all of them onto piles. */
bool changes_read(struct merger *merger, struct step *step, struct error *err);

/* The same without an end: more may be added. Begins anew unless something is ahead. */
bool changes_read_more(struct merger *merger, struct step *step, struct error *err);
struct history *step_history(struct merger *merger, const struct catalog_table *table);
/* Columns and the last change are those of one moment (local_merger.c). */
bool changelog_freeze(struct merger *merger, struct error *err);
void changelog_thaw(struct merger *merger);

/* local_ahead.c */
/* Keeps what is ahead only if it is of this table as it is now. Before its replica is asked for. */
void ahead_check(struct merger *merger, const struct catalog_table *table);
void ahead_drop(struct merger *merger);
/* The step goes on behind what is ahead, which is its own from now on. False: there is nothing. */
bool ahead_take(struct merger *merger, struct step *step);

/* local_chunk.c */
/* All of them into the replica, a chunk of rows at a time. */
bool chunks_apply(struct merger *merger, struct step *step, struct error *err);

#endif
