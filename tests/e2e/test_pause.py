"""A paused table: its messages wait in the store, the others go on, and afterwards nothing shows that it ever was paused."""
import json
import time

import mysql
import weir

from test_replay import total, wait_for


def events(first, last, table, lsn=1000):
    return [weir.event({"id": i, "v": i * 2}, table=table, lsn=lsn + i) for i in range(first, last)]


def changes(table):
    return [weir.event({"id": i, "v": -i}, {"id": i}, table=table, lsn=2000 + i) for i in range(0, 20, 2)] + [
        weir.event(None, {"id": i}, table=table, lsn=3000 + i) for i in range(0, 20, 5)]


def by_table(home):
    return {t["table"]: t for t in home.run("tables", "--json").lines}


def add(home, *lists):
    with open(home.file("feed.jsonl"), "a") as f:
        for events_of in lists:
            f.write(weir.feed(events_of, weir.id_key))


def follow(home, **parameters):
    home.run("job", "create", home.job("feed.jsonl", **parameters))
    assert home.run("start", "shop").code == 0


def begin(home, **parameters):
    home.write("feed.jsonl", weir.feed(events(0, 10, "a") + events(0, 10, "b"), weir.id_key))
    follow(home, **parameters)
    wait_for(lambda: total(home, "written") == 20)
    r = home.run("pause", "shop", "a", "--why", "ticket 4711", "--json")
    assert r.code == 0 and r.last["state"] == "paused", r


def never_paused():
    with weir.Home() as home:
        feed = events(0, 10, "a") + events(0, 10, "b") + events(10, 20, "a") + events(10, 20, "b") + changes("a") + changes("b")
        home.replicate(home.write("feed.jsonl", weir.feed(feed, weir.id_key)))
        return home.sql("select id, v from a order by id"), home.sql("select id, v from b order by id")


def check_balance(home):
    for t in by_table(home).values():
        assert t["received"] == t["written"] + t["filtered"] + t["dead_lettered"] + t["parked"] + t["in_flight"], t


def test_a_slip_of_the_finger_pauses_nothing():
    with weir.Home() as home:
        home.replicate(home.write("feed.jsonl", weir.feed(events(0, 3, "orders") + events(0, 3, "customers"), weir.id_key)))
        for act in ("pause", "resume", "merge"):
            r = home.run(act, "shop", "ordres", "--json")
            assert r.code == 2 and r.error["code"] == "table_unknown" and "did you mean 'shop.orders'?" in r.error["message"], (act, r)
        r = home.run("pause", "shop", "later")
        assert r.code == 2 and b"--ahead" in r.err and by_table(home)["shop.orders"]["state"] == "ok", r
        r = home.run("pause", "shop", "later", "--ahead")
        assert r.code == 0 and b"no such table has come yet" in r.out, r
        # It is paused, then, and its name is known.
        home.write("feed.jsonl", weir.feed(events(0, 3, "orders") + events(0, 3, "customers") + events(0, 2, "later"), weir.id_key))
        home.run("run", "shop", "--until-idle")
        assert by_table(home)["shop.later"]["parked"] == 2, by_table(home)
        assert home.run("resume", "shop", "shop.later").code == 0
        assert home.run("pause", "shop", "--ahead").code == 2


def test_what_is_parked_is_noted_once_it_is_written():
    def days(ids):
        return [weir.event({"id": i, "d": 99999999}, lsn=i + 1, table="t") for i in ids]

    def noted(r):
        return [n.get("count") for t in r["tables"] for n in t["notes"] if n["code"] == "value_not_representable"]

    with weir.Home() as home:
        date = {"debezium": {"type": "int32", "name": "io.debezium.time.Date"}}
        schema = home.write("schema.json", json.dumps({"t": {"primary_key": ["id"], "columns": {"id": {"debezium": {"type": "int64"}}, "d": date}}}))
        r = home.replicate(home.write("feed.jsonl", weir.feed(days(range(2)), weir.id_key)), sourceSchema=schema)
        assert noted(r) == [2], r
        assert home.run("pause", "shop", "t").code == 0
        add(home, days(range(2, 5)))
        for _ in range(2):
            assert noted(home.run("run", "shop", "--until-idle", "--json").last) == [2]
        assert home.run("resume", "shop", "t").code == 0
        for _ in range(2):
            assert noted(home.run("run", "shop", "--until-idle", "--json").last) == [5]


