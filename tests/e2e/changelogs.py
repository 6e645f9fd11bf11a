"""A replica made from a changelog by SQL of this file alone: nothing of it is weir's own merge or verification.

What is relied on is what the changelog promises its readers: position and key of a change compare as bytes, the greatest
position of a key is its row, TRUNCATE, RENAME and DROP hide what is below them, a column listed as unavailable has the value of the
row's earlier changes, under the old key before a key change, and an ALTER changes every row whose newest change is below it."""
import base64
import decimal
import json
import re
import sqlite3

SENT = "'INSERT', 'READ', 'UPDATE', 'DELETE', 'TRUNCATE'"
PREPARE = """
create temp table moment as select rowid as id, _weir_key as key, _weir_position as place, operation as op, _weir_old_key as old,
    _weir_unavailable as gone, fullRecord as record, primaryKey as name from log where operation in ('INSERT','READ','UPDATE','DELETE');
create index temp.moment_of on moment(key, place);
create temp table floor as select coalesce(max(place), x'') as place from (
    select _weir_position as place from log where operation in ('TRUNCATE', 'RENAME')
    union all select d._weir_position from log d where d.operation = 'DROP'
        and exists (select 1 from moment m where m.op <> 'DELETE' and m.place >= d._weir_position));
create temp table earlier as select m.id as id, (select p.id from moment p where p.key = coalesce(m.old, m.key) and p.place < m.place
    and not (m.old is not null and p.op = 'DELETE') order by p.place desc limit 1) as before from moment m where m.gone is not null;
"""
NEWEST = """
select m.id, m.name, m.record, m.gone, m.place from moment m, floor f where m.place >= f.place and m.op <> 'DELETE'
    and not exists (select 1 from moment n where n.key = m.key and n.place > m.place)
"""
ALTERS = "select _weir_position, fullRecord from log where operation = 'ALTER' order by _weir_position"
GONE = object()  # a value that must be looked up
CHAIN = """
with recursive back(depth, id) as (select 0, ? union all
    select depth + 1, e.before from back join earlier e on e.id = back.id where e.before is not null)
select m.record, m.gone, m.op, m.place from back join moment m on m.id = back.id where depth > 0 order by depth
"""


def value(json_value, kind):
    """What stands in the warehouse for a value of fullRecord."""
    if json_value is None or kind == "INT64":
        return json_value if json_value is None else int(json_value)
    if kind == "BOOL":
        return int(json_value)
    if kind == "BYTES":
        return base64.b64decode(json_value)
    if kind == "FLOAT64":
        return "NaN" if json_value == "NaN" else float(json_value)
    return json_value if isinstance(json_value, str) else json.dumps(json_value)


def altered(row, alters, above, below=None):
    """What a row says once the schema changes between two positions are over it."""
    for place, change in alters:
        if place <= above or (below is not None and place >= below):
            continue
        # Columns change their names all at once; one that stood where another goes is over.
        named = {change["move"].get(c, c): v for c, v in row.items() if c not in change["move"].values() or c in change["move"]}
        row = dict(change["fill"], **named)
        row.update(change["set"])
    return row


def looked_up(db, change, place, column, alters):
    """The value of the latest earlier change of the row that carries the column; a delete is where its history begins."""
    for record, gone, op, then in db.execute(CHAIN, (change,)):
        if op == "DELETE":
            return None
        row = altered(dict(json.loads(record), **{c: GONE for c in json.loads(gone or "[]")}), alters, then, place)
        if row.get(column) is not GONE:
            return row.get(column)
    return None


def applied(log, table, columns):
    """The rows of a table, {column: value}, that its changelog in the file `log` comes to. columns: {name: BigQuery type}."""
    db = sqlite3.connect("file:%s?mode=ro" % log, uri=True)
    try:
        db.execute("create temp view log as select rowid, * from main.`%s_changelog`" % table)
        db.executescript(PREPARE)
        alters = [(place, json.loads(record)) for place, record in db.execute(ALTERS)]
        out = []
        for change, name, record, gone, place in db.execute(NEWEST).fetchall():
            row = json.loads(record)
            for column in json.loads(gone or "[]"):
                row[column] = looked_up(db, change, place, column, alters)
            for column, key in json.loads(name or "{}").items():  # where the row is silent
                row[column] = key if row.get(column) is None else row[column]
            row = altered(row, alters, place)
            out.append({c: value(row.get(c), kind) for c, kind in columns.items()})
        return out
    finally:
        db.close()


def counts(log):
    """{table: (changes in its changelog, different ones among them)}; a DROP or ALTER is none that a row event brought."""
    db = sqlite3.connect("file:%s?mode=ro" % log, uri=True)
    try:
        tables = [t for (t,) in db.execute("select changelog from _weir_tables where changelog is not null")]
        return {t[: -len("_changelog")]: db.execute("select count(*), count(distinct hex(_weir_position) || ':' || hex(_weir_key)) from `%s` where operation not in ('DROP', 'ALTER')" % t).fetchone()
                for t in tables}
    finally:
        db.close()


def stored(replica, table, names):
    """The rows of a replica, {column: value}."""
    db = sqlite3.connect("file:%s?mode=ro" % replica, uri=True)
    try:
        return [dict(zip(names, row)) for row in db.execute("select %s from `%s`" % (", ".join("`%s`" % n for n in names), table))]
    finally:
        db.close()


def types(log, table):
    """{column: BigQuery type} of what the changelog's rows hold."""
    db = sqlite3.connect("file:%s?mode=ro" % log, uri=True)
    try:
        return dict(db.execute("select name, type from _weir_columns where table_name = ? and part = 'fullRecord'", (table + "_changelog",)))
    finally:
        db.close()
