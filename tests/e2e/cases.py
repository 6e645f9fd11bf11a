"""A random history and how it is delivered: in which order, what twice, in which pieces with a run behind each, killed where.

`play` runs it and says in words what is wrong with the ledger, the replica, the changelog or `weir verify`."""
import json
import os
import re
import signal
from decimal import Decimal

import histories
import rendering
import weir
from kinds import KINDS
from odd_names import stored_column

# Short batches and kills need the switches of a test build; the plain one does without.
HAS_SWITCHES = os.path.basename(weir.BUILD) in ("crash", "asan", "tsan")
BARE_COLUMNS = {"int": "INT64", "bool": "BOOL", "float": "FLOAT64", "text": "STRING"}
struck = []  # the kills that came to pass


def crash_points():
    with open(os.path.join(weir.ROOT, "core", "base", "crash_points.def")) as f:
        return re.findall(r"^CRASH_POINT\((\w+),", f.read(), re.M)


class Case:
    def __init__(self, rng, mode, is_shuffled, kills=0):
        self.mode = mode
        # A table whose first row in sight has the default already is not known to have been without: only in order.
        self.history = histories.History(rng, has_gone=mode == "merge" or not is_shuffled, has_defaults=not is_shuffled,
                                          has_renames=mode == "merge" or not is_shuffled, only=os.environ.get("WEIR_CONNECTOR"))
        if mode == "upsert":  # without a changelog there is nothing to hold rows that cannot be told apart
            self.history.changes = [c for c in self.history.changes if c["key"]]
        self.changes = self.history.changes
        self.batch = rng.choice((1, 2, 3, 7, 5000))
        self.kills = ["%s:%d" % (rng.choice(crash_points()), rng.choice((1, 1, 2, 3))) for _ in range(kills)]
        self.order = self.placed(rng, is_shuffled)
        self.cuts = sorted(rng.randrange(len(self.order) + 1) for _ in range(rng.choice((0, 0, 1, 3))))

    def placed(self, rng, is_shuffled):
        """(change, part) in the order of delivery, a fifth of them twice. Schema changes keep their place among the events of
        their table, all else goes anywhere."""
        all_places = [(c, i) for c in self.changes for i in range(len(rendering.render(self.history, c)))]
        found = []
        for at, (c, part) in enumerate(all_places):
            borders = [i for i, (other, _) in enumerate(all_places) if other["op"] == "alter" and other["table"] == c["table"]]
            low, high = max([i for i in borders if i < at], default=-1), min([i for i in borders if i > at], default=len(all_places))
            for _ in range(1 + (rng.random() < 0.2)):
                found.append((rng.uniform(low, high) if is_shuffled and c["op"] != "alter" else at, (c["order"], part)))
        return [place for _, place in sorted(found)]

    def smaller(self, changes=None, order=None, **more):
        """The same with less in it."""
        other = object.__new__(Case)
        other.__dict__.update(self.__dict__, **more)
        if changes is not None:
            there = {c["order"] for c in changes}
            other.changes, other.order = changes, [o for o in self.order if o[0] in there]
        if order is not None:
            other.order = order
        other.cuts = [min(c, len(other.order)) for c in other.cuts]
        return other

    def lines(self):
        by_order = {c["order"]: rendering.render(self.history, c) for c in self.changes}
        return [by_order[order][part] for order, part in self.order]

    def pieces(self):
        lines = [line + "\n" for line, _ in self.lines()]
        ends = self.cuts + [len(lines)]
        return ["".join(lines[a:b]) for a, b in zip([0] + self.cuts, ends)]

    def repeats(self):
        rows = [o for o, (_, is_row) in zip(self.order, self.lines()) if is_row]
        return len(rows) - len(set(rows))

    def prepare(self, home):
        more = {}
        if self.history.form == "file":
            more["sourceSchema"] = home.write("schema.json", histories.file_of_types(self.history))
        home.env["WEIR_BATCH_RECORDS"] = str(self.batch)
        home.job(home.write("feed.jsonl", ""), replicationMode=self.mode, changeLogDataset="shop_log" if self.mode == "merge" else None, **more)

    def __str__(self):
        h = self.history
        return "%s %s %s, mode %s, batch %d, cuts %r, kills %r" % (
            h.connector.name, h.form, "flattened" if h.is_flattened else "enveloped", self.mode, self.batch, self.cuts, self.kills)


def run_piece(home, kills):
    """Runs until idle; each kill that strikes is followed by another start."""
    while True:
        env = {"WEIR_CRASH": kills.pop(0)} if kills else {}
        result = home.run("--run", "shop.json", "--until-idle", "--json", env=env, program="weird")
        if result.code != -signal.SIGKILL:
            return result
        struck.append(env["WEIR_CRASH"])


