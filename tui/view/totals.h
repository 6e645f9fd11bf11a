/* The whole engine in a few numbers: for the verdict on every screen and the head of the overview. */
#ifndef WEIR_TUI_VIEW_TOTALS_H
#define WEIR_TUI_VIEW_TOTALS_H

#include "view/view.h"

struct totals {
	bool is_known;
	int jobs, running;
	int needs_you, watch;        /* tables, and jobs whose own state it is */
	int needing_jobs;            /* of those that need somebody: jobs without such a table */
	int64_t dead_letters, groups, parked, in_flight, unbalanced;
	double in, out, bytes_in;    /* a second */
	double dead_rate;            /* letters a minute */
	int64_t lag_ms;              /* -1: none */
	const char *lag_name;        /* of the job or table that is worst */
	const char *worst;           /* its name */
	const char *worst_reason;
	bool is_blind;
};

/* Asks the model for what it needs. Texts live as long as the model's answers. */
void totals_ask(struct console *console, struct totals *out);
/* Does the job that a place's argument names lead to an emulator? Of a place that names none: does any? */
bool totals_emulated(struct console *console, const char *argument);
/* "RED: 1 table needs you", or in short "RED 1". */
void totals_verdict(const struct totals *totals, bool is_long, struct text *out);
enum role totals_role(const struct totals *totals);
/* ": shop.orders unknown_column phone, lag 7m34s, dlq 4,187", for the screen that is too small. */
void totals_worst(struct console *console, const struct totals *totals, struct text *out);

#endif
