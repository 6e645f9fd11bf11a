"""Charts and what stands beside them: lag by leg, batches, a table, requests and the last minute; against --json."""
import datetime
import json
import time

import console
from lists import line, steps
import weir

LEGS = {"commit -> publish": "publish", "publish -> receive": "receive", "receive -> changelog": "changelog", "changelog -> replica": "replica"}
LATE_MS = 450000
FLOWED = 300


def feed():
    """Committed 8 s before they were published; one table's messages have lain at the source for minutes."""
    now = int(time.time() * 1000)
    lines = []
    for i in range(FLOWED):
        table = ("orders", "items", "inventory")[i % 3]
        published = now - (LATE_MS if table == "inventory" else 200)
        event = weir.event({"id": i, "note": "x" * 100}, table=table, lsn=1000 + i, source={"ts_ms": published - 8000}, ts_ms=published - 8000)
        at = datetime.datetime.fromtimestamp(published / 1000, datetime.timezone.utc)
        lines.append(json.dumps({"id": str(i), "key": json.dumps({"id": i}), "publish": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "data": event}))
    return "\n".join(lines) + "\n"


def status(home, *args):
    return home.run("status", "shop", *args, "--json")


def flowed():
    """A job through which all has flowed, and that waits for more."""
    home = console.named_home()
    job = home.job(home.write("feed", feed()))
    assert home.run("job", "create", job).code == 0 and home.run("start", "shop").code == 0
    wait_until(home, lambda job: job["latency"].get("replica", {}).get("count") == FLOWED and not job["replica_waiting"])
    return home


def wait_until(home, holds):
    for _ in range(300):
        job = status(home).last
        if holds(job):
            return job
        time.sleep(0.1)
    raise AssertionError("it did not come: %r" % job)


def duration(ms):
    seconds = int(ms) // 1000
    if ms < 1000:
        return "0.%ds" % (int(ms) // 100)
    return "%ds" % seconds if seconds < 60 else "%dm%02ds" % (seconds // 60, seconds % 60)


def row_of(t, text):
    return next(l for l in t.picture().lines if l.startswith(" " + text))


def look_at_legs(home):
    latency = status(home).last["latency"]
    assert latency["receive"]["table"] == "shop.inventory" and latency["receive"]["p99_ms"] > LATE_MS, latency
    for cols, rows, shown in ((100, 30, 3), (80, 24, 3), (70, 30, 3), (62, 30, 2)):
        with console.console(home, cols=cols, rows=rows) as t:
            line(t, "job shop")
            head = row_of(t, "ledger balanced ").split()
            assert head[2] == "committed" and head[-5:] == ["in", "flight", "0", "parked", "0"], head # nothing of it is cut
            for label, name in LEGS.items():
                words = row_of(t, label)[len(label) + 1:].split()
                times = [duration(latency[name][member]) for member in ("p50_ms", "p99_ms", "max_ms")[:shown]]
                assert words[:shown] == times, (words, times)
                why = " ".join(words[shown + (cols >= 80):])
                assert why == ("" if name != "receive" else "slow: shop.inventory" if cols >= 90 else "slow leg"), (cols, name, words)
            batch = latency["batch"]
            said = "p50 %.1f   p99 %.1f   max %.1f" % (batch["p50_ms"], batch["p99_ms"], batch["max_ms"])
            assert any("batch latency ms" in l and said in l for l in t.picture().lines), (said, t.picture().lines)


def look_at_small_screens(home):
    """Batch latency leaves first, then what flows out, then the legs; the tables stay."""
    words = {"\n in ", "\n out ", "\n LEG", "batch latency"}
    for rows, has in ((24, words), (22, words - {"batch latency"}), (20, {"\n in ", "\n LEG"}), (16, {"\n in ", "\n out "})):
        with console.console(home, cols=80, rows=rows) as t:
            line(t, "job shop")
            picture = "\n".join(t.picture().lines)
            assert {word for word in words if word in picture} == has, (rows, picture)
            assert "tables, worst first" in picture and "shop.orders" in picture, picture


def test_a_job_has_its_legs_and_names_the_table_that_is_slow():
    with flowed() as home:
        look_at_legs(home)
        look_at_small_screens(home)


def look_at_the_chart_of(home, t, table):
    row = next(r for r in home.run("tables", "--json").lines if r["table"] == table)
    picture = t.wait_for("%s, last 10 min" % table)
    rule = next(l for l in picture.lines if "last 10 min" in l)
    rates = tuple(round(row["rates"][m] * k) for m, k in (("received", 1), ("written", 1), ("dead_lettered", 60)))
    assert "now %d in/s, %d out/s, %d errors/min" % rates in rule, (rule, row)
    assert " key id   received %d   written %d   filtered 0" % (row["received"], row["written"]) in picture.lines, picture.lines
    # The scale fits the step in which most came.
    values = status(home, "--history", "--step", "10", "--table", table).last["values"]["received"]
    label = float(row_of(t, "in/s").split()[1])
    assert sum(values) == row["received"] and max(values) / 10 <= label < 2.5 * max(values) / 10, (values, label)


def test_a_table_has_its_chart_where_there_is_room():
    with flowed() as home:
        wait_until(home, lambda job: not sum(job["rates"].values()) and any(
            sum(l["values"]["received"]) for l in status(home, "--history", "--step", "10", "--table", "orders").lines))
        with console.console(home, cols=100, rows=30) as t:
            steps(t, "g t")
            for _ in range(3):
                look_at_the_chart_of(home, t, next(l for l in t.picture().lines if l.startswith("> ")).split()[2])
                t.press("j")
            t.resize(80, 24)
            assert not any("last 10 min" in l for l in t.picture().lines), t.picture().lines


def test_requests_and_the_last_minute():
    with flowed() as home, console.console(home, cols=100, rows=30) as t:
        job = wait_until(home, lambda job: job["activity"][0]["doing"] == "waiting for new messages" and job["last_minute"]["received"] == FLOWED)
        steps(t, "g a")
        lines = t.picture().lines
        minute = job["last_minute"]
        assert minute["batches"] > 0 and minute["merges"] > 0 and minute["retries"] == 0, job
        assert " appends %d ok, 0 tried again" % minute["batches"] in lines, lines
        assert " confirms %d messages   merges %d ended" % (minute["received"], minute["merges"]) in lines, lines
        assert " queue shop %d of %d batches" % (job["queue"]["batches"], job["queue"]["of"]) in lines, lines
        assert "activity  0 requests in flight" in lines[0], lines[0]
        for activity in job["activity"]:
            row = next(l for l in lines if l[2:].startswith("%-6s shop " % activity["kind"]))
            assert activity["target"] in row and activity["doing"] in row, (activity, row)
            assert "ok " + activity["answered"][11:19] in row, (activity, row)
