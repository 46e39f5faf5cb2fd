"""Finds passes by name: dy2st's own, and those of other packages.

Another package offers a pass through an entry point of the group `dy2st.passes`:

    [project.entry-points."dy2st.passes"]
    MyPass = "my_package.my_module:MyPass"
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from typing import Any

from dy2st.passes.core.info import PassInfo, plain
from dy2st_runtime.errors import ArgumentError, WrongKind, did_you_mean

GROUP = "dy2st.passes"
_made: dict[str, tuple[str, Callable[..., Any]]] = {}


def register(name: str, maker: Callable[..., Any]) -> None:
    """Enter what makes a pass when it is called; a later one of the same name replaces it."""
    _made[plain(name)] = (name, maker)


def find(name: str) -> Any:
    """A pass by its name, made without arguments; `fold-constant` is `FoldConstant`.

    Raises ArgumentError, with the nearest name, if there is none.

    >>> dy2st.passes.find("fold-constant").info.name
    'FoldConstant'
    """
    wanted = plain(name)
    if wanted in _made:
        own, maker = _made[wanted]
        try:
            signature(maker).bind()
        except TypeError as error:
            what = f"the pass {own!r} cannot be made by its name alone"
            raise ArgumentError(f"{what}: {error}; make it and put it into a Sequential") from None
        return maker()
    entries = [entry for entry in _offered() if plain(entry.name) == wanted]
    if len({entry.value for entry in entries}) > 1:
        both = " and ".join(sorted(entry.value for entry in entries))
        raise ArgumentError(f"the pass {name!r} is offered more than once: by {both}")
    if entries:
        try:
            offered = entries[0].load()
        except (ImportError, AttributeError) as error:
            what = f"the entry point {entries[0].value} of {GROUP}"
            raise ArgumentError(f"{what} cannot be loaded: {error}") from error
        is_made = isinstance(getattr(offered, "info", None), PassInfo) and not isinstance(
            offered, type
        )
        made = offered if is_made or not callable(offered) else offered()
        if not isinstance(getattr(made, "info", None), PassInfo):
            raise WrongKind(
                f"the entry point {entries[0].value} of {GROUP} is no pass: {made!r:.80}"
            )
        return made
    raise ArgumentError(f"there is no pass {name!r}{did_you_mean(name, pass_names())}")


def pass_names() -> list[str]:
    """The names of all passes, in order of the alphabet.

    >>> "FoldConstant" in dy2st.passes.pass_names()
    True
    """
    made = (name for name, _ in _made.values())
    return sorted({*made, *(entry.name for entry in _offered())})


def _offered() -> list[EntryPoint]:
    return list(entry_points(group=GROUP))


def order_of_required(info: PassInfo) -> list[Any]:
    """The passes that a pass requires, and those that they require, each before its users.

    Raises ArgumentError for a cycle.
    """
    order: dict[str, Any] = {}
    path: list[str] = [info.name]

    def visit(names: tuple[str, ...]) -> None:
        for required in map(find, names):
            name = required.info.name
            if name in path:
                cycle = " -> ".join([*path[path.index(name) :], name])
                raise ArgumentError(f"passes require each other in a circle: {cycle}")
            if name not in order:
                path.append(name)
                visit(required.info.required)
                path.pop()
                order[name] = required

    visit(info.required)
    return list(order.values())


__all__ = ["GROUP", "find", "order_of_required", "pass_names", "register"]
