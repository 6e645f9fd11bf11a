"""A history's changes as the lines of a feed: envelopes or flattened rows, with and without schema blocks, keys, tombstones."""
import json

import ddl
import documents
import sources
from kinds import Cell, KINDS

GONE = "__debezium_unavailable_value"
BARE_NODES = {"int": "int64", "text": "string", "bool": "boolean", "float": "double"}
OPS = {"one": "u", "i": "r"}
SIGNALS = "debezium_signal"


def wire(cell):
    value = None if cell is None else cell.wire
    return value.document if isinstance(value, documents.Id) else value


def wires(row, gone=()):
    return {c: GONE if c in gone else wire(cell) for c, cell in row.items()} if row is not None else None


def field_of(name, kind, is_optional):
    return dict(KINDS[kind].node, field=name, optional=is_optional)


def fields_of(table, types, key):
    return [dict(field_of(c, kind, c not in key and c not in table.required), **({"default": table.defaults[c].wire} if c in table.defaults else {}))
            for c, kind in types.items()]


def plain_field(name, value):
    literal = "int64" if name.endswith("_order") or isinstance(value, int) and not isinstance(value, bool) else "string"
    return {"field": name, "type": literal, "optional": True}


def envelope_block(table, change):
    name, fields = change["name"], fields_of(table, change["types"], change["key"])
    rows = [{"field": side, "type": "struct", "optional": True, "name": "srv.shop.%s.Value" % name, "fields": fields} for side in ("before", "after")]
    source = {"field": "source", "type": "struct", "optional": False, "fields": [{"field": "connector", "type": "string", "optional": False}]}
    return {"type": "struct", "optional": False, "name": "srv.shop.%s.Envelope" % name,
            "fields": rows + [source, {"field": "op", "type": "string", "optional": False}]}


def key_text(history, change, row):
    key, types = {c: wire(row[c]) for c in change["key"]}, change["types"]
    if history.is_document:
        key = {"id": json.dumps(row["_id"].wire.key, ensure_ascii=False)}
    elif history.connector.is_document:
        key = {"id": key["_id"]}
    if not history.keys_have_blocks:
        return json.dumps(key, ensure_ascii=False)
    fields = [field_of("id" if history.connector.is_document else c, types[c], False) for c in change["key"]]
    return json.dumps({"schema": {"type": "struct", "optional": False, "fields": fields}, "payload": key}, ensure_ascii=False)


def document_text(row):
    return None if row is None else json.dumps(row, ensure_ascii=False)


def envelope(history, change, op, before, after, part):
    table = history.tables[change["table"]]
    if history.is_document:
        before, after = None, document_text(after)
    body = {"before": before, "after": after, "source": sources.source_of(history.connector, change, table), "op": op, "ts_ms": 1700000000000}
    if history.has_transactions:
        body["transaction"] = transaction_of(change, part)
    return {"schema": envelope_block(table, change), "payload": body} if history.form == "blocks" else body


def transaction_of(change, part):
    """A key change is two events, so its insert has the next place in the transaction."""
    if not change["transaction"]:
        return None
    number, order = change["transaction"]
    return {"id": number, "total_order": order + (part > 0), "data_collection_order": 1}


def smt_fields(history, change, op, part):
    """What `add.fields=op,table,source.*` and `delete.tombstone.handling.mode=rewrite` put into a row."""
    table = history.tables[change["table"]]
    source = sources.source_of(history.connector, change, table)
    found = {"__deleted": "true" if op == "d" else "false", "__op": op, "__collection" if "collection" in source else "__table": change["name"], "__source_ts_ms": source["ts_ms"], "__source_connector": source["connector"]}
    found.update({"__source_" + name: source[name] for name in history.connector.shown if name in source})
    if history.has_transactions:
        found["__transaction_total_order"] = (transaction_of(change, part) or {}).get("total_order")
    return found


def flattened(history, change, op, row, part):
    table, added = history.tables[change["table"]], smt_fields(history, change, op, part)
    body = dict(row or {}, **added)
    if history.form != "blocks":
        return body
    fields = fields_of(table, change["types"], change["key"]) + [plain_field(name, value) for name, value in added.items()]
    return {"schema": {"type": "struct", "optional": False, "name": "srv.shop.%s.Value" % change["name"], "fields": fields}, "payload": body}


