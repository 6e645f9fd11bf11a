/* What the files of core/dlq/ share: states, statements, the stored form of a message. */
#ifndef WEIR_DLQ_DLQ_PRIVATE_H
#define WEIR_DLQ_DLQ_PRIVATE_H

#include "dlq/dlq.h"

#include "base/arena.h"
#include "base/hash.h"
#include "store/store.h"

#define GROUPS_MAX 10000                /* signatures; beyond them letters are grouped by code only */
#define PAGE_ROWS 256                   /* a listing reads so many rows, then lets the snapshot go */
#define PIECE_BYTES ((size_t)256 << 10) /* payloads are shown and fetched in pieces of this size */
#define LINE_LIMIT ((size_t)64 << 20)   /* of one JSON object: a timeline, notes; a letter is kept much smaller */

/* Stored as numbers. */
enum letter_state {
#define LETTER_STATE(id, word, urgency, is_open, needs_you, is_over) LETTER_##id,
#include "base/letter_states.def"
#undef LETTER_STATE
	LETTER_STATES
};

struct letter_state_row {
	const char *word;
	int urgency;    /* a group shows the state with the largest */
	bool is_open;
	bool needs_you;
	bool is_over;   /* nobody expects it to fail any more */
};

extern const struct letter_state_row letter_states[LETTER_STATES];
bool letter_state_find(const char *word, enum letter_state *out_state, struct error *err);

enum dlq_statement {
	ORIGIN_ADD, ORIGIN_FIND,
	LETTER_FIND, LETTER_ADD, LETTER_AGAIN, LETTER_CHANGE, LETTER_SET_STATE, LETTER_COUNT, BODY_ADD,
	GROUP_FIND, GROUP_LAST, GROUP_ADD, GROUP_HAS_KEY, GROUP_GREW, GROUP_SHRANK,
	PARK_ADD, PARK_LINE, PARK_SUM_ADD, PARK_NEWEST, PARK_SET_NEWEST, PARK_BETWEEN, PARK_FIRST, PARK_NEXT, PARK_FORGET, PARK_DONE, PARK_SUM, PARK_WHY,
	PILE_ADD, PILE_DROP, PILE_ANY, PILE_AT, PILE_BEFORE,
	LIST_ALL, LIST_ALL_BACK, LIST_ONE, LIST_FIRST, LIST_BODY, LIST_HEAD, LIST_GROUPS, LIST_LATE,
	PAIR_LIST, PAIR_IDS, PAIR_IDS_BACK, PAIR_COUNT, PAIR_DISCARD,
	COUNT_STATES, TROUBLES,
	TIMELINE_ADD, TIMELINE_LIST, NOTE_ADD, NOTE_PLACE, NOTE_SET_PLACE, NOTE_KEEP, NOTE_DROP, NOTE_RECOUNT, NOTE_OVER, NOTE_LIST,
	PAUSE_ADD, PAUSE_DROP, PAUSE_LIST,
	RUN_ADD, RUN_CLAIM, RUN_MARK, RUN_AHEAD, RUN_UNFIT, RUN_NEXT, RUN_OUTCOME, RUN_FALL_BACK, RUN_UNCLAIM, RUN_COUNT,
	RUN_FREE, RUN_DROP_CLAIMS, RUN_END, RUN_GET, RUN_STALE,
	DISCARD_ONE, OPEN_ONE, GROUP_KNOWN,
	OUTBOUND_ADD, OUTBOUND_NEXT, OUTBOUND_DONE, OUTBOUND_OLDEST, FILE_ADD, FILE_DROP, FILE_FIRST,
	INBOUND_ADD, INBOUND_DROP, INBOUND_FIND, DUE_ADD, DUE_DROP, DUE_COUNT, DUE_CLAIM,
	LETTER_BODY, LETTER_RESIZE, RETRIED_SET, RETRIED_MORE, BODY_CHANGE, PLACE_NEXT,
	JOB_SET, JOB_GET, REMEMBER, REMEMBERED, FORGET, INCARNATION, PUBLISHED_GET, PUBLISHED_SET,
	DLQ_STATEMENTS
};

extern const struct store_kind dlq_kind;
extern const char *const dlq_sql[DLQ_STATEMENTS];

/* What is being parked of a table; see dlq_park_begin. */
struct park_sum {
	const char *table; /* lent until dlq_park_end */
	uint64_t count, bytes;
};

/* Where messages come from: a feed, or one of a source's subscriptions. */
struct origin {
	char *kind, *file, *identity;
	size_t identity_len;
	int64_t row;                              /* 0: not looked up in this transaction */
};

