"""Replay of a group as it is: every letter once, newer rows win, nothing of the first ledger moves."""
import json
import os
import signal
import sqlite3
import time

import weir

SCHEMA = {"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "name": {"bigquery": "STRING"}}}}
PLAIN = {"sourceSchema": "schema.json"}


def row(i, **more):
    return dict({"id": i, "name": "n%d" % i}, **more)


def inserts(first, last, phone=lambda i: None, lsn=100):
    events = []
    for i in range(first, last):
        p = phone(i)
        events.append(weir.event(row(i, phone=p) if p else row(i), lsn=lsn + i))
    return events


def phone_of(i):
    return "555-%04d" % i if i % 2 else None


def with_schema(home):
    home.write("schema.json", json.dumps(SCHEMA))
    return home


def ledger(result):
    return {k: result[k] for k in ("received", "written", "filtered", "dead_lettered", "parked", "balanced")}


def states(home):
    return sorted((x["id"], x["state"], x["attempts"]) for x in home.letters())


def rejected(home, count=40, more=()):
    """A job that has refused every row with a phone; then its cause is repaired."""
    with_schema(home)
    events = inserts(0, count, phone_of) + list(more)
    first = home.replicate(home.write("feed.jsonl", weir.feed(events, weir.id_key)), expect=1, schemaChanges="reject", **PLAIN)
    group = home.letters()[0]["group"]
    home.replicate(home.file("feed.jsonl"), args=("--replace",), expect=1, schemaChanges="add", **PLAIN)
    return first, group, events


def replay(home, group, *args, expect=0):
    r = home.run("dlq", "replay", "--group", group, "--yes", "--json", *args)
    assert r.code == expect, r
    return r.last


def counts(run):
    return [run[k] for k in ("done", "no_effect", "failed_again", "left")]


def replica(home):
    return sorted(home.sql("select id, name, phone from t"))


def from_the_start(events):
    """The replica of a run in which the column had existed all along."""
    with weir.Home() as home:
        with_schema(home)
        home.replicate(home.write("feed.jsonl", weir.feed(events, weir.id_key)), schemaChanges="add", **PLAIN)
        return replica(home)


def test_after_the_repair_no_letter_is_new_and_the_replica_is_as_if_the_column_had_been_there():
    with weir.Home() as home:
        first, group, events = rejected(home)
        run = replay(home, group)
        assert counts(run) == [20, 0, 0, 0] and run["run"] == 1, run
        assert {s for _, s, _ in states(home)} == {"done"} and {a for _, _, a in states(home)} == {2}
        assert replica(home) == from_the_start(events)
        home.verify()
        after = home.replicate(home.file("feed.jsonl"), schemaChanges="add", **PLAIN)
        assert ledger(after) == ledger(first), (first, after)


def test_a_second_replay_finds_nothing():
    with weir.Home() as home:
        _, group, _ = rejected(home)
        replay(home, group)
        assert counts(replay(home, group)) == [0, 0, 0, 0]
        assert {a for _, _, a in states(home)} == {2}


def test_a_newer_row_wins_and_the_letter_had_no_effect():
    with weir.Home() as home:
        newer = [weir.event({"id": 1, "name": "newer"}, {"id": 1, "name": "n1"}, lsn=900), weir.event(None, {"id": 3}, lsn=901)]
        _, group, events = rejected(home, more=newer)
        assert counts(replay(home, group)) == [18, 2, 0, 0]
        assert replica(home) == from_the_start(events)
        assert ("newer",) in home.sql("select name from t where id = 1")
        assert not home.sql("select 1 from t where id = 3")
        home.verify()


def test_upsert_newer_row_wins():
    with weir.Home() as home:
        with_schema(home)
        p = dict(PLAIN, replicationMode="upsert", changeLogDataset=None)
        events = inserts(0, 10, phone_of) + [weir.event({"id": 1, "name": "newer"}, {"id": 1, "name": "n1"}, lsn=900)]
        home.replicate(home.write("feed.jsonl", weir.feed(events, weir.id_key)), expect=1, schemaChanges="reject", **p)
        home.replicate(home.file("feed.jsonl"), args=("--replace",), expect=1, schemaChanges="add", **p)
        assert counts(replay(home, home.letters()[0]["group"])) == [4, 1, 0, 0]
        assert home.sql("select name, phone from t where id in (1, 3) order by id") == [("newer", None), ("n3", "555-0003")]


def test_what_fails_again_keeps_its_number_and_counts_its_attempts():
    with weir.Home() as home:
        with_schema(home)
        home.replicate(home.write("feed.jsonl", weir.feed(inserts(0, 10, phone_of), weir.id_key)), expect=1, schemaChanges="reject", **PLAIN)
        before = home.letters()
        run = replay(home, before[0]["group"], expect=1)
        assert counts(run) == [0, 0, 5, 0], run
        after = home.letters()
        assert [x["id"] for x in before] == [x["id"] for x in after]
        assert [x["first"] for x in before] == [x["first"] for x in after]
        assert {(x["state"], x["attempts"]) for x in after} == {("failed again", 2)}
        replay(home, before[0]["group"], expect=1)
        assert {x["attempts"] for x in home.letters()} == {3}


def test_the_feed_may_be_gone():
    with weir.Home() as home:
        _, group, events = rejected(home)
        os.unlink(home.file("feed.jsonl"))
        assert counts(replay(home, group)) == [20, 0, 0, 0]
        assert replica(home) == from_the_start(events)


def test_a_body_too_long_to_hold_is_left():
    with weir.Home() as home:
        with_schema(home)
        feed = weir.feed(inserts(0, 2), weir.id_key) + '{"data":{"x":"' + "y" * 20000 + '"}}\n'
        home.replicate(home.write("feed.jsonl", feed), expect=1, maxRecordBytes=16384, **PLAIN)
        r = home.run("dlq", "replay", "--group", home.letters()[0]["group"], "--yes", "--json")
        assert r.code == 0 and counts(r.last) == [0, 0, 0, 1], r
        assert b"1 letters are left" in r.err
        assert home.letters()[0]["state"] == "new"


def test_without_yes_and_without_a_terminal_nothing_is_touched():
    with weir.Home() as home:
        _, group, _ = rejected(home)
        before = states(home)
        r = home.run("dlq", "replay", "--group", group, "--json")
        assert r.code == 2 and r.error["code"] == "replay_not_confirmed" and "20 letters" in r.error["message"], r
        assert states(home) == before
        assert home.run("dlq", "replay", "--group", 99, "--yes", "--json").error["code"] == "group_unknown"


def follow(home, **parameters):
    """The job runs and waits for more."""
    child = home.start("run", home.job("feed.jsonl", **parameters), "--json")
    wait_for(lambda: home.run("tables", "--json").lines and home.run("engine", "status", "--json").code == 0)
    return child


def wait_for(condition, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.05)


def total(home, name):
    return sum(t[name] for t in home.run("tables", "--json").lines)


def test_in_a_running_job_both_go_on():
    with weir.Home() as home:
        first, group, events = rejected(home)
        follow(home, schemaChanges="add", **PLAIN)
        replayer = home.start("dlq", "replay", "--group", str(group), "--rate", "10", "--yes", "--json")
        time.sleep(0.3)
        more = inserts(100, 200)
        with open(home.file("feed.jsonl"), "a") as f:
            f.write(weir.feed(more, weir.id_key))
        wait_for(lambda: total(home, "received") == 140)
        assert replayer.poll() is None, "the source had to wait for the letters"
        out, err = replayer.communicate(timeout=30)
        assert counts(json.loads(out.decode().splitlines()[-1])) == [20, 0, 0, 0], (out, err)
        wait_for(lambda: len(home.sql("select 1 from t")) == 140)
        assert replica(home) == from_the_start(events + more)
        assert total(home, "written") == 120 and total(home, "dead_lettered") == 20
        home.verify()


def test_a_run_that_comes_while_the_job_is_open_for_a_replay_alone():
    with weir.Home() as home:
        _, group, events = rejected(home)
        replayer = home.start("dlq", "replay", "--group", str(group), "--rate", "10", "--yes", "--json")
        wait_for(lambda: any(s == "done" for _, s, _ in states(home)))
        more = inserts(100, 200)
        with open(home.file("feed.jsonl"), "a") as f:
            f.write(weir.feed(more, weir.id_key))
        after = home.replicate(home.file("feed.jsonl"), schemaChanges="add", **PLAIN)
        assert after["received"] == 140 and after["this_run"]["received"] == 100 and after["balanced"], after
        out, err = replayer.communicate(timeout=30)
        assert counts(json.loads(out.decode().splitlines()[-1])) == [20, 0, 0, 0], (out, err)
        assert replica(home) == from_the_start(events + more)
        home.verify()


def test_the_rate_is_kept():
    with weir.Home() as home:
        _, group, _ = rejected(home)
        began = time.monotonic()
        replay(home, group, "--rate", 10)
        took = time.monotonic() - began
        assert 1.7 < took < 10, took


def test_stopped_within_a_second_and_what_was_done_is_said():
    with weir.Home() as home:
        _, group, _ = rejected(home)
        replayer = home.start("dlq", "replay", "--group", str(group), "--rate", "5", "--yes", "--json")
        wait_for(lambda: any(s == "done" for _, s, _ in states(home)))
        began = time.monotonic()
        replayer.send_signal(signal.SIGINT)
        out, err = replayer.communicate(timeout=30)
        took = time.monotonic() - began
        run = json.loads(out.decode().splitlines()[-1])
        assert took < 1.5 and run["left"] > 0 and run["done"] + run["left"] == 20 and replayer.returncode == 0, (took, run, err)
        assert sorted(s for _, s, _ in states(home)) == ["done"] * run["done"] + ["new"] * run["left"]
        assert counts(replay(home, group)) == [run["left"], 0, 0, 0]


def test_a_second_replay_is_told_that_one_runs():
    with weir.Home() as home:
        _, group, _ = rejected(home)
        replayer = home.start("dlq", "replay", "--group", str(group), "--rate", "10", "--yes", "--json")
        wait_for(lambda: any(s != "new" for _, s, _ in states(home)))
        r = home.run("dlq", "replay", "--group", group, "--yes", "--json")
        assert r.code == 78 and r.error["code"] == "replay_running", r
        out, _ = replayer.communicate(timeout=30)
        assert counts(json.loads(out.decode().splitlines()[-1])) == [20, 0, 0, 0]
        assert {a for _, _, a in states(home)} == {2}


def test_two_operators_at_the_same_moment_replay_each_letter_once():
    for _ in range(4):
        with weir.Home() as home:
            _, group, events = rejected(home, count=200)
            home.run("engine", "start")
            both = [home.start("dlq", "replay", "--group", str(group), "--yes", "--json") for _ in range(2)]
            done = 0
            for child in both:
                out, err = child.communicate(timeout=60)
                if child.returncode == 0:
                    run = json.loads(out.decode().splitlines()[-1])
                    assert counts(run) in ([100, 0, 0, 0], [0, 0, 0, 0]), run
                    done += run["done"]
                else:
                    assert b"replay_running" in err, err
            assert done == 100 and {(s, a) for _, s, a in states(home)} == {("done", 2)}
            assert replica(home) == from_the_start(events)


def test_one_who_cancels_does_not_wait_for_the_merge():
    with weir.Home() as home:
        _, group, events = rejected(home)
        db = sqlite3.connect(home.warehouse())
        db.execute("begin exclusive")
        replayer = home.start("dlq", "replay", "--group", str(group), "--yes", "--json")
        wait_for(lambda: {s for _, s, _ in states(home)} == {"done"})
        time.sleep(0.3)
        assert replayer.poll() is None, "it waits until the replica shows the rows"
        replayer.send_signal(signal.SIGINT)
        out, err = replayer.communicate(timeout=10)
        assert counts(json.loads(out.decode().splitlines()[-1])) == [20, 0, 0, 0], (out, err)
        db.rollback()
        db.close()
        wait_for(lambda: home.run("engine", "status", "--json").last["running_jobs"] == 0)
        assert replica(home) == from_the_start(events)


def check_left_behind(*act):
    with weir.Home() as home:
        _, group, events = rejected(home)
        home.run("start", "shop")
        replayer = home.start("dlq", "replay", "--group", str(group), "--rate", "10", "--yes", "--json")
        wait_for(lambda: any(s == "done" for _, s, _ in states(home)))
        assert home.run(*act).code == 0
        out, err = replayer.communicate(timeout=30)
        run = json.loads(out.decode().splitlines()[-1])
        assert run["left"] > 0 and run["done"] + run["left"] == 20, (run, err)
        if act == ("engine", "stop"):
            wait_for(lambda: not os.path.exists(os.path.join(home.state, "weird.sock")))
        wait_for(lambda: sorted(s for _, s, _ in states(home)) == ["done"] * run["done"] + ["new"] * run["left"])
        assert counts(replay(home, group)) == [run["left"], 0, 0, 0]
        want = from_the_start(events)
        # A job that `weir start` keeps runs again by now, and merges in its own time.
        wait_for(lambda: replica(home) == want)
        home.verify()


def test_a_job_that_is_stopped_leaves_the_rest():
    check_left_behind("stop", "shop")


def test_a_job_that_is_drained_leaves_the_rest():
    check_left_behind("drain", "shop")


def test_an_engine_that_is_stopped_leaves_the_rest():
    check_left_behind("engine", "stop")


def test_the_engine_killed_in_the_middle_frees_the_letters():
    with weir.Home() as home:
        _, group, events = rejected(home)
        replayer = home.start("dlq", "replay", "--group", str(group), "--rate", "10", "--yes", "--json")
        wait_for(lambda: any(s == "done" for _, s, _ in states(home)))
        home.end_engine()
        replayer.communicate(timeout=30)
        assert replayer.returncode == 69
        run = replay(home, group)
        assert run["left"] == 0 and run["failed_again"] == 0 and run["done"] + run["no_effect"] > 0, run
        assert {s for _, s, _ in states(home)} <= {"done", "no effect"}
        assert replica(home) == from_the_start(events)
        home.verify()


def test_a_job_opened_anew_goes_on_with_its_replay():
    with weir.Home() as home:
        _, group, events = rejected(home)
        home.run("start", "shop")
        replayer = home.start("dlq", "replay", "--group", str(group), "--rate", "20", "--yes", "--json")
        wait_for(lambda: any(s == "done" for _, s, _ in states(home)))
        assert home.run("job", "set", "shop", "updateFrequencySecs=2").code in (0, 1)
        out, err = replayer.communicate(timeout=30)
        assert counts(json.loads(out.decode().splitlines()[-1])) == [20, 0, 0, 0], (out, err)
        wait_for(lambda: len(home.sql("select 1 from t")) == 40)
        assert replica(home) == from_the_start(events)


def test_a_thousand_letters():
    with weir.Home() as home:
        _, group, events = rejected(home, count=2000)
        assert counts(replay(home, group)) == [1000, 0, 0, 0]
        assert replica(home) == from_the_start(events)
        home.verify()


def test_reading_again_keeps_what_was_decided_and_counts_values_once():
    """A re-read of the feed is no new trouble: what was discarded stays so, what was refused is refused once, notes do not double."""
    with weir.Home() as home:
        columns = {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}, "day": {"debezium": {"type": "int32", "name": "io.debezium.time.Date"}, "bigquery": "DATE"}}
        schema = home.write("schema.json", json.dumps({"t": {"primary_key": ["id"], "columns": columns}}))
        rows = [{"id": i, "n": "x" if i % 5 == 0 else i, "day": 99999999 if i % 3 == 0 else 1} for i in range(30)]
        feed = home.write("feed.jsonl", weir.feed([weir.event(r, lsn=100 + i) for i, r in enumerate(rows)], weir.id_key))

        def notes(table):
            return [n["text"] for n in table["notes"] if n["code"] == "value_not_representable"]
        result = home.replicate(feed, sourceSchema=schema, expect=1)
        group = home.run("dlq", "groups", "--json").last
        before = notes(result["tables"][0])
        assert group["open"] == 6 and len(before) == 1 and before[0].startswith("8 values of day outside DATE"), (group, before)
        assert home.run("dlq", "discard", "--id", 1, "--confirm", 1, "--why", "test data").code == 0
        for _ in range(2):
            result = home.replicate(feed, sourceSchema=schema, args=("--from-start",), expect=1)
            assert result["dead_lettered"] == 6 and result["repeated"] == 24 and notes(result["tables"][0]) == before, result
            assert [l["state"] for l in home.letters()] == ["discarded"] + ["new"] * 5, home.letters()
        assert home.run("dlq", "discard", "--group", group["group"], "--confirm", 5, "--why", "test data").code == 0
        assert home.replicate(feed, sourceSchema=schema, args=("--from-start",))["dead_lettered"] == 6
        assert {l["state"] for l in home.letters()} == {"discarded"}


