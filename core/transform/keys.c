/*
 * Which columns are a table's key: by primaryKey, message key, sourceSchema, in
 * this order; and what is done when the source changes them later.
 */
#include "transform/debezium_private.h"

static const struct primary_key *key_option(const struct job_options *options, const struct table *table)
{
	const struct primary_key *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < options->primary_key_count; i++) {
		const struct primary_key *key = &options->primary_keys[i];
		size_t len = strlen(key->table);

		if (name_matches(span_of(key->table), table->schema.source, table->name) && (!found || len > longest)) {
			found = key;
			longest = len;
		}
	}
	return found;
}

/* One more key column; a name twice counts once. */
static bool key_add(struct debezium *d, struct event *e, struct span name)
{
	struct table *table = e->table;
	int column = column_find(table, name);

	if (column < 0) {
		const struct source_field *field = block_field(e, name);

		column = column_add(d, e, name, field ? &field->type : NULL);
		if (column < 0)
			return false;
	}
	if (table->columns[column].key_ordinal)
		return true;
	table->keys = memory_grow(table->keys, (table->schema.key_count + 1) * sizeof(*table->keys));
	table->keys[table->schema.key_count++] = (uint16_t)column;
	table->columns[column].key_ordinal = (uint16_t)table->schema.key_count;
	table_sync(table);
	if (table->schema.version)
		table_change(table, "key column", table->columns[column].name);
	return true;
}

/* The topic router's mark (__dbz__physicalTableIdentifier, __dbz__sourceIdentifier): it keeps the keys of tables apart that
 * share a topic. Here the source block tells the table. */
static bool is_routers(struct span name)
{
	static const char head[] = "__dbz__";

	return name.len >= sizeof(head) - 1 && memcmp(name.at, head, sizeof(head) - 1) == 0;
}

static bool key_add_members(struct debezium *d, struct event *e)
{
	const struct json_doc *doc = &d->key_doc;
	uint32_t end = doc->tokens[e->key_object].next;

	for (uint32_t at = e->key_object + 1; at < end; at = doc->tokens[at + 1].next) {
		struct span name = key_column_name(e, json_text(doc, at, e->batch->arena));

		if (!is_routers(name) && !key_add(d, e, name))
			return false;
	}
	return true;
}

bool table_take_key(struct debezium *d, struct event *e, const struct table *from)
{
	struct table *to = e->table;
	bool is_same = to->schema.key_count == from->schema.key_count;

	if (!to->schema.key_count && !to->schema.version) {
		for (size_t i = 0; i < from->schema.key_count; i++) {
			if (!key_add(d, e, from->columns[from->keys[i]].source_name))
				return false;
		}
		to->schema.notes |= from->schema.notes & NOTE_NO_KEY;
		return true;
	}
	for (size_t i = 0; is_same && i < from->schema.key_count; i++)
		is_same = span_equal(to->columns[to->keys[i]].source_name, from->columns[from->keys[i]].source_name);
	return is_same;
}

/* A column that primaryKey names and nothing has would be the table's key for good: a misspelt name could not be mended. */
static bool key_is_there(struct debezium *d, struct event *e, struct span name)
{
	if (column_find(e->table, name) >= 0 || block_field(e, name) ||
	    (message_key(d, e) && key_member(&d->key_doc, e->key_object, e->batch->arena, name)))
		return true;
	return REFUSE_MAP(e, "missing_key", name, NOTHING, "primaryKey names column %.*s, which neither the row nor the "
	                  "message key has", SPAN_ARG(name));
}

/* A limit at birth: a key of which a part were left out would make one row of two. */
static bool key_fits(struct event *e, size_t count)
{
	if (count <= KEY_COLUMNS_MAX)
		return true;
	return REFUSE_MAP(e, "key_too_wide", NOTHING, NOTHING, "the table's key has %zu columns, %d are allowed", count,
	                  KEY_COLUMNS_MAX);
}

