"""Dead-letter folder and schema file of PubSub_CDC_to_BigQuery on Cloud Storage: the stand-in, its faults, kills."""
import json
import os
import random
import signal
import time

import emulators
import weir
from test_cdc_letters import BOTH, b64, entry
from test_cdc_rows import job, rows
from test_cdc_schema_file import Running

BUCKET = "letters-of-weir"
FOLDER = {"deadLetterQueueDirectory": "gs://%s/some/letters/" % BUCKET, "deadLetterRetryInterval": "1s", "windowDuration": "1s"}
AT = "some/letters/"


def entries(gs, below="retry"):
    """The entries of the folder, object by object."""
    return [json.loads(line) for content in gs.objects(BUCKET, AT + below + "/").values() for line in content.splitlines()]


def tables(home):
    return [name for (name,) in home.sql("select name from sqlite_master where type = 'table'", "d")] if os.path.exists(home.warehouse("d")) else []


def test_letters_go_to_the_bucket_as_they_go_to_a_folder():
    """B23, B27: exact bytes, attributes; names that are the only ones of their kind; nothing twice."""
    feed = [{"id": "m1", "key": "k", "attrs": {"tenant": "t1", "trace": "abc"}, "publish": "2022-02-22T22:22:22.222Z", "data_b64": b64(b"bad id 1")},
            {"id": "m2", "data_b64": b64(b"\xff")}, {"id": "m3", "data": {"tbl": "t", "a": 1}}]
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        result = job(home, feed, expect=1, env=gs.env, **FOLDER)
        assert result["dead_lettered"] == 2 and rows(home, "t") == [{"tbl": "t", "a": "1"}], result
        lines = {e["message_id"]: e for e in entries(gs)}
        assert len(lines) == 2 and lines["m1"]["message"] == "bad id 1" and lines["m1"]["ordering_key"] == "k", lines
        assert lines["m1"]["attributes"] == [{"key": "tenant", "value": "t1"}, {"key": "trace", "value": "abc"}]
        assert lines["m2"]["payload_base64"] == "/w==" and lines["m2"]["retry_count"] == 0
        (name,) = gs.objects(BUCKET)
        parts = name[len(AT):].split("/")
        assert parts[0] == "retry" and [len(p) for p in parts[1:6]] == [4, 2, 2, 2, 2] and all(p.isdigit() for p in parts[1:6]), parts
        assert not os.path.exists(home.file("letters")) and not os.path.exists(home.file("gs:"))


def test_entries_come_back_and_are_put_aside_at_last():
    """P20; mended by hand in the object; an object that is no entry; folders' marks and hidden names are passed over."""
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        job(home, [{"id": "m1", "data": {"tblx": "t", "id": 1}}, {"id": "m2", "data_b64": b64(b"never")}], expect=1, env=gs.env, deadLetterRetries=2, **FOLDER)
        for name, content in gs.objects(BUCKET).items():
            gs.put(BUCKET, name, content.replace(b'"tblx"', b'"tbl"'))
        gs.put(BUCKET, AT + "retry/2024/03/DD/10/05/error-00000-of-00020.json",
               '{"message":{"tbl":"t","id":"7"},"error_message":"errorsample3"}\n{"message":{"tbl":"t","id":"8","_metadata_retry_count":1},"error_message":{"errors":[]}}')
        gs.put(BUCKET, AT + "retry/empty/", "")
        gs.put(BUCKET, AT + "retry/.hidden", "x")
        job(home, expect=1, env=gs.env, deadLetterRetries=2, **FOLDER)
        left = [name for name in gs.objects(BUCKET) if not name.endswith("/") and "/." not in name]
        assert len(left) == 1, left
        (line,) = gs.objects(BUCKET)[left[0]].splitlines()
        assert json.loads(line)["message"] == "never" and json.loads(line)["retry_count"] == 1, line
        assert sorted(r["id"] for r in rows(home, "t")) == ["1", "7", "8"]
        job(home, expect=1, env=gs.env, deadLetterRetries=2, **FOLDER)
        assert [(e["message"], e["retry_count"]) for e in entries(gs, "severe")] == [("never", 2)]
        left = sorted(name for name in gs.objects(BUCKET, AT + "retry"))
        assert left == [AT + "retry/.hidden", AT + "retry/empty/"], left


