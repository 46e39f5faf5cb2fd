"""What is known of a value: which of several it is, and its truth."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from dy2st.convert.trace import Test, Trace
from dy2st.convert.values.flatten import case_value
from dy2st.convert.values.layout import Layout, Same
from dy2st.convert.values.special import Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F, Variable
from dy2st_runtime.tensor import EagerTensor


def known(trace: Trace, value: Any) -> Any:
    """The one case that a value can be here; itself where it can be several."""
    while type(value) is Union:
        cases = trace.cases_of(value)
        if len(cases) != 1:
            return value
        value = value_of_case(trace, value, cases[0])
    return value


def value_of_case(trace: Trace, value: Union, place: int) -> Any:
    """What a value is in one of its cases."""
    node = value.layouts[place]
    return node.value if isinstance(node, Same) else case_value(trace, value, place)


def is_constant(node: Layout, value: object) -> bool:
    """Whether a layout is that of one object."""
    return isinstance(node, Same) and node.value is value


def is_case(trace: Trace, value: Union, *places: int) -> Variable:
    """Whether a value is one of some cases; on both sides of a branch on it that is known."""
    tag = trace.tracer.local(value.tag)
    if len(places) > 2 and places == tuple(range(places[0], places[-1] + 1)):
        found: Variable = F.logical_and(tag >= places[0], tag <= places[-1])
    else:
        found = reduce(F.logical_or, [F.equal(tag, place) for place in places])
    found.number = bool
    note_cases(trace, found, value, frozenset(places))
    return found


def note_cases(trace: Trace, found: Variable, value: Union, cases: frozenset[int]) -> None:
    """Note of a bool whether a value is one of some cases."""
    others = frozenset(range(len(value.layouts))) - cases
    facts = {True: [(value, cases)], False: [(value, others)]}
    trace.tests[id(found)] = Test(found, facts=facts)


def facts_of(trace: Trace, pred: Any, taken: bool) -> list[tuple[Union, frozenset[int]]]:
    """Which cases values can be where a condition is met, or where it is not."""
    test = trace.tests.get(id(pred))
    return [] if test is None else test.facts.get(taken, [])


def truth_of(trace: Trace, value: Any) -> Variable:
    """The truth of a tensor or number as a 0-d bool of the current Block."""
    if isinstance(value, (bool, Dim, Condition)):
        variable = trace.tracer.number(value)
    else:
        assert isinstance(value, (Variable, EagerTensor)), f"no truth of {value!r} is traced"
        variable = trace.tracer.variable(value)
    size = variable.size
    if isinstance(size, int) and size != 1:
        raise ShapeError(
            f"the truth of a tensor of shape {variable.shape} is ambiguous: use any() or all()"
        )
    if variable.tensor_type.rank:
        variable = F.reshape(variable, [])
    if variable.tensor_type.dtype != np.dtype("bool"):
        variable = F.not_equal(variable, 0)
    return variable
