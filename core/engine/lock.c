/*
 * The lock of a home: one engine has it from its beginning to its end. It is a file, so somebody may remove it, and the
 * home with it: an engine whose home is gone ends, one that has only lost the file makes it again.
 */
#include "engine/engine.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file as it was opened. False: another engine has it. */
static bool lock_hold(struct engine *engine, int fd, struct error *err)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return fail(err, ERROR_UNREACHABLE, "engine_running", "another engine holds '%s'", engine->home->lock);
	if (ftruncate(fd, 0) != 0 || fd_write_all(fd, span_of(pid)) != strlen(pid))
		return fail_errno(err, errno, "cannot write '%s'", engine->home->lock);
	return true;
}

bool lock_take(struct engine *engine, struct error *err)
{
	struct stat home;

	engine->lock_fd = fd_open(engine->home->lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW);
	if (engine->lock_fd < 0)
		return fail_errno(err, errno, "cannot open '%s'", engine->home->lock);
	engine->home_inode = stat(engine->home->state, &home) == 0 ? home.st_ino : 0;
	return lock_hold(engine, engine->lock_fd, err);
}

/* Somebody may be removing the whole home, file by file: so the lock is made again at the next look, if there is still a
 * home then. Another folder of that name is another home. Who has made the file meanwhile is the engine of this one. */
static bool make_again(struct engine *engine)
{
	struct error failure = { 0 };
	struct stat home;
	int fd;

	if (stat(engine->home->state, &home) != 0)
		return errno != ENOENT && errno != ENOTDIR;
	if (home.st_ino != engine->home_inode)
		return false;
	if (!engine->has_missed_lock)
		return engine->has_missed_lock = true;
	fd = fd_open(engine->home->lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno != EEXIST;
	if (!lock_hold(engine, fd, &failure) && strcmp(failure.code, "engine_running") == 0) {
		close(fd);
		return false;
	}
	close(engine->lock_fd);
	engine->lock_fd = fd;
	engine->has_missed_lock = false;
	log_warn(engine->log, "engine", NULL, "the lock was gone and was made again", FIELD_TEXT("lock", engine->home->lock));
	return true;
}

bool lock_keep(struct engine *engine)
{
	struct stat ours, there;

	/* What cannot be looked at now is not gone. */
	if (stat(engine->home->lock, &there) != 0)
		return errno != ENOENT && errno != ENOTDIR ? true : make_again(engine);
	return fstat(engine->lock_fd, &ours) == 0 && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}
