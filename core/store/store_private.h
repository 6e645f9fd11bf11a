/* What the files of core/store/ share. */
#ifndef WEIR_STORE_STORE_PRIVATE_H
#define WEIR_STORE_STORE_PRIVATE_H

#include "store/store.h"

/* user_version is 32 bits that anybody can spoil: no weir ever writes a number like this one. */
#define STORE_VERSION_MAX (1 << 24)

/* A connection with our settings, nothing checked yet: `path` is the name for messages, `real` the one to open. */
struct store *store_connect(const char *path, const char *real, enum store_mode mode, const struct store_kind *kind,
                            struct error *err);
bool store_number(struct store *store, const char *sql, int64_t *out_number, struct error *err);
bool store_damaged(const struct store *store, struct error *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* After the library's settings, before its first connection: our own forms of three calls of the system (store_system.c). */
void store_system_prepare(void);

/* After the library's settings, before its first connection: in test builds puts the faulty disk of WEIR_DISK below it. */
void store_disk_prepare(void);

/* Behind both: the layer that STORE_FRAMES names, through which our connections write (store_frames.c). */
#define STORE_FRAMES "weir-frames"
void store_frames_prepare(void);

/* The cheap look at an existing file: header, size, identity, version, schema. */
bool store_inspect(struct store *store, int32_t *out_version, struct error *err);

/* Files that some connection of this process has open and has inspected (store_shared.c). */
void store_share(const struct store *store);
void store_unshare(const struct store *store); /* also one that was not shared */
bool store_is_shared(const struct store *store);

/* Brings an inspected file from `version` to the kind's, a copy beside it before each step. */
bool store_migrate(struct store *store, const char *real, int32_t version, struct error *err);

/* Makes the file at `real` with all migrations applied. It appears under its name only when it is whole, so that an
 * empty or half file is always damage. Another one who was faster is no failure. */
bool store_create(const char *path, const char *real, const struct store_kind *kind, struct error *err);

#endif
