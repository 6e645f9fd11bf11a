"""Schema changes in mid-stream: the replica holds what the source's table holds, also in rows that were not touched since."""
import json
import random

import mysql
import weir

ID = ("id", "int", False)


def replicate(home, text, mode="merge", **parameters):
    home.write("feed.jsonl", text)
    if mode == "upsert":
        parameters["changeLogDataset"] = None
    result = home.replicate("feed.jsonl", replicationMode=mode, **parameters)
    assert result["dead_lettered"] == 0 and result["balanced"], result
    if mode == "merge":
        home.verify()
    return result


def both(text, check, **parameters):
    """In both modes; and in merge mode row by row too, with a merge behind each batch of one message, and made anew."""
    for mode in ("merge", "upsert"):
        with weir.Home() as home:
            replicate(home, text, mode, **parameters)
            check(home)
            if mode == "merge":
                assert home.run("merge", "shop", "--rebuild", *sorted({r[0] for r in home.sql("select table_name from _weir_replica")})[:1]).code == 0
                check(home)
    with weir.Home() as home:
        lines = text.splitlines(True)
        for i in range(1, len(lines) + 1, 2):
            replicate(home, "".join(lines[:i + 1]), **parameters)
        check(home)


def steps(home, table="shop.t"):
    """(column, change, did) of the timeline, oldest first."""
    rows = [r for r in home.run("tables", "--schema", "--json").lines if r["table"] == table]
    return [(s["column"], s["change"], s["did"]) for r in rows for t in r["timeline"] for s in t["steps"]]


def step_of(home, column, table="shop.t"):
    return [s for s in steps(home, table) if s[0] == column][-1]


def rows_are(home, columns, want, table="t"):
    got = home.sql("select %s from `%s` order by 1" % (columns, table))
    assert got == want, (got, want)


# DDL of the column, what rows before it have, and the type that Debezium sends.
FILLS = [
    ("varchar(9) not null default 'it''s'", "it's"), ("varchar(9)", None), ("varchar(9) not null", ""), ("char(4) default 'ab  '", "ab"),
    ("int not null", 0), ("int default -7", -7), ("int default '12'", 12), ("tinyint(1) default true", 1), ("bigint default (5)", 5),
    ("enum('x','y') not null", "x"), ("enum('x','y') default 'y'", "y"), ("enum('x','y')", None),
    ("decimal(6,2) not null", "0"), ("decimal(6,2) default 1.50", "1.5"), ("decimal(6,2) default '-3.25'", "-3.25"),
    ("date not null", "1970-01-01"), ("date default '0000-00-00'", None), ("date default '2024-02-29'", "2024-02-29"),
    ("datetime not null default '2020-01-02 03:04:05'", "2020-01-02T03:04:05"), ("datetime not null", "1970-01-01T00:00:00"),
    ("timestamp default '2020-01-02 03:04:05'", "2020-01-02 03:04:05+00"), ("time not null", "00:00:00"), ("time default '10:20:30'", "10:20:30"),
    ("double default 2.5", 2.5), ("double not null", 0.0), ("year not null", 0), ("bit(1) default b'1'", 1), ("bit(1) not null", 0),
    ("binary(3) default x'4D'", b"M\0\0"), ("varbinary(5) not null", b""), ("text not null", ""), ("json", None),
    ("varchar(40) default (uuid())", None), ("int as (id + 1)", None), ("datetime default now()", None),
    ("varchar(9) /*! not null */ default 'q' comment 'not null, default 1'", "q"),
]


def test_rows_before_an_added_column_have_its_default():
    log = mysql.Log()
    log.tables["t"] = [ID]
    log.insert("t", id=1)
    columns = [ID]
    for i, (definition, _) in enumerate(FILLS):
        is_null = "not null" not in definition.split("comment")[0]
        columns = columns + [("c%d" % i, definition, is_null)]
        log.ddl("ALTER TABLE `t` ADD COLUMN `c%d` %s" % (i, definition), "t", columns)
    log.insert("t", id=2)

    def check(home):
        got = home.sql("select * from t where id = 1")
        names = [c[1] for c in home.sql("pragma table_info(t)")]
        row = dict(zip(names, got[0]))
        wrong = [(FILLS[i][0], row["c%d" % i], want) for i, (_, want) in enumerate(FILLS) if row["c%d" % i] != want]
        assert not wrong, wrong

    both(log.text(), check)


def test_without_schema_blocks_dates_are_numbers_as_in_the_rows():
    log = mysql.Log(has_blocks=False)
    log.tables["t"] = [ID]
    log.insert("t", id=1)
    log.ddl("alter table t add d date not null default '2020-01-01', add dt datetime default '2020-01-01 00:00:01', add n decimal(5,2) default 1.5", "t",
            [ID, ("d", "date", False), ("dt", "datetime", True), ("n", "decimal(5,2)", True)])
    log.insert("t", id=2, d=18262, dt=1577836801000, n="1.50")
    both(log.text(), lambda home: rows_are(home, "id, d, dt, n", [(1, 18262, 1577836801000, "1.50"), (2, 18262, 1577836801000, "1.50")]))


def test_values_go_with_a_renamed_column():
    log = mysql.Log()
    log.tables["t"] = [ID, ("a", "int", True), ("b", "varchar(9)", True)]
    log.insert("t", id=1, a=10, b="x")
    log.insert("t", id=2, a=20, b="y")
    log.insert("t", id=3, a=30, b="z")
    # Both at once: each takes the other's name, and so both have held text. One of them stays text under a third name.
    log.ddl("alter table t change a b int, change b a varchar(9)", "t", [ID, ("b", "int", True), ("a", "varchar(9)", True)])
    log.update("t", {"id": 2, "b": 20, "a": "y"}, id=2, b=21, a="Y")
    log.ddl("ALTER TABLE t RENAME COLUMN b TO n, ADD b date default '2020-01-01' AFTER id", "t",
            [ID, ("b", "date", True), ("n", "int", True), ("a", "varchar(9)", True)])
    log.update("t", {"id": 3, "b": None, "n": 30, "a": "z"}, id=3, b=None, n=33, a="z")

    def check(home):
        rows_are(home, "id, a, n", [(1, "x", "10"), (2, "Y", "21"), (3, "z", "33")])
        assert [r[0] for r in home.sql("select b from t order by id")] == ["2020-01-01", "2020-01-01", None]
        assert ("n", "renamed from b", "values carried over") in steps(home), steps(home)

    both(log.text(), check)


