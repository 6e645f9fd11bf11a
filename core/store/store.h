/*
 * SQLite as we use it: open with the identity checks of a state file, migrate,
 * statements, errors in words. A connection never crosses a thread.
 */
#ifndef WEIR_STORE_STORE_H
#define WEIR_STORE_STORE_H

#include "base/error.h"
#include "base/span.h"

#include <sqlite3.h>

enum store_mode {
	STORE_READ,   /* read only, never makes a file */
	STORE_WRITE,  /* read and write, made when missing (mode 0600, WAL, synchronous FULL) */
};

struct store_kind {
	const char *what;            /* "store of job", "warehouse": for messages */
	int32_t application_id;
	int32_t version;             /* PRAGMA user_version written by this program */
	/* migrations[i] brings version i to i + 1; [0] makes a new file. One transaction each, with a copy of the file
	 * beside it (FILE.vN) before any but the first. */
	const char *const *migrations;
	int page_bytes;              /* of a new file; 0: SQLite's default */
};

struct store {
	sqlite3 *db;
	char *path;
	const struct store_kind *kind;
};

/* Damaged: ERROR_BUG `state_damaged`; made by a newer weir: ERROR_CONFIG `state_too_new`; read-only or no right:
 * ERROR_ACCESS `no_permission`; a link: `no_permission`; missing with STORE_READ: ERROR_CONFIG `no_such_file`.
 * cache_bytes 0: SQLite's default. checkpoint_pages 0: default 1000. */
struct store *store_open(const char *path, enum store_mode mode, const struct store_kind *kind, int64_t cache_bytes,
                         int checkpoint_pages, struct error *err);
void store_close(struct store *store);

/* Fills err from the connection's last error: full disk `disk_full`, busy `database_locked` (both transient),
 * corrupt and not-a-database `state_damaged`, read-only and permission `no_permission`, I/O `io_error` (transient),
 * else `store_failed` (bug). Returns false. */
bool store_fail(struct store *store, struct error *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool store_exec(struct store *store, const char *sql, struct error *err);
/* Prepared for long use (SQLITE_PREPARE_PERSISTENT); the caller finalizes. NULL with err. */
sqlite3_stmt *store_prepare(struct store *store, const char *sql, struct error *err);
/* SQLITE_ROW: true with *out_row true; SQLITE_DONE: true with *out_row false and the statement reset. */
bool store_step(struct store *store, sqlite3_stmt *stmt, bool *out_row, struct error *err);
/* Runs a statement that gives no rows, then resets it. */
bool store_run(struct store *store, sqlite3_stmt *stmt, struct error *err);

/* Binding spans without copying: the span must live until the statement is stepped. An empty span with at == NULL is
 * NULL for store_bind_text; store_bind_blob binds a zero-length blob. */
void store_bind_text(sqlite3_stmt *stmt, int index, struct span text);
void store_bind_blob(sqlite3_stmt *stmt, int index, struct span bytes);
struct span store_text(sqlite3_stmt *stmt, int column);  /* lent until the next step */
struct span store_blob(sqlite3_stmt *stmt, int column);

bool store_begin(struct store *store, struct error *err);    /* BEGIN IMMEDIATE */
bool store_commit(struct store *store, struct error *err);   /* `state_gone` if the name is another file's by now */
void store_rollback(struct store *store);

#endif
