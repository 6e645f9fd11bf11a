"""What a job has of Google: its calls carry a token, are tried once more with another, and need none against an emulator."""
import os

import emulators
from test_google_credentials import Tokens


def job(env=None, rest="echo", **more):
    """`rest`: the fault of the REST server, which stands where the service's version stands; `path` is its argument."""
    at = emulators.servers()
    real = {"CLOUDSDK_API_ENDPOINT_OVERRIDES_PUBSUB": "https://localhost:%d/" % at.ports["tls"],
            "CLOUDSDK_API_ENDPOINT_OVERRIDES_BIGQUERY": "https://localhost:%d/%s" % (at.ports["rest_tls"], rest)}
    return emulators.run("job", env=env or real, ca=at.ca, file=os.path.join(at.folder, "user.json"), **more)


def test_calls_carry_one_token():
    with Tokens():
        said = job(path="/")
        assert said["grpc"]["fine"] and said["rest"]["fine"] and said["needed"] and said["fetches"] == 1, said
        assert said["rest"]["body"]["authorization"].startswith("Bearer ") and not said["emulated"], said


def test_a_token_that_is_not_taken_is_replaced_once():
    with Tokens():
        said = job(fault="status:16")
        assert not said["grpc"]["fine"] and said["grpc"]["status"] == 16 and said["fetches"] == 2, said
        assert said["grpc"]["code"] == "auth_failed", said
    with Tokens():
        said = job(rest="status", path="/401/authError")
        assert said["grpc"]["fine"] and not said["rest"]["fine"] and said["fetches"] == 2, said
        assert said["rest"]["code"] == "auth_failed", said


def test_what_is_no_fault_of_the_token_is_not_tried_again():
    with Tokens():
        said = job(fault="status:7", rest="status", path="/403/accessDenied")
        assert said["grpc"]["code"] == said["rest"]["code"] == "google_denied" and said["fetches"] == 1, said


def test_an_emulator_needs_no_credentials():
    at = emulators.servers()
    env = {"PUBSUB_EMULATOR_HOST": "127.0.0.1:%d" % at.ports["plain"], "BIGQUERY_EMULATOR_HOST": "http://127.0.0.1:%d/echo" % at.ports["rest"]}
    with Tokens():
        said = job(env=env, path="/")
        assert said["grpc"]["fine"] and said["rest"]["fine"] and said["emulated"] and not said["needed"], said
        assert said["rest"]["body"]["authorization"] == "", said
