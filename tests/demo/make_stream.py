#!/usr/bin/env python3
"""make_stream.py FOLDER OUT: makes the demo's change stream out of a recorded one.

FOLDER holds feed.jsonl and schema.json of the recorded shop (tests/streams/pg-shop.tar.xz, unpacked). OUT gets
stream.jsonl.xz and schema.json. The same folder gives the same bytes: nothing here is drawn by chance.

Kept are some of the customers with all that hangs on them (addresses, carts, orders, lines, payments), some goods and
some events, each with its whole history, so that the replica of what is kept is right; transaction messages stay
where all events of their transaction do. Then a few messages are broken as they break in the field: FAULTS.
"""
import base64
import hashlib
import json
import lzma
import os
import sys

KEPT_PERCENT = {"customers": 31, "inventory": 40, "events": 40, "audit_log": 60}
KEEP_ALWAYS = ("t", "m")


def share(*words):
    """0 to 99, the same for the same words on every machine."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, words)).encode()).digest()[:4], "big") % 100


class Families:
    """Rows that must be kept or dropped together (union-find)."""

    def __init__(self):
        self.parent = {}

    def root(self, row):
        while self.parent.setdefault(row, row) != row:
            row = self.parent[row]
        return row

    def join(self, a, b):
        a, b = sorted((self.root(a), self.root(b)))
        self.parent[b] = a


OWNER = {  # table -> the row that it hangs on
    "addresses": ("customers", "customer_id"),
    "carts": ("customers", "customer_id"),
    "orders": ("customers", "customer_id"),
    "order_items": ("orders", "order_id"),
    "payments": ("orders", "order_id"),
}
ROW = {"customers": "id", "orders": "id", "payments": "id", "inventory": "sku", "events": "seq", "audit_log": "id"}


def rows_of(message):
    """(table, image, row) for each image of an event."""
    body = message["data"]
    table = body["source"]["table"]
    for side in ("before", "after"):
        image = body.get(side)
        if image:
            name = ROW.get(table)
            yield table, image, (table, str(image[name]) if name else message["key"])


def is_event(message):
    body = message.get("data")
    return isinstance(body, dict) and "op" in body and body["op"] not in KEEP_ALWAYS


def learn(messages):
    families = Families()
    for message in filter(is_event, messages):
        rows = list(rows_of(message))
        for table, image, row in rows:
            families.join(rows[0][2], row)
            owner = OWNER.get(table)
            # A delete's image holds made-up values beside the key: they tie nothing together.
            if owner and image.get(owner[1]) and message["data"]["op"] != "d":
                families.join(row, (owner[0], str(image[owner[1]])))
        for header, value in message["attrs"].items():
            if header in ("__debezium.newkey", "__debezium.oldkey"):
                name = ROW.get(rows[0][0])
                other = json.loads(value)
                families.join(rows[0][2], (rows[0][0], str(other[name]) if name else value))
    return families


def is_kept_row(families, row):
    root = families.root(row)
    return share(*root) < KEPT_PERCENT.get(root[0], KEPT_PERCENT["customers"])


def pick(messages):
    """The kept messages, in their order; transactions that stay whole keep their frame."""
    families = learn(messages)
    kept, whole = set(), {}
    last_row = None
    for number, message in enumerate(messages):
        body = message.get("data")
        if is_event(message):
            last_row = next(rows_of(message))[2]
            stays = is_kept_row(families, last_row)
            name = (body.get("transaction") or {}).get("id")
            whole[name] = whole.get(name, True) and stays
        elif body is None:  # a tombstone follows its delete
            stays = is_kept_row(families, last_row)
        else:
            stays = body.get("op") in KEEP_ALWAYS or "status" not in body
        if stays:
            kept.add(number)
    for number, message in enumerate(messages):
        body = message.get("data")
        if isinstance(body, dict) and "status" in body and whole.get(body["id"], False):
            kept.add(number)
    return sorted(kept)


#
# Faults: each takes a message's line (text), and gives the line that arrives instead.
#


def with_body(line, body):
    """The same envelope around other bytes."""
    message = json.loads(line)
    del message["data"]
    message["data_b64"] = base64.b64encode(body).decode()
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def body_of(line):
    """The body as it was written: the envelope's last member."""
    return line[line.index(',"data":') + len(',"data":') : -1]


