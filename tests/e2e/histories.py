"""Random small histories of a few tables, as a source database would have lived them.

A history is a list of changes in the order of the log, schema changes among them. `final` replays any valid part of it and gives
the rows that the source holds at its end; `rendering` gives the lines of each change. So a failure can be made smaller by
leaving changes out. Cells are those of `kinds`."""
import json
from decimal import Decimal

import ddl
import sources
import kinds
from kinds import Cell, KINDS, plain

# Without schema block or file the reader guesses, by stated rules: only values of which it can be sure.
BARE = {"int": lambda rng: plain(rng.randrange(-5, 100)), "text": lambda rng: plain(rng.choice(kinds.WORDS) + str(rng.randrange(3))),
        "bool": lambda rng: (lambda v: Cell(v, int(v)))(rng.random() < 0.5), "float": lambda rng: plain(rng.randrange(-9, 20) + 0.5)}
BARE_WIDER = {"int": ("text", "float"), "bool": ("text",), "float": ("text",), "text": ()}
KEYS = ("k1", "K1", "k 2", "3", "\u00e9", "k1 ", "")
FORMS = ("blocks", "blocks", "bare", "file")
COLUMNS_MAX = 10


class Table:
    def __init__(self, rng, number, history):
        self.name = "t%d" % number
        self.key = ["_id"] if history.connector.is_document else rng.choice((["id"], ["id"], ["code"], ["id", "part"], ["id", "part", "code"], []))
        self.columns = {c: self.key_kind(rng, c, history) for c in self.key or ["id"]}
        for i in range(rng.randrange(1, 6)):
            self.columns["c%d" % i] = history.random_kind(rng)
        if rng.random() < 0.7:
            self.columns["big"] = history.text
        # MySQL's rows come whole; so do those of a PostgreSQL table that has no key or REPLICA IDENTITY FULL.
        self.is_full = not history.connector.has_gone or not self.key or rng.random() < 0.4
        self.rows = {}
        self.made = 0
        self.widened, self.required, self.defaults = set(), set(), {}

    def key_kind(self, rng, column, history):
        if history.form == "bare" or not self.key:
            return history.number if column in ("id", "_id") else history.text
        if column in ("id", "_id"):
            return rng.choice([k for k in ("int16", "int32", "int64") if k in history.connector.kinds])
        return rng.choice([k for k in history.connector.kinds if KINDS[k].is_key and k != "bool"])


def key_of(table, row):
    return tuple(row[c].stored for c in table.key or ["id"])


