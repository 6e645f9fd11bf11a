/*
 * SQLite in our words: statements, bound spans, transactions, and what its
 * errors mean to the engine.
 */
#include "store/store_private.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

/* What an SQLite result means. A whole result goes before its low byte. */
static const struct result_meaning {
	int result;
	enum error_kind kind;
	const char *code;
} meanings[] = {
	{ SQLITE_IOERR_SHORT_READ, ERROR_BUG, "state_damaged" },
	{ SQLITE_IOERR_DATA, ERROR_BUG, "state_damaged" },
	{ SQLITE_CANTOPEN_SYMLINK, ERROR_ACCESS, "no_permission" },
	{ SQLITE_FULL, ERROR_TRANSIENT, "disk_full" },
	{ SQLITE_BUSY, ERROR_TRANSIENT, "database_locked" },
	{ SQLITE_LOCKED, ERROR_TRANSIENT, "database_locked" },
	{ SQLITE_PROTOCOL, ERROR_TRANSIENT, "database_locked" }, /* a hundred tries to begin reading, ten seconds */
	{ SQLITE_CORRUPT, ERROR_BUG, "state_damaged" },
	{ SQLITE_NOTADB, ERROR_BUG, "state_damaged" },
	{ SQLITE_READONLY, ERROR_ACCESS, "no_permission" },
	{ SQLITE_PERM, ERROR_ACCESS, "no_permission" },
	{ SQLITE_AUTH, ERROR_ACCESS, "no_permission" },
	{ SQLITE_NOMEM, ERROR_TRANSIENT, "out_of_memory" },
	{ SQLITE_IOERR_NOMEM, ERROR_TRANSIENT, "out_of_memory" },
	{ SQLITE_CANTOPEN, ERROR_TRANSIENT, "io_error" },
	{ SQLITE_IOERR, ERROR_TRANSIENT, "io_error" },
};

static const struct result_meaning *meaning_find(int result)
{
	static const struct result_meaning other = { SQLITE_ERROR, ERROR_BUG, "store_failed" };

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].result == result || meanings[i].result == (result & 0xff))
			return &meanings[i];
	return &other;
}

/* SQLite folds many causes into "cannot open" and "I/O error"; errno tells them apart. */
static bool is_system_failure(int result)
{
	return result != SQLITE_IOERR_SHORT_READ && result != SQLITE_IOERR_DATA &&
	       result != SQLITE_CANTOPEN_SYMLINK && result != SQLITE_IOERR_NOMEM &&
	       ((result & 0xff) == SQLITE_CANTOPEN || (result & 0xff) == SQLITE_IOERR);
}

/* A log that cannot be made for want of room is opened once more to be read: then there is none. */
static bool is_full(const struct store *store)
{
	struct statvfs disk;
	char *folder = path_folder(store->path);
	bool is_known = statvfs(folder, &disk) == 0;

	free(folder);
	return is_known && (disk.f_bavail == 0 || (disk.f_files && disk.f_favail == 0));
}

static int last_errno(sqlite3_file *file)
{
	int number = 0;

	/* A journal in memory has no such question. */
	if (!file || !file->pMethods || !file->pMethods->xFileControl ||
	    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) != SQLITE_OK)
		return 0;
	return number;
}

/* A disk that cannot give a page (EIO) makes SQLite say that the file is malformed. That passes, and damage does not: what
 * the system said of the file and its log decides. Once said it stays with the connection; then a file that is damaged too
 * is waited for until that is closed. */
static int unread_errno(struct store *store, int result)
{
	static const int files[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };
	int number = 0;

	if ((result & 0xff) != SQLITE_CORRUPT)
		return 0;
	for (size_t i = 0; !number && i < sizeof(files) / sizeof(files[0]); i++) {
		sqlite3_file *file = NULL;

		if (sqlite3_file_control(store->db, "main", files[i], &file) == SQLITE_OK)
			number = last_errno(file);
	}
	return number == EIO || number == ENXIO ? number : 0;
}

bool store_fail(struct store *store, struct error *err, const char *format, ...)
{
	int result = sqlite3_extended_errcode(store->db);
	int system_error = sqlite3_system_errno(store->db);
	int unread = unread_errno(store, result);
	const struct result_meaning *meaning = meaning_find(result);
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (unread)
		return fail_errno(err, unread, "%s: %s '%s'", what, store->kind->what, store->path);
	if (is_system_failure(result) && (!system_error || system_error == ENOENT) && is_full(store))
		system_error = ENOSPC;
	if (is_system_failure(result) && system_error)
		return fail_errno(err, system_error, "%s: %s '%s'", what, store->kind->what, store->path);
	return fail(err, meaning->kind, meaning->code, "%s: %s '%s': %s", what, store->kind->what, store->path,
	            sqlite3_errmsg(store->db));
}

bool store_damaged(const struct store *store, struct error *err, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return fail(err, ERROR_BUG, "state_damaged", "the %s '%s' is damaged: %s", store->kind->what, store->path, what);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	store_unshare(store);
	/* close_v2: a statement that somebody forgot delays the end, it does not leave a handle that nobody owns. */
	sqlite3_close_v2(store->db);
	free(store->path);
	free(store);
}

