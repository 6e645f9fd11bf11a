/* Shared by the rooms of the vault. */
#ifndef WEIR_VAULT_VAULT_PRIVATE_H
#define WEIR_VAULT_VAULT_PRIVATE_H

#include "vault/vault.h"

#include <pthread.h>
#include <sodium.h>

#define VAULT_FORMAT 1
#define VAULT_BYTES_MAX (8u << 20)
#define VAULT_SECRETS_MAX 1000
#define VERSION_MAX (INT64_C(1) << 53) /* a number in everybody's JSON; nobody gets there */
#define KEY_BYTES crypto_aead_xchacha20poly1305_ietf_KEYBYTES
#define SALT_BYTES crypto_pwhash_SALTBYTES

struct vault {
	char *path, *key_path;
	pthread_mutex_t lock;
	/* What the passphrase gave, once it was told, and for which salt; NULL: it was not. */
	struct secret *passphrase_key;
	unsigned char salt[SALT_BYTES];
};

/*
 * The file (vault_file.c): {"format":1,"seal":{..},"secrets":{NAME:{"version","changed","nonce","box"}}}
 */
/* A new reference, its shape checked. NULL: there is none and *out_is_missing, or err. */
json_t *vault_file_read(const char *path, bool *out_is_missing, struct error *err);
bool vault_file_write(const char *path, const json_t *file, struct error *err);
/* A file that only its owner can read: `vault_exposed`, `not_a_file`. */
bool vault_file_is_private(const char *path, struct error *err);
/* The same, open to be read, and no other by then; -1 with err. */
int vault_file_open(const char *path, struct error *err);

/* Boxes: {"nonce":base64,"box":base64} as members of `holder`. */
void box_seal(json_t *holder, const struct secret *key, const char *context, const struct secret *value);
/* NULL: not under this key, or not in this context. */
struct secret *box_open(const json_t *holder, const struct secret *key, const char *context);
/* Bytes of a base64 member; *out_len is the room before. */
bool member_bytes(const json_t *holder, const char *name, unsigned char *out, size_t *out_len);
void set_member_bytes(json_t *holder, const char *name, const unsigned char *bytes, size_t len);

/*
 * The seal (vault_seal.c): {"by":"key_file"|"passphrase", "salt","operations","memory_bytes", "nonce","box"}
 */
bool seal_has_passphrase(const json_t *seal);
/* The vault key: `vault_locked`, `vault_key_missing`, `vault_damaged`. NULL on failure. */
struct secret *seal_open(struct vault *vault, const json_t *seal, struct error *err);
/* What the passphrase gives with the seal's salt; `vault_damaged` if its figures are none of ours. */
struct secret *seal_passphrase_key(const json_t *seal, const struct secret *passphrase, unsigned char salt[SALT_BYTES],
                                   struct error *err);
/* A new seal around `vault_key`. With a passphrase the vault knows it from then on; without, the key file is made if it is
 * missing. A new reference, NULL on failure. */
json_t *seal_make(struct vault *vault, const struct secret *passphrase, const struct secret *vault_key,
                  struct error *err);

/*
 * Under the lock (vault.c): the file with the vault key that its seal holds.
 */
#define CONTEXT_BYTES (VAULT_NAME_MAX + 64)

struct opened {
	json_t *file;
	struct secret *key;
};
/* False with *out_is_missing: there is no vault; else err. */
bool opened_read(struct vault *vault, struct opened *out, bool *out_is_missing, struct error *err);
/* A new one without secrets, under a new vault key. */
bool opened_make(struct vault *vault, const struct secret *passphrase, struct opened *out, struct error *err);
void opened_free(struct opened *opened);

/* An entry of the file: a new reference; and what it holds, or NULL. */
json_t *entry_seal(const char *name, int64_t version, const struct secret *key, const struct secret *value,
                   const char *changed);
struct secret *entry_open(const char *name, const json_t *entry, const struct secret *key);

#endif
