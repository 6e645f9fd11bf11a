/*
 * The schema file of PubSub_CDC_to_BigQuery: a JSON list of columns with name, type
 * and mode, and the fields of records. One file for all tables; it tells of columns
 * that come, never makes one by itself.
 */
#include "transform/mapped_private.h"

#include "base/json_path.h"

#include <stdlib.h>

#define FIELD_DEPTH_MAX 15 /* BigQuery's limit of nesting */

struct schema_file {
	struct arena *arena;
	struct file_column *columns;
	size_t count;
};

/* What the original knows; everything else is STRING to it. */
static const struct {
	const char *word;
	enum bq_kind kind;
} original_types[] = {
	{ "BOOLEAN", BQ_BOOL },   { "BYTES", BQ_BYTES },     { "DATE", BQ_DATE },       { "DATETIME", BQ_DATETIME },
	{ "FLOAT", BQ_FLOAT64 },  { "INTEGER", BQ_INT64 },   { "NUMERIC", BQ_NUMERIC }, { "STRING", BQ_STRING },
	{ "TIME", BQ_TIME },      { "TIMESTAMP", BQ_TIMESTAMP },
};

static bool type_original(const char *word, struct bq_type *out)
{
	*out = (struct bq_type){ .kind = BQ_STRING };
	for (size_t i = 0; i < sizeof(original_types) / sizeof(original_types[0]); i++) {
		if (strcmp(original_types[i].word, word) == 0)
			out->kind = original_types[i].kind;
	}
	return true;
}

struct file_text {
	const char *path;
	struct span text;
	const char *list; /* members that lead to the list of columns: "", "fields.", "schema.fields." */
};

/* Where an entry stands, for messages: "[3].fields[0]". */
struct place_in_file {
	const struct file_text *file;
	const char *at;
	unsigned depth;
};

/* Of the entry's member if it is there, else of the entry. */
static struct json_spot spot_of(const struct place_in_file *place, const char *member)
{
	OWNED(text) path = text_new(4096);
	struct json_spot spot;
	size_t len;

	text_add(path, place->file->list);
	for (const char *c = place->at; *c; c++) {
		if (*c == '[' && c > place->at)
			text_add_char(path, '.');
		else if (*c != '[' && *c != ']')
			text_add_char(path, *c);
	}
	len = path->len;
	text_add_format(path, ".%s", member);
	spot = json_path_find(place->file->text, path->at);
	if (spot.line)
		return spot;
	path->at[len] = '\0';
	return json_path_find(place->file->text, path->at);
}

static bool bad(struct error *err, const struct place_in_file *place, const char *member, const char *what)
{
	struct json_spot spot = spot_of(place, member);

	return fail(err, ERROR_CONFIG, "bad_schema_file", "schema file '%s' line %d, column %d: %s: %s", place->file->path,
	            spot.line, spot.column, place->at, what);
}

static bool is_word(const char *a, const char *b)
{
	return span_same_word(span_of(a), span_of(b));
}

static bool type_read(struct arena *arena, const json_t *entry, const struct place_in_file *place, struct bq_type *out,
                      struct error *err);

static bool mode_read(const json_t *entry, const struct place_in_file *place, bool *out_array, bool *out_required,
                      struct error *err)
{
	const json_t *mode = json_object_get(entry, "mode");
	const char *word = json_string_value(mode);

	*out_array = word && is_word(word, "REPEATED");
	*out_required = word && is_word(word, "REQUIRED");
	if (!mode || *out_array || *out_required || (word && is_word(word, "NULLABLE")))
		return true;
	return bad(err, place, "mode", "mode is none of NULLABLE, REQUIRED and REPEATED");
}

static bool fields_read_file(struct arena *arena, const json_t *entry, const struct place_in_file *place,
                             struct bq_type *out, struct error *err)
{
	const json_t *list = json_object_get(entry, "fields"), *each;
	size_t count = json_array_size(list), i;
	struct bq_field *fields = arena_zalloc(arena, (count + 1) * sizeof(*fields));

	if (!count)
		return bad(err, place, "fields", "a record needs its fields, a list");
	if (place->depth >= FIELD_DEPTH_MAX)
		return bad(err, place, "fields", "records are nested deeper than 15 levels");
	json_array_foreach((json_t *)list, i, each) {
		struct place_in_file inner = { place->file, arena_printf(arena, "%s.fields[%zu]", place->at, i), place->depth + 1 };
		const char *name = json_string_value(json_object_get(each, "name"));

		if (!name || !*name)
			return bad(err, &inner, "name", "the field has no name");
		fields[i].name = arena_copy(arena, span_of(name));
		if (!name_is_allowed(NAME_COLUMN, fields[i].name))
			return bad(err, &inner, "name", arena_printf(arena, "no field may have the name '%.100s'", name));
		for (size_t j = 0; j < i; j++) {
			if (name_equal(fields[j].name, fields[i].name))
				return bad(err, &inner, "name", arena_printf(arena, "field '%.100s' stands twice in its record", name));
		}
		if (!type_read(arena, each, &inner, &fields[i].type, err) ||
		    !mode_read(each, &inner, &fields[i].type.is_array, &fields[i].is_required, err))
			return false;
	}
	out->fields = fields;
	out->field_count = count;
	return true;
}

static const char *range_element(const json_t *entry)
{
	const char *word = json_string_value(json_object_get(json_object_get(entry, "rangeElementType"), "type"));

	return word ? word : "";
}

