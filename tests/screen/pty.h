/*
 * A terminal of libvterm around a command in a pty. One at a time; waiting is bounded by the caller's deadline.
 */
#ifndef WEIR_TESTS_SCREEN_PTY_H
#define WEIR_TESTS_SCREEN_PTY_H

#include "screen/stream.h"

#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

/* A name of curses that libvterm's header happens to share is no trouble: curses is not here. */
#include <vterm.h>

#define PTY_OUT_MAX (1u << 20) /* keys that the child has not taken yet */

struct pty {
	int fd;         /* the master; -1: hung up */
	int slave;      /* ours too, so that the modes can be read after the child has ended */
	pid_t child;    /* 0: none */
	bool has_ended; /* then `status` is as of waitpid */
	int status;
	bool is_stalled;
	struct termios modes_before;
	VTerm *vterm;
	VTermScreen *screen;
	bool cursor_visible;
	struct stream stream;
	char *out;
	size_t out_len;
};

int64_t now_ms(void);

/* Gives NULL, or what failed. The child's environment is ours but for TERM, LINES and COLUMNS. */
const char *pty_start(struct pty *pty, int rows, int cols, const char *term, char **argv);
/* For the child to take, as far as it does: see pty_pump. False: more than PTY_OUT_MAX is waiting. */
bool pty_send(struct pty *pty, const char *bytes, size_t len);
/* Reads and writes once, when there is something, or waits for it: for `wait_ms` at most, and not when `also`, a file to
 * read from, has something (-1: none). */
void pty_pump(struct pty *pty, int wait_ms, int also);
/* Has the child ended, and is all that it wrote read? */
bool pty_is_over(struct pty *pty);
/* False: the child reads whole lines still (it has not taken the terminal, or given it back). */
bool pty_is_raw(const struct pty *pty);
void pty_resize(struct pty *pty, int rows, int cols);
/* Hangs up: the child's next read or write fails, and SIGHUP goes to it. */
void pty_hang_up(struct pty *pty);
/* Kills what runs still, and gives all back. */
void pty_end(struct pty *pty);

#endif
