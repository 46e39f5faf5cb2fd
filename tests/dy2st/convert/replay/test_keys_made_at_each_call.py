"""Keys and elements of sets that a function makes are made anew at each call; no Variable leaks."""

from __future__ import annotations

from typing import Any

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static

DICT: dict[Any, Any] = {}
SET: set[Any] = set()
LIST: list[Any] = []


class Key:
    def __init__(self, t: Any = 0) -> None:
        self.t = t


def _key(x: Any) -> Any:
    DICT[Key()] = 1
    return x


def _key_with_a_tensor(x: Any) -> Any:
    DICT[Key(x * 2)] = x
    return x


def _tensors_as_elements(x: Any) -> Any:
    SET.add(x * 2)
    SET.add(3)
    return x


def _default(x: Any) -> Any:
    DICT.setdefault(x * 1, x)
    return x


def _tuples(x: Any) -> Any:
    DICT[1, x * 2] = 2
    DICT[Key(), "a"] = x
    return x


def _known(x: Any) -> Any:
    DICT["k"], DICT[len], DICT[Key], DICT[_key] = x, 1, 2, 3
    return x


def _one_object(x: Any) -> Any:
    key = Key(3)
    DICT[key] = key
    LIST.append(key)
    SET.add(key)
    return x


def _emptied(x: Any) -> Any:
    DICT.clear()
    SET.clear()
    DICT[Key(1)], DICT["b"] = 2, 3
    SET.add(Key(1))
    SET.add("q")
    return x


def _on_some_paths(x: Any) -> Any:
    if x.sum() > 0:
        DICT[Key()] = 4
        SET.add(4)
    else:
        SET.discard(4)
    return x


def _shown(value: Any) -> Any:
    if isinstance(value, Key):
        return "key", _shown(value.t)
    if isinstance(value, dy2st.Tensor):
        return "tensor", value.numpy().tolist()  # raises if it belongs to a trace
    return tuple(map(_shown, value)) if isinstance(value, tuple) else value


def _calls(function: Any) -> list[Any]:
    DICT.clear(), SET.clear(), LIST.clear()
    found: list[Any] = []
    for values in ([1.0], [-2.0], [3.0]):
        function(dy2st.to_tensor(values))
        entries = [(_shown(key), _shown(value)) for key, value in DICT.items()]
        one = [key is DICT[key] for key in DICT if isinstance(key, Key)]
        elements = sorted(map(str, map(_shown, SET)))
        found.append((entries, one, elements, [_shown(one) for one in LIST]))
    return found


FUNCTIONS = [
    _key,
    _key_with_a_tensor,
    _tensors_as_elements,
    _default,
    _tuples,
    _known,
    _one_object,
    _emptied,
    _on_some_paths,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_each_call_puts_new_ones_in(function: Any) -> None:
    assert _calls(to_static(function)) == _calls(function)


def _function_with_an_attribute(x: Any) -> Any:
    def inner() -> None: ...

    inner.t = x * 2  # type: ignore[attr-defined]
    LIST.append(inner)
    return x


def _class_with_an_attribute(x: Any) -> Any:
    LIST.append(type("T", (), {"t": x * 2}))
    return x


def _function_as_key(x: Any) -> Any:
    DICT[lambda: 1] = 2
    return x


REFUSED = [_function_with_an_attribute, _class_with_an_attribute, _function_as_key]


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_cannot_be_made_anew_is_refused(function: Any) -> None:
    with pytest.raises(ConversionError, match="lets an object from outside hold a"):
        to_static(function)(dy2st.to_tensor([1.0]))
