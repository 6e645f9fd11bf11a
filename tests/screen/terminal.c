/*
 * The terminal of the screen tests: runs one command in a pty, shows its output to libvterm, and does what lines on
 * standard input say. Each is answered by lines of which the last is `ok [VALUE]` or `error WHY`. Anything that is
 * awaited has a deadline, and a deadline that passes is an error: a test cannot pass because nothing came.
 */
#include "screen/picture.h"
#include "screen/pty.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_BYTES_MAX (1u << 20)
#define WORDS_MAX 64
#define SIZE_MAX_CELLS 1000
#define DEADLINE_MS 20000 /* unless given */

static struct pty pty = { .fd = -1, .slave = -1 };
static size_t bytes_told;
static unsigned sync_count;

/* Answers are NULL, or what failed; the value of one that went well is printed by itself. */
typedef const char *command_run(int count, char **words);

static long number_of(int count, char **words, int at, long otherwise)
{
	return at < count ? strtol(words[at], NULL, 10) : otherwise;
}

/* Both between 1 and SIZE_MAX_CELLS, else false. */
static bool size_of(char **words, int *out_rows, int *out_cols)
{
	long rows = strtol(words[0], NULL, 10), cols = strtol(words[1], NULL, 10);

	if (rows < 1 || cols < 1 || rows > SIZE_MAX_CELLS || cols > SIZE_MAX_CELLS)
		return false;
	*out_rows = (int)rows;
	*out_cols = (int)cols;
	return true;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* "%20" to a blank, in place. */
static void percent_decode(char *word)
{
	char *to = word;

	for (; *word; word++, to++) {
		*to = *word;
		if (*word == '%' && hex_digit(word[1]) >= 0 && hex_digit(word[2]) >= 0) {
			*to = (char)(hex_digit(word[1]) << 4 | hex_digit(word[2]));
			word += 2;
		}
	}
	*to = '\0';
}

/* start ROWS COLS TERM COMMAND...: words of the command have %20 for a blank. */
static const char *run_start(int count, char **words)
{
	int rows, cols;

	if (!size_of(words, &rows, &cols))
		return "no such size";
	if (pty.vterm)
		return "a command runs already";
	for (int i = 3; i < count; i++)
		percent_decode(words[i]);
	bytes_told = 0;
	return pty_start(&pty, rows, cols, words[2], words + 3);
}

static const char *run_keys(int count, char **words)
{
	size_t len = strlen(words[0]) / 2;
	char *hex = words[0];

	for (size_t i = 0; i < len; i++) {
		if (hex_digit(hex[2 * i]) < 0 || hex_digit(hex[2 * i + 1]) < 0)
			return "keys are bytes in hex";
		hex[i] = (char)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
	}
	return count == 1 && pty_send(&pty, hex, len) ? NULL : "the child takes no keys";
}

static bool is_taken(void)
{
	return pty_is_raw(&pty);
}

static char token[24];

static bool is_answered(void)
{
	return strcmp(pty.stream.token, token) == 0;
}

/* Reads on until `is_there`; NULL, or why it never was. */
static const char *await(bool (*is_there)(void), int64_t until_ms)
{
	while (!is_there()) {
		if (pty.fd < 0)
			return "hung up";
		if (pty_is_over(&pty))
			return "the child has ended";
		if (now_ms() >= until_ms)
			return "nothing came before the deadline";
		/* The taking of the terminal and the child's end wake nobody: they are looked for. */
		pty_pump(&pty, 5, -1);
	}
	return NULL;
}

/* sync [MS]: all that was sent is handled and what it changed is shown here. A child that has not yet taken the terminal
 * is waited for: whole lines would keep the token from it. */
static const char *run_sync(int count, char **words)
{
	int64_t until_ms = now_ms() + number_of(count, words, 0, DEADLINE_MS);
	char sequence[40];
	const char *failed = await(is_taken, until_ms);
	int len;

	if (failed)
		return failed;
	snprintf(token, sizeof(token), "t%u", ++sync_count);
	len = snprintf(sequence, sizeof(sequence), "\033]7717;%s\a", token);
	if (!pty_send(&pty, sequence, (size_t)len))
		return "the child takes no keys";
	failed = await(is_answered, until_ms);
	/* The answer is ours and not the screen's: not counted by `bytes`. */
	bytes_told += failed ? 0 : (size_t)len;
	return failed;
}

static const char *run_resize(int count, char **words)
{
	int rows, cols;

	if (!size_of(words, &rows, &cols) || pty.fd < 0)
		return "no such size";
	(void)count;
	pty_resize(&pty, rows, cols);
	return NULL;
}

static const char *run_screen(int count, char **words)
{
	int rows, cols;

	(void)count, (void)words;
	vterm_get_size(pty.vterm, &rows, &cols);
	picture_print(pty.screen, rows, cols, stdout);
	return NULL;
}

/* ROW COL 0|1: the last for a cursor that shows. */
static const char *run_cursor(int count, char **words)
{
	VTermPos at;

	(void)count, (void)words;
	vterm_state_get_cursorpos(vterm_obtain_state(pty.vterm), &at);
	printf("ok %d %d %d\n", at.row, at.col, pty.cursor_visible);
	return NULL;
}

/* How many have come since it was asked last, without answers to `sync`. */
static const char *run_bytes(int count, char **words)
{
	(void)count, (void)words;
	printf("ok %zu\n", pty.stream.total - bytes_told);
	bytes_told = pty.stream.total;
	return NULL;
}

static const char *run_stall(int count, char **words)
{
	(void)count;
	pty.is_stalled = strcmp(words[0], "on") == 0;
	return NULL;
}

/* more [MS]: waits until something has come, or for that long. */
static const char *run_more(int count, char **words)
{
	int64_t until_ms = now_ms() + number_of(count, words, 0, DEADLINE_MS);
	size_t before = pty.stream.total;

	while (pty.stream.total == before && !pty_is_over(&pty) && now_ms() < until_ms)
		pty_pump(&pty, 5, -1);
	return NULL;
}

/* signal NAME: TERM, HUP, TSTP, ... to the child. */
static const char *run_signal(int count, char **words)
{
	(void)count;
	for (int i = 1; i < NSIG; i++) {
		const char *name = sigabbrev_np(i);
		if (name && strcmp(name, words[0]) == 0)
			return pty.has_ended || kill(pty.child, i) != 0 ? "the child has ended" : NULL;
	}
	return "no such signal";
}

static const char *run_close(int count, char **words)
{
	(void)count, (void)words;
	pty_hang_up(&pty);
	return NULL;
}

/* wait [MS]: for the child's end; "exited STATUS" or "killed SIGNAL". */
static const char *run_wait(int count, char **words)
{
	int64_t until_ms = now_ms() + number_of(count, words, 0, DEADLINE_MS);

	while (!pty_is_over(&pty)) {
		if (now_ms() >= until_ms)
			return "the child has not ended before the deadline";
		pty_pump(&pty, 5, -1);
	}
	if (WIFSIGNALED(pty.status))
		printf("ok killed %d\n", WTERMSIG(pty.status));
	else
		printf("ok exited %d\n", WEXITSTATUS(pty.status));
	return NULL;
}

/* All bytes that are kept, in hex. */
static const char *run_raw(int count, char **words)
{
	(void)count, (void)words;
	fputs("ok ", stdout);
	for (size_t i = 0; i < pty.stream.len; i++)
		printf("%02x", (unsigned char)pty.stream.bytes[i]);
	putchar('\n');
	return NULL;
}

/* raw|lines, same|other (the terminal's modes against those before the start), and the private modes that are on. */
static const char *run_modes(int count, char **words)
{
	struct termios now;

	(void)count, (void)words;
	if (pty.slave < 0 || tcgetattr(pty.slave, &now) != 0)
		return "hung up";
	bool is_same = now.c_lflag == pty.modes_before.c_lflag && now.c_iflag == pty.modes_before.c_iflag &&
		       now.c_oflag == pty.modes_before.c_oflag && memcmp(now.c_cc, pty.modes_before.c_cc, sizeof(now.c_cc)) == 0;
	printf("ok %s %s", now.c_lflag & ICANON ? "lines" : "raw", is_same ? "same" : "other");
	for (int i = 0; i < pty.stream.mode_count; i++)
		printf(" %d", pty.stream.modes[i]);
	putchar('\n');
	return NULL;
}

/* From now on this terminal thinks otherwise than the program of how wide some characters are. */
static const char *run_widths(int count, char **words)
{
	(void)count;
	pty.stream.has_other_widths = strcmp(words[0], "other") == 0;
	return NULL;
}

/* The child's number. */
static const char *run_pid(int count, char **words)
{
	(void)count, (void)words;
	printf("ok %d\n", (int)pty.child);
	return NULL;
}

static const struct {
	const char *name;
	int words_min;
	bool prints; /* its own "ok" with a value */
	command_run *run;
} commands[] = {
	{ "start", 4, false, run_start },   { "keys", 1, false, run_keys },	{ "sync", 0, false, run_sync },
	{ "resize", 2, false, run_resize }, { "screen", 0, false, run_screen }, { "cursor", 0, true, run_cursor },
	{ "bytes", 0, true, run_bytes },    { "stall", 1, false, run_stall },	{ "signal", 1, false, run_signal },
	{ "close", 0, false, run_close },   { "wait", 0, true, run_wait },	{ "raw", 0, true, run_raw },
	{ "modes", 0, true, run_modes },    { "pid", 0, true, run_pid },
	{ "more", 0, false, run_more },	    { "widths", 1, false, run_widths },
};

static const char *command_do(int count, char **words, bool *out_prints)
{
	size_t i = 0, rows = sizeof(commands) / sizeof(*commands);

	*out_prints = false;
	while (i < rows && (count == 0 || strcmp(words[0], commands[i].name) != 0))
		i++;
	if (i == rows)
		return "no such command";
	if (count - 1 < commands[i].words_min)
		return "a word is missing";
	if (!pty.vterm && commands[i].run != run_start)
		return "nothing is started";
	*out_prints = commands[i].prints;
	return commands[i].run(count - 1, words + 1);
}

static void line_do(char *line)
{
	char *words[WORDS_MAX + 1], *rest = line;
	bool prints;
	int count = 0;

	while (count < WORDS_MAX && (words[count] = strtok_r(rest, " \n", &rest)))
		count++;
	words[count] = NULL;
	const char *failed = command_do(count, words, &prints);
	if (failed)
		printf("error %s\n", failed);
	else if (!prints)
		puts("ok");
	fflush(stdout);
}

int main(void)
{
	char *line = malloc(LINE_BYTES_MAX);
	size_t len = 0;
	ssize_t got;

	while (line) {
		/* The child is read between lines too: it shall not wait for the next one. */
		pty_pump(&pty, -1, STDIN_FILENO);
		struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
		if (poll(&input, 1, 0) <= 0)
			continue;
		got = read(STDIN_FILENO, line + len, LINE_BYTES_MAX - len - 1);
		if (got <= 0)
			break;
		len += (size_t)got;
		line[len] = '\0';
		/* The hands send one line and wait for its answer: what follows a line is nothing. */
		if (line[len - 1] == '\n') {
			line_do(line);
			len = 0;
		}
	}
	pty_end(&pty);
	free(line);
	return 0;
}
