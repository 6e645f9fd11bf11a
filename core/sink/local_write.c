/*
 * A batch into the warehouse: schema changes where they stand between records,
 * then each record into its changelog, or in upsert mode folded into its replica.
 */
#include "sink/local_sink_private.h"

#include "base/clock.h"
#include "base/crash.h"

#include <inttypes.h>

/*
 * Records
 */

bool record_refuse(struct batch *batch, struct record *record, const char *code, const char *message)
{
	struct refusal *refusal = arena_zalloc(batch->arena, sizeof(*refusal));

	*refusal = (struct refusal){ .stage = "write", .code = code, .message = message };
	record->verdict = VERDICT_REFUSED;
	record->refusal = refusal;
	if (!batch->messages[record->message].refusal)
		batch->messages[record->message].refusal = refusal;
	return true;
}

static bool is_too_large(const struct record *record)
{
	return record->full_record.len > LOCAL_RECORD_BYTES_MAX || record->key.len > LOCAL_RECORD_BYTES_MAX ||
	       record->primary_key.len > LOCAL_RECORD_BYTES_MAX || record->unavailable.len > LOCAL_RECORD_BYTES_MAX ||
	       record->full_record.len + record->primary_key.len + record->unavailable.len + record->key.len >
	               LOCAL_RECORD_BYTES_MAX;
}

/* The first placeholder of a table: from now on the history of its rows is looked up. */
static bool history_begin(struct local_sink *sink, uint32_t number, struct error *err)
{
	struct local_table *table = &sink->tables[number];

	table->has_history_index = true;
	return changelog_index_history(sink->store, changelog_name(sink->arena, table->schema->name), err) &&
	       local_table_save(sink, number, err);
}

/* The table whose rows a RENAME carries over; NULL: it has none here. */
static struct local_table *renamed_from(struct local_sink *sink, struct batch *batch, const struct record *record)
{
	struct json_doc doc = { 0 };
	struct local_table *found = NULL;
	struct span source = SPAN("");
	size_t at;

	if (json_parse(&doc, record->full_record, &at) == JSON_FINE && json_is(&doc, 0, JSON_OBJECT))
		source = json_text(&doc, json_member(&doc, 0, SPAN("from")), batch->arena);
	for (size_t i = 0; i < sink->count; i++) {
		if (span_equal(sink->tables[i].schema->source, source) && !local_table_is_collided(sink->tables[i].schema))
			found = &sink->tables[i];
	}
	json_doc_free(&doc);
	return found;
}

/* What the other changelog has goes on in this one, so that each replica comes from one changelog alone. */
static bool rename_log(struct local_sink *sink, struct batch *batch, const struct record *record, struct error *err)
{
	struct local_table *from = renamed_from(sink, batch, record), *to = &sink->tables[record->table];

	if (!from || from == to)
		return true;
	if (from->has_history_index && !to->has_history_index && !history_begin(sink, record->table, err))
		return false;
	if (!changelog_carry(sink->store, changelog_name(sink->arena, from->schema->name),
	                     changelog_name(sink->arena, to->schema->name), record->position, err))
		return false;
	crash_point(rows_renamed);
	return true;
}

static bool record_log(struct local_sink *sink, struct batch *batch, struct record *record, struct error *err)
{
	struct local_table *table = &sink->tables[record->table];
	bool is_repeated;

	if (record->unavailable.len && !table->has_history_index && !history_begin(sink, record->table, err))
		return false;
	if (!table->insert &&
	    !(table->insert = changelog_prepare(sink->store, changelog_name(sink->arena, table->schema->name), err)))
		return false;
	if (!changelog_add(sink->store, table->insert, table->schema, record,
	                   batch->messages[record->message].received_us, &is_repeated, err))
		return false;
	record->verdict = is_repeated ? VERDICT_REPEATED : VERDICT_WRITTEN;
	return is_repeated || record->operation != OP_RENAME || rename_log(sink, batch, record, err);
}

static void fold_verdicts(struct local_table *table, struct batch *batch)
{
	for (size_t i = 0; i < table->fold.count; i++) {
		const struct change *change = &table->fold.items[i];

		if (change->operation != OPERATIONS && change->is_repeat)
			batch->records[change->record].verdict = VERDICT_REPEATED;
	}
}

bool local_table_apply(struct local_sink *sink, struct local_table *table, struct batch *batch, struct error *err)
{
	uint64_t rows;

	(void)sink;
	if (!table->replica)
		return true;
	rows = 0;
	if (!replica_apply(table->replica, &table->fold, NULL, &rows, err))
		return false;
	fold_verdicts(table, batch);
	fold_clear(&table->fold);
	return true;
}

/* Of a table that was only truncated or dropped yet the key is not known, though a file may have told its columns; what that
 * hides must stay hidden. */
static bool is_only_hidden(const struct table_schema *schema, const struct record *record)
{
	return !(schema->notes & NOTE_NO_KEY) && !record->key.len;
}

/* The replica is there, has the columns of now, and all that was folded so far. */
static bool replica_catch_up(struct local_sink *sink, struct local_table *table, struct batch *batch, struct error *err)
{
	return local_table_begin_replica(sink, table, err) && local_table_follow(sink, table, err) &&
	       local_table_apply(sink, table, batch, err);
}

/* What was folded so far is below it, or as it will be. Behind a later one it has no effect: without a changelog
 * nobody can tell what the rows were in between. */
