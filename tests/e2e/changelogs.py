"""A replica made from a changelog by SQL of this file alone: nothing of it is weir's own merge or verification.

What is relied on is what the changelog promises its readers: position and key of a change compare as bytes, the greatest
position of a key is its row, TRUNCATE and DROP hide what is below them, a column listed as unavailable has the value of the
row's earlier changes, under the old key before a key change, and an ALTER changes every row whose newest change is below it."""
import base64
import json
import sqlite3

SENT = "'INSERT', 'READ', 'UPDATE', 'DELETE', 'TRUNCATE'"
PREPARE = """
create temp table moment as select rowid as id, _weir_key as key, _weir_position as place, operation as op, _weir_old_key as old,
    _weir_unavailable as gone, fullRecord as record, primaryKey as name from log where operation in ('INSERT','READ','UPDATE','DELETE');
create index temp.moment_of on moment(key, place);
create temp table floor as select coalesce(max(place), x'') as place from (
    select _weir_position as place from log where operation = 'TRUNCATE'
    union all select d._weir_position from log d where d.operation = 'DROP'
        and exists (select 1 from moment m where m.op <> 'DELETE' and m.place >= d._weir_position));
create temp table earlier as select m.id as id, (select p.id from moment p where p.key = coalesce(m.old, m.key) and p.place < m.place
    and not (m.old is not null and p.op = 'DELETE') order by p.place desc limit 1) as before from moment m where m.gone is not null;
"""
NEWEST = """
select m.id, m.name, m.record, m.gone, m.place from moment m, floor f where m.place >= f.place and m.op <> 'DELETE'
    and not exists (select 1 from moment n where n.key = m.key and n.place > m.place)
"""
CHAIN = """
with recursive back(depth, id) as (select 0, ? union all
    select depth + 1, e.before from back join earlier e on e.id = back.id where e.before is not null)
select m.record, m.gone, m.op from back join moment m on m.id = back.id where depth > 0 order by depth
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


def looked_up(db, change, column):
    """The value of the latest earlier change of the row that carries the column; a delete is where its history begins."""
    for record, gone, op in db.execute(CHAIN, (change,)):
        if op == "DELETE":
            return None
        if column not in json.loads(gone or "[]"):
            return json.loads(record).get(column)
    return None


def altered(row, change):
    """What an ALTER makes of a row that lies below it: names first, all at once, then values."""
    out = {c: v for c, v in row.items() if c not in change["move"]}
    out.update({new: row[old] for old, new in change["move"].items() if old in row})
    out.update(change["set"])
    return dict(change["fill"], **out)


def applied(log, table, columns):
    """The rows of a table, {column: value}, that its changelog in the file `log` comes to. columns: {name: BigQuery type}."""
    db = sqlite3.connect("file:%s?mode=ro" % log, uri=True)
    try:
        db.execute("create temp view log as select rowid, * from main.`%s_changelog`" % table)
        db.executescript(PREPARE)
        alters = db.execute("select _weir_position, fullRecord from log where operation = 'ALTER' order by 1").fetchall()
        out = []
        for change, name, record, gone, place in db.execute(NEWEST).fetchall():
            row = dict(json.loads(name or "{}"))
            row.update({k: v for k, v in json.loads(record).items() if v is not None or k not in row})
            for column in json.loads(gone or "[]"):
                row[column] = looked_up(db, change, column)
            for above, what in alters:
                row = altered(row, json.loads(what)) if above > place else row
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
