"""Journal, notes, log and debug bundle: who did what, what the system did, and what a helper gets to see."""
import json
import os
import signal
import subprocess
import tarfile
import time

import weir

MARK = "payload-4711-mark"
FEED = weir.feed([weir.event({"id": i, "text": "t"}, lsn=100 + i) for i in range(5)], weir.id_key) + "not json %s\n" % MARK


def journal(home, *args):
    r = home.run("journal", "--json", *args)
    assert r.code == 0, r
    return r.lines


def logs(home, *args):
    r = home.run("logs", "--json", *args)
    assert r.code == 0, r
    return r.lines


def ran(home):
    """A job that has run once and has a dead letter."""
    r = home.run("run", home.job(home.write("feed", FEED)), "--until-idle", "--json", env={"SSH_CONNECTION": "10.0.0.1 5000 10.0.0.2 22"})
    assert r.code == 1 and r.last["written"] == 5, r


def engine_pid(home):
    with open(os.path.join(home.state, "weird.lock")) as f:
        return int(f.read())


def kill(home):
    """kill -9, and the engine is really gone."""
    pid = engine_pid(home)
    os.kill(pid, signal.SIGKILL)
    while os.path.exists("/proc/%d" % pid) and open("/proc/%d/stat" % pid).read().split()[2] != "Z":
        time.sleep(0.01)


def test_acts_have_a_line_before_and_after_with_who_and_why():
    with weir.Home() as home:
        ran(home)
        assert home.run("start", "shop", "--why", "night shift", env={"SSH_CONNECTION": "10.0.0.9 1 10.0.0.2 22"}).code == 0
        assert home.run("drain", "shop").code == 0
        lines = journal(home)
        acts = [(l["what"], l["phase"]) for l in lines if l["kind"] == "act"]
        assert acts == [("run", "before"), ("run", "after"), ("start", "before"), ("start", "after"), ("drain", "before"), ("drain", "after")], acts
        run = [l for l in lines if l.get("what") == "run"]
        assert run[0]["act"] == run[1]["act"] and run[0]["ended"] is True
        assert run[0]["ssh_as_client_said"] == "10.0.0.1 5000 10.0.0.2 22" and run[0]["uid"] == os.getuid()
        assert run[1]["job"] == "shop" and run[1]["exit"] == 1, run[1]
        start = [l for l in lines if l.get("what") == "start"]
        assert start[1]["why"] == "night shift" and start[1]["ssh_as_client_said"].startswith("10.0.0.9"), start
        events = [l["code"] for l in lines if l["kind"] == "event"]
        for code in ("engine_started", "job_started", "dlq_group", "schema_changed", "job_stopped", "engine_stopped"):
            assert code in events, (code, events)
        times = [l["time"] for l in lines]
        assert times == sorted(times)


def test_settings_show_before_and_after():
    with weir.Home() as home:
        ran(home)
        assert home.run("job", "set", "shop", "schemaChanges=reject", "--why", "freeze week").code == 0
        line = journal(home, "--what", "job set")[-1]
        assert line["change"] == {"before": "schemaChanges: add (default)", "after": "schemaChanges: reject"} and line["why"] == "freeze week", line
        text = home.run("journal", "--limit", "1").out.decode()
        assert "job set shop schemaChanges=reject: done (schemaChanges: add (default) -> schemaChanges: reject), \"freeze week\"" in text, text


def test_as_many_lines_as_were_asked_for():
    """The beginning of an act that has ended is told by its end; it was counted all the same, and eight lines were five."""
    with weir.Home() as home:
        ran(home)
        for i in range(6):
            assert home.run("note", "note %d" % i).code == 0
        everything = journal(home)
        told = [l for l in everything if not l.get("ended")]
        assert len(everything) > len(told) > 8, everything
        for limit in (1, 8, len(told)):
            assert len(home.run("journal", "--limit", limit).out.splitlines()) == limit
            assert journal(home, "--limit", limit) == told[-limit:], limit
        assert home.run("start", "shop").code == 0
        begun = journal(home, "--limit", "3")
        assert not any(l.get("ended") for l in begun) and len(begun) == 3, begun


