"""The screen tests' hands: a terminal with a program in it, keys by their names, screens compared with golden files."""
import difflib
import getpass
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

import weir

HERE = os.path.dirname(os.path.abspath(__file__))
LOGS = os.path.join(weir.ROOT, "build", "test-logs")
GOLDEN = os.path.join(HERE, "golden")
THEME = os.path.join(weir.ROOT, "themes", "test.theme")
DEADLINE_S = 60 if "san" in weir.BUILD else 20
ACCEPT = os.environ.get("WEIR_ACCEPT") == "1"
WATCH_S = float(os.environ.get("WEIR_WATCH", "0"))

# Names of keys as the console's own key files write them, and what a terminal of the xterm family sends.
KEYS = {
    "Enter": "\r", "Esc": "\033", "Tab": "\t", "S-Tab": "\033[Z", "Backspace": "\x7f", "Space": " ",
    "Up": "\033[A", "Down": "\033[B", "Right": "\033[C", "Left": "\033[D", "Home": "\033[H", "End": "\033[F",
    "PgUp": "\033[5~", "PgDn": "\033[6~", "Insert": "\033[2~", "Delete": "\033[3~",
    "F1": "\033OP", "F2": "\033OQ", "F3": "\033OR", "F4": "\033OS", "F5": "\033[15~", "F10": "\033[21~", "F12": "\033[24~",
}

# What differs between two runs that are the same: pattern, what stands for it, reason. None: as many marks as it is wide, but
# for the signs that show its form. A text stands for what is of no fixed width, padded where the match ends in blanks.
MASKS = [
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", None, "a moment of this run"),
    (r"\b\d\d:\d\d:\d\d(\.\d+)?Z?", None, "the clock, and the times of rows"),
    (r"\b\d\d:\d\d(Z\b|(?=\W|$))", None, "times without seconds"),
    (r"~\d+(\.\d+)?[smhd]\d*[smhd]?", None, "the age of a number"),
    (r"\b\d+(\.\d+)?(s|m\d\ds|h\d\dm|d)(?= ago\b)", "AGE", "how long ago"),
    (r"\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b", None, "a day of this run"),
    (r"(?<=pid )\d+", "PID", "a process"),
    (r"weird [\d.]+ \(.*$", "weird VERSION", "version, commit and process, cut at the edge or not"),
    (re.escape(tempfile.gettempdir()) + r"/weir-\w+", "/HOME", "the home of a test"),
    (r"(?<= )%s(?= ) *" % re.escape(getpass.getuser()), "user", "who runs the tests"),
]
KEPT_SIGNS = ":~-. "


class Deadline(AssertionError):
    """What was awaited did not come."""


def key_bytes(name):
    if name in KEYS:
        return KEYS[name].encode()
    if name.startswith("C-") and len(name) == 3:
        return bytes([ord(name[2].upper()) & 0x1F])
    if name.startswith("M-"):
        return b"\033" + key_bytes(name[2:])
    assert len(name) == 1, "no key is called " + name
    return name.encode()


def roles():
    """Names of the roles in their order: the one table that the console's cells are made from."""
    with open(os.path.join(weir.ROOT, "tui", "term", "roles.def")) as f:
        return re.findall(r'^ROLE\(\w+, "([\w.]+)"', f.read(), re.M)


def letter_of(number):
    """Of a role: a, b, .. z, A, .. as the console's own :save-screen has it."""
    return chr(ord("a") + number) if number < 26 else chr(ord("A") + number - 26)


def marks_of(found, instead):
    if instead is None:
        return "".join(c if c in KEPT_SIGNS else "#" for c in found)
    return instead.ljust(len(found)) if found.endswith(" ") else instead


def mask(line, also=None):
    """The line with marks for what differs from run to run. `also`: a list of as many things, kept in step."""
    for pattern, instead, _ in MASKS:
        at = 0
        while match := re.compile(pattern).search(line, at):
            marks = marks_of(match.group(), instead)
            line = line[: match.start()] + marks + line[match.end() :]
            if also is not None:
                also[match.start() : match.end()] = [also[match.start()]] * len(marks)
            at = match.start() + len(marks)
    return line


class Cell:
    __slots__ = ("text", "fg", "bg", "attributes")

    def __init__(self, text, fg, bg, attributes):
        self.text, self.fg, self.bg, self.attributes = text, fg, bg, attributes

    @property
    def look(self):
        return self.fg, self.bg, self.attributes


# test.theme gives role N the colour 16 + N; other looks get a sign and a line below the picture.
FIRST_ROLE_COLOUR = 16
LOOK_SIGNS = "0123456789!#$%&*+<>?@^_~"
NO_LOOK = (-1, -1, "")


def say_look(look, names):
    fg, bg, attributes = look
    words = []
    if FIRST_ROLE_COLOUR <= fg < FIRST_ROLE_COLOUR + len(names):
        words.append(names[fg - FIRST_ROLE_COLOUR])
    elif fg >= 0:
        words.append("colour %d" % fg)
    if bg >= 0:
        words.append("on %d" % bg)
    known = {"b": "bold", "u": "underlined", "i": "italic", "k": "blinking", "r": "reverse", "s": "struck"}
    return " ".join(words + [known[a] for a in attributes])


