/*
 * The manual pages and the shell completion, made from the tables of commands,
 * exit statuses, parameters and reason codes. A program of the build
 * (`make docs`), no part of weir or weird.
 */
#ifndef WEIR_MANUAL_MANUAL_H
#define WEIR_MANUAL_MANUAL_H

#include "base/text.h"

/* Each adds one whole document; false when `out` is full. */
bool manual_weir(struct text *out);       /* weir(1) */
bool manual_weird(struct text *out);      /* weird(8) */
bool manual_job(struct text *out);        /* weir-job(5) */
bool manual_completion(struct text *out); /* for bash */

struct manual_document {
	const char *name; /* of the installed file */
	bool (*write)(struct text *out);
};
extern const struct manual_document manual_documents[];
extern const size_t manual_document_count;

#endif
