/*
 * Signals: those that a loop can wait for go through a pipe; those that end the process at once give the terminal back
 * first, with calls that a handler may make.
 */
#include "term/screen_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static int signal_pipe[2] = { -1, -1 };
static volatile sig_atomic_t caught;
static struct termios modes_before;
static bool have_modes;
static char farewell[256];
static volatile sig_atomic_t farewell_len;

static const struct {
	int number;
	unsigned bit;
} waited[] = { { SIGWINCH, SIGNAL_RESIZE }, { SIGTERM, SIGNAL_END }, { SIGINT, SIGNAL_END }, { SIGHUP, SIGNAL_HANGUP },
	       { SIGCONT, SIGNAL_CONTINUE }, { SIGTSTP, SIGNAL_STOP } };

static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT };

/* A terminal that takes nothing would hold up the end for ever: what waits in it is dropped, each second again. */
static void on_alarm(int number)
{
	int kept = errno;

	(void)number;
	tcflush(STDOUT_FILENO, TCOFLUSH);
	alarm(1);
	errno = kept;
}

static void on_waited(int number)
{
	int kept = errno;

	for (size_t i = 0; i < sizeof(waited) / sizeof(*waited); i++) {
		if (waited[i].number == number)
			caught |= (int)waited[i].bit;
	}
	if (caught & (SIGNAL_END | SIGNAL_HANGUP))
		alarm(1);
	if (write(signal_pipe[1], "", 1) < 0)
		errno = 0; /* full: somebody will look anyway */
	errno = kept;
}

static void on_fatal(int number)
{
	if (farewell_len && write(STDOUT_FILENO, farewell, (size_t)farewell_len) < 0)
		errno = 0;
	if (have_modes)
		tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
	signal(number, SIG_DFL);
	raise(number);
}

static bool pipe_open(void)
{
	return signal_pipe[0] >= 0 || pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) == 0;
}

void signals_keep_modes(void)
{
	have_modes = tcgetattr(STDIN_FILENO, &modes_before) == 0;
}

bool signals_begin(const char *undo, size_t undo_len)
{
	struct sigaction action = { .sa_handler = on_waited };

	if (!pipe_open())
		return false;
	farewell_len = (sig_atomic_t)(undo_len < sizeof(farewell) ? undo_len : 0);
	memcpy(farewell, undo, (size_t)farewell_len);
	for (size_t i = 0; i < sizeof(waited) / sizeof(*waited); i++)
		sigaction(waited[i].number, &action, NULL);
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
	action.sa_handler = on_fatal;
	for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		sigaction(fatal[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	return true;
}

void signals_end(void)
{
	for (size_t i = 0; i < sizeof(waited) / sizeof(*waited); i++)
		signal(waited[i].number, SIG_DFL);
	for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		signal(fatal[i], SIG_DFL);
	farewell_len = 0;
	if (have_modes)
		tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
	alarm(0);
	signal(SIGALRM, SIG_DFL);
}

void signals_stop_self(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL }, before;

	sigaction(SIGTSTP, &action, &before);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &before, NULL);
	caught &= ~SIGNAL_CONTINUE; /* that was this one's own */
}

int term_signal_fd(void)
{
	return signal_pipe[0];
}

unsigned term_signals(void)
{
	char bytes[64];
	sigset_t all, before;
	unsigned bits;

	while (signal_pipe[0] >= 0 && read(signal_pipe[0], bytes, sizeof(bytes)) > 0)
		continue;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	bits = (unsigned)caught;
	caught = 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return bits;
}
