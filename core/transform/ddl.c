/*
 * DDL, statement by statement: ALTER TABLE with its clauses and RENAME TABLE.
 * Everything else is passed over: it concerns neither columns nor names.
 */
#include "transform/ddl_private.h"

bool ddl_word_is(struct span text, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < len && i < text.len; i++) {
		char c = text.at[i] >= 'A' && text.at[i] <= 'Z' ? (char)(text.at[i] | 0x20) : text.at[i];

		if (c != word[i])
			return false;
	}
	return text.len == len;
}

bool ddl_is_word(const struct ddl_scan *scan, const char *word)
{
	return scan->now.kind == DDL_WORD && ddl_word_is(scan->now.text, word);
}

bool ddl_is_sign(const struct ddl_scan *scan, char sign)
{
	return scan->now.kind == DDL_SIGN && *scan->now.text.at == sign;
}

bool ddl_take_word(struct ddl_scan *scan, const char *word)
{
	if (!ddl_is_word(scan, word))
		return false;
	ddl_next(scan);
	return true;
}

bool ddl_take_sign(struct ddl_scan *scan, char sign)
{
	if (!ddl_is_sign(scan, sign))
		return false;
	ddl_next(scan);
	return true;
}

/* With ANSI_QUOTES "name" is a name. */
bool ddl_take_name(struct ddl_scan *scan, struct span *out)
{
	bool is_quoted = scan->now.kind == DDL_TEXT && *scan->now.begin == '"';

	if (scan->now.kind != DDL_WORD && scan->now.kind != DDL_NAME && !is_quoted)
		return false;
	*out = scan->now.text;
	ddl_next(scan);
	return out->len > 0;
}

static bool is_over(const struct ddl_scan *scan)
{
	return scan->now.kind == DDL_END || scan->now.kind == DDL_BROKEN;
}

void ddl_skip_parentheses(struct ddl_scan *scan)
{
	size_t depth = 0;

	do {
		depth += ddl_is_sign(scan, '(');
		depth -= ddl_is_sign(scan, ')');
		ddl_next(scan);
	} while (depth && !is_over(scan));
}

bool ddl_is_clause_end(const struct ddl_scan *scan)
{
	return is_over(scan) || ddl_is_sign(scan, ',') || ddl_is_sign(scan, ')') || ddl_is_sign(scan, ';');
}

static void skip_clause(struct ddl_scan *scan)
{
	while (!is_over(scan) && !ddl_is_sign(scan, ',') && !ddl_is_sign(scan, ';')) {
		if (ddl_is_sign(scan, '('))
			ddl_skip_parentheses(scan);
		else
			ddl_next(scan);
	}
}

/* db.table or table. */
static bool take_table(struct ddl_scan *scan, struct span *out_db, struct span *out_table)
{
	*out_db = SPAN("");
	if (!ddl_take_name(scan, out_table))
		return false;
	if (!ddl_take_sign(scan, '.'))
		return true;
	*out_db = *out_table;
	return ddl_take_name(scan, out_table);
}

static bool take_condition(struct ddl_scan *scan)
{
	if (!ddl_take_word(scan, "if"))
		return false;
	ddl_take_word(scan, "not");
	return ddl_take_word(scan, "exists");
}

/*
 * The clauses of ALTER TABLE
 */

struct reading {
	struct ddl_scan scan;
	struct ddl *out;
	struct ddl_clause **end;
	size_t count;
	const char *why;
};

static struct ddl_clause *clause_add(struct reading *r, enum ddl_verb verb)
{
	struct ddl_clause *clause = arena_zalloc(r->scan.arena, sizeof(*clause));

	clause->verb = verb;
	*r->end = clause;
	r->end = &clause->next;
	r->count++;
	return clause;
}

static bool fail_with(struct reading *r, const char *why)
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

static bool other_read(struct reading *r)
{
	clause_add(r, DDL_OTHER);
	skip_clause(&r->scan);
	return true;
}

static bool column_read(struct reading *r, struct ddl_clause *clause)
{
	return ddl_read_column(&r->scan, &clause->column) || fail_with(r, "a column's type cannot be read");
}

static bool one_added(struct reading *r, bool is_conditional)
{
	struct ddl_clause *clause = clause_add(r, DDL_ADD);

	clause->is_conditional = is_conditional;
	if (!ddl_take_name(&r->scan, &clause->name))
		return fail_with(r, "ADD names no column");
	return column_read(r, clause);
}

