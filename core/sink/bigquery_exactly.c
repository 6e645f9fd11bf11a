/*
 * Exactly once: committed streams with offsets. Before rows are appended the books
 * note (stream, offset, places of their messages). When nobody knows whether an append
 * landed (a crash, a silence) the stream is finalized and its row count tells: what
 * landed is a repeat when it comes again, all else goes to a new stream.
 */
#include "sink/bigquery_append_private.h"

#include "base/crash.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdlib.h>

struct landed {
	struct place place;
	size_t append;      /* index in exactly.appends */
};

/* An append that landed though nobody was told: forgotten when all its rows have come again. */
struct landed_append {
	char *stream;
	int64_t first_row;
	size_t left;
};

struct write_stream {
	char *name;         /* NULL: to be made */
	struct stream_call making;
	int64_t next_row;
	bool is_busy;       /* a request is on its way: the next one waits, so that offsets have no gaps */
};

struct exactly {
	bool is_recovered;  /* no stream of an earlier life is left */
	char **left;        /* else those that are; left_count. NULL: not yet read */
	size_t left_count, settled;
	struct stream_call finalizing; /* of left[settled] */
	struct write_stream *streams;
	size_t count, turn;
	struct landed *landed; /* sorted by place */
	size_t landed_count;
	struct landed_append *appends;
	size_t append_count;
};

/*
 * Places
 */

const char *exactly_stream(const struct write_stream *stream)
{
	return stream->name;
}

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

/* ?1 is the stream, ?2 a number, ?3 the job. */
static bool books_run(struct append *append, const char *sql, const char *stream, int64_t number, struct error *err)
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

static bool note_append(struct append *append, const struct request *request, struct error *err)
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

/*
 * What an earlier life has left
 */

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

static void landed_clear(struct exactly *exactly)
{
	for (size_t i = 0; i < exactly->append_count; i++)
		free(exactly->appends[i].stream);
	free(exactly->appends);
	free(exactly->landed);
	exactly->appends = NULL;
	exactly->landed = NULL;
	exactly->append_count = exactly->landed_count = 0;
}

/* All that landed and has not come again, of this table. */
static bool landed_read(struct append *append, uint32_t number, struct exactly *exactly, struct error *err)
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

/* Which of its appends landed; a stream with none left is forgotten. */
static bool stream_settle(struct append *append, const char *stream, int64_t rows, struct error *err)
{
	struct store *store = append->sink->books.store;
	bool is_fine = store_begin(store, err) &&
	               books_run(append, "UPDATE _weir_appends SET has_landed=1 WHERE stream=?1 AND first_row + row_count <= ?2", stream,
	                         rows, err) &&
	               books_run(append, "DELETE FROM _weir_appends WHERE stream=?1 AND NOT has_landed AND ?2 >= 0", stream, rows, err) &&
	               books_run(append, "DELETE FROM _weir_streams WHERE stream=?1 AND ?2 >= 0 AND NOT EXISTS (SELECT 1 FROM "
	                         "_weir_appends a WHERE a.stream=?1)", stream, rows, err) &&
	               store_commit(store, err);

	if (!is_fine)
		store_rollback(store);
	return is_fine;
}

static char **streams_read(struct append *append, uint32_t number, size_t *out_count, struct error *err)
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

static void streams_forget(struct exactly *exactly)
{
	for (size_t i = 0; i < exactly->count; i++) {
		free(exactly->streams[i].name);
		stream_call_drop(&exactly->streams[i].making);
		exactly->streams[i] = (struct write_stream){ 0 };
	}
}

static void left_clear(struct exactly *exactly)
{
	for (size_t i = 0; i < exactly->left_count; i++)
		free(exactly->left[i]);
	free(exactly->left);
	exactly->left = NULL;
	exactly->left_count = exactly->settled = 0;
	stream_call_drop(&exactly->finalizing);
}

/* One after another; goes on where it was. */
static enum stream_outcome recover(struct append *append, struct bigquery_part *part, struct google_status *status, struct error *err)
{
	struct exactly *exactly = part->table->exactly;

	if (!exactly->left) {
		streams_forget(exactly);
		exactly->left = streams_read(append, part->number, &exactly->left_count, err);
	}
	while (!err->kind && exactly->settled < exactly->left_count) {
		const char *name = exactly->left[exactly->settled];
		int64_t rows;
		enum stream_outcome outcome = stream_finalize(append, part->table, &exactly->finalizing, name, &rows, status, err);

		if (outcome != STREAM_DONE)
			return outcome;
		exactly->settled += stream_settle(append, name, rows, err);
	}
	left_clear(exactly);
	exactly->is_recovered = !err->kind && landed_read(append, part->number, exactly, err);
	return exactly->is_recovered ? STREAM_DONE : STREAM_FAILED;
}

/*
 * Streams
 */

static enum stream_outcome stream_make(struct append *append, struct bigquery_part *part, struct write_stream *stream,
                                       struct google_status *status, struct error *err)
{
	enum stream_outcome outcome = stream_create(append, part->table, &stream->making, &stream->name, status, err);

