/*
 * DDL as MySQL and MariaDB write it into their log: what a statement does to the
 * columns and names of tables. Only that is read; what cannot be read is said,
 * never guessed. Every span lies in the arena or in the text.
 */
#ifndef WEIR_TRANSFORM_DDL_H
#define WEIR_TRANSFORM_DDL_H

#include "base/arena.h"

#include <stdbool.h>

#define DDL_BYTES_MAX (1u << 20)
#define DDL_CLAUSES_MAX 4096

enum ddl_default {
	DDL_NO_DEFAULT,
	DDL_NULL,
	DDL_LITERAL,    /* `value` as the column's own text: of a string, number, bit or hex literal */
	DDL_BYTES,      /* `value` are raw bytes: x'4D', b'101' */
	DDL_NOW,        /* CURRENT_TIMESTAMP and its other names */
	DDL_EXPRESSION, /* nobody but the source can tell what it gives */
};

/* A value of ENUM's or SET's list. */
struct ddl_value {
	struct span text;
	struct ddl_value *next;
};

/* A column as ADD, CHANGE or MODIFY defines it. */
struct ddl_column {
	struct span type;         /* its first word: VARCHAR */
	struct span definition;   /* as written, for people */
	uint64_t sizes[2];        /* (12, 2) */
	size_t size_count;
	struct ddl_value *values; /* of ENUM and SET */
	bool is_unsigned, is_not_null, is_key, is_counter, is_generated;
	enum ddl_default kind;
	struct span value;
};

enum ddl_verb { DDL_ADD, DDL_DROP, DDL_CHANGE, DDL_MODIFY, DDL_RENAME, DDL_RENAME_TABLE, DDL_DROP_TABLE, DDL_OTHER };

struct ddl_clause {
	enum ddl_verb verb;
	bool is_conditional;      /* IF EXISTS, IF NOT EXISTS */
	struct span name;         /* the column; RENAME_TABLE: the table before; DROP_TABLE: the table */
	struct span new_name;     /* CHANGE, RENAME, RENAME_TABLE */
	struct span db, new_db;   /* RENAME_TABLE, DROP_TABLE: or empty */
	struct ddl_column column; /* ADD, CHANGE, MODIFY */
	struct ddl_clause *next;
};

enum ddl_kind {
	DDL_ALTER_TABLE,   /* clauses of one table */
	DDL_RENAME_TABLES, /* clauses RENAME_TABLE, one after the other */
	DDL_TRUNCATE,      /* one table is emptied */
	DDL_DROP_TABLES,   /* clauses DROP_TABLE */
	DDL_DROP_DATABASE, /* all tables of `db` */
	DDL_CREATE,        /* CREATE TABLE: there was none of that name; its columns are not read */
	DDL_REPLACE,       /* CREATE OR REPLACE TABLE: one table is dropped and made anew; its columns are not read */
	DDL_ELSE,          /* nothing that concerns columns or names */
};

struct ddl {
	enum ddl_kind kind;
	struct span db, table;    /* of one table's statement; db may be empty */
	struct ddl_clause *clauses;
};

/* False: `*out_why` says in words what could not be read. */
bool ddl_read(struct span text, struct arena *arena, struct ddl *out, const char **out_why);

#endif
