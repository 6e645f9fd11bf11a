/*
 * Keeping a refused message: its bytes and attributes as they came, and why it
 * was refused. The place in the source is the letter's identity, so that meeting
 * it again adds nothing.
 */
#include "dlq/dlq_private.h"

/* Reason, key and place in the log from parameter `i` on: the part that a later failure may change. */
static void bind_finding(sqlite3_stmt *stmt, int i, const struct finding *f)
{
	const struct refusal *why = f->why;

	store_bind_text(stmt, i++, span_of(why->stage));
	store_bind_text(stmt, i++, span_of(why->code));
	dlq_bind_optional(stmt, i++, span_of(why->message));
	store_bind_text(stmt, i++, span_of(f->table));
	dlq_bind_optional(stmt, i++, why->column);
	dlq_bind_optional(stmt, i++, why->path);
	dlq_bind_optional(stmt, i++, f->key);
	if (f->has_key)
		sqlite3_bind_int64(stmt, i, f->key_hash);
	i++;
	if (f->weir_key.len)
		store_bind_blob(stmt, i, f->weir_key);
	i++;
	if (f->position.len)
		store_bind_blob(stmt, i, f->position);
	i++;
	dlq_bind_optional(stmt, i++, span_of(f->ordinals));
	if (f->committed_us > 0)
		sqlite3_bind_int64(stmt, i, f->committed_us);
}

static bool letter_insert(struct dlq *dlq, int64_t origin, int64_t group, const struct finding *f, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, LETTER_ADD, err);
	const struct message *m = f->message;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, origin);
	dlq_bind_count(stmt, 2, m->offset);
	sqlite3_bind_int64(stmt, 3, dlq_line_of(m));
	sqlite3_bind_int64(stmt, 4, group);
	bind_finding(stmt, 5, f);
	store_bind_text(stmt, 17, m->id);
	dlq_bind_optional(stmt, 18, m->publish);
	dlq_bind_optional(stmt, 19, m->key);
	store_bind_blob(stmt, 20, text_span(f->attrs));
	dlq_bind_count(stmt, 21, m->big ? m->big->size : m->body.len);
	store_bind_text(stmt, 22, span_of(f->sha256));
	sqlite3_bind_int(stmt, 23, m->body_is_null);
	sqlite3_bind_int(stmt, 24, m->big != NULL);
	sqlite3_bind_int64(stmt, 25, m->received_us);
	store_bind_blob(stmt, 26, m->kept);
	return dlq_run(dlq, stmt, err);
}

static bool body_insert(struct dlq *dlq, int64_t letter, struct span body, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, BODY_ADD, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, letter);
	store_bind_blob(stmt, 2, body);
	return dlq_run(dlq, stmt, err);
}

static bool letter_add(struct dlq *dlq, int64_t origin, int64_t group, const struct finding *f, struct error *err)
{
	bool has_key = true;
	int64_t letter;

	if (!group_has_key(dlq, group, f->has_key, f->key_hash, &has_key, err))
		return false;
	if (!letter_insert(dlq, origin, group, f, err))
		return false;
	letter = dlq->newest = sqlite3_last_insert_rowid(dlq->store->db);
	return body_insert(dlq, letter, f->message->body, err) &&
	       group_grew(dlq, group, f, !has_key, letter, err);
}

static bool letter_update(struct dlq *dlq, int64_t letter, int64_t group, const struct finding *f, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, LETTER_CHANGE, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, letter);
	sqlite3_bind_int64(stmt, 2, group);
	bind_finding(stmt, 3, f);
	/* Met again, it may lack what the transform has made of it before; a replay has all that is still refused. */
	sqlite3_bind_int(stmt, 15, f->message->letter != 0);
	store_bind_blob(stmt, 16, f->message->kept);
	return dlq_run(dlq, stmt, err);
}

static bool letter_touch(struct dlq *dlq, int64_t letter, const struct finding *f, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, LETTER_AGAIN, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, letter);
	sqlite3_bind_int64(stmt, 2, f->message->received_us);
	return dlq_run(dlq, stmt, err);
}

struct known_letter {
	int64_t id, group, key_hash;
	enum letter_state state;
	bool has_key;
};

static bool letter_find(struct dlq *dlq, int64_t origin, uint64_t place, struct known_letter *out, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, LETTER_FIND, err);
	bool has_row = false;

	*out = (struct known_letter){ 0 };
	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, origin);
	dlq_bind_count(stmt, 2, place);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	if (has_row)
		*out = (struct known_letter){
			.id = sqlite3_column_int64(stmt, 0),
			.group = sqlite3_column_int64(stmt, 1),
			.key_hash = sqlite3_column_int64(stmt, 3),
			.state = (enum letter_state)sqlite3_column_int(stmt, 2),
			.has_key = sqlite3_column_type(stmt, 3) != SQLITE_NULL,
		};
	sqlite3_reset(stmt);
	return true;
}

/* What was over and fails once more needs somebody; so does a new kind of failure. What somebody has discarded is discarded also
 * when it is read again and refused for the same reason: that was their decision. Otherwise the state stays. */
static const char *state_after(const struct known_letter *known, bool is_same_reason)
{
	if (!letter_states[known->state].is_over || (known->state == LETTER_DISCARDED && is_same_reason))
		return NULL;
	return letter_states[is_same_reason ? LETTER_FAILED_AGAIN : LETTER_NEW].word;
}

static bool letter_move(struct dlq *dlq, const struct known_letter *known, int64_t group, const struct finding *f,
                        struct error *err)
{
	bool has_key = true, had_key = true;

	if (!group_has_key(dlq, group, f->has_key, f->key_hash, &has_key, err) ||
	    !letter_update(dlq, known->id, group, f, err) ||
	    !group_has_key(dlq, known->group, known->has_key, known->key_hash, &had_key, err))
		return false;
	return group_grew(dlq, group, f, !has_key, known->id, err) && group_shrank(dlq, known->group, !had_key, err);
}

static bool letter_again(struct dlq *dlq, const struct known_letter *known, int64_t group, const struct finding *f,
                         struct error *err)
{
	const char *state = state_after(known, known->group == group);

	return letter_touch(dlq, known->id, f, err) && letter_move(dlq, known, group, f, err) &&
	       (!state || dlq_set_state(dlq, known->id, state, err));
}

bool dlq_keep(struct dlq *dlq, const struct batch *batch, const struct message *message, const char *table,
              struct error *err)
{
	struct finding f;
	struct known_letter known;
	int64_t origin = 0, group = 0;
	bool is_kept;

	finding_fill(&f, batch, message, table);
	is_kept = dlq_origin_row(dlq, message, &origin, err) && group_choose(dlq, &f, &group, err) &&
	          letter_find(dlq, origin, message->offset, &known, err) &&
	          (known.id ? letter_again(dlq, &known, group, &f, err) : letter_add(dlq, origin, group, &f, err)) &&
	          (known.id ? !message->letter || outbound_add(dlq, known.id, false, err)
	                    : !dlq->outbound || outbound_add(dlq, dlq->newest, true, err));
	finding_clear(&f);
	return is_kept;
}
