"""Who says that a warehouse equals the source's rows: the data's own compare.py where it lies beside the streams, and always our
rows.py. Both must say so; where they differ that is a failure of its own, because ours was written after theirs."""
import os
import subprocess
import sys

import rows


class Judge:
    def __init__(self, folder):
        script = os.path.join(folder, "compare.py")
        self.script = script if os.path.isfile(script) else None

    @property
    def name(self):
        return "compare.py of the data, and tests/e2e/rows.py" if self.script else "tests/e2e/rows.py"

    def differences(self, warehouse, stream, is_typed):
        """In words; empty: equal."""
        own = rows.differences(warehouse, stream.folder, untyped=not is_typed)[:12]
        if not self.script:
            return "\n".join(own)
        run = subprocess.run([sys.executable, self.script, warehouse, stream.expected(is_typed)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = "\n".join(line for line in run.stdout.decode(errors="replace").splitlines() if not line.endswith("rows equal"))
        if run.returncode == 0:
            return "compare.py says equal, rows.py does not:\n" + "\n".join(own) if own else ""
        return said + ("" if own else "\n(rows.py says equal)")
