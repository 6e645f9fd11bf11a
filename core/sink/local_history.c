/*
 * Earlier events of a row, read from the changelog. From an insert that follows a
 * key change the history goes on under the old key: there the delete that belongs
 * to the change is passed over. Any other delete is where a row's history begins.
 */
#include "sink/local_private.h"

#include <stdlib.h>

struct history {
	struct store *store;
	struct arena *arena;    /* the changelog's name */
	struct span changelog;
	int64_t end;
	bool is_kept;
	sqlite3_stmt *same, *old, *event, *dependents;
	struct json_doc list;
};

struct history *history_open(struct store *changelog_store, struct span changelog, bool is_kept)
{
	struct history *history = memory_zalloc(sizeof(*history));

	history->store = changelog_store;
	history->arena = arena_new(1024);
	history->changelog = arena_copy(history->arena, changelog);
	history->is_kept = is_kept;
	return history;
}

bool history_is_kept(const struct history *history)
{
	return history->is_kept;
}

void history_set_end(struct history *history, int64_t end)
{
	history->end = end;
}

void history_close(struct history *history)
{
	if (!history)
		return;
	sql_finalize(&history->same);
	sql_finalize(&history->old);
	sql_finalize(&history->event);
	sql_finalize(&history->dependents);
	json_doc_free(&history->list);
	arena_free(history->arena);
	free(history);
}

static sqlite3_stmt *prepare(struct history *history, const char *select, const char *where, struct error *err)
{
	struct text *sql = sql_new(select);

	sql_name(sql, history->changelog);
	text_add(sql, where);
	return sql_prepare(sql, history->store, err);
}

static bool history_prepare(struct history *history, struct error *err)
{
	static const char columns[] =
		"SELECT _weir_position, operation, _weir_old_key, _weir_unavailable, fullRecord FROM ";

	if (history->dependents)
		return true;
	return (history->same = prepare(history, columns, " WHERE _weir_key=?1 AND _weir_position<?2 AND rowid<=?3 "
	                                "ORDER BY _weir_position DESC LIMIT 1", err)) &&
	       (history->old = prepare(history, columns, " WHERE _weir_key=?1 AND _weir_position<?2 AND rowid<=?3 "
	                               "AND operation<>'DELETE' ORDER BY _weir_position DESC LIMIT 1", err)) &&
	       (history->event = prepare(history, "SELECT _weir_old_key, _weir_unavailable FROM ",
	                                 " WHERE _weir_position=?1 AND _weir_key=?2", err)) &&
	       (history->dependents = prepare(history, "SELECT DISTINCT _weir_key FROM ",
	                                      " WHERE _weir_old_key=?1 AND rowid<=?2", err));
}

static bool list_has(struct history *history, struct span unavailable, struct span column, struct arena *arena)
{
	size_t at;

	if (!unavailable.len || json_parse(&history->list, unavailable, &at) != JSON_FINE ||
	    !json_is(&history->list, 0, JSON_ARRAY))
		return false;
	for (uint32_t i = 1; i < history->list.count; i = history->list.tokens[i].next) {
		if (json_is(&history->list, i, JSON_STRING) && span_equal(json_text(&history->list, i, arena), column))
			return true;
	}
	return false;
}

/* What one step back found. */
enum back { BACK_FOUND, BACK_FURTHER, BACK_END };

static enum back step_look(struct history *history, sqlite3_stmt *stmt, struct moment *event, struct span column,
                           struct arena *arena, struct span *out_record)
{
	if (span_is(store_text(stmt, 1), operation_names[OP_DELETE]))
		return BACK_END;
	if (!list_has(history, store_text(stmt, 3), column, arena)) {
		*out_record = arena_copy(arena, store_text(stmt, 4));
		return BACK_FOUND;
	}
	if (event->old_key.len)
		event->key = event->old_key;
	event->position = (const unsigned char *)arena_copy(arena, store_blob(stmt, 0)).at;
	event->old_key = arena_copy(arena, store_blob(stmt, 2));
	return BACK_FURTHER;
}

static bool step_back(struct history *history, struct moment *event, struct span column, struct arena *arena,
                      enum back *out, struct span *out_record, struct error *err)
{
	sqlite3_stmt *stmt = event->old_key.len ? history->old : history->same;
	bool has_row = false;

	store_bind_blob(stmt, 1, event->old_key.len ? event->old_key : event->key);
	store_bind_blob(stmt, 2, span_make((const char *)event->position, POSITION_BYTES));
	sqlite3_bind_int64(stmt, 3, history->end);
	if (!store_step(history->store, stmt, &has_row, err))
		return false;
	*out = has_row ? step_look(history, stmt, event, column, arena, out_record) : BACK_END;
	sqlite3_reset(stmt);
	return true;
}

bool history_find(struct history *history, const struct moment *event, struct span column, struct arena *arena,
                  bool *out_found, struct span *out_record, struct error *err)
{
	struct moment at = *event;
	enum back back = BACK_FURTHER;

	if (!history_prepare(history, err))
		return false;
	/* Positions only fall, so this ends. */
	while (back == BACK_FURTHER) {
		if (!step_back(history, &at, column, arena, &back, out_record, err))
			return false;
	}
	*out_found = back == BACK_FOUND;
	return true;
}

bool history_event(struct history *history, const struct moment *place, struct arena *arena, struct span *out_old_key,
                   struct span *out_unavailable, struct error *err)
{
	bool has_row = false;

	*out_old_key = *out_unavailable = (struct span){ 0 };
	if (!history_prepare(history, err))
		return false;
	store_bind_blob(history->event, 1, span_make((const char *)place->position, POSITION_BYTES));
	store_bind_blob(history->event, 2, place->key);
	if (!store_step(history->store, history->event, &has_row, err))
		return false;
	if (has_row) {
		*out_old_key = arena_copy(arena, store_blob(history->event, 0));
		*out_unavailable = arena_copy(arena, store_text(history->event, 1));
	}
	sqlite3_reset(history->event);
	return true;
}

bool history_dependents(struct history *history, struct span key, struct fold *fold, struct arena *arena,
                        struct error *err)
{
	bool has_row = false;
	bool is_fine;

	if (!history_prepare(history, err))
		return false;
	store_bind_blob(history->dependents, 1, key);
	sqlite3_bind_int64(history->dependents, 2, history->end);
	while ((is_fine = store_step(history->store, history->dependents, &has_row, err)) && has_row)
		fold_touch(fold, arena_copy(arena, store_blob(history->dependents, 0)));
	return is_fine;
}
