/*
 * verify_run: each replica table against a rebuild from the changelog in a scratch
 * file, up to the replica's watermark.
 */
#include "sink/verify_private.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const struct store_kind scratch_kind = { .what = "scratch file of the verification" };

/* A file name inside a URI. */
static void add_uri(struct text *out, const char *path)
{
	static const char hex[] = "0123456789ABCDEF";

	text_add(out, "file:");
	for (const char *c = path; *c; c++) {
		if (strchr("%?#", *c)) {
			text_add_char(out, '%');
			text_add_char(out, hex[(unsigned char)*c >> 4]);
			text_add_char(out, hex[(unsigned char)*c & 15]);
		} else {
			text_add_char(out, *c);
		}
	}
	text_add(out, "?mode=ro");
}

static bool attach(struct store *store, const char *path, const char *as, struct error *err)
{
	OWNED(text) uri = text_new(64u << 10);
	struct text *sql = sql_new("ATTACH ?1 AS ");
	sqlite3_stmt *stmt;
	bool is_fine;

	add_uri(uri, path);
	text_add(sql, as);
	if (!(stmt = sql_prepare(sql, store, err)))
		return false;
	store_bind_text(stmt, 1, text_span(uri));
	is_fine = store_run(store, stmt, err) || because(err, "opening '%s'", path);
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool attach_dataset(struct store *store, const struct sink_setup *setup, const char *dataset, const char *as,
                           struct error *err)
{
	char *path;
	bool is_fine;

	if (!dataset_path(setup->warehouse, dataset, &path, err))
		return false;
	is_fine = attach(store, path, as, err);
	free(path);
	return is_fine;
}

/* An unnamed database is a file of its own that goes with the connection. */
static struct store *scratch_open(const struct sink_setup *setup, struct verify_cache **out_cache, struct error *err)
{
	struct store *store = memory_zalloc(sizeof(*store));

	store->kind = &scratch_kind;
	store->path = memory_string("(unnamed)");
	if (sqlite3_open_v2("", &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI |
	                    SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK || !(*out_cache = verify_functions(store->db))) {
		store_fail(store, err, "opening");
		store_close(store);
		return NULL;
	}
	sqlite3_busy_timeout(store->db, 5000);
	/* The replica first: what is read of the changelog is then never older than its watermark. */
	if (!attach_dataset(store, setup, setup->options->replica_dataset, "r", err) ||
	    !attach_dataset(store, setup, setup->options->change_log_dataset, "l", err)) {
		store_close(store);
		return NULL;
	}
	return store;
}

/*
 * One table
 */

static bool watermark_get(struct verify *verify, bool *out_known, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(verify->store, "SELECT watermark FROM r._weir_replica WHERE table_name=?1", err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, verify->table);
	is_fine = store_step(verify->store, stmt, out_known, err);
	if (is_fine)
		verify->watermark = *out_known ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return is_fine;
}

/* The changelog must hold every change up to the watermark. */
static bool changelog_whole(struct verify *verify, struct error *err)
{
	struct text *last = sql_new("SELECT coalesce(max(rowid), 0) FROM l.");
	struct text *count = sql_new("SELECT count(*) FROM l.");
	int64_t end, changes;
	bool is_found;

	sql_name(last, verify->changelog);
	sql_name(count, verify->changelog);
	text_add(count, " WHERE rowid <= ?1");
	if (!verify_number(verify, last, &end, &is_found, err)) {
		text_free(count);
		return false;
	}
	if (!verify_number(verify, count, &changes, &is_found, err))
		return false;
	if (end < verify->watermark)
		verify->difference = arena_printf(verify->arena, "the replica's watermark is %" PRId64 ", the changelog ends at "
		                                  "%" PRId64, verify->watermark, end);
	else if (changes != verify->watermark)
		verify->difference = arena_printf(verify->arena, "the changelog has %" PRId64 " changes up to the watermark, "
		                                  "%" PRId64 " were merged", changes, verify->watermark);
	return true;
}

static bool replica_is_there(struct verify *verify, bool *out, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(verify->store, "SELECT 1 FROM r.sqlite_master WHERE type='table' AND name=?1 "
	                                                  "COLLATE NOCASE", err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, verify->table);
	is_fine = store_step(verify->store, stmt, out, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

/* A table that somebody has altered cannot be compared: that is a difference, not our failure. */
static bool compare(struct verify *verify, struct error *err)
{
	const char *whole = verify->difference;
	struct error failure = { 0 };

	verify->difference = NULL;
	if (!verify_rebuild(verify, err))
		return false;
	if (!verify_compare(verify, &failure)) {
		if (failure.kind == ERROR_TRANSIENT) {
			*err = failure;
			return false;
		}
		verify->difference = arena_string(verify->arena, span_of(failure.message));
	}
	/* A row in words says more than a count. */
	if (!verify->difference)
		verify->difference = whole;
	return true;
}

static bool table_verify(struct verify *verify, struct error *err)
{
	bool is_known, is_there;

	if (!watermark_get(verify, &is_known, err))
		return false;
	if (!is_known)
		return true; /* nothing of it has been merged yet */
	if (!catalog_columns_read(verify->store, verify->table, PART_TABLE, verify->arena, &verify->schema, err) ||
	    !replica_is_there(verify, &is_there, err) || !changelog_whole(verify, err))
		return false;
	if (!is_there || !verify->schema.count) {
		verify->difference = "the replica table is missing";
		return true;
	}
	return compare(verify, err);
}

/*
 * All tables
 */

static bool table_report(const struct sink_setup *setup, const struct verify *verify,
                         void (*on_table)(void *, const struct verify_table *), void *context)
{
	struct text *name = text_new(8192);
	struct verify_table result = { .rows = verify->rows, .is_equal = !verify->difference,
	                               .first_difference = verify->difference };

	text_add_format(name, "%s.", setup->options->replica_dataset);
	text_add_span(name, verify->table);
	result.table = name->at;
	if (on_table)
		on_table(context, &result);
	text_free(name);
	return result.is_equal;
}

struct lost_table {
	struct span table;
	const char *sentence;
	struct lost_table *next;
};

struct verify_all {
	const struct sink_setup *setup;
	struct store *scratch;
	struct verify_cache *cache;
	void (*on_table)(void *, const struct verify_table *);
	void *context;
	struct arena *arena;
	struct lost_table *lost;
	bool is_equal;
};

static void add_lost(void *context, struct span table, const char *sentence)
{
	struct verify_all *all = context;
	struct lost_table *lost = arena_alloc(all->arena, sizeof(*lost));

	*lost = (struct lost_table){ arena_copy(all->arena, table), arena_string(all->arena, span_of(sentence)), all->lost };
	all->lost = lost;
}

static const struct lost_table *lost_find(const struct verify_all *all, struct span table)
{
	const struct lost_table *lost = all->lost;

	while (lost && !span_equal(lost->table, table))
		lost = lost->next;
	return lost;
}

static bool one_verify(struct verify_all *all, const struct table_schema *schema, struct error *err)
{
	const struct lost_table *lost = lost_find(all, schema->name);
	struct verify verify = { .store = all->scratch, .arena = arena_new(64u << 10) };
	bool is_fine = true;

	verify.table = schema->name;
	verify.changelog = changelog_name(verify.arena, schema->name);
	verify.difference = lost ? lost->sentence : NULL;
	if (!lost) {
		verify_cache_clear(all->cache);
		/* One transaction, so that watermark, rows and changes are of one moment. */
		is_fine = store_exec(all->scratch, "BEGIN", err) && table_verify(&verify, err);
		store_rollback(all->scratch);
	}
	if (is_fine && !table_report(all->setup, &verify, all->on_table, all->context))
		all->is_equal = false;
	arena_free(verify.arena);
	return is_fine;
}

static bool tables_verify(struct verify_all *all, const struct catalog_table *tables, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		/* Without a file there is nothing to compare but what is lost. */
		if (!all->scratch && !lost_find(all, tables[i].schema.name))
			continue;
		if (tables[i].schema.key_count && !one_verify(all, &tables[i].schema, err))
			return because(err, "verifying table '%.*s'", SPAN_ARG(tables[i].schema.name));
	}
	return true;
}

/* A job that has committed nothing yet has no file and no tables; whether one is missing was asked before. */
static bool catalog_read(const struct sink_setup *setup, struct arena *arena, struct catalog_table **out, size_t *count,
                         struct error *err)
{
	struct error failure = { 0 };
	struct store *store = local_open(setup->warehouse, setup->options->change_log_dataset, STORE_READ, 0, 0, &failure);
	bool is_fine;

	*count = 0;
	if (!store && strcmp(failure.code, "no_such_file") == 0)
		return true;
	if (!store) {
		*err = failure;
		return false;
	}
	is_fine = catalog_tables_read(store, setup->options->name, true, arena, out, count, err);
	store_close(store);
	return is_fine;
}

/* Both files, of the right kind and version; the replica's is made by the first merge. */
static bool replica_file(const struct sink_setup *setup, bool *out_there, struct error *err)
{
	struct error failure = { 0 };
	struct store *store = local_open(setup->warehouse, setup->options->replica_dataset, STORE_READ, 0, 0, &failure);

	*out_there = store;
	store_close(store);
	if (store || strcmp(failure.code, "no_such_file") == 0)
		return true;
	*err = failure;
	return false;
}

bool verify_run(const struct sink_setup *setup, void (*on_table)(void *, const struct verify_table *), void *context,
                bool *out_equal, struct error *err)
{
	struct verify_all all = { .setup = setup, .on_table = on_table, .context = context, .is_equal = true };
	struct catalog_table *tables = NULL;
	size_t count;
	bool is_there = false, is_fine;

	if (setup->options->replication_mode != REPLICATION_MERGE)
		return fail(err, ERROR_CONFIG, "no_changelog", "job '%s' has no replica that is made from a changelog",
		            setup->options->name);
	all.arena = arena_new(64u << 10);
	is_fine = catalog_read(setup, all.arena, &tables, &count, err) && replica_file(setup, &is_there, err) &&
	          warehouse_lost(setup, add_lost, &all, err);
	if (is_fine && is_there)
		is_fine = (all.scratch = scratch_open(setup, &all.cache, err)) != NULL;
	is_fine = is_fine && tables_verify(&all, tables, count, err);
	store_close(all.scratch);
	arena_free(all.arena);
	if (is_fine)
		*out_equal = all.is_equal;
	return is_fine;
}
