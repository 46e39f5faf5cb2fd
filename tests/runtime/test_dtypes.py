"""The table of docs/dtypes.md is NumPy's, and operators follow it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import ops
from dy2st_runtime.errors import DTypeError

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
