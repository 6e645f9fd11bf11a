"""Which letters are meant: by group, table, code and state, over one job and over all; and what a letter knows of its key."""
import json

import weir


def schema(home, *tables):
    columns = {name: {"debezium": {"type": "int64"}} for name in ("id", "n", "m")}
    return home.write("schema.json", json.dumps({t: {"columns": columns, "primary_key": ["id"]} for t in tables}))


def letters_of(home, job, count, tables=("orders", "items")):
    """`count` letters of each table, every second one of another column; and one good row a table."""
    events = [weir.event({"id": 1, "n": 7, "m": 7}, table=t, lsn=1) for t in tables]
    for i in range(count):
        bad = "nm"[i % 2]
        events += [weir.event(dict({"id": i + 1, "n": 1, "m": 1}, **{bad: "text"}), table=t, lsn=2 + i) for t in tables]
    feed = home.write(job + ".jsonl", weir.feed(events, weir.id_key))
    home.replicate(feed, name=job, expect=1, sourceSchema=schema(home, *tables), changeLogDataset=job + "_log", replicaDataset=job)


def ids(result):
    assert result.code == 0, result
    return [(line["job"], line["id"]) for line in result.lines]


def test_letters_are_chosen_by_what_they_say():
    with weir.Home() as home:
        letters_of(home, "shop", 10)
        orders = home.letters("--job", "shop", "--table", "orders")
        assert len(orders) == 10 and {l["table"] for l in orders} == {"shop.orders"}
        assert orders == home.letters("--table", "shop.orders", "--code", "type_mismatch")
        assert home.letters("--table", "rders") == [] and home.letters("--code", "no_key") == []
        groups = {g["group"]: g for g in home.run("dlq", "groups", "--json").lines}
        two = sorted(groups)[:2]
        chosen = home.letters("--group", "%d,%d" % tuple(two))
        assert sorted({l["group"] for l in chosen}) == two and len(chosen) == 10
        assert [l["id"] for l in chosen] == sorted(l["id"] for l in chosen)
        # What is discarded is what was counted, and nothing else.
        wrong = home.run("dlq", "discard", "--job", "shop", "--table", "orders", "--confirm", "9", "--why", "test", "--json")
        assert wrong.code == 2 and wrong.error["code"] == "count_differs", wrong
        done = home.run("dlq", "discard", "--job", "shop", "--table", "orders", "--confirm", "10", "--why", "test", "--json")
        assert done.last == {"job": "shop", "table": "orders", "discarded": 10}, done
        assert len(home.letters("--state", "discarded")) == 10 and len(home.letters("--state", "new,failed again")) == 10
        assert [g["count"] for g in home.run("dlq", "groups", "--state", "new", "--json").lines] == [5, 5]
        nothing = home.run("dlq", "discard", "--job", "shop", "--confirm", "10", "--why", "test", "--json")
        assert nothing.code == 2 and nothing.error["code"] == "bad_argument", nothing
        rest = home.run("dlq", "discard", "--all", "--job", "shop", "--confirm", "10", "--why", "test", "--json")
        assert rest.last["discarded"] == 10, rest
        for bad in (["--state", "gone"], ["--group", "1,x"], ["--group", "0"], ["--group", ""]):
            assert home.run("dlq", "list", *bad, "--json").code == 2, bad


def test_a_list_goes_over_all_jobs_in_both_directions():
    with weir.Home() as home:
        for job in ("alpha", "beta", "gamma"):
            letters_of(home, job, 3, tables=("orders",))
        all_of = [(job, i) for job in ("alpha", "beta", "gamma") for i in (1, 2, 3)]
        assert ids(home.run("dlq", "list", "--json")) == all_of
        assert ids(home.run("dlq", "list", "--newest", "--limit", "4", "--json")) == all_of[:-5:-1]
        assert ids(home.run("dlq", "list", "--after", "alpha/2", "--limit", "3", "--json")) == all_of[2:5]
        assert ids(home.run("dlq", "list", "--before", "gamma/2", "--limit", "4", "--json")) == all_of[6:2:-1]
        # A job that is not there has a place all the same: it may have been deleted meanwhile.
        assert ids(home.run("dlq", "list", "--after", "b/9", "--json")) == all_of[3:]
        assert ids(home.run("dlq", "list", "--group", "alpha/1,gamma/2", "--json")) == [("alpha", 1), ("alpha", 3), ("gamma", 2)]
        page = home.run("dlq", "list", "--after", "alpha/0", "--limit", "4", "--json")
        assert b"--after beta/1 goes on" in page.err, page
        assert home.run("dlq", "list", "--after", "2", "--json").error["code"] == "job_not_named"
        assert home.run("dlq", "list", "--job", "beta", "--after", "alpha/2", "--json").error["code"] == "bad_argument"
        assert home.run("dlq", "list", "--newest", "--after", "alpha/2", "--json").error["code"] == "bad_argument"


