/* What the rooms of the baseline's preparation share. */
#ifndef WEIR_BENCH_BASELINE_PRIVATE_H
#define WEIR_BENCH_BASELINE_PRIVATE_H

#include "bench/bench_private.h"

#include <sqlite3.h>
#include <stdio.h>

#define BASELINE_SQL_MAX (4u << 20)

enum { CHANGELOG, REPLICA };

struct recorder {
	FILE *out;
	sqlite3 *run[BASELINE_FILES];   /* what the engine wrote */
	sqlite3 *files[BASELINE_FILES]; /* what the baseline will write to */
	size_t file_count;
	uint16_t statement_count;
	struct baseline *baseline;
};

/* A table being recorded: its statements and what reads its rows. */
struct table {
	char *changelog, *replica;
	uint16_t insert, upsert, remove;
	bool has_replica;
	int key_count;
	int64_t after, last; /* rowids of the changelog: (after, last] */
	sqlite3_stmt *rows, *folded;
};

/* Path of the file that the engine wrote. */
char *baseline_run_file(const struct bench *bench, size_t file);

sqlite3_stmt *recorder_prepare(sqlite3 *db, const char *sql, struct error *err);
/* Makes the table's statements: those of the script, and those that read its rows. */
bool recorder_changelog(struct recorder *r, struct table *table, struct error *err);
bool recorder_replica(struct recorder *r, struct table *table, struct error *err);

/* Steps into the script. */
void put_transaction(struct recorder *r, char what, char file);
uint16_t put_statement(struct recorder *r, char file, const struct text *sql);
void put_row(struct recorder *r, uint16_t statement, sqlite3_stmt *row, int first, int count);

#endif
