"""Subscriptions beyond one: many in a job, jobs side by side, order after what comes again, large and slow messages, one that kills."""
import contextlib
import json
import os
import signal
import sqlite3
import time

import cases
import emulators
import weir
from test_pubsub_faults import changes, comes, right_rows
from test_pubsub_source import job, nothing_is_left, place, run

ENGINE_BYTES_MAX = 400 << 20


def engine_of(home):
    with open(os.path.join(home.state, "weird.lock")) as f:
        return int(f.read())


def figure(pid, name):
    """A figure of /proc/PID/status: threads, or KiB."""
    with open("/proc/%d/status" % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith(name + ":"))


def table_lines(table, count):
    return [json.dumps({"key": str(i % 50), "data": weir.event({"id": i, "v": i}, table=table, lsn=i)}) for i in range(1, count + 1)]


def test_eight_subscriptions_are_one_job_with_the_threads_of_one():
    names = ["part%d" % i for i in range(8)]
    with place() as (ps, home):
        for name in names:
            ps.create(name, name + "-sub", enableMessageOrdering=True)
        ps.create("alone", "alone-sub")
        home.start("run", job(home, ps, "single", primaryKey="id", inputSubscriptions="alone-sub", changeLogDataset="l1",
                              replicaDataset="r1"), "--json")
        comes(home, lambda row: row["state"] == "ok" and row.get("job") == "single", 20)
        before = figure(engine_of(home), "Threads")
        home.start("run", job(home, ps, primaryKey="id", inputSubscriptions=",".join(n + "-sub" for n in names)), "--json")
        shop = of_job(home, "shop", lambda row: row["state"] == "ok", 20)
        for name in names:
            ps.publish(name, table_lines(name, 200))
        shop = of_job(home, "shop", lambda row: row["written"] == row.get("source", {}).get("acknowledged") == 1600, 30)
        assert shop["source"]["subscription_count"] == 8 and {s["received"] for s in shop["source"]["subscriptions"]} == {200}, shop
        settled(lambda: figure(engine_of(home), "Threads") - before, 3)
        assert home.run("drain", "shop").code == 0
        for name in names:
            assert home.sql("select count(*), sum(v) from " + name) == [(200, 200 * 201 // 2)], name
            assert nothing_is_left(ps, name + "-sub")["redelivered"] == 0
        r = home.run("job", "show", "shop", "--json")
        assert r.code == 0, r


def settled(what, most, seconds=10):
    """Threads of a moment (a pool that grows, a call that ends) may come on top; they go."""
    end = time.monotonic() + seconds
    while what() > most:
        assert time.monotonic() < end, what()
        time.sleep(0.1)


def of_job(home, name, what, seconds=5):
    """The status of one of several jobs once `what` holds of it."""
    end = time.monotonic() + seconds
    row = None
    while row is None or not what(row):
        assert time.monotonic() < end, row
        r = home.run("status", "--json")
        row = next((line for line in r.lines if line.get("job") == name), row)
    return row


def beside(breaks):
    """A job that flows beside one whose subscription `breaks` makes useless: its rows, and every state it was seen in."""
    with place() as (ps, home):
        for name in ("changes", "broken"):
            ps.create(name, name + "-sub", ackDeadlineSeconds=10)
        breaks(ps)
        home.start("run", job(home, ps, "bad", inputSubscriptions="broken-sub", changeLogDataset="l1", replicaDataset="r1"), "--json")
        of_job(home, "bad", lambda row: row["state"] == "waiting", 15)
        home.start("run", job(home, ps, primaryKey="id"), "--json")
        of_job(home, "shop", lambda row: row["state"] == "ok", 15)
        seen, begun = set(), time.monotonic()
        for part in range(3):
            ps.publish("changes", changes(1000, first=1000 * part + 1))
            end = time.monotonic() + 10
            while True:
                row = of_job(home, "shop", lambda row: True)
                seen.add(row["state"])
                if row["written"] == 1000 * (part + 1):
                    break
                assert time.monotonic() < end, row
        assert time.monotonic() - begun < 15 and seen <= {"ok", "catching up"}, seen
        assert of_job(home, "bad", lambda row: True)["state"] == "waiting"
        assert home.run("drain", "shop").code == 0
        right_rows(home, 3000)
        assert ps.counts("changes-sub")["redelivered"] == 0


def test_a_server_that_hangs_for_one_job_slows_no_other():
    def breaks(ps):
        for method in ("StreamingPull", "GetSubscription", "Acknowledge"):
            ps.fault("hang", method, "broken-sub")
    beside(breaks)


def test_an_endpoint_that_is_dead_for_one_job_slows_no_other():
    beside(lambda ps: ps.fault("status", "", "broken-sub", code="UNAVAILABLE"))


def in_order(ps, subscription):
    """Of each key its next message, or an earlier one again, behind which all later ones come again too."""
    order, last = {}, {}
    for row in ps.log(subscription):
        if row["what"] != "deliver":
            continue
        ids = order.setdefault(row["key"], [])
        if row["id"] not in ids:
            ids.append(row["id"])
        place = ids.index(row["id"])
        assert place == last.get(row["key"], -1) + 1 or (row["delivery"] > 1 and place <= last[row["key"]]), row
        last[row["key"]] = place
    assert all([int(i) for i in ids] == sorted(map(int, ids)) for ids in order.values()), order
    return len(order)


def test_order_is_kept_by_key_when_a_stop_handed_messages_back():
    with place() as (ps, home):
        ps.create("changes", "changes-sub", enableMessageOrdering=True, ackDeadlineSeconds=10)
        ps.set("changes-sub", log=True)
        ps.publish("changes", changes(500, keys=20))
        run(home, ps, primaryKey="id")
        child = home.start("run", job(home, ps, primaryKey="id"), "--json")
        comes(home, lambda row: row["state"] == "ok", 20)
        lock = sqlite3.connect(home.warehouse("shop_log"), isolation_level=None)
        lock.execute("begin immediate")
        ps.publish("changes", changes(500, first=501, keys=20))
        comes(home, lambda row: row["state"] == "waiting" and ps.counts("changes-sub")["outstanding"] == 500, 10)
        assert home.run("stop", "shop").code == 0
        child.wait(30)
        lock.execute("rollback")
        counts = ps.counts("changes-sub")
        assert counts["nacked"] and counts["outstanding"] == 0 and counts["acked"] == 500, counts
        result = run(home, ps, primaryKey="id")
        assert result["balanced"] is True and result["written"] == 1000, result
        right_rows(home, 1000, keys=20)
        assert in_order(ps, "changes-sub") == 20
        nothing_is_left(ps)


def test_order_is_kept_by_key_when_messages_come_again():
    with place() as (ps, home):
        ps.create("changes", "changes-sub", enableMessageOrdering=True, ackDeadlineSeconds=10)
        ps.set("changes-sub", log=True)
        child = home.start("run", job(home, ps, primaryKey="id"), "--json")
        comes(home, lambda row: row["state"] == "ok", 20)
        # Held by nobody's fault: what is out comes again, with all later ones of its keys.
        again = 0
        ps.publish("changes", changes(500, keys=20))
        comes(home, lambda row: row.get("received", 0) >= 500, 20)
        lock = sqlite3.connect(home.warehouse("shop_log"), isolation_level=None)
        lock.execute("begin immediate")
        for part in range(1, 6):
            ps.publish("changes", changes(500, first=500 * part + 1, keys=20))
            comes(home, lambda row: ps.counts("changes-sub")["outstanding"] >= 500 * part, 20)
            again += ps.resend("changes-sub")
        lock.execute("rollback")
        # What is received is not yet written, and what is written may be a repeat.
        comes(home, lambda row: row.get("written", 0) - row.get("repeated", 0) >= 3000, 30)
        assert home.run("drain", "shop").code == 0
        child.wait(20)
        right_rows(home, 3000, keys=20)
        # What came again and was not begun was handed back by the drain, and is a repeat now.
        result = run(home, ps, primaryKey="id")
        assert result["balanced"] is True and result["dead_lettered"] == 0, result
        right_rows(home, 3000, keys=20)
        counts = nothing_is_left(ps)
        assert counts["acked"] == 3000 and again, (again, counts)
        assert in_order(ps, "changes-sub") == 20


def test_exactly_once_ids_that_are_invalid_for_good_come_again_and_are_repeats():
    with place() as (ps, home):
        ps.create("changes", "changes-sub", enableExactlyOnceDelivery=True, ackDeadlineSeconds=10)
        ps.publish("changes", changes(1000))
        ps.fault("ids", "Acknowledge", "changes-sub", reason="PERMANENT_FAILURE_INVALID_ACK_ID", every=10, times=1)
        child = home.start("run", job(home, ps, primaryKey="id"), "--json")
        row = comes(home, lambda row: row.get("written", 0) >= 1000 and row.get("source", {}).get("acknowledged"), 20)
        refused = row["source"]["subscriptions"][0]["refused_acks"]
        # Their leases are over when the clock says so.
        ps.clock(advance_s=120)
        row = comes(home, lambda row: ps.counts("changes-sub")["backlog"] == 0, 30)
        assert home.run("drain", "shop").code == 0
        child.wait(20)
        right_rows(home, 1000)
        result = run(home, ps, primaryKey="id")
        assert result["balanced"] is True and result["received"] == 1000 + refused and result["repeated"] == refused, (refused, result)
        assert ps.counts("changes-sub")["acked"] == 1000


def test_a_slow_drip_loses_nothing():
    with place() as (ps, home):
        ps.create("changes", "changes-sub", ackDeadlineSeconds=10)
        ps.publish("changes", changes(200))
        ps.fault("drip", bytes=4000, ms=100)
        home.start("run", job(home, ps, primaryKey="id"), "--json")
        comes(home, lambda row: row.get("written") == 200, 60)
        ps.clear()
        comes(home, lambda row: row["state"] == "ok" and ps.counts("changes-sub")["backlog"] == 0, 20)
        assert home.run("drain", "shop").code == 0
        right_rows(home, 200)
        counts = nothing_is_left(ps)
        assert counts["redelivered"] == 0 and counts["expired"] == 0, counts


def test_messages_of_ten_megabytes_are_rows_or_letters_and_memory_is_bounded():
    size, count = 9_900_000, 12
    with place() as (ps, home):
        ps.create("changes", "changes-sub", ackDeadlineSeconds=10)
        ps.publish("changes", messages=[{"data": json.dumps(weir.event({"id": i, "v": "x" * size}, lsn=i))} for i in range(count)])
        ps.publish("changes", messages=[{"size": size} for _ in range(4)])
        home.start("run", job(home, ps, primaryKey="id"), "--json")
        row = comes(home, lambda row: row.get("written", 0) + row.get("dead_lettered", 0) == count + 4, 60)
        most = figure(engine_of(home), "VmHWM") << 10
        assert row["written"] == count and row["dead_lettered"] == 4 and row["balanced"], row
        assert home.run("drain", "shop").code == 0
        assert home.sql("select count(*), min(length(v)), max(length(v)) from t") == [(count, size, size)]
        assert {x["code"] for x in home.letters()} == {"not_json"}, home.letters()
        if "san" not in weir.BUILD:
            assert most < ENGINE_BYTES_MAX, most
        nothing_is_left(ps)


KILLER = ' { "this" : "kills", "n" : 1.50 } '


def switched():
    """A build that knows the switch; the plain one is only told that it must not."""
    crash = os.path.join(weir.ROOT, "build", "crash")
    if cases.HAS_SWITCHES:
        return weir.BUILD
    return crash if os.path.exists(os.path.join(crash, "weird")) else None


@contextlib.contextmanager
def poisoned(build):
    with emulators.pubsub() as ps, weir.Home(build) as home:
        home.env.update(ps.env)
        ps.create("changes", "changes-sub", ackDeadlineSeconds=10)
        ps.publish("changes", changes(20))
        ps.publish("changes", messages=[{"data": KILLER, "attributes": {"from": "somewhere"}}])
        ps.publish("changes", changes(20, first=21))
        yield ps, home


def test_a_message_that_kills_is_a_letter_at_the_next_start():
    build = switched()
    with poisoned(build) as (ps, home):
        poison = {"WEIR_POISON": '%d:"kills"' % signal.SIGABRT}
        path = job(home, ps, primaryKey="id")
        r = home.run("run", path, "--until-idle", "--json", env=poison)
        if not build:  # without the switch it is only no change
            assert r.code == 1 and [x["code"] for x in home.letters()] == ["no_source_table"], (r, home.letters())
            return
        assert r.code not in (0, 1), r
        # What had been held comes again when its lease is over; the switch is still on, and strikes no more.
        ps.clock(advance_s=120)
        r = home.run("run", path, "--until-idle", "--json", env=poison)
        assert r.code == 1 and r.last["balanced"] and r.last["dead_lettered"] == 1, r
        letters = home.letters()
        assert [x["code"] for x in letters] == ["poison_message"], letters
        shown = home.run("dlq", "show", letters[0]["id"], "--bytes")
        assert shown.code == 0 and shown.out == KILLER.encode(), shown
        right_rows(home, 40)
        nothing_is_left(ps)


def test_from_start_says_that_a_subscription_stays_where_it_is():
    with place() as (ps, home):
        ps.create("changes", "changes-sub", retainAckedMessages=True)
        ps.publish("changes", changes(100))
        run(home, ps, primaryKey="id")
        result = run(home, ps, "--from-start", primaryKey="id")
        assert result["this_run"]["received"] == 0, result
        said = [line for line in home.run("journal", "--json", "--limit", "0").lines if "weir seek" in json.dumps(line)]
        assert len(said) == 1 and "stays where it is" in json.dumps(said), said


def test_what_waits_is_told_by_monitoring_with_its_age():
    with place() as (ps, home):
        ps.create("changes", "changes-sub", ackDeadlineSeconds=10)
        ps.fault("hang", "Acknowledge")
        ps.publish("changes", changes(100))
        home.start("run", job(home, ps, primaryKey="id"), "--json")
        source = comes(home, lambda row: row.get("source", {}).get("backlog") is not None, 15)["source"]
        assert source["backlog"] == source["subscriptions"][0]["backlog"] == 100 and source["backlog_oldest_s"] >= 0, source
        assert source["backlog_at"] and source["backlog_code"] == "", source
        said = home.run("status", "--metrics").out.decode()
        assert 'weir_source_backlog_messages{job="shop"} 100\n' in said, said
        # Once a minute at most, however often somebody looks.
        assert source["backlog_at"] == comes(home, lambda row: "source" in row)["source"]["backlog_at"]


def test_figures_that_may_not_be_seen_are_a_quiet_line():
    with place() as (ps, home):
        ps.create("changes", "changes-sub")
        ps.deny("projects/acme", "monitoring.timeSeries.list")
        home.start("run", job(home, ps, primaryKey="id"), "--json")
        row = comes(home, lambda row: row.get("source", {}).get("backlog_code"), 15)
        assert row["source"]["backlog_code"] == "google_denied" and row["source"]["backlog"] is None, row["source"]
        assert "monitoring.timeSeries.list" in row["source"]["backlog_sentence"] and row["state"] == "ok", row
        metrics = home.run("status", "--metrics").out.decode()
        assert 'weir_source_backlog_messages{job="shop"} -1\n' in metrics, [line for line in metrics.splitlines() if "weir_source" in line]
        said = [line for line in home.run("journal", "--json", "--limit", "0").lines if "onitoring" in json.dumps(line)]
        assert not said, said