def test_failed_acts_and_unfinished_ones_are_told():
    with weir.Home() as home:
        ran(home)
        assert home.run("stop", "nope").code == 78
        p = home.start("run", "shop", "--json")
        line = journal(home)[-1]
        while line.get("what") != "run":
            line = ([l for l in journal(home) if l["kind"] == "act"] or [{}])[-1]
            assert p.poll() is None
        assert line["phase"] == "before" and "ended" not in line
        text = home.run("journal").out.decode()
        assert "stop nope: failed: job_unknown: there is no job 'nope'" in text, text
        assert "run shop: begun, no end yet" in text, text
        p.send_signal(signal.SIGINT)
        assert p.wait(30) == 1
        assert "run shop: done, exit 1" in home.run("journal").out.decode()


def test_notes_have_an_author_and_stand_in_the_list():
    with weir.Home() as home:
        ran(home)
        r = home.run("note", "ask the source team \x1b[31m", "--job", "shop", "--json")
        assert r.code == 0 and r.last["kind"] == "note" and r.last["uid"] == os.getuid(), r
        assert [l["text"] for l in journal(home, "--what", "note", "--job", "shop")] == ["ask the source team \x1b[31m"]
        out = home.run("journal", "--limit", "1").out
        assert b"\x1b" not in out and b"ask the source team" in out, out
        for text in ("", "  ", "x" * 5000):
            r = home.run("note", text, "--json")
            assert r.code == 2 and r.error["code"] == "bad_argument", r
        assert len(journal(home, "--what", "note")) == 1


def test_filters_of_the_journal():
    with weir.Home() as home:
        ran(home)
        assert len(journal(home, "--limit", "2")) == 2
        assert journal(home, "--limit", "0") == journal(home)
        assert all(l["job"] == "shop" for l in journal(home, "--job", "shop"))
        assert journal(home, "--since", "2099-01-01") == []
        assert len(journal(home, "--since", "1h")) > 5
        assert home.run("journal", "--since", "2099-01-01").out == b"nothing in the journal\n"
        r = home.run("journal", "--since", "yesterday", "--json")
        assert r.code == 2 and r.error["code"] == "bad_argument", r


def test_why_tells_what_was_done_before():
    with weir.Home() as home:
        feed = home.write("feed", weir.feed([weir.event({"id": i, "n": 1}, lsn=i + 1) for i in range(3)], weir.id_key))
        home.replicate(feed)
        assert home.run("job", "set", "shop", "schemaChanges=reject", "--why", "freeze week").code == 0
        with open(feed, "a") as f:
            f.write(weir.feed([weir.event({"id": 9, "n": 1, "phone": "555"}, lsn=99)], weir.id_key))
        assert home.run("run", "shop", "--until-idle", "--json").code == 1
        r = home.run("why", "t", "--json")
        before = r.last["before"]
        assert r.last["code"] == "unknown_column" and 0 < len(before) <= 5, r
        assert any(l.get("why") == "freeze week" for l in before), before
        assert all(l["time"] < r.last["since"] for l in before), r
        # What may be the cause: acts of people, the table's own schema; no starts and stops.
        assert {l["kind"] for l in before} <= {"act", "note", "event"}, before
        assert {l["code"] for l in before if l["kind"] == "event"} <= {"schema_changed", "dlq_group"}, before
        assert not any(l.get("ended") for l in before), before
        assert b"Before it" in home.run("why", "t").out


def test_why_of_several_jobs_and_of_several_causes():
    def lines(bad):
        return weir.feed([weir.event({"id": i, "n": 1}, lsn=i + 1) for i in range(3)], weir.id_key) + bad

    with weir.Home() as home:
        for name, bad in (("a", ""), ("b", "no JSON\n" + weir.feed([{"op": "?"}])), ("c", "no JSON\n")):
            home.run("run", home.job(home.write(name + ".jsonl", lines(bad)), name, replicaDataset=name, changeLogDataset=name + "_log"), "--until-idle")
        # Nobody is needed: all jobs that have the table answer.
        assert [(l["job"], l["table"]) for l in home.run("why", "t", "--json").lines] == [("a", "a.t"), ("b", "b.t"), ("c", "c.t")]
        assert [l["job"] for l in home.run("why", "t", "--json", "--job", "b").lines] == ["b"]
        assert [l["job"] for l in home.run("why", "c.t", "--json").lines] == ["c"]
        # "-" has no one cause: each group is there.
        r = home.run("why", "-", "--json")
        assert r.code == 1 and [(l["job"], len(l["groups"])) for l in r.lines] == [("b", 2), ("c", 1)], r
        assert b"jobs have such a table too" not in r.err or b": a;" in r.err, r
        words = home.run("why", "-", "--job", "b").out.decode()
        assert "All that fails here" in words and all(g["code"] in words for g in r.lines[0]["groups"]), words
        r = home.run("why", "u", "--job", "a", "--json")
        assert r.code == 2 and r.error["message"].startswith("job 'a' has no table 'u'"), r


