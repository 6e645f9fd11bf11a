"""The schema file of PubSub_CDC_to_BigQuery: types and modes, on a disk and on Cloud Storage, and what happens when it changes while the job runs."""
import json
import os
import time

import emulators
import weir
from test_cdc_rows import job, rows

PATIENCE_S = 60
AT = "gs://schemas/of/weir.json"


def columns(home, table, dataset="d"):
    """{column: type}."""
    return dict(home.sql("select name, type from _weir_columns where table_name = ?", dataset, table))


class Running:
    """A job that follows its feed; messages are appended to it."""

    def __init__(self, home, path, env=None, **parameters):
        self.home, self.sent = home, 0
        home.write("feed.jsonl", "")
        p = dict({"warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "d", "outputTableNameTemplate": "{tbl}",
                  "schemaFilePath": path, "schemaFileInterval": "1s"}, **parameters)
        p = {name: value for name, value in p.items() if value is not None}
        home.write("rows.json", json.dumps({"name": "rows", "template": "PubSub_CDC_to_BigQuery", "parameters": p}))
        for words in (("job", "create", "rows.json"), ("start", "rows")):
            r = home.run(*words, env=env)
            assert r.code == 0, r

    def shown(self):
        return self.home.run("job", "show", "rows", "--json").last

    def until(self, is_so):
        end = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < end, self.shown()
            time.sleep(0.05)

    def is_settled(self):
        """What is received counts before it is written."""
        shown = self.shown()
        return shown.get("received") == self.sent == shown["written"] + shown["dead_lettered"] and not shown["in_flight"]

    def send(self, line=None, **row):
        """Waits until it is written, or a letter."""
        with open(self.home.file("feed.jsonl"), "a") as f:
            f.write((line or json.dumps(row)) + "\n")
        self.sent += 1
        self.until(self.is_settled)

    def notes(self, code):
        return [n for line in self.shown()["tables"] for n in line["notes"] if n["code"] == code]

    def send_until_noted(self, code, count=1):
        """News of the file come with the next message: one is sent until they are told."""
        end = time.monotonic() + PATIENCE_S
        while sum(n["count"] for n in self.notes(code)) < count:
            assert time.monotonic() < end, (code, self.shown())
            self.send(tbl="knock")
        return [n["text"] for n in self.notes(code)]


def check_reloading(home, running, write, remove):
    running.send(tbl="t", a=1)
    write('[{"name":"a","type":"STRING"},{"name":"b","type":"INTEGER"},{"name":"r","type":"RECORD","fields":[{"name":"x","type":"DATE"}]}]')
    running.send_until_noted("schema_file_changed")
    running.send(tbl="t", b=2, r={"x": "2020-01-02"})
    assert rows(home, "t") == [{"tbl": "t", "a": 1, "b": None, "r": None}, {"tbl": "t", "a": None, "b": 2, "r": '{"x":"2020-01-02"}'}], rows(home, "t")
    # A bad one: told with line and column, the one before stays in force, once however long it lies there.
    write('[{"name":"c",\n "type":"WRONG"}]')
    (said,) = running.send_until_noted("schema_file_kept")
    assert "line 2, column 9: [0]: 'WRONG' is no type of BigQuery; the one before stays in force" in said, said
    running.send(tbl="u", b=3)
    assert rows(home, "u") == [{"tbl": "u", "b": 3}]
    remove()
    said = running.send_until_noted("schema_file_kept", 2)
    assert any("there is no " in text for text in said), said
    # Mended: REQUIRED holds for columns that are there, too.
    write('[{"name":"b","type":"STRING","mode":"REQUIRED"},{"name":"c","type":"BOOL"}]')
    running.send_until_noted("schema_file_changed", 2)
    running.send(tbl="u", c=True)
    running.send(tbl="u", b=4, c=True)
    assert rows(home, "u") == [{"tbl": "u", "b": 3, "c": None}, {"tbl": "u", "b": 4, "c": 1}], rows(home, "u")
    assert [x["code"] for x in home.letters()] == ["missing_required"]


def test_a_file_that_changes_is_followed_and_a_bad_one_is_not():
    with weir.Home() as home:
        path = home.write("schema.json", '[{"name":"a","type":"INTEGER"}]')

        def write(text):
            scratch = home.write("scratch", text)
            os.rename(scratch, path)

        check_reloading(home, Running(home, "schema.json"), write, lambda: os.remove(path))


def test_the_same_on_cloud_storage():
    with weir.Home() as home, emulators.storage("schemas") as gs:
        gs.put("schemas", "of/weir.json", '[{"name":"a","type":"INTEGER"}]')
        home.env.update(gs.env)
        check_reloading(home, Running(home, AT), lambda text: gs.put("schemas", "of/weir.json", text), lambda: gs.remove("schemas", "of/weir.json"))


