/*
 * Two calls of the system that SQLite makes at each opening and reading, and that a
 * file system with a log answers only when its log lets it: while twenty jobs write as
 * fast as they can each of them takes up to half a second, and who asks how things stand
 * makes eighty.
 */
#include "store/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

void store_system_prepare(void)
{
	sqlite3_vfs *vfs = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find("unix") : NULL;

	if (!vfs || vfs->iVersion < 3)
		return; /* slower, but right */
	vfs->xSetSystemCall(vfs, "fchown", (sqlite3_syscall_ptr)change_owner);
	vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_unnoted);
}
