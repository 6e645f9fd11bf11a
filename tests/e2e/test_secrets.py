"""The vault through the programs: what is put there stands nowhere else, and who may not act does not."""
import base64
import fcntl
import json
import os
import pty
import re
import select
import shutil
import socket
import subprocess
import tarfile
import termios
import threading
import time

import weir

SECRET = b"s3cr3t-\xff\x00-Kr0k0dil-9f2c17aa"
PASSPHRASE = b"Nilpferd im Nebel 4711"
LOGIN = b"1//09-Gurtelt1er-aus-Gera"
USER = json.dumps({"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}).encode()
FEED = weir.feed([weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(50)], weir.id_key)


def forms():
    """The secrets as they are, as hex, and as base64 at any of its three beginnings."""
    for secret in (SECRET, PASSPHRASE, LOGIN):
        yield secret
        yield secret.hex().encode()
        for skip in range(3):
            yield base64.b64encode(secret[skip:])[:20]


def put(home, name, value=SECRET, *args):
    return home.run("secret", "put", name, "--json", *args, input=value)


def engine_pid(home):
    return home.run("engine", "status", "--json").last["pid"]


class Tap:
    """Stands before the engine's socket and keeps what goes through."""

    def __init__(self, home):
        self.path, self.seen = os.path.join(home.state, "weird.sock"), bytearray()
        os.rename(self.path, self.path + ".behind")
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.path)
        self.server.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                near, _ = self.server.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.path + ".behind")
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.pass_on, args=(a, b), daemon=True).start()

    def pass_on(self, a, b):
        while True:
            data = a.recv(65536)
            self.seen += data
            try:
                b.sendall(data) if data else b.shutdown(socket.SHUT_WR)
            except OSError:
                return
            if not data:
                return


def core_of(pid):
    """What a core file would hold: all memory that may be read, less what is marked to be left out of one."""
    core, wanted = bytearray(), []
    with open("/proc/%d/smaps" % pid) as f:
        for line in f:
            head = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) .*?(\S*)$", line)
            if head and line[8:9] != ":":
                area = head
            elif line.startswith("VmFlags:") and " dd" not in line and area[3].startswith("r") and "[v" not in area[4]:
                wanted.append((int(area[1], 16), int(area[2], 16)))
    with open("/proc/%d/mem" % pid, "rb", 0) as f:
        for begin, end in wanted:
            try:
                f.seek(begin)
                core += f.read(end - begin)
            except OSError:
                pass
    return bytes(core)


def everything_written(home):
    written = {}
    for folder, _, names in os.walk(home.path):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    written[path] = f.read()
    return written


def bundle_of(home):
    assert home.run("debug", "bundle", "--out", home.file("bundle.tar")).code == 0
    with tarfile.open(home.file("bundle.tar")) as tar:
        return b"".join(tar.extractfile(m).read() for m in tar if m.isfile())


def test_a_secret_stands_nowhere():
    with weir.Home() as home:
        home.replicate(home.write("feed", FEED))
        assert home.run("engine", "start").code == 0
        tap = Tap(home)
        assert put(home, "prod").last == {"secret": "prod", "version": 1}
        assert home.run("secret", "seal", "--passphrase", "--json", input=PASSPHRASE).code == 0
        assert home.run("secret", "unlock", input=PASSPHRASE + b"\n").code == 0
        assert home.run("secret", "list", "--json").lines[1]["secret"] == "prod"
        assert put(home, "prod", SECRET, "--why", "rotation").last["version"] == 2
        assert put(home, "login", json.dumps(dict(json.loads(USER), refresh_token=LOGIN.decode())).encode()).code == 0
        assert home.run("run", home.job(home.file("feed"), credentials="vault:login"), "--replace", "--until-idle").code == 0
        pid = engine_pid(home)
        places = {"socket": bytes(tap.seen), "bundle": bundle_of(home), **everything_written(home)}
        for name in ("cmdline", "environ"):
            with open("/proc/%d/%s" % (pid, name), "rb") as f:
                places[name] = f.read()
        if os.getuid() == 0:
            places["core"] = core_of(pid)
            assert b"secret_put" in places["core"] and len(places["core"]) > 1000000
        assert b'"call":"secret_put"' in places["socket"]
        for place, bytes_ in places.items():
            for form in forms():
                assert form not in bytes_, (place, form)