	if (outcome != STREAM_DONE)
		return outcome;
	stream->next_row = 0;
	if (books_run(append, "INSERT OR REPLACE INTO _weir_streams(job, number, stream) VALUES(?3, ?2, ?1)", stream->name, part->number,
	              err))
		return STREAM_DONE;
	free(stream->name);
	stream->name = NULL;
	return STREAM_FAILED;
}

/* Also before rows are gathered: what landed is no more to be sent. */
enum stream_outcome exactly_begin(struct append *append, struct bigquery_part *part, struct google_status *status, struct error *err)
{
	struct bigquery_table *table = part->table;

	if (!table->exactly) {
		table->exactly = memory_zalloc(sizeof(*table->exactly));
		table->exactly->count = append->sink->options->write_stream_count ? (size_t)append->sink->options->write_stream_count : 1;
		table->exactly->streams = memory_zalloc(table->exactly->count * sizeof(*table->exactly->streams));
	}
	return table->exactly->is_recovered ? STREAM_DONE : recover(append, part, status, err);
}

/* One is made at a time, in turn; those that are there are used meanwhile. NULL: none is free, or (with err) none could be made. */
static struct write_stream *stream_take(struct append *append, struct bigquery_part *part, struct google_status *status,
                                        struct error *err)
{
	struct exactly *exactly = part->table->exactly;
	bool is_making = false;

	for (size_t i = 0; i < exactly->count; i++) {
		size_t at = (exactly->turn + i) % exactly->count;
		struct write_stream *stream = &exactly->streams[at];

		if (stream->is_busy || (is_making && !stream->name))
			continue;
		if (!stream->name) {
			enum stream_outcome outcome = stream_make(append, part, stream, status, err);

			if (outcome == STREAM_FAILED)
				return NULL;
			is_making = outcome == STREAM_WAITS;
			if (is_making)
				continue;
		}
		exactly->turn = at + 1;
		return stream;
	}
	return NULL;
}

bool exactly_prepare(struct append *append, struct request *request, struct google_status *status, struct error *err)
{
	struct store *store = append->sink->books.store;
	bool is_fine;

	if (!request->stream && !(request->stream = stream_take(append, request->part, status, err)))
		return false;
	request->stream->is_busy = true;
	request->first_row = request->stream->next_row;
	if (!store_begin(store, err))
		return false;
	is_fine = note_append(append, request, err) && store_commit(store, err);
	if (!is_fine)
		store_rollback(store);
	crash_point(append_noted);
	return is_fine;
}

void exactly_doubt(struct bigquery_table *table)
{
	if (table->exactly)
		table->exactly->is_recovered = false;
}

void exactly_done(struct request *request, size_t count)
{
	if (!request->stream)
		return;
	request->stream->next_row = request->first_row + (int64_t)count;
	request->stream->is_busy = false;
	request->stream = NULL;
}

/* What has no answer by the end of a batch may have landed. */
void exactly_end(struct bigquery_part *part)
{
	struct exactly *exactly = part->table->exactly;

	for (size_t i = 0; exactly && i < exactly->count; i++) {
		if (exactly->streams[i].is_busy)
			exactly_doubt(part->table);
		exactly->streams[i].is_busy = false;
	}
}

/*
 * Commit: what is behind the position need not be remembered.
 */

static bool table_commit(struct append *append, struct exactly *exactly, struct error *err)
{
	for (size_t i = 0; i < exactly->count; i++) {
		if (exactly->is_recovered && exactly->streams[i].name &&
		    !books_run(append, "DELETE FROM _weir_appends WHERE stream=?1 AND first_row < ?2", exactly->streams[i].name,
		               exactly->streams[i].next_row, err))
			return false;
	}
	for (size_t i = 0; i < exactly->append_count; i++) {
		if (!exactly->appends[i].left && !books_run(append, "DELETE FROM _weir_appends WHERE stream=?1 AND first_row=?2",
		                                            exactly->appends[i].stream, exactly->appends[i].first_row, err))
			return false;
	}
	return true;
}

void exactly_remember(struct append *append, uint32_t record)
{
	struct place place;

	if (!append->recent)
		return;
	place = place_of(append, record);
	if (place.kind != PLACE_LETTER)
		recent_put(append->recent, &place);
}

void exactly_committed(struct append *append)
{
	if (append->recent)
		recent_committed(append->recent);
}

bool exactly_commit(struct append *append, struct error *err)
{
	struct bigquery *sink = append->sink;

	if (append->recent && !recent_commit(append->recent, err))
		return false;
	for (size_t i = 0; i < sink->table_room; i++) {
		if (sink->tables[i] && sink->tables[i]->exactly && !table_commit(append, sink->tables[i]->exactly, err))
			return false;
	}
	return true;
}

void exactly_free(struct exactly *exactly)
{
	if (!exactly)
		return;
	streams_forget(exactly);
	left_clear(exactly);
	landed_clear(exactly);
	free(exactly->streams);
	free(exactly);
}
