"""A MySQL log made by hand: rows with schema blocks, and schema changes, as Debezium sends them."""
import json

CONNECT = {"int": ("int32", None), "bigint": ("int64", None), "varchar": ("string", None), "char": ("string", None), "text": ("string", None),
           "enum": ("string", "io.debezium.data.Enum"), "date": ("int32", "io.debezium.time.Date"), "datetime": ("int64", "io.debezium.time.Timestamp"),
           "timestamp": ("string", "io.debezium.time.ZonedTimestamp"), "double": ("double", None), "float": ("float", None), "set": ("string", "io.debezium.data.EnumSet"), "time": ("int64", "io.debezium.time.MicroTime"),
           "binary": ("bytes", None), "varbinary": ("bytes", None), "bit": ("boolean", None), "year": ("int32", "io.debezium.time.Year"),
           "decimal": ("bytes", "org.apache.kafka.connect.data.Decimal"), "json": ("string", "io.debezium.data.Json"), "tinyint": ("int16", None)}


class Log:
    """Positions go up by themselves; `columns` of a table are (name, type, may be NULL), the type as MySQL writes it."""

    def __init__(self, has_blocks=True, db="shop", connector="mysql"):
        self.has_blocks, self.db, self.connector = has_blocks, db, connector
        self.lines, self.position, self.tables = [], 100, {}

    def source(self, table, position=None, **more):
        return dict({"connector": self.connector, "name": "srv", "ts_ms": 1700000000000 + self.position * 1000, "db": self.db, "table": table,
                     "snapshot": "false", "server_id": 1, "gtid": None, "file": "binlog.000001", "pos": position or self.position, "row": 0}, **more)

    def step(self):
        self.position += 10
        return self.position

    def put(self, body, block=None, key=None):
        data = {"schema": block, "payload": body} if self.has_blocks else body
        line = {"id": str(len(self.lines) + 1), "data": data}
        if key:
            line["key"] = json.dumps(key)
        self.lines.append(json.dumps(line))

    def block(self, table):
        fields = []
        for name, kind, may_be_null, *default in self.tables[table]:
            connect, semantic = CONNECT[kind.split("(")[0].split()[0]]
            if kind.startswith("datetime(") and kind[9] in "456":
                semantic = "io.debezium.time.MicroTimestamp"
            field = {"type": connect, "optional": may_be_null, "field": name}
            if semantic:
                field["name"] = semantic
            if semantic and semantic.endswith("Decimal"):
                precision, scale = kind.split("(")[1].rstrip(")").split(",")
                field["parameters"] = {"scale": scale, "connect.decimal.precision": precision}
            if default:
                field["default"] = default[0]
            fields.append(field)
        rows = [{"field": side, "type": "struct", "optional": True, "name": "srv.%s.Value" % table, "fields": fields} for side in ("before", "after")]
        return {"type": "struct", "name": "srv.%s.Envelope" % table, "fields": rows + [{"field": "op", "type": "string", "optional": False}]}

    def row(self, op, table, before, after, key=("id",), position=None):
        body = {"before": before, "after": after, "op": op, "ts_ms": 1700000000000, "source": self.source(table, position or self.step())}
        self.put(body, self.block(table), {k: (after or before)[k] for k in key})

    def insert(self, table, key=("id",), **row):
        self.row("c", table, None, row, key)

    def update(self, table, before, key=("id",), **row):
        self.row("u", table, before, row, key)

    def ddl(self, text, table, columns=None, kind="ALTER", position=None, also=(), lists=True, beside=True):
        """`columns`: what the table has behind it. `also`: more tables that tableChanges names. `beside`: the source block's
        table, if it is not `table`; None: it has none."""
        if columns is not None:
            self.tables[table] = columns
        changes = [{"type": kind, "id": '"%s"."%s"' % (self.db, t), "table": self.listed(t)} for t in (table, *also) if lists]
        self.put({"source": self.source(table if beside is True else beside, position or self.step()), "ts_ms": 1700000000001, "databaseName": self.db, "schemaName": None, "ddl": text,
                  "tableChanges": changes}, {"type": "struct", "fields": []})

    def listed(self, table):
        if table not in self.tables:
            return None
        return {"primaryKeyColumnNames": ["id"], "columns": [
            {"name": name, "typeName": kind.split("(")[0].split()[0].upper(), "optional": may_be_null} for name, kind, may_be_null, *_ in self.tables[table]]}

    def text(self):
        return "".join(line + "\n" for line in self.lines)
