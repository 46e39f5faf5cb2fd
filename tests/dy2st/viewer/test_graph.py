"""The tree of a Program: operators in order inside of Layers and Blocks, two Programs in one."""

import numpy as np
import pytest

from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st.viewer.alignment import Mark
from dy2st.viewer.graph import graph_of, value_text
from dy2st_runtime.ir import Block, Operator, Program, TensorType
from dy2st_runtime.ir.functions import inlined
from dy2st_runtime.ops.control_flow import call, function
from tests.dy2st.viewer.programs import after, converted
from tests.recorded import program_of

NET, PROGRAM = converted()


def inside(node, *labels):
    for label in labels:
        node = next(child for child in node.children if child.label == label)
    return node


def labels(node):
    return [child.label for child in node.children]


def test_operators_stand_inside_of_their_layers():
    root = graph_of(PROGRAM)
    assert labels(root) == ["inputs", "blocks", "full", "while", "head", "return"]
    assert labels(inside(root, "blocks")) == ["0", "1"]
    assert [child.kind for child in inside(root, "blocks").children] == ["layer", "layer"]


def test_a_layer_of_one_operator_is_a_tag_of_it():
    relu = inside(graph_of(PROGRAM), "head").children[-1]
    assert (relu.kind, relu.label, relu.tag) == ("operator", "relu", "2")


def test_branches_and_loops_are_blocks_to_open():
    root = graph_of(PROGRAM)
    assert labels(inside(root, "blocks", "0", "cond")) == ["if true", "if false"]
    assert labels(inside(root, "while")) == ["condition", "body"]
    assert labels(inside(root, "blocks", "0", "cond", "if true")) == ["relu", "yield"]


def test_functions_stand_behind_what_calls_them():
    def record(x):
        operands = function("double", lambda v: [v * 2], [x])
        return call("double", call("double", operands))

    program = program_of(record, ("float32", (3,)))
    root = graph_of(program)
    assert labels(root) == ["inputs", "call", "call", "return", "function double"]
    multiply = inside(root, "function double", "multiply")
    assert multiply.operands == [(inside(root, "function double"), 0), "2.0"]
    both = graph_of(program, inlined(program))
    assert inside(both, "function double", "return").mark is Mark.REMOVED
    assert len(str(program.view(inlined(program)))) > 1000


def test_what_a_branch_reads_from_outside_is_the_outer_value():
    block = inside(graph_of(PROGRAM), "blocks", "0")
    (norm,) = [n for n in block.walk() if n.label == "batch_norm"]
    assert inside(block, "cond", "if true", "relu").operands == [(norm, 0)]


def test_loop_variables_are_what_the_head_of_the_loop_gives():
    body = inside(graph_of(PROGRAM), "while", "body")
    assert [type for _, type in body.results] == ["int64[]", "float32[n, 3, 4, 4]"]
    assert (body, 1) in inside(body, "multiply").operands


def test_parameters_and_numbers_stand_where_they_are_read():
    root = graph_of(PROGRAM)
    (matmul,) = [n for n in root.walk() if n.label == "matmul"]
    assert matmul.operands[1] == "head.1.weight: float32[48, 5]"
    assert "0.5" in inside(root, "while", "body", "multiply").operands


def test_values_have_the_names_of_the_text():
    text = str(PROGRAM)
    for node in graph_of(PROGRAM).walk():
        if node.operator is not None:
            made = ", ".join(name for name, _ in node.results)
            assert f'{made} = "dy2st.{node.label}"' in text


def test_arrays_of_attributes_are_shown_by_their_type():
    assert value_text(np.arange(6.0).reshape(2, 3)) == "float64[2, 3]"
    assert value_text((np.float32(2), [np.zeros(3)])).startswith("[")
    assert value_text(np.array(2.5)) == "2.5"
    assert len(value_text(tuple(range(1000)))) == 200


# -- two Programs --------------------------------------------------------------------------------


def marks(before, after):
    return [(n.mark.value, n.label) for n in graph_of(before, after).walk() if n.mark.value]


def test_a_program_compared_with_itself_has_no_marks():
    assert marks(PROGRAM, PROGRAM) == []


def test_what_a_pass_adds_and_removes_is_marked_in_its_layer():
    root = graph_of(PROGRAM, after(NET, PROGRAM, "SimplifyInference"))
    found = [(n.mark.value, n.label) for n in inside(root, "blocks", "0").walk() if n.mark.value]
    assert ("-", "batch_norm") in found and any(mark == "+" for mark, _ in found)
    assert ("-", "cond") not in found


def traced(function):
    return to_static(function, input_spec=[InputSpec([None, 4], "float32", "x")]).main_program


def test_a_changed_attribute_is_a_change_and_says_what_was():
    before, after = traced(lambda x: x.sum(axis=0).exp()), traced(lambda x: x.sum(axis=1).exp())
    changed = [n for n in graph_of(before, after).walk() if n.mark.value]
    assert [(n.label, n.mark.value) for n in changed][0] == ("sum", "~")
    assert "axis = [0]" in changed[0].was


def test_an_operator_that_reads_another_value_is_a_change():
    def crossed(x):
        a, b = x.exp(), x.tanh()
        return a - b

    def straight(x):
        a, b = x.exp(), x.tanh()
        return b - a

    found = marks(traced(straight), traced(crossed))
    assert found == [("~", "subtract")]


@pytest.mark.parametrize("depth", [1, 300])
def test_blocks_may_be_nested_deeply(depth):
    program = Program()
    block = program.block
    for _ in range(depth):
        flag = block.add_parameter(TensorType("bool", ()), "")
        operator = Operator("cond", [flag], {}, block)
        operator.blocks = [Block(parent=block), Block(parent=block)]
        block.operators.append(operator)
        block = operator.blocks[0]
    assert sum(node.label == "cond" for node in graph_of(program).walk()) == depth
