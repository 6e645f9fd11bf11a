/*
 * The BigQuery sink: operations. Rows are at BigQuery when `write` returns, all else
 * commits here: position, ledger and tables in one transaction of the books
 * (bigquery_books.c). Until then the source gives the same messages again, so what
 * was appended twice is told apart by its place, or by the offsets of exactly-once mode.
 */
#include "sink/bigquery_private.h"

#include "base/clock.h"
#include "base/crash.h"

#include <stdlib.h>

static void bigquery_close(struct sink *self);

/*
 * The bell: answers and the desk's news wake the writer
 */

void bigquery_ring(void *context)
{
	struct bigquery *sink = context;

	pthread_mutex_lock(&sink->lock);
	sink->rings++;
	pthread_cond_signal(&sink->bell);
	pthread_mutex_unlock(&sink->lock);
}

uint64_t bigquery_rings(struct bigquery *sink)
{
	uint64_t rings;

	pthread_mutex_lock(&sink->lock);
	rings = sink->rings;
	pthread_mutex_unlock(&sink->lock);
	return rings;
}

void bigquery_wait_ring(struct bigquery *sink, uint64_t *inout_seen, int64_t until_ms)
{
	struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
	int failed = 0;

	pthread_mutex_lock(&sink->lock);
	while (sink->rings == *inout_seen && !failed)
		failed = pthread_cond_timedwait(&sink->bell, &sink->lock, &until);
	*inout_seen = sink->rings;
	pthread_mutex_unlock(&sink->lock);
}

/*
 * Opening
 */

static struct sink *bigquery_open(const struct sink_setup *setup, struct error *err)
{
	struct bigquery *sink = memory_zalloc(sizeof(*sink));
	struct local_sink *books = &sink->books;

	books->sink.ops = &sink_bigquery;
	books->arena = arena_new(64u << 10);
	books->job = arena_string(books->arena, span_of(setup->options->name));
	books->dataset = arena_string(books->arena, span_of(setup->options->change_log_dataset));
	books->incarnation = arena_string(books->arena, span_of(setup->incarnation));
	books->is_append = setup->options->replication_mode == REPLICATION_APPEND;
	books->are_columns_by_source = books->is_append;
	books->has_own_dataset = setup->options->template == TEMPLATE_PUBSUB_CDC;
	books->known_commits = witness_level(setup, SPAN(""), NULL);
	sink->options = setup->options;
	sink->google = setup->google;
	sink->fitter = setup->fitter;
	sink->figures = setup->figures ? setup->figures : &sink->nobody_looks;
	pthread_mutex_init(&sink->lock, NULL);
	clock_cond_init(&sink->bell);
	books->store = bigquery_books_open(setup->warehouse, books->job, STORE_WRITE, err);
	if (!books->store || !books_read(books, err)) {
		bigquery_close(&books->sink);
		return NULL;
	}
	return &books->sink;
}

static void desk_rings(void *context, size_t table)
{
	(void)table;
	bigquery_ring(context);
}

bool bigquery_reach(struct bigquery *sink, struct error *err)
{
	struct table_desk_setup setup = { .google = sink->google, .options = sink->options, .on_change = desk_rings,
	                                  .context = sink };

	if (sink->is_open)
		return true;
	if (!sink->project && !(sink->project = memory_string(google_project(sink->google))))
		return fail(err, ERROR_CONFIG, "missing_parameter", "job '%s' names no project, and the credentials have none",
		            sink->options->name);
	setup.project = sink->project;
	atomic_store(&sink->figures->service, "BigQuery");
	atomic_store(&sink->figures->is_emulator, google_is_emulated(sink->google, SERVICE_BIGQUERY));
	setup.asks_write_path = sink->options->use_storage_write_api;
	if (!sink->desk && !(sink->desk = table_desk_open(&setup, err)))
		return false;
	if (sink->options->use_storage_write_api)
		sink->is_open = sink->append || (sink->append = append_open(sink, err));
	else
		sink->is_open = sink->insert || (sink->insert = insert_open(sink, err));
	return sink->is_open;
}

/*
 * Tables
 */

static void table_free(struct bigquery_table *table)
{
	if (!table)
		return;
	arena_free(table->arena);
	exactly_free(table->exactly);
	free(table->landed);
	fitting_free(table->fitting);
	free(table->path);
	free(table->name);
	free(table);
}

static struct bigquery_table *table_room(struct bigquery *sink, uint32_t number)
{
	size_t had = sink->table_room;

	if (number >= had) {
		sink->table_room = (size_t)number * 2 + 16;
		sink->tables = memory_grow(sink->tables, sink->table_room * sizeof(*sink->tables));
		memset(sink->tables + had, 0, (sink->table_room - had) * sizeof(*sink->tables));
	}
	if (!sink->tables[number])
		sink->tables[number] = memory_zalloc(sizeof(**sink->tables));
	sink->tables[number]->sink = sink;
	return sink->tables[number];
}

static void old_shape_keep(struct bigquery *sink, struct arena *arena)
{
	if (!arena)
		return;
	sink->old_shapes = memory_grow(sink->old_shapes, (sink->old_shape_count + 1) * sizeof(*sink->old_shapes));
	sink->old_shapes[sink->old_shape_count++] = arena;
}

