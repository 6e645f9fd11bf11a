/*
 * Writing into several datasets: which file each table of a batch has, what a file that
 * is ahead of the books leaves out, and the part of the batch that is one file's.
 */
#include "sink/many_private.h"

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
	if (!many_dataset_add(many_books(m), m->setup.options->name, m->file_count, name, err) || !many_file_open(m, name, 0, err))
		return NULL;
	*out_number = (uint32_t)m->file_count - 1;
	return &m->files[m->file_count - 1];
}

/* The place of a new table in its file: behind the others, or where an earlier try has committed it. */
static uint32_t local_number(struct many *m, uint32_t file, struct span source)
{
	struct sink_state state = many_state_of(m->files[file].sink);
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
		many_tables_room(m, m->count + 2);
		m->tables[m->count] = (struct many_table){ file, local_number(m, file, c->schema->source) };
		m->count++;
	}
	return true;
}

/* A file that has committed more than the books: what it has of the source is left out, and counted no second time. */
static bool is_ahead(struct many *m, const struct many_file *file, const struct batch *batch, const struct message *message)
{
	struct sink_state books = many_state_of(m->books), state = many_state_of(file->sink);

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

bool many_write(struct sink *self, struct batch *batch, struct error *err)
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
