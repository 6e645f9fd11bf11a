"""Rows of every type at its extremes, and of random tables, as BigQuery has them: what the stand-in decodes with Google's protobuf library
by the descriptor that we sent is what the local changelog says."""
import ast
import json
import os
import random
import subprocess
import sys

import cases
import emulators
import histories
import test_bigquery as base
import weir
from test_bigquery import LOG, ONCE

sys.setrecursionlimit(20000) # JSON as deep as it may be
CASES = int(os.environ.get("WEIR_BIGQUERY_CASES", "8"))
WAYS = ({}, ONCE, {"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": False})
LOCAL = {"replicationMode": "changelog", "replicaDataset": None, "changeLogDataset": "local_log"}


def random_case(seed):
    """In order and once each: a repeat is no row of the local changelog, but one of BigQuery's. A RENAME copies rows locally only, and
    a type that was guessed may be another by the time that the table is made."""
    rng = random.Random(seed)
    case = object.__new__(cases.Case)
    case.mode = "changelog"
    case.history = histories.History(rng, has_renames=False, only=os.environ.get("WEIR_CONNECTOR"))
    while case.history.form == "bare":
        case.history = histories.History(rng, has_renames=False, only=os.environ.get("WEIR_CONNECTOR"))
    case.changes, case.batch, case.kills, case.cuts = case.history.changes, rng.choice((7, 5000)), [], []
    case.order = list(dict.fromkeys(case.placed(rng, False)))
    return case


def as_text(value):
    """A key that was met before its table's types has a type that was guessed: the local changelog keeps how it was written then."""
    if isinstance(value, dict):
        return {k: as_text(v) for k, v in value.items()}
    if isinstance(value, list):
        return [as_text(v) for v in value]
    return value if isinstance(value, str) else json.dumps(value)


def texts(rows):
    return sorted((tuple(json.dumps(as_text(json.loads(x)), sort_keys=True) if i in (5, 6, 9) and x else x for i, x in enumerate(row)) for row in rows), key=repr)


def compare_texts(home, bq, letters):
    base.compare(home, bq, letters=letters, once=True, as_seen=texts)


def both(home, bq, feed, way, compare, **more):
    home.env.update(bq.env)
    local = home.run("run", home.job(feed, "local", **LOCAL, **more), "--until-idle", "--json")
    assert local.code == 0, local
    result = base.run_bigquery(home, feed, expect=None, **way, **more)
    letters = home.letters() if result["dead_lettered"] else []
    assert all(letter["code"] == "null_element" for letter in letters), letters[0]
    assert result["balanced"] and result["written"] + len(letters) == local.last["written"], (result, local.last)
    compare(home, bq, letters=letters)


def test_rows_of_random_tables():
    first = weir.first_seed()
    for seed in range(first, first + CASES):
        case = random_case(seed)
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            more = {"sourceSchema": home.write("schema.json", histories.file_of_types(case.history))} if case.history.form == "file" else {}
            home.env["WEIR_BATCH_RECORDS"] = str(case.batch)
            feed = home.write("f.jsonl", "".join(case.pieces()))
            try:
                both(home, bq, feed, WAYS[seed % len(WAYS)], compare_texts, **more)
            except AssertionError as error:
                raise AssertionError("WEIR_SEED=%d WEIR_BIGQUERY_CASES=1: %s: %s" % (seed, case, error)) from error


TYPES = os.path.join(weir.ROOT, "tests", "fixtures", "types.def")
ROWS_OF_TYPES = ("#define SUBJECT(name)\n#define FINE(end, node, column, value, text) @@ (node), (column), (value)\n"
                 "#define OUT(...)\n#define BAD(...)\n#define UNREAD(...)\n#include \"%s\"\n")


def fine_values():
    """{(node, column): values} of the table of types, as its compiler reads it: those with a schema node. "=" is the type's own column,
    another one the owner's choice."""
    done = subprocess.run(["cc", "-E", "-P", "-x", "c", "-"], input=(ROWS_OF_TYPES % TYPES).encode(), capture_output=True, check=True)
    found = {}
    for line in done.stdout.decode().splitlines():
        if not line.startswith("@@"):
            continue
        node, column, value = ast.literal_eval("(%s)" % line[2:])
        if node.startswith("{"):
            found.setdefault((node, "=" if column.startswith("=") else column), []).append(value)
    return found


def table_of_types(number, nodes):
    """Rows of one table: a column a node, a row for the first value of each, one for the second, ..."""
    fields = [dict(json.loads(node), field="v%d" % i, optional=True) for i, ((node, _), _) in enumerate(nodes)]
    fields.append({"type": "int32", "optional": False, "field": "id"})
    block = json.dumps({"type": "struct", "fields": [{"type": "struct", "field": side, "optional": True, "fields": fields} for side in ("before", "after")]})
    for row in range(max(len(values) for _, values in nodes)):
        after = ",".join(['"id":%d' % row] + ['"v%d":%s' % (i, values[row]) for i, (_, values) in enumerate(nodes) if row < len(values)])
        source = json.dumps({"connector": "postgresql", "db": "shop", "schema": "public", "table": "t%d" % number, "lsn": 1000 + row, "ts_ms": 1700000000000})
        yield ('{"key":"{\\"id\\":%d}","data":{"schema":%s,"payload":{"before":null,"after":{%s},"op":"c","ts_ms":1700000000000,"source":%s}}}\n'
               % (row, block, after, source))


