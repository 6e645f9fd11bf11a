"""The `_id` of MongoDB's documents: as the document writes it, as the message key does, and the one text that the warehouse has.

The document is in the old strict form of extended JSON or in the newer one, the key in the newer one: so one identity has several
texts."""
import json
from collections import namedtuple

Id = namedtuple("Id", "document key stored")


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def same(value):
    return Id(value, value, compact(value))


def binary(data, kind):
    new = {"$binary": {"base64": data, "subType": kind}}
    return Id({"$binary": data, "$type": kind}, new, compact(new))


KINDS = {
    "int": [same(n) for n in range(1, 5)],
    "text": [same(t) for t in ("a", "A", "a ", "", "caf\u00e9", 'q"q', "7")],
    "oid": [same({"$oid": "596e275826f08b2730779e%02x" % n}) for n in range(3)],
    "uuid": [binary("RVHP8MRSTzqMmfnCZiRlN%s==" % c, "04") for c in "AQg"],
    "binary": [binary("AQI=", "00"), binary("", "00"), binary("AQ==", "80")],
    "long": [Id({"$numberLong": str(n)}, n, str(n)) for n in (5000000000, -9223372036854775808)],
    "date": [Id({"$date": 1700000000000}, {"$date": "2023-11-14T22:13:20Z"}, '{"$date":"2023-11-14T22:13:20Z"}'), Id({"$date": 5}, {"$date": "1970-01-01T00:00:00.005Z"}, '{"$date":"1970-01-01T00:00:00.005Z"}')],
    "document": [same({"a": n, "b": {"c": [n, "x"]}}) for n in (1, 2)] + [same({"b": 1, "a": 1})],
}
