"""The dead-letter table in BigQuery: what stands in it, and that its trouble costs neither a row nor a letter."""
import base64
import json

import emulators
import test_bigquery
import weir
from test_cdc_bigquery import DEFAULT, PROJECT, run, write_job

TABLE = PROJECT + ":dl.errors"
WHEN = {"publish": "2022-02-22T22:22:22.222Z"}
DOCUMENTED = [("timestamp", "TIMESTAMP", "REQUIRED"), ("payloadString", "STRING", "REQUIRED"), ("payloadBytes", "BYTES", "REQUIRED"),
              ("attributes", "RECORD", "REPEATED"), ("errorMessage", "STRING", "NULLABLE"), ("stacktrace", "STRING", "NULLABLE")]


def line(body, **more):
    return dict(WHEN, data_b64=base64.b64encode(body).decode(), **more)


def good(i):
    return {"ds": "d", "tbl": "t", "id": str(i)}


def bodies(bq, table="dl.errors"):
    return sorted(base64.b64decode(row["payloadBytes"]) for row in bq.rows(table))


def told(home):
    return [entry for entry in home.run("journal", "--json", "--limit", "0").lines if "letters_not_written" in json.dumps(entry)]


def test_letters_are_rows_of_the_documented_table():
    feed = [line(b"bad id 1", id="m1", attrs={"tenant": "t1", "trace": "\u00e9"}), line(b"\xff\x00", id="m2"), good(1),
            line(json.dumps({"ds": "d", "tbl": "t", "n": "x"}).encode(), id="m3")]
    for given in ({"outputDeadletterTable": TABLE}, {"deadLetters": {"table": TABLE}}):
        with weir.Home() as home, emulators.bigquery("d", "dl", project=PROJECT) as bq:
            home.env.update(bq.env)
            home.write("schema.json", '[{"name":"n","type":"INTEGER"}]')
            result = run(home, feed, expect=1, schemaFilePath="schema.json", **DEFAULT, **given)
            assert result["written"] == 1 and result["dead_lettered"] == 3 and result["balanced"], result
            fields = [(f["name"], f["type"], f.get("mode", "NULLABLE")) for f in bq.resource("dl.errors")["schema"]["fields"]]
            assert fields[:6] == DOCUMENTED and fields[6:] == [("_weir_letter", "STRING", "NULLABLE")], fields
            rows = {base64.b64decode(row["payloadBytes"]): row for row in bq.rows("dl.errors")}
            assert len(rows) == 3 and {row["timestamp"] for row in rows.values()} == {"2022-02-22 22:22:22.222000+00"}, rows
            first = rows[b"bad id 1"]
            assert first["payloadString"] == "bad id 1" and first["errorMessage"].startswith("Failed to serialize json to table row"), first
            assert json.loads(first["attributes"]) == [{"key": "tenant", "value": "t1"}, {"key": "trace", "value": "\u00e9"}], first
            assert first["stacktrace"] and rows[b"\xff\x00"]["payloadString"] == "\ufffd\x00", rows
            refused = next(row for body, row in rows.items() if b'"n"' in body)
            assert "type_mismatch" in json.loads(refused["errorMessage"])["errors"][0]["message"] and refused["stacktrace"] is None, refused
            # Each stands there once, also when the job begins anew.
            run(home, expect=1, schemaFilePath="schema.json", args=("--from-start",), **DEFAULT, **given)
            assert len(bq.rows("dl.errors")) == len({row["_weir_letter"] for row in bq.rows("dl.errors")}) == 3


def test_a_table_of_the_original_is_used_as_it_is():
    record = [{"name": "key", "type": "STRING"}, {"name": "value", "type": "STRING"}]
    with weir.Home() as home, emulators.bigquery("d", "dl", project=PROJECT) as bq:
        home.env.update(bq.env)
        bq.table("dl.errors", [dict({"name": name, "type": kind, "mode": mode}, **({"fields": record} if kind == "RECORD" else {}))
                               for name, kind, mode in DOCUMENTED])
        before = bq.resource("dl.errors")["etag"]
        run(home, [line(b"broken")], expect=1, outputDeadletterTable=TABLE, **DEFAULT)
        assert bodies(bq) == [b"broken"] and bq.resource("dl.errors")["etag"] == before