def test_every_type_at_both_ends_is_that_of_the_local_changelog():
    nodes = list(fine_values().items())
    chosen = {"t%d.v%d" % divmod(i, 20): column for i, ((_, column), _) in enumerate(nodes) if column != "="}
    assert len(nodes) > 80 and {"RANGE<DATE>", "RANGE<DATETIME>", "RANGE<TIMESTAMP>", "INTERVAL"} <= set(chosen.values()), (len(nodes), chosen)
    feed = "".join(line for at in range(0, len(nodes), 20) for line in table_of_types(at // 20, nodes[at:at + 20]))
    for way in WAYS:
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            both(home, bq, home.write("f.jsonl", feed), way, base.compare, columnTypes=chosen)


RANGES = {"days": "RANGE<DATE>", "local": "RANGE<DATETIME>", "moments": "RANGE<TIMESTAMP>"}
RANGE_ROWS = [ # as PostgreSQL's daterange, tsrange and tstzrange come through Debezium, and what BigQuery has; None: a letter with this reason
    (("[2020-01-01,2020-02-01)", '["2019-03-31 15:30:00",infinity)', '["2017-06-05 11:29:12.549426+02","2017-06-06 00:00:00+00")'),
     ("[2020-01-01, 2020-02-01)", "[2019-03-31T15:30:00, UNBOUNDED)", "[2017-06-05 09:29:12.549426+00, 2017-06-06 00:00:00+00)")),
    (("(,2020-01-01]", "(,)", None), ("[UNBOUNDED, 2020-01-02)", "[UNBOUNDED, UNBOUNDED)", None)),
    (("[2020-01-01,2020-02-01)", '["2019-03-31 15:30:00","2019-04-01 00:00:00"]', None), "range_not_half_open"),
    (("empty", None, None), "range_not_half_open"),
    (("[2020-01-01,10000-01-01)", None, None), "range_out_of_range"),
    (("soon", None, None), "type_mismatch"),
]


def test_ranges_of_postgresql_are_ranges_of_bigquery():
    events = [weir.event({"id": i, **dict(zip(RANGES, given))}, table="r", lsn=1000 + i) for i, (given, _) in enumerate(RANGE_ROWS)]
    for way in WAYS:
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            home.env.update(bq.env)
            result = base.run_bigquery(home, home.write("f", weir.feed(events, weir.id_key)), expect=None,
                                       columnTypes={"r." + name: kind for name, kind in RANGES.items()}, **way)
            stored = {row["id"]: row for row in (json.loads(row["fullRecord"]) for row in bq.rows(LOG + ".r_changelog"))}
            for i, (_, said) in enumerate(RANGE_ROWS):
                if not isinstance(said, str):
                    assert tuple(stored[i][name] for name in RANGES) == said, (way, stored[i])
            assert sorted(letter["code"] for letter in home.letters()) == sorted(said for _, said in RANGE_ROWS if isinstance(said, str))
            assert result["written"] == len(stored) == 2 and result["balanced"], result
            fields = {f["name"]: f for f in bq.resource(LOG + ".r_changelog")["schema"]["fields"]}["fullRecord"]["fields"]
            assert [("RANGE<%s>" % f["rangeElementType"]["type"]) for f in fields if f["type"] == "RANGE"] == list(RANGES.values()), fields


def test_a_range_of_another_element_is_another_type():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        bq.table(LOG + ".r_changelog", [{"name": "fullRecord", "type": "RECORD", "fields": [
            {"name": "id", "type": "INT64"}, {"name": "days", "type": "RANGE", "rangeElementType": {"type": "DATETIME"}}]}])
        event = weir.event({"id": 1, "days": "[2020-01-01,2020-02-01)"}, table="r", lsn=1)
        result = base.run_bigquery(home, home.write("f", weir.feed([event], weir.id_key)), expect=None, columnTypes={"r.days": "RANGE<DATE>"})
        assert result["written"] == 0 and result["parked"] == 1, result
        assert "fullRecord.days is RANGE<DATETIME> there, and RANGE<DATE> is to be written" in json.dumps(result), result


def wide_rows(home, rows):
    return home.write("f.jsonl", weir.feed([weir.event(row, table="a", lsn=1000 + i) for i, row in enumerate(rows)], weir.id_key))


def test_names_that_are_nearly_the_same_are_columns_each():
    """A name that protobuf cannot have goes by another: two that differ in one letter, or only by case in base64, must not share it."""
    row = {"id": 1, "aо": 2, "aп": 3, "дно": 4, "днп": 5, "a-b": 6, "a b": 7, "ж" * 150: 8, "ж" * 149 + "з": 9}
    for more in WAYS:
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            home.env.update(bq.env)
            result = base.run_bigquery(home, wide_rows(home, [row]), **more)
            assert result["written"] == 1 and not result["parked"], (more, result)
            assert json.loads(bq.rows(LOG + ".a_changelog")[0]["fullRecord"]) == row, (more, bq.rows(LOG + ".a_changelog"))


def test_a_table_has_more_columns_than_a_file_of_the_local_warehouse():
    rows = [dict({"id": 1}, **{"c%05d" % i: i for i in range(3000)}), dict({"id": 2, "z": 7})]
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        result = base.run_bigquery(home, wide_rows(home, rows))
        assert result["written"] == 2 and not result["dead_lettered"], result
        assert [base.without_nulls(json.loads(row["fullRecord"])) for row in bq.rows(LOG + ".a_changelog")] == rows
        again = base.run_bigquery(home, home.path + "/f.jsonl")
        assert again["this_run"]["received"] == 0, again