class Picture:
    """One look at the screen: rows of cells, one cell a column."""

    def __init__(self, rows, cursor):
        self.rows, self.cursor = rows, cursor

    @property
    def lines(self):
        return ["".join(cell.text for cell in row).rstrip() for row in self.rows]

    @property
    def masked(self):
        return [mask(line).rstrip() for line in self.lines]

    def layers(self):
        """(lines of letters, lines that say what they mean)."""
        names, said, signs = roles(), {NO_LOOK: "."}, iter(LOOK_SIGNS)
        for look in (cell.look for row in self.rows for cell in row):
            if look not in said:
                fg, bg, attributes = look
                is_role = FIRST_ROLE_COLOUR <= fg < FIRST_ROLE_COLOUR + len(names) and bg < 0 and not attributes
                said[look] = letter_of(fg - FIRST_ROLE_COLOUR) if is_role else next(signs)
        lines = [self._letters(row, said) for row in self.rows]
        return lines, sorted("%s %s" % (said[look], say_look(look, names)) for look in said if look != NO_LOOK)

    @staticmethod
    def _letters(row, said):
        """Letters of a row, one a column, without those of ordinary blanks at its end."""
        cells = [(cell.text[:1] or "\0", said[cell.look]) for cell in row]
        # Without the blanks first: a mask that reaches to the end of a line must not take them for text.
        while cells and cells[-1][0] == " " and cells[-1][1] in ".a":
            cells.pop()
        mask("".join(text for text, _ in cells), cells)
        return "".join(letter for _, letter in cells)

    def role_at(self, row, col):
        fg = self.rows[row][col].fg - FIRST_ROLE_COLOUR
        names = roles()
        return names[fg] if 0 <= fg < len(names) else None

    def golden(self):
        letters, meaning = self.layers()
        parts = ["-- text", *self.masked, "-- roles", *letters, "-- where", *meaning]
        if self.cursor is not None:
            parts.append("cursor at row %d, column %d" % self.cursor)
        return "\n".join(parts) + "\n"


