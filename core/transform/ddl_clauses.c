/*
 * The clauses of ALTER TABLE, one by one: which columns they add, drop, change and
 * rename. What concerns no column is passed over.
 */
#include "transform/ddl_private.h"

struct ddl_clause *ddl_clause_add(struct ddl_reading *r, enum ddl_verb verb)
{
	struct ddl_clause *clause = arena_zalloc(r->scan.arena, sizeof(*clause));

	clause->verb = verb;
	*r->end = clause;
	r->end = &clause->next;
	r->count++;
	return clause;
}

bool ddl_fail(struct ddl_reading *r, const char *why)
{
	r->why = why;
	return false;
}

/* Words behind ADD and DROP that are no column: a column of that name would be quoted, for these are reserved. */
static bool is_no_column(const struct ddl_scan *scan)
{
	static const char *const words[] = { "index", "key", "fulltext", "spatial", "unique", "primary", "constraint",
		                             "foreign", "check", "partition", "vector" };
	struct ddl_scan ahead = *scan;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (ddl_is_word(scan, words[i]))
			return true;
	}
	if (ddl_take_word(&ahead, "period"))
		return ddl_is_word(&ahead, "for");
	return ddl_take_word(&ahead, "system") && ddl_is_word(&ahead, "versioning");
}

static bool other_read(struct ddl_reading *r)
{
	ddl_clause_add(r, DDL_OTHER);
	ddl_skip_clause(&r->scan);
	return true;
}

static bool column_read(struct ddl_reading *r, struct ddl_clause *clause)
{
	return ddl_read_column(&r->scan, &clause->column) || ddl_fail(r, "a column's type cannot be read");
}

static bool one_added(struct ddl_reading *r, bool is_conditional)
{
	struct ddl_clause *clause = ddl_clause_add(r, DDL_ADD);

	clause->is_conditional = is_conditional;
	if (!ddl_take_name(&r->scan, &clause->name))
		return ddl_fail(r, "ADD names no column");
	return column_read(r, clause);
}

/* ADD (a INT, INDEX i (a), b INT) */
static bool list_added(struct ddl_reading *r, bool is_conditional)
{
	do {
		if (is_no_column(&r->scan)) {
			while (!ddl_is_clause_end(&r->scan)) {
				if (ddl_is_sign(&r->scan, '('))
					ddl_skip_parentheses(&r->scan);
				else
					ddl_next(&r->scan);
			}
		} else if (!one_added(r, is_conditional)) {
			return false;
		}
	} while (r->count < DDL_CLAUSES_MAX && ddl_take_sign(&r->scan, ','));
	return ddl_take_sign(&r->scan, ')') || ddl_fail(r, "the list of ADD has no end");
}

static bool add_read(struct ddl_reading *r)
{
	bool has_word = ddl_take_word(&r->scan, "column"), is_conditional;

	if (!has_word && is_no_column(&r->scan))
		return other_read(r);
	is_conditional = ddl_take_condition(&r->scan);
	return ddl_take_sign(&r->scan, '(') ? list_added(r, is_conditional) : one_added(r, is_conditional);
}

static bool drop_read(struct ddl_reading *r)
{
	bool has_word = ddl_take_word(&r->scan, "column");
	struct ddl_clause *clause;

	if (!has_word && is_no_column(&r->scan))
		return other_read(r);
	clause = ddl_clause_add(r, DDL_DROP);
	clause->is_conditional = ddl_take_condition(&r->scan);
	if (!ddl_take_name(&r->scan, &clause->name))
		return ddl_fail(r, "DROP names no column");
	ddl_skip_clause(&r->scan);
	return true;
}

static bool change_read(struct ddl_reading *r)
{
	struct ddl_clause *clause = ddl_clause_add(r, DDL_CHANGE);

	ddl_take_word(&r->scan, "column");
	clause->is_conditional = ddl_take_condition(&r->scan);
	if (!ddl_take_name(&r->scan, &clause->name) || !ddl_take_name(&r->scan, &clause->new_name))
		return ddl_fail(r, "CHANGE names no two columns");
	return column_read(r, clause);
}

static bool modify_read(struct ddl_reading *r)
{
	struct ddl_clause *clause = ddl_clause_add(r, DDL_MODIFY);

	ddl_take_word(&r->scan, "column");
	clause->is_conditional = ddl_take_condition(&r->scan);
	if (!ddl_take_name(&r->scan, &clause->name))
		return ddl_fail(r, "MODIFY names no column");
	return column_read(r, clause);
}

static bool rename_column(struct ddl_reading *r)
{
	struct ddl_clause *clause = ddl_clause_add(r, DDL_RENAME);

	clause->is_conditional = ddl_take_condition(&r->scan);
	if (!ddl_take_name(&r->scan, &clause->name) || !ddl_take_word(&r->scan, "to") ||
	    !ddl_take_name(&r->scan, &clause->new_name))
		return ddl_fail(r, "RENAME COLUMN names no two columns");
	return true;
}

static bool rename_read(struct ddl_reading *r)
{
	struct ddl_clause *clause;

	if (ddl_take_word(&r->scan, "column"))
		return rename_column(r);
	if (ddl_is_word(&r->scan, "index") || ddl_is_word(&r->scan, "key") || ddl_is_word(&r->scan, "constraint"))
		return other_read(r);
	if (!ddl_take_word(&r->scan, "to") && !ddl_take_word(&r->scan, "as"))
		ddl_take_sign(&r->scan, '=');
	clause = ddl_clause_add(r, DDL_RENAME_TABLE);
	clause->db = r->out->db;
	clause->name = r->out->table;
	return ddl_take_table(&r->scan, &clause->new_db, &clause->new_name) || ddl_fail(r, "RENAME names no table");
}

static const struct verb_word {
	const char *word;
	bool (*read)(struct ddl_reading *r);
} verb_words[] = {
	{ "add", add_read },       { "drop", drop_read },     { "change", change_read },
	{ "modify", modify_read }, { "rename", rename_read },
};

static bool clause_read(struct ddl_reading *r)
{
	if (r->count >= DDL_CLAUSES_MAX)
		return ddl_fail(r, "it has more clauses than are read");
	for (size_t i = 0; i < sizeof(verb_words) / sizeof(*verb_words); i++) {
		if (ddl_take_word(&r->scan, verb_words[i].word))
			return verb_words[i].read(r) && (ddl_is_clause_end(&r->scan) || ddl_fail(r, "a clause goes on unexpectedly"));
	}
	return other_read(r);
}

bool ddl_read_clauses(struct ddl_reading *r)
{
	do {
		if (!clause_read(r))
			return false;
	} while (ddl_take_sign(&r->scan, ','));
	return true;
}
