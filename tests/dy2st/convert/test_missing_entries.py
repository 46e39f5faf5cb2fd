"""`__missing__` of dicts of the user's classes runs in traced form, where the entry is missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

import dy2st
from dy2st.errors import UnsupportedSyntax
from dy2st.jit import to_static
from tests.dy2st.constructs.catalogue import comparable

INPUTS = ([-1.0], [1.0], [-1.0], [2.0])
ASKED: list[Any] = []


class Lengths(dict):  # type: ignore[type-arg]
    def __missing__(self, key: Any) -> Any:
        return len(key) + 1


class Noting(dict):  # type: ignore[type-arg]
    def __missing__(self, key: Any) -> Any:
        ASKED.append(key)
        return 2


class Storing(dict):  # type: ignore[type-arg]
    def __missing__(self, key: Any) -> Any:
        self[key] = found = len(key)
        return found


class Named(defaultdict):  # type: ignore[type-arg]
    pass


class Counts(Counter):  # type: ignore[type-arg]
    pass


def computed(x: Any) -> Any:
    d = Lengths(q=1)
    return x + d["rrr"] + d["q"], len(d), d["a"] if x.sum() > 0 else d["q"]


def noted(x: Any) -> Any:
    d = Noting(q=1)
    return x + d["rrr"] + d["q"], len(ASKED)


def stored(x: Any) -> Any:
    d = Storing(q=1)
    y = d["rrr"] + d["q"] + d["rrr"]
    return x + y, len(d)


def of_a_factory(x: Any) -> Any:
    d = Named(list, q=[1])
    d["r"].append(x)
    return d["r"], d["q"], len(d)


def counted(x: Any) -> Any:
    d = Counts("aab")
    return d["a"] + d["z"], len(d), x


@pytest.mark.parametrize("function", [computed, noted, stored, of_a_factory, counted])
def test_what_is_missing_is_what_python_finds(function: Any) -> None:
    found = []
    for one in (function, to_static(function)):
        ASKED.clear()
        found.append([comparable(one(dy2st.to_tensor(values))) for values in INPUTS])
    assert found[0] == found[1]


def test_what_would_be_stored_on_every_path_is_refused() -> None:
    def in_a_branch(x: Any) -> Any:
        d = Named(lambda: 4, q=1)
        return (d["r"] if x.sum() > 0 else d["q"]), len(d)

    with pytest.raises(UnsupportedSyntax, match="an item of a Named is set"):
        to_static(in_a_branch)(dy2st.to_tensor([1.0]))
