/* Schema changes of a replica, for the rooms that work with them: ways (local_alter.c), stored rows and what is
 * remembered (local_alter_rows.c). */
#ifndef WEIR_SINK_ALTER_PRIVATE_H
#define WEIR_SINK_ALTER_PRIVATE_H

#include "sink/replica_private.h"

struct alter {
	unsigned char position[POSITION_BYTES];
	struct span text;        /* the changelog's fullRecord */
	struct json_doc doc;
	bool is_applied;         /* to the stored rows */
	bool is_saved;
	int64_t rows;            /* stored rows that it changed */
	struct alter_way *way;   /* of an event below this one and not below the one before; NULL: not made yet */
};

struct alters {
	struct arena *arena;     /* texts */
	struct arena *ways;      /* as long as the columns are the same */
	struct alter *items;     /* by position */
	size_t count, room;
	bool has_late;
};

/* Of events below the alter number `first`, and not below the one before. */
struct alter_way *way_make(struct replica *replica, size_t first);

#endif
