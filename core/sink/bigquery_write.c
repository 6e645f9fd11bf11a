/*
 * A batch to BigQuery: schema changes where they stand between records, records
 * gathered into parts (one table, one partition, one shape), all parts at once to the writer.
 */
#include "sink/bigquery_private.h"

#include "base/crash.h"

#include <inttypes.h>
#include <stdlib.h>

#define FITS_MOST 5 /* a batch is gathered again for tables whose columns are found to be others */

/* The parts of a batch; their lists lie in its arena. */
struct gathering {
	struct bigquery *sink;
	struct batch *batch;
	struct bigquery_part *parts;
	size_t count, room;
	uint32_t *part_of;   /* a table each: its newest part + 1; 0: none */
	size_t *rooms;       /* a part each */
};

/* What a batch that is written again got before; a part that was begun anew is not. */
static void verdicts_restore(struct bigquery *sink, struct batch *batch)
{
	const struct bigquery_done *done = &sink->done;
	bool is_same = done->verdicts && done->batch == batch && done->number == batch->number &&
	               done->count == batch->record_count;

	for (size_t i = 0; i < batch->record_count; i++) {
		struct record *record = &batch->records[i];

		if (record->verdict == VERDICT_WRITTEN || record->verdict == VERDICT_REPEATED)
			record->verdict = VERDICT_PENDING;
		if (is_same && record->verdict == VERDICT_PENDING && done->verdicts[i])
			record->verdict = (enum verdict)done->verdicts[i];
	}
}

static void verdicts_keep(struct bigquery *sink, const struct batch *batch)
{
	struct bigquery_done *done = &sink->done;

	free(done->verdicts);
	*done = (struct bigquery_done){ .batch = batch, .number = batch->number, .count = batch->record_count,
	                                .verdicts = memory_zalloc(batch->record_count + 1) };
	for (size_t i = 0; i < batch->record_count; i++) {
		enum verdict verdict = batch->records[i].verdict;

		done->verdicts[i] = verdict == VERDICT_WRITTEN || verdict == VERDICT_REPEATED ? (uint8_t)verdict : 0;
	}
}

/*
 * Schema changes
 */

static bool change_take(struct bigquery *sink, const struct schema_change *change, struct error *err)
{
	struct local_sink *books = &sink->books;
	struct local_table *table;

	if (!change->schema) /* dropped: the OP_DROP record says at which position */
		return true;
	if (change->table > books->count)
		return fail(err, ERROR_BUG, "store_failed", "table number %" PRIu32 " came before number %zu", change->table,
		            books->count);
	if (change->table == books->count)
		local_tables_grow(books, books->count + 1);
	table = &books->tables[change->table];
	table->schema = schema_copy(books->arena, change->schema);
	table->is_touched = true;
	books->schemas[change->table] = table->schema;
	return true;
}

/*
 * Parts
 */

static struct bigquery_part *part_begin(struct gathering *g, uint32_t number, struct span partition)
{
	struct bigquery_table *table = bigquery_table_of(g->sink, number);
	struct bigquery_part *part;
	uint32_t newest = g->part_of[number];

	if (g->count == g->room) {
		size_t room = g->room * 2 + 16;
		struct bigquery_part *parts = arena_alloc(g->batch->arena, room * sizeof(*parts));
		size_t *rooms = arena_alloc(g->batch->arena, room * sizeof(*rooms));

		if (g->count) {
			memcpy(parts, g->parts, g->count * sizeof(*parts));
			memcpy(rooms, g->rooms, g->count * sizeof(*rooms));
		}
		g->parts = parts;
		g->rooms = rooms;
		g->room = room;
	}
	part = &g->parts[g->count];
	*part = (struct bigquery_part){ .table = table, .number = number, .shape = table->shape, .descriptor = table->descriptor,
	                                .shape_version = table->shape_version, .partition = partition };
	if (newest && g->parts[newest - 1].shape_version == table->shape_version)
		part->older = newest;
	if (partition.len)
		table_desk_make_daily(g->sink->desk, table->desk_number);
	g->rooms[g->count++] = 0;
	g->part_of[number] = (uint32_t)g->count;
	return part;
}

/* A table has a part a day that its rows name: a few. */
static struct bigquery_part *part_find(struct gathering *g, uint32_t number, struct span partition)
{
	uint64_t version = bigquery_table_of(g->sink, number)->shape_version;

	for (uint32_t at = g->part_of[number]; at; at = g->parts[at - 1].older) {
		struct bigquery_part *part = &g->parts[at - 1];

		if (part->shape_version == version && span_equal(part->partition, partition))
			return part;
	}
	return part_begin(g, number, partition);
}

static void part_add(struct gathering *g, uint32_t number, uint32_t record)
{
	struct bigquery_part *part = part_find(g, number, g->batch->records[record].partition);
	size_t *room = &g->rooms[part - g->parts];

	if (part->count == *room) {
		uint32_t *records = arena_alloc(g->batch->arena, (*room * 4 + 16) * sizeof(*records));

		if (part->count)
			memcpy(records, part->records, part->count * sizeof(*records));
		part->records = records;
		*room = *room * 4 + 16;
	}
	part->records[part->count++] = record;
}

