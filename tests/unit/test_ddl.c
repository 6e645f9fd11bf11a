/* DDL as MySQL and MariaDB write it: what is read of it, what rows have in a new column, and what is not understood. */
#include "transform/ddl.h"
#include "transform/ddl_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* "table: verb name new_name {definition}; ..." of a statement, or "why not". */
static const char *read_of(const char *text)
{
	static const char *const verbs[] = { "add", "drop", "change", "modify", "rename", "rename_table", "other" };
	static char out[4096];
	struct arena *arena = arena_new(1024);
	struct ddl ddl;
	const char *why = "";
	size_t len;

	if (!ddl_read(span_of(text), arena, &ddl, &why)) {
		snprintf(out, sizeof(out), "%s", why);
	} else {
		len = (size_t)snprintf(out, sizeof(out), ddl.kind == DDL_ELSE ? "else" : ddl.db.len ? "%.*s.%.*s:" : "%.*s%.*s:",
		                       SPAN_ARG(ddl.db), SPAN_ARG(ddl.table));
		for (const struct ddl_clause *c = ddl.clauses; c; c = c->next)
			len += (size_t)snprintf(out + len, sizeof(out) - len, " %s%s%s%.*s%s%.*s%s%.*s;", verbs[c->verb],
			                        c->is_conditional ? "?" : "", c->name.len ? " " : "", SPAN_ARG(c->name),
			                        c->new_name.len ? " -> " : "", SPAN_ARG(c->new_name),
			                        c->column.definition.len ? " " : "", SPAN_ARG(c->column.definition));
	}
	arena_free(arena);
	return out;
}

#define READS(text, want) assert_string_equal(read_of(text), want)

static void clauses_are_read_one_by_one(void **state)
{
	(void)state;
	READS("alter table t add a int", "t: add a int;");
	READS("ALTER TABLE `s`.`t` ADD COLUMN `a b` VARCHAR(9) NOT NULL DEFAULT 'x,y' AFTER `c`, DROP d, DROP COLUMN e CASCADE",
	      "s.t: add a b VARCHAR(9) NOT NULL DEFAULT 'x,y' AFTER `c`; drop d; drop e;");
	READS("alter table t change a b int, change column c c bigint unsigned, modify d enum('a','b)')",
	      "t: change a -> b int; change c -> c bigint unsigned; modify d enum('a','b)');");
	READS("alter table t rename column a to b, rename index i to j, rename to u",
	      "t: rename a -> b; other; rename_table t -> u;");
	READS("alter table t add (a int, index i (a), b int default (1)), add unique key u (a, b), engine=InnoDB comment='add x'",
	      "t: add a int; add b int default (1); other; other;");
	READS("alter table t add column if not exists a int, drop column if exists b, modify if exists c text",
	      "t: add? a int; drop? b; modify? c text;");
	READS("alter online ignore table if exists t wait 5 add a int, algorithm=inplace, lock=none", "t: add a int; other; other;");
	READS("alter table t add constraint c foreign key (a) references u (b), drop primary key, drop foreign key c, alter a set default 5",
	      "t: other; other; other; other;");
	READS("alter table t add system versioning, add period for system_time(a, b), add system int, order by a, b",
	      "t: other; other; add system int; other; other;");
	READS("alter table t add partition (partition p values less than (5)), partition by hash(id)", "t: other; other;");
}

static void tables_are_renamed_one_after_the_other(void **state)
{
	(void)state;
	READS("rename table a to b", ": rename_table a -> b;");
	READS("RENAME TABLES `s`.`a` TO tmp, b TO s.a, tmp TO b;", ": rename_table a -> tmp; rename_table b -> a; rename_table tmp -> b;");
}

