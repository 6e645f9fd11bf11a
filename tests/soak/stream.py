"""A recorded stream: a folder with feed.jsonl, schema.json and the source's own final rows, in the form of tests/streams.

It knows which of its lines may be met in another order: row events may, a schema change keeps its place among the events of
its tables."""
import json
import os
import random
import re

# What is left out of a row: large values that did not change, and all unchanged ones where Spanner captures old and new.
LEFT_OUT = re.compile(b"__debezium_unavailable_value|OLD_AND_NEW_VALUES")
BLOCK = re.compile(rb'"data":\s*\{\s*"schema":\s*\{')
# Tables without a key of their own that have a column which tells their rows apart.
UNIQUE = {"events": ["seq"]}


class Line:
    def __init__(self, text):
        self.text = text
        message = json.loads(text)
        self.table, self.is_schema_change, self.names = None, False, []
        body = message.get("data")
        body = body.get("payload", body) if isinstance(body, dict) else body
        attrs = message.get("attrs") or {}
        if isinstance(body, dict) and "tableChanges" in body:
            self.is_schema_change = True
            self.names = names_of(body)
        elif isinstance(body, dict):
            source = body.get("source") if isinstance(body.get("source"), dict) else body
            self.table = source.get("table") or source.get("__table")
        elif "__table" in attrs:
            self.table = attrs["__table"].strip('"')


def names_of(change):
    """Tables of a schema change; none: nobody knows, so it is a border for all."""
    ids = [c.get("id") for c in change["tableChanges"] or []] + [c.get("previousId") for c in change["tableChanges"] or []]
    names = {i.rpartition(".")[2].strip('"`') for i in ids if i}
    return names | {t for t in ((change.get("source") or {}).get("table") or "").split(",") if t}


class Stream:
    def __init__(self, folder):
        self.folder, self.name = folder, os.path.basename(folder.rstrip("/"))
        with open(os.path.join(folder, "schema.json"), encoding="utf-8") as f:
            self.schema = json.load(f)
        self.read = None

    @property
    def lines(self):
        if self.read is None:
            with open(os.path.join(self.folder, "feed.jsonl"), "rb") as f:
                self.read = [Line(text) for text in f if text.strip()]
        return self.read

    def expected(self, is_typed):
        return os.path.join(self.folder, "expected" if is_typed else "expected-untyped")

    @property
    def typings(self):
        return [t for t in (True, False) if os.path.isdir(self.expected(t))]

    @property
    def has_placeholders(self):
        return any(LEFT_OUT.search(line.text) for line in self.lines)

    @property
    def has_blocks(self):
        return any(BLOCK.search(line.text[:400]) for line in self.lines[:50])

    def parameters(self, is_typed):
        """What a job must be told to read it exactly: types where no block carries them, and keys that no message has."""
        found = {"sourceSchema": os.path.join(self.folder, "schema.json")} if is_typed and not self.has_blocks else {}
        keys = {t: UNIQUE[t] for t, info in self.schema.items() if not info["primary_key"] and t in UNIQUE}
        if keys:
            found["primaryKey"] = keys
        # Values beyond every number type of the warehouse: refusing them is right too, but says less.
        texts = {"%s.%s" % (t, c): column["bigquery"] for t, info in self.schema.items() if info.get("may_refuse") for c, column in info["columns"].items()}
        if texts and is_typed:
            found["columnTypes"] = texts
        return found

    def borders(self):
        """For each line the places between which it may be met."""
        lines, last = self.lines, len(self.lines)
        spans = [[-1.0, float(last)] for _ in lines]
        for at, line in enumerate(lines):
            if line.is_schema_change:
                spans[at] = None
                for other in self.of_tables(line.names):
                    spans[other][0 if other > at else 1] = at if other > at else min(spans[other][1], at)
        return spans

    def of_tables(self, names):
        return [i for i, line in enumerate(self.lines) if not line.is_schema_change and (not names or line.table in names or line.table is None)]

    def ordered(self, rng, is_shuffled, share=0.2):
        """Lines as they are delivered: in order or in any order, some of them twice, the second never before the first."""
        places = []
        for at, (line, span) in enumerate(zip(self.lines, self.borders())):
            if span is None:
                places.append((float(at), line.text))
                continue
            place = rng.uniform(*span) if is_shuffled else float(at)
            places.append((place, line.text))
            if rng.random() < share:
                places.append((rng.uniform(place, span[1]), line.text))
        return [text for _, text in sorted(places)]


def streams(folder):
    """Every stream of a folder whose rows the source itself printed; hand-made faults (poison) and Beam rows are no such."""
    found = [Stream(os.path.join(folder, n)) for n in sorted(os.listdir(folder)) if os.path.isfile(os.path.join(folder, n, "schema.json"))]
    return [s for s in found if s.name not in ("poison", "beam-rows")]


def random_of(*words):
    """Numbers that depend on the words alone, so that one delivery can be repeated without the others."""
    return random.Random("/".join(map(str, words)))
