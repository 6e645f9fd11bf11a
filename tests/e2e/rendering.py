"""A history's changes as the lines of a feed: envelopes or flattened rows, with and without schema blocks, keys, tombstones."""
import json

import ddl
import sources
from kinds import KINDS

GONE = "__debezium_unavailable_value"
BARE_NODES = {"int": "int64", "text": "string", "bool": "boolean", "float": "double"}
OPS = {"one": "u"}


def wire(cell):
    return None if cell is None else cell.wire


def wires(row, gone=()):
    return {c: GONE if c in gone else wire(cell) for c, cell in row.items()} if row is not None else None


def field_of(name, kind, is_optional):
    return dict(KINDS[kind].node, field=name, optional=is_optional)


def fields_of(table, types):
    return [dict(field_of(c, kind, c not in table.key and c not in table.required), **({"default": table.defaults[c].wire} if c in table.defaults else {}))
            for c, kind in types.items()]


def plain_field(name, value):
    literal = "int64" if isinstance(value, int) and not isinstance(value, bool) else "string"
    return {"field": name, "type": literal, "optional": True}


def envelope_block(table, types):
    rows = [{"field": side, "type": "struct", "optional": True, "name": "srv.shop.%s.Value" % table.name, "fields": fields_of(table, types)} for side in ("before", "after")]
    source = {"field": "source", "type": "struct", "optional": False, "fields": [{"field": "connector", "type": "string", "optional": False}]}
    return {"type": "struct", "optional": False, "name": "srv.shop.%s.Envelope" % table.name,
            "fields": rows + [source, {"field": "op", "type": "string", "optional": False}]}


def key_text(history, table, row, types):
    key = {c: wire(row[c]) for c in table.key}
    if history.connector.is_document:
        key = {"id": json.dumps(key["_id"]) if history.is_document else key["_id"]}
    if not history.keys_have_blocks:
        return json.dumps(key, ensure_ascii=False)
    fields = [field_of("id" if history.connector.is_document else c, types[c], False) for c in table.key]
    return json.dumps({"schema": {"type": "struct", "optional": False, "fields": fields}, "payload": key}, ensure_ascii=False)


def document_text(row):
    return None if row is None else json.dumps(row, ensure_ascii=False)


def envelope(history, change, op, before, after):
    table = history.tables[change["table"]]
    if history.is_document:
        before, after = None, document_text(after)
    body = {"before": before, "after": after, "source": sources.source_of(history.connector, change, table), "op": op, "ts_ms": 1700000000000}
    return {"schema": envelope_block(table, change["types"]), "payload": body} if history.form == "blocks" else body


def smt_fields(history, change, op):
    """What `add.fields=op,table,source.*` and `delete.tombstone.handling.mode=rewrite` put into a row."""
    table = history.tables[change["table"]]
    source = sources.source_of(history.connector, change, table)
    found = {"__deleted": "true" if op == "d" else "false", "__op": op, "__collection" if "collection" in source else "__table": table.name, "__source_ts_ms": source["ts_ms"], "__source_connector": source["connector"]}
    found.update({"__source_" + name: source[name] for name in history.connector.shown if name in source})
    return found


def flattened(history, change, op, row):
    table, added = history.tables[change["table"]], smt_fields(history, change, op)
    body = dict(row or {}, **added)
    if history.form != "blocks":
        return body
    fields = fields_of(table, change["types"]) + [plain_field(name, value) for name, value in added.items()]
    return {"schema": {"type": "struct", "optional": False, "name": "srv.shop.%s.Value" % table.name, "fields": fields}, "payload": body}


def message(history, change, op, before, after, key_row, attrs=None, part=0):
    table = history.tables[change["table"]]
    op = OPS.get(op, op)
    body = flattened(history, change, op, before if op == "d" else after) if history.is_flattened and op != "t" else envelope(history, change, op, before, after)
    line = {"id": str(change["order"] * 10 + part)}
    if table.key and key_row:
        line["key"] = key_text(history, table, key_row, change["types"])
    if attrs:
        line["attrs"] = attrs
    return json.dumps(dict(line, data=body), ensure_ascii=False)


def tombstone(history, change, key_row, part):
    table = history.tables[change["table"]]
    return json.dumps({"id": str(change["order"] * 10 + part), "key": key_text(history, table, key_row, change["types"]), "data": None}, ensure_ascii=False)


def before_of(table, old):
    """REPLICA IDENTITY DEFAULT: the key alone, all else null."""
    return {c: wire(cell) if table.is_full or c in table.key else None for c, cell in old.items()}


def render(history, change):
    """[(line, is a row or table event)]"""
    table, op, row, old = history.tables[change["table"]], change["op"], change["row"], change["old"]
    if op == "alter":
        sql = change["alter"].get("sql")
        return [(ddl.message(sources.source_of(history.connector, change, table), table, change, history.form == "blocks"), False)] if sql else []
    shown = wires(row, change["gone"])
    if op in ("t", "c", "r"):
        return [(message(history, change, op, None, shown, row), True)]
    before = before_of(table, old)
    if op == "u":
        return [(message(history, change, "u", before if table.is_full else None, shown, row), True)]
    if op == "one":
        return [(message(history, change, "one", before, shown, row), True)]
    types = change["types"]
    attrs = {"__debezium.newkey": key_text(history, table, row, types)} if op == "pair" else None
    lines = [(message(history, change, "d", before, None, old, attrs), True)]
    if history.tombstones and table.key:
        lines.append((tombstone(history, change, old, 1), False))
    if op == "pair":
        lines.append((message(history, change, "c", None, shown, row, {"__debezium.oldkey": key_text(history, table, old, types)}, 2), True))
    return lines
