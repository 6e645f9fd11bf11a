/*
 * The local warehouse where messages choose their dataset. Each dataset's file commits
 * its rows, its counters and the position; the job's books follow last, so the
 * source is read again from them on, and a file that is ahead leaves out what it
 * has. No transaction spans two files.
 */
#include "sink/many_private.h"

#include "base/crash.h"

#include <stdlib.h>

#define FILES_A_CACHE 8 /* share the memory of one: few are busy at a time */

static void many_close(struct sink *self);

static struct store *books_store(struct many *m)
{
	return ((struct local_sink *)m->books)->store;
}

static struct sink_state state_of(struct sink *sink)
{
	struct sink_state state;

	sink->ops->state(sink, &state);
	return state;
}

/* It has committed since the books did. */
static bool many_is_ahead(const struct many_file *file)
{
	return state_of(file->sink).commits > file->level;
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

static bool file_open(struct many *m, const char *dataset, int64_t level, struct error *err)
{
	struct sink_setup setup = m->setup;
	struct sink *sink;
	struct sink_state state;

	setup.dataset = dataset;
	sink = sink_local.open(&setup, err);
	if (!sink)
		return because(err, "dataset '%s'", dataset);
	m->files = memory_grow(m->files, (m->file_count + 1) * sizeof(*m->files));
	m->files[m->file_count++] = (struct many_file){ .dataset = arena_string(m->arena, span_of(dataset)), .sink = sink,
	                                                .level = level };
	state = state_of(sink);
	if (state.damage && !m->damage)
		m->damage = state.damage;
	if (state.commits < level && !m->damage)
		m->damage = arena_printf(m->arena, "dataset '%s' of job '%s' is missing or an older copy: it has %lld of %lld commits; "
		                         "nothing was changed ('weir run %s --from-start' accepts the loss and reads again what the "
		                         "source still has)", dataset, m->setup.options->name, (long long)state.commits,
		                         (long long)level, m->setup.options->name);
	return true;
}

static void tables_room(struct many *m, size_t count)
{
	if (count <= m->room)
		return;
	m->room = count * 2 + 16;
	m->tables = memory_grow(m->tables, m->room * sizeof(*m->tables));
	m->schemas = memory_grow(m->schemas, m->room * sizeof(*m->schemas));
	m->ledgers = memory_grow(m->ledgers, (m->room + 1) * sizeof(*m->ledgers));
	m->offsets = memory_grow(m->offsets, m->room * sizeof(*m->offsets));
}

static bool arrange(struct many *m, struct error *err)
{
	struct sink_state *states = arena_alloc(m->arena, (m->file_count + 1) * sizeof(*states));
	struct many_entry *order = NULL;
	size_t order_count = 0, all = 0;

	if (!many_order_read(books_store(m), m->setup.options->name, m->arena, &order, &order_count, err))
		return false;
	for (size_t f = 0; f < m->file_count; f++) {
		states[f] = state_of(m->files[f].sink);
		all += states[f].table_count;
	}
	tables_room(m, all + 1);
	m->count = many_arrange(states, m->file_count, order, order_count, m->tables);
	m->kept_count = order_count < m->count ? order_count : m->count;
	return true;
}

/* What a file that is ahead has brought back is back, as its rows and counters are: the rest comes without it. */
static void gather_unparked(struct many *m)
{
	struct span books = state_of(m->books).position.unparked;
	size_t len = books.len;
	char *ids;

	for (size_t f = 0; f < m->file_count; f++)
		len += many_is_ahead(&m->files[f]) ? state_of(m->files[f].sink).position.unparked.len : 0;
	ids = arena_alloc(m->arena, len + 1);
	m->unparked = span_make(ids, len);
	for (size_t f = 0; f < m->file_count; f++) {
		struct span own = state_of(m->files[f].sink).position.unparked;

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
	is_fine = m->books && many_datasets_read(books_store(m), setup->options->name, m->arena, &datasets, &count, err);
	for (size_t i = 0; is_fine && i < count; i++)
		is_fine = file_open(m, datasets[i].name, datasets[i].level, err);
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
	struct sink_state books = state_of(m->books);

	for (size_t i = 0; i < m->count; i++) {
		struct sink_state state = state_of(m->files[m->tables[i].file].sink);

		m->schemas[i] = state.tables[m->tables[i].local];
		m->ledgers[i] = state.ledgers[m->tables[i].local];
		m->offsets[i] = offset_of(&state, &books.position);
	}
	tables_room(m, m->count + 1);
	m->ledgers[m->count] = books.ledgers[books.table_count];
	*out = books;
	out->damage = books.damage ? books.damage : m->damage;
	out->tables = m->schemas;
	out->ledgers = m->ledgers;
	out->table_count = m->count;
	out->offsets = m->offsets;
	out->position.unparked = m->unparked;
}

/*
 * Writing
 */

static struct many_file *file_of_dataset(struct many *m, struct span dataset, uint32_t *out_number, struct error *err)
{
	char *name;

	for (size_t f = 0; f < m->file_count; f++) {
		if (span_is(dataset, m->files[f].dataset)) {
			*out_number = (uint32_t)f;
			return &m->files[f];
		}
	}
	name = arena_string(m->arena, dataset);
	/* The books know of it before it has anything. */
	if (!many_dataset_add(books_store(m), m->setup.options->name, m->file_count, name, err) || !file_open(m, name, 0, err))
		return NULL;
	*out_number = (uint32_t)m->file_count - 1;
	return &m->files[m->file_count - 1];
}

/* The place of a new table in its file: behind the others, or where an earlier try has committed it. */
static uint32_t local_number(struct many *m, uint32_t file, struct span source)
{
	struct sink_state state = state_of(m->files[file].sink);
	size_t next = 0;

	for (size_t i = 0; i < state.table_count; i++) {
		if (span_equal(state.tables[i]->source, source))
			return (uint32_t)i;
	}
	for (size_t i = 0; i < m->count; i++)
		next += m->tables[i].file == file;
	return (uint32_t)next;
}

static bool tables_learn(struct many *m, const struct batch *batch, struct error *err)
{
	for (const struct schema_change *c = batch->changes; c; c = c->next) {
		uint32_t file;

		if (c->table < m->count || !c->schema)
			continue;
		if (c->table > m->count)
			return fail(err, ERROR_BUG, "store_failed", "table number %u came before number %zu", (unsigned)c->table, m->count);
		if (!file_of_dataset(m, c->schema->dataset, &file, err))
			return false;
		tables_room(m, m->count + 2);
		m->tables[m->count] = (struct many_table){ file, local_number(m, file, c->schema->source) };
		m->count++;
	}
	return true;
}

/* A file that has committed more than the books: what it has of the source is left out, and counted no second time. */
static bool is_ahead(struct many *m, const struct many_file *file, const struct batch *batch, const struct message *message)
{
	struct sink_state books = state_of(m->books), state = state_of(file->sink);

	if (m->batch && file->done_batch == m->batch)
		return true;
	if (batch->replay || batch->end.unparked.len || !message->line)
		return false;
	return span_equal(state.position.identity, batch->end.identity) &&
	       (!books.position.identity.len || span_equal(books.position.identity, batch->end.identity)) &&
	       state.position.offset > books.position.offset && message->offset < state.position.offset;
}

/* Written, a letter or parked: the earlier commit knows. What it parked lies in the store, and what it wrote must not come
 * there because its table has been paused since. */
static void leave_out(struct batch *batch, struct message *message)
{
	if (message->fate == MESSAGE_HELD)
		message->fate = MESSAGE_FILTERED;
	for (uint32_t r = 0; r < message->record_count; r++) {
		struct record *record = &batch->records[message->first_record + r];

		if (record->verdict == VERDICT_PENDING || record->verdict == VERDICT_PARKED)
			record->verdict = VERDICT_REPEATED;
	}
}

static void messages_leave_out(struct many *m, struct batch *batch)
{
	for (size_t i = 0; i < batch->message_count; i++) {
		struct message *message = &batch->messages[i];

		message->is_counted = message->table < m->count &&
		                      is_ahead(m, &m->files[m->tables[message->table].file], batch, message);
		if (message->is_counted)
			leave_out(batch, message);
	}
}

/* A commit names what has come back with it, and each file what of that is its own. */
static void back_learn(struct many *m, const struct batch *batch)
{
	size_t count = batch->end.unparked.len / sizeof(*m->back_ids);

	if (count > m->back_room) {
		m->back_ids = memory_grow(m->back_ids, count * sizeof(*m->back_ids));
		m->back_files = memory_grow(m->back_files, count * sizeof(*m->back_files));
		m->back_room = count;
	}
	m->back_count = count;
	if (count)
		memcpy(m->back_ids, batch->end.unparked.at, count * sizeof(*m->back_ids));
	for (size_t i = 0; i < count; i++) {
		uint32_t table = batch->messages[i].table;

		m->back_files[i] = table < m->count ? m->tables[table].file : UINT32_MAX;
	}
}

/* The part of a batch that is one file's. */
struct part {
	struct batch view;
	uint32_t *records;          /* of the batch, by the part's number */
};

static void part_take(struct many *m, uint32_t file, struct batch *batch, struct part *out)
{
	struct arena *arena = batch->arena;
	uint32_t *before = arena_alloc(arena, (batch->record_count + 1) * sizeof(*before));

	*out = (struct part){ .view = { .arena = arena, .messages = batch->messages, .message_count = batch->message_count,
	                                .number = batch->number, .end = batch->end, .replay = batch->replay } };
	out->view.records = arena_alloc(arena, (batch->record_count + 1) * sizeof(*out->view.records));
	out->records = arena_alloc(arena, (batch->record_count + 1) * sizeof(*out->records));
	out->view.changes_end = &out->view.changes;
	for (size_t i = 0; i < batch->record_count; i++) {
		struct record *record = &batch->records[i];

		before[i] = (uint32_t)out->view.record_count;
		if (record->verdict != VERDICT_PENDING || record->table >= m->count || m->tables[record->table].file != file)
			continue;
		out->records[out->view.record_count] = (uint32_t)i;
		out->view.records[out->view.record_count] = *record;
		out->view.records[out->view.record_count++].table = m->tables[record->table].local;
	}
	before[batch->record_count] = (uint32_t)out->view.record_count;
	for (const struct schema_change *c = batch->changes; c; c = c->next) {
		struct schema_change *copy;

		if (c->table >= m->count || m->tables[c->table].file != file)
			continue;
		copy = arena_alloc(arena, sizeof(*copy));
		*copy = *c;
		copy->table = m->tables[c->table].local;
		copy->before = before[c->before < batch->record_count ? c->before : batch->record_count];
		copy->next = NULL;
		*out->view.changes_end = copy;
		out->view.changes_end = &copy->next;
	}
}

static bool part_write(struct many *m, uint32_t file, struct batch *batch, struct error *err)
{
	struct many_file *f = &m->files[file];
	struct part part;

	part_take(m, file, batch, &part);
	if (!part.view.record_count && !part.view.changes)
		return true;
	f->is_touched = true;
	if (!f->sink->ops->write(f->sink, &part.view, err))
		return because(err, "dataset '%s'", f->dataset);
	for (size_t i = 0; i < part.view.record_count; i++) {
		batch->records[part.records[i]].verdict = part.view.records[i].verdict;
		batch->records[part.records[i]].refusal = part.view.records[i].refusal;
	}
	return true;
}

static bool many_write(struct sink *self, struct batch *batch, struct error *err)
{
	struct many *m = (struct many *)self;

	m->batch = batch->number;
	if (!tables_learn(m, batch, err))
		return false;
	messages_leave_out(m, batch);
	back_learn(m, batch);
	for (size_t f = 0; f < m->file_count; f++) {
		if (!part_write(m, (uint32_t)f, batch, err))
			return false;
	}
	return true;
}

/*
 * Commit
 */

/* Both lists are in the order of the batch. The caller frees the ids. */
static struct span own_unparked(const struct many *m, uint32_t file, struct span all)
{
	int64_t *own = memory_zalloc(all.len + 1);
	size_t count = 0, at = 0;

	for (size_t i = 0; i < m->back_count && at < all.len; i++) {
		if (memcmp(all.at + at, &m->back_ids[i], sizeof(*own)) != 0)
			continue;
		at += sizeof(*own);
		if (m->back_files[i] == file)
			own[count++] = m->back_ids[i];
	}
	return span_make((const char *)own, count * sizeof(*own));
}

/* What comes back, and a part of what was read before, lie behind what a file that is ahead has: it never goes back, or it
 * would count what follows a second time. */
static struct source_position own_position(const struct many *m, uint32_t file, const struct source_position *position)
{
	struct sink_state state = state_of(m->files[file].sink);
	struct source_position own = *position;

	if (span_equal(state.position.identity, position->identity) && state.position.offset > position->offset) {
		own.offset = state.position.offset;
		own.line = state.position.line;
	}
	own.unparked = own_unparked(m, file, position->unparked);
	return own;
}

static bool file_commit(struct many *m, uint32_t file, const struct source_position *position, const struct ledger *added,
                        size_t table_count, struct error *err)
{
	static const struct ledger nothing;
	struct many_file *f = &m->files[file];
	size_t count = state_of(f->sink).table_count;
	struct ledger *part = memory_zalloc((count + 1) * sizeof(*part));
	bool has_news = f->is_touched, is_fine = true;

	for (size_t i = 0; i < table_count; i++) {
		if (m->tables[i].file != file || m->tables[i].local >= count)
			continue;
		part[m->tables[i].local] = added[i];
		has_news = has_news || memcmp(&added[i], &nothing, sizeof(nothing)) != 0;
	}
	if (has_news) {
		struct source_position own = own_position(m, file, position);

		is_fine = f->sink->ops->commit(f->sink, &own, part, count, err);
		free((void *)(uintptr_t)own.unparked.at);
	}
	free(part);
	if (has_news && is_fine) {
		f->done_batch = m->batch;
		f->is_touched = false;
		crash_point(dataset_committed);
	}
	return is_fine || because(err, "dataset '%s'", f->dataset);
}

static bool books_note(struct many *m, struct error *err)
{
	struct local_sink *books = (struct local_sink *)m->books;

	if (!books->is_open && !store_begin(books->store, err))
		return false;
	books->is_open = true;
	for (size_t f = 0; f < m->file_count; f++) {
		int64_t level = state_of(m->files[f].sink).commits;

		if (level != m->files[f].level && !many_level_write(books->store, books->job, f, level, err))
			return false;
	}
	for (size_t i = m->kept_count; i < m->count; i++) {
		struct sink_state state = state_of(m->files[m->tables[i].file].sink);

		if (!many_order_write(books->store, books->job, i, state.tables[m->tables[i].local]->source, err))
			return false;
	}
	return true;
}

static bool many_commit(struct sink *self, const struct source_position *position, const struct ledger *added,
                        size_t table_count, struct error *err)
{
	struct many *m = (struct many *)self;

	if (table_count > m->count)
		return fail(err, ERROR_BUG, "ledger_mismatch", "%zu tables are counted, the warehouse knows %zu", table_count, m->count);
	for (size_t f = 0; f < m->file_count; f++) {
		if (!file_commit(m, (uint32_t)f, position, added, table_count, err))
			return false;
	}
	if (!books_note(m, err) || !m->books->ops->commit(m->books, position, &added[table_count], 0, err))
		return false;
	for (size_t f = 0; f < m->file_count; f++)
		m->files[f].level = state_of(m->files[f].sink).commits;
	m->kept_count = m->count;
	m->kept_files = m->file_count;
	m->unparked = (struct span){ 0 };
	return true;
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
		    !many_level_write(books_store(m), m->setup.options->name, f, 0, err))
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

/*
 * A look
 */

static bool entries_look(const struct sink_setup *setup, struct arena *arena, struct many_entry **out_datasets,
                         size_t *out_count, struct many_entry **out_order, size_t *out_order_count, struct error *err)
{
	const char *job = setup->options->name;
	struct store *store = local_open(setup->warehouse, setup->options->replica_dataset, STORE_READ, 0, 0, err);
	bool is_fine = store && many_datasets_read(store, job, arena, out_datasets, out_count, err) &&
	               many_order_read(store, job, arena, out_order, out_order_count, err);

	store_close(store);
	return is_fine;
}

bool many_look(const struct sink_setup *setup,
               bool (*look_at_one)(const struct sink_setup *, struct arena *, struct sink_state *, struct error *),
               struct arena *arena, struct sink_state *out, struct error *err)
{
	struct many_entry *datasets = NULL, *order = NULL;
	size_t count = 0, order_count = 0, all = 0;
	struct sink_state *states;
	struct many_table *tables;
	const struct table_schema **schemas;
	struct ledger *ledgers;

	if (!look_at_one(setup, arena, out, err))
		return false;
	if (!out->is_known)
		return true;
	if (!entries_look(setup, arena, &datasets, &count, &order, &order_count, err))
		return false;
	states = arena_zalloc(arena, (count + 1) * sizeof(*states));
	for (size_t i = 0; i < count; i++) {
		struct sink_setup one = *setup;

		one.dataset = datasets[i].name;
		if (!look_at_one(&one, arena, &states[i], err))
			return false;
		all += states[i].table_count;
	}
	tables = arena_alloc(arena, (all + 1) * sizeof(*tables));
	schemas = arena_alloc(arena, (all + 1) * sizeof(*schemas));
	ledgers = arena_alloc(arena, (all + 1) * sizeof(*ledgers));
	all = many_arrange(states, count, order, order_count, tables);
	for (size_t i = 0; i < all; i++) {
		schemas[i] = states[tables[i].file].tables[tables[i].local];
		ledgers[i] = states[tables[i].file].ledgers[tables[i].local];
	}
	ledgers[all] = out->ledgers[out->table_count];
	out->tables = schemas;
	out->ledgers = ledgers;
	out->table_count = all;
	return true;
}
