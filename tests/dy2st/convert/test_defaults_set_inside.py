"""What a call of a function takes is set where the function is made, and refused elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static


def _scaled(x: Any, k: Any = 1) -> Any:
    return x * k


def _other(x: Any, k: Any = 1) -> Any:
    return x * 7


def set_defaults(x: Any) -> Any:
    _scaled.__defaults__ = (2,)
    return _scaled(x)


def set_keyword_defaults(x: Any) -> Any:
    _scaled.__kwdefaults__ = {"k": 2}
    return _scaled(x)


def set_code(x: Any) -> Any:
    _scaled.__code__ = _other.__code__
    return _scaled(x)


def set_in_a_branch(x: Any) -> Any:
    def local(y: Any, k: Any = 1) -> Any:
        return y * k

    if x.sum() > 0:
        local.__defaults__ = (3,)
    return local(x)


@pytest.mark.parametrize(
    "function", [set_defaults, set_keyword_defaults, set_code, set_in_a_branch]
)
def test_a_function_from_outside_stays_as_it_is(function: Any) -> None:
    with pytest.raises(ConversionError, match="which is made outside"):
        to_static(function)(dy2st.to_tensor([1.0]))


def test_a_function_that_is_made_inside_takes_what_is_set() -> None:
    def set_locally(x: Any, k: Any) -> Any:
        def local(y: Any, q: Any = 2) -> Any:
            return y * q

        local.__defaults__ = (k,)
        return local(x)

    static = to_static(set_locally)
    for k in (2, 3, 2):
        assert static(dy2st.to_tensor([1.0]), k).tolist() == [k]
