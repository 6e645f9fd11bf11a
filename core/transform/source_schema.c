/*
 * What the owner tells about columns: the file of `sourceSchema` (members it
 * does not know are ignored) and the overrides of `columnTypes`. Read once.
 */
#include "transform/debezium_private.h"

#include "base/file.h"

#include <stdlib.h>

#define FILE_BYTES_MAX (64u << 20)

struct override {
	struct span table;
	struct span whole; /* TABLE.COLUMN as it was written */
	struct column_rule rule;
};

struct source_schema {
	struct arena *arena;
	struct table_rule *tables;
	size_t table_count;
	struct override *overrides;
	size_t override_count;
};

/* A schema node to a source type. The node goes through text, because the reader of blocks knows only that. */
static const struct source_type *node_read(struct arena *arena, const json_t *node)
{
	char *text = json_dumps(node, JSON_COMPACT);
	struct json_doc doc = { 0 };
	size_t at;
	struct source_type *type = arena_zalloc(arena, sizeof(*type));
	bool is_fine = text && json_parse(&doc, arena_copy(arena, span_of(text)), &at) == JSON_FINE &&
	               source_type_read(&doc, 0, arena, type);

	json_doc_free(&doc);
	free(text);
	return is_fine ? type : NULL;
}

static bool column_read(struct arena *arena, const char *table, const char *name, json_t *node,
                        struct column_rule *out, struct error *err)
{
	json_t *written = json_object_get(node, "debezium");
	const char *type = json_string_value(json_object_get(node, "bigquery"));

	out->name = arena_copy(arena, span_of(name));
	if (json_is_array(written)) /* it changed during the stream: the last counts */
		written = json_array_get(written, json_array_size(written) - 1);
	if (json_is_object(written)) {
		out->from = node_read(arena, written);
		if (!out->from)
			return fail(err, ERROR_CONFIG, "bad_source_schema",
			            "column %s.%s: 'debezium' is no schema node (an object with \"type\")", table, name);
	}
	if (type) {
		if (!bq_type_parse(arena_copy(arena, span_of(type)), arena, &out->type))
			return fail(err, ERROR_CONFIG, "bad_source_schema", "column %s.%s: '%.80s' is no BigQuery type", table,
			            name, type);
		out->has_type = true;
	}
	return true;
}

static bool table_read(struct arena *arena, const char *name, json_t *node, struct table_rule *out, struct error *err)
{
	json_t *columns = json_object_get(node, "columns"), *keys = json_object_get(node, "primary_key"), *value;
	const char *column;
	size_t i;

	if (!json_is_object(node) || (columns && !json_is_object(columns)))
		return fail(err, ERROR_CONFIG, "bad_source_schema",
		            "table %s: an object with \"columns\" (an object) and \"primary_key\" (a list) is allowed", name);
	out->name = arena_copy(arena, span_of(name));
	out->columns = arena_zalloc(arena, (json_object_size(columns) + 1) * sizeof(*out->columns));
	out->keys = arena_zalloc(arena, (json_array_size(keys) + 1) * sizeof(*out->keys));
	json_object_foreach(columns, column, value) {
		if (!column_read(arena, name, column, value, &out->columns[out->column_count++], err))
			return false;
	}
	json_array_foreach(keys, i, value) {
		if (!json_is_string(value))
			return fail(err, ERROR_CONFIG, "bad_source_schema", "table %s: primary_key is a list of column names",
			            name);
		out->keys[out->key_count++] = arena_copy(arena, span_of(json_string_value(value)));
	}
	return true;
}

static bool file_parse(struct source_schema *schema, const char *path, json_t *root, struct error *err)
{
	const char *name;
	json_t *node;

	if (!json_is_object(root))
		return fail(err, ERROR_CONFIG, "bad_source_schema", "'%s': an object of tables is allowed", path);
	schema->tables = arena_zalloc(schema->arena, (json_object_size(root) + 1) * sizeof(*schema->tables));
	json_object_foreach(root, name, node) {
		if (!table_read(schema->arena, name, node, &schema->tables[schema->table_count++], err))
			return because(err, "reading '%s'", path);
	}
	return true;
}

