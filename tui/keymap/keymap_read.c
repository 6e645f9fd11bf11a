/*
 * Key files, line by line. A line that is wrong is said with its column and left out; all
 * others hold, so that one mistake does not take the keyboard away.
 */
#include "base/clean.h"
#include "keymap/keymap_private.h"

#define LINE_BYTES_MAX 1000

/* The words are cleaned: they name what a stranger's file holds. */
bool problem(const struct reading *reading, size_t at, const char *format, ...)
{
	OWNED(text) words = text_new(4096);
	char plain[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(plain, sizeof(plain), format, args);
	va_end(args);
	clean_text(words, span_of(plain));
	text_add_format(reading->problems, "%s:%d:%zu: %s\n", reading->file, reading->line_number, at + 1, words->at);
	return false;
}

static void skip_blanks(struct reading *reading)
{
	while (reading->at < reading->line.len && is_blank(reading->line.at[reading->at]))
		reading->at++;
}

struct span peek_word(const struct reading *reading)
{
	size_t end = reading->at;

	while (end < reading->line.len && !is_blank(reading->line.at[end]))
		end++;
	return span_make(reading->line.at + reading->at, end - reading->at);
}

struct span take_word(struct reading *reading)
{
	struct span word = peek_word(reading);

	reading->at += word.len;
	skip_blanks(reading);
	return word;
}

/*
 * Tables
 */
static bool unknown_table(struct reading *reading, struct span name, size_t at)
{
	const char *names[KEY_TABLES_MAX], *near;
	char typed[TABLE_NAME_BYTES * 2];

	snprintf(typed, sizeof(typed), "%.*s", (int)(name.len < 40 ? name.len : 40), name.at);
	for (size_t i = 0; i < reading->keymap->table_count; i++)
		names[i] = reading->keymap->tables[i].name;
	near = nearest_word(typed, names, reading->keymap->table_count);
	return problem(reading, at, "there is no table '%s'%s%s%s", typed, near ? "; did you mean '" : "", near ? near : "",
	               near ? "'?" : "");
}

static struct key_table *table_add(struct reading *reading, struct span name, size_t at)
{
	struct keymap *keymap = reading->keymap;
	struct key_table *table = &keymap->tables[keymap->table_count];

	if (keymap->table_count == KEY_TABLES_MAX || name.len >= TABLE_NAME_BYTES) {
		problem(reading, at, "no more tables, or too long a name");
		return NULL;
	}
	memcpy(table->name, name.at, name.len);
	table->below = keymap->table_count ? &keymap->tables[0] : NULL;
	keymap->table_count++;
	return table;
}

/* A table below itself would be looked through for ever. */
static bool rest_on(struct reading *reading, struct span name, size_t at)
{
	struct key_table *below = table_find(reading->keymap, name);

	if (!below)
		return unknown_table(reading, name, at);
	for (const struct key_table *in = below; in; in = in->below) {
		if (in == reading->table)
			return problem(reading, at, "table '%s' rests on this one already", below->name);
	}
	reading->table->below = below;
	return true;
}

static bool read_table(struct reading *reading)
{
	size_t at = reading->at;
	struct span name = take_word(reading);

	reading->table = table_find(reading->keymap, name);
	reading->is_lost = false;
	if (!name.len)
		return problem(reading, at, "a table has a name");
	if (!reading->table && reading->is_default)
		reading->table = table_add(reading, name, at);
	reading->is_lost = !reading->table;
	if (!reading->table)
		return unknown_table(reading, name, at);
	at = reading->at;
	if (at == reading->line.len)
		return true;
	if (!span_is(take_word(reading), ":") || reading->at == reading->line.len)
		return problem(reading, at, "after the name: nothing, or ': TABLE' that it rests on");
	at = reading->at;
	return rest_on(reading, take_word(reading), at) &&
	       (reading->at == reading->line.len || problem(reading, reading->at, "one word too many"));
}

static bool read_line(struct reading *reading)
{
	struct span *line = &reading->line;

	reading->at = 0;
	while (line->len && (is_blank(line->at[line->len - 1]) || line->at[line->len - 1] == '\r'))
		line->len--;
	skip_blanks(reading);
	if (reading->at == line->len || line->at[reading->at] == '#')
		return true;
	if (line->len > LINE_BYTES_MAX)
		return problem(reading, LINE_BYTES_MAX, "a line of more than %d bytes", LINE_BYTES_MAX);
	for (size_t i = 0; i < line->len; i++) {
		if ((unsigned char)line->at[i] < ' ' && line->at[i] != '\t')
			return problem(reading, i, "a control character");
	}
	if (span_is(peek_word(reading), "table")) {
		take_word(reading);
		return read_table(reading);
	}
	if (reading->table)
		return binding_read(reading);
	return reading->is_lost || problem(reading, reading->at, "a binding stands below a line 'table NAME'");
}

void keymap_read_lines(struct keymap *keymap, const char *file, const char *text, bool is_default, struct text *problems)
{
	struct reading reading = { .keymap = keymap, .file = file, .problems = problems, .is_default = is_default };

	while (*text) {
		size_t len = strcspn(text, "\n");

		reading.line_number++;
		reading.line = span_make(text, len);
		read_line(&reading);
		text += len + (text[len] == '\n');
	}
}
