"""`weir status`: how jobs stand, what they do, metrics for a scraper, what they were."""
import json
import os
import re
import shlex
import time

import weir

EVENTS = [weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(10)]
BAD = '{"id":"99","data":{"payload":"neither"}}\n'


def begin(home, name, feed, **parameters):
    for args in (("job", "create", home.job(feed, name, changeLogDataset=name + "_log", replicaDataset=name, **parameters)), ("start", name)):
        r = home.run(*args)
        assert r.code == 0, r


def wait_for(home, is_there, *args, tries=100):
    for _ in range(tries):
        r = home.run("status", *args, "--json")
        if r.out and is_there(r.lines):
            return r.lines
        time.sleep(0.1)
    raise AssertionError("never came: %r" % r)


def test_no_jobs():
    with weir.Home() as home:
        r = home.run("status")
        assert r.code == 0 and r.out == b"no jobs\n", r
        r = home.run("status", "--json")
        assert r.code == 0 and r.out == b"", r


def test_one_state_in_words_and_in_json():
    """A stopped job with open letters needs you, wherever it is shown; its own state stands beside it."""
    with weir.Home() as home:
        feed = home.write("feed.jsonl", weir.feed([weir.event({"id": 1}, lsn=1)], weir.id_key) + "no JSON\n")
        home.replicate(feed, expect=1)
        for command in (("status",), ("job", "list"), ("job", "show", "shop")):
            job = home.run(*command, "--json").last
            assert (job["state"], job["own_state"]) == ("needs you", "stopped"), job
            words = home.run(*command).out.decode()
            assert words.splitlines()[1].split()[:3] == ["shop", "NEEDS", "YOU"], words


def test_tables_takes_one_table():
    """With and without its dataset, of one job or of all that have it; what is not there has a nearest name."""
    with weir.Home() as home:
        for name in ("a", "b"):
            file = home.write(name + ".jsonl", weir.feed([weir.event({"id": 1}, table=t, lsn=9) for t in ("orders", "carts")], weir.id_key))
            assert home.run("run", home.job(file, name, changeLogDataset=name + "_log", replicaDataset=name), "--until-idle").code == 0
        for words, want in ((("orders",), {("a", "a.orders"), ("b", "b.orders")}), (("a.orders",), {("a", "a.orders")}),
                            (("orders", "--job", "b"), {("b", "b.orders")}), (("--schema", "b.carts"), {("b", "b.carts")})):
            r = home.run("tables", *words, "--json")
            assert r.code == 0 and {(l["job"], l["table"]) for l in r.lines} == want, (words, r)
            assert all(("columns" in l) == ("--schema" in words) for l in r.lines), r
        for words, said in ((("ordres",), "no job has a table 'ordres'; did you mean 'a.orders'?"), (("orders2", "--job", "b"), "job 'b' has no table 'orders2'; did you mean 'b.orders'?"),
                            (("x", "--schema"), "no job has a table 'x'")):
            r = home.run("tables", *words, "--json")
            assert (r.code, r.error["code"], r.error["message"]) == (2, "table_unknown", said), r
        assert home.run("tables", "orders", "--failing", "--json").out == b""


