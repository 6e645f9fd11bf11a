/*
 * A clock that somebody sets: loaded before the C library (LD_PRELOAD). The file WEIR_CLOCK holds eight bytes, by how many
 * seconds the time of day is off, and may be written at any moment. The monotonic clock goes on as it is.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t *off_s;

__attribute__((constructor)) static void clock_begin(void)
{
	const char *path = getenv("WEIR_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*off_s), PROT_READ, MAP_SHARED, fd, 0);

	if (at != MAP_FAILED)
		off_s = at;
	if (fd >= 0)
		close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int result = (int)syscall(SYS_clock_gettime, clock, out);

	if (result == 0 && clock == CLOCK_REALTIME && off_s)
		out->tv_sec += atomic_load(off_s);
	return result;
}

time_t time(time_t *out)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now = { 0 };

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct timeval){ .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
	return 0;
}
