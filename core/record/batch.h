/*
 * What flows. A source adds messages, the transform turns each into records (or
 * marks it filtered or refused), the sink answers with a verdict per record.
 * Everything a batch points to lies in its arena.
 */
#ifndef WEIR_RECORD_BATCH_H
#define WEIR_RECORD_BATCH_H

#include "record/position.h"
#include "record/schema.h"

#define BATCH_RECORDS_MAX 5000
#define BATCH_RECORDS_SPARE 1000 /* beyond two a message: one DROP DATABASE drops many tables */
#define BATCH_BYTES_MAX (8u << 20)
#define BATCH_AGE_MS 50
#define TABLE_NONE UINT32_MAX
#define MESSAGE_NONE UINT32_MAX

struct attribute {
	struct span name, value;
};

/* A body that was too long to hold: it lies in the job's NAME.big/SHA256. */
struct big_body {
	uint64_t size;
	char sha256[65];
};

/* Why a message or a record was refused or parked. */
struct refusal {
	const char *stage;    /* "source", "decode", "map", "write" */
	const char *code;     /* a row of reasons.def */
	const char *message;  /* for people, lower case, no full stop */
	struct span column;   /* or empty */
	struct span path;     /* in the payload: "after.tags[0]", or empty */
};

enum message_fate {
	MESSAGE_OPEN,     /* its records decide */
	MESSAGE_FILTERED, /* recognised as no row */
	MESSAGE_REFUSED,  /* refused before any record could be made */
	MESSAGE_HELD,     /* refused so, but its table is paused: it is parked, and judged when it comes back */
};

/* What the writer looks at stands first: it passes over all messages of a batch several times. */
struct message {
	struct span body;              /* exact bytes of first receipt; the head only if `big` */
	const struct big_body *big;

	/* filled by the transform */
	const struct refusal *refusal; /* MESSAGE_REFUSED, or the first refused record's */
	uint32_t table;                /* index in the batch's job, or TABLE_NONE */
	uint32_t first_record, record_count;
	enum message_fate fate;
	bool is_counted;               /* set by the sink: an earlier commit of its dataset has it and has counted it */

	bool body_is_null;             /* "data": null */
	struct span id, key, publish;  /* empty: not there. publish: RFC 3339 as received */
	int64_t publish_us;            /* the same, where the source has it as a number; 0: its text tells */
	const struct attribute *attrs; /* in the order received */
	size_t attr_count;
	uint64_t offset, line;         /* feed: first byte of its line; lines count from 1. Subscription: the id as a number,
	                                  or its hash, the same for each delivery; no line */
	uint64_t receipt;              /* subscription: the how-manieth that came, over all runs; 0: a feed */
	uint32_t channel;              /* which of the source's subscriptions; 0: the only one, or a feed */
	uint32_t attempt;              /* of its delivery, from 1; 0: nobody counts */
	int64_t received_us;
	int64_t letter;                /* of a replay: the dead letter that it is; 0: fresh from the source */
	const char *letter_error;      /* of such a one: why it was refused, */
	int64_t letter_retries;        /* and how often it was tried again, with this time */
	struct span kept;              /* parked, or a letter: its records that the transform does not make again, packed (kept.h) */
	int64_t origin;                /* 0: the source of this run; set by dlq_unpark_next, read by dlq_keep and dlq_park */
	const struct json_doc *json;   /* tokens of body if the source has them; only until the next pull. An object that
	                                  is the value of the body's first member, "schema", may be a token without
	                                  children: its bytes are the same as in an earlier message */

	/* filled by the transform, too */
	struct span primary_key;       /* JSON text, if known */
	const unsigned char *position; /* POSITION_BYTES, if known */
	int64_t committed_ms;          /* by the source's clock; 0: it does not say */
};

enum operation { OP_INSERT, OP_UPDATE, OP_DELETE, OP_READ, OP_TRUNCATE, OP_DROP, OP_ALTER, OP_RENAME,
                 OPERATIONS };
extern const char *const operation_names[OPERATIONS]; /* "INSERT" ... */

enum verdict {
	VERDICT_PENDING,
	VERDICT_WRITTEN,
	VERDICT_REPEATED, /* already was in the destination */
	VERDICT_REFUSED,
	VERDICT_PARKED,
};

