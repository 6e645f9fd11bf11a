/*
 * The keys of a screen, from the key table; places and commands with `:help places` and
 * `:help commands`. Typing narrows; Enter does what the row says.
 */
#include "base/arena.h"
#include "view/rows_view.h"

#include <stdlib.h>

#define LINE_BYTES 2048

struct help {
	struct rows *rows;
	json_t *made;
};

enum column { KEY, DOES, TABLE };

static const struct list_column columns[] = {
	[KEY] = { "KEY", "key", 12, -1, 0, 0, false, 'k' },
	[DOES] = { "DOES", "does", 30, -1, 0, 0, true, 'd' },
	[TABLE] = { "WHERE", "where", 10, -1, 1, 0, false, 'w' },
};

static void cell_text(const struct console *console, const json_t *row, size_t column, struct text *out)
{
	static const char *const members[] = { [KEY] = "key", [DOES] = "does", [TABLE] = "where" };

	(void)console;
	text_add(out, member_text(row, members[column]));
}

static void row_key(const json_t *row, char out[LIST_KEY_BYTES])
{
	snprintf(out, LIST_KEY_BYTES, "%.40s %.100s", member_text(row, "key"), member_text(row, "does"));
}

static void add(struct help *help, struct rows *rows, const char *key, const char *does, const char *where, const char *line)
{
	json_t *row = json_pack("{s:s, s:s, s:s, s:s}", "key", key, "does", does, "where", where, "line", line);

	if (!row)
		return;
	json_array_append_new(help->made, row);
	rows_add(rows, row);
}

/* The screen whose keys these are. */
static const struct view_ops *screen_of(const char *table)
{
	for (size_t i = 0; i < view_count; i++) {
		if (strcmp(views[i]->table, table) == 0)
			return views[i];
	}
	return NULL;
}

static bool is_meant(const struct view_ops *ops, const struct binding *binding)
{
	if (binding->action == ACTION_go)
		return view_find(binding->argument) != NULL;
	return binding->is_run || !ops || view_means(ops, binding->action);
}

/* Do both do the same? Steps differ only by their number. */
static bool is_same(const struct binding *a, const struct binding *b)
{
	return a->action == b->action && a->is_run == b->is_run && strcmp(a->table, b->table) == 0 &&
	       (a->action == ACTION_step || strcmp(a->argument, b->argument) == 0);
}

/* Keys that do the same share a row: "j Down". */
static void add_keys(struct view *view, struct rows *rows)
{
	const struct keymap *keymap = console_keymap(view->console);
	const struct view_ops *ops = screen_of(view->argument);
	const struct binding *binding, *next;

	for (size_t i = 0; (binding = keymap_at(keymap, view->argument, i)); i++) {
		OWNED(text) key = text_new(64);

		sequence_text(&binding->keys, key);
		while ((next = keymap_at(keymap, view->argument, i + 1)) && is_same(binding, next)) {
			OWNED(text) other = text_new(64);

			sequence_text(&next->keys, other);
			if (binding->action != ACTION_step)
				text_add_format(key, " %s", other->at);
			i++;
		}
		if (!is_meant(ops, binding))
			continue;
		if (binding->action == ACTION_step)
			text_add(key, "-9");
		add(view->state, rows, key->at, binding->action == ACTION_step ? "its step, put onto the command line" : binding->note,
		    binding->is_yours ? "yours" : binding->table, binding->is_run ? binding->argument : "");
	}
}

static void add_places(struct view *view, struct rows *rows)
{
	for (size_t i = 0; i < view_count; i++) {
		OWNED(text) name = text_new(64);

		text_add_format(name, ":%s", views[i]->name);
		add(view->state, rows, name->at, views[i]->help, "place", views[i]->name);
	}
}

static void add_commands(struct view *view, struct rows *rows)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		OWNED(text) does = text_new(LINE_BYTES);
		OWNED(text) name = text_new(64);

		text_add_format(name, ":%s", command_table[i].name);
		text_add_format(does, "%s  %s", command_table[i].help, command_table[i].args);
		add(view->state, rows, name->at, does->at, "command", "");
	}
}

