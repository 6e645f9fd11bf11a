/*
 * Prepares the baseline of databases, outside the timed part: copies of the files
 * as they are before the run, and a script of the rows that the run has written,
 * read back from its changelog. Merge steps are folded and sorted by key here, so
 * that the baseline has nothing to do but SQLite's own work.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "base/file.h"
#include "bench/bench_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#define MERGE_CHANGES 100000 /* as the engine merges */
#define SQL_MAX (4u << 20)
#define COPY_BYTES (1u << 20)

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

static bool copy_bytes(int from, int to)
{
	char *block = memory_alloc(COPY_BYTES);
	ssize_t n;

	while ((n = read(from, block, COPY_BYTES)) > 0) {
		if (write(to, block, (size_t)n) != n)
			break;
	}
	free(block);
	return n == 0;
}

/* A file that does not exist yet has nothing to copy. */
static bool copy_file(const char *from_path, const char *to_path, struct error *err)
{
	int from = open(from_path, O_RDONLY | O_CLOEXEC), to;
	bool is_fine;

	if (from < 0)
		return errno == ENOENT || fail_errno(err, errno, "cannot open '%s'", from_path);
	to = open(to_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	is_fine = to >= 0 && copy_bytes(from, to);
	if (!is_fine)
		fail_errno(err, errno, "cannot copy '%s'", from_path);
	close(from);
	if (to >= 0)
		close(to);
	return is_fine;
}

static char *run_file(const struct bench *bench, size_t i)
{
	return path_join(bench->home->warehouse, i == CHANGELOG ? "bench_log.db" : "bench.db");
}

bool baseline_take(struct bench *bench, const struct bench_job *job, struct baseline *out, struct error *err)
{
	int64_t share = job->options->local_cache_bytes / 2;
	bool is_fine = true;

	*out = (struct baseline){
		.script = path_join(bench->folder, "baseline.script"),
		.files = { path_join(bench->folder, "baseline_log.db"), path_join(bench->folder, "baseline.db") },
		.cache_bytes = { share, share / 8 * 7 },
		.checkpoint_pages = { LOCAL_CHECKPOINT_PAGES_APPEND, LOCAL_CHECKPOINT_PAGES },
		.file_count = job->options->replication_mode == REPLICATION_CHANGELOG ? 1 : 2,
		.is_cancelled = &bench->is_cancelled,
	};
	for (size_t i = 0; i < out->file_count && is_fine; i++) {
		char *path = run_file(bench, i);

		is_fine = copy_file(path, out->files[i], err);
		free(path);
	}
	if (!is_fine)
		baseline_clear(out);
	return is_fine;
}

void baseline_clear(struct baseline *baseline)
{
	free(baseline->script);
	for (size_t i = 0; i < BASELINE_FILES; i++)
		free(baseline->files[i]);
	*baseline = (struct baseline){ 0 };
}

/*
 * Writing steps
 */

static void put_byte(struct recorder *r, char byte)
{
	putc_unlocked(byte, r->out);
}

static void put_bytes(struct recorder *r, const void *at, size_t len)
{
	if (len)
		fwrite(at, 1, len, r->out);
}

static void put_length(struct recorder *r, size_t len)
{
	uint32_t length = (uint32_t)len;

	put_bytes(r, &length, sizeof(length));
}

static void put_transaction(struct recorder *r, char what, char file)
{
	put_byte(r, what);
	put_byte(r, file);
}

static uint16_t put_statement(struct recorder *r, char file, const struct text *sql)
{
	put_transaction(r, 'P', file);
	put_length(r, sql->len);
	put_bytes(r, sql->at, sql->len);
	return r->statement_count++;
}

static void put_value(struct recorder *r, sqlite3_stmt *row, int column)
{
	static const char kinds[] = { [SQLITE_INTEGER] = 'I', [SQLITE_FLOAT] = 'F', [SQLITE_TEXT] = 'T', [SQLITE_BLOB] = 'X',
		[SQLITE_NULL] = 'N' };
	char kind = kinds[sqlite3_column_type(row, column)];
	int64_t number = kind == 'I' ? sqlite3_column_int64(row, column) : 0;
	double real = kind == 'F' ? sqlite3_column_double(row, column) : 0;

	put_byte(r, kind);
	if (kind == 'I') {
		put_bytes(r, &number, sizeof(number));
	} else if (kind == 'F') {
		put_bytes(r, &real, sizeof(real));
	} else if (kind != 'N') {
		const void *at = kind == 'T' ? (const void *)sqlite3_column_text(row, column) : sqlite3_column_blob(row, column);

		put_length(r, (size_t)sqlite3_column_bytes(row, column));
		put_bytes(r, at, (size_t)sqlite3_column_bytes(row, column));
	}
}

static void put_row(struct recorder *r, uint16_t statement, sqlite3_stmt *row, int first, int count)
{
	uint16_t values = (uint16_t)count;

	put_byte(r, 'R');
	put_bytes(r, &statement, sizeof(statement));
	put_bytes(r, &values, sizeof(values));
	for (int i = 0; i < count; i++)
		put_value(r, row, first + i);
}

/*
 * Statements of a table
 */

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql, struct error *err)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK)
		return stmt;
	fail(err, ERROR_BUG, "bench_failed", "the baseline cannot read what the run has written: %s", sqlite3_errmsg(db));
	return NULL;
}

static void add_name(struct text *sql, const char *before, const char *name)
{
	text_add(sql, before);
	sql_identifier(sql, span_of(name));
}

