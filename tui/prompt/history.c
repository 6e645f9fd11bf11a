/* Lines that were typed, kept for the next time; see prompt_private.h. */
#include "base/arena.h"
#include "base/clean.h"
#include "base/file.h"
#include "prompt/prompt_private.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>

/* Secrets never belong on a line (they are asked for); but what looks like one is not written to disk even so. */
bool history_may_keep(const char *line)
{
	static const char *const secrets[] = { "private_key", "-----BEGIN", "password", "passphrase", "secret", "token=" };

	if (!*line || *line == ' ')
		return false;
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++) {
		if (strcasestr(line, secrets[i]))
			return false;
	}
	return true;
}

/* The beginning of the last HISTORY_LINES_MAX lines. */
static const char *last_lines(const char *text, size_t len)
{
	const char *at = text + len;
	size_t lines = 0;

	while (at > text && lines <= HISTORY_LINES_MAX) {
		at--;
		lines += *at == '\n';
	}
	return lines > HISTORY_LINES_MAX ? at + 1 : text;
}

static void add_lines(char *at)
{
	while (*at) {
		size_t len = strcspn(at, "\n");
		bool is_last = !at[len];

		at[len] = '\0';
		if (len && len < PROMPT_BYTES_MAX && utf8_is_valid(span_make(at, len)))
			add_history(at);
		at += len + !is_last;
	}
}

void history_load(const char *path)
{
	char *text = NULL;
	const char *from;
	size_t len = 0;

	if (!file_read(path, HISTORY_FILE_BYTES_MAX, &text, &len, NULL))
		return;
	len = strlen(text); /* nothing behind a NUL was written by us */
	from = last_lines(text, len);
	if (from > text)
		file_replace(path, span_of(from), NULL);
	add_lines(text + (from - text));
	free(text);
}

void history_keep(const char *folder, const char *path, const char *line)
{
	OWNED(text) whole = text_new(PROMPT_BYTES_MAX + 1);
	struct stat found;
	int fd;

	if (!text_add(whole, line) || !text_add_char(whole, '\n') || !folder_make(folder, NULL))
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (fd < 0)
		return;
	/* A file that was opened to others is closed to them first. One write: two consoles never mix their lines. */
	if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_size < HISTORY_FILE_BYTES_MAX - PROMPT_BYTES_MAX &&
	    fchmod(fd, 0600) == 0 && write(fd, whole->at, whole->len) != (ssize_t)whole->len)
		(void)!ftruncate(fd, found.st_size);
	close(fd);
}
