"""What the tests of passes share: Programs from functions, and the comparison of two of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dy2st.passes import Module, PassContext, explain
from dy2st.passes.core import registry
from dy2st.passes.random_inputs import random_inputs
from dy2st_runtime import engine
from dy2st_runtime.ir import F
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.recorded import floats, program_of


def names(program, constants=False):
    """The names of all operators, nested ones too."""
    return [o.name for o in program.block.walk() if constants or o.name != "constant"]


def run(program, inputs, state=()):
    return engine.compile(program).run(inputs, [state[name] for name in program.state])


def array(*shape, seed=0, dtype="float32", low=None):
    """Numbers for weights; with `low` they are at least that."""
    numbers = np.random.default_rng(seed).standard_normal(shape)
    if low is not None:
        numbers = np.abs(numbers) + low
    return numbers.astype(dtype)


def check(applied, program, state=None, rtol=1e-5, seeds=3, **context):
    """The Program that a pass makes: verified, the given one unchanged, the same numbers."""
    before = str(program)
    module = Module({program.name: program}, dict(state or {}))
    with PassContext(**context):
        after = applied(module)
    assert str(program) == before, "the pass has changed what it was given"
    result = verify(after.programs[program.name])
    for seed in range(seeds):
        made = random_inputs(program, module.state, seed, low=1, high=6)
        if made is None:
            break
        inputs, arrays = made
        compare(run(program, inputs, arrays), run(result, inputs, {**arrays, **after.state}), rtol)
    with PassContext(**context):
        again = applied(after).programs[program.name]
    check.again = again
    return result


def settled(applied, program, **options):
    """What `check` gives, for a pass that a second application adds nothing to."""
    after = check(applied, program, **options)
    assert str(check.again) == str(after)
    return after


def untouched(applied, program, reason=None):
    """Assert that a pass leaves a Program as it is, and says why."""
    after = check(applied, program)
    assert str(after) == str(program)
    if reason:
        reasons = [entry.reason for entry in explain(applied, program)]
        assert any(reason in entry for entry in reasons), reasons


def compare(expected, found, rtol=1e-5):
    for left, right in zip(expected, found, strict=True):
        assert left.dtype == right.dtype and left.shape == right.shape
        if left.dtype.kind == "f":
            size = np.abs(left[np.isfinite(left)]).max(initial=1.0)
            np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol * size, equal_nan=True)
        else:
            np.testing.assert_array_equal(left, right)


def nested(inner, x, *shape):
    """The sum of what a function gives, inside a branch inside a loop."""

    def body(i, y):
        return [i + 1, cond(F.max(x) > -9.0, lambda: [inner(x) + y], lambda: [y])[0]]

    first = [F.full([], 0, "int64"), F.full(shape, 0.0, "float32")]
    return while_loop(lambda i, y: i < 2, body, first)[1]


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """Passes that a test registers are forgotten after it."""
    monkeypatch.setattr(registry, "_made", dict(registry._made))


@pytest.fixture
def t():
    """The helpers by name."""
    return SimpleNamespace(
        floats=floats,
        program_of=program_of,
        names=names,
        run=run,
        array=array,
        check=check,
        compare=compare,
        nested=nested,
        settled=settled,
        untouched=untouched,
    )
