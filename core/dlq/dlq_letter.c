/*
 * One letter: as JSON with its payload, as exact bytes in pieces, or the first of
 * a table that needs somebody.
 */
#include "dlq/dlq_private.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static bool letter_unknown(int64_t id, struct error *err)
{
	return fail(err, ERROR_USAGE, "letter_unknown", "there is no letter %" PRId64, id);
}

/* The row of a letter; the caller resets the statement. */
static sqlite3_stmt *letter_row(struct dlq *dlq, int64_t id, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, LIST_ONE, err);
	bool has_row = false;

	if (!stmt)
		return NULL;
	sqlite3_bind_int64(stmt, 1, id);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return NULL;
	if (has_row)
		return stmt;
	letter_unknown(id, err);
	return NULL;
}

static bool body_row(struct dlq *dlq, int64_t id, sqlite3_stmt **out_stmt, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, LIST_BODY, err);
	bool has_row = false;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, id);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	if (!has_row)
		return fail(err, ERROR_BUG, "state_damaged", "the store '%s' has lost the bytes of letter %" PRId64,
		            dlq->store->path, id);
	*out_stmt = stmt;
	return true;
}

/* Only where the destination can know: a key, and a position of the letter's own. */
bool letter_question_of(sqlite3_stmt *row, struct span *out_table, struct letter_question *out)
{
	struct span table = store_text(row, COL_TABLE);
	struct span key = store_blob(row, COL_WEIR_KEY);
	struct span position = store_blob(row, COL_POSITION);

	if (!key.len || position.len != POSITION_BYTES || span_is(table, "-"))
		return false;
	*out_table = table;
	*out = (struct letter_question){ .key = key, .position = (const unsigned char *)position.at };
	return true;
}

void question_add_newer(const struct letter_question *question, struct text *out)
{
	member_name(out, "newer");
	text_add(out, question->is_unknown ? "null" : question->is_newer ? "true" : "false");
}

void letter_add_newer(sqlite3_stmt *row, const struct dlq_filter *filter, struct text *out)
{
	struct letter_question question = { .is_unknown = true };
	struct span table;

	if (filter->ask_newer && letter_question_of(row, &table, &question))
		filter->ask_newer(filter->context, table, &question, 1);
	question_add_newer(&question, out);
}

static bool letter_show(struct dlq *dlq, const struct dlq_filter *filter, struct text *out, struct error *err)
{
	sqlite3_stmt *row = letter_row(dlq, filter->id, err);
	sqlite3_stmt *body = NULL;

	if (!row)
		return false;
	if (!body_row(dlq, filter->id, &body, err)) {
		sqlite3_reset(row);
		return false;
	}
	letter_json(out, row, filter);
	letter_add_newer(row, filter, out);
	if (filter->add_row) {
		member_name(out, "replica");
		filter->add_row(filter->context, store_text(row, COL_TABLE), store_blob(row, COL_WEIR_KEY), store_text(row, COL_KEY), out);
	}
	letter_payload_json(out, store_blob(body, 0), sqlite3_column_int(row, COL_IS_NULL) != 0,
	                    sqlite3_column_int(row, COL_IS_BIG) != 0);
	text_add_char(out, '}');
	sqlite3_reset(body);
	sqlite3_reset(row);
	return dlq_json_is_whole(dlq, out, err);
}

bool dlq_show(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context, struct error *err)
{
	OWNED(text) out = text_new(LINE_LIMIT);

	if (!letter_show(dlq, filter, out, err))
		return false;
	on_line(context, out->at);
	return true;
}

/*
 * Exact bytes.
 */

static bool hand_out(struct span rest, bool (*on_piece)(void *, struct span), void *context)
{
	while (rest.len) {
		size_t len = rest.len < PIECE_BYTES ? rest.len : PIECE_BYTES;

		if (!on_piece(context, span_make(rest.at, len)))
			return false;
		rest = span_make(rest.at + len, rest.len - len);
	}
	return true;
}

