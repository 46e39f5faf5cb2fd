"""Functions of the array API are there, and take what the standard of 2024.12 says."""

import inspect

import pytest

from dy2st_runtime import array_api as xp
from dy2st_runtime.ops import ones

CREATED = "*, dtype=None, device=None"
RUNNING = "x, /, *, axis=None, dtype=None, include_initial=False"
SPREAD = "x, /, *, axis=None, correction=0.0, keepdims=False"
OVER = "x, /, *, axis=None, keepdims=False"
ORDER = "x, /, *, axis=-1, descending=False, stable=True"
ONE, MANY = (
    "x, /, *, n=None, axis=-1, norm='backward'",
    "x, /, *, s=None, axes=None, norm='backward'",
)
UNARY = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor
    imag isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal
    round sign signbit sin sinh sqrt square tan tanh trunc nonzero matrix_transpose unique_all
    unique_counts unique_inverse unique_values"""
BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
    copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp
    logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder
    subtract matmul"""
MAIN = {
    **dict.fromkeys(UNARY.split(), "x, /"),
    **dict.fromkeys(BINARY.split(), "x1, x2, /"),
    **dict.fromkeys("zeros ones empty".split(), f"shape, {CREATED}"),
    **dict.fromkeys("zeros_like ones_like empty_like".split(), f"x, /, {CREATED}"),
    **dict.fromkeys("tril triu".split(), "x, /, *, k=0"),
    **dict.fromkeys("cumulative_sum cumulative_prod".split(), RUNNING),
    **dict.fromkeys("std var".split(), SPREAD),
    **dict.fromkeys("max min mean all any argmax argmin count_nonzero".split(), OVER),
    **dict.fromkeys("sum prod".split(), "x, /, *, axis=None, dtype=None, keepdims=False"),
    **dict.fromkeys("sort argsort".split(), ORDER),
    **dict.fromkeys("finfo iinfo".split(), "type, /"),
    **dict.fromkeys("concat".split(), "arrays, /, *, axis=0"),
    "__array_namespace_info__": "",
    "arange": f"start, /, stop=None, step=1, {CREATED}",
    "asarray": "obj, /, *, dtype=None, device=None, copy=None",
    "astype": "x, dtype, /, *, copy=True, device=None",
    "broadcast_arrays": "*arrays",
    "broadcast_to": "x, /, shape",
    "can_cast": "from_, to, /",
    "clip": "x, /, min=None, max=None",
    "diff": "x, /, *, axis=-1, n=1, prepend=None, append=None",
    "expand_dims": "x, /, *, axis=0",
    "eye": "n_rows, n_cols=None, /, *, k=0, dtype=None, device=None",
    "flip": "x, /, *, axis=None",
    "from_dlpack": "x, /, *, device=None, copy=None",
    "full": f"shape, fill_value, {CREATED}",
    "full_like": f"x, /, fill_value, {CREATED}",
    "isdtype": "dtype, kind",
    "linspace": "start, stop, /, num, *, dtype=None, device=None, endpoint=True",
    "meshgrid": "*arrays, indexing='xy'",
    "moveaxis": "x, source, destination, /",
    "permute_dims": "x, /, axes",
    "repeat": "x, repeats, /, *, axis=None",
    "reshape": "x, /, shape, *, copy=None",
    "result_type": "*arrays_and_dtypes",
    "roll": "x, /, shift, *, axis=None",
    "searchsorted": "x1, x2, /, *, side='left', sorter=None",
    "squeeze": "x, /, axis",
    "stack": "arrays, /, *, axis=0",
    "take": "x, indices, /, *, axis=None",
    "take_along_axis": "x, indices, /, *, axis=-1",
    "tensordot": "x1, x2, /, *, axes=2",
    "tile": "x, repetitions, /",
    "unstack": "x, /, *, axis=0",
    "vecdot": "x1, x2, /, *, axis=-1",
    "where": "condition, x1, x2, /",
}
LINALG = {
    **dict.fromkeys("det eigh eigvalsh inv matrix_transpose slogdet svdvals".split(), "x, /"),
    **dict.fromkeys("matmul outer solve".split(), "x1, x2, /"),
    **dict.fromkeys("cross vecdot".split(), "x1, x2, /, *, axis=-1"),
    **dict.fromkeys("matrix_rank pinv".split(), "x, /, *, rtol=None"),
    "cholesky": "x, /, *, upper=False",
    "diagonal": "x, /, *, offset=0",
    "matrix_norm": "x, /, *, keepdims=False, ord='fro'",
    "matrix_power": "x, n, /",
    "qr": "x, /, *, mode='reduced'",
    "svd": "x, /, *, full_matrices=True",
    "tensordot": "x1, x2, /, *, axes=2",
    "trace": "x, /, *, offset=0, dtype=None",
    "vector_norm": "x, /, *, axis=None, keepdims=False, ord=2",
}
FFT = {
    **dict.fromkeys("fft ifft rfft irfft hfft ihfft".split(), ONE),
    **dict.fromkeys("fftn ifftn rfftn irfftn".split(), MANY),
    **dict.fromkeys("fftfreq rfftfreq".split(), "n, /, *, d=1.0, dtype=None, device=None"),
    **dict.fromkeys("fftshift ifftshift".split(), "x, /, *, axes=None"),
}
OPERATORS = """add and floordiv lshift matmul mod mul or pow rshift sub truediv xor"""
METHODS = {
    **dict.fromkeys((f"__{name}__" for name in OPERATORS.split()), "other, /"),
    **dict.fromkeys((f"__r{name}__" for name in OPERATORS.split()), "other, /"),
    **dict.fromkeys((f"__{name}__" for name in "eq ge gt le lt ne".split()), "other, /"),
    **dict.fromkeys("__abs__ __bool__ __complex__ __float__ __index__ __int__".split(), ""),
    **dict.fromkeys("__invert__ __neg__ __pos__ __dlpack_device__".split(), ""),
    "__array_namespace__": "*, api_version=None",
    "__dlpack__": "*, stream=None, max_version=None, dl_device=None, copy=None",
    "__getitem__": "key, /",
    "__setitem__": "key, value, /",
    "to_device": "device, /, *, stream=None",
}
ALL = [
    *(pytest.param(xp, name, text, id=name) for name, text in MAIN.items()),
    *(pytest.param(xp.linalg, name, text, id=f"linalg.{name}") for name, text in LINALG.items()),
    *(pytest.param(xp.fft, name, text, id=f"fft.{name}") for name, text in FFT.items()),
    *(pytest.param(ones([2]), name, text, id=f"x.{name}") for name, text in METHODS.items()),
]


