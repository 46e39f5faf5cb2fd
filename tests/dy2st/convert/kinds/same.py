"""A function run by Python and through Programs, of known and of unknown sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import Seen, difference, kinds_of, seen

Function = Callable[..., Any]
VALUES = ([1.0, -2.0, 3.0, 0.5], [-1.0, -2.0, -3.0], [2.0, 2.0, 0.0, 5.0, -1.0], [4.0])


def through_program(function: Function, calls: Sequence[tuple[Any, ...]], unknown: bool) -> Any:
    """What the calls give, all through one Program."""
    specs = [
        InputSpec([None] * one.ndim if unknown else list(one.shape), one.dtype) for one in calls[0]
    ]
    static = to_static(function, input_spec=specs)
    found = [_eager(static, call) for call in calls]
    refusals = [one for one in found if isinstance(one, ConversionError)]
    if refusals:
        raise refusals[0]
    assert len(static.program_cache) <= 1, "several Programs for one InputSpec"
    return found


def _eager(function: Function, call: tuple[Any, ...]) -> Any:
    try:
        return function(*call)
    except Exception as error:
        return error


def _tensors(call: Any) -> tuple[Any, ...]:
    given = call if isinstance(call, tuple) else (call,)
    return tuple(
        one if isinstance(one, dy2st.Tensor) else dy2st.to_tensor(np.asarray(one, "float32"))
        for one in given
    )


def same(function: Function, *calls: Any, sizes: str = "known unknown") -> None:
    """Python and the Programs give the same for each call: lists of numbers, or tuples of such."""
    given = [_tensors(call) for call in calls or VALUES]
    wanted = [seen(_eager(function, call), has_words=False) for call in given]
    kinds = kinds_of(wanted)
    if "unknown" in sizes:
        found = through_program(function, given, unknown=True)
        _compare("unknown sizes", wanted, found, kinds)
    if "known" in sizes.split():
        for call, one in zip(given, wanted, strict=True):
            found = through_program(function, [call], unknown=False)
            _compare("known sizes", [one], found, kinds)


def _compare(sizes: str, wanted: Sequence[Seen], found: Sequence[Any], kinds: Any) -> None:
    for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
        said = difference(one, seen(other, has_words=False), kinds)
        if said and isinstance(other, Exception):
            raise AssertionError(f"{sizes}, call {number}: {said}") from other
        assert not said, f"{sizes}, call {number}: {said}"


def refused(function: Function, words: str, *calls: Any, sizes: str = "unknown") -> ConversionError:
    """The function is refused with these words, a place in the code and a way out."""
    given = [_tensors(call) for call in calls or VALUES]
    with pytest.raises(ConversionError) as caught:
        through_program(function, given, unknown=sizes == "unknown")
    # Not in its notes, which show the line of the test.
    assert re.search(words, str(caught.value)), caught.value
    assert "instead" in str(caught.value)
    return caught.value


__all__ = ["VALUES", "refused", "same", "through_program"]
