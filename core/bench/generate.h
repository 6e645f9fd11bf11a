/*
 * Feeds to measure with: changes as Debezium's PostgreSQL connector writes them,
 * about 0.86 KB each, with or without a schema block of about 3.5 KB. A line
 * depends on nothing but its number and the seed.
 */
#ifndef WEIR_BENCH_GENERATE_H
#define WEIR_BENCH_GENERATE_H

#include "base/error.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define GENERATE_LINE_BYTES 8192 /* room for the longest line */
#define GENERATE_WORDS_MAX 200
#define GENERATE_SEED 20261130u

struct generator;

struct generator_setup {
	uint64_t seed;
	uint64_t rows;     /* lines 0 .. rows - 1 insert the rows 1 .. rows; every later one updates any of them */
	uint64_t youngest; /* not 0: any of the last so many */
	int more_words;    /* of the column note, which makes a row longer by about 6.6 bytes each; at most GENERATE_WORDS_MAX */
	bool has_schema;   /* each message carries its schema block, and there are several tables */
	bool is_flat;      /* a message is the row alone */
};

struct generator *generator_new(const struct generator_setup *setup);
void generator_free(struct generator *generator);

/* Line `number` with its newline; returns its length. */
size_t generator_line(const struct generator *generator, uint64_t number, char out[GENERATE_LINE_BYTES]);

/* Appends lines first .. first + count - 1 to the file, which is made when missing. */
struct generator_span {
	uint64_t first, count;
	const atomic_bool *is_cancelled;
};
bool generator_append(const struct generator *generator, const char *path, const struct generator_span *span,
                      struct error *err);

/* The file for the parameter sourceSchema that fits feeds without schema blocks. */
bool generator_source_schema(const char *path, struct error *err);

#endif
