/*
 * What a transaction writes into the log (-wal) goes there in large pieces: a layer
 * over SQLite's own files. SQLite writes each page as 24 bytes and the page; for a
 * file system that is two calls and three or four pieces of its cache a page, and
 * half of what a merge step costs in the kernel.
 *
 * Nobody reads a frame before its transaction has committed, but the connection that
 * wrote it. So frames may wait here from when the write lock is taken until
 *
 *  - the commit frame (the second number of its head is not 0) is written: all of it
 *    goes out then, and what fails is that write's failure;
 *  - the connection reads one of them back, or asks for a sync, or there is no more room;
 *  - the write lock is given back: what is left was rolled back, and must never be
 *    written, for the place may be another's by then.
 *
 * Behind the commit frame all goes straight through: SQLite may then write the
 * checksums of frames anew, each in its place.
 *
 * Who closes a file as its last connection removes the log, by its name. A log that
 * somebody has put there in the meantime, with a file that had been taken away, is not
 * ours to remove: it has what that file lacks.
 */
#include "store/store_private.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FRAME_HEAD_BYTES 24
#define WAITING_BYTES ((size_t)124 << 10) /* SQLite's files take less than 128 KiB at once */
#define WRITE_LOCK 0 /* SQLite's number of it */

/* A database or its log: which of them decides what is used. */
struct frames_file {
	sqlite3_file base;
	sqlite3_file *real;
	struct frames_file *log;   /* of a database, while it is open */
	struct frames_file *owner; /* of a log: its database; NULL: neither */
	uint64_t name_hash;        /* of a log, and */
	dev_t device;              /* which file it is; 0: nobody knows */
	ino_t number;
	bool may_wait;             /* of a log, as all below: a transaction writes and has not committed */
	bool is_last;              /* the head of its commit frame has been written */
	int failure;               /* of what had to wait: nothing more of this transaction is taken */
	unsigned char *bytes;
	size_t used;
	sqlite3_int64 at;
};

static struct {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
} frames;

static struct frames_file *mine(sqlite3_file *file)
{
	return (struct frames_file *)file;
}

static sqlite3_file *real_file(sqlite3_file *file)
{
	return mine(file)->real;
}

/*
 * What waits
 */

static int waiting_write(struct frames_file *log)
{
	size_t used = log->used;

	log->used = 0;
	if (used && !log->failure)
		log->failure = log->real->pMethods->xWrite(log->real, log->bytes, (int)used, log->at);
	return log->failure;
}

static void waiting_drop(struct frames_file *log)
{
	log->used = 0;
	log->may_wait = log->is_last = false;
	log->failure = SQLITE_OK;
}

static bool is_commit_head(const unsigned char *bytes, int count)
{
	static const unsigned char none[4];

	return count == FRAME_HEAD_BYTES && memcmp(bytes + 4, none, sizeof(none)) != 0;
}

static bool is_waiting(const struct frames_file *log, int count, sqlite3_int64 at)
{
	return log->used && at + count > log->at && at < log->at + (sqlite3_int64)log->used;
}

/* A transaction of one page needs no room. Elsewhere than behind what waits is a page that has been written before. */
static bool may_wait(struct frames_file *log, const unsigned char *bytes, int count, sqlite3_int64 at)
{
	sqlite3_int64 end = log->at + (sqlite3_int64)log->used;

	if (!log->may_wait || (size_t)count > WAITING_BYTES ||
	    (log->used ? at < log->at || at > end : is_commit_head(bytes, count)))
		return false;
	if (!log->bytes)
		log->bytes = malloc(WAITING_BYTES);
	return log->bytes != NULL;
}

static int straight_write(struct frames_file *log, const void *bytes, int count, sqlite3_int64 at)
{
	/* Behind a commit frame nothing is kept back. */
	log->may_wait = log->may_wait && !is_commit_head(bytes, count);
	if ((!log->may_wait || is_waiting(log, count, at)) && waiting_write(log))
		return log->failure;
	return log->failure ? log->failure : log->real->pMethods->xWrite(log->real, bytes, count, at);
}

static void waiting_put(struct frames_file *log, const void *bytes, size_t count, sqlite3_int64 at)
{
	size_t place;

	if (!log->used)
		log->at = at;
	place = (size_t)(at - log->at);
	memcpy(log->bytes + place, bytes, count);
	log->used = place + count > log->used ? place + count : log->used;
}

static int log_write(struct frames_file *log, const void *bytes, int count, sqlite3_int64 at)
{
	bool ends = log->is_last;

	if (!may_wait(log, bytes, count, at))
		return straight_write(log, bytes, count, at);
	if (log->used && (size_t)(at - log->at) + (size_t)count > WAITING_BYTES && waiting_write(log))
		return log->failure;
	waiting_put(log, bytes, (size_t)count, at);
	log->is_last = is_commit_head(bytes, count);
	if (!ends)
		return log->failure;
	log->may_wait = log->is_last = false;
	return waiting_write(log);
}

/*
 * A file's operations
 */

static int frames_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
	sqlite3_file *real = real_file(file);

	return mine(file)->owner ? log_write(mine(file), bytes, count, at) : real->pMethods->xWrite(real, bytes, count, at);
}

static int frames_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
	sqlite3_file *real = real_file(file);

	if (is_waiting(mine(file), count, at) && waiting_write(mine(file)))
		return mine(file)->failure;
	return real->pMethods->xRead(real, bytes, count, at);
}

static int frames_sync(sqlite3_file *file, int flags)
{
	sqlite3_file *real = real_file(file);
	int result = waiting_write(mine(file));

	return result ? result : real->pMethods->xSync(real, flags);
}

