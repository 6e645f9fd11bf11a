"""Which change wins: by the source's log, over its files, over another server and a log that began anew, and never by a clock alone."""
import json

import weir
from deliveries import MERGE, UPSERT

BEGAN = 1700000000000


def lsn(number):
    return "%08x:%08x:0005" % (number >> 32, number & 0xFFFFFFFF)


def vgtid(shard, count):
    return json.dumps([{"keyspace": "k", "shard": shard, "gtid": "MySQL56/a-%s:1-%d" % (shard or "x", count)}])


# Of each: how the source block of the old log and of the new one looks, `n` growing in both. The new one begins further back.
LOGS = {
    "mysql: another server": (lambda n: {"connector": "mysql", "server_id": 1, "file": "b.000009", "pos": 100 + n, "row": 0},
                              lambda n: {"connector": "mysql", "server_id": 2, "file": "b.000001", "pos": 4 + n, "row": 0}),
    "mysql: another server with GTIDs": (
        lambda n: {"connector": "mysql", "server_id": 1, "gtid": "aa:%d" % (900 + n), "file": "b.000009", "pos": 100 + n, "row": 0},
        lambda n: {"connector": "mysql", "server_id": 2, "gtid": "bb:%d" % n, "file": "b.000009", "pos": 4 + n, "row": 0}),
    "mysql: RESET MASTER": (lambda n: {"connector": "mysql", "server_id": 1, "file": "b.000009", "pos": 100 + n, "row": 0},
                            lambda n: {"connector": "mysql", "server_id": 1, "file": "b.000001", "pos": 4 + n, "row": 0}),
    "postgresql: a timeline that goes back": (
        lambda n: {"connector": "postgresql", "schema": "public", "lsn": 9000 + n, "sequence": '["%d","%d"]' % (8999 + n, 9000 + n)},
        lambda n: {"connector": "postgresql", "schema": "public", "lsn": 5000 + n, "sequence": '["%d","%d"]' % (4999 + n, 5000 + n)}),
    "sqlserver: restored": (
        lambda n: {"connector": "sqlserver", "schema": "dbo", "commit_lsn": lsn(0x2700000900 + n), "change_lsn": lsn(0x2700000900 + n), "event_serial_no": 1},
        lambda n: {"connector": "sqlserver", "schema": "dbo", "commit_lsn": lsn(0x2700000100 + n), "change_lsn": lsn(0x2700000100 + n), "event_serial_no": 1}),
    "oracle: RESETLOGS": (
        lambda n: {"connector": "oracle", "schema": "S", "scn": str(9000 + n), "commit_scn": str(9000 + n), "txSeq": 1, "redo_thread": 1},
        lambda n: {"connector": "oracle", "schema": "S", "scn": str(5000 + n), "commit_scn": str(5000 + n), "txSeq": 1, "redo_thread": 1}),
    "db2: restored": (
        lambda n: {"connector": "db2", "schema": "S", "commit_lsn": "00000000:%08x:%016x" % (9, n), "change_lsn": "%032x" % n},
        lambda n: {"connector": "db2", "schema": "S", "commit_lsn": "00000000:%08x:%016x" % (5, n), "change_lsn": "%032x" % n}),
    "vitess: resharded": (lambda n: {"connector": "vitess", "shard": "-", "vgtid": vgtid("-", 900 + n)},
                          lambda n: {"connector": "vitess", "shard": "-80", "vgtid": vgtid("-80", 1 + n)}),
    "vitess: restored": (lambda n: {"connector": "vitess", "shard": "0", "vgtid": vgtid("0", 900 + n)},
                         lambda n: {"connector": "vitess", "shard": "0", "vgtid": vgtid("0", 1 + n)}),
}


def message(number, source, key, value, ms, op=None, snapshot="false", table="t"):
    block = dict({"name": "c-" + table, "db": "shop", "table": table, "ts_ms": ms, "snapshot": snapshot}, **source)
    row = {"id": key, "v": value}
    gone = value is None
    envelope = {"before": {"id": key, "v": None} if gone else None, "after": None if gone else row, "source": block, "op": op or ("d" if gone else "u"),
                "ts_ms": ms + 5, "transaction": None}
    return json.dumps({"id": str(number), "key": json.dumps({"id": key}), "data": envelope})


def stretch(first, source, changes, ms, table):
    return [message(first + i, source(i), key, value, ms + i * 10, table=table) for i, (key, value) in enumerate(changes)]


