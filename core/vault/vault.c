/* The vault: put, get, delete, look; one at a time. */
#include "vault/vault_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_names[] = {
	[VAULT_NONE] = "empty", [VAULT_OPEN] = "open", [VAULT_LOCKED] = "locked", [VAULT_BROKEN] = "broken",
};

const char *vault_state_name(enum vault_state state)
{
	return state_names[state];
}

struct vault *vault_new(const char *path, const char *key_path)
{
	struct vault *vault = memory_zalloc(sizeof(*vault));

	vault->path = memory_string(path);
	vault->key_path = memory_string(key_path);
	pthread_mutex_init(&vault->lock, NULL);
	return vault;
}

void vault_free(struct vault *vault)
{
	if (!vault)
		return;
	secret_free(vault->passphrase_key);
	pthread_mutex_destroy(&vault->lock);
	free(vault->path);
	free(vault->key_path);
	free(vault);
}

bool vault_name_is_fine(const char *name, struct error *err)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
	size_t len = strlen(name);

	if (len && len <= VAULT_NAME_MAX && strspn(name, allowed) == len && !strchr("_.-", *name))
		return true;
	return fail(err, ERROR_USAGE, "bad_secret_name",
	            "'%.80s' is no name of a secret: 1 to %d letters, digits, '_', '.' and '-', the first a letter or digit", name,
	            VAULT_NAME_MAX);
}

/* What a box is sealed with beside its key: nothing else opens where this was. */
static void context_of(const char *name, int64_t version, char out[CONTEXT_BYTES])
{
	snprintf(out, CONTEXT_BYTES, "weir secret 1 %lld %s", (long long)version, name);
}

static int64_t version_of(const json_t *entry)
{
	return json_integer_value(json_object_get(entry, "version"));
}

void opened_free(struct opened *opened)
{
	json_decref(opened->file);
	secret_free(opened->key);
}

bool opened_make(struct vault *vault, const struct secret *passphrase, struct opened *out, struct error *err)
{
	json_t *seal;

	out->key = secret_new(KEY_BYTES);
	randombytes_buf(secret_bytes(out->key), KEY_BYTES);
	seal = seal_make(vault, passphrase, out->key, err);
	if (seal)
		out->file = json_pack("{s:i, s:o, s:{}}", "format", VAULT_FORMAT, "seal", seal, "secrets");
	return seal != NULL;
}

bool opened_read(struct vault *vault, struct opened *out, bool *out_is_missing, struct error *err)
{
	out->file = vault_file_read(vault->path, out_is_missing, err);
	if (out->file)
		out->key = seal_open(vault, json_object_get(out->file, "seal"), err);
	return out->key != NULL;
}

static bool open_or_make(struct vault *vault, struct opened *out, struct error *err)
{
	bool is_missing;

	return opened_read(vault, out, &is_missing, err) || (is_missing && opened_make(vault, NULL, out, err));
}

static bool is_worth_keeping(const struct secret *value, struct error *err)
{
	if (!secret_length(value))
		return fail(err, ERROR_USAGE, "secret_empty", "the secret has no bytes");
	if (secret_length(value) > SECRET_BYTES_MAX)
		return fail(err, ERROR_USAGE, "secret_too_large", "a secret has at most %d bytes", SECRET_BYTES_MAX);
	return true;
}

json_t *entry_seal(const char *name, int64_t version, const struct secret *key, const struct secret *value,
                   const char *changed)
{
	json_t *entry = json_pack("{s:I, s:s}", "version", (json_int_t)version, "changed", changed);
	char context[CONTEXT_BYTES];

	context_of(name, version, context);
	box_seal(entry, key, context, value);
	return entry;
}

struct secret *entry_open(const char *name, const json_t *entry, const struct secret *key)
{
	char context[CONTEXT_BYTES];

	context_of(name, version_of(entry), context);
	return box_open(entry, key, context);
}

/* Room for one more version, and, if it is a new one, for one more secret. */
static bool has_room(const json_t *secrets, const char *name, struct error *err)
{
	const json_t *entry = json_object_get(secrets, name);

	if (!entry && json_object_size(secrets) >= VAULT_SECRETS_MAX)
		return fail(err, ERROR_USAGE, "vault_full", "the vault holds %d secrets, which is all it can", VAULT_SECRETS_MAX);
	if (version_of(entry) >= VERSION_MAX)
		return fail(err, ERROR_USAGE, "vault_full", "the secret '%.64s' has the last version there can be", name);
	return true;
}

