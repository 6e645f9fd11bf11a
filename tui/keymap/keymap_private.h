/* Shared by the rooms of the keymap: keymap.c looks up, keymap_read.c reads key files, keymap_bind.c their bindings. */
#ifndef WEIR_TUI_KEYMAP_KEYMAP_PRIVATE_H
#define WEIR_TUI_KEYMAP_KEYMAP_PRIVATE_H

#include "keymap/keymap.h"

#define TABLE_NAME_BYTES 24

/* A row with is_nothing hides what the tables below have for its keys. */
struct key_row {
	struct binding binding;
	bool is_nothing;
};

struct key_table {
	char name[TABLE_NAME_BYTES];
	struct key_table *below; /* what it rests on; the last of each chain is `global` */
	struct key_row *rows;
	size_t count, room;
};

struct keymap {
	struct key_table tables[KEY_TABLES_MAX];
	size_t table_count;
	size_t binding_count;
};

/* The compiled default, and what is wrong with it: nothing, says a test. */
struct keymap *keymap_compiled(struct text *problems);
/* As keymap_read; the default's own lines make tables, and may not bind a key twice. */
void keymap_read_lines(struct keymap *keymap, const char *file, const char *text, bool is_default, struct text *problems);

struct key_table *table_find(const struct keymap *keymap, struct span name);
/* What of a table's own rows has these keys; NULL: none. */
struct key_row *row_find(const struct key_table *table, const struct sequence *keys);
/* Is one the beginning of the other, or the same? */
bool sequences_meet(const struct sequence *a, const struct sequence *b);
void row_release(struct key_row *row);

/*
 * Reading
 */
struct reading {
	struct keymap *keymap;
	const char *file;
	struct text *problems;
	bool is_default;
	int line_number;
	struct span line;
	size_t at;               /* in the line */
	struct key_table *table; /* of the lines that follow; NULL: none */
	bool is_lost;            /* its table is unknown, which is said already */
};

/* Adds a line to the problems, for the column `at` counted from 0; returns false. */
bool problem(const struct reading *reading, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
struct span peek_word(const struct reading *reading);
struct span take_word(struct reading *reading); /* and the blanks behind it */
bool binding_read(struct reading *reading);

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

#endif
