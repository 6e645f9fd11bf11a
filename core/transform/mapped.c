/*
 * The transform of PubSub_CDC_to_BigQuery: a message is a JSON object and that
 * object is the row. Templates name dataset and table by the row's own texts; what
 * cannot be placed is a dead letter with the reason, never a batch that waits.
 */
#include "transform/mapped_private.h"

#include "base/clean.h"
#include "base/hash.h"

#include <stdlib.h>

/*
 * Open and close
 */

static void mapped_close(struct transform *transform)
{
	struct debezium *d = (struct debezium *)transform;
	struct mapping *mapping = d ? d->mapping : NULL;

	debezium_free(d);
	if (!mapping)
		return;
	schema_watch_close(mapping->watch);
	schema_file_free(mapping->file);
	free(mapping);
}

static struct transform *mapped_open(const struct transform_setup *setup, struct error *err)
{
	const struct job_options *options = setup->options;
	struct mapping *mapping = memory_zalloc(sizeof(*mapping));
	struct debezium *d = NULL;

	mapping->options = options;
	mapped_letters_find(mapping);
	if (options->schema_file && options->auto_map_tables)
		mapping->watch = schema_watch_open(setup, &mapping->file, err);
	if (!options->schema_file || !options->auto_map_tables || mapping->watch)
		d = debezium_new(setup, &transform_mapped, mapping, err);
	if (!d) {
		schema_watch_close(mapping->watch);
		schema_file_free(mapping->file);
		free(mapping);
		return NULL;
	}
	for (size_t i = 0; i < setup->table_count; i++) {
		if (setup->tables[i]->dataset.len)
			mapped_dataset_is_known(d, setup->tables[i]->dataset);
	}
	return &d->base;
}

/*
 * Reading
 */

/* What the original passes over in silence is said. */
static void note_rest(struct event *e)
{
	batch_add_note(e->batch, TABLE_NONE, NOTHING, "text_behind_object", 1,
	               "text behind a message's object was not looked at, as in the original");
}

/* A block without children would leave its columns without a value. */
static bool borrow_whole(struct debezium *d, struct event *e)
{
	const struct json_doc *doc = e->message->json;

	if (!doc || (doc->count > 3 && json_is(doc, 0, JSON_OBJECT) && json_is(doc, 2, JSON_OBJECT) && doc->tokens[2].next == 3))
		return false;
	return event_borrow(d, e);
}

/* A row that comes back says why it was refused and how often, where the job asks for these columns. The letter's own body
 * stays what it is. Of a name that stands twice the last counts. */
static struct span body_of_retry(struct debezium *d, struct event *e)
{
	const struct message *message = e->message;
	struct span body = message->body;

	if (!d->options->dead_letter_metadata || !message->letter_error)
		return body;

	OWNED(text) out = text_new(body.len + (64u << 10));

	while (body.len && strchr(" \t\r\n", body.at[body.len - 1]))
		body.len--;
	if (body.len < 2 || body.at[body.len - 1] != '}')
		return message->body;
	text_add_span(out, span_make(body.at, body.len - 1));
	text_add(out, memchr(body.at, ':', body.len) ? ",\"_metadata_error\":" : "\"_metadata_error\":");
	json_quote(out, span_of(message->letter_error));
	text_add_format(out, ",\"_metadata_retry_count\":%lld}", (long long)message->letter_retries);
	return out->is_full ? message->body : arena_copy(e->batch->arena, text_span(out));
}

bool mapped_parse(struct debezium *d, struct event *e)
{
	struct span body = body_of_retry(d, e);
	size_t at = 0;

	enum json_fault fault = json_parse(&d->doc, body, &at);

	if (fault == JSON_TRAILING) {
		fault = json_parse(&d->doc, span_make(body.at, at), &at);
		if (fault == JSON_FINE && json_is(&d->doc, 0, JSON_OBJECT))
			note_rest(e);
	}
	if (fault != JSON_FINE)
		return refuse_text(e, fault, at);
	e->doc = &d->doc;
	return true;
}

/* The source's tokens are used where it has them. */
static bool parse(struct debezium *d, struct event *e)
{
	bool is_asked = d->options->dead_letter_metadata && e->message->letter_error;

	return (!is_asked && borrow_whole(d, e)) || mapped_parse(d, e);
}

static bool is_object(struct event *e)
{
	if (json_is(e->doc, 0, JSON_OBJECT))
		return true;
	if (json_is(e->doc, 0, JSON_NULL))
		return REFUSE(e, "null_root", NOTHING, NOTHING, "the body is null, a JSON object is meant");
	return REFUSE(e, "unexpected_root", NOTHING, NOTHING, "the body is %s, a JSON object is meant",
	              json_is(e->doc, 0, JSON_ARRAY) ? "a list" : "a single value");
}

/*
 * Writing
 */

/* The message's own id tells a redelivery. Where it has none its line does; see mapped_finish. */
static void locate(struct debezium *d, struct event *e)
{
	event_place_without_log(e);
	if (e->position_kind == POSITION_BY_LINE && e->message->id.len &&
	    d->options->replication_mode == REPLICATION_APPEND) {
		e->position.a = 0;
		e->position.c = arrival_number(e->message);
	}
	e->is_located = true;
	e->timestamp_ms = event_timestamp(e);
	if (d->options->replication_mode == REPLICATION_UPSERT)
		note_position(e);
}

