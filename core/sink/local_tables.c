/*
 * Tables of the sink as the source has them: made when first seen, changed with their schema, noted in the catalogue.
 */
#include "sink/local_sink_private.h"

#include <inttypes.h>

void local_tables_grow(struct local_sink *sink, size_t count)
{
	size_t room = sink->room;

	if (count > room) {
		while (room < count)
			room *= 2;
		sink->tables = memory_grow(sink->tables, room * sizeof(*sink->tables));
		sink->schemas = memory_grow(sink->schemas, room * sizeof(*sink->schemas));
		sink->ledgers = memory_grow(sink->ledgers, (room + 1) * sizeof(*sink->ledgers));
		sink->room = room;
	}
	/* The counters of "-" stay behind the last table. */
	for (size_t i = sink->count; i < count; i++) {
		sink->tables[i] = (struct local_table){ 0 };
		sink->ledgers[i + 1] = sink->ledgers[i];
		sink->ledgers[i] = (struct ledger){ 0 };
	}
	sink->count = count;
}

bool local_table_begin_replica(struct local_sink *sink, struct local_table *table, struct error *err)
{
	struct replica_source source = { .is_append = sink->is_append };

	if (!table->replica)
		table->replica = replica_open(sink->store, table->schema->name, &source, err);
	return table->replica;
}

static bool table_make_replica(struct local_sink *sink, struct local_table *table, struct error *err)
{
	/* A table without a key has no replica. */
	return (!table->schema->key_count && !sink->is_append) || local_table_begin_replica(sink, table, err);
}

/* A changelog of that name may be there: another job's of the same source table is shared, anything else is not. */
static bool changelog_make(struct local_sink *sink, const struct table_schema *schema, struct span name,
                           struct error *err)
{
	bool has_table, is_ours = false;

	if (!sql_has_table(sink->store, name, &has_table, err) ||
	    (has_table && !catalog_owns_changelog(sink->store, schema, &is_ours, err)))
		return false;
	if (has_table && !is_ours)
		return fail(err, ERROR_CONFIG, "name_collision", "dataset '%s' already has a table '%.*s' that is not the "
		            "changelog of '%.*s'", sink->dataset, SPAN_ARG(name), SPAN_ARG(schema->source));
	return has_table || changelog_create(sink->store, name, err);
}

bool local_table_is_collided(const struct table_schema *schema)
{
	return schema->notes & NOTE_NAME_COLLISION;
}

static bool table_make(struct local_sink *sink, struct local_table *table, struct error *err)
{
	if (!sink->may_make && !append_table_look(sink, table, err))
		return false;
	if (table->is_missing)
		return true;
	if (sink->is_upsert || sink->is_append)
		return table_make_replica(sink, table, err);
	return changelog_make(sink, table->schema, changelog_name(sink->arena, table->schema->name), err);
}

bool local_table_follow(struct local_sink *sink, struct local_table *table, struct error *err)
{
	if (!sink->is_upsert && !sink->is_append)
		return true;
	if (!sink->may_make)
		return true;
	if (!table->schema->key_count && !sink->is_append)
		return catalog_columns_write(sink->store, table->schema->name, PART_TABLE, table->schema, err);
	return table_make_replica(sink, table, err) && replica_follow(table->replica, table->schema, err);
}

bool local_table_save(struct local_sink *sink, uint32_t number, struct error *err)
{
	struct local_table *table = &sink->tables[number];
	struct catalog_table row = { *table->schema, table->has_history_index };
	bool has_changelog = !sink->is_upsert && !sink->is_append && !local_table_is_collided(table->schema);

	return catalog_table_write(sink->store, sink->job, number, &row, has_changelog, err);
}

bool local_table_change(struct local_sink *sink, struct batch *batch, const struct schema_change *change,
                        struct error *err)
{
	struct local_table *table;
	bool is_new, was_made;

	if (!change->schema) /* dropped: the OP_DROP record says at which position */
		return true;
	if (change->table > sink->count)
		return fail(err, ERROR_BUG, "store_failed", "table number %" PRIu32 " came before number %zu", change->table,
		            sink->count);
	is_new = change->table == sink->count;
	if (is_new)
		local_tables_grow(sink, sink->count + 1);
	table = &sink->tables[change->table];
	was_made = !is_new && !local_table_is_collided(table->schema);
	/* What was folded so far is of the old columns. */
	if (was_made && sink->is_upsert && !local_table_apply(sink, table, batch, err))
		return false;
	table->schema = schema_copy(sink->arena, change->schema);
	table->is_touched = true;
	sink->schemas[change->table] = table->schema;
	if (local_table_is_collided(table->schema))
		return local_table_save(sink, change->table, err);
	return (was_made || table_make(sink, table, err)) && local_table_follow(sink, table, err) &&
	       local_table_save(sink, change->table, err);
}
