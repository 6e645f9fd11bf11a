/*
 * JSON as a tree with folds: what is shown of a payload. Only what is unfolded is laid
 * out. One node may be pointed at (`!`): the one that an error names.
 */
#ifndef WEIR_TUI_WIDGET_TREE_H
#define WEIR_TUI_WIDGET_TREE_H

#include "action/action.h"
#include "term/canvas.h"

#include <jansson.h>

struct tree;

struct tree *tree_new(void);
void tree_free(struct tree *tree);
/* Shows another document (a reference is taken; NULL: none). `pointed` is a path as letters have it, "after.phone", or "". Folds
 * made by hand stay from document to document, so that letters of one group can be compared. */
void tree_set(struct tree *tree, json_t *root, const char *pointed);
void tree_draw(struct tree *tree, struct area area);
/* Movements, fold, left and right, open (a cut value whole, in *say). True: it was one of these. */
bool tree_act(struct tree *tree, enum action_id action, struct text *say);
/* The selected node: its path ("/after/phone") and value. */
bool tree_selected(const struct tree *tree, struct text *out_path, struct text *out_value);
/* Finds the next node whose name or value has the word, unfolding what hides it. False: none. */
bool tree_search(struct tree *tree, const char *word, bool is_back);

#endif
