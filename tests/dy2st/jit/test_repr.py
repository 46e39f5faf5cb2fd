"""`repr`, which prompts and notebooks show, says what `print` says, and never pages of fields."""

from __future__ import annotations

import pytest

import dy2st
from dy2st.static import InputSpec


class Net(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = dy2st.nn.Linear(3, 2)

    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return self.linear(x)


@pytest.fixture
def forward():
    net = dy2st.to_static(Net(), input_spec=[InputSpec([None, 3], name="x")])
    yield net.forward  # whose Layer stays


def test_a_program_shows_its_text(forward):
    program = forward.main_program
    assert repr(program) == str(program) and "\n" in repr(program)


def test_ipython_shows_the_lines_of_a_program(forward):
    pretty = pytest.importorskip("IPython.lib.pretty").pretty
    assert pretty(forward.main_program) == str(forward.main_program).rstrip()


def test_a_concrete_program_shows_its_program(forward):
    assert str(forward.main_program) in repr(forward.concrete_program)


def test_parts_of_a_program_show_one_line(forward):
    block = forward.main_program.block
    assert repr(block) == f"Block(3 parameters, {len(block.operators)} operators)"
    shown = [repr(operator) for operator in block.operators]
    assert shown[0] == "Operator(sum(float32[x_axis0, 3]) -> (float32[]))"
    assert not any("\n" in text or "Block" in text for text in shown)


def test_a_converted_function_shows_its_name(forward):
    assert repr(forward) == "StaticFunction(Net.forward)"


def test_a_nested_program_is_shown_whatever_its_depth():
    @dy2st.to_static
    def deep(x):
        while x.sum() < 3:
            if x.sum() > 1:
                x = x + 1
            x = x + 1
        return x

    deep(dy2st.zeros([1]))
    program = deep.main_program
    assert all(repr(operator).count("Operator") == 1 for operator in program.block.walk())
