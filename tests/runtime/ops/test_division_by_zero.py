"""Integers divided by 0: Python, torch and PaddlePaddle raise, so do all engines."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as P
from dy2st.static import InputSpec
from dy2st_runtime.errors import Dy2stError

ENGINES = ("eager", "numpy", "native")
DIVISIONS = {"//": lambda x, y: x // y, "%": lambda x, y: x % y}


def as_program(function, engine, **more):
    return function if engine == "eager" else P.to_static(function, engine=engine, **more)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_a_divisor_of_0_raises_what_python_raises(name, dtype, engine):
    divide = as_program(lambda x, y: DIVISIONS[name](x, y), engine)
    ones, some = np.ones(3, dtype), np.array([1, 0, 1], dtype)
    assert divide(P.to_tensor(ones), P.to_tensor(ones)).shape == [3]
    for y in (some, some[1]):
        with pytest.raises(ZeroDivisionError, match="divided by 0") as caught:
            divide(P.to_tensor(ones), P.to_tensor(y))
        assert isinstance(caught.value, Dy2stError)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", DIVISIONS)
def test_numbers_in_a_loop_raise_too(name, engine):
    def total(n, step):
        s = P.to_tensor(0)
        while n > 0:
            s = s + DIVISIONS[name](n, step)
            n = n - 1
            step = step - 1
        return s

    total = as_program(total, engine)
    wanted = sum(DIVISIONS[name](n, n) for n in range(1, 4))
    assert total(P.to_tensor(3), P.to_tensor(3)).item() == wanted
    with pytest.raises(ZeroDivisionError):
        total(P.to_tensor(3), P.to_tensor(2))


@pytest.mark.parametrize("engine", ENGINES)
def test_handlers_see_it(engine):
    def safe(x, y):
        try:
            z = x // y
        except ZeroDivisionError:
            z = x * 0 - 1
        return z

    safe = as_program(safe, engine)
    assert safe(P.to_tensor([7, 8]), P.to_tensor(2)).tolist() == [3, 4]
    assert safe(P.to_tensor([7, 8]), P.to_tensor(0)).tolist() == [-1, -1]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_nobody_reads_raises_all_the_same(engine):
    def halved(x, y):
        x % y
        return x + 1

    with pytest.raises(ZeroDivisionError):
        as_program(halved, engine)(P.to_tensor([7]), P.to_tensor([0]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("engine", ENGINES)
def test_floats_go_on(engine):
    for name, wanted in (("//", [np.inf, np.nan]), ("%", [np.nan, np.nan])):
        divide = as_program(lambda x, y, name=name: DIVISIONS[name](x, y), engine)
        found = divide(P.to_tensor([7.0, 0.0]), P.to_tensor([0.0, 0.0]))
        np.testing.assert_array_equal(found.numpy(), wanted)


def test_known_divisors_stay_in_loops_of_machine_code():
    spec = [InputSpec([None], "int64")]
    program = P.to_static(lambda x: x // 7 + x % 3, spec, engine="native")
    assert "computed by NumPy: nothing" in program.concrete_program.executable.explain()
    assert program(P.to_tensor([15, -4])).tolist() == [2, 1]


def test_no_division_by_a_size_fails_that_is_not_0():
    program = P.to_static(lambda x: x.sum() % x.shape[0], [InputSpec([None], "int64")])
    assert program(P.to_tensor([4, 5, 8])).item() == 2
