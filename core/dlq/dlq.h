/*
 * The store of one job, jobs/NAME.db: dead letters with their exact bytes, parked
 * records, groups, schema timeline, notes. A letter is unique by (source
 * identity, place in it): met again after a crash it is stored once.
 */
#ifndef WEIR_DLQ_DLQ_H
#define WEIR_DLQ_DLQ_H

#include "base/error.h"
#include "base/text.h"
#include "record/batch.h"


struct dlq;

enum dlq_mode { DLQ_WRITE, DLQ_READ };

/* DLQ_WRITE makes the file when missing. Damaged: `state_damaged`; newer: `state_too_new`. */
struct dlq *dlq_open(const char *path, enum dlq_mode mode, struct error *err);
void dlq_close(struct dlq *dlq);

/* Random identity of this store, made with it; 32 hex digits. Lent. */
const char *dlq_incarnation(struct dlq *dlq);

/* Where the messages of this run come from; used for every letter kept afterwards. Copied. */
struct dlq_origin {
	const char *kind;        /* "feed", "pubsub" */
	const char *file;        /* path of the feed, "-" for stdin; full name of the subscription */
	struct span identity;    /* letters are unique by (identity, offset) */
	const char *big_folder;  /* where big bodies lie */
};
void dlq_set_origin(struct dlq *dlq, const struct dlq_origin *origin);
/* One more, of a source with several places: of messages with channel 1, 2, .. in this order. */
void dlq_add_origin(struct dlq *dlq, const struct dlq_origin *origin);

/* Told by dlq_commit, once it is kept: the first letter of a group ("dlq_group"), a change of a table's schema
 * ("schema_changed"); and to `on_note` the first note of its kind of a table or column (its code). Nothing is told of what
 * was rolled back. */
typedef void (*dlq_event)(void *context, const char *table, const char *code, const char *sentence);
void dlq_watch(struct dlq *dlq, dlq_event on_event, dlq_event on_note, void *context);

bool dlq_begin(struct dlq *dlq, struct error *err);
bool dlq_commit(struct dlq *dlq, struct error *err);
void dlq_rollback(struct dlq *dlq);

/* Keeps a refused message; `table` is "DATASET.TABLE" or "-". A letter met again (same place) keeps its id, first
 * time and state (`failed again` if it was done and the reason is the same; discarded stays discarded; attempts + 1). */
bool dlq_keep(struct dlq *dlq, const struct batch *batch, const struct message *message, const char *table,
              struct error *err);
/* *out_is_twin (NULL: not asked): it is parked already, from an earlier delivery; this one is a repeat. */
bool dlq_park(struct dlq *dlq, const struct message *message, const char *table, const struct refusal *why,
              bool *out_is_twin, struct error *err);
/* Around what a batch parks, from its first message to its last, in a transaction. Between the two nothing but dlq_park is
 * called; texts, tables' names and reasons are lent until the end. is_many: it is worth storing them together. A
 * rollback ends it too. */
bool dlq_park_begin(struct dlq *dlq, const struct message *first, const struct message *last, bool is_many, struct error *err);
bool dlq_park_end(struct dlq *dlq, struct error *err);

/* Parked messages in order of arrival, without those of paused tables and of the tables that the JSON list `but` names (NULL:
 * none). They are read in stretches of so many numbers: `begin` finds the first behind `after_id` (*out_first 0: nothing is
 * left), `next` adds a message of its stretch to the batch, the bytes to the batch's arena (*out_id 0: the stretch ends), and
 * nothing else is done with the store until `end`. */
#define DLQ_STRETCH 1024
bool dlq_unpark_begin(struct dlq *dlq, int64_t after_id, const json_t *but, int64_t *out_first, struct error *err);
bool dlq_unpark_next(struct dlq *dlq, struct batch *into, int64_t *out_id, struct error *err);
void dlq_unpark_end(struct dlq *dlq);
bool dlq_unpark_done(struct dlq *dlq, int64_t id, struct error *err);
/* Forgets what was parked of this origin at or behind `offset`: a run that died before its rows committed parked it, and
 * the source is about to give it again. `offsets` (NULL: none) has tables by name whose rows have committed further. */