def test_its_trouble_holds_up_no_row_and_loses_no_letter():
    """A missing dataset, a table of somebody else, a right that is withheld, a quota: rows go on, it is told once, and goes on by itself."""
    with weir.Home() as home, emulators.bigquery("d", project=PROJECT) as bq:
        home.env.update(bq.env)
        result = run(home, [good(0), line(b"a"), good(1)], expect=1, outputDeadletterTable=TABLE, **DEFAULT)
        assert result["written"] == 2 and result["dead_lettered"] == 1 and len(home.letters("--state", "new")) == 1, result
        assert len(told(home)) == 1 and "does not exist" in json.dumps(told(home)), told(home)
        bq.dataset("dl")
        bq.table("dl.errors", {"other": "STRING"})
        home.write("feed.jsonl", "".join(json.dumps(x) + "\n" for x in [good(0), line(b"a"), good(1), line(b"b"), good(2)]))
        result = run(home, expect=1, outputDeadletterTable=TABLE, **DEFAULT)
        assert result["written"] == 3 and result["dead_lettered"] == 2, result
        assert "has no column timestamp" in json.dumps(told(home)), told(home)
        bq.drop("dl.errors")
        bq.control("POST", "permissions", {"dl": ["bigquery.tables.updateData"]})
        result = run(home, expect=1, outputDeadletterTable=TABLE, **DEFAULT)
        assert bodies(bq) == [] and "bigquery.tables.updateData" in json.dumps(told(home)), told(home)
        bq.control("POST", "permissions", {})
        bq.fault("quota", "dl.errors", "insertAll", times=2)
        run(home, expect=1, outputDeadletterTable=TABLE, **DEFAULT)
        test_bigquery.until(lambda: bodies(bq) == [b"a", b"b"] or run(home, expect=1, outputDeadletterTable=TABLE, **DEFAULT) is None)
        assert bodies(bq) == [b"a", b"b"] and len(bq.rows("d.t")) == 3


def test_rows_that_fail_for_a_moment_are_sent_again_and_no_other():
    with weir.Home() as home, emulators.bigquery("d", "dl", project=PROJECT) as bq:
        home.env.update(bq.env)
        bq.fault("row", "dl.errors", "insertAll", times=1, rows=[1, 3], reason="backendError")
        run(home, [line(b"%d" % i) for i in range(5)], expect=1, outputDeadletterTable=TABLE, **DEFAULT)
        assert bodies(bq) == [b"%d" % i for i in range(5)]


def test_large_letters_keep_their_bytes_or_stay():
    """A text that does not fit beside its bytes is cut; what no row takes is told of and stays in the store."""
    bodies_of = {b"x": 4_200_000, b"\n": 1_500_000, b"y": 7_600_000, b"z": 100}
    with weir.Home() as home, emulators.bigquery("d", "dl", project=PROJECT) as bq:
        home.env.update(bq.env)
        run(home, [line(letter * size) for letter, size in bodies_of.items()], expect=1, maxRecordBytes=20_000_000, outputDeadletterTable=TABLE, **DEFAULT)
        found = {base64.b64decode(row["payloadBytes"])[:1]: row for row in bq.rows("dl.errors")}
        assert set(found) == {b"x", b"\n", b"z"}, [(k, len(v)) for k, v in found.items()]
        for letter, row in found.items():
            assert base64.b64decode(row["payloadBytes"]) == letter * bodies_of[letter], letter
            assert row["payloadString"] and set(row["payloadString"]) == {letter.decode()}, letter
        assert len(told(home)) == 1 and "larger than insertAll takes" in json.dumps(told(home)), told(home)
        assert len(home.letters("--state", "new")) == 4


