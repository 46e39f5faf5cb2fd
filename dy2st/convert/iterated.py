"""Lists that a loop of Python runs over while a tensor decides how long they are."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from dy2st.convert.catchers import covers, tree_of, user_frames
from dy2st.convert.regions import Region
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import user_location

_PASSING_ON = frozenset({"enumerate", "iter", "map", "filter", "reversed", "zip"})


def refuse_iterated(region: Region, names: Sequence[str]) -> None:
    """Raise ConversionError if a branch makes a list longer or shorter that a loop runs over.

    Python's loop would see that; the loop that is unrolled runs over the list as it was.
    """
    changed = [
        name
        for name, value in zip(names, region.results, strict=False)
        if isinstance(value, list) and len(value) != len(region.copies.original_of(value))
    ]
    if not changed:
        return
    frame = next(user_frames())
    for name in set(changed).intersection(_iterated(frame)):
        raise ConversionError(
            f"the list `{name}` gets other entries under a tensor while a loop runs over it",
            at=user_location(),
            why="how often the loop runs is then known only when the Program runs",
            hint=f"take the entries out of a list of what is left: `while {name}: {name}.pop(0)`",
        )


def _iterated(frame: FrameType) -> Iterator[str]:
    """The variables that the `for` statements around the line of a frame run over."""
    text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    tree = tree_of(text)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.For) and covers(node, frame.f_lineno):
            yield from _names(node.iter)


def _names(node: Any) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in _PASSING_ON:
        for argument in node.args:
            yield from _names(argument)
