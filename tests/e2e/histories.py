"""Random small histories of a few tables, as a source database would have lived them, rendered as Debezium sends them.

A history is a list of changes in the order of the log. `final` replays any valid part of it and gives the rows that the
source holds at its end; `render` gives the lines of each change. So a failure can be made smaller by leaving changes out."""
import json

GONE = "__debezium_unavailable_value"
TYPES = {"int": "int64", "str": "string", "bool": "boolean", "float": "double"}
WIDER = {"int": ("str", "float"), "bool": ("str",), "float": ("str",), "str": ()}
WORDS = ("a", "", "007", "Zürich", "x\ny", "'q\"", "1e5", "null", "true", "2024-01-01", "\u2028", "😀")


class Table:
    def __init__(self, rng, number, connector):
        self.name = "t%d" % number
        self.key = rng.choice((["id"], ["id"], ["code"], ["id", "part"], []))
        self.columns = {"id": "int"}
        if self.key == ["code"]:
            self.columns = {"code": "str"}
        if self.key == ["id", "part"]:
            self.columns["part"] = "str"
        self.columns["n"] = rng.choice(("int", "bool", "float", "int"))
        self.columns["s"] = "str"
        if rng.random() < 0.7:
            self.columns["big"] = "str"
        # MySQL's rows come whole; so do those of a PostgreSQL table that has no key or REPLICA IDENTITY FULL.
        self.is_full = connector == "mysql" or not self.key or rng.random() < 0.4
        self.widens = rng.random() < 0.5
        self.rows = {}
        self.made = 0


def key_of(table, row):
    return tuple(row[c] for c in table.key or ["id"])


def value(rng, kind):
    if rng.random() < 0.15:
        return None
    return {"int": lambda: rng.randrange(-5, 100), "str": lambda: rng.choice(WORDS) + str(rng.randrange(3)),
            "bool": lambda: rng.random() < 0.5, "float": lambda: rng.randrange(-9, 20) + 0.5}[kind]()


def key_value(rng, kind):
    return rng.randrange(1, 6) if kind == "int" else rng.choice(("k1", "K1", "k 2", "3", "é"))


class History:
    """settings: connector, blocks, no_gone (no placeholders), truncates; tables; changes."""

    def __init__(self, rng, has_gone=True, has_truncates=True):
        self.connector = rng.choice(("postgresql", "mysql"))
        self.blocks = rng.random() < 0.4
        self.keys_have_blocks = self.blocks and rng.random() < 0.5
        self.has_gone, self.has_truncates = has_gone and self.connector == "postgresql", has_truncates
        self.tombstones = rng.random() < 0.5
        self.tables = [Table(rng, i, self.connector) for i in range(rng.choice((1, 1, 2, 3)))]
        self.changes = []
        self.place = [1, 100, 0]
        self.number = 0
        if rng.random() < 0.4:
            self.snapshot(rng)
        for _ in range(rng.randrange(1, 26)):
            self.step(rng, rng.choice(self.tables))

    def advance(self, rng):
        """The next place in the log: file, position, row; MySQL rolls its files and packs rows into one event."""
        if self.connector == "mysql" and rng.random() < 0.1:
            self.place = [self.place[0] + 1, 4, 0]
        elif self.connector == "mysql" and self.changes and rng.random() < 0.3 and not self.changes[-1]["op"] in "rt":
            self.place = [self.place[0], self.place[1], self.place[2] + 1]
        else:
            self.place = [self.place[0], self.place[1] + rng.randrange(1, 90), 0]

    def add(self, op, table, row=None, old=None, gone=()):
        self.number += 1
        self.changes.append({"op": op, "table": self.tables.index(table), "row": dict(row) if row else None, "old": dict(old) if old else None,
                             "gone": list(gone), "place": list(self.place), "types": dict(table.columns), "order": self.number})

    def fresh_row(self, rng, table):
        row = {}
        for c, kind in table.columns.items():
            row[c] = key_value(rng, kind) if c in table.key else value(rng, kind)
        if not table.key:
            table.made += 1
            row["id"] = table.made  # two equal rows without a key cannot be told apart
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
        if dice < 0.09 and len(table.columns) < 8:
            table.columns["c%d" % len(table.columns)] = rng.choice(list(TYPES))
            for row in table.rows.values():
                row[list(table.columns)[-1]] = None
        elif dice < 0.13 and table.widens and WIDER[table.columns["n"]]:
            table.columns["n"] = rng.choice(WIDER[table.columns["n"]])
            table.widens = False
            for row in table.rows.values():  # the database converts what it holds
                row["n"] = self.in_type(row["n"], table.columns["n"])
        if not table.rows or dice < 0.4:
            row = self.fresh_row(rng, table)
            if key_of(table, row) in table.rows:
                return self.update(rng, table, key_of(table, row))
            table.rows[key_of(table, row)] = row
            return self.add("c", table, row)
        key = rng.choice(list(table.rows))
        if dice < 0.58:
            return self.add("d", table, None, table.rows.pop(key))
        if dice < 0.75 and table.key:
            return self.move(rng, table, key)
        self.update(rng, table, key)

    def changed(self, rng, table, old):
        row = dict(old)
        for c, kind in table.columns.items():
            if c not in (table.key or ["id"]) and (rng.random() < 0.5 or c not in row):
                row[c] = value(rng, kind)
        gone = []
        if self.has_gone and "big" in row and row["big"] == old.get("big") and row["big"] is not None and rng.random() < 0.8:
            gone = ["big"]
        return row, gone

    @staticmethod
    def in_type(v, kind):
        if v is None or kind in ("int", "bool"):
            return v
        if kind == "float":
            return float(v)
        return v if isinstance(v, str) else str(v).lower() if isinstance(v, bool) else str(v)

    def update(self, rng, table, key):
        old = table.rows.pop(key)
        row, gone = self.changed(rng, table, old)
        table.rows[key_of(table, row)] = row
        self.add("u", table, row, old, gone)

    def move(self, rng, table, key):
        """A key change: one event, or Debezium's delete and insert that name each other's keys."""
        row, gone = self.changed(rng, table, table.rows[key])
        for c in table.key:
            row[c] = key_value(rng, table.columns[c])
        if key_of(table, row) in table.rows:
            return
        old = table.rows.pop(key)
        table.rows[key_of(table, row)] = row
        self.add(rng.choice(("one", "pair")), table, row, old, gone)


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
            continue
        old = rows.pop(key_of(table, c["old"]), None) if c["old"] else None
        if c["old"] and (old is None or any(old[g] is None or old[g] != c["row"][g] for g in c["gone"])):
            return None
        if c["row"]:
            if key_of(table, c["row"]) in rows:
                return None
            rows[key_of(table, c["row"])] = c["row"]
    return tables