def test_an_engine_that_was_killed_is_told_by_the_next():
    with weir.Home() as home:
        ran(home)
        assert home.run("tables").code == 0
        kill(home)
        codes = [l["code"] for l in journal(home) if l["kind"] == "event"]
        assert codes[-2:] == ["engine_was_killed", "engine_started"], codes
        assert home.run("engine", "stop").code == 0
        while os.path.exists(os.path.join(home.state, "weird.sock")):
            time.sleep(0.02)
        codes = [l["code"] for l in journal(home) if l["kind"] == "event"]
        assert codes[-2:] == ["engine_stopped", "engine_started"] and codes.count("engine_was_killed") == 1, codes


def test_an_act_that_cannot_be_written_down_does_not_happen():
    with weir.Home() as home:
        ran(home)
        assert home.run("tables").code == 0
        path = os.path.join(home.state, "journal.jsonl")
        os.rename(path, path + ".away")
        os.mkdir(path)
        r = home.run("start", "shop", "--json")
        assert r.code != 0 and "was not done" in r.error["message"], r
        assert home.run("engine", "status", "--json").last["running_jobs"] == 0
        os.rmdir(path)
        os.rename(path + ".away", path)
        assert home.run("start", "shop", "--json").code == 0


def test_a_wait_is_told_at_its_beginning_and_end():
    import sqlite3
    with weir.Home() as home:
        ran(home)
        with open(home.file("feed"), "a") as f:
            f.write(weir.feed([weir.event({"id": 99, "text": "n"}, lsn=999)], weir.id_key))
        db = sqlite3.connect(home.warehouse("shop_log"))
        db.execute("begin immediate")
        p = home.start("--run", "shop", "--until-idle", "--json", program="weird")
        assert b"waiting" in p.stderr.readline()
        db.rollback()
        db.close()
        p.communicate(timeout=60)
        told = [(l["code"], l["text"]) for l in journal(home, "--job", "shop") if l["kind"] == "event"]
        codes = [c for c, _ in told]
        assert codes.count("job_waiting") == 1 and codes.count("job_goes_on") == 1, told
        assert [t for c, t in told if c == "job_waiting"][0].startswith("waits: database_locked: "), told
        assert [l["level"] for l in logs(home, "--level", "warn") if l.get("fields", {}).get("code") == "job_waiting"] == ["warn"]


def test_logs_follow_and_end_with_the_reader():
    with weir.Home() as home:
        ran(home)
        assert home.run("tables").code == 0
        p = home.start("logs", "--follow", "--limit", "0", "--json")
        time.sleep(0.5)
        assert home.run("start", "shop").code == 0
        seen = [json.loads(p.stdout.readline()) for _ in range(2)]
        assert {l["sentence"] for l in seen} == {"start", "job started"}, seen
        p.kill()
        threads = "/proc/%d/task" % engine_pid(home)
        assert home.run("drain", "shop").code == 0
        for _ in range(100):
            if len(os.listdir(threads)) <= 2:
                break
            time.sleep(0.05)
        assert len(os.listdir(threads)) <= 2, os.listdir(threads)


def test_logs_filter_and_outlive_the_engine():
    with weir.Home() as home:
        ran(home)
        assert home.run("start", "nope").code == 78
        before = logs(home)
        assert before and all(l["level"] != "debug" for l in before)
        assert {l["level"] for l in logs(home, "--level", "warn")} <= {"warn", "error"}
        assert all(l["job"] == "shop" for l in logs(home, "--job", "shop"))
        kill(home)
        assert logs(home)[: len(before)] == before
        r = home.run("logs", "--level", "loud", "--json")
        assert r.code == 2 and r.error["code"] == "bad_argument", r
        with open(os.path.join(home.state, "logs", "weird.log")) as f:
            assert MARK not in f.read()


