/*
 * The books of a job that writes to BigQuery: position, ledger, tables, and the
 * write streams of exactly-once mode. They lie in a file of their own and not in the
 * job's store of letters: what a batch brought must commit at once, by the writer
 * alone, while the store's transactions are the letters'. The file is a warehouse's in
 * all but its rows, so local_books.c and local_catalog.c read, check and write it.
 */
#include "sink/bigquery_private.h"

#include "base/file.h"
#include "sink/warehouse_versions_private.h"

#include <stdlib.h>

#define BOOKS_ID 0x77654967 /* "weIg" */

/*
 * A stream that a table's rows go to, and what was about to be appended to it: written before the append, so that after a
 * crash the stream's row count tells which of them landed. `places` are where their messages stand in the source.
 */
#define STREAMS_V1 \
	"CREATE TABLE _weir_streams(" \
	"job TEXT, number INTEGER, stream TEXT, PRIMARY KEY(job, number, stream)) WITHOUT ROWID;" \
	"CREATE TABLE _weir_appends(" \
	"stream TEXT, first_row INTEGER, row_count INTEGER NOT NULL, has_landed INTEGER NOT NULL, places BLOB NOT NULL, " \
	"PRIMARY KEY(stream, first_row)) WITHOUT ROWID;"

/* Places of messages that are rows of append tables (bigquery_recent.c). */
#define RECENT_V7 \
	"CREATE TABLE _weir_recent(" \
	"job TEXT, generation INTEGER, number INTEGER, places BLOB NOT NULL, PRIMARY KEY(job, generation, number)) WITHOUT ROWID;"

static const char *const books_migrations[] = { (WAREHOUSE_V1 STREAMS_V1), (WAREHOUSE_V2), (WAREHOUSE_V3),
                                               (WAREHOUSE_V4), (WAREHOUSE_V5), (WAREHOUSE_V6), (RECENT_V7) };

static const struct store_kind books_kind = {
	.what = "books of a job at BigQuery",
	.application_id = BOOKS_ID,
	.version = sizeof(books_migrations) / sizeof(books_migrations[0]),
	.migrations = books_migrations,
};

char *bigquery_books_path(const char *warehouse, const char *job)
{
	OWNED(text) name = text_new(256);

	text_add_format(name, "bigquery/%s.db", job);
	return path_join(warehouse, name->at);
}

struct store *bigquery_books_open(const char *warehouse, const char *job, enum store_mode mode, struct error *err)
{
	char *path = bigquery_books_path(warehouse, job), *folder = path_folder(path);
	struct store *store = NULL;

	if (mode == STORE_READ || (folder_make_last(warehouse, err) && folder_make_last(folder, err)))
		store = store_open(path, mode, &books_kind, 0, 0, err);
	free(path);
	free(folder);
	return store;
}
