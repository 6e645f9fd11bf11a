"""Faults under jobs from Pub/Sub and into BigQuery: what has landed is not sent again, and what waits goes on by itself."""
import contextlib
import functools
import glob
import json
import os
import sqlite3
import struct
import sys
import time

import emulators
import test_again
import weir
from test_again import standing

sys.path.append(os.path.join(weir.ROOT, "tests", "soak"))
import descriptors

until = functools.partial(test_again.until, patience_s=60)
WAYS = ({"useStorageWriteApi": True, "useStorageWriteApiAtLeastOnce": True}, {"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": False},
        {"useStorageWriteApi": True, "useStorageWriteApiAtLeastOnce": False, "storageWriteApiTriggeringFrequencySec": 1})


@contextlib.contextmanager
def place():
    with emulators.pubsub() as ps, emulators.bigquery("shop_log", project="acme") as bq, weir.Home() as home:
        home.env.update(ps.env)
        home.env.update(bq.env)
        ps.create("changes", "changes-sub", ackDeadlineSeconds=60)
        yield ps, bq, home


def changes(first, last):
    return [json.dumps({"key": json.dumps({"id": i}), "data": weir.event({"id": i, "n": i}, lsn=100 + i)}) for i in range(first, last)]


def begin(home, path, lines):
    assert home.run("job", "create", path).code == 0
    assert home.run("start", "shop").code == 0
    until(home, lambda: standing(home).get("written") == lines, "beginning")


def one_way(way):
    """The books are locked behind rows that have landed: each look at the lock is a try."""
    with place() as (ps, bq, home):
        path = home.job(None, project="acme", warehouse="bigquery", inputSubscriptions="changes-sub", replicationMode="changelog", replicaDataset=None, **way)
        ps.publish("changes", changes(0, 20))
        begin(home, path, 20)
        with contextlib.closing(sqlite3.connect(os.path.join(home.state, "warehouse", "bigquery", "shop.db"), isolation_level=None)) as lock:
            lock.execute("begin immediate")
            ps.publish("changes", changes(20, 60))
            until(home, lambda: standing(home).get("code") == "database_locked", "word")
            lock.execute("rollback")
        until(home, lambda: standing(home).get("written") == 60 and ps.counts("changes-sub")["outstanding"] == 0, "end")
        assert home.run("drain", "shop").code == 0
        line = standing(home)
        assert line["received"] == 60 and line["balanced"] is True, line
        found = [row["_weir_position"] for row in bq.rows("shop_log.t_changelog")]
        assert len(found) == len(set(found)) == 60, (way, len(found), len(set(found)))


def test_rows_that_have_landed_are_not_sent_again_while_the_books_wait():
    for way in WAYS:
        one_way(way)


def letters(home):
    count = 0
    for path in glob.glob(home.file("letters") + "/retry/**/*.json", recursive=True):
        with open(path) as f:
            count += sum(1 for _ in f)
    return count


def test_letters_reach_their_folder_though_the_clock_was_put_back():
    with place() as (ps, _, home):
        if "san" in home.build:  # a sanitizer must be loaded first: the plain build it is
            home.build = os.path.join(weir.ROOT, "build")
        home.write("clock", struct.pack("q", 0))
        home.env.update(LD_PRELOAD=descriptors.library("clock"), WEIR_CLOCK=home.file("clock"))
        path = home.write("shop.json", json.dumps({"name": "shop", "project": "acme", "template": "PubSub_CDC_to_BigQuery", "parameters": {
            "inputSubscription": ps.subscription("changes-sub"), "outputDatasetTemplate": "shop_log", "outputTableNameTemplate": "t",
            "deadLetterQueueDirectory": home.file("letters"), "windowDuration": "2s"}}))
        ps.publish("changes", ['{"id":"1"}'])
        begin(home, path, 1)
        # Kept by a clock that is far ahead: where it is right again, they are from the future.
        with open(home.file("clock"), "r+b") as f:
            f.write(struct.pack("q", 10 * 365 * 86400))
        ps.publish("changes", ["not json"] * 3)
        until(home, lambda: standing(home).get("dead_lettered") == 3, "letters")
        with open(home.file("clock"), "r+b") as f:
            f.write(struct.pack("q", 0))
        until(home, lambda: letters(home) == 3, "folder")
        assert home.run("drain", "shop").code in (0, 1)
        assert standing(home)["balanced"] is True
