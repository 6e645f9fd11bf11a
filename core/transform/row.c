/*
 * The hot path: a row's members to cells, and cells to the JSON text of
 * fullRecord.
 */
#include "transform/debezium_private.h"

#define JSON_ROOM_UNASKED (64u << 10) /* far below a block of the arena */

static bool shape_match(const struct shape *shape, const struct json_doc *doc, uint32_t object, uint32_t *tokens)
{
	uint32_t end = doc->tokens[object].next;
	size_t i = 0;

	for (uint32_t at = object + 1; at < end; at = doc->tokens[at + 1].next, i++) {
		struct span raw = json_raw(doc, at);

		if (i == shape->count || shape->members[i].name.len != raw.len ||
		    !bytes_equal(shape->members[i].name.at, raw.at, raw.len))
			return false;
		tokens[i] = at + 1;
	}
	return i == shape->count;
}

static void room_grow(struct row_room *room, size_t count)
{
	if (count <= room->room)
		return;
	room->room = count * 2;
	room->tokens = memory_grow(room->tokens, room->room * sizeof(*room->tokens));
	room->cells = memory_grow(room->cells, room->room * sizeof(*room->cells));
}

static size_t shapes_most(const struct table *table)
{
	size_t most = 16;

	for (size_t i = 0; i < SHAPES_MAX && table->shapes[i]; i++) {
		if (table->shapes[i]->count > most)
			most = table->shapes[i]->count;
	}
	return most;
}

static void shape_move_to_front(struct table *table, size_t i)
{
	struct shape *shape = table->shapes[i];

	memmove(&table->shapes[1], &table->shapes[0], i * sizeof(table->shapes[0]));
	table->shapes[0] = shape;
}

/* By the text's trail, where a row of that trail was compared name by name before. */
static const uint32_t *shape_places(const struct shape *shape, const struct json_doc *doc, uint32_t object)
{
	for (size_t i = 0; i < SHAPE_TRAILS; i++) {
		if (shape->trails[i].trail == doc->trail && doc->places[shape->trails[i].place] == object + 2)
			return doc->places + shape->trails[i].place;
	}
	return NULL;
}

/* The members of a row are one stretch of the trail, unless objects are among them. */
static void shape_learn_trail(struct shape *shape, const struct json_doc *doc, const uint32_t *tokens)
{
	uint32_t place = 0;

	if (!doc->trail || !shape->count)
		return;
	while (place < doc->place_count && doc->places[place] != tokens[0])
		place++;
	if (doc->place_count - place < shape->count ||
	    memcmp(doc->places + place, tokens, shape->count * sizeof(*tokens)) != 0)
		return;
	shape->used = (shape->used + 1) % SHAPE_TRAILS;
	shape->trails[shape->used].trail = doc->trail;
	shape->trails[shape->used].place = place;
}

static struct shape *shape_known(struct event *e, uint32_t object, struct row_room *room, const uint32_t **out_tokens)
{
	struct table *table = e->table;

	for (size_t i = 0; e->doc->trail && i < SHAPES_MAX && table->shapes[i]; i++) {
		if (table->shapes[i]->block != e->block || !(*out_tokens = shape_places(table->shapes[i], e->doc, object)))
			continue;
		shape_move_to_front(table, i);
		return table->shapes[0];
	}
	*out_tokens = room->tokens;
	for (size_t i = 0; i < SHAPES_MAX && table->shapes[i]; i++) {
		struct shape *shape = table->shapes[i];

		if (shape->block != e->block || !shape_match(shape, e->doc, object, room->tokens))
			continue;
		shape_learn_trail(shape, e->doc, room->tokens);
		shape_move_to_front(table, i);
		return shape;
	}
	return NULL;
}

bool row_shape(struct debezium *d, struct event *e, uint32_t object, struct row_room *room, struct row *out)
{
	const uint32_t *tokens;

	room_grow(room, shapes_most(e->table));
	struct shape *shape = shape_known(e, object, room, &tokens);

	if (!shape) {
		shape = shape_compile(d, e, object);
		if (!shape)
			return false;
		room_grow(room, shape->count);
		shape_match(shape, e->doc, object, room->tokens);
		tokens = room->tokens;
	}
	*out = (struct row){ .table = e->table, .shape = shape, .doc = e->doc, .object = object, .tokens = tokens,
	                     .cells = room->cells };
	return true;
}

/* Values of a column that may not be added. */
static bool unknown_value(struct debezium *d, struct event *e, const struct row *row, size_t i)
{
	struct span name = json_text(row->doc, row->tokens[i] - 1, e->batch->arena);

	if (json_is(row->doc, row->tokens[i], JSON_NULL))
		return true;
	if (d->options->schema_changes == SCHEMA_IGNORE) {
		batch_add_note(e->batch, e->table->number, name, "unknown_column", 1,
		               "values of column %.*s left out, because schemaChanges is ignore", SPAN_ARG(name));
		return true;
	}
	return REFUSE_MAP(e, "unknown_column", name, NOTHING,
	                  "table %.*s has no column %.*s, and schemaChanges is reject",
	                  SPAN_ARG(e->table->schema.source), SPAN_ARG(name));
}

