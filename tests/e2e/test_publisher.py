"""Dead letters of a job, published to a topic: exact bytes, the reason beside them, never lost, never holding up the job."""
import base64
import json

import emulators
import weir


def job(home, server, feed, **parameters):
    return home.job(feed, project=server.project, deadLetters={"topic": "refused"}, **parameters)


def read(server, subscription="refused-sub"):
    path, got = "/v1/" + server.subscription(subscription), []
    while server.counts(subscription)["backlog"]:
        _, answer = server.rest("POST", path + ":pull", {"maxMessages": 100, "returnImmediately": True})
        messages = answer.get("receivedMessages", [])
        got += [(base64.b64decode(m["message"].get("data", "")), m["message"]["attributes"]["weir_code"], m["message"]["attributes"]["weir_letter"]) for m in messages]
        if messages:
            server.rest("POST", path + ":acknowledge", {"ackIds": [m["ackId"] for m in messages]})
    return sorted(got)


def lines(count):
    return "".join("{broken %d\n" % i for i in range(count)) + json.dumps({"data": weir.event({"id": 1}, lsn=1)}) + "\n"


def test_letters_are_published_with_their_bytes_and_reason():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("refused", "refused-sub")
        r = home.run("run", job(home, server, home.write("f", lines(450))), "--until-idle", "--json", env=server.env)
        assert r.code == 1 and r.last["dead_lettered"] == 450, r
        got = read(server)
        assert [body for body, _, _ in got] == sorted(b"{broken %d" % i for i in range(450)), got[:3]
        assert {code for _, code, _ in got} == {"not_json"} and len({letter for _, _, letter in got}) == 450


def test_a_letter_with_a_nul_beside_it_is_published_like_others():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("refused", "refused-sub")
        feed = home.write("f", '{"id":"m1","key":"a\\u0000b","attrs":{"x":"\\u0000"},"data":"no change"}\n' + lines(1))
        r = home.run("run", job(home, server, feed), "--until-idle", "--json", env=server.env)
        assert r.code == 1 and r.last["dead_lettered"] == 2, r
        assert {body for body, _, _ in read(server)} == {b'"no change"', b"{broken 0"}


def test_letters_that_cannot_be_published_wait_and_hold_up_nothing():
    with emulators.pubsub() as server, weir.Home() as home:
        home.env.update(server.env)  # the engine that looks start has it too
        path = job(home, server, home.write("f", lines(3)))
        r = home.run("run", path, "--until-idle", "--json", env=server.env)
        assert r.code == 1 and r.last["dead_lettered"] == 3 and r.last["written"] == 1 and r.last["balanced"], r
        assert len(home.letters("--state", "new")) == 3
        said = [line for line in home.run("journal", "--json", "--limit", "0").lines if "letters_not_published" in json.dumps(line)]
        assert len(said) == 1, said
        # The topic comes: the next run publishes what waited, once.
        server.create("refused", "refused-sub")
        for _ in range(2):
            r = home.run("run", path, "--until-idle", "--json", env=server.env)
            assert r.code == 1 and r.last["dead_lettered"] == 3, r
        got = read(server)
        assert len(got) == 3, got


def test_a_letter_larger_than_a_topic_takes_is_told_of_once_and_stays():
    with emulators.pubsub() as server, weir.Home() as home:
        home.env.update(server.env)
        server.create("refused", "refused-sub")
        # One is too large by itself, the other with its attributes.
        feed = home.write("f", "x" * 10_100_000 + "\n" + "y" * 9_999_900 + "\n" + lines(2))
        path = job(home, server, feed, maxRecordBytes=20_000_000)
        for _ in range(2):
            r = home.run("run", path, "--until-idle", "--json")
            assert r.code == 1 and r.last["dead_lettered"] == 4, r
        assert [body for body, _, _ in read(server)] == [b"{broken 0", b"{broken 1"]
        said = [line for line in home.run("journal", "--json", "--limit", "0").lines if "letters_not_published" in json.dumps(line)]
        assert len(said) == 2 and all("larger than a topic takes" in json.dumps(line) or "more than a topic takes" in json.dumps(line)
                                      for line in said), said
        assert len(home.letters("--state", "new")) == 4


def test_the_topic_fails_and_comes_back_and_each_letter_is_there():
    with emulators.pubsub() as server, weir.Home() as home:
        home.env.update(server.env)
        server.create("refused", "refused-sub")
        # Answers that are lost, and calls that are not taken: at least once, and in the end all.
        server.fault("lost", "Publish", code="UNAVAILABLE", times=1)
        server.fault("status", "Publish", code="UNAVAILABLE", times=2)
        r = home.run("run", job(home, server, home.write("f", lines(300))), "--until-idle", "--json")
        assert r.code == 1 and r.last["dead_lettered"] == 300, r
        got = read(server)
        assert {body for body, _, _ in got} == {b"{broken %d" % i for i in range(300)} and len(got) >= 300, len(got)
        assert len({letter for _, _, letter in got}) == 300


def published(server, count=200):
    """What the publisher says of numbers in order under two keys, and what came of each key, in order."""
    server.create("ordered", "ordered-sub", enableMessageOrdering=True)
    said = emulators.run("publish", env=server.env, topic=server.topic("ordered"), count=count)
    came = {"even": [], "odd": []}
    for message in server.receive_by_client("ordered-sub"):
        came[message["key"]].append(int(message["data"]))
    return said, came


def test_ordering_keys_keep_their_order_through_tries():
    with emulators.pubsub() as server:
        server.fault("status", "Publish", code="UNAVAILABLE", times=3, skip=2)
        said, came = published(server)
        assert said["published"] == 204 and said["failed"] == 0 and said["retries"] >= 3 and said["refused"] == ["", ""], said
        assert came == {"even": list(range(0, 204, 2)), "odd": list(range(1, 204, 2))}, came


def test_a_key_that_failed_is_paused_until_it_is_resumed_and_the_other_goes_on():
    with emulators.pubsub() as server:
        server.fault("status", "Publish", code="INVALID_ARGUMENT", times=1, skip=2)
        said, came = published(server)
        assert sorted(said["refused"]) == ["", "ordering_key_paused"] and said["failed"] and said["codes"], said
        paused, other = ("even", "odd") if said["refused"][0] else ("odd", "even")
        first = paused == "odd"
        assert came[other] == list(range(not first, 204, 2)), (said, came)
        # Its beginning, nothing behind what failed, and what was added when it went on.
        before = came[paused][:-1]
        assert before == list(range(first, 204, 2))[:len(before)] and came[paused][-1] == 202 + first, (said, came)
        assert said["failed"] == 100 - len(before) and said["published"] == len(came[paused]) + len(came[other]), (said, came)
