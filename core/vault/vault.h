/*
 * The vault: secrets by name, on disk only in sealed form.
 *
 * Each secret is XChaCha20-Poly1305 under one random vault key, with its name and
 * version as associated data, so that no entry can stand in another's place or be
 * an older one of its own. The vault key is sealed in the same way by a key that
 * comes from a key file (0600, made with the first secret) or from a passphrase
 * (Argon2id). Names, versions and times are readable; values never are.
 *
 * The file is read anew for each call and replaced in one step, so that one that
 * is brought back from a backup is taken as it is. Only the engine that holds the
 * home's lock writes it. All functions may be called from any thread.
 */
#ifndef WEIR_VAULT_VAULT_H
#define WEIR_VAULT_VAULT_H

#include "base/error.h"
#include "base/secret.h"

#include <jansson.h>

#define VAULT_NAME_MAX 64

struct vault;

/* Paths of the vault and of its key file; nothing is read or made yet. */
struct vault *vault_new(const char *path, const char *key_path);
void vault_free(struct vault *vault);

enum vault_state {
	VAULT_NONE,   /* there is no file: the first put makes it */
	VAULT_OPEN,
	VAULT_LOCKED, /* a passphrase is needed */
	VAULT_BROKEN  /* err says why */
};
const char *vault_state_name(enum vault_state state);

struct vault_facts {
	enum vault_state state;
	bool has_passphrase; /* else a key file */
	json_t *secrets;     /* [{"secret","version","changed"}] sorted by name; owned, NULL if broken */
};
/* Never fails: what is wrong is the state, with its reason in `why`. */
void vault_look(struct vault *vault, struct vault_facts *out, struct error *why);

/* 1 to 64 of A-Z a-z 0-9 _ . -, the first a letter or digit; else `bad_secret_name`. */
bool vault_name_is_fine(const char *name, struct error *err);

/* Adds or replaces; *out_version counts from 1. `vault_locked`, `vault_full`, `secret_empty`, `secret_too_large`... */
bool vault_put(struct vault *vault, const char *name, const struct secret *value, int64_t *out_version,
               struct error *err);
/* The caller frees. NULL with `secret_unknown`, `vault_locked`, `vault_damaged`, `vault_key_missing`... */
struct secret *vault_get(struct vault *vault, const char *name, struct error *err);
/* Needs no key. `secret_unknown`. */
bool vault_delete(struct vault *vault, const char *name, struct error *err);

/* Opens it for this process. `wrong_passphrase`; one that has a key file needs none, which is fine. */
bool vault_unlock(struct vault *vault, const struct secret *passphrase, struct error *err);
/* Seals by this passphrase, or with NULL by the key file, under a new vault key: all secrets are sealed anew. */
bool vault_seal(struct vault *vault, const struct secret *passphrase, struct error *err);

/*
 * How a secret travels over the socket: in a box that only this process can open
 * (X25519, crypto_box_seal; control/seal.c makes it).
 */
struct vault_box;
struct vault_box *vault_box_new(void);
void vault_box_free(struct vault_box *box);
const char *vault_box_address(const struct vault_box *box); /* base64 of the public key */
/* From base64; the caller frees. NULL with `bad_secret_box`. */
struct secret *vault_box_open(struct vault_box *box, const char *sealed, struct error *err);

#endif
