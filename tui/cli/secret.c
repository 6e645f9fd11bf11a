/*
 * `weir secret put|unlock|seal`: a value from standard input or, typed blindly, from the terminal. It is never an argument,
 * and goes to the engine in a box that only that can open.
 */
#include "cli/cli_private.h"

#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#define LINE_BYTES_MAX 4096 /* what a terminal takes as one line */
#define MORE_WAIT_MS 50     /* the rest of a paste comes sooner, nobody types a line as fast */
#define MORE_MAX 200

static volatile sig_atomic_t was_interrupted;

static void on_interrupt(int signal_number)
{
	was_interrupted = signal_number;
}

/* A terminal that shows nothing of what is typed, until it is given back. */
struct blind {
	struct termios before;
	struct sigaction interrupt, quit, hangup, end;
	sigset_t mask;
};

/* They wait until somebody waits for a line: one that came a moment before would be lost, and reading go on for ever. */
static void hold_signals(sigset_t *out_before)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGQUIT);
	sigaddset(&held, SIGHUP);
	sigaddset(&held, SIGTERM);
	sigprocmask(SIG_BLOCK, &held, out_before);
}

static void blind_begin(struct blind *blind, int fd)
{
	struct sigaction action = { .sa_handler = on_interrupt }; /* without SA_RESTART: waiting ends */
	struct termios now;

	was_interrupted = 0;
	hold_signals(&blind->mask);
	sigaction(SIGINT, &action, &blind->interrupt);
	sigaction(SIGQUIT, &action, &blind->quit);
	sigaction(SIGHUP, &action, &blind->hangup);
	sigaction(SIGTERM, &action, &blind->end);
	tcgetattr(fd, &blind->before);
	now = blind->before;
	now.c_lflag &= ~(tcflag_t)ECHO;
	now.c_lflag |= ICANON | ECHONL | ISIG;
	now.c_cc[VSUSP] = _POSIX_VDISABLE; /* it would leave the shell blind */
	tcsetattr(fd, TCSAFLUSH, &now);
}

static void blind_end(const struct blind *blind, int fd)
{
	tcsetattr(fd, TCSAFLUSH, &blind->before);
	sigaction(SIGINT, &blind->interrupt, NULL);
	sigaction(SIGQUIT, &blind->quit, NULL);
	sigaction(SIGHUP, &blind->hangup, NULL);
	sigaction(SIGTERM, &blind->end, NULL);
	sigprocmask(SIG_SETMASK, &blind->mask, NULL);
}

static struct secret *read_line(int fd, const sigset_t *mask, struct error *err)
{
	struct pollfd typed = { .fd = fd, .events = POLLIN };
	struct secret *line = secret_new(LINE_BYTES_MAX);
	ssize_t n;

	do {
		n = ppoll(&typed, 1, NULL, mask);
		if (n > 0)
			n = read(fd, secret_bytes(line), LINE_BYTES_MAX);
	} while (n < 0 && errno == EINTR && !was_interrupted);
	if (n >= 0 && !was_interrupted) {
		secret_cut(line, (size_t)n);
		return line;
	}
	secret_free(line);
	if (was_interrupted)
		fail(err, ERROR_CANCELLED, "cancelled", "nothing was typed");
	else
		fail_errno(err, errno, "cannot read from the terminal");
	return NULL;
}

/* The rest of what was pasted, which the shell would take for commands, and keep. True: there was some. */
static bool drop_more(int fd)
{
	struct pollfd typed = { .fd = fd, .events = POLLIN };
	bool has_more = false;

	for (int i = 0; i < MORE_MAX && poll(&typed, 1, MORE_WAIT_MS) > 0 && typed.revents == POLLIN; i++) {
		tcflush(fd, TCIFLUSH);
		has_more = true;
	}
	return has_more;
}

static struct secret *read_one_line(int fd, const sigset_t *mask, struct error *err)
{
	struct secret *line = read_line(fd, mask, err);

	if (!line || !drop_more(fd))
		return line;
	secret_free(line);
	fail(err, ERROR_USAGE, "secret_many_lines", "more than one line was typed; give it from a file: < FILE");
	return NULL;
}

