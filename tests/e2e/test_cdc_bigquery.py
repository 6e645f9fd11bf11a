"""PubSub_CDC_to_BigQuery into the stand-in of BigQuery: rows as they came, in datasets and tables that messages choose."""
import base64
import datetime
import json
import os
import tempfile
import threading

import emulators
import weir
from test_bigquery import without_nulls
from test_cdc_rows import check_many, many, rows

PROJECT = "weir-test"
INSERT = {"useStorageWriteApi": False}
DEFAULT = {"useStorageWriteApi": True, "useStorageWriteApiAtLeastOnce": True}
EXACTLY = {"useStorageWriteApi": True, "useStorageWriteApiAtLeastOnce": False, "storageWriteApiTriggeringFrequencySec": 1}
WAYS = (INSERT, DEFAULT, EXACTLY)


def write_job(home, lines=None, name="rows", feed="feed.jsonl", **parameters):
    if lines is not None:
        home.write(feed, "".join(x if isinstance(x, str) else json.dumps(x) + "\n" for x in lines))
    p = {"warehouse": "bigquery", "inputFile": feed, "outputDatasetTemplate": "{ds}", "outputTableNameTemplate": "{tbl}"}
    p.update(parameters)
    return home.write(name + ".json", json.dumps({"name": name, "project": PROJECT, "template": "PubSub_CDC_to_BigQuery",
                                                  "parameters": {k: v for k, v in p.items() if v is not None}}))


def run(home, lines=None, expect=0, args=(), env=None, **more):
    r = home.run("run", write_job(home, lines, **more), "--until-idle", "--json", *args, env=env)
    assert expect is None or r.code == expect, r
    return r.last


def types(bq, table):
    return {f["name"]: (f["type"], f.get("mode", "NULLABLE")) for f in bq.resource(table)["schema"]["fields"]}


