"""Random programs with branches, loops and lists: gradients of the Program are those of the tape."""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np
import pytest

import dy2st
from dy2st.errors import Dy2stError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.trained_program import ProgramNode
from tests.campaign import define
from tests.dy2st.jit.tensor_programs import INPUTS, program_of
from tests.effort import effort

PROGRAMS = effort(12, 60)


def tensors_in(value):
    """The tensors that a result is made of, in order."""
    if isinstance(value, dy2st.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for entry in value for tensor in tensors_in(entry)]
    return tensors_in(list(vars(value).values())) if hasattr(value, "__dict__") else []


def trained(function, values):
    """Flags of the results, the gradient of the sum of their squares, and whether it is compiled."""
    x = dy2st.to_tensor(np.array(values, "float32"), stop_gradient=False)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            results = tensors_in(function(x))
        except Dy2stError:
            raise
        except Exception as error:
            return type(error).__name__, None, False
        open_ones = [r for r in results if not r.stop_gradient]
        if open_ones:
            sum((r * r).sum() * (i + 1) for i, r in enumerate(open_ones)).backward()
    grad = None if x.grad is None else x.grad.numpy()
    is_compiled = any(isinstance(r.node, ProgramNode) for r in results)
    return [r.stop_gradient for r in results], grad, is_compiled


def compare(text):
    """How many calls of a program were compiled; None if it is refused."""
    function = define(text, "<random training>")
    static = to_static(function, input_spec=[InputSpec([3], "float32", "x")])
    count = 0
    for values in INPUTS:
        flags, grad, _ = trained(function, values)
        try:
            found_flags, found, is_compiled = trained(static, values)
        except Dy2stError:
            return None
        if isinstance(found_flags, list):
            assert (found is None) == (grad is None), f"{text}\n{values}: {grad} {found}"
            if grad is not None:
                np.testing.assert_allclose(found, grad, rtol=1e-4, err_msg=f"{text}\n{values}")
        assert found_flags == flags, f"{text}\n{values}: {flags} {found_flags}"
        count += is_compiled
    return count


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_gradients_are_those_of_the_tape(seed):
    compare(program_of(seed))


def test_many_of_them_run_compiled():
    counts = [compare(program_of(1000 + seed)) for seed in range(PROGRAMS)]
    assert sum(bool(count) for count in counts) >= PROGRAMS // 4, counts