def test_a_renamed_column_has_a_type_that_holds_what_was_moved_into_it():
    """Its first row alone does not say it: a column that held text before its table was made anew is text, under its new name too."""
    for rename in ("change v w bigint", "change column v w bigint first", "rename column v to w"):
        log = mysql.Log()
        log.tables["t"] = [ID, ("v", "text", True)]
        log.insert("t", id=1, v="A")
        log.ddl("drop table t", "t", kind="DROP")
        log.ddl("create table t (id int primary key, v bigint)", "t", [ID, ("v", "bigint", True)], kind="CREATE")
        log.insert("t", id=2, v=22)
        log.insert("t", id=3, v=23)
        log.ddl("alter table t " + rename, "t", [ID, ("w", "bigint", True)])
        log.insert("t", id=4, w=24)
        both(log.text(), lambda home: rows_are(home, "id, w", [(2, "22"), (3, "23"), (4, "24")]))
        # Rows between two schema changes come in any order.
        log.lines[4:6], log.lines[6:8] = log.lines[5:3:-1], log.lines[6:8] + log.lines[4:5]
        both(log.text(), lambda home: rows_are(home, "id, w", [(2, "22"), (3, "23"), (4, "24")]))


def test_values_that_a_rename_cannot_convert_stay_beside_those_that_follow():
    """A TIMESTAMP goes by the session's zone: what is kept is no TIMESTAMP, so the column is text. What is converted for sure has the new type."""
    log = mysql.Log()
    log.tables["t"] = [ID, ("a", "datetime", True), ("b", "decimal(9,3)", True), ("c", "int", True)]
    log.insert("t", id=1, a=1577923445000, b="C7c=", c=7)
    log.ddl("alter table t change a x timestamp, change b y int, change c z text", "t",
            [ID, ("x", "timestamp", True), ("y", "int", True), ("z", "text", True)])
    log.insert("t", id=2, x="2020-01-02T03:04:05Z", y=4, z="n")
    both(log.text(), lambda home: rows_are(home, "id, x, y, z", [(1, "2020-01-02T00:04:05", 3, "7"), (2, "2020-01-02 03:04:05+00", 4, "n")]))


def test_a_type_is_changed_before_the_first_row_of_a_new_name_or_column():
    """What a rename has moved, or a default has filled, is converted too."""
    log = mysql.Log()
    log.tables["t"] = [ID, ("v", "text", True)]
    log.insert("t", id=1, v="007")
    log.ddl("alter table t rename column v to w, add x varchar(9) default '08'", "t", [ID, ("w", "text", True), ("x", "varchar(9)", True)])
    log.ddl("alter table t modify w bigint, modify x int", "t", [ID, ("w", "bigint", True), ("x", "int", True)])
    both(log.text(), lambda home: rows_are(home, "id, w, x", [(1, "7", "8")]))


def test_a_renamed_key_column_keeps_its_rows():
    log = mysql.Log()
    log.tables["t"] = [ID, ("v", "int", True)]
    log.insert("t", id=1, v=1)
    log.insert("t", id=2, v=2)
    log.ddl("alter table t change column id number int not null", "t", [("number", "int", False), ("v", "int", True)])
    log.update("t", {"number": 2, "v": 2}, key=("number",), number=2, v=22)
    log.insert("t", key=("number",), number=3, v=3)
    both(log.text(), lambda home: rows_are(home, "number, v", [(1, 1), (2, 22), (3, 3)]))


def test_a_key_column_that_takes_its_former_name_back_keeps_its_rows():
    log = mysql.Log()
    log.tables["t"] = [("a", "int", False), ("v", "int", True)]
    log.insert("t", key=("a",), a=1, v=1)
    log.insert("t", key=("a",), a=2, v=2)
    for round in range(2):
        log.ddl("alter table t change column a b int not null", "t", [("b", "int", False), ("v", "int", True)])
        log.update("t", {"b": 2, "v": 2}, key=("b",), b=2, v=22)
        log.insert("t", key=("b",), b=3 + 10 * round, v=3)
        log.ddl("alter table t change column b a int not null", "t", [("a", "int", False), ("v", "int", True)])
        log.update("t", {"a": 1, "v": 1}, key=("a",), a=1, v=11)
        log.insert("t", key=("a",), a=4 + 10 * round, v=4)
    both(log.text(), lambda home: rows_are(home, "a, v", [(1, 11), (2, 22), (3, 3), (4, 4), (13, 3), (14, 4)]))


def test_a_dropped_column_that_comes_back_has_nothing_of_before():
    log = mysql.Log()
    log.tables["t"] = [ID, ("x", "int", True)]
    for i in (1, 2, 3):
        log.insert("t", id=i, x=i)
    log.ddl("alter table t drop column x", "t", [ID])
    log.insert("t", id=4)

    def kept(home):
        rows_are(home, "id, x", [(1, 1), (2, 2), (3, 3), (4, None)])
        assert step_of(home, "x")[1:] == ("dropped", "kept, NULL in rows from now on")

    both(log.text(), kept)
    log.ddl("alter table t add x varchar(5) default 'old'", "t", [ID, ("x", "varchar(5)", True)])
    log.insert("t", id=5, x="new")
    both(log.text(), lambda home: rows_are(home, "id, x", [(1, "old"), (2, "old"), (3, "old"), (4, "old"), (5, "new")]))


def test_a_table_made_again_has_nothing_of_before():
    log = mysql.Log()
    log.tables["t"] = [ID, ("x", "int", True)]
    log.insert("t", id=1, x=1)
    log.ddl("alter table t add y int default 5", "t", [ID, ("x", "int", True), ("y", "int", True)])
    log.ddl("DROP TABLE `t`", "t", kind="DROP")
    log.ddl("create table t (id int primary key, x int)", "t", [ID, ("x", "int", True)], kind="CREATE")
    log.insert("t", id=2, x=2)
    both(log.text(), lambda home: rows_are(home, "id, x, y", [(2, 2, None)]))


