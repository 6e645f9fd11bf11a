"""The stand-in of BigQuery, judged by Google's own clients, and what only its control says."""
import gzip
import http.client
import json
import subprocess
import time
import urllib.error

import emulators


def judge(*names):
    with emulators.bigquery() as bq:
        words = [emulators.PROGRAM, "bigquery-judge"] + ["-%s=%d" % (name, bq.ports[name]) for name in ("rest", "storage", "control")]
        said = subprocess.run(words + list(names), capture_output=True, text=True, timeout=300)
        assert said.returncode == 0, said.stdout + said.stderr
        assert [line.split()[0] for line in said.stdout.splitlines()] == list(names), said.stdout


def test_googles_client_makes_and_changes_tables():
    judge("tables", "etags")


def test_googles_client_inserts_rows_and_is_told_which_are_bad():
    judge("insert_all")


def test_managedwriter_appends_with_offsets_and_without():
    judge("default", "committed", "held", "bad_rows", "shared")


def test_managedwriter_meets_tables_that_change():
    judge("schema_change", "remade", "dropped", "time")


def test_managedwriter_writes_every_type_and_default():
    judge("types", "decimals", "forms", "nested", "missing")


def test_managedwriter_changes_rows_by_key():
    judge("changes")


def test_managedwriter_meets_faults_of_one_table_only():
    judge("faults", "quota", "permissions")


def insert(bq, table, *rows, **more):
    """(status, answer) of insertAll with rows, or with (insertId, row)."""
    made = [{"insertId": row[0], "json": row[1]} if isinstance(row, tuple) else {"json": row} for row in rows]
    return bq.call("POST", "bigquery/v2/projects/p/datasets/%s/tables/%s/insertAll" % tuple(table.split(".")), dict({"rows": made}, **more))[:2]


# type, what insertAll is given, what is stored
VALUES = [
    ("INT64", "9223372036854775807", "9223372036854775807"), ("INT64", -5, "-5"), ("FLOAT64", "-inf", "-Infinity"), ("FLOAT64", 1.5e300, "1.5e+300"),
    ("BOOL", True, "true"), ("BOOL", "False", "false"), ("STRING", 12, "12"), ("STRING", "\u00e9", "\u00e9"), ("BYTES", "AP8=", "AP8="),
    ("NUMERIC", "1.50", "1.5"), ("NUMERIC", "0.0000000005", "0.000000001"), ("NUMERIC", "-99999999999999999999999999999.999999999", "-99999999999999999999999999999.999999999"),
    ("BIGNUMERIC", "-578960446186580977117854925043439539266.34992332820282019728792003956564819968",
     "-578960446186580977117854925043439539266.34992332820282019728792003956564819968"),
    ("DATE", "0001-01-01", "0001-01-01"), ("TIME", "23:59:59.5", "23:59:59.500000"), ("DATETIME", "2020-02-29 23:59:60", "2020-03-01T00:00:00"),
    ("TIMESTAMP", "2020-01-01T00:00:00.123Z", "2020-01-01 00:00:00.123000+00"), ("TIMESTAMP", "2020-01-01 00:00:00+05:30", "2019-12-31 18:30:00+00"),
    ("TIMESTAMP", 1.5, "1970-01-01 00:00:01.500000+00"), ("INTERVAL", "-1-2 3 -4:5:6.7", "-1-2 3 -4:5:6.700000"), ("INTERVAL", "P1Y2M3DT4H5M6S", "1-2 3 4:5:6"),
    ("JSON", '{"a": 1}', '{"a": 1}'), ("GEOGRAPHY", "POINT(1 2)", "POINT(1 2)"),
]

# what no column of the type holds
BAD = [
    ("INT64", "9223372036854775808"), ("INT64", 1.5), ("INT64", True), ("FLOAT64", "1x"), ("BOOL", "yes"), ("BYTES", "*"), ("NUMERIC", "1e29"), ("NUMERIC", "0x1"),
    ("BIGNUMERIC", "578960446186580977117854925043439539267"), ("DATE", "2020-02-30"), ("DATE", "10000-01-01"), ("DATE", 5), ("TIME", "24:00:00"),
    ("DATETIME", "2020-13-01 00:00:00"), ("TIMESTAMP", "soon"), ("TIMESTAMP", 253402300800), ("INTERVAL", "1-2"), ("INTERVAL", "10000-1 0 0:0:0"), ("JSON", "{"),
    ("GEOGRAPHY", "here"), ("STRING", ["a"]), ("STRING", {"a": 1}),
]


