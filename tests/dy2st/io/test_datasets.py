import numpy as np
import pytest

import dy2st
from dy2st import io
from dy2st.errors import ArgumentError, ShapeError


class Letters(io.Dataset):
    def __init__(self, text):
        self.text = text

    def __getitem__(self, idx):
        return self.text[idx]

    def __len__(self):
        return len(self.text)


class Stream(io.IterableDataset):
    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        return iter(self.values)


def test_a_dataset_asks_for_its_methods():
    with pytest.raises(NotImplementedError, match="Dataset has no __getitem__"):
        io.Dataset()[0]
    with pytest.raises(NotImplementedError, match="Dataset has no __len__"):
        len(io.Dataset())
    with pytest.raises(NotImplementedError, match="IterableDataset has no __iter__"):
        iter(io.IterableDataset())


def test_an_iterable_dataset_has_neither_numbers_nor_a_length():
    assert list(Stream(1, 2)) == [1, 2]
    with pytest.raises(TypeError, match="no numbers"):
        Stream(1)[0]
    with pytest.raises(TypeError, match=r"no len\(\)"):
        len(Stream(1))


def test_tensors_are_sampled_by_row():
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3)
    rows = io.TensorDataset([dy2st.to_tensor(x), dy2st.to_tensor(y)])
    first, second = rows[2]
    assert len(rows) == 3
    np.testing.assert_array_equal(first.numpy(), [4, 5])
    assert int(second) == 2


def test_tensors_of_different_lengths_are_refused():
    with pytest.raises(ShapeError, match=r"\[3, 2\]"):
        io.TensorDataset([dy2st.ones([3]), dy2st.ones([2])])


def test_datasets_side_by_side_join_their_fields():
    both = io.ComposeDataset([Letters("abc"), [(1, 2), (3, 4), (5, 6)]])
    assert [both[i] for i in range(len(both))] == [("a", 1, 2), ("b", 3, 4), ("c", 5, 6)]


def test_datasets_one_after_the_other():
    assert list(io.ChainDataset([Stream(1, 2), Stream(3)])) == [1, 2, 3]
    joined = io.ConcatDataset([Letters("ab"), Letters(""), Letters("c")])
    assert [joined[i] for i in range(-3, 3)] == list("abcabc")
    for index in (3, -4):
        with pytest.raises(IndexError):
            joined[index]


@pytest.mark.parametrize(
    "make",
    [
        lambda: io.ComposeDataset([]),
        lambda: io.ChainDataset([]),
        lambda: io.ConcatDataset([]),
        lambda: io.ComposeDataset([Stream(1)]),
        lambda: io.ConcatDataset([Stream(1)]),
        lambda: io.ChainDataset([Letters("a")]),
        lambda: io.ComposeDataset([Letters("a"), Letters("ab")]),
        lambda: io.random_split(Letters("abc"), [1, 1]),
        lambda: io.random_split(Letters("abc"), [1.5, -0.5]),
    ],
)
def test_what_cannot_be_joined_or_split_is_refused(make):
    with pytest.raises((ArgumentError, ShapeError)):
        make()


def test_a_subset_has_the_samples_of_its_numbers():
    part = io.Subset(Letters("abcd"), [3, 1])
    assert [part[i] for i in range(len(part))] == ["d", "b"]


def test_a_random_split_is_a_partition_that_the_seed_repeats():
    def split():
        dy2st.seed(7)
        return [part.indices for part in io.random_split(range(20), [12, 8])]

    parts = split()
    assert [len(part) for part in parts] == [12, 8]
    assert sorted(parts[0] + parts[1]) == list(range(20)) != parts[0] + parts[1]
    assert split() == parts


def test_fractions_leave_what_is_over_to_the_first_parts():
    parts = io.random_split(range(10), [0.3, 0.33, 0.37])
    assert [len(part) for part in parts] == [4, 3, 3]


def test_a_split_may_have_a_generator_of_its_own():
    first, second = (
        io.random_split(range(9), [9], np.random.default_rng(1))[0].indices for _ in range(2)
    )
    assert first == second == np.random.default_rng(1).permutation(9).tolist()
