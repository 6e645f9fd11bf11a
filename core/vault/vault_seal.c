/* The seal around the vault key: by a key file or a passphrase. */
#include "vault/vault_private.h"

#include "base/file.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEAL_CONTEXT "weir vault key 1"
#define KEY_FILE_CONTEXT "weir key file 1"
#define KEY_FILE_BYTES_MAX 4096
#define KEY_FILE_BYTES_MIN 32
/* Argon2id: a third of a second on a small machine, and what it holds meanwhile. What a file may ask for is bounded: all
 * others wait for the vault as long. */
#define PASSPHRASE_OPERATIONS 3
#define PASSPHRASE_MEMORY (64u << 20)
#define PASSPHRASE_OPERATIONS_MAX 8
#define PASSPHRASE_MEMORY_MAX (256u << 20)

bool seal_has_passphrase(const json_t *seal)
{
	const char *by = json_string_value(json_object_get(seal, "by"));

	return by && strcmp(by, "passphrase") == 0;
}

static struct secret *hash_key_file(const struct secret *content)
{
	struct secret *key = secret_new(KEY_BYTES);

	/* Without a hash the key would be zeros. */
	if (crypto_generichash(secret_bytes(key), KEY_BYTES, secret_look(content), secret_length(content),
	                       (const unsigned char *)KEY_FILE_CONTEXT, strlen(KEY_FILE_CONTEXT)) != 0)
		abort();
	return key;
}

/* Whatever it holds is the key, from 32 bytes on: one that was made elsewhere will do. */
static struct secret *read_key_file(const char *path, struct error *err)
{
	struct secret *content = NULL, *key = NULL;
	int fd = vault_file_open(path, err);

	if (fd < 0)
		return NULL;
	if ((content = secret_read(fd, KEY_FILE_BYTES_MAX, err)) && secret_length(content) < KEY_FILE_BYTES_MIN)
		fail(err, ERROR_CONFIG, "vault_key_missing", "the key file '%s' has fewer than %d bytes", path, KEY_FILE_BYTES_MIN);
	else if (content)
		key = hash_key_file(content);
	close(fd);
	secret_free(content);
	return key;
}

static bool write_all(int fd, const char *at, size_t len)
{
	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno != EINTR)
			return false;
		at += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) == 0;
}

/* 32 random bytes as base64. A half-written one goes, so that the next try makes it. */
static bool make_key_file(const char *path, struct error *err)
{
	unsigned char bytes[32];
	char text[64];
	size_t len;
	bool is_written;
	int fd = fd_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return fail_errno(err, errno, "cannot make the key file '%s'", path);
	randombytes_buf(bytes, sizeof(bytes));
	len = base64_encode(span_make((const char *)bytes, sizeof(bytes)), text);
	text[len++] = '\n';
	/* Its folder too: a vault that lasts longer than its key would be lost. */
	is_written = (write_all(fd, text, len) || fail_errno(err, errno, "cannot write the key file '%s'", path)) &&
	             folder_sync_of(path, err);
	sodium_memzero(bytes, sizeof(bytes));
	sodium_memzero(text, sizeof(text));
	close(fd);
	if (!is_written)
		unlink(path);
	return is_written;
}

static bool read_figures(const json_t *seal, unsigned char salt[SALT_BYTES], unsigned long long *out_operations,
                         size_t *out_memory)
{
	json_int_t operations = json_integer_value(json_object_get(seal, "operations"));
	json_int_t memory = json_integer_value(json_object_get(seal, "memory_bytes"));
	size_t len = SALT_BYTES;

	if (operations < 1 || operations > PASSPHRASE_OPERATIONS_MAX || memory < (json_int_t)crypto_pwhash_MEMLIMIT_MIN ||
	    memory > PASSPHRASE_MEMORY_MAX || !member_bytes(seal, "salt", salt, &len) || len != SALT_BYTES)
		return false;
	*out_operations = (unsigned long long)operations;
	*out_memory = (size_t)memory;
	return true;
}

