"""The stand-in of Pub/Sub itself: what it does over REST, on the word of a test, and for Google's own client (tests/emulators/judge)."""
import base64
import json
import os
import ssl
import subprocess
import urllib.error
import urllib.request

import emulators
import weir


def pulled(ps, subscription, count=100):
    code, said = ps.rest("POST", "/v1/%s:pull" % ps.subscription(subscription), {"maxMessages": count, "returnImmediately": True})
    assert code == 200, said
    return said.get("receivedMessages", [])


def acknowledge(ps, subscription, messages):
    return ps.rest("POST", "/v1/%s:acknowledge" % ps.subscription(subscription), {"ackIds": [m["ackId"] for m in messages]})


def test_lines_of_a_feed_are_published_pulled_and_acknowledged():
    with emulators.pubsub() as ps:
        ps.create("changes", "changes-sub", ackDeadlineSeconds=20)
        said = ps.publish("changes", ['{"a": 1}', '{"data": {"b":  2}, "attrs": {"k": "v"}, "key": "one"}', "", '{"data_b64": "//4="}'])
        assert said["count"] == 3, said
        messages = pulled(ps, "changes-sub")
        bodies = [base64.b64decode(m["message"]["data"]) for m in messages]
        assert bodies == [b'{"a": 1}', b'{"b":  2}', b"\xff\xfe"], messages
        assert messages[1]["message"]["attributes"] == {"k": "v"} and messages[1]["message"]["orderingKey"] == "one", messages
        assert [m["message"]["messageId"] for m in messages] == said["ids"] and len(messages[0]["ackId"]) == 180, messages
        counts = ps.counts("changes-sub")
        assert (counts["outstanding"], counts["backlog"], counts["delivered"]) == (3, 3, 3), counts
        assert acknowledge(ps, "changes-sub", messages) == (200, {})
        counts = ps.counts("changes-sub")
        assert (counts["outstanding"], counts["backlog"], counts["acked"], counts["redelivered"]) == (0, 0, 3, 0), counts


def test_leases_end_by_the_clock():
    with emulators.pubsub() as ps:
        ps.create("changes", "changes-sub")
        ps.publish("changes", ["1"])
        first = pulled(ps, "changes-sub")
        assert len(first) == 1 and pulled(ps, "changes-sub") == []
        ps.clock(advance_s=11)
        again = pulled(ps, "changes-sub")
        assert len(again) == 1 and again[0]["ackId"] != first[0]["ackId"], again
        counts = ps.counts("changes-sub")
        assert (counts["expired"], counts["redelivered"]) == (1, 1), counts


def test_permissions_are_those_that_were_not_taken_away():
    with emulators.pubsub() as ps:
        ps.create("changes", "changes-sub")
        name, wanted = ps.subscription("changes-sub"), ["pubsub.subscriptions.consume", "pubsub.subscriptions.get"]
        asked = ("POST", "/v1/%s:testIamPermissions" % name, {"permissions": wanted})
        assert ps.rest(*asked) == (200, {"permissions": wanted})
        ps.deny(name, "pubsub.subscriptions.consume")
        assert ps.rest(*asked) == (200, {"permissions": wanted[1:]})
        code, said = ps.rest("POST", "/v1/%s:pull" % name, {"maxMessages": 1})
        assert code == 403 and said["error"]["details"][0]["metadata"]["permission"] == "pubsub.subscriptions.consume", said
        ps.grant(name, "pubsub.subscriptions.consume")
        assert ps.rest(*asked) == (200, {"permissions": wanted})
        assert ps.rest("POST", "/v1/%s-no:testIamPermissions" % name, {"permissions": wanted}) == (200, {})


def test_monitoring_says_the_backlog_and_the_oldest_age():
    with emulators.pubsub() as ps:
        ps.create("changes", "changes-sub")
        ps.create("changes", "other-sub")
        ps.publish("changes", ["1", "2"])
        ps.clock(advance_s=30)
        for metric, least in (("num_undelivered_messages", 2), ("oldest_unacked_message_age", 30)):
            query = 'metric.type%%3D%%22pubsub.googleapis.com%%2Fsubscription%%2F%s%%22' % metric
            one = "+AND+resource.labels.subscription_id%3D%22changes-sub%22"
            path = "/v3/projects/acme/timeSeries?interval.endTime=2026-01-01T00:00:00Z&filter=" + query
            code, said = ps.rest("GET", path + one)
            assert code == 200 and len(said["timeSeries"]) == 1, said
            assert least <= int(said["timeSeries"][0]["points"][0]["value"]["int64Value"]) <= least + 5, said
            assert len(ps.rest("GET", path)[1]["timeSeries"]) == 2
        ps.deny("projects/acme", "monitoring.timeSeries.list")
        assert ps.rest("GET", path)[0] == 403