bool dlq_unpark_forget(struct dlq *dlq, struct span identity, uint64_t offset, const json_t *offsets, struct error *err);
/* Parked messages of a table or of all (NULL), and the bytes of their bodies and of what is kept beside them: compared with parkBytes. */
bool dlq_parked(struct dlq *dlq, const char *table, uint64_t *out_count, uint64_t *out_bytes, struct error *err);
/* Why the newest of them was parked by the destination: its reason code and sentence, lent until the store's next call. False:
 * none was (or it cannot be read): others wait for a table that is paused. */
bool dlq_parked_why(struct dlq *dlq, const char *table, const char **out_code, const char **out_sentence);

/*
 * Paused tables: their messages are parked from the next start of the pipeline on, and come back when it starts after
 * they were resumed. `table` is "DATASET.TABLE". Pausing what is paused keeps the first since, who and why.
 */
bool dlq_pause_table(struct dlq *dlq, const char *table, const char *who, const char *why, struct error *err);
bool dlq_resume_table(struct dlq *dlq, const char *table, bool *out_was_paused, struct error *err);
bool dlq_paused(struct dlq *dlq, void (*on_table)(void *context, struct span table), void *context, struct error *err);
/* [{"table","since","who","why"}], of one table or of all (NULL); the caller frees. */
char *dlq_paused_json(struct dlq *dlq, const char *table, struct error *err);

/*
 * What the job has brought into a dataset, remembered apart from its files: a file that is missing, or an older copy, is
 * noticed. It is written behind what it tells of, and never ahead of it. `table` "": the job's commits; else a replica
 * table, with the identity of the changelog that it was made from.
 */
bool dlq_remember(struct dlq *dlq, const char *dataset, const char *table, const char *identity, int64_t level,
                  struct error *err);
bool dlq_forget(struct dlq *dlq, const char *dataset, const char *table, struct error *err);
/* Sorted by table; texts are lent for the call. */
bool dlq_remembered(struct dlq *dlq, const char *dataset,
                    void (*on_row)(void *context, struct span table, struct span identity, int64_t level), void *context,
                    struct error *err);

/* All letters but those of this origin at or behind `offset` (met by a run that died before its rows committed), and parked
 * messages in all: compared with the ledger at start. A subscription's letter counts as often as it came: the ledger counts
 * each delivery. */
bool dlq_count(struct dlq *dlq, struct span identity, uint64_t offset, uint64_t *out_letters, uint64_t *out_parked,
               struct error *err);

/* Up to which letter all have been published to a topic; 0: none yet. */
bool dlq_published(struct dlq *dlq, const char *topic, int64_t *out_letter, struct error *err);
bool dlq_set_published(struct dlq *dlq, const char *topic, int64_t letter, struct error *err);

/* The schema timeline and notes of tables. */
bool dlq_schema_changed(struct dlq *dlq, const char *table, const struct schema_change *change,
                        const struct message *by, struct error *err);
/* Notes are counted once, also when the process dies between their commit and that of the rows they tell of: what a batch
 * adds stays apart until the next one begins. `place` is where the batch ends (dlq_notes_begin, inside the transaction),
 * `committed` what the warehouse has at the start of a run. */
bool dlq_notes_settle(struct dlq *dlq, uint64_t committed, struct error *err);
bool dlq_notes_begin(struct dlq *dlq, uint64_t place, struct error *err);
/* Values are counted anew, as the ledger is, when the source is read from its start. */
bool dlq_notes_recount(struct dlq *dlq, struct error *err);
/* Adds `count` to the note (table, column, code); text of the newest. */
bool dlq_note(struct dlq *dlq, const char *table, struct span column, const char *code, uint64_t count,
              const char *text, struct error *err);
/* What the notes of this code say is so no longer; journal and events keep that it was. */
bool dlq_note_over(struct dlq *dlq, const char *table, const char *code, struct error *err);

/* "new", "planned", "replaying", "done", "no effect", "failed again", "set aside", "discarded"; else `bad_state`. */
bool dlq_set_state(struct dlq *dlq, int64_t id, const char *state, struct error *err);

/*
 * Replay of a group: a run. It claims the letters that are new or failed again ("replaying"); each ends as done, no
 * effect or failed again, or falls back to what it was. Bodies that lie apart and lines that the source refused are not
 * claimed: they are no messages.
 */