def test_a_letter_knows_the_row_of_its_key_and_when_it_was_committed():
    with weir.Home() as home:
        letters_of(home, "shop", 2, tables=("orders",))
        first, second = (home.run("dlq", "show", i, "--job", "shop", "--json").last for i in (1, 2))
        assert first["replica"]["row"] == {"id": 1, "n": 7, "m": 7} and first["replica"]["position"] < first["position"]
        assert second["replica"] == {"row": None}
        assert first["commit"] == "2023-11-14T22:13:20.000000Z"
        changelog = weir.feed([weir.event({"id": 1, "n": "x"}, table="orders", lsn=1)], weir.id_key)
        home.replicate(home.write("log.jsonl", changelog), name="log", expect=1, sourceSchema=schema(home, "orders"),
                       replicationMode="changelog", changeLogDataset="only_log", replicaDataset=None)
        assert home.run("dlq", "show", "1", "--job", "log", "--json").last["replica"] is None


def test_a_regex_over_payloads_finds_them_as_they_are():
    with weir.Home() as home:
        columns = {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}
        home.write("schema.json", json.dumps({t: {"primary_key": ["id"], "columns": columns} for t in ("t", "u")}))
        events = [weir.event({"id": i, "n": "word %03d \u00e9" % i}, table="tu"[i % 2], lsn=100 + i) for i in range(700)]
        home.replicate(home.write("feed.jsonl", weir.feed(events, weir.id_key)), expect=1, sourceSchema=home.file("schema.json"))

        def found(*args, code=0):
            r = home.run("dlq", "list", "--json", *args)
            assert r.code == code, r
            return [json.loads(l["key"])["id"] for l in r.lines], r.err.decode()
        assert found("--match", "word 1[0-3]7") == ([107, 117, 127, 137], "weir: 700 letters searched, 4 found\n")
        assert found("--match", "word 1[0-3]7", "--table", "shop.u")[0] == [107, 117, 127, 137]
        assert found("--match", "word 1[0-3]7", "--table", "shop.t")[0] == []
        assert found("--match", "word (0|6)9[89] \u00e9", "--newest")[0] == [699, 698, 99, 98]
        assert found("--match", "^.*word 00", "--limit", 3)[0] == [0, 1, 2]
        assert found("--match", "word 00", "--job", "shop", "--after", 5)[0] == [5, 6, 7, 8, 9]
        assert found("--match", "(((((o+)+)+)+)+)+rd 07[[:digit:]]{1,} .\"")[0] == list(range(70, 80))
        for regex, said in (("(a)\\1", "back-references"), ("a" * 257, "at most 256 characters"), ("[", "character 2: the regex cannot be read: a [ has no ]"),
                            ("((o{1,100}){1,100}){1,100}", "too large"), ("(\\b|)+{9}", "nothing to repeat"), ("\\<word", "edge of a word")):
            r = home.run("dlq", "list", "--match", regex, "--json")
            assert r.code == 2 and r.error["code"] == "bad_filter" and said in r.error["message"], (regex, r)


def test_a_regex_that_takes_too_long_is_given_up():
    with weir.Home() as home:
        home.write("schema.json", json.dumps({"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}}}))
        events = [weir.event({"id": 1, "n": "a" * 5000 + "\u00e9"}, table="t", lsn=100)]
        home.replicate(home.write("feed.jsonl", weir.feed(events, weir.id_key)), expect=1, sourceSchema=home.file("schema.json"))
        for regex in ("(a+)+[xyz]{2}", "(?:a*+[bc]|a*+[bd]|.)*[xyz]{2}", "((\\b|a|a*)+){9}[xyz]{2}"):
            r = home.run("dlq", "list", "--match", regex, "--json")
            assert r.code != 0 and r.error["code"] == "regex_too_slow" and "letter 1:" in r.error["message"], (regex, r)
        r = home.run("dlq", "list", "--match", "a{200}\u00e9", "--json")
        assert r.code == 0 and len(r.lines) == 1, r
