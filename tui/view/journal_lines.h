/* Lines of the journal in a pane: on the overview, and before a first bad event. */
#ifndef WEIR_TUI_VIEW_JOURNAL_LINES_H
#define WEIR_TUI_VIEW_JOURNAL_LINES_H

#include "view/view.h"

/* A rule and the newest lines below it, newest first, of a job or (job "") of all. The last line is the newest change of the
 * settings of the job that is in trouble (`troubled`, or ""), if it is not among them. */
void journal_draw(struct console *console, const char *job, const char *troubled, int lines, struct area area);
/* What it asks for its lines. */
const struct answer *journal_ask(struct model *model, const char *job, int lines);
/* "paused shop.carts: "source team backfills carts"": a line as a sentence. */
void journal_sentence(const json_t *line, struct text *out);
/* An act that failed or was refused; not one that only told its count and waited for a yes. */
bool journal_has_failed(const json_t *line);

#endif