def test_a_bucket_that_is_away_holds_no_row_up_and_loses_no_letter():
    bad = [{"id": "b%d" % i, "data_b64": b64(b"bad %d" % i)} for i in range(5)]
    with weir.Home() as home, emulators.storage() as gs:
        # There is no such bucket: rows go on, letters wait, the job says so.
        result = job(home, bad + [{"id": "m", "data": {"tbl": "t", "a": 1}}], expect=1, env=gs.env, **FOLDER)
        assert result["written"] == 1 and result["dead_lettered"] == 5 and rows(home, "t") == [{"tbl": "t", "a": "1"}], result
        (note,) = [n for t in result["tables"] for n in t["notes"] if n["code"] == "dead_letters_wait"]
        assert note["text"] == "there is no bucket 'gs://%s'" % BUCKET, note
        gs.bucket(BUCKET)
        job(home, expect=1, env=gs.env, **FOLDER)
        assert sorted(e["message"] for e in entries(gs)) == ["bad %d" % i for i in range(5)]


def test_an_answer_that_is_lost_writes_and_takes_nothing_twice():
    bad = [{"id": "b%d" % i, "data_b64": b64(b"bad %d" % i)} for i in range(3)]
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        gs.fault("objects.insert", late=True, count=1)
        job(home, bad, expect=1, env=gs.env, **FOLDER)
        assert sorted(e["message"] for e in entries(gs)) == ["bad 0", "bad 1", "bad 2"] and len(gs.objects(BUCKET)) == 1
        gs.put(BUCKET, AT + "retry/x.json", entry(1))
        gs.fault("objects.delete", late=True, count=1)
        gs.fault("objects.list", status=503, count=1)
        gs.fault("objects.get", count=1)
        job(home, expect=1, env=gs.env, **FOLDER)
        assert rows(home, "t1") == [{"tbl": "t1", "n": "1"}]
        assert AT + "retry/x.json" not in gs.objects(BUCKET)


def test_what_cannot_be_removed_is_not_taken_twice():
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        gs.put(BUCKET, AT + "retry/x.json", entry(1))
        gs.fault("objects.delete", status=403, reason="forbidden")
        for _ in range(2):
            job(home, [], env=gs.env, **FOLDER)
        assert rows(home, "t1") == [{"tbl": "t1", "n": "1"}] and AT + "retry/x.json" in gs.objects(BUCKET)
        # Written anew, under the same name: another file.
        gs.put(BUCKET, AT + "retry/x.json", entry(2))
        gs.lift()
        job(home, env=gs.env, **FOLDER)
        assert rows(home, "t2") == [{"tbl": "t2", "n": "2"}] and not gs.objects(BUCKET)


def test_a_bucket_that_never_answers_is_said_and_when_it_is_back_no_longer():
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        home.env.update(gs.env)
        gs.put(BUCKET, AT + "retry/x.json", entry(1))
        gs.fault("objects.*", hangMs=3000, status=503, reason="backendError")
        running = Running(home, None, **FOLDER)
        for i in range(20):
            running.send(tbl="t", a=i)
            running.send("bad %d" % i)
        # Rows went on meanwhile, and nothing came or went.
        assert len(rows(home, "t")) == 20 and list(gs.objects(BUCKET)) == [AT + "retry/x.json"] and "t1" not in tables(home)
        # What does not pass by itself is said at once; then it is mended.
        gs.lift()
        gs.fault("objects.*", status=403, reason="forbidden")
        running.until(lambda: any("a fault of the test" in note["text"] for note in running.notes("dead_letters_wait")))
        gs.lift()
        running.until(lambda: "t1" in tables(home) and not running.notes("dead_letters_wait"))
        assert rows(home, "t1") == [{"tbl": "t1", "n": "1"}]


def test_more_objects_than_a_page_and_larger_ones_than_a_part():
    """Pages of a thousand, which are gone through while nothing can be removed; parts of 8 MiB, of one generation."""
    big = "".join(entry(i, filler="x" * 10000) for i in range(1800))
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        home.env.update(gs.env)
        assert len(big) > 2 * (8 << 20)
        for i in range(1100):
            gs.put(BUCKET, AT + "retry/many/%04d.json" % i, entry(1800 + i))
        gs.put(BUCKET, AT + "retry/a-big-one.json", big)
        gs.fault("objects.delete", status=403, reason="forbidden")
        running = Running(home, None, outputTableNameTemplate="all", **FOLDER)
        running.until(lambda: "all" in tables(home) and len(rows(home, "all")) == 2900)
        assert sorted(int(r["n"]) for r in rows(home, "all")) == list(range(2900))
        assert gs.counts()["objects.get"] >= 1100 + 3 and len(gs.objects(BUCKET)) == 1101, gs.counts()


