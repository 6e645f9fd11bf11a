/* Shared by the rooms of the pipeline. */
#ifndef WEIR_PIPELINE_PIPELINE_PRIVATE_H
#define WEIR_PIPELINE_PIPELINE_PRIVATE_H

#include "pipeline/pipeline.h"

/* Remembers the name of a table number and makes room for its counters. */
void pipeline_learn_table(struct pipeline *p, uint32_t table, const struct table_schema *schema);

/* Tells the store how many commits the warehouse has, now or when a second has passed. What fails is told later: until
 * then the store remembers less than there is, which harms nobody. */
void pipeline_remember(struct pipeline *p, bool is_now);

/* The same for the tables that a batch's schema changes make known. */
void pipeline_learn_tables(struct pipeline *p, const struct batch *batch);

/*
 * Paused tables (paused.c). A message is parked whole if any of its records is of a paused table.
 */
bool pipeline_read_paused(struct pipeline *p, struct error *err);
void pipeline_clear_paused(struct pipeline *p);
bool pipeline_is_paused(const struct pipeline *p, const char *table);
void pipeline_hold(const struct pipeline *p, struct batch *batch, struct message *message);
const struct refusal *pipeline_why_parked(const struct batch *batch, const struct message *message);
void pipeline_hold_paused(const struct pipeline *p, struct batch *batch);

/* Writes and commits a batch (see pipeline_write); `adjust` may change its counters before they commit. */
bool pipeline_write_rows(struct pipeline *p, struct batch *batch,
                         void (*adjust)(struct pipeline *p, struct ledger *added), struct ledger *out_sum,
                         struct error *err);

/* Where a batch ends, as one number for dlq_notes_begin: what came back from parking does not move the source. */
uint64_t pipeline_notes_place(const struct source_position *end);

/* Takes what the sink parked once more out of the ids that come back with this batch. */
void pipeline_keep_parked(struct batch *batch);

/* Parts of reading and writing that a replay shares. */
bool pipeline_is_full(const struct pipeline *p, const struct batch *batch);
void pipeline_take_message(struct pipeline *p, struct batch *batch);
uint8_t *pipeline_keep_verdicts(const struct batch *batch);
void pipeline_restore_verdicts(struct batch *batch, const uint8_t *kept);
const struct refusal *pipeline_first_refusal(const struct batch *batch, const struct message *message,
                                             enum verdict verdict);
/* With those of its refused records that the transform would not make again. */
bool pipeline_keep_letter(struct pipeline *p, const struct batch *batch, struct message *message, struct error *err);
bool pipeline_store_timeline(struct pipeline *p, const struct batch *batch, struct error *err);
bool pipeline_store_notes(struct pipeline *p, const struct batch *batch, struct error *err);

/* Removes the messages that came back with the last commit of a run that died before it could. */
void pipeline_unpark_free(struct pipeline *p);
bool pipeline_finish_unpark(struct pipeline *p, struct error *err);

/* "DATASET.TABLE", or "-". Lent. */
const char *pipeline_table_name(const struct pipeline *p, uint32_t table);

#endif
