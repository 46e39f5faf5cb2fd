"""Module: Programs by name, and the arrays of their parameters."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st import to_static
from dy2st.passes import Module, function_pass, module_pass
from dy2st.passes.core.module import as_module
from dy2st.static import InputSpec
from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F


@pytest.fixture
def dense():
    """A Program with the parameters `weight` and `bias`, and their arrays."""
    layer = nn.Linear(3, 2)
    program = to_static(layer, [InputSpec(["n", 3])]).forward.main_program
    return program, {name: p.numpy() for name, p in layer.named_parameters()}


def test_a_copy_is_changed_alone_and_shares_the_arrays(dense):
    program, state = dense
    module = Module({"main": program}, dict(state), {"main": {0: ("softmax", {"axis": 1})}})
    copied = module.copy()
    copied.programs["main"].operators.clear()
    copied.programs["other"] = program
    copied.state["more"] = np.zeros(1)
    copied.epilogues["main"][1] = ("exp", {})
    assert list(module.programs) == ["main"] and module.programs["main"].operators
    assert set(module.state) == set(state) and list(module.epilogues["main"]) == [0]
    assert all(copied.state[name] is state[name] for name in state)


def test_arrays_that_no_program_names_are_forgotten(dense):
    program, state = dense
    module = Module({"main": program}, {**state, "unknown": np.zeros(1)})
    module.drop_unused_state()
    assert set(module.state) == set(state)


def test_state_comes_in_the_order_in_which_engines_take_it(t, dense):
    program, state = dense
    module = Module({"main": program}, dict(reversed(state.items())))
    found = module.state_of(program)
    assert [array.shape for array in found] == [v.type.shape for v in program.state.values()]
    x = t.array(4, 3)
    from_engine = t.run(program, [x], state)[0]
    weight, bias = state["weight"], state["bias"]
    np.testing.assert_allclose(from_engine, x @ weight.reshape(3, 2) + bias, rtol=1e-5)


def test_a_program_gets_arrays_for_its_parameters(dense):
    program, state = dense
    module = as_module(program, {name: array.tolist() for name, array in state.items()})
    assert list(module.programs) == [program.name]
    assert module.programs[program.name] is not program
    assert all(isinstance(array, np.ndarray) for array in module.state.values())


def test_a_pass_may_read_and_replace_arrays_of_a_module(dense):
    program, state = dense

    @function_pass(opt_level=0)
    def double(program, module, context):
        for name in program.parameters:
            module.state[name] = module.state[name] * 2
        return program

    before = {name: array.copy() for name, array in state.items()}
    module = Module({"main": program}, state)
    after = double(module)
    for name in before:
        np.testing.assert_array_equal(module.state[name], before[name])
        np.testing.assert_array_equal(after.state[name], 2 * before[name])


def test_epilogues_come_out_of_a_module_pass(t):
    @module_pass(opt_level=0)
    def take_off(module, context):
        return Module(module.programs, module.state, {"main": {0: ("exp", {})}})

    program = t.program_of(lambda x: F.relu(x), t.floats(2))
    assert take_off(Module({"main": program})).epilogues == {"main": {0: ("exp", {})}}


def test_what_was_built_in_stays_noted_behind_a_pass_that_makes_a_module(t):
    @module_pass(opt_level=0)
    def made_anew(module, context):
        return Module(module.programs, module.state)

    module = Module({"main": t.program_of(lambda x: F.relu(x), t.floats(2))}, frozen={"w"})
    assert made_anew(module).frozen == {"w"}


def test_an_array_that_is_not_known_is_named(dense):
    program, _ = dense
    first = next(iter(program.state))
    with pytest.raises(ArgumentError, match=f"the arrays of {first}.* are not known"):
        Module({"main": program}).state_of(program)


def test_a_module_shows_its_programs_and_the_names_of_its_arrays(dense):
    program, state = dense
    shown = repr(Module({"main": program}, state))
    count = len(program.operators)
    assert shown == f"Module(main of {count} operators; arrays: {', '.join(state)})"
    assert repr(Module({})) == "Module(; arrays: none)"


def test_a_converted_function_is_refused_with_what_to_give():
    function = to_static(lambda x: x + 1, [InputSpec([2])])
    with pytest.raises(TypeError, match="a Program or a Module, not .*: give its main_program"):
        as_module(function)
