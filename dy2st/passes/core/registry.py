"""All passes by name: dy2st's own, and those of other packages.

Another package offers a pass through an entry point of the group `dy2st.passes`:

    [project.entry-points."dy2st.passes"]
    MyPass = "my_package.my_module:MyPass"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from dy2st.passes.core.context import did_you_mean
from dy2st.passes.core.info import PassInfo
from dy2st_runtime.errors import ArgumentError

GROUP = "dy2st.passes"
_made: dict[str, Callable[..., Any]] = {}


def register(name: str, maker: Callable[..., Any]) -> None:
    """Enter what makes a pass when it is called; a later one of the same name replaces it."""
    _made[name] = maker


def find(name: str) -> Any:
    """A pass by its name, made without arguments; `fold-constant` is `FoldConstant`.

    Raises ArgumentError, with the nearest name, if there is none.
    """
    wanted = _plain(name)
    for known, maker in _made.items():
        if _plain(known) == wanted:
            return maker()
    for entry in _offered():
        if _plain(entry.name) == wanted:
            return _loaded(entry)
    raise ArgumentError(f"there is no pass {name!r}{did_you_mean(name, pass_names())}")


def pass_names() -> list[str]:
    """The names of all passes, in order of the alphabet."""
    return sorted({*_made, *(entry.name for entry in _offered())})


def _plain(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).lower()


def _offered() -> list[EntryPoint]:
    return list(entry_points(group=GROUP))


def _loaded(entry: EntryPoint) -> Any:
    """What an entry point offers: a pass, or what makes one."""
    offered = entry.load()
    made = offered if hasattr(offered, "run") and not isinstance(offered, type) else offered()
    if not isinstance(getattr(made, "info", None), PassInfo):
        raise TypeError(f"the entry point {entry.value} of {GROUP} is no pass: {made!r:.80}")
    return made


def order_of_required(info: PassInfo) -> list[str]:
    """The names of what a pass requires, and of what that requires, each before its users.

    Raises ArgumentError for a cycle.
    """
    order: list[str] = []
    path: list[str] = [info.name]

    def visit(names: tuple[str, ...]) -> None:
        for name in names:
            if name in path:
                cycle = " -> ".join([*path[path.index(name) :], name])
                raise ArgumentError(f"passes require each other in a circle: {cycle}")
            if name not in order:
                path.append(name)
                visit(find(name).info.required)
                path.pop()
                order.append(name)

    visit(info.required)
    return order


__all__ = ["GROUP", "find", "order_of_required", "pass_names", "register"]
