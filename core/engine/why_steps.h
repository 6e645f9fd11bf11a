/* The steps of `weir why`: commands without "weir", each with what it does. */
#ifndef WEIR_ENGINE_WHY_STEPS_H
#define WEIR_ENGINE_WHY_STEPS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct why_subject {
	const char *job, *table; /* "DATASET.TABLE", or "-" */
	const char *code;        /* "" when nothing is wrong */
	int64_t group;           /* of letters; 0: none */
	const char *column;      /* as the source names it; "": none */
	const json_t *types;     /* the job's columnTypes, which a step adds to; NULL: none */
	bool has_own_name;       /* the table's name here is not the source's: no type can be said of it by this one */
	bool is_append;          /* PubSub_CDC_to_BigQuery: columns that a table has are never changed */
	bool is_paused;
};

/* [{"text","command","lossy"}], the likeliest first; the caller owns it. */
json_t *why_steps(const struct why_subject *of);

#endif