bool dlq_envelope(struct dlq *dlq, int64_t id, bool (*on_piece)(void *, struct span), void *context, struct error *err)
{
	sqlite3_stmt *row = letter_row(dlq, id, err);

	if (!row)
		return false;

	OWNED(text) head = letter_envelope(row);

	sqlite3_reset(row);
	if (!dlq_json_is_whole(dlq, head, err))
		return false;
	hand_out(text_span(head), on_piece, context);
	return true;
}

static bool stored_bytes(struct dlq *dlq, int64_t id, bool (*on_piece)(void *, struct span), void *context,
                         struct error *err)
{
	sqlite3_stmt *stmt = NULL;

	if (!body_row(dlq, id, &stmt, err))
		return false;
	hand_out(store_blob(stmt, 0), on_piece, context);
	sqlite3_reset(stmt);
	return true;
}

static bool big_pieces(int fd, const char *path, uint64_t size, bool (*on_piece)(void *, struct span), void *context,
                       struct error *err)
{
	char *piece = memory_alloc(PIECE_BYTES);
	uint64_t done = 0;
	bool is_fine = true;

	while (is_fine && done < size) {
		ssize_t n = read(fd, piece, size - done < PIECE_BYTES ? (size_t)(size - done) : PIECE_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			is_fine = fail_errno(err, errno, "reading '%s'", path);
		else if (n == 0)
			is_fine = fail(err, ERROR_BUG, "state_damaged", "'%s' has %" PRIu64 " bytes, its letter says %" PRIu64,
			               path, done, size);
		else if (!on_piece(context, span_make(piece, (size_t)n)))
			break;
		else
			done += (uint64_t)n;
	}
	free(piece);
	return is_fine;
}

static bool big_bytes(const char *folder, const char *name, uint64_t size, bool (*on_piece)(void *, struct span),
                      void *context, struct error *err)
{
	char *path = path_join(folder, name);
	int fd = fd_open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool is_fine;

	if (fd < 0 && errno == ENOENT)
		is_fine = fail(err, ERROR_BUG, "state_damaged", "the body '%s' of a letter is gone", path);
	else if (fd < 0)
		is_fine = fail_errno(err, errno, "opening '%s'", path);
	else
		is_fine = big_pieces(fd, path, size, on_piece, context, err);
	if (fd >= 0)
		close(fd);
	free(path);
	return is_fine;
}

bool dlq_bytes(struct dlq *dlq, int64_t id, const char *big_folder, bool (*on_piece)(void *, struct span),
               void *context, struct error *err)
{
	sqlite3_stmt *row = letter_row(dlq, id, err);
	char *name;
	uint64_t size;
	bool is_big, is_fine;

	if (!row)
		return false;
	is_big = sqlite3_column_int(row, COL_IS_BIG) != 0;
	size = (uint64_t)sqlite3_column_int64(row, COL_SIZE);
	name = memory_string_of(store_text(row, COL_SHA256));
	sqlite3_reset(row);
	is_fine = is_big ? big_bytes(big_folder, name, size, on_piece, context, err)
	                 : stored_bytes(dlq, id, on_piece, context, err);
	free(name);
	return is_fine;
}

char *dlq_first_letter(struct dlq *dlq, const struct dlq_filter *filter, const char *table, struct error *err)
{
	OWNED(text) out = text_new(LINE_LIMIT);
	sqlite3_stmt *stmt = dlq_statement(dlq, LIST_FIRST, err);
	bool has_row = false;

	if (!stmt)
		return NULL;
	store_bind_text(stmt, 1, span_of(table));
	if (!dlq_row(dlq, stmt, &has_row, err) || !has_row)
		return NULL;
	letter_json(out, stmt, filter);
	letter_add_newer(stmt, filter, out);
	text_add_char(out, '}');
	sqlite3_reset(stmt);
	return dlq_json_is_whole(dlq, out, err) ? text_take(out) : NULL;
}
