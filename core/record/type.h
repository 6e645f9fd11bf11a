/*
 * Types: what a destination column holds (BigQuery's types), how a source wrote
 * it (Debezium's semantic types), and the one table that joins them
 * (record/types.def; spec: types of Debezium's connectors and of BigQuery).
 */
#ifndef WEIR_RECORD_TYPE_H
#define WEIR_RECORD_TYPE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "record/json.h"

enum bq_kind {
	BQ_STRING, BQ_INT64, BQ_FLOAT64, BQ_BOOL, BQ_BYTES, BQ_NUMERIC, BQ_BIGNUMERIC,
	BQ_DATE, BQ_TIME, BQ_DATETIME, BQ_TIMESTAMP, BQ_INTERVAL, BQ_JSON, BQ_GEOGRAPHY,
	BQ_RANGE_DATE, BQ_RANGE_DATETIME, BQ_RANGE_TIMESTAMP, BQ_STRUCT, BQ_KINDS
};

/* A column's type. Plain value; `fields` (STRUCT only) lives in the schema's arena. */
struct bq_type {
	enum bq_kind kind;
	bool is_array;
	const struct bq_field *fields;
	size_t field_count;
};

struct bq_field {
	struct span name;
	struct bq_type type;
	bool is_required; /* by the schema file; no part of the type, and not kept with it: tables are made so */
};

/* "INT64", "ARRAY<STRING>", "RANGE<DATE>", "STRUCT<x FLOAT64, y FLOAT64>" */
bool bq_type_print(struct text *out, const struct bq_type *type);
bool bq_type_parse(struct span text, struct arena *arena, struct bq_type *out);
/* With its fields, in another lifetime. */
struct bq_type bq_type_copy(struct arena *arena, const struct bq_type *type);
bool bq_type_equal(const struct bq_type *a, const struct bq_type *b);
/* DATE, DATETIME or TIMESTAMP of a RANGE; BQ_STRING (0) of any other kind. */
enum bq_kind bq_range_element(enum bq_kind kind);
/* SQLite's declared type of a local column: INTEGER, REAL, TEXT or BLOB. */
const char *bq_type_local(const struct bq_type *type);

/*
 * A value on its way from the message to the destination. Spans point into the
 * message or the batch's arena.
 */
enum cell_kind {
	CELL_NULL,
	CELL_ABSENT,      /* the message has no such column: NULL in the changelog, no type information */
	CELL_UNAVAILABLE, /* the placeholder of an unchanged large value */
	CELL_INT,         /* number: INT64; BOOL 0/1; DATE days; TIME, DATETIME, TIMESTAMP microseconds */
	CELL_REAL,        /* number: FLOAT64. text: how to write it (shortest, as the source did) */
	CELL_TEXT,        /* text: STRING, NUMERIC, BIGNUMERIC (canonical), INTERVAL (canonical), JSON, GEOGRAPHY, RANGE
	                     (canonical, and never is_plain, for its protobuf is a message) */
	CELL_BYTES,       /* text: the raw bytes */
	CELL_JSON,        /* text: JSON text of an ARRAY or STRUCT whose elements are canonical; number: how many
	                     elements of ARRAYs in it are null (BigQuery stores none: cell_proto leaves them out) */
};

struct cell {
	enum cell_kind kind;
	bool is_escaped; /* CELL_TEXT: `text` is still the inside of a JSON string */
	bool is_plain;   /* is_escaped, but it has no backslash: the characters as they are */
	int64_t number;
	double real;
	struct span text;
};

/* How the source wrote a column: a row of the type table with its parameters. */
struct source_type {
	const struct type_row *row;
	int32_t scale;      /* Decimal */
	int32_t precision;  /* Decimal; 0 unknown */
	int32_t length;     /* Bits */
	const struct source_type *element; /* arrays */
	const struct source_field *fields; /* structs */
	size_t field_count;
};

struct source_field {
	struct span name;
	struct source_type type;
};

enum convert_result {
	CONVERT_OK,
	CONVERT_MISMATCH,       /* wrong JSON kind or grammar: code type_mismatch */
	CONVERT_OUT_OF_RANGE,   /* a fine value that the column cannot hold */
};

/* Why a value was refused; texts lie in the arena. */
struct convert_fault {
	const char *code;    /* type_mismatch, integer_out_of_range, decimal_out_of_range, timestamp_out_of_range, ... */
	const char *message; /* "text where a number is meant" */
	struct span path;    /* inside the column: "[0].x"; empty: the column itself */
	struct span raw;     /* the whole column's value as the source wrote it, unescaped */
};

/* Kinds of onUnrepresentable. */
enum value_group { GROUP_NUMBER, GROUP_TIME, GROUP_OTHER, VALUE_GROUPS };
enum value_group bq_value_group(const struct bq_type *type);

/* Reads the JSON value `token`, written as `from`, into a cell of column type `to`.
 * `placeholder` is the text of unchanged large values; its forms in bytes and arrays are known.
 * Out of range: *out is the nearest value that the column holds (NULL if there is none), fault is filled.
 * Mismatch: fault is filled, *out means nothing. Fault's message is not from the source. */
