"""The source screen: subscriptions of running jobs, what is wrong with one, and the mark of an emulator wherever such a job is shown."""
import json
import time

import console
import emulators
import weir
from lists import line, steps

SIZES = [(80, 24), (100, 30), (60, 16)]


def start(home, server):
    home.env.update(server.env)
    server.create("orders", "orders-sub", ackDeadlineSeconds=60)
    path = home.write("orders.json", json.dumps({"name": "orders", "template": "Cdc_To_BigQuery_Template", "project": server.project, "parameters": {
        "inputSubscriptions": "orders-sub", "warehouse": "local", "changeLogDataset": "log", "replicaDataset": "shop", "primaryKey": "id"}}))
    assert home.run("job", "create", path).code == 0
    assert home.run("start", "orders").code == 0
    server.publish("orders", [json.dumps({"data": weir.event({"id": i, "a": "x"}, lsn=i, table="orders")}) for i in range(1, 21)])


def wait_for(home, is_so):
    """The job's status, once it is so."""
    until = time.monotonic() + 30
    while True:
        job = home.run("status", "orders", "--json").lines[0]
        if is_so(job) or time.monotonic() > until:
            assert is_so(job), job
            return job
        time.sleep(0.05)


def test_subscriptions_are_shown_with_what_is_held_and_the_emulators_mark():
    with emulators.pubsub() as server, weir.Home() as home:
        start(home, server)
        job = wait_for(home, lambda job: job.get("source", {}).get("acknowledged") == 20)
        source = job["source"]
        assert source["emulator"] and source["received"] == 20 and source["redelivered"] == source["expired_leases"] == 0, source
        assert [s["state"] for s in source["subscriptions"]] == ["ok"], source
        wait_for(home, lambda job: job["source"]["backlog"] == 0)
        metrics = home.run("status", "--metrics").out.decode()
        assert 'weir_source_expired_leases_total{job="orders"} 0' in metrics, metrics
        for cols, rows in SIZES:
            with console.console(home, cols=cols, rows=rows) as t:
                steps(t, "g s")
                assert "1 subscription" in t.picture().lines[0] and "EMULATOR" in t.picture().lines[0], t.picture().lines[0]
                t.row("orders-sub")
                assert max(map(len, t.picture().lines)) <= cols
                if rows > 16:
                    t.row("0 messages held; 0 leases expired")
                    t.row("acknowledged 20, refused 0")
                    t.row("0 not acknowledged; by Monitoring ")
                steps(t, "Enter")
                assert "EMULATOR" in "\n".join(t.picture().lines), t.picture().lines
                line(t, "source")
                t.row("orders-sub")
                for place in ("overview", "journal", "tables", "dlq", "logs", "balance", "schema", "job orders"):
                    line(t, place)
                    assert "EMULATOR" in t.picture().lines[0], (place, t.picture().lines[0])


def test_what_is_wrong_with_one_is_said_in_words():
    with emulators.pubsub() as server, weir.Home() as home:
        start(home, server)
        wait_for(home, lambda job: job.get("source", {}).get("acknowledged") == 20)
        server.fault("status", method="StreamingPull", code="UNAVAILABLE", message="the house is on fire")
        server.end_streams("orders-sub")
        wait_for(home, lambda job: any(s["code"] for s in job.get("source", {}).get("subscriptions", [])))
        with console.console(home, cols=100, rows=30) as t:
            steps(t, "g s")
            assert "1 not read" in t.picture().lines[0], t.picture().lines[0]
            t.row("retrying")
            t.row("google_unavailable")


def test_without_a_subscription_the_screen_says_so():
    with weir.Home() as home:
        assert home.run("engine", "start").code == 0
        with console.console(home) as t:
            steps(t, "g s")
            t.row("no running job reads a subscription")