LARGE = b"\x01" * 2000000  # each byte is six in a line: an object of 14 MB


def large_letters(home, gs):
    result = job(home, [{"id": "m%d" % i, "data_b64": b64(LARGE if i == 2 else b"small")} for i in range(3)], expect=1, env=gs.env, **FOLDER)
    assert result["dead_lettered"] == 3, result
    # A run waits for ten seconds at its end; what is not done then is done by the next.
    for _ in range(10):
        if not gs.objects(BUCKET):
            job(home, expect=1, env=gs.env, **FOLDER)
    assert sorted(len(e["message"]) for e in entries(gs)) == [5, 5, len(LARGE)] and len(gs.objects(BUCKET)) == 1
    (large,) = [e["message"] for e in entries(gs) if len(e["message"]) > 5]
    assert large.encode() == LARGE


def test_a_large_file_goes_up_in_parts():
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        large_letters(home, gs)
        counts = gs.counts()
        assert counts["uploads.begin"] == 1 and counts["uploads.send"] == 3 and "uploads.ask" not in counts and "objects.insert" not in counts, counts


# libcurl itself sends a part once more whose connection ended without a word, if it had been used before: so each fault comes twice.
def test_a_part_that_is_cut_goes_on_where_it_was_cut():
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        gs.fault("uploads.send", cutAfter=1 << 20, skip=1, count=2)
        large_letters(home, gs)
        counts = gs.counts()
        assert counts["uploads.begin"] == 1 and counts["uploads.ask"] >= 1 and counts["fault uploads.send"] == 2, counts


def test_an_upload_whose_last_answer_is_lost_is_asked_about():
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        gs.fault("uploads.send", late=True, skip=2, count=2)
        large_letters(home, gs)
        counts = gs.counts()
        assert counts["uploads.begin"] == 1 and counts["uploads.ask"] == 1 and counts["fault uploads.send"] == 2, counts


def test_an_upload_goes_through_all_kinds_of_trouble():
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        gs.fault("uploads.begin", status=503, reason="backendError", count=1)
        gs.fault("uploads.begin", late=True, count=2)
        gs.fault("uploads.send", status=429, reason="rateLimitExceeded", count=1)
        gs.fault("uploads.send", status=410, reason="gone", skip=1, count=1)
        gs.fault("uploads.send", cutAfter=100, skip=2, count=2)
        gs.fault("uploads.ask", status=500, reason="internalError", count=1)
        large_letters(home, gs)
        counts = gs.counts()
        assert counts["fault uploads.begin"] == 3 and counts["fault uploads.send"] == 4 and counts["fault uploads.ask"] == 1, counts


def test_a_session_that_is_forgotten_is_begun_again():
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        gs.fault("uploads.send", status=404, reason="notFound", skip=1, count=1)
        large_letters(home, gs)
        assert gs.counts()["uploads.begin"] == 2, gs.counts()


def test_an_upload_that_is_refused_waits_and_is_said():
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        gs.fault("uploads.begin", status=403, reason="forbidden")
        result = job(home, [{"id": "m1", "data_b64": b64(LARGE)}], expect=1, env=gs.env, **FOLDER)
        (note,) = [n for t in result["tables"] for n in t["notes"] if n["code"] == "dead_letters_wait"]
        assert "a fault of the test" in note["text"] and not gs.objects(BUCKET), note
        gs.lift()
        job(home, expect=1, env=gs.env, **FOLDER)
        assert [len(e["message"]) for e in entries(gs)] == [len(LARGE)]


def killed_at(home, gs, fault):
    """Runs the job until `fault` has met one of its calls, which then hangs, and kills it."""
    name = "fault " + fault["method"]
    before = gs.counts().get(name, 0)
    gs.fault(hangMs=600000, count=1, **fault)
    process = home.start("--run", "large.json", "--until-idle", env=gs.env, program="weird")
    end = time.monotonic() + 120
    while gs.counts().get(name, 0) == before:
        assert process.poll() is None and time.monotonic() < end, process.communicate()
        time.sleep(0.02)
    process.kill()
    process.communicate()


