/*
 * Files of the local warehouse: one SQLite file a dataset, with the tables of our
 * own that every dataset has (README.md tells who writes what).
 */
#include "sink/local_private.h"
#include "sink/warehouse_versions_private.h"

#include "base/clean.h"
#include "base/file.h"

#include <stdlib.h>

#define DATASET_NAME_MAX 200
/* Appends cost about a sixth less CPU than with 4096, merges no more (tests of 400,000 rows of 0.5 KB). */
#define WAREHOUSE_PAGE_BYTES 8192
#define WAREHOUSE_ID 0x77654977 /* "weIw" */

static const char *const warehouse_migrations[] = { (WAREHOUSE_V1), (WAREHOUSE_V2), (WAREHOUSE_V3),
                                                   (WAREHOUSE_V4), (WAREHOUSE_V5), (WAREHOUSE_V6) };

static const struct store_kind warehouse_kind = {
	.what = "warehouse",
	.application_id = WAREHOUSE_ID,
	.version = sizeof(warehouse_migrations) / sizeof(warehouse_migrations[0]),
	.migrations = warehouse_migrations,
	.page_bytes = WAREHOUSE_PAGE_BYTES,
};

static bool dataset_check(const char *dataset, struct error *err)
{
	size_t len = dataset ? strlen(dataset) : 0;

	for (size_t i = 0; i < len; i++) {
		char c = dataset[i];

		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')
			continue;
		return fail(err, ERROR_CONFIG, "bad_dataset",
		            "dataset name '%.60s' has a character that is not allowed; letters, digits and '_' are",
		            dataset);
	}
	if (len == 0 || len > DATASET_NAME_MAX)
		return fail(err, ERROR_CONFIG, "bad_dataset", "a dataset name has %zu characters; 1 to %d are allowed",
		            len, DATASET_NAME_MAX);
	return true;
}

bool dataset_path(const char *warehouse, const char *dataset, char **out_path, struct error *err)
{
	OWNED(text) name = text_new(DATASET_NAME_MAX + 8);

	if (!dataset_check(dataset, err))
		return false;
	text_add_format(name, "%s.db", dataset);
	*out_path = path_join(warehouse, name->at);
	return true;
}

struct store *local_open(const char *warehouse, const char *dataset, enum store_mode mode, int64_t cache_bytes,
                         int checkpoint_pages, struct error *err)
{
	char *path;
	struct store *store = NULL;

	if (!dataset_path(warehouse, dataset, &path, err))
		return NULL;
	if (mode == STORE_READ || folder_make_last(warehouse, err))
		store = store_open(path, mode, &warehouse_kind, cache_bytes, checkpoint_pages, err);
	free(path);
	if (store && !value_register(store->db)) {
		store_fail(store, err, "registering functions");
		store_close(store);
		return NULL;
	}
	return store;
}

struct text *sql_new(const char *begin)
{
	struct text *sql = text_new(LOCAL_SQL_MAX);

	text_add(sql, begin);
	return sql;
}

void sql_name(struct text *sql, struct span name)
{
	if (!sql_identifier(sql, name))
		sql->is_full = true;
}

static bool sql_check(const struct text *sql, struct error *err)
{
	if (sql->is_full)
		return fail(err, ERROR_CONFIG, "bad_name", "a statement cannot be made: a name has a control character "
		            "or a back-quote, or the table has too many columns ('%.60s...')", sql->at);
	return true;
}

sqlite3_stmt *sql_prepare(struct text *sql, struct store *store, struct error *err)
{
	sqlite3_stmt *stmt = sql_check(sql, err) ? store_prepare(store, sql->at, err) : NULL;

	text_free(sql);
	return stmt;
}

bool sql_run(struct text *sql, struct store *store, struct error *err)
{
	bool is_fine = sql_check(sql, err) && store_exec(store, sql->at, err);

	text_free(sql);
	return is_fine;
}

bool sql_has_table(struct store *store, struct span name, bool *out_has, struct error *err)
{
	/* SQLite's names know no case. */
	sqlite3_stmt *stmt = store_prepare(store, "SELECT 1 FROM sqlite_master WHERE name=?1 COLLATE NOCASE", err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, name);
	is_fine = store_step(store, stmt, out_has, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

void sql_finalize(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
	*stmt = NULL;
}
