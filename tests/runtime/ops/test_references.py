"""Every operator against NumPy and SciPy, in all dtypes it takes, on special values and ties."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import DEFINITIONS, TensorType
from dy2st_runtime.ir.promotion import complete
from dy2st_runtime.ir.tracing.tracer import infer
from dy2st_runtime.ops import lazy
from tests.effort import effort
from tests.runtime.ops.references import NARROW, OF_FLOATS, REFERENCES, is_elsewhere
from tests.runtime.ops.test_every_operator import as_list, run, traced

lazy.load_all()
FLOATS = ("float64", "float32", "float16", "bfloat16")
DTYPES = (*FLOATS, "int64", "int32", "int8", "uint8", "bool", "complex64", "complex128")
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 2.5, 2.5, -3.0, 1e15]
# Matrices with infinities have no decompositions, the gamma function's are next to a pole, and
# batch_norm makes one factor and one addend of its four operands.
USUAL = "det slogdet inverse solve matrix_exp pinv gammainc gammaincc batch_norm".split()
RTOL = {"float64": 1e-12, "complex128": 1e-12, "float32": 2e-5, "complex64": 2e-5}
RTOL |= {"float16": 2e-3, "bfloat16": 2e-2}
NAMES = [*REFERENCES, *NARROW]


def as_dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def variants(definition):
    """Samples and dtypes of their operands that the operator takes."""
    for sample in definition.samples:
        first = set(sample.dtypes) or {"float64"}
        for dtype in DTYPES:
            if sample.dtypes and not _is_kin(dtype, first):
                continue
            if definition.name in OF_FLOATS and dtype not in FLOATS:
                continue
            given = [as_dtype(dtype if _is_kin(dtype, {d}) or not sample.dtypes else d)
                     for d in (sample.dtypes or [dtype] * len(sample.shapes))]  # fmt: skip
            types = [TensorType(d, s) for d, s in zip(given, sample.shapes, strict=True)]
            try:
                definition.refuse_complex(types)
                infer(definition, types, complete(definition, sample.attributes))
            except DTypeError:
                continue
            yield sample, types
            if not sample.shapes:
                return


def _is_kin(dtype, others):
    """Whether operands of these dtypes may have this one, too."""
    kinds = (FLOATS, ("int64", "int32"), ("complex64", "complex128"), ("bool",))
    return any(dtype in kind and others & set(kind) for kind in kinds)


def drawn(type, sample, rng, has_specials):
    dtype, shape = type.dtype, type.shape
    kind = "f" if dtype == ml_dtypes.bfloat16 else dtype.kind
    if kind == "b":
        return rng.random(shape) < (2 if sample.low > 0 else 0.5)
    if kind in "iu":
        low, high = int(np.ceil(sample.low)), int(sample.high)
        if has_specials:
            limits = np.iinfo(dtype)
            return rng.choice([limits.min, limits.max, 0, 1, 2, 2], shape).astype(dtype)
        return rng.integers(max(low, 0 if kind == "u" else low), max(high, low + 1), shape, dtype)
    if has_specials:
        made = rng.choice([v for v in SPECIAL if kind == "f" or v != 1e-40], shape)
        return np.asarray(made + 1j * rng.choice([0.0, 1.0], shape) if kind == "c" else made, dtype)
    made = np.clip(rng.normal(0, 2, shape), sample.low, sample.high)  # with ties
    return np.asarray(made + 1j * rng.uniform(-1, 1, shape) if kind == "c" else made, dtype)


def wide(array):
    if array.dtype == ml_dtypes.bfloat16 or array.dtype.kind == "f":
        return array.astype(np.float64)
    return array.astype(np.complex128) if array.dtype.kind == "c" else array


def assert_near(found, wanted, name, arrays):
    dtype = "bfloat16" if found.dtype == ml_dtypes.bfloat16 else str(found.dtype)
    with np.errstate(all="ignore"):
        wanted = np.asarray(wanted).astype(found.dtype)
    assert found.shape == wanted.shape
    if dtype not in RTOL:
        np.testing.assert_array_equal(found, wanted)
        return
    least = float(np.finfo("float16" if dtype == "float16" else "float32").tiny)
    least = np.finfo("float64").tiny if dtype in ("float64", "complex128") else least
    left, right = (np.asarray(wide(a)) for a in (found, wanted))
    parts = [right, *map(wide, arrays)] if name in SUMS else []
    size = max((np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in parts), default=0.0)
    np.testing.assert_allclose(left, right, RTOL[dtype], max(least, RTOL[dtype] * float(size)))


# What takes away what it has added before has the error of its largest part.
SUMS = ("sum mean cumsum sum_to matmul conv window_sum layer_norm batch_norm log_softmax softmax "
        "logcumsumexp logaddexp fourier fourier_of_real fourier_to_real det inverse solve pinv "
        "slogdet matrix_exp complex subtract add remainder linspace").split()  # fmt: skip


def can_be_special(definition, types, attributes):
    """Whether no value is refused."""
    if definition.name in USUAL:
        return False
    return definition.raises is None and not definition.may_fail(types, attributes)


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_is_what_its_reference_says(name):
    definition, reference = DEFINITIONS[name], {**REFERENCES, **NARROW}[name]
    rng = np.random.default_rng(3)
    tried = 0
    for sample, types in list(variants(definition))[:: effort(6, 1)]:
        attributes = complete(definition, sample.attributes)
        specials = [False, True] if can_be_special(definition, types, attributes) else [False]
        for has_specials in specials:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                arrays = [drawn(type, sample, rng, has_specials) for type in types]
                given = arrays if name in NARROW else list(map(wide, arrays))
                wanted = as_list(reference(*given, **attributes))
                program = traced(definition, arrays, sample.attributes)
                answers = {"eager": [r.array for r in run(definition, arrays, sample.attributes)]}
                for one in ("numpy", "native"):
                    answers[one] = engine.compile(program, one).run(arrays, [])
            for which, found in answers.items():
                for have, want in zip(found, wanted, strict=True):
                    if want is not None:
                        try:
                            assert_near(np.asarray(have), want, name, arrays)
                        except AssertionError as error:
                            raise AssertionError(
                                f"{which}: {arrays} {sample.attributes}"
                            ) from error
            tried += 1
    assert tried


def test_every_operator_has_a_reference_or_a_reason_to_have_none():
    missing = [n for n in DEFINITIONS if n not in NAMES and not is_elsewhere(n)]
    assert not missing
    assert not [n for n in NAMES if n not in DEFINITIONS or is_elsewhere(n)]
