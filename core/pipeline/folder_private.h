/*
 * The dead-letter folder behind one small interface: a local one, or one on Cloud
 * Storage. Only its carrier calls it, a thread of its own: a disk or a bucket that
 * is away makes nobody else wait.
 */
#ifndef WEIR_PIPELINE_FOLDER_PRIVATE_H
#define WEIR_PIPELINE_FOLDER_PRIVATE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdatomic.h>

struct google;

#define FOLDER_FILE_BYTES_MAX ((size_t)256 << 20)
#define FOLDER_FILES_A_LOOK 500 /* then the writer writes again */

struct folder_file {
	const char *name;     /* whole: a path, or gs://BUCKET/NAME */
	const char *which;    /* the name, and what tells the file from an earlier one of this name */
	const char *scratch;  /* of one that is to be placed: where it lies meanwhile */
	int64_t generation;
	uint64_t size_bytes;
	bool is_left;         /* nobody has written to it for so long that half of it is all there will be */
	char *content;        /* of one that was read; the errand's */
	size_t len;
	bool is_done;         /* read, or removed; false: `failure` */
	struct error failure;
};

struct folder {
	const struct folder_ops *ops;
};

struct folder_setup {
	const char *place;             /* of the folder, without a slash at its end; lent */
	struct google *google;         /* lent; NULL: nothing is on Cloud Storage */
	const atomic_bool *should_end; /* what is under way is given up */
};

struct folder_ops {
	bool may_grow;        /* a file may be seen before it is whole */
	size_t file_bytes;    /* of what is written: more begins another file */

	struct folder *(*open)(const struct folder_setup *, struct error *);
	/* Tells of each file below `retry` that nobody writes any more, until `offer` says that it has enough. */
	bool (*list)(struct folder *, bool (*offer)(void *context, const struct folder_file *), void *context, struct error *);
	/* Each has an outcome of its own. One that is gone: read fails as `no_such_file`, removing is done. */
	void (*read_all)(struct folder *, struct folder_file *files, size_t count);
	void (*remove_all)(struct folder *, struct folder_file *files, size_t count);
	/* The scratch file gets its name, whole or not at all, and never another's. Where there is no scratch file any more it has been
	 * placed before a kill, and may have been read and removed since. */
	bool (*place)(struct folder *, const struct folder_file *, struct error *);
	void (*close)(struct folder *);
};

extern const struct folder_ops folder_local, folder_storage;
const struct folder_ops *folder_choose(const char *place);
/* Files that are not looked at: hidden, or not whole by their name. */
bool folder_passes_over(struct span name);

/*
 * The carrier: one errand at a time.
 */
enum errand_kind {
	ERRAND_PLACE,  /* files with their scratch */
	ERRAND_LOOK,   /* finds and reads files that it has not handed over yet */
	ERRAND_REMOVE, /* files that it has handed over */
};

struct errand {
	enum errand_kind kind;
	struct arena *arena;    /* of the files and their names */
	struct folder_file *files;
	size_t count, room;
	bool has_more;          /* of a look: there are others */
	bool is_done;           /* as a whole; false: `failure` */
	struct error failure;
};

struct carrier;

/* What the setup names is lent until close. The thread comes with the first errand. */
struct carrier *carrier_open(const struct folder_setup *setup);
/* Ends what is under way. NULL is fine. */
void carrier_close(struct carrier *carrier);
const struct folder_ops *carrier_folder(const struct carrier *carrier);

struct errand *errand_new(enum errand_kind kind, size_t room);
void errand_free(struct errand *errand);
struct folder_file *errand_add(struct errand *errand, const struct folder_file *file); /* names are copied; NULL: no room */

/* Takes the errand. False: it goes back (is freed). */
bool carrier_send(struct carrier *carrier, struct errand *errand, struct error *err);
bool carrier_is_busy(const struct carrier *carrier);
/* The errand that was sent, done; NULL: not within `wait_ms`. */
struct errand *carrier_take(struct carrier *carrier, int64_t wait_ms);
/* A file that was handed over and not taken: it may be handed over again after so long. */
void carrier_give_back(struct carrier *carrier, const char *which, int64_t after_ms);

#endif