def test_a_truncate_that_only_its_statement_tells():
    """`skipped.operations` is `t` unless set; with both, the table is emptied once."""
    for connector in ("mysql", "mariadb"):
        for has_event in (False, True):
            log = mysql.Log(connector=connector)
            log.tables["t"] = [ID, ("v", "int", True)]
            log.insert("t", id=1, v=1)
            log.insert("t", id=2, v=2)
            at = log.step()
            if has_event:
                log.put({"before": None, "after": None, "op": "t", "ts_ms": 1700000000000, "source": log.source("t", at)}, log.block("t"))
            log.ddl("TRUNCATE TABLE `t`", "t", position=at, lists=False)
            both(log.text(), lambda home: rows_are(home, "id, v", []))
            log.insert("t", id=1, v=11)
            both(log.text(), lambda home: rows_are(home, "id, v", [(1, 11)]))


def test_a_table_replaced_by_create_has_nothing_of_before():
    log = mysql.Log(connector="mariadb")
    log.tables["t"] = [ID, ("v", "int", True)]
    log.insert("t", id=1, v=1)
    log.insert("t", id=2, v=2)
    log.ddl("create or replace table shop.t (id int primary key, v int)", "t", [ID, ("v", "int", True)], kind="CREATE")

    def emptied(home):
        rows_are(home, "id, v", [])
        assert ("", "dropped and made again", "rows before it are gone") in steps(home), steps(home)

    both(log.text(), emptied)
    log.insert("t", id=2, v=22)
    both(log.text(), lambda home: rows_are(home, "id, v", [(2, 22)]))


def test_a_statement_may_write_the_table_in_another_case():
    """lower_case_table_names: the statement is logged as typed, tableChanges and source have the server's name."""
    log = mysql.Log()
    log.tables["t"] = [ID, ("v", "int", True)]
    log.insert("t", id=1, v=1)
    log.ddl("ALTER TABLE Shop.T CHANGE V w int, ADD x int DEFAULT 5", "t", [ID, ("w", "int", True), ("x", "int", True)])
    log.insert("t", id=2, w=2, x=2)
    # On a server that tells them apart this is another table.
    log.ddl("ALTER TABLE T ADD y int DEFAULT 9", "T", [ID, ("y", "int", True)])
    both(log.text(), lambda home: rows_are(home, "id, w, x", [(1, 1, 5), (2, 2, 2)]))
    log.ddl("TRUNCATE T", "T", lists=False)
    both(log.text(), lambda home: rows_are(home, "id, w, x", [(1, 1, 5), (2, 2, 2)]))
    log.ddl("TRUNCATE T", "t", lists=False)
    both(log.text(), lambda home: rows_are(home, "id, w, x", []))


def test_a_setting_for_one_statement_hides_no_alter():
    log = mysql.Log(connector="mariadb")
    log.tables["t"] = [ID]
    log.insert("t", id=1)
    log.ddl("SET STATEMENT max_statement_time=5 FOR ALTER TABLE t ADD x varchar(9) DEFAULT '5\\%'", "t", [ID, ("x", "varchar(9)", True)])
    both(log.text(), lambda home: rows_are(home, "id, x", [(1, "5\\%")]))


def test_what_cannot_be_read_is_shown_and_changes_nothing():
    log = mysql.Log()
    log.tables["t"] = [ID]
    log.insert("t", id=1)
    log.ddl("alter table t add column `never ends", "t")
    log.ddl("alter table t add ghost int default 3", "t")
    log.ddl("alter table t add odd int default 3", "t", [ID, ("odd", "varchar(3)", True)])
    log.ddl("alter table t add unlisted int default 3", "t", lists=False)
    log.ddl("alter table t add key k (id), engine=InnoDB", "t")
    log.insert("t", id=2)

    def check(home):
        assert [c[1] for c in home.sql("pragma table_info(t)")][:2] != ["id", "ghost"]
        said = [s for s in steps(home) if s[0] == ""]
        assert [s[1].split("add ")[1] for s in said] == ["column `never ends", "ghost int default 3", "odd int default 3", "unlisted int default 3"], said
        assert [s[2] for s in said] == ["nothing: a quote or comment has no end", "nothing: tableChanges does not list ghost",
                                        "nothing: tableChanges has another type of odd", "nothing: tableChanges does not list the table"], said

    both(log.text(), check)


def test_schema_changes_that_are_refused_leave_rows_alone():
    log = mysql.Log()
    log.tables["t"] = [ID, ("a", "int", True)]
    log.insert("t", id=1, a=1)
    log.ddl("alter table t add b int default 3, change a c int", "t", [ID, ("b", "int", True), ("c", "int", True)])
    with weir.Home() as home:
        replicate(home, log.text(), schemaChanges="reject")
        rows_are(home, "id, a", [(1, 1)])
        assert step_of(home, "b")[2] == step_of(home, "c")[2] == "nothing, schemaChanges is reject"


def test_a_default_in_the_schema_block_fills_older_rows():
    """Without schema-change messages: PostgreSQL's rows that were there before the column."""
    def event(row, lsn, columns):
        fields = [dict({"field": c, "type": t, "optional": True}, **d) for c, t, d in columns]
        block = {"type": "struct", "fields": [{"field": side, "type": "struct", "fields": fields} for side in ("before", "after")]}
        return {"schema": block, "payload": weir.event(row, lsn=lsn)}

    old = [("id", "int32", {})]
    new = old + [("n", "int32", {"default": 7}), ("s", "string", {"default": "é\""}), ("d", "int32", {"default": 18262, "name": "io.debezium.time.Date"}),
                 ("u", "string", {})]
    events = [event({"id": 1}, 100, old), event({"id": 2}, 101, old), event({"id": 3, "n": 1, "s": None, "d": None, "u": "u"}, 110, new),
              # one that was written before the column was added, and comes late
              event({"id": 4}, 102, old)]
    lines = "".join(json.dumps({"id": str(i), "key": json.dumps({"id": e["payload"]["after"]["id"]}), "data": e}) + "\n" for i, e in enumerate(events))

    def check(home):
        filled = (7, "é\"", "2020-01-01", None)
        rows_are(home, "id, n, s, d, u", [(1, *filled), (2, *filled), (3, 1, None, None, "u"), (4, *filled)])
        assert step_of(home, "n")[2] == "added INT64, rows before it have 7", steps(home)

    both(lines, check)