/* ADD (a INT, INDEX i (a), b INT) */
static bool list_added(struct reading *r, bool is_conditional)
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
	return ddl_take_sign(&r->scan, ')') || fail_with(r, "the list of ADD has no end");
}

static bool add_read(struct reading *r)
{
	bool has_word = ddl_take_word(&r->scan, "column"), is_conditional;

	if (!has_word && is_no_column(&r->scan))
		return other_read(r);
	is_conditional = take_condition(&r->scan);
	return ddl_take_sign(&r->scan, '(') ? list_added(r, is_conditional) : one_added(r, is_conditional);
}

static bool drop_read(struct reading *r)
{
	bool has_word = ddl_take_word(&r->scan, "column");
	struct ddl_clause *clause;

	if (!has_word && is_no_column(&r->scan))
		return other_read(r);
	clause = clause_add(r, DDL_DROP);
	clause->is_conditional = take_condition(&r->scan);
	if (!ddl_take_name(&r->scan, &clause->name))
		return fail_with(r, "DROP names no column");
	skip_clause(&r->scan);
	return true;
}

static bool change_read(struct reading *r)
{
	struct ddl_clause *clause = clause_add(r, DDL_CHANGE);

	ddl_take_word(&r->scan, "column");
	clause->is_conditional = take_condition(&r->scan);
	if (!ddl_take_name(&r->scan, &clause->name) || !ddl_take_name(&r->scan, &clause->new_name))
		return fail_with(r, "CHANGE names no two columns");
	return column_read(r, clause);
}

static bool modify_read(struct reading *r)
{
	struct ddl_clause *clause = clause_add(r, DDL_MODIFY);

	ddl_take_word(&r->scan, "column");
	clause->is_conditional = take_condition(&r->scan);
	if (!ddl_take_name(&r->scan, &clause->name))
		return fail_with(r, "MODIFY names no column");
	return column_read(r, clause);
}

static bool rename_column(struct reading *r)
{
	struct ddl_clause *clause = clause_add(r, DDL_RENAME);

	clause->is_conditional = take_condition(&r->scan);
	if (!ddl_take_name(&r->scan, &clause->name) || !ddl_take_word(&r->scan, "to") ||
	    !ddl_take_name(&r->scan, &clause->new_name))
		return fail_with(r, "RENAME COLUMN names no two columns");
	return true;
}

static bool rename_read(struct reading *r)
{
	struct ddl_clause *clause;

	if (ddl_take_word(&r->scan, "column"))
		return rename_column(r);
	if (ddl_is_word(&r->scan, "index") || ddl_is_word(&r->scan, "key") || ddl_is_word(&r->scan, "constraint"))
		return other_read(r);
	if (!ddl_take_word(&r->scan, "to") && !ddl_take_word(&r->scan, "as"))
		ddl_take_sign(&r->scan, '=');
	clause = clause_add(r, DDL_RENAME_TABLE);
	clause->db = r->out->db;
	clause->name = r->out->table;
	return take_table(&r->scan, &clause->new_db, &clause->new_name) || fail_with(r, "RENAME names no table");
}

static const struct verb_word {
	const char *word;
	bool (*read)(struct reading *r);
} verb_words[] = {
	{ "add", add_read },       { "drop", drop_read },     { "change", change_read },
	{ "modify", modify_read }, { "rename", rename_read },
};

static bool clause_read(struct reading *r)
{
	if (r->count >= DDL_CLAUSES_MAX)
		return fail_with(r, "it has more clauses than are read");
	for (size_t i = 0; i < sizeof(verb_words) / sizeof(*verb_words); i++) {
		if (ddl_take_word(&r->scan, verb_words[i].word))
			return verb_words[i].read(r) && (ddl_is_clause_end(&r->scan) || fail_with(r, "a clause goes on unexpectedly"));
	}
	return other_read(r);
}

static bool alter_read(struct reading *r)
{
	struct ddl_scan *scan = &r->scan;

	take_condition(scan);
	if (!take_table(scan, &r->out->db, &r->out->table))
		return fail_with(r, "ALTER TABLE names no table");
	if (ddl_take_word(scan, "wait"))
		ddl_next(scan);
	ddl_take_word(scan, "nowait");
	r->out->kind = DDL_ALTER_TABLE;
	do {
		if (!clause_read(r))
			return false;
	} while (ddl_take_sign(scan, ','));
	return true;
}