/* As key_choose chooses. */
static size_t key_count_told(struct debezium *d, struct event *e, const struct primary_key *option)
{
	const struct json_doc *doc = &d->key_doc;
	const struct table_rule *rule = e->table->rule;
	size_t count = 0;

	if (option || e->is_document)
		return option ? option->count : 1;
	if (!message_key(d, e))
		return rule ? rule->key_count : 0;
	for (uint32_t at = e->key_object + 1; at < doc->tokens[e->key_object].next; at = doc->tokens[at + 1].next)
		count++;
	return count;
}

static bool key_choose(struct debezium *d, struct event *e)
{
	const struct primary_key *option = key_option(d->options, e->table);
	const struct table_rule *rule = e->table->rule;

	if (!key_fits(e, key_count_told(d, e, option)))
		return false;

	if (option) {
		for (size_t i = 0; i < option->count; i++) {
			if (!key_is_there(d, e, span_of(option->columns[i])))
				return false;
		}
		for (size_t i = 0; i < option->count; i++) {
			if (!key_add(d, e, span_of(option->columns[i])))
				return false;
		}
		return true;
	}
	if (e->is_document)
		return key_add(d, e, SPAN("_id"));
	if (message_key(d, e))
		return key_add_members(d, e);
	for (size_t i = 0; rule && i < rule->key_count; i++) {
		if (!key_add(d, e, rule->keys[i]))
			return false;
	}
	return true;
}

static bool key_is_as_told(const struct table *table, const struct primary_key *option)
{
	if (option->count != table->schema.key_count)
		return false;
	for (size_t i = 0; i < option->count; i++) {
		if (!span_same_word(table->columns[table->keys[i]].source_name, span_of(option->columns[i])))
			return false;
	}
	return true;
}

/* A table that has rows keeps its key; that primaryKey now says something else is not passed over in silence. */
static void key_compare(struct debezium *d, struct event *e)
{
	const struct table_rule *rule = e->table->rule;
	const struct primary_key *option;

	if (e->table->is_key_compared)
		return;
	option = key_option(d->options, e->table);
	e->table->is_key_compared = true;
	e->table->is_key_told_by_messages = !option && !(rule && rule->key_count);
	if (option && !key_is_as_told(e->table, option))
		batch_add_note(e->batch, e->table->number, NOTHING, "key_kept", 1,
		               "the table keeps the key it was made with; what primaryKey says now takes effect in new datasets");
}

static bool key_names_match(const struct debezium *d, const struct event *e)
{
	const struct json_doc *doc = &d->key_doc;
	uint32_t end = doc->tokens[e->key_object].next;
	size_t count = 0;

	for (uint32_t at = e->key_object + 1; at < end; at = doc->tokens[at + 1].next) {
		struct span name = key_column_name(e, json_text(doc, at, e->batch->arena));
		int column = column_find(e->table, name);

		if (is_routers(name))
			continue;
		count++;
		if (column < 0 || !is_key_column(e, column))
			return false;
	}
	return count == e->table->schema.key_count;
}

/* BigQuery's rule for primary keys; the local warehouse takes any, and is where such a job is rehearsed. */
#define BIGQUERY_KEY_COLUMNS 16

static bool bigquery_takes(const struct bq_type *type)
{
	static const bool taken[BQ_KINDS] = {
		[BQ_STRING] = true, [BQ_INT64] = true, [BQ_BOOL] = true, [BQ_BYTES] = true, [BQ_NUMERIC] = true,
		[BQ_BIGNUMERIC] = true, [BQ_DATE] = true, [BQ_DATETIME] = true, [BQ_TIMESTAMP] = true,
	};

	return taken[type->kind] && !type->is_array;
}

void key_check(struct event *e)
{
	struct table *table = e->table;
	OWNED(text) type = text_new(4096);

	table->is_key_new = false;
	if (table->schema.key_count > BIGQUERY_KEY_COLUMNS)
		batch_add_note(e->batch, table->number, NOTHING, "key_beyond_bigquery", 1, "the key has %zu columns, and BigQuery's "
		               "keys have at most %d", table->schema.key_count, BIGQUERY_KEY_COLUMNS);
	for (size_t i = 0; i < table->schema.key_count; i++) {
		const struct column *column = &table->columns[table->keys[i]];

		if (bigquery_takes(&column->type))
			continue;
		text_clear(type);
		bq_type_print(type, &column->type);
		batch_add_note(e->batch, table->number, column->name, "key_beyond_bigquery", 1, "key column %.*s is %s, which no key "
		               "in BigQuery may be", SPAN_ARG(column->name), type->at);
	}
}

