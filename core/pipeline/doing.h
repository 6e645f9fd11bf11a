/*
 * jobs/NAME.doing: which message is being transformed right now, so that one that
 * kills the process is set aside at the next start instead of killing it again. The
 * file is mapped: a message costs two stores and no call, and what was stored is
 * there when the process is not.
 */
#ifndef WEIR_PIPELINE_DOING_H
#define WEIR_PIPELINE_DOING_H

#include "record/batch.h"

struct doing;

/* Looks at what the last run left, and begins. NULL: there is no such file to be had; then nothing is guarded. */
struct doing *doing_open(const char *path);
/* The end of a run that ends as it should. */
void doing_close(struct doing *doing);

/* Was the last run killed, whatever it did then? */
bool doing_was_killed(const struct doing *doing);
/* This thread transforms a message, or (MESSAGE NULL) none any more. */
void doing_begin(struct doing *doing, const struct message *message);
void doing_done(struct doing *doing);
/* Has this message ended a run by a fatal signal, or three in a row were killed while it was transformed? */
bool doing_is_poison(const struct doing *doing, const struct message *message);

#endif
