/*
 * Tables at BigQuery: what a table must look like for rows to enter (its shape),
 * and the desk that sees to it. The desk asks for tables, makes them and gives them
 * columns over REST, on a thread of its own with all its calls under way at once: a
 * table whose answer is slow, or whose dataset is missing, keeps no other waiting.
 */
#ifndef WEIR_SINK_BIGQUERY_TABLE_PRIVATE_H
#define WEIR_SINK_BIGQUERY_TABLE_PRIVATE_H

#include "google/google.h"
#include "options/options.h"
#include "record/schema.h"

#include <jansson.h>

#define BIGQUERY_COLUMNS_MAX 10000 /* nested ones counted */
#define BIGQUERY_DESCRIPTION_MAX 1024

/*
 * Shapes. Plain values; all they point to lives in one arena.
 */
struct table_field {
	struct span name;
	enum bq_kind kind;
	bool is_array;
	bool is_required;                  /* in a table that is made; one that is there takes no such column */
	bool is_relaxed;                   /* it was made so, and shall be so no more */
	uint32_t number;                   /* of the field in a row's protobuf, from 1 */
	const struct table_field *fields;  /* STRUCT only; never without one */
	size_t field_count;
};

struct table_shape {
	const struct table_field *fields;
	size_t count;
	const char *description;           /* of the table when it is made; NULL */
	const struct span *keys;           /* its primary key when it is made (never enforced, so never of a table where rows
	                                      may come twice); key_count 0: none */
	size_t key_count;
	bool adapts;                       /* rows are fitted to the columns that the table has: another type is no trouble */
	bool adds_nothing;                 /* such a table gets no column: what it lacks is left out */
};

/* Of the changelog of a source table: the template's columns, then ours; field numbers are those of record.proto
 * (transform/proto.c); CHANGELOG_RECEIVED and CHANGELOG_CHANGE (an ALTER's or RENAME's JSON) are the sink's. A RECORD needs a column at BigQuery: without
 * any (a table whose columns are not known yet) fullRecord or primaryKey are left out. */
#define CHANGELOG_RECEIVED 10
#define CHANGELOG_CHANGE 11
const struct table_shape *changelog_shape(struct arena *arena, const struct table_schema *schema);
/* Of an append table: the columns as they are, column i as field i + 1, and nothing of ours. `is_absent` (a column each; or
 * NULL): left out. It adapts. */
const struct table_shape *row_shape_of(struct arena *arena, const struct table_schema *schema, const bool *is_absent,
                                       bool adds_nothing);
const struct table_shape *shape_copy(struct arena *arena, const struct table_shape *shape);
bool shape_equal(const struct table_shape *a, const struct table_shape *b);
size_t shape_columns(const struct table_shape *shape); /* nested ones counted */

/* A column as a table has it. */
struct table_column {
	struct span name;
	struct bq_type type;
	bool is_known;           /* else of a type that none of our values has */
};
/* Of REST's schema.fields, in the arena. */
struct table_column *columns_of_json(const json_t *fields, struct arena *arena, size_t *out_count);

/* Of a table that is made, as REST writes it: [{"name","type","mode"?,"fields"?}]. The caller's reference. */
json_t *shape_json(const struct table_shape *shape);

/* A table at BigQuery beside the shape that is wanted. */
struct shape_difference {
	json_t *merged;          /* the table's fields as they are, what is missing behind them; NULL: nothing is missing */
	size_t missing;          /* columns, of those that were there before none nested */
	char first_missing[320]; /* "fullRecord.phone" */
	size_t conflicts;        /* columns that cannot take what we would write */
	char conflict[320];      /* the first one */
	char conflict_has[32];   /* "INT64", "ARRAY<STRING>" */
	char conflict_wants[32];
};
/* `present` is a table's schema.fields (lent). The caller drops out->merged. */
void shape_compare(const json_t *present, const struct table_shape *wanted, struct shape_difference *out);
/* May values of the wanted kind be written into a column of that kind, exactly? */
bool shape_takes(enum bq_kind present, enum bq_kind wanted);

/* Percent-encoded: one part of a path or of a routing header, and a path whose slashes stay. */
void url_add_part(struct text *url, const char *part);
void url_add_path(struct text *url, const char *path);

/*
 * What an answer means for the table or the row: bigquery_fates.def, and for all that it does not name answers.def.
 */
enum bigquery_call {
	CALL_TABLE_GET = 1, CALL_TABLE_CREATE = 2, CALL_TABLE_PATCH = 4, CALL_INSERT_ALL = 8, CALL_APPEND = 16,
	CALL_STREAM = 32, /* CreateWriteStream, GetWriteStream, FinalizeWriteStream */
	CALL_ROW = 64,    /* one row's error, in insertErrors or row_errors */
};

enum bigquery_fate {
	FATE_WAIT,      /* it passes by itself: the table waits, nothing of it is lost */
	FATE_NEEDS_YOU, /* nothing enters the table until somebody has done something */
	FATE_LETTER,    /* this row will never be taken */
	FATE_AGAIN,     /* nothing is wrong with it: sent again at once */
	FATE_SPLIT,     /* the request is too large: in halves; a single row is a letter */
	FATE_LOOK,      /* the table is not what we think: looked up again */
};

