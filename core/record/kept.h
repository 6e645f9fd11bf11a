/*
 * What lies beside a parked message, and beside a letter: those of its records that the transform would not
 * make again, as it has taken the schema change already when the message comes back.
 */
#ifndef WEIR_RECORD_KEPT_H
#define WEIR_RECORD_KEPT_H

#include "record/batch.h"

/* The ALTERs of a message with rows, all records of one that is filtered, as far as they have the verdict: the fate and then
 * record by record, in the batch's arena. Empty: the transform makes all of them again. */
struct span kept_pack(const struct batch *batch, const struct message *message, enum verdict verdict);

/* Makes the records of message->kept, which must outlive the batch's, and restores the fate. The message has none yet. A
 * filtered one is not to be transformed again. False: the bytes are damaged. */
bool kept_unpack(struct batch *batch, struct message *message);

#endif
