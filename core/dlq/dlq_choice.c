/*
 * A choice of letters, and how its letters are found in order: a group and a
 * state have a list of their own, of which the first few are merged. So a choice
 * of a few among a million reads these few.
 */
#include "dlq/dlq_private.h"

#include <stdlib.h>

bool dlq_states_read(const char *words, unsigned *out, struct error *err)
{
	unsigned states = 0;

	while (*words) {
		size_t len = strcspn(words, ",");
		enum letter_state state;
		char word[48];

		snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word) - 1), words);
		if (!letter_state_find(word, &state, err))
			return false;
		states |= 1u << state;
		words += len + (words[len] == ',');
	}
	*out = states;
	return true;
}

bool choice_is_all(const struct letter_choice *choice)
{
	return !choice->groups && !choice->states && !choice->table && !choice->code;
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static bool is_chosen(const struct letter_choice *choice, int64_t group, int state)
{
	if (state < 0 || state >= LETTER_STATES || (choice->states && !(choice->states >> state & 1)))
		return false;
	return !choice->groups ||
	       bsearch(&group, choice->groups, choice->group_count, sizeof(group), compare_numbers) != NULL;
}

struct span pair_table(const struct letter_pair *pair, const struct letter_choice *choice)
{
	return pair->is_shared ? span_of(choice->table) : span_make(NULL, 0);
}

/* The counts are by group; of one that tables share the letters of a table must be counted. */
static bool count_shared(struct dlq *dlq, const struct letter_choice *choice, struct letter_pair *pair, struct error *err)
{
	sqlite3_stmt *stmt;
	bool has_row = false;

	if (!pair->is_shared || !choice->table)
		return true;
	if (!(stmt = dlq_statement(dlq, PAIR_COUNT, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, pair->group);
	sqlite3_bind_int(stmt, 2, pair->state);
	store_bind_text(stmt, 3, span_of(choice->table));
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	pair->count = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return true;
}

static bool pair_add(struct dlq *dlq, const struct letter_choice *choice, sqlite3_stmt *row, struct letter_pairs *out,
                     struct error *err)
{
	struct letter_pair pair = {
		.group = sqlite3_column_int64(row, 0),
		.state = sqlite3_column_int(row, 1),
		.count = (uint64_t)sqlite3_column_int64(row, 2),
		.is_shared = sqlite3_column_int(row, 3) != 0,
	};

	if (!is_chosen(choice, pair.group, pair.state))
		return true;
	if (!count_shared(dlq, choice, &pair, err))
		return false;
	if (!pair.count)
		return true;
	if (out->count % 64 == 0)
		out->pair = memory_grow(out->pair, (out->count + 64) * sizeof(*out->pair));
	out->pair[out->count++] = pair;
	return true;
}

bool pairs_read(struct dlq *dlq, const struct letter_choice *choice, struct letter_pairs *out, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PAIR_LIST, err);
	struct letter_pairs pairs = { 0 };
	bool has_row = false, is_fine;

	if (!stmt)
		return false;
	dlq_bind_optional(stmt, 1, span_of(choice->code));
	dlq_bind_optional(stmt, 2, span_of(choice->table));
	while ((is_fine = dlq_row(dlq, stmt, &has_row, err)) && has_row) {
		if (!pair_add(dlq, choice, stmt, &pairs, err)) {
			sqlite3_reset(stmt);
			is_fine = false;
			break;
		}
	}
	if (is_fine)
		*out = pairs;
	else
		pairs_clear(&pairs);
	return is_fine;
}

void pairs_clear(struct letter_pairs *pairs)
{
	free(pairs->pair);
	*pairs = (struct letter_pairs){ 0 };
}

/*
 * The nearest ids of all lists: a heap with the farthest of them on top, which goes when a nearer one comes.
 */
struct nearest {
	int64_t *ids;
	size_t count;
	int64_t sign; /* -1: backwards, the largest are the nearest */
};

static bool is_farther(const struct nearest *nearest, size_t a, size_t b)
{
	return nearest->sign * nearest->ids[a] > nearest->sign * nearest->ids[b];
}

static void swap_ids(struct nearest *nearest, size_t a, size_t b)
{
	int64_t id = nearest->ids[a];

	nearest->ids[a] = nearest->ids[b];
	nearest->ids[b] = id;
}

static void sift_up(struct nearest *nearest, size_t at)
{
	for (; at && is_farther(nearest, at, (at - 1) / 2); at = (at - 1) / 2)
		swap_ids(nearest, at, (at - 1) / 2);
}

static void sift_down(struct nearest *nearest)
{
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < nearest->count && is_farther(nearest, child + 1, child))
			child++;
		if (child >= nearest->count || !is_farther(nearest, child, at))
			return;
		swap_ids(nearest, at, child);
		at = child;
	}
}

/* False: it is farther than all that have room, and so is what follows it in its list. */
static bool nearest_add(struct nearest *nearest, int64_t id)
{
	if (nearest->count < IDS_ROOM) {
		nearest->ids[nearest->count] = id;
		sift_up(nearest, nearest->count++);
		return true;
	}
	if (nearest->sign * id > nearest->sign * nearest->ids[0])
		return false;
	nearest->ids[0] = id;
	sift_down(nearest);
	return true;
}

static bool add_of_pair(struct dlq *dlq, const struct letter_pair *pair, const struct letter_choice *choice, int64_t from,
                        struct nearest *nearest, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, nearest->sign < 0 ? PAIR_IDS_BACK : PAIR_IDS, err);
	bool has_row = false, is_fine;

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, pair->group);
	sqlite3_bind_int(stmt, 2, pair->state);
	sqlite3_bind_int64(stmt, 3, from);
	dlq_bind_optional(stmt, 4, pair_table(pair, choice));
	sqlite3_bind_int(stmt, 5, IDS_ROOM);
	while ((is_fine = dlq_row(dlq, stmt, &has_row, err)) && has_row) {
		if (!nearest_add(nearest, sqlite3_column_int64(stmt, 0)))
			break;
	}
	sqlite3_reset(stmt);
	return is_fine;
}

static void turn(int64_t *ids, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		int64_t id = ids[i];

		ids[i] = ids[count - 1 - i];
		ids[count - 1 - i] = id;
	}
}

bool pairs_next(struct dlq *dlq, const struct letter_pairs *pairs, const struct letter_choice *choice, int64_t from,
                bool is_back, int64_t out_ids[IDS_ROOM], size_t *out_count, struct error *err)
{
	struct nearest nearest = { .ids = out_ids, .sign = is_back ? -1 : 1 };

	for (size_t i = 0; i < pairs->count; i++) {
		if (!add_of_pair(dlq, &pairs->pair[i], choice, from, &nearest, err))
			return false;
	}
	qsort(out_ids, nearest.count, sizeof(*out_ids), compare_numbers);
	if (is_back)
		turn(out_ids, nearest.count);
	*out_count = nearest.count;
	return true;
}
