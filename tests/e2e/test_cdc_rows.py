"""PubSub_CDC_to_BigQuery from a feed into the local warehouse: tables and columns made on the way, nothing lost, nothing twice."""
import base64
import json
import os
import sqlite3

import weir


def job(home, lines=None, name="rows", expect=0, args=(), env=None, feed="feed.jsonl", **parameters):
    """Runs a job until idle, gives its result."""
    if lines is not None:
        home.write(feed, "".join(x if isinstance(x, str) else json.dumps(x) + "\n" for x in lines))
    p = {"warehouse": "local", "inputFile": feed, "outputDatasetTemplate": "d", "outputTableNameTemplate": "{tbl}"}
    p.update(parameters)
    home.write(name + ".json", json.dumps({"name": name, "template": "PubSub_CDC_to_BigQuery", "parameters": {k: v for k, v in p.items() if v is not None}}))
    r = home.run("run", name + ".json", "--until-idle", "--json", *args, env=env)
    assert r.code == expect, r
    return r.last if r.out else r


def rows(home, table, dataset="d"):
    """Rows as objects, without our own columns."""
    db = sqlite3.connect("file:%s?mode=ro" % home.warehouse(dataset), uri=True)
    try:
        found = db.execute("select * from `%s`" % table)
        names = [c[0] for c in found.description]
        return [{n: v for n, v in zip(names, row) if not n.startswith("_weir")} for row in found]
    finally:
        db.close()


BAD = [  # ten kinds, and the code that each must have
    ("not json", "unexpected_root", '"ticker": "GOOGL"'),
    ("broken", "not_json", '{"tbl":'),
    ("list", "unexpected_root", '[{"tbl":"t1"}]'),
    ("no table", "template_unfilled", '{"id":"x"}'),
    ("number", "template_unfilled", '{"tbl":7}'),
    ("loop", "template_loop", '{"tbl":"{tbl}"}'),
    ("bad name", "bad_destination", '{"tbl":"a/b"}'),
    ("bad column", "bad_name", '{"tbl":"t1","_PARTITIONTIME":"x"}'),
    ("wrong type", "type_mismatch", '{"tbl":"t1","n":"many"}'),
    ("case", "column_case_collision", '{"tbl":"t1","User":"a","user":"b"}'),
]


