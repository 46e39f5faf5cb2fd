"""One test module of CPython whose own functions run in traced form, in a process of its own.

    python -m tests.dy2st.transpiler.traced_worker MODULE FILE

FILE gets a line of JSON for each test, then one with the number of functions, and the refused ones.
"""

from __future__ import annotations

import importlib
import json
import sys
import unittest

import test.support

from tests.cpython.convert_module import convert_on_import, forget
from tests.cpython.worker import _Result


def main(module: str, path: str) -> None:
    """Run the tests and write the file."""
    test.support.use_resources = []
    name = f"test.{module}"
    tracing = convert_on_import((name,))
    forget((name,))
    with open(path, "w", encoding="utf-8") as file:
        tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name))
        tests.run(_Result(file))
        record = {"traced": len(tracing.converted), "refused": tracing.refused}
        print(json.dumps(record), file=file, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
