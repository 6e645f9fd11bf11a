"""What fits on the terminal: lists and sentences at 80 and at 60 columns, pages of long lists; pipes get everything."""
import fcntl
import json
import os
import pty
import struct
import termios

import weir

COMMANDS = ("status", "job list", "job show shop", "tables", "tables --failing", "dlq groups", "dlq list", "dlq show 1", "why orders",
            "journal", "--help", "run --help", "dlq discard --help", "dlq", "explain not_utf8", "start shp", "verify shop")


def on_terminal(home, columns, rows, *args):
    """What the command shows on a terminal of that size, as lines."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    pid = os.fork()
    if pid == 0:
        os.chdir(home.path)
        os.login_tty(slave) if hasattr(os, "login_tty") else [os.dup2(slave, n) for n in (0, 1, 2)]
        os.execve(os.path.join(home.build, "weir"), ["weir", *args], dict(home.env, TERM="dumb"))
    os.close(slave)
    said = b""
    while True:
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        if not more:
            break
        said += more
    os.close(master)
    os.waitpid(pid, 0)
    return said.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def with_letters(home, count, **parameters):
    """A job with `count` letters in a table of its own, and two tables without."""
    events = [weir.event({"id": i, "n": "text" if i % 3 == 0 else i}, table=("orders", "customers", "order_line_items_2026")[i % 3], lsn=i + 1)
              for i in range(3 * count)]
    columns = {n: {"debezium": {"type": "int64"}} for n in ("id", "n")}
    schema = home.write("schema.json", json.dumps({"orders": {"columns": columns, "primary_key": ["id"]}}))
    home.replicate(home.write("feed.jsonl", weir.feed(events, weir.id_key)), expect=1, sourceSchema=schema, **parameters)


def longest(line):
    """Of a line that is too long: what could not be folded."""
    return max((len(word) for word in line.split()), default=0)


def test_nothing_is_wider_than_the_terminal():
    with weir.Home() as home:
        with_letters(home, 12)
        for columns, rows in ((80, 24), (60, 16)):
            for command in COMMANDS:
                for line in on_terminal(home, columns, rows, *command.split()):
                    # The bytes of a letter, a path and a parameter's value are data, and stay as they are.
                    if len(line) > columns and not line.startswith(("payload", "source", "attrs", "sha256", "  inputFile", "  sourceSchema")):
                        assert len(line) - len(line.lstrip()) + longest(line) > columns, (command, columns, line)


def test_columns_go_in_their_order_and_it_is_said():
    with weir.Home() as home:
        with_letters(home, 2)
        wide, narrow = (on_terminal(home, columns, 24, "tables") for columns in (80, 60))
        assert wide[0].split() == ["TABLE", "STATE", "RECEIVED", "WRITTEN", "FILTERED", "LETTERS", "PARKED", "JOB"], wide
        assert narrow[0].split() == ["TABLE", "STATE", "RECEIVED", "WRITTEN", "LETTERS", "JOB"], narrow
        assert "no room for FILTERED, PARKED" in " ".join(narrow), narrow
        assert not any("no room" in line for line in wide), wide
        # A name is never cut; what follows it stands below.
        assert "shop.order_line_items_2026" in narrow, narrow
        # A pipe has no width.
        assert home.run("tables").out.decode().splitlines()[0] == wide[0]


def test_a_long_list_is_a_page_on_a_terminal_and_whole_in_a_pipe():
    with weir.Home() as home:
        with_letters(home, 40)
        page = on_terminal(home, 80, 24, "dlq", "list")
        assert sum("type_mismatch" in line for line in page) == 10 and len(page) <= 24, page
        assert page[-1] == "weir: 30 more letters; --limit 0 shows all", page
        whole = on_terminal(home, 80, 24, "dlq", "list", "--limit", "0")
        assert sum("type_mismatch" in line for line in whole) == 40 and not any("more" in line for line in whole)
        assert home.run("dlq", "list").out.count(b"type_mismatch") == 40
        assert len(home.letters()) == 40
        r = home.run("dlq", "list", "--json", "--limit", "7", "--state", "new")
        assert [l["id"] for l in r.lines] == list(range(1, 8)) and b"33 more letters" in r.err, r
        r = home.run("dlq", "list", "--limit", "40")
        assert r.err == b"", r
        r = home.run("dlq", "groups", "--limit", "1")
        assert r.err == b"" and r.out.count(b"type_mismatch") == 1, r


def test_letters_are_looked_at_page_by_page_from_both_ends():
    with weir.Home() as home:
        with_letters(home, 40)

        def page(*args, code=0):
            r = home.run("dlq", "list", "--job", "shop", "--json", *args)
            assert r.code == code, r
            return [letter["id"] for letter in r.lines], r.err.decode()

        assert page("--after", "0", "--limit", "15") == (list(range(1, 16)), "weir: this page is full; --after 15 goes on\n")
        assert page("--after", "15", "--limit", "30", "--group", "1") == (list(range(16, 41)), "")
        assert page("--after", "40") == ([], "")
        assert page("--before", "41", "--limit", "3") == ([40, 39, 38], "weir: this page is full; --before 38 goes on\n")
        assert page("--before", "4", "--group", "1", "--state", "new") == ([3, 2, 1], "")
        assert page("--before", "4", "--state", "done") == ([], "")
        assert "one of them is allowed" in page("--after", "1", "--before", "3", code=2)[1]
        assert "--before is less than 1" in page("--before", "0", code=2)[1]
        r = home.run("dlq", "list", "--after", "3")
        assert r.code == 2 and b"does not say of which" in r.err, r


def test_the_line_that_is_drawn_in_place_fits():
    with weir.Home() as home:
        with_letters(home, 2)
        said = "\n".join(on_terminal(home, 60, 16, "run", "shop", "--until-idle", "--from-start", "--pace", "10"))
        drawn = [part.split("\n")[0] for part in said.split("\r")[1:]]
        assert drawn and all(len(part) < 60 for part in drawn), drawn
        assert "letters 2" in drawn[-1] and "needs you" in drawn[-1], drawn