def test_the_others_go_on_and_afterwards_it_is_as_if_nothing_had_been():
    with weir.Home() as home:
        begin(home)
        add(home, events(10, 20, "a"), events(10, 20, "b"), changes("a"), changes("b"))
        wait_for(lambda: by_table(home)["shop.b"]["written"] == 34 and by_table(home)["shop.a"]["parked"] == 24)
        a = by_table(home)["shop.a"]
        assert (a["state"], a["written"], a["received"], a["paused"]["why"]) == ("paused", 10, 34, "ticket 4711"), a
        assert a["paused"]["who"] and a["paused"]["since"].startswith("20")
        check_balance(home)
        why = home.run("why", "a", "--json")
        assert why.code == 0 and (why.last["state"], why.last["code"]) == ("paused", "paused"), why
        assert why.last["next"][0] == "weir resume shop a" and "ticket 4711" in why.last["sentence"]
        wait_for(lambda: len(home.sql("select 1 from b")) == 16)
        assert len(home.sql("select 1 from a")) == 10
        assert home.run("resume", "shop", "a", "--json").code == 0
        wait_for(lambda: by_table(home)["shop.a"]["written"] == 34)
        assert by_table(home)["shop.a"]["parked"] == 0 and by_table(home)["shop.a"]["state"] == "ok"
        check_balance(home)
        assert home.run("stop", "shop").code == 0
        assert home.run("merge", "shop").code == 0
        assert (home.sql("select id, v from a order by id"), home.sql("select id, v from b order by id")) == never_paused()
        home.verify()


def test_parked_messages_of_a_paused_table_do_not_keep_a_run_from_ending():
    with weir.Home() as home:
        begin(home)
        assert home.run("stop", "shop").code == 0
        add(home, events(10, 20, "a"), events(10, 20, "b"))
        r = home.run("run", "shop", "--until-idle", "--json")
        assert r.code == 0 and r.last["parked"] == 10 and r.last["balanced"], r
        assert {t["table"]: t["state"] for t in r.last["tables"]} == {"shop.a": "paused", "shop.b": "ok"}
        assert b"paused: since" in home.run("tables").out


def test_a_full_park_stops_the_job():
    with weir.Home() as home:
        begin(home, parkBytes=1024)
        add(home, events(10, 20, "b"), events(10, 40, "a"))
        wait_for(lambda: home.run("job", "show", "shop", "--json").last["state"] == "needs you")
        assert home.run("job", "show", "shop", "--json").last["code"] == "park_full"
        check_balance(home)
        assert home.run("resume", "shop", "a").code == 0
        r = home.run("run", "shop", "--until-idle", "--json")
        assert r.code == 0 and r.last["parked"] == 0 and r.last["received"] == 60, r
        home.verify()


def test_a_refused_row_of_a_paused_table_waits_too():
    schema = {"a": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "v": {"bigquery": "INT64"}}}}
    with weir.Home() as home:
        home.write("schema.json", json.dumps(schema))
        begin(home, sourceSchema="schema.json")
        add(home, [weir.event({"id": 50, "v": "no number"}, table="a", lsn=5000), weir.event({"id": 51, "v": 1}, table="a", lsn=5001)])
        wait_for(lambda: total(home, "received") == 22)
        check_balance(home)
        home.run("resume", "shop", "a")
        wait_for(lambda: total(home, "written") == 21 and total(home, "dead_lettered") == 1)
        check_balance(home)


def test_a_letter_of_a_paused_table_is_left():
    schema = {"a": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "v": {"bigquery": "INT64"}}}}
    with weir.Home() as home:
        home.write("schema.json", json.dumps(schema))
        begin(home, sourceSchema="schema.json", schemaChanges="reject")
        home.run("resume", "shop", "a")
        add(home, [weir.event({"id": 50, "v": 1, "extra": "x"}, table="a", lsn=5000)])
        wait_for(lambda: total(home, "dead_lettered") == 1)
        home.run("pause", "shop", "a")
        home.run("job", "set", "shop", "schemaChanges=add")
        r = home.run("dlq", "replay", "--group", home.letters()[0]["group"], "--yes", "--json")
        assert r.code == 0 and [r.last[k] for k in ("done", "no_effect", "failed_again", "left")] == [0, 0, 0, 1], r
        assert home.letters()[0]["state"] == "new"
        home.run("resume", "shop", "a")
        r = home.run("dlq", "replay", "--group", home.letters()[0]["group"], "--yes", "--json")
        assert r.code == 0 and r.last["done"] == 1, r


