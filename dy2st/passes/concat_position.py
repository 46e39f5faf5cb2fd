"""CanonicalizeConcatPos: what follows a concat is done to its parts, so that concats come last.

    %0 = concat(%a, %b)                     %0 = relu(%a)
    %1 = relu(%0)                   =>      %1 = relu(%b)
                                            %2 = concat(%0, %1)

An accelerator joins parts for nothing where it reads them. Elementwise operators go before any
concat, with scalars and with constants by channel, which are cut into their parts; pools, padding
and resizing of other axes only before a concat along channels. A concat with other users stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import Value, any_operator, constant, made_by, op, value
from dy2st.passes.patterns.rewrite_pass import rewrite_pass
from dy2st.passes.patterns.rule import Rule, rule
from dy2st_runtime.ir import DEFINITIONS, Kind, Operator, apply

_joined = made_by("concat")


def _concat_of(m: Match, joined: Value) -> tuple[Operator, int]:
    """The concat, which has no other users, and its axis."""
    concat = m[joined].maker
    assert isinstance(concat, Operator)
    m.require(m.is_used_once(m[joined]), "the result of `concat` has other users")
    m.require(len(concat.operands) > 1, "there is one part only")
    return concat, concat.attributes["axis"] % m[joined].ndim


def _again(parts: list[Any], concat: Operator) -> Any:
    return apply("concat", *parts, **concat.attributes)


_one_by_one = any_operator(lambda known: known.kind is Kind.ELEMENTWISE, _joined)


@rule(_one_by_one)
def unary(m: Match) -> Any:
    """f(concat(a, b)) -> concat(f(a), f(b))."""
    concat, _ = _concat_of(m, _joined)
    operator = m.operators[_one_by_one]
    made = [apply(operator.name, part, **operator.attributes) for part in concat.operands]
    return _again(made, concat)


_spatially = any_operator(
    lambda known: (
        # Pools, padding and reductions; a softmax is of one tensor.
        (known.kind in (Kind.REDUCTION, Kind.INJECTIVE) or "strides" in known.attributes)
        and known.along is not None
        and known.inputs == ("x",)
    ),
    _joined,
)


@rule(_spatially)
def spatial(m: Match) -> Any:
    """pool(concat(a, b)) -> concat(pool(a), pool(b)) along channels."""
    concat, axis = _concat_of(m, _joined)
    operator = m.operators[_spatially]
    name, attributes = operator.name, operator.attributes
    m.require(axis == 1, "the parts are not joined along channels")
    along = DEFINITIONS[name].works_along([m[_joined].type], attributes)
    m.require(1 not in along, f"`{name}` reaches over the channels")
    m.require(m[_spatially].ndim == m[_joined].ndim, f"`{name}` leaves out axes")
    others = [r for r in operator.results[1:] if m.uses.get(r)]
    m.require(not others, f"a second result of `{name}` is used")
    made = [apply(name, part, **attributes) for part in concat.operands]
    return _again([y[0] if isinstance(y, tuple) else y for y in made], concat)


_places = value(lambda v: v.tensor_type.rank == 1, "a vector of indices")
_chosen = op.index(_joined, _places)


@rule(_chosen)
def choice(m: Match) -> Any:
    """index(concat(a, b), i) -> concat(index(a, i), index(b, i)) along another axis."""
    concat, axis = _concat_of(m, _joined)
    attributes = m.attributes(_chosen)
    m.require(attributes["axes"] != (axis,), "it chooses along the axis of the parts")
    return _again([apply("index", x, m[_places], **attributes) for x in concat.operands], concat)


def _binary_rule(place: int) -> Rule:
    number = constant()
    operands: list[Value] = [number, number]
    operands[place] = _joined
    pattern = any_operator(lambda known: known.kind is Kind.BROADCAST, *operands)

    @rule(pattern)
    def with_constant(m: Match) -> Any:
        """f(concat(a, b), c) -> concat(f(a, c1), f(b, c2))."""
        concat, axis = _concat_of(m, _joined)
        operator = m.operators[pattern]
        whole, array = m[_joined].tensor_type, m.array(number)
        m.require(array.ndim <= whole.rank, "the constant has more axes")
        m.require(
            m[_joined].type == m[pattern].tensor_type.with_dtype(m[_joined].dtype),
            "the constant makes it larger",
        )
        parts, begin = [], 0
        for part in concat.operands:
            # what of the constant goes with one part, and where the next one begins
            shape = (1,) * (part.ndim - array.ndim) + array.shape
            size = part.tensor_type.shape[axis]
            if shape[axis] == 1:
                cut: Any = array
            else:
                m.require(isinstance(size, int), "the size of a part is not known")
                assert isinstance(size, int)
                wide = array.reshape(shape)
                cut, begin = np.take(wide, range(begin, begin + size), axis), begin + size
            both = [cut, cut]
            both[place] = part
            parts.append(apply(operator.name, *both, **operator.attributes))
        return _again(parts, concat)

    return with_constant


CanonicalizeConcatPos = rewrite_pass(
    "CanonicalizeConcatPos",
    [
        unary,
        spatial,
        choice,
        _binary_rule(0),
        _binary_rule(1),
    ],
    opt_level=1,
    doc="""What follows a concat by channel is done to its parts.

    >>> f = dy2st.to_static(
    ...     lambda x, y: dy2st.concat([dy2st.relu(x), dy2st.relu(y)], axis=1),
    ...     [dy2st.static.InputSpec([1, 2, 4, 4])] * 2,
    ... )
    >>> [one.name for one in dy2st.passes.CanonicalizeConcatPos()(f.main_program).operators]
    ['relu', 'relu', 'concat']
    """,
)

__all__ = ["CanonicalizeConcatPos"]
