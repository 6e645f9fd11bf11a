"""BigQuery at its worst: schema changes of a table in trouble, many kinds of bad rows at once, faults beside tables that are well, large rows."""
import base64
import json
import os
import signal
import time

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


def test_a_schema_change_that_is_refused_is_a_letter_and_comes_by_replay():
    """Its message is no row, and the transform makes what it does to rows only once."""
    first, then = altered_log()
    for more in ({}, ONCE, INSERT_ALL):
        want = what_is_written_without_trouble(first, then, more)
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            home.env.update(bq.env)
            method = "insertAll" if more == INSERT_ALL else "AppendRows"
            feed = home.write("f.jsonl", first)
            base.run_bigquery(home, feed, **more)
            with open(feed, "a") as f:
                f.write(then)
            job = base.bigquery_job(home, feed, **more)
            # By their places: which request has them is a matter of how fast the feed is read.
            for table, operation in (("a", "ALTER"), ("c", "RENAME")):
                place = min(row[0] for row in want[table] if row[2] == operation)
                bq.fault("row", "%s.%s_changelog" % (LOG, table), method, column="_weir_position", value=base64.b64encode(place).decode(),
                         message="Value out of range")
            r = home.run("run", job, "--until-idle", "--json")
            letters = home.letters()
            assert r.last["dead_lettered"] == len(letters) == 2 and r.last["balanced"] and not r.last["parked"], (more, r, letters)
            assert all(letter["stage"] == "write" and "out of range" in letter["message"] for letter in letters), letters
            found = changelogs(bq)
            lost = [row for table in ("a", "c") for row in want[table] if row not in found[table]]
            assert sorted(row[2] for row in lost) == ["ALTER", "RENAME"], (more, lost)
            bq.lift()
            for group in {letter["group"] for letter in letters}:
                r = home.run("dlq", "replay", "--job", "bq", "--group", group, "--yes", "--json", timeout=60)
                assert r.code == 0 and r.last["failed_again"] == 0, r
            assert changelogs(bq) == want, (more, changelogs(bq), want)
            assert {letter["state"] for letter in home.letters()} == {"done"}, home.letters()


# Ten ways in which BigQuery refuses a row, and what each is called.
BAD_ROWS = (("Field id: value out of range", "value_not_representable"), ("NUMERIC overflow", "value_not_representable"),
            ("Field is required but missing", "missing_required"), ("The row is too large", "row_too_large"),
            ("exceeds the maximum length of 5", "value_not_representable"), ("cannot convert to DATE", "type_mismatch"),
            ("could not parse as TIMESTAMP", "type_mismatch"), ("invalid UTF-8", "type_mismatch"), ("Row exceeds maximum size", "row_too_large"),
            ("something that nobody has foreseen", "row_refused"))


def test_ten_kinds_of_bad_rows_in_one_request_are_letters_and_all_others_are_written():
    """5,000 changes of a key are 10,000 rows, as large as a request can be; each refusal names one row more."""
    for more in ({}, ONCE):
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            home.env.update(bq.env)
            for at, (words, _) in enumerate(BAD_ROWS):
                bq.fault("row", LOG + ".a_changelog", "AppendRows", rows=[at * 5], times=1, message=words)
            events = [weir.event({"id": i + 100000}, {"id": i}, table="a", lsn=1000 + i) for i in range(5000)]
            result = base.run_bigquery(home, home.write("f.jsonl", weir.feed(events, weir.id_key)), expect=1, **more)
            letters = home.letters()
            assert sorted(letter["code"] for letter in letters) == sorted(code for _, code in BAD_ROWS), letters
            for words, code in BAD_ROWS:
                assert [letter for letter in letters if words in letter["message"] and letter["code"] == code], (words, letters)
            assert result["dead_lettered"] == 10 and result["written"] == 4990 and result["balanced"], result
            rows = bq.rows(LOG + ".a_changelog")
            assert len(rows) == len({(row["_weir_position"], row["_weir_key"]) for row in rows}) == 9990, len(rows)


