"""The files of rows, in the order of the page; those for newer syntax only where it parses."""

from __future__ import annotations

import sys
from importlib import import_module

from tests.dy2st.constructs.catalogue import ROWS, Row

SECTIONS = (
    "branches",
    "loops",
    "jumps",
    "exceptions",
    "calls_that_raise",
    "expressions",
    "matching",
    "comprehensions",
    "functions",
    "generators",
    "classes",
    "objects",
    "containers",
    "calls",
    "text",
    "library",
    "names",
)
SINCE = {(3, 11): ("syntax_311",), (3, 12): ("syntax_312",)}
"""Python version -> the sections whose syntax begins with it."""

for _name in SECTIONS:
    import_module(f"tests.dy2st.constructs.{_name}")
for _version, _names in SINCE.items():
    for _name in _names if sys.version_info >= _version else ():
        import_module(f"tests.dy2st.constructs.{_name}")

ALL_ROWS: tuple[Row, ...] = tuple(ROWS)
