/* Guarded memory, and a process that is not dumpable while it has any. */
#include "base/secret.h"

#include "base/arena.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

struct secret {
	unsigned char *at; /* sodium_malloc */
	size_t len;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool has_unlocked;

static void harden_process(void)
{
	struct rlimit none = { 0 };

	if (sodium_init() < 0)
		abort();
	/* Either may be refused by a sandbox; the pages themselves are left out of core files all the same. */
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &none);
}

struct secret *secret_new(size_t len)
{
	struct secret *secret = memory_zalloc(sizeof(*secret));

	pthread_once(&once, harden_process);
	secret->at = sodium_malloc(len ? len : 1);
	if (!secret->at)
		abort();
	secret->len = len;
	/* sodium_malloc has tried it, and does not say how it went. */
	if (sodium_mlock(secret->at, len ? len : 1) != 0)
		atomic_store(&has_unlocked, true);
	memset(secret->at, 0, len ? len : 1);
	return secret;
}

struct secret *secret_take(void *bytes, size_t len)
{
	struct secret *secret = secret_new(len);

	if (len)
		memcpy(secret->at, bytes, len);
	sodium_memzero(bytes, len);
	return secret;
}

struct secret *secret_copy(const struct secret *secret)
{
	struct secret *copy = secret_new(secret->len);

	memcpy(copy->at, secret->at, secret->len);
	return copy;
}

static bool read_whole(int fd, unsigned char *at, size_t room, size_t *out_len, struct error *err)
{
	for (*out_len = 0; *out_len < room;) {
		ssize_t n = read(fd, at + *out_len, room - *out_len);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return fail_errno(err, errno, "cannot read the secret");
		if (n > 0)
			*out_len += (size_t)n;
	}
	return true;
}

struct secret *secret_read(int fd, size_t limit, struct error *err)
{
	struct secret *secret = secret_new(limit + 1);
	size_t len = 0;

	if (!read_whole(fd, secret->at, limit + 1, &len, err)) {
		secret_free(secret);
		return NULL;
	}
	if (len > limit) {
		secret_free(secret);
		fail(err, ERROR_USAGE, "secret_too_large", "a secret has at most %zu bytes", limit);
		return NULL;
	}
	secret_cut(secret, len);
	return secret;
}

void secret_free(struct secret *secret)
{
	if (!secret)
		return;
	sodium_free(secret->at);
	free(secret);
}

size_t secret_length(const struct secret *secret)
{
	return secret->len;
}

unsigned char *secret_bytes(struct secret *secret)
{
	return secret->at;
}

const unsigned char *secret_look(const struct secret *secret)
{
	return secret->at;
}

void secret_cut(struct secret *secret, size_t len)
{
	if (len >= secret->len)
		return;
	sodium_memzero(secret->at + len, secret->len - len);
	secret->len = len;
}

static _Thread_local bool wipes_copies;

void secret_copies_begin(void)
{
	wipes_copies = true;
}

void secret_copies_end(void)
{
	wipes_copies = false;
}

void secret_copies_free(void *bytes)
{
	if (bytes && wipes_copies)
		explicit_bzero(bytes, malloc_usable_size(bytes));
	free(bytes);
}

bool secrets_are_locked(void)
{
	return !atomic_load(&has_unlocked);
}