static size_t tables_most(const struct bigquery *sink, const struct batch *batch)
{
	size_t most = sink->books.count;

	for (const struct schema_change *c = batch->changes; c; c = c->next) {
		if (c->table >= most)
			most = (size_t)c->table + 1;
	}
	return most;
}

static bool changes_until(struct gathering *g, const struct schema_change **next, size_t at, struct error *err)
{
	for (; *next && (*next)->before <= at; *next = (*next)->next) {
		if (!change_take(g->sink, *next, err))
			return false;
	}
	return true;
}

/* Of a table that is not as the transform thinks the row is written anew; false: it is refused. */
static bool record_fit(struct gathering *g, uint32_t at)
{
	struct record *record = &g->batch->records[at];
	struct bigquery_table *table = bigquery_table_of(g->sink, record->table);

	return !table->fitting || fitting_row(g->sink, table, g->batch, record);
}

static bool gather(struct gathering *g, struct error *err)
{
	const struct schema_change *next = g->batch->changes;

	g->part_of = arena_zalloc(g->batch->arena, (tables_most(g->sink, g->batch) + 1) * sizeof(*g->part_of));
	for (size_t i = 0; i < g->batch->record_count; i++) {
		const struct record *record = &g->batch->records[i];

		if (!changes_until(g, &next, i, err))
			return false;
		if (record->verdict != VERDICT_PENDING)
			continue;
		if (record->table >= g->sink->books.count)
			return fail(err, ERROR_BUG, "store_failed", "a record is of table number %" PRIu32 ", which has no schema",
			            record->table);
		if (!record_fit(g, (uint32_t)i))
			continue;
		part_add(g, record->table, (uint32_t)i);
	}
	return changes_until(g, &next, SIZE_MAX, err);
}

/* A table that has got columns without a row yet is given them with its first row. */
static void want_tables(struct gathering *g)
{
	for (size_t i = 0; i < g->count; i++) {
		struct bigquery_table *table = g->parts[i].table;

		if (g->part_of[g->parts[i].number] == i + 1)
			table_desk_want(g->sink->desk, table->desk_number, table->shape);
	}
}

static bool has_pending(const struct batch *batch)
{
	for (size_t i = 0; i < batch->record_count; i++) {
		if (batch->records[i].verdict == VERDICT_PENDING)
			return true;
	}
	return false;
}

static bool write_gathered(struct bigquery *sink, struct batch *batch, struct error *err)
{
	struct gathering g = { .sink = sink, .batch = batch };
	bool is_fine;

	if (!gather(&g, err))
		return false;
	want_tables(&g);
	bigquery_park(sink, batch);
	is_fine = !g.count || (sink->append ? append_write(sink->append, batch, g.parts, g.count, err)
	                                    : insert_write(sink->insert, batch, g.parts, g.count, err));
	bigquery_park(sink, batch);
	return is_fine;
}

static void fittings_refresh(struct bigquery *sink)
{
	for (size_t i = 0; i < sink->table_room; i++) {
		if (sink->tables[i] && sink->tables[i]->fitting)
			fitting_refresh(sink, sink->tables[i]);
	}
}

/* Tables whose rows were not sent because their columns are others; false: none. One that changes all the time is in
 * trouble like any other. */
static bool fittings_learn(struct bigquery *sink, bool is_last)
{
	struct error why;
	bool has_any = false;

	for (size_t i = 0; i < sink->table_room; i++) {
		struct bigquery_table *table = sink->tables[i];

		if (!table || !table->is_unfit)
			continue;
		has_any = true;
		fitting_learn(sink, table);
		if (!is_last)
			continue;
		fail(&why, ERROR_TRANSIENT, "column_type_differs", "table '%s': its columns change all the time", table->name);
		bigquery_trouble(table, false, false, &why);
	}
	return has_any;
}

static bool write_rows(struct bigquery *sink, struct batch *batch, struct error *err)
{
	/* Letters and filtered messages of a job that cannot reach Google are kept all the same. */
	if ((has_pending(batch) || batch->changes) && !bigquery_reach(sink, err))
		return false;
	fittings_refresh(sink);
	for (unsigned turn = 1; turn <= FITS_MOST; turn++) {
		if (!write_gathered(sink, batch, err))
			return false;
		if (!fittings_learn(sink, turn == FITS_MOST))
			break;
	}
	bigquery_park(sink, batch);
	return true;
}

bool bigquery_write(struct sink *self, struct batch *batch, struct error *err)
{
	struct bigquery *sink = (struct bigquery *)self;

	bool is_fine;

	verdicts_restore(sink, batch);
	is_fine = write_rows(sink, batch, err);
	/* Also of a batch that is written whole: its letters or the books may have to be waited for (a full disk, a lock), and
	 * what has landed is not sent again. */
	verdicts_keep(sink, batch);
	if (is_fine)
		crash_point(rows_written);
	return is_fine;
}
