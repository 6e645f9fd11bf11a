"""Who may do what: the group looks, operators act, nobody else connects, and every try is in the journal."""
import grp
import json
import os
import pwd
import socket
import stat

import weir

FEED = weir.feed([weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(10)], weir.id_key)
CHANGES = (("job", "set", "shop", "updateFrequencySecs=5"), ("job", "delete", "shop", "--yes"), ("job", "create", "shop.json"), ("run", "shop"),
           ("secret", "put", "key"), ("secret", "delete", "key"), ("secret", "unlock"), ("secret", "seal"),
           ("engine", "stop"))
ACTS = (("pause", "shop"), ("resume", "shop"), ("stop", "shop"), ("merge", "shop"), ("note", "seen"), ("dlq", "replay", "--group", "1", "--yes"),
        ("dlq", "discard", "--group", "1", "--confirm", "1", "--why", "x"), ("start", "shop"), ("drain", "shop"))
LOOKS = (("status",), ("tables",), ("job", "list"), ("job", "show", "shop"), ("dlq", "list"), ("dlq", "groups"), ("journal",), ("logs",),
         ("engine", "status"), ("verify", "shop"))


class Shared(weir.Home):
    """A home that a group may reach: `viewer` is in it, `operator` is in it and listed, `stranger` is not."""

    def __init__(self, **settings):
        super().__init__()
        if os.getuid() != 0:
            self.__exit__()
            raise weir.Skip("only root can play another user")
        others = [u for u in pwd.getpwall() if u.pw_uid][:3]
        self.group = [g for g in grp.getgrall() if g.gr_gid and g.gr_gid not in [u.pw_gid for u in others]][0]
        self.viewer, self.operator, self.stranger = others
        os.chmod(self.path, 0o711)
        self.settings({"socketGroup": self.group.gr_name, "operators": [self.operator.pw_name], **settings})

    def settings(self, content):
        os.makedirs(self.state, mode=0o700, exist_ok=True)
        with open(os.path.join(self.state, "config.json"), "w") as f:
            f.write(content if isinstance(content, str) else json.dumps(content))

    def by(self, user, *args, env=None):
        groups = [] if user is self.stranger else [self.group.gr_gid]
        return weir.as_user(self, user.pw_uid, *args, gid=user.pw_gid, groups=groups, env=env)

    def replicated(self):
        self.replicate(self.write("feed", FEED))
        assert self.run("engine", "start").code == 0
        return self


def journal(home):
    return home.run("journal", "--json", "--limit", "1000").lines


def test_the_group_looks_and_does_nothing():
    with Shared() as home:
        home.replicated()
        for args in LOOKS:
            r = home.by(home.viewer, *args, "--json")
            assert r.code == 0, (args, r)
        assert home.by(home.viewer, "engine", "status", "--json").last["access"] == "view"
        before = home.run("job", "show", "shop", "--json").last
        for args in CHANGES + ACTS:
            r = home.by(home.viewer, *args, "--json")
            assert r.code == 77 and r.error["code"] == "not_allowed" and r.error["next"], (args, r)
        assert home.run("job", "show", "shop", "--json").last == before
        refused = [a for a in journal(home) if a.get("phase") == "refused"]
        assert [a["what"] for a in refused] == [" ".join(a[:1] if a[0] not in ("job", "engine", "dlq", "secret") else a[:2]) for a in CHANGES + ACTS], refused
        assert {(a["who"], a["uid"], a["code"]) for a in refused} == {(home.viewer.pw_name, home.viewer.pw_uid, "not_allowed")}, refused


def test_what_is_refused_again_and_again_is_counted():
    with Shared() as home:
        home.replicated()
        for _ in range(12):
            assert home.by(home.viewer, "stop", "shop").code == 77
        assert home.by(home.viewer, "drain", "shop").code == 77
        with open(os.path.join(home.state, "journal.jsonl")) as f:
            assert f.read().count('"phase":"refused"') == 2
        # Who reads the journal is told how often, once.
        for _ in range(2):
            refused = [a for a in journal(home) if a.get("phase") == "refused"]
            assert [(a["what"], a.get("more")) for a in refused] == [("stop", None), ("drain", None), ("stop", 11)], refused
        assert refused[2]["who"] == home.viewer.pw_name and "11 more tries within a minute" in refused[2]["message"], refused


