"""The recorded streams of types with their schema blocks cut off: with a sourceSchema nothing changes; without one the replica
holds what the messages say, value for value, by a model of its own."""
import base64
import decimal
import json
from decimal import Decimal

import rows
import weir

STREAMS = ["pg-types", "pg-types-connect", "pg-types-iso", "pg-types-micro", "pg-types-nano", "mariadb-types", "mariadb-types-long"]
LOST = object()  # an unchanged large value: only an earlier change has it
PLACEHOLDER = "__debezium_unavailable_value"


def end_of_object(text, at):
    """The place behind the object that begins at `at`."""
    depth = 0
    in_text = False
    while True:
        c = text[at]
        if in_text:
            at += c == "\\"
            in_text = c != '"'
        elif c == '"':
            in_text = True
        elif c in "{}":
            depth += 1 if c == "{" else -1
            if depth == 0:
                return at + 1
        at += 1


def without_block(line):
    """As bytes of text, so that every number stays as it was written."""
    head = '"data":{"schema":'
    at = line.find(head)
    if at < 0:
        return line
    rest = line[end_of_object(line, at + len(head)):]
    assert rest.startswith(',"payload":') and rest.endswith("}}\n"), rest[:80]
    return line[:at] + '"data":' + rest[len(',"payload":'):-3] + "}\n"


def feed(name):
    with open(weir.stream(name) + "/feed.jsonl", encoding="utf-8") as f:
        return [without_block(line) for line in f]


def forms():
    """How a placeholder looks, by kind of column."""
    raw = PLACEHOLDER.encode()
    texts = [PLACEHOLDER, base64.b64encode(raw).decode(), raw.hex(), "b68a35a7-17ad-35b3-af2a-ae46edb4545a"]
    return texts + [[t] for t in texts] + [[Decimal(b) for b in raw], {PLACEHOLDER: PLACEHOLDER}, '{"%s":"%s"}' % (PLACEHOLDER, PLACEHOLDER)]


def read(line):
    return json.loads(line, parse_int=Decimal, parse_float=Decimal)


def key_of(row, keys):
    return tuple(str(int(row[k]) if isinstance(row[k], bool) else row[k]) for k in keys)


def model(name, lines):
    """Table -> key -> row, by the order of the lines."""
    schema = rows.load_schema(weir.stream(name))
    placeholders = forms()
    tables = {}
    for line in lines:
        event = read(line)["data"]
        if not isinstance(event, dict) or "op" not in event:
            continue
        table = event["source"]["table"]
        keys = schema[table]["primary_key"]
        row = event["after"] or event["before"]
        place = tables.setdefault(table, {})
        if event["op"] == "d":
            place.pop(key_of(row, keys), None)
        else:
            place[key_of(row, keys)] = {c: LOST if v in placeholders else v for c, v in row.items()}
    return schema, tables


def is_decimal(value):
    return isinstance(value, dict) and set(value) == {"scale", "value"} and isinstance(value["value"], str)


def decimal_of(value):
    return Decimal(int.from_bytes(base64.b64decode(value["value"]), "big", signed=True)).scaleb(-int(value["scale"]))


def same(want, got):
    if want is None or got is None:
        return want is got
    if isinstance(want, bool):
        return got in (int(want), str(want).lower())
    if isinstance(want, str):
        return got == want
    if is_decimal(want):
        return Decimal(got) == decimal_of(want)
    if isinstance(want, Decimal):
        if isinstance(got, float):
            return float(want) == got
        return Decimal(got) == want or (want != int(want) and float(want) == float(got))
    found = read(got)
    # Arrays of numbers are ARRAY<FLOAT64> only where exact; JSON stays as it was.
    return found == want


def check(name):
    decimal.getcontext().prec = 5000
    lines = feed(name)
    schema, tables = model(name, lines)
    with weir.Home() as home:
        home.replicate(home.write("feed", "".join(lines)))
        for table, want in tables.items():
            keys = schema[table]["primary_key"]
            columns = list(next(iter(want.values()))) if want else []
            found = {}
            for got in home.sql("select %s from `%s`" % (", ".join("`%s`" % c for c in columns), table)) if want else []:
                row = dict(zip(columns, got))
                found[key_of(row, keys)] = row
            assert set(found) == set(want), (name, table, set(found) ^ set(want))
            for key, row in want.items():
                for c, value in row.items():
                    assert value is LOST or same(value, found[key][c]), (name, table, key, c, value, found[key][c])
        home.verify()


def test_what_the_messages_say_is_in_the_replica():
    """The others are of the same workload, and differ only where a type is told."""
    for name in ("pg-types", "pg-types-connect", "pg-types-iso", "mariadb-types"):
        check(name)


def test_a_source_schema_says_all_that_blocks_say():
    for name in STREAMS:
        folder = weir.stream(name)
        with weir.Home() as home:
            home.replicate(home.write("feed", "".join(feed(name))), sourceSchema=folder + "/schema.json")
            found = rows.differences(home.warehouse(), folder)
            assert not found, (name, found[:20])
