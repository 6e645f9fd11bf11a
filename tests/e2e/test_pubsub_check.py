"""`weir check` of jobs with subscriptions: what it finds, in what words, with which command, and that it never hangs."""
import json
import time

import emulators
import weir


def job(home, server, name="orders", **parameters):
    """A job file that reads from the stand-in; nothing of it is run here."""
    p = {"inputSubscriptions": "orders-sub", "warehouse": "local", "changeLogDataset": "log", "replicaDataset": "shop"}
    p.update(parameters)
    p = {k: v for k, v in p.items() if v is not None}
    return home.write(name + ".json", json.dumps({"name": name, "template": "Cdc_To_BigQuery_Template", "project": server.project,
                                                  "parameters": p}))


def check(home, server, path, env=None):
    """Exit status and the findings, those of this machine left out."""
    r = home.run("check", path, "--json", env=dict(server.env, **(env or {})))
    assert all(line["file"] == path for line in r.lines), r
    return r.code, [line for line in r.lines if line["code"] != "not_available_yet"]


def of(lines, words):
    """The one finding that has these words."""
    found = [line for line in lines if words in line["message"]]
    assert len(found) == 1, (words, lines)
    return found[0]


def test_a_subscription_as_it_should_be_has_no_warning():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "orders-sub", ackDeadlineSeconds=60, enableMessageOrdering=True, enableExactlyOnceDelivery=True,
                      retainAckedMessages=True, messageRetentionDuration="604800s", expirationPolicy={})
        _, lines = check(home, server, job(home, server))
        assert {line["level"] for line in lines} == {"ok"}, lines
        assert "EMULATOR " + server.host in of(lines, "EMULATOR")["message"]
        of(lines, "deadline 60 s")
        of(lines, "ordering keys are kept in order")
        of(lines, "exactly-once delivery")
        of(lines, "no filter")
        of(lines, "7 days, acknowledged ones too")
        of(lines, "never expires")
        of(lines, "no dead-letter policy")
        of(lines, "clock is that of the service")
        for permission in ("consume", "get", "update"):
            right = of(lines, "pubsub.subscriptions." + permission)
            assert right["tried"] == "testIamPermissions orders-sub" and right["parameter"] == "inputSubscriptions", right


def test_each_fact_that_bites_has_its_command():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("dead")
        server.create("orders", "orders-sub", ackDeadlineSeconds=10, messageRetentionDuration="600s", filter='attributes.a = "b"',
                      expirationPolicy={"ttl": "172800s"},
                      deadLetterPolicy={"deadLetterTopic": server.topic("dead"), "maxDeliveryAttempts": 5})
        _, lines = check(home, server, job(home, server))
        want = {"subscription_deadline_short": "update orders-sub --project acme --ack-deadline 60",
                "subscription_retention_short": "--message-retention-duration 7d",
                "subscription_expires": "--expiration-period never",
                "subscription_counts_attempts": "--dead-letter-topic %s --max-delivery-attempts 100" % server.topic("dead")}
        for code, command in want.items():
            found = [line for line in lines if line["code"] == code]
            assert len(found) == 1 and found[0]["level"] == "warning", (code, lines)
            assert found[0]["fix"].startswith("gcloud pubsub subscriptions update") and found[0]["fix"].endswith(command), found
            assert home.run("explain", code).code == 0, code
        assert [line["code"] for line in lines if "its filter" in line["message"]] == ["subscription_filters"]
        of(lines, "topic dead is there")


def test_rights_are_asked_one_by_one():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "orders-sub", ackDeadlineSeconds=60, expirationPolicy={})
        server.deny(server.subscription("orders-sub"), "pubsub.subscriptions.consume", "pubsub.subscriptions.update")
        code, lines = check(home, server, job(home, server))
        missing = of(lines, "pubsub.subscriptions.consume")
        assert missing["level"] == "fails" and missing["code"] == "google_denied", missing
        assert missing["fix"] == ("gcloud pubsub subscriptions add-iam-policy-binding orders-sub --project acme --member "
                                  "serviceAccount:ACCOUNT --role roles/pubsub.subscriber"), missing
        assert of(lines, "pubsub.subscriptions.update")["level"] == "warning"
        assert of(lines, "pubsub.subscriptions.get")["level"] == "ok"
        # Without the right to look the others are still told.
        server.deny(server.subscription("orders-sub"), "pubsub.subscriptions.get")
        server.grant(server.subscription("orders-sub"), "pubsub.subscriptions.consume")
        code, lines = check(home, server, job(home, server))
        assert of(lines, "looking at subscription")["level"] == "warning", lines
        assert of(lines, "pubsub.subscriptions.consume")["level"] == "ok"


def test_what_is_not_there_or_cannot_be_pulled_fails():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "pushed", pushConfig={"pushEndpoint": "https://example.com/in"})
        code, lines = check(home, server, job(home, server, inputSubscriptions="pushed,missing"))
        assert code == 78, lines
        pushed = [line for line in lines if line["code"] == "subscription_not_pull"]
        assert len(pushed) == 1 and "https://example.com/in" in pushed[0]["message"] and "--push-endpoint=''" in pushed[0]["fix"], lines
        missing = of(lines, "projects/acme/subscriptions/missing")
        assert missing["level"] == "fails" and missing["code"] == "google_not_found", missing
        assert missing["fix"].startswith("gcloud pubsub subscriptions create missing --project acme"), missing


def test_a_server_that_never_answers_does_not_hang_the_check():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "orders-sub")
        server.fault("hang", method="GetSubscription")
        began = time.monotonic()
        _, lines = check(home, server, job(home, server))
        assert time.monotonic() - began < 30
        assert of(lines, "looking at subscription")["code"] == "google_timeout", lines
    with weir.Home() as home:
        began = time.monotonic()
        _, lines = check(home, server, job(home, server))
        assert time.monotonic() - began < 60
        assert of(lines, "looking at subscription")["code"] == "google_unreachable", lines


def test_what_waits_is_said_and_a_missing_right_to_see_it_is_one_warning():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders", "orders-sub", ackDeadlineSeconds=60, expirationPolicy={})
        server.publish("orders", ["{}"] * 7)
        server.clock(advance_s=120)
        _, lines = check(home, server, job(home, server))
        assert "7 messages wait" in of(lines, "messages wait")["message"], lines
        server.deny("projects/acme", "monitoring.timeSeries.list")
        _, lines = check(home, server, job(home, server))
        denied = of(lines, "asking Monitoring")
        assert denied["level"] == "warning" and "roles/monitoring.viewer" in denied["fix"], denied


def test_topics_of_the_job_and_of_its_letters_are_looked_at():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders")
        path = job(home, server, inputSubscriptions=None, inputTopics="orders,missing", deadLetters={"topic": "refused"})
        server.deny(server.topic("orders"), "pubsub.topics.attachSubscription")
        code, lines = check(home, server, path)
        assert code == 78, lines
        of(lines, "topic orders is there")
        assert of(lines, "pubsub.topics.attachSubscription")["fix"].endswith("--role roles/pubsub.editor"), lines
        assert of(lines, "projects/acme/topics/missing")["fix"] == "gcloud pubsub topics create missing --project acme"
        refused = of(lines, "projects/acme/topics/refused")
        assert refused["level"] == "fails" and refused["parameter"] == "deadLetters", refused
