/* The vault's file, and the boxes in it. */
#include "vault/vault_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONCE_BYTES crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG_BYTES crypto_aead_xchacha20poly1305_ietf_ABYTES

static bool is_private(const struct stat *info, const char *path, struct error *err)
{
	if (!S_ISREG(info->st_mode))
		return fail(err, ERROR_CONFIG, "not_a_file", "'%s' is no regular file", path);
	if (info->st_uid != geteuid() && info->st_uid != 0)
		return fail(err, ERROR_ACCESS, "vault_exposed", "'%s' belongs to another user", path);
	if (info->st_mode & 077)
		return fail(err, ERROR_ACCESS, "vault_exposed", "'%s' has mode %04o, only 0600 is allowed", path,
		            (unsigned)(info->st_mode & 07777));
	return true;
}

bool vault_file_is_private(const char *path, struct error *err)
{
	struct stat info;

	if (lstat(path, &info) != 0)
		return fail_errno(err, errno, "cannot look at '%s'", path);
	return is_private(&info, path, err);
}

/* What is looked at once it is open cannot be another file by then. */
int vault_file_open(const char *path, struct error *err)
{
	int fd = vault_file_is_private(path, err) ? fd_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK) : -2;
	struct stat info;

	if (fd == -1)
		fail_errno(err, errno, "cannot open '%s'", path);
	if (fd < 0 || (fstat(fd, &info) == 0 && is_private(&info, path, err)))
		return fd < 0 ? -1 : fd;
	close(fd);
	return -1;
}

static bool entry_is_fine(const json_t *entry)
{
	const json_t *version = json_object_get(entry, "version"), *changed = json_object_get(entry, "changed");

	return json_is_integer(version) && json_integer_value(version) >= 1 && json_integer_value(version) <= VERSION_MAX &&
	       json_is_string(changed) && json_string_length(changed) < CLOCK_TEXT_BYTES &&
	       json_is_string(json_object_get(entry, "nonce")) && json_is_string(json_object_get(entry, "box"));
}

static bool check_shape(const json_t *file, const char *path, struct error *err)
{
	const json_t *format = json_object_get(file, "format"), *secrets = json_object_get(file, "secrets");
	const char *name;
	json_t *entry;

	if (json_integer_value(format) > VAULT_FORMAT)
		return fail(err, ERROR_CONFIG, "state_too_new", "'%s' has format %lld, this program knows up to %d", path,
		            (long long)json_integer_value(format), VAULT_FORMAT);
	if (json_integer_value(format) != VAULT_FORMAT || !json_is_object(secrets) ||
	    !json_is_object(json_object_get(file, "seal")))
		return fail(err, ERROR_BUG, "vault_damaged", "'%s' is no vault", path);
	json_object_foreach((json_t *)secrets, name, entry) {
		if (!vault_name_is_fine(name, NULL) || !entry_is_fine(entry))
			return fail(err, ERROR_BUG, "vault_damaged", "an entry of '%s' is damaged: '%.64s'", path, name);
	}
	return true;
}

json_t *vault_file_read(const char *path, bool *out_is_missing, struct error *err)
{
	json_error_t where;
	json_t *file;
	char *text;
	size_t len;

	*out_is_missing = access(path, F_OK) != 0 && errno == ENOENT;
	if (*out_is_missing || !vault_file_is_private(path, err) || !file_read(path, VAULT_BYTES_MAX, &text, &len, err))
		return NULL;
	file = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
	free(text);
	if (!file)
		fail(err, ERROR_BUG, "vault_damaged", "'%s' is no JSON: line %d: %.200s", path, where.line, where.text);
	else if (check_shape(file, path, err))
		return file;
	json_decref(file);
	return NULL;
}

bool vault_file_write(const char *path, const json_t *file, struct error *err)
{
	char *text = json_dumps(file, JSON_INDENT(1) | JSON_SORT_KEYS);
	size_t len = text ? strlen(text) : 0;
	bool is_written;

	if (!text || len > VAULT_BYTES_MAX)
		is_written = fail(err, ERROR_USAGE, "vault_full", "the vault would have more than %u bytes", VAULT_BYTES_MAX);
	else
		is_written = file_replace(path, span_make(text, len), err);
	free(text);
	return is_written;
}

bool member_bytes(const json_t *holder, const char *name, unsigned char *out, size_t *out_len)
{
	const json_t *value = json_object_get(holder, name);
	size_t room = *out_len, len = json_string_length(value);
	char *bytes;
	bool is_fine;

	if (!json_is_string(value) || len > VAULT_BYTES_MAX)
		return false;
	bytes = memory_alloc(len + 4);
	is_fine = base64_decode(span_make(json_string_value(value), len), bytes, &len) && len <= room;
	if (is_fine) {
		memcpy(out, bytes, len);
		*out_len = len;
	}
	free(bytes);
	return is_fine;
}

void set_member_bytes(json_t *holder, const char *name, const unsigned char *bytes, size_t len)
{
	char *text = memory_alloc(base64_room(len) + 1);
	size_t used = base64_encode(span_make((const char *)bytes, len), text);

	json_object_set_new(holder, name, json_stringn(text, used));
	free(text);
}

void box_seal(json_t *holder, const struct secret *key, const char *context, const struct secret *value)
{
	unsigned char nonce[NONCE_BYTES];
	size_t len = secret_length(value);
	unsigned char *box = memory_alloc(len + TAG_BYTES);
	unsigned long long sealed = 0;

	randombytes_buf(nonce, sizeof(nonce));
	crypto_aead_xchacha20poly1305_ietf_encrypt(box, &sealed, secret_look(value), len, (const unsigned char *)context,
	                                           strlen(context), NULL, nonce, secret_look(key));
	set_member_bytes(holder, "nonce", nonce, sizeof(nonce));
	set_member_bytes(holder, "box", box, (size_t)sealed);
	free(box);
}

static struct secret *open_bytes(const unsigned char *box, size_t len, const unsigned char nonce[NONCE_BYTES],
                                 const struct secret *key, const char *context)
{
	struct secret *value = secret_new(len - TAG_BYTES);
	unsigned long long opened = 0;

	if (crypto_aead_xchacha20poly1305_ietf_decrypt(secret_bytes(value), &opened, NULL, box, len,
	                                               (const unsigned char *)context, strlen(context), nonce,
	                                               secret_look(key)) == 0)
		return value;
	secret_free(value);
	return NULL;
}

struct secret *box_open(const json_t *holder, const struct secret *key, const char *context)
{
	unsigned char nonce[NONCE_BYTES];
	size_t nonce_len = sizeof(nonce), len = SECRET_BYTES_MAX + TAG_BYTES;
	unsigned char *box = memory_alloc(len);
	struct secret *value = NULL;

	if (member_bytes(holder, "nonce", nonce, &nonce_len) && nonce_len == sizeof(nonce) &&
	    member_bytes(holder, "box", box, &len) && len >= TAG_BYTES)
		value = open_bytes(box, len, nonce, key, context);
	free(box);
	return value;
}
