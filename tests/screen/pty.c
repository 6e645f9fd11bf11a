/*
 * The pty, its child, and libvterm as the picture of what the child has sent.
 */
#include "screen/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Answers of the terminal, to a question for the cursor's place, say. */
static void answered(const char *bytes, size_t len, void *user)
{
	pty_send(user, bytes, len);
}

static int property_set(VTermProp property, VTermValue *value, void *user)
{
	struct pty *pty = user;

	if (property == VTERM_PROP_CURSORVISIBLE)
		pty->cursor_visible = value->boolean;
	return 1;
}

static const VTermScreenCallbacks screen_calls = { .settermprop = property_set };

static void picture_new(struct pty *pty, int rows, int cols)
{
	pty->vterm = vterm_new(rows, cols);
	vterm_set_utf8(pty->vterm, 1);
	vterm_output_set_callback(pty->vterm, answered, pty);
	pty->screen = vterm_obtain_screen(pty->vterm);
	vterm_screen_set_callbacks(pty->screen, &screen_calls, pty);
	vterm_screen_enable_altscreen(pty->screen, 1);
	vterm_screen_reset(pty->screen, 1);
	pty->cursor_visible = true;
}

/* In the child. */
static void become(struct pty *pty, const char *term, char **argv)
{
	setsid();
	if (ioctl(pty->slave, TIOCSCTTY, 0) != 0)
		_exit(126);
	for (int fd = 0; fd < 3; fd++)
		dup2(pty->slave, fd);
	close(pty->fd);
	if (pty->slave > 2)
		close(pty->slave);
	setenv("TERM", term, 1);
	unsetenv("LINES");
	unsetenv("COLUMNS");
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

const char *pty_start(struct pty *pty, int rows, int cols, const char *term, char **argv)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	*pty = (struct pty){ .fd = -1, .slave = -1 };
	if (openpty(&pty->fd, &pty->slave, NULL, NULL, &size) != 0)
		return "no pty";
	fcntl(pty->fd, F_SETFL, O_NONBLOCK);
	fcntl(pty->fd, F_SETFD, FD_CLOEXEC);
	tcgetattr(pty->slave, &pty->modes_before);
	pty->out = malloc(PTY_OUT_MAX);
	pty->stream.is_linux = strncmp(term, "linux", 5) == 0;
	picture_new(pty, rows, cols);
	pty->child = fork();
	if (pty->child == 0)
		become(pty, term, argv);
	return pty->child < 0 || !pty->out ? "no child" : NULL;
}

bool pty_send(struct pty *pty, const char *bytes, size_t len)
{
	if (len > PTY_OUT_MAX - pty->out_len)
		return false;
	memcpy(pty->out + pty->out_len, bytes, len);
	pty->out_len += len;
	return true;
}

static void read_once(struct pty *pty)
{
	char bytes[16384], seen[16384];
	ssize_t got = read(pty->fd, bytes, sizeof(bytes));

	if (got > 0)
		vterm_input_write(pty->vterm, seen, stream_read(&pty->stream, bytes, (size_t)got, seen));
}

static void write_once(struct pty *pty)
{
	ssize_t sent = write(pty->fd, pty->out, pty->out_len);

	if (sent > 0) {
		pty->out_len -= (size_t)sent;
		memmove(pty->out, pty->out + sent, pty->out_len);
	}
}

static void reap(struct pty *pty)
{
	if (pty->child > 0 && !pty->has_ended && waitpid(pty->child, &pty->status, WNOHANG) == pty->child)
		pty->has_ended = true;
}

void pty_pump(struct pty *pty, int wait_ms, int also)
{
	short wanted = (short)((pty->is_stalled ? 0 : POLLIN) | (pty->out_len ? POLLOUT : 0));
	struct pollfd files[2] = { { .fd = also, .events = POLLIN }, { .fd = pty->fd, .events = wanted } };

	/* Our own open slave keeps the master from ending with the child: who waits for that asks again (pty_is_over). */
	if (poll(files, 2, wait_ms) > 0) {
		if (files[1].revents & POLLIN)
			read_once(pty);
		if (files[1].revents & POLLOUT)
			write_once(pty);
	}
	reap(pty);
}

bool pty_is_over(struct pty *pty)
{
	struct pollfd file = { .fd = pty->fd, .events = POLLIN };

	reap(pty);
	return pty->has_ended && (pty->is_stalled || pty->fd < 0 || poll(&file, 1, 0) <= 0 || !(file.revents & POLLIN));
}

bool pty_is_raw(const struct pty *pty)
{
	struct termios modes;

	return tcgetattr(pty->slave, &modes) == 0 && !(modes.c_lflag & ICANON);
}

void pty_resize(struct pty *pty, int rows, int cols)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	vterm_set_size(pty->vterm, rows, cols);
	pty->stream.is_one_column = cols < 2;
	ioctl(pty->fd, TIOCSWINSZ, &size);
}

void pty_hang_up(struct pty *pty)
{
	if (pty->slave >= 0)
		close(pty->slave);
	if (pty->fd >= 0)
		close(pty->fd);
	pty->slave = pty->fd = -1;
}

void pty_end(struct pty *pty)
{
	if (pty->child > 0 && !pty->has_ended) {
		kill(-pty->child, SIGKILL);
		kill(pty->child, SIGKILL);
		kill(pty->child, SIGCONT);
		waitpid(pty->child, &pty->status, 0);
	}
	pty_hang_up(pty);
	if (pty->vterm)
		vterm_free(pty->vterm);
	stream_end(&pty->stream);
	free(pty->out);
	*pty = (struct pty){ .fd = -1, .slave = -1 };
}
