"""The test servers over Google's own library (tests/emulators), and the program that drives core/google against them."""
import atexit
import json
import os
import shutil
import subprocess
import tempfile

import weir

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