def message(history, change, op, before, after, key_row, attrs=None, part=0):
    op = OPS.get(op, op)
    row = before if op == "d" else after
    body = flattened(history, change, op, row, part) if history.is_flattened and op != "t" else envelope(history, change, op, before, after, part)
    line = {"id": str(change["order"] * 10 + part)}
    if change["key"] and key_row:
        line["key"] = key_text(history, change, key_row)
    if attrs:
        line["attrs"] = attrs
    return json.dumps(dict(line, data=body), ensure_ascii=False)


def tombstone(history, change, key_row, part):
    return json.dumps({"id": str(change["order"] * 10 + part), "key": key_text(history, change, key_row), "data": None}, ensure_ascii=False)


def before_of(table, change):
    """REPLICA IDENTITY DEFAULT: the key alone, all else null."""
    return {c: wire(cell) if table.is_full or c in change["key"] else None for c, cell in change["old"].items()}


def transaction_line(history, change, status):
    """A message of the topic for transactions."""
    number, count = (change["begins"], None) if status == "BEGIN" else change["ends"]
    body = {"status": status, "id": number, "ts_ms": 1700000000000, "event_count": count,
            "data_collections": [{"data_collection": "shop." + change["name"], "event_count": count}] if count else None}
    if history.form == "blocks":
        body = {"schema": {"type": "struct", "name": "io.debezium.connector.common.TransactionMetadataValue", "fields": []}, "payload": body}
    return json.dumps({"id": "%d%s" % (change["order"], status), "key": json.dumps({"id": number}), "data": body}, ensure_ascii=False)


def signal_line(history, change, word):
    """The row that the connector writes into the table of signals at either end of a window; in the log it is a row as any other."""
    row = {"id": "%d-%s" % (change["order"], word), "type": "snapshot-window-" + word, "data": "{}"}
    signals = Signals(history, change, row)
    return message(signals, signals.change, "c", None, row, signals.row)


class Signals:
    """A history of the table of signals alone, with this one row."""

    def __init__(self, history, change, row):
        self.__dict__.update(history.__dict__)
        self.form, self.has_transactions = "bare", False
        self.change = dict(change, op="c", table=0, name=SIGNALS, key=["id"], types={c: "string" for c in row})
        self.tables, self.row = [type("Table", (), {"name": SIGNALS, "required": (), "defaults": {}})()], {c: Cell(v, v) for c, v in row.items()}


def render(history, change):
    """[(line, is a row or table event)]: the change's own, then those that stand around it."""
    found = lines_of(history, change)
    if change["begins"]:
        found.append((transaction_line(history, change, "BEGIN"), False))
    if change["ends"]:
        found.append((transaction_line(history, change, "END"), False))
    if not history.connector.is_document:
        found += [(signal_line(history, change, word), True) for word in change.get("window", ())]
    return found


def lines_of(history, change):
    table, op, row, old = history.tables[change["table"]], change["op"], change["row"], change["old"]
    if op == "alter":
        source = sources.source_of(history.connector, change, table)
        return [(line, False) for line in ddl.messages(source, table, change, history.form == "blocks")] if change["alter"].get("sql") else []
    shown = wires(row, change["gone"])
    if op in ("t", "c", "r", "i"):
        return [(message(history, change, op, None, shown, row), True)]
    before = before_of(table, change)
    if op == "u":
        return [(message(history, change, "u", before if table.is_full else None, shown, row), True)]
    if op == "one":
        return [(message(history, change, "one", before, shown, row), True)]
    attrs = {"__debezium.newkey": key_text(history, change, row)} if op == "pair" else None
    lines = [(message(history, change, "d", before, None, old, attrs), True)]
    if history.tombstones and change["key"]:
        lines.append((tombstone(history, change, old, 1), False))
    if op == "pair":
        lines.append((message(history, change, "c", None, shown, row, {"__debezium.oldkey": key_text(history, change, old)}, 2), True))
    return lines
