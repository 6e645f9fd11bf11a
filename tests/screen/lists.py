"""Lists as they stand on a screen, read by columns, and a home with enough in it to fill them."""
import re

import console
import weir


def make_many(home):
    """Three jobs: one that has a table in trouble, one that has nearly everything in trouble, one that is well."""
    console.make_broken(home)
    for stream, name in (("poison", "poison"), ("pg-shop", "well")):
        folder = weir.stream(stream)
        more = {"sourceSchema": folder + "/schema.json", "primaryKey": console.SHOP_KEY} if name == "well" else {}
        file = home.job(folder + "/feed.jsonl", name, changeLogDataset=name + "_log", replicaDataset=name, **more)
        assert home.run("job", "create", file).code == 0
        assert home.run("run", name, "--until-idle").code == (0 if name == "well" else 1)
    home.run("engine", "stop")
    return home


def many():
    return console.copy_of(make_many)


def steps(t, names):
    """Keys by a person who looks before the next one."""
    t.sync()
    for name in names.split():
        t.press(name)


def line(t, text):
    t.sync()
    t.press(":")
    t.type(text)
    t.press("Enter")


def json_lines(home, *words):
    return home.run(*words, "--json").lines


def columns(lines, *heads):
    """Rows of the list whose heads these are among: (cell of a head, whole row). A number ends where its head ends; a text
    begins where its head begins."""
    at = next(i for i, text in enumerate(lines) if all(re.search(r"(^| )%s( |$)" % re.escape(head), text) for head in heads))
    spans = {match.group(): match.span() for match in re.finditer(r"[^ ]+", lines[at].replace("JOB / TABLE", "JOB_/_TABLE"))}
    rows = []
    for text in lines[at + 1 :]:
        if not text.strip() or text[:2] not in ("  ", "> ") or text.startswith("  ("):
            break
        rows.append((Cells(text, spans), text))
    return rows


class Cells:
    def __init__(self, text, spans):
        self.line, self.spans = text, spans

    def number(self, head):
        """None where the screen has not this column (it is narrow) or shows that there is none."""
        if head not in self.spans:
            return None
        end = self.spans[head][1]
        assert end <= len(self.line) and self.line[end : end + 1] in ("", " "), (head, self.line)
        word = self.line[:end].split()[-1]
        if word == "-":
            return None
        match = re.fullmatch(r"([\d,]+|\d+\.\d+)([kMG]?)", word)
        assert match, "%s is no number in column %s of %r" % (word, head, self.line)
        return float(match.group(1).replace(",", "")) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[match.group(2)]

    def text(self, head):
        return re.split(r"  +| (?=-?\d*$)", self.line[self.spans[head][0] :])[0].rstrip()

    def word(self, head):
        return self.line[self.spans[head][0] :].split()[0]


def is_cut_of(name, whole_name):
    """Is a name on the screen that one, cut in its middle or at its end?"""
    front, dots, back = name.partition("..")
    return name == whole_name or (bool(dots) and whole_name.startswith(front) and whole_name.endswith(back))


def whole(name, names):
    """The one that a name on the screen stands for, which may be cut there."""
    found = [n for n in names if is_cut_of(name, n)]
    assert len(found) == 1, (name, found)
    return found[0]
