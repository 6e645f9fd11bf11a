"""Values that no column holds, and types that nobody told: what is stored, and that it is said."""
import base64
import json

import weir


def decimal_bytes(number):
    return base64.b64encode(number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)).decode()


BIGNUMERIC_MOST = "578960446186580977117854925043439539266.34992332820282019728792003956564819967"

TIME = {"type": "int64", "optional": True, "name": "io.debezium.time.MicroTimestamp", "field": "until"}
CLOCK = {"type": "int64", "optional": True, "name": "io.debezium.time.MicroTime", "field": "clock"}
DECIMAL = {"type": "bytes", "optional": True, "name": "org.apache.kafka.connect.data.Decimal", "field": "price",
           "parameters": {"scale": "2", "connect.decimal.precision": "40"}}
OPEN = {"type": "struct", "optional": True, "name": "io.debezium.data.VariableScaleDecimal", "field": "open", "fields": []}
PLACE = {"type": "struct", "optional": True, "name": "io.debezium.data.geometry.Geography", "field": "place", "fields": []}
WHOLE = {"type": "int64", "optional": True, "field": "whole"}

# Column: what comes, and how it is stored under null, clamp, text. dead_letter refuses the row.
CASES = {
    "until": (TIME, 253402300800000000, "timestamp_out_of_range", None, "9999-12-31T23:59:59.999999", "+10000-01-01T00:00:00"),
    "clock": (CLOCK, -3020399000000, "time_out_of_range", None, "00:00:00", "-838:59:59"),
    "price": (DECIMAL, decimal_bytes(10 ** 42), "decimal_out_of_range", None, BIGNUMERIC_MOST, "1" + "0" * 40),
    "whole": (WHOLE, 9223372036854775808, "integer_out_of_range", None, 9223372036854775807, "9223372036854775808"),
    "place": (PLACE, {"wkb": "AQEAAAAAAAAAAAAAAAAAAAAAoFZA", "srid": 4326}, "geography_out_of_range", None, None, "POINT(0 90.5)"),
}


def lines(column, values):
    """A feed whose messages have a schema block; the row's key is its number."""
    node = CASES[column][0] if column in CASES else OPEN
    block = {"type": "struct", "name": "t.Envelope",
             "fields": [{"type": "struct", "field": "after", "fields": [{"type": "int32", "field": "id"}, node]}]}
    out = ""
    for i, value in enumerate(values):
        event = weir.event({"id": i + 1, column: value}, lsn=100 + i)
        out += json.dumps({"id": str(i), "key": json.dumps({"id": i + 1}), "data": {"schema": block, "payload": event}}) + "\n"
    return out


def told(home, code):
    """The log's sentences of one code."""
    return [line["sentence"] for line in home.run("logs", "--json").lines if line["fields"].get("code") == code]


def stored(word, column, expect=0, **more):
    """The column of three rows: NULL, and twice what it cannot hold; and what weir says of it."""
    with weir.Home() as home:
        value = CASES[column][1]
        result = home.replicate(home.write("feed", lines(column, [None, value, value])), expect=expect, onUnrepresentable=word, **more)
        assert result["balanced"] is True, result
        got = [row[0] for row in home.sql("select %s from t order by id" % column)]
        tables = home.run("tables", "--json").last
        said = told(home, "value_not_representable")
        home.verify()
        return got, [n for n in tables["notes"] if n["code"] == "value_not_representable"], home.letters(), said


def check_stored(word, at, how):
    for column, case in CASES.items():
        got, notes, letters, said = stored(word, column)
        assert got == [None, case[at], case[at]], (word, column, got)
        assert not letters, (word, column, letters)
        assert len(notes) == 1 and notes[0]["column"] == column, (word, column, notes)
        # In a column that has become text the second value is one like others.
        assert notes[0]["count"] == (1 if word == "text" else 2) and how in notes[0]["text"], (word, column, notes)
        assert len(said) == 1 and column in said[0], (word, column, said)


def test_null_stores_null_and_counts():
    check_stored("null", 3, "stored as NULL")


def test_clamp_stores_the_nearest_value_and_counts():
    check_stored("clamp", 4, "stored as ")


def test_text_makes_the_column_text_and_says_so():
    check_stored("text", 5, "the column became text")


def test_dead_letter_refuses_the_row_and_keeps_it():
    for column, case in CASES.items():
        got, notes, letters, _ = stored("dead_letter", column, expect=1)
        assert got == [None] and not notes, (column, got, notes)
        assert [letter["code"] for letter in letters] == [case[2]] * 2, (column, letters)


