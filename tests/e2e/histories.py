"""Random small histories of a few tables, as a source database would have lived them.

A history is a list of changes in the order of the log, schema changes among them. `final` replays any valid part of it and gives
the rows that the source holds at its end; `rendering` gives the lines of each change. So a failure can be made smaller by
leaving changes out. Cells are those of `kinds`."""
import json

import alters
import ddl
import documents
import kinds
import odd_names
import sources
from kinds import Cell, KINDS, plain

# Without schema block or file the reader guesses, by stated rules: only values of which it can be sure.
BARE = {"int": lambda rng: plain(rng.randrange(-5, 100)), "text": lambda rng: plain(rng.choice(kinds.WORDS) + str(rng.randrange(3))),
        "bool": lambda rng: (lambda v: Cell(v, int(v)))(rng.random() < 0.5), "float": lambda rng: plain(rng.randrange(-9, 20) + 0.5)}
KEYS = ("k1", "K1", "k 2", "3", "\u00e9", "k1 ", "")
FORMS = ("blocks", "blocks", "bare", "file")
WHOLE = ("t", "alter")  # changes of a table, not of a row


class Table:
    def __init__(self, rng, number, history):
        self.name, self.first_name = odd_names.table(rng, number)
        self.key = ["_id"] if history.connector.is_document else rng.choice((["id"], ["id"], ["code"], ["id", "part"], ["id", "p.q", "code"], ["Order By"], []))
        self.columns = {c: self.key_kind(rng, c, history) for c in self.key or ["id"]}
        for i in range(rng.randrange(1, 6)):
            self.columns[odd_names.column(rng, "c%d" % i, self.columns)] = history.random_kind(rng)
        if rng.random() < 0.7:
            self.columns["big"] = history.text
        # MySQL's rows come whole; so do those of a PostgreSQL table that has no key or REPLICA IDENTITY FULL.
        self.is_full = not history.connector.has_gone or not self.key or rng.random() < 0.4
        self.rows = {}
        self.made = 0
        self.widened, self.required, self.defaults = set(), set(), {}
        self.used, self.dropped = set(self.columns), {}

    def key_kind(self, rng, column, history):
        if history.is_document:
            return rng.choice(list(documents.KINDS))
        if history.form == "bare" or not self.key:
            return history.number if column in ("id", "_id") else history.text
        if column in ("id", "_id"):
            return rng.choice([k for k in ("int16", "int32", "int64") if k in history.connector.kinds])
        return rng.choice([k for k in history.connector.kinds if KINDS[k].is_key and k != "bool"])


def key_of(key, row):
    return tuple(row[c].stored for c in key or ["id"])