/* A file of ours has the tables and columns that its version and its own lists say, and no others. */
static bool is_another(struct store *store)
{
	static const char *const disagreements[] = { "no such ", " has no column named ", "duplicate column name: ", " already exists" };
	const char *words = sqlite3_errmsg(store->db);

	if ((sqlite3_errcode(store->db) & 0xff) != SQLITE_ERROR)
		return false;
	for (size_t i = 0; i < sizeof(disagreements) / sizeof(disagreements[0]); i++) {
		if (strstr(words, disagreements[i]))
			return true;
	}
	return false;
}

bool store_exec(struct store *store, const char *sql, struct error *err)
{
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return true;
	if (is_another(store))
		return store_damaged(store, err, "%s, said of '%.60s'", sqlite3_errmsg(store->db), sql);
	return store_fail(store, err, "running '%.60s'", sql);
}

sqlite3_stmt *store_prepare(struct store *store, const char *sql, struct error *err)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) == SQLITE_OK)
		return stmt;
	if (is_another(store))
		store_damaged(store, err, "%s, which '%.60s' needs", sqlite3_errmsg(store->db), sql);
	else
		store_fail(store, err, "preparing '%.60s'", sql);
	return NULL;
}

/* A table that another connection makes has SQLite read the whole schema and prepare the statement anew, fifty times at
 * most; where tables are made faster than a long schema is read that is not enough. Of one moment's file it always is.
 * A row that was read keeps its moment until the statement has ended. */
static int step_of_one_moment(sqlite3 *db, sqlite3_stmt *stmt)
{
	int result;

	sqlite3_reset(stmt);
	if (sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return SQLITE_SCHEMA;
	result = sqlite3_step(stmt);
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		return result;
	return sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? result : SQLITE_ERROR;
}

static bool step_failed(struct store *store, sqlite3_stmt *stmt, bool has_begun, struct error *err)
{
	/* The message must be taken before the reset, which may replace it. */
	store_fail(store, err, "running '%.60s'", sqlite3_sql(stmt));
	sqlite3_reset(stmt);
	if (has_begun)
		store_rollback(store);
	return false;
}

bool store_step(struct store *store, sqlite3_stmt *stmt, bool *out_row, struct error *err)
{
	int result = sqlite3_step(stmt);
	bool has_begun = result == SQLITE_SCHEMA && sqlite3_get_autocommit(store->db);

	if (has_begun)
		result = step_of_one_moment(store->db, stmt);
	if (result == SQLITE_ROW) {
		*out_row = true;
		return true;
	}
	if (result != SQLITE_DONE)
		return step_failed(store, stmt, has_begun, err);
	sqlite3_reset(stmt);
	*out_row = false;
	return true;
}

bool store_run(struct store *store, sqlite3_stmt *stmt, struct error *err)
{
	bool has_row;

	if (!store_step(store, stmt, &has_row, err))
		return false;
	if (has_row)
		sqlite3_reset(stmt);
	return true;
}

bool store_number(struct store *store, const char *sql, int64_t *out_number, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store, sql, err);
	bool has_row = false;
	bool is_fine = stmt && store_step(store, stmt, &has_row, err);

	if (is_fine)
		*out_number = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return is_fine;
}

void store_bind_text(sqlite3_stmt *stmt, int index, struct span text)
{
	sqlite3_bind_text64(stmt, index, text.at, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

void store_bind_blob(sqlite3_stmt *stmt, int index, struct span bytes)
{
	if (bytes.len)
		sqlite3_bind_blob64(stmt, index, bytes.at, bytes.len, SQLITE_STATIC);
	else
		sqlite3_bind_zeroblob(stmt, index, 0);
}

struct span store_text(sqlite3_stmt *stmt, int column)
{
	/* The pointer first: asking for it may convert, which changes the length. */
	const char *at = (const char *)sqlite3_column_text(stmt, column);

	return span_make(at, at ? (size_t)sqlite3_column_bytes(stmt, column) : 0);
}

struct span store_blob(sqlite3_stmt *stmt, int column)
{
	const char *at = sqlite3_column_blob(stmt, column);

	return span_make(at, at ? (size_t)sqlite3_column_bytes(stmt, column) : 0);
}

bool store_begin(struct store *store, struct error *err)
{
	return store_exec(store, "BEGIN IMMEDIATE", err);
}

/* A file that was removed or exchanged takes every write and keeps none. */
static bool store_is_gone(struct store *store)
{
	int has_moved = 0;

	return sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) == SQLITE_OK && has_moved;
}

bool store_commit(struct store *store, struct error *err)
{
	if (store_is_gone(store))
		return fail(err, ERROR_BUG, "state_gone", "the %s '%s' was removed or exchanged while it was open; nothing was "
		            "written", store->kind->what, store->path);
	return store_exec(store, "COMMIT", err);
}

void store_rollback(struct store *store)
{
	/* A full disk or an I/O error has rolled back already; then there is nothing to undo. */
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}