struct dlq {
	struct store *store;
	sqlite3_stmt *statements[DLQ_STATEMENTS]; /* prepared at first use */
	char incarnation[33];
	struct origin *origins;                   /* by message.channel */
	size_t origin_count;
	int64_t newest;                           /* letter that was kept last */
	unsigned outbound;                        /* where letters also go */
	struct dlq_watch *watch;                  /* NULL: nobody listens */
	bool is_parking;                /* triggers are off */
	struct park_sum *park_sums;
	size_t park_sum_count;
	bool is_piling;                 /* what is parked goes onto piles (dlq_pile.c) */
	struct parked_pile *piles;             /* of this batch, by table */
	size_t pile_count;
	int64_t pile_origin, pile_id;   /* the newest number that was given */
};

/* A parked message's row, but for what its message says. */
struct parked_row {
	int64_t id;                     /* 0: the next one */
	int64_t origin;
	const char *table;
	const struct refusal *why;      /* or NULL */
	struct span attrs, sha256;
};
bool parked_insert(struct dlq *dlq, const struct parked_row *row, const struct message *message, struct error *err);
void triggers_switch(struct dlq *dlq, bool is_on);

/* Which piles: of this origin with a place from low to high; or with a number below `before`, and no table that `but`, a JSON
 * list, leaves out. */
struct pile_choice {
	bool is_by_place;
	int64_t origin, low, high;
	int64_t before;
	struct span but;
};
bool dlq_piles_begin(struct dlq *dlq, int64_t origin, struct error *err);
bool dlq_pile_add(struct dlq *dlq, const struct message *message, const char *table, const struct refusal *why, struct span attrs,
              struct error *err);
bool dlq_piles_end(struct dlq *dlq, struct error *err);
void dlq_piles_forget(struct dlq *dlq);
/* In the transaction that is open, or in one of its own. */
bool dlq_piles_spread(struct dlq *dlq, const struct pile_choice *which, struct error *err);