static void collect(struct view *view, struct rows *rows)
{
	json_array_clear(((struct help *)view->state)->made);
	if (strcmp(view->argument, "places") == 0)
		add_places(view, rows);
	else if (strcmp(view->argument, "commands") == 0)
		add_commands(view, rows);
	else
		add_keys(view, rows);
}

static const struct rows_spec spec = { columns, 3, cell_text, NULL, row_key, NULL, collect };

static const struct {
	const char *word, *meaning;
} words[] = {
	{ "needs you", "somebody must act; a sentence says what and why" },
	{ "retrying", "it failed and is tried again by itself" },
	{ "waiting", "it waits for something that passes by itself" },
	{ "catching up", "it reads faster than new messages come" },
	{ "paused", "by a person; of a table the messages are parked" },
	{ "parked", "kept by weir until its table goes on; counted in the ledger" },
	{ "dead letter", "a message that was refused, with its exact bytes" },
	{ "dlq", "dead letters that are open: neither written since nor discarded" },
	{ "letters", "all that ever were refused: what the ledger counts" },
};

#define WORDS (int)(sizeof(words) / sizeof(*words))

static void help_draw(struct view *view, struct area area)
{
	struct rows *rows = rows_view_rows(view);
	int pane = area.rows > 16 ? WORDS + 1 : 0;
	struct area below = area_part(area, area.rows - pane, 0, pane, area.cols);

	rows_draw(view, rows, area_part(area, 0, 0, area.rows - pane, area.cols), true);
	if (!rows_count(rows))
		draw_text(area, 1, 1, ROLE_text, "no key says that; :help commands and :help places list more");
	if (!pane)
		return;
	draw_rule(below, 0, "words", ":help places   :help commands");
	for (int i = 0; i < WORDS; i++) {
		draw_text(below, i + 1, 1, ROLE_text, words[i].word);
		draw_text(below, i + 1, 15, ROLE_dim, words[i].meaning);
	}
}

static void help_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	(void)out_has_verdict;
	text_add_format(out, "help of %s", view->argument);
}

static void help_status(struct view *view, struct text *left, struct text *right)
{
	text_add(left, "keys that mean something there; / narrows");
	rows_status(view, rows_view_rows(view), right);
}

static const enum action_id *help_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_filter, ACTION_down, ACTION_up, ACTION_copy, ACTION_back, ACTIONS };

	(void)view;
	return hints;
}

static bool help_act(struct view *view, enum action_id action, const char *argument)
{
	const json_t *row;

	if (action != ACTION_open)
		return rows_act(view, rows_view_rows(view), action, argument);
	row = rows_selected(view, rows_view_rows(view));
	if (row && *member_text(row, "line"))
		console_run(view->console, member_text(row, "line"));
	else
		console_say(view->console, "press the key itself, back on the screen");
	return true;
}

static bool help_copy(struct view *view, bool is_finding, struct text *out)
{
	const json_t *row = rows_selected(view, rows_view_rows(view));

	(void)is_finding;
	return row && text_add_format(out, "%s  %s", member_text(row, "key"), member_text(row, "does"));
}

static bool help_open(struct view *view, struct error *err)
{
	struct help *help = memory_zalloc(sizeof(*help));

	(void)err;
	help->rows = rows_new(&spec);
	help->made = json_array();
	view->state = help;
	return true;
}

static void help_close(struct view *view)
{
	json_decref(((struct help *)view->state)->made);
	rows_view_close(view);
}

const struct view_ops view_help = {
	.name = "help",
	.table = "help",
	.help = "keys of a screen; places; commands",
	.open = help_open,
	.close = help_close,
	.draw = help_draw,
	.title = help_title,
	.status = help_status,
	.hints = help_hints,
	.act = help_act,
	.copy = help_copy,
	.fields = rows_view_fields,
	.filter = rows_view_filter,
	.filter_text = rows_view_filter_text,
};
