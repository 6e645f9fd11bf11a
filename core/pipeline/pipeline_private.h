/* Shared by the rooms of the pipeline. */
#ifndef WEIR_PIPELINE_PIPELINE_PRIVATE_H
#define WEIR_PIPELINE_PIPELINE_PRIVATE_H

#include "pipeline/pipeline.h"

/* Remembers the name of a table number and makes room for its counters. */
void pipeline_learn_table(struct pipeline *p, uint32_t table, const struct table_schema *schema);

/* Writes and commits a batch (see pipeline_write); `adjust` may change its counters before they commit. */
bool pipeline_write_rows(struct pipeline *p, struct batch *batch,
                         void (*adjust)(struct pipeline *p, struct ledger *added), struct ledger *out_sum,
                         struct error *err);

/* "DATASET.TABLE", or "-". Lent. */
const char *pipeline_table_name(const struct pipeline *p, uint32_t table);

#endif
