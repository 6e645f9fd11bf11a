"""Recorded streams of real databases: the replica equals the source's own final rows, and every message is accounted for."""
import json
import os

import rows
import weir


def counts(folder):
    """What is received, and what of it is filtered. A tombstone is a delete only where nothing else says so."""
    with open(os.path.join(folder, "counts.json")) as f:
        kinds = json.load(f)["kinds"]
    rows_alone = folder.endswith("flattened-tombstone")
    records = sum(n for k, n in kinds.items() if k in ("c", "u", "d", "r", "t") or k.startswith("row-") or k == "tombstone" and rows_alone)
    return sum(kinds.values()), sum(kinds.values()) - records


def check(name, mode, typed=True, leave_ddl=False, **parameters):
    folder = weir.stream(name)
    received, filtered = counts(folder)
    if typed and os.path.isdir(folder + "/expected-untyped"):
        parameters["sourceSchema"] = folder + "/schema.json"
    if mode == "upsert":
        parameters["changeLogDataset"] = None
    with weir.Home() as home:
        result = home.replicate(folder + "/feed.jsonl", replicationMode=mode, **parameters)
        assert result["received"] == received, result
        assert result["filtered"] == filtered, result
        assert result["written"] == received - filtered, result
        assert result["balanced"] is True and result["in_flight"] == 0 and result["state"] == "stopped", result
        found = rows.differences(home.warehouse(), folder, untyped=not typed, leave_ddl=leave_ddl)
        assert not found, (name, mode, found[:20])
        if mode == "merge":
            home.verify()
        again = home.replicate(folder + "/feed.jsonl", replicationMode=mode, **parameters)
        assert again["this_run"]["received"] == 0 and again["received"] == received, again


# Streams without schema blocks: with sourceSchema the columns have the source's types, without it those that values show.
WITHOUT_BLOCKS = ["flattened", "flattened-tombstone", "pg-incremental"]
WITH_BLOCKS = ["flattened-schemas", "pg-types-connect", "pg-types-iso", "pg-types-micro", "pg-types-nano", "pg-types", "mariadb-types",
               "mariadb-types-long"]


def check_all(names, mode, typed=True):
    for name in names:
        check(name, mode, typed)


def test_streams_with_schema_blocks_in_every_handling_mode():
    check_all(WITH_BLOCKS, "merge")


def test_streams_with_schema_blocks_in_every_handling_mode_upsert():
    check_all(WITH_BLOCKS, "upsert")


def test_flattened_and_incremental_rows_with_source_schema():
    check_all(WITHOUT_BLOCKS, "merge")


def test_flattened_and_incremental_rows_with_source_schema_upsert():
    check_all(WITHOUT_BLOCKS, "upsert")


def test_flattened_and_incremental_rows_untyped():
    check_all(WITHOUT_BLOCKS, "merge", typed=False)


def test_flattened_and_incremental_rows_untyped_upsert():
    check_all(WITHOUT_BLOCKS, "upsert", typed=False)


SHOP_KEY = {"events": ["seq"]}


def test_pg_shop_with_source_schema():
    check("pg-shop", "merge", primaryKey=SHOP_KEY)


def test_pg_shop_with_source_schema_upsert():
    check("pg-shop", "upsert", primaryKey=SHOP_KEY)


def test_pg_shop_untyped():
    check("pg-shop", "merge", typed=False, primaryKey=SHOP_KEY)


def test_pg_shop_untyped_upsert():
    check("pg-shop", "upsert", typed=False, primaryKey=SHOP_KEY)


def test_pg_library_with_schema_blocks():
    check("pg-library", "merge")


def test_pg_library_with_schema_blocks_upsert():
    check("pg-library", "upsert")


def test_mariadb_shop_with_schema_changes():
    check("mariadb-shop", "merge")


def test_mariadb_shop_with_schema_changes_upsert():
    check("mariadb-shop", "upsert")


def test_poison_each_line_has_its_outcome():
    folder = weir.stream("poison")
    with open(folder + "/expected.json") as f:
        expected = json.load(f)
    with weir.Home() as home:
        result = home.replicate(folder + "/feed.jsonl", expect=1)
        assert result["received"] == expected["received"] and result["filtered"] == expected["filtered"], result
        assert result["balanced"] is True
        letters = {letter["source"]["line"]: letter for letter in home.letters()}
        for line in expected["lines"]:
            outcome = "dead_lettered" if line["line"] in letters else "not"
            allowed = [line["outcome"]] + line.get("also_right", [])
            if outcome == "dead_lettered":
                assert "dead_lettered" in allowed, (line, letters[line["line"]])
            else:
                assert allowed != ["dead_lettered"], line
        extra = {tuple(line["row"].values())[0] for line in expected["lines"] if "row" in line and line["line"] not in letters}
        found = [d for d in rows.differences(home.warehouse(), folder) if not any(key in d for key in extra)]
        assert not found, found
        check_payloads(home, folder, letters)
        groups = home.run("dlq", "groups", "--json").lines
        assert len({g["code"] for g in groups}) >= 5, groups
        assert sum(g["count"] for g in groups) == len(letters)
        home.verify()


def check_payloads(home, folder, letters):
    """The letter keeps the exact bytes of the body: the slice of `data`, the decoded data_b64, or the whole line."""
    with open(folder + "/feed.jsonl", "rb") as f:
        lines = f.read().split(b"\n")
    for number, letter in letters.items():
        shown = home.run("dlq", "show", letter["id"], "--bytes")
        assert shown.code == 0
        line = lines[number - 1].rstrip(b"\r")
        assert shown.out == line or shown.out in line or b'"data_b64"' in line, (number, shown.out[:200])
        assert len(shown.out) == letter["bytes"]
