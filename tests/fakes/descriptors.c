/*
 * Descriptors that fail where a test wants them to: loaded before the C library (LD_PRELOAD), so that no program knows of
 * it. WEIR_FD=HOW:N[:TIMES] fails the N-th system call of that kind on a file below WEIR_FD_BELOW or on a socket (all
 * threads together) and, with TIMES, as many in all; 0 is from then on. The rows of `faults` are what HOW may be.
 * WEIR_FD_TRACE=FILE gets a line when the fault is met first. Opened by SQLite or by weir: a descriptor is a descriptor.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FDS_MAX 65536

enum call_kind {
	READS = 1, WRITES = 2, SYNCS = 4, CUTS = 8, NAMES = 16, MAKES = 32, OPENS = 64, CREATES = 128, SOCKETS = 256,
	LOCKS = 512, MAPS = 1024,
};

/* A short count is no failure: the rest must follow by itself. */
static const struct fault {
	const char *name;
	int error_number;
	unsigned calls;
	bool is_half; /* of a read or write; alone, it succeeds */
} faults[] = {
	{ "io", EIO, READS | WRITES | SYNCS | CUTS | NAMES | MAKES | MAPS, false },
	{ "full", ENOSPC, WRITES | SYNCS | CUTS | NAMES | MAKES | CREATES, false },
	{ "half_full", ENOSPC, WRITES, true },
	{ "half", 0, READS | WRITES, true },
	{ "none_left", EMFILE, OPENS | CREATES | SOCKETS, false },
	{ "interrupted", EINTR, READS | WRITES | OPENS | CREATES, false },
	{ "denied", EACCES, OPENS | CREATES | NAMES | MAKES, false },
	{ "read_only", EROFS, CREATES | NAMES | MAKES, false },
	{ "unlocked", ENOLCK, LOCKS, false },
};

static struct {
	const struct fault *fault;
	unsigned long first, times;
	atomic_ulong calls;
	atomic_flag is_told;
	const char *below;
	atomic_uchar is_ours[FDS_MAX];
} layer = { .is_told = ATOMIC_FLAG_INIT };

static void misused(const char *wish)
{
	fprintf(stderr, "descriptors: WEIR_FD='%s' cannot be used\n", wish);
	_exit(2);
}

__attribute__((constructor)) static void layer_begin(void)
{
	const char *wish = getenv("WEIR_FD");
	size_t len = wish ? strcspn(wish, ":") : 0;
	char *end = NULL;

	layer.below = getenv("WEIR_FD_BELOW");
	if (!wish || !layer.below)
		return;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (strlen(faults[i].name) == len && memcmp(faults[i].name, wish, len) == 0)
			layer.fault = &faults[i];
	}
	if (!layer.fault || wish[len] != ':')
		misused(wish);
	layer.first = strtoul(wish + len + 1, &end, 10);
	layer.times = 1;
	if (*end == ':')
		layer.times = strtoul(end + 1, &end, 10);
	if (layer.first == 0 || *end != '\0')
		misused(wish);
}

static void tell(const char *call, unsigned long number)
{
	const char *path = getenv("WEIR_FD_TRACE");
	char line[64];

	if (!path || atomic_flag_test_and_set(&layer.is_told))
		return;

	int len = snprintf(line, sizeof(line), "%s %lu\n", call, number);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (fd < 0 || syscall(SYS_write, fd, line, len) != len)
		misused(path);
	syscall(SYS_close, fd);
}

/* Counts the call; true if it is one that fails. */
static bool fails(unsigned kind, const char *call)
{
	if (!layer.fault || !(layer.fault->calls & kind))
		return false;

	unsigned long number = atomic_fetch_add(&layer.calls, 1) + 1;

	if (number < layer.first || (layer.times && number - layer.first >= layer.times))
		return false;
	tell(call, number);
	errno = layer.fault->error_number;
	return true;
}

static bool is_below(const char *path)
{
	return layer.below && path && (path[0] != '/' || strncmp(path, layer.below, strlen(layer.below)) == 0);
}

static bool fd_is_ours(int fd)
{
	return fd >= 0 && fd < FDS_MAX && atomic_load(&layer.is_ours[fd]);
}

static int take_fd(int fd, bool is_ours)
{
	if (fd >= 0 && fd < FDS_MAX)
		atomic_store(&layer.is_ours[fd], is_ours);
	return fd;
}

#define REAL(name) \
	static __typeof__(&name) real; \
	if (!real) \
		real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/*
 * Descriptors come and go
 */

static int open_path(int folder, const char *path, int flags, mode_t mode)
{
	bool is_ours = is_below(path);

	if (is_ours && fails(flags & O_CREAT ? CREATES : OPENS, "open"))
		return -1;
	return take_fd((int)syscall(SYS_openat, folder, path, flags, mode), is_ours);
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPENER(name) \
	int name(const char *path, int flags, ...) \
	{ \
		va_list args; \
		va_start(args, flags); \
		int fd = open_path(AT_FDCWD, path, flags, mode_of(flags, args)); \
		va_end(args); \
		return fd; \
	}
OPENER(open)
OPENER(open64)

#define OPENER_AT(name) \
	int name(int folder, const char *path, int flags, ...) \
	{ \
		va_list args; \
		va_start(args, flags); \
		int fd = open_path(folder, path, flags, mode_of(flags, args)); \
		va_end(args); \
		return fd; \
	}
OPENER_AT(openat)
OPENER_AT(openat64)

int mkostemp(char *path, int flags)
{
	REAL(mkostemp);
	bool is_ours = is_below(path);

	if (is_ours && fails(CREATES, "mkostemp"))
		return -1;
	return take_fd(real(path, flags), is_ours);
}

int socket(int domain, int type, int protocol)
{
	REAL(socket);
	return fails(SOCKETS, "socket") ? -1 : take_fd(real(domain, type, protocol), domain == AF_UNIX);
}

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	REAL(accept4);
	return fails(SOCKETS, "accept") ? -1 : take_fd(real(fd, address, len, flags), true);
}