def test_messages_choose_dataset_and_table():
    lines = [{"ds": "d%d" % (i % 2), "tbl": "t%d" % (i % 3), "n": i, "b": i % 2 == 0, "o": {"x": None, "y": i}} for i in range(60)]
    for way in WAYS:
        with emulators.bigquery("d0", "d1", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            result = run(home, lines, **way)
            assert result["written"] == result["received"] == 60 and result["balanced"], result
            for table in ("d%d.t%d" % (d, t) for d in range(2) for t in range(3)):
                found = bq.rows(table)
                assert [set(row) for row in found] == [{"ds", "tbl", "n", "b", "o"}] * 10, found
                assert {(row["ds"] + "." + row["tbl"], row["b"], row["o"]) for row in found} == {
                    (table, "true" if int(row["n"]) % 2 == 0 else "false", '{"y":%s}' % row["n"]) for row in found}, found
                assert set(types(bq, table).values()) == {("STRING", "NULLABLE")}, types(bq, table)
            again = run(home, lines, **way)
            assert again["this_run"]["received"] == 0 and again["written"] == 60, again


# A table of every kind of column that somebody has made: REQUIRED "!", REPEATED "*", a RECORD as a list.
BYHAND = {"id": "INTEGER!", "n": "NUMERIC", "d": "DATE", "t": "DATETIME", "ts": "TIMESTAMP", "ok": "BOOLEAN", "f": "FLOAT", "b": "BYTES", "j": "JSON",
          "s": "STRING", "l": "STRING*", "r": [("x", "INTEGER"), ("y", "STRING")]}


def fields(columns):
    modes = {"!": "REQUIRED", "*": "REPEATED"}
    return [{"name": name, "type": "RECORD", "fields": fields(dict(kind))} if isinstance(kind, list) else
            {"name": name, "type": kind.rstrip("!*"), "mode": modes.get(kind[-1], "NULLABLE")} for name, kind in columns.items()]


def test_a_table_made_by_hand_takes_the_rows_as_its_columns_are():
    lines = [{"id": 1, "n": "1.50", "d": "2020-01-02T00:00:00Z", "t": "2020-01-02T10:00:00Z", "ts": "2020-01-02T10:00:00Z", "ok": "true", "f": 2, "b": "AQI=",
              "j": {"a": None, "b": [1]}, "s": {"x": None, "y": 1}, "l": ["a", "b"], "r": {"x": 7, "y": "z"}},
             {"id": "2", "extra": "new"}, {"n": 1}, {"id": "many"}, {"id": 3, "d": "never"}, {"id": 4, "l": None, "r": None, "j": "[1]"}]
    for way in WAYS:
        with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            bq.table("d.t", fields(BYHAND))
            result = run(home, lines, expect=1, outputDatasetTemplate="d", outputTableNameTemplate="t", **way)
            assert result["written"] == 3 and result["dead_lettered"] == 3 and result["balanced"], (way, home.letters())
            assert sorted(x["code"] for x in home.letters()) == ["missing_required", "type_mismatch", "type_mismatch"], home.letters()
            found = {row["id"]: {k: v for k, v in row.items() if v not in (None, "[]")} for row in bq.rows("d.t")}
            assert found == {
                "1": {"id": "1", "n": "1.5", "d": "2020-01-02", "t": "2020-01-02T10:00:00", "ts": "2020-01-02 10:00:00+00", "ok": "true", "f": "2.0", "b": "AQI=",
                      "j": '{"a": null, "b": [1]}', "s": '{"y":1}', "l": '["a","b"]', "r": '{"x":7,"y":"z"}'},
                "2": {"id": "2", "extra": "new"}, "4": {"id": "4", "j": "[1]"}}, (way, found)
            assert types(bq, "d.t")["extra"] == ("STRING", "NULLABLE") and types(bq, "d.t")["id"] == ("INTEGER", "REQUIRED")


def test_without_auto_mapping_nothing_is_made_and_what_has_no_place_is_a_letter():
    for way in WAYS:
        with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            bq.table("d.made", {"id": "INTEGER", "tbl": "STRING"})
            lines = [{"tbl": "made", "id": 1}, {"tbl": "made", "id": 2, "new": "x"}, {"tbl": "made", "id": 3, "new": None}, {"tbl": "none", "id": 4}]
            more = dict(way, outputDatasetTemplate="d", autoMapTables=False)
            result = run(home, lines, expect=1, **more)
            assert result["written"] == 2 and result["dead_lettered"] == 1 and result["parked"] == 1, (way, result)
            assert [row["id"] for row in bq.rows("d.made")] == ["1", "3"] and home.letters()[0]["code"] == "unknown_column"
            assert set(types(bq, "d.made")) == {"id", "tbl"}
            # Somebody makes what was missing: what waited comes in, and the letter's replay too.
            bq.table("d.none", {"id": "STRING", "tbl": "STRING"})
            bq.add_column("d.made", "new")
            result = run(home, lines + [{"tbl": "made", "id": 5}], expect=1, **more)
            assert result["parked"] == 0 and [row["id"] for row in bq.rows("d.none")] == ["4"], (way, result)
            r = home.run("dlq", "replay", "--group", home.letters()[0]["group"], "--yes", "--json")
            assert r.code == 0 and r.last["done"] == 1, r
            assert sorted((row["id"], row["new"]) for row in bq.rows("d.made")) == [("1", None), ("2", "x"), ("3", None), ("5", None)]


def together(*duties):
    """Runs them at once; the first failure is the test's."""
    failures = []

    def one(duty):
        try:
            duty()
        except BaseException as failure:  # told by the thread that began it
            failures.append(failure)

    threads = [threading.Thread(target=one, args=(duty,)) for duty in duties]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_two_engines_that_both_see_a_hundred_new_columns_stop_at_none():
    """Each column comes to both at once, as a number to one and as text to the other where types are guessed."""
    count = int(os.environ.get("WEIR_CDC_SHAPES", 300))
    for types_of in ("string", "inferred"):
        with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as one, weir.Home() as two:
            def engine(home, first, value):
                home.env.update(bq.env)
                lines = [{"id": str(first + i), "c%d" % (i % 100): value(i), "d%d" % (i * 7 % 100): str(i)} for i in range(count)]
                result = run(home, lines, expect=None, outputDatasetTemplate="d", outputTableNameTemplate="t", newColumnTypes=types_of,
                             env={"WEIR_BATCH_RECORDS": "50"}, **DEFAULT)
                refused = home.letters() if result["dead_lettered"] else []
                assert result["received"] == count and result["balanced"] and result["parked"] == 0, result
                assert all(x["code"] == "type_mismatch" for x in refused) and (types_of == "inferred" or not refused), refused[:1]
                got[first] = result["written"]

            got = {}
            together(lambda: engine(one, 0, lambda i: i), lambda: engine(two, 100000, lambda i: "x%d" % i))
            found = bq.rows("d.t")
            ids = {row["id"] for row in found}
            assert len(ids) == sum(got.values()), (len(found), got)
            assert len(types(bq, "d.t")) == 1 + 100 + 100, types(bq, "d.t")
            for row in found:
                assert sum(1 for name, value in row.items() if name != "id" and value is not None) == 2, row


def text_of(value, kind):
    """A value of either warehouse as one text. BigQuery has no empty list beside NULL, and JSON there may be written otherwise."""
    if value is not None and kind in ("BOOL", "FLOAT64"):
        return {0: "false", 1: "true"}.get(value, value) if kind == "BOOL" else repr(float(value))
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (list, dict)):
        value = without_nulls(value)
        return json.dumps(value, sort_keys=True) if value else None
    return None if value is None else str(value)


