"""SimplifyAlgebra: leaves out arithmetic that does nothing, and takes cheaper operators.

    %0 = multiply(%x, 1.0)          =>      %0 = square(%x)
    %1 = multiply(%0, %0)

Every rule gives the same bits for every input, NaN, infinities and -0.0 among them: x * 0 stays for
floats, and so do x + 0.0, which turns -0.0 into 0.0, and x * -1, which keeps the sign of NaN where
-x flips it; x + (-0.0) goes. Of two zeros, or two NaNs, NumPy's maximum gives the first or the
second as processor and dtype will have it, so its operands keep their places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import Operation, Value, constant, op, value
from dy2st.passes.patterns.rewrite_pass import rewrite_pass
from dy2st.passes.patterns.rule import Rule, rule
from dy2st.passes.peephole import is_float
from dy2st_runtime.ir import F, Operator, apply

_x, _y = value(), value()


def _all(number: float) -> Value:
    return constant(lambda array: array.size > 0 and bool((array == number).all()), str(number))


def _nothing_added(array: Any) -> bool:
    """Zeros that change no x: of integers, and -0.0."""
    if not array.size or array.any():
        return False
    return array.dtype.kind in "iu" or (array.dtype.kind == "f" and bool(np.signbit(array).all()))


_zero = constant(_nothing_added, "a zero that changes nothing")
_plain_zero = constant(
    lambda a: a.size > 0 and not a.any() and (a.dtype.kind in "iu" or not np.signbit(a).any()), "0"
)


def _keeps_type(m: Match, pattern: Operation) -> None:
    m.require(m[_x].type == m[pattern].type, "the constant makes the result larger")


def _identity(pattern: Operation, text: str) -> Rule:
    @rule(pattern)
    def identity(m: Match) -> Any:
        m.require(m[_x].dtype.kind != "c", "infinities times 0 make parts NaN")
        _keeps_type(m, pattern)
        return m[_x]

    identity.replace.__doc__ = text
    return identity


IDENTITIES = (
    _identity(op.add(_x, _zero), "x + 0 -> x for integers, and x + (-0.0) -> x."),
    _identity(op.subtract(_x, _plain_zero), "x - 0 -> x."),
    _identity(op.multiply(_x, _all(1)), "x * 1 -> x."),
    _identity(op.divide(_x, _all(1)), "x / 1 -> x."),
    _identity(op.maximum(_x, _x), "max(x, x) -> x."),
    _identity(op.minimum(_x, _x), "min(x, x) -> x."),
    _identity(op.logical_and(_x, _x), "x and x -> x."),
    _identity(op.logical_or(_x, _x), "x or x -> x."),
    _identity(op.where(_y, _x, _x), "where(c, x, x) -> x."),
    _identity(op.neg(op.neg(_x).shared()), "-(-x) -> x."),
)

_relu = op.relu(_x).shared()


@rule(op.relu(_relu))
def relu_of_relu(m: Match) -> Any:
    """relu(relu(x)) -> relu(x)."""
    return m[_relu]


_abs = op.abs(_x).shared()


@rule(op.abs(_abs))
def abs_of_abs(m: Match) -> Any:
    """|(|x|)| -> |x|."""
    return m[_abs]


@rule(op.logical_not(op.logical_not(_x).shared()))
def not_not(m: Match) -> Any:
    """not not x -> x."""
    m.require(m[_x].dtype.kind == "b", "x is no bool")
    return m[_x]


@rule(op.multiply(_x, _x))
def square(m: Match) -> Any:
    """x * x -> square(x)."""
    m.require(is_float(m[_x]), "integers stay as they are")
    return F.square(m[_x])


@rule(op.pow(_x, _all(2)))
def power_of_two(m: Match) -> Any:
    """x ** 2 -> square(x) for integers, where both are exact."""
    m.require(m[_x].dtype.kind in "iu", "of floats the last bit may differ")
    return F.square(m[_x])


_power = op.pow(_x, _all(1))


@rule(_power)
def power_of_one(m: Match) -> Any:
    """x ** 1 -> x for integers."""
    m.require(m[_x].dtype.kind in "iu", "a float NaN may lose its sign")
    _keeps_type(m, _power)
    return m[_x]


@rule(op.subtract(_x, _x))
def difference_of_same(m: Match) -> Any:
    """x - x -> 0 for integers; of floats it may be NaN."""
    m.require(m[_x].dtype.kind in "iu", "infinity minus infinity is NaN")
    return F.zeros_like(m[_x])


_condition = constant()
_where = op.where(_condition, _x, _y)


@rule(_where)
def decided_where(m: Match) -> Any:
    """where(True, x, y) -> x, where(False, x, y) -> y."""
    truth = m.array(_condition)
    m.require(truth.size > 0 and bool(truth.all() or not truth.any()), "it chooses both")
    chosen = m[_x] if truth.all() else m[_y]
    m.require(chosen.type == m[_where].type, "the chosen one is broadcast")
    return chosen


_slope = constant(lambda array: array.size == 1, "one number")
_leaky = op.where(op.greater_than(_x, 0), _x, op.multiply(_x, _slope))


@rule(_leaky)
def leaky_choice(m: Match) -> Any:
    """where(x > 0, x, x * slope) -> leaky_relu(x), as older files have it."""
    m.require(is_float(m[_x]), "integers become floats there")
    _keeps_type(m, _leaky)
    return apply("leaky_relu", m[_x], negative_slope=float(m.array(_slope).reshape(())))


_bool = value(lambda v: v.tensor_type.dtype.kind == "b", "a bool")


def _with_truth(pattern: Operation, keep: bool) -> Rule:
    @rule(pattern)
    def with_truth(m: Match) -> Any:
        m.require(m[_bool].type == m[pattern].type, "the constant makes the result larger")
        if keep:
            return m[_bool]
        return F.full_like(m[_bool], pattern.name == "logical_or")

    with_truth.replace.__doc__ = "x and True -> x, x or False -> x, and so on."
    return with_truth


LOGIC = (
    _with_truth(op.logical_and(_bool, _all(True)), keep=True),
    _with_truth(op.logical_or(_bool, _all(False)), keep=True),
    _with_truth(op.logical_and(_bool, _all(False)), keep=False),
    _with_truth(op.logical_or(_bool, _all(True)), keep=False),
)


def _join_rule(count: int) -> Rule:
    parts = [value() for _ in range(count)]
    pattern = op.concat(*parts)

    @rule(pattern)
    def join_split(m: Match) -> Any:
        """concat(split(x)) -> x, along the same axis and in the same order."""
        makers = {m[part].maker for part in parts}
        maker = makers.pop()
        m.require(not makers and isinstance(maker, Operator), "the parts are of several operators")
        assert isinstance(maker, Operator)
        m.require(maker.name == "split", "the parts are not of a split")
        pairs = zip(parts, maker.results, strict=False)
        m.require(len(parts) == len(maker.results), "there are more parts")
        m.require(all(m[part] is result for part, result in pairs), "the order is another one")
        rank = m[pattern].ndim
        axis = m.attributes(pattern)["axis"] % rank
        m.require(axis == maker.attributes["axis"] % rank, "the axis is another one")
        return maker.operands[0]

    return join_split


_outer, _inner = constant(), constant()


def _clip_rule(name: str) -> Rule:
    inner = getattr(op, name)(_x, _inner)

    @rule(getattr(op, name)(inner, _outer))
    def two_limits(m: Match) -> Any:
        """max(max(x, a), b) -> max(x, max(a, b)), and the same of min, where that is no zero."""
        limit = np.asarray(getattr(np, name)(m.array(_inner), m.array(_outer)))
        is_sure = not is_float(m[_x]) or bool(((limit < 0) | (limit > 0)).all())
        m.require(is_sure, "of two zeros or NaNs the order of operands decides")
        return apply(name, m[_x], limit)

    return two_limits


RULES = (
    *IDENTITIES,
    relu_of_relu,
    abs_of_abs,
    not_not,
    square,
    power_of_two,
    power_of_one,
    difference_of_same,
    decided_where,
    leaky_choice,
    *LOGIC,
    *(_join_rule(count) for count in range(2, 9)),
    _clip_rule("maximum"),
    _clip_rule("minimum"),
)

SimplifyAlgebra = rewrite_pass(
    "SimplifyAlgebra",
    RULES,
    opt_level=1,
    doc="""Arithmetic that does nothing goes, to the bit.

    >>> f = dy2st.to_static(lambda x: x * 1.0, [dy2st.static.InputSpec([3])])
    >>> dy2st.passes.SimplifyAlgebra()(f.main_program).operators
    []
    """,
)

__all__ = ["RULES", "SimplifyAlgebra"]