class History:
    """What a source did and how its connector is set: connector, form of types, envelope or flattened, ...; tables; changes."""

    def __init__(self, rng, has_gone=True, has_truncates=True, has_defaults=True, only=None):
        self.connector = rng.choice([c for c in sources.CONNECTORS if only in (None, c.name)])
        self.is_flattened = rng.random() < 0.3
        self.is_document = self.connector.is_document and not self.is_flattened
        self.form = "bare" if self.is_document else rng.choice(FORMS)
        self.number, self.text = ("int", "text") if self.form == "bare" else ("int64", "string")
        self.keys_have_blocks = self.form == "blocks" and rng.random() < 0.5
        self.has_gone = has_gone and self.connector.has_gone
        # ExtractNewRecordState drops a truncate.
        self.has_truncates = has_truncates and self.connector.has_truncates and not self.is_flattened
        # ExtractNewRecordState lets schema changes pass; weir then does not know whose they are.
        self.has_ddl = self.connector.has_ddl and not self.is_flattened and rng.random() < 0.7
        self.tombstones, self.has_defaults = rng.random() < 0.5, has_defaults
        self.file_names_types = rng.random() < 0.5
        self.changes, self.place, self.count = [], [1, 100, 0], 0
        self.tables = [Table(rng, i, self) for i in range(rng.choice((1, 1, 2, 3)))]
        if rng.random() < 0.4 and self.connector.has_snapshots:
            self.snapshot(rng)
        for _ in range(rng.randrange(1, 26)):
            self.step(rng, rng.choice(self.tables))

    def random_kind(self, rng):
        return rng.choice(list(BARE) if self.form == "bare" else self.connector.kinds)

    def value(self, rng, kind, is_required=False):
        if rng.random() < 0.15 and not is_required:
            return None
        return BARE[kind](rng) if self.form == "bare" else KINDS[kind].make(rng)

    def key_value(self, rng, kind):
        """Few different ones, so that keys come back."""
        if kind in ("int", "int16", "int32", "int64"):
            return plain(rng.randrange(1, 6))
        return plain(rng.choice(KEYS)) if kind in ("text", "string") else KINDS[kind].make(rng)

    def advance(self, rng):
        """The next place in the log: file, position, row; files roll, and some connectors pack rows into one event."""
        if rng.random() < 0.1:
            self.place = [self.place[0] + 1, 4, 0]
        elif self.connector.sub_orders and self.changes and rng.random() < 0.3 and self.changes[-1]["op"] not in ("r", "t", "alter"):
            self.place = [self.place[0], self.place[1], self.place[2] + 1]
        else:
            self.place = [self.place[0], self.place[1] + rng.randrange(2, 90), 0]

    def add(self, op, table, row=None, old=None, gone=(), alter=None):
        self.count += 1
        self.changes.append({"op": op, "table": self.tables.index(table), "row": dict(row) if row else None, "old": dict(old) if old else None,
                             "gone": list(gone), "place": list(self.place), "types": dict(table.columns), "order": self.count, "alter": alter})

    def fresh_row(self, rng, table):
        row = {c: self.key_value(rng, kind) if c in table.key else self.value(rng, kind, c in table.required) for c, kind in table.columns.items()}
        if not table.key:
            table.made += 1
            row["id"] = plain(table.made)  # two equal rows without a key cannot be told apart
        return row

    def snapshot(self, rng):
        for table in self.tables:
            for _ in range(rng.randrange(4)):
                row = self.fresh_row(rng, table)
                if key_of(table, row) not in table.rows:
                    table.rows[key_of(table, row)] = row
                    self.add("r", table, row)

    def step(self, rng, table):
        self.advance(rng)
        dice = rng.random()
        if self.has_truncates and dice < 0.05:
            table.rows.clear()
            return self.add("t", table)
        if dice < (0.3 if self.has_ddl else 0.15) and not self.is_document:
            self.alter(rng, table)
            self.advance(rng)
        if not table.rows or rng.random() < 0.4:
            row = self.fresh_row(rng, table)
            if key_of(table, row) in table.rows:
                return self.update(rng, table, key_of(table, row))
            table.rows[key_of(table, row)] = row
            return self.add("c", table, row)
        key = rng.choice(list(table.rows))
        dice = rng.random()
        if dice < 0.3:
            return self.add("d", table, None, table.rows.pop(key))
        if dice < 0.55 and table.key and self.connector.has_moves:
            return self.move(rng, table, key)
        self.update(rng, table, key)

    def alter(self, rng, table):
        """One schema change. Without a message of it the reader sees only how the rows are from then on."""
        free = [c for c in table.columns if c not in table.key and c not in ("id", "big") and (not self.has_ddl or ddl.knows(table.columns[c]))]
        change = self.alter_of(rng, table, rng.choice(("add", "add", "widen", "widen", "drop", "reorder", "rename")), free)
        if not change:
            return
        if change.get("is_required"):
            table.required.add(change["column"])
        apply_alter(table.columns, table.rows, change)
        self.add("alter", table, alter=change)

    def alter_of(self, rng, table, how, free):
        column, name = rng.choice(free) if free else None, "c%d" % (100 + self.count)
        if how == "add" and len(table.columns) < COLUMNS_MAX and self.form != "file":
            kind = self.random_kind(rng)
            if not self.has_ddl:
                return dict({"how": "add", "column": name, "kind": kind}, **self.default_of(rng, table, name, kind))
            return ddl.add(rng, table, name, kind) if ddl.knows(kind) else None
        if how == "widen" and free:
            # Once a column: what text 5 has after being 5.0 for a while depends on when each was read.
            wider = [k for k in self.wider(table.columns[column]) if not self.has_ddl or ddl.knows(k)]
            if not wider or column in table.widened:
                return None
            table.widened.add(column)
            kind = rng.choice(wider)
            return ddl.widen(rng, table, column, kind) if self.has_ddl else {"how": "widen", "column": column, "from": table.columns[column], "kind": kind}
        if how == "drop" and len(free) > 1:
            return ddl.drop(rng, table, column) if self.has_ddl else {"how": "drop", "column": column}
        if how == "rename" and free and self.has_ddl and self.form != "file":
            table.widened.update({name} if column in table.widened else ())
            table.required.update({name} if column in table.required else ())
            return ddl.rename(rng, table, column, name)
        return {"how": "reorder", "order": rng.sample(list(table.columns), len(table.columns))} if how == "reorder" else None

    def default_of(self, rng, table, column, kind):
        """Where no message tells of the change, the schema block has the default that older rows got."""
        if not self.has_defaults or self.form != "blocks" or self.connector.has_ddl or not ddl.knows(kind) or not ddl.TYPES[kind].default or rng.random() < 0.5:
            return {}
        table.defaults[column] = ddl.TYPES[kind].default
        return {"fill": table.defaults[column]}

    def wider(self, kind):
        if self.form == "bare":
            return BARE_WIDER[kind]
        # A schema file has one type a column, and that must read all that was written before.
        return [k for k in KINDS[kind].wider if self.form == "blocks" or KINDS[kind].node["type"] != "bytes" and k != "string"]

    def changed(self, rng, table, old):
        row = dict(old)
        for c, kind in table.columns.items():
            if c not in (table.key or ["id"]) and rng.random() < 0.5:
                row[c] = self.value(rng, kind, c in table.required)
        gone = []
        if self.has_gone and "big" in row and row["big"] == old["big"] and row["big"] is not None and rng.random() < 0.8:
            gone = ["big"]
        return row, gone

    def update(self, rng, table, key):
        old = table.rows.pop(key)
        row, gone = self.changed(rng, table, old)
        table.rows[key_of(table, row)] = row
        self.add("u", table, row, old, gone)

    def move(self, rng, table, key):
        """A key change: one event, or Debezium's delete and insert that name each other's keys."""
        row, gone = self.changed(rng, table, table.rows[key])
        for c in table.key:
            row[c] = self.key_value(rng, table.columns[c])
        if key_of(table, row) in table.rows:
            return
        old = table.rows.pop(key)
        table.rows[key_of(table, row)] = row
        self.add("pair" if self.is_flattened else rng.choice(("one", "pair")), table, row, old, gone)


