/*
 * The journal's files: the one that grows, and older ones behind it, journal.jsonl.1 the newest of them. A file that is full
 * moves one place back; of the last place its lines are dropped, and a line that stays says which. Who reads goes back through
 * them as through one file.
 */
#include "engine/journal_private.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIME_CHARS 19 /* to the second */
#define ASIDE (-1)    /* the file that has left the row and is about to be removed */

/* Caller frees. */
static char *file_name(const struct journal *journal, int number)
{
	OWNED(text) name = text_new(8192);

	text_add(name, journal->path);
	if (number == ASIDE)
		text_add(name, ".dropped");
	else if (number)
		text_add_format(name, ".%d", number);
	return text_take(name);
}

static bool move_back(const struct journal *journal, int number)
{
	char *from = file_name(journal, number), *to = file_name(journal, number + 1);
	/* One that is missing leaves a gap; nothing depends on the row being whole. */
	bool is_fine = rename(from, to) == 0 || errno == ENOENT;

	free(from);
	free(to);
	return is_fine;
}

/* Of the first line of a file, "" if it has none. */
static void time_of_first(int fd, char out[TIME_CHARS + 1])
{
	static const char begin[] = "{\"time\":\"";
	char bytes[sizeof(begin) + TIME_CHARS + 1];
	ssize_t got = pread(fd, bytes, sizeof(begin) - 1 + TIME_CHARS, 0);

	out[0] = '\0';
	if (got != (ssize_t)sizeof(begin) - 1 + TIME_CHARS || memcmp(bytes, begin, sizeof(begin) - 1) != 0)
		return;
	memcpy(out, bytes + sizeof(begin) - 1, TIME_CHARS);
	out[TIME_CHARS] = '\0';
	/* It goes into a sentence: of a file that somebody has written into nothing else does. */
	if (strspn(out, "0123456789-:T") != TIME_CHARS)
		out[0] = '\0';
}

/* From when on there are lines without the last file, "an unknown moment" if none says. */
static void oldest_kept(const struct journal *journal, char out[TIME_CHARS + 1])
{
	out[0] = '\0';
	for (int number = journal->files - 2; number >= 0 && !*out; number--) {
		char *path = file_name(journal, number);
		int fd = fd_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

		if (fd >= 0) {
			time_of_first(fd, out);
			close(fd);
		}
		free(path);
	}
}

static bool say_locked(struct journal *journal, const char *code, const char *sentence, struct error *err)
{
	return journal_append_locked(journal, json_pack("{s:s, s:s, s:s, s:s}", "kind", "event", "who", "system", "code", code,
	                                                "text", sentence), err);
}

static bool say_dropped(struct journal *journal, struct error *err)
{
	char from[TIME_CHARS + 1], sentence[160];

	oldest_kept(journal, from);
	snprintf(sentence, sizeof(sentence), "lines before %s%s are dropped: the journal keeps %d files of %lld KiB",
	         *from ? from : "an unknown moment", *from ? "Z" : "", journal->files, (long long)journal->file_bytes / 1024);
	return say_locked(journal, "journal_trimmed", sentence, err);
}

/* Once, until it has been possible again. */
static bool say_stuck(struct journal *journal, const char *path, int why, struct error *err)
{
	struct error ignored = { 0 };
	OWNED(text) sentence = text_new(8192);

	fail_errno(err, why, "the last file of the journal '%s' cannot be dropped", path);
	text_add_format(sentence, "%s; the journal goes on growing", err->message);
	if (!journal->is_stuck_told)
		journal->is_stuck_told = say_locked(journal, err->code, sentence->at, &ignored);
	return false;
}

/* 0, also when there is none; else why not. */
static int set_aside(const char *path, const char *aside)
{
	struct stat info;

	if (lstat(path, &info) != 0)
		return errno == ENOENT ? 0 : errno;
	if (!S_ISREG(info.st_mode))
		return S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
	return rename(path, aside) == 0 ? 0 : errno;
}

/* Its lines are dropped when nobody reads the file any more: it leaves the row, that is said, and then it is removed. One that
 * still lies aside was left by a kill between two of these, perhaps without a word: it is said then, and once if it stays. */
static bool drop_last(struct journal *journal, struct error *err)
{
	char *path = file_name(journal, journal->files - 1), *aside = file_name(journal, ASIDE);
	bool is_last = access(path, F_OK) == 0, is_fine = true;
	int why = set_aside(path, aside);

	if (why)
		is_fine = say_stuck(journal, path, why, err);
	else if (is_last || (!journal->is_aside_told && access(aside, F_OK) == 0))
		is_fine = journal->is_aside_told = say_dropped(journal, err);
	if (is_fine) {
		journal->is_stuck_told = false;
		unlink(aside); /* what cannot be removed is overwritten by the next one */
	}
	free(path);
	free(aside);
	return is_fine;
}

static bool turn_locked(struct journal *journal, struct error *err)
{
	struct error ignored = { 0 };

	/* What was written is on the disk before its file moves: who syncs afterwards syncs the new one. */
	if (fdatasync(journal->fd) != 0 || !drop_last(journal, err))
		return false;
	for (int number = journal->files - 2; number >= 0; number--) {
		if (!move_back(journal, number))
			return false;
	}
	journal->turns++;
	folder_sync_of(journal->path, &ignored);
	return true;
}

/* A file that cannot be moved goes on growing, for no line is worth less than the limit; it is tried again when it has grown
 * by an eighth. */
bool journal_turn_locked(struct journal *journal, size_t more_bytes)
{
	struct error ignored = { 0 };
	struct stat info;
	int64_t size;
	bool has_turned;

	if (fstat(journal->fd, &info) != 0 || info.st_size == 0)
		return false;
	size = (int64_t)info.st_size + (int64_t)more_bytes;
	if (size <= journal->file_bytes || size <= journal->turn_again_bytes)
		return false;
	has_turned = turn_locked(journal, &ignored);
	journal->turn_again_bytes = has_turned ? 0 : size + journal->file_bytes / 8;
	return has_turned;
}

/* The file that was `number` when `turns` turns had been made. -1 with errno: there is none. */
int journal_open_older(struct journal *journal, uint64_t turns, int number)
{
	char *path;
	int fd = -1;

	pthread_mutex_lock(&journal->lock);
	number += (int)(journal->turns - turns);
	path = file_name(journal, number);
	errno = ENOENT;
	if (number < journal->files)
		fd = fd_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	pthread_mutex_unlock(&journal->lock);
	free(path);
	return fd;
}