def test_faults_meet_the_calls_that_they_are_for():
    with emulators.pubsub() as ps:
        ps.create("changes", "changes-sub")
        ps.create("changes", "other-sub")
        fault = ps.fault("status", "Pull", "changes-sub", code="RESOURCE_EXHAUSTED", skip=1, times=1, retry_ms=1500)
        pull = ("POST", "/v1/%s:pull" % ps.subscription("changes-sub"), {"maxMessages": 1, "returnImmediately": True})
        assert pulled(ps, "other-sub") == []
        assert [ps.rest(*pull)[0] for _ in range(3)] == [200, 429, 200]
        assert ps.met() == {fault: 1}
        lost = ps.fault("lost", "Acknowledge")
        ps.publish("changes", ["1"])
        code, said = acknowledge(ps, "changes-sub", pulled(ps, "changes-sub"))
        assert code == 503 and said["error"]["status"] == "UNAVAILABLE", said
        assert ps.counts("changes-sub")["acked"] == 1
        ps.clear(lost)
        assert [row["id"] for row in ps.ask("faults")] == [fault]


def test_the_calls_of_rest_make_change_list_and_remove():
    with emulators.pubsub() as ps:
        topic, name = "/v1/" + ps.topic("changes"), "/v1/" + ps.subscription("changes-sub")
        assert ps.rest("PUT", topic, {})[0] == 200 and ps.rest("PUT", topic, {})[0] == 409
        code, said = ps.rest("PUT", name, {"topic": topic[4:], "filter": 'attributes.k = "v"', "enableExactlyOnceDelivery": True})
        assert code == 200 and said["ackDeadlineSeconds"] == 10 and said["messageRetentionDuration"] == "604800s", said
        code, said = ps.rest("PATCH", name, {"subscription": {"ackDeadlineSeconds": 60}, "updateMask": "ackDeadlineSeconds"})
        assert code == 200 and said["ackDeadlineSeconds"] == 60 and said["filter"] == 'attributes.k = "v"', said
        assert ps.rest("PATCH", name, {"subscription": {"filter": ""}, "updateMask": "filter"})[0] == 400
        code, said = ps.rest("GET", "/v1/projects/acme/subscriptions?pageSize=10")
        assert code == 200 and [s["name"] for s in said["subscriptions"]] == [name[4:]], said
        assert ps.rest("GET", topic + "/subscriptions") == (200, {"subscriptions": [name[4:]]})
        assert ps.rest("DELETE", topic)[0] == 200
        assert ps.rest("GET", name)[1]["topic"] == "_deleted-topic_"
        assert ps.rest("DELETE", name)[0] == 200 and ps.rest("GET", name)[0] == 404


def test_googles_client_publishes_a_feed_and_reads_it_back():
    with emulators.pubsub() as ps:
        ps.create("changes", "changes-sub", enableMessageOrdering=True)
        feed = os.path.join(ps.folder, "feed")
        with open(feed, "w") as lines:
            for i in range(2000):
                lines.write(json.dumps({"data": {"i": i, "text": "<\u00e4>"}, "key": "k%d" % (i % 7), "attrs": {"n": str(i)}}) + "\n")
            lines.write("no json\n")
        assert ps.publish_by_client("changes", feed) == 2001
        got = ps.receive_by_client("changes-sub", 2001)
        for key in range(7):
            assert [m["data"]["i"] for m in got if m.get("key") == "k%d" % key] == list(range(key, 2000, 7))
        assert all(m["attrs"] == {"n": str(m["data"]["i"])} and m["data"]["text"] == "<\u00e4>" for m in got if "key" in m)
        assert [base64.b64decode(m["data_b64"]) for m in got if "data_b64" in m] == [b"no json"]
        counts = ps.counts("changes-sub")
        assert (counts["acked"], counts["backlog"], counts["redelivered"]) == (2001, 0, 0), counts


def test_googles_client_and_pstest_find_it_right():
    seed = weir.first_seed()
    print("seed %d; again with build/emulators pubsub-judge -seed %d" % (seed, seed))
    with emulators.pubsub():
        done = subprocess.run([emulators.PROGRAM, "pubsub-judge", "-seed", str(seed)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "FAIL" not in done.stdout and done.stdout.count("ok ") >= 25, done.stdout + done.stderr


def test_over_tls_it_wants_a_token_and_shows_the_certificate_it_was_told_to():
    with emulators.pubsub() as ps:
        ps.create("changes", "changes-sub")
        trusting = ssl.create_default_context(cafile=ps.ca)
        at = "https://localhost:%d/v1/%s" % (ps.ports["tls"], ps.subscription("changes-sub"))

        def get(token=None):
            ask = urllib.request.Request(at, headers={"Authorization": "Bearer " + token} if token else {})
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusting))
            try:
                with opener.open(ask, timeout=60) as answer:
                    return answer.status
            except urllib.error.HTTPError as refused:
                return refused.code

        metadata = urllib.request.Request("http://127.0.0.1:%d/computeMetadata/v1/instance/service-accounts/default/token" % ps.ports["tokens"],
                                          headers={"Metadata-Flavor": "Google"})
        with emulators.HERE.open(metadata) as answer:
            token = json.loads(answer.read())["access_token"]
        assert [get(), get("ya29.wrong"), get(token)] == [401, 401, 200]
        ps.tokens(forget=1)
        assert get(token) == 401
        for word, why in (("over", "expired"), ("name", "Hostname mismatch"), ("unknown", "issuer")):
            ps.certificate(word)
            try:
                get(token)
                raise AssertionError("it was trusted: " + word)
            except urllib.error.URLError as refused:
                assert why in str(refused), (word, refused)
        ps.certificate("right")
        assert get(token) == 401
