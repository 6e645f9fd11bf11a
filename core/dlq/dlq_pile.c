/*
 * Piles: what a batch of a feed parks of one table, in one row. A message that lies in a row
 * of its own costs its indexes, its columns and its share of SQLite's pages, three times what
 * its way to the destination costs; while one table waits, all others would pay for that. Before
 * a pile's messages come back, or one of them may have come again, they are spread into rows
 * of their own, with the numbers that they got when they were parked.
 */
#include "dlq/dlq_private.h"

#include "base/crash.h"

#include <inttypes.h>
#include <stdlib.h>

#define PILE_BYTES ((size_t)256 << 10) /* one that has as many is full: it is spread as a whole */
#define PILE_TEXTS 7                   /* id, publish, key, attributes, hash, body, what is kept beside it */

/* Of one message, as it lies in a pile; this machine's byte order, for no other reads the job's store. Its texts follow. */
struct pile_head {
	int64_t id, place, line, received_us;
	uint64_t big_size; /* 0: the body is all there is */
	uint64_t lens[PILE_TEXTS];
	uint32_t is_null, is_big;
};

struct parked_pile {
	const char *table;         /* lent until dlq_park_end, as `why` is */
	const struct refusal *why;
	int64_t first, last;       /* numbers of its messages; other tables' may lie between */
	int64_t low, high;         /* their places */
	char *at;
	size_t len, room;
};

static void pile_put(struct parked_pile *pile, const void *from, size_t len)
{
	if (pile->len + len > pile->room) {
		pile->room = (pile->len + len) * 2;
		pile->at = memory_grow(pile->at, pile->room);
	}
	if (len)
		memcpy(pile->at + pile->len, from, len);
	pile->len += len;
}

static bool pile_store(struct dlq *dlq, struct parked_pile *pile, struct error *err)
{
	sqlite3_stmt *stmt = pile->len ? dlq_statement(dlq, PILE_ADD, err) : NULL;
	const struct refusal *why = pile->why;

	if (!pile->len)
		return true;
	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, pile->first);
	sqlite3_bind_int64(stmt, 2, pile->last);
	store_bind_text(stmt, 3, span_of(pile->table));
	sqlite3_bind_int64(stmt, 4, dlq->pile_origin);
	sqlite3_bind_int64(stmt, 5, pile->low);
	sqlite3_bind_int64(stmt, 6, pile->high);
	dlq_bind_optional(stmt, 7, span_of(why ? why->stage : NULL));
	dlq_bind_optional(stmt, 8, span_of(why ? why->code : NULL));
	dlq_bind_optional(stmt, 9, span_of(why ? why->message : NULL));
	store_bind_blob(stmt, 10, span_make(pile->at, pile->len));
	pile->len = 0;
	return dlq_run(dlq, stmt, err);
}

/* The newest table first: neighbours are often of one. */
static struct parked_pile *pile_of(struct dlq *dlq, const char *table)
{
	size_t i = dlq->pile_count;

	while (i && dlq->piles[i - 1].table != table)
		i--;
	if (i)
		return &dlq->piles[i - 1];
	dlq->piles = memory_grow(dlq->piles, (dlq->pile_count + 1) * sizeof(*dlq->piles));
	dlq->piles[dlq->pile_count] = (struct parked_pile){ .table = table };
	return &dlq->piles[dlq->pile_count++];
}

bool dlq_pile_add(struct dlq *dlq, const struct message *m, const char *table, const struct refusal *why, struct span attrs,
              struct error *err)
{
	const struct span texts[PILE_TEXTS] = { m->id, m->publish, m->key, attrs, span_of(m->big ? m->big->sha256 : NULL), m->body, m->kept };
	struct parked_pile *pile = pile_of(dlq, table);
	struct pile_head head;

	if ((pile->why != why || pile->len >= PILE_BYTES) && !pile_store(dlq, pile, err))
		return false;
	memset(&head, 0, sizeof(head)); /* what lies between its members is stored too */
	head.id = ++dlq->pile_id;
	head.place = (int64_t)m->offset;
	head.line = dlq_line_of(m);
	head.received_us = m->received_us;
	head.big_size = m->big ? m->big->size : 0;
	head.is_null = m->body_is_null;
	head.is_big = m->big != NULL;
	for (size_t i = 0; i < PILE_TEXTS; i++)
		head.lens[i] = texts[i].len;
	if (!pile->len) {
		pile->why = why;
		pile->first = head.id;
		pile->low = pile->high = head.place;
	}
	pile->last = head.id;
	pile->low = head.place < pile->low ? head.place : pile->low;
	pile->high = head.place > pile->high ? head.place : pile->high;
	pile_put(pile, &head, sizeof(head));
	for (size_t i = 0; i < PILE_TEXTS; i++)
		pile_put(pile, texts[i].at, texts[i].len);
	return true;
}

/* Numbers go on behind the newest that was ever given, as those of messages with rows of their own do. */
bool dlq_piles_begin(struct dlq *dlq, int64_t origin, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PARK_NEWEST, err);
	bool has_row = false;

	if (!stmt || !dlq_row(dlq, stmt, &has_row, err))
		return false;
	dlq->pile_id = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	dlq->pile_origin = origin;
	dlq->is_piling = true;
	return true;
}

