"""The stand-in of Cloud Storage (tests/emulators/storage) as tests use it: emulators.storage("bucket")."""
import base64
import json
import urllib.parse
import urllib.request

import stand_in
from stand_in import HERE


class Storage(stand_in.StandIn):
    """A server of its own: `with emulators.storage("b") as gs:`; "b" is a bucket that is there."""

    def __init__(self, *buckets):
        super().__init__("storage")
        self.env = {"STORAGE_EMULATOR_HOST": "127.0.0.1:%d" % self.ports["rest"]}
        for name in buckets:
            self.bucket(name)

    def control(self, method, word, body=None, **query):
        path = "%s?%s" % (word, urllib.parse.urlencode(query)) if query else word
        request = urllib.request.Request("http://127.0.0.1:%d/%s" % (self.ports["control"], path), method=method, data=body)
        with HERE.open(request, timeout=60) as answer:
            return json.loads(answer.read())

    def bucket(self, name):
        self.control("POST", "bucket", name=name)

    def put(self, bucket, name, content):
        self.control("POST", "object", content if isinstance(content, bytes) else content.encode(), bucket=bucket, name=name)

    def remove(self, bucket, name):
        self.control("DELETE", "object", bucket=bucket, name=name)

    def objects(self, bucket, prefix=""):
        """{name: content} of the bucket, in the order of the names."""
        state = self.control("GET", "state")
        head = bucket + "/"
        return {name[len(head):]: base64.b64decode(content) for name, content in sorted(state.items()) if name.startswith(head + prefix)}

    def counts(self):
        """{method: how often}; "fault METHOD" are those that met a fault."""
        return self.control("GET", "counts")

    def fault(self, method, **more):
        """Rules as tests/emulators/storage/serve.go names them: fault("objects.*", status=503), fault("objects.insert", late=True)."""
        self.control("POST", "faults", json.dumps(dict(more, method=method)).encode())

    def forget(self):
        """No session of an upload is known any more."""
        self.control("POST", "forget")

    def lift(self):
        self.control("DELETE", "faults")