static bool has_required(struct event *e, const struct row *row)
{
	const struct table *table = e->table;
	size_t found = 0;

	for (size_t i = 0; i < row->shape->count; i++) {
		int32_t column = row->shape->members[i].column;

		found += column >= 0 && table->more[column].is_required && row->cells[i].kind != CELL_NULL;
	}
	if (found == table->required_count)
		return true;
	for (size_t c = 0; c < table->schema.count; c++) {
		bool is_there = false;

		for (size_t i = 0; i < row->shape->count; i++)
			is_there |= row->shape->members[i].column == (int32_t)c && row->cells[i].kind != CELL_NULL;
		if (table->more[c].is_required && !is_there)
			return REFUSE_MAP(e, "missing_required", table->columns[c].name, table->columns[c].source_name,
			                  "column %.*s is REQUIRED by the schema file, and the row has no value for it",
			                  SPAN_ARG(table->columns[c].name));
	}
	return true;
}

static bool has_required_inside(struct event *e, const struct row *row)
{
	const struct table *table = e->table;
	const char *path;
	int32_t column;

	if (!mapped_lacks_inside(row, e->batch->arena, &column, &path))
		return true;
	return REFUSE_MAP(e, "missing_required", table->columns[column].name, span_of(path),
	                  "field %s is REQUIRED by the schema file, and the row has no value for it", path);
}

/* An empty object is a row of NULLs where there are columns. */
static bool has_columns(struct event *e)
{
	return e->table->schema.count > 0 ||
	       REFUSE_MAP(e, "no_columns", NOTHING, NOTHING, "the row has no column, and its table has none yet: there is nothing to write");
}

static bool write_row(struct debezium *d, struct event *e)
{
	bool is_upsert = d->options->replication_mode == REPLICATION_UPSERT;
	struct row_key key = { .key = NOTHING };
	struct record *record;
	struct row row;
	struct span json;

	if (!row_shape(d, e, 0, &d->rooms[0], &row) || !has_columns(e) || (is_upsert && !key_decide(d, e, true)) || !row_convert(d, e, &row))
		return false;
	if ((e->table->required_count && !has_required(e, &row)) || (e->table->has_inside && !has_required_inside(e, &row)))
		return false;
	if (is_upsert) {
		row_spell_key(e, &row);
		if (e->table->schema.key_count && !key_of_row(d, e, &row, &key))
			return false;
	}
	json = row_full_text(d, e, &row);
	if (row_is_too_large(e, json))
		return false;
	table_flush(d, e);
	record = record_add(e, OP_INSERT, 0, is_upsert ? &key : NULL);
	record->partition = e->partition;
	if (d->wants_json)
		record->full_record = json;
	if (d->wants_proto)
		record->proto = row_proto(e, &row);
	return true;
}

static bool apply(struct debezium *d, struct event *e)
{
	if (!parse(d, e) || !is_object(e) || !mapped_find_table(d, e))
		return false;
	locate(d, e);
	d->mapping->is_first_row = e->table->schema.count == 0;
	if (e->table->is_collided) {
		record_park(d, e);
		return true;
	}
	return write_row(d, e);
}

/* Columns that come from now on follow the new file; a bad one changes nothing. */
static void follow_file(struct debezium *d, struct batch *batch)
{
	struct mapping *m = d->mapping;
	struct schema_file *file = NULL;
	struct error failure = { 0 };

	if (!m->watch || !schema_watch_news(m->watch, &file, &failure))
		return;
	if (failure.kind != ERROR_NONE) {
		batch_add_note(batch, TABLE_NONE, NOTHING, "schema_file_kept", 1, "%s; the one before stays in force", failure.message);
		return;
	}
	if (file) {
		schema_file_free(m->file);
		m->file = file;
		mapped_columns_again(d);
	}
	batch_add_note(batch, TABLE_NONE, NOTHING, "schema_file_changed", 1, "columns made from now on follow the changed '%s'",
	               d->options->schema_file);
}

static void mapped_apply(struct transform *transform, struct batch *batch, struct message *message)
{
	struct debezium *d = (struct debezium *)transform;
	struct event e;

	d->mapping->has_lines |= !message->id.len;
	if (message->fate != MESSAGE_OPEN)
		return;
	follow_file(d, batch);
	event_start(&e, batch, message);
	e.is_mapped = true;
	e.op = 'c';
	e.skips_metadata = !d->options->dead_letter_metadata;
	if (message->big)
		REFUSE(&e, "record_too_large", NOTHING, NOTHING, "the body is longer than a record may be");
	else if (message->body_is_null)
		REFUSE(&e, "null_root", NOTHING, NOTHING, "the body is null, a JSON object is meant");
	else if (body_is_blank(message->body))
		REFUSE(&e, "empty_message", NOTHING, NOTHING, "the message has no body");
	else
		apply(d, &e);
	table_flush(d, &e);
	event_keep_place(&e);
}

/* Lines count in each feed anew: with whose line it is, and what stands in it, they tell rows apart for ever. Only now the
 * batch knows its feed. */
static void mapped_finish(struct transform *transform, struct batch *batch)
{
	uint64_t feed = hash_bytes(batch->end.identity);

	if (!((struct debezium *)transform)->mapping->has_lines)
		return;
	for (size_t i = 0; i < batch->record_count; i++) {
		struct record *record = &batch->records[i];
		const struct message *message = &batch->messages[record->message];
		struct position position;
		int64_t us;

		if (message->id.len || (message_published(message, &us) && us >= 0))
			continue;
		position_unpack(record->position, &position);
		position.c = feed ^ hash_bytes(message->body);
		position_pack(&position, record->position);
	}
}

const struct transform_ops transform_mapped = {
	.name = "json",
	.help = "JSON objects that are rows, in the table that templates name.",
	.open = mapped_open,
	.apply = mapped_apply,
	.finish = mapped_finish,
	.close = mapped_close,
};