def test_insert_all_takes_every_type_and_googles_client_reads_it_back():
    with emulators.bigquery("d") as bq:
        for number, (kind, given, stored) in enumerate(VALUES):
            table = "d.v%d" % number
            bq.table(table, {"v": kind})
            assert insert(bq, table, {"v": given}) == (200, {"kind": "bigquery#tableDataInsertAllResponse"}), (kind, given)
            assert bq.rows(table) == [{"v": stored}], (kind, given)
        for number in (0, 3, 8, 11, 12, 13, 14, 15, 16):
            read, kept = bq.rows_by_client("d.v%d" % number), bq.rows("d.v%d" % number)
            assert read == kept, (read, kept)


def test_insert_all_says_which_row_and_column_is_bad():
    with emulators.bigquery("d") as bq:
        for number, (kind, given) in enumerate(BAD):
            table = "d.b%d" % number
            bq.table(table, {"v": kind})
            status, answer = insert(bq, table, {"v": None}, {"v": given})
            assert status == 200, (kind, given, answer)
            said = {one["index"]: one["errors"][0] for one in answer["insertErrors"]}
            assert said[0]["reason"] == "stopped" and said[1]["reason"] == "invalid" and said[1]["location"] == "v" and said[1]["message"], (kind, given, said)
            assert bq.rows(table) == []


def test_records_arrays_and_ranges_are_kept():
    fields = [{"name": "r", "type": "RECORD", "mode": "REPEATED", "fields": [{"name": "Id", "type": "INT64"}, {"name": "t", "type": "STRING", "mode": "REPEATED"}]},
              {"name": "p", "type": "RANGE", "rangeElementType": {"type": "DATE"}}, {"name": "n", "type": "NUMERIC", "precision": "4", "scale": "1"}]
    with emulators.bigquery("d") as bq:
        bq.table("d.t", fields)
        assert insert(bq, "d.t", {"r": [{"id": 1, "t": ["a"]}, {"id": None}], "p": "[2020-01-01, UNBOUNDED)", "n": "12.25"})[1].get("insertErrors") is None
        assert bq.rows("d.t") == [{"r": '[{"Id":1,"t":["a"]},{"Id":null,"t":[]}]', "p": "[2020-01-01, UNBOUNDED)", "n": "12.3"}]
        assert bq.rows_by_client("d.t") == [{"r": '[{"Id":1,"t":["a"]},{"Id":null,"t":[]}]', "p": "[2020-01-01, UNBOUNDED)", "n": "12.3"}]
        for bad in ({"r": {}}, {"r": [{"none": 1}]}, {"r": [1]}, {"r": [None]}, {"p": "[2020-01-02, 2020-01-01)"}, {"n": "1000"}):
            assert insert(bq, "d.t", bad)[1]["insertErrors"], bad


def test_requests_have_limits_and_may_be_packed():
    with emulators.bigquery("d") as bq:
        bq.table("d.t", {"v": "STRING"})
        path = "projects/p/datasets/d/tables/t/insertAll"
        packed = gzip.compress(json.dumps({"rows": [{"json": {"v": "x"}}]}).encode())
        assert bq.call("POST", path, packed, headers={"Content-Encoding": "gzip"})[0] == 200
        large = json.dumps({"rows": [{"json": {"v": "x" * (11 << 20)}}]}).encode()
        status, answer, _ = bq.call("POST", path, gzip.compress(large), headers={"Content-Encoding": "gzip"})
        assert status == 413 and answer["error"]["errors"][0]["reason"] == "requestTooLarge", answer
        status, answer = insert(bq, "d.t", *[{}] * 50001)
        assert status == 400 and "too many rows" in answer["error"]["message"], answer
        assert insert(bq, "d.t")[0] == 400 and insert(bq, "d.t", ("i" * 129, {}))[0] == 400
        assert bq.rows("d.t") == [{"v": "x"}]
        assert bq.call("POST", "projects/p/queries", {"query": "select 1"})[1]["error"]["errors"][0]["reason"] == "notImplemented"
        assert bq.counts("d.t")["insertAll"] == 5 and bq.counts("d.t")["insertAll 413"] == 1