def _parameters(text):
    scope = {}
    exec(f"def f({text}): ...", scope)
    return list(inspect.signature(scope["f"]).parameters.values())


@pytest.mark.parametrize(("owner", "name", "text"), ALL)
def test_a_function_takes_what_the_standard_says(owner, name, text):
    found = list(inspect.signature(getattr(owner, name)).parameters.values())
    by_name = {one.name: one for one in found}
    wanted = _parameters(text)
    by_place = [one for one in wanted if one.kind is not one.KEYWORD_ONLY]
    for place, one in enumerate(by_place):
        own = found[place]
        assert own.default == one.default
        if one.kind is one.POSITIONAL_ONLY:
            assert own.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        else:
            assert (own.name, own.kind) == (one.name, one.kind)
    for one in wanted[len(by_place) :]:
        own = by_name.pop(one.name)
        assert own.default == one.default
        assert own.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)
    assert all(
        one.default is not one.empty or one.kind is one.VAR_POSITIONAL
        for one in found[len(by_place) :]
        if one.name not in {w.name for w in wanted}
    )


def test_every_public_name_is_in_the_standard():
    dtypes = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
    dtypes |= {"bool", "float32", "float64", "complex64", "complex128"}
    constants = {"e", "inf", "nan", "newaxis", "pi"}
    others = {"__array_api_version__", "fft", "linalg"}
    assert set(xp.__all__) == {*MAIN, *dtypes, *constants, *others}
    assert (set(xp.linalg.__all__), set(xp.fft.__all__)) == (set(LINALG), set(FFT))
