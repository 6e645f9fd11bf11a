/* Pieces of a manual page in the man macros. All text is escaped here, nowhere else. */
#ifndef WEIR_MANUAL_ROFF_PRIVATE_H
#define WEIR_MANUAL_ROFF_PRIVATE_H

#include "base/text.h"

/* A name and what is said about it. */
struct entry {
	const char *name, *text;
};

void roff_title(struct text *out, const char *name, int section, const char *what);
void roff_section(struct text *out, const char *title);
void roff_subsection(struct text *out, const char *title);
/* Running text; what stands in back-quotes is bold. */
void roff_text(struct text *out, const char *text);
void roff_paragraph(struct text *out, const char *text);
/* A usage as the command table has it: words of weir bold, words to be replaced italic. */
void roff_usage(struct text *out, const char *name, const char *args);
/* A term in bold, its text below it. */
void roff_item(struct text *out, const char *term, const char *text);
void roff_items(struct text *out, const struct entry *entries, size_t count);
/* Lines as they are. */
void roff_example(struct text *out, const char *lines);
/* The exit statuses, from their table. */
void roff_exit_statuses(struct text *out);

#endif
