import numpy as np
import pytest

import dy2st
from dy2st import io
from dy2st.errors import ArgumentError


def drawn(sampler):
    dy2st.seed(3)
    return list(sampler)


def test_samples_in_order():
    sampler = io.SequenceSampler("abc")
    assert list(sampler) == [0, 1, 2] and len(sampler) == 3


def test_a_sampler_asks_for_its_order():
    with pytest.raises(NotImplementedError):
        iter(io.Sampler())


@pytest.mark.parametrize(
    "sampler",
    [
        io.RandomSampler(range(50)),
        io.RandomSampler(range(50), num_samples=20),
        io.RandomSampler(range(50), replacement=True, num_samples=90),
        io.SubsetRandomSampler(list(range(100, 130))),
        io.WeightedRandomSampler(np.arange(30), 25),
        io.WeightedRandomSampler(np.arange(30), 25, replacement=False),
    ],
)
def test_the_seed_repeats_a_random_order(sampler):
    first = drawn(sampler)
    assert len(first) == len(sampler)
    assert drawn(sampler) == first != list(sampler)


def test_without_replacement_no_sample_comes_twice():
    assert sorted(io.RandomSampler(range(50))) == list(range(50))
    assert len(set(io.RandomSampler(range(50), num_samples=20))) == 20
    assert len(set(io.WeightedRandomSampler(np.ones(9), 9, replacement=False))) == 9
    assert sorted(io.SubsetRandomSampler([5, 2, 9])) == [2, 5, 9]


def test_a_random_sampler_draws_each_sample_as_often():
    counts = np.bincount(list(io.RandomSampler(range(4), True, 40_000)), minlength=4)
    assert np.all(np.abs(counts - 10_000) < 500)


def test_an_iterator_may_give_the_numbers():
    assert list(io.RandomSampler("abc", generator=iter([2, 2, 0, 1]))) == [2, 2, 0]
    assert list(io.RandomSampler("abc", generator=iter([2]))) == [2]


def test_weights_say_how_often_a_sample_is_drawn():
    counts = np.bincount(drawn(io.WeightedRandomSampler([1, 0, 3], 40_000)))
    assert counts[1] == 0 and abs(counts[2] / counts[0] - 3) < 0.1


def test_rows_of_weights_are_drawn_one_after_the_other():
    sampler = io.WeightedRandomSampler(dy2st.to_tensor([[0.0, 1.0], [1.0, 0.0]]), 2)
    assert list(sampler) == [1, 1, 0, 0] and len(sampler) == 4


@pytest.mark.parametrize(
    ("drop_last", "batches"), [(False, [[0, 1, 2], [3, 4, 5], [6]]), (True, [[0, 1, 2], [3, 4, 5]])]
)
def test_a_last_batch_that_is_not_full_can_be_dropped(drop_last, batches):
    for sampler in (
        io.BatchSampler(range(7), batch_size=3, drop_last=drop_last),
        io.BatchSampler(sampler=io.SequenceSampler(range(7)), batch_size=3, drop_last=drop_last),
    ):
        assert list(sampler) == batches and len(sampler) == len(batches)


def test_batches_of_shuffled_samples_are_drawn_by_the_seed():
    sampler = io.BatchSampler(range(10), shuffle=True, batch_size=4)
    batches = drawn(sampler)
    assert sorted(sum(batches, [])) == list(range(10))
    assert drawn(sampler) == batches != list(sampler)


# Obtained from PaddlePaddle 3: (samples, batch, processes, shuffle), the batches of each process.
SHARES = [
    ((5, 2, 2, False), [[[0, 1], [4]], [[2, 3], [0]]]),
    ((5, 2, 2, True), [[[0, 2], [0]], [[1, 3], [4]]]),
    ((10, 3, 2, False), [[[0, 1, 2], [6, 7]], [[3, 4, 5], [8, 9]]]),
    ((10, 3, 2, True), [[[2, 8, 4], [7, 3]], [[9, 1, 6], [0, 5]]]),
    (
        (23, 4, 3, True),
        [
            [[11, 10, 22, 14], [4, 2, 5, 18]],
            [[20, 1, 13, 0], [9, 7, 19, 3]],
            [[16, 8, 6, 17], [0, 21, 15, 12]],
        ],
    ),
    ((2, 2, 5, False), [[[0]], [[1]], [[0]], [[1]], [[0]]]),
    ((2, 2, 5, True), [[[0]], [[0]], [[1]], [[1]], [[0]]]),
    ((7, 2, 1, True), [[[6, 2], [1, 3], [0, 5], [4]]]),
]


@pytest.mark.parametrize(("case", "shares"), SHARES)
def test_processes_share_the_samples_as_in_paddle(case, shares):
    samples, batch, processes, shuffle = case
    for rank, share in enumerate(shares):
        sampler = io.DistributedBatchSampler(range(samples), batch, processes, rank, shuffle)
        assert len(sampler) == len(share)
        assert list(sampler) == share
        whole = io.DistributedBatchSampler(range(samples), batch, processes, rank, shuffle, True)
        assert len(whole) == len(list(whole))
        whole.set_epoch(0)
        assert list(whole) == [entry for entry in share if len(entry) == batch]


def test_an_epoch_decides_the_shuffled_order():
    sampler = io.DistributedBatchSampler(range(40), 8, shuffle=True)
    first, second = list(sampler), list(sampler)
    assert first != second
    sampler.set_epoch(1)
    assert list(sampler) == second


@pytest.mark.parametrize(
    "make",
    [
        lambda: io.RandomSampler("abc", num_samples=4),
        lambda: io.RandomSampler("abc", num_samples=0),
        lambda: io.RandomSampler("abc", replacement=1),
        lambda: io.SubsetRandomSampler([]),
        lambda: io.WeightedRandomSampler([0.0, 0.0], 1),
        lambda: io.WeightedRandomSampler([-1.0, 2.0], 1),
        lambda: io.WeightedRandomSampler([np.inf, 2.0], 1),
        lambda: io.WeightedRandomSampler([0.0, 2.0], 2, replacement=False),
        lambda: io.WeightedRandomSampler(np.ones([1, 1, 1]), 2),
        lambda: io.BatchSampler(),
        lambda: io.BatchSampler("abc", sampler=[1]),
        lambda: io.BatchSampler(sampler=[1], shuffle=True),
        lambda: io.BatchSampler("abc", batch_size=0),
        lambda: io.BatchSampler("abc", batch_size=1.5),
        lambda: io.BatchSampler("abc", drop_last="yes"),
        lambda: io.BatchSampler(io.ChainDataset([io.IterableDataset()])),
        lambda: io.DistributedBatchSampler("abc", 1, num_replicas=2, rank=2),
        lambda: io.DistributedBatchSampler("abc", 1, num_replicas=0),
    ],
)
def test_what_cannot_be_sampled_is_refused(make):
    with pytest.raises(ArgumentError):
        make()