bool dlq_piles_end(struct dlq *dlq, struct error *err)
{
	sqlite3_stmt *stmt;

	for (size_t i = 0; i < dlq->pile_count; i++) {
		if (!pile_store(dlq, &dlq->piles[i], err))
			return false;
	}
	if (!(stmt = dlq_statement(dlq, PARK_SET_NEWEST, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, dlq->pile_id);
	return dlq_run(dlq, stmt, err);
}

void dlq_piles_forget(struct dlq *dlq)
{
	for (size_t i = 0; i < dlq->pile_count; i++)
		free(dlq->piles[i].at);
	free(dlq->piles);
	dlq->piles = NULL;
	dlq->pile_count = 0;
	dlq->is_piling = false;
}

/*
 * Spread
 */

static struct span bytes_take(struct span *rest, size_t len)
{
	struct span taken = span_make(len ? rest->at : NULL, len);

	*rest = span_make(rest->at + len, rest->len - len);
	return taken;
}

static bool message_take(struct span *rest, struct parked_row *row, struct message *m, struct big_body *big)
{
	struct span *const texts[PILE_TEXTS] = { &m->id, &m->publish, &m->key, &row->attrs, &row->sha256, &m->body, &m->kept };
	struct pile_head head;

	if (rest->len < sizeof(head))
		return false;
	memcpy(&head, bytes_take(rest, sizeof(head)).at, sizeof(head));
	*big = (struct big_body){ .size = head.big_size };
	*m = (struct message){ .offset = (uint64_t)head.place, .line = (uint64_t)head.line, .received_us = head.received_us,
	                       .body_is_null = head.is_null != 0, .big = head.is_big ? big : NULL };
	row->id = head.id;
	for (size_t i = 0; i < PILE_TEXTS; i++) {
		if (head.lens[i] > rest->len)
			return false;
		*texts[i] = bytes_take(rest, (size_t)head.lens[i]);
	}
	return true;
}

/* Columns of PILE_AT and PILE_BEFORE. */
enum { PILE_FIRST, PILE_TABLE, PILE_ORIGIN, PILE_STAGE, PILE_CODE, PILE_MESSAGE, PILE_BODY };

static bool pile_spread(struct dlq *dlq, sqlite3_stmt *pile, struct error *err)
{
	struct refusal why = { .stage = store_text(pile, PILE_STAGE).at, .code = store_text(pile, PILE_CODE).at,
	                       .message = store_text(pile, PILE_MESSAGE).at };
	struct parked_row row = { .origin = sqlite3_column_int64(pile, PILE_ORIGIN), .table = store_text(pile, PILE_TABLE).at,
	                          .why = &why };
	struct span rest = store_blob(pile, PILE_BODY);
	struct big_body big;
	struct message m;

	while (rest.len) {
		if (!message_take(&rest, &row, &m, &big))
			return fail(err, ERROR_BUG, "state_damaged", "the store '%s' is damaged: parked messages from number %" PRId64
			            " on are cut", dlq->store->path, (int64_t)sqlite3_column_int64(pile, PILE_FIRST));
		if (!parked_insert(dlq, &row, &m, err))
			return false;
	}
	return true;
}

/* One after the other: what is read may not be changed meanwhile. */
static bool spread_next(struct dlq *dlq, const struct pile_choice *which, bool *out_has_more, struct error *err)
{
	sqlite3_stmt *pile = dlq_statement(dlq, which->is_by_place ? PILE_AT : PILE_BEFORE, err), *drop;
	int64_t first;
	bool is_fine;

	if (!pile)
		return false;
	sqlite3_bind_int64(pile, 1, which->is_by_place ? which->origin : which->before);
	if (which->is_by_place) {
		sqlite3_bind_int64(pile, 2, which->low);
		sqlite3_bind_int64(pile, 3, which->high);
	} else {
		store_bind_text(pile, 2, which->but);
	}
	if (!dlq_row(dlq, pile, out_has_more, err))
		return false;
	if (!*out_has_more)
		return true;
	first = sqlite3_column_int64(pile, PILE_FIRST);
	is_fine = pile_spread(dlq, pile, err);
	sqlite3_reset(pile);
	if (!is_fine || !(drop = dlq_statement(dlq, PILE_DROP, err)))
		return false;
	sqlite3_bind_int64(drop, 1, first);
	return dlq_run(dlq, drop, err);
}

/* Sums stand as they are: the messages are counted. */
static bool spread_all(struct dlq *dlq, const struct pile_choice *which, struct error *err)
{
	bool has_more = true, is_fine = true;

	triggers_switch(dlq, false);
	while (is_fine && has_more)
		is_fine = spread_next(dlq, which, &has_more, err);
	triggers_switch(dlq, true);
	return is_fine;
}

bool dlq_piles_spread(struct dlq *dlq, const struct pile_choice *which, struct error *err)
{
	bool is_alone = sqlite3_get_autocommit(dlq->store->db);

	if (!is_alone)
		return spread_all(dlq, which, err);
	if (!dlq_begin(dlq, err))
		return false;
	if (!spread_all(dlq, which, err) || !dlq_commit(dlq, err)) {
		dlq_rollback(dlq);
		return false;
	}
	crash_point(parked_spread);
	return true;
}
