/* What the rooms of the generator share: the columns, and writing without printf. */
#ifndef WEIR_BENCH_GENERATE_PRIVATE_H
#define WEIR_BENCH_GENERATE_PRIVATE_H

#include "base/span.h"
#include "base/text.h"
#include "bench/generate.h"

#define GENERATE_TABLES 8

/* The bundle's own table first; the others appear only beside schema blocks. */
extern const char *const generate_tables[GENERATE_TABLES];

struct generate_column {
	const char *name;
	const char *node;     /* members of Debezium's schema node, without braces */
	const char *bigquery;
};

extern const struct generate_column generate_columns[];
extern const size_t generate_column_count;

struct generator {
	struct generator_setup setup;
	/* per table: the schema block, and the key's schema block escaped for a JSON string */
	struct text *blocks[GENERATE_TABLES], *key_blocks[GENERATE_TABLES];
};

void schema_block_make(const char *table, struct text *out);
void schema_key_block_make(const char *table, struct text *out);

/* Each writes at `at` and returns the end. */
char *put(char *at, const char *text);
char *put_text(char *at, const struct text *text);
char *put_number(char *at, uint64_t number);
char *put_digits(char *at, uint64_t number, int digits); /* with leading zeros */
char *put_utc(char *at, int64_t utc_us);                 /* 2026-11-30T01:02:45.574269Z */

#endif
