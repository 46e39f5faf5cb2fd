"""Attributes and variables that only some paths of a Program bind."""

from __future__ import annotations

import pytest

import dy2st
from dy2st.jit import to_static


class Box:
    pass


def filled(x):
    box = Box()
    if x.sum() > 0:
        box.value = x
    return box


def same(function):
    static = to_static(function)
    for values in ([1.0, 2.0], [-1.0, -2.0]):
        x = dy2st.to_tensor(values)
        assert repr(static(x)) == repr(function(x))


def test_hasattr_is_answered_by_the_program():
    same(lambda x: hasattr(filled(x), "value"))


def test_getattr_gives_the_default_where_no_path_has_set_it():
    same(lambda x: getattr(filled(x), "value", None))


def test_reading_a_missing_attribute_raises_what_python_raises():
    static = to_static(lambda x: filled(x).value)
    assert static(dy2st.to_tensor([1.0])).tolist() == [1.0]
    with pytest.raises(AttributeError, match=r"^'Box' object has no attribute 'value'"):
        static(dy2st.to_tensor([-1.0]))
