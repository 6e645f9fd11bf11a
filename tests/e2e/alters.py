"""Schema changes of the model: what may be changed in a table, and what becomes of the rows that the source holds.

An alter is {"how", ..., "sql"}; without its text the reader sees only how rows are from then on."""
from decimal import Decimal

import ddl
import odd_names
import sources
from kinds import Cell, KINDS, plain, twos

BARE_WIDER = {"int": ("text", "float"), "bool": ("text",), "float": ("text",), "text": ()}
COLUMNS_MAX = 10
# Where one column is changed; with DDL, whole tables too.
OF_COLUMNS = ("add", "add", "widen", "widen", "drop", "reorder", "rename", "widen_key", "rename_key")
OF_TABLES = ("drop_table", "truncate", "rename_table")


def choose(rng, history, table):
    """One schema change of the table as it is now, or None."""
    how = rng.choice(OF_COLUMNS + (OF_TABLES if history.has_ddl else ()))
    free = [c for c in table.columns if c not in table.key and c not in ("id", "big") and (not history.has_ddl or ddl.knows(table.columns[c]))]
    made = MAKERS[how](rng, history, table, free)
    return made


def add(rng, history, table, free):
    if len(table.columns) >= COLUMNS_MAX or history.form == "file":
        return None
    name, kind = odd_names.column(rng, "c%d" % (100 + history.count), table.used), history.random_kind(rng)
    # Without a message of it only a schema block tells that a column was gone in between.
    if table.dropped and history.has_returns and rng.random() < 0.8:
        name = rng.choice(list(table.dropped))
        kind = other_kind(rng, history, table.dropped[name])
    if not history.has_ddl:
        return dict({"how": "add", "column": name, "kind": kind}, **default_of(rng, history, table, name, kind))
    return ddl.add(rng, table, name, kind) if ddl.knows(kind) else None


def other_kind(rng, history, kind):
    """What was dropped comes back as another type: text, or a number where text was."""
    numbers, words = (("int",), ("text",)) if history.form == "bare" else (("int32", "int64"), ("string",))
    can = numbers if kind in words else words if kind in numbers or kind.startswith("decimal_1") else (kind,)
    return rng.choice([k for k in can if history.form == "bare" or k in history.connector.kinds] + [kind])


def default_of(rng, history, table, column, kind):
    """Where no message tells of the change, the schema block has the default that older rows got."""
    if not history.has_defaults or history.form != "blocks" or history.connector.has_ddl or not ddl.knows(kind) or not ddl.TYPES[kind].default or rng.random() < 0.5:
        return {}
    if column in table.used:
        return {}  # only a column that was never there is filled
    table.defaults[column] = ddl.TYPES[kind].default
    return {"fill": table.defaults[column]}


def wider(history, kind):
    if history.form == "bare":
        return BARE_WIDER[kind]
    # A schema file has one type a column, and that must read all that was written before.
    return [k for k in KINDS[kind].wider if history.form == "blocks" or KINDS[kind].node["type"] != "bytes" and k != "string"]


def widened(rng, history, table, column, kinds):
    """Once a column: what text 5 has after being 5.0 for a while depends on when each was read."""
    kinds = [k for k in kinds if not history.has_ddl or ddl.knows(k)]
    if not kinds or column in table.widened:
        return None
    table.widened.add(column)
    kind = rng.choice(kinds)
    return ddl.widen(rng, table, column, kind) if history.has_ddl else {"how": "widen", "column": column, "from": table.columns[column], "kind": kind}


def widen(rng, history, table, free):
    if not free:
        return None
    column = rng.choice(free)
    return widened(rng, history, table, column, wider(history, table.columns[column]))


def widen_key(rng, history, table, free):
    if not table.key or history.is_document:
        return None
    column = rng.choice(table.key)
    return widened(rng, history, table, column, [k for k in wider(history, table.columns[column]) if k != "float" and table.columns[column] != "bool"])


