/* Names that the console knows: for completion, and so that a page of what does not exist is never opened. */
#ifndef WEIR_TUI_VIEW_KNOWN_NAMES_H
#define WEIR_TUI_VIEW_KNOWN_NAMES_H

#include <stdbool.h>

/* As prompt_names.each; `context` is the console. */
void known_names_each(void *context, const char *kind, const char *job,
                      void (*add)(void *to, const char *name, const char *note), void *to);

struct console;
struct error;

/* False: the engine has told of all jobs, and this one is none of them (`job_unknown`, with the nearest name). What is not known
 * yet is let through: the page itself says what the engine answers. */
bool known_job(struct console *console, const char *job, struct error *err);
/* The same of a table, of one job or of any ("" or "-"); with and without its dataset, as the engine takes it. */
bool known_table(struct console *console, const char *job, const char *table, struct error *err);

#endif
