/*
 * Storage Write: requests of a batch, the connections that they go over, and what
 * comes of each. One thread, the writer's; answers only ring (bigquery_ring).
 */
#ifndef WEIR_SINK_BIGQUERY_APPEND_PRIVATE_H
#define WEIR_SINK_BIGQUERY_APPEND_PRIVATE_H

#include "sink/bigquery_private.h"

#define APPEND_REQUEST_BYTES ((size_t)2 << 20)  /* where a request is closed: the next one is made while it is on its way */
#define APPEND_WHOLE_BYTES ((size_t)9 << 20)    /* exactly once: one is on its way at a time, so it takes all that it may */
#define APPEND_ROW_BYTES_MAX ((size_t)9 << 20)  /* a row beyond it is a letter; a request with one row may be as large */
#define APPEND_UNSENT_BYTES ((size_t)24 << 20)  /* more than a batch has */

struct connection;
struct write_stream;
struct recent;

/* Rows of one part on their way. Lives in the batch's arena. */
struct request {
	struct request *next;         /* in its list */
	struct bigquery_part *part;
	uint32_t *records;
	size_t count;
	size_t bytes;                 /* of the rows, with their tags and lengths */
	struct write_stream *stream;  /* exactly once: it has an offset there; NULL: not yet, or the default stream */
	int64_t first_row;            /* the offset */
	struct connection *on;        /* sent, and not yet answered; NULL: waits to be sent */
	bool had_schema;              /* it told the connection how its rows are to be read */
	bool wants_schema;            /* it must, whatever the connection knows */
	bool goes_alone;              /* over a connection of its own: it may be the one that ended the shared one */
	bool is_doubtful;             /* refused as a whole: is it the row, or the table? */
	bool was_renewed;             /* it was sent again because its token was not taken */
	uint64_t number;              /* of table_doubt.sends */
	unsigned tries;
	int64_t failed_ms;            /* the first time; 0: not yet */
	int64_t not_before_ms;
	int64_t sent_ms;
	struct error why;             /* of the last failure */
};

struct request_list {
	struct request *first, **end;
};

/* One call of AppendRows. Answers come in the order of the requests of a stream. */
struct connection {
	struct connection *next;
	char *key;                    /* the location that its tables share, or the path of the only one */
	struct grpc_call *call;
	uint64_t token;
	bool is_told;                 /* google_ended was called */
	struct request_list sent;
	uint64_t shape_version;       /* the schema that the server knows of this connection */
};

/* Where a row stands in its source: it is the same when the row comes again. Written to the books as it lies here. */
struct place {
	uint64_t at;        /* place in the feed, number or hash of the message's id, number of a letter */
	uint32_t ordinal;   /* of the record in its message */
	uint32_t kind;      /* what `at` is */
};
enum { PLACE_FEED, PLACE_NUMBER, PLACE_HASH, PLACE_LETTER };
struct place place_of(const struct append *append, uint32_t record);
int place_compare(const void *a, const void *b);

struct append {
	struct bigquery *sink;
	struct batch *batch;          /* that is being written */
	struct connection *connections;
	struct request_list waiting;  /* to be sent, or sent again */
	struct request_list given_up; /* what failed for so long that somebody has to be told */
	struct late *late;            /* connections that are waited for though their batch is over */
	bool is_exactly_once;
	struct recent *recent;        /* of append tables that a subscription fills exactly once; else NULL */
	bool is_fine;                 /* rows of this batch were taken */
	struct limiter stream_limit;  /* of streams that are made */
	uint64_t looks;               /* at what parts wait for */
	struct error whole;           /* everything's trouble; kind NONE: none */
	uint64_t requests, answers;   /* since it was opened, for screens */
};

void list_clear(struct request_list *list);
void list_put(struct request_list *list, struct request *request);
struct request *list_take(struct request_list *list, struct request **at); /* *at is the one to be taken */

/* bigquery_request.c: bytes. */
/* Requests of a part's pending rows, closed at APPEND_REQUEST_BYTES; rows that are too large become letters. */
void requests_make(struct append *append, struct bigquery_part *part, struct request_list *out);
/* Two of one: the second half leaves. */
struct request *request_split(struct append *append, struct request *request);
/* Leaves out the records that have a verdict by now; false: none is left. */
bool request_sieve(struct append *append, struct request *request);
struct grpc_message *request_message(struct append *append, const struct request *request, bool has_schema);

