/*
 * Where columns were and were not in the log, written down with the job's position
 * (source_position.logs) and read by the next run, so that a run's end changes
 * nothing of what comes back. Neighbours of one presence, nearly always all columns
 * of the table, are one entry:
 *
 *   number entry entry;number entry;...     entry: columns,first,last,gone,told,default
 *
 * A position is epoch/a/b/c/ordinal in hexadecimal, or empty. Where MySQL's schema
 * changes tell it, that is all there is: "ddl".
 */
#include "transform/debezium_private.h"

#include <stdlib.h>

#define TABLE_BYTES_MAX (16u << 10)
#define ALL_BYTES_MAX (1u << 20) /* what does not fit is forgotten with the run */

void position_keep(struct text *out, const struct position *p)
{
	text_add_format(out, "%llx/%llx/%llx/%llx/%x", (unsigned long long)p->epoch, (unsigned long long)p->a, (unsigned long long)p->b,
	                (unsigned long long)p->c, p->ordinal);
}

static void position_write(struct text *out, bool is_there, const struct position *p)
{
	text_add_char(out, ',');
	if (is_there)
		position_keep(out, p);
}

static bool position_equal(bool is_there, const struct position *a, const struct position *b)
{
	return !is_there || position_compare(a, b) == 0;
}

static bool presence_equal(const struct presence *a, const struct presence *b)
{
	return a->is_seen == b->is_seen && a->is_gone == b->is_gone && a->is_told == b->is_told && a->has_default == b->has_default &&
	       position_equal(a->is_seen, &a->first, &b->first) && position_equal(a->is_seen, &a->last, &b->last) &&
	       position_equal(a->is_gone, &a->gone, &b->gone) && position_equal(a->is_told, &a->told, &b->told);
}

static void presence_write(struct text *out, size_t columns, const struct presence *p)
{
	text_add_format(out, " %zu", columns);
	position_write(out, p->is_seen, &p->first);
	position_write(out, p->is_seen, &p->last);
	position_write(out, p->is_gone, &p->gone);
	position_write(out, p->is_told, &p->told);
	text_add_format(out, ",%d", p->has_default);
}

static struct text *table_write(struct table *table)
{
	struct text *out = text_new(TABLE_BYTES_MAX);
	size_t count = table->schema.count;

	text_add_format(out, "%u", (unsigned)table->number);
	for (size_t c = 0, next; c < count; c = next) {
		for (next = c + 1; next < count && presence_equal(presence_of(table, c), presence_of(table, next));)
			next++;
		presence_write(out, next - c, presence_of(table, c));
	}
	text_add_char(out, ';');
	if (out->is_full)
		text_clear(out);
	return out;
}

/* Only of tables that had rows since; the others say what they said. */
static bool table_has_changed(struct table *table)
{
	struct text *text;
	bool is_same;

	if (!table->is_followed)
		return false;
	table->is_followed = false;
	presences_gather(table);
	text = table_write(table);
	is_same = table->presences_text && span_equal(text_span(text), text_span(table->presences_text));
	text_free(table->presences_text);
	table->presences_text = text;
	return !is_same;
}

bool presences_have_changed(struct debezium *d)
{
	bool has_changed = d->has_ddl != d->is_ddl_kept;

	d->is_ddl_kept = d->has_ddl;
	for (size_t i = 0; i < d->table_count && !d->has_ddl; i++)
		has_changed |= table_has_changed(d->tables[i]);
	return has_changed;
}

struct span presences_text(struct debezium *d, struct arena *arena)
{
	OWNED(text) out = text_new(ALL_BYTES_MAX);

	if (d->has_ddl)
		return SPAN("ddl");
	for (size_t i = 0; i < d->table_count; i++) {
		if (d->tables[i]->presences_text)
			text_add_span(out, text_span(d->tables[i]->presences_text));
	}
	return arena_copy(arena, text_span(out));
}

bool kept_number(const char **at, int base, uint64_t *out)
{
	char *end;

	*out = strtoull(*at, &end, base);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

bool kept_char(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

bool kept_position(const char **at, struct position *out)
{
	uint64_t ordinal;

	if (!kept_number(at, 16, &out->epoch) || !kept_char(at, '/') || !kept_number(at, 16, &out->a) || !kept_char(at, '/') ||
	    !kept_number(at, 16, &out->b) || !kept_char(at, '/') || !kept_number(at, 16, &out->c) || !kept_char(at, '/') ||
	    !kept_number(at, 16, &ordinal))
		return false;
	out->ordinal = (uint8_t)ordinal;
	return true;
}

/* False: it is damaged. */
static bool position_take(const char **at, bool *out_is_there, struct position *out)
{
	if (!kept_char(at, ','))
		return false;
	*out_is_there = **at != ',';
	return !*out_is_there || kept_position(at, out);
}

static bool presence_take(const char **at, uint64_t *out_columns, struct presence *out)
{
	uint64_t has_default;

	*out = (struct presence){ 0 };
	if (!kept_number(at, 10, out_columns) || !position_take(at, &out->is_seen, &out->first) ||
	    !position_take(at, &out->is_seen, &out->last) || !position_take(at, &out->is_gone, &out->gone) ||
	    !position_take(at, &out->is_told, &out->told) || !kept_char(at, ',') || !kept_number(at, 10, &has_default))
		return false;
	out->has_default = has_default;
	return true;
}

static void past_add(struct table *table, const struct presence *p)
{
	const struct position *last = p->is_gone && (!p->is_seen || position_compare(&p->last, &p->gone) < 0) ? &p->gone : &p->last;

	if (position_compare(&table->past_last, last) < 0)
		table->past_last = *last;
	table->may_lack |= p->is_gone;
	table->past_count++;
}

static bool table_take(struct debezium *d, const char **at)
{
	struct table *table;
	struct presence p;
	uint64_t number, columns;

	if (!kept_number(at, 10, &number) || number >= d->table_count)
		return false;
	table = d->tables[number];
	while (kept_char(at, ' ')) {
		if (!presence_take(at, &columns, &p))
			return false;
		for (; columns && table->past_count < table->schema.count; columns--) {
			*presence_of(table, table->past_count) = p;
			past_add(table, &p);
		}
	}
	table->lacks_count = table->past_count;
	return kept_char(at, ';');
}

static void table_keep_text(struct debezium *d, const char *begin, const char *end)
{
	struct table *table = d->tables[strtoul(begin, NULL, 10)];

	if (!table->presences_text)
		table->presences_text = text_new(TABLE_BYTES_MAX);
	text_add_span(table->presences_text, span_make(begin, (size_t)(end - begin)));
}

void presences_read(struct debezium *d, struct span text)
{
	struct arena *arena = arena_new(text.len + 1);
	const char *at = arena_string(arena, text), *begin = at;

	d->has_ddl = d->is_ddl_kept = span_is(text, "ddl");
	while (!d->has_ddl && table_take(d, &at)) {
		table_keep_text(d, begin, at);
		begin = at;
	}
	arena_free(arena);
}