int eventfd(unsigned count, int flags)
{
	REAL(eventfd);
	return fails(SOCKETS, "eventfd") ? -1 : take_fd(real(count, flags), false);
}

int close(int fd)
{
	take_fd(fd, false);
	return (int)syscall(SYS_close, fd);
}

/*
 * What is done with them
 */

/* Half of it, at least a byte: an empty answer would be an end. */
static size_t half_of(size_t count)
{
	return count > 1 ? count / 2 : count;
}

#define MOVER(type, name, kind, word, parameters, arguments, half_arguments) \
	type name parameters \
	{ \
		REAL(name); \
		if (!fd_is_ours(fd) || !fails(kind, word)) \
			return real arguments; \
		type done = layer.fault->is_half ? real half_arguments : -1; \
		if (layer.fault->is_half && layer.fault->error_number == 0) \
			return done; \
		/* What stands there already is not taken back: the rest was what did not fit. */ \
		errno = layer.fault->error_number; \
		return done > 0 && layer.fault->is_half ? done : -1; \
	}
MOVER(ssize_t, read, READS, "read", (int fd, void *bytes, size_t count), (fd, bytes, count), (fd, bytes, half_of(count)))
MOVER(ssize_t, write, WRITES, "write", (int fd, const void *bytes, size_t count), (fd, bytes, count),
      (fd, bytes, half_of(count)))
MOVER(ssize_t, pread, READS, "pread", (int fd, void *bytes, size_t count, off_t at), (fd, bytes, count, at),
      (fd, bytes, half_of(count), at))
MOVER(ssize_t, pread64, READS, "pread", (int fd, void *bytes, size_t count, off64_t at), (fd, bytes, count, at),
      (fd, bytes, half_of(count), at))
MOVER(ssize_t, pwrite, WRITES, "pwrite", (int fd, const void *bytes, size_t count, off_t at), (fd, bytes, count, at),
      (fd, bytes, half_of(count), at))
MOVER(ssize_t, pwrite64, WRITES, "pwrite", (int fd, const void *bytes, size_t count, off64_t at), (fd, bytes, count, at),
      (fd, bytes, half_of(count), at))
MOVER(ssize_t, recv, READS, "recv", (int fd, void *bytes, size_t count, int flags), (fd, bytes, count, flags),
      (fd, bytes, half_of(count), flags))
MOVER(ssize_t, send, WRITES, "send", (int fd, const void *bytes, size_t count, int flags), (fd, bytes, count, flags),
      (fd, bytes, half_of(count), flags))

#define DOER(name, kind, parameters, arguments) \
	int name parameters \
	{ \
		REAL(name); \
		return fd_is_ours(fd) && fails(kind, #name) ? -1 : real arguments; \
	}
DOER(fsync, SYNCS, (int fd), (fd))
DOER(fdatasync, SYNCS, (int fd), (fd))
DOER(ftruncate, CUTS, (int fd, off_t size), (fd, size))
DOER(ftruncate64, CUTS, (int fd, off64_t size), (fd, size))

/* Only locks: the rest of fcntl is about the descriptor alone. */
static bool lock_fails(int fd, int what)
{
	return (what == F_SETLK || what == F_SETLKW || what == F_GETLK) && fd_is_ours(fd) && fails(LOCKS, "lock");
}

#define CONTROLLER(name) \
	int name(int fd, int what, ...) \
	{ \
		va_list args; \
		va_start(args, what); \
		void *arg = va_arg(args, void *); \
		va_end(args); \
		return lock_fails(fd, what) ? -1 : (int)syscall(SYS_fcntl, fd, what, arg); \
	}
CONTROLLER(fcntl)
CONTROLLER(fcntl64)

static void *map(void *at, size_t len, int protection, int flags, int fd, off64_t from)
{
	if (fd_is_ours(fd) && fails(MAPS, "mmap"))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, at, len, protection, flags, fd, from);
}

void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t from)
{
	return map(at, len, protection, flags, fd, from);
}

void *mmap64(void *at, size_t len, int protection, int flags, int fd, off64_t from)
{
	return map(at, len, protection, flags, fd, from);
}

/*
 * Names
 */

int rename(const char *from, const char *to)
{
	REAL(rename);
	return is_below(to) && fails(NAMES, "rename") ? -1 : real(from, to);
}

int link(const char *from, const char *to)
{
	REAL(link);
	return is_below(to) && fails(NAMES, "link") ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t mode)
{
	REAL(mkdir);
	return is_below(path) && fails(MAKES, "mkdir") ? -1 : real(path, mode);
}
