/* One dead letter inside: what its pages share. For letter*.c only. */
#ifndef WEIR_TUI_VIEW_LETTER_PRIVATE_H
#define WEIR_TUI_VIEW_LETTER_PRIVATE_H

#include "view/names.h"
#include "widget/hex.h"
#include "widget/lines.h"
#include "widget/tree.h"

#define LINE_BYTES 8192

enum page { PAGE_PAYLOAD, PAGE_RAW, PAGE_WHY, PAGES };

struct letter {
	struct name_words words; /* job, id */
	int64_t id;
	enum page page;
	bool is_page_chosen;     /* a payload that is no JSON opens as bytes */
	bool is_text;            /* bytes as text instead of hex */
	struct tree *tree;
	struct hex hex;
	struct lines *lines;
	char *bytes;             /* of the payload, decoded */
	json_t *payload;
	unsigned generation;
	int step;                /* -1, 1: to the letter before, behind, when the engine has told which it is */
	char word[200];          /* searched for */
};

/* letter_pages.c: the tabs in the first row, and what stands under them; `shown` is the letter as the engine has it. */
void letter_tabs(const struct letter *letter, const json_t *shown, struct area area);
void letter_payload(const struct letter *letter, const json_t *shown, struct area area);
void letter_raw(struct letter *letter, const json_t *shown, struct area area);

/* letter_why.c: why it is here, where it came from, what was tried, and the row that is in its place. */
void letter_why(struct view *view, const json_t *shown, struct area area);

/* letter_row.c: the row that the replica holds now for its key, beside what the letter has. */
void letter_row(const struct letter *letter, const json_t *shown, struct lines *lines);

#endif