/* One line end at most belongs to the typing, not to the secret. */
static void cut_line_end(struct secret *secret)
{
	size_t len = secret_length(secret);

	if (len && secret_look(secret)[len - 1] == '\n')
		len--;
	if (len && secret_look(secret)[len - 1] == '\r')
		len--;
	secret_cut(secret, len);
}

static struct secret *ask(const char *what, struct error *err)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct secret *line;
	struct blind blind;

	if (fd < 0) {
		fail_errno(err, errno, "cannot open the terminal to ask for the %s", what);
		return NULL;
	}
	fprintf(stderr, "%s (it is not shown): ", what);
	fflush(stderr);
	blind_begin(&blind, fd);
	line = read_one_line(fd, &blind.mask, err);
	blind_end(&blind, fd);
	if (!line)
		fputc('\n', stderr);
	else
		cut_line_end(line);
	close(fd);
	return line;
}

static bool is_same(const struct secret *a, const struct secret *b)
{
	return secret_length(a) == secret_length(b) && memcmp(secret_look(a), secret_look(b), secret_length(a)) == 0;
}

static struct secret *ask_twice(const char *what, struct error *err)
{
	struct secret *first = ask(what, err), *second = first ? ask("the same once more", err) : NULL;

	if (first && second && is_same(first, second)) {
		secret_free(second);
		return first;
	}
	if (first && second)
		fail(err, ERROR_USAGE, "passphrase_differs", "the two are not the same; nothing was changed");
	secret_free(first);
	secret_free(second);
	return NULL;
}

static struct secret *read_value(enum command_id id, struct error *err)
{
	struct secret *value;

	if (isatty(STDIN_FILENO)) {
		if (id == COMMAND_secret_put)
			return ask("value of the secret", err);
		return id == COMMAND_secret_seal ? ask_twice("new passphrase of the vault", err)
		                                 : ask("passphrase of the vault", err);
	}
	value = secret_read(STDIN_FILENO, SECRET_BYTES_MAX, err);
	if (value && id != COMMAND_secret_put)
		cut_line_end(value);
	return value;
}

/* Nobody is asked for what will be refused: the engine must be there first. */
int cli_secret(const struct home *home, struct command_line *line)
{
	enum command_id id = (enum command_id)(line->command - command_table);
	bool needs_value = id != COMMAND_secret_seal || json_is_true(json_object_get(line->args, "passphrase"));
	struct client_hooks hooks = { .on_note = cli_note };
	struct error err = { 0 };
	struct client *client = client_open_or_start(home, &hooks, &err);
	struct secret *value = client && needs_value ? read_value(id, &err) : NULL;
	json_t *sealed = value ? client_seal(client, value, &err) : NULL;

	secret_free(value);
	client_close(client);
	if (!client || (needs_value && !sealed))
		return cli_complain(&err, line);
	if (sealed)
		json_object_set_new(line->args, "sealed_secret", sealed);
	return cli_engine_command(home, line, line->command->call);
}

static void print_vault(const json_t *vault)
{
	const char *state = cli_word(vault, "vault"), *by = cli_word(vault, "sealed_by");
	OWNED(text) line = text_new(8192);

	text_add_format(line, "the vault is %s%s%s", state, *by ? ", sealed by its " : "", by);
	if (strcmp(state, "locked") == 0)
		text_add(line, "; weir secret unlock opens it");
	cli_print_wrapped(line->at, 0);
}

/* A line of the vault, then one of each secret; or what an act has led to. */
void print_secret(const json_t *secret, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "SECRET", 32, 12, 0, false }, { "VERSION", 7, 0, 0, true }, { "CHANGED", 20, 0, 1, false },
	};
	char version[24];

	if (!secret)
		return;
	if (json_object_get(secret, "vault")) {
		print_vault(secret);
	} else if (json_object_get(secret, "changed")) {
		const char *const cells[] = { cli_word(secret, "secret"), cli_number_cell(secret, "version", version),
			                      cli_word(secret, "changed") };

		PRINT_CELLS(state, columns, cells);
	} else {
		printf("secret %s: %s", cli_word(secret, "secret"),
		       json_is_true(json_object_get(secret, "deleted")) ? "deleted" : "kept, version ");
		if (json_object_get(secret, "version"))
			printf("%lld", cli_number(secret, "version"));
		putchar('\n');
	}
}
