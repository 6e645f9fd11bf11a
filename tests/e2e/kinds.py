"""Types of source columns, as the random histories use them: how Debezium names and writes a value, and what the warehouse holds.

A cell is (wire, stored): the JSON value in the event, and the value in the local replica, both made here from one Python value
by arithmetic of their own. `stored` None for a value beyond its column: by default times become NULL there."""
import base64
import datetime
import json
from collections import namedtuple
from decimal import Decimal, getcontext

getcontext().prec = 200

Cell = namedtuple("Cell", "wire stored")
# name; node: the schema block's fields but `field` and `optional`; column: its BigQuery type; make(rng) gives a cell; is_key: may
# stand in a primary key; wider: the kinds to which an ALTER may change it.
Kind = namedtuple("Kind", "name node column make is_key wider")
KINDS = {}
WORDS = ("a", "", "007", "Z\u00fcrich", "x\ny", "'q\"", "1e5", "null", "true", "2024-01-01", "\u2028", "\U0001f600", " trailing  ", "A", "\\", "\x00end", "%s`")
DAY_0001, DAY_9999 = -719162, 2932896
DAY_US = 86400 * 1000000
EPOCH = datetime.datetime(1970, 1, 1)


def kind(name, literal, column, make, semantic=None, is_key=False, wider=(), **more):
    node = dict({"type": literal}, **({"name": semantic, "version": 1} if semantic else {}), **more)
    KINDS[name] = Kind(name, node, column, make, is_key, wider)


def plain(v):
    return Cell(v, v)


def edge(low, high):
    """A maker of whole numbers, at the ends as often as anywhere."""
    return lambda rng: plain(rng.choice((low, high, 0, -1 if low < 0 else 1, rng.randrange(low, high + 1), rng.randrange(-5 if low < 0 else 0, 100))))


def base64_of(data):
    return base64.b64encode(data).decode()


def twos(number):
    return base64_of(number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True))