def source_of(history, change, table):
    file, position, row = change["place"]
    source = {"connector": history.connector, "name": "srv", "ts_ms": 1700000000000 + position, "db": "shop", "table": table.name,
              "snapshot": "true" if change["op"] == "r" else "false"}
    if history.connector == "mysql":
        return dict(source, server_id=1, gtid=None, file="binlog.%06d" % file, pos=position, row=row)
    lsn = (file << 32) + position
    return dict(source, schema="public", txId=position, lsn=lsn, sequence=json.dumps([str(lsn), str(lsn)]))


def block_of(table, types):
    fields = [{"field": c, "type": TYPES[kind], "optional": c not in table.key} for c, kind in types.items()]
    rows = [{"field": side, "type": "struct", "optional": True, "name": "srv.public.%s.Value" % table.name, "fields": fields} for side in ("before", "after")]
    source = {"field": "source", "type": "struct", "optional": False, "fields": [{"field": "connector", "type": "string", "optional": False}]}
    return {"type": "struct", "optional": False, "name": "srv.public.%s.Envelope" % table.name,
            "fields": rows + [source, {"field": "op", "type": "string", "optional": False}]}


def key_text(history, table, row):
    key = {c: row[c] for c in table.key}
    if not history.keys_have_blocks:
        return json.dumps(key, ensure_ascii=False)
    fields = [{"field": c, "type": TYPES[table.columns[c]], "optional": False} for c in table.key]
    return json.dumps({"schema": {"type": "struct", "optional": False, "fields": fields}, "payload": key}, ensure_ascii=False)


def message(history, change, op, before, after, key_row, attrs=None, part=0):
    table = history.tables[change["table"]]
    body = {"before": before, "after": after, "source": source_of(history, change, table), "op": op, "ts_ms": 1700000000000}
    if history.blocks:
        body = {"schema": block_of(table, change["types"]), "payload": body}
    line = {"id": "%d.%d" % (change["order"], part)}
    if table.key and key_row:
        line["key"] = key_text(history, table, key_row)
    if attrs:
        line["attrs"] = attrs
    return json.dumps(dict(line, data=body), ensure_ascii=False)


def tombstone(history, change, key_row, part):
    table = history.tables[change["table"]]
    return json.dumps({"id": "%d.%d" % (change["order"], part), "key": key_text(history, table, key_row), "data": None}, ensure_ascii=False)


def before_of(table, old):
    """REPLICA IDENTITY DEFAULT: the key alone, all else null."""
    return old if table.is_full else {c: v if c in table.key else None for c, v in old.items()}


def render(history, change):
    """[(line, is a row or table event)]"""
    table, op, row, old = history.tables[change["table"]], change["op"], change["row"], change["old"]
    shown = {c: GONE if c in change["gone"] else v for c, v in row.items()} if row else None
    if op in ("t", "c", "r"):
        return [(message(history, change, op, None, shown, row), True)]
    before = before_of(table, old)
    if op == "u":
        return [(message(history, change, "u", before if table.is_full else None, shown, row), True)]
    if op == "one":
        return [(message(history, change, "u", before, shown, row), True)]
    lines = [(message(history, change, "d", before, None, old, {"__debezium.newkey": key_text(history, table, row)} if op == "pair" else None), True)]
    if history.tombstones and table.key:
        lines.append((tombstone(history, change, old, 1), False))
    if op == "pair":
        lines.append((message(history, change, "c", None, shown, row, {"__debezium.oldkey": key_text(history, table, old)}, 2), True))
    return lines
