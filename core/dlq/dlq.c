/*
 * The store of one job: opening and closing, its identity, whose messages it
 * keeps, transactions, states of letters and of the job.
 */
#include "dlq/dlq_private.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A flood of letters touches pages all over three indexes; with SQLite's defaults each batch writes them twice. */
#define CACHE_BYTES (8 << 20)
#define CHECKPOINT_PAGES 8192

const struct letter_state_row letter_states[LETTER_STATES] = {
#define LETTER_STATE(id, word, urgency, is_open, needs_you, is_over) { word, urgency, is_open, needs_you, is_over },
#include "base/letter_states.def"
#undef LETTER_STATE
};

bool letter_state_find(const char *word, enum letter_state *out_state, struct error *err)
{
	for (int i = 0; i < LETTER_STATES; i++) {
		if (strcmp(letter_states[i].word, word) == 0) {
			*out_state = (enum letter_state)i;
			return true;
		}
	}
	return fail(err, ERROR_USAGE, "bad_state", "'%.40s' is no state of a letter; there are: new, planned, replaying, "
	            "done, no effect, failed again, set aside, discarded", word);
}

sqlite3_stmt *dlq_statement(struct dlq *dlq, enum dlq_statement which, struct error *err)
{
	if (!dlq->statements[which])
		dlq->statements[which] = store_prepare(dlq->store, dlq_sql[which], err);
	else
		sqlite3_reset(dlq->statements[which]);
	if (dlq->statements[which])
		sqlite3_clear_bindings(dlq->statements[which]);
	return dlq->statements[which];
}

bool dlq_run(struct dlq *dlq, sqlite3_stmt *stmt, struct error *err)
{
	return stmt && store_run(dlq->store, stmt, err);
}

bool dlq_row(struct dlq *dlq, sqlite3_stmt *stmt, bool *out_row, struct error *err)
{
	return stmt && store_step(dlq->store, stmt, out_row, err);
}

void dlq_bind_optional(sqlite3_stmt *stmt, int index, struct span text)
{
	if (text.len)
		store_bind_text(stmt, index, text);
	else
		sqlite3_bind_null(stmt, index);
}

void dlq_bind_count(sqlite3_stmt *stmt, int index, uint64_t number)
{
	sqlite3_bind_int64(stmt, index, (sqlite3_int64)number);
}

static bool incarnation_read(struct dlq *dlq, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, INCARNATION, err);
	struct span text;
	bool has_row = false;

	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	text = has_row ? store_text(stmt, 0) : span_make(NULL, 0);
	if (text.len != sizeof(dlq->incarnation) - 1)
		return fail(err, ERROR_BUG, "state_damaged", "the store '%s' has lost its identity", dlq->store->path);
	memcpy(dlq->incarnation, text.at, text.len);
	sqlite3_reset(stmt);
	return true;
}

struct dlq *dlq_open(const char *path, enum dlq_mode mode, struct error *err)
{
	struct store *store = store_open(path, mode == DLQ_WRITE ? STORE_WRITE : STORE_READ, &dlq_kind, CACHE_BYTES,
	                                 CHECKPOINT_PAGES, err);
	struct dlq *dlq;

	if (!store)
		return NULL;
	dlq = memory_zalloc(sizeof(*dlq));
	dlq->store = store;
	if (!incarnation_read(dlq, err)) {
		dlq_close(dlq);
		return NULL;
	}
	return dlq;
}

static void origins_clear(struct dlq *dlq)
{
	for (size_t i = 0; i < dlq->origin_count; i++) {
		free(dlq->origins[i].kind);
		free(dlq->origins[i].file);
		free(dlq->origins[i].identity);
	}
	free(dlq->origins);
	dlq->origins = NULL;
	dlq->origin_count = 0;
}

void dlq_close(struct dlq *dlq)
{
	if (!dlq)
		return;
	for (int i = 0; i < DLQ_STATEMENTS; i++)
		sqlite3_finalize(dlq->statements[i]);
	store_close(dlq->store);
	watch_free(dlq->watch);
	free(dlq->park_sums);
	origins_clear(dlq);
	free(dlq);
}

const char *dlq_incarnation(struct dlq *dlq)
{
	return dlq->incarnation;
}

void dlq_set_origin(struct dlq *dlq, const struct dlq_origin *origin)
{
	origins_clear(dlq);
	dlq_add_origin(dlq, origin);
}

