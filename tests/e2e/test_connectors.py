"""Every connector of Debezium: the replica is what the source holds, whatever the mode, the form and the order of its messages."""
import filecmp
import os
import subprocess
import sys
import tempfile

import changelogs
import connectors
import rows
import weir


def replicate(home, feed, mode, stdin=False, typed=True):
    more = {"changeLogDataset": None} if mode == "upsert" else {}
    lines = connectors.text(feed)
    job = home.job("-" if stdin else home.write("feed.jsonl", lines), replicationMode=mode, **more)
    result = home.run("run", job, "--until-idle", "--json", **({"input": lines.encode()} if stdin else {}))
    assert result.code == 0, (result, home.letters()[:3])
    result = result.last
    filtered = sum(map(connectors.is_filtered, feed))
    assert (result["received"], result["filtered"]) == (len(feed), filtered), result
    assert result["written"] == len(feed) - filtered and result["balanced"] is True, result
    for name in connectors.NAMES:
        found = rows.differences(home.warehouse(), connectors.folder(name), untyped=not typed)
        assert not found, (name, mode, typed, found[:20])
    if mode == "merge":
        home.verify()
        check_changelog(home)


def check_changelog(home):
    """Each change stands in it once, and SQL that is none of weir's makes the replica from it."""
    log = home.warehouse("shop_log")
    for name in connectors.NAMES:
        table = connectors.table(name)
        sent = sum(not connectors.is_filtered(m) for m in connectors.messages(name, False))
        assert changelogs.counts(log)[table] == (sent, sent), (name, changelogs.counts(log)[table], sent)
        kinds = changelogs.types(log, table)
        made = changelogs.applied(log, table, kinds)
        held = changelogs.stored(home.warehouse(), table, list(kinds))
        assert sorted(made, key=repr) == sorted(held, key=repr), (name, [r for r in made if r not in held][:3])


def each(mode, typed):
    for stdin in (False, True):
        with weir.Home() as home:
            replicate(home, connectors.mixed(typed), mode, stdin, typed)


def test_merged_with_schema_blocks():
    each("merge", True)


def test_merged_without_schema_blocks():
    each("merge", False)


def test_upserted_with_schema_blocks():
    each("upsert", True)


def test_upserted_without_schema_blocks():
    each("upsert", False)


def test_merged_in_any_order_and_twice():
    seed = weir.first_seed()
    print("WEIR_SEED=%d python3 tests/e2e/run.py -k test_merged_in_any_order_and_twice" % seed)
    for typed in (True, False):
        with weir.Home() as home:
            replicate(home, connectors.shuffled(connectors.mixed(typed), connectors.rng(seed)), "merge", typed=typed)


def test_the_fixtures_are_what_their_generator_makes():
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([sys.executable, os.path.join(connectors.FOLDER, "make_fixtures.py"), out], check=True)
        for name in connectors.NAMES:
            for path, _, files in os.walk(os.path.join(out, name)):
                for file in files:
                    made = os.path.join(path, file)
                    kept = os.path.join(connectors.FOLDER, os.path.relpath(made, out))
                    assert filecmp.cmp(made, kept, shallow=False), kept