static int frames_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	sqlite3_file *real = real_file(file);
	int result = waiting_write(mine(file));

	return result ? result : real->pMethods->xTruncate(real, size);
}

static int frames_size(sqlite3_file *file, sqlite3_int64 *size)
{
	sqlite3_file *real = real_file(file);
	int result = waiting_write(mine(file));

	return result ? result : real->pMethods->xFileSize(real, size);
}

/* The log that this thread has closed last: what SQLite removes next is that one, or another of its name. */
static _Thread_local struct {
	uint64_t name_hash;
	dev_t device;
	ino_t number;
} closed;

static bool is_anothers(const char *name)
{
	struct stat there;

	return closed.number && closed.name_hash == hash_bytes(span_of(name)) && lstat(name, &there) == 0 &&
	       (there.st_ino != closed.number || there.st_dev != closed.device);
}

static int frames_delete(sqlite3_vfs *vfs, const char *name, int syncs)
{
	bool is_kept = is_anothers(name);

	(void)vfs;
	closed.number = 0;
	return is_kept ? SQLITE_OK : frames.real->xDelete(frames.real, name, syncs);
}

static int frames_close(sqlite3_file *file)
{
	sqlite3_file *real = real_file(file);

	if (mine(file)->owner) {
		closed.name_hash = mine(file)->name_hash;
		closed.device = mine(file)->device;
		closed.number = mine(file)->number;
		mine(file)->owner->log = NULL;
	}
	if (mine(file)->log)
		mine(file)->log->owner = NULL;
	free(mine(file)->bytes);
	return real->pMethods->xClose(real);
}

static int frames_shm_lock(sqlite3_file *file, int at, int count, int flags)
{
	sqlite3_file *real = real_file(file);
	struct frames_file *log = mine(file)->log;
	bool is_write = log && at == WRITE_LOCK && flags & SQLITE_SHM_EXCLUSIVE;
	int result;

	if (is_write)
		waiting_drop(log);
	result = real->pMethods->xShmLock(real, at, count, flags);
	/* More than this one at once is taken to recover, not to write. */
	if (is_write && result == SQLITE_OK)
		log->may_wait = flags & SQLITE_SHM_LOCK && count == 1;
	return result;
}

/*
 * Passed on as they are
 */

static int frames_lock(sqlite3_file *file, int level)
{
	return real_file(file)->pMethods->xLock(real_file(file), level);
}

static int frames_unlock(sqlite3_file *file, int level)
{
	return real_file(file)->pMethods->xUnlock(real_file(file), level);
}

static int frames_check_lock(sqlite3_file *file, int *is_reserved)
{
	return real_file(file)->pMethods->xCheckReservedLock(real_file(file), is_reserved);
}

static int frames_control(sqlite3_file *file, int wish, void *arg)
{
	return real_file(file)->pMethods->xFileControl(real_file(file), wish, arg);
}

static int frames_sector(sqlite3_file *file)
{
	return real_file(file)->pMethods->xSectorSize(real_file(file));
}

static int frames_traits(sqlite3_file *file)
{
	return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file));
}

static int frames_shm_map(sqlite3_file *file, int page, int size, int extends, void volatile **out)
{
	return real_file(file)->pMethods->xShmMap(real_file(file), page, size, extends, out);
}

static void frames_shm_barrier(sqlite3_file *file)
{
	real_file(file)->pMethods->xShmBarrier(real_file(file));
}

static int frames_shm_unmap(sqlite3_file *file, int removes)
{
	return real_file(file)->pMethods->xShmUnmap(real_file(file), removes);
}

/* Version 2: with shared memory, without mapped pages. */
static const sqlite3_io_methods methods = {
	2, frames_close, frames_read, frames_write, frames_truncate, frames_sync, frames_size, frames_lock, frames_unlock,
	frames_check_lock, frames_control, frames_sector, frames_traits, frames_shm_map, frames_shm_lock, frames_shm_barrier,
	frames_shm_unmap, NULL, NULL,
};

/* Files without shared memory (temporary ones, old journals) are none of ours. */
static void log_meet(struct frames_file *log, sqlite3_filename name)
{
	sqlite3_file *database = sqlite3_database_file_object(name);
	struct stat is;

	if (!database || database->pMethods != &methods)
		return;
	log->owner = mine(database);
	log->owner->log = log;
	log->name_hash = hash_bytes(span_of(name));
	if (lstat(name, &is) == 0) {
		log->device = is.st_dev;
		log->number = is.st_ino;
	}
}

static int frames_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags)
{
	struct frames_file *opened = mine(file);
	int result;

	(void)vfs;
	*opened = (struct frames_file){ .real = (sqlite3_file *)(opened + 1) };
	opened->real->pMethods = NULL;
	result = frames.real->xOpen(frames.real, name, opened->real, flags, out_flags);
	/* SQLite closes what has methods, also after a failure. */
	file->pMethods = opened->real->pMethods ? &methods : NULL;
	if (result == SQLITE_OK && flags & SQLITE_OPEN_WAL)
		log_meet(opened, name);
	return result;
}

void store_frames_prepare(void)
{
	frames.real = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;
	if (!frames.real)
		return; /* slower, but right */
	frames.vfs = *frames.real;
	frames.vfs.zName = STORE_FRAMES;
	frames.vfs.pNext = NULL;
	frames.vfs.szOsFile = (int)sizeof(struct frames_file) + frames.real->szOsFile;
	frames.vfs.xOpen = frames_open;
	frames.vfs.xDelete = frames_delete;
	sqlite3_vfs_register(&frames.vfs, 0);
}
