/*
 * Letters on their way to the job's dead-letter table and folder, and back from
 * the folder. What is to be sent is written with the letter, in its transaction;
 * what was read is remembered until its file is gone: so each entry is sent once
 * and taken once, wherever the engine is killed.
 */
#include "dlq/dlq_private.h"

#include "base/clock.h"

void dlq_set_outbound(struct dlq *dlq, unsigned targets)
{
	dlq->outbound = targets;
}

/* A letter that has failed again goes into the folder once more, but stands once in the table. */
bool outbound_add(struct dlq *dlq, int64_t letter, bool is_new, struct error *err)
{
	if (!is_new && dlq->outbound & OUTBOUND_FOLDER) {
		sqlite3_stmt *more = dlq_statement(dlq, RETRIED_MORE, err);

		if (!more)
			return false;
		sqlite3_bind_int64(more, 1, letter);
		if (!dlq_run(dlq, more, err))
			return false;
	}
	for (unsigned target = OUTBOUND_TABLE; target <= OUTBOUND_FOLDER; target <<= 1) {
		sqlite3_stmt *stmt;

		if (!(dlq->outbound & target) || (target == OUTBOUND_TABLE && !is_new))
			continue;
		if (!(stmt = dlq_statement(dlq, OUTBOUND_ADD, err)))
			return false;
		sqlite3_bind_int64(stmt, 1, letter);
		sqlite3_bind_int(stmt, 2, (int)target);
		sqlite3_bind_int64(stmt, 3, clock_utc_us());
		if (!dlq_run(dlq, stmt, err))
			return false;
	}
	return true;
}

static const char *text_of(struct arena *arena, sqlite3_stmt *stmt, int column)
{
	return arena_string(arena, store_text(stmt, column));
}

bool dlq_outbound_next(struct dlq *dlq, unsigned target, int64_t after, struct batch *into, struct outbound_letter *out,
                       struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, OUTBOUND_NEXT, err);
	bool has_row = false;

	*out = (struct outbound_letter){ 0 };
	if (!stmt)
		return false;
	sqlite3_bind_int(stmt, 1, (int)target);
	sqlite3_bind_int64(stmt, 2, after);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	if (has_row) {
		out->message = batch_add_message(into);
		message_unpack(out->message, into->arena, stmt);
		out->letter = sqlite3_column_int64(stmt, 0);
		out->id = sqlite3_column_int64(stmt, 14);
		out->retries = sqlite3_column_int64(stmt, 15);
		out->stage = text_of(into->arena, stmt, 16);
		out->code = text_of(into->arena, stmt, 17);
		out->text = text_of(into->arena, stmt, 18);
		out->table = text_of(into->arena, stmt, 19);
		out->source = text_of(into->arena, stmt, 20);
	}
	sqlite3_reset(stmt);
	return true;
}

bool dlq_outbound_done(struct dlq *dlq, unsigned target, int64_t last, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, OUTBOUND_DONE, err);

	if (!stmt)
		return false;
	sqlite3_bind_int(stmt, 1, (int)target);
	sqlite3_bind_int64(stmt, 2, last);
	return dlq_run(dlq, stmt, err);
}

bool dlq_outbound_oldest(struct dlq *dlq, unsigned target, int64_t *out_utc_us, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, OUTBOUND_OLDEST, err);
	bool has_row = false;

	*out_utc_us = 0;
	if (!stmt)
		return false;
	sqlite3_bind_int(stmt, 1, (int)target);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_utc_us = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	return true;
}

/*
 * Files
 */

static bool file_row(struct dlq *dlq, enum dlq_statement which, const char *a, const char *b, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, which, err);

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(a));
	if (b)
		store_bind_text(stmt, 2, span_of(b));
	return dlq_run(dlq, stmt, err);
}

bool dlq_file_made(struct dlq *dlq, const char *scratch, const char *name, struct error *err)
{
	return file_row(dlq, FILE_ADD, scratch, name, err);
}

bool dlq_file_named(struct dlq *dlq, const char *scratch, struct error *err)
{
	return file_row(dlq, FILE_DROP, scratch, NULL, err);
}

bool dlq_file_first(struct dlq *dlq, struct arena *arena, const char **out_scratch, const char **out_name, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, FILE_FIRST, err);
	bool has_row = false;

	*out_scratch = NULL;
	if (!stmt || !dlq_row(dlq, stmt, &has_row, err))
		return false;
	if (has_row) {
		*out_scratch = text_of(arena, stmt, 0);
		*out_name = text_of(arena, stmt, 1);
	}
	sqlite3_reset(stmt);
	return true;
}

