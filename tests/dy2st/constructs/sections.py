"""The files of rows, in the order of the page; those for newer syntax only where it parses."""

from __future__ import annotations

import sys
from importlib import import_module

from tests.dy2st.catalogue.entry import ENTRIES

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

SECTIONS += tuple(
    name for version, names in SINCE.items() if sys.version_info >= version for name in names
)
for _name in SECTIONS:
    import_module(f"tests.dy2st.constructs.{_name}")

ALL_ROWS = tuple(entry for entry in ENTRIES if entry.construct)
