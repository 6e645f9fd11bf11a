/* Which table the merger takes next: how much waits, and since when. */
#include "sink/merger_private.h"

#include <inttypes.h>
#include <stdlib.h>

bool merger_refresh(struct merger *merger, struct error *err)
{
	arena_reset(merger->catalog);
	return catalog_tables_read(merger->changelog_store, merger->job, true, merger->catalog, &merger->tables,
	                           &merger->table_count, err);
}

/* The watermark as stored, without opening the replica. */
bool merger_watermark(struct merger *merger, struct span table, int64_t *out, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(merger->replica_store, "SELECT watermark FROM _weir_replica WHERE table_name=?1", err);
	bool has_row = false;
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, table);
	is_fine = store_step(merger->replica_store, stmt, &has_row, err);
	if (is_fine)
		*out = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return is_fine;
}

struct waiting {
	int64_t changes;
	int64_t since_us; /* when the first that waits was received */
};

static bool waiting_look(struct merger *merger, struct span name, int64_t watermark, struct waiting *out,
                         struct error *err)
{
	struct text *sql = sql_new("SELECT (SELECT coalesce(max(rowid), 0) FROM ");
	struct span changelog = changelog_name(merger->catalog, name);
	sqlite3_stmt *stmt;
	bool has_row = false;
	bool is_fine;

	sql_name(sql, changelog);
	text_add(sql, "), (SELECT _weir_received FROM ");
	sql_name(sql, changelog);
	text_add(sql, " WHERE rowid > ?1 ORDER BY rowid LIMIT 1)");
	if (!(stmt = sql_prepare(sql, merger->changelog_store, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, watermark);
	is_fine = store_step(merger->changelog_store, stmt, &has_row, err);
	if (is_fine)
		*out = (struct waiting){ sqlite3_column_int64(stmt, 0) - watermark, sqlite3_column_int64(stmt, 1) };
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool table_waiting(struct merger *merger, const struct catalog_table *table, struct waiting *out,
                          struct error *err)
{
	OWNED(text) ignored = text_new(256);
	struct standing standing;

	*out = (struct waiting){ 0 };
	if (!table->schema.key_count)
		return true;
	if (!standing_read(merger->replica_store, table->schema.name, merger->catalog, &standing, err))
		return false;
	/* It waits for somebody, not for us. */
	if (replica_is_lost(&merger->setup, table, &standing, ignored))
		return true;
	if (!waiting_look(merger, table->schema.name, standing.watermark, out, err))
		return false;
	if (out->changes < 0)
		return fail(err, ERROR_BUG, "replica_ahead", "table '%.*s': its replica has merged %" PRId64 " changes more than "
		            "the changelog holds", SPAN_ARG(table->schema.name), -out->changes);
	return true;
}

bool merger_waiting(struct merger *merger, uint64_t *out_changes, struct error *err)
{
	uint64_t sum = 0;

	if (!merger_refresh(merger, err))
		return false;
	for (size_t i = 0; i < merger->table_count; i++) {
		struct waiting waiting;

		if (!table_waiting(merger, &merger->tables[i], &waiting, err))
			return false;
		sum += (uint64_t)waiting.changes;
	}
	*out_changes = sum;
	return true;
}

/*
 * Who is next
 */

void merger_forget_queue(struct merger *merger)
{
	merger->queue.count = merger->queue.next = 0;
	merger->queue.leaves_rest = false;
}

static int queued_compare(const void *a, const void *b)
{
	const struct queued *one = a, *other = b;

	if (one->since_us != other->since_us)
		return one->since_us < other->since_us ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

/* Looks at all tables. */
static bool queue_fill(struct merger *merger, struct error *err)
{
	struct merge_queue *queue = &merger->queue;

	merger_forget_queue(merger);
	if (!merger_refresh(merger, err))
		return false;
	queue->items = memory_grow(queue->items, (merger->table_count + 1) * sizeof(*queue->items));
	for (size_t i = 0; i < merger->table_count; i++) {
		struct waiting waiting;

		if (!table_waiting(merger, &merger->tables[i], &waiting, err))
			return false;
		if (waiting.changes)
			queue->items[queue->count++] = (struct queued){ (uint32_t)i, waiting.since_us };
	}
	if (queue->count)
		qsort(queue->items, queue->count, sizeof(*queue->items), queued_compare);
	return true;
}

/* The table as it is now: since the look columns were added, or somebody else has merged it. */
bool merger_look_at(struct merger *merger, uint32_t number, const struct catalog_table **out, struct error *err)
{
	struct catalog_table *table;
	struct waiting waiting;
	bool is_known;

	*out = NULL;
	arena_reset(merger->catalog);
	merger->tables = table = arena_zalloc(merger->catalog, sizeof(*table));
	merger->table_count = 0;
	if (!catalog_table_read(merger->changelog_store, merger->job, number, merger->catalog, table, &is_known, err) ||
	    (is_known && !table_waiting(merger, table, &waiting, err)))
		return false;
	if (is_known && waiting.changes)
		*out = table;
	return true;
}

static bool queue_take(struct merger *merger, const struct catalog_table **out, struct error *err)
{
	return merger_look_at(merger, merger->queue.items[merger->queue.next++].number, out, err);
}

static bool queue_next(struct merger *merger, const struct catalog_table **out, struct error *err)
{
	bool has_looked = false;

	for (;;) {
		while (merger->queue.next < merger->queue.count) {
			if (!queue_take(merger, out, err))
				return false;
			if (*out)
				return true;
		}
		if (has_looked)
			return true;
		if (!queue_fill(merger, err))
			return false;
		has_looked = true;
	}
}

bool merger_peek(struct merger *merger, const struct catalog_table **out, uint32_t *out_number, struct error *err)
{
	bool has_any;

	*out = NULL;
	if (!queue_fill(merger, err))
		return false;
	has_any = merger->queue.count > 0;
	*out_number = has_any ? merger->queue.items[0].number : 0;
	/* Until its turn comes others will wait, too: there is another look then. */
	merger_forget_queue(merger);
	return !has_any || merger_look_at(merger, *out_number, out, err);
}

static bool named_choose(struct merger *merger, const char *name, const struct catalog_table **out, struct error *err)
{
	if (!merger_refresh(merger, err))
		return false;
	for (size_t i = 0; i < merger->table_count; i++) {
		struct waiting waiting;

		if (!span_is(merger->tables[i].schema.name, name))
			continue;
		if (!table_waiting(merger, &merger->tables[i], &waiting, err))
			return false;
		if (waiting.changes)
			*out = &merger->tables[i];
	}
	return true;
}

bool merger_choose(struct merger *merger, const char *name, const struct catalog_table **out, struct error *err)
{
	*out = NULL;
	return name ? named_choose(merger, name, out, err) : queue_next(merger, out, err);
}

bool merger_has_others(const struct merger *merger)
{
	return merger->queue.next < merger->queue.count || merger->queue.leaves_rest;
}

bool merger_last(struct merger *merger, const struct catalog_table *table, int64_t *out, struct error *err)
{
	struct text *sql = sql_new("SELECT coalesce(max(rowid), 0) FROM ");
	sqlite3_stmt *stmt;
	bool has_row = false, is_fine;

	sql_name(sql, changelog_name(merger->catalog, table->schema.name));
	if (!(stmt = sql_prepare(sql, merger->changelog_store, err)))
		return false;
	is_fine = store_step(merger->changelog_store, stmt, &has_row, err);
	if (is_fine)
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return is_fine;
}
