/*
 * Makes the baseline's script, outside the timed part: the rows that the run has
 * written, read back from its changelog, in transactions of the engine's sizes.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "bench/baseline_private.h"

#include <errno.h>
#include <stdlib.h>

static bool last_row(sqlite3 *db, const char *changelog, int64_t *out, struct error *err)
{
	OWNED(text) sql = text_new(BASELINE_SQL_MAX);
	sqlite3_stmt *stmt;

	text_add(sql, "SELECT coalesce(max(rowid), 0) FROM ");
	sql_identifier(sql, span_of(changelog));
	if (!(stmt = recorder_prepare(db, sql->at, err)))
		return false;
	*out = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return true;
}

/* Table and indexes as the engine made them; those of a copied file are there already. */
static bool define(struct recorder *r, size_t file, const char *table, struct error *err)
{
	sqlite3_stmt *stmt = recorder_prepare(r->run[file], "SELECT sql FROM sqlite_master WHERE tbl_name=?1 "
	                                      "AND sql IS NOT NULL ORDER BY type DESC", err);

	if (!stmt)
		return false;
	sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		sqlite3_exec(r->files[file], (const char *)sqlite3_column_text(stmt, 0), NULL, NULL, NULL);
	sqlite3_finalize(stmt);
	return true;
}

/*
 * Recording
 */

static void record_rows(struct recorder *r, const struct table *table, int64_t after, int64_t last)
{
	put_transaction(r, 'B', CHANGELOG);
	sqlite3_bind_int64(table->rows, 1, after);
	sqlite3_bind_int64(table->rows, 2, last);
	for (; sqlite3_step(table->rows) == SQLITE_ROW; r->baseline->rows++)
		put_row(r, table->insert, table->rows, 0, sqlite3_column_count(table->rows));
	sqlite3_reset(table->rows);
	put_transaction(r, 'C', CHANGELOG);
}

static void record_merge(struct recorder *r, const struct table *table, int64_t after, int64_t last)
{
	sqlite3_stmt *row = table->folded;

	put_transaction(r, 'B', REPLICA);
	sqlite3_bind_int64(row, 1, after);
	sqlite3_bind_int64(row, 2, last);
	while (sqlite3_step(row) == SQLITE_ROW) {
		if (sqlite3_column_int(row, 1))
			put_row(r, table->remove, row, 2, table->key_count);
		else
			put_row(r, table->upsert, row, 2, sqlite3_column_count(row) - 2);
	}
	sqlite3_reset(row);
	put_transaction(r, 'C', REPLICA);
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void record_all(struct recorder *r, const struct table *table)
{
	for (int64_t at = table->after; at < table->last; at += LOCAL_STEP_CHANGES) {
		int64_t end = lesser(at + LOCAL_STEP_CHANGES, table->last);

		for (int64_t after = at; after < end; after += BATCH_RECORDS_MAX)
			record_rows(r, table, after, lesser(after + BATCH_RECORDS_MAX, end));
		if (table->has_replica)
			record_merge(r, table, at, end);
	}
}

static bool record_table(struct recorder *r, struct table *table, struct error *err)
{
	bool is_fine = define(r, CHANGELOG, table->changelog, err) &&
	               (r->file_count < 2 || define(r, REPLICA, table->replica, err)) &&
	               last_row(r->files[CHANGELOG], table->changelog, &table->after, err) &&
	               last_row(r->run[CHANGELOG], table->changelog, &table->last, err) &&
	               recorder_changelog(r, table, err) && (r->file_count < 2 || recorder_replica(r, table, err));

	if (is_fine)
		record_all(r, table);
	sqlite3_finalize(table->rows);
	sqlite3_finalize(table->folded);
	return is_fine;
}

static bool record_tables(struct recorder *r, struct error *err)
{
	sqlite3_stmt *stmt = recorder_prepare(r->run[CHANGELOG], "SELECT changelog, name FROM _weir_tables "
	                                      "WHERE changelog IS NOT NULL ORDER BY number", err);
	bool is_fine = stmt;

	while (is_fine && sqlite3_step(stmt) == SQLITE_ROW) {
		struct table table = {
			.changelog = memory_string((const char *)sqlite3_column_text(stmt, 0)),
			.replica = memory_string((const char *)sqlite3_column_text(stmt, 1)),
		};

		is_fine = record_table(r, &table, err);
		free(table.changelog);
		free(table.replica);
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool open_files(struct recorder *r, struct bench *bench, struct error *err)
{
	for (size_t i = 0; i < r->file_count; i++) {
		char *path = baseline_run_file(bench, i);
		bool is_fine = sqlite3_open_v2(path, &r->run[i], SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
		               sqlite3_open_v2(r->baseline->files[i], &r->files[i],
		                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK;

		free(path);
		if (!is_fine)
			return fail(err, ERROR_BUG, "bench_failed", "the baseline cannot open its databases below '%s'",
			            bench->folder);
	}
	if (!(r->out = fopen(r->baseline->script, "we")))
		return fail_errno(err, errno, "cannot make '%s'", r->baseline->script);
	return true;
}

bool baseline_script(struct bench *bench, struct baseline *baseline, struct error *err)
{
	struct recorder r = { .file_count = baseline->file_count, .baseline = baseline };
	bool is_fine = open_files(&r, bench, err) && record_tables(&r, err);

	if (r.out && (fflush(r.out) != 0 || ferror(r.out)) && is_fine)
		is_fine = fail_errno(err, errno, "cannot write '%s'", baseline->script);
	if (r.out)
		fclose(r.out);
	for (size_t i = 0; i < BASELINE_FILES; i++) {
		sqlite3_close(r.run[i]);
		sqlite3_close(r.files[i]);
	}
	return is_fine;
}