def text_rows(found, columns):
    kinds = dict(columns)
    texts = ({k: text_of(v, kinds.get(k)) for k, v in row.items()} for row in found)
    return sorted(json.dumps({k: v for k, v in row.items() if v is not None}, sort_keys=True) for row in texts)


def types_there(kind, mode):
    kind = {"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "RECORD": "STRUCT"}.get(kind, kind)
    return "ARRAY" if mode == "REPEATED" else kind


def letters_of(home):
    return sorted((x["code"], x["table"] or "", x["source"].get("line")) for x in home.letters())


def same(got, want, what):
    """Only what differs is shown."""
    missing, more = [x for x in want if x not in got], [x for x in got if x not in want]
    assert got == want, (what, "missing", missing[:5], "more", more[:5])


def check_beside_local(lines, datasets, ways=WAYS, **more):
    """The same job with warehouse local gives the same tables: names, columns with their types, rows, and letters."""
    ours = {}
    with weir.Home() as home:
        run(home, lines, expect=None, warehouse="local", **more)
        letters = letters_of(home)
        for dataset in datasets:
            if not os.path.exists(home.warehouse(dataset)):
                continue
            for (table,) in home.sql("SELECT DISTINCT table_name FROM _weir_columns", dataset):
                columns = sorted((n, t.split("<")[0]) for n, t in home.sql("SELECT name, type FROM _weir_columns WHERE table_name='%s'" % table, dataset))
                ours[dataset + "." + table] = (columns, text_rows(rows(home, table, dataset), columns))
    for way in ways:
        with emulators.bigquery(*datasets, project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            run(home, lines, expect=None, **dict(more, **way))
            same(letters_of(home), letters, (way, "letters"))
            for name, (columns, found) in ours.items():
                same(sorted((column, types_there(*kind)) for column, kind in types(bq, name).items()), columns, (way, name, "columns"))
                same(text_rows(bq.rows(name), columns), found, (way, name, "rows"))
    return ours, letters


VECTORS = [  # bodies of spec/pubsub-cdc.md, and their neighbours
    '{"ticker":"GOOGL","price":1006.94}', '{"ticker":"GOOGL","price":1006.94,"someProp":"someValue"}', '"ticker": "GOOGL", "price": 1006.94', '',
    '{"id":1,"job":"x","name":"n"}', '{"tbl":"t9","n":1,"b":true,"o":{"x":null,"y":1},"a":[1,null],"z":null}', '{"n":7,"d":"2020-01-02T00:00:00Z","k":3}',
    '{"tbl":"dates","d":"2020-01-02T00:00:00.000Z"}', '{"tbl":"dates","d":"2020-01-02T10:00:00Z"}', '{"tbl":"dates","t":"2020-01-02T10:00:00Z"}',
    '{"tbl":"dates","t":"2020-01-02T10:00:00ZZ"}', '{"_metadata_dataset":"hr","_metadata_table":"emp","id":"1"}', '{"ds":"e","tbl":"x","id":5}', '{"tbl":5}',
    '{"tbl":"{b}","b":"z"}', '{"tbl":"{tbl}"}', '{"tbl":"o","o":{"x":null,"y":1,"z":"<b>&\'="}}', '{"a":1,"a":2} x', '{"a":1}{"a":2}',
    '[{"a":1}]', 'null', '{"a":01}', '{"f":[1,2]}', '{"tbl":"big","n":123456789012345678901234567890,"e":1e21,"m":-0.0,"t":"\\u00e9\\n\\u0001"}',
    '{"tbl":"c","User":"a","user":"b"}', '{"tbl":"c","_PARTITIONTIME":"x"}', '{"tbl":"c","a b":"x"}', '{"tbl":"c","\\u00fcber":"x"}', '{"tbl":"a/b"}',
    '{"ds":"no-such-name!","tbl":"c"}', '{"tbl":"e","v":""}', '{"tbl":"e","v":{}}', '{"tbl":"e","v":[]}', '{"tbl":"e","v":null}', '{"tbl":"deep","v":' + '[' * 60 + ']' * 60 + '}']
ALL_TYPES = [{"name": n, "type": t, "mode": m} for n, t, m in (
    ("i", "INTEGER", "NULLABLE"), ("i64", "INT64", "REQUIRED"), ("f", "FLOAT", "NULLABLE"), ("f64", "float64", "NULLABLE"), ("b", "BOOLEAN", "NULLABLE"),
    ("y", "BYTES", "NULLABLE"), ("n", "NUMERIC", "NULLABLE"), ("bn", "BIGNUMERIC", "NULLABLE"), ("d", "DATE", "NULLABLE"), ("dt", "DATETIME", "NULLABLE"),
    ("ti", "TIME", "NULLABLE"), ("ts", "TIMESTAMP", "NULLABLE"), ("j", "JSON", "NULLABLE"), ("g", "GEOGRAPHY", "NULLABLE"), ("s", "String", "NULLABLE"),
    ("ls", "STRING", "REPEATED"), ("li", "INTEGER", "REPEATED"))] + [
    {"name": "r", "type": "RECORD", "mode": "NULLABLE", "fields": [{"name": "x", "type": "INTEGER"}, {"name": "ys", "type": "FLOAT", "mode": "REPEATED"},
                                                                    {"name": "q", "type": "RECORD", "fields": [{"name": "d", "type": "DATE"}]}]},
    {"name": "lr", "type": "RECORD", "mode": "REPEATED", "fields": [{"name": "x", "type": "STRING"}]}]
TYPED = [
    {"i": 1, "i64": "9007199254740993", "f": 1.5, "f64": "2.25", "b": True, "y": "AQI=", "n": "1.10", "bn": "12345678901234567890123456789012345.5", "d": "2020-01-02T00:00:00.000",
     "dt": "2020-01-02T10:00:00.250Z", "ti": "10:11:12.000005", "ts": "2020-01-02T10:00:00+02:00", "j": {"a": None}, "g": "POINT(1 2)", "s": 7, "ls": ["a", ""], "li": [1, "2"],
     "r": {"x": 1, "ys": [1.5, 2], "q": {"d": "2020-01-02"}}, "lr": [{"x": "a"}, {"x": None}]},
    {"i64": 1, "b": "false", "y": "", "j": "[1, 2]", "ls": [], "r": {"x": None}, "lr": [], "s": ""},
    {"i64": None}, {"i64": 1, "i": 9223372036854775808}, {"i64": 1, "n": "1e99"}, {"i64": 1, "d": "0000-01-01"}, {"i64": 1, "ts": 1577959200}, {"i64": 1, "li": ["x"]},
    {"i64": 1, "r": "text"}, {"i64": 1, "r": {"x": "no"}}, {"i64": 1, "r": {"X": 1, "Q": {"D": "2020-01-02"}}},
    {"i64": 1, "r": {"z": 1}}, {"i64": 1, "lr": [{"x": "a"}, {"w": False}]}, {"i64": 1, "li": [1, None]}, {"i64": 1, "lr": [None]}, {"i64": 1, "b": "maybe"}, {"i64": 1, "y": "%%"}, {"I64": 5, "extra": {"a": [1]}}]


def test_every_vector_gives_the_tables_of_the_local_warehouse():
    lines = [json.dumps({"data_b64": base64.b64encode(text.encode()).decode()}) + "\n" for text in VECTORS]
    datasets = ("d", "e", "hr")
    for cleaning, ways in (("mended", WAYS), ("original", (INSERT,)), ("exact", (EXACTLY,))):
        ours, letters = check_beside_local(lines, datasets, ways, outputDatasetTemplate="{ds:-d}", outputTableNameTemplate="{tbl:-t}", valueCleaning=cleaning)
        assert len(ours) >= 8 and len(letters) >= 9, (sorted(ours), letters)
    check_beside_local(lines, datasets, (DEFAULT,), outputDatasetTemplate="{_metadata_dataset:-d}", outputTableNameTemplate="cdc_{_metadata_table}")


def test_every_type_of_the_schema_file_is_that_of_the_local_warehouse():
    for reading, columns, ways in (("full", ALL_TYPES, WAYS), ("original", [c for c in ALL_TYPES if "fields" not in c], (DEFAULT,))):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(columns, file)
            file.flush()
            ours, letters = check_beside_local(TYPED, ("d",), ways, outputDatasetTemplate="d", outputTableNameTemplate="t", schemaFilePath=file.name,
                                               schemaFileReading=reading)
        assert len(ours) == 1 and (reading == "original" or len(letters) >= 8), letters


def test_tables_that_differ_by_case_are_two_at_bigquery():
    """As in the original; SQLite has no such two, so that the local warehouse parks the second one and says what helps."""
    lines = [{"tbl": name, "n": i, "c%s" % name: "x"} for i, name in enumerate(["t", "T", "t", "\u00e9", "\u00c9"])]
    for way in WAYS:
        with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            result = run(home, lines, outputDatasetTemplate="d", **way)
            assert result["written"] == 5 and [x["written"] for x in result["tables"]] == [2, 1, 1, 1], (way, result)
            assert [row["n"] for row in bq.rows("d.t")] == ["0", "2"] and [row["n"] for row in bq.rows("d.T")] == ["1"], way
            assert set(types(bq, "d.T")) == {"tbl", "n", "cT"} and len(bq.rows("d.\u00c9")) == 1, way
    with weir.Home() as home:
        result = run(home, lines, expect=1, warehouse="local", outputDatasetTemplate="d")
        assert result["parked"] == 2 and result["balanced"], result
        assert b"another outputTableNameTemplate" in home.run("explain", "name_collision").out


def test_what_bigquery_says_of_a_value_is_read_whatever_stands_in_it():
    """Its words repeat the value: a NUL in them must not make the answer one that cannot be read, and that waits for ever."""
    file = [{"name": "g", "type": "GEOGRAPHY"}, {"name": "tbl", "type": "STRING"}]
    lines = [{"tbl": "t", "g": g} for g in ("POINT(1 2)", "a\0b", "\u2028", "\0")]
    for way in WAYS:
        with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            home.write("schema.json", json.dumps(file))
            result = run(home, lines, expect=1, outputDatasetTemplate="d", schemaFilePath="schema.json", **way)
            assert result["written"] == 1 and result["dead_lettered"] == 3 and result["balanced"], (way, result)
            assert {x["code"] for x in home.letters()} == {"row_refused"} and len(bq.rows("d.t")) == 1, (way, home.letters())


def test_guessed_types_are_those_of_the_local_warehouse():
    lines = [{"i": 1, "f": 1.5, "b": True, "s": "2020-01-02", "o": {"a": 1}, "l": [1, 2], "z": None}, {"i": 2, "f": 2, "b": None, "late": 3}, {"z": "now"}]
    check_beside_local(lines, ("d",), outputDatasetTemplate="d", outputTableNameTemplate="t", newColumnTypes="inferred")


def test_recorded_streams_are_rows_as_in_the_local_warehouse():
    for name, way in (("flattened", INSERT), ("pg-shop", EXACTLY), ("mariadb-types", DEFAULT)):
        with open(os.path.join(weir.stream(name), "feed.jsonl")) as feed:
            lines = feed.readlines()[:400]
        check_beside_local(lines, ("d",), (way,), outputDatasetTemplate="d", outputTableNameTemplate="t")


def test_an_empty_object_is_a_row_of_nulls_where_there_are_columns():
    """The service refuses each row for a table without columns ("The destination table has no schema")."""
    lines = [{"data": {}, "attrs": {"t": "t%d" % i}} for i in range(2)] + [{"data": {"a": 1}, "attrs": {"t": "t0"}}, {"data": {}, "attrs": {"t": "t0"}},
                                                                          {"data": {"_metadata_error": "x"}, "attrs": {"t": "t2"}}]
    names = {"outputDatasetTemplate": "d", "outputTableNameTemplate": "{_attributes.t}", "messageMetadata": True}
    ours, letters = check_beside_local(lines, ("d",), **names)
    assert [x[:2] for x in letters] == [("no_columns", "d.t0"), ("no_columns", "d.t1"), ("no_columns", "d.t2")] and list(ours) == ["d.t0"], (ours, letters)
    assert len(ours["d.t0"][1]) == 2
    for way in WAYS:
        with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            run(home, lines, expect=1, **dict(way, **names))
            assert sorted(row["a"] or "" for row in bq.rows("d.t0")) == ["", "1"] and "t1" not in str(sorted(bq.state())), bq.state()
            # The letter is a row once its table has columns.
            (group,) = {letter["group"] for letter in home.letters() if letter["table"] == "d.t0"}
            r = home.run("dlq", "replay", "--job", "rows", "--group", str(group), "--yes", "--json")
            assert r.code == 0, r
            assert sorted(row["a"] or "" for row in bq.rows("d.t0")) == ["", "", "1"]


def test_a_table_that_somebody_made_without_columns_gets_them():
    for way in WAYS:
        with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            bq.settings(schema_delay_s=1)
            bq.table("d.t", [])
            result = run(home, [{"tbl": "t", "a": i} for i in range(3)], expect=None, outputDatasetTemplate="d", **way)
            assert result["written"] == 3 and not result["dead_lettered"] and len(bq.rows("d.t")) == 3, (way, result)


REQUIRED_FILE = [{"name": "k", "type": "INT64", "mode": "REQUIRED"}, {"name": "late", "type": "STRING", "mode": "REQUIRED"}, {"name": "l", "type": "STRING", "mode": "REPEATED"},
                 {"name": "r", "type": "RECORD", "mode": "NULLABLE", "fields": [{"name": "x", "type": "INT64", "mode": "REQUIRED"}, {"name": "y", "type": "STRING"}]}]


def test_required_columns_are_made_with_the_table_and_later_ones_are_nullable():
    lines = [{"tbl": "t", "k": 1, "l": ["a"], "r": {"x": 1}}, {"tbl": "t"}, {"tbl": "t", "k": None}, {"tbl": "t", "k": 2, "r": {"y": "no x"}},
             {"tbl": "t", "k": 3, "late": "x"}, {"tbl": "t", "k": 4}, {"tbl": "other", "late": "first"}, {"tbl": "other", "k": 5, "late": "x"}]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(REQUIRED_FILE, file)
        file.flush()
        ours, letters = check_beside_local(lines, ("d",), outputDatasetTemplate="d", schemaFilePath=file.name)
        assert len(ours) == 2 and [code for code, _, _ in letters] == ["missing_required"] * 4, (ours, letters)
        for way in WAYS:
            with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
                home.env.update(bq.env)
                result = run(home, lines, expect=1, outputDatasetTemplate="d", schemaFilePath=file.name, **way)
                assert types(bq, "d.t") == {"tbl": ("STRING", "NULLABLE"), "k": ("INTEGER", "REQUIRED"), "l": ("STRING", "REPEATED"), "r": ("RECORD", "NULLABLE"),
                                            "late": ("STRING", "NULLABLE")}, types(bq, "d.t")
                assert types(bq, "d.other") == {"tbl": ("STRING", "NULLABLE"), "late": ("STRING", "REQUIRED"), "k": ("INTEGER", "NULLABLE")}
                (record,) = [f for f in bq.resource("d.t")["schema"]["fields"] if f["name"] == "r"]
                assert [(f["name"], f.get("mode")) for f in record["fields"]] == [("x", "REQUIRED"), ("y", "NULLABLE")], record
                notes = sorted((line["table"], n["text"].split()[1]) for line in result["tables"] for n in line["notes"] if n["code"] == "required_is_nullable")
                assert notes == [("d.other", "k"), ("d.t", "late")], notes


def test_a_column_that_the_file_requires_no_more_is_nullable_from_then_on():
    for way in WAYS:
        with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            more = dict(way, outputDatasetTemplate="d", schemaFilePath="schema.json")
            home.write("schema.json", json.dumps(REQUIRED_FILE))
            bq.table("d.made", [{"name": "tbl", "type": "STRING"}, {"name": "k", "type": "INTEGER", "mode": "REQUIRED"}])
            run(home, [{"tbl": "t", "k": 1}, {"tbl": "t"}, {"tbl": "made", "k": 1}], expect=1, **more)
            assert types(bq, "d.t")["k"] == ("INTEGER", "REQUIRED")
            home.write("schema.json", json.dumps([dict(REQUIRED_FILE[0], mode="NULLABLE")]))
            # The letter stays one until somebody replays it; the row without the value is taken.
            result = run(home, [{"tbl": "t", "k": 1}, {"tbl": "t"}, {"tbl": "made", "k": 1}, {"tbl": "t"}, {"tbl": "t", "k": 2}], expect=1, **more)
            assert types(bq, "d.t")["k"] == ("INTEGER", "NULLABLE") and result["balanced"], (way, result)
            assert sorted(row["k"] or "" for row in bq.rows("d.t")) == ["", "1", "2"] and len(home.letters()) == 1, (bq.rows("d.t"), home.letters())
            # A column of a table that was there when weir saw it first is somebody else's.
            assert types(bq, "d.made")["k"] == ("INTEGER", "REQUIRED")


def day(ahead):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=ahead)).strftime("%Y%m%d")