def test_what_is_refused_outright_waits_with_its_table():
    """A message that no row can be made of is of its table all the same: paused means nothing happens to it."""
    schema = {"a": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "v": {"bigquery": "INT64"}}}}
    with weir.Home() as home:
        home.write("schema.json", json.dumps(schema))
        begin(home, sourceSchema="schema.json", schemaChanges="reject")
        add(home, [weir.event({"id": 50, "v": "no number"}, table="a", lsn=5000),
                   weir.event({"id": 51, "v": 1, "extra": "x"}, table="a", lsn=5001)])
        add(home, events(10, 12, "a"), events(10, 12, "b"))
        wait_for(lambda: by_table(home)["shop.b"]["written"] == 12)
        a = by_table(home)["shop.a"]
        assert (a["parked"], a["dead_lettered"], a["open_letters"]) == (4, 0, 0) and not home.letters(), (a, home.letters())
        check_balance(home)
        assert home.run("resume", "shop", "a").code == 0
        wait_for(lambda: by_table(home)["shop.a"]["parked"] == 0)
        a = by_table(home)["shop.a"]
        assert (a["written"], a["dead_lettered"], a["open_letters"]) == (12, 2, 2), a
        assert {g["table"] for g in home.letters()} == {"shop.a"}, home.letters()
        check_balance(home)
        home.run("drain", "shop")
        home.verify()


def renamed_key_log():
    """(lines before the pause, lines of it): rows of every kind, and the key's column gets another name twice."""
    log = mysql.Log()
    key = ("int", False)
    columns = lambda name: [(name, *key), ("w", "int", False), ("v", "varchar(20)", True)]
    log.ddl("CREATE TABLE a (id INT, w INT, v VARCHAR(20), PRIMARY KEY (id, w))", "a", columns("id"), "CREATE")
    log.insert("a", ("id", "w"), id=1, w=1, v="one")
    before = len(log.lines)
    for was, to, first in (("id", "k", 2), ("k", "no", 5), ("no", "nr", 8)):
        log.insert("a", (was, "w"), **{was: first, "w": 1, "v": "%d" % first})
        log.insert("a", (was, "w"), **{was: first + 1, "w": 1, "v": "%d" % (first + 1)})
        log.update("a", {was: first, "w": 1, "v": "%d" % first}, (was, "w"), **{was: first, "w": 1, "v": "later"})
        log.update("a", {was: first, "w": 1, "v": "later"}, (was, "w"), **{was: first + 2, "w": 2, "v": "other key"})
        log.row("d", "a", {was: first + 1, "w": 1, "v": "%d" % (first + 1)}, None, (was, "w"))
        log.ddl("ALTER TABLE a RENAME COLUMN %s TO %s" % (was, to), "a", columns(to))
    log.insert("a", ("nr", "w"), nr=11, w=1, v="last")
    return "".join(x + "\n" for x in log.lines[:before]), "".join(x + "\n" for x in log.lines[before:])


def test_rows_that_are_parked_while_their_key_gets_another_name_are_the_same():
    first, then = renamed_key_log()
    for more in ({"replicationMode": "changelog", "replicaDataset": None, "changeLogDataset": "log"}, {}, {"replicationMode": "upsert", "changeLogDataset": None}):
        found = []
        for is_paused in (False, True):
            with weir.Home() as home:
                home.write("feed.jsonl", first)
                job = home.job("feed.jsonl", **more)
                assert home.run("run", job, "--until-idle").code == 0
                if is_paused:
                    assert home.run("pause", "shop", "a").code == 0
                with open(home.file("feed.jsonl"), "a") as f:
                    f.write(then)
                r = home.run("run", job, "--until-idle", "--json")
                assert r.code == 0, (more, is_paused, r)
                if is_paused:
                    assert r.last["parked"] >= 16, r.last
                    assert home.run("resume", "shop", "a").code == 0
                    r = home.run("run", job, "--until-idle", "--json")
                assert r.code == 0 and r.last["parked"] == r.last["dead_lettered"] == 0 and r.last["balanced"], (more, is_paused, r)
                if "changeLogDataset" in more and more["changeLogDataset"]:
                    found.append(sorted(home.sql("select fullRecord, primaryKey, operation, _weir_position, _weir_key, _weir_old_key from a_changelog", "log"), key=repr))
                else:
                    found.append(home.sql("select * from a order by nr, w"))
        assert found[0] == found[1] and len(found[0]) > 3, (more, found)
