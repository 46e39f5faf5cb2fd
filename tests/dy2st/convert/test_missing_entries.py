"""`__missing__` of dicts of the user's classes runs in traced form, where the entry is missing."""

# ruff: noqa: UP031  `%` is what is tested

from __future__ import annotations

from collections import ChainMap, Counter, UserDict, defaultdict
from typing import Any

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from tests.dy2st.catalogue.comparing import comparable

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


class Wrapped(UserDict):  # type: ignore[type-arg]
    def __missing__(self, key: Any) -> Any:
        ASKED.append(key)
        return 3


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


def in_a_text(x: Any) -> Any:
    d = Noting(q=1)
    return "%(r)s and %(q)d %%" % d, "{rr} and {q}".format_map(d), len(ASKED), x


def stored_by_a_text(x: Any) -> Any:
    d, e = Storing(q=1), Storing(q=1)
    return "%(rrr)s" % d, "{rrr}".format_map(e), len(d), len(e), x


def in_a_text_of_a_mapping(x: Any) -> Any:
    d, e = Wrapped(q=1), ChainMap({"q": 2}, {"r": 3})
    return "%(r)s %(q)s" % d, "{r} {q}".format_map(d), "%(r)s" % e, "{q}".format_map(e), x


def in_a_text_of_tensors(x: Any) -> Any:
    d = Noting(q=x.sum())
    return "%(r)s and %(q).1f" % d, "{r} and {q}".format_map(d), len(ASKED)


OF_TEXTS = [in_a_text, stored_by_a_text, in_a_text_of_a_mapping, in_a_text_of_tensors]


@pytest.mark.parametrize(
    "function",
    [computed, noted, stored, of_a_factory, counted, *OF_TEXTS],
    ids=lambda f: f.__name__,
)
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

    with pytest.raises(ConversionError, match="a Named is used whose items"):
        to_static(in_a_branch)(dy2st.to_tensor([1.0]))


def test_a_text_that_would_store_on_every_path_is_refused() -> None:
    def in_a_branch(x: Any) -> Any:
        d = Storing(q=1)
        return ("%(r)s" % d if x.sum() > 0 else "q"), len(d)

    with pytest.raises(ConversionError, match="a Storing is used whose items"):
        to_static(in_a_branch)(dy2st.to_tensor([1.0]))


@pytest.mark.parametrize("template", ["%(a)y", "%(a)", "%(a)s %", "%(b)"])
def test_a_template_that_is_wrong_is_refused_as_by_python(template: str) -> None:
    def in_a_text(x: Any) -> Any:
        return template % Noting(a=1), x

    for one in (in_a_text, to_static(in_a_text)):
        with pytest.raises(ValueError, match="format"):
            one(dy2st.to_tensor([1.0]))
