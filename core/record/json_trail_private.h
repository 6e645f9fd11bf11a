/*
 * A trail: what came between the values of earlier texts, as a tree. Nearly every
 * text of a stream has the names of one before it, in the same order; then each
 * name and its punctuation are one comparison of bytes that were found to be JSON
 * before, only the values are read, and whoever looks for names need not: `places`
 * tells the values. Where a text leaves the tree the ordinary walk goes on.
 */
#ifndef WEIR_RECORD_JSON_TRAIL_PRIVATE_H
#define WEIR_RECORD_JSON_TRAIL_PRIVATE_H

#include "record/json_private.h"

#define STEP_BYTES 48
#define STEPS_MAX 4096
#define TRAIL_DEPTH 3     /* payload, envelope, row: what lies deeper is one value */

/* `},"name":` or `{"name":`, from behind one value to the next. Step 0 is the start. */
struct step {
	char text[STEP_BYTES];
	uint8_t len;
	uint8_t closes;   /* brackets in front */
	uint8_t name_at, name_len;
	bool opens;
	bool is_known;    /* the root's "schema": its value is not looked into */
	bool is_stuck;    /* something that cannot be learned came behind it */
	uint32_t child;   /* what may come behind the value; the latest first */
	uint32_t next;    /* another child of the same step */
};

struct json_trail {
	struct step *steps;
	uint32_t count;
	uint32_t base;    /* of the numbers handed out: a renewed tree has others */
	uint32_t misses;
	bool is_stuck;    /* where the last text left the tree */
};

/* From step `node` on, as long as all is as it was the last time; returns the last step. *is_inside: is an object to be
 * opened next? What is special, and what little is left at the end of the text, is for others. */
uint32_t json_trail_run(struct json_reader *reader, const struct step *steps, uint32_t node, struct json_doc *doc,
                        bool *is_inside);

#endif
