"""All entries, theme by theme, and the cases that are made of them."""

from __future__ import annotations

import importlib

from tests.dy2st.catalogue.drivers import cases_of
from tests.dy2st.catalogue.entry import ENTRIES
from tests.dy2st.constructs.sections import SECTIONS

MODEL_CODE = (
    *("accumulation", "lists", "decoding", "suppression", "dynamic_programming", "routing"),
    *("state", "objects", "sizes", "samplers", "metrics", "training", "generators"),
    *("vision", "language", "training_loops", "searching", "batching", "choosing"),
    *("exceptions", "augmentation", "text", "dicts", "in_place", "recurrent", "numbers", "calls"),
    *("generation", "pipelines", "corners", "conditions", "data_texts", "alignment"),
    *("graphs", "motion", "schedules", "beams", "markets", "molecules", "robots", "pictures"),
    *("tracking", "games", "speech", "reinforcement", "solvers", "structures", "probability"),
    *("signals", "learning", "dealing", "sharing", "serving", "estimation", "arithmetic"),
)

PLAIN_VALUES = (
    *("expressions", "comprehensions", "names", "control", "control_flow", "exceptions"),
    *("functions", "match", "generators"),
)
DECIDED = (
    *("exceptions", "catchers", "finals", "managers", "generators", "shared_variables"),
    *("changed_while_traced",),
)
NAMES = {
    "plain_values": PLAIN_VALUES,
    "decided": DECIDED,
    "constructs": SECTIONS,
    "model_code": MODEL_CODE,
}
THEMES = {
    folder: tuple(importlib.import_module(f"tests.dy2st.{folder}.{name}") for name in names)
    for folder, names in NAMES.items()
}

CASES = [case for entry in ENTRIES for case in cases_of(entry)]