OLD = [(1, "a"), (2, "b"), (3, "c"), (1, "old"), (4, "d"), (4, None)]
NEW = [(1, "new"), (2, None), (4, "again"), (5, "e"), (5, "f")]
ROWS = [(1, "new"), (3, "c"), (4, "again"), (5, "f")]
LATER_MS = 120000  # Oracle tells the time of the change alone: a minute is not enough to be sure


def table_of(log):
    return log.replace(": ", "_").replace(" ", "_")


def histories():
    """What the feed has before the first run, and what is added behind it, of all logs together."""
    logs = [(stretch(1, old, OLD, BEGAN, table_of(log)), stretch(100, new, NEW, BEGAN + LATER_MS, table_of(log))) for log, (old, new) in LOGS.items()]
    flat = lambda parts: [line for part in parts for line in part]
    yield "in order", flat(o for o, _ in logs), flat(n for _, n in logs)
    # The last of the old log come twice when the new one has begun.
    yield "late", flat(o[:3] for o, _ in logs), flat(n[:1] + o[3:] + n[1:] + o[4:] for o, n in logs)
    yield "out of order", flat(o[::-1] + o[:2] for o, _ in logs), flat(n[::-1] + n for _, n in logs)


def replay(what, first, second, mode, in_two_runs):
    with weir.Home() as home:
        feed = home.write("feed", "\n".join(first) + "\n")
        if in_two_runs:
            home.replicate(feed, **mode)
        with open(feed, "a") as f:
            f.write("\n".join(second) + "\n")
        home.replicate(feed, **mode)
        noted = {t["table"].split(".")[-1]: [n["code"] for n in t["notes"]] for t in home.run("tables", "--json").lines}
        said = json.dumps([l for l in home.run("journal", "--json").lines if "history_changed" in json.dumps(l)])
        for log in LOGS:
            got = home.sql("select id, v from `%s` order by id" % table_of(log))
            assert got == ROWS, (log, what, mode, in_two_runs, got)
            assert "history_changed" in noted[table_of(log)] and table_of(log) in said, (log, noted, said)
        if mode is MERGE:
            home.verify()


def test_a_log_that_begins_anew_wins_over_the_old_one():
    """Also when that happened between two runs; the journal and the table say so."""
    for what, first, second in histories():
        replay(what, first, second, MERGE, in_two_runs=what != "late")
        replay(what, first, second, UPSERT, in_two_runs=what != "out of order")


def replicate(lines, mode, query="select id, v from t order by id"):
    with weir.Home() as home:
        home.replicate(home.write("feed", "\n".join(lines) + "\n"), **mode)
        rows = home.sql(query)
        if mode is MERGE:
            home.verify()
        return rows, home.run("tables", "--json").out


def always(lines, want):
    """The other way round, and twice, merged and upserted."""
    for mode, order in ((MERGE, lines[::-1]), (MERGE, lines + lines[::-1]), (UPSERT, lines[::-1] + lines)):
        got, tables = replicate(order, mode)
        assert got == want, (mode, order, got)
        assert b"history_changed" not in tables, tables


def binlog(file, pos, row=0, server_id=1):
    return {"connector": "mysql", "server_id": server_id, "file": file, "pos": pos, "row": row}


def test_positions_go_on_over_the_roll_of_log_files():
    """B05: the position starts small again, and names get longer."""
    always([message(1, binlog("mysql-bin.000157", 90000), 9, "old", BEGAN), message(2, binlog("mysql-bin.000158", 120), 9, "new", BEGAN + 500)], [(9, "new")])
    always([message(1, binlog("mysql-bin.999999", 90000), 9, "old", BEGAN), message(2, binlog("mysql-bin.1000000", 4), 9, "new", BEGAN)], [(9, "new")])


def test_two_changes_of_one_millisecond_keep_their_order():
    """B01: of one statement, of one transaction, of two."""
    at = lambda pos, row: binlog("bin.000004", pos, row)
    always([message(1, at(410, 0), 7, "new", BEGAN), message(2, at(410, 1), 7, "seen", BEGAN), message(3, at(566, 0), 7, "paid", BEGAN)], [(7, "paid")])
    pg = lambda lsn: {"connector": "postgresql", "schema": "public", "lsn": lsn, "sequence": '["10","%d"]' % lsn}
    always([message(1, pg(1000), 7, "new", BEGAN), message(2, pg(1008), 7, None, BEGAN), message(3, pg(1016), 7, "paid", BEGAN)], [(7, "paid")])
    spanner = lambda us, sequence: {"connector": "spanner", "ts_us": us, "sequence": str(sequence), "mod_number": 0}
    us = BEGAN * 1000
    always([message(1, spanner(us, 0), 7, "new", BEGAN), message(2, spanner(us, 1), 7, "seen", BEGAN), message(3, spanner(us + 1, 0), 7, "paid", BEGAN)], [(7, "paid")])