def test_insertall_writes_into_the_partition_that_a_name_says():
    """Days in turn are a request each; a table that is made has daily partitions, and its columns are those of all its days."""
    days = [day(-n) for n in range(1, 6)]
    lines = [dict({"tbl": "x$" + days[i % 5], "n": i}, **({"late": "y"} if i > 300 else {})) for i in range(600)] + [{"tbl": "x", "n": 600}]
    with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
        home.env.update(bq.env)
        result = run(home, lines, outputDatasetTemplate="d")
        assert result["written"] == 601 and [line["table"] for line in result["tables"]] == ["d.x"], result
        assert bq.resource("d.x")["timePartitioning"] == {"type": "DAY"} and set(types(bq, "d.x")) == {"tbl", "n", "late"}
        assert sorted(int(row["n"]) for row in bq.rows("d.x")) == list(range(601))
        counts = bq.counts("d.x")
        assert {name: count for name, count in counts.items() if "$" in name} == {"rows of $" + d: 120 for d in days}, counts
        assert counts["insertAll"] < 60, counts


def test_a_partition_that_takes_no_rows_makes_letters_of_them_alone():
    for partitioned, bad in (({"timePartitioning": {"type": "DAY"}}, day(-40)), ({"timePartitioning": {"type": "DAY"}}, day(20)), ({}, day(0)),
                             ({"timePartitioning": {"type": "HOUR"}}, day(0))):
        with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            bq.table("d.x", {"tbl": "STRING", "n": "STRING"}, **partitioned)
            lines = [{"tbl": "x$" + bad, "n": i} for i in range(3)] + [{"tbl": "x", "n": 3}]
            result = run(home, lines, expect=1, outputDatasetTemplate="d")
            assert result["written"] == 1 and result["parked"] == 0 and result["balanced"], (partitioned, result)
            assert [x["code"] for x in home.letters()] == ["bad_destination"] * 3 and "partition" in home.letters()[0]["message"], home.letters()


