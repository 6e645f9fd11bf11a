"""Dead letters of PubSub_CDC_to_BigQuery: their table, their folder, and the way back out of it."""
import base64
import glob
import json
import os
import random
import signal
import time

import weir
from test_cdc_rows import job, rows

OLD = 1_600_000_000  # the time of a file that nobody writes any more


def b64(data):
    return base64.b64encode(data).decode()


def files(home, below="retry"):
    return sorted(glob.glob(home.file("letters") + "/" + below + "/**/*.json", recursive=True))


def entries(home, below="retry"):
    lines = []
    for path in files(home, below):
        with open(path) as f:
            lines += [json.loads(line) for line in f]
    return lines


def age(home):
    for path in files(home):
        os.utime(path, (OLD, OLD))


BOTH = {"outputDeadletterTable": "p:dl.errors", "deadLetterQueueDirectory": "letters", "deadLetterRetryInterval": "1s", "windowDuration": "1s"}


def test_table_and_folder_have_the_exact_bytes_and_attributes():
    """P3, P12, P21, B23, B27: both targets at once."""
    when = {"publish": "2022-02-22T22:22:22.222Z"}
    feed = [dict(when, id="m1", key="k", attrs={"tenant": "t1", "trace": "abc"}, data_b64=b64(b"bad id 1")),
            dict(when, id="m2", data_b64=b64(b"\xff")),
            dict(when, id="m3", data_b64=b64(b'{"id":1,"n":"not-a-number"}\n'))]
    with weir.Home() as home:
        home.write("schema.json", '[{"name":"n","type":"INTEGER"}]')
        job(home, feed, expect=1, outputTableNameTemplate="t", schemaFilePath="schema.json", **BOTH)
        found = home.sql("select timestamp, payloadString, payloadBytes, attributes, errorMessage, stacktrace from errors order by _weir_letter", "dl")
        assert [r[0] for r in found] == ["2022-02-22 22:22:22.222000+00"] * 3
        by = {r[2]: r for r in found}
        first = by[b"bad id 1"]
        assert first[1] == "bad id 1" and json.loads(first[3]) == [{"key": "tenant", "value": "t1"}, {"key": "trace", "value": "abc"}]
        assert first[4].startswith("Failed to serialize json to table row") and "not_json" in first[4] and first[5]
        assert by[b"\xff"][1] == "\ufffd"
        refused = by[b'{"id":1,"n":"not-a-number"}\n']
        assert "type_mismatch" in json.loads(refused[4])["errors"][0]["message"] and refused[5] is None
        lines = {e["message_id"]: e for e in entries(home)}
        assert len(lines) == 3 and lines["m1"]["message"] == "bad id 1" and lines["m1"]["ordering_key"] == "k", lines
        assert lines["m1"]["attributes"] == [{"key": "tenant", "value": "t1"}, {"key": "trace", "value": "abc"}]
        assert base64.b64decode(lines["m2"]["payload_base64"]) == b"\xff"
        assert lines["m3"]["message"] == '{"id":1,"n":"not-a-number"}\n', lines["m3"]
        # retry/YYYY/MM/DD/HH/mm, with a day where the original has DD
        parts = os.path.relpath(files(home)[0], home.file("letters")).split(os.sep)
        assert parts[0] == "retry" and all(p.isdigit() for p in parts[1:6]) and [len(p) for p in parts[1:6]] == [4, 2, 2, 2, 2], parts
        # Nothing comes twice when the job starts again.
        job(home, expect=1, outputTableNameTemplate="t", schemaFilePath="schema.json", args=("--from-start",), **BOTH)
        assert home.sql("select count(*) from errors", "dl") == [(3,)]


def mend(home):
    """By hand, in the files."""
    for path in files(home):
        with open(path) as f:
            text = f.read().replace('"tblx"', '"tbl"')
        with open(path, "w") as f:
            f.write(text)


