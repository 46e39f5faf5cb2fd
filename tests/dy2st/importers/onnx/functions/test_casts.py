"""Casts as the reference has them."""

import ml_dtypes  # noqa: F401
import numpy as np
import pytest

from dy2st.importers.onnx.functions.casts import LARGEST, cast
from dy2st_runtime.tensor import to_tensor
from tests.dy2st.importers.onnx.functions.reference import check

VALUES = [0.0, -0.0, 0.48, 0.25, 1.05, -3.5, -8.0, 9.0, 1e6, 500.0, -1e5, np.nan, np.inf, -np.inf]


@pytest.mark.parametrize("to", ["int8", "int64", "float16", "float64", "bool", "bfloat16"])
def test_plain_casts(to):
    x = np.array([0.0, -0.5, 1.5, 100.25], "float32")
    check("Cast", cast, x, to=np.dtype(to))


@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("of", ["float32", "float16", "float64"])
@pytest.mark.parametrize("to", [*LARGEST, "float8_e8m0fnu"])
def test_floats_of_eight_bits(to, of, saturate):
    values = [0.26, 1.0, 1.4, 3.0, 6.1, 8.0] if to == "float8_e8m0fnu" else VALUES
    with np.errstate(over="ignore"):
        x = np.array(values).astype(of)
    check("Cast", cast, x, to=np.dtype(to), saturate=saturate, opset=24)


@pytest.mark.parametrize("round_mode", ["up", "down", "nearest"])
def test_powers_of_two_are_rounded_as_asked_for(round_mode):
    x = np.array([1, 1.25, 1.5, 1.75, 2, 3, 6, 2.0**-126, 2.0**127, 3e38], "float32")
    named = {"to": np.dtype("float8_e8m0fnu"), "round_mode": round_mode}
    check("Cast", cast, x, opset=24, **named)
    check("Cast", cast, x[:-1], opset=24, saturate=0, **named)


def test_what_is_beyond_all_powers_of_two():
    named = {"to": np.dtype("float8_e8m0fnu")}
    x = to_tensor(np.array([np.nan, np.inf, 3.4e38, 0.0], "float32"))
    found = [np.asarray(cast(x, saturate=k, **named)).astype("float32") for k in (1, 0)]
    largest, least = np.float32(2.0**127), np.float32(2.0**-127)
    np.testing.assert_array_equal(found[0], [np.nan, largest, largest, least])
    np.testing.assert_array_equal(found[1], [np.nan, np.nan, np.nan, least])


@pytest.mark.parametrize("to", ["int4", "uint4", "int2", "uint2", "float4_e2m1fn"])
def test_numbers_of_few_bits(to):
    x = np.array([0.0, 1.0, 1.0, 0.0], "float32")
    check("Cast", cast, x, to=np.dtype(to), opset=24)