struct secret *seal_passphrase_key(const json_t *seal, const struct secret *passphrase, unsigned char salt[SALT_BYTES],
                                   struct error *err)
{
	unsigned long long operations;
	struct secret *key;
	size_t memory;

	if (!read_figures(seal, salt, &operations, &memory)) {
		fail(err, ERROR_BUG, "vault_damaged", "the seal of the vault is damaged");
		return NULL;
	}
	key = secret_new(KEY_BYTES);
	if (crypto_pwhash(secret_bytes(key), KEY_BYTES, (const char *)secret_look(passphrase), secret_length(passphrase), salt,
	                  operations, memory, crypto_pwhash_ALG_ARGON2ID13) == 0)
		return key;
	secret_free(key);
	fail(err, ERROR_TRANSIENT, "no_memory", "the passphrase needs %zu MiB of memory for a moment", memory >> 20);
	return NULL;
}

static struct secret *sealing_key(struct vault *vault, const json_t *seal, struct error *err)
{
	unsigned char salt[SALT_BYTES];
	size_t len = sizeof(salt);

	if (!seal_has_passphrase(seal)) {
		if (access(vault->key_path, F_OK) == 0 || errno != ENOENT)
			return read_key_file(vault->key_path, err);
		fail(err, ERROR_CONFIG, "vault_key_missing", "the key file '%s' of the vault is missing", vault->key_path);
		return NULL;
	}
	if (!vault->passphrase_key || !member_bytes(seal, "salt", salt, &len) || len != sizeof(salt) ||
	    memcmp(salt, vault->salt, sizeof(salt)) != 0) {
		fail(err, ERROR_ACCESS, "vault_locked", "the vault is locked: its passphrase was not told to this engine");
		return NULL;
	}
	return secret_copy(vault->passphrase_key);
}

struct secret *seal_open(struct vault *vault, const json_t *seal, struct error *err)
{
	struct secret *key = sealing_key(vault, seal, err), *vault_key;

	if (!key)
		return NULL;
	vault_key = box_open(seal, key, SEAL_CONTEXT);
	secret_free(key);
	if (vault_key && secret_length(vault_key) == KEY_BYTES)
		return vault_key;
	secret_free(vault_key);
	fail(err, ERROR_CONFIG, "vault_damaged", seal_has_passphrase(seal) ? "the seal of the vault is damaged"
	     : "the key file does not open the vault: one of the two is damaged, or another's");
	return NULL;
}

static json_t *passphrase_seal(struct vault *vault, const struct secret *passphrase, struct error *err)
{
	unsigned char salt[SALT_BYTES];
	struct secret *key;
	json_t *seal;

	randombytes_buf(salt, sizeof(salt));
	seal = json_pack("{s:s, s:i, s:I}", "by", "passphrase", "operations", PASSPHRASE_OPERATIONS, "memory_bytes",
	                 (json_int_t)PASSPHRASE_MEMORY);
	set_member_bytes(seal, "salt", salt, sizeof(salt));
	key = seal_passphrase_key(seal, passphrase, salt, err);
	if (!key) {
		json_decref(seal);
		return NULL;
	}
	vault->passphrase_key = key;
	memcpy(vault->salt, salt, sizeof(salt));
	return seal;
}

json_t *seal_make(struct vault *vault, const struct secret *passphrase, const struct secret *vault_key,
                  struct error *err)
{
	struct secret *key;
	json_t *seal = NULL;

	if (passphrase)
		seal = passphrase_seal(vault, passphrase, err);
	else if ((access(vault->key_path, F_OK) == 0 || errno != ENOENT) || make_key_file(vault->key_path, err))
		seal = json_pack("{s:s}", "by", "key_file");
	key = seal ? sealing_key(vault, seal, err) : NULL;
	if (!key) {
		json_decref(seal);
		return NULL;
	}
	box_seal(seal, key, SEAL_CONTEXT, vault_key);
	secret_free(key);
	return seal;
}