static bool type_read(struct arena *arena, const json_t *entry, const struct place_in_file *place, struct bq_type *out,
                      struct error *err)
{
	const char *word = json_string_value(json_object_get(entry, "type"));

	*out = (struct bq_type){ .kind = BQ_STRING };
	if (!word)
		return bad(err, place, "type", "the column has no type");
	if (is_word(word, "RECORD") || is_word(word, "STRUCT")) {
		out->kind = BQ_STRUCT;
		return fields_read_file(arena, entry, place, out, err);
	}
	/* The API's way to say RANGE<DATE>. */
	if (is_word(word, "RANGE"))
		word = arena_printf(arena, "RANGE<%.20s>", range_element(entry));
	if (bq_type_parse(arena_copy(arena, span_of(word)), arena, out))
		return true;
	return bad(err, place, "type", arena_printf(arena, "'%.60s' is no type of BigQuery", word));
}

/* All three members are asked for, and an unknown mode is refused, though the mode means nothing. */
static bool column_original(const json_t *entry, const struct place_in_file *place, struct file_column *out,
                            struct error *err)
{
	const char *type = json_string_value(json_object_get(entry, "type"));
	const char *mode = json_string_value(json_object_get(entry, "mode"));

	if (!type || !mode)
		return bad(err, place, "name", "name, type and mode are needed");
	if (strcmp(mode, "NULLABLE") != 0 && strcmp(mode, "REQUIRED") != 0 && strcmp(mode, "REPEATED") != 0)
		return bad(err, place, "mode", "mode is none of NULLABLE, REQUIRED and REPEATED");
	if (strcmp(type, "RECORD") == 0)
		return bad(err, place, "type", "a RECORD has no fields in this reading of the file; schemaFileReading full has them");
	return type_original(type, &out->type);
}

static bool requires_inside(const struct bq_type *type)
{
	for (size_t i = 0; i < type->field_count; i++) {
		if (type->fields[i].is_required || requires_inside(&type->fields[i].type))
			return true;
	}
	return false;
}

static bool column_read_file(struct schema_file *file, const json_t *entry, const struct place_in_file *place,
                             bool is_original, struct error *err)
{
	struct file_column *out = &file->columns[file->count];
	const char *name = json_string_value(json_object_get(entry, "name"));
	bool is_array;

	if (!json_is_object(entry) || !name || !*name)
		return bad(err, place, "name", "the column has no name");
	*out = (struct file_column){ .name = arena_copy(file->arena, span_of(name)) };
	for (size_t i = 0; i < file->count && !is_original; i++) {
		if (name_equal(file->columns[i].name, out->name))
			return bad(err, place, "name", arena_printf(file->arena, "column '%.100s' stands twice in the file", name));
	}
	file->count++;
	if (is_original)
		return column_original(entry, place, out, err);
	if (!type_read(file->arena, entry, place, &out->type, err) ||
	    !mode_read(entry, place, &is_array, &out->is_required, err))
		return false;
	out->type.is_array = out->type.is_array || is_array;
	out->has_required_inside = requires_inside(&out->type);
	return true;
}

static bool file_take(struct schema_file *file, const char *path, struct span text, const json_t *root, bool is_original,
                      struct error *err)
{
	const json_t *schema = json_object_get(root, "schema"), *list = root, *each;
	struct file_text whole = { path, text, "" };
	size_t i;

	/* bq show --schema writes a list; the API's table has it below schema.fields. */
	if (json_is_object(root)) {
		whole.list = json_is_object(schema) ? "schema.fields." : "fields.";
		list = json_object_get(json_is_object(schema) ? schema : root, "fields");
	}
	if (!json_is_array(list))
		return fail(err, ERROR_CONFIG, "bad_schema_file", "schema file '%s' line 1, column 1: a list of columns is allowed", path);
	file->columns = arena_zalloc(file->arena, (json_array_size(list) + 1) * sizeof(*file->columns));
	json_array_foreach((json_t *)list, i, each) {
		struct place_in_file place = { &whole, arena_printf(file->arena, "[%zu]", i), 0 };

		if (!column_read_file(file, each, &place, is_original, err))
			return false;
	}
	return true;
}

struct schema_file *schema_file_parse(const char *path, struct span text, enum schema_file_reading reading, struct error *err)
{
	struct schema_file *file;
	json_error_t where;
	json_t *root = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, &where);
	bool is_fine;

	if (!root) {
		fail(err, ERROR_CONFIG, "bad_schema_file", "schema file '%s' line %d, column %d: %s", path, where.line, where.column,
		     where.text);
		return NULL;
	}
	file = memory_zalloc(sizeof(*file));
	file->arena = arena_new(16384);
	is_fine = file_take(file, path, text, root, reading == SCHEMA_FILE_ORIGINAL, err);
	json_decref(root);
	if (is_fine)
		return file;
	schema_file_free(file);
	return NULL;
}

void schema_file_free(struct schema_file *file)
{
	if (!file)
		return;
	arena_free(file->arena);
	free(file);
}

const struct file_column *schema_file_column(const struct schema_file *file, struct span name, bool is_original)
{
	for (size_t i = 0; file && i < file->count; i++) {
		if (is_original ? span_equal(file->columns[i].name, name) : name_equal(file->columns[i].name, name))
			return &file->columns[i];
	}
	return NULL;
}
