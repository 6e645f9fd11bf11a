/* The merger's state, shared by its rooms: stores and replicas, choosing a table (local_waiting.c), steps. */
#ifndef WEIR_SINK_MERGER_PRIVATE_H
#define WEIR_SINK_MERGER_PRIVATE_H

#include "sink/local_private.h"

#define REPLICAS_OPEN 16

struct open_replica {
	struct replica *replica;
	sqlite3_stmt *read;
};

struct merger {
	struct store *replica_store, *changelog_store;
	struct arena *catalog;                 /* tables as of the last look */
	struct catalog_table *tables;
	size_t table_count;
	char *job, *changelog_dataset;
	struct arena *arena;                   /* of one step */
	struct fold fold;
	struct open_replica open[REPLICAS_OPEN];
	size_t next_victim;
};

/* local_waiting.c */
bool merger_refresh(struct merger *merger, struct error *err);
bool merger_watermark(struct merger *merger, struct span table, int64_t *out, struct error *err);
/* The table that waits longest, or the named one; *out NULL: nothing waits. */
bool merger_choose(struct merger *merger, const char *name, const struct catalog_table **out, bool *out_others,
                   struct error *err);

/* local_changes.c */
/* A step's changes into the fold; *out_end is the last rowid. */
bool merger_read(struct merger *merger, struct open_replica *place, int64_t *out_end, uint64_t *out_changes,
                 bool *out_more, struct error *err);

#endif
