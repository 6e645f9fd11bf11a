/* A dead-letter folder on a disk of this machine. */
#include "pipeline/folder_private.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER_DEPTH_MAX 16
#define SETTLED_S 1      /* who writes a file in pieces is not done with it */
#define AHEAD_S 60       /* a clock of another machine may be so much before ours */
#define LEFT_S 600       /* who has not gone on by then does not */
#define WRITTEN_BYTES ((size_t)64 << 20)
#define WHICH_BYTES 5000

struct local_folder {
	struct folder base;
	char *retry;
};

static struct folder *local_open(const struct folder_setup *setup, struct error *err)
{
	struct local_folder *local = memory_zalloc(sizeof(*local));

	(void)err;
	local->base.ops = &folder_local;
	local->retry = path_join(setup->place, "retry");
	return &local->base;
}

static void local_close(struct folder *folder)
{
	struct local_folder *local = (struct local_folder *)folder;

	free(local->retry);
	free(local);
}

/*
 * Looking through
 */

struct walk {
	bool (*offer)(void *context, const struct folder_file *file);
	void *context;
	bool has_enough;
	struct error *err;
};

/* Names are used again by others: a file is known by what it is, too. */
static void offer_file(struct walk *walk, const char *path, const struct stat *st)
{
	char which[WHICH_BYTES];
	int64_t age_s = (int64_t)time(NULL) - (int64_t)st->st_mtime;
	struct folder_file file = { .name = path, .which = which, .size_bytes = (uint64_t)st->st_size, .is_left = age_s > LEFT_S };

	/* One from far ahead is from before the clock was put back. */
	if (age_s <= SETTLED_S && age_s >= -AHEAD_S)
		return;
	snprintf(which, sizeof(which), "%s %" PRIu64 " %" PRId64 " %" PRId64 ".%09ld", path, (uint64_t)st->st_ino, (int64_t)st->st_size,
	         (int64_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	walk->has_enough = !walk->offer(walk->context, &file);
}

static bool folder_walk(struct walk *walk, const char *path, unsigned depth)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool is_fine = true;

	if (!folder)
		return errno == ENOENT || fail_errno(walk->err, errno, "cannot look through '%s'", path);
	while (is_fine && !walk->has_enough && (entry = readdir(folder))) {
		char *inner;
		struct stat st;

		if (folder_passes_over(span_of(entry->d_name)))
			continue;
		inner = path_join(path, entry->d_name);
		/* One that goes while it is looked at has been taken by somebody else. */
		if (lstat(inner, &st) == 0 && S_ISDIR(st.st_mode) && depth < FOLDER_DEPTH_MAX)
			is_fine = folder_walk(walk, inner, depth + 1);
		else if (stat(inner, &st) == 0 && S_ISREG(st.st_mode))
			offer_file(walk, inner, &st);
		free(inner);
	}
	closedir(folder);
	return is_fine;
}

static bool local_list(struct folder *folder, bool (*offer)(void *, const struct folder_file *), void *context, struct error *err)
{
	struct walk walk = { .offer = offer, .context = context, .err = err };

	return folder_walk(&walk, ((struct local_folder *)folder)->retry, 0);
}

static void local_read_all(struct folder *folder, struct folder_file *files, size_t count)
{
	(void)folder;
	for (size_t i = 0; i < count; i++)
		files[i].is_done = file_read_no_link(files[i].name, FOLDER_FILE_BYTES_MAX, &files[i].content, &files[i].len, &files[i].failure);
}

static void local_remove_all(struct folder *folder, struct folder_file *files, size_t count)
{
	(void)folder;
	for (size_t i = 0; i < count; i++) {
		files[i].is_done = unlink(files[i].name) == 0 || errno == ENOENT;
		if (!files[i].is_done)
			fail_errno(&files[i].failure, errno, "cannot remove '%s'", files[i].name);
	}
}

/*
 * Placing
 */

/* A job's folder was changed meanwhile, to one on another disk. */
static bool copy_over(const char *scratch, const char *name, struct error *err)
{
	char *content;
	size_t len;
	bool is_fine = file_read(scratch, SIZE_MAX / 2, &content, &len, err);

	if (!is_fine)
		return false;
	is_fine = file_replace(name, span_make(content, len), err);
	free(content);
	if (is_fine)
		unlink(scratch);
	return is_fine;
}

static bool local_place(struct folder *folder, const struct folder_file *file, struct error *err)
{
	char *below = path_folder(file->name);
	bool is_fine = folder_make(below, err);

	(void)folder;
	free(below);
	if (!is_fine)
		return false;
	if (rename(file->scratch, file->name) != 0) {
		if (errno == EXDEV)
			return copy_over(file->scratch, file->name, err);
		if (errno != ENOENT)
			return fail_errno(err, errno, "cannot name '%s'", file->name);
	}
	return folder_sync_of(file->name, err);
}

const struct folder_ops folder_local = {
	.may_grow = true,
	.file_bytes = WRITTEN_BYTES,
	.open = local_open,
	.list = local_list,
	.read_all = local_read_all,
	.remove_all = local_remove_all,
	.place = local_place,
	.close = local_close,
};