def test_rows_in_any_order_are_changed_by_all_that_came_after_them():
    rng = random.Random(weir.first_seed())
    for _ in range(4):
        log = mysql.Log()
        log.tables["t"] = [ID, ("a", "int", True)]
        parts, name = [[]], "a"
        for i in range(12):
            start = len(log.lines)
            log.insert("t", id=i, **{name: i})
            parts[-1] += log.lines[start:]
            if i in (3, 6, 9):
                other = {"a": "b", "b": "c", "c": "a"}[name]
                columns = [ID, (other, "int", True)] + [("k%d" % j, "int", False) for j in range(3, i + 1, 3)]
                log.ddl("alter table t change %s %s int, add k%d int not null default %d" % (name, other, i, i), "t", columns)
                parts.append([log.lines[-1]])
                name = other
                parts.append([])
        ddl = [p[0] for p in parts[1::2]]
        events = [line for part in parts[0::2] for line in part]
        rng.shuffle(events)
        cut = sorted(rng.sample(range(1, len(events) + 1), 3))  # a table that was never seen has no columns to change
        pieces = [events[:cut[0]], [ddl[0]], events[cut[0]:cut[1]], [ddl[1]], events[cut[1]:cut[2]], [ddl[2]], events[cut[2]:]]
        with weir.Home() as home:
            replicate(home, "".join(line + "\n" for p in pieces for line in p))
            got = home.sql("select id, %s, k3, k6, k9 from t order by id" % name)
            assert got == [(i, i, 3 if i <= 3 else None, 6 if i <= 6 else None, 9 if i <= 9 else None) for i in range(12)], got


def test_a_schema_change_that_comes_behind_a_later_one():
    log = mysql.Log()
    log.tables["t"] = [ID, ("a", "int", True)]
    log.insert("t", id=1, a=1)
    log.ddl("alter table t change a b int", "t", [ID, ("b", "int", True)])
    log.ddl("alter table t change b c int, add n int default 4", "t", [ID, ("c", "int", True), ("n", "int", True)])
    log.insert("t", id=2, c=2, n=None)
    row, first, second, last = log.lines
    with weir.Home() as home:
        for lines in ((row, second), (row, second, last), (row, second, last, first)):
            replicate(home, "".join(line + "\n" for line in lines))
        rows_are(home, "id, c, n", [(1, 1, 4), (2, 2, None)])


def test_narrowed_and_retyped_columns_are_converted_as_the_source_does():
    log = mysql.Log()
    log.tables["t"] = [ID, ("n", "decimal(9,3)", True), ("s", "varchar(9)", True), ("d", "date", True), ("w", "datetime", True), ("m", "decimal(9,3)", True)]
    # -1.445 and 2.999; Debezium's decimals are the bytes of the unscaled number.
    log.insert("t", id=1, n="+ls=", s="007", d=18262, w=1577923445000, m="C7c=")
    log.insert("t", id=2, n="C7c=", s="12", d=None, w=None, m=None)
    log.ddl("alter table t modify n decimal(9,2), modify s int, modify d datetime, modify w date, change m k int", "t",
            [ID, ("n", "decimal(9,2)", True), ("s", "int", True), ("d", "datetime", True), ("w", "date", True), ("k", "int", True)])
    log.update("t", {"id": 2}, id=2, n="AQ==", s=13, d=1577923445000, w=18263, k=4)

    def check(home):
        rows_are(home, "id, n, s, d, w, k", [(1, "-1.45", "7", "2020-01-01T00:00:00", "2020-01-02", 3), (2, "0.01", "13", "2020-01-02T00:04:05", "2020-01-02", 4)])
        assert ("n", "now decimal(9,2)", "rows before it are converted") in steps(home), steps(home)

    both(log.text(), check)


def test_a_renamed_table_goes_on_under_its_new_name():
    log = mysql.Log()
    log.tables["t"] = [ID, ("a", "int", True)]
    for i in (1, 2, 3):
        log.insert("t", id=i, a=i)
    log.ddl("alter table t add b int default 7", "t", [ID, ("a", "int", True), ("b", "int", True)])
    log.row("d", "t", {"id": 3, "a": 3, "b": 7}, None)
    log.ddl("RENAME TABLE `shop`.`t` TO `shop`.`u`", "u", log.tables["t"])
    log.update("u", {"id": 2, "a": 2, "b": 7}, id=2, a=22, b=None)
    log.insert("u", id=4, a=4, b=4)
    want = [(1, 1, 7), (2, 22, None), (4, 4, 4)]

    def check(home):
        rows_are(home, "id, a, b", want, "u")
        assert step_of(home, "", "shop.u")[1:] == ("renamed from shop.t", "rows carried over")
        assert step_of(home, "", "shop.t")[1:] == ("renamed to shop.u", "kept readable until it is made again")

    both(log.text(), check)
    # The old name is used again, and starts empty.
    log.ddl("create table t (id int primary key, a int)", "t", [ID, ("a", "int", True)], kind="CREATE")
    log.insert("t", id=9, a=9)

    def again(home):
        rows_are(home, "id, a, b", want, "u")
        rows_are(home, "id, a", [(9, 9)], "t")

    both(log.text(), again)


def test_two_tables_take_each_others_names():
    log = mysql.Log()
    log.tables["x"] = log.tables["y"] = [ID, ("v", "int", True)]
    for i in (1, 2):
        log.insert("x", id=i, v=i)
        log.insert("y", id=i + 1, v=-i)
    log.ddl("rename table x to tmp, y to x, tmp to y", "x", also=("y",))
    log.update("x", {"id": 2, "v": -1}, id=2, v=-11)
    log.insert("y", id=5, v=5)

    def check(home):
        rows_are(home, "id, v", [(2, -11), (3, -2)], "x")
        rows_are(home, "id, v", [(1, 1), (2, 2), (5, 5)], "y")

    both(log.text(), check)
    log.ddl("rename table x to tmp, y to x, tmp to y", "x", also=("y",))
    log.row("d", "x", {"id": 1, "v": 1}, None)

    def back(home):
        rows_are(home, "id, v", [(2, 2), (5, 5)], "x")
        rows_are(home, "id, v", [(2, -11), (3, -2)], "y")

    both(log.text(), back)