def drop(rng, history, table, free):
    if len(free) < 2:
        return None
    column = rng.choice(free)
    table.dropped[column] = table.columns[column]
    return ddl.drop(rng, table, column) if history.has_ddl else {"how": "drop", "column": column}


def renamed(rng, history, table, column):
    name = odd_names.column(rng, "c%d" % (100 + history.count), table.used)
    table.widened.update({name} if column in table.widened else ())
    table.required.update({name} if column in table.required else ())
    return ddl.rename(rng, table, column, name)


def rename(rng, history, table, free):
    return renamed(rng, history, table, rng.choice(free)) if free and history.has_ddl and history.form != "file" else None


def rename_key(rng, history, table, free):
    columns = [c for c in table.key if ddl.knows(table.columns[c])]
    return renamed(rng, history, table, rng.choice(columns)) if columns and history.has_ddl and history.form != "file" else None


def reorder(rng, history, table, free):
    return {"how": "reorder", "order": rng.sample(list(table.columns), len(table.columns))} if not history.has_ddl else None


def drop_table(rng, history, table, free):
    """Dropped and made again, with the same key and some of the other columns as another type."""
    columns = {c: k for c, k in table.columns.items() if c in table.key or c in ("id", "big")}
    for c in free:
        if rng.random() < 0.7:
            columns[c] = other_kind(rng, history, table.columns[c]) if history.form == "blocks" else table.columns[c]
    return {"how": "drop_table", "columns": columns, "sql": ddl.drop_table(rng, table)}


def truncate(rng, history, table, free):
    return {"how": "truncate", "sql": ddl.truncate(rng, table)}


def rename_table(rng, history, table, free):
    if history.form == "file" or not history.has_renames:
        return None
    name = "t%d" % (100 + history.count)
    return {"how": "rename_table", "name": name, "sql": ddl.rename_table(rng, table, name)}


MAKERS = {"add": add, "widen": widen, "drop": drop, "reorder": reorder, "rename": rename, "widen_key": widen_key, "rename_key": rename_key,
          "drop_table": drop_table, "truncate": truncate, "rename_table": rename_table}


def converted(cell, old, new):
    """What the database makes of a value when its column's type changes."""
    if cell is None or old == new:
        return cell
    if new in ("text", "string"):
        # A DOUBLE of 0 is the text 0: the server writes no fraction that is none.
        whole = isinstance(cell.wire, float) and cell.wire.is_integer()
        return plain(str(cell.wire).lower() if isinstance(cell.wire, bool) else str(int(cell.wire) if whole else cell.wire))
    if new == "float":
        return plain(float(cell.wire))
    if new.startswith("decimal_"):
        scale = int(new.rpartition("_")[2])
        return Cell(twos(int(Decimal(cell.stored).scaleb(scale))), cell.stored)
    return cell


def renamed_columns(columns, old, new):
    return {new if c == old else c: kind for c, kind in columns.items()}


def of_table(table, change):
    """Changes the table's columns, key and name in place."""
    how, column = change["how"], change.get("column")
    if how in ("add", "widen"):
        table.columns[column] = change["kind"]
    elif how == "drop":
        table.columns.pop(column, None)
    elif how == "rename":
        table.columns = renamed_columns(table.columns, column, change["name"])
        table.key = [change["name"] if c == column else c for c in table.key]
    elif how == "reorder":
        table.columns = {c: table.columns[c] for c in change["order"] if c in table.columns}
    elif how == "drop_table":
        table.columns = dict(change["columns"])
        table.required, table.widened = set(), set()
    elif how == "rename_table":
        table.name = change["name"]


def of_row(row, change):
    """What a row that the source holds has behind it."""
    how, column = change["how"], change.get("column")
    if how == "add":
        row[column] = change.get("fill")
    elif how == "drop":
        row.pop(column, None)
    elif how == "rename":
        row[change["name"]] = row.pop(column, None)
    elif how == "widen":
        row[column] = converted(row.get(column), change["from"], change["kind"])
