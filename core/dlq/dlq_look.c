/*
 * Looking at letters: one JSON object a row. A listing reads a page, lets go of
 * the file and goes on after the last number, so that a slow reader holds
 * nothing and may change letters while it reads.
 */
#include "dlq/dlq_private.h"

#include <stdlib.h>

/* A letter of the page: whether it has a newer change is asked for all of a table at once, and written then. */
struct look_row {
	struct text *line;
	struct span table;
	struct letter_question question; /* key empty: nothing can be asked */
};

struct look {
	struct dlq *dlq;
	const struct dlq_filter *filter;
	dlq_line on_line;
	void *context;
	struct letter_pairs pairs;       /* of a choice that is not all letters */
	bool has_pairs;
	int64_t ids[IDS_ROOM];           /* found, and not read yet from `id_at` on */
	size_t id_at, id_count;
	struct arena *arena;             /* of the page's questions */
	struct look_row rows[PAGE_ROWS];
	size_t count;
	size_t searched; /* rows of this page that were looked at */
	bool is_stopped;
	int64_t last_id;
};

static bool is_back(const struct look *look)
{
	return look->filter->before != 0;
}

static void page_drop(struct look *look)
{
	for (size_t i = 0; i < look->count; i++)
		text_free(look->rows[i].line);
	look->count = 0;
	arena_reset(look->arena);
}

/*
 * Rows
 */

static void question_take(struct look *look, sqlite3_stmt *stmt, struct look_row *row)
{
	struct letter_question *question = &row->question;

	question->is_unknown = true;
	if (!look->filter->ask_newer || !letter_question_of(stmt, &row->table, question))
		return;
	row->table = arena_copy(look->arena, row->table);
	question->key = arena_copy(look->arena, question->key);
	question->position = (const unsigned char *)arena_copy(look->arena, span_make((const char *)question->position,
	                                                                              POSITION_BYTES)).at;
}

static bool row_take(struct look *look, sqlite3_stmt *stmt, struct error *err)
{
	struct look_row *row = &look->rows[look->count++];

	*row = (struct look_row){ .line = text_new(LINE_LIMIT) };
	letter_json(row->line, stmt, look->filter);
	if (look->filter->with_values && !letter_value_json(look->dlq, row->line, stmt, err))
		return false;
	question_take(look, stmt, row);
	return dlq_json_is_whole(look->dlq, row->line, err);
}

/* A letter may have changed since its number was found. */
static bool is_wanted(const struct look *look, sqlite3_stmt *stmt)
{
	unsigned states = look->filter->choice.states;

	return !states || states >> sqlite3_column_int(stmt, COL_STATE) & 1;
}

/* Without a match every letter is one that was looked for. */
static bool is_match(struct look *look, sqlite3_stmt *stmt, bool *out_is_match, struct error *err)
{
	look->searched++;
	*out_is_match = true;
	if (!look->filter->match)
		return true;
	if (!letter_matches(look->dlq, sqlite3_column_int64(stmt, COL_ID), look->filter->match, out_is_match, err))
		return false;
	look->is_stopped = !look->filter->goes_on(look->context);
	return true;
}

static bool rows_read(struct look *look, sqlite3_stmt *stmt, struct error *err)
{
	bool has_row = false, is_fine = true, matches;

	while (!look->is_stopped && (is_fine = dlq_row(look->dlq, stmt, &has_row, err)) && has_row) {
		look->last_id = sqlite3_column_int64(stmt, COL_ID);
		if (!is_wanted(look, stmt))
			continue;
		if (!is_match(look, stmt, &matches, err) || (matches && !row_take(look, stmt, err))) {
			sqlite3_reset(stmt);
			return false;
		}
	}
	if (look->is_stopped)
		sqlite3_reset(stmt);
	return is_fine;
}

/*
 * Pages
 */

static bool page_of_all(struct look *look, bool *out_more, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(look->dlq, is_back(look) ? LIST_ALL_BACK : LIST_ALL, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, look->last_id);
	sqlite3_bind_int(stmt, 2, PAGE_ROWS);
	if (!rows_read(look, stmt, err))
		return false;
	*out_more = look->searched >= PAGE_ROWS;
	return true;
}

