"""random.Random where a tensor decides how often it draws: the Program has its state.

Mersenne Twister, MT19937: M. Matsumoto, T. Nishimura, ACM TOMACS 8 (1998). All other methods are
traced as Python has written them, on these two.
"""

from __future__ import annotations

import random
from typing import Any

from dy2st.convert.kinds.scalars import is_traced
from dy2st.convert.kinds.table import method_row
from dy2st.convert.kinds.text import inside
from dy2st.convert.stage.function import repeatable
from dy2st.convert.trace import Trace
from dy2st.convert.types.objects import state_of_twister
from dy2st.convert.values.special import STATE, SymbolicSequence, Union
from dy2st.transpiler.lower import traced_form
from dy2st_runtime.ir import F

_WORDS, _AHEAD = 624, 397
# Methods that look at the state as a whole, or set it: Python's own run.
_OF_STATE = frozenset({"getstate", "reduce", "seed", "setstate"})


def is_drawn_by_program(trace: Trace, method: Any, args: Any) -> bool:
    """Whether a method of a random.Random draws what is known only when the Program runs."""
    owner, *others = args or (None,)
    if not isinstance(owner, random.Random) or isinstance(owner, random.SystemRandom):
        return False
    if method.__name__.strip("_") in _OF_STATE:
        return False
    if _is_staged(trace, owner) or any(_is_decided(trace, one) for one in others):
        return True
    sized = (one for one in others if hasattr(type(one), "__len__"))
    _note_drawn(trace, owner, sum(map(len, sized)))
    return False


def _is_staged(trace: Trace, owner: Any) -> bool:
    place = trace.over.get((id(owner), STATE))
    is_of_program = place is not None and len(place.value) == 2
    return is_of_program or (trace.is_nested and not trace.is_made_here(owner))


def _note_drawn(trace: Trace, owner: Any, items: int) -> None:
    """Note how many numbers Python has drawn, at least: of a few the next trace makes inputs."""
    if trace.is_outside(owner):
        _, count = trace.record.drawn.get(id(owner), (owner, 0))
        trace.record.drawn[id(owner)] = owner, count + 1 + items


def _is_decided(trace: Trace, value: Any) -> bool:
    return any(is_traced(p) or type(p) in (SymbolicSequence, Union) for p in inside(trace, value))


@method_row(random.Random)
def _random(trace: Trace, owner: Any) -> Any:
    return _drawn(trace, owner, "random", _fraction)


@method_row(random.Random)
def _getrandbits(trace: Trace, owner: Any, k: Any, /) -> Any:
    return _drawn(trace, owner, "getrandbits", _bits, k)


def _drawn(trace: Trace, owner: Any, name: str, draw: Any, *args: Any) -> Any:
    """What a method in C gives, by the Program if it has the state of `owner`."""
    if not (_is_staged(trace, owner) or any(map(is_traced, args))):
        _note_drawn(trace, owner, 0)
        return trace.call_library(getattr(random.Random, name).__get__(owner), args, {})
    if (id(owner), STATE) not in trace.over and trace.is_outside(owner):
        trace.begin_state(owner)
    state = state_of_twister(trace.held(owner, STATE))
    # A function of the Program, which each further draw calls
    drawn = repeatable(trace, trace.mark_outside(draw), traced_form(draw).bind(trace, draw))
    words, position, found = drawn(*state, *args)
    trace.write(owner, STATE, (words, position))
    return found


def _fraction(words: Any, position: Any) -> Any:
    """A number in [0, 1) of 53 bits."""
    words, position, high = _number(words, position)
    words, position, low = _number(words, position)
    return words, position, (high // 32 * 67108864.0 + low // 64) / 9007199254740992.0


def _bits(words: Any, position: Any, k: Any) -> Any:
    """An int of k bits, 32 of them by a draw, the lowest first."""
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    found, unit = 0, 1
    while k > 0:
        words, position, number = _number(words, position)
        if k < 32:
            number = number // 2 ** (32 - k)
        found += number * unit
        k -= 32
        if k > 0:
            unit *= 4294967296
    return words, position, found


def _number(words: Any, position: Any) -> Any:
    """The next number of 32 bits."""
    if position >= _WORDS:
        words, position = _twisted(words), 0
    one = words[position]
    one = one ^ one // 2048
    one = one ^ one * 128 & 0x9D2C5680
    one = one ^ one * 32768 & 0xEFC60000
    return words, position + 1, int(one ^ one // 262144)


def _twisted(words: Any) -> Any:
    """The next 624 words. Each is made of those 1 and 397 ahead, some of which are new ones."""
    last = _WORDS - _AHEAD
    upper, lower = words & 0x80000000, words & 0x7FFFFFFF
    first = _mixed(words[_AHEAD:], upper[:last], lower[1 : last + 1])
    second = _mixed(first, upper[last : 2 * last], lower[last + 1 : 2 * last + 1])
    third = _mixed(second[: _AHEAD - last - 1], upper[2 * last : -1], lower[2 * last + 1 :])
    end = _mixed(second[_AHEAD - last - 1 : _AHEAD - last], upper[-1:], first[:1] & 0x7FFFFFFF)
    return F.concat([first, second, third, end])


def _mixed(ahead: Any, upper: Any, lower: Any) -> Any:
    pair = upper | lower
    return ahead ^ pair // 2 ^ (pair & 1) * 0x9908B0DF