static bool record_alter(struct local_sink *sink, struct batch *batch, struct record *record, struct error *err)
{
	struct local_table *table = &sink->tables[record->table];
	bool is_repeat;
	uint64_t rows = 0;

	record->verdict = VERDICT_WRITTEN;
	if (!table->schema->key_count)
		return true;
	if (!replica_catch_up(sink, table, batch, err) ||
	    !replica_alter_add(table->replica, record->position, record->full_record, true, &is_repeat, err))
		return false;
	table->is_touched = true;
	return replica_alters_apply(table->replica, &rows, err);
}

static bool record_rename(struct local_sink *sink, struct batch *batch, struct record *record, struct error *err)
{
	struct local_table *from = renamed_from(sink, batch, record), *to = &sink->tables[record->table];

	record->verdict = VERDICT_WRITTEN;
	if (!from || from == to || !from->schema->key_count || !to->schema->key_count)
		return true;
	if (!replica_catch_up(sink, from, batch, err) || !replica_catch_up(sink, to, batch, err) ||
	    !replica_carry(to->replica, from->replica, record->position, err))
		return false;
	to->is_touched = from->is_touched = true;
	crash_point(rows_renamed);
	return true;
}

static bool record_fold(struct local_sink *sink, struct batch *batch, struct record *record, struct error *err)
{
	struct local_table *table = &sink->tables[record->table];
	struct change change = {
		.key = record->key,
		.old_key = record->old_key,
		.full_record = record->full_record,
		.unavailable = record->unavailable,
		.position = record->position,
		.operation = record->operation,
		.record = (uint32_t)(record - batch->records),
	};

	if (!table->schema->key_count && !is_only_hidden(table->schema, record))
		return record_refuse(batch, record, "no_key", "the table has no key, so its rows cannot be updated");
	if (!table->replica && !(local_table_begin_replica(sink, table, err) && local_table_follow(sink, table, err)))
		return false;
	record->verdict = VERDICT_WRITTEN;
	table->is_touched = true;
	fold_add(&table->fold, replica_tide(table->replica), &change);
	return !table->folds_one || local_table_apply(sink, table, batch, err);
}

static bool record_write(struct local_sink *sink, struct batch *batch, struct record *record, struct error *err)
{
	if (record->verdict != VERDICT_PENDING)
		return true;
	if (record->table >= sink->count)
		return fail(err, ERROR_BUG, "store_failed", "a record is of table number %" PRIu32 ", which has no schema",
		            record->table);
	if (is_too_large(record))
		return record_refuse(batch, record, "row_too_large", "the row is larger than the local warehouse takes");
	if (sink->is_upsert && record->operation == OP_ALTER)
		return record_alter(sink, batch, record, err);
	if (sink->is_upsert && record->operation == OP_RENAME)
		return record_rename(sink, batch, record, err);
	if (sink->is_append)
		return record_append(sink, batch, record, err);
	return sink->is_upsert ? record_fold(sink, batch, record, err) : record_log(sink, batch, record, err);
}

/* A placeholder may need a value that only this batch has: then folding would lose it. */
static void folds_choose(struct local_sink *sink, const struct batch *batch)
{
	for (size_t i = 0; i < sink->count; i++)
		sink->tables[i].folds_one = false;
	for (size_t i = 0; i < batch->record_count; i++) {
		if (batch->records[i].unavailable.len && batch->records[i].table < sink->count)
			sink->tables[batch->records[i].table].folds_one = true;
	}
}

static bool folds_finish(struct local_sink *sink, struct batch *batch, struct error *err)
{
	for (size_t i = 0; i < sink->count; i++) {
		struct local_table *table = &sink->tables[i];

		if (!table->replica || !table->is_touched)
			continue;
		if (!local_table_apply(sink, table, batch, err) || !replica_save(table->replica, 0, err))
			return false;
	}
	return true;
}

/* A batch that is written again was rolled back: what the sink said then does not hold. */
static void verdicts_reset(struct batch *batch)
{
	for (size_t i = 0; i < batch->record_count; i++) {
		if (batch->records[i].verdict == VERDICT_WRITTEN || batch->records[i].verdict == VERDICT_REPEATED)
			batch->records[i].verdict = VERDICT_PENDING;
	}
}

static bool changes_until(struct local_sink *sink, struct batch *batch, const struct schema_change **next, size_t at,
                          struct error *err)
{
	while (*next && (*next)->before <= at) {
		if (!local_table_change(sink, batch, *next, err))
			return false;
		folds_choose(sink, batch);
		*next = (*next)->next;
	}
	return true;
}

bool local_write(struct sink *self, struct batch *batch, struct error *err)
{
	struct local_sink *sink = (struct local_sink *)self;
	const struct schema_change *next = batch->changes;

	if (!sink->is_open && !store_begin(sink->store, err))
		return false;
	sink->is_open = true;
	verdicts_reset(batch);
	folds_choose(sink, batch);
	for (size_t i = 0; i < batch->record_count; i++) {
		if (!changes_until(sink, batch, &next, i, err) || !record_write(sink, batch, &batch->records[i], err))
			return false;
	}
	if (!changes_until(sink, batch, &next, SIZE_MAX, err))
		return false;
	if (batch->changes)
		crash_point(schema_written);
	if ((sink->is_upsert || sink->is_append) && !folds_finish(sink, batch, err))
		return false;
	crash_point(rows_written);
	return true;
}
