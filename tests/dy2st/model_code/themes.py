"""All entries, theme by theme, and the cases that are made of them."""

from __future__ import annotations

import importlib

from tests.dy2st.model_code.catalogue import ENTRIES, Case

NAMES = (
    *("accumulation", "lists", "decoding", "suppression", "dynamic_programming", "routing"),
    *("state", "objects", "sizes", "samplers", "metrics", "training", "generators"),
    *("vision", "language", "training_loops", "searching", "batching", "choosing"),
    *("exceptions", "augmentation", "text", "dicts", "in_place", "recurrent", "numbers", "calls"),
    *("generation", "pipelines", "corners"),
)
THEMES = tuple(importlib.import_module(f"tests.dy2st.model_code.{name}") for name in NAMES)

CASES = [
    Case(entry, is_unknown)
    for entry in ENTRIES
    for is_unknown in (False, True)
    if not is_unknown or entry.unknown is not None
]
