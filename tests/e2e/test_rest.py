"""A job without work rests: almost nothing of it stays in memory, and nobody who looks at it or acts on it can tell."""
import json
import os
import signal
import time

import weir

REST_SECONDS = 20


def lines(first, last, **more):
    return weir.feed([weir.event(dict({"id": i, "n": i}, **more), lsn=100 + i) for i in range(first, last)], weir.id_key)


def append(home, text):
    with open(home.file("feed"), "a") as f:
        f.write(text)


def status(home):
    r = home.run("status", "--json")
    assert r.code in (0, 1), r
    return r.last


def is_at_rest(job):
    return any(a["doing"] == "waiting for new messages" for a in job["activity"])


def until(home, is_there):
    end = time.monotonic() + REST_SECONDS
    while time.monotonic() < end:
        job = status(home)
        if is_there(job):
            return job
        time.sleep(0.02)
    raise AssertionError("never came: %r" % job)


def received(home, count):
    return until(home, lambda job: job["received"] == count and job["in_flight"] == 0)


def proc(home, what):
    with open(os.path.join(home.state, "weird.lock")) as f:
        return "/proc/%d/%s" % (int(f.read()), what)


def open_databases(home):
    """A call that has just answered may still have some open."""
    found = []
    for fd in os.listdir(proc(home, "fd")):
        try:
            found.append(os.readlink(proc(home, "fd/" + fd)))
        except OSError:
            pass
    return [path for path in found if ".db" in path]


def settles(look, want, seconds=5):
    end = time.monotonic() + seconds
    while not want(look()):
        assert time.monotonic() < end, look()
        time.sleep(0.05)


def resting(home, count=10, **parameters):
    """A job that has read its feed and has gone to rest."""
    r = home.run("job", "create", home.job(home.write("feed", lines(0, count)), **parameters))
    assert r.code == 0, r
    assert home.run("start", "shop").code == 0
    received(home, count)
    return until(home, is_at_rest)


def test_it_lets_go_and_still_shows_its_numbers():
    with weir.Home() as home:
        assert home.run("job", "list").code == 0
        threads = lambda: len(os.listdir(proc(home, "task")))
        # A call that has just answered may still have its thread.
        settles(threads, lambda count: count <= 2)
        before = threads()
        job = resting(home)
        assert job["state"] == "ok" and job["written"] == 10 and job["balanced"] and job["latency"]["replica"]["count"] == 10, job
        settles(lambda: open_databases(home), lambda paths: not paths)
        # The job's own, and the watcher.
        settles(threads, lambda count: count <= before + 2)
        end = time.monotonic() + 4
        while time.monotonic() < end:
            assert status(home)["state"] == "ok", "a job that rests is not behind"
            time.sleep(0.2)
        home.verify()


def test_it_wakes_at_once_when_the_feed_grows_and_goes_to_rest_again():
    with weir.Home() as home:
        resting(home)
        began = time.monotonic()
        append(home, lines(10, 20))
        job = received(home, 20)
        took = time.monotonic() - began
        assert took < 1.9, "%.1f s: it was not told, it looked" % took
        assert job["balanced"] and job["written"] == 20, job
        until(home, is_at_rest)
        assert home.sql("select count(*) from t") == [(20,)]
        # Half a line, then its other half: nothing is lost between two rests.
        whole = lines(20, 21)
        append(home, whole[:30])
        time.sleep(0.3)
        append(home, whole[30:])
        received(home, 21)
        home.verify()
        assert home.run("drain", "shop", "--json").last["state"] == "stopped"
        assert home.sql("select count(*) from t") == [(21,)]


def test_every_act_wakes_it():
    with weir.Home() as home:
        resting(home)
        for args, state in ((("pause", "shop"), "paused"), (("resume", "shop"), "ok"), (("drain", "shop"), "stopped"), (("start", "shop"), "ok")):
            began = time.monotonic()
            r = home.run(*args, "--json")
            took = time.monotonic() - began
            assert r.code == 0 and r.last["state"] == state and took < 1.9, (args, took, r)
            if state == "ok":
                until(home, is_at_rest)
        assert home.run("merge", "shop").code == 0
        assert home.run("pause", "shop", "t", "--json").last["state"] == "paused"
        append(home, lines(10, 12))
        assert received(home, 12)["parked"] == 2
        until(home, is_at_rest)
        assert home.run("resume", "shop", "t").code == 0
        until(home, lambda job: job["parked"] == 0 and job["written"] == 12)
        until(home, is_at_rest)
        assert home.run("job", "set", "shop", "updateFrequencySecs=2").code == 0
        append(home, lines(12, 13))
        received(home, 13)
        home.verify()


def test_a_replay_wakes_it():
    schema = {"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}}}
    with weir.Home() as home:
        home.write("schema.json", json.dumps(schema))
        resting(home, sourceSchema="schema.json", schemaChanges="reject")
        append(home, lines(10, 15, extra="x"))
        assert received(home, 15)["dead_lettered"] == 5
        assert home.run("job", "set", "shop", "schemaChanges=add").code == 0
        until(home, is_at_rest)
        began = time.monotonic()
        r = home.run("dlq", "replay", "--group", home.letters()[0]["group"], "--yes", "--json")
        assert r.code == 0 and r.last["done"] == 5, r
        assert time.monotonic() - began < 1.9
        until(home, lambda job: is_at_rest(job) and len(home.sql("select 1 from t")) == 15)
        home.verify()


def check_feed_changed(change):
    with weir.Home() as home:
        resting(home)
        change(home.file("feed"))
        job = until(home, lambda j: j["state"] == "needs you")
        assert job["code"] == "feed_changed", job


def test_a_feed_that_is_removed_meanwhile():
    check_feed_changed(os.unlink)


def test_a_feed_that_becomes_shorter_meanwhile():
    check_feed_changed(lambda path: os.truncate(path, 10))


def test_a_feed_that_is_replaced_meanwhile():
    def replace(path):
        with open(path + ".new", "w") as f:
            f.write(lines(0, 30))
        os.rename(path + ".new", path)
    check_feed_changed(replace)


def test_killed_at_rest():
    with weir.Home() as home:
        resting(home)
        home.end_engine()
        append(home, lines(10, 20))
        job = received(home, 20)
        assert job["written"] == 20 and job["balanced"], job
        home.verify()


def test_two_jobs_on_one_feed_wake_each_for_itself():
    with weir.Home() as home:
        resting(home)
        r = home.run("job", "create", home.job(home.file("feed"), "other", changeLogDataset="o_log", replicaDataset="o"))
        assert r.code == 0 and home.run("start", "other").code == 0

        def all_jobs(is_there):
            end = time.monotonic() + REST_SECONDS
            while time.monotonic() < end:
                jobs = home.run("status", "--json").lines
                if len(jobs) == 2 and all(map(is_there, jobs)):
                    return
                time.sleep(0.02)
            raise AssertionError(jobs)
        all_jobs(is_at_rest)
        # One gives the shared watch back; the other still hears.
        assert home.run("drain", "shop").code == 0
        began = time.monotonic()
        append(home, lines(10, 20))
        all_jobs(lambda job: job["job"] == "shop" or job["received"] == 20)
        assert time.monotonic() - began < 1.9
