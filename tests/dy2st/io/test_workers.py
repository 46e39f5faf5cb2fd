"""Worker processes of a DataLoader: what they give, and that none is left."""

import gc
import multiprocessing
import os
import random
import signal
import sys
import time

import numpy as np
import pytest

import dy2st
from dy2st import io
from dy2st.errors import ArgumentError, WorkerError
from dy2st.io import worker, workers

pytestmark = [
    # The runner of the tests has threads of its own.
    pytest.mark.filterwarnings("ignore:This process .* use of fork:DeprecationWarning"),
    pytest.mark.skipif(sys.platform != "linux", reason="datasets of the tests are forked"),
]


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    if multiprocessing.active_children():
        gc.collect()
    assert multiprocessing.active_children() == []


class Of(io.Dataset):
    """Samples that a function makes."""

    def __init__(self, count, make=lambda index: index):
        self.count, self.make = count, make

    def __getitem__(self, idx):
        return self.make(idx)

    def __len__(self):
        return self.count


class Shared(io.IterableDataset):
    """Numbers that the workers share by turns."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = io.get_worker_info()
        return iter(range(info.id, self.count, info.num_workers))


def numbers(loader):
    return [np.atleast_1d(batch.numpy()).tolist() for batch in loader]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_batches_come_in_order_however_long_each_takes(count):
    def make(index):
        time.sleep(0.02 if index % 4 == 0 else 0)
        return index

    loader = io.DataLoader(Of(23, make), batch_size=2, num_workers=count)
    assert sum(numbers(loader), []) == list(range(23))


def test_the_order_that_is_drawn_does_not_depend_on_the_workers():
    def drawn(count):
        dy2st.seed(5)
        loader = io.DataLoader(Of(30), batch_size=4, shuffle=True, num_workers=count)
        return numbers(loader), numbers(loader), dy2st.rand([2]).numpy().tolist()

    assert drawn(0) == drawn(1) == drawn(3)


def test_fields_come_as_without_workers():
    def make(index):
        return {"x": np.full(3, index), "y": (dy2st.full([2], index), f"n{index}"), "z": index > 1}

    here, there = (
        next(iter(io.DataLoader(Of(4, make), batch_size=4, num_workers=count))) for count in (0, 1)
    )
    assert here.keys() == there.keys() and here["y"][1] == there["y"][1]
    for one, other in [(here["x"], there["x"]), (here["y"][0], there["y"][0])]:
        assert one.dtype == other.dtype and isinstance(other, dy2st.Tensor)
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("shared", [True, False])
def test_large_arrays_arrive_whole(shared):
    def make(index):
        rng = np.random.default_rng(index)
        return (
            rng.random((3, 101, 1001)),
            rng.random(3),
            rng.integers(99, size=1_500_001, dtype="int8"),
        )

    loader = io.DataLoader(Of(4, make), num_workers=2, use_shared_memory=shared)
    kept = list(loader)
    for index, fields in enumerate(kept):
        for field, expected in zip(fields, make(index)):
            np.testing.assert_array_equal(field.numpy()[0], expected)
    for field in kept[0]:
        assert field.numpy().flags.aligned


def test_neither_long_orders_nor_large_batches_block():
    loader = io.DataLoader(
        Of(300_000, float), batch_size=150_000, num_workers=1, use_shared_memory=False
    )
    assert [batch.shape for batch in loader] == [[150_000]] * 2


def test_an_error_comes_with_the_traceback_of_the_worker():
    def make(index):
        if index == 7:
            raise FileNotFoundError("7.png")
        return index

    got = []
    with pytest.raises(FileNotFoundError, match=r"7\.png") as raised:
        for batch in io.DataLoader(Of(40, make), batch_size=2, num_workers=2):
            got += batch.numpy().tolist()
    assert got == [0, 1, 2, 3, 4, 5]
    cause = raised.value.__cause__
    assert isinstance(cause, WorkerError)
    assert "worker 1 of 2 of a DataLoader failed at sample 7" in str(cause)
    assert 'raise FileNotFoundError("7.png")' in str(cause)


def test_an_error_that_cannot_be_sent_comes_as_a_text():
    class Local(Exception):
        pass

    def make(index):
        raise Local("what happened")

    with pytest.raises(WorkerError, match=r"at sample 0(.|\n)*Local: what happened"):
        list(io.DataLoader(Of(4, make), num_workers=1))


def test_a_batch_that_cannot_be_sent_is_an_error():
    loader = io.DataLoader(Of(2), num_workers=1, collate_fn=lambda batch: lambda: batch)
    with pytest.raises(Exception, match="lambda") as raised:
        list(loader)
    assert isinstance(raised.value.__cause__ or raised.value, WorkerError)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_an_error_of_the_sampler_comes_after_the_batches_before(count):
    def sampler():
        yield from ([0], [1], [2])
        raise KeyError("no more")

    got = []
    with pytest.raises(KeyError, match="no more"):
        for batch in io.DataLoader(Of(9), batch_sampler=sampler(), num_workers=count):
            got += batch.numpy().tolist()
    assert got == [0, 1, 2]


def test_what_fails_first_stops_the_rest_also_in_the_loop():
    with pytest.raises(ZeroDivisionError):
        for _ in io.DataLoader(Of(1_000), num_workers=2):
            1 / 0
    for _ in io.DataLoader(Of(1_000), num_workers=2):
        break
    batches = iter(io.DataLoader(Of(1_000), num_workers=2))
    next(batches)
    assert len(multiprocessing.active_children()) == 2
    del batches
    assert multiprocessing.active_children() == []


def test_an_iterator_in_a_cycle_is_ended_by_the_collector():
    cycle = [iter(io.DataLoader(Of(100), num_workers=1))]
    cycle.append(cycle)
    next(cycle[0])
    del cycle
    gc.collect()
    assert multiprocessing.active_children() == []


def test_workers_start_with_the_first_batch_and_end_with_the_last():
    batches = iter(io.DataLoader(Of(3), num_workers=2))
    assert multiprocessing.active_children() == []
    assert len(list(batches)) == 3
    assert multiprocessing.active_children() == []


def test_a_worker_that_is_killed_is_reported():
    def make(index):
        if index == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return index

    got = []
    with pytest.raises(WorkerError, match=r"worker 1 of 2 .* was killed by SIGKILL.*memory"):
        for batch in io.DataLoader(Of(40, make), num_workers=2):
            got += batch.numpy().tolist()
    assert got == [0, 1, 2, 3, 4]


def test_a_worker_that_leaves_is_reported():
    def make(index):
        os._exit(3) if index else None
        return index

    with pytest.raises(WorkerError, match="ended with exit code 3"):
        list(io.DataLoader(Of(4, make), num_workers=1))


def test_a_batch_that_does_not_come_in_time_is_an_error(monkeypatch):
    monkeypatch.setattr(workers, "SECONDS_TO_END", 0.2)

    def make(index):
        time.sleep(600 * (index == 2))
        return index

    start = time.monotonic()
    got = []
    with pytest.raises(WorkerError, match="worker 0 of 1 .* gave no batch in time"):
        for batch in io.DataLoader(Of(4, make), num_workers=1, timeout=1):
            got += batch.numpy().tolist()
    assert [0, 1][: len(got)] == got and time.monotonic() - start < 60


def test_a_worker_ends_itself_though_its_sample_does_not(monkeypatch):
    monkeypatch.setattr(worker, "SECONDS_TO_END", 0.2)
    monkeypatch.setattr(workers, "SECONDS_TO_END", 60)

    def make(index):
        time.sleep(600 * index)
        return index

    start = time.monotonic()
    next(iter(io.DataLoader(Of(4, make), num_workers=1)))
    assert time.monotonic() - start < 50


def test_each_worker_has_a_seed_of_its_own_that_the_seed_repeats():
    def make(index):
        info = io.get_worker_info()
        draws = random.random(), np.random.random(), float(dy2st.rand([1]))
        return np.array([info.id, info.num_workers, info.seed % 10_007, *draws])

    def drawn():
        dy2st.seed(11)
        return np.concatenate([b.numpy() for b in io.DataLoader(Of(6, make), num_workers=3)])

    first = drawn()
    assert first[:, 0].tolist() == [0, 1, 2, 0, 1, 2] and set(first[:, 1]) == {3}
    assert len(np.unique(first[:3, 2])) == 3
    for column in first[:, 3:].T:
        assert len(np.unique(column)) == 6
    np.testing.assert_array_equal(drawn(), first)
    assert io.get_worker_info() is None


def test_workers_leave_the_draws_of_the_user_alone():
    dy2st.seed(1)
    state = random.getstate()
    list(io.DataLoader(Of(2), num_workers=1))
    with_workers = dy2st.rand([3]).numpy()
    dy2st.seed(1)
    list(io.DataLoader(Of(2)))
    np.testing.assert_array_equal(dy2st.rand([3]).numpy(), with_workers)
    assert random.getstate() == state


def test_an_init_function_is_called_with_the_number_of_the_worker():
    def init(number):
        io.get_worker_info().dataset.make = lambda index: 100 * number + index

    loader = io.DataLoader(Of(4), num_workers=2, worker_init_fn=init)
    assert numbers(loader) == [[0], [101], [2], [103]]


def test_an_init_function_that_fails_is_reported():
    def init(number):
        raise ValueError(f"no device {number}")

    with pytest.raises(ValueError, match="no device 0") as raised:
        list(io.DataLoader(Of(4), num_workers=2, worker_init_fn=init))
    assert "worker 0 of 2" in str(raised.value.__cause__)


def test_workers_share_an_iterable_dataset():
    loader = io.DataLoader(Shared(11), batch_size=2, num_workers=2)
    assert numbers(loader) == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]]
    loader = io.DataLoader(Shared(5), batch_size=2, num_workers=3, drop_last=True)
    assert numbers(loader) == [[0, 3], [1, 4]]
    assert list(io.DataLoader(Shared(4), batch_size=None, num_workers=2)) == [0, 1, 2, 3]


def test_persistent_workers_are_kept():
    pid = Of(4, lambda index: os.getpid())
    loader = io.DataLoader(pid, num_workers=2, persistent_workers=True)
    first, second = numbers(loader), numbers(loader)
    assert first == second and len({entry for (entry,) in first}) == 2
    assert len(multiprocessing.active_children()) == 2
    del loader


def test_persistent_workers_forget_an_iteration_that_was_left():
    for dataset in (Of(9), Shared(9)):
        loader = io.DataLoader(dataset, num_workers=2, persistent_workers=True)
        for _ in range(2):
            for _ in loader:
                break
        assert numbers(loader) == [[i] for i in range(9)]
        del loader


def test_persistent_workers_serve_one_iteration_at_a_time():
    loader = io.DataLoader(Of(9), num_workers=1, persistent_workers=True)
    first = iter(loader)
    next(first)
    assert int(next(iter(loader))) == 0
    with pytest.raises(ArgumentError, match="another iteration"):
        next(first)
    del loader, first


def test_persistent_workers_are_replaced_after_one_was_killed(tmp_path):
    def make(index):
        if index == 1 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return index

    flag = tmp_path / "killed"
    loader = io.DataLoader(Of(3, make), num_workers=1, persistent_workers=True)
    with pytest.raises(WorkerError):
        list(loader)
    assert numbers(loader) == [[0], [1], [2]]
    del loader


def test_two_loaders_at_once_do_not_wait_for_each_other(monkeypatch):
    for module in (worker, workers):
        monkeypatch.setattr(module, "SECONDS_TO_END", 100)  # so long a blocked worker would stay
    big = Of(40, lambda index: np.full(200_000, index, "int8"))
    start = time.monotonic()
    for left, right in zip(*(io.DataLoader(big, num_workers=2) for _ in range(2))):
        assert left.shape == right.shape
        if int(left[0, 0]) == 3:
            break
    del left, right
    assert time.monotonic() - start < 90


def test_a_loader_with_workers_inside_of_a_worker_is_refused_in_words():
    def nested(index):
        return numbers(io.DataLoader(Of(2), num_workers=1))

    with pytest.raises(ArgumentError, match="give the inner DataLoader num_workers=0"):
        numbers(io.DataLoader(Of(2, nested), num_workers=1))