void dlq_add_origin(struct dlq *dlq, const struct dlq_origin *origin)
{
	dlq->origins = memory_grow(dlq->origins, (dlq->origin_count + 1) * sizeof(*dlq->origins));
	dlq->origins[dlq->origin_count++] = (struct origin){
		.kind = memory_string(origin->kind),
		.file = memory_string(origin->file),
		.identity = memory_string_of(origin->identity),
		.identity_len = origin->identity.len,
	};
}

/* Rows may have gone with a transaction. */
static void forget_rows(struct dlq *dlq)
{
	for (size_t i = 0; i < dlq->origin_count; i++)
		dlq->origins[i].row = 0;
}

static bool origin_store(struct dlq *dlq, const struct origin *origin, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, ORIGIN_ADD, err);

	if (!stmt)
		return false;
	store_bind_blob(stmt, 1, span_make(origin->identity, origin->identity_len));
	dlq_bind_optional(stmt, 2, span_of(origin->kind));
	dlq_bind_optional(stmt, 3, span_of(origin->file));
	return dlq_run(dlq, stmt, err);
}

static bool origin_find(struct dlq *dlq, struct origin *origin, struct error *err)
{
	sqlite3_stmt *stmt;
	bool has_row = false;

	if (!origin_store(dlq, origin, err) || !(stmt = dlq_statement(dlq, ORIGIN_FIND, err)))
		return false;
	store_bind_blob(stmt, 1, span_make(origin->identity, origin->identity_len));
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	origin->row = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	return true;
}

/* A store without an origin (a tool's) keeps what has none under an empty identity. */
static struct origin *origin_of(struct dlq *dlq, const struct message *message)
{
	size_t channel = message ? message->channel : 0;

	if (!dlq->origin_count)
		dlq_add_origin(dlq, &(struct dlq_origin){ 0 });
	return &dlq->origins[channel < dlq->origin_count ? channel : 0];
}

bool dlq_origin_row(struct dlq *dlq, const struct message *message, int64_t *out_origin, struct error *err)
{
	struct origin *origin = origin_of(dlq, message);

	if (message && message->origin) {
		*out_origin = message->origin;
		return true;
	}
	if (!origin->row && !origin_find(dlq, origin, err))
		return false;
	*out_origin = origin->row;
	return true;
}

bool dlq_begin(struct dlq *dlq, struct error *err)
{
	forget_rows(dlq);
	return store_begin(dlq->store, err);
}

bool dlq_commit(struct dlq *dlq, struct error *err)
{
	if (!store_commit(dlq->store, err))
		return false;
	watch_tell(dlq);
	return true;
}

void dlq_rollback(struct dlq *dlq)
{
	forget_rows(dlq);
	dlq_park_forget(dlq);
	watch_forget(dlq);
	for (int i = 0; i < DLQ_STATEMENTS; i++)
		sqlite3_reset(dlq->statements[i]);
	store_rollback(dlq->store);
}

bool dlq_set_state(struct dlq *dlq, int64_t id, const char *state, struct error *err)
{
	enum letter_state number = LETTER_NEW;
	sqlite3_stmt *stmt;

	if (!letter_state_find(state, &number, err) || !(stmt = dlq_statement(dlq, LETTER_SET_STATE, err)))
		return false;
	sqlite3_bind_int64(stmt, 1, id);
	sqlite3_bind_int(stmt, 2, number);
	if (!dlq_run(dlq, stmt, err))
		return false;
	if (sqlite3_changes(dlq->store->db) == 0)
		return fail(err, ERROR_USAGE, "letter_unknown", "there is no letter %" PRId64, id);
	return true;
}

bool dlq_set_job_state(struct dlq *dlq, const char *state, const char *code, const char *sentence, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, JOB_SET, err);

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, span_of(state));
	dlq_bind_optional(stmt, 2, span_of(code));
	dlq_bind_optional(stmt, 3, span_of(sentence));
	sqlite3_bind_int64(stmt, 4, clock_utc_us());
	return dlq_run(dlq, stmt, err);
}

static void copy_cut(char *to, size_t room, struct span text)
{
	snprintf(to, room, "%.*s", SPAN_ARG(text));
}

bool dlq_job_state(struct dlq *dlq, char out_state[32], char out_code[40], char out_sentence[512], struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, JOB_GET, err);
	bool has_row = false;
	const struct span none = SPAN("");

	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	copy_cut(out_state, 32, has_row ? store_text(stmt, 0) : none);
	copy_cut(out_code, 40, has_row ? store_text(stmt, 1) : none);
	copy_cut(out_sentence, 512, has_row ? store_text(stmt, 2) : none);
	sqlite3_reset(stmt);
	return true;
}