def test_text_where_the_column_may_not_change_refuses_the_row():
    got, notes, letters, _ = stored("text", "until", expect=1, schemaChanges="reject")
    assert got == [None] and not notes and len(letters) == 2, (got, notes, letters)
    got, notes, letters, _ = stored("text", "until", expect=1, columnTypes={"t.until": "DATETIME"})
    assert got == [None] and not notes and len(letters) == 2, (got, notes, letters)


def test_the_words_may_differ_by_kind_and_have_defaults():
    """Without the option times are NULL and numbers letters."""
    for column, case in CASES.items():
        is_time = column in ("until", "clock")
        got, notes, letters, _ = stored(None, column, expect=0 if is_time else 1)
        assert got == ([None, None, None] if is_time else [None]), (column, got)
        assert len(letters) == (0 if is_time else 2) and len(notes) == (1 if is_time else 0), (column, letters, notes)
    got, _, letters, _ = stored({"time": "clamp", "number": "null"}, "clock")
    assert got == [None, "00:00:00", "00:00:00"] and not letters
    got, _, letters, _ = stored({"time": "clamp", "number": "null"}, "whole")
    assert got == [None, None, None] and not letters


def test_a_key_is_neither_null_nor_the_nearest_value():
    """Two rows would be taken for one. As text they are told apart."""
    node = {"type": "int32", "optional": False, "name": "io.debezium.time.Date", "field": "d"}
    block = {"type": "struct", "name": "t.Envelope",
             "fields": [{"type": "struct", "field": "after", "fields": [node, {"type": "int32", "field": "v"}]}]}
    feed = ""
    for i, day in enumerate([2932897, 0, 2932898, -622191234, 2932897]):
        event = weir.event({"d": day, "v": i}, lsn=i + 1)
        feed += json.dumps({"id": str(i), "key": json.dumps({"d": day}), "data": {"schema": block, "payload": event}}) + "\n"
    for word in (None, "null", "clamp", "dead_letter", "text"):
        with weir.Home() as home:
            home.replicate(home.write("feed", feed), expect=0 if word == "text" else 1, onUnrepresentable=word)
            rows = home.sql("select d, v from t order by v")
            if word == "text":
                assert rows == [("1970-01-01", 1), ("+10000-01-02", 2), ("infinity", 3), ("+10000-01-01", 4)], rows
            else:
                assert rows == [("1970-01-01", 1)], (word, rows)
                assert [letter["code"] for letter in home.letters()] == ["date_out_of_range"] * 4, (word, home.letters())
                assert home.run("tables", "--json").last["notes"] == [], word
            home.verify()


def test_a_decimal_without_precision_becomes_text_when_it_must():
    """numeric without precision: the column is our choice, so no row is refused for it."""
    wide = {"scale": 0, "value": decimal_bytes(10 ** 40)}
    with weir.Home() as home:
        feed = home.write("feed", lines("open", [{"scale": 2, "value": "AfQ="}, wide, {"scale": 61, "value": "AQ=="}]))
        home.replicate(feed)
        assert home.sql("select open from t order by id") == [("5",), ("1" + "0" * 40,), ("0." + "0" * 60 + "1",)]
        assert "the column became text" in json.dumps(home.run("tables", "--json").last["notes"])
        home.verify()
    with weir.Home() as home:
        home.replicate(home.write("feed", lines("open", [wide])), expect=1, columnTypes={"t.open": "BIGNUMERIC"})
        assert [letter["code"] for letter in home.letters()] == ["decimal_out_of_range"]


ROW = {"id": 1, "name": "x", "price": 1.5, "flag": True, "tags": ["a"], "more": {"x": 1}, "later": None, "never": None}


def unsure(home):
    notes = [n for n in home.run("tables", "--json").last["notes"] if n["code"] == "types_inferred"]
    assert len(notes) == 1, notes
    return {c["column"]: (c["type"], c["why"]) for c in notes[0]["columns"]}


def test_a_guess_is_told_once_and_stands_in_the_list_of_tables():
    with weir.Home() as home:
        events = [weir.event(ROW, lsn=1), weir.event(dict(ROW, id=2, later="2024-01-01"), lsn=2), weir.event(dict(ROW, id=3), lsn=3)]
        home.replicate(home.write("feed", weir.feed(events[:1], weir.id_key)))
        assert unsure(home)["later"] == ("STRING", "only NULL so far")
        home.replicate(home.write("feed", weir.feed(events, weir.id_key)))
        found = unsure(home)
        assert set(found) == {"id", "name", "price", "tags", "later", "never"}, found
        assert found["id"] == ("INT64", "whole numbers may be days or times"), found
        assert found["later"][1] == found["name"][1] == found["tags"][1] == "text may be a date, a time, a decimal or bytes", found
        said = told(home, "types_inferred")
        assert said == ["guessed from values: id INT64, name STRING, price FLOAT64, tags ARRAY<STRING>", "guessed from values: later STRING"], said
        shown = {c["name"]: c.get("unsure") for c in home.run("tables", "--schema", "--json").last["columns"]}
        assert shown["flag"] is None and shown["more"] is None and shown["price"] == "fractions may be decimals", shown


