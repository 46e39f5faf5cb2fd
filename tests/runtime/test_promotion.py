"""Integers that become floats: NumPy's rule, and PaddlePaddle's."""

from __future__ import annotations

import operator
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import dy2st
import dy2st.nn.functional as F
import dy2st_runtime as rt
from dy2st.errors import ArgumentError
from dy2st.static import InputSpec
from dy2st_runtime import ops
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir.checks.verifier import verify

I = dy2st.to_tensor([1, 2, 3])  # noqa: E741
BOOL, HALF, SINGLE, DOUBLE = (I.astype(name) for name in ("bool", "float16", "float32", "float64"))

# The dtypes that PaddlePaddle 3.3.1 gives, or, for integer with float tensors, which it refuses,
# those of the float.
AS_PADDLE = {
    "divide": (lambda: I / I, "float32"),
    "divide by a number": (lambda: I / 2, "float32"),
    "divide a number": (lambda: 2 / I, "float32"),
    "times a float": (lambda: I * 2.5, "float32"),
    "times an integer": (lambda: I * 2, "int64"),
    "a small integer times a float": (lambda: I.astype("int8") * 2.5, "float32"),
    "a bool and a float": (lambda: BOOL + 2.5, "float32"),
    "a bool and an integer": (lambda: BOOL + 2, "int64"),
    "two integers": (lambda: I + I.astype("int32"), "int64"),
    "an integer and a float tensor": (lambda: I + SINGLE, "float32"),
    "an integer and a half tensor": (lambda: I + HALF, "float16"),
    "an integer and a double tensor": (lambda: I + DOUBLE, "float64"),
    "two floats": (lambda: SINGLE + DOUBLE, "float64"),
    "a float and a number": (lambda: HALF * 2.5, "float16"),
    "power": (lambda: I**2, "int64"),
    "a root by power": (lambda: I**0.5, "float32"),
    "floor division": (lambda: I // 2, "int64"),
    "remainder of a float": (lambda: I % 2.5, "float32"),
    "sqrt": (lambda: dy2st.sqrt(I), "float32"),
    "exp": (lambda: dy2st.exp(I.astype("int32")), "float32"),
    "sin": (lambda: dy2st.sin(I.astype("int8")), "float32"),
    "sigmoid": (lambda: F.sigmoid(I), "float32"),
    "softmax": (lambda: F.softmax(I), "float32"),
    "mean": (lambda: I.mean(), "float32"),
    "sum": (lambda: I.sum(), "int64"),
    "std": (lambda: I.std(), "float32"),
    "abs": (lambda: I.abs(), "int64"),
    "clip": (lambda: I.clip(0.5, 2.0), "float32"),
    "clip by integers": (lambda: I.clip(1, 2), "int64"),
    "compare": (lambda: I > 1.5, "bool"),
    "where": (lambda: dy2st.where(I > 1, I, SINGLE), "float32"),
    "concat": (lambda: dy2st.concat([I, SINGLE]), "float32"),
    "matmul": (lambda: dy2st.matmul(I, SINGLE), "float32"),
    "cast": (lambda: I.astype("float64"), "float64"),
    "one_hot": (lambda: F.one_hot(I, 4), "float32"),
    "gather": (lambda: dy2st.gather(DOUBLE, I - 1), "float64"),
    "arange": (lambda: dy2st.arange(3), "int64"),
}


@pytest.mark.parametrize("name", AS_PADDLE)
def test_integers_become_what_paddlepaddle_makes_of_them(name):
    function, dtype = AS_PADDLE[name]
    with dy2st.promotion("paddle"):
        assert function().dtype == dtype


@pytest.mark.parametrize("name", AS_PADDLE)
def test_a_trace_obeys_as_eager_code_does(name):
    function = AS_PADDLE[name][0]
    for mode in ("numpy", "paddle"):
        with dy2st.promotion(mode):
            static = dy2st.to_static(function)
            found, wanted = static(), function()
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-3)


def test_a_converted_function_has_a_program_for_each_rule():
    static = dy2st.to_static(lambda x: x / 2)
    for mode, dtype in (("numpy", "float64"), ("paddle", "float32"), ("numpy", "float64")):
        with dy2st.promotion(mode):
            assert static(I).dtype == dtype
    assert len(static.program_cache.concrete_programs()) == 2


def test_a_converted_function_with_a_specification_has_one_for_each_too():
    static = dy2st.to_static(lambda x: x / 2, [InputSpec([None], "int64")])
    for mode, dtype in (("numpy", "float64"), ("paddle", "float32"), ("numpy", "float64")):
        with dy2st.promotion(mode):
            assert static(I).dtype == dtype


@pytest.mark.parametrize("traced", ["numpy", "paddle"])
def test_a_program_means_the_same_whatever_rule_it_runs_under(traced, tmp_path):
    layer = dy2st.nn.Linear(3, 2)
    static = dy2st.to_static(
        lambda x, w: (dy2st.sqrt(x) * w / 2, (x / x).mean()),
        [InputSpec([None], "int64"), InputSpec([None], "float32")],
    )
    with dy2st.promotion(traced):
        dy2st.jit.save(static, str(tmp_path / "m"))
        wanted = static(I, SINGLE)
    for mode in ("numpy", "paddle"):
        with dy2st.promotion(mode):
            loaded = dy2st.jit.load(str(tmp_path / "m"))
            weight = SINGLE.clone()
            weight.stop_gradient = mode == "numpy"  # gradients run it operator by operator
            for found, expected in zip(loaded(I, weight), wanted, strict=True):
                assert found.dtype == expected.dtype
                np.testing.assert_allclose(found.numpy(), expected.numpy())
    assert layer.weight.dtype == "float32"