def test_worst_first_with_what_each_does():
    with weir.Home() as home:
        good = home.write("good", weir.feed(EVENTS, weir.id_key))
        bad = home.write("bad", weir.feed(EVENTS, weir.id_key) + BAD)
        begin(home, "a_good", good)
        begin(home, "z_bad", bad)
        home.run("job", "create", home.job(good, "m_never", changeLogDataset="m_log", replicaDataset="m"))
        lines = wait_for(home, lambda l: sum(j["received"] for j in l) == 21 and all(j["latency"].get("replica", {"count": 0})["count"] == 10 and
                                                  any(a["doing"] == "waiting for changes" for a in j["activity"]) for j in l[:2]))
        assert [j["job"] for j in lines] == ["z_bad", "a_good", "m_never"], lines
        assert [j["worst"] for j in lines] == ["needs you", "ok", "stopped"], lines
        for job in lines[:2]:
            doing = {a["thread"]: a for a in job["activity"]}
            assert doing["reader"]["doing"] in ("reading", "waiting for new messages") and doing["writer"]["doing"] == "waiting for records", doing
            assert doing["merger"]["doing"] == "waiting for changes" and doing["merger"]["since"].endswith("Z"), doing
            assert job["latency"]["changelog"]["count"] >= 10 and job["latency"]["replica"]["count"] == 10, job
            assert job["latency"]["changelog"]["p50_ms"] <= job["latency"]["changelog"]["p99_ms"] <= job["latency"]["changelog"]["max_ms"], job
            assert 0 <= job["age_ms"] < 5000, job
        assert lines[2]["activity"] == [], lines[2]
        r = home.run("status")
        assert r.code == 1 and r.out.startswith(b"JOB ") and b"z_bad                NEEDS YOU" in r.out, r
        assert all(len(line) < 80 for line in r.out.decode().splitlines()), r
        r = home.run("status", "a_good", "--json")
        assert r.code == 0 and len(r.lines) == 1 and r.last["job"] == "a_good", r
        r = home.run("status", "nobody", "--json")
        assert r.code == 78 and r.error["code"] == "job_unknown", r


SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (-?[0-9.e+-]+|\+Inf|NaN)$')


