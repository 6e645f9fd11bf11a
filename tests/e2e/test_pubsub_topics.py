"""Jobs that name topics: their own subscriptions are made, named, found again, and removed with the job."""
import json

import emulators
import weir


def job(home, server, **parameters):
    p = {"inputTopics": "orders", "warehouse": "local", "changeLogDataset": "shop_log", "replicaDataset": "shop"}
    p.update(parameters)
    return home.write("own.json", json.dumps({"name": "own", "template": "Cdc_To_BigQuery_Template", "project": server.project, "parameters": p}))


def lines(first, count):
    return [json.dumps({"data": weir.event({"id": i, "a": "x"}, lsn=i, table="orders")}) for i in range(first, first + count)]


def test_a_topics_own_subscription_lives_with_the_job():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders")
        path, own = job(home, server, primaryKey="id"), server.subscription("weir-own-orders")
        r = home.run("run", path, "--until-idle", "--json", env=server.env)
        assert r.code == 0 and r.last["received"] == 0, r
        _, made = server.rest("GET", "/v1/" + own)
        assert made["ackDeadlineSeconds"] == 60 and made["enableMessageOrdering"] and made["retainAckedMessages"], made
        assert made["expirationPolicy"] == {} and made["labels"]["weir-job"] == "own" and len(made["labels"]["weir-store"]) == 32, made
        # What is published from now on is in it, and the next run finds it again.
        server.publish("orders", lines(1, 20))
        r = home.run("run", path, "--until-idle", "--json", env=server.env)
        assert r.code == 0 and r.last["received"] == 20 and r.last["balanced"], r
        assert len(home.sql("select id from orders")) == 20
        assert home.run("job", "show", "own", "--json", env=server.env).last["subscriptions"] == [own]
        r = home.run("job", "delete", "own", "--json", env=server.env)
        assert r.code == 0, r
        assert server.rest("GET", "/v1/" + own)[0] == 404


def test_a_subscription_that_cannot_be_removed_is_told_with_the_command():
    with emulators.pubsub() as server, weir.Home() as home:
        server.create("orders")
        path = job(home, server)
        assert home.run("run", path, "--until-idle", "--json", env=server.env).code == 0
        server.deny(server.subscription("weir-own-orders"), "pubsub.subscriptions.delete")
        r = home.run("job", "delete", "own", env=server.env)
        assert r.code == 0 and b"gcloud pubsub subscriptions delete weir-own-orders --project acme" in b" ".join(r.err.split()), r
        assert home.run("job", "show", "own", "--json", env=server.env).error["code"] == "job_unknown"


def test_a_topic_that_is_not_there_needs_you():
    with emulators.pubsub() as server, weir.Home() as home:
        r = home.run("run", job(home, server), "--until-idle", "--json", env=server.env)
        assert r.code == 78 and r.error["code"] == "google_not_found" and "topic" in r.error["message"], r


def said(home, code):
    return [line for line in home.run("journal", "--json", "--limit", "0").lines if code in json.dumps(line)]


def test_a_second_home_with_the_same_job_is_told_that_it_shares():
    with emulators.pubsub() as server, weir.Home() as home, weir.Home() as other:
        server.create("orders")
        for one in (home, other, home):
            r = one.run("run", job(one, server), "--until-idle", "--json", env=server.env)
            assert r.code == 0, r
        assert not said(home, "subscription_shared")
        told = said(other, "subscription_shared")
        assert len(told) == 1 and server.subscription("weir-own-orders") in json.dumps(told), told