def test_operators_act_and_change_no_job():
    with Shared() as home:
        home.replicated()
        for args in LOOKS:
            assert home.by(home.operator, *args, "--json").code == 0, args
        for args in CHANGES:
            r = home.by(home.operator, *args, "--json")
            assert r.code == 77 and r.error["code"] == "not_allowed", (args, r)
        for args in (("start", "shop", "--why", "shift"), ("pause", "shop"), ("resume", "shop"), ("drain", "shop"), ("note", "all well")):
            r = home.by(home.operator, *args, "--json")
            assert r.code == 0, (args, r)
        acts = [a for a in journal(home) if a.get("uid") == home.operator.pw_uid]
        assert ("start", "after", "shift") in [(a.get("what"), a.get("phase"), a.get("why")) for a in acts], acts
        assert {a["who"] for a in acts} == {home.operator.pw_name}


def test_strangers_do_not_connect():
    with Shared() as home:
        home.replicated()
        for args in (("status",), ("engine", "start"), ("start", "shop"), ("run", "shop")):
            r = home.by(home.stranger, *args, "--json")
            assert r.code == 77 and r.error["code"] == "no_permission", (args, r)
        # Also where the folder and the socket were opened by somebody's chmod: the kernel's word decides.
        os.chmod(home.state, 0o711)
        os.chmod(os.path.join(home.state, "weird.sock"), 0o666)
        for args in (("status",), ("engine", "start"), ("start", "shop"), ("run", "shop")):
            r = home.by(home.stranger, *args, "--json")
            assert r.code == 77 and r.error["code"] == "not_a_member" and r.error["next"], (args, r)
        assert b"a stranger was sent away" in home.run("logs", "--json").out


def test_only_the_socket_is_open_to_the_group():
    with Shared() as home:
        home.replicated()
        gid = home.group.gr_gid
        info = os.stat(home.state)
        assert (stat.S_IMODE(info.st_mode), info.st_gid) == (0o710, gid), oct(info.st_mode)
        info = os.stat(os.path.join(home.state, "weird.sock"))
        assert (stat.S_IMODE(info.st_mode), info.st_gid) == (0o660, gid), oct(info.st_mode)
        for folder, folders, files in os.walk(home.state):
            for name in folders + [f for f in files if f not in ("weird.sock", "config.json")]:
                assert os.lstat(os.path.join(folder, name)).st_mode & 0o077 == 0, (folder, name)
        # Without the setting the socket is the owner's alone again.
        assert home.run("engine", "stop").code == 0
        home.settings({})
        assert home.run("engine", "start", "--json").last["started"] is True
        assert stat.S_IMODE(os.stat(os.path.join(home.state, "weird.sock")).st_mode) == 0o600
        assert home.by(home.viewer, "status", "--json").error["code"] == "no_permission"


def test_jobs_are_named_and_not_files_for_who_may_not_make_them():
    with Shared() as home:
        home.replicated()
        secret = home.write("secret.json", '{"name":"x","template":"the owner\'s alone"}')
        os.chmod(secret, 0o600)
        for user, args in ((home.viewer, ("job_show",)), (home.viewer, ("verify",)), (home.viewer, ("status",)), (home.operator, ("start",)),
                           (home.operator, ("merge",)), (home.operator, ("pause",))):
            for name in (secret, "../../secret.json", "secret.json", "jobs/shop.json"):
                answer = speak(home, user, [{"hello": {"protocol": 1}}, {"id": 1, "call": args[0], "args": {"job": name}}])
                assert answer[-1]["error"]["code"] == "not_allowed" and "alone" not in json.dumps(answer), (args, answer)


