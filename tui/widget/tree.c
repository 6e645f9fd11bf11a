/* JSON with folds; see tree.h. */
#include "widget/tree.h"
#include "base/arena.h"

#include <stdlib.h>
#include <strings.h>

#define NODES_MAX 20000 /* laid out at once */
#define PATH_BYTES 1024
#define VALUE_BYTES 65536
#define DEPTH_MAX 60
#define NAME_COLS 14

struct node {
	const json_t *value;
	const char *name; /* of a member; NULL in an array */
	size_t index;     /* in its parent */
	int depth;
	size_t parent;
	bool is_folded;
};

struct fold {
	char *path;
	bool is_folded;
};

struct tree {
	json_t *root;
	char *pointed;
	struct node *node;
	size_t count, at, top;
	int page;
	struct fold *folds;
	size_t fold_count;
};

#define FOLDS_MAX 500

struct tree *tree_new(void)
{
	struct tree *tree = memory_zalloc(sizeof(*tree));

	tree->node = memory_alloc(NODES_MAX * sizeof(*tree->node));
	tree->folds = memory_zalloc(FOLDS_MAX * sizeof(*tree->folds));
	tree->pointed = memory_string("");
	tree->page = 1;
	return tree;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	while (tree->fold_count)
		free(tree->folds[--tree->fold_count].path);
	json_decref(tree->root);
	free(tree->pointed);
	free(tree->folds);
	free(tree->node);
	free(tree);
}

static void path_of(const struct tree *tree, size_t at, char separator, struct text *out)
{
	const struct node *node = &tree->node[at];

	if (!at)
		return;
	path_of(tree, node->parent, separator, out);
	if (separator == '/' || node->parent)
		text_add_char(out, separator);
	if (node->name)
		text_add(out, node->name);
	else
		text_add_format(out, "%zu", node->index);
}

static bool is_container(const json_t *value)
{
	return json_is_object(value) || json_is_array(value);
}

/* What leads to the pointed node is open, and the row after the change; everything else deeper than the root is folded. */
static bool is_open_at_first(const struct tree *tree, const char *path)
{
	size_t len = strlen(path);

	if (strncmp(tree->pointed, path, len) == 0 && (tree->pointed[len] == '.' || tree->pointed[len] == '\0') && *tree->pointed)
		return true;
	return strcmp(path, "after") == 0 || strcmp(path, "payload") == 0 || strcmp(path, "payload.after") == 0;
}

static bool is_folded(const struct tree *tree, size_t at)
{
	OWNED(text) path = text_new(PATH_BYTES);

	if (!at || !is_container(tree->node[at].value))
		return false;
	path_of(tree, at, '.', path);
	for (size_t i = 0; i < tree->fold_count; i++) {
		if (strcmp(tree->folds[i].path, path->at) == 0)
			return tree->folds[i].is_folded;
	}
	return !is_open_at_first(tree, path->at);
}

static void layout(struct tree *tree, const json_t *value, const char *name, size_t index, size_t parent, int depth)
{
	size_t at = tree->count, i;
	const char *member;
	const json_t *child;

	if (at == NODES_MAX || depth > DEPTH_MAX)
		return;
	tree->node[tree->count++] = (struct node){ value, name, index, depth, parent, false };
	tree->node[at].is_folded = is_folded(tree, at);
	if (tree->node[at].is_folded)
		return;
	if (json_is_object(value)) {
		i = 0;
		json_object_foreach((json_t *)value, member, child)
			layout(tree, child, member, i++, at, depth + 1);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, child)
			layout(tree, child, NULL, i, at, depth + 1);
	}
}

static void relayout(struct tree *tree)
{
	tree->count = 0;
	if (tree->root)
		layout(tree, tree->root, "", 0, 0, 0);
	if (tree->at >= tree->count)
		tree->at = tree->count ? tree->count - 1 : 0;
}

static bool is_pointed(const struct tree *tree, size_t at)
{
	OWNED(text) path = text_new(PATH_BYTES);

	path_of(tree, at, '.', path);
	return *tree->pointed && strcmp(path->at, tree->pointed) == 0;
}

void tree_set(struct tree *tree, json_t *root, const char *pointed)
{
	if (root == tree->root && strcmp(pointed, tree->pointed) == 0)
		return;
	json_decref(tree->root);
	free(tree->pointed);
	tree->root = json_incref(root);
	tree->pointed = memory_string(pointed);
	tree->at = tree->top = 0;
	relayout(tree);
	for (size_t i = 0; i < tree->count; i++) {
		if (is_pointed(tree, i))
			tree->at = i;
	}
}

/*
 * Drawing.
 */
static enum role value_text(const json_t *value, struct text *out)
{
	char *text;

	switch (json_typeof(value)) {
	case JSON_OBJECT: text_add_format(out, "(object, %zu members)", json_object_size(value)); return ROLE_dim;
	case JSON_ARRAY: text_add_format(out, "(array, %zu elements)", json_array_size(value)); return ROLE_dim;
	case JSON_STRING:
	case JSON_INTEGER:
	case JSON_REAL:
	case JSON_TRUE:
	case JSON_FALSE:
	case JSON_NULL: break;
	}
	text = json_dumps(value, JSON_ENCODE_ANY);
	text_add(out, text ? text : "?");
	free(text);
	return json_is_string(value) ? ROLE_json_string : json_is_number(value) ? ROLE_json_number : ROLE_json_word;
}

