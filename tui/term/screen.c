/*
 * The screen: ncurses draws what differs, and nothing else of it is used - keys come
 * through input.c. Sequences that curses does not know (paste, copy) are written
 * behind a frame, and undone at the end, also at a sudden one.
 */
#include "term/screen_private.h"
#include "base/arena.h"
#include "base/hash.h"
#include "term/cells.h"

#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#define NOTE_BYTES 512

static const char paste_on[] = "\033[?2004h", paste_off[] = "\033[?2004l";
/* Presses and wheel, written as SGR has them (xterm's ctlseqs, "Mouse Tracking"). */
static const char mouse_on[] = "\033[?1000h\033[?1006h", mouse_off[] = "\033[?1006l\033[?1000l";

int term_fd(void)
{
	return STDIN_FILENO;
}

void term_size(const struct terminal *term, int *out_rows, int *out_cols)
{
	(void)term;
	*out_rows = LINES;
	*out_cols = COLS;
}

static void asked_size(int *out_rows, int *out_cols)
{
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*out_rows = size.ws_row ? size.ws_row : 24;
	*out_cols = size.ws_col ? size.ws_col : 80;
	if (*out_rows > CANVAS_ROWS_MAX)
		*out_rows = CANVAS_ROWS_MAX;
	if (*out_cols > CANVAS_COLS_MAX)
		*out_cols = CANVAS_COLS_MAX;
}

/* The same size again may be the second of two changes, of which the first has taken away what was shown. */
void term_resize(struct terminal *term)
{
	int rows, cols;

	asked_size(&rows, &cols);
	if (is_term_resized(rows, cols))
		resizeterm(rows, cols);
	term->is_new = true;
}

/*
 * Begin and end.
 */
static void glyphs_begin(const struct terminal *term, const struct term_wishes *wishes, struct text *note)
{
	bool has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0, is_utf8 = !wishes->ascii && has_utf8;
	bool is_poor = strncmp(term->name, "linux", 5) == 0 || strncmp(term->name, "vt", 2) == 0;

	if (!has_utf8 && !wishes->ascii)
		text_add_format(note, "%slocale without UTF-8: other letters are escapes; try LC_ALL=C.UTF-8",
		                note->len ? "\n" : "");
	cells_set_utf8(has_utf8);
	glyphs_set(is_utf8, !is_utf8 ? CHART_ASCII : is_poor ? CHART_BLOCKS : CHART_BRAILLE);
}

void bytes_out(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

/* The frame shown, colours off, cursor on, normal screen, paste off: what a handler can send. */
static size_t undo_bytes(char *out, size_t room)
{
	const char *const names[] = { "sgr0", "cnorm", "rmcup" };
	size_t len = (size_t)snprintf(out, room, "%s%s%s", FRAME_END, paste_off, mouse_off); /* may be on by then */

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *capability = tigetstr(names[i]);

		if (capability && capability != (char *)-1 && len < room)
			len += (size_t)snprintf(out + len, room - len, "%s", capability);
	}
	return len < room ? len : 0;
}

static bool term_start(struct terminal *term, struct error *err)
{
	char undo[256];
	int rows, cols;

	unsetenv("LINES");
	unsetenv("COLUMNS");
	signals_keep_modes();
	term->screen = newterm(term->name, stdout, stdin);
	if (!term->screen)
		return fail(err, ERROR_USAGE, "no_terminal", "the terminal '%s' does not start", term->name);
	if (!signals_begin(undo, undo_bytes(undo, sizeof(undo))))
		return fail(err, ERROR_TRANSIENT, "no_descriptors", "no descriptor for signals");
	raw();
	noecho();
	nonl();
	asked_size(&rows, &cols);
	resizeterm(rows, cols);
	typeahead(-1); /* a frame goes out whole; curses need not look for keys in between */
	leaveok(stdscr, FALSE);
	scrollok(stdscr, FALSE);
	return true;
}

