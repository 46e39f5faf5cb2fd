"""Values of Python that hold others and never change: bound methods, partial calls, slices.

Nobody asks which of two equal ones a value is, so branches and loops carry them by what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import MethodType
from typing import Any, NamedTuple


class Bundle(NamedTuple):
    """How values of a kind are taken apart, and made of their parts.

    form  what two must have in common, so that their parts can be joined one by one.
    """

    parts: Callable[[Any], list[Any]]
    make: Callable[[Sequence[Any], Any], Any]
    form: Callable[[Any], Any] = lambda value: None


def _partial(parts: Sequence[Any], names: tuple[str, ...]) -> Any:
    (function, *args), keywords = parts[: len(parts) - len(names)], parts[len(parts) - len(names) :]
    return partial(function, *args, **dict(zip(names, keywords, strict=True)))


BUNDLES: dict[type, Bundle] = {
    MethodType: Bundle(
        lambda method: [method.__func__, method.__self__],
        lambda parts, _: MethodType(*parts),
    ),
    partial: Bundle(
        lambda call: [call.func, *call.args, *call.keywords.values()],
        _partial,
        lambda call: tuple(call.keywords),
    ),
    slice: Bundle(
        lambda bounds: [bounds.start, bounds.stop, bounds.step],
        lambda parts, _: slice(*parts),
    ),
}

__all__ = ["BUNDLES", "Bundle"]