def test_what_has_no_open_letter_says_that_nothing_was_done():
    with weir.Home() as home:
        _, group, _ = rejected(home)
        assert home.run("dlq", "discard", "--group", group, "--confirm", 20, "--why", "x").code == 0
        r = home.run("dlq", "replay", "--group", group, "--yes")
        assert r.code == 0 and b"nothing was replayed: no letter of group %d is open" % group in r.err, r
        r = home.run("dlq", "discard", "--group", group, "--confirm", 0, "--why", "x")
        assert r.code == 0 and b"nothing was discarded: none of these letters is open" in r.err, r
        r = home.run("dlq", "discard", "--id", 3, "--confirm", 1, "--why", "x", "--json")
        assert r.code == 2 and "letter 3 is not open" in r.error["message"], r


def test_discard_needs_the_right_count_and_a_reason():
    with weir.Home() as home:
        _, group, _ = rejected(home)
        for args, code in ((("--confirm", 19, "--why", "x"), "count_differs"), (("--confirm", 20), "bad_argument"), (("--why", "x"), "bad_argument")):
            r = home.run("dlq", "discard", "--group", group, "--json", *args)
            assert r.code == 2 and r.error["code"] == code, r
        assert {s for _, s, _ in states(home)} == {"new"}
        r = home.run("dlq", "discard", "--id", 1, "--confirm", 1, "--why", "test data", "--json")
        assert r.code == 0 and r.last["discarded"] == 1, r
        r = home.run("dlq", "discard", "--group", group, "--confirm", 19, "--why", "test data", "--json")
        assert r.code == 0 and r.last["discarded"] == 19, r
        assert {s for _, s, _ in states(home)} == {"discarded"}
        assert counts(replay(home, group)) == [0, 0, 0, 0]
        assert home.replicate(home.file("feed.jsonl"), schemaChanges="add", **PLAIN)["tables"][0]["state"] == "ok"
