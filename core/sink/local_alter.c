/*
 * Schema changes that reach rows: what an ALTER at a position makes of the rows
 * below it. A row is what its newest event says, changed by every ALTER above
 * that event, in the order of their positions: so the result does not depend on
 * when either arrived. Stored rows are changed at once, as the source did;
 * events that come later are changed on their way in.
 *
 *   move   values go from one column to another, all at the same time
 *   cast   then columns have another type (local_cast.c)
 *   set    then columns get a value
 *   fill   columns get one in rows that never had the column
 */
#include "sink/alter_private.h"

#include <stdlib.h>

#define ALTERS_MAX 100000

struct alters *alters_new(void)
{
	struct alters *alters = memory_zalloc(sizeof(*alters));

	alters->arena = arena_new(1024);
	alters->ways = arena_new(4096);
	return alters;
}

void alters_clear(struct alters *alters)
{
	for (size_t i = 0; i < alters->count; i++)
		json_doc_free(&alters->items[i].doc);
	alters->count = 0;
	alters->has_late = false;
	arena_reset(alters->arena);
	arena_reset(alters->ways);
}

void alters_free(struct alters *alters)
{
	if (!alters)
		return;
	alters_clear(alters);
	free(alters->items);
	arena_free(alters->arena);
	arena_free(alters->ways);
	free(alters);
}

void alters_forget_ways(struct alters *alters)
{
	for (size_t i = 0; i < alters->count; i++)
		alters->items[i].way = NULL;
	arena_reset(alters->ways);
}

/* How many stand at or below the position. */
static size_t alters_below(const struct alters *alters, const unsigned char *position)
{
	size_t count = alters->count;

	while (count && memcmp(alters->items[count - 1].position, position, POSITION_BYTES) > 0)
		count--;
	return count;
}

static bool alter_parse(struct replica *replica, struct alter *alter, struct error *err)
{
	size_t at;

	if (json_parse(&alter->doc, alter->text, &at) == JSON_FINE && json_is(&alter->doc, 0, JSON_OBJECT))
		return true;
	json_doc_free(&alter->doc);
	return fail(err, ERROR_BUG, "state_damaged", "a schema change of table '%.*s' is no JSON object",
	            SPAN_ARG(replica->name));
}

static bool alters_have_room(const struct replica *replica, struct error *err)
{
	if (replica->alters->count < ALTERS_MAX)
		return true;
	return fail(err, ERROR_CONFIG, "too_many_columns", "table '%.*s' has had more than %d schema changes",
	            SPAN_ARG(replica->name), ALTERS_MAX);
}

static uint32_t column_index(const struct replica *replica, struct span name)
{
	for (size_t i = 0; i < replica->schema.count; i++) {
		if (span_equal(replica->schema.columns[i].name, name))
			return (uint32_t)i;
	}
	return ALTER_GONE;
}

/* Rows may have the column already, and only their events tell which of them lack it. */
static bool fills_known_column(struct replica *replica, struct alter *alter)
{
	uint32_t object = json_member(&alter->doc, 0, SPAN("fill"));

	if (!object || !json_is(&alter->doc, object, JSON_OBJECT))
		return false;
	for (uint32_t at = object + 1; at < alter->doc.tokens[object].next; at = alter->doc.tokens[at + 1].next) {
		if (column_index(replica, json_text(&alter->doc, at, replica->alters->arena)) != ALTER_GONE)
			return true;
	}
	return false;
}

bool replica_alter_add(struct replica *replica, const unsigned char *position, struct span text, bool is_new,
                       bool *out_repeat, struct error *err)
{
	struct alters *alters = replica->alters;
	struct alter alter = { .text = arena_copy(alters->arena, text), .is_applied = !is_new, .is_saved = !is_new };
	size_t at = alters_below(alters, position);

	*out_repeat = at && memcmp(alters->items[at - 1].position, position, POSITION_BYTES) == 0;
	if (*out_repeat)
		return true;
	memcpy(alter.position, position, POSITION_BYTES);
	if (!alters_have_room(replica, err) || !alter_parse(replica, &alter, err))
		return false;
	if (alters->count == alters->room) {
		alters->room = alters->room ? alters->room * 2 : 8;
		alters->items = memory_grow(alters->items, alters->room * sizeof(*alters->items));
	}
	memmove(&alters->items[at + 1], &alters->items[at], (alters->count - at) * sizeof(*alters->items));
	alters->items[at] = alter;
	alters->count++;
	alters->has_late |= is_new && replica->source.dataset && fills_known_column(replica, &alters->items[at]);
	/* Rows that are stored have been changed by a later one already. Without a changelog they stay as they are. */
	if (at + 1 < alters->count && alters->items[at + 1].is_applied) {
		alters->has_late |= is_new && replica->source.dataset;
		alters->items[at].is_applied = alters->items[at].is_applied || !replica->source.dataset;
	}
	alters_forget_ways(alters);
	return true;
}

void replica_alters_expect(struct replica *replica)
{
	for (size_t i = 0; i < replica->alters->count; i++) {
		replica->alters->items[i].is_applied = true;
		replica->alters->items[i].is_saved = false;
	}
	replica->alters->has_late = false;
}

bool replica_has_late_alter(const struct replica *replica)
{
	return replica->alters->has_late;
}

/*
 * Ways: what becomes of an event's columns
 */

/* Calls for each member of the part: its column, and the token of its value. */
static void part_each(struct replica *replica, struct alter *alter, const char *part,
                      void (*each)(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter,
                                   uint32_t token),
                      struct alter_way *way)
{
	uint32_t object = json_member(&alter->doc, 0, span_of(part));

