"""`weir seek`: what it says first, that it asks for the job's name, and that a snapshot takes it back."""
import json

import emulators
import weir


def make(home, server, name="orders", **parameters):
    p = {"inputSubscriptions": "orders-sub", "warehouse": "local", "changeLogDataset": "log", "replicaDataset": "shop"}
    p.update(parameters)
    path = home.write(name + ".json", json.dumps({"name": name, "template": "Cdc_To_BigQuery_Template", "project": server.project,
                                                  "parameters": {k: v for k, v in p.items() if v is not None}}))
    r = home.run("job", "create", path, "--json", env=server.env)
    assert r.code == 0, r


def read_all(server, subscription="orders-sub"):
    """Takes what waits, and acknowledges it."""
    path = "/v1/" + server.subscription(subscription)
    bodies = []
    while True:
        _, answer = server.rest("POST", path + ":pull", {"maxMessages": 100, "returnImmediately": True})
        got = answer.get("receivedMessages", [])
        if not got:
            return sorted(bodies)
        bodies += [message["message"]["data"] for message in got]
        server.rest("POST", path + ":acknowledge", {"ackIds": [message["ackId"] for message in got]})


def test_a_seek_is_said_first_and_needs_the_jobs_name():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "orders-sub", retainAckedMessages=True)
        server.publish("orders", ["{}"] * 5)
        assert len(read_all(server)) == 5
        make(home, server)
        r = home.run("seek", "orders", "--to", "1h", "--dry-run", "--json", env=server.env)
        assert r.code == 0 and r.last["dry_run"] is True and r.last["subscription"] == server.subscription("orders-sub"), r
        assert r.last["repeats"] == 0 and "acknowledged" in r.last["passed_over"], r
        for words in ((), ("--confirm", "shop")):
            r = home.run("seek", "orders", "--to", "1h", *words, "--json", env=server.env)
            assert r.code == 2 and r.error["code"] == "not_confirmed", r
        assert read_all(server) == []
        r = home.run("seek", "orders", "--to", "1h", "--confirm", "orders", "--json", env=server.env)
        assert r.code == 0 and r.last["sought"] is True and b"about a minute" in r.err, r
        assert len(read_all(server)) == 5


def test_the_snapshot_made_before_takes_it_back():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "orders-sub", retainAckedMessages=True)
        server.publish("orders", ["{}"] * 3)
        make(home, server)
        # Ahead: what waits would be passed over.
        r = home.run("seek", "orders", "--to", "0s", "--confirm", "orders", "--json", env=server.env)
        assert r.code == 0 and read_all(server) == [], r
        words = r.last["undo"].split()
        assert words[:3] == ["weir", "seek", "orders"], words
        r = home.run(*words[1:], "--no-snapshot", "--json", env=server.env)
        assert r.code == 0 and "undo" not in r.last and "repeats" in r.last, r
        assert len(read_all(server)) == 3
        acts = [line for line in home.run("journal", "--json", "--limit", "0").lines if line.get("what") == "seek" and "change" in line]
        assert [act["change"]["after"] for act in acts][0] == "0s" and len(acts) == 2, acts


def test_what_is_not_kept_does_not_come_again_and_that_is_said():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "orders-sub")
        make(home, server)
        r = home.run("seek", "orders", "--to", "2h", "--dry-run", "--json", env=server.env)
        assert r.code == 0 and "not kept" in r.last["kept"], r
        text = home.run("seek", "orders", "--to", "2h", "--dry-run", env=server.env)
        assert text.code == 0 and b"acknowledged messages are not kept" in b" ".join(text.out.split()), text


def test_of_json_rows_at_bigquery_it_says_that_they_would_be_there_twice():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "orders-sub", retainAckedMessages=True)
        once = {"useStorageWriteApi": True, "storageWriteApiTriggeringFrequencySec": 1}
        for name, more, words in (("stream", {}, "each message of it would be a row a second time"), ("exact", once, "131072 at least")):
            home.write("j.json", json.dumps({"name": name, "template": "PubSub_CDC_to_BigQuery", "project": server.project, "parameters": dict(
                {"inputSubscription": server.subscription("orders-sub"), "outputDatasetTemplate": "d", "outputTableNameTemplate": "{t}"}, **more)}))
            assert home.run("job", "create", "j.json", env=server.env).code == 0
            r = home.run("seek", name, "--to", "1h", "--dry-run", "--json", env=server.env)
            assert r.code == 0 and words in r.last["sentence"], r
            assert b"rows are added as they come" in home.run("verify", name).out


def test_wrong_wishes_are_refused_in_words():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "orders-sub")
        make(home, server)
        for words, code in ((("orders",), "bad_argument"), (("orders", "--to", "soon"), None), (("orders", "--to", "1h", "--snapshot", "snap"), "bad_argument"),
                            (("orders", "--to", "1h", "--subscription", "other", "--confirm", "orders"), "bad_argument"),
                            (("orders", "--snapshot", "missing", "--confirm", "orders"), "google_not_found")):
            r = home.run("seek", *words, "--json", env=server.env)
            assert r.code != 0 and (code is None or r.error["code"] == code), (words, r)
        # Without the right to make the snapshot nothing is done.
        server.deny("projects/acme", "pubsub.snapshots.create")
        server.publish("orders", ["{}"])
        r = home.run("seek", "orders", "--to", "0s", "--confirm", "orders", "--json", env=server.env)
        assert r.code == 77 and r.error["code"] == "google_denied" and "--no-snapshot" in r.error["message"], r
        assert len(read_all(server)) == 1
        feed = home.write("feed.jsonl", "{}\n")
        home.run("job", "create", home.job(feed), env=server.env)
        r = home.run("seek", "shop", "--to", "1h", "--confirm", "shop", "--json", env=server.env)
        assert r.error["code"] == "wrong_state" and "--from-start" in r.error["message"], r