def test_an_online_schema_change_keeps_the_rows():
    """A tool fills a table that the job never sees, and gives it the name of the one that it replaces."""
    log = mysql.Log()
    log.tables["t"] = [ID, ("a", "int", True)]
    log.insert("t", id=1, a=1)
    log.insert("t", id=2, a=2)
    log.ddl("rename table `shop`.`t` to `shop`.`_t_del`, `shop`.`_t_gho` to `shop`.`t`", "t", [ID, ("a", "int", True), ("b", "int", True, 5)])
    log.update("t", {"id": 2, "a": 2, "b": 5}, id=2, a=2, b=6)
    both(log.text(), lambda home: rows_are(home, "id, a, b", [(1, 1, 5), (2, 2, 6)]))


def test_alter_table_changes_columns_and_renames():
    log = mysql.Log()
    log.tables["t"] = [ID, ("a", "int", True)]
    log.insert("t", id=1, a=1)
    log.ddl("alter table t add b int not null default 3, change a c int, rename to u", "u", [ID, ("c", "int", True), ("b", "int", False)])
    log.insert("u", id=2, c=2, b=2)
    both(log.text(), lambda home: rows_are(home, "id, c, b", [(1, 1, 3), (2, 2, 2)], "u"))


def test_a_table_renamed_to_one_that_the_job_does_not_see():
    log = mysql.Log()
    log.tables["t"] = [ID]
    log.insert("t", id=1)
    log.ddl("alter table t rename to archive.t_old", "t", lists=False)
    both(log.text(), lambda home: rows_are(home, "id", [(1,)]))
    log.ddl("create table t (id int primary key)", "t", [ID], kind="CREATE")
    log.insert("t", id=2)
    both(log.text(), lambda home: rows_are(home, "id", [(2,)]))


def test_a_table_may_be_renamed_in_another_case():
    """tableChanges lists only the new name, and nothing names the old one as the server has it."""
    for text, beside in (("RENAME TABLE Shop.T TO Shop.U", "u"), ("rename table T to u", None), ("alter table T rename U", "t,u")):
        log = mysql.Log()
        log.tables["t"] = [ID, ("v", "int", True)]
        log.insert("t", id=1, v=1)
        log.insert("t", id=2, v=2)
        log.ddl(text, "u", log.tables["t"], beside=beside)
        log.update("u", {"id": 2, "v": 2}, id=2, v=22)
        both(log.text(), lambda home: rows_are(home, "id, v", [(1, 1), (2, 22)], "u"))


def test_tables_that_differ_by_case_are_not_mixed():
    log = mysql.Log()
    log.tables["t"] = log.tables["x"] = log.tables["u"] = log.tables["X"] = [ID, ("v", "int", True)]
    log.insert("t", id=1, v=1)
    log.insert("x", id=2, v=2)
    # T is a table that the job has never seen: one with other columns takes a new name, one is emptied, dropped, altered.
    log.ddl("rename table T to u", "u", [ID, ("w", "int", True)], beside="T,u")
    log.ddl("truncate T", "T", lists=False)
    log.ddl("drop table T", "T", kind="DROP")
    log.ddl("drop table Shop.X", "X", lists=False, beside=None)
    log.ddl("drop database Shop", "x", lists=False, beside=None)
    log.ddl("create table T (id int primary key)", "T", kind="CREATE")
    log.ddl("alter table T add z int default 1", "T", [ID, ("z", "int", True)])

    def check(home):
        rows_are(home, "id, v", [(1, 1)])
        rows_are(home, "id, v", [(2, 2)], "x")
        assert [s[1:] for s in steps(home)] == [
            (text, "nothing: %s, the letter case differs" % what) for text, what in (
                ("rename table T to u", "shop.T may be another table"), ("truncate T", "shop.T may be another table"),
                ("drop table T", "shop.T may be another table"), ("drop database Shop", "it may be another database"),
                ("create table T (id int primary key)", "shop.T may be another table"),
                ("alter table T add z int default 1", "shop.T may be another table"))], steps(home)

    both(log.text(), check)


DROPS = ("DROP /* x */ TABLE `t`/* */", "drop table if exists no_such, shop.t", "DROP TABLES `other`.`t`, `t` CASCADE", 'drop table "t"',
         "/*!40000 DROP TABLE t*/;", "DROP DATABASE /* all */ `shop`", "drop schema if exists shop -- gone")


def test_a_drop_that_only_its_statement_tells():
    for text in DROPS:
        log = mysql.Log()
        log.tables["t"] = [ID, ("v", "int", True)]
        log.insert("t", id=1, v=1)
        log.ddl(text, "t", lists=False, beside=None)
        log.insert("t", id=2, v=2)
        with weir.Home() as home:
            replicate(home, log.text())
            rows_are(home, "id, v", [(2, 2)])
            assert ("", "dropped", "kept readable until it is made again") in steps(home), (text, steps(home))
    log = mysql.Log()
    log.tables["t"] = [ID]
    log.insert("t", id=1)
    for text in ("DROP TABLE u, other.t", "DROP TEMPORARY TABLE t", "drop view t", "DROP INDEX t ON u", "drop table t2"):
        log.ddl(text, "u", lists=False, beside=None)
    log.insert("t", id=2)
    both(log.text(), lambda home: rows_are(home, "id", [(1,), (2,)]))


def test_a_table_that_is_created_was_not_there_before():
    """Its drop was not sent, or could not be read: a table of that name cannot be made twice."""
    for text in ("CREATE TABLE `t` (id int primary key, v int)", "create table t like u", "create table shop.t as select * from u"):
        log = mysql.Log()
        log.tables["t"] = [ID, ("v", "int", True)]
        log.insert("t", id=1, v=1)
        log.ddl("CREATE TABLE IF NOT EXISTS t (id int primary key)", "t", lists=False)
        log.insert("t", id=2, v=2)
        log.ddl(text, "t", [ID, ("v", "int", True)], kind="CREATE")
        log.insert("t", id=3, v=3)
        both(log.text(), lambda home: rows_are(home, "id, v", [(3, 3)]))


