"""Operators that few models use: what each family has, so that it is loaded when it is needed."""

from __future__ import annotations

from importlib import import_module

from dy2st_runtime.ir.late_families import Family

FAMILIES = (
    Family(
        "dy2st_runtime.ops.special",
        functions="logaddexp",
        methods="logaddexp",
        operators="logaddexp",
    ),
)


def load_all() -> None:
    """Load every family, for whoever asks about all operators at once."""
    for family in FAMILIES:
        import_module(family.module)
