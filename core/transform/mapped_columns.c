/* Which types columns of JSON rows get, and which are required. */
#include "transform/mapped_private.h"

bool mapped_is_metadata(struct span name)
{
	return span_is(name, "_metadata_error") || span_is(name, "_metadata_retry_count");
}

static const struct file_column *told_by_file(const struct debezium *d, const struct table *table, size_t column)
{
	bool is_original = d->options->schema_file_reading == SCHEMA_FILE_ORIGINAL;

	return schema_file_column(d->mapping->file, table->columns[column].source_name, is_original);
}

static void require(struct table *table, size_t column, const struct file_column *told)
{
	bool is_required = told && told->is_required;

	table->required_count += is_required && !table->more[column].is_required;
	table->more[column].is_required = is_required;
	table->more[column].inside = told && told->has_required_inside ? &told->type : NULL;
	table->has_inside |= table->more[column].inside != NULL;
}

/* A table that is there takes no REQUIRED column: rows of before have no value for it. */
static void require_first(struct debezium *d, struct event *e, size_t column)
{
	struct table *table = e->table;

	if (!table->more[column].is_required)
		return;
	if (d->mapping->is_first_row)
		table->columns[column].told |= TOLD_REQUIRED;
	else
		batch_add_note(e->batch, table->number, table->columns[column].name, "required_is_nullable", 1,
		               "column %.*s is made NULLABLE though the schema file says REQUIRED: the table was there before it",
		               SPAN_ARG(table->columns[column].name));
}

/* What the file says no more is taken from the table, too. */
static void relax(struct table *table, size_t column)
{
	struct column *c = &table->columns[column];

	if (!(c->told & TOLD_REQUIRED) || table->more[column].is_required)
		return;
	c->told = (c->told & ~(uint32_t)TOLD_REQUIRED) | TOLD_RELAXED;
	table->is_quietly_changed = true;
}

/* Of a name that stands twice the last counts. */
static uint32_t member_of(const struct json_doc *doc, uint32_t object, struct span name, struct arena *arena)
{
	uint32_t end = doc->tokens[object].next, found = 0;

	for (uint32_t at = object + 1; at < end; at = doc->tokens[at + 1].next) {
		if (name_equal(json_text(doc, at, arena), name))
			found = at + 1;
	}
	return found;
}

static const char *lacking(const struct json_doc *doc, uint32_t token, const struct bq_type *type, const char *path,
                           struct arena *arena);

static const char *lacking_in_list(const struct json_doc *doc, uint32_t list, const struct bq_type *type, const char *path,
                                   struct arena *arena)
{
	const char *found = NULL;
	size_t number = 0;

	for (uint32_t at = list + 1; !found && at < doc->tokens[list].next; at = doc->tokens[at].next)
		found = lacking(doc, at, type, arena_printf(arena, "%s[%zu]", path, number++), arena);
	return found;
}

/* A record that is not there needs none of its fields. */
static const char *lacking(const struct json_doc *doc, uint32_t token, const struct bq_type *type, const char *path,
                           struct arena *arena)
{
	const char *found = NULL;

	if (json_is(doc, token, JSON_ARRAY))
		return lacking_in_list(doc, token, type, path, arena);
	if (!json_is(doc, token, JSON_OBJECT))
		return NULL;
	for (size_t i = 0; !found && i < type->field_count; i++) {
		const struct bq_field *field = &type->fields[i];
		const char *inner = arena_printf(arena, "%s.%.*s", path, SPAN_ARG(field->name));
		uint32_t value = member_of(doc, token, field->name, arena);

		if (field->is_required && (!value || json_is(doc, value, JSON_NULL)))
			return inner;
		if (value && field->type.field_count)
			found = lacking(doc, value, &field->type, inner, arena);
	}
	return found;
}

bool mapped_lacks_inside(const struct row *row, struct arena *arena, int32_t *out_column, const char **out_path)
{
	for (size_t i = 0; i < row->shape->count; i++) {
		int32_t column = row->shape->members[i].column;
		const struct bq_type *inside = column >= 0 ? row->table->more[column].inside : NULL;
		const char *name = inside ? arena_string(arena, row->table->columns[column].name) : NULL;
		const char *path = inside ? lacking(row->doc, row->tokens[i], inside, name, arena) : NULL;

		if (!path)
			continue;
		*out_column = column;
		*out_path = path;
		return true;
	}
	return false;
}

/* The owner's word for the column, else the file's, else STRING; or what values say, where that is asked for. */
void mapped_column_first(struct debezium *d, struct event *e, int column, const struct column_rule *rule)
{
	struct table *table = e->table;
	struct column *c = &table->columns[column];
	const struct file_column *told = told_by_file(d, table, (size_t)column);

	require(table, (size_t)column, told);
	require_first(d, e, (size_t)column);
	table->more[column].is_fixed = true;
	if (rule->has_type) {
		c->type = rule->type;
	} else if (told) {
		c->type = bq_type_copy(d->arena, &told->type);
	} else if (d->options->new_column_types == NEW_COLUMNS_STRING) {
		c->type = (struct bq_type){ .kind = BQ_STRING };
	} else {
		c->type = (struct bq_type){ .kind = BQ_STRING };
		c->is_provisional = c->is_inferred = true;
		table->schema.notes |= NOTE_INFERRED;
		table->more[column].is_fixed = false;
	}
}

/* A column that the table has is never altered, but for guesses. */
void mapped_column_known(struct debezium *d, struct table *table, size_t column)
{
	table->more[column].is_fixed = !table->columns[column].is_inferred;
	require(table, column, told_by_file(d, table, column));
	relax(table, column);
}

void mapped_columns_again(struct debezium *d)
{
	for (size_t i = 0; i < d->table_count; i++) {
		struct table *table = d->tables[i];

		table->has_inside = false;
		for (size_t c = 0; c < table->schema.count; c++) {
			table->required_count -= table->more[c].is_required;
			table->more[c].is_required = false;
			require(table, c, told_by_file(d, table, c));
			relax(table, c);
		}
	}
}
