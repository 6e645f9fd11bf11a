/*
 * What the rooms of the type table share: rows, readers and the small texts
 * they write. Only for core/record/.
 */
#ifndef WEIR_RECORD_TYPE_PRIVATE_H
#define WEIR_RECORD_TYPE_PRIVATE_H

#include "record/type.h"

/* One conversion under way. */
struct reading {
	const struct source_type *from;
	const struct bq_type *to;
	const struct json_doc *doc;
	struct span placeholder;
	struct arena *arena;
	struct convert_fault *fault;
	struct bq_type got;  /* what the cell holds now; a reader may say otherwise than its row */
};

/* A row of types.def. */
struct type_row {
	const char *name;    /* semantic name; "" for a plain Connect type */
	const char *literal; /* Connect's own type */
	enum bq_kind kind;   /* default column type */
	bool is_array;
	enum convert_result (*read)(struct reading *r, uint32_t token, struct cell *out);
	int64_t unit;        /* times: how many in a second */
	const char *note;
};

enum convert_result read_int(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_real(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_bool(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_text(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_bytes(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_base64url(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_hex(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_bits(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_json(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_enum_set(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_any(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_decimal(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_variable_decimal(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_days(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_clock(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_stamp(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_time_text(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_duration(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_interval(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_structured(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_array(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_map(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_struct(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_object(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_members(struct reading *r, uint32_t token, struct cell *out);
enum convert_result reading_range(struct reading *r, struct cell *cell); /* of text, into r->to */
enum convert_result read_point(struct reading *r, uint32_t token, struct cell *out);
enum convert_result read_geometry(struct reading *r, uint32_t token, struct cell *out);

/* Failing in one line. */
enum convert_result reading_mismatch(struct reading *r, const char *message);
enum convert_result reading_out_of_range(struct reading *r, const char *code, const char *message);

/* Brings a cell of type r->got into r->to, by way of the canonical text where that is exact. */
enum convert_result reading_coerce(struct reading *r, struct cell *cell);
/* A fine value that no other column can hold, in a column of text: as the source means it, else as it wrote it. */
bool reading_beyond(struct reading *r, uint32_t token, struct cell *out);
/* A value inside the one at hand (an element, a field); `path` is added to a fault's. */
enum convert_result reading_inside(struct reading *r, const struct source_type *from, const struct bq_type *to,
                                   uint32_t token, struct span path, struct cell *out);

/* An integer number; 5.0 and 5e3 count. Beyond 64 bits: out of range with *out at the near end. */
enum convert_result reading_integer(struct reading *r, uint32_t token, const char *code, int64_t *out);
/* `text` as double, correctly rounded; false: not a number. */
bool real_parse(struct span text, struct arena *arena, double *out);
bool real_parse_words(struct span text, double *out); /* NaN, Infinity, -Infinity, inf ... */

/* Shortest text that reads back as the same number; REAL_TEXT_BYTES of room. */
#define REAL_TEXT_BYTES 32
#define REAL_MOST 1.7976931348623157e308
char *real_print(double number, char *at);
char *int_print(int64_t number, char *at);

/* JSON */
bool json_text_depth_ok(const struct json_doc *doc);
enum convert_result reading_json_text(struct reading *r, struct span text);
char *json_put_inside(struct span text, char *at);   /* escapes; at most 6 bytes a byte */
char *json_put_string(struct span text, char *at);   /* the same in quotes */
char *json_unescape(struct span inside, char *at);   /* of checked JSON; never longer */
/* Like cell_json, but an ARRAY or STRUCT stays a JSON value. */
char *cell_json_value(const struct cell *cell, const struct bq_type *type, char *at);
/* The characters of a text cell. */
struct span cell_plain(const struct cell *cell, struct arena *arena);

/* Enough for one temporal value in canonical text. */
#define TIME_TEXT_BYTES 40
char *time_print(enum bq_kind kind, int64_t number, char *at);

/* The type a source type has as an element or field. */
struct bq_type type_default_of(const struct source_type *from, struct arena *arena);
const struct type_row *type_row_find(struct span name, struct span literal);

/* A placeholder in one of its forms (spec/types.md 5.1). */
bool placeholder_is_text(const struct json_doc *doc, uint32_t token, struct span placeholder, struct arena *arena);
bool placeholder_is_inside(const struct json_doc *doc, uint32_t token, struct span placeholder, struct arena *arena);

#endif
