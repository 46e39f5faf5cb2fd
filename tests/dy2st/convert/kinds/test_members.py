"""A number or tensor of a Program has the attributes that Python's own has, and no other."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from tests.dy2st.convert.kinds.same import refused, same


def floats(x):
    v = float(x[0])
    return v.is_integer(), (v + 0.25).is_integer(), v.real, v.imag, v.conjugate()


def ints(x):
    v, n = int(x[0]), x.shape[0]
    return v.real, n.real, v.numerator, n.denominator, v.imag, n.conjugate(), (n > 2).real


def names_of_tensors(x):
    names = ("shape", "item", "dtype", "ndim", "is_integer")
    values = float(x[0]), int(x[0]), x.shape[0], x.shape[0] > 2
    return [hasattr(value, name) for value in values for name in names]


def names_of_ours(x):
    names = ("type", "block", "maker", "number", "held", "text", "left", "weight", "name")
    values = x, x * 2, x.shape[0], x.shape[0] > 2
    return [hasattr(value, name) for value in values for name in names]


def with_a_default(x):
    return getattr(float(x[0]), "ndim", 7), getattr(x.shape[0], "dtype", None), x.ndim


def one_that_is_missing(x):
    try:
        return float(x[0]).item()
    except AttributeError as error:
        return str(error)


@pytest.mark.parametrize(
    "function",
    [floats, ints, names_of_tensors, names_of_ours, with_a_default, one_that_is_missing],
    ids=lambda function: function.__name__,
)
def test_attributes_are_those_of_python(function):
    same(function)


def test_an_infinite_float_is_no_integer():
    same(lambda x: float(x[0]).is_integer(), [float("inf")], [float("nan")], [3.0])


def test_what_a_program_has_no_operator_for_is_refused():
    refused(lambda x: float(x[0]).hex(), "hex of a number")
    refused(lambda x: x.shape[0].to_bytes(2, "big"), "to_bytes of a number")
    refused(lambda x: hasattr(x, "grad_fn"), "grad_fn of a traced tensor")


@pytest.mark.parametrize("number", [0, 1, 2, 255, 256, -77, 2**31, 2**53 + 1, 2**62, 2**63 - 1])
def test_the_bits_of_a_number_are_counted(number):
    same(lambda x: (int(x[0]).bit_length(), int(x[0]).bit_count()), dy2st.to_tensor([number]))


def test_the_bits_of_a_size_are_counted():
    same(lambda x: (x.shape[0].bit_length(), x.shape[0].bit_count()), np.zeros(5), np.zeros(8))


def test_a_range_of_a_length_is_a_range():
    same(lambda x: [isinstance(r, range) for r in (range(int(x.sum())), iter(range(int(x[0]))))])
