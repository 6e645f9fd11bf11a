/* What the books of a job with several datasets say of them: which there are, and the order of all tables. */
#include "sink/many_private.h"

static bool entries_read(struct store *store, const char *sql, const char *job, struct arena *arena,
                         struct many_entry **out, size_t *out_count, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store, sql, err);
	struct many_entry *entries = NULL;
	size_t count = 0, room = 0;
	bool has_row = false, is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(job));
	while ((is_fine = store_step(store, stmt, &has_row, err)) && has_row) {
		if (count == room) {
			struct many_entry *more = arena_alloc(arena, (room * 2 + 16) * sizeof(*more));

			if (count)
				memcpy(more, entries, count * sizeof(*more));
			entries = more;
			room = room * 2 + 16;
		}
		entries[count++] = (struct many_entry){ arena_string(arena, store_text(stmt, 0)), sqlite3_column_int64(stmt, 1) };
	}
	sqlite3_finalize(stmt);
	if (is_fine) {
		*out = entries;
		*out_count = count;
	}
	return is_fine;
}

bool many_datasets_read(struct store *books, const char *job, struct arena *arena, struct many_entry **out, size_t *out_count,
                        struct error *err)
{
	return entries_read(books, "SELECT dataset, commits FROM _weir_datasets WHERE job=?1 ORDER BY number", job, arena, out,
	                    out_count, err);
}

bool many_order_read(struct store *books, const char *job, struct arena *arena, struct many_entry **out, size_t *out_count,
                     struct error *err)
{
	return entries_read(books, "SELECT source, 0 FROM _weir_order WHERE job=?1 ORDER BY number", job, arena, out, out_count,
	                    err);
}

static bool write(struct store *books, const char *sql, const char *job, size_t number, struct span text, int64_t level,
                  struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(books, sql, err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(job));
	sqlite3_bind_int64(stmt, 2, (int64_t)number);
	store_bind_text(stmt, 3, text);
	sqlite3_bind_int64(stmt, 4, level);
	is_fine = store_run(books, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool many_dataset_add(struct store *books, const char *job, size_t number, const char *dataset, struct error *err)
{
	return write(books, "INSERT OR REPLACE INTO _weir_datasets(job, number, dataset, commits) VALUES(?1,?2,?3,?4)", job,
	             number, span_of(dataset), 0, err);
}

bool many_level_write(struct store *books, const char *job, size_t number, int64_t level, struct error *err)
{
	return write(books, "UPDATE _weir_datasets SET commits=?4 WHERE job=?1 AND number=?2 AND ?3 IS NULL", job, number,
	             (struct span){ NULL, 0 }, level, err);
}

bool many_order_write(struct store *books, const char *job, size_t number, struct span source, struct error *err)
{
	return write(books, "INSERT OR REPLACE INTO _weir_order(job, number, source) SELECT ?1,?2,?3 WHERE ?4=0", job, number,
	             source, 0, err);
}

static bool find(const struct sink_state *states, size_t state_count, struct span source, struct many_table *out)
{
	for (size_t f = 0; f < state_count; f++) {
		for (size_t i = 0; i < states[f].table_count; i++) {
			if (span_equal(states[f].tables[i]->source, source)) {
				*out = (struct many_table){ (uint32_t)f, (uint32_t)i };
				return true;
			}
		}
	}
	return false;
}

static bool is_listed(const struct many_table *tables, size_t count, uint32_t file, uint32_t local)
{
	for (size_t i = 0; i < count; i++) {
		if (tables[i].file == file && tables[i].local == local)
			return true;
	}
	return false;
}

size_t many_arrange(const struct sink_state *states, size_t state_count, const struct many_entry *order, size_t order_count,
                    struct many_table *out)
{
	size_t count = 0;

	for (size_t i = 0; i < order_count; i++) {
		if (find(states, state_count, span_of(order[i].name), &out[count]) && !is_listed(out, count, out[count].file, out[count].local))
			count++;
	}
	/* A kill between the commit of a dataset and that of the books leaves tables that these do not know yet. */
	for (size_t f = 0; f < state_count; f++) {
		for (size_t i = 0; i < states[f].table_count; i++) {
			if (!is_listed(out, count, (uint32_t)f, (uint32_t)i))
				out[count++] = (struct many_table){ (uint32_t)f, (uint32_t)i };
		}
	}
	return count;
}
