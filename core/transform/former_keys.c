/*
 * Key columns that have been renamed. A row from before the renaming may come
 * behind it (parked meanwhile, or delivered again): it is read by the key of its
 * place in the log. Kept with the table (table_schema.history), for what is parked
 * outlives a run.
 */
#include "transform/debezium_private.h"

#include <stdlib.h>

void former_key_add(struct event *e, uint16_t column)
{
	struct table *table = e->table;
	uint16_t ordinal = table->columns[column].key_ordinal;

	table->columns[column].was_key = ordinal;
	if (table->former_key_count == FORMER_KEYS_MAX)
		memmove(&table->former_keys[0], &table->former_keys[1], --table->former_key_count * sizeof(*table->former_keys));
	if (!table->former_keys)
		table->former_keys = memory_alloc(FORMER_KEYS_MAX * sizeof(*table->former_keys));
	table->former_keys[table->former_key_count++] = (struct former_key){ .column = column, .ordinal = ordinal, .at = e->position };
	table->is_first_changed = true;
}

/* "kCOLUMN ORDINAL POSITION" of each. */
void former_keys_text(const struct table *table, struct text *out)
{
	for (size_t i = 0; i < table->former_key_count; i++) {
		const struct former_key *former = &table->former_keys[i];

		text_add_format(out, "k%u %u ", former->column, former->ordinal);
		position_keep(out, &former->at);
	}
}

void former_keys_read(struct table *table, const char *at)
{
	uint64_t column, ordinal;
	struct position place;

	while (kept_char(&at, 'k') && kept_number(&at, 10, &column) && kept_char(&at, ' ') && kept_number(&at, 10, &ordinal) &&
	       kept_char(&at, ' ') && kept_position(&at, &place) && column < table->schema.count && ordinal &&
	       ordinal <= table->schema.key_count && table->former_key_count < FORMER_KEYS_MAX) {
		if (!table->former_keys)
			table->former_keys = memory_alloc(FORMER_KEYS_MAX * sizeof(*table->former_keys));
		table->former_keys[table->former_key_count++] = (struct former_key){ (uint16_t)column, (uint16_t)ordinal, place };
	}
}

/* Of several renamings of a key column the first one above the event tells its name of then. */
void keys_then(struct event *e)
{
	const struct table *table = e->table;
	uint16_t *keys = NULL;

	for (size_t i = table->former_key_count; i--;) {
		const struct former_key *former = &table->former_keys[i];

		if (!is_below(&e->position, &former->at))
			continue;
		if (!keys) {
			keys = arena_alloc(e->batch->arena, table->schema.key_count * sizeof(*keys));
			memcpy(keys, table->keys, table->schema.key_count * sizeof(*keys));
		}
		keys[former->ordinal - 1] = former->column;
	}
	e->keys = keys;
}

uint16_t key_column(const struct event *e, size_t k)
{
	return e->keys ? e->keys[k] : e->table->keys[k];
}

bool is_key_column(const struct event *e, int column)
{
	for (size_t k = 0; e->keys && k < e->table->schema.key_count; k++) {
		if (e->keys[k] == column)
			return true;
	}
	return !e->keys && e->table->columns[column].key_ordinal > 0;
}

struct table_schema schema_then(const struct event *e)
{
	struct table_schema schema = e->table->schema;

	if (e->keys)
		schema.keys = e->keys;
	return schema;
}
