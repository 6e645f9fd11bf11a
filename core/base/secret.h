/*
 * Bytes that must not leave the process: in guarded pages of libsodium, locked
 * into memory and left out of core files where the system allows, wiped when
 * they are given back. There is no printer and no `%s` that reaches them: whoever
 * asks for the bytes (secret_bytes) answers for where they go.
 *
 * With the first secret the process stops to be dumpable: no core file, no
 * debugger of the same user.
 */
#ifndef WEIR_BASE_SECRET_H
#define WEIR_BASE_SECRET_H

#include "base/error.h"

#include <stddef.h>

#define SECRET_BYTES_MAX 65536 /* a key file of Google's has 2.4 KB */

struct secret;

struct secret *secret_new(size_t len); /* zeros */
/* A copy; what it was copied from is wiped. */
struct secret *secret_take(void *bytes, size_t len);
struct secret *secret_copy(const struct secret *secret);
/* Everything up to the end of the descriptor: `secret_too_large`, or what reading says. NULL on failure. */
struct secret *secret_read(int fd, size_t limit, struct error *err);
void secret_free(struct secret *secret);

size_t secret_length(const struct secret *secret);
unsigned char *secret_bytes(struct secret *secret); /* lent */
const unsigned char *secret_look(const struct secret *secret);
/* Keeps the first `len` bytes. */
void secret_cut(struct secret *secret, size_t len);

/* free() for jansson, whose parser keeps copies of what it reads: between begin and end this thread wipes what it gives back. */
void secret_copies_begin(void);
void secret_copies_end(void);
void secret_copies_free(void *bytes);

/* False: the system did not lock the memory of a secret (ulimit -l), which could be written to swap. */
bool secrets_are_locked(void);

#endif
