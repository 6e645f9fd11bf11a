/* A look at the schema changes that have reached the rows of a replica; safe while the job runs. */
#include "sink/local_private.h"

struct altered_look {
	void (*on_altered)(void *context, const unsigned char *position, int64_t rows);
	void *context;
};

static bool altered_read(struct store *store, const char *table, const struct altered_look *look, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store, "SELECT position, row_count FROM _weir_altered WHERE table_name=?1 "
	                                          "ORDER BY position", err);
	bool has_row = false, is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(table));
	while ((is_fine = store_step(store, stmt, &has_row, err)) && has_row) {
		struct span position = store_blob(stmt, 0);

		if (position.len == POSITION_BYTES)
			look->on_altered(look->context, (const unsigned char *)position.at, sqlite3_column_int64(stmt, 1));
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

bool warehouse_altered(const struct sink_setup *setup, const char *table,
                       void (*on_altered)(void *context, const unsigned char *position, int64_t rows), void *context,
                       struct error *err)
{
	const struct altered_look look = { on_altered, context };
	struct error failure = { 0 };
	struct store *store;
	bool is_fine, has_table = false;

	if (!setup->options->replica_dataset)
		return true;
	store = local_open(setup->warehouse, setup->options->replica_dataset, STORE_READ, 0, 0, &failure);
	if (!store && strcmp(failure.code, "no_such_file") == 0)
		return true;
	/* A file of an earlier version knows none. */
	is_fine = store && sql_has_table(store, SPAN("_weir_altered"), &has_table, &failure) &&
	          (!has_table || altered_read(store, table, &look, &failure));
	store_close(store);
	if (!is_fine)
		*err = failure;
	return is_fine;
}