def read_metrics(text):
    """A reader of the text form: {name: (kind, {labels: value})}; fails at anything that a scraper would not take."""
    families, current, samples = {}, None, {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            assert current not in families, "a family in two pieces: " + current
            families[current] = None
        elif line.startswith("# TYPE "):
            assert line.split(" ")[2] == current
            families[current] = line.split(" ")[3]
        else:
            m = SAMPLE.match(line)
            assert m, line
            name = m.group(1)
            assert name == current or families[current] == "histogram" and name in (current + "_bucket", current + "_sum", current + "_count"), line
            key = (name, m.group(2) or "")
            assert key not in samples, line
            samples[key] = float(m.group(3))
    assert text.endswith("\n")
    return families, samples


def nice_of(pid):
    """Of each thread of a process."""
    nice = {}
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/stat" % (pid, task)) as f:
                nice[int(task)] = int(f.read().rpartition(")")[2].split()[16])
        except FileNotFoundError:
            pass
    return nice


def test_who_answers_goes_before_who_works():
    """Beside jobs that are never done, the threads of calls and of the control loop have the greater weight."""
    with weir.Home() as home:
        begin(home, "shop", home.write("feed", weir.feed(EVENTS, weir.id_key)))
        wait_for(home, lambda l: l[0]["received"] == 10)
        pid = home.run("engine", "status", "--json").last["pid"]
        # The thread of the call that told us may still be there for a moment.
        for _ in range(200):
            nice = nice_of(pid)
            own = nice.pop(pid)
            if nice and all(n > own for n in nice.values()):
                return
            time.sleep(0.05)
        raise AssertionError((own, nice))


def test_metrics_as_a_scraper_reads_them():
    with weir.Home() as home:
        feed = home.write("feed", weir.feed(EVENTS, weir.id_key) + BAD)
        begin(home, "shop", feed)
        home.run("job", "create", home.job(feed, "other", changeLogDataset="o_log", replicaDataset="o"))
        # What is received is read from the files; what was measured comes a moment later.
        wait_for(home, lambda l: l[0]["latency"].get("changelog", {}).get("count") == 11 and l[0]["replica_waiting"] == 0)
        r = home.run("status", "--metrics")
        assert r.code == 0, r
        families, samples = read_metrics(r.out.decode())
        at = '{job="shop",table="shop.t"}'
        assert samples["weir_received_messages_total", at] == 10 and samples["weir_written_messages_total", at] == 10, samples
        assert samples["weir_dead_lettered_messages_total", '{job="shop",table="-"}'] == 1, samples
        # One row was refused: as in `weir status`, that is what shows.
        assert samples["weir_job_state", '{job="shop",state="needs you"}'] == 1 and samples["weir_job_state", '{job="shop",state="ok"}'] == 0
        assert samples["weir_job_state", '{job="other",state="stopped"}'] == 1
        assert samples["weir_job_running", '{job="shop"}'] == 1 and samples["weir_job_running", '{job="other"}'] == 0
        assert families["weir_batch_seconds"] == "histogram" and samples["weir_batch_seconds_count", '{job="shop"}'] >= 1
        before = 0
        for (name, labels), value in samples.items():
            if name == "weir_changelog_delay_seconds_bucket" and 'job="shop"' in labels:
                assert value >= before
                before = value
        assert before == samples["weir_changelog_delay_seconds_count", '{job="shop"}'] == 11
        assert samples["weir_engine_running_jobs", ""] == 1 and samples["weir_engine_resident_bytes", ""] > 1e6
        # Stopped, the counters stay: a scraper must not see a job vanish.
        assert home.run("stop", "shop").code == 0
        families, samples = read_metrics(home.run("status", "--metrics").out.decode())
        assert samples["weir_received_messages_total", at] == 10 and samples["weir_job_running", '{job="shop"}'] == 0
        with open(os.path.join(weir.ROOT, "core", "engine", "metrics.def")) as f:
            names = re.findall(r'^METRIC\(\w+, "(\w+)"', f.read(), re.M)
        assert sorted(names) == sorted(families), set(names) ^ set(families)


def test_history_adds_up():
    with weir.Home() as home:
        feed = home.write("feed", "")
        begin(home, "shop", feed)
        for i in range(3):
            time.sleep(1.2)
            with open(feed, "a") as f:
                f.write(weir.feed([weir.event({"id": 10 * i + k, "n": k}, lsn=1000 + 10 * i + k) for k in range(10)], weir.id_key))
        wait_for(home, lambda l: l[0]["received"] == 30)
        time.sleep(2.2)
        lines = home.run("status", "shop", "--history", "--json").lines
        seconds = next(l for l in lines if l["step_s"] == 1)
        assert sum(seconds["values"]["received"]) == 30 and len(seconds["values"]["received"]) == seconds["count"], lines
        # For people the same: a row a step, the newest last.
        paper = home.run("status", "shop", "--history").out.decode().split("\n\n")[0].splitlines()
        assert re.match(r"job shop: \d+ seconds, in steps of \d+$", paper[0]), paper
        assert paper[1].split() == ["AGO", "RECEIVED", "WRITTEN", "FILTERED", "LETTERS", "PARKED", "WAITING", "LAG"], paper
        assert sum(int(row.split()[1]) for row in paper[2:]) == sum(int(row.split()[2]) for row in paper[2:]) == 30, paper
        assert len(paper) <= 2 + 24 and paper[2].split()[0].endswith("s"), paper
        values = seconds["values"]
        assert all(len(series) == seconds["count"] for series in values.values()), lines
        assert sum(values["batches"]) >= 3 and sum(values["bytes"]) == sum(values["written_bytes"]) > 0, values
        # A second without a batch has no mean; one with some has a time.
        means = dict(zip(range(seconds["count"]), values["batch_ms"]))
        assert [i for i, mean in means.items() if mean is not None] == [i for i, n in enumerate(values["batches"]) if n], values
        job = home.run("status", "shop", "--json").last
        assert job["last_minute"]["received"] == 30 and job["last_minute"]["batches"] == sum(values["batches"]), job
        assert job["last_minute"]["merges"] >= 1 and job["last_minute"]["retries"] == 0, job
        assert job["queue"] == {"batches": 0, "of": 4} and job["latency"]["changelog"]["table"] == "shop.t", job
        only = home.run("status", "shop", "--history", "--step", "1", "--json").lines
        assert [l["step_s"] for l in only] == [1] and "table" not in only[0], only
        r = home.run("status", "shop", "--history", "--table", "nobody", "--json")
        assert r.code == 0 and not r.lines, r


def test_a_full_disk_is_what_it_waits_for():
    """The writer waits; status says for what and since when."""
    import shutil
    import subprocess
    if os.getuid() != 0 or not os.path.exists("/proc/mounts"):
        raise weir.Skip("only root can mount a small disk")
    with weir.Home() as home:
        os.makedirs(home.state)
        disk = os.path.join(home.path, "disk")
        os.makedirs(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], stderr=subprocess.PIPE).returncode != 0:
            raise weir.Skip("mounting is not allowed here")
        try:
            os.symlink(disk, os.path.join(home.state, "warehouse"))
            rows = [weir.event({"id": i, "text": "x" * 2000}, lsn=100 + i) for i in range(3000)]
            begin(home, "shop", home.write("feed", weir.feed(rows, weir.id_key)))
            try:
                lines = wait_for(home, lambda l: l[0]["state"] == "waiting")
            except AssertionError as why:
                raise weir.Skip("the disk did not fill here: %.200s" % why)
            waits = [a for a in lines[0]["activity"] if a["thread"] == "job"]
            assert waits and "disk_full" in waits[0]["doing"] and waits[0]["since"] and waits[0]["until"], lines
            assert b"WAITING" in home.run("status").out.upper()
        finally:
            home.end_engine()
            time.sleep(0.2)
            subprocess.run(["umount", "-l", disk], check=False)


