/*
 * Names come from outside: what they may hold, what they become (base/name.h
 * has the rules), and which table a name of the configuration means.
 */
#include "transform/debezium_private.h"

#include "base/text.h"

#define COLLIDED_BYTES_MAX 1014

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool span_same_word(struct span a, struct span b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++) {
		if (lower(a.at[i]) != lower(b.at[i]))
			return false;
	}
	return true;
}

/* Names reach SQL quoted; a back-quote or a control character in one is an attack or a mistake. */
bool name_is_fine(struct span name)
{
	if (name.len == 0 || name.len > NAME_BYTES_MAX)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.at[i];

		if (c < 0x20 || c == 0x7f || c == '`')
			return false;
		if (c == 0xc2 && i + 1 < name.len && (unsigned char)name.at[i + 1] < 0xa0)
			return false; /* C1 controls */
	}
	return true;
}

struct span source_name(struct arena *arena, struct span db, struct span schema, struct span table)
{
	const struct span parts[] = { db, schema, table };
	size_t len = 0, room = db.len + schema.len + table.len + 2;
	char *at = arena_bytes(arena, room);

	for (size_t i = 0; i < 3; i++) {
		if (parts[i].len == 0)
			continue;
		if (len)
			at[len++] = '.';
		memcpy(at + len, parts[i].at, parts[i].len);
		len += parts[i].len;
	}
	arena_shrink(arena, at, room, len);
	return span_make(at, len);
}

bool name_matches(struct span pattern, struct span source, struct span table)
{
	if (pattern.len == 0)
		return true;
	if (pattern.len < table.len || pattern.len > source.len)
		return false;
	struct span tail = { source.at + source.len - pattern.len, pattern.len };

	return span_equal(tail, pattern) && (pattern.len == source.len || tail.at[-1] == '.');
}

static struct span table_destination(const char *pattern, struct arena *arena, struct span db, struct span schema,
                              struct span table, unsigned *out_changes)
{
	const struct {
		struct span word, value;
	} parts[] = { { SPAN("{db}"), db }, { SPAN("{schema}"), schema }, { SPAN("{table}"), table } };
	struct span rest = span_of(pattern);
	OWNED(text) out = text_new(4 * NAME_BYTES_MAX + rest.len * NAME_BYTES_MAX);

	while (rest.len) {
		size_t step = 0;

		for (size_t i = 0; i < 3 && !step; i++) {
			if (rest.len >= parts[i].word.len && memcmp(rest.at, parts[i].word.at, parts[i].word.len) == 0) {
				text_add_span(out, parts[i].value);
				step = parts[i].word.len;
			}
		}
		if (!step) {
			text_add_char(out, *rest.at);
			step = 1;
		}
		rest = span_make(rest.at + step, rest.len - step);
	}
	return name_at_destination(NAME_TABLE, arena_copy(arena, text_span(out)), arena, out_changes);
}

/* SQLite's names have no case, nor have those of a dataset that is made so; and a changelog beside its replica takes a
 * name too. Tables of JSON rows at BigQuery are those that the messages name, letter for letter, as in the original. */
static bool names_clash(const struct job_options *options, struct span a, struct span b)
{
	struct span tail = SPAN("_changelog");

	if (options->template == TEMPLATE_PUBSUB_CDC && options->warehouse == WAREHOUSE_BIGQUERY)
		return span_equal(a, b);
	if (name_equal(a, b))
		return true;
	if (options->template == TEMPLATE_PUBSUB_CDC || !options->change_log_dataset || !options->replica_dataset ||
	    strcmp(options->change_log_dataset, options->replica_dataset) != 0)
		return false;
	if (a.len < b.len) {
		struct span swap = a;

		a = b;
		b = swap;
	}
	return a.len > tail.len && name_equal(span_make(a.at, a.len - tail.len), b) &&
	       span_same_word(span_make(a.at + a.len - tail.len, tail.len), tail);
}

static const struct table *table_in_the_way(const struct debezium *d, const struct table *table, struct span name)
{
	for (size_t i = 0; i < d->table_count; i++) {
		const struct table *other = d->tables[i];

		if (d->mapping && !span_equal(other->schema.dataset, table->schema.dataset))
			continue;
		if (other != table && !other->is_collided && names_clash(d->options, other->schema.name, name))
			return other;
	}
	return NULL;
}

/* Lists have limits. */
static struct span head_of(struct span name)
{
	size_t len = name.len < COLLIDED_BYTES_MAX ? name.len : COLLIDED_BYTES_MAX;

	while (len < name.len && (name.at[len] & 0xc0) == 0x80)
		len--;
	return span_make(name.at, len);
}

/* Nothing is made for it, but lists, letters and parked records need a name that is no other's: the source's own. */
static void table_collide(struct event *e, struct table *table, const struct table *other, struct span name)
{
	table->collision = arena_printf(table->arena, "%.*s would be stored as %.*s, which %.*s already is",
	                                SPAN_ARG(table->schema.source), SPAN_ARG(name), SPAN_ARG(other->schema.source));
	table->schema.name = head_of(table->schema.source);
	table_note(e, NOTE_NAME_COLLISION, "name_collision", table->collision);
}

/* Which name the table gets, and whether another has it. A table that is parked looks again in each run: its owner
 * may have set tableNamePattern. */
void table_choose_name(struct debezium *d, struct event *e, struct table *table)
{
	const char *pattern = d->options->table_name_pattern ? d->options->table_name_pattern : "{table}";
	unsigned changes = 0;
	struct span name = d->mapping ? table->name
	                              : table_destination(pattern, table->arena, table->db, table->schema_name, table->name,
	                                                  &changes);
	const struct table *other = table_in_the_way(d, table, name);
	bool was_collided = table->is_collided;

	table->is_collided = other != NULL;
	if (other) {
		table_collide(e, table, other, name);
		return;
	}
	table->schema.name = name;
	if (changes)
		table_note(e, NOTE_RENAMED, "renamed",
		           arena_printf(e->batch->arena, "the table is stored as %.*s: %s", SPAN_ARG(name),
		                        name_change_text(changes)));
	if (was_collided) {
		table->schema.notes &= ~(unsigned)NOTE_NAME_COLLISION;
		table_change(table, "has a name of its own", name);
	}
}
