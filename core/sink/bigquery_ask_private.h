/* How BigQuery is asked one thing at a time (bigquery_ask.c), for the rooms that do so. */
#ifndef WEIR_SINK_BIGQUERY_ASK_PRIVATE_H
#define WEIR_SINK_BIGQUERY_ASK_PRIVATE_H

#include "google/wait.h"
#include "sink/bigquery.h"
#include "sink/bigquery_table_private.h"

struct question {
	enum bigquery_call call;
	const char *method;
	const char *what;        /* in words, with the names */
	const char *path;        /* behind the project's */
	const json_t *body;      /* lent; NULL */
	struct span text;        /* instead of it, made already; lent */
};

/* *out_json is the caller's; NULL where the answer has no body. `out_status` may be NULL. */
bool question_ask(const struct bigquery_asker *asker, const struct question *question, int *out_status, json_t **out_json,
                  struct error *err);
/* A question about one table: path and what are made here. */
bool question_ask_table(const struct bigquery_asker *asker, struct question question, const char *dataset, const char *table,
                        const char *behind, int *out_status, json_t **out_json, struct error *err);

/* For as long as the question may wait: a table is new to each way of writing for a while. */
struct news {
	int64_t until_ms;
	struct backoff backoff;
};
struct news news_begin(const struct bigquery_asker *asker);
bool news_wait(struct news *news, const struct error *err);

#endif
