"""Bad input and bad surroundings: a clear error with the next step, the other rows go on, nothing is lost."""
import json
import os
import pwd
import resource
import subprocess
import time

import weir

GOOD = weir.feed([weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(10)], weir.id_key)


def refused(home, code, status, *args, env=None):
    r = home.run("run", *args, "--until-idle", "--json", env=env)
    assert r.code == status, r
    error = r.error
    assert error["code"] == code and error["message"] and error["next"], error
    assert home.run("explain", code).code == 0
    return error


def test_half_a_line_at_the_end_is_left_for_later():
    with weir.Home() as home:
        feed = home.write("feed", GOOD + '{"id":"x","data":{"op":')
        result = home.replicate(feed, expect=1)
        assert result["received"] == 10 and result["balanced"], result
        assert [n["code"] for n in result["notes"]] == ["truncated_line"], result
        with open(feed, "a") as f:
            f.write('"c","after":{"id":99,"n":1},"source":{"connector":"postgresql","db":"shop","schema":"public","table":"t","lsn":999}}}\n')
        result = home.replicate(feed)
        assert result["received"] == 11 and result["this_run"]["received"] == 1, result
        assert home.sql("select count(*) from t") == [(11,)]


def test_a_last_line_without_newline_counts_when_it_is_complete():
    with weir.Home() as home:
        result = home.replicate(home.write("feed", GOOD.rstrip("\n")))
        assert result["received"] == 10 and not result["notes"], result


def test_a_line_of_200_mb_becomes_a_letter_and_memory_stays_small():
    with weir.Home() as home:
        feed = home.file("feed")
        with open(feed, "wb") as f:
            f.write(GOOD.encode())
            f.write(b'{"data":{"x":"')
            for _ in range(200):
                f.write(b"y" * (1 << 20))
            f.write(b'"}}\n')
            f.write(weir.feed([weir.event({"id": 50, "n": 1}, lsn=900)], weir.id_key).encode())
        home.job(feed)
        p = home.start("--run", "shop.json", "--until-idle", "--json", program="weird")
        peak = 0
        while p.poll() is None:
            try:
                with open("/proc/%d/status" % p.pid) as f:
                    peak = max([peak] + [int(line.split()[1]) for line in f if line.startswith("VmHWM")])
            except OSError:
                pass
            time.sleep(0.01)
        out = p.communicate()[0]
        assert p.returncode == 1, out
        result = json.loads(out)
        assert result["received"] == 12 and result["written"] == 11 and result["dead_lettered"] == 1 and result["balanced"]
        if home.build.endswith("build"):
            assert peak < 160 * 1024, "%d KiB" % peak
        (letter,) = home.letters()
        assert letter["code"] == "record_too_large" and letter["source"]["line"] == 11 and letter["bytes"] == (200 << 20) + 17, letter
        shown = home.run("dlq", "show", letter["id"], "--json").last
        assert shown["cut"] is True
        count = subprocess.run("%s dlq show %d --bytes | wc -c" % (os.path.join(home.build, "weir"), letter["id"]), shell=True, env=home.env, stdout=subprocess.PIPE)
        assert int(count.stdout) == letter["bytes"]


def test_lines_that_are_not_events_are_letters_with_their_reason():
    lines = [b'\xff\xfe{\x00', b'{"data":{"op":"c"', b"[" * 600 + b"]" * 600, b'"text"', b'{"data":{"op":"c","after":{"id":1,"n":"\xc3\x28"}}}', b'{"data":{"a":"\x00"}}', b"{}", b"\x00", b'{"data_b64":"!!"}', b'{"data":"x"} trailing']
    with weir.Home() as home:
        feed = home.write("feed", b"\n".join(lines) + b"\n\n" + GOOD.encode())
        result = home.replicate(feed, expect=1)
        assert result["received"] == len(lines) + 10 and result["dead_lettered"] == len(lines) and result["balanced"], result
        for letter in home.letters():
            assert home.run("explain", letter["code"], "--json").code == 0, letter
            assert home.run("dlq", "show", letter["id"], "--bytes").code == 0


def test_b31_empty_bodies():
    with weir.Home() as home:
        feed = home.write("feed", '{"id":"m1","data_b64":""}\n{"id":"m2","data_b64":"//4A"}\n{"id":"m3","attrs":{},"data":null}\n' + GOOD)
        result = home.replicate(feed, expect=1)
        assert [x["code"] for x in home.letters()] == ["empty_message", "not_utf8", "null_root"], home.letters()
        assert result["written"] == 10