def test_check_tries_the_place_and_looks_at_the_table():
    with weir.Home() as home, emulators.bigquery("d", project=PROJECT) as bq:
        home.env.update(bq.env)

        def found(**more):
            lines = home.run("check", write_job(home, [], outputDeadletterTable=TABLE, **DEFAULT, **more), "--json").lines
            return [entry for entry in lines if entry.get("parameter") == "outputDeadletterTable"]

        (missing,) = found()
        assert missing["level"] == "fails" and missing["code"] == "dataset_missing", missing
        assert missing["fix"] == "bq --location=LOCATION mk --dataset weir-test:dl", missing
        bq.dataset("dl")
        (fine,) = found()
        assert fine["level"] == "ok" and "the job makes it" in fine["message"] and "an entry was written" in fine["message"], fine
        assert not bq.rest("GET", "datasets/dl/tables").get("tables"), "a table was left behind"
        bq.table("dl.errors", {"other": "STRING"})
        (other,) = found()
        assert other["level"] == "fails" and other["code"] == "letters_table_differs", other
        bq.drop("dl.errors")
        bq.control("POST", "permissions", {"dl": ["bigquery.tables.updateData"]})
        (denied,) = found()
        assert denied["level"] == "fails" and denied["code"] == "bigquery_denied", denied


def test_a_kill_repeats_at_most_what_was_on_its_way():
    with weir.Home() as home, emulators.bigquery("d", "dl", project=PROJECT) as bq:
        home.env.update(bq.env)
        bq.settings(dedupe_s=0.001) # BigQuery's memory of ids is for a minute, and promises nothing
        bq.table("dl.errors", [{"name": name, "type": kind, "mode": mode, "fields": [{"name": "key", "type": "STRING"}, {"name": "value", "type": "STRING"}]}
                               if kind == "RECORD" else {"name": name, "type": kind, "mode": mode} for name, kind, mode in DOCUMENTED])
        bq.fault("slow", "dl.errors", "insertAll", times=1, delay_ms=10000) # taken, and answered later
        feed = [line(b"%d" % i) if i % 2 else good(i) for i in range(40)]
        process = home.start("--run", write_job(home, feed, outputDeadletterTable=TABLE, **DEFAULT), "--until-idle", program="weird")
        test_bigquery.until(lambda: len(bq.rows("dl.errors")) > 0)
        process.kill()
        process.wait()
        taken = len(bq.rows("dl.errors"))
        bq.lift()
        run(home, expect=1, outputDeadletterTable=TABLE, **DEFAULT)
        found = bodies(bq)
        assert sorted(set(found)) == sorted(b"%d" % i for i in range(1, 40, 2)) and len(found) == 20 + taken, (taken, found)


def test_a_changelogs_letters_have_their_table_too():
    with weir.Home() as home, emulators.bigquery(test_bigquery.LOG, "dl", project="weir-test") as bq:
        home.env.update(bq.env)
        feed = home.write("f", test_bigquery.two_tables(2) + "{broken\n")
        result = test_bigquery.run_bigquery(home, feed, expect=1, deadLetters={"table": "dl.errors"})
        assert result["written"] == 4 and bodies(bq) == [b"{broken"], result
        r = home.run("check", test_bigquery.bigquery_job(home, feed, deadLetters={"table": "dl"}), "--json")
        assert {entry.get("parameter"): entry["code"] for entry in r.lines}["deadLetters"] == "bad_parameter", r


def test_a_local_warehouse_has_it_in_a_dataset_of_its_own():
    with weir.Home() as home:
        r = home.run("run", home.job(home.write("f", "{broken\n"), deadLetters={"table": "dl.errors"}), "--until-idle", "--json")
        assert r.code == 1 and home.sql("select payloadBytes from errors", "dl") == [(b"{broken",)], r
