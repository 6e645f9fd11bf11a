"""Names of columns and tables over which SQL, JSON or the destination's rules could trip, each with the name under which it is stored."""
COLUMNS = {"select": "select", "Order By": "Order By", "it's": "it's", 'q"q': "q_q", "p.q": "p_q", "$x": "_x", "_weir_x": "__weir_x", "7up": "7up",
           "\u65e5\u672c \u8a9e": "\u65e5\u672c \u8a9e", "x%s": "x%s", "a\\b": "a_b", "_TABLE_a": "__TABLE_a", "semi;colon": "semi_colon", "-- x": "-- x", "e\u0301": "e\u0301",
           "k ey": "k ey", "op": "op", "after": "after", "rowid": "rowid", "source": "source", "before": "before", "status": "status",
           "event_count": "event_count", "aggregate_type": "aggregate_type", "specversion": "specversion", "tableChanges": "tableChanges", "ddl": "ddl", "ts_ms": "ts_ms",
           "schema": "schema", "payload": "payload", "__x": "__x"}
TABLES = {"t%d": "t%d", "order %d": "order %d", "s\u00e9lect%d": "s\u00e9lect%d", "x'%d": "x_%d", "T-%d": "T-%d", "_weir_t%d": "__weir_t%d", "_%d": "_%d"}


def stored_column(name):
    return COLUMNS.get(name, name)


def table(rng, number):
    """(name in the source, name at the destination), mostly plain ones."""
    name = rng.choice(list(TABLES)) if rng.random() < 0.3 else "t%d"
    return name % number, TABLES[name] % number


def column(rng, plain, used):
    """A name that the table never had."""
    odd = [c for c in COLUMNS if c not in used]
    return rng.choice(odd) if odd and rng.random() < 0.2 else plain
