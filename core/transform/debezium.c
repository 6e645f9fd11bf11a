/*
 * The Debezium transform: change events of a source database, as envelopes,
 * with or without schema blocks, or as flattened rows. See README.md for the
 * rooms of this folder.
 */
#include "transform/debezium_private.h"

#include "base/hash.h"

#include <stdlib.h>

#define PLACEHOLDER "__debezium_unavailable_value"

/* The types of values that nothing but their JSON kind describes. */
static bool plain_types(struct debezium *d, struct error *err)
{
	if (source_type_named("string", &d->string) && source_type_named("int64", &d->integer) &&
	    source_type_named("double", &d->real) && source_type_named("boolean", &d->boolean) &&
	    source_type_named("weir.Any", &d->any) && document_types(d))
		return true;
	return fail(err, ERROR_BUG, "internal_error", "the type table lacks a plain type");
}

void debezium_free(struct debezium *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->table_count; i++)
		table_free(d->tables[i]);
	for (size_t i = 0; i < 2; i++) {
		free(d->rooms[i].tokens);
		free(d->rooms[i].cells);
	}
	free(d->root_plans);
	free(d->source_plans);
	free(d->tables);
	free(d->slots);
	free(d->key_cells);
	json_doc_free(&d->doc);
	json_doc_free(&d->key_doc);
	json_doc_free(&d->other_doc);
	json_doc_free(&d->attribute_doc);
	json_doc_free(&d->document_doc);
	json_doc_free(&d->row_doc);
	block_cache_free(d->blocks);
	source_schema_free(d->rules);
	arena_free(d->arena);
	free(d);
}

static void debezium_close(struct transform *transform)
{
	debezium_free((struct debezium *)transform);
}

/* Two lines: of the logs, and of the columns in them. */
static void memory_read(struct debezium *d, struct span text)
{
	const char *end = text.len ? memrchr(text.at, '\n', text.len) : NULL;
	struct span logs = end ? span_make(text.at, (size_t)(end - text.at)) : text;

	history_read(&d->history, logs);
	if (end)
		presences_read(d, span_make(end + 1, text.len - logs.len - 1));
}

static struct span memory_text(struct debezium *d, struct arena *arena)
{
	struct span logs = history_text(&d->history, HISTORY_LOGS, arena), presences = presences_text(d, arena);
	char *at = arena_bytes(arena, logs.len + 1 + presences.len);

	if (logs.len)
		memcpy(at, logs.at, logs.len);
	at[logs.len] = '\n';
	if (presences.len)
		memcpy(at + logs.len + 1, presences.at, presences.len);
	return span_make(at, logs.len + 1 + presences.len);
}

struct debezium *debezium_new(const struct transform_setup *setup, const struct transform_ops *ops,
                              struct mapping *mapping, struct error *err)
{
	struct debezium *d = memory_zalloc(sizeof(*d));
	const char *placeholder = mapping ? "" : setup->options->unavailable_value;

	d->base.ops = ops;
	d->mapping = mapping;
	d->options = setup->options;
	d->wants_proto = setup->wants_proto;
	d->wants_json = setup->wants_json;
	d->arena = arena_new(4096);
	d->root_plans = memory_zalloc(FIELD_PLANS * sizeof(*d->root_plans));
	d->source_plans = memory_zalloc(FIELD_PLANS * sizeof(*d->source_plans));
	d->history.arena = d->arena;
	d->placeholder = arena_copy(d->arena, span_of(placeholder ? placeholder : PLACEHOLDER));
	d->placeholder_base64 = base64_room(d->placeholder.len);
	d->blocks = block_cache_new();
	d->rules = source_schema_open(setup->options, err);
	if (!d->rules || !plain_types(d, err)) {
		debezium_free(d);
		return NULL;
	}
	for (size_t i = 0; i < setup->table_count; i++)
		table_restore(d, setup->tables[i]);
	return d;
}

static struct transform *debezium_open(const struct transform_setup *setup, struct error *err)
{
	struct debezium *d = debezium_new(setup, &transform_debezium, NULL, err);