def test_a_private_key_is_not_left_in_memory():
    if os.getuid() != 0 or not shutil.which("openssl"):
        raise weir.Skip("only root may look, and openssl makes the key")
    pem = subprocess.run(["openssl", "genrsa", "2048"], capture_output=True, text=True).stdout
    account = json.dumps({"type": "service_account", "client_email": "a@b.iam.gserviceaccount.com", "private_key": pem, "client_id": "1"})
    with weir.Home() as home:
        assert put(home, "prod", account.encode()).code == 0
        assert home.run("run", home.job(home.write("feed", FEED), credentials="vault:prod"), "--replace", "--until-idle").code == 0
        core = core_of(engine_pid(home))
        # The parser keeps copies of its own.
        assert len(core) > 1000000 and not [line for line in pem.splitlines()[1:-1] if line.encode() in core]


def test_the_engine_is_not_dumpable_once_it_has_a_secret():
    with weir.Home() as home:
        assert put(home, "prod").code == 0
        pid = engine_pid(home)
        assert os.stat("/proc/%d/mem" % pid).st_uid == 0
        with open("/proc/%d/limits" % pid) as f:
            assert re.search(r"Max core file size\s+0\s+0", f.read())


def test_a_locked_vault_is_said_everywhere_and_opened():
    with weir.Home() as home:
        assert put(home, "prod").code == 0
        assert home.run("secret", "seal", "--passphrase", input=PASSPHRASE).code == 0
        assert home.run("engine", "stop").code == 0
        assert put(home, "other").error["code"] == "vault_locked"
        assert home.run("secret", "list", "--json").lines[0]["vault"] == "locked"
        health = {line["what"]: line for line in home.run("engine", "status", "--json").lines if "what" in line}
        assert health["vault"]["level"] == "warning" and health["vault"]["now"] == "locked, passphrase"
        r = home.run("secret", "unlock", "--json", input=b"something else")
        assert (r.code, r.error["code"]) == (77, "wrong_passphrase")
        assert home.run("secret", "unlock", input=PASSPHRASE).code == 0
        assert put(home, "other").code == 0
        assert [l["secret"] for l in home.run("secret", "list", "--json").lines[1:]] == ["other", "prod"]


def test_what_cannot_be_kept_is_refused_and_journaled_without_its_value():
    with weir.Home() as home:
        for name, value, code in (("a b", SECRET, "bad_secret_name"), ("a", b"", "secret_empty"), ("a", b"x" * 65537, "secret_too_large")):
            assert put(home, name, value).error["code"] == code
        assert put(home, "a", b"x" * 65536).code == 0
        assert home.run("secret", "delete", "b", "--json").error["code"] == "secret_unknown"
        assert home.run("secret", "put", "--json", input=b"x").code == 2
        assert home.run("secret", "put", "a", "value", "--json", input=b"x").code == 2
        with open(os.path.join(home.state, "journal.jsonl")) as f:
            journal = [json.loads(line) for line in f]
        acts = [line for line in journal if line.get("what", "").startswith("secret")]
        assert acts and all(line["args"].get("sealed_secret", "***") == "***" for line in acts)


def test_a_broken_vault_says_why_and_hides_nothing_else():
    with weir.Home() as home:
        home.replicate(home.write("feed", FEED))
        assert put(home, "prod").code == 0
        with open(os.path.join(home.state, "vault"), "w") as f:
            f.write("{")
        r = home.run("secret", "list", "--json")
        assert r.error["code"] == "vault_damaged" and "sealed_by" not in r.lines[0], r
        r = home.run("engine", "status", "--json")
        assert [l for l in r.lines if l.get("what") == "vault"][0]["level"] == "fails"
        assert home.run("status", "--json").last["received"] == 50


def test_the_key_file_may_lie_elsewhere():
    with weir.Home() as home:
        os.makedirs(home.state, 0o700)
        home.write("home/config.json", json.dumps({"vaultKeyFile": home.file("elsewhere.key")}))
        assert put(home, "prod").code == 0
        assert os.stat(home.file("elsewhere.key")).st_mode & 0o777 == 0o600 and not os.path.exists(os.path.join(home.state, "vault.key"))
        os.chmod(home.file("elsewhere.key"), 0o644)
        assert put(home, "prod").error["code"] == "vault_exposed"


def test_a_stream_that_is_closed_is_no_secret():
    with weir.Home() as home:
        home.run("engine", "start")
        # Without a stream the socket would be number 0, and what the engine says would be read as the secret.
        p = subprocess.run(["sh", "-c", 'exec "$0" secret put prod --json <&-', os.path.join(home.build, "weir")], env=home.env,
                           capture_output=True, timeout=60)
        assert p.returncode not in (0, 70) and b"io_error" in p.stdout + p.stderr, p
        assert len(home.run("secret", "list", "--json").lines) == 1


