from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import dy2st
from dy2st.errors import DTypeError, ShapeError
from dy2st.io import default_collate_fn, default_convert_fn

Pair = namedtuple("Pair", "x y")


@pytest.mark.parametrize(
    ("samples", "dtype"),
    [
        ([1, 2], "int64"),
        ([1.5, 2.0], "float64"),
        ([True, False], "bool"),
        ([np.float32(1), np.float32(2)], "float32"),
        ([np.bool_(True), np.bool_(False)], "bool"),
        ([np.ones(3, "int8"), np.ones(3, "int8")], "int8"),
    ],
)
def test_numbers_and_arrays_become_an_array(samples, dtype):
    batch = default_collate_fn(samples)
    assert batch.dtype == dtype
    np.testing.assert_array_equal(batch, samples)


def test_tensors_become_a_tensor():
    batch = default_collate_fn([dy2st.full([2], i, "int32") for i in range(3)])
    assert isinstance(batch, dy2st.Tensor)
    np.testing.assert_array_equal(batch.numpy(), [[0, 0], [1, 1], [2, 2]])


def test_texts_become_a_list():
    assert default_collate_fn(("a", "bc")) == ["a", "bc"]
    assert default_collate_fn([b"a", b"b"]) == [b"a", b"b"]


def test_fields_are_collated_however_they_are_nested():
    def sample(i):
        fields = OrderedDict(a=np.full(2, i), b=(i, [i / 2, str(i)]))
        return Pair(fields, [np.float32(i)])

    batch = default_collate_fn([sample(1), sample(2)])
    assert type(batch) is list and type(batch[0]) is dict
    np.testing.assert_array_equal(batch[0]["a"], [[1, 1], [2, 2]])
    np.testing.assert_array_equal(batch[0]["b"][0], [1, 2])
    np.testing.assert_array_equal(batch[0]["b"][1][0], [0.5, 1])
    assert batch[0]["b"][1][1] == ["1", "2"]
    np.testing.assert_array_equal(batch[1][0], [1, 2])


def test_sequences_that_are_not_collated_become_lists():
    x = np.ones(2)
    converted = default_convert_fn(({"a": (x, "text")}, None, 3))
    assert converted == [{"a": [x, "text"]}, None, 3]
    assert converted[0]["a"][0] is x


def test_arrays_of_different_shapes_are_refused():
    with pytest.raises(
        ShapeError, match=r"sample 2 of a batch has the shape \[3\], the first \[2\]"
    ):
        default_collate_fn([np.ones(2), np.ones(2), np.ones(3)])
    with pytest.raises(ShapeError, match="sample 1"):
        default_collate_fn([dy2st.ones([2]), dy2st.ones([3])])


def test_samples_with_more_or_fewer_fields_are_refused():
    with pytest.raises(ShapeError, match=r"\[2, 1\]"):
        default_collate_fn([(1, 2), (1,)])


@pytest.mark.parametrize("sample", [None, object(), {1, 2}])
def test_what_makes_no_batch_is_refused(sample):
    with pytest.raises(DTypeError, match=f"{type(sample).__name__}.*collate_fn"):
        default_collate_fn([sample])
