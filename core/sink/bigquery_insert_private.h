/*
 * insertAll: requests of a batch, and what comes of each. One thread, the writer's,
 * with all requests under way at once.
 */
#ifndef WEIR_SINK_BIGQUERY_INSERT_PRIVATE_H
#define WEIR_SINK_BIGQUERY_INSERT_PRIVATE_H

#include "google/proto.h"
#include "sink/bigquery_private.h"

#define INSERT_ROWS_MAX 500               /* a request; BigQuery recommends it, and takes 50,000 */
#define INSERT_REQUEST_BYTES 9000000      /* where a request is closed; 10 MB are allowed */
#define INSERT_ROW_BYTES_MAX 9900000      /* alone in its request, with all that is around it */
#define INSERT_CALLS_MAX 40               /* under way at once; 300 are allowed an account */
#define INSERT_FIRST_WAIT_MS 100
#define INSERT_MOST_WAIT_MS 1000
#define INSERT_POLL_MS 20                 /* between looks at the desk, while a table is being seen to */
#define INSERT_FIELD_GRACE_MS 600000      /* a column that was added may be unknown to insertAll for so long */

/* Rows of one part: waiting to be sent, or on their way. Lives in the batch's arena. */
struct insert_request {
	struct insert_request *next;
	struct bigquery_part *part;
	uint32_t *records;
	size_t count;
	struct rest_call *call;       /* NULL: it waits */
	uint64_t token;
	int64_t sent_ms;
	uint64_t number;              /* of table_doubt.sends */
	bool was_renewed;             /* it was sent again because its token was not taken */
	int64_t not_before_ms;
	int64_t failed_ms;            /* the first time of this row of failures; 0: not */
	struct backoff backoff;
	struct error why;             /* of one row that was refused as a whole request: is it the row, or the table? */
};

struct insert {
	struct bigquery *sink;
	struct rest_client *client;
	struct limiter limiter;
	struct batch *batch;
	struct insert_request *requests; /* of the batch; those that are done are taken out */
	struct insert_request *doubtful; /* rows that are judged when all else is done */
	size_t calls;
	int64_t begun_ms;
	int64_t answered_ms;          /* the last answer of any table */
	struct error whole;           /* everything's trouble; kind NONE: none */
};

/* bigquery_row_json.c: members of a row's object; true: there are some. */
bool row_json_members(struct text *out, struct proto_reader reader, const struct table_field *fields, size_t count);

/* bigquery_insert_body.c */
/* The body of as many of the request's rows as one takes; the others leave as a request of their own, *out_rest (or NULL).
 * Rows that are too large become letters. NULL: no row is left. The caller frees it. */
struct text *insert_body(struct insert *insert, struct insert_request *request, struct insert_request **out_rest);
/* As gzip; false: it is not worth it. */
bool insert_gzip(struct span body, struct text *out);
struct insert_request *insert_request_new(struct insert *insert, struct bigquery_part *part, uint32_t *records, size_t count);

/* bigquery_insert_answer.c */
void insert_answered(struct insert *insert, struct insert_request *request, const struct rest_answer *answer);
void insert_failed(struct insert *insert, struct insert_request *request, const struct rest_answer *answer,
                   const struct error *error);
/* At a batch's end: rows that were refused as whole requests. */
void insert_judge_doubtful(struct insert *insert);
/* It is tried again, or its table has trouble if that has gone on for too long. */
void insert_retry(struct insert *insert, struct insert_request *request, const struct error *why);

/* bigquery_insert.c */
void insert_add(struct insert *insert, struct insert_request *request);
void insert_trouble(struct insert *insert, struct insert_request *request, bool needs_you, bool is_desk, const struct error *why);

#endif