def speak(home, user, frames):
    """Lines as they are, by a process of that user; gives what was answered until the last call's end."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([home.group.gr_gid])
            os.setgid(user.pw_gid)
            os.setuid(user.pw_uid)
            s = socket.socket(socket.AF_UNIX)
            s.connect(os.path.join(home.state, "weird.sock"))
            s.sendall(b"".join(json.dumps(f).encode() + b"\n" for f in frames))
            s.shutdown(socket.SHUT_WR)
            while chunk := s.recv(65536):
                os.write(write, chunk)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as f:
        content = f.read()
    os.waitpid(pid, 0)
    return [json.loads(line) for line in content.splitlines()]


def test_where_a_client_comes_from_is_its_own_word():
    with Shared() as home:
        home.replicated()
        for ssh, kept in (("10.0.0.9 50000 10.0.0.1 22", "10.0.0.9 50000 10.0.0.1 22"), ("root was here\n", None), ("1\x1b[31m", None), ("9" * 500, None)):
            speak(home, home.operator, [{"hello": {"protocol": 1, "ssh": ssh, "user": "root", "uid": 0, "access": "admin"}},
                                        {"id": 1, "call": "note", "args": {"text": "here"}}])
            last = journal(home)[-1]
            assert last["who"] == home.operator.pw_name and last["uid"] == home.operator.pw_uid, last
            assert last.get("ssh_as_client_said") == kept and "ssh" not in last, last


def test_the_group_cannot_keep_the_owner_out():
    with Shared() as home:
        home.replicated()
        read, write = os.pipe()
        ready, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(write)
                os.setgroups([home.group.gr_gid])
                os.setgid(home.viewer.pw_gid)
                os.setuid(home.viewer.pw_uid)
                held, last = [], b""
                for _ in range(64):
                    s = socket.socket(socket.AF_UNIX)
                    s.connect(os.path.join(home.state, "weird.sock"))
                    try:
                        s.sendall(b'{"hello":{"protocol":1}}\n')
                    except BrokenPipeError:  # sent away before it has said a word; why stands there to be read
                        pass
                    last = s.recv(4096)
                    held.append(s)
                os.write(told, last)
                os.read(read, 1)
            finally:
                os._exit(0)
        os.close(told)
        assert b"too_many_sessions" in os.read(ready, 4096)
        assert home.run("engine", "status", "--json").last["sessions"] >= 56
        os.close(write)
        os.waitpid(pid, 0)


def refused(home, content, where, says):
    home.settings(content)
    for args in (("engine", "start"), ("status",), ("run", "shop")):
        r = home.run(*args, "--json")
        path = os.path.join(home.state, "config.json")
        assert r.code == 78 and r.error["code"] in ("bad_setting", "duplicate_member"), (content, r)
        assert r.error["message"].startswith(path + where) and says in r.error["message"], (content, r)


def test_mistakes_in_the_settings_have_their_place():
    with Shared() as home:
        group = home.group.gr_name
        refused(home, '{\n  "socketGroup": "no-such-group"\n}', ":2:18: socketGroup: ", "is no group")
        refused(home, '{"socketGroup": 7}', ":1:17: socketGroup: ", "the name of a group is allowed")
        refused(home, '{"socketGroup": "%s",\n "operators": ["root", "no-such-user"]}' % group, ":2:24: operators: ", "is no user")
        refused(home, '{"socketGroup": "%s",\n "operators": "root"}' % group, ":2:15: operators: ", "a list of names")
        refused(home, '{"socketGroup": "%s", "operators": [true]}' % group, ":1:", "the name of a user is allowed")
        refused(home, '{"operators": ["root"]}', ":1:15: operators: ", "socketGroup")
        refused(home, '{"socketGroup": "",}', ":1:20: ", "not JSON")
        refused(home, "", ":1:1: ", "empty")
        refused(home, "[]", "", "a JSON object is allowed")
        refused(home, '{"operators": [],\n"operators": []}', ":2:1: ", "stands twice")
        home.settings('{\n "soketGroup": "%s"}' % group)
        assert home.run("engine", "start").code == 0
        words = home.run("logs", "--json").out.decode()
        assert "config.json:2:2: soketGroup: " in words and "did you mean 'socketGroup'" in words, words


def test_a_group_needs_a_home_that_it_can_reach():
    with Shared() as home:
        os.makedirs(home.file("config/weir"))
        os.mkdir(home.file("run"), 0o700)
        with open(home.file("config/weir/config.json"), "w") as f:
            json.dump({"socketGroup": home.group.gr_name}, f)
        r = home.run("engine", "start", "--json", env={"WEIR_HOME": "", "XDG_CONFIG_HOME": home.file("config"), "XDG_STATE_HOME": home.file("state"),
                                                       "XDG_RUNTIME_DIR": home.file("run")})
        assert r.code == 78 and r.error["code"] == "bad_setting" and "WEIR_HOME" in r.error["message"], r
