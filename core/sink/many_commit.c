/*
 * The commit of several datasets: each file that has news, then the books, so that none
 * of them ever knows of more than the files have.
 */
#include "sink/many_private.h"

#include "base/crash.h"

#include <stdlib.h>

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
	struct sink_state state = many_state_of(m->files[file].sink);
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
	size_t count = many_state_of(f->sink).table_count;
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
		int64_t level = many_state_of(m->files[f].sink).commits;

		if (level != m->files[f].level && !many_level_write(books->store, books->job, f, level, err))
			return false;
	}
	for (size_t i = m->listed_count; i < m->count; i++) {
		struct sink_state state = many_state_of(m->files[m->tables[i].file].sink);

		if (!many_order_write(books->store, books->job, i, state.tables[m->tables[i].local]->source, err))
			return false;
	}
	return true;
}

bool many_commit(struct sink *self, const struct source_position *position, const struct ledger *added,
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
		m->files[f].level = many_state_of(m->files[f].sink).commits;
	m->kept_count = m->listed_count = m->count;
	m->kept_files = m->file_count;
	m->unparked = (struct span){ 0 };
	return true;
}