def test_what_the_owner_or_a_block_tells_is_no_guess():
    with weir.Home() as home:
        types = {"t." + c: t for c, t in {"id": "INT64", "name": "STRING", "price": "NUMERIC", "tags": "ARRAY<STRING>"}.items()}
        row = {k: v for k, v in ROW.items() if v is not None}
        home.replicate(home.write("feed", weir.feed([weir.event(row, lsn=1)], weir.id_key)), columnTypes=types)
        assert home.run("tables", "--json").last["notes"] == []
    with weir.Home() as home:
        home.replicate(home.write("feed", lines("until", [0])))
        assert home.run("tables", "--json").last["notes"] == []


def test_numbers_without_a_schema_keep_every_digit():
    """A whole number beyond 64 bits, a fraction that no double has: decimals, never rounded."""
    numbers = ["18446744073709551615", "-9223372036854775809", "7", "9223372036854775807"]
    fractions = ["1.5", "0.12345678901234567890123", "1e400"]
    with weir.Home() as home:
        feed = ""
        for i, text in enumerate(numbers + fractions):
            column = "n" if i < len(numbers) else "f"
            event = json.dumps(weir.event({"id": i}, lsn=i + 1)).replace('"id": %d' % i, '"id": %d, "%s": %s' % (i, column, text))
            feed += '{"id": "%d", "key": "{\\"id\\":%d}", "data": %s}\n' % (i, i, event)
        home.replicate(home.write("feed", feed))
        assert [r[0] for r in home.sql("select n from t where n is not null order by id")] == numbers
        assert [r[0] for r in home.sql("select f from t where f is not null order by id")] == [fractions[0], fractions[1], "1" + "0" * 400]
        home.verify()


#
# The type of a column is changed by its owner.
#
def retyped(home, **types):
    """columnTypes says these now, and the first group of letters is replayed."""
    said = home.run("job", "set", "shop", "columnTypes=" + json.dumps({"t." + name: word for name, word in types.items()}))
    assert said.code == 0, said
    return home.run("dlq", "replay", "--group", "1", "--yes", "--json")


def test_a_column_that_is_made_text_takes_what_was_refused():
    cases = [("whole", [401, "n/a"], "type_mismatch", ["401", "n/a"]),
             ("price", [decimal_bytes(1234), decimal_bytes(10 ** 42)], "decimal_out_of_range", ["12.34", "1" + "0" * 40])]
    for column, values, code, texts in cases:
        for mode in ("merge", "upsert"):
            with weir.Home() as home:
                home.replicate(home.write("feed", lines(column, values)), expect=1, replicationMode=mode)
                assert [letter["code"] for letter in home.letters()] == [code]
                result = retyped(home, **{column: "STRING"})
                assert result.code == 0 and result.last["done"] == 1, result
                assert [row[0] for row in home.sql("select %s from t order by id" % column)] == texts, (column, mode)
                assert [c["type"] for c in home.run("tables", "--schema", "--json").last["columns"] if c["name"] == column] == ["STRING"]
                if mode == "merge":
                    home.verify()


def test_a_type_that_does_not_hold_what_is_there_is_not_taken_and_said():
    with weir.Home() as home:
        home.replicate(home.write("feed", lines("price", [decimal_bytes(1234), decimal_bytes(10 ** 42)])), expect=1)
        result = retyped(home, price="INT64")
        assert result.code == 1 and result.last["failed_again"] == 1, result
        notes = [n for n in home.run("tables", "--json").last["notes"] if n["code"] == "column_type_kept"]
        assert len(notes) == 1 and notes[0]["column"] == "price" and "INT64" in notes[0]["text"], notes
        assert home.sql("select price from t") == [("12.34",)]


def test_a_column_of_which_only_null_was_seen_gets_its_owners_type_and_is_no_guess():
    with weir.Home() as home:
        feed = home.write("feed", weir.feed([weir.event({"id": 1, "n": None}, lsn=1)], weir.id_key))
        home.replicate(feed)
        for word in ("INT64", "STRING"):
            assert home.run("job", "set", "shop", "columnTypes=" + json.dumps({"t.n": word})).code == 0
            with open(feed, "a") as f:
                f.write(weir.feed([weir.event({"id": 2, "n": None}, lsn=2)], weir.id_key))
            assert home.run("run", "shop", "--until-idle").code == 0
            column = next(c for c in home.run("tables", "--schema", "--json").last["columns"] if c["name"] == "n")
            assert column["type"] == word and not column.get("guess"), column
            assert told(home, "types_inferred") == ["guessed from values: id INT64"]
        home.verify()
