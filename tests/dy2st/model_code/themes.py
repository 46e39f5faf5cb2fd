"""All entries, theme by theme, and the cases that are made of them."""

from __future__ import annotations

from tests.dy2st.model_code import accumulation, lists
from tests.dy2st.model_code.catalogue import ENTRIES, Case

THEMES = (accumulation, lists)

CASES = [
    Case(entry, is_unknown)
    for entry in ENTRIES
    for is_unknown in (False, True)
    if not is_unknown or entry.unknown is not None
]
