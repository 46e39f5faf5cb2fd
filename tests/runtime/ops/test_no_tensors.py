"""What stands where a tensor is needed: made one of, or refused in the same words everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from dy2st_runtime.errors import Dy2stError, NoTensor
from dy2st_runtime.ir import apply
from dy2st_runtime.tensor import EagerTensor
from tests.runtime.ops.test_every_operator import CASES, arrays_of

WAYS = ["eager", "numpy", "native"]
WORDS = "is not a tensor and cannot be made one"


def run(way, function, *args):
    """What a function gives, as it is or as a Program."""
    if way != "eager":
        function = dy2st.to_static(function, engine=way)
    return function(*args)


@pytest.mark.parametrize(("definition", "sample"), CASES)
def test_no_operator_leaves_out_an_operand_that_is_none(definition, sample):
    arrays = arrays_of(definition, sample)
    needed = [*map(EagerTensor, arrays)]
    names = definition.inputs[:1] * len(arrays) if definition.is_variadic else definition.inputs
    if not needed or names[len(needed) - 1][-1] == "?":
        pytest.skip("it may be left out")
    with pytest.raises(NoTensor, match=f"^None {WORDS}$"):
        apply(definition.name, *needed[:-1], None, **sample.attributes)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + None,
        lambda x: None * x,
        lambda x: x @ None,
        lambda x: x > None,
        lambda x: dy2st.concat([x, None]),
        lambda x: dy2st.stack([None, x, None]),
        lambda x: dy2st.where(x > 0, x, None),
        lambda x: F.relu(None) + x,
        lambda x: F.mse_loss(x, None),
        lambda x: x + "a",
        lambda x: x + {},
        lambda x: x * [[1.0, 2.0], [3.0]],
    ],
)
def test_what_is_no_tensor_is_a_type_error(function, way):
    with pytest.raises(TypeError, match=WORDS) as found:
        run(way, function, dy2st.ones([2, 3]))
    assert isinstance(found.value, Dy2stError)


@pytest.mark.parametrize("data", [[[1, 2], [3]], None, [None, 1.0], {"a": 1}, "a", ["a", "b"]])
def test_to_tensor_says_what_no_tensor_can_be_made_of(data):
    with pytest.raises(NoTensor, match=WORDS) as found:
        dy2st.to_tensor(data)
    assert str(found.value).startswith(repr(data))
    assert ("differ in length" in str(found.value)) == (data == [[1, 2], [3]])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: x + [1.0, 2.0, 0.1], "float32"),
        (lambda x: dy2st.maximum(x, (0.1, 2.0, 3.0)), "float32"),
        (lambda x: dy2st.matmul([[0.1, 1.0]], x), "float32"),
        (lambda x: dy2st.concat([[0.1], x[0]]), "float32"),
        (lambda x: dy2st.sum([0.1, 2.0]) + x, "float32"),
        (lambda x: x + np.array([0.1, 0.2, 0.3]), "float64"),
        (lambda x: x + [np.float64(0.1)] * 3, "float64"),
        (lambda x: x.astype("float64") + [0.1, 0.2, 0.3], "float64"),
    ],
)
def test_lists_of_floats_are_float32_as_to_tensor_makes_them(function, wanted, way):
    found = run(way, function, dy2st.ones([2, 3]))
    assert found.dtype == np.dtype(wanted)


def test_digits_of_floats_are_kept_for_the_dtype_that_is_asked_for():
    assert dy2st.to_tensor([0.1], "float64").tolist() == [0.1]
    assert dy2st.to_tensor([1.5 + 0.1j], "complex128").tolist() == [1.5 + 0.1j]


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (lambda: nn.BatchNorm2D(5), "batch_norm: x has 3 channels, 5 are expected"),
        (lambda: nn.InstanceNorm2D(5), "instance_norm: x has 3 channels, 5 are expected"),
        (lambda: nn.GroupNorm(1, 5), "group_norm: x has 3 channels, 5 are expected"),
    ],
)
def test_a_normalisation_of_other_channels_names_both_numbers(layer, words):
    layer = layer()
    for called in (layer, dy2st.to_static(layer)):
        with pytest.raises(ValueError, match=words):
            called(dy2st.ones([2, 3, 4, 4]))


@pytest.mark.parametrize("ask", [lambda x: x.item(), float, int])
def test_a_tensor_of_several_elements_is_no_number(ask):
    with pytest.raises(ValueError, match=r"of shape \[2, 3\]") as found:
        ask(dy2st.ones([2, 3]))
    assert isinstance(found.value, Dy2stError)


@pytest.mark.parametrize("factor", [0, -1.5, float("nan"), [2.0, 0]])
def test_an_image_is_not_resized_by_nothing(factor):
    with pytest.raises(ValueError, match="scale_factor is above 0"):
        F.interpolate(dy2st.ones([1, 1, 2, 2]), scale_factor=factor)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_numbers_are_no_condition(dtype, way):
    x = dy2st.ones([3])
    for function in (lambda x: dy2st.where(x.astype(dtype), x, -x), lambda x: x.where(x > 0, x)):
        with pytest.raises(TypeError, match="where: the condition is bool, not"):
            run(way, function, x)