static bool renames_read(struct reading *r)
{
	r->out->kind = DDL_RENAME_TABLES;
	take_condition(&r->scan);
	do {
		struct ddl_clause *clause = clause_add(r, DDL_RENAME_TABLE);

		if (!take_table(&r->scan, &clause->db, &clause->name))
			return fail_with(r, "RENAME TABLE names no table");
		if (ddl_take_word(&r->scan, "wait"))
			ddl_next(&r->scan);
		ddl_take_word(&r->scan, "nowait");
		if (!ddl_take_word(&r->scan, "to") || !take_table(&r->scan, &clause->new_db, &clause->new_name))
			return fail_with(r, "RENAME TABLE names no two tables");
	} while (r->count < DDL_CLAUSES_MAX && ddl_take_sign(&r->scan, ','));
	return true;
}

static bool truncate_read(struct reading *r)
{
	struct ddl_scan *scan = &r->scan;

	ddl_take_word(scan, "table");
	if (!take_table(scan, &r->out->db, &r->out->table))
		return fail_with(r, "TRUNCATE names no table");
	if (ddl_take_word(scan, "wait"))
		ddl_next(scan);
	ddl_take_word(scan, "nowait");
	r->out->kind = DDL_TRUNCATE;
	return true;
}

/* A CREATE without OR REPLACE finds no table, a temporary one is nobody's but its session's. */
static bool create_read(struct reading *r)
{
	struct ddl_scan *scan = &r->scan;

	if (!ddl_take_word(scan, "or") || !ddl_take_word(scan, "replace") || !ddl_take_word(scan, "table"))
		return true;
	if (!take_table(scan, &r->out->db, &r->out->table))
		return fail_with(r, "CREATE OR REPLACE TABLE names no table");
	r->out->kind = DDL_REPLACE;
	return true;
}

/* MariaDB: SET STATEMENT name = value, .. FOR, and then what is to be done under it. */
static void setting_skip(struct ddl_scan *scan)
{
	if (!ddl_take_word(scan, "set") || !ddl_take_word(scan, "statement"))
		return;
	while (scan->now.kind != DDL_END && scan->now.kind != DDL_BROKEN && !ddl_is_word(scan, "for"))
		ddl_next(scan);
	ddl_take_word(scan, "for");
}

static bool statement_read(struct reading *r)
{
	struct ddl_scan *scan = &r->scan;

	setting_skip(scan);
	if (ddl_take_word(scan, "truncate"))
		return truncate_read(r);
	if (ddl_take_word(scan, "create"))
		return create_read(r);
	if (ddl_take_word(scan, "rename"))
		return (ddl_take_word(scan, "table") || ddl_take_word(scan, "tables")) ? renames_read(r) : true;
	if (!ddl_take_word(scan, "alter"))
		return true;
	while (ddl_take_word(scan, "online") || ddl_take_word(scan, "offline") || ddl_take_word(scan, "ignore"))
		;
	return !ddl_take_word(scan, "table") || alter_read(r);
}

/* What was read of it must be all of it; of a table made anew no more is read. */
static bool is_read_to_end(const struct reading *r)
{
	enum ddl_kind kind = r->out->kind;

	return kind == DDL_ELSE || kind == DDL_REPLACE || r->scan.now.kind == DDL_END;
}

bool ddl_read(struct span text, struct arena *arena, struct ddl *out, const char **out_why)
{
	static const char broken[] = "a quote or comment has no end";
	struct reading r = { .out = out, .end = &out->clauses };

	*out = (struct ddl){ .kind = DDL_ELSE };
	if (text.len > DDL_BYTES_MAX) {
		*out_why = "it is longer than what is read of a statement";
		return false;
	}
	ddl_scan_begin(&r.scan, text, arena);
	while (ddl_take_sign(&r.scan, ';'))
		;
	if (!statement_read(&r)) {
		*out_why = r.scan.now.kind == DDL_BROKEN ? broken : r.why;
		return false;
	}
	while (out->kind != DDL_ELSE && ddl_take_sign(&r.scan, ';'))
		;
	if (r.scan.now.kind == DDL_BROKEN || !is_read_to_end(&r)) {
		*out_why = r.scan.now.kind == DDL_BROKEN ? broken : "it goes on behind its end";
		return false;
	}
	return true;
}
