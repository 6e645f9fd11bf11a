/*
 * Members of objects on their way into records (RECORD, STRUCT): which field each
 * means, and that each of them has one. A value without a place is never dropped in silence.
 */
#include "transform/mapped_private.h"

struct walk {
	struct debezium *d;
	struct event *e;
	int column;
	const struct json_doc *doc;
};

static bool refuse_member(const struct walk *w, const char *code, const char *path, const char *what)
{
	const struct column *c = &w->e->table->columns[w->column];

	return REFUSE_MAP(w->e, code, c->name, span_of(path), "column %.*s is a record, and %s %s", SPAN_ARG(c->name), path, what);
}

static bool unknown_member(const struct walk *w, uint32_t value, const char *path)
{
	const struct column *c = &w->e->table->columns[w->column];

	if (json_is(w->doc, value, JSON_NULL))
		return true;
	if (w->d->options->schema_changes != SCHEMA_IGNORE)
		return refuse_member(w, "unknown_field", path, "is none of its fields");
	batch_add_note(w->e->batch, w->e->table->number, c->name, "unknown_field", 1,
	               "values of members that are no fields of the record %.*s left out, because schemaChanges is ignore",
	               SPAN_ARG(c->name));
	return true;
}

static const struct bq_field *field_find(const struct bq_type *type, struct span name)
{
	for (size_t i = 0; i < type->field_count; i++) {
		if (name_equal(type->fields[i].name, name))
			return &type->fields[i];
	}
	return NULL;
}

static bool value_walk(const struct walk *w, uint32_t token, const struct bq_type *type, const char *path);

/* Of a name that stands twice the last counts, as in rows; two that differ only by case are two values for one field. */
static bool member_walk(const struct walk *w, uint32_t object, uint32_t member, const struct bq_type *type, const char *path)
{
	struct arena *arena = w->e->batch->arena;
	struct span name = json_text(w->doc, member, arena);
	const struct bq_field *field = field_find(type, name);
	const char *inner = arena_printf(arena, "%s.%.*s", path, SPAN_ARG(name));

	if (!field)
		return unknown_member(w, member + 1, inner);
	for (uint32_t at = object + 1; at < member; at = w->doc->tokens[at + 1].next) {
		struct span other = json_text(w->doc, at, arena);

		if (name_equal(other, name) && !span_equal(other, name))
			return refuse_member(w, "column_case_collision", inner, "stands there twice, but for its case");
	}
	return !field->type.field_count || value_walk(w, member + 1, &field->type, inner);
}

static bool value_walk(const struct walk *w, uint32_t token, const struct bq_type *type, const char *path)
{
	uint32_t end = w->doc->tokens[token].next;
	size_t number = 0;

	if (json_is(w->doc, token, JSON_ARRAY)) {
		for (uint32_t at = token + 1; at < end; at = w->doc->tokens[at].next) {
			if (!value_walk(w, at, type, arena_printf(w->e->batch->arena, "%s[%zu]", path, number++)))
				return false;
		}
		return true;
	}
	if (!json_is(w->doc, token, JSON_OBJECT))
		return true;
	for (uint32_t at = token + 1; at < end; at = w->doc->tokens[at + 1].next) {
		if (!member_walk(w, token, at, type, path))
			return false;
	}
	return true;
}

bool mapped_fields_known(struct debezium *d, struct event *e, int column, const struct json_doc *doc, uint32_t token)
{
	const struct column *c = &e->table->columns[column];
	struct walk w = { d, e, column, doc };

	return !c->type.field_count || value_walk(&w, token, &c->type, arena_string(e->batch->arena, c->source_name));
}
