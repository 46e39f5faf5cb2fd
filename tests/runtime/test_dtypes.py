"""The table of docs/dtypes.md is NumPy's, and operators follow it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import ops

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
