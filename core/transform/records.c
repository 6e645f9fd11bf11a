/*
 * An event that was understood becomes its records: one, or two when an update
 * changes the key. The first decision is whether the table can take any.
 */
#include "transform/debezium_private.h"

#include "base/hash.h"

static enum operation event_operation(const struct event *e)
{
	switch (e->op) {
	case 'c':
		return OP_INSERT;
	case 'r':
		return OP_READ;
	case 'd':
		return OP_DELETE;
	case 't':
		return OP_TRUNCATE;
	default:
		return OP_UPDATE;
	}
}

struct record *record_add(struct event *e, enum operation operation, uint8_t ordinal, const struct row_key *key)
{
	struct record *record = batch_add_record(e->batch, e->message);
	struct position position = e->position;

	position.ordinal = ordinal;
	position_pack(&position, record->position);
	record->table = e->table->number;
	record->operation = operation;
	record->timestamp_ms = e->timestamp_ms;
	e->message->position = record->position;
	if (key) {
		record->key = key->key;
		record->primary_key = key->json;
		e->message->primary_key = key->json;
	}
	return record;
}

/* Where nothing can enter the table, its records wait as they are. */
void record_park(struct debezium *d, struct event *e)
{
	struct refusal *why = arena_zalloc(e->batch->arena, sizeof(*why));

	why->stage = "map";
	why->code = "name_collision";
	why->message = arena_string(e->batch->arena, span_of(e->table->collision));
	table_flush(d, e);
	struct record *record = record_add(e, event_operation(e), 0, NULL);

	record->verdict = VERDICT_PARKED;
	record->refusal = why;
}

/* Its rows were carried over to another table before this one came (sink/README.md). */
static void note_late(struct event *e)
{
	const struct table *table = e->table;

	if (table->renamed_to.len && is_below(&e->position, &table->renamed_at))
		batch_add_note(e->batch, table->number, NOTHING, "late_for_rename", 1,
		               "rows from before the renaming to %.*s came behind it: it lacks those that are no repeats",
		               SPAN_ARG(table->renamed_to));
}

void note_position(struct event *e)
{
	if (e->position_kind == POSITION_BY_TIME)
		table_note(e, NOTE_ORDER_BY_TIME, "order_by_time",
		           "the events have no position in the source's log: their order is publish time");
	if (e->position_kind == POSITION_BY_LINE)
		table_note(e, NOTE_ORDER_BY_LINE, "order_by_line",
		           "the events have neither position, id nor publish time: their order is the line of the feed");
	if (e->is_by_arrival)
		table_note(e, NOTE_ORDER_BY_ARRIVAL, "order_by_arrival",
		           "changes of one transaction share their position: inside it, their order is that of arrival");
	if (e->has_raised_epoch)
		batch_add_note(e->batch, e->table->number, NOTHING, "history_changed", 1,
		               "positions of another server or of a log that began anew: epoch %llu begins",
		               (unsigned long long)e->position.epoch);
	if (e->is_in_history && e->position.epoch && (e->has_raised_epoch || !(e->table->schema.notes & NOTE_HISTORY_CHANGED))) {
		e->table->schema.notes |= NOTE_HISTORY_CHANGED;
		table_change(e->table, arena_printf(e->batch->arena, "history_changed, epoch %llu begins",
		                                    (unsigned long long)e->position.epoch), NOTHING);
	}
}

int64_t event_timestamp(struct event *e)
{
	uint64_t ms;
	int64_t us;

	if (value_uint(&e->top[FIELD_TS_MS], &ms) == READ_OK || value_uint(&e->fields[FIELD_TS_MS], &ms) == READ_OK ||
	    value_uint(&e->fields[FIELD_CLOCK_MS], &ms) == READ_OK)
		return ms <= INT64_MAX ? (int64_t)ms : INT64_MAX;
	if (message_published(e->message, &us))
		return us / 1000;
	return e->message->received_us / 1000;
}