def test_a_large_file_is_there_once_wherever_it_is_killed():
    """Before the session, in its midst, and when all is there but nobody said so; its name is the same each time."""
    with weir.Home() as home, emulators.storage(BUCKET) as gs:
        home.write("feed.jsonl", json.dumps({"id": "m1", "data_b64": b64(LARGE)}) + "\n")
        p = {"warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "d", "outputTableNameTemplate": "{tbl}"}
        home.write("large.json", json.dumps({"name": "large", "template": "PubSub_CDC_to_BigQuery", "parameters": dict(p, **FOLDER)}))
        killed_at(home, gs, {"method": "uploads.begin"})
        killed_at(home, gs, {"method": "uploads.send", "skip": 1})
        gs.fault("uploads.send", late=True, skip=2, count=2)
        killed_at(home, gs, {"method": "uploads.ask"})
        assert len(gs.objects(BUCKET)) == 1
        r = home.run("--run", "large.json", "--until-idle", env=gs.env, program="weird")
        assert r.code in (0, 1), r
        assert [len(e["message"]) for e in entries(gs)] == [len(LARGE)] and len(gs.objects(BUCKET)) == 1


def play(home, gs, count, kills, seed):
    """Objects come while the job reads them and is killed; gives how often it was killed."""
    rng = random.Random(seed)
    p = {"warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "d", "outputTableNameTemplate": "{tbl}", "deadLetterRetries": 1}
    home.write("feed.jsonl", "")
    home.write("loop.json", json.dumps({"name": "loop", "template": "PubSub_CDC_to_BigQuery", "parameters": dict(p, **FOLDER)}))
    points = ["letters_taken", "letters_file_removed", "replay_rows_committed", "replay_states_written", "letters_filed", "letters_sent", "letters_placed", "rows_committed"]
    written, died = 0, 0
    while written < count or kills:
        for i in range(written, min(count, written + max(1, count // (kills + 2)))):
            # One in ten can never be written, and goes below severe.
            gs.put(BUCKET, AT + "retry/2024/01/01/00/00/error-%05d.json" % i,
                   entry(i) if i % 10 else json.dumps({"message": "never %d" % i, "error_message": "e"}) + "\n")
            written = i + 1
        # Answers are lost on the way, too.
        gs.fault(rng.choice(("objects.insert", "objects.delete", "objects.get", "objects.list")), late=bool(rng.randrange(2)), count=1)
        env = {"WEIR_CRASH": "%s:%d" % (rng.choice(points), rng.randrange(1, 4))} if kills else {}
        r = home.run("--run", "loop.json", "--until-idle", env=dict(gs.env, **env), program="weird")
        died += r.code == -signal.SIGKILL
        kills -= bool(kills)
    return died


def finish(home, gs):
    for _ in range(60):
        r = home.run("--run", "loop.json", "--until-idle", "--json", env=gs.env, program="weird")
        assert r.code in (0, 1), r
        if not gs.objects(BUCKET, AT + "retry"):
            return
    raise AssertionError("entries are left for ever: %r" % list(gs.objects(BUCKET, AT + "retry"))[:3])


def test_each_entry_once_and_none_for_ever_whenever_it_is_killed():
    crash = os.path.join(weir.ROOT, "build", "crash", "weird")
    count = int(os.environ.get("WEIR_CDC_FILES", 60))
    seed = weir.first_seed()
    print("seed %d: WEIR_SEED=%d python3 tests/e2e/run.py test_cdc_storage.py" % (seed, seed))
    with weir.Home(os.path.dirname(crash) if os.path.exists(crash) else None) as home, emulators.storage(BUCKET) as gs:
        play(home, gs, count, 6 if os.path.exists(crash) else 0, seed)
        gs.lift()
        finish(home, gs)
        found = sorted(int(n) for t in range(5) for (n,) in home.sql("select n from t%d" % t, "d"))
        assert found == [i for i in range(count) if i % 10], (len(found), count)
        severe = [e["message"] for e in entries(gs, "severe")]
        assert sorted(severe) == sorted("never %d" % i for i in range(0, count, 10)), severe
