/*
 * Files on Cloud Storage (JSON API): list, read, write, remove. An object is never
 * written over, and never read or removed as another one than was listed: its
 * generation goes with each call.
 *
 * A client belongs to one thread. What fails says so by the decision table, with
 * `bucket_missing` and `no_such_file` in place of "not found".
 */
#ifndef WEIR_GOOGLE_STORAGE_H
#define WEIR_GOOGLE_STORAGE_H

#include "base/arena.h"
#include "google/google.h"

#include <stdatomic.h>

#define STORAGE_BUCKET_MAX 222
#define STORAGE_NAME_MAX 1024
#define STORAGE_PAGE_MAX 1000

struct storage;

struct storage_setup {
	struct google *google;        /* lent */
	int64_t wait_ms;              /* one call, its tries together; 0: 60,000 */
	const atomic_bool *should_end; /* another thread's wish: what is under way is given up; NULL: nobody's */
};

struct storage *storage_open(const struct storage_setup *setup, struct error *err);
void storage_close(struct storage *storage);

/* "gs://BUCKET/NAME"; the name may be empty (the whole bucket), and has no slash at its end. `bad_parameter` otherwise. */
struct storage_place {
	char bucket[STORAGE_BUCKET_MAX + 1];
	char name[STORAGE_NAME_MAX + 1];
};
bool storage_is_place(const char *path);
bool storage_place_read(const char *path, struct storage_place *out, struct error *err);

struct storage_object {
	const char *name;
	int64_t generation;
	uint64_t size_bytes;
};

/* What there is of one object. */
bool storage_look(struct storage *storage, const char *bucket, const char *name, struct storage_object *out, struct error *err);

/* Objects whose names begin with `prefix`, in the order of their names, a page at a time: objects and token live in the arena.
 * `token` NULL: the first page; out->next NULL: it was the last. A page may be empty and not the last. */
struct storage_page {
	struct storage_object *objects;
	size_t count;
	const char *next;
};
bool storage_list(struct storage *storage, const char *bucket, const char *prefix, const char *token, size_t limit,
                  struct arena *arena, struct storage_page *out, struct error *err);

/* The object's contents, which the caller frees; a larger one than `limit` is `file_too_large`. */
bool storage_read(struct storage *storage, const char *bucket, const struct storage_object *object, size_t limit, char **out,
                  size_t *out_len, struct error *err);

/* Only where no object has the name. *out_was_there: one has, so nothing was written; also where an earlier try of this very
 * call had written it and its answer was lost. */
bool storage_write(struct storage *storage, const char *bucket, const char *name, const char *content_type,
                   struct span content, bool *out_was_there, struct error *err);

/* The same of a file on the disk (`no_such_file`: there is none): above 8 MiB by a session, part after part, which goes on where
 * it was cut. `wait_ms` of the setup counts from the last part that was taken; the file is read as it goes up. */
bool storage_write_file(struct storage *storage, const char *bucket, const char *name, const char *content_type, const char *path,
                        bool *out_was_there, struct error *err);

/* One that is not there any more, or another by now, is left and fine. */
bool storage_remove(struct storage *storage, const char *bucket, const struct storage_object *object, struct error *err);

/*
 * Several at once, each with an outcome of its own: reads, and removals.
 */
struct storage_errand {
	struct storage_object object;
	size_t limit;          /* of what is read */
	char *content;         /* out: the caller frees; NULL: it failed */
	size_t len;
	bool is_done;          /* out; false: `failure` */
	struct error failure;
};
void storage_read_all(struct storage *storage, const char *bucket, struct storage_errand *errands, size_t count);
void storage_remove_all(struct storage *storage, const char *bucket, struct storage_errand *errands, size_t count);

#endif
