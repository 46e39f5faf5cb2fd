"""Constants, and values of one lane in all lanes."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.lanes import Lanes, Value, literal


@pytest.mark.parametrize(
    "number", [0.1, -0.0, 1e300, -1e300, 3.4028235e38, 3.4028235677973366e38, 1e-50, np.inf, np.nan]
)
def test_a_literal_of_float32_is_the_nearest_one(number):
    with np.errstate(over="ignore"):
        nearest = float(np.float32(number))
    assert literal(number, np.dtype("float32")) == "0x" + struct.pack(">d", nearest).hex().upper()


def test_literals_of_integers_keep_all_digits():
    assert literal(np.uint64(2**64 - 1), np.dtype("uint64")) == "18446744073709551615"
    assert literal(-(2**63), np.dtype("int64")) == "-9223372036854775808"
    assert literal(np.True_, np.dtype("bool")) == "true"


def test_a_literal_of_one_lane_is_one_of_all():
    lanes = Lanes(Function("f", []), 4)
    assert lanes.splat(Value("7", np.dtype("int32"))).text == "splat (i32 7)"
    assert lanes.constant(7, np.dtype("int32")).text == "splat (i32 7)"


def test_one_lane_has_no_vector_type():
    assert Lanes(Function("f", []), 1).type(np.dtype("float64")) == "double"
    assert Lanes(Function("f", []), 4).type(np.dtype("bool")) == "<4 x i1>"
