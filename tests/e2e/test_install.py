"""`make install`: what lies where, that weir finds weird, manual pages without warnings, completion as bash calls it, the unit."""
import os
import re
import shutil
import subprocess
import tempfile
import time

import weir

LAYOUT = {
    "bin/weir": 0o755,
    "libexec/weir/weird": 0o755,
    "share/man/man1/weir.1": 0o644,
    "share/man/man5/weir-job.5": 0o644,
    "share/man/man8/weird.8": 0o644,
    "share/bash-completion/completions/weir": 0o644,
}


def make(*words):
    # A make of its own, whoever runs this one.
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PREFIX", "DESTDIR")}
    p = subprocess.run(["make", "--no-print-directory", *words], cwd=weir.ROOT, env=env, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=300)
    assert p.returncode == 0, p.stdout.decode(errors="replace")[-3000:]
    return p.stdout.decode(errors="replace")


class Copy:
    """A copy of the plain build: another PREFIX must not touch the one that others test."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="weir-install-")
        self.build = os.path.join(self.path, "b")
        with weir.one_at_a_time("make"):
            for name in ("o/core", "o/tui", "made"):
                source = os.path.join(weir.ROOT, "build", name)
                if not os.path.isdir(source):
                    raise weir.Skip("no plain build to install")
                shutil.copytree(source, os.path.join(self.build, name))
            for name in ("weir", "weird", "libcore.a"):
                shutil.copy2(os.path.join(weir.ROOT, "build", name), self.build)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def install(self, prefix, destdir=""):
        return make("B=" + self.build, "PREFIX=" + prefix, "DESTDIR=" + destdir, "install")

    def file(self, *names):
        return os.path.join(self.path, *names)


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names)


def test_install_below_a_destdir_writes_nowhere_else():
    with Copy() as copy:
        copy.install("/usr/local", copy.file("dest"))
        want = dict(LAYOUT, **{"lib/systemd/user/weird.service": 0o644})
        assert files_below(copy.file("dest")) == sorted("usr/local/" + f for f in want)
        for name, mode in want.items():
            assert os.stat(copy.file("dest/usr/local", name)).st_mode & 0o777 == mode, name
        with open(copy.file("dest/usr/local/lib/systemd/user/weird.service")) as f:
            assert "ExecStart=/usr/local/libexec/weir/weird --serve\n" in f.read()


def test_another_prefix_is_found_without_make_clean():
    """weir looks in the libexec folder of its own prefix; what knows the prefix is built anew, the rest is not."""
    with Copy() as copy, weir.Home() as home:
        copy.install(copy.file("one"))
        second = copy.install(copy.file("two"))
        assert second.count(" -c -o ") == 1 and "control/start.o" in second, second
        assert files_below(copy.file("two")) == sorted([*LAYOUT, "share/systemd/user/weird.service"])
        shutil.rmtree(copy.file("one"))
        home.build = copy.file("two/bin")
        feed = home.write("feed", weir.feed([weir.event({"id": 1, "n": 1}, lsn=5)], weir.id_key))
        assert home.replicate(feed)["written"] == 1
        assert home.run("tables", "--json").last["table"] == "shop.t"
        status = home.run("engine", "status", "--json")
        assert status.code == 0, status
        with open(os.path.join(home.state, "weird.lock")) as f:
            assert os.readlink("/proc/%d/exe" % int(f.read())) == copy.file("two/libexec/weir/weird")
        home.run("engine", "stop")
        os.remove(copy.file("two/libexec/weir/weird"))
        r = home.run("tables", "--json")
        assert r.code == 69 and r.error["code"] == "engine_not_found" and copy.file("two/libexec/weir") in r.error["message"], r


def made():
    """The documents of the plain build, made anew where a table has changed."""
    with weir.one_at_a_time("make"):
        make("manual")
    return os.path.join(weir.ROOT, "build", "man")


def rendered(page):
    env = dict(os.environ, MANWIDTH="80", LC_ALL="C.UTF-8", MANROFFOPT="-c")
    p = subprocess.run(["man", "--warnings=w", "-l", page], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    assert p.returncode == 0 and not p.stderr, p.stderr
    return re.sub(".\b", "", p.stdout.decode())


def test_manual_pages_render_without_a_warning_and_name_everything():
    if not shutil.which("man") or not shutil.which("groff"):
        raise weir.Skip("man and groff are not installed")
    folder = made()
    with open(os.path.join(weir.ROOT, "core/control/commands.def")) as f:
        commands = re.findall(r'^COMMAND\(\w+, "([^"]+)"', f.read(), re.M)
    with open(os.path.join(weir.ROOT, "core/base/reasons.def")) as f:
        codes = re.findall(r'^REASON\("(\w+)"', f.read(), re.M)
    page = rendered(os.path.join(folder, "weir.1"))
    words = " ".join(page.split())
    assert len(commands) > 10 and len(codes) > 50
    assert [c for c in commands if "weir " + c not in words] == []
    assert [c for c in codes if not re.search(r"^ +%s$|^ +%s " % (c, c), page, re.M)] == []
    page = rendered(os.path.join(folder, "weir-job.5"))
    with open(os.path.join(weir.ROOT, "core/options/PARAMETERS.md")) as f:
        parameters = re.findall(r"^\| `(\w+)` \|", f.read(), re.M)
    assert len(parameters) > 20
    assert [p for p in parameters if not re.search(r"^ +%s\b" % p, page, re.M)] == []
    assert "--end-when-idle" in rendered(os.path.join(folder, "weird.8"))


def complete(home, *words):
    """What TAB offers behind the words (the last one is half typed), as bash calls a completion."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weir "$PROGRAM"; printf "%s\\n" "${COMPREPLY[@]}"'
    env = dict(home.env, PROGRAM=os.path.join(home.build, "weir"))
    p = subprocess.run(["bash", "--norc", "-c", script, "bash", os.path.join(made(), "weir.bash"), "weir", *words], env=env,
                       cwd=home.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    assert p.returncode == 0 and not p.stderr, p.stderr.decode()
    return p.stdout.decode().split("\n")[:-1]


def test_completion_offers_what_the_tables_have():
    with weir.Home() as home:
        assert complete(home, "ver") == ["verify", "version"]
        assert complete(home, "engine", "st")[-2:] == ["status", "stop"]
        assert set(complete(home, "dlq", "")) >= {"groups", "list", "show", "export"}
        assert complete(home, "explain", "not_j") == ["not_json"]
        assert complete(home, "dlq", "list", "--g") == ["--group"]
        assert complete(home, "run", "x.json", "--until") == ["--until-idle"]
        assert complete(home, "run", "--param", "replicationM") == ["replicationMode="]
        assert complete(home, "run", "--param", "replicationMode", "=", "") == ["merge", "changelog", "upsert", "append"]
        assert complete(home, "run", "--param", "replicationMode", "=", "me") == ["merge"]
        assert complete(home, "no", "such") == [""]
        assert complete(home, "tables", "x") == [""]


def test_completion_knows_jobs_and_groups_and_starts_no_engine():
    with weir.Home() as home:
        assert complete(home, "verify", "") == [""]
        bad = weir.event({"id": 1}, lsn=5, op="?")
        home.replicate(home.write("feed", weir.feed([bad, weir.event({"id": 2}, lsn=6)], weir.id_key)), expect=1)
        assert complete(home, "verify", "") == ["shop"]
        assert complete(home, "merge", "sh") == ["shop"]
        assert complete(home, "tables", "--job", "") == ["shop"]
        assert complete(home, "dlq", "list", "--group", "") == [""]
        assert not os.path.exists(os.path.join(home.state, "weird.sock"))
        home.letters()
        assert complete(home, "dlq", "list", "--group", "") == ["1"]
        assert complete(home, "why", "shop") == ["shop.t"]


FAKES = {
    "systemctl": '#!/bin/sh\necho "systemctl $*" >>"$CALLS"\n[ -e "$UNIT_WORKS" ] || exit 5\n'
                 'if [ "$2" = is-active ]; then grep -qs "^State:.[^Z]" "/proc/$(cat "$UNIT_WORKS")/status"; exit; fi\n'
                 '"$ENGINE" --serve </dev/null >/dev/null 2>&1 &\necho $! >"$UNIT_WORKS"\n',
    "loginctl": '#!/bin/sh\necho "loginctl $*" >>"$CALLS"\ncat "$LINGER"\n',
    "busctl": '#!/bin/sh\necho "busctl $*" >>"$CALLS"\necho "b true"\n',
}


class Login(weir.Home):
    """A user's login with a systemd that writes down what it is asked; the home is the one without WEIR_HOME."""

    def __init__(self, build, linger):
        super().__init__(build)
        os.mkdir(self.file("bin"))
        for name, content in FAKES.items():
            os.chmod(self.write("bin/" + name, content), 0o755)
        os.makedirs(self.file("run/systemd"))
        os.chmod(self.file("run"), 0o700)
        self.write("run/systemd/private", "")
        self.write("linger", linger + "\n")
        self.write("calls", "")
        for name in ("WEIR_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            self.env.pop(name, None)
        self.state = self.file(".local/state/weir")
        self.env.update(HOME=self.path, XDG_RUNTIME_DIR=self.file("run"), XDG_SESSION_ID="1", CALLS=self.file("calls"),
                        LINGER=self.file("linger"), UNIT_WORKS=self.file("unit"), PATH=self.file("bin") + ":" + os.environ["PATH"],
                        ENGINE=os.path.join(os.path.dirname(build), "libexec/weir/weird"))

    def calls(self):
        with open(self.file("calls")) as f:
            return f.read().split("\n")[:-1]


def test_the_unit_is_started_where_it_outlives_the_login():
    with Copy() as copy:
        copy.install(copy.file("p"))
        with Login(copy.file("p/bin"), "yes") as home:
            home.write("unit", "")
            r = home.run("tables", "--json")
            assert r.code == 0 and r.err == b"", r
            assert home.calls()[-1] == "systemctl --user start weird.service", home.calls()
            assert home.run("tables").code == 0 and len(home.calls()) == 2
        with Login(copy.file("p/bin"), "yes") as home:  # no such unit
            assert home.run("tables", "--json").code == 0
            assert "systemctl --user start weird.service" in home.calls()
        with Login(copy.file("p/bin"), "no") as home:  # ends with the login, and logind says that processes do
            r = home.run("tables")
            assert r.code == 0 and b"loginctl enable-linger" in r.err, r
            assert not [c for c in home.calls() if c.startswith("systemctl")]
        with Login(copy.file("p/bin"), "yes") as home:  # the unit's home is another one
            home.write("unit", "")
            home.env["WEIR_HOME"] = home.state = home.file("other")
            assert home.run("tables").code == 0
            assert not [c for c in home.calls() if c.startswith("systemctl")]


def test_a_unit_that_ends_again_does_not_hide_the_reason():
    with Copy() as copy:
        copy.install(copy.file("p"))
        with Login(copy.file("p/bin"), "yes") as home:
            home.write("unit", "")
            home.write(".local", "")
            began = time.monotonic()
            r = home.run("tables", "--json")
            assert r.code == 78 and r.error["code"] == "not_a_folder", r
            assert time.monotonic() - began < 5 and "systemctl --user is-active weird.service" in home.calls(), home.calls()


def test_the_unit_is_one_that_systemd_reads():
    tool = shutil.which("systemd-analyze")
    if not tool:
        raise weir.Skip("systemd-analyze is not installed")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(made(), "weird.service")) as f:
            unit = re.sub(r"^ExecStart=.*$", "ExecStart=/bin/true --serve", f.read(), flags=re.M)
        path = os.path.join(folder, "weird.service")
        with open(path, "w") as f:
            f.write(unit)
        p = subprocess.run([tool, "--man=no", "verify", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        about = [line for line in p.stdout.decode().split("\n") if "weird.service" in line]
        assert not about, about