def dropped_and_made():
    log = mysql.Log()
    log.tables["t"] = [ID, ("v", "int", True)]
    log.insert("t", id=1, v=1)
    log.ddl("drop table t", "t", kind="DROP")
    log.ddl("create table t (id int primary key, v int)", "t", [ID, ("v", "int", True)], kind="CREATE")
    log.insert("t", id=2, v=2)
    return log


def test_a_create_that_is_delivered_twice_made_one_table():
    log = dropped_and_made()
    log.lines = log.lines[:3] + log.lines[2:]
    with weir.Home() as home:
        replicate(home, log.text())
        rows_are(home, "id, v", [(2, 2)])
        assert operations(home) == ["INSERT", "DROP", "INSERT"]


def operations(home, table="t"):
    return [op for (op,) in home.sql("select operation from %s_changelog order by _weir_position" % table, "shop_log")]


def test_a_run_that_ends_anywhere_between_drop_and_create_changes_nothing():
    """A run behind every message, each of them delivered twice: what the last run knew of drop and create the next one knows."""
    log = dropped_and_made()
    with weir.Home() as home:
        text = ""
        for line in log.lines + log.lines[1:3]:
            text += line + "\n"
            replicate(home, text)
        assert operations(home) == ["INSERT", "DROP", "INSERT"]
        rows_are(home, "id, v", [(2, 2)])
        # Only this one has no drop before it.
        log.ddl("create table t (id int primary key, v int)", "t", kind="CREATE")
        replicate(home, text + log.lines[-1] + "\n")
        assert operations(home) == ["INSERT", "DROP", "INSERT", "TRUNCATE"]
        rows_are(home, "id, v", [])


def test_a_table_that_has_rows_behind_its_drop_is_there_again():
    """Its CREATE never came; a later one, whose drop never came either, empties it."""
    log = mysql.Log()
    log.tables["t"] = [ID, ("v", "int", True)]
    log.insert("t", id=1, v=1)
    log.ddl("drop table t", "t", kind="DROP")
    log.tables["t"] = [ID, ("v", "int", True)]
    log.insert("t", id=2, v=2)
    log.ddl("create table t (id int primary key, v int)", "t", kind="CREATE")
    log.insert("t", id=3, v=3)
    for cuts in ([], [1, 2, 3, 4]):
        with weir.Home() as home:
            for end in cuts + [len(log.lines)]:
                replicate(home, "".join(line + "\n" for line in log.lines[:end]))
            assert operations(home) == ["INSERT", "DROP", "INSERT", "TRUNCATE", "INSERT"]
            rows_are(home, "id, v", [(3, 3)])


def test_names_that_tables_pass_on_are_made_and_not_dropped():
    """Behind a rename the old name may be made anew, in the next run too."""
    log = mysql.Log()
    log.tables["t"] = [ID, ("v", "int", True)]
    log.insert("t", id=1, v=1)
    log.ddl("rename table t to u", "u", [ID, ("v", "int", True)])
    log.ddl("create table t (id int primary key, v int)", "t", kind="CREATE")
    log.insert("t", id=2, v=2)
    with weir.Home() as home:
        text = ""
        for line in log.lines:
            text += line + "\n"
            replicate(home, text)
        assert operations(home) == ["INSERT", "DROP", "INSERT"]
        rows_are(home, "id, v", [(2, 2)])
        rows_are(home, "id, v", [(1, 1)], "u")


# The old type with a value as Debezium sends it, the new type, and what the source's row has then; KEPT: that is said, and the old stays.
KEPT = object()
CONVERSIONS = [
    ("double", 2.5, "int", 2), ("double", 3.5, "int", 4), ("double", -0.7, "bigint", -1), ("double", 1.005, "decimal(9,2)", "1.01"), ("double", 2.5, "double", 2.5),
    ("double", 0.123456789, "float", 0.12345679), ("double", 1e15, "varchar(20)", "1e15"), ("double", 0.000001, "varchar(20)", "0.000001"),
    ("float", 0.1, "double", 0.10000000149011612), ("float", 0.1, "varchar(20)", "0.1"), ("int", 5, "double", 5.0), ("int", 9007199254740993, "double", 9007199254740992),
    ("int", 42, "varchar(9)", "42"), ("int", 300, "tinyint", 127), ("int", -5, "int unsigned", 0), ("int", 2, "enum('a','b')", "b"), ("int", 5, "bigint", 5),
    ("varchar(9)", "2.5", "int", 3), ("varchar(9)", "007", "int", 7), ("varchar(9)", " 1e2 ", "int", 100), ("varchar(9)", "1.239", "decimal(9,2)", "1.24"), ("varchar(9)", "1.50", "double", 1.5),
    ("varchar(9)", "OLD", "enum('new','old')", "old"), ("varchar(9)", "b,a", "set('a','b')", "a,b"), ("varchar(9)", "ab  ", "char(4)", "ab"), ("varchar(9)", "abcdef", "varchar(3)", "abc"),
    ("varchar(30)", "2020-01-02", "date", "2020-01-02"), ("varchar(30)", "2020-01-02 03:04:05", "datetime", "2020-01-02T03:04:05"), ("enum('x','y')", "y", "varchar(9)", "y"),
    ("decimal(9,3)", "C7c=", "decimal(9,2)", "3"), ("decimal(9,3)", "+ls=", "varchar(9)", "-1.445"), ("decimal(9,3)", "C7c=", "double", 2.999), ("decimal(9,3)", "C7c=", "int", 3),
    ("datetime", 1577923445000, "date", "2020-01-02"), ("datetime(6)", 1577923199500000, "date", {"mysql": "2020-01-02", "mariadb": "2020-01-01"}),
    ("datetime(6)", 1577836800500000, "datetime", {"mysql": "2020-01-01T00:00:01", "mariadb": "2020-01-01T00:00:00"}),
    ("timestamp(6)", "2020-01-01T00:00:00.123456Z", "timestamp(3)", "2020-01-01 00:00:00.123000+00"), ("time(6)", 36000600000, "time", {"mysql": "10:00:01", "mariadb": "10:00:00"}),
    ("date", 18262, "datetime", "2020-01-01T00:00:00"), ("date", 18262, "int", 20200101), ("date", 18262, "varchar(10)", "2020-01-01"), ("bit(1)", True, "int", 1),
    ("datetime", 1577923445000, "varchar(30)", KEPT), ("timestamp", "2020-01-01T00:00:00Z", "datetime", KEPT), ("enum('x','y')", "y", "int", KEPT),
    ("varbinary(9)", "YWI=", "varchar(9)", KEPT), ("json", "{}", "text", KEPT), ("int", 20200101, "date", KEPT),
]


