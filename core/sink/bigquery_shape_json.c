/*
 * Shapes beside tables of BigQuery, in REST's JSON: what a table lacks, and what it
 * has of another type. A table's own fields are kept as they came, with
 * descriptions, policy tags and all that we do not know, for a patch sends them
 * all back.
 */
#include "sink/bigquery_table_private.h"

/* A kind's name in REST's requests and answers (which use the older ones), and of which other kinds a column may be so
 * that values of it are taken as they are: decimals and other texts by a text column, whole numbers by decimals. */
#define TAKES(kind) (1u << (kind))
static const struct kind_row {
	const char *name, *older;
	unsigned taken_by;
	const char *element; /* of a RANGE, NULL; a member of its own in JSON */
} kind_rows[BQ_KINDS] = {
	[BQ_STRING] = { "STRING", "STRING", 0 },
	[BQ_INT64] = { "INT64", "INTEGER", TAKES(BQ_NUMERIC) | TAKES(BQ_BIGNUMERIC) },
	[BQ_FLOAT64] = { "FLOAT64", "FLOAT", 0 },
	[BQ_BOOL] = { "BOOL", "BOOLEAN", 0 },
	[BQ_BYTES] = { "BYTES", "BYTES", 0 },
	[BQ_NUMERIC] = { "NUMERIC", "DECIMAL", TAKES(BQ_BIGNUMERIC) | TAKES(BQ_STRING) },
	[BQ_BIGNUMERIC] = { "BIGNUMERIC", "BIGDECIMAL", TAKES(BQ_STRING) },
	[BQ_DATE] = { "DATE", "DATE", 0 },
	[BQ_TIME] = { "TIME", "TIME", 0 },
	[BQ_DATETIME] = { "DATETIME", "DATETIME", 0 },
	[BQ_TIMESTAMP] = { "TIMESTAMP", "TIMESTAMP", 0 },
	[BQ_INTERVAL] = { "INTERVAL", "INTERVAL", TAKES(BQ_STRING) },
	[BQ_JSON] = { "JSON", "JSON", TAKES(BQ_STRING) },
	[BQ_GEOGRAPHY] = { "GEOGRAPHY", "GEOGRAPHY", TAKES(BQ_STRING) },
	[BQ_RANGE_DATE] = { "RANGE", "RANGE", 0, "DATE" },
	[BQ_RANGE_DATETIME] = { "RANGE", "RANGE", 0, "DATETIME" },
	[BQ_RANGE_TIMESTAMP] = { "RANGE", "RANGE", 0, "TIMESTAMP" },
	[BQ_STRUCT] = { "STRUCT", "RECORD", 0 },
};

bool shape_takes(enum bq_kind present, enum bq_kind wanted)
{
	return present == wanted || kind_rows[wanted].taken_by & TAKES(present);
}

static const char *text_of(const json_t *object, const char *name, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : otherwise;
}

static bool kind_is(const struct kind_row *row, const char *name, const char *element)
{
	return (strcmp(row->name, name) == 0 || strcmp(row->older, name) == 0) && (!row->element || strcmp(row->element, element) == 0);
}

/* BQ_KINDS: a type that none of our values has. */
static enum bq_kind kind_of(const json_t *field)
{
	const char *name = text_of(field, "type", ""), *element = text_of(json_object_get(field, "rangeElementType"), "type", "");
	size_t kind = 0;

	while (kind < BQ_KINDS && !kind_is(&kind_rows[kind], name, element))
		kind++;
	return (enum bq_kind)kind;
}

static json_t *fields_json(const struct table_field *fields, size_t count, bool is_made);

/* A column that is added is never REQUIRED, nor is anything in it. */
static json_t *field_json(const struct table_field *field, bool is_made)
{
	json_t *json = json_object();

	json_object_set_new(json, "name", json_stringn(field->name.at, field->name.len));
	json_object_set_new(json, "type", json_string(kind_rows[field->kind].name));
	if (kind_rows[field->kind].element)
		json_object_set_new(json, "rangeElementType", json_pack("{ss}", "type", kind_rows[field->kind].element));
	if (field->is_array)
		json_object_set_new(json, "mode", json_string("REPEATED"));
	else if (field->is_required && is_made)
		json_object_set_new(json, "mode", json_string("REQUIRED"));
	if (field->field_count > 0)
		json_object_set_new(json, "fields", fields_json(field->fields, field->field_count, is_made));
	return json;
}

static json_t *fields_json(const struct table_field *fields, size_t count, bool is_made)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, field_json(&fields[i], is_made));
	return list;
}

json_t *shape_json(const struct table_shape *shape)
{
	return fields_json(shape->fields, shape->count, true);
}

/* `likely`: where it stands if the order is the same. */
static json_t *field_named(const json_t *fields, struct span name, size_t likely)
{
	json_t *field = json_array_get(fields, likely);
	size_t i;

	if (name_equal(span_of(text_of(field, "name", "")), name))
		return field;
	json_array_foreach(fields, i, field) {
		if (name_equal(span_of(text_of(field, "name", "")), name))
			return field;
	}
	return NULL;
}

