/*
 * A line beyond maxRecordBytes: it goes through to a file named by its SHA-256 in
 * pieces and is never held. One reader per job, so one name for the unfinished
 * file is enough, and a crash leaves at most that one behind.
 */
#include "base/arena.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/hash.h"
#include "source/feed_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define UNFINISHED "unfinished"

struct big_line {
	char *folder;
	char *path; /* while unfinished */
	int fd;
	uint64_t size;
	crypto_hash_sha256_state hash;
	size_t head_len;
	char head[FEED_BIG_HEAD_BYTES];
};

struct big_line *big_line_open(const char *folder, struct error *err)
{
	struct big_line *big;

	if (!folder_make_last(folder, err))
		return NULL;
	big = memory_zalloc(sizeof(*big));
	big->folder = memory_string(folder);
	big->path = path_join(folder, UNFINISHED);
	crypto_hash_sha256_init(&big->hash);
	big->fd = fd_open(big->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
	if (big->fd >= 0)
		return big;
	fail_errno(err, errno, "cannot make '%s' for a line that is too long", big->path);
	big_line_free(big);
	return NULL;
}

static bool write_all(struct big_line *big, struct span piece, struct error *err)
{
	return fd_write_all(big->fd, piece) == piece.len || fail_errno(err, errno, "cannot write '%s'", big->path);
}

bool big_line_add(struct big_line *big, struct span piece, struct error *err)
{
	size_t room = sizeof(big->head) - big->head_len;
	size_t n = piece.len < room ? piece.len : room;

	if (piece.len == 0)
		return true;
	memcpy(big->head + big->head_len, piece.at, n);
	big->head_len += n;
	big->size += piece.len;
	crypto_hash_sha256_update(&big->hash, (const unsigned char *)piece.at, piece.len);
	return write_all(big, piece, err);
}

static bool sync_folder(const char *folder, struct error *err)
{
	int fd = fd_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_fine = fd >= 0 && fsync(fd) == 0;
	int error_number = errno;

	if (fd >= 0)
		close(fd);
	return is_fine || fail_errno(err, error_number, "cannot sync folder '%s'", folder);
}

static bool settle(struct big_line *big, const char *name, struct error *err)
{
	char *path = path_join(big->folder, name);
	bool is_fine = true;

	if (fsync(big->fd) != 0 || rename(big->path, path) != 0)
		is_fine = fail_errno(err, errno, "cannot store a line that is too long as '%s'", path);
	free(path);
	if (!is_fine)
		return false;
	free(big->path);
	big->path = NULL;
	return sync_folder(big->folder, err);
}

bool big_line_keep(struct big_line *big, struct arena *arena, struct message *message, struct error *err)
{
	crypto_hash_sha256_state hash = big->hash; /* a repeated try needs the first one again */
	unsigned char digest[SHA256_BYTES];
	struct big_body body = { .size = big->size };
	struct big_body *kept;

	crypto_hash_sha256_final(&hash, digest);
	sha256_text(digest, body.sha256);
	if (!settle(big, body.sha256, err))
		return false;
	crash_point(big_line_stored);
	kept = arena_alloc(arena, sizeof(*kept));
	*kept = body;
	message->big = kept;
	message->body = arena_copy(arena, span_make(big->head, big->head_len));
	return true;
}

/* Follows brackets outside of strings; 0 at the end: everything that was opened is closed. */
struct balance {
	int64_t depth;
	bool in_string, is_escaped;
};

static void balance_byte(struct balance *b, char c)
{
	if (b->is_escaped)
		b->is_escaped = false;
	else if (b->in_string && c == '\\')
		b->is_escaped = true;
	else if (c == '"')
		b->in_string = !b->in_string;
	else if (!b->in_string && (c == '{' || c == '['))
		b->depth++;
	else if (!b->in_string && (c == '}' || c == ']'))
		b->depth--;
}

bool big_line_is_whole(struct big_line *big)
{
	struct balance balance = { 0 };
	char piece[16384];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(big->fd, piece, sizeof(piece), at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			balance_byte(&balance, piece[i]);
		at += n;
	}
	return n == 0 && balance.depth == 0 && !balance.in_string;
}

uint64_t big_line_size(const struct big_line *big)
{
	return big->size;
}

void big_line_free(struct big_line *big)
{
	if (!big)
		return;
	if (big->fd >= 0)
		close(big->fd);
	if (big->path && big->fd >= 0)
		unlink(big->path);
	free(big->path);
	free(big->folder);
	free(big);
}