static bool schema_load(struct source_schema *schema, const char *path, struct error *err)
{
	json_error_t where;
	char *text;
	size_t len;

	if (!file_read(path, FILE_BYTES_MAX, &text, &len, err))
		return because(err, "reading sourceSchema");
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);

	free(text);
	if (!root)
		return fail(err, ERROR_CONFIG, "bad_source_schema", "'%s' line %d: %s", path, where.line, where.text);
	bool is_fine = file_parse(schema, path, root, err);

	json_decref(root);
	return is_fine;
}

/* Encodings are rows of the type table. */
static bool override_read(struct arena *arena, const struct column_override *from, struct override *out,
                          struct error *err)
{
	struct span column = span_of(from->type);

	out->table = span_of(from->table);
	out->rule.name = span_of(from->column);
	out->whole = span_of(arena_printf(arena, "%s.%s", from->table, from->column));
	out->rule.has_type = column.len > 0;
	if (column.len && !bq_type_parse(column, arena, &out->rule.type))
		return fail(err, ERROR_CONFIG, "bad_column_type", "columnTypes %s.%s: '%.80s' is no BigQuery type",
		            from->table, from->column, from->type);
	out->rule.is_encoded = from->encoding && *from->encoding;
	if (out->rule.is_encoded) {
		struct source_type *written = arena_alloc(arena, sizeof(*written));

		if (!source_type_named(from->encoding, written))
			return fail(err, ERROR_BUG, "bad_column_type", "columnTypes %s.%s: nothing reads '%.80s'", from->table,
			            from->column, from->encoding);
		out->rule.from = written;
	}
	return true;
}

struct source_schema *source_schema_open(const struct job_options *options, struct error *err)
{
	struct source_schema *schema = memory_zalloc(sizeof(*schema));

	schema->arena = arena_new(16384);
	if (options->source_schema && !schema_load(schema, options->source_schema, err))
		goto failed;
	schema->overrides = arena_zalloc(schema->arena, (options->column_type_count + 1) * sizeof(*schema->overrides));
	for (size_t i = 0; i < options->column_type_count; i++) {
		if (!override_read(schema->arena, &options->column_types[i], &schema->overrides[i], err))
			goto failed;
		schema->override_count++;
	}
	return schema;
failed:
	source_schema_free(schema);
	return NULL;
}

void source_schema_free(struct source_schema *schema)
{
	if (!schema)
		return;
	arena_free(schema->arena);
	free(schema);
}

const struct table_rule *source_schema_table(const struct source_schema *schema, struct span source,
                                             struct span table)
{
	const struct table_rule *found = NULL;

	for (size_t i = 0; i < schema->table_count; i++) {
		const struct table_rule *rule = &schema->tables[i];

		if (name_matches(rule->name, source, table) && (!found || rule->name.len > found->name.len))
			found = rule;
	}
	return found;
}

/* A column may have dots in its name: "t.a.b" is b of t.a, and a.b of t. */
static bool override_matches(const struct override *o, struct span source, struct span table, struct span column)
{
	OWNED(text) full = text_new(4 * NAME_BYTES_MAX + 4);

	if (name_equal(o->rule.name, column))
		return name_matches(o->table, source, table);
	if (!memchr(column.at, '.', column.len))
		return false;
	text_add_span(full, source);
	text_add_char(full, '.');
	text_add_span(full, column);
	struct span end = text_span(full);

	return name_matches(o->whole, end, span_make(end.at + end.len - column.len - 1 - table.len, table.len + 1 + column.len));
}

static const struct override *override_find(const struct source_schema *schema, struct span source,
                                            struct span table, struct span column)
{
	const struct override *found = NULL;

	for (size_t i = 0; i < schema->override_count; i++) {
		const struct override *o = &schema->overrides[i];

		if (override_matches(o, source, table, column) &&
		    (!found || o->table.len > found->table.len))
			found = o;
	}
	return found;
}

bool source_schema_column(const struct source_schema *schema, const struct table_rule *rule, struct span source,
                          struct span table, struct span column, struct column_rule *out)
{
	const struct override *o = override_find(schema, source, table, column);
	bool is_found = false;

	*out = (struct column_rule){ .name = column };
	for (size_t i = 0; rule && i < rule->column_count && !is_found; i++) {
		if (name_equal(rule->columns[i].name, column)) {
			*out = rule->columns[i];
			is_found = true;
		}
	}
	if (!o)
		return is_found;
	if (o->rule.has_type) {
		out->has_type = true;
		out->type = o->rule.type;
	}
	if (o->rule.from)
		out->from = o->rule.from;
	out->is_encoded = o->rule.is_encoded;
	return true;
}