/* Types whose values have one text in both, ours and the source's: their keys stay what they were. */
static const struct kept_spelling {
	enum bq_kind from, to;
} kept_spellings[] = {
	{ BQ_INT64, BQ_NUMERIC }, { BQ_INT64, BQ_BIGNUMERIC }, { BQ_INT64, BQ_FLOAT64 }, { BQ_INT64, BQ_STRING },
	{ BQ_NUMERIC, BQ_BIGNUMERIC }, { BQ_BOOL, BQ_STRING }, { BQ_DATE, BQ_STRING }, { BQ_JSON, BQ_STRING },
};

/* A source that turns 1.50 into text says "1.50", and the row that has been "1.5" is not found by it. */
void key_tell_type(struct event *e, const struct column *column, const struct bq_type *was)
{
	OWNED(text) from = text_new(4096);
	OWNED(text) to = text_new(4096);

	for (size_t i = 0; i < sizeof(kept_spellings) / sizeof(kept_spellings[0]); i++) {
		if (was->kind == kept_spellings[i].from && column->type.kind == kept_spellings[i].to)
			return;
	}
	bq_type_print(from, was);
	bq_type_print(to, &column->type);
	batch_add_note(e->batch, e->table->number, column->name, "key_changed", 1, "key column %.*s was %s and is %s now: a row "
	               "that the source spells otherwise since then may stand twice", SPAN_ARG(column->name), from->at, to->at);
}

/* Once a run. */
static void key_tell(struct event *e, const char *code, const char *text)
{
	if (e->table->is_key_told)
		return;
	e->table->is_key_told = true;
	batch_add_note(e->batch, e->table->number, NOTHING, code, 1, "%s", text);
}

/* The source may change a table's primary key in mid-stream. Rows of the new key cannot be found by the old one: two of
 * them would be taken for one. What the owner says of the key stands above what messages say. */
static bool key_is_still_that(struct debezium *d, struct event *e)
{
	struct table *table = e->table;

	keys_then(e);
	if (!table->is_key_told_by_messages)
		return true;
	if (!e->message->key.len)
		key_tell(e, "key_changed", "messages have no key any more: their rows go on by the columns that were the key");
	uint64_t hash = key_names_hash(table, e->message->key);

	if (hash == table->key_names)
		e->keys = NULL;
	if (hash == table->key_names || !message_key(d, e) || (e->keys && key_names_match(d, e)))
		return true;
	e->keys = NULL;
	if (!key_names_match(d, e))
		return REFUSE_MAP(e, "key_changed", NOTHING, NOTHING, "the message's key %.*s has other columns than the table's "
		                  "key", SPAN_ARG(json_slice(&d->key_doc, e->key_object)));
	table->key_names = hash;
	return true;
}

/* Once rows without a key have been written, the table stays without: a row would have two identities otherwise. */
bool key_decide(struct debezium *d, struct event *e, bool has_row)
{
	struct table *table = e->table;

	if (table->schema.key_count || table->schema.notes & NOTE_NO_KEY) {
		key_compare(d, e);
		if (table->schema.key_count)
			return key_is_still_that(d, e);
		if (!table->is_key_told && e->message->key.len && message_key(d, e))
			key_tell(e, "key_kept", "messages have a key now, but the table was made without: it has a replica in new "
			                        "datasets");
		return true;
	}
	if (!key_choose(d, e))
		return false;
	table->is_key_new = table->schema.key_count > 0;
	if (table->schema.key_count)
		table->key_version++;
	else if (has_row)
		table_note(e, NOTE_NO_KEY, "no_key", "the table has no key: it has a changelog, and no replica");
	return true;
}
