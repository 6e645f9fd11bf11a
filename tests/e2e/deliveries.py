"""The same changes delivered in order, and shuffled with every one twice, into a merged and an upserted replica: always the same rows."""
import base64
import json
import random

import weir

GONE = "__debezium_unavailable_value"
MERGE, UPSERT = {"replicationMode": "merge"}, {"replicationMode": "upsert", "changeLogDataset": None}


class Change:
    """One message: an envelope, the message key's object, a schema block, attributes."""

    def __init__(self, envelope, key=None, block=None, attrs=None):
        self.envelope, self.key, self.block, self.attrs = envelope, key, block, attrs

    def line(self, number):
        line = {"id": str(number)}
        if self.key is not None:
            line["key"] = self.key if isinstance(self.key, str) else json.dumps(self.key)
        if self.attrs:
            line["attrs"] = self.attrs
        line["data"] = {"schema": self.block, "payload": self.envelope} if self.block else self.envelope
        return json.dumps(line, ensure_ascii=False)


def block(**types):
    """The schema block of an envelope whose rows have these columns."""
    fields = [dict({"field": name, "optional": True}, **(t if isinstance(t, dict) else {"type": t})) for name, t in types.items()]
    return {"type": "struct", "fields": [{"type": "struct", "optional": True, "field": side, "fields": fields} for side in ("before", "after")]}


def decimal(scale, precision=10):
    return {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "version": 1,
            "parameters": {"scale": str(scale), "connect.decimal.precision": str(precision)}}


def unscaled(number, length):
    return base64.b64encode(number.to_bytes(length, "big", signed=True)).decode()


def moved(name, key):
    """Debezium's attributes of the two halves of a key change: newkey on the delete, oldkey on the insert."""
    return {"__debezium." + name: json.dumps(key)}


def orders(lines, rng, rounds):
    """In order, and `rounds` times shuffled with each line twice."""
    yield lines
    for _ in range(rounds):
        twice = lines * 2
        rng.shuffle(twice)
        yield twice


def check(what, changes, want, query, expect=0, modes=(MERGE, UPSERT), rounds=2, letters=None, **parameters):
    """`want`: the rows of `query`, in any order. `letters`: reason codes of the letters of a delivery in order."""
    rng = random.Random(weir.first_seed())
    lines = [change.line(i + 1) for i, change in enumerate(changes)]
    for mode in modes:
        for number, order in enumerate(orders(lines, rng, rounds)):
            with weir.Home() as home:
                home.replicate(home.write("feed", "\n".join(order) + "\n"), expect=expect, **parameters, **mode)
                got = home.sql(query)
                assert sorted(got, key=repr) == sorted(want, key=repr), (what, mode, number, got)
                if mode is MERGE:
                    home.verify()
                if letters is not None and number == 0:
                    assert sorted(letter["code"] for letter in home.letters()) == sorted(letters), (what, home.letters())
