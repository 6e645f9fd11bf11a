/* Whole files: read with a limit, replaced in one step. */
#include "base/file.h"

#include "base/arena.h"
#include "base/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ ((size_t)16384)

int fd_open(const char *path, int flags)
{
	int fd;

	do {
		fd = open(path, flags, 0600);
	} while (fd < 0 && errno == EINTR);
	return fd;
}

int fd_temporary(char *name)
{
	char *blank = name + strlen(name) - strlen("XXXXXX");
	int fd;

	do {
		memcpy(blank, "XXXXXX", strlen("XXXXXX"));
		fd = mkostemp(name, O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	return fd;
}

bool streams_hold(void)
{
	static const int ways[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", ways[fd]) != fd)
			return false;
	}
	return true;
}

/* The rest of `fd`, at most one byte more than `limit`, so that the caller sees
 * what is too large. Sizes of /proc files are not known before. */
static bool fd_read_all(int fd, size_t limit, char **out, size_t *out_len)
{
	size_t room = limit < FIRST_READ ? limit + 1 : FIRST_READ;
	char *bytes = memory_alloc(room + 1);
	size_t len = 0;

	while (len <= limit) {
		if (len == room) {
			room = room < limit / 2 ? room * 2 : limit + 1;
			bytes = memory_grow(bytes, room + 1);
		}

		ssize_t got = read(fd, bytes + len, room - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(bytes);
			return false;
		}
		if (got == 0)
			break;
		len += (size_t)got;
	}
	bytes[len] = '\0';
	*out = bytes;
	*out_len = len;
	return true;
}

static bool fail_open(const char *path, struct error *err)
{
	if (errno == ENOENT || errno == ENOTDIR)
		return fail(err, ERROR_CONFIG, "no_such_file", "cannot open '%s': there is no such file", path);
	return fail_errno(err, errno, "cannot open '%s'", path);
}

static bool is_plain_file(int fd, const char *path, struct error *err)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return fail_errno(err, errno, "cannot read '%s'", path);
	if (S_ISREG(info.st_mode))
		return true;
	return fail(err, ERROR_CONFIG, "not_a_file", "cannot read '%s': it is %s", path,
	            S_ISDIR(info.st_mode) ? "a folder" : "no plain file, but a FIFO, socket or device");
}

static bool read_whole(const char *path, int more_flags, size_t limit, char **out, size_t *out_len, struct error *err)
{
	/* A FIFO would be waited for, a device may act when it is opened. */
	int fd = fd_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | more_flags);
	char *bytes = NULL;
	size_t len = 0;

	if (fd < 0 && errno == ELOOP && (more_flags & O_NOFOLLOW))
		return fail(err, ERROR_CONFIG, "not_a_file", "cannot read '%s': it is a symbolic link, which is not followed there", path);
	if (fd < 0)
		return fail_open(path, err);
	if (!is_plain_file(fd, path, err)) {
		close(fd);
		return false;
	}
	if (!fd_read_all(fd, limit < SIZE_MAX / 2 ? limit : SIZE_MAX / 2, &bytes, &len)) {
		fail_errno(err, errno, "cannot read '%s'", path);
		close(fd);
		return false;
	}
	close(fd);
	if (len > limit) {
		free(bytes);
		return fail(err, ERROR_CONFIG, "file_too_large", "cannot read '%s': it is larger than %zu bytes",
		            path, limit);
	}
	*out = bytes;
	*out_len = len;
	return true;
}

bool file_read(const char *path, size_t limit, char **out, size_t *out_len, struct error *err)
{
	return read_whole(path, 0, limit, out, out_len, err);
}

bool file_read_no_link(const char *path, size_t limit, char **out, size_t *out_len, struct error *err)
{
	return read_whole(path, O_NOFOLLOW, limit, out, out_len, err);
}

size_t fd_write_all(int fd, struct span content)
{
	size_t done = 0;

	while (done < content.len) {
		ssize_t put = write(fd, content.at + done, content.len - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			break;
		done += (size_t)put;
	}
	return done;
}

/* Without this a crash of the machine may bring the old name back. */
bool folder_sync_of(const char *path, struct error *err)
{
	char *folder = path_folder(path);
	int fd = fd_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some network file systems cannot sync a folder and say EINVAL. */
	bool is_fine = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);

	if (!is_fine)
		fail_errno(err, errno, "cannot sync folder '%s'", folder);
	if (fd >= 0)
		close(fd);
	free(folder);
	return is_fine;
}

/* Puts content into the new file and gives it its name; the name `beside` is free afterwards. */
static bool file_move_in(int fd, char *beside, const char *path, struct span content, struct error *err)
{
	bool is_written = fd_write_all(fd, content) == content.len && fsync(fd) == 0;
	int why = errno;

	/* Some file systems report a full disk only here. */
	if (close(fd) != 0 && is_written) {
		is_written = false;
		why = errno;
	}
	if (!is_written) {
		unlink(beside);
		return fail_errno(err, why, "cannot write '%s'", path);
	}
	crash_point(job_file_written);
	if (rename(beside, path) != 0) {
		why = errno;
		unlink(beside);
		return fail_errno(err, why, "cannot replace '%s'", path);
	}
	return folder_sync_of(path, err);
}

bool file_replace(const char *path, struct span content, struct error *err)
{
	OWNED(text) beside = text_new(strlen(path) + 16);

	/* A name of its own each time: two writers never share a half-written file.
	 * The ending keeps it away from those who look for "*.json". */
	text_add(beside, path);
	text_add(beside, ".new-XXXXXX");

	int fd = fd_temporary(beside->at);

	if (fd < 0)
		return fail_errno(err, errno, "cannot write beside '%s'", path);
	return file_move_in(fd, beside->at, path, content, err);
}