def test_an_entry_is_tried_again_and_at_last_put_aside():
    with weir.Home() as home:
        job(home, [{"id": "m1", "data": {"tblx": "t", "id": 1}}, {"id": "m2", "data_b64": b64(b"never")}], expect=1, deadLetterRetries=2, **BOTH)
        assert [e["retry_count"] for e in entries(home)] == [0, 0]
        mend(home)
        age(home)
        job(home, expect=1, deadLetterRetries=2, **BOTH)
        assert [(e["message"], e["retry_count"]) for e in entries(home)] == [("never", 1)]
        assert rows(home, "t") == [{"tbl": "t", "id": "1"}]
        age(home)
        job(home, expect=1, deadLetterRetries=2, **BOTH)
        assert not entries(home) and [(e["message"], e["retry_count"]) for e in entries(home, "severe")] == [("never", 2)]
        job(home, expect=1, deadLetterRetries=2, **BOTH)
        assert len(entries(home, "severe")) == 1
        states = {x["line"] if "line" in x else x["source"]["line"]: x["state"] for x in home.letters()}
        assert states == {1: "done", 2: "failed again"}, states


def entry(i, **more):
    return json.dumps(dict({"message": {"tbl": "t%d" % (i % 5), "n": i}, "error_message": "e"}, **more)) + "\n"


def test_entries_of_the_original_template_are_taken():
    """P20; a message that is no object poisons nothing; half a file is left until it is whole."""
    with weir.Home() as home:
        os.makedirs(home.file("letters/retry/2024/03/DD/10/05"))
        first = home.write("letters/retry/2024/03/DD/10/05/error-00000-of-00020.json", '{"message":{"tbl":"t","datasample1":"datasample1"},"error_message":"errorsample3"}\n'
                           '{"message":{"tbl":"t","datasample1":"again","_metadata_retry_count":1},"error_message":{"errors":[]}}\n{"message":"bad id 1","error_message":400}\n')
        half = home.write("letters/retry/2024/03/DD/10/05/error-00001-of-00020.json", '{"message":{"tbl":"t","datasample1":"half"},"err')
        age(home)
        lately = time.time() - 60
        os.utime(half, (lately, lately))
        job(home, [], deadLetterMetadata=True, **BOTH)
        found = {r["datasample1"]: r for r in rows(home, "t")}
        assert set(found) == {"datasample1", "again"}, found
        assert found["datasample1"]["_metadata_retry_count"] == "1" and found["datasample1"]["_metadata_error"] == "errorsample3"
        assert found["again"]["_metadata_retry_count"] == "2"
        assert not os.path.exists(first) and os.path.exists(half)
        os.rename(half, home.file("half"))
        assert [(e["message"], e["retry_count"]) for e in entries(home)] == [("bad id 1", 1)], entries(home)


def test_what_is_no_entry_neither_stays_for_ever_nor_leads_elsewhere():
    """A half file that nobody goes on with is taken as it stands; a link, by which others could have a file read that only its owner may, is not
    followed, and told."""
    with weir.Home() as home:
        below = home.file("letters/retry/2024/03/05/10/05/")
        os.makedirs(below)
        secret = home.write("secret", '{"message":{"tbl":"t","secret":"s"},"error_message":"e"}\n')
        home.write("letters/retry/2024/03/05/10/05/half.json", '{"message":{"tbl":"t","a":1},"error_message":"e"}\n{"message":{"tbl":"t","a":2},"err')
        home.write("letters/retry/2024/03/05/10/05/binary.json", "\x7fELF\1\0\0")
        os.utime(secret, (OLD, OLD))
        os.symlink(secret, below + "link.json")
        age(home)
        job(home, [], expect=1, **dict(BOTH, deadLetterRetries=1))
        assert rows(home, "t") == [{"tbl": "t", "a": "1"}] and os.listdir(below) == ["link.json"] and os.path.exists(secret)
        assert {e["message"] for e in entries(home, "severe")} == {"\x7fELF\1\0\0", '{"message":{"tbl":"t","a":2},"err'}
        assert b"link.json': it is a symbolic link" in home.run("logs").out, home.run("logs")


