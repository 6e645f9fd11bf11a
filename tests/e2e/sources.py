"""Debezium's connectors, as the random histories need them: where a change stands in the log, and what such a database does.

A place is (file, position, row): a later change has a greater one. Each connector writes it in its own words, in `source` of an
envelope and, flattened, in fields that `add.fields` has put into the row."""
import json
from collections import namedtuple

SIMPLE = ("bool", "int16", "int32", "int64", "double", "string", "decimal_10_2", "decimal_38_9", "date", "stamp_us", "bytes")
PG = SIMPLE + ("float", "decimal_50_20", "decimal_76_38", "decimal_100_50", "decimal_any", "time_us", "time_ms", "zoned", "json", "xml", "uuid", "enum",
               "ints", "texts", "point", "interval", "duration", "iso_date", "iso_time", "iso_stamp", "stamp_ms", "stamp_ns", "time_ns")
BINLOG = SIMPLE + ("float", "uint64", "decimal_50_20", "decimal_76_38", "time_us", "zoned", "json", "enum", "set", "year", "stamp_ms", "point", "iso_date")

# name; kinds of its columns; place(place, change): members of `source`; shown: those that a flattened row carries; sub_orders: may
# two changes share a position and differ in `row` alone; has_gone: leaves out unchanged large values; has_truncates;
# has_ddl: sends schema changes; database: the members that say where a table is.
Connector = namedtuple("Connector", "name kinds place shown sub_orders has_gone has_truncates has_ddl database")


def binlog(place, change):
    file, position, row = place
    return {"server_id": 1, "gtid": None, "file": "binlog.%06d" % file, "pos": position, "row": row}


def postgresql(place, change):
    lsn = (place[0] << 32) + place[1]
    return {"txId": place[1], "lsn": lsn, "sequence": json.dumps([str(lsn), str(lsn)])}


def sqlserver(place, change):
    file, position, row = place
    commit = "%08x:%08x:0005" % (file, position)
    if change["op"] == "r":
        return {"commit_lsn": commit, "change_lsn": None, "event_serial_no": None}
    return {"commit_lsn": commit, "change_lsn": "%08x:%08x:%04x" % (file, position, row + 1), "event_serial_no": 2 if change["op"] == "u" else 1}


def oracle(place, change):
    file, position, row = place
    scn = file * 10**9 + position
    if change["op"] == "r":
        return {"scn": str(scn), "commit_scn": None}
    return {"txId": "0600%04x" % (position % 65536), "scn": str(scn), "commit_scn": str(scn + 1), "rs_id": " 0x%06x.%08x.%04x " % (file, position, row), "ssn": row,
            "redo_thread": 1}


CONNECTORS = [
    Connector("postgresql", PG, postgresql, ("lsn",), False, True, True, False, {"db": "shop", "schema": "public"}),
    Connector("mysql", BINLOG, binlog, ("server_id", "file", "pos", "row"), True, False, True, True, {"db": "shop"}),
    Connector("mariadb", BINLOG, binlog, ("server_id", "file", "pos", "row"), True, False, True, True, {"db": "shop"}),
    Connector("sqlserver", SIMPLE + ("float", "time_ns", "stamp_ns", "zoned", "uuid", "xml"), sqlserver, ("commit_lsn", "change_lsn", "event_serial_no"),
              True, False, False, True, {"db": "shop", "schema": "dbo"}),
    Connector("oracle", SIMPLE + ("float", "decimal_any", "stamp_ns", "stamp_ms", "zoned", "duration", "interval", "xml"), oracle,
              ("scn", "commit_scn", "rs_id", "ssn"), True, True, True, True, {"db": "ORCL", "schema": "SHOP"}),
]


def source_of(connector, change, table):
    """The `source` block of an envelope."""
    second = 1700000000 + change["place"][0] * 100000 + change["place"][1]
    start = {"version": "3.6.1.Final", "connector": connector.name, "name": "srv", "ts_ms": second * 1000, "snapshot": "true" if change["op"] == "r" else "false"}
    return dict(start, **connector.database, table=table.name, **connector.place(change["place"], change))
