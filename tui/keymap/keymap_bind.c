/* One line of a key file that binds keys or takes them away. */
#include "action/places.h"
#include "base/clean.h"
#include "keymap/keymap_private.h"

#define NOTE_BYTES_MAX 200

/* Keys end where a word is none; a ':' behind a key begins a command. */
static bool read_keys(struct reading *reading, struct sequence *out)
{
	size_t at = reading->at;
	struct sequence keys = { .count = 0 };
	struct key key;

	while (reading->at < reading->line.len && key_parse(peek_word(reading), &key) &&
	       !(keys.count && span_is(peek_word(reading), ":"))) {
		if (keys.count == SEQUENCE_KEYS_MAX)
			return problem(reading, reading->at, "more than %d keys", SEQUENCE_KEYS_MAX);
		keys.keys[keys.count++] = key;
		take_word(reading);
	}
	if (!keys.count)
		return problem(reading, at, "'%.*s' is no key", (int)peek_word(reading).len, peek_word(reading).at);
	*out = keys;
	return true;
}

/* The last quoted text of the line; cut off from it. */
static bool read_note(struct reading *reading, struct span *out)
{
	struct span line = reading->line;
	size_t begin = line.len - 1;

	if (line.len < reading->at + 2 || line.at[line.len - 1] != '"')
		return problem(reading, line.len, "a note in quotes is missing at the end: it becomes the help");
	while (begin > reading->at && line.at[begin - 1] != '"')
		begin--;
	if (begin == reading->at)
		return problem(reading, line.len - 1, "the note's first quote is missing");
	*out = span_make(line.at + begin, line.len - 1 - begin);
	if (!out->len || out->len > NOTE_BYTES_MAX)
		return problem(reading, begin, "a note has 1 to %d bytes", NOTE_BYTES_MAX);
	reading->line.len = begin - 1;
	while (reading->line.len > reading->at && is_blank(reading->line.at[reading->line.len - 1]))
		reading->line.len--;
	return true;
}

static bool unknown_action(struct reading *reading, struct span text)
{
	const char *names[ACTIONS], *near;
	char typed[64];

	for (size_t i = 0; i < ACTIONS; i++) {
		size_t len = strlen(action_table[i].name);

		names[i] = action_table[i].name;
		if (text.len >= len && memcmp(text.at, names[i], len) == 0 && (text.len == len || text.at[len] == ' '))
			return problem(reading, reading->at, "action '%s' %s", names[i],
			               *action_table[i].argument ? "needs an argument" : "takes no argument");
	}
	snprintf(typed, sizeof(typed), "%.*s", (int)(text.len < 60 ? text.len : 60), text.at);
	near = nearest_word(typed, names, ACTIONS);
	return problem(reading, reading->at, "there is no action '%s'%s%s%s", typed, near ? "; did you mean '" : "", near ? near : "",
	               near ? "'?" : "");
}

static bool read_action(struct reading *reading, struct binding *binding, struct span *out_argument)
{
	struct span text = span_make(reading->line.at + reading->at, reading->line.len - reading->at);

	if (span_is(peek_word(reading), ":")) {
		take_word(reading);
		binding->action = ACTION_line;
		binding->is_run = true;
		*out_argument = span_make(reading->line.at + reading->at, reading->line.len - reading->at);
		return out_argument->len || problem(reading, reading->at, "a command is missing behind ':'");
	}
	if (!text.len)
		return problem(reading, reading->at, "an action is missing");
	if (!action_find(text, &binding->action, out_argument))
		return unknown_action(reading, text);
	if (binding->action == ACTION_step && (out_argument->len != 1 || *out_argument->at < '1' || *out_argument->at > '9'))
		return problem(reading, reading->at, "a step is a number from 1 to 9");
	if (binding->action == ACTION_go && !place_find(*out_argument))
		return problem(reading, reading->at, "there is no place '%.*s'", (int)out_argument->len, out_argument->at);
	return true;
}

/* With all that begin with its keys: "g nothing" frees g. */
static size_t rows_remove(struct reading *reading, const struct sequence *keys)
{
	struct key_table *table = reading->table;
	size_t kept = 0, before = table->count;

	for (size_t i = 0; i < table->count; i++) {
		struct key_row *row = &table->rows[i];

		if (row->binding.keys.count >= keys->count && sequences_meet(&row->binding.keys, keys))
			row_release(row);
		else
			table->rows[kept++] = *row;
	}
	table->count = kept;
	reading->keymap->binding_count -= before - kept;
	return before - kept;
}

static bool row_add(struct reading *reading, const struct key_row *row)
{
	struct key_table *table = reading->table;
	size_t room = table->room ? table->room * 2 : 32;

	if (reading->keymap->binding_count >= BINDINGS_MAX)
		return problem(reading, 0, "more than %d bindings", BINDINGS_MAX);
	if (table->count == table->room) {
		struct key_row *rows = realloc(table->rows, room * sizeof(*rows));

		if (!rows)
			return problem(reading, 0, "no memory");
		table->rows = rows;
		table->room = room;
	}
	table->rows[table->count++] = *row;
	reading->keymap->binding_count++;
	return true;
}

static bool take_away(struct reading *reading, const struct sequence *keys, size_t at)
{
	struct key_row row = { .binding.keys = *keys, .binding.table = reading->table->name, .is_nothing = true };
	const struct binding *below;
	size_t removed = rows_remove(reading, keys);

	/* What a table below has for them is hidden here. */
	if (keymap_find(reading->keymap, reading->table->name, keys, &below) != KEY_UNKNOWN)
		return row_add(reading, &row);
	return removed || problem(reading, at, "these keys do nothing already");
}

/* One key for two lengths would have to wait. */
static bool may_bind(struct reading *reading, const struct sequence *keys, size_t at)
{
	for (size_t i = 0; i < reading->table->count; i++) {
		const struct key_row *row = &reading->table->rows[i];
		const struct sequence *other = &row->binding.keys;
		OWNED(text) name = text_new(200);

		if (!sequences_meet(keys, other) || (other->count == keys->count && !reading->is_default) || row->is_nothing)
			continue;
		sequence_text(other, name);
		return problem(reading, at, "'%s' is bound in this table; take it away first: %s nothing", name->at, name->at);
	}
	return true;
}

static bool bind(struct reading *reading, const struct binding *binding, struct span argument, struct span note)
{
	struct key_row row = { .binding = *binding };

	rows_remove(reading, &binding->keys);
	row.binding.argument = strndup(argument.at ? argument.at : "", argument.len);
	row.binding.note = strndup(note.at, note.len);
	if (row.binding.argument && row.binding.note && row_add(reading, &row))
		return true;
	row_release(&row);
	return false;
}

bool binding_read(struct reading *reading)
{
	struct binding binding = { .table = reading->table->name, .is_yours = !reading->is_default };
	struct span argument = SPAN(""), note = SPAN("");
	size_t at = reading->at;

	if (!read_keys(reading, &binding.keys))
		return false;
	/* It needs no note: nothing is left to explain. */
	if (span_is(peek_word(reading), "nothing"))
		return take_away(reading, &binding.keys, at);
	return read_note(reading, &note) && read_action(reading, &binding, &argument) && may_bind(reading, &binding.keys, at) &&
	       bind(reading, &binding, argument, note);
}
