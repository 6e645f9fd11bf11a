"""A subscription over TLS: tokens that are revoked, certificates that are wrong and become right again; nothing is lost."""
import contextlib
import json
import os
import time

import emulators
import weir
from test_pubsub_faults import changes, right_rows
from test_pubsub_source import job, nothing_is_left


@contextlib.contextmanager
def place():
    """A stand-in that wants tokens, and a home that trusts it."""
    with emulators.pubsub() as ps, weir.Home() as home:
        home.env.update(ps.tls_env)
        os.makedirs(home.state, mode=0o700, exist_ok=True)
        with open(os.path.join(home.state, "config.json"), "w") as f:
            json.dump({"caFile": ps.ca, "allowedTokenHosts": ["127.0.0.1"]}, f)
        ps.create("changes", "changes-sub", ackDeadlineSeconds=10)
        yield ps, home


def until_acknowledged(ps, process, count):
    """Asks the stand-in, which only knows what it was told."""
    while ps.counts("changes-sub")["acked"] < count:
        assert process.poll() is None, ended(process)
        time.sleep(0.02)


def ended(process):
    out, err = process.communicate(timeout=120)
    return weir.Result(process.returncode, out, err)


def test_calls_over_tls_carry_a_token():
    with place() as (ps, home):
        ps.publish("changes", changes(1000))
        result = home.run("run", job(home, ps, primaryKey="id"), "--until-idle", "--json")
        assert result.code == 0 and result.last["written"] == 1000, result
        right_rows(home, 1000)
        assert nothing_is_left(ps)["redelivered"] == 0
        tokens = ps.token_counts()
        assert tokens["taken user"] > 0 and "not taken" not in tokens, tokens


def test_a_token_that_is_revoked_is_renewed_and_nothing_is_lost():
    with place() as (ps, home):
        ps.publish("changes", changes(1000))
        process = home.start("run", job(home, ps, primaryKey="id"), "--until-idle", "--json")
        until_acknowledged(ps, process, 1000)
        ps.tokens(forget=1)
        assert ps.end_streams("changes-sub", "UNAUTHENTICATED") == 1
        ps.publish("changes", changes(1000, first=1001))
        result = ended(process)
        assert result.code == 0 and result.last["written"] == 2000, result
        right_rows(home, 2000)
        nothing_is_left(ps)
        # What was forgotten is counted anew: one more token, and all that was done with it.
        tokens = ps.token_counts()
        assert tokens["granted"] >= 1 and tokens["taken user"] > 0, tokens


def test_a_certificate_that_is_wrong_is_said_and_when_it_is_right_all_comes():
    with place() as (ps, home):
        ps.publish("changes", changes(1000))
        for word, why in (("over", "expired"), ("name", "hostname mismatch"), ("unknown", "issuer")):
            ps.certificate(word)
            result = home.run("run", job(home, ps, primaryKey="id"), "--until-idle", "--json")
            assert result.code == 78 and result.error["code"] == "tls_untrusted" and why in result.error["message"].lower(), (word, result)
        assert ps.counts("changes-sub")["delivered"] == 0
        ps.certificate("right")
        result = home.run("run", job(home, ps, primaryKey="id"), "--until-idle", "--json")
        assert result.code == 0 and result.last["written"] == 1000, result
        right_rows(home, 1000)
        nothing_is_left(ps)


def test_a_certificate_that_becomes_wrong_is_said_and_the_job_goes_on_by_itself():
    with place() as (ps, home):
        ps.publish("changes", changes(1000))
        process = home.start("run", job(home, ps, primaryKey="id"), "--json")
        until_acknowledged(ps, process, 1000)
        ps.certificate("over")
        # The connection that is open keeps its certificate: it is cut with the next message.
        ps.fault("cut", "StreamingPull", times=1)
        ps.end_streams()
        ps.publish("changes", changes(1000, first=1001))
        begun = time.monotonic()
        while "certificate has expired" not in home.run("status", "shop", "--json").out.decode():
            assert process.poll() is None and time.monotonic() < begun + 30, ended(process)
            time.sleep(0.1)
        ps.certificate("right")
        until_acknowledged(ps, process, 2000)
        right_rows(home, 2000)
        assert nothing_is_left(ps)["acked"] == 2000