def test_why_counts_as_tables_does_and_gives_steps_that_run():
    with weir.Home() as home:
        rows = [weir.event({"id": i, "n": i, **({"phone": "5"} if i % 4 == 0 else {})}, lsn=100 + i) for i in range(8)]
        home.write("schema.json", json.dumps({"t": {"primary_key": ["id"], "columns": {
            "id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}}}))
        home.replicate(home.write("feed", weir.feed(rows, weir.id_key)), expect=1, sourceSchema=home.file("schema.json"),
                       schemaChanges="reject")
        finding = home.run("why", "t", "--json").last
        table = next(t for t in home.run("tables", "--json").lines if t["table"] == "shop.t")
        assert finding["open_letters"] == 2 and finding["column"] == "phone", finding
        for member in ("open_letters", "received", "written", "filtered", "dead_lettered", "parked", "column"):
            assert finding[member] == table[member], (member, finding, table)
        group = home.run("dlq", "groups", "--json").last
        assert group["last_minute"] == group["count"] == 2, group
        steps = [step["command"] for step in finding["steps"]]
        assert steps[0] == "job set shop schemaChanges=add" and [s["lossy"] for s in finding["steps"]].count(True) == 1, finding
        assert home.run(*steps[0].split()).code == 0
        replay = next(command for command in steps if command.startswith("dlq replay"))
        assert home.run(*replay.split(), "--yes", "--why", "columns are taken now").code == 0
        assert home.run("why", "t", "--json").last["steps"] == [], home.run("why", "t", "--json")


def test_the_first_step_of_a_wrong_value_mends_it():
    """Text in a number's column, a number that is too large: the step says the type, keeps those that were said, and a replay writes."""
    with weir.Home() as home:
        columns = {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}, "d": {"bigquery": "NUMERIC"}, "kept": {"bigquery": "INT64"}}
        schema = home.write("schema.json", json.dumps({t: {"primary_key": ["id"], "columns": columns} for t in ("a", "b")}))
        good = {"id": 1, "n": 5, "d": "1.5", "kept": 7}
        events = [weir.event(good, table="a", lsn=1), weir.event(good, table="b", lsn=2), weir.event({**good, "id": 2, "n": "n/a"}, table="a", lsn=3),
                  weir.event({**good, "id": 2, "d": "9" * 45 + ".5"}, table="b", lsn=4)]
        feed = home.write("feed", weir.feed(events, weir.id_key))
        home.replicate(feed, expect=1, sourceSchema=schema, columnTypes={"a.kept": "STRING"})
        for table in ("a", "b"):
            steps = [step["command"] for step in home.run("why", table, "--json").last["steps"]]
            assert steps[0].startswith("job set shop 'columnTypes={"), steps
            for command in steps[:2]:
                r = home.run(*shlex.split(command), *["--yes"] * command.startswith("dlq replay"))
                assert r.code in (0, 1) and b"columnTypes:" not in r.err, (command, r)
            assert home.run("why", table, "--json").last["state"] == "ok", home.run("why", table)
        assert home.run("job", "show", "shop", "--json").last["parameters"]["columnTypes"] == {"a.kept": "STRING", "a.n": "STRING", "b.d": "STRING"}
        assert home.sql("select n, kept from a order by id") == [("5", "7"), ("n/a", "7")]
        assert home.sql("select d from b order by id") == [("1.5",), ("9" * 45 + ".5",)]
