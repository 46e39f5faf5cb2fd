"""Gives names that nobody else has: those of `dy2st_runtime.unique_name`, which Layers count by."""

from dy2st_runtime.unique_name import (
    UniqueNameGenerator as UniqueNameGenerator,
    generate as generate,
    guard as guard,
    switch as switch,
)

