/*
 * Questions about BigQuery as a job would find it, for `weir check`. Each is asked
 * once, by the thread that wants to know, and never waits longer than it may.
 * Nothing is changed but by the functions that are named bigquery_try: they make a
 * table of their own, which is gone within the hour even if nobody removes it.
 */
#ifndef WEIR_SINK_BIGQUERY_H
#define WEIR_SINK_BIGQUERY_H

#include "google/google.h"
#include "record/schema.h"

/* The command that mends a failure with that reason code, to be pasted. False: there is none, or a name that no command
 * may have in it. Members may be NULL but project and dataset. */
struct bigquery_names {
	const char *project, *dataset, *table, *location;
	const char *member;       /* as IAM names the account: "serviceAccount:.." */
};
bool bigquery_fix(const char *code, const struct bigquery_names *names, struct text *out);
/* The same behind the error's message, with the account whose tokens are used, as far as that is known. */
void bigquery_fix_add(struct google *google, const struct bigquery_names *names, struct error *error);

/* Does what has this reason code pass by itself, whatever the table does? */
bool bigquery_code_passes(const char *code);

struct bigquery_asker {
	struct google *google;
	struct rest_client *client;
	const char *project;
	int64_t wait_ms;          /* of each question */
};

struct bigquery_dataset {
	char location[64];
	int64_t table_expiration_ms;     /* of tables that are made there; 0: for ever */
	int64_t partition_expiration_ms;
};
/* False: `dataset_missing`, `no_such_project`, `bigquery_denied`, or why nobody answered. */
bool bigquery_dataset_look(const struct bigquery_asker *asker, const char *dataset, struct bigquery_dataset *out, struct error *err);

/* The changelog table of a source table, or its append table, beside what would be written into it. */
struct bigquery_table_look {
	bool is_there;
	char type[32];            /* TABLE, VIEW, .. */
	size_t missing;           /* columns that would be added */
	char first_missing[320];
	size_t conflicts;         /* columns that take no such values */
	char conflict[320], conflict_has[32], conflict_wants[32];
	int64_t streamed_rows;    /* in the streaming buffer; 0: none */
};
bool bigquery_table_compare(const struct bigquery_asker *asker, const char *dataset, struct span table,
                            const struct table_schema *schema, bool is_append, struct bigquery_table_look *out, struct error *err);

/* May the account make calls that the quota project pays? Only that: other refusals of the call are none of this question. */
bool bigquery_payer_look(const struct bigquery_asker *asker, struct error *err);

/*
 * The dead-letter table (bigquery_letters.c).
 */
struct letter_row;
/* Is it there, with the columns of a dead letter? False: `letters_table_differs`, or why it cannot be told. */
bool bigquery_letters_look(const struct bigquery_asker *asker, const char *dataset, const char *table, bool *out_there,
                           struct error *err);
/* The same, and makes it where it is missing. */
bool bigquery_letters_open(const struct bigquery_asker *asker, const char *dataset, const char *table, struct error *err);
/* *out_done: so many of the first rows are there, or never will be (on_unfit was told). False: the rest waits. */
bool bigquery_letters_put(const struct bigquery_asker *asker, const char *dataset, const char *table, const char *incarnation,
                          const struct letter_row *rows, size_t count, size_t *out_done,
                          void (*on_unfit)(void *context, const struct letter_row *, const char *why), void *context, struct error *err);

/* A table of its own in the dataset, "weir_check_.."; expires in an hour. */
#define BIGQUERY_TRY_NAME_BYTES 40
bool bigquery_try_make(const struct bigquery_asker *asker, const char *dataset, char out_name[BIGQUERY_TRY_NAME_BYTES],
                       struct error *err);
/* Which of the permissions are there for the table: out_has[i] is of permissions[i]. */
bool bigquery_try_rights(const struct bigquery_asker *asker, const char *dataset, const char *table,
                         const char *const *permissions, size_t count, bool *out_has, struct error *err);
/* A column more, as a schema change of the source would need it. */
bool bigquery_try_column(const struct bigquery_asker *asker, const char *dataset, const char *table, struct error *err);
/* An entry by insertAll. */
bool bigquery_try_insert(const struct bigquery_asker *asker, const char *dataset, const char *table, struct error *err);
/* Storage Write: the default stream, and, if wanted, one with offsets. */
bool bigquery_try_stream(const struct bigquery_asker *asker, const char *dataset, const char *table, bool is_exactly_once,
                         struct error *err);
bool bigquery_try_remove(const struct bigquery_asker *asker, const char *dataset, const char *table, struct error *err);

#endif
