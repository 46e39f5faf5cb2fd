"""What a Program prints and asserts."""

from __future__ import annotations

import io
import sys
from collections import namedtuple

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ShapeError, TensorAsPython
from dy2st_runtime.ir import Tracer
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.ops import assert_, print_
from dy2st_runtime.tensor import to_tensor
from tests.recorded import program_of

Point = namedtuple("Point", ["x", "y"])
PAIR = TensorType("float32", (2,))


def run(function, array, sizes=None):
    type = TensorType(array.dtype, sizes or array.shape)
    program = program_of(lambda x: [function(x)][:0], type, names="x")
    engine.compile(program).run([array], [])


X = np.array([1, 2], np.float32)
IN_A_LIST = repr(to_tensor(X))
"""What Python prints of a tensor inside of a container."""


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (lambda x: (x,), "[1. 2.]"),
        (lambda x: ("x:", x, 3), "x: [1. 2.] 3"),
        (lambda x: ([x, "a"],), f"[{IN_A_LIST}, 'a']"),
        (lambda x: ((x,), ("b",)), f"({IN_A_LIST},) ('b',)"),
        (lambda x: ({"k": x, 2: [x]},), f"{{'k': {IN_A_LIST}, 2: [{IN_A_LIST}]}}"),
        (lambda x: (Point(x.sum(), 1),), f"Point(x={to_tensor(3.0)!r}, y=1)"),
        (lambda x: ("\0", x), "\0 [1. 2.]"),
        (lambda x: (x.shape[0], [x.shape[0] + 1]), "2 [3]"),
        (lambda x: (), ""),
    ],
)
def test_values_are_printed_when_the_program_runs(values, text, capsys):
    run(lambda x: print_(*values(x)), X, [symbol("n", 1)])
    assert capsys.readouterr().out == text + "\n"


def test_separator_and_end_are_those_of_print(capsys):
    run(lambda x: print_(x, 1, sep="-", end="!"), X)
    assert capsys.readouterr().out == "[1. 2.]-1!"


def test_errors_can_be_printed_to_their_stream(capsys):
    run(lambda x: print_(x, file=sys.stderr), X)
    assert capsys.readouterr().err == "[1. 2.]\n"


def test_printing_somewhere_else_is_refused():
    with pytest.raises(TensorAsPython, match="standard output or error"):
        run(lambda x: print_(x, file=io.StringIO()), X)


def test_nothing_is_printed_while_a_function_is_traced(capsys):
    tracer = Tracer()
    x = tracer.block.add_parameter(PAIR, "x")
    with tracer.tracing():
        print_("now", x)
    assert capsys.readouterr().out == ""
    assert [operator.name for operator in tracer.block.operators] == ["print"]


def test_a_condition_that_holds_passes():
    run(lambda x: assert_(x.sum() > 0, "positive"), X)


def test_a_condition_that_fails_raises_with_the_message():
    with pytest.raises(AssertionError, match="positive") as caught:
        run(lambda x: assert_(x.sum() < 0, "positive"), X)
    if hasattr(caught.value, "__notes__"):
        assert "test_side_effects.py" in caught.value.__notes__[0]


def test_assertions_hold_eagerly_too():
    assert_(to_tensor(True))
    with pytest.raises(AssertionError, match="no"):
        assert_(to_tensor([False]), "no")


def test_a_condition_of_several_elements_is_refused():
    with pytest.raises(ShapeError, match="the condition has the shape"):
        run(lambda x: assert_(x > 0), X)
