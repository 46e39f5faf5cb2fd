"""EliminateDeadCode: what nobody reads goes, and what does something else stays."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.errors import ShapeError
from dy2st.passes import EliminateDeadCode, FoldConstant, Module, Sequential
from dy2st.static import InputSpec
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import F, TensorType, apply
from dy2st_runtime.ir.rebuild import rebuild
from dy2st_runtime.ops.control_flow import cond, while_loop

PASS = EliminateDeadCode()


def zero():
    return F.full([], 0, "int64")


def settled(t, function, *types):
    return t.settled(PASS, t.program_of(function, *types), rtol=0)


def test_what_nobody_reads_goes(t):
    def build(x):
        F.exp(x)
        F.tanh(F.matmul(x, t.array(3, 3)))
        return F.relu(x)

    after = settled(t, build, t.floats("n", 3))
    assert t.names(after, constants=True) == ["relu"]


def test_an_operator_with_one_result_that_is_read_stays(t):
    after = settled(t, lambda x: F.split(x, 3, axis=1)[1], t.floats("n", 3))
    assert t.names(after) == ["split"]


def test_inputs_stay_although_nobody_reads_them(t):
    after = settled(t, lambda x, y: F.relu(y), t.floats("n"), t.floats("m"))
    assert len(after.inputs) == 2


def test_a_live_program_stays(t):
    def build(x):
        return [F.relu(x), *cond(F.sum(x) > 0, lambda: [F.exp(x)], lambda: [x])]

    t.untouched(PASS, t.program_of(build, t.floats("n")))


def test_dead_code_inside_branches_and_loops_goes(t):
    def inner(x):
        F.exp(x)
        return F.tanh(x)

    program = t.program_of(lambda x: t.nested(inner, x, *x.shape), t.floats("n", 3))
    found = t.names(t.settled(PASS, program, rtol=0))
    assert "exp" not in found and "tanh" in found


def test_results_and_captured_values_of_control_flow_that_nobody_reads_go(t):
    def build(x):
        y = F.exp(x)
        a, _ = cond(F.sum(x) > 0, lambda: [F.relu(x), F.tanh(y)], lambda: [x, y])
        return a

    after = settled(t, build, t.floats("n"))
    assert not {"exp", "tanh"} & set(t.names(after))
    (branch,) = [o for o in after.operators if o.name == "cond"]
    assert len(branch.results) == 1 and len(branch.operands) == 2


def test_a_loop_variable_goes_that_only_feeds_itself(t):
    def build(x):
        def body(i, y, z):
            return [i + 1, F.tanh(y), F.exp(z) * 0.5]

        return while_loop(lambda i, y, z: i < 3, body, [zero(), x, x])[1]

    after = settled(t, build, t.floats("n"))
    assert "exp" not in t.names(after)


def test_whole_control_flow_that_nobody_reads_goes(t):
    def build(x):
        cond(F.sum(x) > 0, lambda: [F.exp(x)], lambda: [x])
        while_loop(lambda i: i < 3, lambda i: [i + 1], [zero()])
        return F.relu(x)

    assert t.names(settled(t, build, t.floats("n"))) == ["relu"]


EFFECTS = {
    "print": lambda x: F.print_(F.exp(x)),
    "assert": lambda x: F.assert_(F.sum(F.exp(x)) > 0, "negative"),
    "uniform": lambda x: F.uniform([3]),
    "bernoulli": lambda x: F.bernoulli(F.sigmoid(x)),
    "randperm": lambda x: F.randperm(3),
}


@pytest.mark.parametrize("kind", EFFECTS)
def test_what_does_something_else_stays_with_its_operands(t, kind):
    def build(x):
        EFFECTS[kind](x)
        return F.relu(x)

    program = t.program_of(build, t.floats(3))
    assert str(PASS(program)) == str(program)


@pytest.mark.parametrize("kind", EFFECTS)
def test_control_flow_around_what_does_something_else_stays(t, kind):
    def build(x):
        def true():
            EFFECTS[kind](x)
            return [F.exp(x)]

        cond(F.sum(x) > 0, true, lambda: [x])
        return F.relu(x)

    after = PASS(t.program_of(build, t.floats(3)))
    assert "cond" in t.names(after) and kind in t.names(after)


MAY_RAISE = {
    "an index": (lambda z: F.gather(F.arange(5), z), IndexError, 99),
    "an index to put": (
        lambda z: apply("index_put", F.zeros([5]), F.ones([1]), z, axes=(0,), accumulate=False),
        IndexError,
        99,
    ),
    "one hot": (lambda z: F.one_hot(z, 3), IndexError, 99),
    "a power of integers": (lambda z: z**z, ValueError, -1),
    "a reshape": (lambda z: F.reshape(F.arange(6), F.concat([z, z])), ShapeError, 4),
    "an element of a list": (
        lambda z: apply("array_read", apply("array_create", z), z[0]),
        IndexError,
        99,
    ),
}


@pytest.mark.parametrize("kind", MAY_RAISE)
@pytest.mark.parametrize("where", ["alone", "in a branch", "in a loop"])
def test_what_may_raise_stays_and_raises(t, kind, where):
    function, error, number = MAY_RAISE[kind]

    def inside(z):
        function(z)
        return z

    def build(z):
        if where == "alone":
            inside(z)
        elif where == "in a branch":
            cond(F.sum(z) != 0, lambda: [inside(z)], lambda: [z])
        else:
            while_loop(lambda i, y: i < 2, lambda i, y: [i + 1, inside(y)], [zero(), z])
        return F.abs(z)

    program = t.program_of(build, t.floats(1, dtype="int64"))
    after = PASS(program)
    assert str(PASS(after)) == str(after)
    for one in (program, after, rebuild(program)):
        with pytest.raises(error):
            t.run(one, [np.array([number])])


CANNOT_RAISE = {
    "an index": lambda x: F.gather(x, np.array([0, -3, 2])),
    "an index of an unknown size": lambda x: F.index_select(x, np.array([0, 1]), 1),
    "an index of nothing": lambda x: F.gather(x, np.zeros(0, "int64")),
    "one hot": lambda x: F.one_hot(F.full([2], 1, "int64"), 2),
    "a power": lambda x: F.cast(x, "int64") ** 2,
    "a power of floats": lambda x: x**x,
}


@pytest.mark.parametrize("kind", CANNOT_RAISE)
def test_what_is_proved_not_to_raise_goes(t, kind):
    def build(x):
        CANNOT_RAISE[kind](x)
        return F.relu(x)

    wide = symbol("wide", 2)
    program = t.program_of(build, TensorType("float32", [3, wide]))
    assert t.names(Sequential([FoldConstant(), PASS])(program)) == ["relu"]


@pytest.mark.parametrize("places", [[3], [-4], [0, 9]])
def test_constant_places_outside_stay(t, places):
    def build(x):
        F.gather(x, np.array(places))
        return F.relu(x)

    after = Sequential([FoldConstant(), PASS])(t.program_of(build, t.floats(3)))
    with pytest.raises(IndexError):
        t.run(after, [t.array(3)])


def test_an_operator_that_finds_a_size_which_is_read_stays(t):
    def build(x):
        found = F.nonzero(x)
        return F.full([found.shape[0]], 1.0)

    program = t.program_of(build, t.floats(5))
    after = t.settled(PASS, program, rtol=0)
    assert "nonzero" in t.names(after)


def test_a_check_of_sizes_keeps_what_it_speaks_of(t):
    def build(x, y):
        F.exp(x + y)
        return F.relu(x)

    program = t.program_of(build, t.floats("n"), t.floats("m"))
    after = t.settled(PASS, program, rtol=0)
    assert [str(c.constraint.condition) for c in after.constraints] == [
        str(c.constraint.condition) for c in program.constraints
    ]


# -- parameters -----------------------------------------------------------------------------------


class Model(nn.Layer):
    """One linear layer that is read and one that is not."""

    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(3, 2), nn.Linear(3, 2)

    def forward(self, x):
        self.unused(x)
        return self.used(x)


def module_of(model):
    static = to_static(model, input_spec=[InputSpec([None, 3])])
    program = (
        static.main_program if hasattr(static, "main_program") else static.forward.main_program
    )
    state = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    return Module({program.name: program}, state), program.name


@pytest.mark.parametrize("keep", [False, True])
def test_parameters_that_nobody_reads_go_with_their_arrays(keep):
    dy2st.seed(0)
    module, name = module_of(Model())
    assert len(module.programs[name].parameters) == 4
    after = EliminateDeadCode(keep_parameters=keep)(module)
    left = sorted(after.programs[name].parameters)
    assert (
        left
        == sorted(after.state)
        == ["unused.bias", "unused.weight"] * keep
        + [
            "used.bias",
            "used.weight",
        ]
    )
    assert sorted(after.programs[name].trainable) == left
    assert len(module.state) == 4, "the given Module has changed"


class Counting(nn.Layer):
    """A batch norm in training: its buffers are updated, whether or not they are read."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1D(3)

    def forward(self, x):
        return self.norm(x)


def test_buffers_that_are_updated_stay():
    model = Counting()
    model.train()
    module, name = module_of(model)
    program = module.programs[name]
    after = EliminateDeadCode()(module).programs[name]
    assert program.updates and after.updates == program.updates
    assert set(after.updates) <= set(after.buffers)


def test_a_constant_that_is_an_output_stays(t):
    program = t.program_of(
        lambda x: [apply("constant", value=np.array([1.0])), F.relu(x)], t.floats(2)
    )
    t.untouched(PASS, program)
