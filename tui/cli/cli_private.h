/* Shared by the rooms of the command line. */
#ifndef WEIR_TUI_CLI_CLI_PRIVATE_H
#define WEIR_TUI_CLI_CLI_PRIVATE_H

#include "base/page.h"
#include "cli/cli.h"

#include <stdio.h>

/* Prints an error to stderr (as JSON with --json) and returns its exit status. */
int cli_complain(const struct error *err, const struct command_line *line);
void cli_note(void *context, const char *note);

/*
 * Paper (paper.c)
 */
/* Columns of the terminal, or PAGE_ENDLESS. */
size_t cli_columns(FILE *out);
/* How many rows of `lines_each` lines make a page on the terminal; 0: standard output is none. */
int64_t cli_page_rows(int lines_each);
/* Cleaned and with a newline; what begins in column `from` goes on in column `indent`. */
void cli_fold(FILE *out, const char *text, size_t from, size_t indent);
void cli_fold_lines(FILE *out, const char *lines);
/* A list for people: its columns as the terminal has room for them; at its end what had none is said. */
void cli_list_head(struct page_list *list, const struct page_column *columns, size_t count);
void cli_list_row(const struct page_list *list, const char *const *cells);
void cli_list_end(const struct page_list *list);

/* The object as one line on stdout. */
void cli_print_json(const json_t *object);
/* Text from outside: cleaned. */
void cli_print_text(const char *text);
/* A paragraph, cleaned, and a newline. On a terminal it breaks between words; `indent` columns stand before it already. */
void cli_print_wrapped(const char *text, size_t indent);

/*
 * Printers: objects of the engine's answer as lines for people.
 */
struct printer_state {
	const json_t *args; /* of the call */
	size_t count;   /* objects printed */
	struct page_list list; /* once its head is printed */
	char last[80];  /* name of the metric printed last */
};

/* print.c: members of an object, "" and 0 where it has none; "NEEDS YOU", or its state as it is */
const char *cli_word(const json_t *object, const char *name);
long long cli_number(const json_t *object, const char *name);
const char *cli_state(const json_t *object);
/* Left-aligned in `width` columns, cleaned; longer text is not cut: a cut name cannot be pasted. */
void cli_cell(const json_t *object, const char *name, int width);
/* A number of the object as a cell of a row; lent as `room` is. */
const char *cli_number_cell(const json_t *object, const char *name, char room[24]);
#define PRINT_CELLS(state, columns, cells) print_cells(state, columns, sizeof(columns) / sizeof(columns[0]), cells)
void print_cells(struct printer_state *state, const struct page_column *columns, size_t count, const char *const *cells);
void print_value(const json_t *value);

/* print_letters.c */
void print_letter_group(const json_t *group, struct printer_state *state);
void print_letter(const json_t *letter, struct printer_state *state);
void print_shown(const json_t *letter, struct printer_state *state);
void print_replayed(const json_t *run, struct printer_state *state);
void print_discarded(const json_t *answer, struct printer_state *state);

/* print_tables.c */
void print_listed_table(const json_t *table, struct printer_state *state);
/* `with_job`: the tables of several jobs. */
void print_table_row(const json_t *table, bool with_job, struct printer_state *state);
void print_why(const json_t *why, struct printer_state *state);

/* status.c */
void print_status(const json_t *object, struct printer_state *state);

/* "850ms", "4s", "3m", "2h", "5d": what fits into six columns. */
void cli_time_text(double ms, char out[16]);
/* history.c */
void print_history(const json_t *series, struct printer_state *state);

/* Why a job stands as it does, below its row; nothing when nothing is wrong. */
void print_reason(const json_t *job);

/* secret.c */
void print_secret(const json_t *secret, struct printer_state *state);

/* print_seek.c */
void print_sought(const json_t *line, struct printer_state *state);

/* records.c */
void print_journal(const json_t *line, struct printer_state *state);
void print_journal_before(const json_t *lines);
void print_log(const json_t *line, struct printer_state *state);

void (*printer_find(enum command_id command))(const json_t *object, struct printer_state *state);

/* The calls, with whatever is special about them. */
int cli_engine_command(const struct home *home, const struct command_line *line, const char *call);
int cli_run(const struct home *home, struct command_line *line, int argc, char **argv);
/* Of FILE|JOB: a word with a dot or a slash is a file, a registered job is a job, and then a file of that name is one. */
bool cli_names_file(const struct home *home, const char *word);
/* The engine's working folder is not ours: what names a file becomes absolute before it is sent. */
void cli_make_absolute(const struct home *home, const struct command_line *line);
int cli_export(const struct home *home, const struct command_line *line);
int cli_show(const struct home *home, const struct command_line *line);
int cli_replay(const struct home *home, struct command_line *line);
int cli_secret(const struct home *home, struct command_line *line);
int cli_bundle(const struct home *home, const struct command_line *line);
int cli_engine_start(const struct home *home, const struct command_line *line);
int cli_engine_status(const struct home *home, const struct command_line *line);
int cli_engine_stop(const struct home *home, const struct command_line *line);

struct keymap;
/* Every pressed key's name and what it does, until C-c twice; `no_terminal`. */
int cli_keys_try(const struct keymap *keymap, const struct command_line *line);

/* Answered here, from tables. */
int cli_check(const struct home *home, const struct command_line *line);
int cli_keys(const struct home *home, const struct command_line *line);
int cli_themes(const struct home *home, const struct command_line *line);
int cli_explain(const struct command_line *line);
int cli_version(const struct command_line *line);
int cli_help(int argc, char **argv);
void cli_command_help(const struct command *command);

#endif