static void type_words(char *out, size_t room, enum bq_kind kind, const char *name, bool is_array)
{
	OWNED(text) printed = text_new(64);

	if (kind != BQ_STRUCT && kind != BQ_KINDS && bq_type_print(printed, &(struct bq_type){ .kind = kind }))
		name = printed->at;
	snprintf(out, room, is_array ? "ARRAY<%s>" : "%s", name);
}

/* A path is shown, never parsed: what does not fit is left out. */
struct path {
	const struct path *outer;
	struct span name;
};

static size_t path_write(const struct path *path, char *out, size_t room)
{
	size_t at = path->outer ? path_write(path->outer, out, room) : 0;
	int len = snprintf(out + at, room - at, "%s%.*s", at ? "." : "", SPAN_ARG(path->name));

	return at + (size_t)len < room ? at + (size_t)len : room - 1;
}

static void conflict_add(struct shape_difference *out, const struct path *path, const json_t *present, bool is_array,
                         const struct table_field *wanted)
{
	enum bq_kind kind = kind_of(present);

	if (out->conflicts++)
		return;
	path_write(path, out->conflict, sizeof(out->conflict));
	type_words(out->conflict_has, sizeof(out->conflict_has), kind,
	           kind < BQ_KINDS ? kind_rows[kind].name : text_of(present, "type", "?"), is_array);
	type_words(out->conflict_wants, sizeof(out->conflict_wants), wanted->kind, kind_rows[wanted->kind].name, wanted->is_array);
}

static void missing_add(struct shape_difference *out, const struct path *path)
{
	if (!out->missing++)
		path_write(path, out->first_missing, sizeof(out->first_missing));
}

/* `fields` is a copy of the present ones, and gets what is missing. */
static void fields_merge(json_t *fields, const struct table_field *wanted, size_t count, const struct path *outer,
                         struct shape_difference *out);

static void field_merge(json_t *fields, const struct table_field *wanted, size_t likely, const struct path *path,
                        struct shape_difference *out)
{
	json_t *present = field_named(fields, wanted->name, likely), *inner;
	bool is_array = strcmp(text_of(present, "mode", ""), "REPEATED") == 0;
	enum bq_kind kind = kind_of(present);

	if (!present) {
		missing_add(out, path);
		json_array_append_new(fields, field_json(wanted, false));
		return;
	}
	if (is_array != wanted->is_array || kind == BQ_KINDS || !shape_takes(kind, wanted->kind)) {
		conflict_add(out, path, present, is_array, wanted);
		return;
	}
	if (wanted->is_relaxed && strcmp(text_of(present, "mode", ""), "REQUIRED") == 0) {
		missing_add(out, path);
		json_object_set_new(present, "mode", json_string("NULLABLE"));
	}
	inner = json_object_get(present, "fields");
	if (inner)
		fields_merge(inner, wanted->fields, wanted->field_count, path, out);
}

static void fields_merge(json_t *fields, const struct table_field *wanted, size_t count, const struct path *outer,
                         struct shape_difference *out)
{
	for (size_t i = 0; i < count; i++) {
		struct path path = { outer, wanted[i].name };

		field_merge(fields, &wanted[i], i, &path, out);
	}
}

/*
 * A table's columns as types of ours
 */

static bool type_of_json(const json_t *field, struct arena *arena, struct bq_type *out);

static bool fields_of_json(const json_t *fields, struct arena *arena, struct bq_type *out)
{
	struct bq_field *list = arena_zalloc(arena, (json_array_size(fields) + 1) * sizeof(*list));
	bool is_known = json_array_size(fields) > 0;
	json_t *field;
	size_t i;

	json_array_foreach(fields, i, field) {
		list[i].name = arena_copy(arena, span_of(text_of(field, "name", "")));
		is_known = type_of_json(field, arena, &list[i].type) && is_known;
	}
	out->fields = list;
	out->field_count = json_array_size(fields);
	return is_known;
}

static bool type_of_json(const json_t *field, struct arena *arena, struct bq_type *out)
{
	enum bq_kind kind = kind_of(field);

	*out = (struct bq_type){ .kind = kind < BQ_KINDS ? kind : BQ_STRING,
	                         .is_array = strcmp(text_of(field, "mode", ""), "REPEATED") == 0 };
	return kind < BQ_KINDS && (kind != BQ_STRUCT || fields_of_json(json_object_get(field, "fields"), arena, out));
}

struct table_column *columns_of_json(const json_t *fields, struct arena *arena, size_t *out_count)
{
	struct table_column *columns = arena_zalloc(arena, (json_array_size(fields) + 1) * sizeof(*columns));
	json_t *field;
	size_t i;

	json_array_foreach(fields, i, field) {
		columns[i].name = arena_copy(arena, span_of(text_of(field, "name", "")));
		columns[i].is_known = type_of_json(field, arena, &columns[i].type);
	}
	*out_count = json_array_size(fields);
	return columns;
}

void shape_compare(const json_t *present, const struct table_shape *wanted, struct shape_difference *out)
{
	json_t *merged = present ? json_deep_copy(present) : json_array();

	memset(out, 0, sizeof(*out));
	fields_merge(merged, wanted->fields, wanted->count, NULL, out);
	if (out->missing)
		out->merged = merged;
	else
		json_decref(merged);
}
