"""The test servers over Google's own library (tests/emulators), and the program that drives core/google against them."""
import atexit
import json
import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

import weir
from bigquery_emulator import BigQuery as bigquery  # a server of its own: with emulators.bigquery("dataset") as bq
from storage_emulator import Storage as storage  # a server of its own: with emulators.storage("bucket") as gs

PROGRAM = os.path.join(weir.ROOT, "build", "emulators")
DRIVE = os.path.join(weir.BUILD, "tests", "google", "drive")


class Servers:
    """One set a run, started when first asked for; it ends with this process, whose pipe it watches."""

    one = None

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="weir-servers-")
        self.process = subprocess.Popen([PROGRAM, "echo", "-dir", self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        said = json.loads(self.process.stdout.readline())
        self.ports, self.ca = said["ports"], said["ca"]
        atexit.register(self.end)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def servers():
    for program in (PROGRAM, DRIVE):
        if not os.path.exists(program):
            raise weir.Skip("%s is not built: make google" % os.path.relpath(program, weir.ROOT))
    if not Servers.one:
        Servers.one = Servers()
    return Servers.one


def run(scenario, env=None, **arguments):
    """What the program prints; it must end well, and a sanitizer may say nothing."""
    # Proxies of this machine are none of the tests'.
    own = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    words = [DRIVE, scenario] + ["%s=%s" % pair for pair in arguments.items()]
    done = subprocess.run(words, capture_output=True, timeout=300, env=dict(own, **(env or {})))
    assert done.returncode == 0, "%s\nexit %d\n%s\n%s" % (" ".join(words), done.returncode, done.stdout[-2000:].decode(),
                                                       done.stderr[-6000:].decode(errors="replace"))
    return json.loads(done.stdout)


def drive(scenario, server, **arguments):
    """A scenario against one of the servers; over TLS with the run's own authority."""
    at = servers()
    if server.startswith("tls"):
        arguments.setdefault("ca", at.ca)
        arguments.setdefault("host", "localhost")
    return run(scenario, port=at.ports[server], **arguments)


class Refused(Exception):
    """What a stand-in says to a word of a test that it cannot do."""


# Past any proxy of this machine.
HERE = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Pubsub:
    """A stand-in of Pub/Sub of its own, for a `with`: names are `topic`, or whole (`projects/P/topics/topic`)."""

    project = "acme"

    def __enter__(self):
        if not os.path.exists(PROGRAM):
            raise weir.Skip("%s is not built: make google" % os.path.relpath(PROGRAM, weir.ROOT))
        self.folder = tempfile.mkdtemp(prefix="weir-pubsub-")
        self.process = subprocess.Popen([PROGRAM, "pubsub", "-dir", self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        said = json.loads(self.process.stdout.readline())
        self.ports, self.ca = said["ports"], said["ca"]
        self.host = "127.0.0.1:%d" % self.ports["plain"]
        # What finds the stand-in: Google's clients and weir, and Cloud Monitoring, for which there is no emulator's variable.
        self.env = {"PUBSUB_EMULATOR_HOST": self.host, "PUBSUB_PROJECT_ID": self.project,
                    "CLOUDSDK_API_ENDPOINT_OVERRIDES_MONITORING": "http://%s/" % self.host}
        # The same over TLS, with tokens: config.json must trust `ca` (caFile) and send credentials to 127.0.0.1
        # (allowedTokenHosts). A login, whose tokens the token server gives and forgets.
        self.tls_env = {"CLOUDSDK_API_ENDPOINT_OVERRIDES_MONITORING": self.env["CLOUDSDK_API_ENDPOINT_OVERRIDES_MONITORING"],
                        "CLOUDSDK_API_ENDPOINT_OVERRIDES_PUBSUB": "https://localhost:%d/" % self.ports["tls"],
                        "GOOGLE_APPLICATION_CREDENTIALS": os.path.join(self.folder, "user.json")}
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, word, **members):
        """A word of the control port (tests/emulators/pubsub/control.go)."""
        request = urllib.request.Request("http://127.0.0.1:%d/%s" % (self.ports["control"], word), json.dumps(members).encode())
        try:
            with HERE.open(request, timeout=60) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            raise Refused(json.loads(refused.read())["error"]) from None

    def name(self, kind, name):
        return name if "/" in name else "projects/%s/%s/%s" % (self.project, kind, name)

    def topic(self, name):
        return self.name("topics", name)

    def subscription(self, name):
        return self.name("subscriptions", name)

    def create(self, topic, subscription=None, **settings):
        """A topic, if it is not there, and a subscription to it; settings as REST has them (`enableMessageOrdering=True`)."""
        members = {"topic": self.topic(topic)}
        if subscription:
            members.update(subscription=self.subscription(subscription), settings=settings)
        self.ask("create", **members)

    def publish(self, topic, lines=(), file=None, messages=()):
        """Lines of a feed, or a file of them; a line is an envelope or the body itself. Messages: {"data" or "size", "key", "attributes"}."""
        return self.ask("publish", topic=self.topic(topic), lines=list(lines), messages=list(messages), file=file or "")

    def client(self, duty, *args):
        """A duty of Google's own client (tests/emulators/pubsub_clients.go)."""
        done = subprocess.run([PROGRAM, duty, "-target", self.host, "-project", self.project, *map(str, args)], capture_output=True, timeout=300)
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def publish_by_client(self, topic, file):
        """Google's client publishes a feed; messages with a key go ordered."""
        return self.client("publish", "-topic", topic, "-file", file)["published"]

    def receive_by_client(self, subscription, count=0):
        """What Google's client gets, as envelopes, until `count` came or none for a second; all are acknowledged."""
        file = os.path.join(self.folder, "received")
        self.client("receive", "-subscription", subscription, "-file", file, "-count", count)
        with open(file) as lines:
            return [json.loads(line) for line in lines]

    def counts(self, subscription):
        return self.ask("counts", subscription=self.subscription(subscription))

    def fault(self, kind, method="", subscription=None, **members):
        """A row of the table of faults (tests/emulators/pubsub/faults.go); gives its number."""
        if subscription:
            members["resource"] = self.subscription(subscription)
        return self.ask("fault", kind=kind, method=method, **members)["id"]

    def clear(self, fault=0):
        self.ask("clear", id=fault)

    def met(self):
        """How many calls each fault has met, by its number."""
        return {row["id"]: row["met"] for row in self.ask("faults")}

    def calls(self):
        """Counts by "Method resource": calls, largest_bytes, ids, most_ids."""
        return self.ask("calls")

    def deny(self, resource, *permissions):
        self.ask("deny", resource=resource, permissions=list(permissions or ["*"]))

    def grant(self, resource, *permissions):
        self.ask("grant", resource=resource, permissions=list(permissions or ["*"]))

    def clock(self, scale=0, advance_s=0):
        return self.ask("clock", scale=scale, advance_ms=int(advance_s * 1000))["now"]

    def end_streams(self, subscription=None, code="UNAVAILABLE"):
        return self.ask("end_streams", subscription=self.subscription(subscription) if subscription else "", code=code)["ended"]

    def set(self, subscription, **members):
        """per_response, forgets (acknowledged ids are invalid when they come again), log."""
        self.ask("set", subscription=self.subscription(subscription), **members)

    def log(self, subscription):
        """What happened to the messages since `set(..., log=True)`: what (deliver, ack, nack, expire), id, key, delivery."""
        return self.ask("log", subscription=self.subscription(subscription))

    def resend(self, subscription):
        """All that is held comes again, as the service may do at any time."""
        return self.ask("resend", subscription=self.subscription(subscription))["count"]

    def certificate(self, word):
        """right, over, name or unknown: what the port `tls` shows from now on."""
        with HERE.open("http://127.0.0.1:%d/certificate?is=%s" % (self.ports["control"], word)):
            pass

    def tokens(self, **members):
        """Words of the token server: forget, life_s, revoked, deaf, status, slow_ms (tests/emulators/tokens.go)."""
        with HERE.open("http://127.0.0.1:%d/control?%s" % (self.ports["tokens"], "&".join("%s=%s" % pair for pair in members.items()))):
            pass

    def token_counts(self):
        """What the token server has seen: granted, refused, "taken KIND", "not taken"."""
        with HERE.open("http://127.0.0.1:%d/counts" % self.ports["tokens"]) as answer:
            return json.loads(answer.read())

    def rest(self, verb, path, body=None):
        """A call of REST; gives the status and the answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request("http://%s%s" % (self.host, path), data, method=verb)
        try:
            with HERE.open(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())


def pubsub():
    return Pubsub()