static void draw_node(const struct tree *tree, struct area area, int row, size_t at)
{
	const struct node *node = &tree->node[at];
	bool is_marked = is_pointed(tree, at);
	char index[24];
	int col = 2 + node->depth * 2, used;
	OWNED(text) value = text_new(VALUE_BYTES);
	enum role role = value_text(node->value, value);

	snprintf(index, sizeof(index), "%zu", node->index);
	draw_text(area, row, 0, ROLE_text, at == tree->at ? ">" : " ");
	if (is_marked)
		draw_text(area, row, 1, ROLE_error, "!");
	draw_text(area, row, col, ROLE_dim, !is_container(node->value) ? " " : node->is_folded ? "+" : "-");
	used = draw_text(area, row, col + 2, is_marked ? ROLE_error : ROLE_json_key, !at ? "" : node->name ? node->name : index);
	col += 2 + (at ? (used > NAME_COLS ? used : NAME_COLS) + 1 : 0);
	if (col < area.cols)
		draw_field(area, row, col, area.cols - col, -1, is_marked ? ROLE_error : role, text_span(value));
	if (at == tree->at)
		draw_role(area, row, 0, area.cols, ROLE_selection);
}

void tree_draw(struct tree *tree, struct area area)
{
	tree->page = area.rows > 0 ? area.rows : 1;
	if (tree->at < tree->top)
		tree->top = tree->at;
	if (tree->at >= tree->top + (size_t)tree->page)
		tree->top = tree->at - (size_t)tree->page + 1;
	for (int row = 0; row < area.rows && tree->top + (size_t)row < tree->count; row++)
		draw_node(tree, area, row, tree->top + (size_t)row);
	pick_rows(area, 0, tree->count - tree->top < (size_t)tree->page ? (int)(tree->count - tree->top) : tree->page);
	cursor_put(area, (int)(tree->at - tree->top), 0);
}

/*
 * Keys.
 */
static void fold_set(struct tree *tree, size_t at, bool folded)
{
	OWNED(text) path = text_new(PATH_BYTES);

	path_of(tree, at, '.', path);
	for (size_t i = 0; i < tree->fold_count; i++) {
		if (strcmp(tree->folds[i].path, path->at) == 0) {
			tree->folds[i].is_folded = folded;
			relayout(tree);
			return;
		}
	}
	if (tree->fold_count < FOLDS_MAX)
		tree->folds[tree->fold_count++] = (struct fold){ memory_string(path->at), folded };
	relayout(tree);
}

/* Left folds, or goes to the parent; right unfolds. */
static void sideways(struct tree *tree, bool is_left)
{
	const struct node *node = &tree->node[tree->at];

	if (!is_left && node->is_folded)
		fold_set(tree, tree->at, false);
	else if (is_left && tree->at && is_container(node->value) && !node->is_folded)
		fold_set(tree, tree->at, true);
	else if (is_left && tree->at)
		tree->at = node->parent;
}

static void open_node(struct tree *tree, struct text *say)
{
	const struct node *node = &tree->node[tree->at];

	if (is_container(node->value) && tree->at)
		fold_set(tree, tree->at, !node->is_folded);
	else
		value_text(node->value, say);
}

bool tree_act(struct tree *tree, enum action_id action, struct text *say)
{
	size_t page = (size_t)tree->page, last = tree->count ? tree->count - 1 : 0, at = tree->at;

	if (!tree->count)
		return false;
	switch ((int)action) {
	case ACTION_down: at++; break;
	case ACTION_up: at -= at > 0; break;
	case ACTION_first: at = 0; break;
	case ACTION_last: at = last; break;
	case ACTION_half_down: at += page / 2; break;
	case ACTION_half_up: at -= at < page / 2 ? at : page / 2; break;
	case ACTION_page_down: at += page; break;
	case ACTION_page_up: at -= at < page ? at : page; break;
	case ACTION_left:
	case ACTION_right: sideways(tree, action == ACTION_left); return true;
	case ACTION_fold: fold_set(tree, tree->at, tree->at && !tree->node[tree->at].is_folded); return true;
	case ACTION_open: open_node(tree, say); return true;
	default: return false;
	}
	tree->at = at < last ? at : last;
	return true;
}

bool tree_selected(const struct tree *tree, struct text *out_path, struct text *out_value)
{
	if (!tree->count)
		return false;
	path_of(tree, tree->at, '/', out_path);
	value_text(tree->node[tree->at].value, out_value);
	return true;
}

static bool node_has(const struct tree *tree, size_t at, const char *word)
{
	const struct node *node = &tree->node[at];
	OWNED(text) value = text_new(VALUE_BYTES);

	if (node->name && strcasestr(node->name, word))
		return true;
	if (is_container(node->value) && !node->is_folded)
		return false;
	if (is_container(node->value)) {
		char *text = json_dumps(node->value, JSON_COMPACT);

		text_add(value, text ? text : "");
		free(text);
	} else {
		value_text(node->value, value);
	}
	return strcasestr(value->at, word);
}

bool tree_search(struct tree *tree, const char *word, bool is_back)
{
	for (size_t step = 1; *word && step <= tree->count; step++) {
		size_t at = (tree->at + (is_back ? tree->count - step : step)) % tree->count;

		if (!node_has(tree, at, word))
			continue;
		tree->at = at;
		if (tree->node[at].is_folded && !strcasestr(tree->node[at].name ? tree->node[at].name : "", word)) {
			fold_set(tree, at, false);
			return tree_search(tree, word, false);
		}
		return true;
	}
	return false;
}
