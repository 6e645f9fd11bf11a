"""PubSub_CDC_to_BigQuery into the stand-in of BigQuery: rows as they came, in datasets and tables that messages choose."""
import json

import emulators
import weir
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
    assert r.code == expect, r
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
