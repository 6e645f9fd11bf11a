"""The stand-in of BigQuery (tests/emulators/bigquery) as tests use it: emulators.bigquery("dataset")."""
import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import stand_in
from stand_in import HERE, PROGRAM


class BigQuery(stand_in.StandIn):
    """The stand-in of BigQuery, a server of its own: `with emulators.bigquery("d") as bq:`; "d" is a dataset that is there."""

    def __init__(self, *datasets, project="p", location="US"):
        super().__init__("bigquery")
        self.project = project
        self.env = {"BIGQUERY_EMULATOR_HOST": "127.0.0.1:%d" % self.ports["rest"],
                    "BIGQUERY_STORAGE_EMULATOR_HOST": "127.0.0.1:%d" % self.ports["storage"]}
        for name in datasets:
            self.dataset(name, location=location)

    def call(self, method, path, body=None, port="rest", headers=None):
        """(status, answer, headers) of a call over REST, or to the control port."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request("http://127.0.0.1:%d/%s" % (self.ports[port], path), data=data, method=method,
                                         headers=dict({"Content-Type": "application/json"}, **(headers or {})))
        try:
            with HERE.open(request, timeout=60) as answer:
                status, text, said = answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                status, text, said = error.code, error.read(), error.headers
        return status, json.loads(text) if text.strip() else None, said

    def rest(self, method, path, body=None, **more):
        """What REST answers, which must be well; the path begins behind the project."""
        status, answer, _ = self.call(method, "bigquery/v2/projects/%s/%s" % (self.project, path), body, **more)
        assert status == 200, (method, path, status, answer)
        return answer

    def control(self, method, path, body=None):
        status, answer, _ = self.call(method, path, body, port="control")
        assert status == 200, (method, path, status, answer)
        return answer

    def dataset(self, name, **more):
        return self.rest("POST", "datasets", dict({"datasetReference": {"projectId": self.project, "datasetId": name}}, **more))

    def table(self, name, fields, **more):
        """Makes "dataset.table"; fields are {name: type}, or REST's own list. "!" behind a type is REQUIRED, "*" REPEATED."""
        dataset, _, table = name.partition(".")
        if isinstance(fields, dict):
            modes = {"!": "REQUIRED", "*": "REPEATED"}
            fields = [{"name": column, "type": kind.rstrip("!*"), "mode": modes.get(kind[-1], "NULLABLE")} for column, kind in fields.items()]
        reference = {"projectId": self.project, "datasetId": dataset, "tableId": table}
        return self.rest("POST", "datasets/%s/tables" % dataset, dict({"tableReference": reference, "schema": {"fields": fields}}, **more))

    def resource(self, name):
        return self.rest("GET", "datasets/%s/tables/%s" % tuple(name.split(".", 1)))

    def add_column(self, name, column, kind="STRING"):
        fields = self.resource(name)["schema"]["fields"] + [{"name": column, "type": kind}]
        return self.rest("PATCH", "datasets/%s/tables/%s" % tuple(name.split(".", 1)), {"schema": {"fields": fields}})

    def drop(self, name):
        return self.rest("DELETE", "datasets/%s/tables/%s" % tuple(name.split(".", 1)))

    def rows(self, name):
        """The rows of "dataset.table" in order of arrival: {column: canonical text or None}."""
        said = self.control("GET", "rows?" + urllib.parse.urlencode({"table": name}))
        return [dict(zip(said["columns"], row)) for row in said["rows"]]

    def rows_by_client(self, name):
        """The same, read by Google's own client."""
        with tempfile.TemporaryDirectory(prefix="weir-rows-") as folder:
            file = os.path.join(folder, "rows")
            done = subprocess.run([PROGRAM, "bigquery-read", "-rest", str(self.ports["rest"]), "-table", name, "-file", file], capture_output=True,
                                  timeout=120)
            assert done.returncode == 0, done
            with open(file) as lines:
                return [json.loads(line) for line in lines]

    def places(self, name):
        """(stream, offset) of each row; the stream is "" for the default one."""
        return [tuple(place) for place in self.control("GET", "rows?" + urllib.parse.urlencode({"table": name, "streams": 1}))["streams"]]

    def counts(self, name=None):
        """{what: how often}: of a table, or of all together."""
        said = self.control("GET", "counts")
        return said["all"] if name is None else said["tables"].get(name, {})

    def state(self):
        return self.control("GET", "state")

    def fault(self, kind, table="*", method="*", **more):
        """Rules as tests/emulators/bigquery/faults.go names them: fault("quota", "d.t", seconds=30)."""
        self.control("POST", "faults", dict(more, kind=kind, table=table, method=method))

    def lift(self):
        self.control("DELETE", "faults")

    def settings(self, **changed):
        return self.control("POST", "settings", changed)

    def clock(self, scale=0, advance_s=0):
        return self.control("POST", "clock", {"scale": scale, "advance_s": advance_s})

    def withhold(self, **permissions):
        """withhold(**{"d.t": ["bigquery.tables.updateData"]}): what is not named is given again."""
        self.control("POST", "permissions", permissions)