/* What this transaction will tell when it commits (dlq_watch.c). */
struct dlq_watch;
void watch_add(struct dlq *dlq, const char *table, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void watch_add_note(struct dlq *dlq, const char *table, const char *code, const char *text);
void watch_tell(struct dlq *dlq);
void watch_forget(struct dlq *dlq);
void watch_free(struct dlq_watch *watch);

/* Columns of LIST_ALL, its _BACK, LIST_ONE and LIST_FIRST. */
enum letter_column {
	COL_ID, COL_GROUP, COL_STATE, COL_STAGE, COL_CODE, COL_MESSAGE, COL_TABLE, COL_COLUMN, COL_PATH, COL_KEY,
	COL_KIND, COL_FILE, COL_LINE, COL_PLACE, COL_MESSAGE_ID, COL_PUBLISH, COL_ORDERING_KEY, COL_ATTRS, COL_SIZE,
	COL_SHA256, COL_FIRST, COL_LAST, COL_ATTEMPTS, COL_WEIR_KEY, COL_POSITION, COL_ORDINALS, COL_IS_NULL, COL_IS_BIG,
	COL_COMMITTED
};

/*
 * The letters of a choice, as what is counted of them: one entry a group and state that has some, in this order
 * (dlq_choice.c).
 */
struct letter_pair {
	int64_t group;
	int state;
	uint64_t count;
	bool is_shared; /* of more tables than one: each letter says its own */
};
struct letter_pairs {
	struct letter_pair *pair;
	size_t count;
};
bool pairs_read(struct dlq *dlq, const struct letter_choice *choice, struct letter_pairs *out, struct error *err);
void pairs_clear(struct letter_pairs *pairs);
/* Is it no choice at all? */
bool choice_is_all(const struct letter_choice *choice);
/* The table that a statement must look for in the letters of a pair; empty: none. */
struct span pair_table(const struct letter_pair *pair, const struct letter_choice *choice);
/* The next ids of the choice behind `from` (below it, if `is_back`), at most IDS_ROOM, in order. */
#define IDS_ROOM 1024
bool pairs_next(struct dlq *dlq, const struct letter_pairs *pairs, const struct letter_choice *choice, int64_t from,
                bool is_back, int64_t out_ids[IDS_ROOM], size_t *out_count, struct error *err);

/* A statement ready to be bound, or NULL with err. */
sqlite3_stmt *dlq_statement(struct dlq *dlq, enum dlq_statement which, struct error *err);
bool dlq_run(struct dlq *dlq, sqlite3_stmt *stmt, struct error *err);
bool dlq_row(struct dlq *dlq, sqlite3_stmt *stmt, bool *out_row, struct error *err);

/* A stored message, with the columns of PARKED_COLUMNS, as it came. */
void message_unpack(struct message *m, struct arena *arena, sqlite3_stmt *row);

/* dlq_outbound.c: a letter that was kept, or has failed again, is to be sent. */
bool outbound_add(struct dlq *dlq, int64_t letter, bool is_new, struct error *err);
bool dlq_next_place(struct dlq *dlq, uint64_t *out_place, struct error *err);

/* Finds or makes the row of the current origin; a message that was parked keeps its own. */
bool dlq_origin_row(struct dlq *dlq, const struct message *message, int64_t *out_origin, struct error *err);
int64_t dlq_line_of(const struct message *message); /* as the column has it */

/* An empty span becomes NULL: there is no such thing. */
void dlq_bind_optional(sqlite3_stmt *stmt, int index, struct span text);
void dlq_bind_count(sqlite3_stmt *stmt, int index, uint64_t number);

/* Attributes in order, byte for byte: per text four bytes of length (little endian), then the text. */
struct text *attributes_pack(const struct message *message);
/* One text off the front of `rest`; false at the end or if the bytes are no such list. */
bool attributes_next(struct span *rest, struct span *out_text);

/* What a letter says beyond the message: lives as long as the call. */
struct finding {
	const struct message *message;
	const struct refusal *why;
	const char *table;
	struct span key, weir_key, position;
	int64_t key_hash;
	int64_t committed_us;  /* by the source; 0: it does not say */
	bool has_key;
	char ordinals[16];     /* "[0,1]" */
	struct text *attrs;
	struct text *shape;    /* the path with its indices left out: [] */
	char sha256[SHA256_TEXT_BYTES];
};

void finding_fill(struct finding *f, const struct batch *batch, const struct message *message, const char *table);
void finding_clear(struct finding *f);
struct text *path_shape(struct span path);
void sha256_of_message(const struct message *message, char out[SHA256_TEXT_BYTES]);

/* The group of this failure, made when missing. */
bool group_choose(struct dlq *dlq, const struct finding *f, int64_t *out_group, struct error *err);
/* Has any letter of the group this key? */
bool group_has_key(struct dlq *dlq, int64_t group, bool has_key, int64_t key_hash, bool *out_has, struct error *err);
bool group_grew(struct dlq *dlq, int64_t group, const struct finding *f, bool is_new_key, int64_t letter,
                struct error *err);
bool group_shrank(struct dlq *dlq, int64_t group, bool is_lost_key, struct error *err);

/* All rows of a statement whose first parameter is a table (or NULL) as one JSON array; the caller frees. */
char *table_array(struct dlq *dlq, enum dlq_statement which, const char *table,
                  void (*add)(struct text *, sqlite3_stmt *), struct error *err);

/* JSON pieces. */
void member_first(struct text *out, const char *name, struct span value); /* {"name":"value" */
void member_name(struct text *out, const char *name);                     /* ,"name": */
/* False: it was cut, and ends with a mark. */
bool member_text(struct text *out, const char *name, struct span value);
bool member_text_or_null(struct text *out, const char *name, struct span value);
void member_int(struct text *out, const char *name, int64_t number);
void member_bool(struct text *out, const char *name, bool is_true);
void member_time(struct text *out, const char *name, int64_t utc_us);
/* A whole letter without "newer" and its closing brace. */
void letter_json(struct text *out, sqlite3_stmt *row, const struct dlq_filter *filter);
/* What must be asked to know whether it has a newer change; false: nothing can. Lent as the row is. */
bool letter_question_of(sqlite3_stmt *row, struct span *out_table, struct letter_question *out);
/* "newer" of a letter that is alone. */
/* Does the head of its payload match? (dlq_value.c) */
bool letter_matches(struct dlq *dlq, int64_t id, struct regex *match, bool *out_is_match, struct error *err);
void letter_add_newer(sqlite3_stmt *row, const struct dlq_filter *filter, struct text *out);
void question_add_newer(const struct letter_question *question, struct text *out);
/* ,"value": what a list shows of the payload. */
bool letter_value_json(struct dlq *dlq, struct text *out, sqlite3_stmt *row, struct error *err);
void letter_payload_json(struct text *out, struct span body, bool is_null, bool is_head);
struct text *letter_envelope(sqlite3_stmt *row);
bool dlq_json_is_whole(struct dlq *dlq, const struct text *out, struct error *err);

/* Triggers are on again, and what was summed up is forgotten. */
void dlq_park_forget(struct dlq *dlq);

#endif