def test_a_nul_in_a_message_makes_no_other_entry_of_it():
    """It is JSON's, and comes back as the letter that it was: mended, or given up after as many tries as others."""
    with weir.Home() as home:
        job(home, [{"id": "m1", "data": {"tblx": "t", "s": "a\0b"}}, {"id": "m2", "data": {"nowhere": "\0"}}], expect=1, deadLetterRetries=1, **BOTH)
        mend(home)
        age(home)
        job(home, expect=1, deadLetterRetries=1, **BOTH)
        assert rows(home, "t") == [{"tbl": "t", "s": "a\0b"}], rows(home, "t")
        assert [e["message_id"] for e in entries(home, "severe")] == ["m2"] and len(home.letters()) == 2, home.letters()


def test_a_message_that_names_the_dead_letter_table_is_a_letter():
    """Else it would add columns to it, or pass for a letter."""
    forged = {"tbl": "Errors", "timestamp": "2020-01-01 00:00:00", "payloadString": "forged", "payloadBytes": "AA==", "errorMessage": "x"}
    with weir.Home() as home:
        result = job(home, [{"id": "m1", "data": {"tbl": "errors", "a": 1}}, {"id": "m2", "data": forged}, {"id": "m3", "data": {"tbl": "t"}}], expect=1,
                     outputDeadletterTable="p:d.errors")
        assert result["written"] == 1 and [x["code"] for x in home.letters()] == ["bad_destination"] * 2, home.letters()
        columns = [name for (name,) in home.sql("select name from pragma_table_info('errors')", "d")]
        assert "a" not in columns and home.sql("select count(*) from errors where payloadString like '{%'", "d") == [(2,)], columns


def play(home, count, kills, seed):
    """Files come while the job reads them and is killed; gives how often it was killed."""
    rng = random.Random(seed)
    folder = home.file("letters/retry/2024/01/01/00/00")
    os.makedirs(folder)
    p = {"warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "d", "outputTableNameTemplate": "{tbl}", "deadLetterQueueDirectory": "letters",
         "deadLetterRetryInterval": "1s", "windowDuration": "1s", "deadLetterRetries": 1}
    home.write("feed.jsonl", "")
    home.write("loop.json", json.dumps({"name": "loop", "template": "PubSub_CDC_to_BigQuery", "parameters": p}))
    points = ["letters_taken", "letters_file_removed", "replay_rows_committed", "replay_states_written", "letters_filed", "letters_sent", "letters_placed", "rows_committed"]
    written, died = 0, 0
    while written < count or kills:
        for i in range(written, min(count, written + max(1, count // (kills + 2)))):
            # One in ten can never be written, and goes below severe.
            text = entry(i) if i % 10 else json.dumps({"message": "never %d" % i, "error_message": "e"}) + "\n"
            scratch = home.write("scratch", text)
            os.utime(scratch, (OLD, OLD))
            os.rename(scratch, os.path.join(folder, "error-%05d.json" % i))
            written = i + 1
        env = {"WEIR_CRASH": "%s:%d" % (rng.choice(points), rng.randrange(1, 4))} if kills else {}
        r = home.run("--run", "loop.json", "--until-idle", env=env, program="weird")
        died += r.code == -signal.SIGKILL
        kills -= bool(kills)
        age(home)
    return died


def finish(home):
    for _ in range(40):
        age(home)
        r = home.run("--run", "loop.json", "--until-idle", "--json", program="weird")
        assert r.code in (0, 1), r
        if not files(home):
            return r.last
    raise AssertionError("entries are left for ever: %r" % files(home)[:3])


def test_each_entry_once_and_none_for_ever_whenever_it_is_killed():
    crash = os.path.join(weir.ROOT, "build", "crash", "weird")
    count = int(os.environ.get("WEIR_CDC_FILES", 60))
    seed = weir.first_seed()
    print("seed %d: WEIR_SEED=%d python3 tests/e2e/run.py test_cdc_letters.py" % (seed, seed))
    with weir.Home(os.path.dirname(crash) if os.path.exists(crash) else None) as home:
        play(home, count, 6 if os.path.exists(crash) else 0, seed)
        finish(home)
        found = sorted(int(n) for t in range(5) for (n,) in home.sql("select n from t%d" % t, "d"))
        assert found == [i for i in range(count) if i % 10], (len(found), count)
        severe = [e["message"] for e in entries(home, "severe")]
        assert sorted(severe) == sorted("never %d" % i for i in range(0, count, 10)), severe
        assert not glob.glob(home.file("letters") + "/tmp/.temp*")