def test_redo_threads_share_one_order():
    """Two instances write: the second transaction began first, and has the smaller SCN of its change."""
    def at(thread, scn, commit, sequence):
        return {"connector": "oracle", "schema": "S", "scn": str(scn), "commit_scn": str(commit), "txSeq": sequence, "redo_thread": thread}
    always([message(1, at(1, 105, 110, 1), 7, "a", BEGAN), message(2, at(1, 106, 110, 2), 7, "b", BEGAN), message(3, at(2, 101, 120, 1), 8, "c", BEGAN),
            message(4, at(2, 118, 120, 2), 7, "d", BEGAN)], [(7, "d"), (8, "c")])


def test_a_snapshot_hands_over_to_the_stream():
    """Rows of the snapshot stand at one position; what is streamed behind it wins, also what was read by both."""
    pg = lambda lsn, commit=90: {"connector": "postgresql", "schema": "public", "lsn": lsn, "sequence": '["%d","%d"]' % (commit, lsn)}
    rows = [message(i, pg(100), i, "s", BEGAN + i, "r", mark) for i, mark in ((1, "first"), (2, "true"), (3, "last"))]
    always(rows + [message(11, pg(101, 100), 2, "t", BEGAN - 5), message(12, pg(108, 100), 3, None, BEGAN + 1), message(13, pg(116, 110), 4, "n", BEGAN + 2)],
           [(1, "s"), (2, "t"), (4, "n")])
    bin_rows = [message(i, binlog("b.000003", 500, 0, server_id=0), i, "s", BEGAN + i, "r", mark) for i, mark in ((1, "first"), (2, "last"))]
    always(bin_rows + [message(11, binlog("b.000003", 500), 2, "t", BEGAN + 1)], [(1, "s"), (2, "t")])


def test_an_incremental_snapshot_stands_between_the_changes():
    pg = lambda lsn: {"connector": "postgresql", "schema": "public", "lsn": lsn, "sequence": '["90","%d"]' % lsn}
    chunk = {"connector": "postgresql", "schema": "public", "lsn": None, "sequence": '["104","105"]'}
    always([message(1, pg(100), 1, "old", BEGAN), message(2, chunk, 1, "chunk", BEGAN + 1, "r", "incremental"),
            message(3, chunk, 2, "chunk", BEGAN + 1, "r", "incremental"), message(4, pg(105), 2, "new", BEGAN + 2)], [(1, "chunk"), (2, "new")])


def test_a_snapshot_over_a_replica_brings_rows_up_to_date():
    """The same log: late events of before the snapshot lose to it, and what is streamed behind it wins."""
    pg = lambda lsn, commit: {"connector": "postgresql", "schema": "public", "lsn": lsn, "sequence": '["%d","%d"]' % (commit, lsn)}
    lines = [message(1, pg(100, 99), 1, "a", BEGAN), message(2, pg(101, 99), 2, "b", BEGAN), message(3, pg(900, 890), 3, "late", BEGAN + 5000)]
    again = [message(10 + i, pg(1000, 990), i, "s%d" % i, BEGAN + 60000 + i, "r", mark) for i, mark in ((1, "first"), (2, "true"), (3, "last"))]
    always(lines + again + [message(20, pg(1001, 1000), 2, "z", BEGAN + 60001)], [(1, "s1"), (2, "z"), (3, "s3")])


def test_a_snapshot_of_a_restored_database_wins_over_the_replica():
    """Its positions are smaller than all that were seen: the first row of the snapshot tells."""
    pg = lambda lsn, commit: {"connector": "postgresql", "schema": "public", "lsn": lsn, "sequence": '["%d","%d"]' % (commit, lsn)}
    lines = [message(1, pg(900, 899), 1, "a", BEGAN), message(2, pg(901, 900), 2, "b", BEGAN + 10)]
    again = [message(10 + i, pg(100, 0), i, "s%d" % i, BEGAN + 60000 + i, "r", mark) for i, mark in ((1, "first"), (2, "last"))]
    for mode in (MERGE, UPSERT):
        got, tables = replicate(lines + again + lines[:1] + [message(20, pg(110, 105), 2, "z", BEGAN + 60500)], mode)
        assert got == [(1, "s1"), (2, "z")], (mode, got)
        assert b"history_changed" in tables
