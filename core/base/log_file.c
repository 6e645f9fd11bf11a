/* The files of the log: weird.log, and weird.log.1 and so on behind it, each of a limited size. */
#include "base/log_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "weird.log"

static char *file_name(const struct log_file *file, int number)
{
	char name[32];

	if (number)
		snprintf(name, sizeof(name), FILE_NAME ".%d", number);
	else
		snprintf(name, sizeof(name), FILE_NAME);
	return path_join(file->folder, name);
}

void log_file_open(struct log_file *file)
{
	struct stat info;
	char *path;

	file->fd = -1;
	/* Only the last folder is made: a home that was deleted must not come back. */
	if (!file->folder || (mkdir(file->folder, 0700) != 0 && errno != EEXIST))
		return;
	path = file_name(file, 0);
	file->fd = fd_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW);
	file->size = file->fd >= 0 && fstat(file->fd, &info) == 0 ? (uint64_t)info.st_size : 0;
	free(path);
}

void log_file_close(struct log_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static void rotate(struct log_file *file)
{
	log_file_close(file);
	for (int i = file->count - 1; i > 0; i--) {
		char *from = file_name(file, i - 1);
		char *to = file_name(file, i);

		/* One that is missing leaves a gap; nothing depends on the row being whole. */
		rename(from, to);
		free(from);
		free(to);
	}
	/* With a single file there is nowhere to move it. */
	if (file->count <= 1) {
		char *path = file_name(file, 0);

		unlink(path);
		free(path);
	}
	log_file_open(file);
}

/* All or nothing: half a line of a full disk is taken back. */
static bool write_whole(struct log_file *file, struct span line)
{
	size_t put = fd_write_all(file->fd, line);

	if (put == line.len) {
		file->size += line.len;
		return true;
	}
	if (put > 0 && ftruncate(file->fd, (off_t)file->size) != 0)
		file->size += put;
	return false;
}

static void tell_unwritten(struct log_file *file)
{
	OWNED(text) line = text_new(LOG_LINE_MAX);
	struct log_field fields[] = { FIELD_INT("lines", (int64_t)file->unwritten), { NULL, NULL, 0 } };

	if (log_line_json(line, clock_utc_us(), LEVEL_WARN, "log", NULL, "lines could not be written to this file",
	                  fields) &&
	    text_add_char(line, '\n') && write_whole(file, text_span(line)))
		file->unwritten = 0;
}

void log_file_write(struct log_file *file, struct span line)
{
	if (file->fd < 0) {
		file->unwritten += file->folder != NULL;
		return;
	}
	if (file->size && file->size + line.len > file->most)
		rotate(file);
	if (file->unwritten && file->fd >= 0)
		tell_unwritten(file);
	if (file->unwritten || file->fd < 0 || !write_whole(file, line))
		file->unwritten++;
}

void log_file_tick(struct log_file *file)
{
	struct stat ours, there;
	char *path = file->folder ? file_name(file, 0) : NULL;
	bool is_there = path && file->fd >= 0 && fstat(file->fd, &ours) == 0 && lstat(path, &there) == 0 &&
	                ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;

	free(path);
	if (!file->folder || is_there)
		return;
	log_file_close(file);
	log_file_open(file);
}

static ssize_t read_tail(const char *path, size_t most, char *out, off_t *out_from)
{
	int fd = fd_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat info;
	ssize_t got = -1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) == 0) {
		*out_from = info.st_size > (off_t)most ? info.st_size - (off_t)most : 0;
		got = pread(fd, out, most, *out_from);
	}
	close(fd);
	return got;
}

char *log_file_tail(const struct log_file *file, size_t most, size_t *out_len)
{
	char *path = file->folder ? file_name(file, 0) : NULL;
	char *bytes = path ? memory_alloc(most + 1) : NULL;
	off_t from = 0;
	ssize_t got = path ? read_tail(path, most, bytes, &from) : -1;
	char *begin;

	free(path);
	if (got <= 0) {
		free(bytes);
		return NULL;
	}
	/* The first line may have lost its beginning. */
	begin = from ? memchr(bytes, '\n', (size_t)got) : NULL;
	if (begin) {
		got -= begin + 1 - bytes;
		memmove(bytes, begin + 1, (size_t)got);
	}
	*out_len = (size_t)got;
	return bytes;
}
