"""One test module of CPython in a process of its own, as it is or traced.

    python -m tests.cpython.worker SUITE MODULE plain|traced FILE

FILE gets a line of JSON for each test, then one for how many are traced.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import test.support
import test.support.import_helper
import test.support.os_helper

from tests.cpython.convert_module import forget
from tests.cpython.modules import STDLIB
from tests.cpython.traced import trace_methods, trace_modules


class _Result(unittest.TestResult):
    """Writes what became of each test at once, so that nothing is lost if the process dies."""

    def __init__(self, file: TextIO):
        super().__init__()
        self._file = file
        self._seen: dict[str, int] = {}
        self._errors: list[str] = []
        self._skipped = ""
        self._limit = sys.getrecursionlimit()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._errors, self._skipped = [], ""

    def addError(self, test: Any, error: Any) -> None:
        sys.setrecursionlimit(self._limit)
        self._errors.append(self._exc_info_to_string(error, test))  # type: ignore[attr-defined]
        if not isinstance(test, unittest.TestCase):
            self._write(str(test), "failed")

    def addFailure(self, test: Any, error: Any) -> None:
        self.addError(test, error)

    def addSubTest(self, test: Any, subtest: Any, error: Any) -> None:
        if error is not None:
            self.addError(test, error)

    def addSkip(self, test: Any, reason: str) -> None:
        self._skipped = reason

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._errors.append("unexpected success")

    def stopTest(self, test: unittest.TestCase) -> None:
        # A test of the limit that fails may leave it too low for what follows.
        sys.setrecursionlimit(self._limit)
        super().stopTest(test)
        kind = "failed" if self._errors else "skipped" if self._skipped else "passed"
        self._write(test.id(), kind)

    def _write(self, name: str, kind: str) -> None:
        count = self._seen[name] = self._seen.get(name, 0) + 1
        full = name if count == 1 else f"{name} #{count}"
        text = "\n".join(self._errors) or self._skipped
        record = {"test": full, "kind": kind, "text": text[-3000:]}
        print(json.dumps(record), file=self._file, flush=True)


@contextmanager
def _one_functools() -> Iterator[None]:
    """A process has one `_functools`, whose caches the trace knows: who loads functools anew too."""
    helper = test.support.import_helper
    load = helper.import_fresh_module

    def load_fresh(name: str, fresh: Any = (), **options: Any) -> Any:
        return load(name, [one for one in fresh if one != "_functools"], **options)

    helper.import_fresh_module = load_fresh
    try:
        yield
    finally:
        helper.import_fresh_module = load


def main(suite: str, module: str, mode: str, path: str) -> None:
    """Run the tests and write the file."""
    test.support.use_resources = []  # none that is slow or leaves the machine
    name = f"test.{module}"
    targets = STDLIB[module] if suite == "stdlib" else (name,)
    forget(targets)
    with open(path, "w", encoding="utf-8") as file:
        for target in targets:
            if importlib.util.find_spec(target) is not None:  # of this version
                importlib.import_module(target)
        importlib.import_module("collections.abc")
        with _one_functools():
            module_of_tests = importlib.import_module(name)
        tests = unittest.defaultTestLoader.loadTestsFromModule(module_of_tests)
        count = 0
        if mode == "traced":
            trace_modules((*targets, name))
            count = trace_methods(tests)
        tests.run(_Result(file))
        record = {"traced": count}
        print(json.dumps(record), file=file, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
