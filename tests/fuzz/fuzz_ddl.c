/*
 * Any text is read as DDL or refused in words, and what is read lies in the text
 * or in the arena. The same text in a comment that the server executes reads the
 * same; and of each column that is read some value, or a reason, comes out.
 */
#include "transform/ddl.h"
#include "transform/ddl_value.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) do { if (!(condition)) abort(); } while (0)

static void value_check(const struct ddl_column *column, struct arena *arena)
{
	struct bq_type type;
	struct span json;
	struct json_doc doc = { 0 };
	const char *why = NULL;
	size_t at;

	for (int i = 0; i < 2; i++) {
		if (!ddl_column_type(column, i, arena, &type))
			continue;
		if (ddl_column_fill(column, &type, 1700000000000, arena, &json, &why))
			MUST(json_parse(&doc, json, &at) == JSON_FINE);
		else
			MUST(why);
	}
	json_doc_free(&doc);
}

static void clauses_check(const struct ddl *ddl, struct arena *arena)
{
	for (const struct ddl_clause *c = ddl->clauses; c; c = c->next) {
		MUST(c->verb == DDL_OTHER || c->name.len);
		MUST((c->verb != DDL_CHANGE && c->verb != DDL_RENAME && c->verb != DDL_RENAME_TABLE) || c->new_name.len);
		if (c->verb == DDL_ADD || c->verb == DDL_CHANGE || c->verb == DDL_MODIFY)
			value_check(&c->column, arena);
	}
}

static size_t clause_count(const struct ddl *ddl)
{
	size_t count = 0;

	for (const struct ddl_clause *c = ddl->clauses; c; c = c->next)
		count++;
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new(4096);
	struct span text = arena_copy(arena, (struct span){ (const char *)data, size });
	struct ddl ddl, again;
	const char *why = NULL;

	if (!ddl_read(text, arena, &ddl, &why)) {
		MUST(why);
	} else {
		clauses_check(&ddl, arena);
		/* Comments inside would end the one around. */
		if (size && !memchr(text.at, '*', text.len) && !memchr(text.at, '#', text.len) && !memchr(text.at, '-', text.len)) {
			const char *code = arena_printf(arena, "/*!50100 %.*s */", SPAN_ARG(text));

			if (strlen(code) == text.len + 13) { /* no NUL in it */
				MUST(ddl_read(span_of(code), arena, &again, &why));
				MUST(again.kind == ddl.kind && clause_count(&again) == clause_count(&ddl));
			}
		}
	}
	arena_free(arena);
	return 0;
}