def test_a_repeated_insert_id_is_one_row_for_a_minute():
    with emulators.bigquery("d") as bq:
        bq.table("d.t", {"v": "INT64"})
        for _ in range(2):
            assert insert(bq, "d.t", ("a", {"v": 1}))[0] == 200
        assert len(bq.rows("d.t")) == 1
        bq.clock(advance_s=61)
        assert insert(bq, "d.t", ("a", {"v": 1}))[0] == 200
        assert len(bq.rows("d.t")) == 2


def test_two_who_add_columns_by_etag_both_succeed():
    with emulators.bigquery("d") as bq:
        first = bq.table("d.t", {"v": "INT64"})
        path, fields = "projects/p/datasets/d/tables/t", first["schema"]["fields"]
        one = {"schema": {"fields": fields + [{"name": "a", "type": "STRING"}]}}
        status, answer, headers = bq.call("PATCH", path, one, headers={"If-Match": first["etag"]})
        assert status == 200 and headers["ETag"] == answer["etag"] != first["etag"], answer
        two = {"schema": {"fields": fields + [{"name": "b", "type": "STRING"}]}}
        status, answer, _ = bq.call("PATCH", path, two, headers={"If-Match": first["etag"]})
        assert (status, answer["error"]["status"]) == (412, "FAILED_PRECONDITION"), answer
        status, answer, _ = bq.call("PATCH", path, two)
        assert status == 400 and "Field a is missing in new schema" in answer["error"]["message"], answer
        bq.add_column("d.t", "b")
        assert [field["name"] for field in bq.resource("d.t")["schema"]["fields"]] == ["v", "a", "b"]


# what stands beside the schema and is refused
ODD_TABLES = [
    {"clustering": {"fields": ["f"]}}, {"timePartitioning": {"type": "DAY", "field": "id"}}, {"timePartitioning": {"type": "WEEK"}}, {"maxStaleness": "10 minutes"},
    {"tableConstraints": {"primaryKey": {"columns": ["f"]}}}, {"tableConstraints": {"primaryKey": {"columns": ["none"]}}}, {"labels": {"Upper": "x"}},
    {"expirationTime": "1000"}, {"schema": {"fields": [{"name": "_CHANGE_TYPE", "type": "STRING"}]}}, {"schema": {"fields": [{"name": "a", "type": "TEXT"}]}},
    {"schema": {"fields": [{"name": "a", "type": "STRING"}, {"name": "A", "type": "STRING"}]}}, {"schema": {"fields": [{"name": "a.b", "type": "STRING"}]}},
]


def test_tables_that_bigquery_does_not_have_are_refused():
    with emulators.bigquery("d") as bq:
        for more in ODD_TABLES:
            body = dict({"tableReference": {"tableId": "t"}, "schema": {"fields": [{"name": "id", "type": "INT64"}, {"name": "f", "type": "FLOAT64"}]}}, **more)
            status, answer, _ = bq.call("POST", "projects/p/datasets/d/tables", body)
            assert status == 400 and answer["error"]["errors"][0]["reason"] == "invalid", (more, answer)
        bq.rest("PATCH", "datasets/d", {"defaultTableExpirationMs": "3600000"})
        assert int(bq.table("d.t", {"id": "INT64"})["expirationTime"]) > time.time() * 1000
        bq.clock(advance_s=3601)
        assert bq.call("GET", "projects/p/datasets/d/tables/t")[0] == 404


def test_a_new_table_may_be_unknown_for_a_while():
    with emulators.bigquery("d") as bq:
        bq.settings(create_delay_s=30)
        bq.table("d.t", {"v": "INT64"})
        assert insert(bq, "d.t", {"v": 1})[0] == 404 and bq.resource("d.t")["numRows"] == "0"
        bq.clock(advance_s=31)
        assert insert(bq, "d.t", {"v": 1})[0] == 200


