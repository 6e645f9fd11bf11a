/* How wide the paper is that is printed on, and words folded to it. What goes into a pipe stays as it is. */
#include "cli/cli_private.h"

#include "base/clean.h"
#include "base/page.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TEXT_BYTES (4u << 20)
#define ROWS_LEAST 10

static bool terminal_size(int fd, struct winsize *out)
{
	return isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, out) == 0;
}

size_t cli_columns(FILE *out)
{
	struct winsize size;

	return terminal_size(fileno(out), &size) && size.ws_col ? size.ws_col : PAGE_ENDLESS;
}

int64_t cli_page_rows(int lines_each)
{
	struct winsize size;
	int rows;

	if (!terminal_size(STDOUT_FILENO, &size))
		return 0;
	/* The title, what is left out, how many more there are, and the prompt stand there too. */
	rows = (size.ws_row - 4) / lines_each;
	return rows > ROWS_LEAST / lines_each ? rows : ROWS_LEAST / lines_each;
}

void cli_fold(FILE *out, const char *text, size_t from, size_t indent)
{
	OWNED(text) clean = text_new(TEXT_BYTES);
	OWNED(text) folded = text_new(TEXT_BYTES * 2);

	clean_text(clean, span_of(text ? text : ""));
	page_fold(folded, clean->at, cli_columns(out), from, indent);
	fprintf(out, "%s\n", folded->at);
}

/* Lines that are clean already, each folded by itself. */
void cli_fold_lines(FILE *out, const char *lines)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");
		OWNED(text) line = text_new(TEXT_BYTES);

		text_add_span(line, span_make(lines, len));
		cli_fold(out, line->at, 0, 0);
		lines += len + (lines[len] == '\n');
	}
}

void cli_print_wrapped(const char *text, size_t indent)
{
	cli_fold(stdout, text, indent, indent);
}

void cli_list_head(struct page_list *list, const struct page_column *columns, size_t count)
{
	OWNED(text) head = text_new(TEXT_BYTES);

	page_list_fit(list, columns, count, cli_columns(stdout));
	page_list_head(list, head);
	fputs(head->at, stdout);
}

void cli_list_row(const struct page_list *list, const char *const *cells)
{
	OWNED(text) row = text_new(TEXT_BYTES * 4);

	page_list_row(list, cells, row);
	fputs(row->at, stdout);
}

void cli_list_end(const struct page_list *list)
{
	OWNED(text) left_out = text_new(1024);
	OWNED(text) line = text_new(2048);

	page_list_left_out(list, left_out);
	text_add_format(line, "weir: no room for %s; a wider terminal or --json shows it", left_out->at);
	fflush(stdout);
	if (left_out->len)
		cli_fold(stderr, line->at, 0, 0);
}
