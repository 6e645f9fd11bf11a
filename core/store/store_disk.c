/*
 * A disk that fails where a test wants it to: a layer over SQLite's own, in
 * builds with WEIR_TEST_SWITCHES only. WEIR_DISK=HOW:N[:TIMES] in the environment
 * fails the N-th of the operations that HOW is about (all files of this process
 * together) and, with TIMES, as many in all; 0 is from then on. The rows of
 * `faults` are what HOW may be. WEIR_DISK_TRACE=FILE gets a line when the fault is
 * met first.
 */
#include "store/store_private.h"

#ifdef WEIR_TEST_SWITCHES

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum operation { OF_WRITE = 1, OF_SYNC = 2, OF_TRUNCATE = 4, OF_OPEN = 8, OF_READ = 16, OF_LOCK = 32, OF_SHARE = 64 };
#define OF_CHANGE (OF_WRITE | OF_SYNC | OF_TRUNCATE)

/* What a system call of that kind gives SQLite when it fails; 0: the operation's own I/O error. */
static const struct fault {
	const char *name;
	unsigned operations;
	int result;
	int system_error;
	bool writes_half;  /* of a write; all else does nothing */
	bool kills;
} faults[] = {
	{ "io", OF_CHANGE, 0, EIO, false, false },
	{ "full", OF_CHANGE, SQLITE_FULL, ENOSPC, false, false },
	{ "half", OF_CHANGE, 0, EIO, true, false },
	{ "half_full", OF_CHANGE, SQLITE_FULL, ENOSPC, true, false },
	{ "torn", OF_CHANGE, 0, EIO, true, true },
	{ "sync", OF_SYNC, 0, EIO, false, false },
	{ "open", OF_OPEN, 0, EIO, false, false },
	{ "read", OF_READ, 0, EIO, false, false },
	{ "lock", OF_LOCK, 0, EIO, false, false },
	{ "share", OF_SHARE, 0, EIO, false, false },
};

struct disk_file {
	sqlite3_file base;
	sqlite3_file *real;
};

static struct disk {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	const struct fault *fault;
	unsigned long first, times;
	atomic_ulong operations;
	atomic_flag is_told;
} disk = { .is_told = ATOMIC_FLAG_INIT };

static sqlite3_file *real_file(sqlite3_file *file)
{
	return ((struct disk_file *)file)->real;
}

static void disk_misused(const char *name, const char *wish)
{
	fprintf(stderr, "weir: %s='%s' cannot be used\n", name, wish);
	_exit(2);
}

static void disk_tell(const char *operation, unsigned long number)
{
	const char *path = getenv("WEIR_DISK_TRACE");
	char line[64];

	if (!path || atomic_flag_test_and_set(&disk.is_told))
		return;

	int len = snprintf(line, sizeof(line), "%s %lu\n", operation, number);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, line, (size_t)len) != len)
		disk_misused("WEIR_DISK_TRACE", path);
	close(fd);
}

/* Counts this operation; true if it is one that fails. */
static bool disk_fails(enum operation kind, const char *operation)
{
	unsigned long number;

	if (!(disk.fault->operations & kind))
		return false;
	number = atomic_fetch_add(&disk.operations, 1) + 1;
	if (number < disk.first || (disk.times && number - disk.first >= disk.times))
		return false;
	disk_tell(operation, number);
	return true;
}

static int disk_failure(int own)
{
	if (disk.fault->kills)
		kill(getpid(), SIGKILL);
	/* SQLite asks for it, and the store's words are made of it. */
	errno = disk.fault->system_error;
	return disk.fault->result ? disk.fault->result : own;
}

static int disk_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
	sqlite3_file *real = real_file(file);

	if (!disk_fails(OF_WRITE, "write"))
		return real->pMethods->xWrite(real, bytes, count, at);
	if (disk.fault->writes_half)
		real->pMethods->xWrite(real, bytes, count / 2, at);
	return disk_failure(SQLITE_IOERR_WRITE);
}

static int disk_sync(sqlite3_file *file, int flags)
{
	sqlite3_file *real = real_file(file);

	if (!disk_fails(OF_SYNC, "sync"))
		return real->pMethods->xSync(real, flags);
	return disk_failure(SQLITE_IOERR_FSYNC);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	sqlite3_file *real = real_file(file);

	if (!disk_fails(OF_TRUNCATE, "truncate"))
		return real->pMethods->xTruncate(real, size);
	return disk_failure(SQLITE_IOERR_TRUNCATE);
}

static int disk_close(sqlite3_file *file)
{
	sqlite3_file *real = real_file(file);

	return real->pMethods->xClose(real);
}

static int disk_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
	sqlite3_file *real = real_file(file);

	if (disk_fails(OF_READ, "read"))
		return disk_failure(SQLITE_IOERR_READ);
	return real->pMethods->xRead(real, bytes, count, at);
}

static int disk_size(sqlite3_file *file, sqlite3_int64 *size)
{
	sqlite3_file *real = real_file(file);

	return real->pMethods->xFileSize(real, size);
}

