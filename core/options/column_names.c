/*
 * columnTypes names columns; one that names none changes nothing and nobody would notice. Tables may come later, so that it is
 * told, with the nearest name, and nothing is refused.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "base/file.h"
#include "options/options.h"

#include <stdlib.h>
#include <strings.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)

/* "public.orders" and "shop.public.orders": the shorter one is the end of the longer one. */
static bool tables_match(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);
	const char *longer = a_len >= b_len ? a : b, *shorter = a_len >= b_len ? b : a;
	size_t more = strlen(longer) - strlen(shorter);

	return strcmp(longer + more, shorter) == 0 && (!more || longer[more - 1] == '.');
}

static const char *last_part(const char *table)
{
	const char *dot = strrchr(table, '.');

	return dot ? dot + 1 : table;
}

/* A column's name may have dots: then the override's table is the longer part. */
static bool names(const struct column_override *o, const struct known_column *known)
{
	OWNED(text) wanted = text_new(8192);
	OWNED(text) whole = text_new(8192);

	if (strcasecmp(o->column, known->column) == 0)
		return tables_match(o->table, known->table);
	if (!strchr(known->column, '.'))
		return false;
	text_add_format(wanted, "%s.%s", o->table, o->column);
	text_add_format(whole, "%s.%s", known->table, known->column);
	return tables_match(wanted->at, whole->at);
}

/* As it is best typed: the table's own name is enough. NULL: nothing is near. The caller frees it. */
static char *nearest(const struct column_override *o, const struct known_column *known, size_t count)
{
	const char **words = memory_zalloc((count + 1) * sizeof(*words));
	OWNED(text) typed = text_new(8192);
	char *found = NULL;
	const char *near;

	for (size_t i = 0; i < count; i++) {
		OWNED(text) word = text_new(8192);

		text_add_format(word, "%s.%s", last_part(known[i].table), known[i].column);
		words[i] = text_take(word);
	}
	text_add_format(typed, "%s.%s", last_part(o->table), o->column);
	near = nearest_word(typed->at, words, count);
	found = near ? memory_string(near) : NULL;
	for (size_t i = 0; i < count; i++)
		free((char *)words[i]);
	free(words);
	return found;
}

bool column_override_known(const struct column_override *o, const struct known_column *known, size_t count,
                           struct text *out_sentence)
{
	char *near;

	for (size_t i = 0; i < count; i++) {
		if (names(o, &known[i]))
			return true;
	}
	near = nearest(o, known, count);
	text_add_format(out_sentence, "columnTypes: '%.200s.%.200s' is no column that is known yet", o->table, o->column);
	if (near)
		text_add_format(out_sentence, "; did you mean '%.200s'?", near);
	free(near);
	return false;
}

/* The columns that the file names; a file that cannot be read is told when the job starts. */
static json_t *source_columns(const char *path)
{
	char *text = NULL;
	size_t len = 0;
	json_t *root;

	if (!path || !file_read(path, FILE_BYTES_MAX, &text, &len, NULL))
		return NULL;
	root = json_loadb(text, len, 0, NULL);
	free(text);
	return root;
}

static struct known_column *known_of(json_t *root, size_t *out_count)
{
	struct known_column *known = NULL;
	size_t count = 0;
	const char *table, *column;
	json_t *node, *value;

	json_object_foreach(root, table, node) {
		json_object_foreach(json_object_get(node, "columns"), column, value) {
			known = memory_grow(known, (count + 1) * sizeof(*known));
			known[count++] = (struct known_column){ table, column };
		}
	}
	*out_count = count;
	return known;
}

void job_options_column_names(const struct job_options *options, void (*on_unknown)(void *context, const char *sentence),
                              void *context)
{
	json_t *root = source_columns(options->source_schema);
	size_t count = 0;
	struct known_column *known = known_of(root, &count);

	for (size_t i = 0; count && i < options->column_type_count; i++) {
		OWNED(text) sentence = text_new(1024);

		if (!column_override_known(&options->column_types[i], known, count, sentence))
			on_unknown(context, sentence->at);
	}
	free(known);
	json_decref(root);
}
