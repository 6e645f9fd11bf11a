/*
 * Every failure has a stable reason code; this is the one table of them.
 * `weir explain CODE` shows a row, messages end with its next step.
 */
#ifndef WEIR_BASE_REASON_H
#define WEIR_BASE_REASON_H

#include <stddef.h>

struct reason {
	const char *code;
	const char *summary; /* one sentence: what it means */
	const char *causes;  /* likely causes, one a line */
	const char *checks;  /* what to look at, one a line */
	const char *next;    /* the next safe step, one sentence or command */
};

extern const struct reason reasons[];
extern const size_t reason_count;

const struct reason *reason_find(const char *code); /* NULL: no such code */

#endif