/* Table, position, time. `*out_parked`: nothing more is to be done. */
static bool event_begin(struct debezium *d, struct event *e, bool *out_parked)
{
	*out_parked = false;
	if (!table_find(d, e) || !event_locate(d, e))
		return false;
	e->is_located = true;
	e->timestamp_ms = event_timestamp(e);
	note_position(e);
	note_late(e);
	table_lives(e);
	if (e->table->is_collided) {
		record_park(d, e);
		*out_parked = true;
	}
	return true;
}

/* Without key columns a row's own bytes are its identity, as the source wrote them: the mapped row changes with the
 * columns. Its place in the transaction tells equal rows apart. */
static void key_of_content(struct event *e, const struct row *row, struct row_key *out)
{
	struct span json = json_slice(row->doc, row->object);
	unsigned char *hash = arena_alloc(e->batch->arena, SHA256_BYTES);
	uint64_t order;

	if (value_uint(&e->fields[FIELD_TOTAL_ORDER], &order) == READ_OK)
		json = span_of(arena_printf(e->batch->arena, "%.*s %llu", SPAN_ARG(json), (unsigned long long)order));
	sha256(json, hash);
	*out = (struct row_key){ .key = { (const char *)hash, SHA256_BYTES } };
}

/* fullRecord, where somebody needs it: the sink, or a row that may be too large. */
struct span row_full_text(struct debezium *d, struct event *e, const struct row *row)
{
	size_t most = row->text_bytes * 6 + row->shape->names_room + row->shape->count * CELL_JSON_ROOM;

	if (!d->wants_json && most <= ROW_BYTES_MAX)
		return NOTHING;
	return row_json(e, row);
}

bool row_is_too_large(struct event *e, struct span json)
{
	if (json.len <= ROW_BYTES_MAX)
		return false;
	REFUSE_MAP(e, "row_too_large", NOTHING, NOTHING, "the mapped row has %zu bytes, %d are allowed", json.len,
	           ROW_BYTES_MAX);
	return true;
}

static void record_fill(struct debezium *d, struct event *e, struct record *record, const struct row *row,
                        struct span json, const struct row_key *key)
{
	if (d->wants_json)
		record->full_record = json;
	if (row && row->has_unavailable)
		record->unavailable = row_unavailable(e, row);
	if (d->wants_proto)
		record->proto = record_proto(e, record, row, key);
}

/* The delete of the old key comes first, by the ordinal inside the event. */
static void write_key_change(struct debezium *d, struct event *e, const struct row *row, struct span json,
                             const struct row_key *key, const struct row_key *old_key)
{
	fills_put(d, e);
	struct record *old = record_add(e, OP_DELETE, 0, old_key);
	struct record *new;

	record_fill(d, e, old, NULL, NOTHING, old_key);
	new = record_add(e, OP_INSERT, 1, key);
	new->old_key = old_key->key;
	record_fill(d, e, new, row, json, key);
}

/* The source's own delete and insert of a key change share one position: the insert says so by its attribute. */
static void write_plain(struct debezium *d, struct event *e, const struct row *row, struct span json,
                        const struct row_key *key)
{
	struct span old_key = NOTHING;
	bool has_old = e->op == 'c' && e->message->attr_count &&
	               key_of_attribute(d, e, "__debezium.oldkey", &old_key) && !span_equal(old_key, key->key);

	table_flush(d, e);
	fills_put(d, e);
	struct record *record = record_add(e, event_operation(e), has_old ? 1 : 0, key);

	if (has_old)
		record->old_key = old_key;
	record_fill(d, e, record, row, json, key);
}