struct dlq_replay {
	int64_t run, group, rate; /* messages a second, 0: as fast as it goes */
	unsigned states;          /* only letters of these, see dlq_states_read; 0: of all that are claimed */
	uint64_t claimed, unfit;
	uint64_t done, no_effect, failed_again, left;
};

enum letter_outcome { LETTER_IS_DONE, LETTER_HAD_NO_EFFECT, LETTER_FAILED, LETTER_IS_LEFT, LETTER_OUTCOMES };

/* Claims in one transaction. `group`, `states` and `rate` are given, the rest is filled. `group_unknown` if there is none. */
bool dlq_replay_begin(struct dlq *dlq, struct dlq_replay *replay, const char *who, struct error *err);
/* The run's next letter behind `after` as a message (see dlq_unpark_next). */
bool dlq_replay_next(struct dlq *dlq, int64_t run, int64_t after, struct batch *into, int64_t *out_letter,
                     struct error *err);
/* Inside a transaction. A letter that failed was handed to dlq_keep before, which counts the attempt. */
bool dlq_replay_outcome(struct dlq *dlq, int64_t letter, enum letter_outcome outcome, struct error *err);
bool dlq_replay_count(struct dlq *dlq, int64_t run, const uint64_t outcomes[LETTER_OUTCOMES], struct error *err);
/* Frees what is still claimed and fills the run's numbers. `state`: "ended", "stopped", "killed". */
bool dlq_replay_end(struct dlq *dlq, int64_t run, const char *state, struct dlq_replay *out, struct error *err);
/* Frees the claims of runs that died; `keep` goes on. */
bool dlq_replay_free_stale(struct dlq *dlq, int64_t keep, struct error *err);

/*
 * The job's dead-letter table and folder (dlq_outbound.c). Letters kept from now on are to be sent there too, in the
 * transaction that keeps them; a letter that has failed again goes into the folder once more.
 */
#define OUTBOUND_TABLE 1u
#define OUTBOUND_FOLDER 2u
void dlq_set_outbound(struct dlq *dlq, unsigned targets);

struct outbound_letter {
	int64_t id;              /* in the order of sending, never used again; 0: no more */
	int64_t letter, retries; /* how often it was tried again */
	struct message *message; /* in the batch; texts below in its arena */
	const char *stage, *code, *text, *table, *source;
};
bool dlq_outbound_next(struct dlq *dlq, unsigned target, int64_t after, struct batch *into, struct outbound_letter *out,
                       struct error *err);
bool dlq_outbound_done(struct dlq *dlq, unsigned target, int64_t last, struct error *err);
/* When the first that waits came; 0: none waits. */
bool dlq_outbound_oldest(struct dlq *dlq, unsigned target, int64_t *out_utc_us, struct error *err);
/* A file that is whole under `scratch` and is to get its name; the first such. *out_scratch NULL: there is none. */
bool dlq_file_made(struct dlq *dlq, const char *scratch, const char *name, struct error *err);
bool dlq_file_named(struct dlq *dlq, const char *scratch, struct error *err);
bool dlq_file_first(struct dlq *dlq, struct arena *arena, const char **out_scratch, const char **out_name, struct error *err);
/* Files of the folder that were read and are to be removed. */
bool dlq_inbound_add(struct dlq *dlq, const char *path, struct error *err);
bool dlq_inbound_known(struct dlq *dlq, const char *path, bool *out_known, struct error *err);
bool dlq_inbound_drop(struct dlq *dlq, const char *path, struct error *err);
/* An entry of such a file, in the transaction that adds it: one of this store's letters is tried again, with the body that the
 * file has, unless somebody has decided about it meanwhile; another one becomes a letter that was tried `retries` times. */
bool dlq_take_own(struct dlq *dlq, int64_t letter, const struct message *message, bool *out_is_ours, struct error *err);
bool dlq_take_foreign(struct dlq *dlq, const char *folder, const struct batch *batch, struct message *message,
                      int64_t retries, struct error *err);
/* How many wait to be tried again: those that a replay of group REPLAY_DUE claims. */
#define REPLAY_DUE (-1)
bool dlq_due_count(struct dlq *dlq, uint64_t *out_count, struct error *err);

/* Which letters: all that is said holds. Zeroed: every letter. */
struct letter_choice {
	const int64_t *groups;    /* in ascending order; NULL: all */
	size_t group_count;
	unsigned states;          /* bits, see dlq_states_read; 0: all */
	const char *table;        /* "DATASET.TABLE", or its name alone; NULL: all */
	const char *code;         /* NULL: all */
};

