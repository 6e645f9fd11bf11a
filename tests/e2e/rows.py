"""Compares a local warehouse with the final rows that the source database printed: cell by cell, in canonical text."""
import base64
import json
import os
import re
import sqlite3
import struct
from decimal import Decimal, InvalidOperation


def load_schema(folder, untyped=False):
    with open(os.path.join(folder, "schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    for table in schema.values():
        for info in table["columns"].values():
            if untyped:
                info["bigquery"] = info.get("bigquery_untyped", info["bigquery"])
    return schema


def stored_text(value, info):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, int):
        return {0: "false", 1: "true"}.get(value, str(value)) if info["bigquery"] == "BOOL" else str(value)
    return value


def first_wins(pairs):
    out = {}
    for name, value in pairs:
        out.setdefault(name, value)
    return out


def json_value(text):
    """Numbers keep their written text, so that 1 and 1.0 differ and no digit is lost."""
    number = lambda t: ("number", t)
    return json.loads(text, parse_int=number, parse_float=number, parse_constant=number, object_pairs_hook=first_wins)


def element(value):
    """Inside an ARRAY the recorder wrote times with as many digits as the source, and JSON as it stands: by value."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json_value(value)
        except ValueError:
            return value
    if isinstance(value, tuple):
        value = value[1]
    if isinstance(value, list):
        return [element(v) for v in value]
    if isinstance(value, dict):
        return {k: element(v) for k, v in value.items()}
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return Decimal(value)
    except (InvalidOperation, TypeError):
        return re.sub(r"(:\d\d)\.(\d*?)0*(?=$|\+)", lambda m: m[1] + ("." + m[2] if m[2] else ""), value) if isinstance(value, str) else value


def same(want, got, info):
    if want is None or got is None or want == got:
        return want == got
    kind = info["bigquery"]
    if info.get("float32"):
        return struct.pack("<f", float(want) + 0.0) == struct.pack("<f", float(got) + 0.0)  # BigQuery keeps no -0
    if kind == "FLOAT64":
        return float(want) == float(got) or (float(want) != float(want) and float(got) != float(got))
    if info.get("bits"):
        return base64.b64decode(want).rstrip(b"\0") == base64.b64decode(got).rstrip(b"\0")
    if kind == "JSON":
        return json_value(want) == json_value(got)
    if kind.startswith(("ARRAY", "STRUCT")):
        return element(json_value(want)) == element(json_value(got))
    if info.get("decimal_text"):
        return Decimal(want) == Decimal(got)
    return False


def differences(warehouse, folder, untyped=False, leave_ddl=False, tables=None):
    """Every difference in words; an empty list means equal."""
    found = []
    schema = load_schema(folder, untyped)
    expected = os.path.join(folder, "expected-untyped" if untyped else "expected")
    db = sqlite3.connect("file:%s?mode=ro" % warehouse, uri=True)
    for name in sorted(os.listdir(expected)):
        table = name[: -len(".jsonl")]
        if tables and table not in tables:
            continue
        info = schema[table]
        columns = {c: i for c, i in info["columns"].items() if not (leave_ddl and i.get("needs_ddl"))}
        with open(os.path.join(expected, name), encoding="utf-8") as f:
            want = [json.loads(line) for line in f if line.strip()]
        try:
            cursor = db.execute("select %s from `%s`" % (", ".join("`%s`" % c for c in columns), table))
        except sqlite3.OperationalError as e:
            found.append("%s: %s" % (table, e))
            continue
        got = [{c: stored_text(v, columns[c]) for c, v in zip(columns, row)} for row in cursor]
        found += table_differences(table, info["primary_key"], columns, want, got)
    return found


def table_differences(table, key, columns, want, got):
    if not key:
        return bag_differences(table, columns, want, got)
    found = []
    left = {}
    for row in got:
        k = tuple(row[c] for c in key)
        if k in left:
            found.append("%s %s: stored twice" % (table, k))
        left[k] = row
    for row in want:
        k = tuple(row[c] for c in key)
        other = left.pop(k, None)
        if other is None:
            found.append("%s %s: missing" % (table, k))
            continue
        found += ["%s %s: %s is %r, not %r" % (table, k, c, other[c], row[c]) for c in columns if not same(row[c], other[c], columns[c])]
    return found + ["%s %s: too many" % (table, k) for k in left]


def bag_differences(table, columns, want, got):
    found = []
    got = list(got)
    for row in want:
        hit = next((g for g in got if all(same(row[c], g[c], columns[c]) for c in columns)), None)
        if hit is None:
            found.append("%s: missing %r" % (table, row))
        else:
            got.remove(hit)
    return found + ["%s: too many %r" % (table, g) for g in got]