	if (!d)
		return NULL;
	memory_read(d, setup->logs);
	for (size_t i = 0; i < d->table_count; i++)
		d->tables[i]->history_version = d->history.version;
	return &d->base;
}

bool body_is_blank(struct span body)
{
	for (size_t i = 0; i < body.len; i++) {
		if (!memchr(" \t\r\n", body.at[i], 4))
			return false;
	}
	return true;
}

bool refuse_text(struct event *e, enum json_fault fault, size_t at)
{
	return REFUSE(e, json_fault_code(fault), NOTHING, NOTHING, "%s at byte %zu", json_fault_text(fault), at);
}

/* The source's tokens lack the inside of a schema block that it has met before; see struct message. */
static bool lacks_block(const struct json_doc *doc)
{
	return doc->count > 3 && json_is(doc, 0, JSON_OBJECT) && json_is(doc, 2, JSON_OBJECT) &&
	       doc->tokens[2].next == 3 && span_equal(json_raw(doc, 1), SPAN("schema"));
}

/* Are the source's tokens all that is needed? */
bool event_borrow(struct debezium *d, struct event *e)
{
	const struct json_doc *doc = e->message->json;
	struct block *block = NULL;

	if (!doc)
		return false;
	if (lacks_block(doc)) {
		size_t start = doc->tokens[2].start;

		block = block_told(d->blocks, doc->block, span_make(doc->text.at + start, doc->text.len - start));
		if (!block)
			return false;
	}
	e->doc = doc;
	e->block = block;
	return true;
}

/* The source's tokens are used where it has them; else the body is read here, past a known schema block. */
static bool event_parse(struct debezium *d, struct event *e)
{
	struct json_known known = { block_recognise, d->blocks, NULL };
	void *block = NULL;
	size_t at = 0;

	if (event_borrow(d, e))
		return true;
	enum json_fault fault = json_parse_known(&d->doc, e->message->body, &known, &block, &at);

	if (fault != JSON_FINE)
		return refuse_text(e, fault, at);
	e->doc = &d->doc;
	e->block = block;
	return true;
}

void event_start(struct event *e, struct batch *batch, struct message *message)
{
	memory_clear(e, sizeof(*e));
	e->batch = batch;
	e->message = message;
}

/* A letter keeps the place of what was refused: it tells whether something newer came since. */
void event_keep_place(struct event *e)
{
	unsigned char *packed;
	uint64_t ms;

	if (value_uint(&e->fields[FIELD_TS_MS], &ms) == READ_OK && ms <= INT64_MAX / 1000)
		e->message->committed_ms = (int64_t)ms;
	if (!e->is_located || e->message->position)
		return;
	packed = arena_alloc(e->batch->arena, POSITION_BYTES);
	position_pack(&e->position, packed);
	e->message->position = packed;
}

static void debezium_apply(struct transform *transform, struct batch *batch, struct message *message)
{
	struct debezium *d = (struct debezium *)transform;
	struct event e;

	if (message->fate != MESSAGE_OPEN)
		return;
	event_start(&e, batch, message);
	if (message->big) {
		REFUSE(&e, "record_too_large", NOTHING, NOTHING, "the body is longer than a record may be");
		return;
	}
	if (message->body_is_null || body_is_blank(message->body))
		empty_apply(d, &e);
	else if (event_parse(d, &e))
		event_apply(d, &e);
	/* What a refused row has taught of its table holds for the next one too. */
	table_flush(d, &e);
	event_keep_place(&e);
}

static void debezium_finish(struct transform *transform, struct batch *batch)
{
	struct debezium *d = (struct debezium *)transform;
	bool has_changed = presences_have_changed(d);

	if (!d->history.has_grown && !has_changed)
		return;
	d->history.has_grown = false;
	batch->end.logs = memory_text(d, batch->arena);
}

const struct transform_ops transform_debezium = {
	.name = "debezium",
	.help = "Debezium change events as JSON, with or without schema blocks, or flattened rows.",
	.open = debezium_open,
	.apply = debezium_apply,
	.finish = debezium_finish,
	.close = debezium_close,
};