def converted(connector, then):
    """A log with one column a conversion, and the rows that must be equal."""
    log = mysql.Log(connector=connector)
    old = [ID] + [("c%d" % i, row[0], True) for i, row in enumerate(CONVERSIONS)]
    log.tables["t"] = old
    row = {"c%d" % i: value for i, (_, value, _, _) in enumerate(CONVERSIONS)}
    log.insert("t", id=1, **row)
    log.insert("t", id=2, **{c: None for c in row})
    changes = ", ".join("modify c%d %s" % (i, now) for i, (_, _, now, _) in enumerate(CONVERSIONS))
    log.ddl("alter table t " + changes, "t", [ID] + [("c%d" % i, now, True) for i, (_, _, now, _) in enumerate(CONVERSIONS)])
    if then:
        log.insert("t", id=3, **{c: None for c in row})
    return log


def test_values_of_every_pair_of_types_are_converted_or_said_to_be_kept():
    for connector, then in (("mysql", False), ("mysql", True), ("mariadb", True)):
        log = converted(connector, then)

        def check(home):
            names = [c[1] for c in home.sql("pragma table_info(t)")]
            got = dict(zip(names, home.sql("select * from t where id = 1")[0]))
            said = {s[0]: s[2] for s in steps(home) if s[1].startswith("now ")}
            wrong = []
            for i, (old, value, now, want) in enumerate(CONVERSIONS):
                name, want = "c%d" % i, want[connector] if isinstance(want, dict) else want
                if want is KEPT:
                    if not said[name].startswith("rows before it keep their old form: "):
                        wrong.append((old, now, said[name]))
                elif str(got[name]) != str(want) and got[name] != want:
                    wrong.append((old, value, now, got[name], want, said[name]))
            assert not wrong, (connector, then, wrong)
            assert home.sql("select count(*) from t where " + " and ".join("c%d is null" % i for i in range(len(CONVERSIONS))))[0][0] == 1 + then
            noted = {n["column"] for row in home.run("tables", "--json").lines for n in row.get("notes", []) if n["code"] == "rows_not_converted"}
            assert noted == {"c%d" % i for i, row in enumerate(CONVERSIONS) if row[3] is KEPT}, noted

        both(log.text(), check)


def test_rows_that_come_late_are_converted_as_if_they_had_been_there():
    log = converted("mysql", True)
    # A whole number that no double is has no place in the column as it is now.
    late = log.lines.pop(0).replace("9007199254740993", "9007199254740992")
    with weir.Home() as home:
        replicate(home, log.text())
        replicate(home, log.text() + late + "\n")
        want = home.sql("select * from t where id = 1")
    with weir.Home() as home:
        replicate(home, late + "\n" + log.text())
        assert home.sql("select * from t where id = 1") == want


def test_without_schema_blocks_a_new_type_is_said_to_be_unsure():
    log = mysql.Log(has_blocks=False)
    log.tables["t"] = [ID, ("n", "int", True), ("s", "varchar(9)", True), ("d", "double", True)]
    log.insert("t", id=1, n=1, s="2.5", d=2.5)
    log.ddl("alter table t modify n bigint, modify s varchar(20), modify d int", "t", [ID, ("n", "bigint", True), ("s", "varchar(20)", True), ("d", "int", True)])
    with weir.Home() as home:
        replicate(home, log.text())
        assert [step_of(home, c)[2] for c in "nsd"] == ["nothing yet, its values tell", "nothing yet, its values tell",
                                                        "rows before it keep their old form: without schema blocks nothing tells how its values are written"]


def test_a_default_of_the_first_row_fills_older_rows_that_come_later():
    def event(row, lsn, columns):
        fields = [dict({"field": c, "type": t, "optional": True}, **d) for c, t, d in columns]
        block = {"type": "struct", "fields": [{"field": side, "type": "struct", "fields": fields} for side in ("before", "after")]}
        return {"schema": block, "payload": weir.event(row, lsn=lsn)}

    old = [("id", "int32", {})]
    new = old + [("n", "int32", {"default": 7}), ("s", "string", {"default": "x"}), ("u", "string", {})]
    events = [event({"id": 3, "n": 1, "s": None, "u": "u"}, 110, new), event({"id": 1}, 100, old), event({"id": 2}, 101, old),
              event({"id": 4}, 120, old), event({"id": 5, "n": None, "s": "y", "u": None}, 105, new)]
    lines = [json.dumps({"id": str(i), "key": json.dumps({"id": e["payload"]["after"]["id"]}), "data": e}) + "\n" for i, e in enumerate(events)]
    for mode in ("merge", "upsert"):
        for cuts in ([], [1], [1, 2, 3, 4]):  # what the first row told outlives its run
            with weir.Home() as home:
                for end in cuts + [len(lines)]:
                    replicate(home, "".join(lines[:end]), mode)
                rows_are(home, "id, n, s, u", [(1, 7, "x", None), (2, 7, "x", None), (3, 1, None, "u"), (4, None, None, None), (5, None, "y", None)])
                assert step_of(home, "n")[2] == "added INT64, rows before it have 7", (mode, cuts, steps(home))


def test_dates_in_defaults_may_be_written_loosely():
    log = mysql.Log()
    log.tables["t"] = [ID]
    log.insert("t", id=1)
    log.ddl("alter table t add (d date default '2020-1-2', e date default 20200102), add f datetime not null default '2020.01.02 3:4:5' first", "t",
            [("f", "datetime", False), ID, ("d", "date", True), ("e", "date", True)])
    both(log.text(), lambda home: rows_are(home, "id, d, e, f", [(1, "2020-01-02", "2020-01-02", "2020-01-02T03:04:05")]))

