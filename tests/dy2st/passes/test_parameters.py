"""FreezeParameters and LiftConstants: arrays between the text of a Program and its state."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import (
    BackwardFoldScaleAxis,
    FoldConstant,
    FreezeParameters,
    LiftConstants,
    Module,
    Sequential,
)
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.dy2st.passes.scales import w


def known(array):
    """A constant of the Program."""
    return apply("constant", value=array)


def with_state(t, function, *types, parameters=None, buffers=None, name="main"):
    """A Program whose last inputs are parameters and buffers, by name and array."""
    parameters, buffers = parameters or {}, buffers or {}
    arrays = {**parameters, **buffers}
    made = [t.floats(*a.shape, dtype=a.dtype) for a in arrays.values()]
    program = t.program_of(function, *types, *made, name=name)
    tail, program.inputs = program.inputs[len(types) :], program.inputs[: len(types)]
    for key, variable in zip(arrays, tail, strict=True):
        variable.name = key
        (program.parameters if key in parameters else program.buffers)[key] = variable
    program.trainable = dict.fromkeys(parameters, True)
    return verify(program)


def constants(program):
    """The arrays of all constants, nested ones too."""
    return [o.attributes["value"] for o in program.block.walk() if o.name == "constant"]


# -- FreezeParameters -------------------------------------------------------------------------------


def test_parameters_and_buffers_become_constants_of_their_names(t):
    state = {"weight": w(3, 2), "shift": w(2)}
    program = with_state(
        t,
        lambda x, weight, shift: F.matmul(x, weight) + shift,
        t.floats("n", 3),
        parameters={"weight": state["weight"]},
        buffers={"shift": state["shift"]},
    )
    after = t.check(FreezeParameters(), program, state, rtol=0)
    assert not after.state and not after.trainable and after.block.parameters == after.inputs
    assert [o.results[0].name for o in after.operators if o.name == "constant"] == list(state)
    assert str(t.check.again) == str(after)


def test_the_arrays_leave_the_state_of_the_module(t):
    program = with_state(t, F.add, t.floats("n", 3), parameters={"p": w(3)})
    after = FreezeParameters()(Module({"main": program}, {"p": w(3)}))
    assert after.state == {}


def test_buffers_that_the_program_updates_stay(t):
    def build(x, count, factor):
        return [x * factor, count + 1.0]

    state = {"count": w(3), "factor": w(3)}
    program = with_state(t, build, t.floats("n", 3), buffers=state)
    program.updates = ["count"]
    after = t.check(FreezeParameters(), verify(program), state, rtol=0)
    assert list(after.buffers) == ["count"] == after.updates


def test_a_parameter_whose_array_is_not_known_stays(t):
    program = with_state(
        t, lambda x, p, q: x * p + q, t.floats("n", 3), parameters={"p": w(3), "q": w(3)}
    )
    after = t.check(FreezeParameters(), program, {"q": w(3)}, rtol=0)
    assert list(after.parameters) == ["p"] == list(after.trainable)


@pytest.mark.parametrize("array", [w(4), w(3, dtype="float64"), w(1, 3)], ids=["n", "dtype", "r"])
def test_an_array_of_another_type_is_refused(t, array):
    program = with_state(t, F.add, t.floats("n", 3), parameters={"p": w(3)})
    with pytest.raises(ArgumentError, match=r"'p'"):
        FreezeParameters()(program, {"p": array})


def test_a_parameter_may_be_an_output(t):
    program = with_state(t, lambda x, p: [p, x], t.floats("n", 3), parameters={"p": w(3)})
    after = t.check(FreezeParameters(), program, {"p": w(3)}, rtol=0)
    assert t.names(after, constants=True) == ["constant"]


def nested(x, p, q):
    initial = [F.full([], 0, "int64"), x]
    y = while_loop(lambda i, y: i < 2, lambda i, y: [i + 1, F.tanh(y * p)], initial)[1]
    return cond(F.sum(x) > 0, lambda: [y + F.exp(p)], lambda: [y * q])


def test_what_branches_and_loops_read_is_a_constant_there(t):
    """So that passes that fold constants see it: exp(p) is computed now."""
    state = {"p": w(3), "q": w(3)}
    program = with_state(t, nested, t.floats("n", 3), parameters=state)
    after = t.check(FreezeParameters(), program, state, rtol=0)
    assert not after.state and len(constants(after)) > 2
    folded = t.check(Sequential([FreezeParameters(), FoldConstant()]), program, state, rtol=0)
    assert "exp" not in t.names(folded)


def test_a_loop_variable_that_begins_as_a_parameter_is_none_inside(t):
    def build(x, p):
        initial = [F.full([], 0, "int64"), p]
        return while_loop(lambda i, y: i < 2, lambda i, y: [i + 1, F.exp(y)], initial)[1] + x

    state = {"p": w(3)}
    program = with_state(t, build, t.floats("n", 3), parameters=state)
    chain = Sequential([FreezeParameters(), FoldConstant()])
    assert "exp" in t.names(t.check(chain, program, state, rtol=0))


def test_programs_of_a_module_are_frozen_alike(t):
    def made(name):
        return with_state(t, F.multiply, t.floats("n", 3), parameters={"p": w(3)}, name=name)

    module = Module({name: made(name) for name in ("first", "second")}, {"p": w(3)})
    after = FreezeParameters()(module)
    assert after.state == {} and not any(p.state for p in after.programs.values())
    assert module.state and all(p.state for p in module.programs.values())


# -- LiftConstants ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "is_lifted"), [(15, False), (16, False), (17, True)])
def test_constants_of_more_than_sixteen_elements_are_lifted(t, count, is_lifted):
    program = t.program_of(lambda x: x + known(w(count)), t.floats("n", count))
    after = t.check(LiftConstants(), program, rtol=0)
    assert bool(after.parameters) == is_lifted == (not constants(after))
    assert str(t.check.again) == str(after)


def test_the_bound_may_be_chosen(t):
    program = t.program_of(lambda x: x + known(w(3)), t.floats("n", 3))
    assert t.check(LiftConstants(largest_inline=2), program).parameters
    assert not t.check(LiftConstants(largest_inline=3), program).parameters


def test_lifted_constants_are_not_trainable_and_stand_in_the_state(t):
    array = w(20)
    program = t.program_of(lambda x: x + known(array), t.floats("n", 20))
    after = LiftConstants()(Module({"main": program}))
    ((name, is_trainable),) = after.programs["main"].trainable.items()
    assert not is_trainable and after.state[name] is array
    (text,) = [line for line in str(after.programs["main"]).splitlines() if "bb0" in line]
    assert f"%{name}: tensor<20xf32>" in text


def test_one_array_is_one_parameter(t):
    array = w(20)
    program = t.program_of(lambda x: x + known(array) * known(array), t.floats("n", 20))
    assert len(t.check(LiftConstants(), program, rtol=0).parameters) == 1


def test_programs_that_share_an_array_share_the_parameter(t):
    array = w(20)
    programs = [
        t.program_of(lambda x: x + known(array), t.floats("n", 20), name=name)
        for name in ("first", "second")
    ]
    after = LiftConstants()(Module({program.name: program for program in programs}))
    assert len(after.state) == 1
    assert {tuple(p.parameters) for p in after.programs.values()} == {tuple(after.state)}


def test_names_that_are_taken_are_not_taken_again(t):
    def build(x, constant, other):
        return x + constant + known(w(20, seed=1)) + known(w(20, seed=2)) + other

    state = {"constant": w(20), "constant_1": w(20, seed=3)}
    program = with_state(t, build, t.floats("n", 20), parameters=state)
    after = t.check(LiftConstants(), program, state, rtol=0)
    assert list(after.parameters) == ["constant", "constant_1", "constant_2", "constant_3"]


def test_changed_weights_keep_their_name(t):
    """The state has no use for the name any more once the old array is frozen and gone."""
    program = with_state(
        t,
        lambda x, weight: F.matmul(x, weight) * w(5),
        t.floats("n", 6),
        parameters={"weight": w(6, 5)},
    )
    chain = Sequential([FreezeParameters(), BackwardFoldScaleAxis(), LiftConstants()])
    after = chain(Module({"main": program}, {"weight": w(6, 5)}))
    assert list(after.state) == ["weight"] == list(after.programs["main"].parameters)
    np.testing.assert_allclose(after.state["weight"], w(6, 5) * w(5), rtol=1e-6)


def test_constants_are_lifted_out_of_branches_and_loops(t):
    small, large = w(4), w(20)

    def build(x):
        def body(i, y):
            return [i + 1, y + cond(F.sum(y) > 0, lambda: [y * known(large)], lambda: [y])[0]]

        y = while_loop(lambda i, y: i < 2, body, [F.full([], 0, "int64"), x])[1]
        return cond(F.sum(x) > 0, lambda: [y * known(large)], lambda: [y - F.sum(known(small))])

    after = t.check(LiftConstants(), t.program_of(build, t.floats("n", 20)), rtol=0)
    assert len(after.parameters) == 1 and all(array.size <= 4 for array in constants(after))
    assert str(t.check.again) == str(after)


def test_a_lifted_constant_may_be_an_output(t):
    program = t.program_of(lambda x: [x, known(w(20))], t.floats("n", 20))
    after = t.check(LiftConstants(), program, rtol=0)
    assert t.names(after, constants=True) == [] and len(after.parameters) == 1


def test_what_freezing_took_in_lifting_gives_back(t):
    """The same names, the same numbers; only trainable they are no more."""
    state = {"p": w(20), "q": w(20, seed=1)}
    program = with_state(t, nested, t.floats("n", 20), parameters=state)
    after = Sequential([FreezeParameters(), LiftConstants()])(Module({"main": program}, state))
    assert {k: v.tobytes() for k, v in after.state.items()} == {
        k: v.tobytes() for k, v in state.items()
    }
    assert set(after.programs["main"].trainable.values()) == {False}
    x = w(2, 20, seed=5)
    for left, right in zip(
        t.run(program, [x], state), t.run(after.programs["main"], [x], after.state), strict=True
    ):
        np.testing.assert_array_equal(left, right)
