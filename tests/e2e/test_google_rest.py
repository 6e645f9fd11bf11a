"""Google's REST transport against a server with faults by table: tries, waits, limits, certificates, proxies, and that no secret gets out."""
import json
import urllib.request
import uuid

import emulators

SECRET = "Bearer ya29.this-is-the-token"


def rest(path, server="rest", **arguments):
    at = emulators.servers()
    scheme = "http" if server == "rest" else "https"
    if scheme == "https":
        arguments.setdefault("ca", at.ca)
    host = arguments.pop("at", "localhost" if scheme == "https" else "127.0.0.1")
    return emulators.run("rest", url="%s://%s:%d/%s" % (scheme, host, at.ports[server], path), **arguments)


def proxied():
    with urllib.request.urlopen("http://127.0.0.1:%d/count" % emulators.servers().ports["proxy"]) as answer:
        return int(answer.read())


def test_a_call_carries_what_it_was_given():
    said = rest("echo?fields=a", method="POST", body='{"a":1}', authorization=SECRET)
    assert said["fine"] and said["status"] == 200 and said["tries"] == 1, said
    assert said["body"] == {"method": "POST", "query": "fields=a", "body": '{"a":1}', "authorization": SECRET,
                            "type": "application/json; charset=utf-8", "agent": "weir"}, said
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        assert rest("echo", method=method)["body"]["method"] == method
    assert rest("echo", server="rest_tls")["fine"]


def test_an_emulator_gets_no_token():
    assert rest("echo", authorization=SECRET, local=1)["body"]["authorization"] == ""


def test_an_emulator_elsewhere_is_not_reached():
    said = emulators.run("rest", url="http://192.0.2.1:1/x", local=1)
    assert said["error"] == "emulator_not_local" and said["took_ms"] < 3000, said


def test_the_log_sees_no_secret():
    said = rest("echo/p?key=hidden-key", method="POST", body="hidden-body", authorization=SECRET)
    assert len(said["log"]) == 1 and said["log"][0]["path"] == "/echo/p" and said["log"][0]["status"] == 200, said
    text = json.dumps(said["log"])
    assert "hidden" not in text and "ya29" not in text, text
    at = emulators.servers()
    said = emulators.run("rest", url="http://somebody:hidden-word@127.0.0.1:%d/echo" % at.ports["rest"])
    assert said["fine"] and said["log"][0]["host"] == "127.0.0.1:%d" % at.ports["rest"], said
    for fault in ("status/401/authError", "early-close", "garbage"):
        said = rest(fault + "?key=hidden-key", body="hidden-body", method="POST", authorization=SECRET, tries=2, repeat=1)
        text = json.dumps([said["log"], said["error_message"]])
        assert not said["fine"] and "hidden" not in text and "ya29" not in text, text


def test_what_passes_is_tried_again():
    for status in (500, 502, 503, 504, 429, 408):
        said = rest("flaky/2/%d/%s" % (status, uuid.uuid4().hex))
        assert said["fine"] and said["tries"] == 3 and said["body"] == {"try": 3}, said
        waits = [entry["wait_ms"] for entry in said["log"]]
        assert waits[0] >= 10 and waits[1] >= 20 and waits[2] == -1, said


def test_what_does_not_pass_is_not():
    for path, code in (("status/400/invalid", "google_invalid"), ("status/403/accessDenied", "google_denied"),
                       ("status/404/notFound", "google_not_found"), ("status/409/duplicate", "google_exists"),
                       ("status/403/billingNotEnabled", "google_billing"), ("status/501/notImplemented", "google_not_supported"),
                       ("redirect", "google_bad_answer"), ("page/403", "google_denied"), ("no-such-path", "google_not_found")):
        said = rest(path)
        assert not said["fine"] and said["tries"] == 1 and said["error"] == code, (path, said)
    said = rest("status/401/authError")
    assert said["error"] == "auth_failed" and said["renews"] and said["tries"] == 1, said


def test_a_quota_is_waited_for_longer():
    said = rest("status/403/quotaExceeded", deadline_ms=700)
    assert said["error"] == "google_quota" and said["log"][0]["wait_ms"] >= 50, said
    assert rest("flaky/1/429/" + uuid.uuid4().hex)["tries"] == 2


