"""Machine code of elementwise operators equals their NumPy kernels, for every dtype with a row."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.rows import ROWS, has_row
from dy2st_runtime.engine.native.text.lanes import NATIVE
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir.definition import DEFINITIONS, lookup
from dy2st_runtime.ops.lazy import load_all
from tests.runtime.engine.native.running import Runner, operator_of

load_all()
DTYPES = sorted(NATIVE, key=str)
ULPS = {4: 2, 8: 4}
# Sums of parts that are larger than they: the kernels are near to the parts alone, and so are rows.
SUMS = {"sigmoid", "silu", "gelu", "softplus", "logaddexp"}
# In float64 whatever the dtype, by rows and kernels, in different ways: so much of 1 or the result.
INCOMPLETE = {"gammainc", "gammaincc"}
LONG = {"lgamma", "polygamma", "erfinv", "i0", "i0e", "i1", "i1e", *INCOMPLETE}
OFF = 2.0**-48

NUMBERS = (0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 65, 100, 120)
FLOATS = (
    *(0.5, 1.5, 2.5, 3.5, 0.1, 0.25, 0.7, 0.9999999, 1.0000001, 1e-3, 1e-7, 1e-20, 1e-38, 1e-45),
    *(10.3, 20, 88.5, 89, 103, 127.5, 128, 255, 256, 300.7, 710, 40000.6, 65535, 65536, 1e6, 1e9),
    *(2.0**31, 2.0**32, 1e15, 2.0**62, 2.0**63, 1e19, 1e30, 3e38, np.inf, np.nan),
)


def edges(dtype, name):
    """What is special of a dtype, both signs of it."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f" and name in INCOMPLETE:  # more parts of the exponent cancel each other
        return np.array([-1, -0.0, 0, 1, 2, 7, 31, 1e-3, 1e-30, 2.5, 10.3, np.inf, np.nan], dtype)
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        extremes = (limits.max, limits.tiny, limits.smallest_subnormal, limits.eps, *NUMBERS)
        values = np.array([*FLOATS, *extremes], dtype)
        return np.concatenate([values, -values])
    limits = np.iinfo(dtype)
    values = [*NUMBERS, *(-number for number in NUMBERS), limits.min, limits.min + 1]
    values += [limits.max, limits.max - 1]
    return np.array([value for value in values if limits.min <= value <= limits.max], dtype)


def pairs(columns):
    """All values, or all pairs of them; a whole number of vectors and some more."""
    if len(columns) == 1:
        return [np.concatenate([columns[0]] * 3)]
    return [np.ascontiguousarray(grid).reshape(-1) for grid in np.meshgrid(*columns)]


def calls(name):
    """(operator, arrays) for every dtype and the attributes of the samples."""
    definition = lookup(name)
    known = [dict(sample.attributes) for sample in definition.samples]
    if name == "cast":
        known = [{"dtype": dtype} for dtype in DTYPES]
    attributes = [entry for place, entry in enumerate(known) if entry not in known[:place]]
    for dtype in DTYPES:
        dtypes = [dtype] * len(definition.inputs)
        if name == "where":
            dtypes[0] = np.dtype(bool)
        for entry in attributes:
            try:
                operator = operator_of(name, dtypes, entry)
            except DTypeError:
                continue
            if has_row(operator):
                yield operator, pairs([edges(each, name) for each in dtypes])


def wide(array):
    if array.dtype.kind != "f":
        return array
    return array.astype(np.float64 if array.dtype.itemsize == 4 else np.longdouble)


def is_near(found, name, arrays, attributes):
    """Whether each element is what the kernel gives, or near to what it gives of wider floats."""
    kernel = lookup(name).kernel
    with np.errstate(all="ignore"):
        expected = np.asarray(kernel(*arrays, **attributes))
        assert found.dtype == expected.dtype
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        if found.dtype.kind != "f" or name == "bitcast":
            return same
        same &= (found != 0) | (np.signbit(found) == np.signbit(expected)) | (name in SUMS)
        exact = np.asarray(kernel(*map(wide, arrays), **attributes))
        rounded = np.abs(exact.astype(found.dtype))
        unit = np.maximum(np.spacing(rounded), np.finfo(found.dtype).smallest_subnormal)
        if name in SUMS:
            unit = np.maximum(unit, np.finfo(found.dtype).eps * np.maximum(1, abs(arrays[0])))
        if name in LONG:
            unit = np.maximum(unit, OFF * np.maximum(1, abs(exact)))
        return same | (np.abs(found - exact) <= ULPS[found.dtype.itemsize] * unit)


def is_decided(operator, arrays):
    """False where NumPy itself gives one number or another: floats beyond 32 bits as uint32."""
    to, of = operator.results[0].type.dtype, arrays[0].dtype
    if operator.name != "cast" or to != np.uint32 or of.kind != "f":
        return np.ones(arrays[0].shape, bool)
    return np.abs(arrays[0]) < 2.0**31


def check(name, processor, counts):
    runner = Runner(processor)
    cases = list(calls(name))
    for place, (operator, _) in enumerate(cases):
        for count in counts:
            runner.add_operator(f"f{place}x{count}", operator, count)
    assert cases
    for place, (operator, arrays) in enumerate(cases):
        decided = is_decided(operator, arrays)
        for count in counts:
            found = runner(f"f{place}x{count}", *arrays)
            wrong = ~is_near(found, name, arrays, operator.attributes) & decided
            shown = [(*(array[at] for array in arrays), found[at]) for at in np.flatnonzero(wrong)]
            assert not shown, (operator, count, shown[:5])


@pytest.mark.parametrize("name", ROWS)
def test_a_row_means_what_the_kernel_does(name):
    check(name, Processor.host(), (1, 16))


@pytest.mark.parametrize("name", ["add", "cast", "floor_divide", "where", "clip"])
def test_a_row_means_the_same_on_another_processor(name, monkeypatch):
    monkeypatch.setenv("DY2ST_NATIVE_CPU", "haswell")
    check(name, Processor.host(), (8,))


# Elementwise operators that machine code leaves to their kernels.
WITHOUT_A_ROW = {"complex": "its result is complex"}


def test_elementwise_operators_have_a_row_or_a_reason():
    elementwise = {name for name, known in DEFINITIONS.items() if known.is_elementwise}
    assert elementwise == {*ROWS, *WITHOUT_A_ROW}
    assert not set(ROWS) & set(WITHOUT_A_ROW)


@pytest.mark.parametrize("dtype", ["float16", "complex64"])
def test_other_dtypes_have_no_row(dtype):
    assert not has_row(operator_of("add", [dtype, dtype]))


def test_what_may_raise_for_some_data_has_no_row():
    assert not has_row(operator_of("pow", ["int64", "int64"]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["remainder", "floor_divide"])
def test_divisions_of_floats_are_exact_where_quotients_are_nearly_whole(name, dtype):
    rng = np.random.default_rng(3)
    y = (rng.integers(1, 50, 4000) * 0.1).astype(dtype)
    whole = (y * rng.integers(-3000, 3000, 4000)).astype(dtype)
    x = np.concatenate([whole, np.nextafter(whole, np.inf), np.nextafter(whole, -np.inf)])
    runner = Runner()
    runner.add_operator("f", operator_of(name, [dtype, dtype]), 16)
    y = np.tile(y, 3)
    np.testing.assert_array_equal(runner("f", x, y), lookup(name).kernel(x, y))
