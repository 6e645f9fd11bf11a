/*
 * Groups of letters that failed in the same way: stage, code, table, column and
 * path without its indices.
 */
#include "dlq/dlq_private.h"

struct signature {
	struct span parts[5]; /* code, stage, table, column, path */
};

static bool group_query(struct dlq *dlq, enum dlq_statement which, const struct signature *s, int64_t *out_group,
                        struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, which, err);
	bool has_row = false;

	if (!stmt)
		return false;
	for (int i = 0; i < 5; i++)
		store_bind_text(stmt, i + 1, s->parts[i].at ? s->parts[i] : SPAN(""));
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	if (which == GROUP_ADD)
		*out_group = sqlite3_last_insert_rowid(dlq->store->db);
	else
		*out_group = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	return true;
}

/* Groups never go, so the largest number is their count. */
static bool groups_are_full(struct dlq *dlq, bool *out_full, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, GROUP_LAST, err);
	bool has_row = false;

	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_full = has_row && sqlite3_column_int64(stmt, 0) >= GROUPS_MAX;
	sqlite3_reset(stmt);
	return true;
}

/* Journal and log never hold values of a stream, and a letter's message may: where it stands is enough to find it. */
static void tell_first(struct dlq *dlq, const struct finding *f, int64_t group)
{
	struct span column = f->why->column, id = f->message->id;
	char place[64];

	if (f->message->line)
		snprintf(place, sizeof(place), "line %llu", (unsigned long long)f->message->line);
	else
		snprintf(place, sizeof(place), "message %.*s", id.len > 40 ? 40 : (int)id.len, id.len ? id.at : "");
	watch_add(dlq, f->table, "dlq_group", "first letter of group %lld: %s%s%.*s, %s", (long long)group, f->why->code,
	          column.len ? ", column " : "", column.len > 300 ? 300 : (int)column.len, column.len ? column.at : "", place);
}

/* A stream that invents a table or a path a message must not make a group a message: codes are few. */
bool group_choose(struct dlq *dlq, const struct finding *f, int64_t *out_group, struct error *err)
{
	struct signature s = { { span_of(f->why->code), span_of(f->why->stage), span_of(f->table), f->why->column,
	                         text_span(f->shape) } };
	bool is_full = false;

	if (!group_query(dlq, GROUP_FIND, &s, out_group, err))
		return false;
	if (*out_group)
		return true;
	if (!groups_are_full(dlq, &is_full, err))
		return false;
	if (is_full) {
		s = (struct signature){ { s.parts[0] } };
		if (!group_query(dlq, GROUP_FIND, &s, out_group, err))
			return false;
	}
	if (*out_group)
		return true;
	if (!group_query(dlq, GROUP_ADD, &s, out_group, err))
		return false;
	tell_first(dlq, f, *out_group);
	return true;
}

bool group_has_key(struct dlq *dlq, int64_t group, bool has_key, int64_t key_hash, bool *out_has, struct error *err)
{
	sqlite3_stmt *stmt;

	if (!has_key) {
		*out_has = true; /* no key is no new key */
		return true;
	}
	if (!(stmt = dlq_statement(dlq, GROUP_HAS_KEY, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, group);
	sqlite3_bind_int64(stmt, 2, key_hash);
	if (!dlq_row(dlq, stmt, out_has, err))
		return false;
	sqlite3_reset(stmt);
	return true;
}

bool group_grew(struct dlq *dlq, int64_t group, const struct finding *f, bool is_new_key, int64_t letter,
                struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, GROUP_GREW, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, group);
	sqlite3_bind_int(stmt, 2, is_new_key);
	sqlite3_bind_int64(stmt, 3, f->message->received_us);
	sqlite3_bind_int64(stmt, 4, letter);
	return dlq_run(dlq, stmt, err);
}

/* `first` and `last` stay: they say when this failure was seen, also by letters that fail otherwise now. */
bool group_shrank(struct dlq *dlq, int64_t group, bool is_lost_key, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, GROUP_SHRANK, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, group);
	sqlite3_bind_int(stmt, 2, is_lost_key);
	return dlq_run(dlq, stmt, err);
}
