"""The server in C that speed is measured against: Google's own client and ours find in it what the Go server has."""
import json
import os
import subprocess
import tempfile

import emulators
import weir

FOLDER = os.path.join(weir.BUILD, "tests", "emulators")


class Fast:
    def __init__(self, service="echo", *arguments):
        self.command = [os.path.join(FOLDER, "fast_" + service), *map(str, arguments)]

    def __enter__(self):
        if not os.path.exists(self.command[0]):
            raise weir.Skip("%s is not built: make google" % self.command[0])
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.port = json.loads(self.process.stdout.readline())["port"]
        return self

    def __exit__(self, kind, *_):
        self.out, said = self.process.communicate(timeout=60)
        assert kind or (self.process.returncode == 0 and not said), (self.process.returncode, said[-4000:])


def test_googles_client_finds_an_echo():
    emulators.servers()
    with Fast() as fast:
        for size, streams in ((10, 1), (1024, 8), (3000000, 2)):
            count = 20000 if size < 5000 else 20
            said = subprocess.run([emulators.PROGRAM, "bench", "-target", "127.0.0.1:%d" % fast.port, "-count", str(count), "-size", str(size),
                                   "-streams", str(streams)], capture_output=True, timeout=120)
            assert said.returncode == 0, said
            assert json.loads(said.stdout)["messages"] == count, said


def test_our_client_finds_an_echo():
    emulators.servers()
    with Fast() as fast:
        said = emulators.run("bench", port=fast.port, count=20000, size=1024, streams=8)
        assert said["messages"] == 20000, said


def test_managedwriter_appends_to_the_fast_bigquery():
    emulators.servers()
    with Fast("bigquery") as fast:
        for more in ([], ["-committed"]):
            said = subprocess.run([emulators.PROGRAM, "bigquery-bench", "-storage", str(fast.port), "-count", "30500"] + more, capture_output=True, timeout=120)
            assert said.returncode == 0, said
            assert json.loads(said.stdout)["messages"] == 30500, said
    counted = json.loads(fast.out)
    assert (counted["rows"], counted["requests"]) == (61000, 62) and counted["bytes"] > 61000 * 1024, counted


def test_googles_client_receives_from_the_fast_pubsub():
    emulators.servers()
    for count, per_response in ((30000, 100), (3000, 1), (5, 1000)):
        with Fast("pubsub", count, per_response) as fast:
            said = subprocess.run([emulators.PROGRAM, "pubsub-bench", "-target", "127.0.0.1:%d" % fast.port, "-count", str(count)],
                                  capture_output=True, timeout=120)
            assert said.returncode == 0 and json.loads(said.stdout)["messages"] == count, said
        counted = json.loads(fast.out)
        assert counted["sent"] == counted["acked"] == count and counted["handed_back"] == 0, counted


def test_the_fast_pubsub_gives_the_lines_of_a_feed():
    emulators.servers()
    with tempfile.TemporaryDirectory(prefix="weir-") as folder:
        feed, got = os.path.join(folder, "feed"), os.path.join(folder, "got")
        lines = ['{"n":%d,"pad":"%s"}' % (n, "y" * (n % 300)) for n in range(2500)]
        with open(feed, "w") as f:
            f.write("\n".join(lines) + "\n")
        with Fast("pubsub", 0, 100, feed) as fast:
            subprocess.run([emulators.PROGRAM, "receive", "-target", "127.0.0.1:%d" % fast.port, "-subscription", "any", "-file", got,
                            "-count", "2500"], check=True, capture_output=True, timeout=120)
        with open(got) as f:
            messages = [json.loads(line) for line in f]
        assert sorted(json.dumps(m["data"], separators=(",", ":")) for m in messages) == sorted(lines)
        assert len({m["id"] for m in messages}) == 2500 and all(m["attrs"] == {"source": "bench"} for m in messages), messages[:2]


def test_a_feed_is_measured_into_the_fast_bigquery():
    emulators.servers()
    feed = weir.stream("pg-library") + "/feed.jsonl"
    with weir.Home() as home:
        said = home.run("bench", "bigquery", "--feed", feed, "--json")
        if not os.path.exists(os.path.join(weir.BUILD, "emulators")):  # a variant: the Go servers stand beside the plain one only
            assert said.code == 0 and not said.lines and "skipped" in said.err.decode(), said
            return
        assert said.code == 0 and [line["name"] for line in said.lines] == ["bigquery", "bigquery_cpu"], said
        for line in said.lines:
            assert line["baseline"] == "managedwriter" and line["value"] > 0 and line["baseline_value"] > 0, line
            assert line["messages"] == 1365 and len(line["checksum"]) == 64 and 100 < line["row_bytes"] < 2000, line
