/*
 * What was appended to streams, by the places of its messages: noted in the books before it goes out, and after a crash or a
 * silence what of it has landed.
 */
#include "sink/bigquery_landed_private.h"

#include "base/hash.h"

#include <stdlib.h>

/*
 * Places
 */

static uint64_t id_number(struct span id, uint32_t *out_kind)
{
	unsigned char hash[SHA256_BYTES];
	uint64_t number = 0;
	size_t i;

	for (i = 0; i < id.len && id.len <= 19 && id.at[i] >= '0' && id.at[i] <= '9'; i++)
		number = number * 10 + (uint64_t)(id.at[i] - '0');
	*out_kind = i == id.len ? PLACE_NUMBER : PLACE_HASH;
	if (i == id.len)
		return number;
	sha256(id, hash);
	memcpy(&number, hash, sizeof(number));
	return number;
}

struct place place_of(const struct append *append, uint32_t at)
{
	const struct record *record = &append->batch->records[at];
	const struct message *message = &append->batch->messages[record->message];
	struct place place = { .at = message->offset, .ordinal = at - message->first_record, .kind = PLACE_FEED };

	if (message->letter) {
		place.at = (uint64_t)message->letter;
		place.kind = PLACE_LETTER;
	} else if (!append->sink->options->input_file) {
		place.at = id_number(message->id, &place.kind);
	}
	return place;
}

int place_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b; /* first in struct landed, too */

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

bool exactly_has_landed(struct append *append, struct bigquery_part *part, uint32_t record)
{
	struct exactly *exactly = part->table->exactly;
	struct place place;
	struct landed *found;

	if (!exactly || !exactly->landed_count)
		return false;
	place = place_of(append, record);
	found = bsearch(&place, exactly->landed, exactly->landed_count, sizeof(*found), place_compare);
	if (!found)
		return false;
	exactly->appends[found->append].left -= exactly->appends[found->append].left > 0;
	return true;
}

/*
 * Books
 */

bool landed_books_run(struct append *append, const char *sql, const char *stream, int64_t number, struct error *err)
{
	struct local_sink *books = &append->sink->books;
	sqlite3_stmt *stmt = store_prepare(books->store, sql, err);
	bool is_fine;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(stream));
	sqlite3_bind_int64(stmt, 2, number);
	if (sqlite3_bind_parameter_count(stmt) >= 3)
		store_bind_text(stmt, 3, span_of(books->job));
	is_fine = store_run(books->store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

bool landed_note(struct append *append, const struct request *request, struct error *err)
{
	struct place *places = arena_alloc(append->batch->arena, (request->count + 1) * sizeof(*places));
	struct store *store = append->sink->books.store;
	sqlite3_stmt *stmt = store_prepare(store, "INSERT OR REPLACE INTO _weir_appends(stream, first_row, row_count, has_landed, "
	                                   "places) VALUES(?1, ?2, ?3, 0, ?4)", err);
	bool is_fine;

	if (!stmt)
		return false;
	for (size_t i = 0; i < request->count; i++)
		places[i] = place_of(append, request->records[i]);
	store_bind_text(stmt, 1, span_of(request->stream->name));
	sqlite3_bind_int64(stmt, 2, request->first_row);
	sqlite3_bind_int64(stmt, 3, (int64_t)request->count);
	store_bind_blob(stmt, 4, span_make((const char *)places, request->count * sizeof(*places)));
	is_fine = store_run(store, stmt, err);
	sqlite3_finalize(stmt);
	return is_fine;
}

static void landed_add(struct exactly *exactly, const char *stream, int64_t first_row, struct span places)
{
	size_t count = places.len / sizeof(struct place), at = exactly->landed_count;

	exactly->appends = memory_grow(exactly->appends, (exactly->append_count + 1) * sizeof(*exactly->appends));
	exactly->landed = memory_grow(exactly->landed, (at + count + 1) * sizeof(*exactly->landed));
	exactly->appends[exactly->append_count] = (struct landed_append){ memory_string(stream), first_row, count };
	for (size_t i = 0; i < count; i++) {
		memcpy(&exactly->landed[at + i].place, places.at + i * sizeof(struct place), sizeof(struct place));
		exactly->landed[at + i].append = exactly->append_count;
	}
	exactly->append_count++;
	exactly->landed_count += count;
}

void landed_clear(struct exactly *exactly)
{
	for (size_t i = 0; i < exactly->append_count; i++)
		free(exactly->appends[i].stream);
	free(exactly->appends);
	free(exactly->landed);
	exactly->appends = NULL;
	exactly->landed = NULL;
	exactly->append_count = exactly->landed_count = 0;
}

bool landed_read(struct append *append, uint32_t number, struct exactly *exactly, struct error *err)
{
	struct local_sink *books = &append->sink->books;
	sqlite3_stmt *stmt = store_prepare(books->store, "SELECT a.stream, a.first_row, a.places FROM _weir_appends a "
	                                   "JOIN _weir_streams s ON s.stream = a.stream WHERE s.job=?1 AND s.number=?2 AND a.has_landed", err);
	bool has_row = false, is_fine;

	if (!stmt)
		return false;
	landed_clear(exactly);
	store_bind_text(stmt, 1, span_of(books->job));
	sqlite3_bind_int64(stmt, 2, number);
	while ((is_fine = store_step(books->store, stmt, &has_row, err)) && has_row) {
		char *stream = memory_string_of(store_text(stmt, 0));

		landed_add(exactly, stream, sqlite3_column_int64(stmt, 1), store_blob(stmt, 2));
		free(stream);
	}
	sqlite3_finalize(stmt);
	if (exactly->landed_count)
		qsort(exactly->landed, exactly->landed_count, sizeof(*exactly->landed), place_compare);
	return is_fine;
}

bool landed_settle(struct append *append, const char *stream, int64_t rows, struct error *err)
{
	struct store *store = append->sink->books.store;
	bool is_fine = store_begin(store, err) &&
	               landed_books_run(append, "UPDATE _weir_appends SET has_landed=1 WHERE stream=?1 AND first_row + row_count <= ?2",
	                                stream, rows, err) &&
	               landed_books_run(append, "DELETE FROM _weir_appends WHERE stream=?1 AND NOT has_landed AND ?2 >= 0", stream, rows, err) &&
	               landed_books_run(append, "DELETE FROM _weir_streams WHERE stream=?1 AND ?2 >= 0 AND NOT EXISTS (SELECT 1 FROM "
	                                "_weir_appends a WHERE a.stream=?1)", stream, rows, err) &&
	               store_commit(store, err);

	if (!is_fine)
		store_rollback(store);
	return is_fine;
}

char **landed_streams(struct append *append, uint32_t number, size_t *out_count, struct error *err)
{
	struct local_sink *books = &append->sink->books;
	sqlite3_stmt *stmt = store_prepare(books->store, "SELECT stream FROM _weir_streams WHERE job=?1 AND number=?2", err);
	char **names = memory_zalloc(sizeof(*names));
	bool has_row = false;

	*out_count = 0;
	if (!stmt)
		return names;
	store_bind_text(stmt, 1, span_of(books->job));
	sqlite3_bind_int64(stmt, 2, number);
	while (store_step(books->store, stmt, &has_row, err) && has_row) {
		names = memory_grow(names, (*out_count + 1) * sizeof(*names));
		names[(*out_count)++] = memory_string_of(store_text(stmt, 0));
	}
	sqlite3_finalize(stmt);
	return names;
}
