"""What `__hash__` and `__eq__` of a key read counts as read by the code that looks it up."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from tests.dy2st.convert.kinds.same import same

X = dy2st.to_tensor([1.0, 2.0])


def made(setting):
    class Key:
        def __init__(self, value):
            self.value = value

        def __hash__(self):
            return 1

        def __eq__(self, other):
            return (self.value + setting.step) % 2 == other.value % 2

    return Key


def test_a_setting_that_changes_between_two_calls_is_seen():
    setting = SimpleNamespace(step=0)
    key = made(setting)

    def f(x):
        entries = {"a": 1.0, key(0): 2.0}
        return x * entries.get(key(1), 3.0), key(0) in {key(1)}

    static = to_static(f)
    for step in (0, 1, 0):
        setting.step = step
        wanted, found = f(X), static(X)
        assert (found[0].tolist(), found[1]) == (wanted[0].tolist(), wanted[1])


def test_what_the_function_itself_has_set_is_seen():
    setting = SimpleNamespace(step=0)
    key = made(setting)

    def f(x):
        entries = {key(0): 2.0, key(1): 3.0}
        setting.step = 1
        return x * entries[key(0)]

    wanted = f(X).tolist()
    setting.step = 0
    assert to_static(f)(X).tolist() == wanted


def test_a_key_whose_hash_reads_what_a_tensor_decides_is_refused():
    class Named:
        def __init__(self, name):
            self.name = name

        def __hash__(self):
            return hash((self.name, 1))

        def __eq__(self, other):
            return self.name == other.name

    def f(x):
        return len({Named("a" if v > 1 else "b") for v in x})

    with pytest.raises(ConversionError, match="gets a key that is a tensor or object"):
        to_static(f)(X)


@dataclass(frozen=True)
class Place:
    row: int
    name: str = "a"
    value: object = field(default=None, compare=False)


def test_a_frozen_dataclass_of_traced_fields_is_a_key():
    def f(x):
        cells = {Place(0): 1.0}
        for v in x:
            place = Place(int(v), "a" if v > 1 else "b", v)
            cells[place] = cells.get(place, 0.0) + v
        first = max(cells, key=lambda place: place.row)
        return len(cells), cells[first], Place(1, "b") in cells, [place.name for place in cells]

    same(f)


def test_of_tensors_in_its_fields_the_identity_would_count():
    def f(x):
        return len({Place(int(v), x) for v in x})

    with pytest.raises(ConversionError, match="gets a key that is a tensor or object"):
        to_static(f)(X)


@dataclass(frozen=True)
class Size:
    height: int
    width: int


def test_keys_of_plain_fields_are_as_before():
    def f(x):
        cache = {Size(1, 2): x, (Size(2, 2), "a"): x * 2}
        return cache[Size(1, 2)], cache[Size(2, 2), "a"], Size(3, 3) in cache, {Size(1, 1)}

    same(lambda x: f(x)[:3])