/* What both images leave out was not changed: the value is that of earlier events. */
static void row_leave_unchanged(const struct row *before, struct row *row)
{
	for (size_t i = 0; i < row->shape->count; i++) {
		int32_t column = row->shape->members[i].column;
		bool was_null = true;

		if (column < 0 || row->cells[i].kind != CELL_NULL || row->table->columns[column].key_ordinal)
			continue;
		for (size_t k = 0; k < before->shape->count; k++) {
			if (before->shape->members[k].column == column)
				was_null = json_is(before->doc, before->tokens[k], JSON_NULL);
		}
		if (was_null) {
			row->cells[i].kind = CELL_UNAVAILABLE;
			row->has_unavailable = true;
		}
	}
}

static bool write_mapped(struct debezium *d, struct event *e, struct row *row, uint32_t before)
{
	struct row_key key, old_key;
	struct row old = { 0 };

	if (!key_decide(d, e, true) || !row_convert(d, e, row))
		return false;
	row_spell_key(e, row);
	if (e->table->is_key_new)
		key_check(e);
	if (e->is_partial) {
		if (!row_shape(d, e, before, &d->rooms[1], &old))
			return false;
		row_leave_unchanged(&old, row);
	}
	if (row->has_unavailable)
		table_note(e, NOTE_PLACEHOLDERS, "placeholders", "unchanged large values are kept from earlier events");
	struct span json = row_full_text(d, e, row);

	if (row_is_too_large(e, json))
		return false;
	if (!e->table->schema.key_count) {
		key_of_content(e, row, &key);
		write_plain(d, e, row, json, &key);
		return true;
	}
	if (!key_of_row(d, e, row, &key))
		return false;
	if (e->op == 'u' && before != NO_ROW) {
		if (!row_shape(d, e, before, &d->rooms[1], &old))
			return false;
		if (key_has_changed(d, e, &old, row, key.key, &old_key)) {
			table_flush(d, e);
			write_key_change(d, e, row, json, &key, &old_key);
			return true;
		}
	}
	write_plain(d, e, row, json, &key);
	return true;
}

bool event_write_row(struct debezium *d, struct event *e, uint32_t after, uint32_t before)
{
	struct row row;
	bool is_parked;

	if (!event_begin(d, e, &is_parked))
		return false;
	if (is_parked)
		return true;
	if (!row_shape(d, e, after, &d->rooms[0], &row))
		return false;
	comebacks_follow(d, e, row.shape);
	return write_mapped(d, e, &row, before);
}

/* Without key columns the deleted row must be there whole, or nothing tells which one it was. */
static bool delete_key(struct debezium *d, struct event *e, struct row *row, struct row_key *out)
{
	if (e->table->schema.key_count) {
		if (row || message_key(d, e))
			return key_of_row(d, e, row, out);
		return REFUSE(e, "no_key", NOTHING, NOTHING, "a delete with neither 'before' nor a message key");
	}
	if (!row)
		return REFUSE(e, "no_key", NOTHING, NOTHING, "a delete without 'before' in a table without a key");
	if (!row_convert(d, e, row))
		return false;
	key_of_content(e, row, out);
	return true;
}

bool event_write_delete(struct debezium *d, struct event *e, uint32_t before)
{
	struct row row;
	struct row_key key;
	bool is_parked;

	if (!event_begin(d, e, &is_parked))
		return false;
	if (is_parked)
		return true;
	bool has_row = before != NO_ROW;

	if (has_row && !row_shape(d, e, before, &d->rooms[0], &row))
		return false;
	if (!key_decide(d, e, has_row) || !delete_key(d, e, has_row ? &row : NULL, &key))
		return false;
	table_flush(d, e);
	record_fill(d, e, record_add(e, OP_DELETE, 0, &key), NULL, NOTHING, &key);
	return true;
}

/* TRUNCATE and DROP: the whole table, so no key. */
bool event_write_table(struct debezium *d, struct event *e, enum operation operation)
{
	bool is_parked;

	if (!event_begin(d, e, &is_parked))
		return false;
	if (is_parked)
		return true;
	table_flush(d, e);
	record_fill(d, e, record_add(e, operation, 0, NULL), NULL, NOTHING, NULL);
	return true;
}
