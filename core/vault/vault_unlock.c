/* The vault's passphrase: told to this process, and set anew. */
#include "vault/vault_private.h"

#include <string.h>

#define PASSPHRASE_BYTES_MIN 8

/* What the process knew before, until it is sure of something else. */
struct known {
	struct secret *key;
	unsigned char salt[SALT_BYTES];
};

static struct known known_take(struct vault *vault)
{
	struct known known = { .key = vault->passphrase_key };

	memcpy(known.salt, vault->salt, sizeof(known.salt));
	vault->passphrase_key = NULL;
	return known;
}

static void known_settle(struct vault *vault, struct known *known, bool keeps_new)
{
	if (keeps_new) {
		secret_free(known->key);
		return;
	}
	secret_free(vault->passphrase_key);
	vault->passphrase_key = known->key;
	memcpy(vault->salt, known->salt, sizeof(known->salt));
}

static bool try_passphrase(struct vault *vault, const json_t *seal, const struct secret *passphrase, struct error *err)
{
	struct known known = known_take(vault);
	struct secret *vault_key = NULL;
	struct error failure = { 0 };

	vault->passphrase_key = seal_passphrase_key(seal, passphrase, vault->salt, err);
	if (vault->passphrase_key && !(vault_key = seal_open(vault, seal, &failure)))
		fail(err, ERROR_ACCESS, "wrong_passphrase", "this passphrase does not open the vault");
	known_settle(vault, &known, vault_key != NULL);
	secret_free(vault_key);
	return vault_key != NULL;
}

static bool unlock(struct vault *vault, const struct secret *passphrase, struct error *err)
{
	bool is_missing, is_open = false;
	json_t *file = vault_file_read(vault->path, &is_missing, err);
	const json_t *seal = json_object_get(file, "seal");

	if (is_missing)
		fail(err, ERROR_CONFIG, "vault_empty", "there is no vault yet at '%.300s'", vault->path);
	else if (file)
		is_open = !seal_has_passphrase(seal) || try_passphrase(vault, seal, passphrase, err);
	json_decref(file);
	return is_open;
}

bool vault_unlock(struct vault *vault, const struct secret *passphrase, struct error *err)
{
	bool is_open;

	pthread_mutex_lock(&vault->lock);
	is_open = unlock(vault, passphrase, err);
	pthread_mutex_unlock(&vault->lock);
	return is_open;
}

/* Everything under the new key; false: an entry does not open under the old one. */
static bool seal_anew(const struct vault *vault, const struct opened *old, const struct opened *new, struct error *err)
{
	const char *name;
	json_t *entry;

	json_object_foreach(json_object_get(old->file, "secrets"), name, entry) {
		struct secret *value = entry_open(name, entry, old->key);

		if (!value)
			return fail(err, ERROR_BUG, "vault_damaged", "the secret '%.64s' in '%.200s' is damaged", name, vault->path);
		json_object_set_new(json_object_get(new->file, "secrets"), name,
		                    entry_seal(name, json_integer_value(json_object_get(entry, "version")), new->key, value,
		                               json_string_value(json_object_get(entry, "changed"))));
		secret_free(value);
	}
	return true;
}

static bool seal(struct vault *vault, const struct secret *passphrase, struct error *err)
{
	struct opened old = { 0 }, new = { 0 };
	bool is_missing, is_sealed = false;
	struct known known;

	if (opened_read(vault, &old, &is_missing, err) || is_missing) {
		known = known_take(vault);
		is_sealed = opened_make(vault, passphrase, &new, err) && (!old.file || seal_anew(vault, &old, &new, err)) &&
		            vault_file_write(vault->path, new.file, err);
		known_settle(vault, &known, is_sealed);
	}
	opened_free(&old);
	opened_free(&new);
	return is_sealed;
}

bool vault_seal(struct vault *vault, const struct secret *passphrase, struct error *err)
{
	bool is_sealed;

	if (passphrase && secret_length(passphrase) < PASSPHRASE_BYTES_MIN)
		return fail(err, ERROR_USAGE, "passphrase_too_short", "a passphrase has at least %d bytes", PASSPHRASE_BYTES_MIN);
	pthread_mutex_lock(&vault->lock);
	is_sealed = seal(vault, passphrase, err);
	pthread_mutex_unlock(&vault->lock);
	return is_sealed;
}
