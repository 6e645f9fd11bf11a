/* What the rooms of Cloud Storage share: a client, and calls about an object. */
#ifndef WEIR_GOOGLE_STORAGE_PRIVATE_H
#define WEIR_GOOGLE_STORAGE_PRIVATE_H

#include "google/storage.h"

#define STORAGE_PART_BYTES ((size_t)8 << 20) /* of one answer: larger objects are read in parts */
#define STORAGE_AT_ONCE 16
#define STORAGE_PATH_BYTES 8192

struct storage {
	struct storage_setup setup;
	struct rest_client *client;
};

/* "/b/BUCKET/o/NAME", every sign that could mean something else encoded; the query follows. */
void storage_path_add(struct text *out, const char *bucket, const char *name);
/* A value of a query. */
void storage_escape(struct text *out, const char *text);
/* A failed answer in words of files: not there, forbidden. False always. */
bool storage_fail(struct storage *storage, const char *bucket, const char *name, int status, struct error *err);
/* What a call gets of time: `deadline_ms` and more for what is large. */
void storage_limit(const struct storage *storage, size_t bytes, struct rest_request *request);
/* One call with a token, and a second try of one whose token was not taken; the caller frees *out_call in any case. */
bool storage_call(struct storage *storage, const struct rest_request *request, struct rest_call **out_call,
                  struct rest_answer *out, struct error *err);
bool storage_should_end(const struct storage *storage);
/* `cancelled`. False always. */
bool storage_give_up(struct error *err);

#endif
