/* Standard error while the screen is up: what libraries print would land in its middle. It is kept, and shown at the end. */
#include "term/screen_private.h"
#include "base/arena.h"
#include "base/clean.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define STDERR_BYTES_MAX 16384

void stray_take(struct terminal *term)
{
	char path[] = "/tmp/weir-console-XXXXXX";

	term->stderr_before = term->stderr_kept = -1;
	if (!isatty(STDERR_FILENO))
		return;
	term->stderr_kept = mkostemp(path, O_CLOEXEC | O_APPEND);
	if (term->stderr_kept < 0)
		return;
	unlink(path);
	term->stderr_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(term->stderr_kept, STDERR_FILENO);
}

/* It may quote what a stranger wrote: line by line, as clean as all that is shown. */
static void lines_show(struct span text)
{
	struct text *clean = text_new(STDERR_BYTES_MAX * 8);

	while (text.len) {
		const char *end = memchr(text.at, '\n', text.len);
		size_t len = end ? (size_t)(end - text.at) : text.len;

		clean_text(clean, span_make(text.at, len));
		text_add(clean, "\n");
		len += end != NULL;
		text = span_make(text.at + len, text.len - len);
	}
	bytes_out(STDERR_FILENO, clean->at, clean->len);
	text_free(clean);
}

void stray_give(struct terminal *term)
{
	char *bytes;
	off_t size;
	ssize_t n;

	if (term->stderr_before < 0)
		return;
	dup2(term->stderr_before, STDERR_FILENO);
	close(term->stderr_before);
	bytes = memory_alloc(STDERR_BYTES_MAX);
	size = lseek(term->stderr_kept, 0, SEEK_END);
	n = pread(term->stderr_kept, bytes, STDERR_BYTES_MAX, size > STDERR_BYTES_MAX ? size - STDERR_BYTES_MAX : 0);
	if (n > 0)
		lines_show(span_make(bytes, (size_t)n));
	free(bytes);
	close(term->stderr_kept);
}
