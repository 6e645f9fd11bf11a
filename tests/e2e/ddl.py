"""Schema changes as MySQL's DDL says them, and what rows that were not touched have of them.

An `alter` of a history with its text: {"how", "column", ..., "sql"}. Only what MySQL itself has as a type stands in TYPES."""
import json
from collections import namedtuple

from kinds import Cell, KINDS, plain, twos

# The type as MySQL writes it; a literal for DEFAULT and its cell; the cell of NOT NULL without one. No cell: the source has none
# that the statement tells.
Type = namedtuple("Type", "sql literal default implicit")
TYPES = {
    "int": Type("int", "7", plain(7), plain(0)),
    "float": Type("double", "2.5", plain(2.5), plain(0.0)),
    "text": Type("varchar(200)", "'it''s'", plain("it's"), plain("")),
    "bool": Type("bit(1)", "b'1'", Cell(True, 1), Cell(False, 0)),
    "int16": Type("smallint", "-7", plain(-7), plain(0)),
    "int32": Type("int", "'12'", plain(12), plain(0)),
    "int64": Type("bigint", "(5)", plain(5), plain(0)),
    "double": Type("double", "2.5", plain(2.5), plain(0.0)),
    "string": Type("varchar(200)", "'a,b) `c`'", plain("a,b) `c`"), plain("")),
    "bytes": Type("varbinary(60)", "x'4D00'", Cell("TQA=", b"M\0"), Cell("", b"")),
    "decimal_10_2": Type("decimal(10,2)", "1.50", Cell(twos(150), "1.5"), Cell(twos(0), "0")),
    "decimal_38_9": Type("decimal(38,9)", "'-3.25'", Cell(twos(-3250000000), "-3.25"), Cell(twos(0), "0")),
    "date": Type("date", "'2020-01-02'", Cell(18263, "2020-01-02"), Cell(0, "1970-01-01")),
    "time_us": Type("time(6)", "'10:20:30'", Cell(37230000000, "10:20:30"), Cell(0, "00:00:00")),
    "zoned": Type("timestamp(6)", "'2020-01-02 03:04:05'", Cell("2020-01-02T03:04:05Z", "2020-01-02 03:04:05+00"), None),
    "stamp_ms": Type("datetime(3)", "'2020-01-02 03:04:05'", Cell(1577934245000, "2020-01-02T03:04:05"), Cell(0, "1970-01-01T00:00:00")),
    "stamp_us": Type("datetime(6)", "'2020-01-02 03:04:05'", Cell(1577934245000000, "2020-01-02T03:04:05"), Cell(0, "1970-01-01T00:00:00")),
    "enum": Type("enum('new','old','')", "'old'", plain("old"), plain("new")),
    "year": Type("year", "2024", plain(2024), plain(0)),
    "json": Type("json", None, None, None),
    "decimal_50_20": Type("decimal(50,20)", None, None, None),
}
ADD = ("ALTER TABLE `{t}` ADD COLUMN `{c}` {d}", "alter table shop.{t} add {c} {d} first", "alter table {t} /* why */ add column ({c} {d})",
       "ALTER TABLE `shop`.`{t}` ADD `{c}` {d} AFTER `{k}` -- at last")
RENAME = ("alter table {t} rename column `{c}` to `{n}`", "ALTER TABLE `{t}` CHANGE `{c}` `{n}` {d}", "ALTER TABLE {t} CHANGE COLUMN {c} {n} {d} NULL FIRST")
DROP = ("ALTER TABLE `{t}` DROP COLUMN `{c}`", "alter table {t} drop {c}")
WIDEN = ("ALTER TABLE `{t}` MODIFY COLUMN `{c}` {d}", "alter table {t} modify {c} {d} first", "ALTER TABLE {t} CHANGE {c} {c} {d}")


def knows(kind):
    return kind in TYPES


def written(rng, forms, table, **words):
    return rng.choice(forms).format(t=table.name, k=list(table.columns)[0], **words)


def add(rng, table, column, kind):
    """A new column: nullable or not, with a default or without."""
    known = TYPES[kind]
    can = [("", None, False)]
    if known.literal:
        can += [(" default " + known.literal, known.default, False), (" not null default " + known.literal, known.default, True)]
    if known.implicit:
        can.append((" not null", known.implicit, True))
    words, cell, is_required = rng.choice(can)
    return {"how": "add", "column": column, "kind": kind, "fill": cell, "is_required": is_required,
            "sql": written(rng, ADD, table, c=column, d=known.sql + words)}


def rename(rng, table, column, name):
    sql = written(rng, RENAME, table, c=column, n=name, d=TYPES[table.columns[column]].sql)
    return {"how": "rename", "column": column, "name": name, "sql": sql}


def drop(rng, table, column):
    return {"how": "drop", "column": column, "sql": written(rng, DROP, table, c=column)}


def widen(rng, table, column, kind):
    return {"how": "widen", "column": column, "from": table.columns[column], "kind": kind, "sql": written(rng, WIDEN, table, c=column, d=TYPES[kind].sql)}


def listed(table, types):
    """What `tableChanges` says of a table behind the statement."""
    columns = [{"name": c, "typeName": TYPES[k].sql.split("(")[0].upper() if k in TYPES else KINDS[k].name.upper(), "optional": c not in table.key and c not in table.required} for c, k in types.items()]
    return {"primaryKeyColumnNames": table.key, "columns": columns}


def message(source, table, change, has_blocks):
    """The schema-change message of an ALTER."""
    body = {"source": source, "ts_ms": 1700000000001, "databaseName": "shop", "schemaName": None, "ddl": change["alter"]["sql"],
            "tableChanges": [{"type": "ALTER", "id": '"shop"."%s"' % table.name, "table": listed(table, change["types"])}]}
    data = {"schema": {"type": "struct", "fields": []}, "payload": body} if has_blocks else body
    return json.dumps({"id": str(change["order"] * 10), "key": '{"databaseName":"shop"}', "data": data}, ensure_ascii=False)
