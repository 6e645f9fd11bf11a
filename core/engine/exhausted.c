/*
 * Memory has run out. Nothing can be promised of a process that cannot allocate, so it ends; what is committed is safe, and
 * an engine that serves puts itself in its own place (exec): all its memory is given back, the jobs that ran go on from
 * their last commit. If it comes soon again, the next beginning is put off, twice as long each time.
 *
 * The thread that found nothing left may be any; the main thread does it, so that its nice value is the next engine's.
 */
#include "engine/exhausted.h"

#include "base/arena.h"
#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AGAIN "WEIR_AGAIN"             /* how many times in a row */
#define AGAIN_MOST 9
#define WAIT_FIRST_MS 100              /* 51 s at most */
#define SOON_MS (10 * 60 * 1000)

extern char **environ;

/* Made while there was memory. */
static struct {
	char **argv, **envp;
	char again[sizeof(AGAIN "=0")];
	pthread_t main;
	int64_t begun_ms;
	int times;
	volatile sig_atomic_t is_due;
} next;

/* Only what a signal handler may call. */
static void begin_again(int signal_number)
{
	bool is_soon = clock_mono_ms() - next.begun_ms < SOON_MS;
	int times = is_soon ? next.times + 1 : 1;

	(void)signal_number;
	/* Somebody else's signal. */
	if (!next.is_due)
		return;
	next.again[sizeof(next.again) - 2] = (char)('0' + (times > AGAIN_MOST ? AGAIN_MOST : times));
	execve("/proc/self/exe", next.argv, next.envp);
	_exit(EXIT_OUT_OF_MEMORY);
}

static void exhausted(void)
{
	next.is_due = true;
	if (!pthread_equal(pthread_self(), next.main) && pthread_kill(next.main, SIGUSR1) == 0) {
		for (;;)
			pause();
	}
	begin_again(0);
}

/* Of the environment, without what told of an earlier time. */
static char **envp_make(void)
{
	size_t count = 0, used = 0;
	char **envp;

	while (environ[count])
		count++;
	envp = memory_alloc((count + 2) * sizeof(*envp));
	for (size_t i = 0; i < count; i++) {
		if (strncmp(environ[i], AGAIN "=", strlen(AGAIN "=")) != 0)
			envp[used++] = environ[i];
	}
	envp[used++] = next.again;
	envp[used] = NULL;
	return envp;
}

int exhausted_times(void)
{
	return next.times;
}

void exhausted_prepare(char **argv)
{
	const char *times = getenv(AGAIN);
	struct sigaction action = { .sa_handler = begin_again };
	sigset_t set;

	if (times && times[0] >= '1' && times[0] <= '0' + AGAIN_MOST && !times[1])
		next.times = times[0] - '0';
	if (next.times)
		clock_sleep_ms(WAIT_FIRST_MS << next.times);
	unsetenv(AGAIN);
	snprintf(next.again, sizeof(next.again), "%s=0", AGAIN);
	next.argv = argv;
	next.envp = envp_make();
	next.main = pthread_self();
	next.begun_ms = clock_mono_ms();
	sigaction(SIGUSR1, &action, NULL);
	/* The process before us was in the middle of the handler. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	memory_when_exhausted(exhausted);
}
