/*
 * A row's JSON text into the upsert's parameters, by the way of schema changes above it.
 */
#include "sink/replica_private.h"

#include "record/key.h"

/* A memory of names is for many rows: a replica of a few would pay for it and gain nothing. */
#define TRAIL_WORTH 16

static bool record_fail(const struct replica *replica, struct error *err)
{
	return fail(err, ERROR_BUG, "state_damaged", "a change of table '%.*s' has a fullRecord that is no JSON object",
	            SPAN_ARG(replica->name));
}

static bool record_parse(struct replica *replica, struct json_doc *doc, struct span record, struct error *err)
{
	size_t at;

	if (json_parse(doc, record.at ? record : SPAN("null"), &at) == JSON_FINE && json_is(doc, 0, JSON_OBJECT))
		return true;
	return record_fail(replica, err);
}

/* The rows of a table, one after the other: nearly all have the same members. */
static bool row_parse(struct replica *replica, struct span record, struct error *err)
{
	struct json_known known = { .trail = replica->trail };
	struct json_doc *doc = &replica->doc;
	void *id;
	size_t at;

	if (!replica->trail) {
		if (++replica->parsed < TRAIL_WORTH)
			return record_parse(replica, doc, record, err);
		known.trail = replica->trail = json_trail_new();
		doc->places = memory_alloc(JSON_PLACES_MAX * sizeof(*doc->places));
	}
	if (json_parse_known(doc, record.at ? record : SPAN("null"), &known, &id, &at) == JSON_FINE &&
	    json_is(doc, 0, JSON_OBJECT))
		return true;
	return record_fail(replica, err);
}

static uint32_t column_search(const struct replica *replica, struct span name)
{
	for (size_t i = 0; i < replica->schema.count; i++) {
		if (span_equal(replica->schema.columns[i].name, name))
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

/* Rows of a table have their members in one order: the last row's is tried first, and on the same trail it is known. */
static uint32_t column_of_member(struct replica *replica, size_t member, uint32_t token)
{
	struct span name;

	if (replica->hinted && replica->hinted == replica->doc.trail)
		return replica->hints[member];
	name = json_text(&replica->doc, token, replica->scratch);

	if (member >= replica->hint_room) {
		size_t room = member * 2 + 64;

		replica->hints = memory_grow(replica->hints, room * sizeof(*replica->hints));
		for (size_t i = replica->hint_room; i < room; i++)
			replica->hints[i] = 0;
		replica->hint_room = room;
	}
	if (replica->hints[member] >= replica->schema.count ||
	    !span_equal(replica->schema.columns[replica->hints[member]].name, name))
		replica->hints[member] = column_search(replica, name);
	return replica->hints[member];
}

/* Values that schema changes above the event have given to columns. */
static void literals_bind(struct replica *replica, const struct alter_way *way)
{
	for (size_t i = 0; i < replica->schema.count; i++) {
		const struct alter_place *place = &way->places[i];

		if (place->doc && (place->from == ALTER_GONE || !way->is_bound[i]))
			replica_bind_cast(replica, i, place->casts, place->doc, place->token);
	}
}

bool replica_bind_record(struct replica *replica, const struct change *change, struct error *err)
{
	const struct alter_way *way = replica_way(replica, change->position);
	const struct json_doc *doc = &replica->doc;
	size_t member = 0;

	if (!row_parse(replica, change->full_record, err))
		return false;
	sqlite3_clear_bindings(replica->upsert);
	if (way)
		memset(way->is_bound, 0, replica->schema.count);
	for (uint32_t name = 1; name < doc->count; name = doc->tokens[name + 1].next) {
		uint32_t column = column_of_member(replica, member++, name);

		if (way && column != UINT32_MAX)
			column = way->targets[column];
		if (column == UINT32_MAX)
			continue;
		if (way) {
			way->is_bound[column] = true;
			replica_bind_cast(replica, column, way->places[column].casts, doc, name + 1);
			continue;
		}
		value_bind(replica->reader, replica->upsert, (int)column + 1, &replica->schema.columns[column].type, doc,
		           name + 1, replica->scratch);
	}
	replica->hinted = doc->trail;
	if (way)
		literals_bind(replica, way);
	store_bind_blob(replica->upsert, (int)replica->schema.count + 1,
	                span_make((const char *)change->position, POSITION_BYTES));
	return true;
}

bool replica_bind_record_key(struct replica *replica, const struct change *change)
{
	const struct table_schema *schema = &replica->schema;
	struct span texts[KEY_COLUMNS_MAX];

	if (schema->key_count > KEY_COLUMNS_MAX || !key_decode(change->key, texts, schema->key_count))
		return false;
	for (size_t i = 0; i < schema->key_count; i++)
		value_bind_canonical(replica->reader, replica->upsert, schema->keys[i] + 1,
		                     &schema->columns[schema->keys[i]].type, texts[i], replica->scratch);
	return true;
}

bool replica_bind_from(struct replica *replica, sqlite3_stmt *stmt, int index, size_t column, struct span record,
                       struct error *err)
{
	uint32_t token;

	if (!record_parse(replica, &replica->old_doc, record, err))
		return false;
	token = json_member(&replica->old_doc, 0, replica->schema.columns[column].name);
	if (token)
		value_bind(replica->reader, stmt, index, &replica->schema.columns[column].type, &replica->old_doc, token,
		           replica->scratch);
	else
		sqlite3_bind_null(stmt, index);
	return true;
}
