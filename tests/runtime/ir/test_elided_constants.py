"""Long constants can be left out of the text that people read."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from dy2st_runtime.errors import ParseError
from dy2st_runtime.ir import F, Output
from dy2st_runtime.ir.text.parser import parse, parse_one
from dy2st_runtime.ir.text.printer import to_text

LONG = np.arange(12, dtype="float32").reshape(3, 4)
Pair = collections.namedtuple("Pair", ["left", "right"])


@pytest.fixture
def program(trace):
    return trace(lambda x: F.matmul(x, LONG), x=("float32", (2, 3)))


def test_a_longer_constant_is_left_out(program):
    text = to_text(program, elide=11)
    assert "{value = dense_resource<__elided__> : tensor<3x4xf32>} : () -> tensor<3x4xf32>" in text
    assert "dense<" not in text


def test_a_constant_of_that_many_elements_stays(program):
    text = to_text(program, elide=12)
    assert text == to_text(program)
    assert "dense<[[0.0, 1.0, 2.0, 3.0]," in text


def test_a_long_constant_of_one_number_stays_for_it_is_short(trace):
    program = trace(lambda x: F.matmul(x, np.ones((3, 4), "float32")), x=("float32", (2, 3)))
    assert to_text(program, elide=0) == to_text(program)


def test_arrays_inside_of_structures_are_left_out(program):
    program.structure = {"a": [LONG, Pair(Output(0), (LONG, 1))], "b": b"x"}
    text = to_text(program, elide=4)
    assert "dense<" not in text and text.count("dense_resource<__elided__>") == 3
    kept = '["a", #dy2st.list<[dense_resource<__elided__> : tensor<3x4xf32>, #dy2st.named<"Pair"'
    assert kept in text


def test_the_program_keeps_its_arrays(program):
    before = to_text(program)
    to_text(program, elide=0)
    assert to_text(parse_one(before)) == before == to_text(program)


def test_such_a_text_is_refused_where_the_array_stood(program):
    text = to_text(program, locations=False, elide=4)
    line = next(i for i, text in enumerate(text.split("\n"), 1) if "__elided__" in text)
    with pytest.raises(ParseError) as caught:
        parse(text)
    column = text.split("\n")[line - 1].index("dense_resource") + 1
    assert str(caught.value) == (
        f"line {line}, column {column}: the array was left out when this was printed"
    )