/* The value of a column in the JSON text of a row; a deleted row has only its key. */
static void add_value(struct text *sql, const char *name)
{
	OWNED(text) path = text_new(SQL_MAX);

	text_add_format(path, "$.\"%s\"", name);
	text_add(sql, ", json_extract(coalesce(fullRecord, primaryKey), ");
	sql_string(sql, text_span(path));
	text_add_char(sql, ')');
}

struct texts {
	struct text *upsert, *marks, *updates, *keys, *remove, *folded;
	int columns, key_count;
};

static void add_column(struct texts *t, const char *name, bool is_key)
{
	add_name(t->upsert, t->columns ? ", " : "", name);
	text_add_format(t->marks, "%s?%d", t->columns ? "," : "", t->columns + 1);
	t->columns++;
	if (is_key) {
		add_name(t->keys, t->key_count ? ", " : "", name);
		add_name(t->remove, t->key_count ? " AND " : " WHERE ", name);
		text_add_format(t->remove, "=?%d", ++t->key_count);
		return;
	}
	add_name(t->updates, t->updates->len ? ", " : "", name);
	add_name(t->updates, "=excluded.", name);
}

/* Key columns come first, so that a delete takes the first values of the same row; the position is last. */
static bool read_columns(struct recorder *r, const struct table *table, struct texts *t, struct error *err)
{
	sqlite3_stmt *stmt = prepare(r->run[REPLICA],
		"SELECT name, pk > 0 FROM pragma_table_info(?1) WHERE name NOT LIKE '\\_weir\\_%' ESCAPE '\\' "
		"ORDER BY pk = 0, pk, cid", err);

	if (!stmt)
		return false;
	sqlite3_bind_text(stmt, 1, table->replica, -1, SQLITE_STATIC);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);

		add_column(t, name, sqlite3_column_int(stmt, 1));
		add_value(t->folded, name);
	}
	sqlite3_finalize(stmt);
	return true;
}

static void put_replica_statements(struct recorder *r, struct table *table, struct texts *t)
{
	table->has_replica = t->key_count > 0;
	table->key_count = t->key_count;
	if (!table->has_replica)
		return;
	add_column(t, "_weir_position", false);
	text_add_format(t->upsert, ") VALUES(%s) ON CONFLICT(%s) DO UPDATE SET %s", t->marks->at, t->keys->at,
	                t->updates->at);
	table->upsert = put_statement(r, REPLICA, t->upsert);
	table->remove = put_statement(r, REPLICA, t->remove);
}

/* SQLite takes the other columns from the row that has the greatest rowid of its key: that is the fold. */
static bool prepare_replica(struct recorder *r, struct table *table, struct error *err)
{
	OWNED(text) upsert = text_new(SQL_MAX);
	OWNED(text) marks = text_new(SQL_MAX);
	OWNED(text) updates = text_new(SQL_MAX);
	OWNED(text) keys = text_new(SQL_MAX);
	OWNED(text) remove = text_new(SQL_MAX);
	OWNED(text) folded = text_new(SQL_MAX);
	struct texts t = { upsert, marks, updates, keys, remove, folded, 0, 0 };

	add_name(upsert, "INSERT INTO ", table->replica);
	text_add(upsert, "(");
	add_name(remove, "DELETE FROM ", table->replica);
	text_add(folded, "SELECT max(rowid), fullRecord IS NULL");
	if (!read_columns(r, table, &t, err))
		return false;
	put_replica_statements(r, table, &t);
	add_name(folded, ", _weir_position FROM ", table->changelog);
	text_add(folded, " WHERE rowid > ?1 AND rowid <= ?2 AND length(_weir_key) > 0 GROUP BY _weir_key ORDER BY 3");
	for (int i = 1; i < t.key_count; i++)
		text_add_format(folded, ", %d", 3 + i);
	return !table->has_replica || (table->folded = prepare(r->run[CHANGELOG], folded->at, err));
}

static bool prepare_changelog(struct recorder *r, struct table *table, struct error *err)
{
	OWNED(text) insert = text_new(SQL_MAX);
	OWNED(text) rows = text_new(SQL_MAX);

	add_name(insert, "INSERT INTO ", table->changelog);
	text_add(insert, " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)");
	table->insert = put_statement(r, CHANGELOG, insert);
	add_name(rows, "SELECT * FROM ", table->changelog);
	text_add(rows, " WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid");
	return (table->rows = prepare(r->run[CHANGELOG], rows->at, err));
}

static bool last_row(sqlite3 *db, const char *changelog, int64_t *out, struct error *err)
{
	OWNED(text) sql = text_new(SQL_MAX);
	sqlite3_stmt *stmt;

	add_name(sql, "SELECT coalesce(max(rowid), 0) FROM ", changelog);
	if (!(stmt = prepare(db, sql->at, err)))
		return false;
	*out = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return true;
}

/* Table and indexes as the engine made them; those of a copied file are there already. */
static bool define(struct recorder *r, size_t file, const char *table, struct error *err)
{
	sqlite3_stmt *stmt = prepare(r->run[file], "SELECT sql FROM sqlite_master WHERE tbl_name=?1 AND sql IS NOT NULL "
	                             "ORDER BY type DESC", err);

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
	for (int64_t at = table->after; at < table->last; at += MERGE_CHANGES) {
		int64_t end = lesser(at + MERGE_CHANGES, table->last);

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
	               prepare_changelog(r, table, err) && (r->file_count < 2 || prepare_replica(r, table, err));

	if (is_fine)
		record_all(r, table);
	sqlite3_finalize(table->rows);
	sqlite3_finalize(table->folded);
	return is_fine;
}

static bool record_tables(struct recorder *r, struct error *err)
{
	sqlite3_stmt *stmt = prepare(r->run[CHANGELOG], "SELECT changelog, name FROM _weir_tables "
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
		char *path = run_file(bench, i);
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