/* "new,failed again" to bits; else `bad_state`. */
bool dlq_states_read(const char *words, unsigned *out, struct error *err);

/* Discards the open letters of a choice, or one letter (id not 0); `count_differs` unless there are `confirm` of them. */
bool dlq_discard(struct dlq *dlq, const struct letter_choice *choice, int64_t id, uint64_t confirm, struct error *err);
/* Letters of a group that a replay would claim, and those that it could not. */
bool dlq_replay_ahead(struct dlq *dlq, int64_t group, unsigned states, uint64_t *out_fit, uint64_t *out_unfit,
                      struct error *err);

/*
 * Looking: each call hands one JSON object (the form of commands.md) per row to
 * `on_line`; it returns false to stop.
 */
typedef bool (*dlq_line)(void *context, const char *json);

/* Has the key of a letter a newer change than the letter's own? */
struct letter_question {
	struct span key;
	const unsigned char *position; /* POSITION_BYTES */
	bool is_newer, is_unknown;     /* unknown: it could not be told */
	size_t asker;                  /* the asker's own */
};

struct dlq_filter {
	const char *job;          /* name of the job, for the output */
	struct letter_choice choice;
	int64_t id;               /* 0: all */
	/* dlq_list: only those in whose payload's first 16 KiB it is found; NULL: all. A payload that takes more than 200 ms of CPU is
	 * `regex_too_slow`. `goes_on` is asked after each that was searched, with the context of `on_line`; false stops. */
	struct regex *match;
	bool (*goes_on)(void *context);
	bool with_values;         /* dlq_list: each with what its error points at */
	int64_t after, before;    /* only larger ids; only smaller ones, the largest first; 0: from the first on. Not both */
	/* Fills "newer" of letters of one table, and may change the order of the questions. A letter that was refused before its key
	 * was made is not asked of; its "newer" is null, as all are without this. */
	void (*ask_newer)(void *context, struct span table, struct letter_question *questions, size_t count);
	/* dlq_show: writes what "replica" is, a JSON value; NULL: no such member. `key` as in the warehouse, `json_key` as the
	 * message has it; both may be empty. */
	void (*add_row)(void *context, struct span table, struct span key, struct span json_key, struct text *out);
	void *context;
};

bool dlq_groups(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context, struct error *err);
bool dlq_list(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context, struct error *err);
/* One letter with its payload; `letter_unknown` if there is none. */
bool dlq_show(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context, struct error *err);
/* In pieces of at most 256 KiB: the line of a feed that has the letter, exactly, up to where its body begins (the next
 * member would be "data_b64"); and the exact bytes of the body. */
bool dlq_envelope(struct dlq *dlq, int64_t id, bool (*on_piece)(void *, struct span), void *context, struct error *err);
bool dlq_bytes(struct dlq *dlq, int64_t id, const char *big_folder, bool (*on_piece)(void *, struct span),
               void *context, struct error *err);

/* Open letters (new, planned, failed again, set aside) and those that need somebody (new, failed again), of one
 * table or all (NULL). */
bool dlq_open_count(struct dlq *dlq, const char *table, uint64_t *out_open, uint64_t *out_needs, struct error *err);

/* The groups with letters that need somebody, of one table or all (NULL), the largest last, as a JSON array:
 * {"table","group","code","column","since","sample","count"}. The caller frees; NULL with err. */
char *dlq_troubles_json(struct dlq *dlq, const char *table, struct error *err);

/* The first open letter of a table that needs somebody, as dlq list's object; notes and timeline as JSON arrays. The
 * caller frees. NULL with err untouched: there is none. */
char *dlq_first_letter(struct dlq *dlq, const struct dlq_filter *filter, const char *table, struct error *err);
char *dlq_notes_json(struct dlq *dlq, const char *table, struct error *err);
char *dlq_timeline_json(struct dlq *dlq, const char *table, struct error *err);

/* The last state the job reached ("stopped", "needs you"...), with code and sentence; kept over restarts. */
bool dlq_set_job_state(struct dlq *dlq, const char *state, const char *code, const char *sentence, struct error *err);
bool dlq_job_state(struct dlq *dlq, char out_state[32], char out_code[40], char out_sentence[512], struct error *err);

#endif
