"""Credentials of every kind against token servers: one token for many connections, renewed, refused, and back by itself."""
import json
import os
import shutil
import threading
import urllib.request

import emulators
import weir

TAKEN = {"service": "key", "user": "user", "external_user": "user", "external_file": "sts", "external_url": "impersonated",
         "impersonated": "impersonated"}


def url(path):
    return "http://127.0.0.1:%d%s" % (emulators.servers().ports["tokens"], path)


def ask(path):
    with urllib.request.urlopen(url(path)) as answer:
        return json.load(answer)


def control(**values):
    ask("/control?" + "&".join("%s=%d" % pair for pair in values.items()))


class Tokens:
    """The servers as they should be, and again so at the end."""

    def __enter__(self):
        control(skew_s=0, life_s=3600, status=0, slow_ms=0, revoked=0, deaf=0, forget=1)
        return self

    def __exit__(self, *_):
        self.__enter__()


def call(kind=None, env=None, **more):
    if kind:
        more["file"] = os.path.join(emulators.servers().folder, kind + ".json")
    return emulators.run("credentials", env=env, url=url("/check"), **more)


def during(seconds, act):
    thread = threading.Timer(seconds, act)
    thread.start()
    return thread


def test_every_kind_gets_a_token_that_is_taken():
    for kind, taken in TAKEN.items():
        with Tokens():
            said = call(kind, threads=8, calls=5)
            counts = ask("/counts")
            assert (said["fine"], said["failed"], said["fetches"]) == (40, 0, 1), (kind, said)
            assert counts["taken " + taken] >= 40 and counts.get("not taken", 0) == 0, (kind, counts)


def test_a_key_signs_its_own_tokens():
    with Tokens():
        said = call("service", token_call=0, threads=4, calls=5)
        counts = ask("/counts")
        assert said["fine"] == 20 and counts["taken signed"] == 20 and "/token" not in counts, (said, counts)


def test_the_metadata_server():
    host = "127.0.0.1:%d" % emulators.servers().ports["tokens"]
    env = {"GCE_METADATA_HOST": host, "HOME": "/nowhere", "GOOGLE_APPLICATION_CREDENTIALS": "", "CLOUDSDK_CONFIG": "/nowhere"}
    with Tokens():
        said = call(env=env, calls=3)
        assert said["fine"] == 3 and said["source"] == "service account weir@acme.iam.gserviceaccount.com, metadata server", said
        control(slow_ms=1000)
        assert call(env=env, calls=1)["fine"] == 1
        control(slow_ms=0, status=503)
        assert call(env=env, calls=1)["codes"] == {"google_unavailable": 1}
    env["GCE_METADATA_HOST"] = "127.0.0.1:%d" % emulators.servers().ports["closed"]
    assert call(env=env, calls=1)["codes"] == {"no_credentials": 1}


def test_64_connections_share_one_token_and_its_renewals():
    host = "127.0.0.1:%d" % emulators.servers().ports["tokens"]
    metadata = {"GCE_METADATA_HOST": host, "HOME": "/nowhere", "GOOGLE_APPLICATION_CREDENTIALS": "", "CLOUDSDK_CONFIG": "/nowhere"}
    for kind in [*TAKEN, None]:
        with Tokens():
            control(life_s=2)
            said = call(kind, env=None if kind else metadata, threads=64, ms=2500)
            counts = ask("/counts")
            assert said["failed"] == 0 and said["fine"] > 64, (kind, said)
            # Renewed half a second ahead of the end, by one caller: where one token leads to another, both are asked for once.
            steps = 2 if kind in ("external_url", "impersonated") else 1
            # A machine that stands still for half a second may lose one, which is fetched again and tried once more.
            assert 2 <= said["fetches"] <= 5 and counts["granted"] == steps * said["fetches"], (kind, said, counts)


def test_what_was_revoked_is_said_and_comes_back_by_itself():
    with Tokens():
        revoke = during(0.5, lambda: control(revoked=1, forget=1))
        restore = during(1, lambda: control(revoked=0))
        said = call("user", threads=16, ms=4500)
        revoke.join(), restore.join()
        assert said["codes"].get("auth_failed") and set(said["codes"]) <= {"auth_failed"}, said
        assert not said["has_failed"] and said["has_token"] and said["sentence"].startswith("token of the"), said
        control(revoked=1, forget=1)
        said = call("user", threads=4, ms=300)
        assert said["fine"] == 0 and said["has_failed"], said
        assert said["sentence"].startswith("auth failed since ") and "not taken any more" in said["sentence"], said
        # Nobody storms the token server meanwhile.
        assert ask("/counts")["/token"] <= 2


def test_tokens_that_are_refused_although_new():
    with Tokens():
        control(deaf=1)
        hear = during(1, lambda: control(deaf=0))
        said = call("user", threads=8, ms=4500)
        hear.join()
        assert said["codes"].get("auth_failed") and not said["has_failed"] and said["fine"], said
        assert said["fetches"] <= 8, said


def test_a_clock_that_is_an_hour_off():
    for skew in (3600, -3600):
        for own in (0, 1):
            with Tokens():
                control(skew_s=skew)
                said = call("service", token_call=own, threads=4, calls=3)
                assert said["fine"] == 12, (skew, own, said)
                # What we sign ourselves an hour early is still good; nobody says anything then.
                assert abs(said["clock_behind_s"] - skew) <= 2 or (skew > 0 and not own), (skew, own, said)


def test_a_token_server_with_trouble_is_tried_again():
    with Tokens():
        control(status=503)
        heal = during(0.3, lambda: control(status=0))
        said = call("user", threads=8, calls=3)
        heal.join()
        assert said["fine"] == 24 and said["fetches"] == 1, said


def test_a_file_that_is_replaced_is_taken_up():
    with Tokens(), weir.Home() as home:
        path = home.file("key.json")
        shutil.copy(os.path.join(emulators.servers().folder, "user.json"), path)
        with open(path) as f:
            broken = json.load(f)
        broken["refresh_token"] = "of-another-time"
        with open(path, "w") as f:
            json.dump(broken, f)

        def replace():
            new = home.write("new.json", json.dumps(dict(broken, refresh_token="refresh-token-of-the-run")))
            os.chmod(new, 0o600)
            os.rename(new, path)

        swap = during(0.5, replace)
        said = emulators.run("credentials", url=url("/check"), file=path, threads=4, ms=4000)
        swap.join()
        assert said["codes"].get("auth_failed") and said["fine"] and not said["has_failed"], said
