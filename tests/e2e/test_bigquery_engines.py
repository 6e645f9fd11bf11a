"""Two engines that share a subscription and its tables at BigQuery: whoever gets a message, its row and its columns come to be there."""
import json

import emulators
import test_bigquery as base
import weir
from test_bigquery import LOG, ONCE, until

ROWS, COLUMNS = 400, 8
INSERT_ALL = {"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": False}


def messages():
    """Rows of two tables; every 50 rows another column comes, so that both engines meet each of them first at some table."""
    for i in range(ROWS):
        for table in ("a", "b"):
            row = {"id": i, "c%d" % (i * COLUMNS // ROWS): "%s %d" % (table, i)}
            yield json.dumps({"key": json.dumps({"id": i}), "data": weir.event(row, table=table, lsn=1000 + i)})


def found(bq, table):
    try:
        rows = [json.loads(row["fullRecord"]) for row in bq.rows("%s.%s_changelog" % (LOG, table))]
    except AssertionError:
        return {} # not made yet
    return {row["id"]: {name: value for name, value in row.items() if value is not None} for row in rows}


def two_engines(**more):
    with emulators.pubsub() as ps, emulators.bigquery(LOG, project=ps.project) as bq, weir.Home() as one, weir.Home() as two:
        bq.settings(schema_delay_s=0.3)
        ps.create("changes", "changes-sub")
        processes = []
        for home in (one, two):
            home.env.update(bq.env, **ps.env)
            job = home.job(None, "bq", project=ps.project, inputSubscriptions="changes-sub", **{**base.STORAGE, **more})
            before = ps.counts("changes-sub")["streams"]
            processes.append(home.start("run", job, "--json"))
            until(lambda: ps.counts("changes-sub")["streams"] > before)
        lines = list(messages())
        for at in range(0, len(lines), 40):
            ps.publish("changes", lines[at:at + 40])
        until(lambda: all(len(found(bq, table)) == ROWS for table in ("a", "b")), 60)
        until(lambda: ps.counts("changes-sub")["backlog"] == ps.counts("changes-sub")["outstanding"] == 0)
        for table in ("a", "b"):
            for i, row in found(bq, table).items():
                assert row == {"id": i, "c%d" % (i * COLUMNS // ROWS): "%s %d" % (table, i)}, (table, row)
            fields = {f["name"]: f for f in bq.resource("%s.%s_changelog" % (LOG, table))["schema"]["fields"]}
            assert {f["name"] for f in fields["fullRecord"]["fields"]} == {"id"} | {"c%d" % n for n in range(COLUMNS)}, fields
        for home, process in zip((one, two), processes):
            r = home.run("drain", "bq", "--json", timeout=60)
            assert process.wait(60) == 0, r
            line = home.run("status", "--json").lines[0]
            assert line["received"] and line["balanced"] and not line["parked"] and not line["dead_lettered"], line


def test_two_engines_on_one_subscription_lose_no_row_and_leave_no_table_behind():
    for more in ({}, ONCE, INSERT_ALL):
        two_engines(**more)
