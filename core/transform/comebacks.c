/*
 * A column that the source drops and makes again, where no schema-change message
 * tells of it: a schema block without the column says that it was gone there. Rows
 * from before that have, once the column is back, its default or NULL, and the
 * source sends none of them again.
 * What is remembered here of columns outlives the run (comebacks_kept.c).
 */
#include "transform/statements_private.h"

#define FIRST_ORDINAL 2 /* of places inside an event: 0 and 1 are rows' */
#define ORDINALS 250

void presences_free(struct table *table)
{
	free(table->presences);
	text_free(table->presences_text);
}

struct presence *presence_of(struct table *table, size_t column)
{
	if (table->presence_room < table->schema.count) {
		size_t room = table->schema.count + 16, old = table->presence_room;

		table->presences = memory_grow(table->presences, room * sizeof(*table->presences));
		memset(table->presences + old, 0, (room - old) * sizeof(*table->presences));
		table->presence_room = room;
	}
	return &table->presences[column];
}

/* One log with one order of schema changes, of which no message tells: not documents, not shards. */
static bool is_told_by_blocks_alone(const struct debezium *d, const struct event *e)
{
	static const enum field places[] = { FIELD_LSN, FIELD_SEQUENCE, FIELD_COMMIT_LSN, FIELD_SCN, FIELD_COMMIT_SCN, FIELD_FILE };

	if (!e->block || e->is_document || d->has_ddl || e->position_kind != POSITION_LOG ||
	    !value_is_null(&e->fields[FIELD_VGTID]) || !value_is_null(&e->fields[FIELD_ORD]))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!value_is_null(&e->fields[places[i]]))
			return true;
	}
	return false;
}

/* Which of the table's columns the shape has. */
static void shape_find_columns(struct shape *shape, const struct table *table)
{
	if (shape->column_count == table->schema.count)
		return;
	shape->column_count = table->schema.count;
	shape->has = arena_zalloc(shape->arena, shape->column_count * sizeof(*shape->has));
	shape->has_default = arena_zalloc(shape->arena, shape->column_count * sizeof(*shape->has_default));
	for (size_t i = 0; i < shape->count; i++) {
		int32_t column = shape->members[i].column;

		if (column < 0)
			continue;
		shape->has[column] = true;
		shape->has_default[column] = shape->members[i].has_default;
	}
	shape->lacks = false;
	for (size_t c = 0; c < shape->column_count; c++)
		shape->lacks |= !shape->has[c];
}

static void presence_add(struct presence *p, const struct position *first, const struct position *last)
{
	if (!p->is_seen || position_compare(first, &p->first) < 0)
		p->first = *first;
	if (!p->is_seen || position_compare(last, &p->last) > 0)
		p->last = *last;
	p->is_seen = true;
}

static void presence_lose(struct presence *p, const struct position *at)
{
	if (!p->is_gone || position_compare(at, &p->gone) > 0)
		p->gone = *at;
	p->is_gone = true;
}

/* There, gone and there again, and not yet told. */
static bool presence_is_new(const struct presence *p)
{
	return p->is_seen && p->is_gone && position_compare(&p->first, &p->gone) < 0 && position_compare(&p->gone, &p->last) < 0 &&
	       (!p->is_told || position_compare(&p->told, &p->gone) < 0);
}

/* The block of rows that have the column again says what the others got. False: that block was in an earlier run, and
 * has a default: the next row that has the column brings it again. */
static bool default_of(struct debezium *d, struct event *e, size_t column, const struct presence *p, struct span *out)
{
	const struct table *table = e->table;

	for (size_t s = 0; s < SHAPES_MAX && table->shapes[s]; s++) {
		struct shape *shape = table->shapes[s];

		shape_find_columns(shape, table);
		if (!shape->has[column] || !shape->block || position_compare(&shape->last, &p->gone) <= 0)
			continue;
		*out = column_default(d, e, shape->block, (int)column);
		return true;
	}
	*out = NOTHING;
	return !p->has_default;
}