static int disk_lock(sqlite3_file *file, int level)
{
	sqlite3_file *real = real_file(file);

	if (disk_fails(OF_LOCK, "lock"))
		return disk_failure(SQLITE_IOERR_LOCK);
	return real->pMethods->xLock(real, level);
}

static int disk_unlock(sqlite3_file *file, int level)
{
	sqlite3_file *real = real_file(file);

	return real->pMethods->xUnlock(real, level);
}

static int disk_check_lock(sqlite3_file *file, int *is_reserved)
{
	sqlite3_file *real = real_file(file);

	return real->pMethods->xCheckReservedLock(real, is_reserved);
}

static int disk_control(sqlite3_file *file, int wish, void *arg)
{
	sqlite3_file *real = real_file(file);

	return real->pMethods->xFileControl(real, wish, arg);
}

static int disk_sector(sqlite3_file *file)
{
	sqlite3_file *real = real_file(file);

	return real->pMethods->xSectorSize(real);
}

static int disk_traits(sqlite3_file *file)
{
	sqlite3_file *real = real_file(file);

	return real->pMethods->xDeviceCharacteristics(real);
}

/* A temporary file has no shared memory, and nobody asks it for any. */
static int disk_shm_map(sqlite3_file *file, int page, int size, int extends, void volatile **out)
{
	sqlite3_file *real = real_file(file);

	if (disk_fails(OF_SHARE, "share"))
		return disk_failure(SQLITE_IOERR_SHMMAP);
	return real->pMethods->xShmMap ? real->pMethods->xShmMap(real, page, size, extends, out) : SQLITE_IOERR_SHMMAP;
}

static int disk_shm_lock(sqlite3_file *file, int at, int count, int flags)
{
	sqlite3_file *real = real_file(file);

	/* Giving back cannot fail: it would leave a lock that nobody knows of. */
	if (flags & SQLITE_SHM_LOCK && disk_fails(OF_LOCK, "lock"))
		return disk_failure(SQLITE_IOERR_SHMLOCK);
	return real->pMethods->xShmLock(real, at, count, flags);
}

static void disk_shm_barrier(sqlite3_file *file)
{
	sqlite3_file *real = real_file(file);

	real->pMethods->xShmBarrier(real);
}

static int disk_shm_unmap(sqlite3_file *file, int removes)
{
	sqlite3_file *real = real_file(file);

	return real->pMethods->xShmUnmap ? real->pMethods->xShmUnmap(real, removes) : SQLITE_OK;
}

/* Version 2: with shared memory, without mapped pages, which would be written behind our back. */
static const sqlite3_io_methods disk_methods = {
	2, disk_close, disk_read, disk_write, disk_truncate, disk_sync, disk_size, disk_lock, disk_unlock, disk_check_lock,
	disk_control, disk_sector, disk_traits, disk_shm_map, disk_shm_lock, disk_shm_barrier, disk_shm_unmap, NULL, NULL,
};

static int disk_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags)
{
	struct disk_file *mine = (struct disk_file *)file;

	(void)vfs;
	mine->real = (sqlite3_file *)(mine + 1);
	mine->real->pMethods = NULL;
	file->pMethods = NULL;
	if (disk_fails(OF_OPEN, "open"))
		return disk_failure(SQLITE_CANTOPEN);

	int result = disk.real->xOpen(disk.real, name, mine->real, flags, out_flags);

	/* SQLite closes what has methods, also after a failure. */
	file->pMethods = mine->real->pMethods ? &disk_methods : NULL;
	return result;
}

static const struct fault *fault_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (strlen(faults[i].name) == len && memcmp(faults[i].name, name, len) == 0)
			return &faults[i];
	}
	return NULL;
}

static void disk_parse(const char *wish)
{
	size_t len = strcspn(wish, ":");
	char *end = NULL;

	disk.fault = fault_find(wish, len);
	disk.times = 1;
	if (!disk.fault || wish[len] != ':')
		disk_misused("WEIR_DISK", wish);
	disk.first = strtoul(wish + len + 1, &end, 10);
	if (*end == ':')
		disk.times = strtoul(end + 1, &end, 10);
	if (disk.first == 0 || *end != '\0')
		disk_misused("WEIR_DISK", wish);
}

void store_disk_prepare(void)
{
	const char *wish = getenv("WEIR_DISK");

	if (!wish || *wish == '\0' || sqlite3_initialize() != SQLITE_OK)
		return;
	disk_parse(wish);
	disk.real = sqlite3_vfs_find(NULL);
	disk.vfs = *disk.real;
	disk.vfs.zName = "weir-disk";
	disk.vfs.pNext = NULL;
	disk.vfs.szOsFile = (int)sizeof(struct disk_file) + disk.real->szOsFile;
	disk.vfs.xOpen = disk_open;
	sqlite3_vfs_register(&disk.vfs, 1);
}

#else

void store_disk_prepare(void)
{
}

#endif
