/*
 * The local warehouse where messages choose their dataset. Each dataset's file commits
 * its rows, its counters and the position; the job's books follow last, so the
 * source is read again from them on, and a file that is ahead leaves out what it
 * has. No transaction spans two files.
 */
#include "sink/many_private.h"

#include <inttypes.h>
#include <stdlib.h>

#define FILES_A_CACHE 8 /* share the memory of one: few are busy at a time */

static void many_close(struct sink *self);

struct store *many_books(struct many *m)
{
	return ((struct local_sink *)m->books)->store;
}

struct sink_state many_state_of(struct sink *sink)
{
	struct sink_state state;

	sink->ops->state(sink, &state);
	return state;
}

/* It has committed since the books did. */
static bool many_is_ahead(const struct many_file *file)
{
	return many_state_of(file->sink).commits > file->level;
}

/* Up to where the file has the source: where it is ahead of the books that is further than they say. */
static uint64_t offset_of(const struct sink_state *file, const struct source_position *books)
{
	bool is_same = !books->identity.len || span_equal(file->position.identity, books->identity);

	return is_same && file->position.offset > books->offset ? file->position.offset : books->offset;
}

/*
 * Opening
 */

static const char *lacks(struct many *m, const char *dataset, int64_t commits, int64_t level)
{
	return arena_printf(m->arena, "dataset '%s' of job '%s' is missing or an older copy: it has %" PRId64 " of %" PRId64
	                    " commits; nothing was changed ('weir run %s --from-start' accepts the loss and reads again what the "
	                    "source still has)", dataset, m->setup.options->name, commits, level, m->setup.options->name);
}

/* One that is missing is not made anew, but where its loss is accepted. */
bool many_file_open(struct many *m, const char *dataset, int64_t level, struct error *err)
{
	struct sink_setup setup = m->setup;
	struct sink *sink;
	struct sink_state state;

	setup.dataset = dataset;
	if (level && !setup.is_anew && !warehouse_is_there(&setup))
		return fail(err, ERROR_BUG, "state_damaged", "%s", lacks(m, dataset, 0, level));
	sink = sink_local.open(&setup, err);
	if (!sink)
		return because(err, "dataset '%s'", dataset);
	m->files = memory_grow(m->files, (m->file_count + 1) * sizeof(*m->files));
	m->files[m->file_count++] = (struct many_file){ .dataset = arena_string(m->arena, span_of(dataset)), .sink = sink,
	                                                .level = level };
	state = many_state_of(sink);
	if (state.damage && !m->damage)
		m->damage = state.damage;
	if (state.commits < level && !m->damage)
		m->damage = lacks(m, dataset, state.commits, level);
	return true;
}

void many_tables_room(struct many *m, size_t count)
{
	if (count <= m->room)
		return;
	m->room = count * 2 + 16;
	m->tables = memory_grow(m->tables, m->room * sizeof(*m->tables));
	m->schemas = memory_grow(m->schemas, m->room * sizeof(*m->schemas));
	m->ledgers = memory_grow(m->ledgers, (m->room + 1) * sizeof(*m->ledgers));
	m->offsets = memory_grow(m->offsets, m->room * sizeof(*m->offsets));
}

static struct span source_of(const struct sink_state *states, const struct many_table *table)
{
	return states[table->file].tables[table->local]->source;
}

static bool arrange(struct many *m, struct error *err)
{
	struct sink_state *states = arena_alloc(m->arena, (m->file_count + 1) * sizeof(*states));
	struct many_entry *order = NULL;
	size_t order_count = 0, all = 0;

	if (!many_order_read(many_books(m), m->setup.options->name, m->arena, &order, &order_count, err))
		return false;
	for (size_t f = 0; f < m->file_count; f++) {
		states[f] = many_state_of(m->files[f].sink);
		all += states[f].table_count;
	}
	many_tables_room(m, all + 1);
	m->count = many_arrange(states, m->file_count, order, order_count, m->tables);
	m->kept_count = m->count;
	m->listed_count = 0;
	/* Behind a table that is gone, with a file whose loss was accepted, the others have other numbers. */
	while (m->listed_count < m->count && m->listed_count < order_count &&
	       span_is(source_of(states, &m->tables[m->listed_count]), order[m->listed_count].name))
		m->listed_count++;
	return true;
}

