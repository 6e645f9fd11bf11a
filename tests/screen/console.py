"""The console's hands: a home whose job has run, and the console in a terminal of its own."""
import atexit
import json
import os
import shutil

import screen
import weir

SHOP_KEY = {"events": ["seq"]}

# Homes that were made once; each test gets a copy.
made = {}


def named_home():
    """A home whose engine has the same name on every machine."""
    home = weir.Home()
    os.makedirs(home.state, mode=0o700)
    home.write("home/config.json", json.dumps({"name": "test"}))
    return home


def ran(home, expect, **parameters):
    """The engine of this home has run job `shop` to the end of its feed, and has ended."""
    r = home.run("job", "create", home.job(home.file("feed"), **parameters), "--json")
    assert r.code == 0, r
    r = home.run("run", "shop", "--until-idle", "--json")
    assert r.code == expect, r
    home.run("engine", "stop")
    return home


def make_finished(home):
    folder = weir.stream("pg-shop")
    os.symlink(folder + "/feed.jsonl", home.file("feed"))
    os.symlink(folder + "/schema.json", home.file("schema.json"))
    return ran(home, 0, sourceSchema=home.file("schema.json"), primaryKey=SHOP_KEY)


def make_broken(home):
    """One table that is well, one that got a column which its job does not take: a group of dead letters."""
    columns = {"id": {"bigquery": "INT64"}, "name": {"bigquery": "STRING"}}
    home.write("schema.json", json.dumps({t: {"primary_key": ["id"], "columns": columns} for t in ("customers", "orders")}))
    well = [weir.event({"id": i, "name": "customer %d" % i}, table="customers", lsn=100 + i) for i in range(40)]
    phone = [{"phone": "555-%04d" % i} if i % 5 == 4 else {} for i in range(40)]
    bad = [weir.event({"id": i, "name": "order %d" % i, **phone[i]}, table="orders", lsn=200 + i) for i in range(40)]
    home.write("feed", weir.feed(well + bad, weir.id_key))
    return ran(home, 1, sourceSchema=home.file("schema.json"), schemaChanges="reject")


def copy_of(make):
    if make not in made:
        made[make] = make(named_home())
        atexit.register(made[make].__exit__)
    home = weir.Home()
    os.rmdir(home.path)
    shutil.copytree(made[make].path, home.path, symlinks=True, ignore=lambda _, names: [n for n in names if n.endswith("sock")])
    os.chmod(home.path, 0o700)
    return home


def finished_shop():
    """The recorded shop, all of it replicated, nothing wrong."""
    return copy_of(make_finished)


def broken_shop(anew=False):
    """A job that has refused some rows of a table; `anew`: within this minute, which its screens tell."""
    if anew:
        made.pop(make_broken, None)
    return copy_of(make_broken)


def unchanging(row):
    """A line of --json without what moves by itself."""
    moving = ("at", "age", "since", "uptime", "now", "sessions", "lag", "rate", "seconds", "pid", "memory", "clients")
    return {name: value for name, value in row.items() if not any(part in name for part in moving)}


def console(home, *flags, theme=screen.THEME, env=None, stderr=None, **kw):
    """`weir` in a terminal, each role in a colour of its own. `stderr`: a file in the home instead of the console's own keeping;
    what UBSan says goes nowhere else, and with the name sanitizer.X it fails the test."""
    words = [os.path.join(home.build, "weir"), *(["--theme", theme] if theme else []), *flags]
    if stderr:
        words = ["sh", "-c", 'exec "$@" 2>>' + stderr, "sh", *words]
    return screen.Terminal(words, env=dict(home.env, **(env or {})), cwd=home.path, **kw)
