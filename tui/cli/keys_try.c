/* `weir keys --try`: pressed keys by name, and what they would do in which table. */
#include "cli/cli_private.h"

#include "keymap/keymap.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

/* For the handler: the terminal is given back whatever ends us. */
static struct termios saved;

static void give_back(int signal_number)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Only the table's own: what it rests on has a line of its own. True: longer ones begin so. */
static bool print_tables(const struct keymap *keymap, const struct sequence *keys)
{
	bool is_prefix = false, is_bound = false;
	const char *table;

	for (size_t i = 0; (table = keymap_table_at(keymap, i)); i++) {
		const struct binding *binding = NULL;
		enum key_found found = keymap_find(keymap, table, keys, &binding);

		is_prefix |= found == KEY_PREFIX;
		if (found != KEY_FOUND || strcmp(binding->table, table) != 0)
			continue;
		is_bound = true;
		printf("  %-9s %s%s%s: %s\r\n", table, binding->is_run ? ":" : action_table[binding->action].name,
		       *binding->argument ? " " : "", binding->argument, binding->note);
	}
	if (is_prefix)
		printf("  more keys may follow\r\n");
	else if (!is_bound)
		printf("  does nothing\r\n");
	return is_prefix && keys->count < SEQUENCE_KEYS_MAX;
}

static void print_key(const struct keymap *keymap, const struct key_event *event, struct sequence *keys)
{
	char name[KEY_NAME_BYTES];
	OWNED(text) names = text_new(200);

	key_to_name(event->key, name);
	if (!name[0]) {
		printf(event->key.code == KEY_PASTE_ ? "pasted text\r\n" : "no key, but an answer of the terminal\r\n");
		keys->count = 0;
		return;
	}
	keys->keys[keys->count++] = event->key;
	sequence_text(keys, names);
	printf("%s\r\n", names->at);
	if (!print_tables(keymap, keys))
		keys->count = 0;
}

/* Until C-c comes twice, or nobody types any more. */
static void read_keys(const struct keymap *keymap, struct input *input)
{
	struct sequence keys = { .count = 0 };
	bool was_end = false;

	for (;;) {
		int64_t due = input_due_ms(input), now = clock_ms();
		struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
		struct key_event event;
		char bytes[4096];
		int ready = poll(&wait, 1, due < 0 ? -1 : due > now ? (int)(due - now) : 0);
		ssize_t len = ready > 0 ? read(STDIN_FILENO, bytes, sizeof(bytes)) : 0;

		if ((ready < 0 && errno != EINTR) || (ready > 0 && len <= 0))
			return;
		if (len > 0)
			input_feed(input, bytes, (size_t)len, clock_ms());
		while (input_next(input, clock_ms(), &event)) {
			bool is_end = event.key.code == 'c' && event.key.mods == KEY_CTRL;

			print_key(keymap, &event, &keys);
			if (is_end && was_end)
				return;
			was_end = is_end;
		}
		fflush(stdout);
	}
}

int cli_keys_try(const struct keymap *keymap, const struct command_line *line)
{
	struct error err = { 0 };
	struct input *input = NULL;
	struct termios raw;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &saved) != 0) {
		fail(&err, ERROR_USAGE, "no_terminal", "--try reads keys, and this is no terminal");
		return cli_complain(&err, line);
	}
	input = input_new();
	raw = saved;
	cfmakeraw(&raw);
	signal(SIGTERM, give_back);
	signal(SIGHUP, give_back);
	printf("press keys; C-c twice ends\n");
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	fflush(stdout);
	if (input)
		read_keys(keymap, input);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	input_free(input);
	return 0;
}