def plain_decimal(number, scale):
    """Digits without exponent and without zeros at the end."""
    text = format(Decimal(number).scaleb(-scale), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def decimal_maker(precision, scale, wire=lambda number, scale: twos(number)):
    most = 10 ** precision - 1

    def make(rng):
        number = rng.choice((most, -most, 0, 1, -1, 10 ** (precision - 1), rng.randrange(-most, most + 1), rng.randrange(-50, 5000)))
        return Cell(wire(number, scale), plain_decimal(number, scale))

    return make


def decimal_kind(precision, scale, wider=()):
    column = "NUMERIC" if scale <= 9 and precision - scale <= 29 else "BIGNUMERIC" if scale <= 38 and precision - scale <= 38 else "STRING"
    kind("decimal_%d_%d" % (precision, scale), "bytes", column, decimal_maker(precision, scale), "org.apache.kafka.connect.data.Decimal", wider=wider,
         parameters={"scale": str(scale), "connect.decimal.precision": str(precision)})


def variable_decimal(rng):
    scale = rng.choice((0, 0, 3, 38, 9, -2))
    number = rng.choice((0, 1, -1, rng.randrange(-10**20, 10**20)))
    return Cell({"scale": scale, "value": twos(number)}, plain_decimal(number, scale))


def fraction(us):
    return ".%06d" % us if us else ""


def date_text(days):
    return (EPOCH + datetime.timedelta(days=days)).date().isoformat() if DAY_0001 <= days <= DAY_9999 else None


def clock_text(us):
    s = us // 1000000
    return "%02d:%02d:%02d%s" % (s // 3600, s // 60 % 60, s % 60, fraction(us % 1000000)) if 0 <= us < DAY_US else None


def moment_text(us, between="T"):
    """Microseconds since 1970 as DATETIME; None outside the years 1 to 9999."""
    day = date_text(us // DAY_US)
    return day + between + clock_text(us % DAY_US) if day else None


def random_days(rng):
    return rng.choice((0, -1, DAY_0001, DAY_9999, DAY_0001 - 1, DAY_9999 + 1, rng.randrange(DAY_0001, DAY_9999), rng.randrange(15000, 21000)))


def clock_maker(per_us):
    """per_us: how many of the wire's units are a microsecond (or how many microseconds a unit, below zero)."""

    def make(rng):
        us = rng.choice((0, 1000, 43200000000, DAY_US - 1000, DAY_US, -1000, rng.randrange(0, DAY_US, 1000)))
        if per_us > 0 and 0 < us < DAY_US:
            us += rng.randrange(1000)
        return Cell(us * per_us if per_us > 0 else us // -per_us, clock_text(us))

    return make


def random_us(rng, most=DAY_9999 * DAY_US + DAY_US - 1000, least=DAY_0001 * DAY_US):
    return rng.choice((0, -1000, least, most, rng.randrange(10**15, 2 * 10**15, 1000), rng.randrange(-10**15, 2 * 10**15)))


def stamp_maker(per_us):
    # Nanoseconds in 64 bits end with the year 2262.
    ends = {"most": 9 * 10**15, "least": -9 * 10**15} if per_us == 1000 else {}

    def make(rng):
        us = random_us(rng, **ends)
        us = us if per_us > 0 else us // 1000 * 1000
        if not ends and rng.random() < 0.05:
            us = rng.choice((DAY_0001 * DAY_US - 1000, (DAY_9999 + 1) * DAY_US))
        return Cell(us * per_us if per_us > 0 else us // -per_us, moment_text(us))

    return make


def zoned(rng):
    us = random_us(rng) // 1000000 * 1000000 + rng.choice((0, 0, 500000, 123456))
    text = moment_text(us)
    return Cell(text + "Z", moment_text(us, " ") + "+00")


def text_of_days(rng):
    days = random_days(rng)
    text = date_text(days)
    return Cell(text + "Z", text) if text else text_of_days(rng)


def iso_stamp(rng):
    text = moment_text(random_us(rng))
    return Cell(text + "Z", text)


def iso_clock(rng):
    text = clock_text(rng.choice((0, DAY_US - 1, rng.randrange(DAY_US), rng.randrange(86400) * 1000000)))
    return Cell(text + "Z", text)


def real(rng):
    v = rng.choice((0.0, 0.1, -1.5, 1e300, 5e-324, 2.0**53, 1.7976931348623157e308, rng.uniform(-1e6, 1e6)))
    return rng.choice((Cell(v, v), Cell(v, v), Cell(v, v), Cell("NaN", "NaN"), Cell("Infinity", float("inf")), Cell("-Infinity", float("-inf"))))


def json_text(rng):
    text = rng.choice(("null", "{}", "[]", '{"a": 1.0, "a": 2}', '"x"', "12345678901234567890.10", '{"k":[1,null,{"z":"\\u0000"}]}', " [1 , 2]"))
    return Cell(text, text)


def some_bytes(rng):
    data = rng.choice((b"", b"\x00", b"\xff\xfe", b"abc", bytes(rng.randrange(256) for _ in range(rng.randrange(40)))))
    return Cell(base64_of(data), data)


def text(rng):
    return plain(rng.choice(WORDS) + rng.choice(("", str(rng.randrange(3)))))


def uuid(rng):
    return plain("%08x-0000-4000-8000-%012x" % (rng.randrange(5), rng.randrange(3)))


def array_maker(element):
    def make(rng):
        items = [None if rng.random() < 0.1 else element(rng).wire for _ in range(rng.randrange(4))]
        return Cell(items, json.dumps(items, ensure_ascii=False))

    return make


def point(rng):
    x, y = rng.choice((0.5, -180.0, 13.25)), rng.choice((0.25, 90.0))
    return Cell({"x": x, "y": y, "wkb": None, "srid": None}, json.dumps({"x": x, "y": y}))


def interval(rng):
    return rng.choice((Cell("P1Y2M3DT4H5M6.78S", "1-2 3 4:5:6.78"), Cell("P0Y0M0DT0H0M0S", "0-0 0 0:0:0"), Cell("P0Y0M-3DT0H0M0S", "0-0 -3 0:0:0")))


kind("bool", "boolean", "BOOL", lambda rng: (lambda v: Cell(v, int(v)))(rng.random() < 0.5), is_key=True)
kind("int16", "int16", "INT64", edge(-2**15, 2**15 - 1), is_key=True, wider=("int32", "int64"))
kind("int32", "int32", "INT64", edge(-2**31, 2**31 - 1), is_key=True, wider=("int64", "string"))
kind("int64", "int64", "INT64", edge(-2**63, 2**63 - 1), is_key=True, wider=("string",))
kind("uint64", "bytes", "NUMERIC", lambda rng: (lambda n: Cell(twos(n), str(n)))(rng.choice((0, 1, 2**63, 2**64 - 1))), "org.apache.kafka.connect.data.Decimal",
     parameters={"scale": "0", "connect.decimal.precision": "20"})
kind("double", "double", "FLOAT64", real)
kind("float", "float", "FLOAT64", lambda rng: plain(rng.choice((0.5, -0.25, 3.0, 16777216.0))), wider=("double",))
kind("string", "string", "STRING", text, is_key=True)
kind("bytes", "bytes", "BYTES", some_bytes, is_key=True)
decimal_kind(10, 2, wider=("decimal_38_9", "decimal_50_20"))
decimal_kind(38, 9, wider=("decimal_50_20",))
decimal_kind(50, 20)
decimal_kind(76, 38)
decimal_kind(100, 50)
kind("decimal_any", "struct", "BIGNUMERIC", variable_decimal, "io.debezium.data.VariableScaleDecimal",
     fields=[{"field": "scale", "type": "int32", "optional": False}, {"field": "value", "type": "bytes", "optional": False}])
kind("date", "int32", "DATE", lambda rng: (lambda d: Cell(d, date_text(d)))(random_days(rng)), "io.debezium.time.Date")
kind("time_ms", "int32", "TIME", clock_maker(-1000), "io.debezium.time.Time")
kind("time_us", "int64", "TIME", clock_maker(1), "io.debezium.time.MicroTime")
kind("time_ns", "int64", "TIME", clock_maker(1000), "io.debezium.time.NanoTime")
kind("stamp_ms", "int64", "DATETIME", stamp_maker(-1000), "io.debezium.time.Timestamp")
kind("stamp_us", "int64", "DATETIME", stamp_maker(1), "io.debezium.time.MicroTimestamp", is_key=False)
kind("stamp_ns", "int64", "DATETIME", stamp_maker(1000), "io.debezium.time.NanoTimestamp")
kind("zoned", "string", "TIMESTAMP", zoned, "io.debezium.time.ZonedTimestamp")
kind("iso_date", "string", "DATE", text_of_days, "io.debezium.time.IsoDate", is_key=True)
kind("iso_time", "string", "TIME", iso_clock, "io.debezium.time.IsoTime")
kind("iso_stamp", "string", "DATETIME", iso_stamp, "io.debezium.time.IsoTimestamp")
kind("year", "int32", "INT64", lambda rng: plain(rng.choice((0, 1901, 2155, 2024))), "io.debezium.time.Year")
kind("interval", "string", "INTERVAL", interval, "io.debezium.time.Interval")
kind("duration", "int64", "INT64", edge(-2**53, 2**53), "io.debezium.time.MicroDuration")
kind("json", "string", "JSON", json_text, "io.debezium.data.Json")
kind("xml", "string", "STRING", lambda rng: plain(rng.choice(("<a/>", "<a>\u00e9</a>"))), "io.debezium.data.Xml")
kind("uuid", "string", "STRING", uuid, "io.debezium.data.Uuid", is_key=True)
kind("enum", "string", "STRING", lambda rng: plain(rng.choice(("new", "old", "")) ), "io.debezium.data.Enum", parameters={"allowed": "new,old"})
kind("set", "string", "STRING", lambda rng: plain(rng.choice(("", "a", "a,b"))), "io.debezium.data.EnumSet", parameters={"allowed": "a,b"})
kind("ints", "array", "ARRAY<INT64>", array_maker(edge(-2**31, 2**31 - 1)), items={"type": "int32", "optional": True})
kind("texts", "array", "ARRAY<STRING>", array_maker(text), items={"type": "string", "optional": True})
kind("point", "struct", "STRUCT", point, "io.debezium.data.geometry.Point",
     fields=[{"field": "x", "type": "double", "optional": False}, {"field": "y", "type": "double", "optional": False},
             {"field": "wkb", "type": "bytes", "optional": True}, {"field": "srid", "type": "int32", "optional": True}])