def test_lines_for_systemd_have_priorities():
    with weir.Home() as home:
        read, write = os.pipe()
        info = os.fstat(write)
        p = subprocess.Popen([os.path.join(home.build, "weird"), "--run", home.job(home.write("feed", FEED)), "--until-idle"], stderr=write, stdout=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL, env=dict(home.env, JOURNAL_STREAM="%d:%d" % (info.st_dev, info.st_ino)), cwd=home.path)
        os.close(write)
        assert p.wait(60) == 1
        lines = os.fdopen(read).read().splitlines()
        assert any(l.startswith("<6>engine: weird ") for l in lines), lines
        assert any(l.startswith("<4>job: shop: first letter of group 1: not_json") for l in lines), lines


def test_a_bundle_holds_what_helps_and_no_payload():
    with weir.Home() as home:
        ran(home)
        with open(os.path.join(home.state, "jobs", "odd.json"), "w") as f:
            f.write('{"name":"odd","template":"x","parameters":{"key":"-----BEGIN PRIVATE KEY----- s3cr3t"}}')
        os.unlink(os.path.join(home.state, "jobs", "odd.json"))
        r = home.run("debug", "bundle", "--out", "b.tar", "--json")
        assert r.code == 0 and r.last["bytes"] == os.path.getsize(home.file("b.tar")), r
        assert os.stat(home.file("b.tar")).st_mode & 0o777 == 0o600
        with tarfile.open(home.file("b.tar")) as tar:
            files = {m.name: tar.extractfile(m).read().decode() for m in tar.getmembers()}
        names = ["version.json", "engine.jsonl", "jobs.jsonl", "tables.jsonl", "dlq-groups.jsonl", "jobs/shop.json", "journal.jsonl", "log.jsonl", "files.jsonl", "system.json"]
        assert sorted(files) == sorted("weir-debug/" + n for n in names), sorted(files)
        for name, content in files.items():
            assert MARK not in content, name
            for line in content.splitlines():
                assert "error" not in json.loads(line), (name, line)
        assert '"code":"not_json"' in files["weir-debug/dlq-groups.jsonl"]
        assert json.loads(files["weir-debug/jobs/shop.json"])["parameters"]["replicaDataset"] == "shop"
        listed = {json.loads(l)["file"] for l in files["weir-debug/files.jsonl"].splitlines()}
        assert {"journal.jsonl", "warehouse/shop.db", "jobs/shop.db"} <= listed, listed
        r = home.run("debug", "bundle", "--out", "b.tar", "--json")
        assert r.code == 2 and r.error["code"] == "file_exists", r
        r = home.run("debug", "bundle", "--out", "no/such/folder/b.tar", "--json")
        assert r.code != 0 and not os.path.exists(home.file("no")), r


def test_secrets_in_job_files_and_arguments_stay_out():
    with weir.Home() as home:
        ran(home)
        with open(os.path.join(home.state, "jobs", "odd.json"), "w") as f:
            f.write('{"name":"odd","parameters":{"a":["-----BEGIN PRIVATE KEY----- s3cr3t"],"accessToken":"s3cr3t"}}')
        assert home.run("job", "set", "shop", "accessToken=s3cr3t").code != 0
        assert home.run("debug", "bundle", "--out", "b.tar").code == 0
        with open(home.file("b.tar"), "rb") as f:
            assert b"s3cr3t" not in f.read()
        for name in ("journal.jsonl", "logs/weird.log"):
            with open(os.path.join(home.state, name)) as f:
                assert "s3cr3t" not in f.read(), name


def test_a_stranger_who_tries_is_told_in_the_log():
    with weir.Home() as home:
        if os.getuid() != 0:
            raise weir.Skip("only root can play another user")
        ran(home)
        assert home.run("tables").code == 0
        subprocess.run(["chmod", "-R", "a+rwX", home.path], check=True)
        code = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)"
        for _ in range(20):
            subprocess.run(["python3", "-c", code, os.path.join(home.state, "weird.sock")], user=65534, group=65534, stderr=subprocess.DEVNULL)
        told = [l for l in logs(home) if l["sentence"] == "a stranger was sent away"]
        assert len(told) == 1 and told[0]["level"] == "warn" and told[0]["fields"]["uid"] == 65534, told


def test_a_stranger_sees_nothing_of_the_records():
    with weir.Home() as home:
        ran(home)
        assert home.run("tables").code == 0
        for name in ("journal.jsonl", "logs/weird.log"):
            assert os.stat(os.path.join(home.state, name)).st_mode & 0o777 == 0o600, name
        assert os.stat(os.path.join(home.state, "logs")).st_mode & 0o777 == 0o700
