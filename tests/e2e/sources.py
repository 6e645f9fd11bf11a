"""Debezium's connectors, as the random histories need them: where a change stands in the log, and what such a database does.

A place is (file, position, row): a later change has a greater one. Each connector writes it in its own words, in `source` of an
envelope and, flattened, in fields that `add.fields` has put into the row."""
import json
from collections import namedtuple

SIMPLE = ("bool", "int16", "int32", "int64", "double", "string", "decimal_10_2", "decimal_38_9", "date", "stamp_us", "bytes")
PG = SIMPLE + ("float", "decimal_50_20", "decimal_76_38", "decimal_100_50", "decimal_any", "time_us", "time_ms", "zoned", "json", "xml", "uuid", "enum",
               "ints", "texts", "point", "interval", "duration", "iso_date", "iso_time", "iso_stamp", "stamp_ms", "stamp_ns", "time_ns")
BINLOG = SIMPLE + ("float", "uint64", "decimal_50_20", "decimal_76_38", "time_us", "zoned", "json", "enum", "set", "year", "stamp_ms", "point")

# name; kinds of its columns; place(place, change): members of `source`; shown: those that a flattened row carries; database: the
# members that say where a table is; sub_orders: may two changes share a position and differ in `row` alone; has_gone: leaves out
# unchanged large values; has_truncates; has_ddl: sends schema changes that weir reads; has_moves: keys can be changed;
# has_snapshots; is_document: rows are texts of JSON, unless they are flattened.
Connector = namedtuple("Connector", "name kinds place shown database sub_orders has_gone has_truncates has_ddl has_moves has_snapshots is_document",
                       defaults=(False, False, False, False, True, True, False))


READS = ("r", "i")  # of the first snapshot, and of an incremental one


def binlog(place, change):
    file, position, row = place
    return {"server_id": 1, "gtid": None, "file": "binlog.%06d" % file, "pos": position, "row": row}


def postgresql(place, change):
    lsn = (place[0] << 32) + place[1]
    if change["op"] == "i":
        return {"txId": None, "lsn": None, "sequence": json.dumps([str(lsn), str(lsn)])}
    return {"txId": place[1], "lsn": lsn, "sequence": json.dumps([str(lsn), str(lsn)])}


def sqlserver(place, change):
    file, position, row = place
    commit = "%08x:%08x:0005" % (file, position)
    if change["op"] in READS:
        return {"commit_lsn": commit, "change_lsn": None, "event_serial_no": None}
    return {"commit_lsn": commit, "change_lsn": "%08x:%08x:%04x" % (file, position, row + 1), "event_serial_no": 2 if change["op"] == "u" else 1}


def oracle(place, change):
    file, position, row = place
    scn = file * 10**9 + position
    if change["op"] in READS:
        return {"scn": str(scn), "commit_scn": None}
    return {"txId": "0600%04x" % (position % 65536), "scn": str(scn), "commit_scn": str(scn + 1), "rs_id": " 0x%06x.%08x.%04x " % (file, position, row), "ssn": row,
            "redo_thread": 1}


def db2(place, change):
    file, position, row = place
    commit = "%08x:%08x:%016x" % (0, file, position << 16)
    return {"commit_lsn": commit, "change_lsn": None if change["op"] in READS else "%08x:%08x:%016x" % (0, file, (position << 16) + row)}


def vitess(place, change):
    count = place[0] * 10**6 + place[1]
    return {"shard": "-", "vgtid": json.dumps([{"keyspace": "commerce", "shard": "-", "gtid": "MySQL56/a9c3:1-%d" % count}])}


def spanner(place, change):
    us = second_of(place) * 1000000
    return {"ts_us": us, "ts_ns": us * 1000, "sequence": str(place[2] // 2), "mod_number": place[2] % 2, "value_capture_type": "NEW_ROW_AND_OLD_VALUES"}


def mongodb(place, change):
    return {"ord": place[2] + 1, "lsid": None, "txnNumber": None, "wallTime": None}


CONNECTORS = [
    Connector("postgresql", PG, postgresql, ("lsn", "sequence"), {"db": "shop", "schema": "public"}, has_gone=True, has_truncates=True),
    Connector("mysql", BINLOG, binlog, ("server_id", "file", "pos", "row"), {"db": "shop"}, sub_orders=True, has_truncates=True, has_ddl=True),
    Connector("mariadb", BINLOG, binlog, ("server_id", "file", "pos", "row"), {"db": "shop"}, sub_orders=True, has_truncates=True, has_ddl=True),
    Connector("sqlserver", SIMPLE + ("float", "time_ns", "stamp_ns", "zoned", "uuid", "xml"), sqlserver, ("commit_lsn", "change_lsn", "event_serial_no"),
              {"db": "shop", "schema": "dbo"}, sub_orders=True),
    Connector("oracle", SIMPLE + ("float", "decimal_any", "stamp_ns", "stamp_ms", "zoned", "duration", "interval", "xml"), oracle,
              ("scn", "commit_scn", "rs_id", "ssn"), {"db": "ORCL", "schema": "SHOP"}, sub_orders=True, has_gone=True, has_truncates=True),
    Connector("db2", SIMPLE + ("float", "time_ms", "stamp_ns", "xml"), db2, ("commit_lsn", "change_lsn"), {"db": "TESTDB", "schema": "DB2INST1"}, sub_orders=True),
    Connector("vitess", SIMPLE + ("json", "enum", "set", "year"), vitess, ("shard", "vgtid"), {"db": "", "keyspace": "commerce"}, has_moves=False),
    Connector("spanner", ("bool", "int64", "double", "string", "bytes", "texts", "json"), spanner, ("ts_us", "sequence", "mod_number"), {"db": "business"},
              sub_orders=True, has_moves=False, has_snapshots=False),
    Connector("mongodb", ("int32", "int64", "double", "string", "bool"), mongodb, ("ord",), {"db": "zoo"}, sub_orders=True, has_moves=False, is_document=True),
]


def second_of(place):
    return 1700000000 + place[0] * 100000 + place[1]


def source_of(connector, change, table):
    """The `source` block of an envelope."""
    start = {"version": "3.6.1.Final", "connector": connector.name, "name": "srv", "ts_ms": second_of(change["place"]) * 1000,
             "snapshot": {"r": "true", "i": "incremental"}.get(change["op"], "false")}
    name = {"collection" if connector.is_document else "table": change["name"]}
    return dict(start, **connector.database, **name, **connector.place(change["place"], change))
