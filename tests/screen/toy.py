"""A tiny program in a terminal, for the test of the driver: what it does wrong, it does when told to by a key."""
import curses
import os
import re
import time

ITEMS = ["first", "second", "third"]


class Toy:
    def __init__(self, screen):
        self.screen, self.selected, self.note, self.wide, self.is_wrong = screen, 0, "", False, False
        self.pending = b""
        self.has_roles = curses.tigetnum("colors") >= 256
        if self.has_roles:
            curses.start_color()
            curses.use_default_colors()
            # As test.theme: roles text (0) and selection (8).
            for pair, role in ((1, 0), (2, 8)):
                curses.init_pair(pair, 16 + role, -1)

    def look(self, is_selected):
        if self.has_roles:
            return curses.color_pair(2 if is_selected else 1)
        return curses.A_REVERSE if is_selected else curses.A_NORMAL

    def draw(self):
        self.screen.erase()
        rows, cols = self.screen.getmaxyx()
        for number, item in enumerate(ITEMS):
            text = ("\u4e2d\u6587e\u0301 " if self.wide else "") + item
            lit = number == self.selected and not self.is_wrong
            if number + 1 < rows and cols > 20:
                self.screen.addstr(number, 0, text.ljust(12), self.look(lit))
        if rows > 1 and cols > 20:
            self.screen.addstr(rows - 2, 0, "%dx%d %s" % (cols, rows, self.note))
        self.screen.refresh()

    def key(self, key):
        if key == b"j":
            self.selected = (self.selected + 1) % len(ITEMS)
        elif key == b"h":
            self.is_wrong = True
        elif key == b"w":
            self.wide = True
        elif key == b"s":
            time.sleep(0.4)  # work that takes its time: the token that follows must wait for it
            self.note = "slow work done"
        elif key == b"f":
            self.flood()
        elif key == b"n":
            self.note = "deaf"
            self.draw()
            while True:
                os.read(0, 1)
        elif key == b"x":
            os._exit(3)
        elif key == b"q":
            raise SystemExit(0)

    def flood(self):
        for number in range(40000):
            os.write(1, b"\033[1;1Hflood %07d" % number)
        self.screen.clearok(True)
        self.note = "flood over"

    def run(self):
        self.draw()
        while True:
            got = os.read(0, 4096)
            if not got:
                return
            self.pending += got
            while self.pending and self.take():
                pass

    def take(self):
        """One key or token; False: it is not whole yet."""
        token = re.match(rb"\033\]7717;([^\a]*)\a", self.pending)
        if token:
            self.pending = self.pending[token.end() :]
            size = os.get_terminal_size(1)
            if (size.lines, size.columns) != self.screen.getmaxyx():
                curses.resizeterm(size.lines, size.columns)
            self.draw()
            os.write(1, token.group())
            return True
        if self.pending.startswith(b"\033]"):
            return False
        key, self.pending = self.pending[:1], self.pending[1:]
        self.key(key)
        return True


def main(screen):
    curses.raw()
    try:
        curses.curs_set(0)
    except curses.error:
        pass  # a vt100 cannot
    Toy(screen).run()


curses.wrapper(main)