struct fate_row {
	unsigned calls;           /* enum bigquery_call */
	int http;                 /* 0: any */
	enum grpc_code code;      /* GRPC_ANY: any */
	const char *reason;       /* of REST or ErrorInfo; "": any */
	const char *text;         /* the message has this in it, in any case; "": any */
	enum bigquery_fate fate;
	enum error_kind kind;
	const char *error_code;
	const char *sentence;
};
extern const struct fate_row fate_rows[];
extern const size_t fate_row_count;

struct fate {
	enum bigquery_fate fate;
	enum error_kind kind;
	const char *error_code, *sentence;
};
/* http 0: gRPC. Status may be all zeros but its code (GRPC_ANY). */
struct fate bigquery_judge(enum bigquery_call call, int http, const struct google_status *status);
/* Of one row: reason of REST ("" with Storage Write) and BigQuery's words. */
struct fate bigquery_judge_row(const char *reason, const char *message);

/*
 * Limits of calls that BigQuery sets, kept here so that no call is refused for them. See quotas in bigquery_limit.c.
 */
enum quota { QUOTA_TABLE_GET, QUOTA_TABLE_INSERT, QUOTA_TABLE_UPDATE, QUOTA_STREAM_CREATE, QUOTA_STREAM_GET, QUOTA_INSERT_ALL,
             QUOTAS };
/* One quota of one thing (a project, a table). Zeros: fresh. Not for two threads at once. */
struct limiter {
	int64_t used_us;         /* what was taken so far lasts until then (clock_mono_ms, in microseconds) */
};
/* May one more call be made now? Else *out_until_ms says when (clock_mono_ms). */
bool limiter_take(struct limiter *limiter, enum quota quota, int64_t now_ms, int64_t *out_until_ms);
const char *quota_words(enum quota quota); /* "5 updates of one table in 10 seconds" */

/*
 * The desk. All functions may be called from any thread.
 */
struct table_desk;

enum table_state {
	TABLE_ASKING,    /* looked up, made, given columns, or waiting for the write path to know them: in a moment */
	TABLE_READY,     /* rows of the wanted shape may be sent */
	TABLE_DIFFERS,   /* its columns are others than an adapting shape's: table_desk_columns tells them, another shape is wanted */
	TABLE_WAITING,   /* what passes by itself; `error` says what, `next_ms` when it is tried again */
	TABLE_NEEDS_YOU, /* what does not; looked at again at `next_ms` all the same, so that a repair needs no word */
};

struct table_desk_setup {
	struct google *google;
	const char *project;             /* of the tables */
	const struct job_options *options; /* how tables are made; lent until close */
	bool asks_write_path;            /* Storage Write: a table is ready when GetWriteStream knows its columns */
	/* A table has another state. Under the desk's lock: it may ring a bell, never call the desk. NULL: nobody listens. */
	void (*on_change)(void *context, size_t table);
	void *context;
};
struct table_desk *table_desk_open(const struct table_desk_setup *setup, struct error *err);
void table_desk_close(struct table_desk *desk);

/* The number of a table, the same for the same names. Nothing is asked yet. */
size_t table_desk_find(struct table_desk *desk, struct span dataset, struct span name);
/* From now on the table shall have this shape (copied). The same shape again costs a comparison; with another one the
 * table is TABLE_ASKING when this returns, until the shape is seen to. */
void table_desk_want(struct table_desk *desk, size_t table, const struct table_shape *wanted);
/* Rows name days of it: where it is made without another word it has daily partitions. */
void table_desk_make_daily(struct table_desk *desk, size_t table);
/* Rows of ours are in it: should it be missing it was dropped, and is not made again in silence. */
void table_desk_expect(struct table_desk *desk, size_t table);
/* The write path says otherwise (not found, no such field): looked up again, now. */
void table_desk_doubt(struct table_desk *desk, size_t table);

struct table_view {
	enum table_state state;
	struct error error;      /* of WAITING and NEEDS_YOU; also of ASKING when it was one of them just before */
	int64_t next_ms;         /* of those: the next try (clock_mono_ms) */
	int64_t since_ms;        /* of `state`, and of `error` as long as its code is the same (clock_mono_ms) */
	uint64_t columns_version; /* counts what was read of its columns; 0: not yet */
	uint64_t incarnation;    /* another one: the table was dropped and made anew */
	int64_t changed_ms;      /* when we made it or gave it columns (clock_mono_ms); 0: never. What the write path does not
	                            know in the minutes behind that will pass */
	bool is_everybodys;      /* the error: nobody answered, or no token is taken; no fault of this table unless others do well */
	char location[64];       /* "EU", "us-central1"; "" not known */
	char what[64];           /* the call that is under way or waits: "making the table"; "" none */
};
void table_desk_look(struct table_desk *desk, size_t table, struct table_view *out);
/* The columns that it has, in the arena, and their columns_version. */
struct table_column *table_desk_columns(struct table_desk *desk, size_t table, struct arena *arena, size_t *out_count,
                                        uint64_t *out_version);
/* Waits until some table has changed its state since `*inout_seen` (0 at first), or until_ms (clock_mono_ms). */
bool table_desk_wait(struct table_desk *desk, uint64_t *inout_seen, int64_t until_ms);

#endif
