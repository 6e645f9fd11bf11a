/*
 * Epochs: stretches of the source's log that cannot be compared by position (engine.md "Which change wins").
 */
#ifndef WEIR_TRANSFORM_HISTORY_H
#define WEIR_TRANSFORM_HISTORY_H

#include "base/arena.h"

#define SEGMENTS_MAX 1024 /* as many tables as a job may have: a log without a name is known by its table */
#define SERVERS_MAX 8
#define LOG_SERVER UINT64_MAX /* of a log whose server has no number */

struct segment {
	struct span name;               /* of the connector: servers of two connectors have nothing to do with each other */
	uint64_t servers[SERVERS_MAX];  /* whose changes it has: a replica's log names the servers that made them */
	size_t server_count;
	uint64_t epoch;
	int64_t first_ms, last_ms;      /* by the source's clock; decides only between stretches of one server */
	uint64_t last_mark, last_place; /* how far in its log events have been seen */
};

/* What an event tells of the log it stands in. */
struct log_sign {
	struct span name;               /* of the log: the connector, or the connector's part */
	uint64_t server_id;             /* 0: unknown */
	uint64_t mark;                  /* grows with the log: a file's number, a commit's position; 0: says nothing */
	uint64_t place;                 /* where one log may have changes of several servers: file << 32 | offset; else 0 */
	int64_t ms, slack_ms;           /* the source's clock, and how exact it is */
	bool is_snapshot;               /* rows of a snapshot carry its clock: they never tell that a log began anew */
	bool is_first;                  /* but the first of them does */
	uint64_t least_epoch;           /* of a stretch that begins now */
};

struct history {
	struct arena *arena;            /* for the names */
	size_t count;
	uint32_t version;
	bool has_grown;                 /* more of a log has been seen since the last history_text of HISTORY_LOGS */
	struct segment segments[SEGMENTS_MAX];
};

/* The epoch of the event; true: it begins with it. */
bool history_place(struct history *history, const struct log_sign *sign, uint64_t *out_epoch);
bool history_has(const struct history *history, struct span name);
/* What is kept of it for the next run, and back: with each table the epochs, with the job's position how far the logs
 * have been seen, too. Both may be read, the tables' first. */
enum history_part { HISTORY_EPOCHS, HISTORY_LOGS };
struct span history_text(struct history *history, enum history_part part, struct arena *arena);
void history_read(struct history *history, struct span text);

#endif
