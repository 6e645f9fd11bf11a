/*
 * Schema changes, as the verification sees them: what each ALTER of the changelog
 * does to one column is a row of main.effects, and the value that an event has in
 * a column is found by walking back through them, from the newest to the event.
 *
 *   s  the column gets a value      m  it gets that of column `source`
 *   f  the same, where the event    g  its value has gone to another column
 *      lacks the column
 *
 * Types that change on the way are rows of main.casts; they are applied in the end, the oldest first.
 */
#include "sink/verify_private.h"

static void add_log(struct text *sql, const struct verify *verify)
{
	text_add(sql, " FROM l.");
	sql_name(sql, verify->changelog);
	text_add(sql, " a");
}

/* One kind of effect. What is there already of the same ALTER and column stands. */
static bool effects_add(struct verify *verify, const char *kind, const char *part, const char *values, struct error *err)
{
	struct text *sql = sql_new("INSERT OR IGNORE INTO main.effects(position, col, source, kind, record) "
	                           "SELECT a._weir_position, ");
	int64_t ignored;
	bool has_row;

	text_add_format(sql, "%s, '%s', weir_part(a.fullRecord, '%s')", values, kind, part);
	add_log(sql, verify);
	text_add_format(sql, ", json_each(a.fullRecord, '$.%s') j WHERE a.rowid <= ?1 AND a.operation = 'ALTER'", part);
	return verify_number(verify, sql, &ignored, &has_row, err);
}

static bool casts_add(struct verify *verify, struct error *err)
{
	struct text *sql = sql_new("INSERT OR IGNORE INTO main.casts(position, col, spec) SELECT a._weir_position, j.key, j.value");
	int64_t ignored;
	bool has_row;

	add_log(sql, verify);
	text_add(sql, ", json_each(a.fullRecord, '$.cast') j WHERE a.rowid <= ?1 AND a.operation = 'ALTER'");
	return verify_number(verify, sql, &ignored, &has_row, err);
}

bool verify_effects(struct verify *verify, bool *out_any, struct error *err)
{
	static const char make[] =
		"DROP TABLE IF EXISTS main.effects;"
		"CREATE TABLE main.effects(col TEXT, position BLOB, source TEXT, kind TEXT, record TEXT, PRIMARY KEY(col, position)) "
		"WITHOUT ROWID;"
		"DROP TABLE IF EXISTS main.casts;"
		"CREATE TABLE main.casts(col TEXT, position BLOB, spec TEXT, PRIMARY KEY(col, position)) WITHOUT ROWID";
	int64_t ignored;

	return store_exec(verify->store, make, err) && effects_add(verify, "s", "set", "j.key, NULL", err) &&
	       effects_add(verify, "m", "move", "j.value, j.key", err) && effects_add(verify, "g", "move", "j.key, NULL", err) &&
	       effects_add(verify, "f", "fill", "j.key, NULL", err) &&
	       casts_add(verify, err) &&
	       verify_number(verify, sql_new("SELECT 1 FROM (SELECT 1 FROM main.effects UNION ALL SELECT 1 FROM main.casts) "
	                                     "LIMIT 1"), &ignored, out_any, err);
}

bool verify_is_altered(struct verify *verify, const char *name, bool *out, struct error *err)
{
	struct text *sql = sql_new("SELECT 1 FROM (SELECT col FROM main.effects UNION ALL SELECT col FROM main.casts) WHERE col = ");
	int64_t ignored;

	text_add(sql, name);
	text_add(sql, " LIMIT 1");
	return verify_number(verify, sql, &ignored, out, err);
}

/* Specs of casts of the column of `back` from `low` up to its `before`, the oldest first, each with a blank behind it. */
#define SEGMENT(low) \
	"coalesce((SELECT group_concat(spec, '') FROM (SELECT k.spec || ' ' AS spec FROM main.casts k WHERE k.col = back.col " \
	"AND k.position " low " AND (back.before = zeroblob(0) OR k.position < back.before) ORDER BY k.position)), '')"

void verify_add_altered(struct text *sql, const char *name, const char *type, const char *from)
{
	text_add_format(sql, "(WITH RECURSIVE back(col, before, kind, record, casts) AS (SELECT %s, zeroblob(0), '', NULL, '' "
	                     "UNION ALL SELECT coalesce(f.source, f.col), f.position, f.kind, f.record, "
	                     SEGMENT(">= f.position") " || back.casts FROM back JOIN main.effects f "
	                     "ON f.col = back.col AND f.position = (SELECT max(g.position) FROM main.effects g "
	                     "WHERE g.col = back.col AND g.position > e._weir_position "
	                     "AND (back.before = zeroblob(0) OR g.position < back.before) "
	                     "AND NOT (g.kind = 'f' AND weir_has(%s, back.col))) "
	                     "WHERE back.kind IN ('', 'm')) "
	                     "SELECT CASE WHEN kind = 'g' THEN NULL WHEN kind IN ('', 'm') THEN "
	                     "weir_casts(weir_value(%s, col, %s), " SEGMENT("> e._weir_position") " || casts, %s) "
	                     "ELSE weir_casts(weir_value(NULL, record, col, %s), casts, %s) END "
	                     "FROM back ORDER BY before = zeroblob(0), before LIMIT 1)", name, from, from, type, type, type, type);
}
