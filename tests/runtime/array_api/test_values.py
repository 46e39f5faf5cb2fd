"""Functions of the array API give what NumPy's of that name give: dtypes, shapes and values."""

import itertools
import warnings

import numpy as np
import pytest

from dy2st_runtime import array_api as xp
from dy2st_runtime.ir.tensor import Tensor
from tests.effort import IS_FULL

SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = (*SIGNED, "uint8", "uint16", "uint32", "uint64")
FLOATS, COMPLEX = ("float32", "float64"), ("complex64", "complex128")
INEXACT, REAL = (*FLOATS, *COMPLEX), (*INTEGERS, *FLOATS)
NUMERIC, BITS = (*REAL, *COMPLEX), ("bool", *INTEGERS)
ALL = ("bool", *NUMERIC)
KIND = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
SHAPES = ((), (1,), (2, 3), (2, 0), (0,), (2, 1, 3)) if IS_FULL else ((), (2, 3), (2, 0))
RANDOM = np.random.default_rng(7)

UNARY = {
    **dict.fromkeys("exp expm1 log log1p log2 log10 sqrt reciprocal".split(), INEXACT),
    **dict.fromkeys("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split(), INEXACT),
    **dict.fromkeys("abs conj isfinite isinf isnan negative positive real round".split(), NUMERIC),
    **dict.fromkeys("square".split(), NUMERIC),
    **dict.fromkeys("ceil floor trunc sign".split(), REAL),
    **{"imag": COMPLEX, "signbit": FLOATS, "bitwise_invert": BITS, "logical_not": ("bool",)},
}
BINARY = {
    **dict.fromkeys("add subtract multiply pow".split(), NUMERIC),
    **dict.fromkeys("equal not_equal".split(), ALL),
    **dict.fromkeys("less less_equal greater greater_equal maximum minimum".split(), REAL),
    **dict.fromkeys("remainder floor_divide".split(), REAL),
    **dict.fromkeys("atan2 copysign hypot logaddexp nextafter".split(), FLOATS),
    **dict.fromkeys("bitwise_and bitwise_or bitwise_xor".split(), BITS),
    **dict.fromkeys("bitwise_left_shift bitwise_right_shift".split(), INTEGERS),
    **dict.fromkeys("logical_and logical_or logical_xor".split(), ("bool",)),
    "divide": INEXACT,
}


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of means of nothing
        yield


def array(shape, dtype, least=None):
    """Random numbers, integers from `least` on; some floats are special."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return RANDOM.random(shape) > 0.5
    if kind in "iu":
        low = least if least is not None else 0 if kind == "u" else -5
        return RANDOM.integers(low, 7, shape).astype(dtype)
    made = RANDOM.normal(size=shape) * 3
    if least is None and kind == "f":
        special = RANDOM.choice([0.0, -0.0, np.inf, -np.inf, np.nan], size=shape)
        made = np.where(RANDOM.random(shape) < 0.2, special, made)
    if kind == "c":
        made = made + 1j * RANDOM.normal(size=shape)
    return np.asarray(made).astype(dtype)


def tensors(value):
    if isinstance(value, np.ndarray):
        return xp.asarray(value.copy())
    return [tensors(one) for one in value] if isinstance(value, list) else value


def check(function, reference, *values, **options):
    """Both are called with the same values, as tensors and as arrays."""
    wanted = reference(*values, **options)
    found = function(*map(tensors, values), **{key: tensors(one) for key, one in options.items()})
    compare(found, wanted)


def compare(found, wanted):
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        assert getattr(found, "_fields", None) == getattr(wanted, "_fields", None)
        for one, other in zip(found, wanted, strict=True):
            compare(one, other)
        return
    wanted = np.asarray(wanted)
    assert isinstance(found, Tensor)
    assert (found.dtype, tuple(found.shape)) == (wanted.dtype, wanted.shape)
    close = 3e-5 if wanted.dtype.name in ("float32", "complex64") else 1e-10
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=close, atol=close)
    if wanted.dtype.kind == "f":
        zero = wanted == 0
        np.testing.assert_array_equal(np.signbit(np.asarray(found)[zero]), np.signbit(wanted[zero]))


def pairs(dtypes):
    """The dtypes that the standard brings to one, all or each with itself and the last."""
    for one, other in itertools.product(dtypes, dtypes):
        kinds = np.dtype(one).kind, np.dtype(other).kind
        if KIND[kinds[0]] != KIND[kinds[1]] or ("uint64" in (one, other) and "i" in kinds):
            continue
        if IS_FULL or one == other or other == dtypes[-1]:
            yield one, other


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor(name):
    for dtype, shape in itertools.product(UNARY[name], SHAPES):
        check(getattr(xp, name), getattr(np, name), array(shape, dtype))


def _quotient(x, y):
    made = np.floor_divide(x, y)
    infinite = np.isinf(x) | np.isinf(y) if np.asarray(made).dtype.kind == "f" else False
    return np.where(infinite, np.divide(x, y), made).astype(np.asarray(made).dtype)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tensors(name):
    reference = _quotient if name == "floor_divide" else getattr(np, name)
    is_limited = name in ("pow", "bitwise_left_shift", "bitwise_right_shift")
    least = 1 if name in ("remainder", "floor_divide") else 0 if is_limited else None
    for one, other in pairs(BINARY[name]):
        for shape, beside in (((), ()), ((2, 3), (3,)), ((0,), (1,)), ((2, 1), (3,))):
            values = array(shape, one, least), array(beside, other, least)
            check(getattr(xp, name), reference, *values)


@pytest.mark.parametrize("name", BINARY)
def test_a_number_of_python_yields_to_the_tensor(name):
    reference = _quotient if name == "floor_divide" else getattr(np, name)
    for dtype in BINARY[name]:
        number = {"b": True, "i": 2, "u": 2, "f": 2, "c": 2j}[np.dtype(dtype).kind]
        x = array((3,), dtype, 1)
        check(lambda t, n=number: getattr(xp, name)(t, n), lambda a, n=number: reference(a, n), x)
        check(lambda t, n=number: getattr(xp, name)(n, t), lambda a, n=number: reference(n, a), x)


def axes_of(shape):
    every = tuple(range(len(shape)))
    return [None, (), *range(-len(shape), len(shape)), *([every] if len(shape) > 1 else [])]


REDUCTIONS = {
    **dict.fromkeys("all any count_nonzero".split(), ALL),
    **dict.fromkeys("sum prod".split(), NUMERIC),
    **dict.fromkeys("mean std var".split(), INEXACT),
    **dict.fromkeys("max min argmax argmin".split(), REAL),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_over_axes(name):
    for dtype, shape in itertools.product(REDUCTIONS[name], SHAPES):
        x = array(shape, dtype)
        for axis, keepdims in itertools.product(axes_of(shape), (False, True)):
            if name.startswith("arg") and isinstance(axis, tuple):
                continue
            if name[-3:] in ("max", "min") and not x.size:
                continue
            options = {"axis": axis, "keepdims": keepdims}
            check(getattr(xp, name), getattr(np, name), x, **options)
            if name in ("std", "var"):
                check(getattr(xp, name), getattr(np, name), x, correction=1, **options)
            if name in ("sum", "prod") and np.dtype(dtype).kind != "c":
                check(getattr(xp, name), getattr(np, name), x, dtype=np.dtype("float64"), **options)


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_unsigned_integers_of_64_bits_wrap_round(name):
    x = np.array([2**63 + 5, 3, 2**64 - 1], "uint64")
    check(getattr(xp, name), getattr(np, name), x)


def test_integers_of_64_bits_without_a_sign_keep_all_of_them():
    large = 2**63 + 5
    x = xp.zeros((2,), dtype=xp.uint64)
    x[0] = large
    assert x.tolist() == [large, 0]
    assert xp.asarray([large, 1], dtype=xp.uint64).tolist() == [large, 1]
    assert xp.arange(large, large + 2, dtype=xp.uint64).tolist() == [large, large + 1]
    assert xp.full((1,), large, dtype=xp.uint64).tolist() == [large]


def _sort(x, *, axis, descending):
    made = np.sort(x, axis=axis, stable=True)
    return np.flip(made, axis) if descending else made


def _argsort(x, *, axis, descending):
    if not descending:
        return np.argsort(x, axis=axis, stable=True)
    backwards = np.argsort(np.flip(x, axis), axis=axis, stable=True)
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def test_functions_along_an_axis():
    for dtype, shape in itertools.product(ALL, SHAPES):
        x = array(shape, dtype, 0)
        for axis in range(-len(shape), len(shape)):
            for name in ("unstack", "flip"):
                check(getattr(xp, name), getattr(np, name), x, axis=axis)
            check(lambda t, a=axis: xp.roll(t, 2, axis=a), lambda v, a=axis: np.roll(v, 2, a), x)
            check(
                lambda t, a=axis: xp.repeat(t, 2, axis=a), lambda v, a=axis: np.repeat(v, 2, a), x
            )
            check(xp.repeat, np.repeat, x, np.arange(shape[axis]), axis=axis)
            check(xp.concat, np.concat, [x, x], axis=axis)
            places = np.zeros(2 if shape[axis] else 0, "int64")
            check(xp.take, np.take, x, places, axis=axis)
            for n in (0, 1, 2):
                check(xp.diff, np.diff, x, axis=axis, n=n)
            if dtype == "bool":
                continue
            check(xp.take_along_axis, np.take_along_axis, x, np.argsort(x, axis), axis=axis)
            for initial in (False, True):
                options = {"axis": axis, "include_initial": initial}
                check(xp.cumulative_sum, np.cumulative_sum, x, **options)
                check(xp.cumulative_prod, np.cumulative_prod, x, **options)
            if dtype in REAL:
                for descending in (False, True):
                    options = {"axis": axis, "descending": descending}
                    check(xp.sort, _sort, x, **options)
                    check(xp.argsort, _argsort, x, **options)


def test_functions_that_move_elements():
    for dtype, shape in itertools.product(ALL, SHAPES):
        x = array(shape, dtype)
        for axis in range(-len(shape) - 1, len(shape) + 1):
            check(xp.expand_dims, np.expand_dims, x, axis=axis)
            check(xp.stack, np.stack, [x, x], axis=axis)
        check(xp.concat, np.concat, [x, x], axis=None)
        check(xp.flip, np.flip, x)
        for reps in ((), (2,), (2, 1, 2, 1)):
            check(lambda t, r=reps: xp.tile(t, r), lambda v, r=reps: np.tile(v, r), x)
        check(lambda t: xp.roll(t, 1), lambda v: np.roll(v, 1), x)
        check(lambda t: xp.repeat(t, 3), lambda v: np.repeat(v, 3), x)
        check(lambda t: xp.reshape(t, (-1,)), lambda v: np.reshape(v, (-1,)), x)
        check(xp.broadcast_arrays, lambda *v: list(np.broadcast_arrays(*v)), x, x[None])
        check(xp.where, np.where, array(shape, "bool"), x, x)
        if len(shape) > 1:
            check(xp.tril, np.tril, x, k=1)
            check(xp.triu, np.triu, x, k=-1)
            check(xp.matrix_transpose, np.matrix_transpose, x)
        if shape:
            check(xp.nonzero, np.nonzero, x)


def test_sets_take_each_nan_for_another_element():
    for dtype, shape in itertools.product(ALL, SHAPES):
        x = array(shape, dtype)
        for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
            check(getattr(xp, name), getattr(np, name), x) if name != "unique_values" else check(
                xp.unique_values, lambda v: np.unique_all(v).values, x
            )
    assert xp.unique_values(xp.asarray([np.nan, np.nan])).shape == (2,)


def test_positions_in_a_sorted_vector():
    for dtype, side in itertools.product(REAL, ("left", "right")):
        known, x = np.sort(array((5,), dtype, 0)), array((2, 3), dtype, 0)
        check(xp.searchsorted, np.searchsorted, known, x, side=side)
        backwards = np.arange(5)[::-1].copy()
        check(xp.searchsorted, np.searchsorted, known[::-1], x, side=side, sorter=backwards)


def test_functions_that_make_tensors():
    for dtype in map(np.dtype, ALL):
        for shape in ((), (3,), (0, 2)):
            check(xp.full, np.full, shape, 1, dtype=dtype)
            check(xp.zeros, np.zeros, shape, dtype=dtype)
            check(xp.ones, np.ones, shape, dtype=dtype)
        for sizes, k in itertools.product([(2,), (2, 3), (0,), (3, 2)], (-1, 0, 5)):
            check(xp.eye, np.eye, *sizes, k=k, dtype=dtype)
        vectors = [array((n,), dtype) for n in (2, 3, 1)]
        for order in ("xy", "ij"):
            wanted = [*np.meshgrid(*vectors, indexing=order)]
            compare(xp.meshgrid(*map(tensors, vectors), indexing=order), wanted)
        if dtype.name in REAL:
            for limits in ((3,), (1, 7, 2), (7, 1, -2), (5, 2)):
                check(xp.arange, np.arange, *limits, dtype=dtype)
        if dtype.name in INEXACT:
            for last, num in itertools.product((False, True), (0, 1, 5)):
                check(xp.linspace, np.linspace, 0, -3.5, num, endpoint=last, dtype=dtype)


LINEAR = {
    "det inv slogdet pinv matrix_rank svdvals trace matrix_norm": lambda x: x,
    "cholesky eigvalsh": lambda x: x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(len(x[-1])),
}


@pytest.mark.parametrize("dtype", INEXACT)
def test_linear_algebra(dtype):
    for names, prepared in LINEAR.items():
        for name, shape in itertools.product(names.split(), ((3, 3), (2, 3, 3), (0, 3, 3))):
            x = array(shape, dtype, 0)
            if name == "cholesky" and len(shape) > 2:
                continue
            x = prepared(x) if len(shape) == 2 else x
            check(getattr(xp.linalg, name), getattr(np.linalg, name), x.astype(dtype))
    x, vectors = array((2, 3, 3), dtype, 0), array((3,), dtype, 0)
    check(xp.linalg.solve, np.linalg.solve, x, vectors)
    check(xp.linalg.solve, np.linalg.solve, x, array((2, 3, 2), dtype, 0))
    for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        check(xp.linalg.matrix_norm, np.linalg.matrix_norm, x, ord=order, keepdims=True)
    for axis, order in itertools.product((None, (), 0, (0, 1)), (2, 1, 0, -1, np.inf, -np.inf, 3)):
        check(xp.linalg.vector_norm, np.linalg.vector_norm, x, axis=axis, ord=order)
    for name, fields in (("qr", "Q R"), ("svd", "U S Vh"), ("eigh", "eigenvalues eigenvectors")):
        made = getattr(xp.linalg, name)(xp.asarray(x))
        assert made._fields == tuple(fields.split())
        wanted = getattr(np.linalg, name)(x)
        assert [one.dtype for one in made] == [one.dtype for one in wanted]


def test_products():
    for dtype in NUMERIC:
        x, y = array((2, 3), dtype, 0), array((3,), dtype, 0)
        check(xp.matmul, np.matmul, x, y)
        check(xp.matmul, np.matmul, array((2, 0), dtype), array((0, 3), dtype))
        check(xp.vecdot, np.vecdot, x, y)
        check(xp.tensordot, np.tensordot, x, y, axes=1)
        check(xp.tensordot, np.tensordot, x, x.T, axes=((0, 1), (1, 0)))
        check(xp.linalg.outer, np.linalg.outer, y, y)
        check(xp.linalg.cross, np.linalg.cross, x, y)
        check(xp.linalg.diagonal, np.linalg.diagonal, x, offset=-1)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_fourier_transforms(name):
    for dtype in FLOATS if name in ("rfft", "ihfft") else COMPLEX:
        for n, norm in itertools.product((None, 3, 6), ("backward", "ortho", "forward")):
            x = array((2, 5), dtype, 0)
            check(getattr(xp.fft, name), getattr(np.fft, name), x, n=n, norm=norm)
            if n is None and not name.startswith(("h", "ih")):
                many = f"{name}n"
                check(getattr(xp.fft, many), getattr(np.fft, many), x, norm=norm)
    for shift in ("fftshift", "ifftshift"):
        check(getattr(xp.fft, shift), getattr(np.fft, shift), array((2, 5), "float64"), axes=(1,))