/* The name to start with, or NULL. */
static const char *name_find(struct text *note, struct error *err)
{
	const char *name = getenv("TERM") ? getenv("TERM") : "", *found;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fail(err, ERROR_USAGE, "no_terminal", "the console needs a terminal; standard %s is none",
		     isatty(STDIN_FILENO) ? "output" : "input");
		return NULL;
	}
	found = terminal_name(note);
	if (!found)
		fail(err, ERROR_USAGE, "no_terminal", "the console needs a terminal that can move its cursor (TERM is '%s')", name);
	return found;
}

bool term_is_there(struct error *err)
{
	struct text *note = text_new(NOTE_BYTES);
	bool is_there = name_find(note, err);

	text_free(note);
	return is_there;
}

struct terminal *term_open(const struct term_wishes *wishes, struct text *out_note, struct error *err)
{
	const char *name = name_find(out_note, err);
	struct terminal *term;

	if (!name)
		return NULL;
	term = memory_zalloc(sizeof(*term));
	term->name = name;
	term->theme = wishes->theme;
	if (!term_start(term, err)) {
		free(term);
		return NULL;
	}
	colours_begin(term, wishes);
	glyphs_begin(term, wishes, out_note);
	term->shown = canvas_new(1, 1);
	term->is_new = true;
	stray_take(term);
	bytes_out(STDOUT_FILENO, paste_on, sizeof(paste_on) - 1);
	ask_begin(term);
	return term;
}

static void mouse_send(bool is_on)
{
	bytes_out(STDOUT_FILENO, is_on ? mouse_on : mouse_off, is_on ? sizeof(mouse_on) - 1 : sizeof(mouse_off) - 1);
}

void term_mouse(struct terminal *term, bool is_on)
{
	if (term->has_mouse != is_on)
		mouse_send(is_on);
	term->has_mouse = is_on;
}

void term_close(struct terminal *term, struct span farewell)
{
	if (!term)
		return;
	term_mouse(term, false);
	bytes_out(STDOUT_FILENO, paste_off, sizeof(paste_off) - 1);
	endwin();
	stray_give(term);
	bytes_out(STDOUT_FILENO, farewell.at, farewell.len);
	signals_end();
	delscreen(term->screen);
	canvas_free(term->shown);
	free(term);
}

const char *term_name(const struct terminal *term)
{
	return term->name;
}

enum colour_level term_level(const struct terminal *term)
{
	return term->level;
}

/* Curses takes the normal screen for the one it is on, and goes to the other with the next frame. */
static void take_back(struct terminal *term)
{
	reset_prog_mode();
	bytes_out(STDOUT_FILENO, paste_on, sizeof(paste_on) - 1);
	if (term->has_mouse)
		mouse_send(true);
	term_resize(term);
}

void term_suspend(struct terminal *term)
{
	bytes_out(STDOUT_FILENO, paste_off, sizeof(paste_off) - 1);
	def_prog_mode();
	endwin();
	signals_stop_self();
	take_back(term);
}

void term_continue(struct terminal *term)
{
	endwin();
	take_back(term);
}

void term_send(struct terminal *term, struct span bytes)
{
	(void)term;
	bytes_out(STDOUT_FILENO, bytes.at, bytes.len);
}

bool term_copy(struct terminal *term, struct span text)
{
	static const char begin[] = "\033]52;c;", end[] = "\a";
	char *encoded;
	size_t len;

	if (text.len > COPY_BYTES_MAX)
		return false;
	encoded = memory_alloc(base64_room(text.len) + sizeof(begin) + sizeof(end));
	memcpy(encoded, begin, sizeof(begin) - 1);
	len = sizeof(begin) - 1 + base64_encode(text, encoded + sizeof(begin) - 1);
	memcpy(encoded + len, end, sizeof(end) - 1);
	term_send(term, span_make(encoded, len + sizeof(end) - 1));
	free(encoded);
	return true;
}
