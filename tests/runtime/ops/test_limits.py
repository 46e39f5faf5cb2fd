"""clip, relu6, hardtanh, leaky_relu and silu: one operator each, with PaddlePaddle's slopes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import scipy.special

from dy2st_runtime import engine
from dy2st_runtime import to_tensor as tensor
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import F
from dy2st_runtime.nn import functional
from tests.recorded import floats, program_of

# Inputs with their slopes, as PaddlePaddle 3.3.1 gives them.
SLOPES = {
    "clip": (lambda x: F.clip(x, -1.0, 2.0), [-2, -1, 0, 2, 3], [0, 1, 1, 1, 0]),
    "clip from below": (lambda x: F.clip(x, min=1.0), [0, 1, 2], [0, 1, 1]),
    "relu6": (F.relu6, [-1, 0, 1, 6, 7], [0, 0, 1, 0, 0]),
    "hardtanh": (F.hardtanh, [-2, -1, 0, 1, 2], [0, 0, 1, 0, 0]),
    "hardsigmoid": (functional.hardsigmoid, [-4, -3, 0, 3, 4], [0, 0, 1 / 6, 0, 0]),
    "hardswish": (functional.hardswish, [-4, -3, 0, 3, 4], [0, 0, 0.5, 1, 1]),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.1), [-1, 0, 1], [0.1, 1, 1]),
    "silu": (F.silu, [-1, 0, 3], [0.07232949, 0.5, 1.0881043]),
    "not a number": (F.relu6, [np.nan], [0]),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_at_limits_are_those_of_paddlepaddle(name):
    function, numbers, slopes = SLOPES[name]
    x = tensor(np.array(numbers, "float32"), stop_gradient=False)
    function(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=1e-6)


FUNCTIONS = {
    "clip": (lambda x: F.clip(x, -1.0, 2.0), lambda x: np.clip(x, -1, 2)),
    "relu6": (F.relu6, lambda x: np.clip(x, 0, 6)),
    "hardtanh": (lambda x: F.hardtanh(x, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.1), lambda x: np.where(x > 0, x, x * 0.1)),
    "silu": (F.silu, lambda x: x * scipy.special.expit(x)),
}
TOLERANCE = {"float64": 1e-14, "float32": 1e-6, "float16": 2e-3, "bfloat16": 1e-2}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_blocks_turned_operands_and_empty_ones_are_right(name, dtype):
    function, expected = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    for shape in ((), (0, 3), (7,), (3, 9000), (20_001,)):
        x = rng.uniform(-8, 8, shape).astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
        for given in (x, x.T, x[::-1] if x.ndim else x):
            found = function(tensor(given)).numpy()
            wanted = expected(given.astype("float64"))
            assert found.dtype == x.dtype and found.shape == given.shape
            found, limit = found.astype("float64"), TOLERANCE[dtype]
            np.testing.assert_allclose(found, wanted, rtol=limit, atol=limit)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_program_holds_one_operator(name):
    program = program_of(FUNCTIONS[name][0], floats(2, 3))
    assert [o.name for o in program.operators if o.name != "constant"] == [name]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_written_over_an_operand_that_dies(name, turned):
    function, expected = FUNCTIONS[name]

    def twice(x):
        y = F.transpose(F.exp(x), [1, 0]) if turned else F.exp(x)
        return function(function(y))

    executable = engine.compile(program_of(twice, floats(300, 100)))
    assert executable.source.count("out=") == 2
    x = np.random.default_rng(0).uniform(-2, 2, (300, 100)).astype("float32")
    (found,) = executable.run([x.copy()], [])
    wanted = expected(expected(np.exp(x.T if turned else x)))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("slope", [0.0, -0.5, 1.0, 1.5, 1e-30])
def test_leaky_relu_of_special_values_is_the_choice_that_defines_it(slope):
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, -1e-45, 3e38, -3e38, 1, -1], "float32")
    with np.errstate(all="ignore"):
        found, wanted = F.leaky_relu(tensor(x), slope).numpy(), np.where(x > 0, x, x * slope)
    np.testing.assert_array_equal(found, wanted.astype("float32"))


def test_integers_stay_integers():
    x = tensor(np.array([-5, 0, 3, 9], "int64"))
    assert F.clip(x, 1, 4).tolist() == [1, 1, 3, 4] and F.relu6(x).tolist() == [0, 0, 3, 6]
    assert F.clip(x, -np.inf, 4.5).tolist() == [-5, 0, 3, 4.5]
    small = tensor(np.array([0, 200], "uint8"))
    assert F.clip(small, -1, 300).tolist() == [0, 200] and F.clip(small, -1, 7).dtype == np.uint8


@pytest.mark.parametrize("limits", [(2**70, None), (None, -(2**70))])
def test_limits_that_integers_cannot_reach_are_refused(limits):
    with pytest.raises(DTypeError):
        F.clip(tensor(np.array([0, 1])), *limits)


def test_limits_may_be_tensors():
    x, low = tensor(np.array([[1.0, 2.0], [3.0, 4.0]])), tensor(np.array([2.5, 0.0]))
    assert F.clip(x, low, 3.5).tolist() == [[2.5, 2.0], [3.0, 3.5]]
    with pytest.raises(DTypeError):
        F.clip(tensor(np.array([0, 1])), low)