def put(line, name, text):
    """Gives a column of the new row another JSON text."""
    message = json.loads(line)
    message["data"]["after"][name] = "\0"
    line = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return line.replace(json.dumps("\0"), text, 1)


def text_for_number(line):
    return put(line, "quantity", '"n/a"')


def too_many_digits(line):
    return put(line, "amount", '"9' + "0" * 44 + '.0001"')


def cut_off(line):
    body = body_of(line).encode()
    return with_body(line, body[: len(body) * 2 // 3])


def latin_1(line):
    name = json.dumps(json.loads(line)["data"]["after"]["name"], ensure_ascii=False)
    return with_body(line, body_of(line).replace(name, '"J\0rg M\0ller"', 1).encode().replace(b"\0", b"\xf6", 1).replace(b"\0", b"\xfc", 1))


def unknown_op(line):
    message = json.loads(line)
    message["data"]["op"] = "merge"
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def without_key(line):
    message = json.loads(line)
    del message["data"]["after"]["customer_id"]
    message["key"] = "default"
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def two_spellings(line):
    """A column that somebody added with capitals: to BigQuery and SQLite it is the same name."""
    message = json.loads(line)
    message["data"]["after"]["Kind"] = "click"
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def no_body(line):
    """Somebody's test message: without a key it cannot be a tombstone."""
    return '{"id":%s,"attrs":{},"data_b64":""}' % json.dumps(json.loads(line)["id"])


def year_12000(line):
    """Not a fault: it is stored as NULL and counted, which the result says."""
    return put(line, "ship_on", "3663512")


# what breaks, in which table and ops, how many, from which share of the streamed messages on, every how many
FAULTS = (
    (text_for_number, "inventory", "u", 23, 0.30, 3),
    (latin_1, "customers", "cu", 9, 0.10, 40),
    (too_many_digits, "payments", "c", 6, 0.20, 11),
    (two_spellings, "events", "c", 5, 0.50, 9),
    (without_key, "carts", "u", 4, 0.15, 4),
    (cut_off, "orders", "cu", 3, 0.40, 60),
    (unknown_op, "addresses", "u", 2, 0.60, 3),
    (no_body, "orders", "u", 1, 0.80, 1),
    (year_12000, "orders", "u", 3, 0.05, 25),
)


def places(messages, table, ops, count, begins, every, taken):
    """Numbers of the messages that break."""
    streamed = [i for i, m in enumerate(messages) if is_event(m) and m["data"]["op"] != "r"]
    first = streamed[int(len(streamed) * begins)]
    fit = [i for i in streamed if i >= first and i not in taken and messages[i]["data"]["source"]["table"] == table
           and messages[i]["data"]["op"] in ops and not messages[i]["attrs"]]
    chosen = fit[::every][:count]
    assert len(chosen) == count, (table, ops, len(chosen))
    return chosen


def spoil(lines):
    messages = [json.loads(line) for line in lines]
    taken = set()
    for fault, table, ops, count, begins, every in FAULTS:
        for number in places(messages, table, ops, count, begins, every, taken):
            lines[number] = fault(lines[number])
            taken.add(number)


def main():
    folder, out = sys.argv[1:]
    with open(os.path.join(folder, "feed.jsonl"), encoding="utf-8", newline="\n") as f:
        lines = f.read().rstrip("\n").split("\n")
    lines = [lines[i] for i in pick([json.loads(line) for line in lines])]
    spoil(lines)
    with open(os.path.join(out, "stream.jsonl.xz"), "wb") as f:
        f.write(lzma.compress(("\n".join(lines) + "\n").encode(), preset=9 | lzma.PRESET_EXTREME))
    with open(os.path.join(folder, "schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    for table in schema.values():
        table.pop("rows", None)
    with open(os.path.join(out, "schema.json"), "w", encoding="utf-8") as f:
        json.dump(schema, f, indent=1)
        f.write("\n")
    print("%d messages" % len(lines))


main()