class Terminal:
    """A program in a terminal of its own. Every wait has a deadline that fails."""

    def __init__(self, command, cols=80, rows=24, term="xterm-256color", env=None, cwd=None):
        self.cols, self.rows = cols, rows
        env = dict(env or os.environ)
        self.driver = subprocess.Popen([os.path.join(weir.BUILD, "tests", "screen", "terminal")], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, env=env, cwd=cwd)
        words = [urllib.parse.quote(str(word), safe="/.=-") for word in command]
        self.ask("start %d %d %s %s" % (rows, cols, term, " ".join(words)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.stdin.close()
        self.driver.wait(30)
        self.driver.stdout.close()

    def ask(self, line):
        """One line to the terminal; gives the lines of its answer, the last one's value as the last."""
        self.driver.stdin.write(line.encode() + b"\n")
        self.driver.stdin.flush()
        lines = []
        while True:
            got = self.driver.stdout.readline().decode()
            assert got, "the terminal has ended at: " + line
            word, _, value = got.rstrip("\n").partition(" ")
            if word == "ok":
                return lines + [value]
            if word == "error":
                raise Deadline("%s: %s\n%s" % (line.split()[0], value, self._last_words(line)))
            lines.append(got)

    def _last_words(self, line):
        return "" if line.startswith(("screen", "cursor", "start")) else "the screen:\n" + "\n".join(self.picture().lines)

    def send(self, data):
        """Bytes as they are, nothing awaited."""
        for at in range(0, len(data), 65536):
            self.ask("keys " + data[at : at + 65536].hex())

    def sync(self, deadline_s=None):
        """All that was sent has been handled, and what it changed is on the screen."""
        self.ask("sync %d" % (1000 * (deadline_s or DEADLINE_S)))

    def press(self, names):
        """Keys by their names with blanks between: press("g d Enter")."""
        for name in names.split():
            self.send(key_bytes(name))
            # A lone Esc is one that nothing follows: its handling is awaited, else the next key would make it Alt.
            if name == "Esc":
                self.sync()
        self.sync()
        if WATCH_S:
            print("\033[H\033[2J%s\n[%s]" % ("\n".join(self.picture().lines), names), file=sys.stderr)
            time.sleep(WATCH_S)

    def type(self, text):
        self.send(text.encode())
        self.sync()

    def paste(self, text):
        self.send(b"\033[200~" + text.encode() + b"\033[201~")
        self.sync()

    def resize_only(self, cols, rows):
        """Without a sync: the next thing may come before the program has noticed."""
        self.cols, self.rows = cols, rows
        self.ask("resize %d %d" % (rows, cols))

    def resize(self, cols, rows):
        self.resize_only(cols, rows)
        self.sync()

    def picture(self):
        *lines, _ = self.ask("screen")
        rows = []
        for line in lines:
            rows.append([Cell(text, fg, bg, attributes) for fg, bg, attributes, texts in json.loads(line) for text in texts])
        row, col, shown = map(int, self.ask("cursor")[-1].split())
        return Picture(rows, (row, col) if shown else None)

    def row(self, text):
        """Number of the first row that holds the text; fails if none does."""
        lines = self.picture().lines
        for number, line in enumerate(lines):
            if text in line:
                return number
        raise AssertionError("%r is not on the screen:\n%s" % (text, "\n".join(lines)))

    def wait_for(self, wanted, deadline_s=None):
        """Until the picture satisfies `wanted` (a text that it shows, or a function of it). What the engine does takes its
        time: the screen is asked again after each sync, and a deadline fails."""
        until = time.monotonic() + (deadline_s or DEADLINE_S)
        holds = wanted if callable(wanted) else lambda picture: any(wanted in line for line in picture.lines)
        while True:
            self.sync()
            picture = self.picture()
            if holds(picture):
                return picture
            if time.monotonic() > until:
                raise Deadline("%s did not come; the screen:\n%s" % (wanted, "\n".join(picture.lines)))

    def wait_shown(self, text, deadline_s=None):
        """Until the text is on the screen, of a program that answers no sync: a shell, say."""
        until = time.monotonic() + (deadline_s or DEADLINE_S)
        while not any(text in line for line in self.picture().lines):
            if time.monotonic() > until:
                raise Deadline("%r did not come; the screen:\n%s" % (text, "\n".join(self.picture().lines)))
            self.ask("more 200")

    def expect(self, name):
        """The screen is the golden one of that name and this size. WEIR_ACCEPT=1 records it anew."""
        compare("%s.%dx%d" % (name, self.cols, self.rows), self.picture().golden())

    def bytes(self):
        """How many the program has sent since this was asked last; answers to sync are not counted."""
        return int(self.ask("bytes")[-1])

    def raw(self):
        return bytes.fromhex(self.ask("raw")[-1])

    def modes(self):
        """(whole lines are read, the terminal's modes are as before the start, private modes that are on)."""
        reading, same, *on = self.ask("modes")[-1].split()
        return reading == "lines", same == "same", {int(mode) for mode in on}

    def stall(self, on):
        self.ask("stall " + ("on" if on else "off"))

    def other_widths(self):
        """From now on two columns for U+0800 to U+0FFF, one for what is beyond U+FFFF."""
        self.ask("widths other")

    def signal(self, name):
        self.ask("signal " + name)

    def hang_up(self):
        self.ask("close")

    def pid(self):
        return int(self.ask("pid")[-1])

    def wait(self, deadline_s=None):
        """The program's end: its exit status, or minus the signal that ended it."""
        how, number = self.ask("wait %d" % (1000 * (deadline_s or DEADLINE_S)))[-1].split()
        return int(number) if how == "exited" else -int(number)

    def record_bytes(self, name):
        """What the last steps cost, into build/test-logs/screen-bytes.txt; gives it."""
        count = self.bytes()
        with weir.one_at_a_time("screen-bytes"):
            write_bytes("%s.%dx%d" % (name, self.cols, self.rows), count)
        return count

    def assert_quiet(self, syncs=3):
        """Nothing happens, so nothing is sent. Of a minute that ends meanwhile the clock tells: then it is tried again."""
        self.sync()
        for _ in range(3):
            before = self.picture()
            self.bytes()
            for _ in range(syncs):
                self.sync()
            count, after = self.bytes(), self.picture()
            if count == 0:
                return
            if before.lines == after.lines or before.masked != after.masked:
                break
        raise AssertionError("%d bytes were sent for a screen on which nothing happens: %r" % (count, self.raw()[-count - 400 :]))


def write_bytes(name, count):
    path = os.path.join(LOGS, "screen-bytes.txt")
    os.makedirs(LOGS, exist_ok=True)
    known = {}
    if os.path.exists(path):
        with open(path) as f:
            known = dict(reversed(line.split(None, 1)) for line in f.read().splitlines() if line.strip())
    known[name] = str(count)
    with open(path, "w") as f:
        f.writelines("%8s %s\n" % (known[key], key) for key in sorted(known))


def difference(expected, got, its_name, got_name):
    return "\n".join(difflib.unified_diff(expected.splitlines(), got.splitlines(), its_name, got_name, n=1, lineterm=""))


def compare(name, got):
    path = os.path.join(GOLDEN, name)
    if ACCEPT:
        os.makedirs(GOLDEN, exist_ok=True)
        with open(path, "w") as f:
            f.write(got)
        return
    expected = ""
    if os.path.exists(path):
        with open(path) as f:
            expected = f.read()
    if got == expected:
        return
    folder = os.path.join(LOGS, "screens")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as f:
        f.write(got)
    raise AssertionError("the screen differs (WEIR_ACCEPT=1 records it; whole: build/test-logs/screens/%s)\n%s" % (
        name, difference(expected, got, "golden/" + name, "the screen")))

