/*
 * DDL, statement by statement: ALTER TABLE with its clauses, and what renames, empties,
 * drops or makes tables. Everything else is passed over: it concerns neither columns
 * nor names.
 */
#include "transform/ddl_private.h"

/* MariaDB: WAIT 5, NOWAIT */
static void wait_skip(struct ddl_scan *scan)
{
	if (ddl_take_word(scan, "wait"))
		ddl_next(scan);
	ddl_take_word(scan, "nowait");
}

static bool alter_read(struct ddl_reading *r)
{
	struct ddl_scan *scan = &r->scan;

	ddl_take_condition(scan);
	if (!ddl_take_table(scan, &r->out->db, &r->out->table))
		return ddl_fail(r, "ALTER TABLE names no table");
	wait_skip(scan);
	r->out->kind = DDL_ALTER_TABLE;
	return ddl_read_clauses(r);
}

static bool renames_read(struct ddl_reading *r)
{
	r->out->kind = DDL_RENAME_TABLES;
	ddl_take_condition(&r->scan);
	do {
		struct ddl_clause *clause = ddl_clause_add(r, DDL_RENAME_TABLE);

		if (!ddl_take_table(&r->scan, &clause->db, &clause->name))
			return ddl_fail(r, "RENAME TABLE names no table");
		wait_skip(&r->scan);
		if (!ddl_take_word(&r->scan, "to") || !ddl_take_table(&r->scan, &clause->new_db, &clause->new_name))
			return ddl_fail(r, "RENAME TABLE names no two tables");
	} while (r->count < DDL_CLAUSES_MAX && ddl_take_sign(&r->scan, ','));
	return true;
}

static bool truncate_read(struct ddl_reading *r)
{
	struct ddl_scan *scan = &r->scan;

	ddl_take_word(scan, "table");
	if (!ddl_take_table(scan, &r->out->db, &r->out->table))
		return ddl_fail(r, "TRUNCATE names no table");
	wait_skip(scan);
	r->out->kind = DDL_TRUNCATE;
	return true;
}

/* A temporary table is nobody's but its session's, and IF NOT EXISTS may find one that stays as it is. */
static bool create_read(struct ddl_reading *r)
{
	struct ddl_scan *scan = &r->scan;
	bool is_anew = ddl_take_word(scan, "or") && ddl_take_word(scan, "replace");

	if (!ddl_take_word(scan, "table") || ddl_take_condition(scan))
		return true;
	if (!ddl_take_table(scan, &r->out->db, &r->out->table))
		return ddl_fail(r, "CREATE TABLE names no table");
	r->out->kind = is_anew ? DDL_REPLACE : DDL_CREATE;
	return true;
}

/* DROP TABLE [IF EXISTS] a, s.b [RESTRICT | CASCADE] */
static bool tables_dropped(struct ddl_reading *r)
{
	struct ddl_scan *scan = &r->scan;

	r->out->kind = DDL_DROP_TABLES;
	ddl_take_condition(scan);
	do {
		struct ddl_clause *clause = ddl_clause_add(r, DDL_DROP_TABLE);

		if (!ddl_take_table(scan, &clause->db, &clause->name))
			return ddl_fail(r, "DROP TABLE names no table");
	} while (r->count < DDL_CLAUSES_MAX && ddl_take_sign(scan, ','));
	wait_skip(scan);
	if (!ddl_take_word(scan, "restrict"))
		ddl_take_word(scan, "cascade");
	return true;
}

static bool drop_read(struct ddl_reading *r)
{
	struct ddl_scan *scan = &r->scan;

	if (ddl_take_word(scan, "table") || ddl_take_word(scan, "tables"))
		return tables_dropped(r);
	if (!ddl_take_word(scan, "database") && !ddl_take_word(scan, "schema"))
		return true;
	ddl_take_condition(scan);
	r->out->kind = DDL_DROP_DATABASE;
	return ddl_take_name(scan, &r->out->db) || ddl_fail(r, "DROP DATABASE names none");
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

static bool statement_read(struct ddl_reading *r)
{
	struct ddl_scan *scan = &r->scan;

	setting_skip(scan);
	if (ddl_take_word(scan, "truncate"))
		return truncate_read(r);
	if (ddl_take_word(scan, "create"))
		return create_read(r);
	if (ddl_take_word(scan, "drop"))
		return drop_read(r);
	if (ddl_take_word(scan, "rename"))
		return (ddl_take_word(scan, "table") || ddl_take_word(scan, "tables")) ? renames_read(r) : true;
	if (!ddl_take_word(scan, "alter"))
		return true;
	while (ddl_take_word(scan, "online") || ddl_take_word(scan, "offline") || ddl_take_word(scan, "ignore"))
		;
	return !ddl_take_word(scan, "table") || alter_read(r);
}

/* What was read of it must be all of it; of a table made anew no more is read. */
static bool is_read_to_end(const struct ddl_reading *r)
{
	enum ddl_kind kind = r->out->kind;

	return kind == DDL_ELSE || kind == DDL_REPLACE || kind == DDL_CREATE || r->scan.now.kind == DDL_END;
}

bool ddl_read(struct span text, struct arena *arena, struct ddl *out, const char **out_why)
{
	static const char broken[] = "a quote or comment has no end";
	struct ddl_reading r = { .out = out, .end = &out->clauses };

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