class History:
    """What a source did and how its connector is set: connector, form of types, envelope or flattened, ...; tables; changes."""

    def __init__(self, rng, has_gone=True, has_truncates=True, has_defaults=True, has_renames=True, only=None):
        self.rng, self.has_renames = rng, has_renames
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
        # Without messages of it schema blocks must tell, of a log in which all stand in one order.
        told = self.form == "blocks" and self.connector.name not in ("vitess", "spanner", "mongodb")
        self.has_returns = self.has_ddl or told
        self.tombstones, self.has_defaults = rng.random() < 0.5, has_defaults
        self.file_names_types = rng.random() < 0.5
        self.has_transactions = rng.random() < 0.4
        self.changes, self.place, self.count = [], [1, 100, 0], 0
        self.transaction = None  # id, and how many events it has had
        self.tables = [Table(rng, i, self) for i in range(rng.choice((1, 1, 2, 3)))]
        if rng.random() < 0.4 and self.connector.has_snapshots:
            self.snapshot(rng)
        for _ in range(rng.randrange(1, 26)):
            self.step(rng, rng.choice(self.tables))
        self.end_transaction()

    def random_kind(self, rng):
        if self.form == "bare":
            return rng.choice(list(BARE))
        told = [k for k in self.connector.kinds if ddl.knows(k)]
        return rng.choice(told if self.has_ddl and rng.random() < 0.7 else self.connector.kinds)

    def value(self, rng, kind, is_required=False):
        if rng.random() < 0.15 and not is_required:
            return None
        return BARE[kind](rng) if self.form == "bare" else KINDS[kind].make(rng)

    def key_value(self, rng, kind):
        """Few different ones, so that keys come back."""
        if self.is_document:
            found = rng.choice(documents.KINDS[kind])
            return Cell(found, found.stored)
        if kind in ("int", "int16", "int32", "int64"):
            return plain(rng.randrange(1, 6))
        return plain(rng.choice(KEYS)) if kind in ("text", "string") else KINDS[kind].make(rng)

    def advance(self, rng):
        """The next place in the log: file, position, row; files roll, and some connectors pack rows into one event."""
        if rng.random() < 0.1:
            self.place = [self.place[0] + 1, 4, 0]
        elif self.connector.sub_orders and self.changes and rng.random() < 0.3 and self.changes[-1]["op"] not in ("r", "i", "t", "alter"):
            self.place = [self.place[0], self.place[1], self.place[2] + 1]
        else:
            self.place = [self.place[0], self.place[1] + rng.randrange(2, 90), 0]

    def add(self, op, table, row=None, old=None, gone=(), alter=None):
        self.count += 1
        self.changes.append({"op": op, "table": self.tables.index(table), "row": dict(row) if row else None, "old": dict(old) if old else None,
                             "gone": list(gone), "place": list(self.place), "types": dict(table.columns), "order": self.count, "alter": alter,
                             "name": table.name, "key": list(table.key), "transaction": None, "begins": None, "ends": None})
        if op in WHOLE or op in ("r", "i"):
            self.end_transaction()
        elif self.has_transactions:
            self.in_transaction(self.changes[-1])

    def in_transaction(self, change):
        if self.transaction and self.rng.random() < 0.4:
            self.end_transaction()
        if not self.transaction:
            self.transaction = ["%d:%d" % (self.count, self.place[1]), 0]
            change["begins"] = self.transaction[0]
        change["transaction"] = (self.transaction[0], self.transaction[1] + 1)
        self.transaction[1] += 2 if change["op"] == "pair" else 1

    def end_transaction(self):
        """END stands behind the last event of the transaction."""
        inside = [c for c in self.changes if self.transaction and c["transaction"] and c["transaction"][0] == self.transaction[0]]
        if inside:
            inside[-1]["ends"] = tuple(self.transaction)
        self.transaction = None

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
                if key_of(table.key, row) not in table.rows:
                    table.rows[key_of(table.key, row)] = row
                    self.add("r", table, row)

    def incremental(self, rng, table):
        """A chunk of an incremental snapshot: rows as they are now, between the two signals of its window."""
        chosen = rng.sample(list(table.rows.values()), min(len(table.rows), rng.randrange(1, 4)))
        for i, row in enumerate(chosen):
            self.add("i", table, row)
            self.changes[-1]["window"] = [word for word, at in (("open", 0), ("close", len(chosen) - 1)) if at == i]

    def step(self, rng, table):
        self.advance(rng)
        dice = rng.random()
        if self.has_truncates and dice < 0.05:
            table.rows.clear()
            return self.add("t", table)
        if dice > 0.94 and table.rows and self.connector.has_snapshots:
            return self.incremental(rng, table)
        if dice < (0.3 if self.has_ddl else 0.15) and not self.is_document:
            self.alter(rng, table)
            self.advance(rng)
        if not table.rows or rng.random() < 0.4:
            row = self.fresh_row(rng, table)
            if key_of(table.key, row) in table.rows:
                return self.update(rng, table, key_of(table.key, row))
            table.rows[key_of(table.key, row)] = row
            return self.add("c", table, row)
        key = rng.choice(list(table.rows))
        dice = rng.random()
        if dice < 0.3:
            return self.add("d", table, None, table.rows.pop(key))
        if dice < 0.55 and table.key and self.connector.has_moves:
            return self.move(rng, table, key)
        self.update(rng, table, key)

    def alter(self, rng, table):
        change = next((found for found in (alters.choose(rng, self, table) for _ in range(4)) if found), None)
        if not change:
            return
        if change.get("is_required"):
            table.required.add(change["column"])
        before = {"name": table.name, "columns": dict(table.columns)}
        alters.of_table(table, change)
        table.used.update(table.columns)
        table.dropped = {c: kind for c, kind in table.dropped.items() if c not in table.columns}
        table.rows = altered_rows(table.rows, table.key, change)
        if change["how"] == "drop_table":
            table.rows = {}
        self.add("alter", table, alter=dict(change, before=before))

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
        table.rows[key_of(table.key, row)] = row
        self.add("u", table, row, old, gone)

    def move(self, rng, table, key):
        """A key change: one event, or Debezium's delete and insert that name each other's keys."""
        row, gone = self.changed(rng, table, table.rows[key])
        for c in table.key:
            row[c] = self.key_value(rng, table.columns[c])
        if key_of(table.key, row) in table.rows:
            return
        old = table.rows.pop(key)
        table.rows[key_of(table.key, row)] = row
        self.add("pair" if self.is_flattened else rng.choice(("one", "pair")), table, row, old, gone)


def altered_rows(rows, key, change):
    """Of a table that is dropped the rows stay to be read until it has a row again."""
    if change["how"] == "truncate":
        return {}
    for row in rows.values():
        alters.of_row(row, change)
    return {key_of(key, row): row for row in rows.values()} if change["how"] != "drop_table" else rows


def is_valid(history, changes):
    """Could a database have lived just these? Each row that is changed is there, none is made twice, every large value
    that is left out was sent before."""
    return final(history, changes) is not None


def final(history, changes):
    """Rows by table and key; None if the changes do not follow from each other."""
    try:
        return lived(history, changes)
    except KeyError:  # a column that a change left out has named
        return None


def lived(history, changes):
    tables, names, is_gone = [{} for _ in history.tables], {}, set()
    for c in changes:
        number = c["table"]
        before = c["alter"]["before"]["name"] if c["op"] == "alter" else c["name"]
        if names.setdefault(number, before) != before:
            return None
        names[number] = c["name"]
        if c["op"] == "t":
            tables[number] = {}
        elif c["op"] == "alter":
            tables[number] = altered_rows(tables[number], c["key"], c["alter"])
            is_gone.update({number} if c["alter"]["how"] == "drop_table" else ())
        else:
            if number in is_gone:
                is_gone.remove(number)
                tables[number] = {}
            if not apply_row(tables[number], c):
                return None
    return tables


def apply_row(rows, c):
    key = c["key"]
    old = rows.pop(key_of(key, c["old"]), None) if c["old"] else None
    if c["old"] and (old is None or any(k not in old for k in key) or any(old.get(g) is None or old[g] != c["row"][g] for g in c["gone"])):
        return False
    if c["row"]:
        if (key_of(key, c["row"]) in rows) != (c["op"] == "i"):
            return False
        rows[key_of(key, c["row"])] = dict(c["row"])
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