/* Could this be a form of the placeholder? Only text of certain lengths, or with escapes. (type_placeholder.c;
 * arrays and objects have no quick reader.) */
static inline bool is_suspicious(const struct debezium *d, const struct json_token *t)
{
	size_t len = t->end - t->start, most = d->placeholder.len;

	if (t->kind != JSON_STRING || len < most || !most)
		return false;
	return t->flags & JSON_HAS_ESCAPES || len == most || len == d->placeholder_base64 || len == 2 * most ||
	       (len >= 2 * most + 7 && len <= 2 * most + 9);
}

/* The ways that a value takes which is not as its column's nearly always are. */
static bool member_convert(struct debezium *d, struct event *e, struct row *row, size_t i)
{
	const struct member *member = &row->shape->members[i];
	struct cell *cell = &row->cells[i];

	*cell = (struct cell){ .kind = CELL_ABSENT };
	if (member->column == MEMBER_SKIPPED)
		return true;
	if (member->column == MEMBER_UNKNOWN)
		return unknown_value(d, e, row, i);
	if (!cell_read(d, e, member->column, member->from, row->doc, row->tokens[i], cell))
		return false;
	row->has_unavailable |= cell->kind == CELL_UNAVAILABLE;
	row->has_nested |= cell->kind == CELL_JSON;
	/* The value may have changed how this column, or all decimals, are read. */
	if (row->shape->type_version != row->table->type_version)
		shape_plan(d, row->table, row->shape);
	return true;
}

bool row_convert(struct debezium *d, struct event *e, struct row *row)
{
	const struct shape *shape = row->shape;
	struct arena *arena = e->batch->arena;

	if (shape->type_version != row->table->type_version)
		shape_plan(d, row->table, row->shape);
	for (size_t i = 0; i < shape->count; i++) {
		const struct member *member = &shape->members[i];
		const struct json_token *t = &row->doc->tokens[row->tokens[i]];
		struct cell *cell = &row->cells[i];

		if (t->kind == JSON_NULL && member->column >= 0)
			*cell = (struct cell){ .kind = CELL_NULL };
		else if (!member->quick.read || is_suspicious(d, t) ||
		         !member->quick.read(&member->quick, row->doc, row->tokens[i], arena, cell)) {
			if (!member_convert(d, e, row, i))
				return false;
		}
		row->text_bytes += cell->text.len;
	}
	row->is_converted = true;
	return true;
}

/* Room for the row's text. Small rows are not asked cell by cell: what they do not need is given back at once. */
static size_t row_json_room(const struct row *row)
{
	const struct shape *shape = row->shape;
	size_t most = row->text_bytes * 6 + shape->names_room + 3 + shape->count * CELL_JSON_ROOM, room;

	if (most <= JSON_ROOM_UNASKED)
		return most;
	room = shape->names_room + 3;
	for (size_t i = 0; i < shape->count; i++) {
		if (row->cells[i].kind != CELL_ABSENT)
			room += row->cells[i].kind == CELL_UNAVAILABLE ? 4 : cell_json_room(&row->cells[i]);
	}
	return room;
}

/* Most texts are still as JSON writes them; the rest is a call. */
static inline char *cell_json_write(const struct cell *cell, const struct bq_type *type, char *at)
{
	if (cell->kind == CELL_NULL || cell->kind == CELL_UNAVAILABLE) {
		memcpy(at, "null", 4);
		return at + 4;
	}
	if (cell->kind != CELL_TEXT || !cell->is_escaped || !cell->text.len)
		return cell_json(cell, type, at);
	*at++ = '"';
	memcpy(at, cell->text.at, cell->text.len);
	at += cell->text.len;
	*at++ = '"';
	return at;
}

struct span row_json(struct event *e, const struct row *row)
{
	const struct shape *shape = row->shape;
	size_t room = row_json_room(row);
	char *start = arena_bytes(e->batch->arena, room), *at = start;

	*at++ = '{';
	for (size_t i = 0; i < shape->count; i++) {
		const struct cell *cell = &row->cells[i];

		if (cell->kind == CELL_ABSENT)
			continue;
		struct span quoted = row->table->more[shape->members[i].column].quoted;

		if (at != start + 1)
			*at++ = ',';
		memcpy(at, quoted.at, quoted.len);
		at = cell_json_write(cell, &row->table->columns[shape->members[i].column].type, at + quoted.len);
	}
	*at++ = '}';
	arena_shrink(e->batch->arena, start, room, (size_t)(at - start));
	return span_make(start, (size_t)(at - start));
}

/* ["bio","tags"] */
struct span row_unavailable(struct event *e, const struct row *row)
{
	size_t room = row->shape->names_room + 2;
	char *start = arena_bytes(e->batch->arena, room), *at = start;

	*at++ = '[';
	for (size_t i = 0; i < row->shape->count; i++) {
		if (row->cells[i].kind != CELL_UNAVAILABLE)
			continue;
		struct span quoted = row->table->more[row->shape->members[i].column].quoted;

		if (at != start + 1)
			*at++ = ',';
		memcpy(at, quoted.at, quoted.len - 1); /* without its colon */
		at += quoted.len - 1;
	}
	*at++ = ']';
	arena_shrink(e->batch->arena, start, room, (size_t)(at - start));
	return span_make(start, (size_t)(at - start));
}
