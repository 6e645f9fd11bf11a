/* Parked messages that come back, in order of arrival, or are forgotten. */
#include "dlq/dlq_private.h"

#include <assert.h>
#include <stdlib.h>

static void line_unpack(struct message *message, int64_t line)
{
	message->line = line > 0 ? (uint64_t)line : 0;
	message->receipt = line < 0 ? (uint64_t)-line : 0;
}

static void attributes_unpack(struct message *m, struct arena *arena, struct span packed)
{
	struct span rest = packed, text;
	struct attribute *attrs;
	size_t count = 0;

	while (attributes_next(&rest, &text))
		count++;
	if (count < 2)
		return;
	attrs = arena_alloc(arena, count / 2 * sizeof(*attrs));
	rest = packed;
	for (size_t i = 0; i < count / 2; i++) {
		attributes_next(&rest, &attrs[i].name);
		attributes_next(&rest, &attrs[i].value);
	}
	m->attrs = attrs;
	m->attr_count = count / 2;
}

static struct span arena_text(struct arena *arena, struct span text)
{
	return text.at ? arena_copy(arena, text) : span_make(NULL, 0);
}

static const struct big_body *big_unpack(struct arena *arena, sqlite3_stmt *row)
{
	struct big_body *big = arena_zalloc(arena, sizeof(*big));
	struct span hash = store_text(row, 9);

	big->size = (uint64_t)sqlite3_column_int64(row, 8);
	memcpy(big->sha256, hash.at, hash.len < sizeof(big->sha256) ? hash.len : sizeof(big->sha256) - 1);
	return big;
}

void message_unpack(struct message *m, struct arena *arena, sqlite3_stmt *row)
{
	m->origin = sqlite3_column_int64(row, 1);
	m->offset = (uint64_t)sqlite3_column_int64(row, 2);
	line_unpack(m, sqlite3_column_int64(row, 3));
	m->id = arena_text(arena, store_text(row, 4));
	m->publish = arena_text(arena, store_text(row, 5));
	m->key = arena_text(arena, store_text(row, 6));
	attributes_unpack(m, arena, arena_text(arena, store_blob(row, 7)));
	m->body_is_null = sqlite3_column_int(row, 10) != 0;
	if (sqlite3_column_int(row, 11))
		m->big = big_unpack(arena, row);
	m->received_us = sqlite3_column_int64(row, 12);
	m->body = arena_text(arena, store_blob(row, 13));
}

static void parked_unpack(struct message *m, struct arena *arena, sqlite3_stmt *row)
{
	message_unpack(m, arena, row);
	m->kept = arena_text(arena, store_blob(row, 14));
}

/* Sees where the next stretch begins. */
static bool stretch_find(struct dlq *dlq, int64_t after_id, struct span but, int64_t *out_first, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PARK_FIRST, err);
	bool has_row = false;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, after_id);
	store_bind_text(stmt, 2, but);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_first = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	return true;
}

static bool stretch_spread(struct dlq *dlq, int64_t first, struct span but, struct error *err)
{
	struct pile_choice reached = { .before = first + DLQ_STRETCH, .but = but };
	sqlite3_stmt *stmt = dlq_statement(dlq, PILE_ANY, err);
	bool has_any = false;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, reached.before);
	store_bind_text(stmt, 2, but);
	if (!dlq_row(dlq, stmt, &has_any, err))
		return false;
	sqlite3_reset(stmt);
	return !has_any || dlq_piles_spread(dlq, &reached, err);
}

bool dlq_unpark_begin(struct dlq *dlq, int64_t after_id, const json_t *but, int64_t *out_first, struct error *err)
{
	char *list = but ? json_dumps(but, JSON_COMPACT) : NULL;
	struct span left_out = span_of(list);
	sqlite3_stmt *stmt = NULL;

	if (stretch_find(dlq, after_id, left_out, out_first, err) && stretch_spread(dlq, *out_first, left_out, err) &&
	    (stmt = dlq_statement(dlq, PARK_NEXT, err))) {
		sqlite3_bind_int64(stmt, 1, *out_first);
		sqlite3_bind_text(stmt, 2, left_out.at, (int)left_out.len, SQLITE_TRANSIENT);
		sqlite3_bind_int64(stmt, 3, *out_first + DLQ_STRETCH);
	}
	free(list);
	return stmt != NULL;
}

bool dlq_unpark_next(struct dlq *dlq, struct batch *into, int64_t *out_id, struct error *err)
{
	sqlite3_stmt *stmt = dlq->statements[PARK_NEXT];
	bool has_row = false;

	assert(into->message_count < BATCH_RECORDS_MAX);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_id = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	if (has_row)
		parked_unpack(batch_add_message(into), into->arena, stmt);
	return true;
}

void dlq_unpark_end(struct dlq *dlq)
{
	sqlite3_reset(dlq->statements[PARK_NEXT]);
}

bool dlq_unpark_done(struct dlq *dlq, int64_t id, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PARK_DONE, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, id);
	return dlq_run(dlq, stmt, err);
}

static bool origin_by_identity(struct dlq *dlq, struct span identity, int64_t *out_origin, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, ORIGIN_FIND, err);
	bool has_row = false;

	if (!stmt)
		return false;
	store_bind_blob(stmt, 1, identity);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_origin = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	return true;
}

bool dlq_unpark_forget(struct dlq *dlq, struct span identity, uint64_t offset, const json_t *offsets, struct error *err)
{
	struct pile_choice behind = { .is_by_place = true, .low = (int64_t)offset, .high = INT64_MAX };
	sqlite3_stmt *stmt;
	char *further;
	bool is_fine;

	if (!origin_by_identity(dlq, identity, &behind.origin, err) || (behind.origin && !dlq_piles_spread(dlq, &behind, err)) ||
	    !(stmt = dlq_statement(dlq, PARK_FORGET, err)))
		return false;
	further = offsets ? json_dumps(offsets, JSON_COMPACT) : NULL;
	store_bind_blob(stmt, 1, identity);
	dlq_bind_count(stmt, 2, offset);
	store_bind_text(stmt, 3, span_of(further ? further : "{}"));
	is_fine = dlq_run(dlq, stmt, err);
	free(further);
	return is_fine;
}