	if (!object || !json_is(&alter->doc, object, JSON_OBJECT))
		return;
	for (uint32_t at = object + 1; at < alter->doc.tokens[object].next; at = alter->doc.tokens[at + 1].next) {
		uint32_t column = column_index(replica, json_text(&alter->doc, at, replica->alters->ways));

		if (column != ALTER_GONE)
			each(way, column, replica, alter, at + 1);
	}
}

static void way_leave(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	(void)replica, (void)alter, (void)token;
	way->places[column] = (struct alter_place){ .from = ALTER_GONE };
}

static void way_move(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	uint32_t to = column_index(replica, json_text(&alter->doc, token, replica->alters->ways));

	if (to != ALTER_GONE)
		way->places[to] = way->before[column];
}

static void way_cast(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	struct alter_cast **end = &way->places[column].casts;
	struct span spec = json_text(&alter->doc, token, replica->alters->ways);

	if (!json_is(&alter->doc, token, JSON_STRING) || !cast_is_fine(spec))
		return;
	while (*end)
		end = &(*end)->next;
	*end = arena_zalloc(replica->alters->ways, sizeof(**end));
	(*end)->spec = arena_copy(replica->alters->ways, spec);
}

static void way_set(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	(void)replica;
	way->places[column] = (struct alter_place){ .from = ALTER_GONE, .doc = &alter->doc, .token = token };
}

static void way_fill(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	struct alter_place *place = &way->places[column];

	(void)replica;
	if (place->doc)
		return;
	place->doc = &alter->doc;
	place->token = token;
}

static void way_pass(struct replica *replica, struct alter_way *way, struct alter *alter)
{
	memcpy(way->before, way->places, replica->schema.count * sizeof(*way->places));
	part_each(replica, alter, "move", way_leave, way);
	part_each(replica, alter, "move", way_move, way);
	part_each(replica, alter, "cast", way_cast, way);
	part_each(replica, alter, "set", way_set, way);
	part_each(replica, alter, "fill", way_fill, way);
}

struct alter_way *way_make(struct replica *replica, size_t first)
{
	struct alters *alters = replica->alters;
	size_t count = replica->schema.count;
	struct alter_way *way = arena_zalloc(alters->ways, sizeof(*way));

	way->places = arena_zalloc(alters->ways, (count + 1) * sizeof(*way->places));
	way->before = arena_zalloc(alters->ways, (count + 1) * sizeof(*way->before));
	way->targets = arena_zalloc(alters->ways, (count + 1) * sizeof(*way->targets));
	way->is_bound = arena_zalloc(alters->ways, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		way->places[i].from = i;
		way->targets[i] = ALTER_GONE;
	}
	for (size_t i = first; i < alters->count; i++)
		way_pass(replica, way, &alters->items[i]);
	for (uint32_t i = 0; i < count; i++) {
		if (way->places[i].from != ALTER_GONE)
			way->targets[way->places[i].from] = i;
	}
	return way;
}

/* What a token is as text; false: it is none that a cast reads. */
static bool token_text(struct replica *replica, const struct bq_type *type, const struct json_doc *doc, uint32_t token,
                       struct span *out)
{
	struct span raw = json_raw(doc, token);

	if (strcmp(bq_type_local(type), "BLOB") == 0 || json_is(doc, token, JSON_NULL))
		return false;
	if (json_is(doc, token, JSON_STRING))
		*out = json_text(doc, token, replica->scratch);
	else if (json_is(doc, token, JSON_NUMBER))
		*out = value_number_text(replica->reader, raw, replica->scratch);
	else if (json_is(doc, token, JSON_TRUE) || json_is(doc, token, JSON_FALSE))
		*out = json_is(doc, token, JSON_TRUE) ? SPAN("true") : SPAN("false");
	else
		return false;
	if (!out->at)
		*out = SPAN("");
	return true;
}

void replica_bind_cast(struct replica *replica, size_t column, const struct alter_cast *casts, const struct json_doc *doc,
                       uint32_t token)
{
	const struct bq_type *type = &replica->schema.columns[column].type;
	struct span text, was;

	if (!casts || !token_text(replica, type, doc, token, &text)) {
		value_bind(replica->reader, replica->upsert, (int)column + 1, type, doc, token, replica->scratch);
		return;
	}
	was = text;
	for (; casts && text.at; casts = casts->next)
		text = cast_text(casts->spec, text, replica->scratch);
	if (!text.at)
		sqlite3_bind_null(replica->upsert, (int)column + 1);
	else if (span_equal(was, text))
		value_bind(replica->reader, replica->upsert, (int)column + 1, type, doc, token, replica->scratch);
	else
		value_bind_canonical(replica->reader, replica->upsert, (int)column + 1, type, text, replica->scratch);
}

void replica_way_count(struct replica *replica, const unsigned char *position)
{
	struct alters *alters = replica->alters;

	for (size_t i = alters_below(alters, position); i < alters->count; i++) {
		alters->items[i].rows++;
		alters->items[i].is_saved = false;
	}
}

struct alter_way *replica_way(struct replica *replica, const unsigned char *position)
{
	struct alters *alters = replica->alters;
	size_t first;

	if (!alters->count || memcmp(position, alters->items[alters->count - 1].position, POSITION_BYTES) >= 0)
		return NULL;
	first = alters_below(alters, position);
	if (!alters->items[first].way)
		alters->items[first].way = way_make(replica, first);
	return alters->items[first].way;
}
