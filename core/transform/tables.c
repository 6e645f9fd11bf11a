/*
 * The tables of the job: found by what the source calls them, made when first
 * met. The transform keeps the newest schema of each; what changed goes into
 * the batch before the record that needs it.
 */
#include "transform/debezium_private.h"

#include "base/hash.h"

#include <stdlib.h>

#define GUESSES_BYTES 500 /* a line of the log */
#define STEPS_BYTES_MAX (64u << 10)

static void slot_put(struct debezium *d, const struct table *table)
{
	size_t slot = table->hash & (d->slot_count - 1);

	while (d->slots[slot])
		slot = (slot + 1) & (d->slot_count - 1);
	d->slots[slot] = table->number + 1;
}

static void slots_grow(struct debezium *d)
{
	if (d->slot_count > 2 * (d->table_count + 1))
		return;
	free(d->slots);
	d->slot_count = d->slot_count ? d->slot_count * 4 : 64;
	d->slots = memory_zalloc(d->slot_count * sizeof(*d->slots));
	for (size_t i = 0; i < d->table_count; i++)
		slot_put(d, d->tables[i]);
}

struct table *table_lookup(struct debezium *d, struct span source)
{
	uint64_t hash = hash_bytes(source);

	if (!d->slot_count)
		return NULL;
	for (size_t slot = hash & (d->slot_count - 1); d->slots[slot]; slot = (slot + 1) & (d->slot_count - 1)) {
		struct table *table = d->tables[d->slots[slot] - 1];

		if (table->hash == hash && span_equal(table->schema.source, source))
			return table;
	}
	return NULL;
}

static struct table *table_new(struct span source)
{
	struct table *table = memory_zalloc(sizeof(*table));

	table->arena = arena_new(4096);
	table->type_version = 1;
	table->why = text_new(1024);
	table->guesses = text_new(GUESSES_BYTES);
	table->steps = text_new(STEPS_BYTES_MAX);
	table->schema.source = arena_copy(table->arena, source);
	table->hash = hash_bytes(source);
	return table;
}

static struct table *table_add(struct debezium *d, struct span source)
{
	struct table *table = table_new(source);

	slots_grow(d);
	if (d->table_count == d->table_room) {
		d->table_room = d->table_room ? d->table_room * 2 : 16;
		d->tables = memory_grow(d->tables, d->table_room * sizeof(struct table *));
	}
	table->number = (uint32_t)d->table_count;
	d->tables[d->table_count++] = table;
	slot_put(d, table);
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	table_forget_shapes(table);
	text_free(table->why);
	text_free(table->guesses);
	text_free(table->steps);
	text_free(table->fills);
	presences_free(table);
	text_free(table->first_fills);
	arena_free(table->arena);
	free(table->columns);
	free(table->more);
	free(table->keys);
	free(table->former_keys);
	free(table->key_head);
	free(table);
}

static void table_take(struct table *table, const struct table_schema *schema)
{
	const struct table_schema *copy = schema_copy(table->arena, schema);
	size_t count = copy->count, key_count = copy->key_count;

	table->column_room = count + 16;
	table->columns = memory_alloc(table->column_room * sizeof(*table->columns));
	table->more = memory_zalloc(table->column_room * sizeof(*table->more));
	table->keys = memory_alloc((key_count + 1) * sizeof(*table->keys));
	if (count)
		memcpy(table->columns, copy->columns, count * sizeof(*table->columns));
	if (key_count)
		memcpy(table->keys, copy->keys, key_count * sizeof(*table->keys));
	table->schema = *copy;
	table->key_version = 1;
	table->told_count = count;
	table->is_collided = copy->notes & NOTE_NAME_COLLISION;
	table_sync(table);
}

/* A table of an earlier run. What the configuration says of it follows with its first event. */
struct table *table_restore(struct debezium *d, const struct table_schema *schema)
{
	struct table *table = table_add(d, schema->source);
	struct span history;

	table_take(table, schema);
	history = table->schema.history;
	const char *end = history.len ? memrchr(history.at, '\n', history.len) : NULL;

	table->epochs = end ? span_make(history.at, (size_t)(end - history.at)) : history;
	history_read(&d->history, table->epochs);
	if (end)
		first_defaults_read(table, span_make(end + 1, history.len - table->epochs.len - 1));
	return table;
}

struct table *table_alone(const struct table_schema *schema)
{
	struct table *table = table_new(schema->source);

	table_take(table, schema);
	return table;
}

struct place_name {
	struct span db, schema, table;
};

/* First event of the table in this run: now its names are known one by one. */
static void table_meet(struct debezium *d, struct event *e, struct table *table, const struct place_name *place)
{
	e->table = table;
	table->is_met = true;
	table->db = arena_copy(table->arena, place->db);
	table->schema_name = arena_copy(table->arena, place->schema);
	table->name = arena_copy(table->arena, place->table);
	table->rule = source_schema_table(d->rules, table->schema.source, table->name);
	if (d->mapping)
		table->schema.dataset = table->db;
	if (!table->schema.version || table->is_collided)
		table_choose_name(d, e, table);
	columns_of_rule(d, e);
}