static void come_back(struct debezium *d, struct event *e, size_t column, struct presence *p)
{
	struct span value, name = e->table->more[column].quoted;
	struct position at = p->gone;
	struct record *record;

	if (!default_of(d, e, column, p, &value))
		return;
	e->table->step_at = &at;
	table_step(e->table, e->table->columns[column].name, "gone for a while", value.len ? "rows before it have the default"
	                                                                                   : "rows before it are NULL");
	e->table->step_at = NULL;
	table_change(e->table, "column came back", e->table->columns[column].name);
	record = schema_record(d, e, OP_ALTER);
	if (!record)
		return;
	at.ordinal = (uint8_t)(FIRST_ORDINAL + column % ORDINALS);
	position_pack(&at, record->position);
	record->full_record = span_of(arena_printf(e->batch->arena, "{\"move\":{},\"set\":{%.*s%.*s},\"fill\":{}}", SPAN_ARG(name),
	                                           SPAN_ARG(value.len ? value : SPAN("null"))));
	if (d->wants_proto)
		record->proto = record_proto(e, record, NULL, NULL);
	p->is_told = true;
	p->told = p->gone;
}

/* Until a row lacks a column each shape remembers for its columns where they were, and were not. */
static void shape_tell(struct shape *shape, struct table *table)
{
	for (size_t c = 0; shape->is_placed && c < table->schema.count; c++) {
		struct presence *p = presence_of(table, c);

		if (!shape->has[c]) {
			presence_lose(p, &shape->last);
			continue;
		}
		presence_add(p, &shape->first, &shape->last);
		if (position_compare(&shape->last, &p->last) == 0)
			p->has_default = shape->has_default[c];
	}
}

/* Rows of an earlier run lacked what has been added since. */
static void past_tell(struct table *table)
{
	for (size_t c = table->past_count; table->past_count && c < table->schema.count; c++)
		presence_lose(presence_of(table, c), &table->past_last);
}

void presences_gather(struct table *table)
{
	past_tell(table);
	for (size_t s = 0; s < SHAPES_MAX && table->shapes[s]; s++) {
		shape_find_columns(table->shapes[s], table);
		shape_tell(table->shapes[s], table);
	}
}

/* Does any row lack a column? Looked at again when the table has got another one. */
static bool table_lacks(struct table *table)
{
	if (table->lacks_count == table->schema.count)
		return table->may_lack;
	table->lacks_count = table->schema.count;
	table->may_lack |= table->past_count && table->past_count < table->schema.count;
	for (size_t s = 0; s < SHAPES_MAX && table->shapes[s]; s++) {
		shape_find_columns(table->shapes[s], table);
		table->may_lack |= table->shapes[s]->lacks;
	}
	if (table->may_lack)
		presences_gather(table);
	return table->may_lack;
}

static void shape_place(struct shape *shape, const struct position *at)
{
	if (!shape->is_placed || position_compare(at, &shape->first) < 0)
		shape->first = *at;
	if (!shape->is_placed || position_compare(at, &shape->last) > 0)
		shape->last = *at;
	shape->is_placed = true;
}

void comebacks_follow(struct debezium *d, struct event *e, struct shape *shape)
{
	struct table *table = e->table;

	if (!is_told_by_blocks_alone(d, e))
		return;
	shape_find_columns(shape, table);
	shape_place(shape, &e->position);
	table->is_followed = true;
	if (shape->lacks && !table->may_lack)
		table->lacks_count = 0;
	if (!table_lacks(table))
		return;
	for (size_t c = 0; c < table->schema.count; c++) {
		struct presence *p = presence_of(table, c);

		if (shape->has[c])
			presence_add(p, &e->position, &e->position);
		else
			presence_lose(p, &e->position);
		if (!table->columns[c].key_ordinal && presence_is_new(p))
			come_back(d, e, c, p);
	}
}