def test_numbers_of_python_stay_numbers():
    def function(x):
        half = x.shape[0] / 2
        return x * half

    static = dy2st.to_static(function, [InputSpec([None], "float64")])
    with dy2st.promotion("paddle"):
        assert static(DOUBLE).dtype == "float64"
        np.testing.assert_allclose(static(DOUBLE).numpy(), DOUBLE.numpy() * 1.5)


@pytest.mark.parametrize("traced", [False, True])
def test_a_float64_of_numpy_is_a_float_of_python_to_paddlepaddle(traced):
    def function(x):
        return x / np.sqrt(4), np.float64(2.5) * x, dy2st.maximum(x, np.float64(1))

    with dy2st.promotion("paddle"):
        run = dy2st.to_static(function) if traced else function
        found = run(dy2st.to_tensor([1.0, 3.0])), run(dy2st.to_tensor([1, 3]))
    for half, more, most in found:
        assert half.dtype == more.dtype == "float32"
        assert half.tolist() == [0.5, 1.5] and more.tolist() == [2.5, 7.5]
        assert most.tolist() == [1.0, 3.0]


def test_the_switch_is_for_all_threads_and_the_with_for_its_own():
    found = []

    def note():
        found.append(dy2st.get_promotion())

    def in_a_thread():
        thread = threading.Thread(target=note)
        thread.start()
        thread.join()

    with dy2st.promotion("paddle"):
        in_a_thread()
    dy2st.set_promotion("paddle")
    try:
        in_a_thread()
        with dy2st.promotion("numpy"):
            note()
        note()
    finally:
        dy2st.set_promotion("numpy")
    assert found == ["numpy", "paddle", "numpy", "paddle"]


def test_gradients_flow_through_the_casts():
    x = dy2st.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    with dy2st.promotion("paddle"):
        (x * I / 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.5, 1.0, 1.5])


def test_another_rule_is_refused():
    for call in (dy2st.set_promotion, operator.methodcaller("__enter__")):
        with pytest.raises(ArgumentError, match="'numpy' or 'paddle', not 'torch'"):
            call("torch" if call is dy2st.set_promotion else dy2st.promotion("torch"))


def test_to_ask_for_the_dtype_requires_nothing_of_sizes():
    with dy2st.promotion("paddle"):
        f = dy2st.to_static(lambda x: dy2st.unsqueeze(x == 0, 2), [InputSpec(["n", None], "int64")])
        assert f.main_program.constraints == []


def test_to_ask_for_the_dtype_leaves_no_size_behind():
    def some(x, n):
        return x[n // 2 : n + 1] if n > 0 else x

    with dy2st.promotion("paddle"):
        f = dy2st.to_static(some, [InputSpec([None]), InputSpec([], "int32")])
        verify(f.main_program)
        for n in (0, 3):
            n = dy2st.to_tensor(n, dtype="int32")
            np.testing.assert_array_equal(f(SINGLE, n).numpy(), some(SINGLE, n).numpy())


# -- the table of docs/dtypes.md -------------------------------------------------------------------


TABLE = (Path(__file__).parent.parent.parent / "docs" / "dtypes.md").read_text()
ROWS = re.findall(r"^\| \*\*(\w+)\*\* \|(.*)\|$", TABLE, re.MULTILINE)
NAMES = [name for name, _ in ROWS]


@pytest.mark.parametrize(("left", "cells"), ROWS)
def test_the_documented_table_is_what_add_and_numpy_give(left, cells):
    for right, shown in zip(NAMES, cells.split("|"), strict=True):
        x, y = (rt.to_tensor(np.ones(2, name)) for name in (left, right))
        assert str(ops.add(x, y).dtype) == shown.strip() == str(np.promote_types(left, right))


@pytest.mark.parametrize("name", NAMES)
def test_python_numbers_yield_to_the_dtype_of_a_tensor(name):
    x = rt.to_tensor(np.ones(2, name))
    for number in (True, 2, 2.5):
        assert ops.add(x, number).dtype == np.add(np.ones(2, name), number).dtype


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("function", ["exp", "sqrt", "sum", "mean", "cumsum", "argmax", "isnan"])
def test_functions_give_numpys_dtype(function, name):
    array = np.ones(3, name)
    extra = {"axis": 0} if function == "cumsum" else {}
    expected = getattr(np, function)(array, **extra).dtype
    expected = np.dtype("int64") if expected == np.uint64 else expected
    assert getattr(ops, function)(rt.to_tensor(array), **extra).dtype == expected


@pytest.mark.parametrize("name", ["<f4", ">f4", ">f8", ">i8", ">i2", ">c8", ">c16"])
def test_arrays_of_either_order_of_bytes_are_read(name):
    array = np.array([1, 2, 300], name)
    x = rt.to_tensor(array)
    assert x.dtype.isnative and x.dtype == array.dtype.newbyteorder("=")
    assert x.tolist() == array.tolist()
    assert ops.sum(x).item() == 303


@pytest.mark.parametrize("name", ["longdouble", "clongdouble"])
def test_floats_longer_than_those_of_tensors_are_refused(name):
    array = np.ones(2, name)
    if np.dtype("longdouble").itemsize == 8:
        pytest.skip("this machine has no longer floats")
    with pytest.raises(DTypeError, match="astype"):
        rt.to_tensor(array)
