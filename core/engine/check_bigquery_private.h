/* What the checks of BigQuery share. */
#ifndef WEIR_ENGINE_CHECK_BIGQUERY_PRIVATE_H
#define WEIR_ENGINE_CHECK_BIGQUERY_PRIVATE_H

#include "engine/check_private.h"
#include "sink/bigquery.h"

/* False: there is nothing to ask, which an earlier row has said, or no project is known. */
bool check_asker_open(struct check *check, struct bigquery_asker *out, struct error *err);
/* The command for a reason code; "": none. */
void check_bigquery_fix(struct check *check, const struct bigquery_asker *asker, const char *dataset, const char *code,
                        char fix[CHECK_FIX_BYTES]);

/*
 * Shared by check_bigquery.c and check_bigquery_rows.c
 */
#define DATASETS_MOST 20

struct check_datasets {
	struct arena *arena;
	const char *names[DATASETS_MOST];
	size_t count;
};

/* The job's datasets: the one that it names, else those that messages have chosen so far. The caller frees the arena. */
void check_datasets_find(struct check *check, struct check_datasets *out);
/* The parameter that names it. */
const char *check_dataset_parameter(const struct job_options *options);
bool check_is_append(const struct job_options *options);

#endif
