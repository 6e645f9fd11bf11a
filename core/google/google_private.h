/* Between what a job has of Google (google.c) and the calls that are made with it (google_call.c). */
#ifndef WEIR_GOOGLE_GOOGLE_PRIVATE_H
#define WEIR_GOOGLE_GOOGLE_PRIVATE_H

#include "google/google.h"

#include <pthread.h>

/* Opened at the first call; lent. NULL with err. */
struct credentials *google_credentials(struct google *google, struct error *err);
/* The one that was given for this job, which emulators are told too; NULL: none. */
const char *google_own_quota_project(const struct google *google);

#endif
