/*
 * What tableChanges says: the columns that a table has behind a statement. A
 * statement is done only where the two agree.
 */
#include "transform/statements_private.h"

#include "transform/ddl.h"

static uint32_t member_of(const struct json_doc *doc, uint32_t object, const char *name, int kind)
{
	uint32_t token = json_is(doc, object, JSON_OBJECT) ? json_member(doc, object, span_of(name)) : 0;

	return token && json_is(doc, token, kind) ? token : 0;
}

static bool change_name(struct event *e, uint32_t change, struct span *out)
{
	uint32_t id = member_of(e->doc, change, "id", JSON_STRING);
	struct span text;
	size_t parts;

	if (!id)
		return false;
	text = json_text(e->doc, id, e->batch->arena);
	return schema_name_take(&text, e->batch->arena, out, &parts);
}

bool schema_change_is_of(struct event *e, uint32_t change, struct span source)
{
	struct span name;

	return change_name(e, change, &name) && span_equal(name, source);
}

bool schema_change_lists(struct event *e, struct span source)
{
	uint32_t changes = e->top[FIELD_TABLE_CHANGES].token, end = e->doc->tokens[changes].next;

	for (uint32_t at = changes + 1; at < end; at = e->doc->tokens[at].next) {
		if (schema_change_is_of(e, at, source))
			return true;
	}
	return false;
}

/* Servers without letter case list a table under their own name, however it was typed. */
struct span name_listed(struct event *e, struct span source)
{
	uint32_t changes = e->top[FIELD_TABLE_CHANGES].token, end = e->doc->tokens[changes].next;
	struct span found = source, name;

	for (uint32_t at = changes + 1; at < end; at = e->doc->tokens[at].next) {
		if (!change_name(e, at, &name) || !span_same_word(name, source))
			continue;
		if (span_equal(name, source))
			return source;
		found = name;
	}
	return found;
}

/* The columns that the table has behind the statement. */
uint32_t columns_listed(struct event *e, struct span source)
{
	uint32_t changes = e->top[FIELD_TABLE_CHANGES].token, end = e->doc->tokens[changes].next;

	for (uint32_t at = changes + 1; at < end; at = e->doc->tokens[at].next) {
		uint32_t table = schema_change_is_of(e, at, source) ? member_of(e->doc, at, "table", JSON_OBJECT) : 0;

		if (table)
			return member_of(e->doc, table, "columns", JSON_ARRAY);
	}
	return 0;
}

uint32_t column_listed(struct event *e, uint32_t listed, struct span name)
{
	const struct json_doc *doc = e->doc;

	for (uint32_t at = listed + 1; at < doc->tokens[listed].next; at = doc->tokens[at].next) {
		uint32_t token = member_of(doc, at, "name", JSON_STRING);

		if (token && span_same_word(json_text(doc, token, e->batch->arena), name))
			return at;
	}
	return 0;
}

static bool is_type_listed(struct event *e, uint32_t listed, const struct ddl_column *column)
{
	uint32_t token = member_of(e->doc, listed, "typeName", JSON_STRING);
	struct span name = token ? json_text(e->doc, token, e->batch->arena) : column->type;

	return name.len >= column->type.len && span_same_word(span_make(name.at, column->type.len), column->type);
}

/* Does another clause take the name away again, or bring it? */
static bool is_touched_twice(const struct ddl *ddl, const struct ddl_clause *one, struct span name)
{
	for (const struct ddl_clause *clause = ddl->clauses; clause; clause = clause->next) {
		if (clause != one && clause->verb != DDL_OTHER && clause->verb != DDL_RENAME_TABLE &&
		    (span_same_word(clause->name, name) || span_same_word(clause->new_name, name)))
			return true;
	}
	return false;
}

/* NULL: the clause and tableChanges say the same of it. */
static const char *clause_doubt(struct event *e, uint32_t columns, const struct ddl *ddl,
                                const struct ddl_clause *clause)
{
	bool has_new = clause->verb == DDL_CHANGE || clause->verb == DDL_RENAME;
	struct span name = has_new ? clause->new_name : clause->name;
	bool is_defined = clause->verb == DDL_ADD || clause->verb == DDL_CHANGE || clause->verb == DDL_MODIFY;
	uint32_t listed;

	if (clause->verb == DDL_OTHER || clause->verb == DDL_RENAME_TABLE || is_touched_twice(ddl, clause, name))
		return NULL;
	listed = column_listed(e, columns, name);
	if (clause->verb == DDL_DROP)
		return listed ? "tableChanges still lists" : NULL;
	if (!listed)
		return clause->is_conditional ? NULL : "tableChanges does not list";
	return !is_defined || is_type_listed(e, listed, &clause->column) ? NULL : "tableChanges has another type of";
}

bool statement_agrees(struct event *e, uint32_t columns, const struct ddl *ddl, struct text *out_why)
{
	if (!columns)
		return text_add(out_why, "tableChanges does not list the table"), false;
	for (const struct ddl_clause *c = ddl->clauses; c; c = c->next) {
		const char *doubt = clause_doubt(e, columns, ddl, c);
		bool has_new = c->verb == DDL_CHANGE || c->verb == DDL_RENAME;

		if (!doubt)
			continue;
		text_add_format(out_why, "%s ", doubt);
		text_add_span(out_why, has_new ? c->new_name : c->name);
		return false;
	}
	return true;
}