enum convert_result type_convert(const struct source_type *from, const struct bq_type *to,
                                 const struct json_doc *doc, uint32_t token, struct span placeholder,
                                 struct arena *arena, struct cell *out, struct convert_fault *fault);

/* A reader of what values of the pair nearly always look like, chosen once a column. False: type_convert must be
 * asked. NULL and placeholders are the caller's; `read` is NULL where the pair has no quick reader. */
struct type_quick {
	bool (*read)(const struct type_quick *quick, const struct json_doc *doc, uint32_t token, struct arena *arena,
	             struct cell *out);
	int64_t number; /* the reader's own */
};

struct type_quick type_quick(const struct source_type *from, const struct bq_type *to);
/* Where each value tells its own kind: JSON of the column's natural kind. */
struct type_quick type_quick_untold(const struct bq_type *to);

/* Default BigQuery type of a source type (spec/types.md 4). */
void type_default(const struct source_type *from, struct arena *arena, struct bq_type *out);

/* A schema node of Debezium ({"type","name","parameters",...}) to a source type. Unknown semantic
 * names fall back to the plain type of `type`; false for a node that is none. */
bool source_type_read(const struct json_doc *doc, uint32_t node, struct arena *arena, struct source_type *out);

/* A row of the type table by semantic name, or by plain Connect type ("int64"): for configuration.
 * "weir.Any" reads what the JSON kind and the column say (a number in DATE is days; in other times nobody tells
 * its unit); "base64", "base64-url-safe" and "hex" are encodings of BYTES in text. */
bool source_type_named(const char *name, struct source_type *out);
/* BigQuery's times have microseconds: does this one have digits below, which are cut? */
bool source_time_is_cut(const struct source_type *from, const struct json_doc *doc, uint32_t token);
const char *source_type_name(const struct source_type *type);
/* A decimal of which the source names no precision: any number of digits may come. */
bool source_type_is_open_decimal(const struct source_type *type);
bool source_type_equal(const struct source_type *a, const struct source_type *b);

/* Without schema: what a value's JSON kind says (engine.md "Without a schema"). null: *is_known false. */
void type_infer(const struct json_doc *doc, uint32_t token, struct arena *arena, struct source_type *out_from,
                struct bq_type *out_to, bool *is_known);

/* Is the number exact in INT64, or with a fraction or exponent in FLOAT64? */
bool type_infer_fits(const struct json_doc *doc, uint32_t token, struct arena *arena);
/* What values of an inferred column of this type may be besides (record/guesses.def); NULL: the rule is sure. */
const char *type_guess(const struct bq_type *type);

/* The smallest type that holds both exactly: INT64 + FLOAT64 stays exact only below 2^53, so it is
 * STRING unless `value_fits`; anything else STRING; arrays JSON. True if `old` had to change. */
bool bq_type_widen(struct bq_type *old, const struct bq_type *seen, bool value_fits);

/* The double nearest to a number's text, if that is quick to tell: few digits, a small exponent. -0 is 0. */
bool real_parse_short(struct span text, double *out);

/* The two ends of a RANGE: DATE days, DATETIME and TIMESTAMP microseconds; one that is not there is unbounded. */
struct range_ends {
	bool has_start, has_end;
	int64_t start, end;
};
/* Of canonical text, and into it: "[2020-01-01, UNBOUNDED)". */
bool range_ends(struct span canonical, enum bq_kind kind, struct range_ends *out);
void range_text(struct text *out, enum bq_kind kind, const struct range_ends *ends);

/* The canonical text of a cell of that type (data/README "Canonical text"); NULL cells give false. */
bool cell_text(const struct cell *cell, const struct bq_type *type, struct arena *arena, struct span *out);

/* One value into the JSON text of a changelog's fullRecord or primaryKey: INT64 and FLOAT64 numbers
 * (NaN and infinities as text), BOOL true/false, NULL null, everything else its canonical text as a
 * JSON string; ARRAY and STRUCT as JSON text inside a string. Writes at `at`, returns the end;
 * room needed: cell_json_room. */
#define CELL_JSON_ROOM 64 /* beside six times its text */
size_t cell_json_room(const struct cell *cell);
char *cell_json(const struct cell *cell, const struct bq_type *type, char *at);

/* The BigQuery Storage Write form: protobuf field `number` with this value (spec/apis-grpc 6.3); NULL
 * writes nothing. Returns the end; room needed: cell_proto_room. */
#define CELL_PROTO_ROOM 15 /* tag and varint */

/* An element of an array may be one digit and its comma: tag and varint are then seven times as long. */
static inline size_t cell_proto_room(const struct cell *cell)
{
	return (cell->kind == CELL_JSON ? cell->text.len * 8 : cell->text.len) + CELL_PROTO_ROOM;
}

enum { RANGE_START = 1, RANGE_END = 2 }; /* fields of a RANGE's message */
char *cell_proto(const struct cell *cell, const struct bq_type *type, uint32_t number, char *at);

#endif