# fault, what a client of REST sees: a status and reason, or a broken answer; rows written
REST_FAULTS = [
    ({"kind": "rate"}, (403, "rateLimitExceeded"), 0), ({"kind": "quota"}, (403, "quotaExceeded"), 0), ({"kind": "backend"}, (503, "backendError"), 0),
    ({"kind": "billing"}, (403, "billingNotEnabled"), 0), ({"kind": "status", "reason": "odd", "status": 418}, (418, "odd"), 0),
    ({"kind": "page", "status": 502}, ValueError, 0), ({"kind": "abort"}, OSError, 0), ({"kind": "close"}, http.client.RemoteDisconnected, 0),
    ({"kind": "lost"}, http.client.RemoteDisconnected, 1), ({"kind": "cut"}, http.client.IncompleteRead, 1), ({"kind": "slow", "delay_ms": 20}, 200, 1),
]


def test_faults_of_rest_hit_one_table_and_method_for_their_times():
    with emulators.bigquery("d") as bq:
        bq.table("d.t", {"v": "INT64"})
        bq.table("d.other", {"v": "INT64"})
        for fault, expected, written in REST_FAULTS:
            bq.fault(table="d.t", method="insertAll", skip=1, times=1, **fault)
            before = len(bq.rows("d.t"))
            assert insert(bq, "d.t", {"v": 1})[0] == 200, fault
            try:
                status, answer = insert(bq, "d.t", {"v": 2})
                got = status if status == 200 else (status, answer["error"]["errors"][0]["reason"])
            except (ValueError, OSError, urllib.error.URLError, http.client.HTTPException) as error:
                got = getattr(error, "reason", error)
            assert got == expected or isinstance(expected, type) and isinstance(got, expected), (fault, got)
            assert len(bq.rows("d.t")) == before + 1 + written, fault
            assert insert(bq, "d.t", {"v": 3})[0] == 200 and insert(bq, "d.other", {"v": 3})[0] == 200 and bq.resource("d.t")["id"] == "p:d.t"
            bq.lift()


def test_a_fault_of_rows_names_them_and_waits_are_said():
    with emulators.bigquery("d") as bq:
        bq.table("d.t", {"v": "INT64"})
        bq.fault("row", "d.t", column="v", value="2", message="odd number")
        said = insert(bq, "d.t", {"v": 1}, {"v": 2}, skipInvalidRows=True)[1]["insertErrors"]
        assert said == [{"index": 1, "errors": [{"reason": "invalid", "location": "v", "debugInfo": "", "message": "odd number"}]}], said
        assert bq.rows("d.t") == [{"v": "1"}]
        bq.lift()
        bq.fault("rate", "d.t", retry_after_s=3, seconds=600)
        status, _, headers = bq.call("GET", "projects/p/datasets/d/tables/t")
        assert (status, headers["Retry-After"]) == (403, "3")
        bq.clock(advance_s=601)
        assert bq.call("GET", "projects/p/datasets/d/tables/t")[0] == 200


def test_permissions_are_withheld_by_table_and_told():
    with emulators.bigquery("d") as bq:
        bq.table("d.t", {"v": "INT64"})
        bq.withhold(**{"d.t": ["bigquery.tables.get"], "d": ["bigquery.tables.create"]})
        status, answer, _ = bq.call("GET", "projects/p/datasets/d/tables/t")
        assert status == 403 and "Permission bigquery.tables.get denied on table p:d.t" in answer["error"]["message"], answer
        assert bq.call("POST", "projects/p/datasets/d/tables", {"tableReference": {"tableId": "u"}})[0] == 403
        asked = {"permissions": ["bigquery.tables.get", "bigquery.tables.update"]}
        assert bq.rest("POST", "datasets/d/tables/t:testIamPermissions", asked) == {"permissions": ["bigquery.tables.update"]}
        bq.withhold()
        assert bq.resource("d.t")["type"] == "TABLE"
