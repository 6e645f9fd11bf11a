/* A table's committed streams, and what has landed in them. For bigquery_exactly.c and bigquery_landed.c only. */
#ifndef WEIR_SINK_BIGQUERY_LANDED_PRIVATE_H
#define WEIR_SINK_BIGQUERY_LANDED_PRIVATE_H

#include "sink/bigquery_append_private.h"

struct landed {
	struct place place;
	size_t append;      /* index in exactly.appends */
};

/* An append that landed though nobody was told: forgotten when all its rows have come again. */
struct landed_append {
	char *stream;
	int64_t first_row;
	size_t left;
};

struct write_stream {
	char *name;         /* NULL: to be made */
	struct stream_call making;
	int64_t next_row;
	bool is_busy;       /* a request is on its way: the next one waits, so that offsets have no gaps */
};

struct exactly {
	bool is_recovered;  /* no stream of an earlier life is left */
	char **left;        /* else those that are; left_count. NULL: not yet read */
	size_t left_count, settled;
	struct stream_call finalizing; /* of left[settled] */
	struct write_stream *streams;
	size_t count, turn;
	struct landed *landed; /* sorted by place */
	size_t landed_count;
	struct landed_append *appends;
	size_t append_count;
};

/* In the books: ?1 is the stream, ?2 a number, ?3 the job. */
bool landed_books_run(struct append *append, const char *sql, const char *stream, int64_t number, struct error *err);
/* Before a request goes out, inside a transaction. */
bool landed_note(struct append *append, const struct request *request, struct error *err);
/* Which of a stream's appends landed, for it has `rows`; a stream with none left is forgotten. */
bool landed_settle(struct append *append, const char *stream, int64_t rows, struct error *err);
/* The names of a table's streams; the caller frees each and the list, which is never NULL. */
char **landed_streams(struct append *append, uint32_t number, size_t *out_count, struct error *err);
/* All that landed and has not come again, of this table. */
bool landed_read(struct append *append, uint32_t number, struct exactly *exactly, struct error *err);
void landed_clear(struct exactly *exactly);

#endif
