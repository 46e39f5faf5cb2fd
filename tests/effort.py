"""How many cases are drawn at random: a few in every run, many where DY2ST_TESTS=full asks for it.

Where the run is not for them, as beside the gate on other Pythons, DY2ST_TESTS=few draws still less.
"""

from __future__ import annotations

import os

IS_FULL = os.environ.get("DY2ST_TESTS") == "full"
IS_FEW = os.environ.get("DY2ST_TESTS") == "few"


def effort(few: int, many: int) -> int:
    """How many seeds or examples this run draws."""
    return many if IS_FULL else few
