/* Parked messages: whole messages that wait until their table goes on. */
#include "dlq/dlq_private.h"

#include <stdlib.h>

/* One column for both: a feed's line, or below zero the receipt of a subscription's message, which has no line. */
int64_t dlq_line_of(const struct message *message)
{
	return message->receipt ? -(int64_t)message->receipt : (int64_t)message->line;
}

static void bind_message(sqlite3_stmt *stmt, const struct message *m, struct span attrs, struct span sha256)
{
	store_bind_text(stmt, 10, m->id);
	dlq_bind_optional(stmt, 11, m->publish);
	dlq_bind_optional(stmt, 12, m->key);
	store_bind_blob(stmt, 13, attrs);
	dlq_bind_count(stmt, 14, m->big ? m->big->size : m->body.len);
	dlq_bind_optional(stmt, 15, sha256);
	sqlite3_bind_int(stmt, 16, m->body_is_null);
	sqlite3_bind_int(stmt, 17, m->big != NULL);
	sqlite3_bind_int64(stmt, 18, m->received_us);
	store_bind_blob(stmt, 19, m->body);
	store_bind_blob(stmt, 20, m->kept);
}

static void bind_place(sqlite3_stmt *stmt, int64_t origin, const struct message *m, const char *table,
                       const struct refusal *why)
{
	sqlite3_bind_int64(stmt, 1, origin);
	dlq_bind_count(stmt, 2, m->offset);
	sqlite3_bind_int64(stmt, 3, dlq_line_of(m));
	store_bind_text(stmt, 4, span_of(table));
	dlq_bind_optional(stmt, 5, span_of(why ? why->stage : NULL));
	dlq_bind_optional(stmt, 6, span_of(why ? why->code : NULL));
	dlq_bind_optional(stmt, 7, span_of(why ? why->message : NULL));
	dlq_bind_optional(stmt, 8, why ? why->column : span_make(NULL, 0));
	dlq_bind_optional(stmt, 9, why ? why->path : span_make(NULL, 0));
}

/* The newest table first: neighbours are often of one. */
static void sum_up(struct dlq *dlq, const char *table, uint64_t bytes)
{
	size_t i = dlq->park_sum_count;

	while (i && dlq->park_sums[i - 1].table != table)
		i--;
	if (!i) {
		dlq->park_sums = memory_grow(dlq->park_sums, (dlq->park_sum_count + 1) * sizeof(*dlq->park_sums));
		dlq->park_sums[dlq->park_sum_count++] = (struct park_sum){ .table = table };
		i = dlq->park_sum_count;
	}
	dlq->park_sums[i - 1].count++;
	dlq->park_sums[i - 1].bytes += bytes;
}

/* A message of a subscription that was parked before, by another receipt: it has come again. */
static bool is_twin(struct dlq *dlq, int64_t origin, const struct message *message, bool *out, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PARK_LINE, err);
	bool has_row = false;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, origin);
	dlq_bind_count(stmt, 2, message->offset);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out = has_row && sqlite3_column_int64(stmt, 0) != dlq_line_of(message);
	sqlite3_reset(stmt);
	return true;
}

bool parked_insert(struct dlq *dlq, const struct parked_row *row, const struct message *message, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PARK_ADD, err);

	if (!stmt)
		return false;
	bind_place(stmt, row->origin, message, row->table, row->why);
	bind_message(stmt, message, row->attrs, row->sha256);
	if (row->id)
		sqlite3_bind_int64(stmt, 21, row->id);
	return dlq_run(dlq, stmt, err);
}

bool dlq_park(struct dlq *dlq, const struct message *message, const char *table, const struct refusal *why,
              bool *out_is_twin, struct error *err)
{
	uint64_t bytes = (message->big ? message->big->size : message->body.len) + message->kept.len;
	OWNED(text) attrs = attributes_pack(message);
	struct parked_row row = { .table = table, .why = why, .attrs = text_span(attrs),
	                          .sha256 = span_of(message->big ? message->big->sha256 : NULL) };

	if (out_is_twin)
		*out_is_twin = false;
	if (dlq->is_piling) {
		sum_up(dlq, table, bytes);
		return dlq_pile_add(dlq, message, table, why, row.attrs, err);
	}
	if (!dlq_origin_row(dlq, message, &row.origin, err) || !parked_insert(dlq, &row, message, err))
		return false;
	if (!sqlite3_changes(dlq->store->db))
		return !message->receipt || !out_is_twin || is_twin(dlq, row.origin, message, out_is_twin, err);
	if (dlq->is_parking)
		sum_up(dlq, table, bytes);
	return true;
}

