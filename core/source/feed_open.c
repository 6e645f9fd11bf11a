/*
 * Opening a feed: what is it, and is it still the file that the position is of?
 *
 * The identity is made once, when the feed is first seen, and handed on word for
 * word: letters are unique by it. It holds how many bytes of the head were hashed
 * (all of a file below 4 KiB), and exactly so many are hashed again, so a file
 * that grows stays itself. Device and inode are kept to be shown; they do not
 * decide, because a feed that was copied to another disk is still the same feed.
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "source/feed_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 4096

struct head {
	size_t bytes;
	char sha256[SHA256_TEXT_BYTES];
};

/* Hashes the first `bytes`; out->bytes is less where the file is shorter. */
static bool head_read(const struct feed *feed, size_t bytes, struct head *out, struct error *err)
{
	char head[HEAD_BYTES];
	unsigned char digest[SHA256_BYTES];
	size_t len = 0;

	while (len < bytes) {
		ssize_t n = pread(feed->window.fd, head + len, bytes - len, (off_t)len);

		if (n < 0 && errno != EINTR)
			return fail_errno(err, errno, "cannot read feed '%s'", feed->path);
		if (n == 0)
			break;
		if (n > 0)
			len += (size_t)n;
	}
	sha256(span_make(head, len), digest);
	sha256_text(digest, out->sha256);
	out->bytes = len;
	return true;
}

/* False: not an identity of a file (that of stdin, say). */
static bool head_parse(struct span identity, struct head *out)
{
	json_t *root = json_loadb(identity.at, identity.len, 0, NULL);
	json_t *bytes = json_object_get(root, "head_bytes");
	const char *sha = json_string_value(json_object_get(root, "head_sha256"));
	bool is_one = json_is_integer(bytes) && json_integer_value(bytes) >= 0 &&
	              json_integer_value(bytes) <= HEAD_BYTES && sha && strlen(sha) == SHA256_TEXT_BYTES - 1;

	if (is_one) {
		out->bytes = (size_t)json_integer_value(bytes);
		memcpy(out->sha256, sha, SHA256_TEXT_BYTES);
	}
	json_decref(root);
	return is_one;
}

/* One of a file that cannot be read any more must not pass for that of a stream: the feed would be read twice. */
static bool is_of_a_file(struct span identity)
{
	static const char *const members[] = { "\"device\":", "\"inode\":", "\"head_bytes\":" };

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (memmem(identity.at, identity.len, members[i], strlen(members[i])))
			return true;
	}
	return false;
}

static bool identity_make(struct feed *feed, const struct stat *st, struct error *err)
{
	struct head head;

	if (!head_read(feed, HEAD_BYTES, &head, err))
		return false;
	snprintf(feed->identity, sizeof(feed->identity),
	         "{\"device\":%" PRIu64 ",\"inode\":%" PRIu64 ",\"head_bytes\":%zu,\"head_sha256\":\"%s\"}",
	         (uint64_t)st->st_dev, (uint64_t)st->st_ino, head.bytes, head.sha256);
	return true;
}

/* A stream cannot be gone back to: each run is a source of its own. */
static bool identity_draw(struct feed *feed, struct error *err)
{
	unsigned char bytes[16];
	char text[2 * sizeof(bytes) + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return fail_errno(err, errno, "cannot draw an identity for '%s'", feed->path);
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	snprintf(feed->identity, sizeof(feed->identity), "{\"run\":\"%s\"}", text);
	return true;
}

/* Does the feed begin as it did? */
static bool head_holds(const struct feed *feed, const struct head *then, bool *out_holds, struct error *err)
{
	struct head now;

	if (!head_read(feed, then->bytes, &now, err))
		return false;
	*out_holds = now.bytes == then->bytes && strcmp(now.sha256, then->sha256) == 0;
	return true;
}

static bool changed(const struct feed *feed, struct error *err, const char *how)
{
	return fail(err, ERROR_CONFIG, "feed_changed",
	            "feed '%s' is not the one that was read before: %s; allowed: the old file, or --from-start",
	            feed->path, how);
}

/* A position in the middle of a line: the last one had no newline when it was read. */
static bool find_line_begin(struct feed *feed, struct error *err)
{
	char before = '\n';

	if (feed->offset && pread(feed->window.fd, &before, 1, (off_t)feed->offset - 1) < 0)
		return fail_errno(err, errno, "cannot read feed '%s'", feed->path);
	if (lseek(feed->window.fd, (off_t)feed->offset, SEEK_SET) < 0)
		return fail_errno(err, errno, "cannot read feed '%s' from byte %" PRIu64 " on", feed->path, feed->offset);
	feed->is_mid_line = before != '\n';
	return true;
}

static bool resume(struct feed *feed, const struct stat *st, const struct source_position *from, struct error *err)
{
	struct head then;
	bool holds;

	if (from->identity.len >= sizeof(feed->identity) || !head_parse(from->identity, &then)) {
		if (is_of_a_file(from->identity))
			return fail(err, ERROR_BUG, "state_damaged", "feed '%s': the position that was kept of it is damaged: %.*s",
			            feed->path, SPAN_ARG(from->identity));
		return identity_make(feed, st, err);
	}
	if (!head_holds(feed, &then, &holds, err))
		return false;
	/* Nothing was read of it, so nothing can be mixed up; but if it is the same, its letters are too. */
	if (from->offset == 0 && (!holds || then.bytes == 0))
		return identity_make(feed, st, err);
	if ((uint64_t)st->st_size < from->offset)
		return changed(feed, err, "it is shorter than what was read of it");
	if (!holds)
		return changed(feed, err, "its first bytes differ");
	memcpy(feed->identity, from->identity.at, from->identity.len);
	feed->identity[from->identity.len] = '\0';
	feed->offset = feed->read_offset = from->offset;
	feed->line = from->line;
	return find_line_begin(feed, err);
}

static bool open_path(struct feed *feed, struct error *err)
{
	/* O_NONBLOCK: opening a FIFO must not wait for its writer, pull does that. Ignored for files. */
	feed->window.fd = fd_open(feed->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (feed->window.fd >= 0)
		return true;
	if (errno == ENOENT || errno == ENOTDIR)
		return fail(err, ERROR_CONFIG, "no_such_file", "feed '%s' does not exist", feed->path);
	if (errno == ENXIO)
		return fail(err, ERROR_CONFIG, "not_a_file", "feed '%s' is a socket; allowed: a file, a FIFO or '-'",
		            feed->path);
	return fail_errno(err, errno, "cannot open feed '%s'", feed->path);
}

bool feed_attach(struct feed *feed, const struct source_position *from, struct error *err)
{
	bool is_stdin = strcmp(feed->path, "-") == 0;
	struct stat st;

	feed->window.fd = STDIN_FILENO;
	if (!is_stdin && !open_path(feed, err))
		return false;
	if (fstat(feed->window.fd, &st) != 0)
		return fail_errno(err, errno, "cannot look at feed '%s'", feed->path);
	if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode))
		return fail(err, ERROR_CONFIG, "not_a_file", "feed '%s' is a %s; allowed: a file, a FIFO or '-'",
		            feed->path, S_ISDIR(st.st_mode) ? "folder" : "device");
	/* Also `weir run < file`: what comes through stdin has no name that a later run could find it by. */
	feed->is_file = S_ISREG(st.st_mode) && !is_stdin;
	if (!feed->is_file)
		return identity_draw(feed, err);
	return from ? resume(feed, &st, from, err) : identity_make(feed, &st, err);
}