def test_empty_file():
    with weir.Home() as home:
        result = home.replicate(home.write("feed", ""))
        assert result["received"] == 0 and result["balanced"] and result["tables"] == [], result


def test_missing_feed_folder_and_unreadable_feed():
    with weir.Home() as home:
        refused(home, "no_such_file", 78, home.job(home.file("absent")))
        refused(home, "not_a_file", 78, home.job(home.path))


def test_a_feed_that_vanished_or_changed_is_said():
    with weir.Home() as home:
        feed = home.write("feed", GOOD)
        job = home.job(feed)
        home.replicate(feed)
        home.write("feed", GOOD.replace('"n": 3', '"n": 4'))
        r = home.run("run", job, "--until-idle", "--json")
        assert r.code != 0 and r.error["code"] == "feed_changed", r
        home.write("feed", GOOD[: len(GOOD) // 2])
        r = home.run("run", job, "--until-idle", "--json")
        assert r.code != 0 and r.error["code"] == "feed_changed", r
        r = home.run("run", job, "--until-idle", "--json", "--from-start")
        assert r.code == 1 or r.code == 0, r
        os.unlink(feed)
        refused(home, "no_such_file", 78, job)


def test_damaged_state_file():
    with weir.Home() as home:
        feed = home.write("feed", GOOD)
        job = home.job(feed)
        home.replicate(feed)
        store = os.path.join(home.state, "jobs", "shop.db")
        size = os.path.getsize(store)
        os.truncate(store, size // 2)
        refused(home, "state_damaged", 70, job)
        with open(store, "r+b") as f:
            f.write(b"not a database at all, just text of somebody else" * 3)
        refused(home, "state_damaged", 70, job)


def test_store_removed_or_exchanged_is_a_mismatch_and_from_start_mends_it():
    with weir.Home() as home:
        feed = home.write("feed", GOOD + '{"data":{"op":"c"}}\n')
        job = home.job(feed)
        home.replicate(feed, expect=1)
        for name in os.listdir(os.path.join(home.state, "jobs")):
            if ".db" in name:
                os.unlink(os.path.join(home.state, "jobs", name))
        refused(home, "ledger_mismatch", 70, job)
        result = home.run("run", job, "--until-idle", "--json", "--from-start")
        assert result.code == 1 and result.last["balanced"] and result.last["dead_lettered"] == 1, result
        assert len(home.letters()) == 1


def test_a_lost_letter_is_a_mismatch():
    import sqlite3
    with weir.Home() as home:
        feed = home.write("feed", '{"data":{"op":"c"}}\n' + GOOD)
        job = home.job(feed)
        home.replicate(feed, expect=1)
        db = sqlite3.connect(os.path.join(home.state, "jobs", "shop.db"))
        table = [n for (n,) in db.execute("select name from sqlite_master where type='table' and name like '%letter%'")][0]
        db.execute("delete from " + table)
        db.commit()
        db.close()
        refused(home, "ledger_mismatch", 70, job)


def test_job_file_from_a_newer_weir():
    with weir.Home() as home:
        path = home.write("j.json", '{"format": 2, "name": "j", "template": "Cdc_To_BigQuery_Template", "parameters": {}}')
        r = home.run("run", path, "--json")
        assert r.code == 78 and r.error["code"] == "job_file_too_new", r


def test_state_file_from_a_newer_weir():
    import sqlite3
    with weir.Home() as home:
        feed = home.write("feed", GOOD)
        job = home.job(feed)
        home.replicate(feed)
        db = sqlite3.connect(os.path.join(home.state, "jobs", "shop.db"))
        db.execute("pragma user_version = 9999")
        db.close()
        refused(home, "state_too_new", 78, job)


def test_second_engine_on_a_home():
    with weir.Home() as home:
        feed = home.write("feed", GOOD)
        home.job(feed)
        first = home.start("--run", "shop.json", program="weird")
        while home.run("engine", "status").code != 0:
            assert first.poll() is None
        second = home.run("--run", "shop.json", "--json", program="weird")
        assert second.code == 69 and second.error["code"] == "engine_running", second


def test_a_run_that_another_engine_has_overtaken_joins_it():
    with weir.Home() as home:
        feed = home.write("feed", GOOD)
        home.job(feed)
        # As if this engine had been started between `weir run` finding none and becoming one.
        assert home.run("job", "list").code == 0
        r = home.run("--run", "shop.json", "--until-idle", "--json", program="weird", env={"WEIR_JOIN": os.path.join(home.build, "weir")})
        assert r.code == 0 and r.last["balanced"] and r.last["job"] == "shop", r
        assert home.run("engine", "status").code == 0


def test_other_content_under_the_same_name_is_shown():
    with weir.Home() as home:
        feed = home.write("feed", GOOD)
        home.replicate(feed)
        error = refused(home, "job_differs", 78, home.job(feed, updateFrequencySecs=7))
        assert "updateFrequencySecs" in error["message"], error
        refused(home, "job_differs", 78, home.job(feed), "--param", "updateFrequencySecs=9")
        r = home.run("run", home.job(feed, updateFrequencySecs=7), "--until-idle", "--json", "--replace")
        assert r.code == 0 and r.last["received"] == 10 and r.last["this_run"]["received"] == 0, r


def test_check_reports_every_problem_with_its_place():
    text = '{\n  "name": "j",\n  "template": "Cdc_To_BigQuery_Template",\n  "parameters": {\n    "warehouse": "lokal",\n    "inputFile": "x",\n    "inputSubscriptions": "s",\n    "updateFrequencySec": 3,\n    "parkBytes": "many"\n  }\n}\n'
    with weir.Home() as home:
        path = home.write("j.json", text)
        r = home.run("check", path, "--json")
        assert r.code == 78, r
        places = {(p["parameter"], p["line"]) for p in r.lines}
        assert {("warehouse", 5), ("updateFrequencySec", 8), ("parkBytes", 9)} <= places, r.lines
        near = [p for p in r.lines if p["parameter"] == "updateFrequencySec"][0]
        assert "updateFrequencySecs" in near["message"] and near["column"] == 5, near
        words = home.run("check", path)
        assert ":5:" in words.out.decode() and words.code == 78, words


def test_what_does_not_exist_yet_is_refused_at_start():
    with weir.Home() as home:
        feed = home.write("feed", GOOD)
        for parameters in ({"warehouse": "bigquery", "project": "acme-data", "updateFrequencySecs": 300}, {"messageFormat": "beam-row", "beamSchemas": feed}):
            r = home.run("run", home.job(feed, **parameters), "--json")
            assert r.code == 78 and r.error["code"] == "not_available_yet", r


def full_disk(home):
    """A file system of 3 MB below the home, or the reason why there is none."""
    folder = os.path.join(home.path, "small")
    os.makedirs(folder, exist_ok=True)
    r = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], stderr=subprocess.PIPE)
    if r.returncode:
        raise weir.Skip("no right to mount a small file system: " + r.stderr.decode().strip())
    return folder


def test_full_disk_waits_and_goes_on():
    with weir.Home() as home:
        folder = full_disk(home)
        try:
            ballast = os.path.join(folder, "ballast")
            with open(ballast, "wb") as f:
                f.write(b"x" * (5 << 19))
            home.env["WEIR_HOME"] = home.state = os.path.join(folder, "home")
            lines = weir.feed([weir.event({"id": i, "text": "t" * 300}, lsn=100 + i) for i in range(3000)], weir.id_key)
            home.job(home.write("feed", lines))
            p = home.start("--run", "shop.json", "--until-idle", "--json", program="weird")
            line = p.stderr.readline()
            assert b"waiting" in line and b"disk_full" in line, line
            assert p.poll() is None
            os.unlink(ballast)
            subprocess.run(["mount", "-o", "remount,size=60m", folder], check=True)
            out, err = p.communicate(timeout=60)
            assert p.returncode == 0, err
            result = json.loads(out)
            assert result["written"] == 3000 and result["balanced"], result
            home.verify()
            assert home.sql("select count(*) from t") == [(3000,)]
        finally:
            home.end_engine()
            subprocess.run(["umount", "-l", folder])


def test_read_only_warehouse():
    with weir.Home() as home:
        folder = full_disk(home)
        try:
            home.env["WEIR_HOME"] = home.state = os.path.join(folder, "home")
            feed = home.write("feed", GOOD)
            job = home.job(feed)
            home.replicate(feed)
            warehouse = os.path.join(home.state, "warehouse")
            r = subprocess.run("mount --bind %s %s && mount -o remount,bind,ro %s" % (warehouse, warehouse, warehouse), shell=True, stderr=subprocess.PIPE)
            if r.returncode:
                raise weir.Skip("no right to mount read-only: " + r.stderr.decode())
            try:
                refused(home, "no_permission", 77, job)
            finally:
                home.end_engine()
                subprocess.run(["umount", "-l", warehouse])
        finally:
            subprocess.run(["umount", "-l", folder])


def test_a_locked_warehouse_is_waited_for():
    import sqlite3
    with weir.Home() as home:
        feed = home.write("feed", GOOD)
        home.replicate(feed)
        with open(feed, "a") as f:
            f.write(weir.feed([weir.event({"id": 99, "n": 1}, lsn=999)], weir.id_key))
        db = sqlite3.connect(home.warehouse("shop_log"))
        db.execute("begin immediate")
        p = home.start("--run", "shop.json", "--until-idle", "--json", program="weird")
        line = p.stderr.readline()
        assert b"waiting" in line and b"database_locked" in line, line
        db.rollback()
        db.close()
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0 and json.loads(out)["received"] == 11, (out, err)


def test_usage_errors():
    with weir.Home() as home:
        for args in (["run"], ["run", "a", "b"], ["dlq", "show", "x"], ["tables", "--nope"], ["nonsense"], ["explain", "nope"], ["why", "no.such"]):
            r = home.run(*args)
            assert r.code == 2 and r.err and not r.out, (args, r)
        r = home.run("dlq", "show", "77", "--json")
        assert r.code == 2 and r.error["code"] == "letter_unknown", r


def two_jobs(home):
    home.replicate(home.write("feed", GOOD), name="fine", changeLogDataset="f_log", replicaDataset="f")
    home.replicate(home.write("feed", GOOD + '{"data":{"op":"c"}}\n'), name="hurt", changeLogDataset="h_log", replicaDataset="h", expect=1)
    home.run("engine", "stop")


def test_a_damaged_job_does_not_hide_the_others():
    with weir.Home() as home:
        two_jobs(home)
        os.truncate(os.path.join(home.state, "jobs", "hurt.db"), 5000)
        for command in (("tables",), ("status",), ("job", "list"), ("status", "--metrics")):
            r = home.run(*command, *(["--json"] if "--metrics" not in command else []))
            assert r.code == 70 and b"fine" in r.out and b"state_damaged" in r.err, (command, r)
        assert home.run("why", "f.t", "--json").last["state"] == "ok"


def test_a_missing_store_of_letters_is_said_by_every_look():
    with weir.Home() as home:
        two_jobs(home)
        for name in os.listdir(os.path.join(home.state, "jobs")):
            if name.startswith("hurt.db"):
                os.unlink(os.path.join(home.state, "jobs", name))
        for command in (("tables",), ("status",), ("dlq", "groups"), ("dlq", "list"), ("why", "h.t")):
            r = home.run(*command, "--json")
            assert r.code == 70 and r.error["code"] == "ledger_mismatch", (command, r)
        assert home.run("job", "delete", "hurt", "--yes").code == 0
        assert home.run("tables", "--json").code == 0


def test_verify_says_when_there_was_nothing_to_compare():
    with weir.Home() as home:
        home.replicate(home.write("feed", weir.feed([weir.event({"n": 1}, lsn=1)])))
        assert [n["code"] for n in home.run("verify", "shop", "--json").last["notes"]] == ["no_replica"]
        assert b"no replica" in home.run("verify", "shop").out
        before = sorted(os.listdir(os.path.join(home.state, "warehouse")))
        assert home.run("merge", "shop", "--rebuild").code == 2
        assert sorted(os.listdir(os.path.join(home.state, "warehouse"))) == before


def test_a_job_that_is_listed_is_never_said_to_be_unknown():
    """Between two looks at the folder a job may come: its own name is no answer to "did you mean". A link that leads nowhere
    is seen by the one look and not by the other, at any time."""
    with weir.Home() as home:
        assert home.run("engine", "start").code == 0
        os.symlink("/nowhere/shop.json", os.path.join(home.state, "jobs", "shop.json"))
        for words in (("job", "show", "shop"), ("pause", "shop"), ("tables", "--job", "shop")):
            r = home.run(*words)
            assert r.code and b"did you mean" not in r.err and b"shop.json" in r.err, (words, r)
        r = home.run("job", "show", "shpo")
        assert r.code == 78 and b"there is no job 'shpo'; did you mean 'shop'?" in r.err, r