static void tables_that_are_emptied_or_made_anew(void **state)
{
	(void)state;
	READS("truncate t", "t:");
	READS("TRUNCATE /* all */ TABLE `s`.`t` WAIT 5;", "s.t:");
	READS("truncate table", "TRUNCATE names no table");
	READS("truncate table t, u", "it goes on behind its end");
	READS("create or replace table s.t (a int) select 1", "s.t:");
	READS("create or replace temporary table t (a int)", "else");
	READS("create table t (a int)", "else");
	READS("create or replace view t as select 1", "else");
}

static void settings_before_a_statement_are_passed_over(void **state)
{
	(void)state;
	READS("set statement max_statement_time = 5, sql_mode = 'a for b' for alter table t add a int", "t: add a int;");
	READS("set statement a = 1", "else");
	READS("set names utf8", "else");
}

static void quotes_comments_and_code_in_comments(void **state)
{
	(void)state;
	READS("/* x */ alter /*!50100 table */ t -- add\n add # x\n a int /* , drop b */", "t: add a int;");
	READS("/*M!100100 alter table t add a int */", "t: add a int;");
	READS("alter table `t``x` add `a``b` int", "t`x: add a`b int;");
	READS("alter table \"t\" add \"a\" int comment 'it''s, \\' not null'", "t: add a int comment 'it''s, \\' not null';");
	READS("alter table 1t add 2x int, add straße int", "1t: add 2x int; add straße int;");
}

static void what_does_not_concern_columns_is_passed_over(void **state)
{
	(void)state;
	READS("create table t (a int)", "else");
	READS("drop table t", "else");
	READS("rename user a to b", "else");
	READS("alter database d charset utf8mb4", "else");
	READS("", "else");
	READS("nonsense !! ''", "else");
}

static void what_cannot_be_read_is_said(void **state)
{
	(void)state;
	READS("alter table t add `a", "a quote or comment has no end");
	READS("alter table t add a int /* ", "a quote or comment has no end");
	READS("alter table t add a int /*! not null", "a quote or comment has no end");
	READS("alter table t add a varchar(9) default 'x", "a quote or comment has no end");
	READS("alter table", "ALTER TABLE names no table");
	READS("alter table t add", "ADD names no column");
	READS("alter table t add a", "a column's type cannot be read");
	READS("alter table t change a int", "a column's type cannot be read");
	READS("alter table t rename column a b", "RENAME COLUMN names no two columns");
	READS("alter table t add (a int", "the list of ADD has no end");
	READS("alter table t add a int) drop b", "it goes on behind its end");
	READS("alter table t add a int; drop table t", "it goes on behind its end");
	READS("rename table a", "RENAME TABLE names no two tables");
}

/* What rows before it have in a column of that definition, typed by a schema block or not. */
static const char *fill_of(const char *definition, bool has_blocks)
{
	static char out[512], text[512];
	struct arena *arena = arena_new(1024);
	struct bq_type type = { .kind = BQ_STRING };
	struct span json;
	struct ddl ddl;
	const char *why = "";

	snprintf(text, sizeof(text), "alter table t add c %s", definition);
	if (!ddl_read(span_of(text), arena, &ddl, &why) ||
	    !(ddl_column_type(&ddl.clauses->column, has_blocks, arena, &type), ddl_column_fill(&ddl.clauses->column, &type,
	      1700000001234, arena, &json, &why)))
		snprintf(out, sizeof(out), "unknown: %s", why);
	else
		snprintf(out, sizeof(out), "%.*s", SPAN_ARG(json));
	arena_free(arena);
	return out;
}

