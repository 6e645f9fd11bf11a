/* Discarding letters: nothing is deleted, nobody is asked to look at them any more. */
#include "dlq/dlq_private.h"

#include <inttypes.h>

static bool run_with(struct dlq *dlq, enum dlq_statement which, int64_t parameter, uint64_t *out_count,
                     struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, which, err);
	bool has_row = false;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, parameter);
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	if (has_row) {
		*out_count = (uint64_t)sqlite3_column_int64(stmt, 0);
		sqlite3_reset(stmt);
	}
	return true;
}

/* The number is typed by somebody who has looked: if it is another one now, they have not seen all of it. */
static bool is_confirmed(uint64_t open, uint64_t confirm, const char *what, struct error *err)
{
	return open == confirm ||
	       fail(err, ERROR_USAGE, "count_differs", "%s %" PRIu64 " open letters, not %" PRIu64 "; nothing was discarded", what,
	            open, confirm);
}

static bool discard_one(struct dlq *dlq, int64_t id, uint64_t confirm, struct error *err)
{
	uint64_t open = 0, ignored;
	char what[48];

	snprintf(what, sizeof(what), "letter %" PRId64 " has", id);
	if (!run_with(dlq, OPEN_ONE, id, &open, err))
		return false;
	if (!open && confirm)
		return fail(err, ERROR_USAGE, "count_differs", "letter %" PRId64 " is not open; nothing was discarded", id);
	return is_confirmed(open, confirm, what, err) &&
	       run_with(dlq, DISCARD_ONE, id, &ignored, err);
}

static bool discard_pair(struct dlq *dlq, const struct letter_pair *pair, const struct letter_choice *choice,
                         struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PAIR_DISCARD, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, pair->group);
	sqlite3_bind_int(stmt, 2, pair->state);
	dlq_bind_optional(stmt, 3, pair_table(pair, choice));
	return dlq_run(dlq, stmt, err);
}

/* "group 7 has", "the choice has": what the count is of. */
static void choice_text(const struct letter_choice *choice, char *out, size_t room)
{
	if (choice->group_count == 1 && !choice->states && !choice->table && !choice->code)
		snprintf(out, room, "group %" PRId64 " has", choice->groups[0]);
	else
		snprintf(out, room, "what is chosen has");
}

static bool discard_pairs(struct dlq *dlq, const struct letter_pairs *pairs, const struct letter_choice *choice,
                          uint64_t confirm, struct error *err)
{
	uint64_t open = 0;
	char what[48];

	for (size_t i = 0; i < pairs->count; i++)
		open += letter_states[pairs->pair[i].state].is_open ? pairs->pair[i].count : 0;
	choice_text(choice, what, sizeof(what));
	if (!is_confirmed(open, confirm, what, err))
		return false;
	for (size_t i = 0; i < pairs->count; i++) {
		if (letter_states[pairs->pair[i].state].is_open && !discard_pair(dlq, &pairs->pair[i], choice, err))
			return false;
	}
	return true;
}

static bool discard_choice(struct dlq *dlq, const struct letter_choice *choice, uint64_t confirm, struct error *err)
{
	struct letter_pairs pairs = { 0 };
	bool is_fine = pairs_read(dlq, choice, &pairs, err) && discard_pairs(dlq, &pairs, choice, confirm, err);

	pairs_clear(&pairs);
	return is_fine;
}

bool dlq_discard(struct dlq *dlq, const struct letter_choice *choice, int64_t id, uint64_t confirm, struct error *err)
{
	if (!dlq_begin(dlq, err))
		return false;
	if ((id ? discard_one(dlq, id, confirm, err) : discard_choice(dlq, choice, confirm, err)) && dlq_commit(dlq, err))
		return true;
	dlq_rollback(dlq);
	return false;
}