def test_a_partition_is_no_table_for_the_storage_write_api_nor_without_auto_mapping():
    lines = [{"tbl": "x$" + day(0)}, {"tbl": "x$2024010112"}, {"tbl": "x$y"}]
    check_beside_local(lines, ("d",), (INSERT,), outputDatasetTemplate="d")
    for way in (DEFAULT, EXACTLY):
        ours, letters = check_beside_local(lines, ("d",), (way,), **dict(way, outputDatasetTemplate="d"))
        assert not ours and [code for code, _, _ in letters] == ["bad_destination"] * 3, (ours, letters)
    with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
        home.env.update(bq.env)
        result = run(home, [{"tbl": "x$20240101"}], name="fixed", outputDatasetTemplate="d", autoMapTables=False, expect=None)
        assert result["parked"] == 1 and result["tables"][0]["table"] == "d.x_20240101", result


def checked(home, **more):
    """Exit status and what `weir check` says: {level: messages}."""
    r = home.run("check", write_job(home, **more), "--json")
    return r.code, {level: [x["message"] for x in r.lines if x["level"] == level] for level in ("ok", "warning", "fails")}


def test_check_looks_at_datasets_tables_and_rights():
    with emulators.bigquery("d", project=PROJECT) as bq, weir.Home() as home:
        home.env.update(bq.env)
        code, said = checked(home, lines=[{"ds": "d", "tbl": "t", "id": "1", "x": "y"}, {"ds": "other", "tbl": "t"}])
        assert code == 0 and any("none has come yet" in x for x in said["ok"]), said
        code, said = checked(home, outputDatasetTemplate="d")
        assert code == 0 and not said["warning"] and any(x.endswith("'%s:d' is there, in US" % PROJECT) for x in said["ok"]), said
        assert any("insertAll" in x for x in said["ok"]) and any("columns can be added" in x for x in said["ok"]), said
        code, said = checked(home, outputDatasetTemplate="missing")
        assert code == 78 and len(said["fails"]) == 1 and "dataset" in said["fails"][0], said
        # What a job has come to know is looked at: by a table's columns, and a dataset that nobody has made.
        bq.table("d.t", {"id": "INTEGER", "tbl": "STRING", "ds": "STRING"})
        assert run(home, expect=1)["parked"] == 1 and types(bq, "d.t")["x"] == ("STRING", "NULLABLE")
        code, said = checked(home)
        assert code == 78 and len(said["fails"]) == 1 and "other" in said["fails"][0], said
        assert any("column id is INT64: values are converted" in x for x in said["ok"]), said
        bq.dataset("other")
        assert checked(home)[0] == 0
        assert bq.rest("GET", "datasets/d/tables")["totalItems"] == 1


def test_a_guessed_column_stays_as_it_was_made_in_later_runs():
    """BigQuery never makes a number a text: rows that need it are letters, all others go on."""
    lines = [{"id": "1", "v": 1, "w": None}]
    for way in WAYS:
        with emulators.bigquery("d", "e", project=PROJECT) as bq, weir.Home() as home:
            home.env.update(bq.env)
            more = dict(way, outputDatasetTemplate="{ds:-d}", outputTableNameTemplate="t", newColumnTypes="inferred")
            run(home, lines, **more)
            result = run(home, lines + [{"id": "2", "v": "many"}, {"id": "3", "v": 3, "w": "x"}, {"ds": "e", "v": "text"}], expect=1, **more)
            assert result["written"] == 3 and [x["code"] for x in home.letters()] == ["type_mismatch"], (way, result, home.letters())
            assert sorted((row["id"], row["v"], row["w"]) for row in bq.rows("d.t")) == [("1", "1", None), ("3", "3", "x")], (way, bq.rows("d.t"))
            assert types(bq, "d.t")["v"][0] == "INTEGER" and types(bq, "e.t")["v"][0] == "STRING", way
