"""A weak proxy of an object that is gone raises where Python raises, and nowhere before."""

from __future__ import annotations

import json
import unittest
from collections.abc import Callable
from typing import Any
from weakref import proxy

import pytest

import dy2st
from dy2st.jit import to_static

CASE = unittest.TestCase()
X = dy2st.to_tensor([1.0])


class Held:
    name = 3

    def __call__(self) -> int:
        return 4


def _gone() -> Any:
    return proxy(Held())


USES: dict[str, Callable[[Any], Any]] = {
    "an attribute": lambda one: one.name,
    "an attribute by its name": lambda one: getattr(one, "name"),  # noqa: B009
    "an attribute or another": lambda one: getattr(one, "name", 1),
    "an attribute set": lambda one: setattr(one, "name", 1),
    "whether it has one": lambda one: hasattr(one, "name"),
    "asserted": lambda one: CASE.assertRaises(ReferenceError, getattr, one, "name"),
    "given to a library": lambda one: CASE.assertIsNotNone(one),
    "given to it by a word": lambda one: CASE.assertIsNotNone(obj=one),
    "given to it in a list": lambda one: CASE.assertIsNotNone([one, (one,)]),
    "given to it where that raises": lambda one: json.dumps(one),
    "called": lambda one: one(),
    "its class": lambda one: one.__class__,
    "isinstance": lambda one: isinstance(one, Held),
    "in a list": lambda one: len([one, one]),
    "in a dict": lambda one: list({1: one}),
    "equal": lambda one: one == 1,
    "added": lambda one: one + 1,
    "bool": lambda one: bool(one),
    "if": lambda one: 1 if one else 2,
    "its text": lambda one: str(one),
    "formatted": lambda one: f"{one}",
    "its length": lambda one: len(one),
    "an item": lambda one: one[0],
    "its items": lambda one: list(one),
    "unpacked": lambda one: [*one],
    "in it": lambda one: 1 in one,
    "called with it": lambda one: (lambda other: 5)(one),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_use_gives_or_raises_what_it_does_in_python(use: Callable[[Any], Any]) -> None:
    def function(x: Any) -> Any:
        try:
            found = use(_gone())
        except (ReferenceError, TypeError, AttributeError) as error:
            found = type(error).__name__
        return x * 2, found

    assert to_static(function)(X)[1] == function(X)[1]