static void a_new_column_has_its_default_in_older_rows(void **state)
{
	static const struct { const char *definition, *typed, *plain; } rows[] = {
		{ "int", "null", "null" },                        { "int default null", "null", "null" },
		{ "int not null", "0", "0" },                     { "int default 5", "5", "5" },
		{ "bigint default -9223372036854775808", "-9223372036854775808", "-9223372036854775808" },
		{ "int default 0x1F", "31", "31" },               { "boolean default true", "1", "1" },
		{ "varchar(3) default ''", "\"\"", "\"\"" },      { "varchar(9) default '\"\\\\'", "\"\\\"\\\\\"", "\"\\\"\\\\\"" },
		{ "varchar(9) default 'a\\%\\_\\x'", "\"a\\\\%\\\\_x\"", "\"a\\\\%\\\\_x\"" },
		{ "national varchar(3) not null", "\"\"", "\"\"" }, { "char(3) default 'a '", "\"a\"", "\"a\"" },
		{ "enum('b','a') not null", "\"b\"", "\"b\"" },   { "set('a','b') not null", "\"\"", "\"\"" },
		{ "decimal(6,2) default 1.5", "\"1.5\"", "\"1.50\"" }, { "numeric not null", "\"0\"", "\"0\"" },
		{ "double precision default 1e3", "1e3", "1e3" }, { "float default 0.5", "0.5", "0.5" },
		{ "date default '2024-02-29'", "\"2024-02-29\"", "19782" }, { "date default '0000-00-00'", "null", "null" },
		{ "date not null", "\"1970-01-01\"", "0" },
		{ "datetime not null default '2020-01-01 00:00:01'", "\"2020-01-01T00:00:01\"", "1577836801000" },
		{ "datetime(6) default '2020-01-01 00:00:01.5'", "\"2020-01-01T00:00:01.500000\"", "1577836801500000" },
		{ "timestamp default '2020-01-01 00:00:01'", "\"2020-01-01 00:00:01+00\"", "\"2020-01-01T00:00:01Z\"" },
		{ "timestamp default current_timestamp() on update now()", "\"2023-11-14 22:13:21+00\"", "\"2023-11-14T22:13:21Z\"" },
		{ "time default '10:00:00'", "\"10:00:00\"", "36000000000" }, { "year default 2024", "2024", "2024" },
		{ "bit not null", "false", "false" },             { "bit(9) default b'100000001'", "\"AQE=\"", "\"AQE=\"" },
		{ "binary(4) default 'ab'", "\"YWIAAA==\"", "\"YWIAAA==\"" }, { "blob not null", "\"\"", "\"\"" },
		{ "int auto_increment", "unknown: the source has numbered its rows", NULL },
		{ "int generated always as (a + 1) virtual", "unknown: it is computed by the source", NULL },
		{ "char(36) default (uuid())", "unknown: its default is an expression", NULL },
		{ "int default nextval(s)", "unknown: its default is an expression", NULL },
		{ "datetime default now()", "unknown: its default is the clock in the source's time zone", NULL },
		{ "timestamp(3) default now(3)", "unknown: its default is the clock, and the log does not tell its fractions", NULL },
		{ "int default 'many'", "unknown: its default cannot be read as a value of its type", NULL },
		{ "geometry not null", "unknown: its type is not known", NULL }, { "point", "null", "null" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(fill_of(rows[i].definition, true), rows[i].typed) != 0)
			fail_msg("%s: %s, not %s", rows[i].definition, fill_of(rows[i].definition, true), rows[i].typed);
		if (rows[i].plain && strcmp(fill_of(rows[i].definition, false), rows[i].plain) != 0)
			fail_msg("%s without blocks: %s, not %s", rows[i].definition, fill_of(rows[i].definition, false), rows[i].plain);
	}
	/* BigQuery's TIME has no such value. */
	assert_non_null(strstr(fill_of("time default '-01:00:00'", true), "unknown"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clauses_are_read_one_by_one),
		cmocka_unit_test(tables_are_renamed_one_after_the_other),
		cmocka_unit_test(tables_that_are_emptied_or_made_anew),
		cmocka_unit_test(settings_before_a_statement_are_passed_over),
		cmocka_unit_test(quotes_comments_and_code_in_comments),
		cmocka_unit_test(what_does_not_concern_columns_is_passed_over),
		cmocka_unit_test(what_cannot_be_read_is_said),
		cmocka_unit_test(a_new_column_has_its_default_in_older_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
