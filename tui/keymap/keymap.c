/* Looking up keys in a chain of tables; see keymap.h. */
#include "keymap/keymap_private.h"

static const char default_keys[] =
#include "default.keys.inc"
	;

struct keymap *keymap_compiled(struct text *problems)
{
	struct keymap *keymap = calloc(1, sizeof(*keymap));

	/* Without memory for the keys there is no console. */
	if (!keymap)
		abort();
	keymap_read_lines(keymap, "default.keys", default_keys, true, problems);
	return keymap;
}

struct keymap *keymap_new(void)
{
	OWNED(text) problems = text_new(4096);

	return keymap_compiled(problems);
}

void row_release(struct key_row *row)
{
	free(row->binding.argument);
	free(row->binding.note);
}

void keymap_free(struct keymap *keymap)
{
	if (!keymap)
		return;
	for (size_t i = 0; i < keymap->table_count; i++) {
		for (size_t k = 0; k < keymap->tables[i].count; k++)
			row_release(&keymap->tables[i].rows[k]);
		free(keymap->tables[i].rows);
	}
	free(keymap);
}

void keymap_read(struct keymap *keymap, const char *file, const char *text, struct text *problems)
{
	keymap_read_lines(keymap, file, text, false, problems);
}

static bool begins_with(const struct sequence *keys, const struct sequence *beginning)
{
	for (size_t i = 0; i < beginning->count; i++) {
		if (i >= keys->count || keys->keys[i].code != beginning->keys[i].code || keys->keys[i].mods != beginning->keys[i].mods)
			return false;
	}
	return true;
}

bool sequences_meet(const struct sequence *a, const struct sequence *b)
{
	return a->count < b->count ? begins_with(b, a) : begins_with(a, b);
}

struct key_table *table_find(const struct keymap *keymap, struct span name)
{
	for (size_t i = 0; i < keymap->table_count; i++) {
		if (span_is(name, keymap->tables[i].name))
			return (struct key_table *)&keymap->tables[i];
	}
	return NULL;
}

struct key_row *row_find(const struct key_table *table, const struct sequence *keys)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct sequence *own = &table->rows[i].binding.keys;

		if (own->count == keys->count && begins_with(own, keys))
			return &table->rows[i];
	}
	return NULL;
}

/* A table that nobody knows has the keys that hold everywhere. */
static const struct key_table *table_of(const struct keymap *keymap, const char *name)
{
	const struct key_table *table = table_find(keymap, span_of(name));

	return table ? table : table_find(keymap, SPAN("global"));
}

static bool is_beginning(const struct key_table *table, const struct sequence *keys)
{
	for (size_t i = 0; i < table->count; i++) {
		if (!table->rows[i].is_nothing && begins_with(&table->rows[i].binding.keys, keys))
			return true;
	}
	return false;
}

/* "g nothing" in a nearer table hides "g d" of one below. */
static bool is_hidden(const struct key_table *table, const struct sequence *keys)
{
	for (size_t i = 0; i < table->count; i++) {
		if (table->rows[i].is_nothing && begins_with(keys, &table->rows[i].binding.keys))
			return true;
	}
	return false;
}

enum key_found keymap_find(const struct keymap *keymap, const char *table, const struct sequence *keys,
                           const struct binding **out_binding)
{
	if (!keys->count)
		return KEY_UNKNOWN;
	for (const struct key_table *in = table_of(keymap, table); in; in = in->below) {
		const struct key_row *row = row_find(in, keys);

		if (row && !row->is_nothing) {
			*out_binding = &row->binding;
			return KEY_FOUND;
		}
		if (is_beginning(in, keys))
			return KEY_PREFIX;
		if (is_hidden(in, keys))
			return KEY_UNKNOWN;
	}
	return KEY_UNKNOWN;
}

/* May a row of `own` be reached from `top`, or does a table between have its keys? Two that only begin alike are no trouble. */
static bool is_reachable(const struct key_table *top, const struct key_table *own, const struct sequence *keys)
{
	for (const struct key_table *in = top; in != own; in = in->below) {
		for (size_t i = 0; i < in->count; i++) {
			const struct key_row *row = &in->rows[i];

			if (row->is_nothing ? begins_with(keys, &row->binding.keys) : sequences_meet(keys, &row->binding.keys))
				return false;
		}
	}
	return true;
}

/* The at-th binding of a chain that begins with `prefix` and is longer. */
static const struct binding *chain_at(const struct keymap *keymap, const char *table, const struct sequence *prefix, size_t at)
{
	const struct key_table *top = table_of(keymap, table);

	for (const struct key_table *in = top; in; in = in->below) {
		for (size_t i = 0; i < in->count; i++) {
			const struct key_row *row = &in->rows[i];
			const struct sequence *keys = &row->binding.keys;

			if (row->is_nothing || keys->count <= prefix->count || !begins_with(keys, prefix) || !is_reachable(top, in, keys))
				continue;
			if (!at--)
				return &row->binding;
		}
	}
	return NULL;
}

const struct binding *keymap_at(const struct keymap *keymap, const char *table, size_t at)
{
	return chain_at(keymap, table, &(struct sequence){ .count = 0 }, at);
}

const struct binding *keymap_continue(const struct keymap *keymap, const char *table, const struct sequence *prefix, size_t at)
{
	return chain_at(keymap, table, prefix, at);
}

void keymap_key_of(const struct keymap *keymap, const char *table, enum action_id action, const char *argument,
                   struct text *out)
{
	const struct binding *binding;

	for (size_t at = 0; (binding = keymap_at(keymap, table, at)); at++) {
		if (binding->is_run || binding->action != action || (argument && strcmp(argument, binding->argument) != 0))
			continue;
		sequence_text(&binding->keys, out);
		return;
	}
}

bool sequence_text(const struct sequence *keys, struct text *out)
{
	bool is_fine = true;

	for (size_t i = 0; i < keys->count; i++) {
		char name[KEY_NAME_BYTES];

		key_to_name(keys->keys[i], name);
		is_fine = text_add_format(out, "%s%s", i ? " " : "", name) && is_fine;
	}
	return is_fine;
}

bool keymap_has_table(const struct keymap *keymap, const char *table)
{
	return table_find(keymap, span_of(table)) != NULL;
}

const char *keymap_table_at(const struct keymap *keymap, size_t at)
{
	return at < keymap->table_count ? keymap->tables[at].name : NULL;
}

const char *keymap_rests_on(const struct keymap *keymap, const char *table)
{
	const struct key_table *found = table_find(keymap, span_of(table));

	return found && found->below ? found->below->name : NULL;
}
