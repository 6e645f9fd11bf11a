"""Jobs in the background: start, pause, drain, stop; what the engine remembers; two clients at once."""
import json
import os
import signal
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


def act(home, *args, code=0, state=None):
    r = home.run(*args, "--json")
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