static bool row_of_id(struct look *look, int64_t id, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(look->dlq, LIST_ONE, err);

	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, id);
	return rows_read(look, stmt, err);
}

/* Where they are and which come next, of one moment: a letter that goes from one state to another between the two looks
 * would be in neither list. */
static bool ids_find(struct look *look, struct error *err)
{
	struct dlq *dlq = look->dlq;
	bool is_mine = sqlite3_get_autocommit(dlq->store->db), is_fine;

	look->id_at = look->id_count = 0;
	if (is_mine && !store_exec(dlq->store, "BEGIN", err))
		return false;
	pairs_clear(&look->pairs);
	is_fine = pairs_read(dlq, &look->filter->choice, &look->pairs, err) &&
	          pairs_next(dlq, &look->pairs, &look->filter->choice, look->last_id, is_back(look), look->ids,
	                     &look->id_count, err);
	if (is_mine)
		sqlite3_exec(dlq->store->db, "COMMIT", NULL, NULL, NULL);
	return is_fine;
}

static bool page_of_choice(struct look *look, bool *out_more, struct error *err)
{
	if (look->id_at == look->id_count && !ids_find(look, err))
		return false;
	while (look->id_at < look->id_count && look->searched < PAGE_ROWS && !look->is_stopped) {
		look->last_id = look->ids[look->id_at];
		if (!row_of_id(look, look->ids[look->id_at++], err))
			return false;
	}
	*out_more = look->id_at < look->id_count || look->id_count == IDS_ROOM;
	return true;
}

static bool page_read(struct look *look, bool *out_more, struct error *err)
{
	*out_more = false;
	if (look->filter->id)
		return row_of_id(look, look->filter->id, err);
	return look->has_pairs ? page_of_choice(look, out_more, err) : page_of_all(look, out_more, err);
}

/* Neighbours are often of one table, and need not be: each table is asked once. */
static void ask_of_table(struct look *look, size_t first, struct letter_question *questions)
{
	struct span table = look->rows[first].table;
	size_t count = 0;

	for (size_t i = first; i < look->count; i++) {
		if (!look->rows[i].question.key.len || !span_equal(look->rows[i].table, table))
			continue;
		questions[count] = look->rows[i].question;
		questions[count].asker = i;
		count++;
	}
	look->filter->ask_newer(look->filter->context, table, questions, count);
	for (size_t i = 0; i < count; i++)
		look->rows[questions[i].asker].question = (struct letter_question){ .is_newer = questions[i].is_newer, /* without its key: asked */
			                                                            .is_unknown = questions[i].is_unknown };
}

static void page_ask(struct look *look)
{
	struct letter_question questions[PAGE_ROWS];

	for (size_t i = 0; i < look->count; i++) {
		if (look->rows[i].question.key.len)
			ask_of_table(look, i, questions);
	}
}

/* False when the reader has had enough. The page is gone either way. */
static bool page_hand_out(struct look *look)
{
	bool goes_on = true;

	page_ask(look);
	for (size_t i = 0; i < look->count && goes_on; i++) {
		question_add_newer(&look->rows[i].question, look->rows[i].line);
		text_add_char(look->rows[i].line, '}');
		goes_on = look->on_line(look->context, look->rows[i].line->at);
	}
	page_drop(look);
	return goes_on;
}

static void look_begin(struct look *look)
{
	const struct dlq_filter *filter = look->filter;

	look->last_id = filter->before ? filter->before : filter->after;
	look->arena = arena_new(4096);
	look->has_pairs = !filter->id && !choice_is_all(&filter->choice);
}

static bool look_run(struct look *look, struct error *err)
{
	bool has_more = true;

	while (has_more) {
		if (!page_read(look, &has_more, err))
			return false;
		if (!page_hand_out(look) || look->is_stopped)
			return true;
		look->searched = 0;
	}
	return true;
}

bool dlq_list(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context, struct error *err)
{
	struct look *look = memory_zalloc(sizeof(*look));
	bool is_fine;

	*look = (struct look){ .dlq = dlq, .filter = filter, .on_line = on_line, .context = context };
	look_begin(look);
	is_fine = look_run(look, err);
	page_drop(look);
	pairs_clear(&look->pairs);
	arena_free(look->arena);
	free(look);
	return is_fine;
}