/* Rows of ours are in it, from this run or an earlier one. */
static bool has_rows(const struct bigquery *sink, uint32_t number)
{
	const struct local_sink *books = &sink->books;

	return number < books->committed_count && books->ledgers && books->ledgers[number].rows > 0;
}

/* The table's name may be another one with another schema: one that was in somebody's way. */
static void table_place(struct bigquery *sink, struct bigquery_table *table, uint32_t number, const struct table_schema *schema)
{
	struct arena *scratch = arena_new(1024);
	bool is_first = !table->path; /* under another name there are none yet */
	struct span dataset = schema->dataset.len ? schema->dataset : span_of(sink->books.dataset);
	struct span id = sink->books.is_append ? schema->name : changelog_name(scratch, schema->name);
	char *path = arena_printf(scratch, "projects/%s/datasets/%.*s/tables/%.*s", sink->project, SPAN_ARG(dataset), SPAN_ARG(id));

	if (!table->path || strcmp(table->path, path) != 0) {
		free(table->path);
		free(table->name);
		table->path = memory_string(path);
		table->name = memory_string(arena_printf(scratch, "%.*s.%.*s", SPAN_ARG(dataset), SPAN_ARG(id)));
		table->desk_number = table_desk_find(sink->desk, dataset, id);
		if (is_first && has_rows(sink, number))
			table_desk_expect(sink->desk, table->desk_number);
	}
	arena_free(scratch);
}

static const struct table_shape *shape_make(struct bigquery *sink, struct bigquery_table *table, struct arena *arena,
                                             const struct table_schema *schema)
{
	if (!sink->books.is_append)
		return changelog_shape(arena, schema);
	if (table->fitting)
		return fitting_shape(sink, table->fitting, arena, schema);
	return row_shape_of(arena, schema, NULL, !sink->options->auto_map_tables);
}

struct bigquery_table *bigquery_table_of(struct bigquery *sink, uint32_t number)
{
	struct bigquery_table *table = table_room(sink, number);
	const struct table_schema *schema = sink->books.tables[number].schema;
	const struct table_shape *shape;
	struct arena *arena;

	if (table->shape_of == schema)
		return table;
	table_place(sink, table, number, schema);
	table->shape_of = schema;
	arena = arena_new(4096);
	shape = shape_make(sink, table, arena, schema);
	if (table->shape && shape_equal(table->shape, shape)) {
		arena_free(arena);
		return table;
	}
	old_shape_keep(sink, table->arena);
	table->arena = arena;
	table->shape = shape;
	table->descriptor = descriptor_make(arena, shape);
	table->shape_version = ++sink->shape_versions;
	return table;
}

/*
 * Commit
 */

static void done_clear(struct bigquery *sink)
{
	free(sink->done.verdicts);
	sink->done = (struct bigquery_done){ 0 };
	for (size_t i = 0; i < sink->old_shape_count; i++)
		arena_free(sink->old_shapes[i]);
	sink->old_shape_count = 0;
}

static bool table_save(struct local_sink *books, uint32_t number, struct error *err)
{
	const struct table_schema *schema = books->tables[number].schema;

	return local_table_save(books, number, err) &&
	       (!books->are_columns_by_source || catalog_columns_write(books->store, schema->source, PART_TABLE, schema, err));
}

static bool tables_save(struct local_sink *books, struct error *err)
{
	for (size_t i = 0; i < books->count; i++) {
		if (books->tables[i].is_touched && !table_save(books, (uint32_t)i, err))
			return false;
	}
	return true;
}

static bool bigquery_commit(struct sink *self, const struct source_position *position, const struct ledger *added,
                            size_t table_count, struct error *err)
{
	struct bigquery *sink = (struct bigquery *)self;
	struct local_sink *books = &sink->books;

	if (!books->is_open && !store_begin(books->store, err))
		return false;
	books->is_open = true;
	if (!tables_save(books, err) || (sink->append && !exactly_commit(sink->append, err)) || !local_commit(self, position, added, table_count, err))
		return false;
	if (sink->append)
		exactly_committed(sink->append);
	done_clear(sink);
	return true;
}

static void bigquery_close(struct sink *self)
{
	struct bigquery *sink = (struct bigquery *)self;

	append_close(sink->append);
	insert_close(sink->insert);
	table_desk_close(sink->desk);
	done_clear(sink);
	free(sink->old_shapes);
	for (size_t i = 0; i < sink->table_room; i++)
		table_free(sink->tables[i]);
	free(sink->tables);
	free(sink->project);
	local_clear(&sink->books);
	pthread_cond_destroy(&sink->bell);
	pthread_mutex_destroy(&sink->lock);
	free(sink);
}

const struct sink_ops sink_bigquery = {
	.name = "bigquery",
	.help = "Tables of BigQuery, through the Storage Write API or insertAll.",
	.open = bigquery_open,
	.state = local_state,
	.write = bigquery_write,
	.commit = bigquery_commit,
	.rollback = local_rollback,
	.forget = local_forget,
	.close = bigquery_close,
	.tend = bigquery_tend,
	.free_tables = bigquery_free_tables,
	.holds = bigquery_holds,
	.trouble = bigquery_trouble_of,
};