def play(case):
    """What is wrong, in words, or None."""
    with weir.Home() as home:
        case.prepare(home)
        kills = list(case.kills)
        for piece in case.pieces():
            with open(home.file("feed.jsonl"), "a", encoding="utf-8") as f:
                f.write(piece)
            result = run_piece(home, kills)
            if result.code != 0:
                letters = [(x["code"], x["message"]) for x in home.letters()[:3]] if result.code == 1 else ""
                return "a run ends with %d: %s %s %s" % (result.code, letters, result.out[-300:], result.err[-800:])
        return wrong_ledger(case, result.last) or wrong_rows(case, home) or wrong_verify(case, home)


def wrong_ledger(case, last):
    want = {"received": len(case.order), "dead_lettered": 0, "parked": 0, "in_flight": 0, "balanced": True,
            "filtered": sum(not is_row for _, is_row in case.lines())}
    if not case.kills and case.mode == "merge":
        want["repeated"] = case.repeats()
    found = {k: last[k] for k in want}
    return None if found == want else "ledger: expected %r, found %r" % (want, found)


def columns_of(case, number):
    """column -> BigQuery types that its values had since it was last added; only columns that the source still has."""
    found, live = {}, {}
    for c in case.changes:
        if c["table"] != number:
            continue
        live = c["types"]
        if c["op"] == "alter":
            if c["alter"]["how"] == "rename" and c["alter"]["column"] in found:
                found[c["alter"]["name"]] = set(found[c["alter"]["column"]])
            elif c["alter"]["how"] == "add" and c["alter"].get("fill"):
                found.setdefault(c["alter"]["column"], set()).add(BARE_COLUMNS.get(c["alter"]["kind"]) or KINDS[c["alter"]["kind"]].column)
            continue
        for column, kind in c["types"].items() if case.history.form != "bare" else ():
            found.setdefault(column, set()).add(KINDS[kind].column)
        # What was before teaches nothing.
        for column, cell in (c["row"] or {}).items() if case.history.form == "bare" else ():
            found.setdefault(column, set()).update([BARE_COLUMNS[c["types"][column]]] if cell is not None else [])
    return {column: types for column, types in found.items() if column in live}


def stored(cell, types):
    """A value of the model as the replica shows it in a column that has held these types."""
    if cell is None:
        return None
    if "STRING" in types and len(types) > 1:
        return str(cell.wire).lower() if isinstance(cell.wire, bool) else str(cell.stored)
    return float(cell.stored) if types == {"INT64", "FLOAT64"} else cell.stored


def same(want, got, types):
    """Equal as the warehouse means it: elements by value, a decimal beyond every number type as a number."""
    if want == got and type(want) is type(got):
        return True
    if want is None or got is None:
        return False
    if isinstance(got, (int, float)) and "STRING" not in types:
        # An ALTER behind which no row came: nobody has told the reader that 5 is text, or 5.0, now.
        return want == str(got) or ("BOOL" in types and want == str(bool(got)).lower()) or (want == got and "FLOAT64" not in types)
    kind = next(iter(types))
    if kind.startswith(("ARRAY", "STRUCT")):
        return json.loads(want) == json.loads(got)
    if types == {"STRING"} and isinstance(want, str) and isinstance(got, str) and len(want) > 50:
        return Decimal(want) == Decimal(got)
    return False


def wrong_rows(case, home):
    for number, (table, rows) in enumerate(zip(case.history.tables, histories.final(case.history, case.changes))):
        changes = [c for c in case.changes if c["table"] == number and c["op"] != "alter"]
        if not changes:
            continue
        wrong = wrong_changelog(case, home, number, changes) if case.mode == "merge" else None
        wrong = wrong or (wrong_table(case, home, number, rows, changes) if changes[-1]["key"] else None)
        if wrong:
            return "%s: %s" % (table.name, wrong)
    return None


def comebacks(changes, number):
    """Columns that came back without a message of it -> does a row in between, and one behind, tell the reader?"""
    found, gone = {}, {}
    for c in [c for c in changes if c["table"] == number]:
        how, column = (c["alter"]["how"], c["alter"].get("column")) if c["op"] == "alter" and not c["alter"].get("sql") else (None, None)
        if how == "drop":
            gone[column] = False
        elif how == "add" and column in gone:
            found[column] = found.get(column, True) and gone.pop(column)
        elif c["row"]:
            gone = dict.fromkeys(gone, True)
            found = {name: is_told and "behind" or is_told for name, is_told in found.items()}
    return found


