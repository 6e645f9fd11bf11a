"""The fixtures of connectors without a recorded stream, as feeds: all together or one alone, with schema blocks or without."""
import json
import os
import random
import sys

import weir

FOLDER = os.path.join(weir.ROOT, "tests", "fixtures")
sys.path.insert(0, FOLDER)
import forms  # noqa: E402
import tables  # noqa: E402

NAMES = list(tables.TABLES)


def folder(name):
    return os.path.join(FOLDER, name)


def table(name):
    return tables.TABLES[name].name


def messages(name, typed):
    with open(folder(name) + "/schema.json", encoding="utf-8") as f:
        schema = json.load(f)[tables.TABLES[name].name]
    form = tables.TABLES[name].form
    with open(folder(name) + "/feed.jsonl", encoding="utf-8") as f:
        for line in f:
            message = json.loads(line)
            is_row = message["data"] is not None and len(message["data"]) > 1
            if typed and is_row:
                message["data"] = forms.with_block(schema, form, message["data"])
            yield message


def mixed(typed, names=None):
    """One message of each in turn, with numbers of one subscription."""
    streams = [list(messages(name, typed)) for name in names or NAMES]
    out = []
    for i in range(max(map(len, streams))):
        out += [s[i] for s in streams if i < len(s)]
    for n, message in enumerate(out):
        message["id"] = str(1000 + n)
    return out


def shuffled(feed, rng):
    """In any order, a fifth of it twice."""
    feed = feed + rng.sample(feed, len(feed) // 5)
    rng.shuffle(feed)
    return feed


def text(feed):
    return "".join(json.dumps(m, ensure_ascii=False, separators=(",", ":")) + "\n" for m in feed)


def is_filtered(message):
    data = message["data"]
    return data is None or set(data) == {"ts_ms"}


def rng(seed):
    return random.Random(seed)
