"""What tensors answer of themselves, and how they are converted by name."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.static import InputSpec
from dy2st_runtime.errors import ArgumentError, ConversionError, DTypeError
from dy2st_runtime.ir.dispatch import METHODS
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.tensor import EagerTensor

CONVERSIONS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "int64": "int64",
    "float64": "float64",
}


@pytest.fixture
def x():
    return dy2st.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_have_the_names_of_dtypes(x, name):
    assert getattr(x, name)().dtype == np.dtype(CONVERSIONS[name])


def test_a_tensor_knows_how_its_elements_lie(x):
    assert (x.dim(), x.ndimension(), x.element_size(), x.itemsize, x.nbytes) == (2, 2, 4, 4, 24)
    assert (x.strides, x.stride(), x.stride(-1), x.get_strides()) == ([3, 1], [3, 1], 1, [3, 1])
    assert x.is_contiguous() and x.contiguous() is x and x.mT.shape == [3, 2]
    assert x.is_dense() and not (x.is_sparse() or x.is_dist() or x.is_cuda)


def test_a_tensor_lies_on_the_cpu(x):
    assert x.cpu() is x and x.to("cpu") is x and x.place == dy2st.CPUPlace()
    assert (x.device, x.device.type, x.get_device()) == ("cpu", "cpu", -1)
    for refused in (x.cuda, x.pin_memory, lambda: x.to("gpu:0"), lambda: x.to("nonsense")):
        with pytest.raises(ArgumentError, match="cpu"):
            refused()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("float64",), {}),
        ((dy2st.float64, True), {}),
        (("cpu", "float64"), {}),
        ((dy2st.CPUPlace(),), {"dtype": "float64", "blocking": False}),
        ((dy2st.ones([1], "float64"),), {}),
    ],
)
def test_to_takes_devices_dtypes_and_tensors(x, given, named):
    assert x.to(*given, **named).dtype == dy2st.float64


def test_others_of_the_kind_take_the_dtype(x):
    assert x.new_zeros([2]).tolist() == [0.0, 0.0] and x.new_ones(2, 1).shape == [2, 1]
    assert x.new_full([2], 7, dtype="int32").tolist() == [7, 7]
    assert not x.new_ones([1], requires_grad=True).stop_gradient
    assert x.long().new_empty([3]).dtype == dy2st.int64
    assert (
        x.repeat(2, 1).shape == x.repeat([2, 1]).shape == x.repeat(repeats=[2, 1]).shape == [4, 3]
    )
    assert x.new_zeros(size=[2]).shape == [2] and x.permute(1, 0).shape == [3, 2]


def test_data_is_the_same_numbers_without_gradients():
    x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    x.data.fill_(3.0)
    x.data[0] = 5.0
    assert x.tolist() == [5.0, 3.0] and x.data.stop_gradient and not x.stop_gradient
    x.data = dy2st.zeros([2])
    assert x.tolist() == [0.0, 0.0] and x.is_leaf


def test_a_change_of_data_in_a_program_is_one_of_the_tensor():
    def function(x):
        y = x * 2
        y.data.add_(dy2st.ones([2]))
        return y

    converted = dy2st.to_static(function, input_spec=[InputSpec([2])])
    assert converted(dy2st.ones([2])).tolist() == function(dy2st.ones([2])).tolist() == [3.0, 3.0]


def test_a_program_answers_the_same():
    def function(x):
        y = x * 2
        size = y.new_ones([y.shape[0]]).sum() * y.dim()
        return y.data + size, y.to("float64"), y.cpu().float(), y.repeat(2, 1)

    converted = dy2st.to_static(function, input_spec=[InputSpec([None, 3])])
    x = dy2st.ones([2, 3])
    for got, wanted in zip(converted(x), function(x), strict=True):
        assert got.dtype == wanted.dtype and got.tolist() == wanted.tolist()


def test_a_hook_is_removed_once():
    x = dy2st.to_tensor([1.0], stop_gradient=False)
    handle = x.register_hook(lambda g: g * 5)
    (x * 2).sum().backward()
    assert x.gradient().tolist() == [10.0]
    assert (handle.remove(), handle.remove()) == (True, False)


def test_a_hook_behind_a_backward_finds_the_sum_of_gradients():
    x, seen = dy2st.to_tensor([1.0], stop_gradient=False), []
    assert x._register_backward_hook(lambda: seen.append(x.gradient().tolist())) is None
    for _ in range(2):
        (x * 2 + x).sum().backward()
    assert seen == [[3.0], [6.0]]
    with pytest.raises(ArgumentError, match="is for leaves"):
        (x * 2)._register_backward_hook(seen.clear)
    assert [g.tolist() for g in dy2st.grad((x * 2).sum(), [x])] == [[2.0]] and len(seen) == 2


def test_a_hook_behind_a_backward_follows_converted_functions_and_is_refused_in_them():
    x, seen = dy2st.to_tensor([1.0], stop_gradient=False), []
    x._register_backward_hook(lambda: seen.append(x.gradient().tolist()))
    double = dy2st.to_static(lambda x: (x * 2).sum())
    for _ in range(3):
        double(x).backward()
    assert seen == [[2.0], [4.0], [6.0]]

    def step():
        (x * 2).sum().backward()

    with pytest.raises(ConversionError, match="_register_backward_hook"):
        dy2st.to_static(step)()


def test_every_tensor_is_a_dense_one(x):
    kinds = dy2st.framework.core.VarDesc.VarType
    for tensor in (x, dy2st.create_parameter([1], "float32"), x * 2):
        assert tensor.type is kinds.DENSE_TENSOR is kinds.LOD_TENSOR
    assert str(x.type) == "VarType.DENSE_TENSOR" and x.type != kinds.SELECTED_ROWS
    static = dy2st.to_static(lambda x: x + 1 if x.type == kinds.DENSE_TENSOR else x)
    assert static(dy2st.ones([1])).tolist() == [2.0]


def test_gradients_are_turned_on_and_off_by_either_name(x):
    assert not x.requires_grad and not x.requires_grad_().stop_gradient
    x.requires_grad = False
    assert x.stop_gradient
    y = dy2st.to_tensor([1.0], stop_gradient=False) * 2
    assert y.detach_() is y and y.stop_gradient and y.is_leaf


def test_functions_are_applied_where_no_gradient_flows(x):
    assert x.apply(lambda v: v + 1).tolist() == (x + 1).tolist()
    assert x.apply_(lambda v: v * 0) is x and not x.any()
    with pytest.raises(ArgumentError, match="gradient"):
        x.requires_grad_().apply(lambda v: v)


def test_integers_are_shifted_as_those_of_numpy():
    def shifted(x, n):
        y = x << 1
        y >>= n
        return y, 1 << x, 200 >> x, n << x, x >> n

    x = np.arange(6).reshape(2, 3)
    want = (x << 1) >> 2, 1 << x, 200 >> x, 2 << x, x >> 2
    spec = [InputSpec([None, 3], "int64"), InputSpec([], "int64")]
    for function in (shifted, dy2st.to_static(shifted, input_spec=spec)):
        for got, wanted in zip(function(dy2st.to_tensor(x), dy2st.to_tensor(2)), want, strict=True):
            np.testing.assert_array_equal(got.numpy(), wanted)
    with pytest.raises(DTypeError, match="bitwise_left_shift takes integers"):
        dy2st.to_tensor(1.5) << 1


@pytest.mark.parametrize("kind", [EagerTensor, Variable])
def test_no_method_of_ours_hides_one_of_the_public_names(kind):
    assert not vars(kind).keys() & {*METHODS}
