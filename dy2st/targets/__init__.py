"""Targets: what Programs are lowered to, one folder each.

A target adds its command to those of `dy2st`. Another package offers one through an entry point of
the group `dy2st.targets`, which is a function like `add_compile` in `c/__init__.py`:

    [project.entry-points."dy2st.targets"]
    mine = "my_package.commands:add_mine"
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from dy2st.errors import ArgumentError

GROUP = "dy2st.targets"
# Where the functions are that add the commands of our own targets: `module:name`.
TARGETS: dict[str, str] = {
    "c": "dy2st.targets.c:add_compile",
    "onnx": "dy2st.targets.onnx:add_export",
    "opu": "dy2st.targets.opu.commands.arguments:add_opu",
    "stablehlo": "dy2st.targets.stablehlo:add_export",
}

AddCommand: TypeAlias = Callable[[Any], None]


def target_names() -> list[str]:
    """The names of all targets: dy2st's own, then those of other packages.

    >>> target_names()[:2]
    ['c', 'opu']
    """
    return list(dict.fromkeys([*TARGETS, *sorted(_of_packages())]))


def find(name: str) -> AddCommand:
    """The function that adds the command of a target to the parsers of argparse.

    Raises ArgumentError if there is no such target, or it cannot be imported.
    """
    place = TARGETS.get(name) or _of_packages().get(name)
    if place is None:
        raise ArgumentError(f"there is no target {name!r}; known: {', '.join(target_names())}")
    module, _, attribute = place.partition(":")
    try:
        added: AddCommand = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ArgumentError(f"the target {name!r} cannot be loaded from {place}: {error}") from None
    return added


def _of_packages() -> dict[str, str]:
    return {entry.name: entry.value for entry in entry_points(group=GROUP)}


__all__ = ["GROUP", "TARGETS", "AddCommand", "find", "target_names"]