static bool put(struct vault *vault, const char *name, const struct secret *value, int64_t *out_version,
                struct error *err)
{
	struct opened opened = { 0 };
	char now[CLOCK_TEXT_BYTES];
	json_t *secrets;
	bool is_put;

	if (!open_or_make(vault, &opened, err)) {
		opened_free(&opened);
		return false;
	}
	clock_text(clock_utc_us(), now);
	secrets = json_object_get(opened.file, "secrets");
	is_put = has_room(secrets, name, err);
	if (is_put) {
		*out_version = version_of(json_object_get(secrets, name)) + 1;
		json_object_set_new(secrets, name, entry_seal(name, *out_version, opened.key, value, now));
		is_put = vault_file_write(vault->path, opened.file, err);
	}
	opened_free(&opened);
	return is_put;
}

bool vault_put(struct vault *vault, const char *name, const struct secret *value, int64_t *out_version,
               struct error *err)
{
	bool is_put;

	if (!vault_name_is_fine(name, err) || !is_worth_keeping(value, err))
		return false;
	pthread_mutex_lock(&vault->lock);
	is_put = put(vault, name, value, out_version, err);
	pthread_mutex_unlock(&vault->lock);
	return is_put;
}

static bool unknown(const char *name, struct error *err)
{
	return fail(err, ERROR_CONFIG, "secret_unknown", "the vault has no secret '%.64s'", name);
}

static struct secret *get(struct vault *vault, const char *name, struct error *err)
{
	struct opened opened = { 0 };
	struct secret *value = NULL;
	const json_t *entry;
	bool is_missing;

	if (opened_read(vault, &opened, &is_missing, err)) {
		entry = json_object_get(json_object_get(opened.file, "secrets"), name);
		if (!entry)
			unknown(name, err);
		else if (!(value = entry_open(name, entry, opened.key)))
			fail(err, ERROR_BUG, "vault_damaged", "the secret '%.64s' in '%.200s' is damaged, or was put there by somebody else",
			     name, vault->path);
	} else if (is_missing) {
		unknown(name, err);
	}
	opened_free(&opened);
	return value;
}

struct secret *vault_get(struct vault *vault, const char *name, struct error *err)
{
	struct secret *value;

	pthread_mutex_lock(&vault->lock);
	value = get(vault, name, err);
	pthread_mutex_unlock(&vault->lock);
	return value;
}

static bool delete(struct vault *vault, const char *name, struct error *err)
{
	bool is_missing, is_deleted = false;
	json_t *file = vault_file_read(vault->path, &is_missing, err);

	if (is_missing || (file && json_object_del(json_object_get(file, "secrets"), name) != 0))
		unknown(name, err);
	else if (file)
		is_deleted = vault_file_write(vault->path, file, err);
	json_decref(file);
	return is_deleted;
}

bool vault_delete(struct vault *vault, const char *name, struct error *err)
{
	bool is_deleted;

	pthread_mutex_lock(&vault->lock);
	is_deleted = delete(vault, name, err);
	pthread_mutex_unlock(&vault->lock);
	return is_deleted;
}

static json_t *list_secrets(const json_t *file)
{
	json_t *list = json_array(), *entry;
	const char *name;

	/* The file is written sorted, and jansson keeps the order. */
	json_object_foreach(json_object_get(file, "secrets"), name, entry)
		json_array_append_new(list, json_pack("{s:s, s:O, s:O}", "secret", name, "version", json_object_get(entry, "version"),
		                                      "changed", json_object_get(entry, "changed")));
	return list;
}

static void look(struct vault *vault, struct vault_facts *out, struct error *why)
{
	bool is_missing;
	json_t *file = vault_file_read(vault->path, &is_missing, why);
	struct secret *key;

	*out = (struct vault_facts){ .state = is_missing ? VAULT_NONE : VAULT_BROKEN };
	if (!file) {
		out->secrets = is_missing ? json_array() : NULL;
		return;
	}
	out->has_passphrase = seal_has_passphrase(json_object_get(file, "seal"));
	out->secrets = list_secrets(file);
	key = seal_open(vault, json_object_get(file, "seal"), why);
	if (key)
		out->state = VAULT_OPEN;
	else if (strcmp(why->code, "vault_locked") == 0)
		out->state = VAULT_LOCKED;
	secret_free(key);
	json_decref(file);
}

void vault_look(struct vault *vault, struct vault_facts *out, struct error *why)
{
	pthread_mutex_lock(&vault->lock);
	look(vault, out, why);
	pthread_mutex_unlock(&vault->lock);
}