/* One change to one table. What the writer looks at stands first. */
struct record {
	uint32_t message;             /* index in the batch */
	uint32_t table;               /* index in the job's list of tables */
	enum operation operation;
	enum verdict verdict;         /* the transform may refuse or park, the sink decides the rest */
	const struct refusal *refusal;
	struct span proto;            /* Storage Write bytes of the changelog row, where the sink wants them */
	int64_t timestamp_ms;
	unsigned char position[POSITION_BYTES];
	struct span key;              /* _weir_key; empty: table event */
	struct span old_key;          /* _weir_key of the row before a key change, or empty */
	struct span full_record;      /* JSON text of the row; empty: DELETE, TRUNCATE, DROP. ALTER: what becomes of rows with
	                                 smaller positions, by columns' names: {"move":{"old":"new"},"cast":{"c":type},"set":{"c":value},
	                                 "fill":{"c":value}}, in this order; "fill" only where the row lacks the column.
	                                 RENAME: {"from":"db.table"}, whose rows the table has from here on */
	struct span primary_key;      /* JSON text; empty: none */
	struct span unavailable;      /* JSON list of column names; empty: none */
	struct span partition;        /* of the table, a day that the message names, "20240131"; empty: BigQuery finds it */
};

/* From record `before` on, table `table` has this schema (NULL: dropped). */
struct schema_change {
	uint32_t before;
	uint32_t table;
	const struct table_schema *schema;
	const char *why;              /* "new table", "new column phone", ... for the timeline */
	const char *steps;            /* JSON list of {"column","change","did"}, or NULL */
	uint32_t message;             /* whose, or MESSAGE_NONE: that of the record behind it */
	struct schema_change *next;
};

/* Something the operator should see once. */
struct batch_note {
	uint32_t table;               /* or TABLE_NONE */
	const char *code;
	const char *text;
	uint64_t count;               /* e.g. values stored as NULL */
	struct span column;
	struct batch_note *next;
};

/* Behind the last message: what is confirmed when all of it is safe. Opaque to all but the source. */
struct source_position {
	struct span identity;         /* e.g. device, inode, hash of the head, as JSON */
	uint64_t offset, line;
	struct span unparked;         /* ids of the parked messages that came back with this commit; see pipeline/unpark.c */
	struct span logs;             /* what the transform remembers of the source's logs; empty: no more than before */
};

struct batch {
	uint64_t number;
	struct arena *arena;
	struct message *messages;     /* arrays have room for BATCH_RECORDS_MAX */
	size_t message_count;
	struct record *records;       /* up to 2 a message, and BATCH_RECORDS_SPARE more */
	size_t record_count;
	struct schema_change *changes, **changes_end;
	struct batch_note *notes;
	struct source_position end;
	int64_t opened_ms;
	uint64_t fill;                /* which filling of the source this is, from 1; 0: not from the source */
	bool is_last;                 /* the source has no more */
	bool has_more;                /* the source had more to give when the batch was full */
	bool is_committed;            /* set by the writer: its source may be told when the batch comes back */
	int64_t replay;               /* the run whose letters it holds; 0: it is of the job's source */
	bool ends_replay;             /* the run's last batch, maybe without a message */
	bool brings_back;             /* nothing else is on its way: tables that may be tried again get what was parked of them */
	bool has_rows_committed;      /* of a replay: only the letters' states are still to be written */
};

struct batch *batch_new(void);
void batch_free(struct batch *batch);
void batch_reset(struct batch *batch);
bool batch_is_full(const struct batch *batch);
struct message *batch_add_message(struct batch *batch);         /* zeroed, table TABLE_NONE */
struct record *batch_add_record(struct batch *batch, struct message *of); /* zeroed, linked to it */
struct schema_change *batch_add_change(struct batch *batch, uint32_t table, const struct table_schema *schema,
                                       const char *why);
void batch_add_note(struct batch *batch, uint32_t table, struct span column, const char *code, uint64_t count,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Marks a message or record refused; the texts are copied into the batch's arena. Returns false. */
bool message_refuse(struct batch *batch, struct message *message, const char *stage, const char *code,
                    struct span column, struct span path, const char *format, ...)
	__attribute__((format(printf, 7, 8)));

struct span message_attribute(const struct message *message, const char *name, bool *out_found);
/* [{"key":..,"value":..}] in the order received; names may stand twice. */
void message_attributes_text(const struct message *message, struct text *out);

/*
 * The ledger of one table: messages, and rows. received = written + filtered +
 * dead_lettered + parked + in_flight.
 */
struct ledger {
	uint64_t received, written, filtered, dead_lettered, parked, repeated, rows;
};

void ledger_add(struct ledger *to, const struct ledger *from);
bool ledger_balances(const struct ledger *ledger, uint64_t in_flight);

/* Counts a batch whose verdicts are final into one ledger a table: `tables` has `count` entries and
 * one more at the end for TABLE_NONE. False (a bug) if a verdict is still pending. */
bool ledger_count(struct ledger *tables, size_t count, const struct batch *batch);
bool message_is_written(const struct batch *batch, const struct message *message); /* as the ledger counts it */

#endif