def converted(cell, old, new):
    """What the database makes of a value when its column's type changes."""
    if cell is None or old == new:
        return cell
    if new in ("text", "string"):
        text = str(cell.wire).lower() if isinstance(cell.wire, bool) else str(cell.wire)
        return plain(text)
    if new == "float":
        return plain(float(cell.wire))
    if new.startswith("decimal_"):
        scale = int(new.rpartition("_")[2])
        return Cell(kinds.twos(int(Decimal(cell.stored).scaleb(scale))), cell.stored)
    return cell


def apply_alter(columns, rows, change):
    """Changes a table's columns in place, and the rows that the source holds."""
    column = change.get("column")
    if change["how"] == "add":
        columns[column] = change["kind"]
        for row in rows.values():
            row[column] = change.get("fill")
    elif change["how"] == "rename":
        renamed = {change["name"] if c == column else c: kind for c, kind in columns.items()}
        columns.clear()
        columns.update(renamed)
        for row in rows.values():
            row[change["name"]] = row.pop(column, None)
    elif change["how"] == "drop":
        columns.pop(column, None)
        for row in rows.values():
            row.pop(column, None)
    elif change["how"] == "widen":
        columns[column] = change["kind"]
        for row in rows.values():
            row[column] = converted(row.get(column), change["from"], change["kind"])
    else:
        for c in change["order"]:
            if c in columns:
                columns[c] = columns.pop(c)


def is_valid(history, changes):
    """Could a database have lived just these? Each row that is changed is there, none is made twice, every large value
    that is left out was sent before."""
    return final(history, changes) is not None


def final(history, changes):
    """Rows by table and key; None if the changes do not follow from each other."""
    tables = [{} for _ in history.tables]
    for c in changes:
        table, rows = history.tables[c["table"]], tables[c["table"]]
        if c["op"] == "t":
            rows.clear()
        elif c["op"] == "alter":
            apply_alter({}, rows, c["alter"]) if c["alter"]["how"] != "reorder" else None
        elif not apply_row(table, rows, c):
            return None
    return tables


def apply_row(table, rows, c):
    old = rows.pop(key_of(table, c["old"]), None) if c["old"] else None
    if c["old"] and (old is None or any(old.get(g) is None or old[g] != c["row"][g] for g in c["gone"])):
        return False
    if c["row"]:
        if key_of(table, c["row"]) in rows:
            return False
        rows[key_of(table, c["row"])] = dict(c["row"])
    return True


def file_of_types(history):
    """The `sourceSchema` of form "file": keys and the last node of each column."""
    found = {}
    for number, table in enumerate(history.tables):
        columns = {}
        for types in [c["types"] for c in history.changes if c["table"] == number] + [table.columns]:
            columns.update({c: dict({"debezium": dict(KINDS[k].node, optional=c not in table.key)}, **({"bigquery": KINDS[k].column} if named(history, k) else {}))
                            for c, k in types.items()})
        found[table.name] = {"primary_key": table.key, "columns": columns}
    return json.dumps(found)


def named(history, kind):
    return history.file_names_types and not KINDS[kind].column.startswith(("STRUCT", "ARRAY"))
