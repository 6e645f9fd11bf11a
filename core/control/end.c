/* Has the engine of a home ended? Its lock says so: it is the last thing that an engine lets go. */
#include "base/clock.h"
#include "base/file.h"
#include "control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define LOOK_MS 20

/* The process that holds the lock, or held it last; 0: none ever has, or the home is gone. */
static long lock_pid(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return strtol(text, NULL, 10);
}

long engine_pid(const struct home *home)
{
	int fd = fd_open(home->lock, O_RDONLY | O_CLOEXEC);
	long pid = fd < 0 ? 0 : lock_pid(fd);

	if (fd >= 0)
		close(fd);
	return pid;
}

/* A shared lock for an instant: a new engine that meets it tries again. */
static bool has_ended(const struct home *home, long pid)
{
	int fd = fd_open(home->lock, O_RDONLY | O_CLOEXEC);
	bool is_over = fd < 0 || lock_pid(fd) != pid || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return is_over;
}

bool engine_has_left(const struct home *home, long pid)
{
	if (access(home->socket, F_OK) == 0 || errno != ENOENT || !pid)
		return false;
	engine_wait_end(home, pid);
	return true;
}

void engine_wait_end(const struct home *home, long pid)
{
	while (!has_ended(home, pid))
		clock_sleep_ms(LOOK_MS);
}
