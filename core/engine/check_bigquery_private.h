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

#endif
