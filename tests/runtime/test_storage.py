"""Eager tensors that share memory."""

import copy
import gc
import pickle

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.tensor import EagerTensor


def numbers(*shape):
    return dy2st.arange(int(np.prod(shape)), dtype="float32").reshape(shape).clone()


def test_a_change_of_a_view_is_one_of_its_base_and_of_all_other_views():
    x = numbers(2, 3)
    row, column, flat = x[1], x[:, 1], x.flatten()
    row[1] = 9.0
    assert x[1, 1].item() == column[1].item() == flat[4].item() == 9.0
    flat.fill_(2.0)
    assert row.tolist() == [2.0, 2.0, 2.0] and column.tolist() == [2.0, 2.0]


def test_arrays_are_never_written_over():
    x = numbers(2, 3)
    before, row = x.array, x[0]
    row.fill_(7.0)
    assert before.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and x.array is not before
    assert np.shares_memory(x.array, row.array)


def test_a_tensor_that_nobody_shares_costs_no_copy_of_a_base():
    x = numbers(2, 3)
    row = x[0]
    del x
    gc.collect()
    row.fill_(1.0)
    assert row.storage is None and row.array.base is None


def test_views_that_are_gone_are_forgotten():
    x = numbers(2, 3)
    for _ in range(1000):
        x[0]
    assert len(x.storage._views) < 100


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_base_lies_row_by_row_whatever_numpy_has_made(order):
    x = EagerTensor(np.array(np.arange(6.0).reshape(2, 3), order=order))
    flat = x.reshape([-1])
    flat[1] = 50.0
    assert x.tolist() == [[0.0, 50.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize(
    "memory",
    [
        np.frombuffer(np.arange(6.0).tobytes()).reshape(2, 3),
        np.arange(12.0)[::2].reshape(2, 3),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.lib.stride_tricks.as_strided(np.arange(9.0), (2, 3), (32, 8)),
    ],
    ids=["of bytes", "with gaps", "repeated", "strided"],
)
def test_memory_may_be_anybodys(memory):
    x = EagerTensor(memory)
    before, expected = memory.copy(), np.array(memory)
    last = x[1]
    last[0] = 9.0
    expected[1, 0] = 9.0
    assert last.tolist() == expected[1].tolist() and memory.tolist() == before.tolist()


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float64", "complex64"])
def test_every_dtype_may_be_shared(dtype):
    x = numbers(2, 3).astype(dtype)
    part = x.t()[::-1]
    part[0] = 1
    assert x.numpy()[:, 2].tolist() == [1, 1]


def test_a_view_of_a_parameter_changes_it_without_gradients():
    linear = dy2st.nn.Linear(2, 2)
    flat = linear.weight.flatten()
    with dy2st.no_grad():
        linear.weight[0].fill_(3.0)
    assert flat[:2].tolist() == [3.0, 3.0] and linear.weight.is_leaf
    linear(dy2st.ones([1, 2])).sum().backward()
    dy2st.optimizer.SGD(0.5, parameters=linear.parameters()).step()
    assert flat.tolist() == linear.weight.flatten().tolist() and flat[0].item() == 2.5


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_has_memory_of_its_own(copied):
    x = numbers(3)
    row = x[:2]
    other = copied(row)
    other[0] = 9.0
    assert x.tolist() == [0.0, 1.0, 2.0] and row.tolist() == [0.0, 1.0]


def test_another_dtype_or_memory_ends_it():
    x = numbers(2, 3)
    row = x[0]
    row.cast_("int64")
    row.fill_(8)
    assert x[0].tolist() == [0.0, 1.0, 2.0]
    flat = x.flatten()
    flat.set_(dy2st.ones([2]))
    flat.fill_(5.0)
    assert x[1].tolist() == [3.0, 4.0, 5.0]


def test_a_tensor_that_is_reshaped_in_place_keeps_its_memory():
    x = numbers(2, 3)
    flat = x.flatten()
    x.reshape_([3, 2])
    flat[0] = 9.0
    assert x.tolist() == [[9.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


class Counter(dy2st.nn.Layer):
    """Changes a buffer through a view."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", dy2st.zeros([2, 2]))

    def forward(self, x):
        """Note x, and add what was seen."""
        row = self.seen[0]
        row.add_(x)
        return x + self.seen[0] + row


def test_a_program_changes_a_buffer_and_all_its_views():
    layer, plain = Counter(), Counter()
    flat, converted = layer.seen.flatten(), to_static(layer)
    for _ in range(3):
        assert converted(dy2st.ones([2])).tolist() == plain(dy2st.ones([2])).tolist()
    assert flat.tolist() == [3.0, 3.0, 0.0, 0.0]


def test_a_program_refuses_a_view_of_a_buffer_that_it_changes():
    layer = Counter()
    converted = to_static(layer)
    converted(dy2st.ones([2]))
    with pytest.raises(TensorAsPython, match="shares its memory"):
        converted(layer.seen[1])
