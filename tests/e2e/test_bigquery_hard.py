"""BigQuery at its worst: schema changes of a table in trouble, many kinds of bad rows at once, faults beside tables that are well, large rows."""
import json
import os
import signal

import emulators
import mysql
import test_bigquery as base
import weir
from test_bigquery import LOG, ONCE, until

INSERT_ALL = {"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": False}


def altered_log():
    """(lines before the trouble, lines of it): rows of `a` and `b`, and all that a schema change does to rows of `a`."""
    log = mysql.Log()
    columns = [("id", "int", False), ("v", "varchar(20)", True)]
    for table in ("a", "b"):
        log.ddl("CREATE TABLE %s (id INT PRIMARY KEY, v VARCHAR(20))" % table, table, list(columns), "CREATE")
        for i in range(5):
            log.insert(table, id=i, v="%s %d" % (table, i))
    before = len(log.lines)
    log.insert("a", id=10, v="ten")
    log.ddl("ALTER TABLE a ADD COLUMN n INT NOT NULL DEFAULT 7", "a", columns + [("n", "int", False, 7)])
    log.insert("a", id=11, v="eleven", n=8)
    log.ddl("ALTER TABLE a CHANGE v w VARCHAR(20)", "a", [columns[0], ("w", "varchar(20)", True), ("n", "int", False, 7)])
    log.insert("a", id=12, w="twelve", n=9)
    log.insert("b", id=12, v="b 12")
    log.ddl("TRUNCATE TABLE a", "a", kind="ALTER")
    log.insert("a", id=13, w="thirteen", n=10)
    log.tables["c"] = log.tables["a"]
    log.ddl("RENAME TABLE a TO c", "c")
    log.insert("c", id=14, w="fourteen", n=11)
    log.ddl("DROP TABLE c", "c", kind="DROP")
    log.insert("b", id=13, v="b 13")
    return "".join(x + "\n" for x in log.lines[:before]), "".join(x + "\n" for x in log.lines[before:])


def defaulted_log():
    """The same where no statement is sent: rows themselves show a column with a default, which older rows get."""
    log = mysql.Log()
    columns = [("id", "int", False), ("v", "varchar(20)", True)]
    for table in ("a", "b"):
        log.tables[table] = list(columns)
        for i in range(5):
            log.insert(table, id=i, v="%s %d" % (table, i))
    before = len(log.lines)
    log.tables["a"] = columns + [("n", "int", False, 7)]
    log.insert("a", id=10, v="ten", n=8)
    log.insert("b", id=10, v="b ten")
    log.insert("a", id=11, v="eleven", n=9)
    return "".join(x + "\n" for x in log.lines[:before]), "".join(x + "\n" for x in log.lines[before:])


def changelogs(bq):
    found = {}
    for table in ("a", "b", "c"):
        try:
            found[table] = base.remote_rows(bq, "%s.%s_changelog" % (LOG, table))
        except AssertionError:
            found[table] = None
    return found


def what_is_written_without_trouble(first, then, more):
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        base.run_bigquery(home, home.write("f.jsonl", first + then), **more)
        return changelogs(bq)


def schema_changes_of_a_table_in_trouble(is_killed, made=altered_log, **more):
    first, then = made()
    want = what_is_written_without_trouble(first, then, more)
    kinds = {"INSERT", "ALTER", "TRUNCATE", "RENAME", "DROP"} if made is altered_log else {"INSERT", "ALTER"}
    assert {row[2] for row in want["a"] + (want["c"] or [])} == kinds, want
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        feed = home.write("f.jsonl", first)
        base.run_bigquery(home, feed, **more)
        bq.withhold(**{LOG + ".a_changelog": ["bigquery.tables.updateData"], LOG + ".c_changelog": ["bigquery.tables.updateData"]})
        with open(feed, "a") as f:
            f.write(then)
        job = base.bigquery_job(home, feed, **more)
        process = home.start("run", job, "--json", start_new_session=True)
        until(lambda: base.table_row(home, "a")["state"] == "needs you" and len(base.remote_rows(bq, LOG + ".b_changelog")) == len(want["b"]))
        if is_killed:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process = home.start("run", job, "--json", start_new_session=True)
            until(lambda: base.table_row(home, "a")["state"] == "needs you")
        bq.withhold()
        until(lambda: changelogs(bq)["a"] and len(changelogs(bq)["a"]) >= len(want["a"]) and len(changelogs(bq)["c"] or ()) >= len(want["c"] or ()))
        until(lambda: base.table_row(home, "a")["state"] == "ok")
        r = home.run("drain", "bq", "--json", timeout=60)
        process.wait(60)
        found = changelogs(bq)
        for table, rows in want.items():
            assert sorted(set(found[table] or ()), key=repr) == (rows or []), (table, found[table], rows)
        result = base.run_bigquery(home, feed, **more)
        assert result["parked"] == 0 and result["balanced"] and not result["dead_lettered"], (r, result)
        assert result["received"] == len((first + then).splitlines()), result


def test_schema_changes_of_a_table_in_trouble_come_with_its_rows():
    schema_changes_of_a_table_in_trouble(False)


def test_schema_changes_of_a_table_in_trouble_survive_a_kill():
    schema_changes_of_a_table_in_trouble(True, **ONCE)


def test_schema_changes_of_a_table_in_trouble_come_by_insert_all():
    schema_changes_of_a_table_in_trouble(False, **INSERT_ALL)


def test_defaults_that_rows_of_a_table_in_trouble_show_come_with_them():
    for is_killed, more in ((False, {}), (True, ONCE)):
        schema_changes_of_a_table_in_trouble(is_killed, defaulted_log, **more)