def state(home):
    return home.run("status", "shop", "--json").last


def until(check, seconds=60):
    for _ in range(seconds * 20):
        if check():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")


def test_a_job_waits_for_its_secret_and_goes_on_by_itself():
    with weir.Home() as home:
        feed = home.write("feed", FEED)
        job = home.job(feed, credentials="vault:prod")
        r = home.run("run", job, "--until-idle", "--json")
        assert (r.code, r.error["code"]) == (78, "secret_unknown"), r
        assert put(home, "prod", b"no credentials").code == 0
        assert home.run("start", "shop").code == 0
        until(lambda: state(home)["state"] == "needs you" and state(home)["code"] == "bad_credentials")
        assert put(home, "prod", USER).code == 0
        until(lambda: state(home)["received"] == 50 and state(home)["running"])
        assert home.run("secret", "seal", "--passphrase", input=PASSPHRASE).code == 0
        assert home.run("engine", "stop").code == 0
        # A new engine does not know the passphrase: it runs, the job needs somebody.
        assert home.run("engine", "start").code == 0
        until(lambda: state(home)["state"] == "needs you" and state(home)["code"] == "vault_locked")
        assert home.run("secret", "unlock", input=PASSPHRASE).code == 0
        until(lambda: state(home)["state"] != "needs you" and state(home)["running"])
        home.verify()


def test_hosts_of_credentials_are_googles_or_allowed():
    with weir.Home() as home:
        stray = json.dumps(dict(json.loads(USER), token_uri="https://token.example/"))
        key = home.write("key.json", stray)
        os.chmod(key, 0o600)
        job = home.job(home.write("feed", FEED), credentials=key)
        r = home.run("run", job, "--until-idle", "--json")
        assert (r.code, r.error["code"]) == (78, "credential_host_refused") and "token.example" in r.error["message"], r
        home.write("home/config.json", json.dumps({"allowedTokenHosts": ["token.example"]}))
        home.run("engine", "stop")
        assert home.run("run", job, "--until-idle", "--json").code == 0
        os.chmod(key, 0o644)
        assert home.run("run", job, "--until-idle", "--json").error["code"] == "credentials_exposed"


def at_terminal(home, *args, keys):
    """The program with a terminal: answers each `keys` when something is asked; all that came to the screen."""
    near, far = pty.openpty()
    p = subprocess.Popen([os.path.join(home.build, "weir"), *args], env=home.env, cwd=home.path, stdin=far, stdout=far, stderr=far,
                         start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(far)
    home.children.append(p)
    shown, asked = b"", 0
    while True:
        try:
            data = os.read(near, 4096) if select.select([near], [], [], 60)[0] else b""
        except OSError:
            data = b""
        shown += data
        if not data:
            break
        if shown.count(b"(it is not shown): ") > asked:
            # It is asked, then the terminal is made blind: what is typed too early would be thrown away.
            wait_blind(near)
            os.write(near, keys[asked])
            asked += 1
    code = p.wait()
    os.close(near)
    return code, shown


def wait_blind(fd):
    for _ in range(2000):
        if not termios.tcgetattr(fd)[3] & termios.ECHO:
            return
        time.sleep(0.005)
    raise AssertionError("the terminal shows what is typed")


def test_it_is_typed_blindly():
    with weir.Home() as home:
        home.run("engine", "start")
        code, shown = at_terminal(home, "secret", "put", "prod", keys=[b"typed value\r"])
        assert code == 0 and b"typed value" not in shown and b"version 1" in shown, shown
        code, shown = at_terminal(home, "secret", "put", "prod", keys=[b"{\r\"private_key\": \"x\"\r}\r"])
        assert code == 2 and b"secret_many_lines" in shown and b"private_key" not in shown, shown
        code, shown = at_terminal(home, "secret", "seal", "--passphrase", keys=[b"one passphrase\r", b"another one\r"])
        assert code == 2 and b"passphrase_differs" in shown, shown
        code, shown = at_terminal(home, "secret", "seal", "--passphrase", keys=[PASSPHRASE + b"\r", PASSPHRASE + b"\r"])
        assert code == 0 and PASSPHRASE not in shown, shown
        for _ in range(30):  # it may come before anybody reads
            code, shown = at_terminal(home, "secret", "put", "prod", keys=[b"\x03"])
            assert code != 0 and b"cancelled" in shown, shown
        assert home.run("secret", "list", "--json").lines[1]["version"] == 1