struct table *table_known(struct debezium *d, struct event *e, struct span db, struct span name)
{
	struct place_name place = { db, NOTHING, name };
	struct table *table = table_lookup(d, source_name(e->batch->arena, db, NOTHING, name));

	if (!table || table->is_collided)
		return NULL;
	if (!table->is_met)
		table_meet(d, e, table, &place);
	return table;
}

static bool table_make(struct debezium *d, struct event *e, const struct place_name *place, struct span source)
{
	size_t most = d->options->max_tables > 0 ? (size_t)d->options->max_tables : 1000;

	if (!name_is_fine(place->table) || (place->db.len && !name_is_fine(place->db)) ||
	    (place->schema.len && !name_is_fine(place->schema)))
		return REFUSE(e, "bad_name", NOTHING, SPAN("source.table"),
		              "the table's name holds a back-quote or a control character, or is longer than %d bytes",
		              NAME_BYTES_MAX);
	if (d->table_count >= most)
		return REFUSE(e, "too_many_tables", NOTHING, NOTHING,
		              "table %.*s would be number %zu, maxTables allows %zu", SPAN_ARG(source), d->table_count + 1,
		              most);
	struct table *table = table_add(d, source);

	table_change(table, "new table", NOTHING);
	table_meet(d, e, table, place);
	return true;
}

struct table *table_named(struct debezium *d, struct event *e, struct span db, struct span name)
{
	struct place_name place = { db, NOTHING, name };
	struct span source = source_name(e->batch->arena, db, NOTHING, name);

	if (!table_lookup(d, source) && !table_make(d, e, &place, source))
		return NULL;
	return table_known(d, e, db, name);
}

/* The table of this place, made if it is new; the next event of the same place need not look it up. */
static struct table *table_at(struct debezium *d, struct event *e, const struct place_name *place)
{
	struct span source = source_name(e->batch->arena, place->db, place->schema, place->table);
	struct table *table = table_lookup(d, source);

	if (!table && !table_make(d, e, place, source))
		return NULL;
	if (!table)
		table = e->table;
	if (!table->is_met)
		table_meet(d, e, table, place);
	d->last_table = table;
	return table;
}

static bool is_place(const struct table *table, struct span dataset, struct span name)
{
	return span_equal(table->name, name) && span_equal(table->db, dataset);
}

static void table_use(struct event *e, struct table *table)
{
	e->table = table;
	e->message->table = table->number;
}

bool table_met(struct debezium *d, struct event *e, struct span dataset, struct span name)
{
	struct table *table = d->last_table;

	if (!table || !is_place(table, dataset, name)) {
		table = table_lookup(d, source_name(e->batch->arena, dataset, NOTHING, name));
		if (!table || !table->is_met || !is_place(table, dataset, name))
			return false;
		d->last_table = table;
	}
	table_use(e, table);
	return true;
}

bool table_mapped(struct debezium *d, struct event *e, struct span dataset, struct span name)
{
	struct place_name place = { dataset, NOTHING, name };
	struct table *table = table_at(d, e, &place);

	if (!table)
		return false;
	table_use(e, table);
	return true;
}

static bool place_read(struct event *e, struct place_name *out)
{
	struct arena *arena = e->batch->arena;

	*out = (struct place_name){ NOTHING, NOTHING, NOTHING };
	if (value_text(&e->fields[FIELD_TABLE], arena, &out->table) != READ_OK)
		return REFUSE(e, "no_source_table", NOTHING, NOTHING, e->is_flattened
		              ? "nothing tells the table: neither a field __table nor an attribute"
		              : "the source block names no table");
	enum reading db = value_text(&e->fields[FIELD_DB], arena, &out->db);

	if (db == READ_ABSENT) /* Vitess has keyspaces */
		db = value_text(&e->fields[FIELD_KEYSPACE], arena, &out->db);
	if (db == READ_BAD || value_text(&e->fields[FIELD_SCHEMA], arena, &out->schema) == READ_BAD)
		return REFUSE(e, "no_source_table", NOTHING, NOTHING, "the database or schema name is no text");
	return true;
}

bool table_find(struct debezium *d, struct event *e)
{
	struct table *table = d->last_table;
	struct place_name place;

	if (!place_read(e, &place))
		return false;
	if (!table || !span_equal(table->name, place.table) || !span_equal(table->schema_name, place.schema) ||
	    !span_equal(table->db, place.db)) {
		table = table_at(d, e, &place);
		if (!table)
			return false;
	}
	e->table = table;
	e->message->table = table->number;
	return true;
}
