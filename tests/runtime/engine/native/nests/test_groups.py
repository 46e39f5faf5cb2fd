"""Which operators are computed in one loop nest, and in which order the steps run."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.dims import using
from dy2st_runtime.engine.native.nests import groups
from dy2st_runtime.engine.native.nests.nests import Reduce
from dy2st_runtime.engine.native.nests.sides import read_by
from dy2st_runtime.ir import F
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.sizes import facts_of
from dy2st_runtime.tensor import EagerTensor
from tests.effort import effort
from tests.random_programs import random_program
from tests.recorded import program_of as traced
from tests.runtime.engine.exactly import exactly, flat, off
from tests.runtime.engine.native.running_nests import blocks_of, compiled, run


def planned(program):
    """The nests of a Program, and the names of the operators that are in none."""
    with using(facts_of(program)):
        steps = groups.plan(program.block)
    nests = [step.nest for step in steps if isinstance(step, groups.NestStep)]
    others = [step.operator.name for step in steps if isinstance(step, groups.OperatorStep)]
    return nests, [name for name in others if name != "constant"]


def assert_whole(block):
    """Every operator is in one step, and each step reads what stands before it."""
    steps = groups.plan(block)
    held = [
        operator
        for step in steps
        for operator in (step.operators if isinstance(step, groups.NestStep) else [step.operator])
    ]
    assert len(held) == len(block.operators)
    assert set(held) == set(block.operators)
    known = set(block.parameters)
    for step in steps:
        if isinstance(step, groups.NestStep):
            assert known.issuperset(leaf.variable for leaf in step.nest.leaves)
            known.update(step.nest.outputs)
            assert known.issuperset(value for one in step.checked for value in one.operands)
        else:
            assert known.issuperset(read_by(step.operator))
            known.update(step.operator.results)
    assert known.issuperset(block.yields)


def expected(made):
    """What the interpreter gives; None where it refuses the sizes."""
    inputs = [EagerTensor(array.copy("K")) for array in made.inputs]
    state = {name: EagerTensor(array.copy("K")) for name, array in made.state.items()}
    try:
        outputs, updates = interpret(made.program, inputs, state)
    except Exception:
        return None
    return flat([*outputs, *updates.values()])


def assert_as_exact(have, want, made, place):
    """Large numbers under exp tell two right roundings apart: ours is as good as the other."""
    np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-4)
    exact = flat(exactly(made.program, [*made.inputs, *made.state.values()]))[place]
    assert off(have, exact) <= max(1e-5, 2 * off(want, exact))


@pytest.mark.parametrize("seed", range(effort(25, 400)))
def test_random_programs_are_planned_whole_and_give_the_same_numbers(seed):
    made = random_program(seed)
    with using(facts_of(made.program)):
        for block in blocks_of(made.program.block):
            assert_whole(block)
    with np.errstate(all="ignore"):
        wanted = expected(made)
        if wanted is None:
            return
        found = flat(run(compiled(made.program), *made.inputs, state=made.state))
    for place, (have, want) in enumerate(zip(found, map(np.asarray, wanted), strict=True)):
        assert (have.dtype, have.shape) == (want.dtype, want.shape)
        if have.dtype.kind != "f":
            np.testing.assert_array_equal(have, want)
        else:
            rtol = 1e-2 if have.dtype == "float16" else 1e-5
            if not np.allclose(have, want, rtol, rtol, equal_nan=True):
                assert_as_exact(have, want, made, place)


def test_a_chain_of_elementwise_operators_is_one_nest():
    program = traced(lambda x, y: F.exp(x * y + 1.0), ("float32", ("n", 3)), ("float32", (3,)))
    nests, others = planned(program)
    assert (len(nests), others) == (1, [])


def test_what_two_readers_share_is_computed_once():
    def shared(x):
        y = F.exp(x)
        return y * 2.0 + F.sqrt(y)

    (nest,), _ = planned(traced(shared, ("float32", (4, 3))))
    assert nest.text.count("apply exp") == 1


def test_a_reduction_and_what_reads_it_are_one_nest():
    def normed(x):
        centred = x - F.mean(x, axis=1, keepdim=True)
        return centred / F.sqrt(F.mean(centred * centred, axis=1, keepdim=True))

    (nest,), others = planned(traced(normed, ("float32", ("n", 64))))
    assert others == []
    assert sum(isinstance(node, Reduce) for node in nest.parts[0].nodes) == 2


def test_reductions_along_different_axes_are_nests_of_their_own():
    program = traced(lambda x: (F.sum(x, axis=0), F.sum(x, axis=1)), ("float32", (4, 5)))
    assert len(planned(program)[0]) == 2


def test_a_tensor_beside_itself_transposed_is_not_computed_in_one_nest():
    def mirrored(x):
        y = F.exp(x)
        return y + F.transpose(y, [1, 0])

    nests, _ = planned(traced(mirrored, ("float32", (4, 4))))
    assert [nest.text.count("apply") for nest in nests if nest.outputs] == [1, 1]


def test_axes_that_lie_one_after_the_other_are_one():
    (nest,), _ = planned(traced(lambda x: x + x, ("float32", (2, 3, 4))))
    assert nest.axes == [24]


def test_nests_of_equal_text_are_alike():
    def twice(x, y):
        return F.exp(x), F.sum(y), F.exp(y)

    nests, _ = planned(traced(twice, ("float32", (4,)), ("float32", (4,))))
    texts = [nest.text for nest in nests]
    assert len(texts) == 3
    assert texts[0] == texts[2]


def test_what_a_view_shows_is_read_where_it_lies():
    def shown(x, y):
        transposed = F.flip(F.transpose(x, [1, 0]), [0])
        first, second = F.split(y, 2, axis=1)
        return transposed[1:, ::2] * 2.0 + first - second

    program = traced(shown, ("float32", (6, 4)), ("float32", (3, 6)))
    nests, others = planned(program)
    assert (sum(bool(nest.outputs) for nest in nests), others) == (1, [])
    x, y = (np.arange(n, dtype="float32").reshape(s) for n, s in ((24, (6, 4)), (18, (3, 6))))
    (found,) = run(compiled(program), x, y)
    transposed = np.flip(x.T, 0)
    np.testing.assert_array_equal(found.array, transposed[1:, ::2] * 2 + y[:, :3] - y[:, 3:])


def test_what_a_check_reads_through_a_view_stands_before_it():
    def picked(x, i, j):
        return x[F.broadcast_to(i, [2, 3])] + x[F.broadcast_to(j, [2, 3])]

    program = traced(picked, ("float32", (4,)), ("int64", (3,)), ("int64", (3,)))
    assert_whole(program.block)
    x, i, j = np.arange(4, dtype="float32"), np.array([0, 1, 2]), np.array([3, 1, 0])
    (found,) = run(compiled(program), x, i, j)
    np.testing.assert_array_equal(found.array, np.tile(x[i] + x[j], (2, 1)))


def test_a_part_of_what_is_computed_is_no_reason_to_compute_in_its_loop():
    program = traced(lambda x: F.exp(F.exp(x)[:3]), ("float32", (6,)))
    (found,) = run(compiled(program), np.zeros(6, "float32"))
    np.testing.assert_allclose(found.array, np.full(3, np.exp(1.0), "float32"), rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_normalisations_and_softmax_are_one_nest(axis):
    def normed(x, w, b):
        return F.softmax(F.layer_norm(x, [7], w, b) * 2.0, axis=axis)

    types = (("float32", ("n", 7)), ("float32", (7,)), ("float32", (7,)))
    program = traced(normed, *types)
    nests, others = planned(program)
    assert (len(nests), others) == (2 - axis, [])
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(s).astype("float32") for s in ((5, 7), (7,), (7,)))
    y = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b
    e = np.exp(2.0 * (y - y.max(axis, keepdims=True)))
    (found,) = run(compiled(program), x, w, b)
    np.testing.assert_allclose(found.array, e / e.sum(axis, keepdims=True), rtol=1e-5)
