/* Tokens of DDL, for its reader. */
#ifndef WEIR_TRANSFORM_DDL_PRIVATE_H
#define WEIR_TRANSFORM_DDL_PRIVATE_H

#include "record/type.h"
#include "transform/ddl.h"

enum ddl_token_kind {
	DDL_END,
	DDL_WORD,   /* a keyword or a bare name */
	DDL_NAME,   /* `name` */
	DDL_TEXT,   /* 'text', and "text", which is a name where one is expected */
	DDL_BLOB,   /* x'4D', b'101', 0x4D: raw bytes */
	DDL_NUMBER,
	DDL_SIGN,   /* one character */
	DDL_BROKEN, /* a quote or a comment without its end */
};

struct ddl_token {
	enum ddl_token_kind kind;
	struct span text;         /* without quotes and escapes */
	const char *begin, *end;  /* as it stands in the statement */
};

struct ddl_scan {
	struct arena *arena;
	const char *at, *end;
	bool is_executable;       /* inside of a comment that is code */
	struct ddl_token now;
	const char *last_end;     /* of the token before */
};

void ddl_scan_begin(struct ddl_scan *scan, struct span text, struct arena *arena);
void ddl_next(struct ddl_scan *scan);

/* Without regard to case; `word` is in lower case. */
bool ddl_word_is(struct span text, const char *word);
bool ddl_is_word(const struct ddl_scan *scan, const char *word);
bool ddl_is_sign(const struct ddl_scan *scan, char sign);
/* Goes on behind the word or sign, if it is there. */
bool ddl_take_word(struct ddl_scan *scan, const char *word);
bool ddl_take_sign(struct ddl_scan *scan, char sign);
bool ddl_take_name(struct ddl_scan *scan, struct span *out);
/* Behind the parenthesis that belongs to the one that stands here. */
void ddl_skip_parentheses(struct ddl_scan *scan);
bool ddl_is_over(const struct ddl_scan *scan);
/* Up to the comma or semicolon behind it. */
void ddl_skip_clause(struct ddl_scan *scan);
/* db.table or table. */
bool ddl_take_table(struct ddl_scan *scan, struct span *out_db, struct span *out_table);
/* IF EXISTS, IF NOT EXISTS */
bool ddl_take_condition(struct ddl_scan *scan);
/* Nothing more belongs to this clause: a comma, a closing parenthesis, a semicolon or the end. */
bool ddl_is_clause_end(const struct ddl_scan *scan);

/* ddl_clauses.c: what is read of a statement, and its clauses. */
struct ddl_reading {
	struct ddl_scan scan;
	struct ddl *out;
	struct ddl_clause **end;
	size_t count;
	const char *why;          /* what could not be read */
};

struct ddl_clause *ddl_clause_add(struct ddl_reading *r, enum ddl_verb verb);
bool ddl_fail(struct ddl_reading *r, const char *why);
bool ddl_read_clauses(struct ddl_reading *r);

/* ddl_column.c: type and attributes of a column. */
bool ddl_read_column(struct ddl_scan *scan, struct ddl_column *out);

/* Types whose values become those of another type in the same way. */
enum ddl_family {
	FAMILY_OTHER, FAMILY_INTEGER, FAMILY_YEAR, FAMILY_DECIMAL, FAMILY_FLOAT, FAMILY_DOUBLE, FAMILY_CHAR, FAMILY_VARCHAR,
	FAMILY_TEXT, FAMILY_ENUM, FAMILY_SET, FAMILY_UUID, FAMILY_BINARY, FAMILY_BLOB, FAMILY_BIT, FAMILY_DATE, FAMILY_TIME,
	FAMILY_DATETIME, FAMILY_TIMESTAMP, FAMILY_JSON,
};

enum ddl_family ddl_family(const struct ddl_column *column);
/* Bytes of an integer. */
unsigned ddl_width(const struct ddl_column *column);

/* ddl_type.c: a column as its values are typed where a schema block says what they are; its n-th size; the text of its
 * implicit default, NULL: none that is the same for all of its type. */
bool ddl_value_type(const struct ddl_column *column, struct arena *arena, struct bq_type *out);
int32_t ddl_size(const struct ddl_column *column, size_t i, int32_t otherwise);
const char *ddl_implicit(const struct ddl_column *column);

/* ddl_date.c: a literal of a date or time into the form of values, 2020-01-02T03:04:05. False: it is none. */
bool ddl_read_date(struct span text, bool has_time, struct arena *arena, struct span *out);
bool ddl_read_time(struct span text, struct arena *arena, struct span *out);

#endif