def wrong_table(case, home, number, rows, changes):
    table = Stored(case, number)
    if case.history.is_document:
        return wrong_documents(home, table, rows)
    columns = columns_of(case, number)
    if not any(c["row"] or c["old"] for c in changes):
        return None  # only a truncate: there may be no table at all
    there = {c[1] for c in home.sql("pragma table_info(`%s`)" % table.name)}
    if not there:
        return "no table" if any(c["row"] for c in changes) else None
    names = sorted(columns)
    found = home.sql("select %s from `%s`" % (", ".join("`%s`" % stored_column(c) if stored_column(c) in there else "null" for c in names), table.name))
    want = {tuple(stored(row[c], columns[c]) for c in table.key): {c: stored(row.get(c), columns[c]) for c in names} for row in rows.values()}
    got = {tuple(row[names.index(c)] for c in table.key): dict(zip(names, row)) for row in found}
    if len(got) != len(found) or set(got) != set(want):
        return "keys expected %r, found %r" % (sorted(want, key=repr), sorted(found, key=repr))
    for c, told in comebacks(case.changes, number).items():
        if c in names and told != "behind":
            names.remove(c)
    # A default that only a block tells, and no row with that block came.
    for c in [c for c in case.history.tables[number].defaults if c in columns and not any(c in (change["row"] or {}) for change in changes)]:
        names.remove(c)
    wrong = ["%r: %s is %r, not %r" % (key, c, got[key][c], want[key][c]) for key in want for c in names if not same(want[key][c], got[key][c], columns[c])]
    return "; ".join(wrong[:5]) if wrong else None


def wrong_documents(home, table, rows):
    """Of MongoDB: the key, and the whole document as it was written."""
    want = sorted((row["_id"].stored, rendering.document_text(rendering.wires(row))) for row in rows.values())
    got = sorted(home.sql("select _id, document from `%s`" % table.name))
    return None if got == want else "documents expected %r, found %r" % (want, got)


class Stored:
    """What a table is called at the end of the case, in the warehouse, and its key."""

    def __init__(self, case, number):
        last = [c for c in case.changes if c["table"] == number][-1]
        table = case.history.tables[number]
        self.name = last["name"] if any(c["op"] == "alter" and c["alter"]["how"] == "rename_table" for c in case.changes if c["table"] == number) else table.first_name
        self.key = last["key"]


WORDS = {"i": ["READ"], "c": ["INSERT"], "r": ["READ"], "u": ["UPDATE"], "d": ["DELETE"], "t": ["TRUNCATE"], "one": ["DELETE", "INSERT"], "pair": ["DELETE", "INSERT"]}
# The newest change of each key behind the last truncate, as anybody would ask for it who has only the changelog.
LATEST = """with newest as (select *, row_number() over (partition by _weir_key order by _weir_position desc) n from `{0}_changelog`
  where operation not in ('TRUNCATE', 'ALTER') and substr(_weir_position, 1, 32) >= coalesce((select max(substr(_weir_position, 1, 32)) from `{0}_changelog` where operation = 'TRUNCATE'), x''))
select primaryKey from newest where n = 1 and operation <> 'DELETE'"""


def wrong_changelog(case, home, number, changes):
    """Each change once; and the keys that a plain query finds in it are those of the replica."""
    # Of a table without a row in sight there is nothing to truncate or drop.
    alters = [c["alter"]["how"] for c in case.changes if c["table"] == number and c["op"] == "alter" and c["order"] > changes[0]["order"]]
    if any(c["op"] == "alter" and c["alter"]["how"] == "rename_table" for c in case.changes if c["table"] == number):
        return None  # the changelog of the new name begins with a copy of the old one's
    want = sorted([w for c in changes for w in WORDS[c["op"]]] + ["TRUNCATE"] * alters.count("truncate") + ["DROP"] * alters.count("drop_table"))
    table = Stored(case, number)
    got = sorted(op for (op,) in home.sql("select operation from `%s_changelog` where operation <> 'ALTER'" % table.name, "shop_log"))
    if got != want and not (case.history.is_flattened and len(got) == len(want)):
        return "changelog expected %r, found %r" % (want, got)
    if not table.key or not any(c["row"] for c in changes) or "drop_table" in alters:
        return None
    live = len(home.sql(LATEST.format(table.name), "shop_log"))
    kept = home.sql("select count(*) from `%s`" % table.name)[0][0]
    return None if live == kept else "a query of the changelog finds %d rows, the replica has %d" % (live, kept)


def wrong_verify(case, home):
    if case.mode != "merge":
        return None
    r = home.run("verify", "shop", "--json")
    return None if r.code == 0 and r.last["equal"] is True else "verify: %r" % r