def test_statements_in_their_odd_forms():
    log = mysql.Log(connector="mariadb")
    log.tables["t"] = columns = [ID, ("x", "int", True)]
    log.insert("t", id=1, x=1)
    for text, name, kind in (("/*!50100 ALTER TABLE t ADD v int default 1 */", "v", "int"), ("alter table if exists t add column if not exists w int default 2", "w", "int"),
                             ('alter table "t" add "q" int default 3', "q", "int"), ("alter table `t` drop `x`, add `x` varchar(5) default 'n' after `id`", "x", "varchar(5)")):
        columns = [c for c in columns if c[0] != name] + [(name, kind, True)]
        log.ddl(text, "t", columns)
    log.ddl("alter table t drop column if exists nope, add g int as (id + 1) stored", "t", columns + [("g", "int", True)])
    log.ddl("alter table t add m int default 4; alter table t add k int default 5", "t", columns)

    def check(home):
        rows_are(home, "id, v, w, q, x, g", [(1, 1, 2, 3, "n", None)])
        assert [s[2] for s in steps(home) if s[1].startswith("alter table t add m")] == ["nothing: it goes on behind its end"]
        assert step_of(home, "g")[2] == "added INT64, rows before it are NULL: it is computed by the source"
        noted = [n["column"] for row in home.run("tables", "--json").lines for n in row.get("notes", []) if n["code"] == "rows_not_converted"]
        assert noted == ["g"], noted

    both(log.text(), check)


# Connectors of which no DDL is read: the source block at a place of the log.
PLACES = {
    "sqlserver": lambda at: {"db": "d", "schema": "s", "table": "t", "commit_lsn": "00000027:%08x:0005" % at, "change_lsn": "00000027:%08x:0003" % at, "event_serial_no": 1},
    "oracle": lambda at: {"db": "d", "schema": "s", "table": "t", "scn": str(at), "commit_scn": str(at), "txId": "a", "commit_ts_ms": 1700000000000},
    "db2": lambda at: {"db": "d", "schema": "s", "table": "t", "commit_lsn": "00000027:%08x:0005" % at, "change_lsn": "00000027:%08x:0003" % at, "event_serial_no": 1},
}


class Other:
    def __init__(self, connector):
        self.connector, self.at, self.lines = connector, 100, []

    def put(self, body):
        self.at += 10
        source = dict(PLACES[self.connector](self.at), connector=self.connector, name="srv", ts_ms=1700000000000 + self.at, snapshot="false")
        line = {"id": str(len(self.lines) + 1), "data": dict(body, source=source, ts_ms=1700000000000)}
        if body.get("after"):
            line["key"] = json.dumps({"ID": body["after"]["ID"]})
        self.lines.append(json.dumps(line) + "\n")

    def insert(self, **row):
        self.put({"before": None, "after": row, "op": "c"})

    def change(self, kind, columns, ddl=None):
        listed = [{"name": c, "typeName": t, "optional": True, "defaultValueExpression": v} for c, t, v in columns]
        self.put({"databaseName": "d", "schemaName": "s", "ddl": ddl, "tableChanges": [
            {"type": kind, "id": '"d"."s"."t"', "table": {"primaryKeyColumnNames": ["ID"], "columns": listed} if kind != "DROP" else None}]})


def test_what_other_connectors_list_is_in_the_timeline():
    for connector in PLACES:
        log = Other(connector)
        log.insert(ID=1, A=1, B="x")
        log.change("ALTER", [("ID", "INT", None), ("A", "INT", None), ("B", "VARCHAR", None), ("C", "INT", "5")])
        log.change("ALTER", [("ID", "INT", None), ("A", "INT", None), ("C", "INT", "5")])
        log.change("ALTER", [("ID", "INT", None), ("A", "INT", None), ("C", "INT", "5")], "ALTER TABLE t MODIFY a NUMBER(9)")
        log.insert(ID=2, A=2, C=2)

        def check(home):
            rows_are(home, "ID, A, B, C", [(1, 1, "x", None), (2, 2, None, 2)])
            said = steps(home)
            assert {s[0] for s in said if s[2].startswith(("nothing yet", "kept"))} == {"C", "B"}, said
            assert ("C", "added, INT default 5", "nothing yet, its first row tells, and what older rows have") in said, said
            assert ("B", "dropped or renamed", "kept, NULL in rows from now on") in said, said
            assert ("", "ALTER TABLE t MODIFY a NUMBER(9)", "nothing: the same columns; values of a changed type are as they were") in said, said

        both("".join(log.lines), check)
        log.change("DROP", [])
        log.insert(ID=3, A=3, C=3)
        both("".join(log.lines), lambda home: rows_are(home, "ID, A", [(3, 3)]))


def test_a_column_that_oracle_renames_keeps_its_values():
    log = Other("oracle")
    log.insert(ID=1, A=1)
    log.change("ALTER", [("ID", "NUMBER", None), ("B", "NUMBER", None)], "ALTER TABLE s.t RENAME COLUMN a TO b;")
    log.insert(ID=2, B=2)
    both("".join(log.lines), lambda home: rows_are(home, "ID, B", [(1, 1), (2, 2)]))
    log = Other("sqlserver")
    log.insert(ID=1, A=1)
    log.change("ALTER", [("ID", "INT", None), ("B", "INT", None)])
    with weir.Home() as home:
        replicate(home, "".join(log.lines))
        noted = [n["text"] for row in home.run("tables", "--json").lines for n in row.get("notes", []) if n["code"] == "rows_not_converted"]
        assert len(noted) == 1 and noted[0].endswith("no statement tells whether they were renamed"), noted


def test_a_row_that_comes_behind_the_renaming_of_its_table_is_noted():
    log = mysql.Log()
    log.tables["t"] = [ID]
    log.insert("t", id=1)
    log.insert("t", id=2)
    log.ddl("rename table t to u", "u", [ID])
    log.lines.append(log.lines.pop(1))
    with weir.Home() as home:
        replicate(home, log.text())
        rows_are(home, "id", [(1,)], "u")
        noted = [n["text"] for row in home.run("tables", "--json").lines for n in row.get("notes", []) if n["code"] == "late_for_rename"]
        assert noted == ["rows from before the renaming to shop.u came behind it: it lacks those that are no repeats"], noted