/* A trigger costs a third of what a parked message costs. To switch it has every statement prepared anew, so this is for
 * many messages at once. */
void triggers_switch(struct dlq *dlq, bool is_on)
{
	sqlite3_db_config(dlq->store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, is_on, NULL);
}

static bool has_between(struct dlq *dlq, int64_t origin, const struct message *first, const struct message *last, bool *out,
                        struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PARK_BETWEEN, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, origin);
	dlq_bind_count(stmt, 2, first->offset);
	dlq_bind_count(stmt, 3, last->offset);
	if (!dlq_row(dlq, stmt, out, err))
		return false;
	sqlite3_reset(stmt);
	return true;
}

bool dlq_park_begin(struct dlq *dlq, const struct message *first, const struct message *last, bool is_many, struct error *err)
{
	struct pile_choice met = { .is_by_place = true, .low = (int64_t)first->offset, .high = (int64_t)last->offset };
	bool has_met = true;

	dlq->park_sum_count = 0;
	/* A subscription's places have no order: each is looked for by itself. */
	if (!first->receipt && (!dlq_origin_row(dlq, first, &met.origin, err) || !dlq_piles_spread(dlq, &met, err) ||
	                        (is_many && !has_between(dlq, met.origin, first, last, &has_met, err))))
		return false;
	if (is_many && !has_met)
		return dlq_piles_begin(dlq, met.origin, err);
	dlq->is_parking = is_many;
	if (is_many)
		triggers_switch(dlq, false);
	return true;
}

void dlq_park_forget(struct dlq *dlq)
{
	if (dlq->is_parking)
		triggers_switch(dlq, true);
	dlq->is_parking = false;
	dlq->park_sum_count = 0;
	dlq_piles_forget(dlq);
}

static bool sums_store(struct dlq *dlq, struct error *err)
{
	bool is_fine = true;

	for (size_t i = 0; is_fine && i < dlq->park_sum_count; i++) {
		const struct park_sum *sum = &dlq->park_sums[i];
		sqlite3_stmt *stmt = dlq_statement(dlq, PARK_SUM_ADD, err);

		is_fine = stmt != NULL;
		if (!is_fine)
			break;
		store_bind_text(stmt, 1, span_of(sum->table));
		dlq_bind_count(stmt, 2, sum->count);
		dlq_bind_count(stmt, 3, sum->bytes);
		is_fine = dlq_run(dlq, stmt, err);
	}
	return is_fine;
}

bool dlq_park_end(struct dlq *dlq, struct error *err)
{
	bool is_fine = (!dlq->is_piling || dlq_piles_end(dlq, err)) && sums_store(dlq, err);

	dlq_park_forget(dlq);
	return is_fine;
}

bool dlq_parked(struct dlq *dlq, const char *table, uint64_t *out_count, uint64_t *out_bytes, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PARK_SUM, err);
	bool has_row = false;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(table));
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_count = has_row ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
	*out_bytes = has_row ? (uint64_t)sqlite3_column_int64(stmt, 1) : 0;
	sqlite3_reset(stmt);
	return true;
}

bool dlq_parked_why(struct dlq *dlq, const char *table, const char **out_code, const char **out_sentence)
{
	struct error ignored = { .kind = ERROR_NONE };
	sqlite3_stmt *stmt = dlq_statement(dlq, PARK_WHY, &ignored);
	bool has_row = false;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(table));
	if (!dlq_row(dlq, stmt, &has_row, &ignored) || !has_row)
		return false;
	*out_code = (const char *)sqlite3_column_text(stmt, 0);
	*out_sentence = (const char *)sqlite3_column_text(stmt, 1);
	return *out_code && *out_sentence;
}

bool dlq_count(struct dlq *dlq, struct span identity, uint64_t offset, uint64_t *out_letters, uint64_t *out_parked,
               struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, LETTER_COUNT, err);
	uint64_t letters, bytes;
	bool has_row = false;

	if (!stmt)
		return false;
	store_bind_blob(stmt, 1, identity);
	dlq_bind_count(stmt, 2, offset);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	letters = has_row ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	if (!dlq_parked(dlq, NULL, out_parked, &bytes, err))
		return false;
	*out_letters = letters;
	return true;
}
