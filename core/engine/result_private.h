/* What a job's files say, shared by the commands that read them. */
#ifndef WEIR_ENGINE_RESULT_PRIVATE_H
#define WEIR_ENGINE_RESULT_PRIVATE_H

#include "dlq/dlq.h"
#include "engine/engine.h"
#include "sink/sink.h"

/* A job's store and warehouse, opened to be read; safe while the job runs. `dlq` is NULL before the first run. */
struct job_files {
	struct dlq *dlq;
	struct arena *arena;
	struct sink_state state;
	json_t *paused; /* "DATASET.TABLE": {"table","since","who","why"} */
	json_t *troubles; /* "DATASET.TABLE": its largest group of letters that need somebody (dlq_troubles_json) */
	size_t trouble_count;
	json_t *lost;   /* "DATASET.TABLE": why its replica is not merged */
};

/* `ledger_mismatch` when a job that has run has no store of letters any more, or the warehouse less than the store
 * remembers; files_open_as_they_are takes that too. */
bool files_open_as_they_are(struct job_files *files, const struct home *home, const struct job_options *options,
                            struct error *err);
bool files_open(struct job_files *files, const struct home *home, const struct job_options *options,
                struct error *err);
void files_close(struct job_files *files);
/* `table` is a table number, or table_count for what belongs to none. */
const struct ledger *files_ledger(const struct job_files *files, size_t table);
const struct table_schema *files_schema(const struct job_files *files, size_t table); /* NULL: none */

/* The state that a job shows everywhere: the worst of its own and of its tables'. A table that is ok makes no stopped job
 * ok. Of a line: "state" and "tables". */
enum job_state job_shown_state(enum job_state own, enum job_state tables);
enum job_state result_tables_state(const json_t *line);
enum job_state result_shown_state(const json_t *line);

/* "DATASET.TABLE", or "-". */
void result_table_name(const struct job_options *options, const struct table_schema *schema, char *out, size_t room);
json_t *result_ledger(const struct ledger *ledger, uint64_t in_flight);
const char *result_column_guess(const struct column *column);
json_t *result_notes(struct dlq *dlq, const char *table, const struct table_schema *schema);
bool result_table_needs(struct dlq *dlq, const char *table, const struct table_schema *schema,
                        const struct ledger *ledger, bool *out_needs, struct error *err);
/* "-" (table_count) holds what belongs to no table; it is left out when nothing does, and nothing is to be said of the job itself. */
bool result_is_nothing(const struct job_files *files, size_t table);
json_t *result_table(const struct job_files *files, const struct job_options *options, size_t table, bool *out_needs,
                     struct error *err);

/* Why a table is as it is, for a row of a list: "open_letters", and unless it is ok "since", "code", "column", "reason" (a
 * few words), "sentence" (table_facts.c). `state` is that of the object. */
bool table_facts_add(json_t *object, const struct job_files *files, const char *name, struct error *err);
bool table_facts_read(struct job_files *files, struct error *err);

/*
 * Tables as one types them: "orders" and "shop.orders" name the same one (table_names.c).
 */
bool table_is_named(const char *full, const char *typed);
/* "orders", in what was typed; and "shop.orders", which the caller frees. */
const char *table_plain_name(const struct job_options *options, const char *typed);
/* NULL with err: several datasets have it. */
char *table_full_name(const struct home *, const struct job_options *options, const char *typed, struct error *err);
/* `table_unknown`: `who` ("job 'a' has no table") 'typed', and the nearest of the names; false. */
bool table_unknown(const char *who, const char *typed, const json_t *names, struct error *err);
/* Has the job a table of that name, with rows, paused or lost? `table_unknown`. */
bool files_have_table(const struct job_files *files, const struct job_options *options, const char *typed,
                      struct error *err);
bool table_is_known(const struct home *home, const struct job_options *options, const char *typed, struct error *err);

/* `job_not_named` when several jobs (an array of names) have what was asked for ("a letter 1"). */
bool job_is_one(const json_t *owners, const char *what, struct error *err);
/* Sets "job" of the call's arguments to the one that has the letter "id" or the group "group", when none is named. More
 * than one: `job_not_named`. */
bool letters_choose_job(struct call *call, struct error *err);

#endif