/* What a file that is ahead has brought back is back, as its rows and counters are: the rest comes without it. */
static void gather_unparked(struct many *m)
{
	struct span books = many_state_of(m->books).position.unparked;
	size_t len = books.len;
	char *ids;

	for (size_t f = 0; f < m->file_count; f++)
		len += many_is_ahead(&m->files[f]) ? many_state_of(m->files[f].sink).position.unparked.len : 0;
	ids = arena_alloc(m->arena, len + 1);
	m->unparked = span_make(ids, len);
	for (size_t f = 0; f < m->file_count; f++) {
		struct span own = many_state_of(m->files[f].sink).position.unparked;

		if (own.len && many_is_ahead(&m->files[f]))
			ids = (char *)memcpy(ids, own.at, own.len) + own.len;
	}
	if (books.len)
		memcpy(ids, books.at, books.len);
}

static struct sink *many_open(const struct sink_setup *setup, struct error *err)
{
	struct many *m = memory_zalloc(sizeof(*m));
	struct many_entry *datasets = NULL;
	size_t count = 0;
	bool is_fine;

	m->sink.ops = &sink_local_many;
	m->arena = arena_new(16u << 10);
	m->books = sink_local.open(setup, err);
	m->setup = *setup;
	/* What is remembered of commits is of the books. */
	m->setup.witnesses = NULL;
	m->setup.witness_count = 0;
	m->setup.cache_bytes /= FILES_A_CACHE;
	m->setup.incarnation = arena_string(m->arena, span_of(setup->incarnation));
	is_fine = m->books && many_datasets_read(many_books(m), setup->options->name, m->arena, &datasets, &count, err);
	for (size_t i = 0; is_fine && i < count; i++)
		is_fine = many_file_open(m, datasets[i].name, datasets[i].level, err);
	if (is_fine && arrange(m, err)) {
		m->kept_files = m->file_count;
		gather_unparked(m);
		return &m->sink;
	}
	many_close(&m->sink);
	return NULL;
}

static void many_state(struct sink *self, struct sink_state *out)
{
	struct many *m = (struct many *)self;
	struct sink_state books = many_state_of(m->books);

	for (size_t i = 0; i < m->count; i++) {
		struct sink_state state = many_state_of(m->files[m->tables[i].file].sink);

		m->schemas[i] = state.tables[m->tables[i].local];
		m->ledgers[i] = state.ledgers[m->tables[i].local];
		m->offsets[i] = offset_of(&state, &books.position);
	}
	many_tables_room(m, m->count + 1);
	m->ledgers[m->count] = books.ledgers[books.table_count];
	*out = books;
	out->damage = books.damage ? books.damage : m->damage;
	out->tables = m->schemas;
	out->ledgers = m->ledgers;
	out->table_count = m->count;
	out->offsets = m->offsets;
	out->position.unparked = m->unparked;
}

static void many_rollback(struct sink *self)
{
	struct many *m = (struct many *)self;

	for (size_t f = 0; f < m->file_count; f++) {
		m->files[f].sink->ops->rollback(m->files[f].sink);
		m->files[f].is_touched = false;
	}
	m->books->ops->rollback(m->books);
	m->count = m->kept_count;
}

static bool many_forget(struct sink *self, struct error *err)
{
	struct many *m = (struct many *)self;

	for (size_t f = 0; f < m->file_count; f++) {
		if (!m->files[f].sink->ops->forget(m->files[f].sink, err) ||
		    !many_level_write(many_books(m), m->setup.options->name, f, 0, err))
			return false;
		m->files[f].level = 0;
	}
	m->damage = NULL;
	m->unparked = (struct span){ 0 };
	return m->books->ops->forget(m->books, err);
}

static void many_close(struct sink *self)
{
	struct many *m = (struct many *)self;

	if (!m)
		return;
	for (size_t f = 0; f < m->file_count; f++)
		m->files[f].sink->ops->close(m->files[f].sink);
	if (m->books)
		m->books->ops->close(m->books);
	free(m->files);
	free(m->tables);
	free(m->schemas);
	free(m->ledgers);
	free(m->offsets);
	free(m->back_ids);
	free(m->back_files);
	arena_free(m->arena);
	free(m);
}

const struct sink_ops sink_local_many = {
	.name = "local",
	.help = "SQLite files on this machine, one a dataset, as messages choose.",
	.open = many_open,
	.state = many_state,
	.write = many_write,
	.commit = many_commit,
	.rollback = many_rollback,
	.forget = many_forget,
	.close = many_close,
};
