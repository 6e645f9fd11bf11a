/* The mark that a thread leaves when it dies of a signal. */
#include "base/fatal.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static _Thread_local volatile uint32_t *mark;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* The default action stands again (SA_RESETHAND), so what is raised here ends the process. */
static void on_fatal(int number)
{
	if (mark)
		*mark = (uint32_t)number;
	raise(number);
}

/* Who has a handler of its own (a sanitizer) keeps it. */
static void install(void)
{
	struct sigaction ours = { .sa_handler = on_fatal, .sa_flags = (int)SA_RESETHAND }, old;

	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++) {
		if (sigaction(fatal_signals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
			sigaction(fatal_signals[i], &ours, NULL);
	}
}

void fatal_mark_at(volatile uint32_t *word)
{
	pthread_once(&once, install);
	mark = word;
}
