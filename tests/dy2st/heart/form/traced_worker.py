"""One test module of CPython whose own functions run in traced form, in a process of its own.

    python -m tests.dy2st.heart.form.traced_worker MODULE FILE

FILE gets a line of JSON for each test, then one with the number of functions, and the refused ones.
"""

from __future__ import annotations

import importlib
import json
import sys
import unittest
from types import FunctionType

import test.support

from dy2st.heart.form import traced_form
from tests.cpython.convert_module import Conversion, _Finder, forget
from tests.cpython.worker import _Result
from tests.dy2st.heart.form.plain_protocol import PLAIN


class Tracing(Conversion):
    """The functions of some modules in traced form, with the plain protocol."""

    def _convert(self, function: FunctionType) -> FunctionType:
        if function.__name__ == "load_tests":  # it looks at the frame that calls it
            return function
        name = f"{function.__qualname__}:{function.__code__.co_firstlineno}"
        try:
            made = traced_form(function).bind(PLAIN, function)
        except Exception as error:
            self.refused[name] = f"{type(error).__name__}: {error}"
            return function
        if made is not function:
            self.converted.add(name)
        return made


def main(module: str, path: str) -> None:
    """Run the tests and write the file."""
    test.support.use_resources = []
    name = f"test.{module}"
    tracing = Tracing((name,))
    sys.meta_path.insert(0, _Finder(tracing))
    forget((name,))
    with open(path, "w", encoding="utf-8") as file:
        tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name))
        tests.run(_Result(file))
        record = {"traced": len(tracing.converted), "refused": tracing.refused}
        print(json.dumps(record), file=file, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