def many(count):
    """Rows over 50 tables with columns that come in mid-stream; one in a hundred is bad, of ten kinds in turn."""
    good, bad, lines = {}, {}, []
    for i in range(count):
        if i % 100 == 99:
            kind, code, text = BAD[i // 100 % 10]
            bad[code] = bad.get(code, 0) + 1
            lines.append(json.dumps({"id": "m%d" % i, "data_b64": base64.b64encode(text.encode()).decode()}) + "\n")
            continue
        row = {"tbl": "t%d" % (i % 50), "n": i}
        if i > count // 3:
            row["late%d" % (i % 3)] = "x"
        good[row["tbl"]] = good.get(row["tbl"], 0) + 1
        lines.append({"id": "m%d" % i, "data": row})
    return lines, good, bad


def check_many(home, result, count, good, bad, dataset=lambda t: "d"):
    assert result["balanced"] and result["received"] == count, result
    assert result["written"] == sum(good.values()) and result["dead_lettered"] == sum(bad.values()), result
    for table, want in good.items():
        found = home.sql("select count(*), count(distinct n) from `%s`" % table, dataset(table))
        assert found == [(want, want)], (table, want, found)
    codes = {}
    for letter in home.letters():
        codes[letter["code"]] = codes.get(letter["code"], 0) + 1
    assert codes == bad, codes


def test_good_rows_are_in_their_tables_and_bad_ones_are_letters_with_their_reason():
    count = int(os.environ.get("WEIR_CDC_ROWS", 10000))
    lines, good, bad = many(count)
    with weir.Home() as home:
        home.write("schema.json", '[{"name":"n","type":"INTEGER","mode":"NULLABLE"}]')
        result = job(home, lines, schemaFilePath="schema.json", expect=1)
        check_many(home, result, count, good, bad)


def test_the_same_killed_between_any_two_commits_of_several_datasets():
    """Datasets by the message: each row once, counters as without the kills."""
    if not os.path.exists(os.path.join(weir.ROOT, "build", "crash", "weird")):
        build = weir.BUILD
        points = []
    else:
        build = os.path.join(weir.ROOT, "build", "crash")
        points = ["dataset_committed:%d" % n for n in (1, 2, 3, 7)] + ["rows_committed:5", "letters_committed:2", "position_written:4"]
    lines, good, bad = many(2000)
    for line in lines:
        if isinstance(line, dict):
            line["data"]["ds"] = "d%d" % (int(line["data"]["tbl"][1:]) % 5)
    lines = [x for x in lines if isinstance(x, dict)]
    count = len(lines)
    with weir.Home(build) as home:
        home.write("feed.jsonl", "".join(json.dumps(x) + "\n" for x in lines))
        home.write("rows.json", json.dumps({"name": "rows", "template": "PubSub_CDC_to_BigQuery", "parameters": {
            "warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "{ds}", "outputTableNameTemplate": "{tbl}"}}))
        for point in points:
            home.run("--run", "rows.json", "--until-idle", env={"WEIR_CRASH": point, "WEIR_BATCH_RECORDS": "97"}, program="weird")
        r = home.run("--run", "rows.json", "--until-idle", "--json", program="weird")
        assert r.code == 0, r
        check_many(home, r.last, count, good, {}, lambda t: "d%d" % (int(t[1:]) % 5))
        assert {x["table"].split(".")[0] for x in r.lines[:-1] if x.get("table", "-") != "-"} <= {"d%d" % i for i in range(5)}, r.lines[:2]


def test_a_hundred_shapes_one_after_the_other_stop_nothing():
    lines = [{"tbl": "t", "id": str(i), "c%d" % (i % 100): i, "d%d" % (i * 7 % 100): i} for i in range(2000)]
    with weir.Home() as home:
        result = job(home, lines)
        assert result["written"] == 2000, result
        columns = home.sql("select count(*) from pragma_table_info('t')", "d")[0][0]
        assert columns == 2 + 100 + 100 + 1, columns


def test_the_original_vectors_in_the_warehouse():
    """P5, P6, P7, P10: what the tables hold."""
    with weir.Home() as home:
        job(home, [{"tbl": "t9", "n": 1, "b": True, "o": {"x": None, "y": 1}, "a": [1, None], "z": None}])
        assert rows(home, "t9") == [{"tbl": "t9", "n": "1", "b": "true", "o": '{"y":1}', "a": "[1,null]", "z": None}]
    with weir.Home() as home:
        home.write("first.json", '[{"name":"id","type":"INTEGER"},{"name":"job","type":"STRING"}]')
        home.write("second.json", '[{"name":"id","type":"INTEGER","mode":"NULLABLE"},{"name":"job","type":"STRING","mode":"NULLABLE"},{"name":"name","type":"String","mode":"NULLABLE"}]')
        job(home, [{"id": 0, "job": "w"}], outputTableNameTemplate="t", schemaFilePath="first.json")
        job(home, [{"id": 1, "job": "x", "name": "n"}], name="other", feed="b.jsonl", outputTableNameTemplate="t", schemaFilePath="second.json", schemaFileReading="original")
        assert sorted(rows(home, "t"), key=str) == [{"id": 0, "job": "w", "name": None}, {"id": 1, "job": "x", "name": "n"}]
    with weir.Home() as home:
        job(home, [{"_metadata_dataset": "hr", "_metadata_table": "emp", "id": "1"}], outputDatasetTemplate=None, outputTableNameTemplate="cdc_{_metadata_table}")
        assert rows(home, "cdc_emp", "hr") == [{"_metadata_dataset": "hr", "_metadata_table": "emp", "id": "1"}]


def test_without_auto_mapping_only_tables_that_are_there_take_rows():
    with weir.Home() as home:
        job(home, [{"tbl": "made", "id": "1"}], name="maker")
        db = sqlite3.connect(home.warehouse("d"))
        db.execute("create table byhand (tbl text, id integer not null)")
        db.commit()
        db.close()
        result = job(home, [{"tbl": "made", "id": "2"}, {"tbl": "made", "id": "3", "new": 1}, {"tbl": "none", "id": "4"}, {"tbl": "byhand", "id": 5},
                            {"tbl": "byhand", "id": "x"}, {"tbl": "byhand"}], feed="b.jsonl", autoMapTables=False, expect=1)
        assert result["written"] == 2 and result["dead_lettered"] == 4, result
        assert sorted(r["id"] for r in rows(home, "made")) == ["1", "2"] and rows(home, "byhand") == [{"tbl": "byhand", "id": 5}]
        assert sorted(x["code"] for x in home.letters()) == ["row_refused", "table_not_found", "type_mismatch", "unknown_column"]
        # B12: the table appears later, and the letter's replay finds it.
        job(home, [{"tbl": "none", "id": "0"}], name="maker", feed="c.jsonl", args=("--replace", "--from-start"))
        group = [x["group"] for x in home.letters() if x["code"] == "table_not_found"][0]
        r = home.run("dlq", "replay", "--group", group, "--yes", "--json")
        assert r.code == 0 and r.last["done"] == 1, r
        assert sorted(r["id"] for r in rows(home, "none")) == ["0", "4"]


def test_a_message_that_comes_again_is_one_row():
    with weir.Home() as home:
        result = job(home, [{"id": "m1", "publish": "2026-01-05T03:10:00Z", "data": {"tbl": "t", "a": 1}}] * 3 + [{"id": "m2", "publish": "2026-01-05T03:10:00Z", "data": {"tbl": "t", "a": 1}}])
        assert result["written"] == 4 and result["repeated"] == 2 and len(rows(home, "t")) == 2, result
        # Two streams of standard input are two, whatever stands in them.
        for _ in range(2):
            home.write("piped.json", json.dumps({"name": "piped", "template": "PubSub_CDC_to_BigQuery", "parameters": {
                "warehouse": "local", "inputFile": "-", "outputDatasetTemplate": "d", "outputTableNameTemplate": "p"}}))
            r = home.run("run", "piped.json", "--until-idle", "--json", input=b'{"a":1}\n')
            assert r.code == 0, r
        assert len(rows(home, "p")) == 2


def test_upsert_keeps_the_newest_row_of_a_key():
    lines = [{"id": "m%d" % i, "publish": "2026-01-05T03:10:%02dZ" % (i % 60), "data": {"tbl": "t", "key": str(i % 3), "v": i}} for i in range(12)]
    with weir.Home() as home:
        job(home, lines[6:] + lines[:6], replicationMode="upsert", primaryKey=["key"])
        assert sorted((r["key"], r["v"]) for r in rows(home, "t")) == [("0", "9"), ("1", "10"), ("2", "11")]


def test_mistakes_are_said_with_line_and_column():
    with weir.Home() as home:
        home.write("job.json", '{\n  "name": "x", "template": "PubSub_CDC_to_BigQuery",\n  "parameters": {\n    "inputFile": "f.jsonl", "warehouse": "local",\n'
                               '    "windowDuration": "1h30m",\n    "outputTableNameTemplate": "a.{b}",\n    "replicationMode": "merge"\n  }\n}\n')
        r = home.run("check", "job.json", "--json")
        found = {(x["line"], x["parameter"], x["code"]) for x in r.lines if x.get("line")}
        assert {(5, "windowDuration", "bad_parameter"), (6, "outputTableNameTemplate", "never_a_name"), (7, "replicationMode", "bad_parameter")} <= found, r
        home.write("f.jsonl", "")
        for reading, kind, mode, column in (("full", "DATES", "NULLABLE", 10), ("original", "DATE", "NULL", 35)):
            home.write("s.json", '[{"name":"a","type":"DATE","mode":"NULLABLE"},\n {"type":"%s","name":"b","mode":"%s"}]' % (kind, mode))
            home.write("job.json", json.dumps({"name": "x", "template": "PubSub_CDC_to_BigQuery", "parameters": {
                "inputFile": "f.jsonl", "warehouse": "local", "outputDatasetTemplate": "d", "schemaFilePath": "s.json", "schemaFileReading": reading}}))
            r = home.run("check", "job.json", "--json")
            assert r.code == 78 and [(x["level"], x["code"], x["parameter"]) for x in r.lines] == [("fails", "bad_schema_file", "schemaFilePath")], r
            assert "line 2, column %d: [1]: " % column in r.last["message"], r
        home.write("s.json", '[{"name":"a","type":"DATE","mode":"NULLABLE"}]')
        r = home.run("check", "job.json", "--json")
        assert r.code == 0 and [x["level"] for x in r.lines] == ["ok"], r
        home.write("job.json", json.dumps({"name": "x", "project": "p-1", "template": "PubSub_CDC_to_BigQuery", "parameters": {"inputFile": "f.jsonl", "outputDatasetTemplate": "d", "replicationMode": "upsert", "primaryKey": "id"}}))
        r = home.run("check", "job.json", "--json", env={"GOOGLE_APPLICATION_CREDENTIALS": home.file("none.json")})
        found = [x for x in r.lines if x["code"] == "not_available_yet"]
        assert r.code == 78 and "replicationMode=upsert with warehouse=bigquery" in found[0]["message"] and '"warehouse": "local"' in found[0]["fix"], r
        for name in ("javascriptTextTransformGcsPath", "enrichment"):
            more = {"javascriptTextTransformGcsPath": "a.js", "javascriptTextTransformFunctionName": "f"} if name[0] == "j" else {
                "enrichment": {"queryFn": "q"}}
            home.write("job.json", json.dumps({"name": "x", "template": "PubSub_CDC_to_BigQuery", "parameters": dict({"inputFile": "f.jsonl", "warehouse": "local"}, **more)}))
            r = home.run("run", "job.json", "--until-idle", "--json")
            assert r.code == 78 and r.error["code"] == "not_available_yet" and name in r.error["message"], r
