/* The state of "why", shared by its rooms: the page in words, and the view with its keys. */
#ifndef WEIR_VIEW_WHY_PRIVATE_H
#define WEIR_VIEW_WHY_PRIVATE_H

#include "view/names.h"
#include "view/view.h"
#include "widget/lines.h"

#include <jansson.h>

#define WHY_LINE_BYTES 4096

struct why {
	struct lines *lines;
	struct name_words words; /* job ("-": any), table */
	size_t finding;          /* of several: n and N */
};

/* Answers are lent until the model's next step. */
const struct answer *why_ask(struct view *view);
/* The chosen one of the answer; NULL: none. */
const json_t *why_finding(struct view *view);
/* The step that has this number on the page, from 1; NULL: none. */
const json_t *why_step_of(const json_t *finding, int number);
/* The whole page into the view's lines. On few rows less. */
void why_page(struct view *view, int cols, int rows);

#endif