bool dlq_inbound_add(struct dlq *dlq, const char *path, struct error *err)
{
	return file_row(dlq, INBOUND_ADD, path, NULL, err);
}

bool dlq_inbound_drop(struct dlq *dlq, const char *path, struct error *err)
{
	return file_row(dlq, INBOUND_DROP, path, NULL, err);
}

bool dlq_inbound_known(struct dlq *dlq, const char *path, bool *out_known, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, INBOUND_FIND, err);

	*out_known = false;
	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(path));
	if (!dlq_row(dlq, stmt, out_known, err))
		return false;
	sqlite3_reset(stmt);
	return true;
}

/*
 * Entries
 */

static bool due_add(struct dlq *dlq, int64_t letter, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, DUE_ADD, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, letter);
	return dlq_run(dlq, stmt, err);
}

bool dlq_due_count(struct dlq *dlq, uint64_t *out_count, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, DUE_COUNT, err);
	bool has_row = false;

	*out_count = 0;
	if (!stmt || !dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_count = has_row ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	return true;
}

/* Somebody may have mended it in the file: then the letter is what he wrote. */
static bool body_change(struct dlq *dlq, int64_t letter, const struct message *message, struct error *err)
{
	char sha256[SHA256_TEXT_BYTES];
	sqlite3_stmt *stmt;

	sha256_of_message(message, sha256);
	if (!(stmt = dlq_statement(dlq, BODY_CHANGE, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, letter);
	store_bind_blob(stmt, 2, message->body);
	if (!dlq_run(dlq, stmt, err) || !(stmt = dlq_statement(dlq, LETTER_RESIZE, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, letter);
	dlq_bind_count(stmt, 2, message->body.len);
	store_bind_text(stmt, 3, span_of(sha256));
	return dlq_run(dlq, stmt, err);
}

bool dlq_take_own(struct dlq *dlq, int64_t letter, const struct message *message, bool *out_is_ours, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, LETTER_BODY, err);
	bool has_row = false, is_waiting = false, is_same = true;

	*out_is_ours = false;
	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, letter);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	if (has_row) {
		int state = sqlite3_column_int(stmt, 0);

		/* What somebody has decided about it meanwhile stands. */
		is_waiting = state == LETTER_NEW || state == LETTER_FAILED_AGAIN;
		is_same = span_equal(store_blob(stmt, 1), message->body);
	}
	sqlite3_reset(stmt);
	*out_is_ours = has_row;
	if (!is_waiting)
		return true;
	return (is_same || body_change(dlq, letter, message, err)) && due_add(dlq, letter, err);
}

static bool folder_origin(struct dlq *dlq, const char *folder, int64_t *out_origin, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, ORIGIN_ADD, err);
	bool has_row = false;

	if (!stmt)
		return false;
	store_bind_blob(stmt, 1, span_of(folder));
	store_bind_text(stmt, 2, SPAN("dead-letter folder"));
	store_bind_text(stmt, 3, span_of(folder));
	if (!dlq_run(dlq, stmt, err) || !(stmt = dlq_statement(dlq, ORIGIN_FIND, err)))
		return false;
	store_bind_blob(stmt, 1, span_of(folder));
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_origin = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return true;
}

bool dlq_take_foreign(struct dlq *dlq, const char *folder, const struct batch *batch, struct message *message,
                      int64_t retries, struct error *err)
{
	unsigned outbound = dlq->outbound;
	sqlite3_stmt *stmt;
	bool is_fine;

	/* What comes from the folder does not go there again by itself. */
	dlq->outbound = 0;
	is_fine = folder_origin(dlq, folder, &message->origin, err) && dlq_next_place(dlq, &message->offset, err) &&
	          dlq_keep(dlq, batch, message, "-", err);
	dlq->outbound = outbound;
	if (!is_fine || !(stmt = dlq_statement(dlq, RETRIED_SET, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, dlq->newest);
	sqlite3_bind_int64(stmt, 2, retries);
	return dlq_run(dlq, stmt, err) && due_add(dlq, dlq->newest, err);
}

bool dlq_next_place(struct dlq *dlq, uint64_t *out_place, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PLACE_NEXT, err);
	bool has_row = false;

	if (!stmt || !dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_place = has_row ? (uint64_t)sqlite3_column_int64(stmt, 0) : 1;
	sqlite3_reset(stmt);
	return true;
}
