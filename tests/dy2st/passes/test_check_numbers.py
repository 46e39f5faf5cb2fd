"""CheckNumbers: the outputs of a Program before and after every pass."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st import passes, to_static
from dy2st.passes import Module, PassContext, Sequential
from dy2st.static import InputSpec
from dy2st_runtime import nn
from dy2st_runtime.errors import PassError
from dy2st_runtime.ir import F, Tracer, apply, interpreting
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.ops.control_flow import while_loop
from tests.dy2st.passes.making import made


@pytest.fixture
def program(t):
    def build(x):
        F.exp(x)
        return F.relu(x) * 2.0

    return t.program_of(build, t.floats("n", 3))


def named(name):
    return made(lambda program: None, name)


def replaced(old, new):
    def change(program):
        for operator in program.block.walk():
            if operator.name == old:
                operator.name = new

    return change


def checked(subject, module, **options):
    check = passes.CheckNumbers(**options)
    with PassContext(instruments=[check]):
        subject(module)
    return check


def test_the_numeric_check_names_the_wrong_pass_and_the_output(program):
    wrong = made(replaced("relu", "exp"), "Wrong")
    with pytest.raises(PassError, match="output 0 of 'main' after Wrong is off by"):
        checked(Sequential([passes.EliminateDeadCode(), wrong, named("C")]), program)


def test_the_numeric_check_lets_right_passes_pass(program):
    check = checked(Sequential([passes.EliminateDeadCode(), passes.FoldConstant()]), program)
    assert check.compared == 3


def test_a_wrong_pass_is_found_inside_a_loop(t):
    def build(x):
        start = [F.full([], 0, "int64"), x]
        return while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, F.tanh(y)], start)[1]

    program = t.program_of(build, t.floats("n"))
    with pytest.raises(PassError, match="after Wrong is off by"):
        checked(made(replaced("tanh", "sigmoid"), "Wrong"), program)


def set_dtype(program, dtype):
    cast = apply_in(program, "cast", program.block.yields[0], dtype=np.dtype(dtype))
    program.block.yields[0] = cast


def apply_in(program, name, *operands, **attributes):
    with interpreting(Tracer.of_block(program, program.block)):
        return apply(name, *operands, **attributes)


def drop_output(program):
    program.block.yields.pop()


@pytest.mark.parametrize(
    "types, build, change, message",
    [
        ("int64", lambda x: x + 1, replaced("add", "multiply"), "output 0 .* has other numbers"),
        (
            "bool",
            lambda x: F.logical_not(x),
            replaced("logical_not", "assign"),
            "output 0 .* has other numbers",
        ),
        ("int64", lambda x: x, lambda p: set_dtype(p, "int32"), "has the dtype int32, not int64"),
        ("float32", lambda x: x, lambda p: set_dtype(p, "int32"), "the dtype int32, not float32"),
        ("float16", lambda x: F.abs(x), replaced("abs", "neg"), "is off by"),
        (
            "float32",
            lambda x: [x, F.exp(x)],
            drop_output,
            r"\['output 0'\], before: \['output 0', ",
        ),
        ("float32", lambda x: F.log(x), replaced("log", "relu"), "infinities or NaN differ"),
        ("float32", lambda x: x * 1e-3, replaced("multiply", "add"), "is off by"),
    ],
)
def test_every_kind_of_difference_is_found(t, types, build, change, message):
    program = t.program_of(build, TensorType(types, (4, 3)))
    with pytest.raises(PassError, match=message):
        checked(made(change), program)


def test_rounding_in_the_last_bits_of_a_dtype_is_no_difference(t):
    program = t.program_of(lambda x: F.multiply(F.multiply(x, x), x), TensorType("float16", (4, 3)))

    def other_order(program):
        first, second = program.operators
        second.operands = [program.inputs[0], first.results[0]]
        first.operands.reverse()

    assert checked(made(other_order), program).compared == 1


def test_how_exact_the_outputs_must_be_is_chosen(t):
    program = t.program_of(lambda x: F.multiply(x, np.float32(1.0)), t.floats(4))

    def slightly(program):
        constant = program.operators[0]
        constant.attributes["value"] = np.float32(1.001)

    with pytest.raises(PassError, match="off by"):
        checked(made(slightly), program)
    assert checked(made(slightly), program, rtol=1e-2).compared == 1


def test_new_values_of_buffers_are_compared_too():
    norm = nn.BatchNorm1D(3)
    program = to_static(norm, [InputSpec([4, 3])]).forward.main_program
    assert program.updates
    assert checked(named("A"), program).compared == 1

    def spoil(program):
        at = len(program.outputs)
        program.block.yields[at] = apply_in(program, "neg", program.block.yields[at])

    with pytest.raises(PassError, match="the buffer '.*' of 'main|the buffer '.*' of 'forward"):
        checked(made(spoil), program)


def test_programs_that_draw_random_numbers_are_not_compared(t):
    program = t.program_of(lambda x: x + apply("uniform", shape=(3,)), t.floats(3))
    assert checked(made(replaced("add", "multiply")), program).compared == 0


def test_a_program_that_fails_for_the_inputs_is_not_compared(t):
    program = t.program_of(lambda x: F.gather(x, x[:, 0].astype("int64") + 100), t.floats(3, 2))
    assert checked(named("A"), program).compared == 0


def test_a_program_that_fails_only_after_the_pass_is_an_error(t):
    program = t.program_of(lambda x: F.relu(x), t.floats(3))

    def forget(program):
        program.operators.clear()

    with pytest.raises(PassError, match="a run of 'main' after Forget fails"):
        checked(made(forget, "Forget"), program)


def test_an_output_whose_last_operator_is_left_to_the_host_is_not_compared(t):
    program = t.program_of(lambda x: [F.softmax(x), F.exp(x)], t.floats(2, 3))
    assert checked(passes.SkipOutputSoftmax(), program).compared == 1
    wrong = Sequential([passes.SkipOutputSoftmax(), made(replaced("exp", "tanh"), "Wrong")])
    with pytest.raises(PassError, match="output 1 of 'main' after Wrong"):
        checked(wrong, program)


def test_parameters_are_those_of_the_module_or_made_up(t):
    layer = nn.Linear(3, 2)
    program = to_static(layer, [InputSpec(["n", 3])]).forward.main_program
    state = {name: p.numpy() for name, p in layer.named_parameters()}
    module = Module({program.name: program}, state)
    both = Sequential([passes.FreezeParameters(), passes.FoldConstant(), passes.LiftConstants(1)])
    assert checked(both, module).compared == 4
    assert checked(passes.EliminateDeadCode(), Module({program.name: program})).compared == 1
