/*
 * Exactly once: committed streams with offsets. Before rows are appended the books
 * note (stream, offset, places of their messages). When nobody knows whether an append
 * landed (a crash, a silence) the stream is finalized and its row count tells: what
 * landed is a repeat when it comes again, all else goes to a new stream.
 */
#include "sink/bigquery_landed_private.h"

#include "base/crash.h"

#include <stdlib.h>

const char *exactly_stream(const struct write_stream *stream)
{
	return stream->name;
}

/*
 * What an earlier life has left
 */

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
		exactly->left = landed_streams(append, part->number, &exactly->left_count, err);
	}
	while (!err->kind && exactly->settled < exactly->left_count) {
		const char *name = exactly->left[exactly->settled];
		int64_t rows;
		enum stream_outcome outcome = stream_finalize(append, part->table, &exactly->finalizing, name, &rows, status, err);

		if (outcome != STREAM_DONE)
			return outcome;
		exactly->settled += landed_settle(append, name, rows, err);
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
	if (landed_books_run(append, "INSERT OR REPLACE INTO _weir_streams(job, number, stream) VALUES(?3, ?2, ?1)", stream->name, part->number,
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
	is_fine = landed_note(append, request, err) && store_commit(store, err);
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
		    !landed_books_run(append, "DELETE FROM _weir_appends WHERE stream=?1 AND first_row < ?2", exactly->streams[i].name,
		               exactly->streams[i].next_row, err))
			return false;
	}
	for (size_t i = 0; i < exactly->append_count; i++) {
		if (!exactly->appends[i].left && !landed_books_run(append, "DELETE FROM _weir_appends WHERE stream=?1 AND first_row=?2",
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