def quota(bq):
    bq.clock(scale=20)
    bq.fault("quota", LOG + ".a_changelog", "AppendRows", seconds=60)


FAULTS = {"quota": quota, "right": lambda bq: bq.withhold(**{LOG + ".a_changelog": ["bigquery.tables.updateData"]}),
          "drop": lambda bq: bq.drop(LOG + ".a_changelog"), "missing": lambda bq: bq.fault("missing", LOG + ".a_changelog")}


def beside(fault, **more):
    """While `a` is in trouble `b` has as many requests as rows ask for: none is refused, none is waited for."""
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        job = base.Followed(home, bq, base.two_tables(50), **more)
        until(lambda: base.count(bq, "a") == base.count(bq, "b") == 50)
        FAULTS[fault](bq)
        for first in range(50, 350, 50):
            before = bq.counts("%s.b_changelog" % LOG).get("AppendRows", 0)
            job.add(base.two_tables(50, first))
            until(lambda: base.count(bq, "b") == first + 50, 10)
            row = base.table_row(home, "b")
            assert row["state"] in ("ok", "catching up"), (fault, row)
            # A batch that was cut by its age makes a second request; a retry would be one more each time.
            assert bq.counts("%s.b_changelog" % LOG)["AppendRows"] - before <= 3, (fault, bq.counts("%s.b_changelog" % LOG))
        assert base.ids(bq, "b") == list(range(350)), fault
        job.drain()


def test_a_fault_of_one_table_gives_no_other_a_retry_or_a_wait():
    for fault in FAULTS:
        beside(fault)


def test_a_full_park_stops_the_job_and_loses_nothing():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        job = base.Followed(home, bq, base.two_tables(20), parkBytes=4096)
        until(lambda: base.count(bq, "a") == base.count(bq, "b") == 20)
        FAULTS["right"](bq)
        job.add(base.two_tables(200, 20))
        said = until(lambda: [row for row in home.run("job", "show", "bq", "--json").lines if row["state"] == "needs you"])[0]
        assert said["code"] == "park_full", said
        bq.withhold()
        home.run("drain", "bq", timeout=60)
        job.process.wait(60)
        result = base.run_bigquery(home, job.feed, parkBytes=4096)
        assert result["parked"] == result["dead_lettered"] == 0 and result["balanced"] and result["received"] == 440, result
        for table in ("a", "b"):
            assert sorted(set(base.ids(bq, table))) == list(range(220)), table


def memory_peak_kib(pid):
    """0: the process has ended."""
    try:
        with open("/proc/%d/status" % pid) as f:
            return max((int(line.split()[1]) for line in f if line.startswith("VmHWM")), default=0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def test_memory_is_flat_under_a_destination_that_answers_slowly():
    """Behind the first third no more memory is taken, however many rows wait for their answers."""
    if not weir.BUILD.endswith("build"):
        return  # sanitizers keep what was freed for a while
    rows = 40000
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        bq.fault("slow", LOG + ".*", "AppendRows", delay_ms=250)
        events = [weir.event({"id": i, "v": "x" * 900}, table="a", lsn=1000 + i) for i in range(rows)]
        feed = home.write("f.jsonl", weir.feed(events, weir.id_key))
        asked = lambda: bq.counts(LOG + ".a_changelog").get("AppendRows", 0)
        process = home.start("run", base.bigquery_job(home, feed), "--until-idle", "--json", program="weir")
        until(lambda: asked() >= 8, 60)
        pids = [process.pid] + [int(pid) for pid in children(process.pid)]
        early = late = max(memory_peak_kib(pid) for pid in pids)
        before = asked()
        while process.poll() is None:
            late = max([late] + [memory_peak_kib(pid) for pid in pids])
            time.sleep(0.02)
        assert before < asked() * 2 // 3 and early, "it was nearly over before it was measured: %d of %d" % (before, asked())
        line = home.run("status", "--json").lines[0]
        assert line["written"] == rows and line["balanced"], line
        assert late - early < 16 << 10, (early, late)


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return f.read().split()
