"""Jobs in the background: start, pause, drain, stop; what the engine remembers; two clients at once."""
import fcntl
import json
import os
import signal
import sqlite3
import threading
import time

import rows
import weir


def feed_lines(first, last):
    return weir.feed([weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(first, last)], weir.id_key)


def settle(home, job, received, seconds=30):
    """Waits until the job has received that many messages, by its own word."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        r = home.run("job", "show", job, "--json")
        assert r.code in (0, 1), r
        line = r.last
        if line["received"] == received and line["in_flight"] == 0:
            return line
        time.sleep(0.05)
    raise AssertionError(line)


def create(home, lines, **parameters):
    feed = home.write("feed", lines)
    r = home.run("job", "create", home.job(feed, **parameters), "--json")
    assert r.code == 0 and r.last["state"] == "stopped", r
    return feed


def act(home, *args, code=0, state=None, env=None):
    r = home.run(*args, "--json", env=env)
    assert r.code == code, r
    if state:
        assert r.last["state"] == state, r
    return r


def test_start_follow_pause_resume_drain():
    with weir.Home() as home:
        feed = create(home, feed_lines(0, 10))
        act(home, "start", "shop", state="ok")
        settle(home, "shop", 10)
        with open(feed, "a") as f:
            f.write(feed_lines(10, 20))
        settle(home, "shop", 20)
        act(home, "pause", "shop", state="paused")
        with open(feed, "a") as f:
            f.write(feed_lines(20, 30))
        time.sleep(0.5)
        assert home.run("job", "show", "shop", "--json").last["received"] == 20
        act(home, "resume", "shop", state="ok")
        settle(home, "shop", 30)
        act(home, "drain", "shop", state="stopped")
        assert home.sql("select count(*) from t") == [(30,)]
        home.verify()


def test_acts_that_do_not_fit_are_answered_in_words():
    with weir.Home() as home:
        create(home, feed_lines(0, 10))
        for args in (("pause", "shop"), ("resume", "shop")):
            r = home.run(*args, "--json")
            assert r.code == 78 and r.error["code"] == "wrong_state", r
        assert home.run("start", "nothing", "--json").error["code"] == "job_unknown"
        act(home, "start", "shop")
        assert "already" in act(home, "start", "shop").last["sentence"]
        settle(home, "shop", 10)
        r = home.run("job", "delete", "shop", "--json")
        assert r.code == 78 and r.error["code"] == "wrong_state", r
        act(home, "drain", "shop", state="stopped")
        assert "already" in act(home, "stop", "shop").last["sentence"]
        act(home, "job", "delete", "shop", state="deleted")
        assert home.run("job", "list", "--json").lines == []
        assert home.sql("select count(*) from t") == [(10,)]
        result = home.replicate(home.file("feed"))
        assert result["received"] == 10 and result["repeated"] == 10 and result["balanced"], result


def test_an_engine_that_was_killed_goes_on_with_its_jobs():
    with weir.Home() as home:
        feed = create(home, feed_lines(0, 10))
        act(home, "start", "shop")
        settle(home, "shop", 10)
        home.end_engine()
        with open(feed, "a") as f:
            f.write(feed_lines(10, 20))
        settle(home, "shop", 20)
        act(home, "pause", "shop", state="paused")
        home.end_engine()
        assert home.run("job", "show", "shop", "--json").last["state"] == "paused"
        act(home, "resume", "shop")
        act(home, "engine", "stop")
        until = time.monotonic() + 20
        while home.run("engine", "status").code == 0 and time.monotonic() < until:
            time.sleep(0.05)
        assert home.run("job", "show", "shop", "--json").last["state"] == "ok", "an orderly end remembers too"


def test_job_set_changes_a_running_job():
    with weir.Home() as home:
        feed = create(home, weir.feed([weir.event({"id": 1, "a": "x"}, lsn=1)], weir.id_key), schemaChanges="reject")
        act(home, "start", "shop")
        settle(home, "shop", 1)
        with open(feed, "a") as f:
            f.write(weir.feed([weir.event({"id": 2, "a": "y", "phone": "5"}, lsn=2)], weir.id_key))
        line = settle(home, "shop", 2)
        assert line["dead_lettered"] == 1, line
        r = home.run("job", "set", "shop", "schemaChanges=nonsense", "--json")
        assert r.code == 78, r
        r = act(home, "job", "set", "shop", "schemaChanges=add")
        assert r.last["parameters"]["schemaChanges"] == "add" if "schemaChanges" in r.last["parameters"] else True, r
        with open(feed, "a") as f:
            f.write(weir.feed([weir.event({"id": 3, "a": "z", "phone": "6"}, lsn=3)], weir.id_key))
        settle(home, "shop", 3)
        act(home, "drain", "shop")
        assert home.sql("select id, phone from t order by id") == [(1, None), (3, "6")]


def test_run_of_a_running_job_is_said():
    with weir.Home() as home:
        create(home, feed_lines(0, 10))
        act(home, "start", "shop")
        r = home.run("run", "shop", "--json")
        assert r.code == 78 and r.error["code"] == "job_running", r


def test_one_job_started_by_many_at_once():
    with weir.Home() as home:
        create(home, feed_lines(0, 2000))
        results = []
        threads = [threading.Thread(target=lambda: results.append(home.run("start", "shop", "--json"))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for r in results:
            assert r.code == 0 or r.error["code"] == "job_running", r
        settle(home, "shop", 2000)
        act(home, "drain", "shop")
        assert home.sql("select count(*) from t") == [(2000,)]
        home.verify()


def test_closing_the_client_changes_nothing():
    with weir.Home() as home:
        feed = create(home, feed_lines(0, 10))
        home.letters()
        p = home.start("run", "shop", "--json")
        settle(home, "shop", 10)
        p.send_signal(signal.SIGKILL)
        p.wait()
        with open(feed, "a") as f:
            f.write(feed_lines(10, 20))
        settle(home, "shop", 20)
        act(home, "drain", "shop", state="stopped")


def test_a_job_that_broke_says_so_until_it_is_started():
    with weir.Home() as home:
        feed = create(home, feed_lines(0, 10))
        act(home, "start", "shop")
        settle(home, "shop", 10)
        act(home, "stop", "shop")
        home.write("feed", feed_lines(5, 15))
        home.run("start", "shop")
        until = time.monotonic() + 20
        while time.monotonic() < until:
            r = home.run("job", "show", "shop", "--json")
            assert r.code in (0, 1), r
            line = r.last
            if line["state"] == "needs you":
                break
            time.sleep(0.05)
        assert line["state"] == "needs you" and line["code"] == "feed_changed" and line["sentence"], line
        home.end_engine()
        line = home.run("job", "show", "shop", "--json").last
        assert line["state"] == "needs you" and line["code"] == "feed_changed", line
        home.write("feed", feed_lines(0, 10))
        act(home, "start", "shop")
        settle(home, "shop", 10)


def test_start_while_it_runs_for_a_replay_alone_really_starts_it():
    schema = {"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}}}
    with weir.Home() as home:
        home.write("schema.json", json.dumps(schema))
        bad = weir.feed([weir.event({"id": i, "extra": "x"}, lsn=100 + i) for i in range(20)], weir.id_key)
        feed = home.write("feed", bad)
        home.replicate(feed, expect=1, sourceSchema="schema.json", schemaChanges="reject")
        assert home.run("job", "set", "shop", "schemaChanges=add").code == 0
        group = home.letters()[0]["group"]
        replayer = home.start("dlq", "replay", "--group", str(group), "--rate", "10", "--yes", "--json")
        weir_until(lambda: any(x["state"] == "done" for x in home.letters()))
        r = home.run("pause", "shop", "--json")
        assert r.code == 78 and "does not run" in r.error["message"], r
        r = act(home, "start", "shop", state="ok")
        assert "already" not in r.last["sentence"], r
        assert replayer.poll() is None, "the replay should still be under way"
        with open(feed, "a") as f:
            f.write(feed_lines(100, 110))
        settle(home, "shop", 30)
        out, err = replayer.communicate(timeout=30)
        run = json.loads(out.decode().splitlines()[-1])
        assert run["done"] == 20 and run["left"] == 0, (run, err)
        assert home.run("job", "show", "shop", "--json").last["running"] is True
        assert "already" in act(home, "start", "shop").last["sentence"]
        # It was written down: the next engine starts it again.
        home.end_engine()
        weir_until(lambda: home.run("job", "show", "shop", "--json").last["running"] is True)
        act(home, "drain", "shop", state="stopped")
        home.verify()


def weir_until(is_there, seconds=30):
    end = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def test_stopping_the_replay_does_not_start_the_job_later():
    schema = {"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}}}
    with weir.Home() as home:
        home.write("schema.json", json.dumps(schema))
        bad = weir.feed([weir.event({"id": i, "extra": "x"}, lsn=100 + i) for i in range(20)], weir.id_key)
        home.replicate(home.write("feed", bad), expect=1, sourceSchema="schema.json", schemaChanges="reject")
        assert home.run("job", "set", "shop", "schemaChanges=add").code == 0
        home.start("dlq", "replay", "--group", str(home.letters()[0]["group"]), "--rate", "5", "--yes", "--json")
        weir_until(lambda: any(x["state"] == "done" for x in home.letters()))
        act(home, "start", "shop", state="ok")
        act(home, "stop", "shop", state="stopped")
        home.end_engine()
        time.sleep(0.3)
        assert home.run("job", "show", "shop", "--json").last["running"] is False


def test_a_table_is_not_paused_while_the_job_is_deleted():
    with weir.Home() as home:
        home.replicate(home.write("feed", feed_lines(0, 10)))
        assert home.run("job", "list").code == 0
        # Deleting has to wait for the warehouse.
        db = sqlite3.connect(home.warehouse("shop_log"), isolation_level=None)
        db.execute("begin immediate")
        deleting = home.start("job", "delete", "shop", "--json")
        end = time.monotonic() + 4
        refused = None
        while not refused and time.monotonic() < end:
            r = home.run("pause", "shop", "t", "--json")
            refused = r.error if r.code else None
        assert refused and refused["code"] == "wrong_state" and "deleted" in refused["message"], r
        assert home.run("job", "set", "shop", "updateFrequencySecs=7", "--json").error["code"] == "wrong_state"
        db.execute("rollback")
        db.close()
        out, err = deleting.communicate(timeout=30)
        assert deleting.returncode == 0, (out, err)
        assert os.listdir(os.path.join(home.state, "jobs")) == [], os.listdir(os.path.join(home.state, "jobs"))
        assert home.run("pause", "shop", "t", "--json").error["code"] == "job_unknown"


def merged(home):
    try:
        return home.sql("select count(*) from t")[0][0]
    except sqlite3.OperationalError:
        return 0


def test_stop_does_not_merge_and_the_next_start_does():
    with weir.Home() as home:
        feed = create(home, feed_lines(0, 10), updateFrequencySecs=1)
        act(home, "start", "shop")
        settle(home, "shop", 10)
        weir_until(lambda: merged(home) == 10)
        assert home.run("job", "set", "shop", "updateFrequencySecs=300").code == 0
        with open(feed, "a") as f:
            f.write(feed_lines(10, 20))
        settle(home, "shop", 20)
        act(home, "stop", "shop", state="stopped")
        assert home.sql("select count(*) from t_changelog", "shop_log") == [(20,)]
        assert home.sql("select count(*) from t") == [(10,)]
        act(home, "start", "shop", state="ok")
        weir_until(lambda: merged(home) == 20)
        act(home, "drain", "shop", state="stopped")
        home.verify()


def test_engine_stop_returns_when_the_engine_has_ended():
    with weir.Home() as home:
        create(home, feed_lines(0, 3000))
        act(home, "start", "shop")
        for _ in range(5):
            with open(os.path.join(home.state, "weird.lock")) as f:
                pid = int(f.read())
                assert home.run("engine", "stop", "--json").last == {"state": "draining", "pid": pid}
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            assert not os.path.exists(os.path.join(home.state, "weird.sock"))
            assert home.run("job", "list").code in (0, 1)
        assert home.run("engine", "stop").code == 0
        r = home.run("engine", "stop", "--json")
        assert r.code == 69 and r.error["code"] == "engine_not_running", r


def test_new_tables_come_while_others_look_and_merge():
    """A table a batch, so that columns, replicas and looks at them meet at every edge; nobody is sent away."""
    with weir.Home() as home:
        count = 150
        lines = weir.feed([weir.event({"id": i, "n": i}, table="t%d" % i, lsn=100 + i) for i in range(count)], weir.id_key)
        create(home, lines, updateFrequencySecs=1)
        act(home, "start", "shop", env={"WEIR_BATCH_RECORDS": "1"})
        until = time.monotonic() + 60
        while True:
            for args in (("tables",), ("verify", "shop"), ("merge", "shop")):
                r = home.run(*args, "--json")
                assert r.code == 0, (args, r)
            line = home.run("job", "show", "shop", "--json").last
            if line["received"] == count and line["in_flight"] == 0:
                break
            assert time.monotonic() < until, line
        act(home, "drain", "shop", state="stopped")
        assert home.sql("select count(*) from _weir_replica") == [(count,)]
        home.verify()


def test_a_merge_waits_for_another_and_says_so():
    with weir.Home() as home:
        home.replicate(home.write("feed", feed_lines(0, 10)))
        db = sqlite3.connect(home.warehouse(), isolation_level=None)
        db.execute("begin immediate")
        p = home.start("merge", "shop", "t", "--rebuild")
        # Its word comes when it begins to wait, behind the five seconds that SQLite waits by itself.
        said = p.stderr.readline().decode()
        assert "waiting for another merge into 'shop', at most 60 seconds" in said, said
        db.execute("rollback")
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0, (out, err)
        home.verify()


def test_column_types_that_name_nothing_are_told_with_the_nearest_name():
    """`shop.orders.total` is weir's own name of the table, not the source's: it changed nothing, and nobody said so."""
    with weir.Home() as home:
        schema = home.write("schema.json", json.dumps({"orders": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "total": {"bigquery": "NUMERIC"}}}}))
        feed = home.write("feed", weir.feed([weir.event({"id": 1, "total": "1.5"}, table="orders", lsn=1)], weir.id_key))
        file = home.job(feed, sourceSchema=schema, columnTypes={"orders.totl": "STRING", "orders.total": "STRING", "public.orders.id": "INT64"})
        said = "columnTypes: 'orders.totl' is no column that is known yet; did you mean 'orders.total'?"
        r = home.run("check", file, "--json")
        assert r.code == 0 and [(l["level"], l["message"]) for l in r.lines] == [("warning", said), ("ok", "the job can start")], r
        r = home.run("job", "create", file)  # nothing has come yet: the file of columns is all that is known
        assert r.code == 0 and r.err.decode().count("columnTypes") == 1 and said in r.err.decode(), r
        assert home.run("run", "shop", "--until-idle").code == 0
        for name, near in (("shop.orders.total", "orders.total"), ("public.orders.totals", "orders.total"), ("ordres.total", "orders.total"), ("x.y", None)):
            r = home.run("job", "set", "shop", "columnTypes=" + json.dumps({name: "STRING"}))
            assert r.code == 0, r
            assert "'%s' is no column that is known yet%s" % (name, "; did you mean '%s'?" % near if near else "") in r.err.decode(), r
        r = home.run("start", "shop")
        assert r.code == 0 and b"'x.y' is no column that is known yet" in r.err, r
        for name in ("orders.total", "public.orders.total", "shop.public.orders.TOTAL"):
            r = home.run("job", "set", "shop", "columnTypes=" + json.dumps({name: "STRING"}))
            assert r.code == 0 and b"columnTypes:" not in r.err, (name, r)