/* bigquery_connection.c */
/* False: no token, no such endpoint (append->whole is set). True: sent, or there is no room yet. */
bool connection_send(struct append *append, struct request *request);
/* All that has come; true: something had. */
bool connections_receive(struct append *append);
/* Its requests wait again. */
void connection_drop(struct append *append, struct connection *connection);
void connections_drop_busy(struct append *append);
/* Leaves the list of its append; nothing is on its way for the batch any more. */
void append_connection_leave(struct append *append, struct connection *connection);
void append_connection_free(struct connection *connection);

/* bigquery_late.c: answers that come behind the end of their batch, so that nothing is sent twice because it is slow. Default
 * stream only: a committed one tells what it has. */
/* Rows of this connection's requests are parked, their tables wait for the answers. */
void late_begin(struct append *append, struct connection *connection);
/* Takes what has come; gives up what is not waited for any longer. */
void late_look(struct append *append);
void late_close(struct append *append);
/* Was this row taken by a request whose answer was late? Asked once a row. */
bool late_has_landed(struct append *append, struct bigquery_part *part, uint32_t record);

void params_encode(struct text *out, const char *value);

/*
 * bigquery_stream.c: a call about one write stream, under way or not. To be zeroed before its first use.
 */
struct stream_call {
	struct grpc_call *call;       /* NULL: none is under way */
	uint64_t token;
	int64_t since_ms, limited_ms; /* when it began; since when our own limit keeps it */
	bool was_renewed;             /* it was begun again because its token was not taken */
};
enum stream_outcome {
	STREAM_WAITS,  /* nothing has come yet: to be asked again when somebody rings */
	STREAM_DONE,
	STREAM_FAILED, /* with `err`, and BigQuery's *status if it spoke; a call that is only late goes on */
};
/* Both begin the call or look at it. */
enum stream_outcome stream_create(struct append *append, const struct bigquery_table *table, struct stream_call *call,
                                  char **out_name, struct google_status *status, struct error *err);
enum stream_outcome stream_finalize(struct append *append, const struct bigquery_table *table, struct stream_call *call,
                                    const char *name, int64_t *out_rows, struct google_status *status, struct error *err);
void stream_call_drop(struct stream_call *call);

/* bigquery_exactly.c: committed streams with offsets. False with `err` (and *status of BigQuery). */
/* What an earlier life, or a silence, left of this table is settled; behind it (DONE), what has landed is known. */
enum stream_outcome exactly_begin(struct append *append, struct bigquery_part *part, struct google_status *status, struct error *err);
/* Is this row there already, though nobody was told? Asked once a row. */
bool exactly_has_landed(struct append *append, struct bigquery_part *part, uint32_t record);
/* Gives the request its stream and offset, and notes both. False without an error: its streams are busy. */
bool exactly_prepare(struct append *append, struct request *request, struct google_status *status, struct error *err);
/* All that was taken, or had landed: for `recent`. */
void exactly_remember(struct append *append, uint32_t record);
const char *exactly_stream(const struct write_stream *stream);
/* `count` rows of it landed; 0: it is certain that none did. */
void exactly_done(struct request *request, size_t count);
/* Nobody knows what landed: asked before anything else is sent to the table. */
void exactly_doubt(struct bigquery_table *table);
void exactly_end(struct bigquery_part *part);

/* bigquery_recent.c: messages that are rows already, though they come again. Places of letters are none. */
struct recent *recent_open(struct local_sink *books, struct error *err);
void recent_close(struct recent *recent);
/* Asked of each row that is to be sent, by the batch's number and the record's in it. */
bool recent_is_repeat(struct recent *recent, uint64_t batch, uint32_t record, const struct place *place);
/* Its row is there. */
void recent_put(struct recent *recent, const struct place *place);
/* Inside the books' transaction; and once that is committed. */
bool recent_commit(struct recent *recent, struct error *err);
void recent_committed(struct recent *recent);

/* bigquery_answer.c: what comes of a request. */
/* "rows into 'd.t': DOING: ..."; `doing` may be NULL. */
void append_fail_by(struct error *out, const struct bigquery_table *table, const char *doing, const struct fate *fate,
                    const struct google_status *status);
struct response {
	struct span error, stream;
	bool has_error, has_row_errors, has_schema;
};
struct response response_look(struct span message);
/* Is it the answer to a request of that table? One that names no stream is anybody's. */
bool response_is_of(const struct response *response, const struct bigquery_table *table);
/* An AppendRowsResponse. */
void answer_read(struct append *append, struct connection *connection, struct span message);
/* The call has ended with these on their way. */
void answer_ended(struct append *append, struct connection *connection);
/* It failed, and is tried again if that is worth it. */
void request_failed(struct append *append, struct request *request, const struct google_status *status);
bool list_is_of_one_table(const struct request_list *list);
void request_retry(struct append *append, struct request *request, const struct error *why, int64_t asked_ms);

#endif