def test_a_bucket_that_is_away_changes_nothing():
    with weir.Home() as home, emulators.storage("schemas") as gs:
        gs.put("schemas", "of/weir.json", '[{"name":"a","type":"INTEGER"}]')
        home.env.update(gs.env)
        running = Running(home, AT)
        running.send(tbl="t", a=1)
        gs.fault("objects.*", status=503, reason="backendError")
        looked = gs.counts().get("fault objects.get", 0)
        running.until(lambda: (running.send(tbl="t", a=1), gs.counts().get("fault objects.get", 0) > looked + 1)[1])
        assert not running.notes("schema_file_kept") and columns(home, "t")["a"] == "INT64"
        gs.lift()
        gs.put("schemas", "of/weir.json", '[{"name":"b","type":"FLOAT"}]')
        running.send_until_noted("schema_file_changed")


def test_every_type_and_mode_from_a_bucket():
    """All types in both spellings, modes, nested fields, in any letter case; the strict reading of the old meaning by parameter."""
    kinds = ["INTEGER", "INT64", "FLOAT", "FLOAT64", "BOOLEAN", "BOOL", "NUMERIC", "BIGNUMERIC", "STRING", "BYTES", "DATE", "DATETIME", "TIME", "TIMESTAMP", "JSON",
             "GEOGRAPHY", "INTERVAL", "integer", "Numeric(10, 2)"]
    fields = [{"name": "c%d" % i, "type": kind} for i, kind in enumerate(kinds)]
    fields += [{"name": "many", "type": "int64", "mode": "repeated"}, {"name": "LIST", "type": "struct", "mode": "REPEATED", "fields": [
        {"name": "x", "type": "DATE", "mode": "NULLABLE"}, {"name": "In", "type": "RECORD", "fields": [{"name": "y", "type": "bool", "mode": "REQUIRED"}]}]}]
    names = {"c%d" % i: None for i in range(len(kinds))}
    with weir.Home() as home, emulators.storage("schemas") as gs:
        home.env.update(gs.env)
        gs.put("schemas", "of/weir.json", json.dumps(fields))
        result = job(home, [dict(names, tbl="t", Many=[1, 2], list=[{"x": "2020-01-02", "in": {"y": True}}]), {"tbl": "t", "list": [{"in": {"y": None}}]}],
                     schemaFilePath=AT, expect=1)
        assert result["written"] == 1 and [x["code"] for x in home.letters()] == ["missing_required"], result
        found = columns(home, "t")
        assert [found["c%d" % i] for i in range(len(kinds))] == [
            "INT64", "INT64", "FLOAT64", "FLOAT64", "BOOL", "BOOL", "NUMERIC", "BIGNUMERIC", "STRING", "BYTES", "DATE", "DATETIME", "TIME", "TIMESTAMP", "JSON",
            "GEOGRAPHY", "INTERVAL", "INT64", "NUMERIC"], found
        assert found["Many"] == "ARRAY<INT64>" and found["list"] == "ARRAY<STRUCT<x DATE, In STRUCT<y BOOL>>>", found
        # The old meaning: eleven names in capitals, everything else text, modes without a meaning.
        gs.put("schemas", "of/weir.json", json.dumps([{"name": "n", "type": "INTEGER", "mode": "REQUIRED"}, {"name": "k", "type": "INT64", "mode": "REQUIRED"},
                                                      {"name": "B", "type": "BOOLEAN", "mode": "REPEATED"}]))
        job(home, [{"tbl": "old", "n": 1, "k": 2, "b": True}, {"tbl": "old", "B": False}], name="old", feed="old.jsonl", schemaFilePath=AT,
            schemaFileReading="original")
        found = columns(home, "old")
        assert found["n"] == "INT64" and found["k"] == "STRING" and found["b"] == "STRING", found


def test_a_file_that_is_not_there_is_said_before_the_job_starts():
    with weir.Home() as home, emulators.storage("schemas") as gs:
        for path, code in (("gs://schemas/none.json", "no_such_file"), ("gs://none-of-these/x.json", "bucket_missing"), ("gs://X/y.json", "bad_parameter")):
            home.write("feed.jsonl", "")
            home.write("rows.json", json.dumps({"name": "rows", "template": "PubSub_CDC_to_BigQuery", "parameters": {
                "warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "d", "schemaFilePath": path}}))
            r = home.run("run", "rows.json", "--until-idle", "--json", "--replace", env=gs.env)
            assert r.code == 78 and r.error["code"] == code, r
