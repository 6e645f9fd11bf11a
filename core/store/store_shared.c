/*
 * Which files this process has open and has found sound. SQLite knows it too, for its
 * locks, and does not tell. One engine has a home to itself, so nobody else is at work
 * on its files.
 */
#include "store/store_private.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

struct shared_file {
	struct shared_file *next;
	const struct store *by;
	dev_t device;
	ino_t inode;
};

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct shared_file *files;

/* The name may be another file's by now: what counts is which one it leads to. */
static bool file_of(const struct store *store, struct stat *out)
{
	const char *name = sqlite3_db_filename(store->db, "main");

	return name && stat(name, out) == 0;
}

void store_share(const struct store *store)
{
	struct shared_file *file;
	struct stat st;

	if (!file_of(store, &st))
		return;
	file = memory_alloc(sizeof(*file));
	*file = (struct shared_file){ .by = store, .device = st.st_dev, .inode = st.st_ino };
	pthread_mutex_lock(&files_lock);
	file->next = files;
	files = file;
	pthread_mutex_unlock(&files_lock);
}

void store_unshare(const struct store *store)
{
	struct shared_file **link = &files, *file;

	pthread_mutex_lock(&files_lock);
	while (*link && (*link)->by != store)
		link = &(*link)->next;
	file = *link;
	if (file)
		*link = file->next;
	pthread_mutex_unlock(&files_lock);
	free(file);
}

bool store_is_shared(const struct store *store)
{
	const struct shared_file *file;
	struct stat st;

	if (!file_of(store, &st))
		return false;
	pthread_mutex_lock(&files_lock);
	for (file = files; file; file = file->next) {
		if (file->device == st.st_dev && file->inode == st.st_ino)
			break;
	}
	pthread_mutex_unlock(&files_lock);
	return file != NULL;
}