def test_what_the_server_asks_for_is_kept_to():
    said = rest("retry-after/1/" + uuid.uuid4().hex)
    assert said["fine"] and said["tries"] == 2 and 1000 <= said["body"]["waited_ms"] < 5000, said
    # Longer than there is time for: told at once, with how long it would be.
    said = rest("retry-after/3600/" + uuid.uuid4().hex, deadline_ms=5000)
    assert not said["fine"] and said["tries"] == 1 and said["retry_after_ms"] == 3600000 and said["took_ms"] < 3000, said


def test_what_may_have_been_done_is_not_done_twice():
    for path in ("early-close", "abort", "cut-body", "status/503/backendError"):
        said = rest(path, method="POST", body="{}", repeat=0)
        assert not said["fine"] and said["tries"] == 1, (path, said)
    said = rest("flaky/1/429/" + uuid.uuid4().hex, method="POST", body="{}", repeat=0)
    assert said["fine"] and said["tries"] == 2, said


def test_broken_answers_have_their_words():
    for path, code in (("early-close", "google_unreachable"), ("abort", "google_unreachable"), ("cut-body", "google_unreachable"),
                       ("cut-chunk", "google_unreachable"), ("garbage", "google_bad_answer")):
        said = rest(path, tries=2)
        assert said["error"] == code and said["tries"] == 2, (path, said)
    said = rest("page/502", tries=2)
    assert said["error"] == "google_unavailable" and said["tries"] == 2, said


def test_answers_have_a_limit():
    assert rest("large/1000000", answer_bytes=1000000)["bytes"] == 1000000
    for path in ("large/1000001", "large/100000000", "huge-header"):
        said = rest(path, answer_bytes=1000000)
        assert said["error"] == "google_answer_too_large" and said["tries"] == 1, (path, said)


def test_time_has_a_limit():
    for path in ("hang", "drip"):
        said = rest(path, try_ms=200, tries=2)
        assert said["error"] == "google_timeout" and said["tries"] == 2 and said["took_ms"] < 4000, (path, said)
    said = rest("hang", deadline_ms=300)
    assert said["error"] == "google_timeout" and said["tries"] == 1 and said["took_ms"] < 3000, said


def test_certificates_are_checked():
    said = rest("echo", server="rest_name")
    assert said["error"] == "tls_untrusted" and said["tries"] == 1, said
    at = emulators.servers()
    said = emulators.run("rest", url="https://localhost:%d/echo" % at.ports["rest_tls"])
    assert said["error"] == "tls_untrusted", said
    # A gRPC server is none of REST's.
    assert rest("echo", server="tls", tries=1)["error"] in ("tls_failed", "google_unreachable", "google_bad_answer")


def test_a_proxy_is_used_and_its_refusal_said():
    proxy = "http://127.0.0.1:%d" % emulators.servers().ports["proxy"]
    before = proxied()
    assert rest("echo", server="rest_tls", proxy=proxy)["fine"]
    assert rest("echo", at="127.0.0.1", proxy=proxy)["fine"]
    assert proxied() == before + 2
    # An emulator is on this machine: never by a proxy.
    assert rest("echo", proxy=proxy, local=1)["fine"] and proxied() == before + 2
    said = emulators.run("rest", url="https://refused.example/x", proxy=proxy)
    assert said["error"] == "proxy_refused" and said["tries"] == 1, said
    at = emulators.servers()
    said = emulators.run("rest", url="https://localhost:%d/echo" % at.ports["rest_tls"], ca=at.ca,
                         env={"https_proxy": proxy, "no_proxy": ""})
    assert said["fine"] and proxied() == before + 4, said


def test_what_cannot_be_reached_is_said():
    at = emulators.servers()
    said = emulators.run("rest", url="http://127.0.0.1:%d/x" % at.ports["closed"], tries=2, repeat=0)
    assert said["error"] == "google_unreachable" and said["tries"] == 2, said
    said = emulators.run("rest", url="http://no-such-host.invalid/x", tries=1)
    assert said["error"] == "google_unreachable" and "no address" in said["error_message"], said


def test_many_calls_are_under_way_at_once():
    at = emulators.servers()
    said = emulators.run("rest_many", url="http://127.0.0.1:%d/echo" % at.ports["rest"], count=200)
    assert said["fine"] == 200, said


def test_another_thread_wakes_the_one_that_waits():
    at = emulators.servers()
    said = emulators.run("rest_woken", url="http://127.0.0.1:%d/hang" % at.ports["rest"])
    assert said["took_ms"] < 5000, said
