/*
 * Calls of the system that SQLite makes, in our own form. Two it makes at each opening
 * and reading, and a file system with a log answers them only when its log lets it:
 * while twenty jobs write as fast as they can each of them takes up to half a second,
 * and who asks how things stand makes eighty. The third lets go of locks.
 */
#include "store/store_private.h"

#include "base/clock.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNLOCK_TRIES 1000
#define UNLOCK_AGAIN_MS 2

/* The owner of a log follows the file's when root opens it. Giving it to whom it has is a write all the same. */
static int change_owner(int fd, uid_t owner, gid_t group)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_uid == owner && st.st_gid == group)
		return 0;
	return fchown(fd, owner, group);
}

/* Nobody asks when our files were read last, and after each write the next read would write it down. Only the owner may
 * leave it out. */
static int open_unnoted(const char *path, int flags, int mode)
{
	int fd = open(path, flags | O_NOATIME, mode);

	return fd < 0 && errno == EPERM ? open(path, flags, mode) : fd;
}

/* What this thread could not open to write last, and why; 0: nothing. */
static _Thread_local struct {
	uint64_t path_hash;
	int why;
} unopened;

static bool is_for_good(int why)
{
	return why == EACCES || why == EPERM || why == EROFS || why == EISDIR || why == ENOENT || why == EINTR;
}

/* What cannot be opened to write SQLite opens at once to be read. That is for those who may not write; without descriptors or
 * on a disk that fails just now it would look like a file that may not be written, which needs somebody. */
static int open_or_say_why(const char *path, int flags, int mode)
{
	uint64_t hash = hash_bytes(span_of(path));
	bool is_again = unopened.why && (flags & O_ACCMODE) == O_RDONLY && unopened.path_hash == hash;
	int fd = is_again ? -1 : open_unnoted(path, flags, mode);

	if (is_again)
		errno = unopened.why;
	unopened.why = 0;
	if (fd < 0 && (flags & O_ACCMODE) == O_RDWR && !is_for_good(errno)) {
		unopened.path_hash = hash;
		unopened.why = errno;
	}
	return fd;
}

/* To let go of one byte may take memory that the system does not have just then (ENOLCK). SQLite takes no for an answer and
 * believes from then on that the lock is held: nobody in this process gets it until every connection to the file is closed. */
static int lock_or_unlock(int fd, int what, ...)
{
	va_list args;
	void *arg;
	int result;

	va_start(args, what);
	arg = va_arg(args, void *);
	va_end(args);
	result = fcntl(fd, what, arg);
	for (int i = 0; result < 0 && what == F_SETLK && (errno == ENOLCK || errno == EINTR) && i < UNLOCK_TRIES; i++) {
		if (((const struct flock *)arg)->l_type != F_UNLCK)
			break;
		clock_sleep_ms(UNLOCK_AGAIN_MS);
		result = fcntl(fd, what, arg);
	}
	return result;
}

void store_system_prepare(void)
{
	sqlite3_vfs *vfs = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find("unix") : NULL;

	if (!vfs || vfs->iVersion < 3)
		return; /* slower, but right */
	vfs->xSetSystemCall(vfs, "fchown", (sqlite3_syscall_ptr)change_owner);
	vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_or_say_why);
	vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)lock_or_unlock);
}
