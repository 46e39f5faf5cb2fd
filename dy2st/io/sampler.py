"""Samples: in which order samples are asked for, and which make a batch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from dy2st.io.dataset import IterableDataset
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ops.generator import generator as framework_generator
from dy2st_runtime.processes import all_read_all, share_of_data

T = TypeVar("T", covariant=True)


class Sampler(Generic[T]):
    """An order of samples: a subclass writes `__iter__`, and `__len__` where it is known.

    >>> class Backwards(Sampler):
    ...     def __iter__(self):
    ...         return iter(range(len(self.data_source) - 1, -1, -1))
    >>> list(Backwards("abc"))
    [2, 1, 0]
    """

    def __init__(self, data_source: Any = None) -> None:
        """Take what the samples come from."""
        self.data_source = data_source

    def __iter__(self) -> Iterator[T]:
        """The numbers of the samples in order."""
        raise NotImplementedError(f"class {type(self).__name__} has no __iter__ of its own")


class SequenceSampler(Sampler[int]):
    """Samples from the first to the last.

    >>> list(SequenceSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        """Take what the samples come from."""
        super().__init__(data_source)

    def __iter__(self) -> Iterator[int]:
        """0, 1, 2, ..."""
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        """As many as the source has."""
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Samples in an order that is drawn anew for each iteration.

    Parameters
    ----------
    replacement
        whether a sample may come again
    num_samples
        how many are drawn; as many as there are if it is not given
    generator
        an iterator that gives the numbers instead

    Examples
    --------
    >>> sorted(RandomSampler("abcd"))
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Iterator[int] | None = None,
    ) -> None:
        """Take how many are drawn of what, and how."""
        super().__init__(data_source)
        self.replacement = _truth("replacement", replacement)
        self._num_samples = num_samples
        self.generator = generator
        _positive("num_samples", self.num_samples)
        if not replacement and self.num_samples > len(data_source):
            raise ArgumentError(
                f"num_samples={self.num_samples} of {len(data_source)} samples; "
                "more can be drawn with replacement=True"
            )

    @property
    def num_samples(self) -> int:
        """How many are drawn.

        >>> RandomSampler("abcd").num_samples
        4
        """
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        """The numbers; all are drawn when the first one is asked for."""
        if self.generator is not None:
            for _, index in zip(range(self.num_samples), self.generator):
                yield index
            return
        count, draws = len(self.data_source), framework_generator()
        if self.replacement:
            yield from draws.integers(count, size=self.num_samples).tolist()
        else:
            yield from draws.permutation(count)[: self.num_samples].tolist()

    def __len__(self) -> int:
        """How many are drawn."""
        return self.num_samples


class WeightedRandomSampler(Sampler[int]):
    """Samples drawn with these weights, which need not sum to 1.

    Parameters
    ----------
    weights
        (n,), or (k, n) for k series of draws one after the other
    num_samples
        draws of a series
    replacement
        whether a sample may come again in a series

    Examples
    --------
    >>> list(WeightedRandomSampler([0.0, 2.0, 0.0], 4))
    [1, 1, 1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        """Take the weights and how many are drawn."""
        self.weights = weights
        self.num_samples = _positive("num_samples", num_samples)
        self.replacement = _truth("replacement", replacement)
        rows = np.array(weights.numpy() if hasattr(weights, "numpy") else weights, dtype="float64")
        if rows.ndim not in (1, 2):
            raise ArgumentError(f"weights have the shape (n,) or (k, n), not {rows.shape}")
        if not np.all(np.isfinite(rows) & (rows >= 0)):
            raise ArgumentError("weights are finite and not negative")
        rows = rows.reshape(-1, rows.shape[-1])
        if not np.all(rows.sum(axis=1) > 0):
            raise ArgumentError("some weight is above 0")
        self._rows = rows
        if not replacement and np.any((self._rows > 0).sum(axis=1) < num_samples):
            raise ArgumentError(
                f"num_samples={num_samples} without replacement, of fewer weights above 0"
            )

    def __iter__(self) -> Iterator[int]:
        """The numbers; all are drawn when the first one is asked for."""
        draws = framework_generator()
        for row in self._rows:
            chosen = draws.choice(len(row), self.num_samples, self.replacement, row / row.sum())
            yield from chosen.tolist()

    def __len__(self) -> int:
        """How many are drawn in all series."""
        return self.num_samples * len(self._rows)


class SubsetRandomSampler(Sampler[int]):
    """These samples in an order that is drawn anew for each iteration.

    >>> sorted(SubsetRandomSampler([3, 1, 7]))
    [1, 3, 7]
    """

    def __init__(self, indices: Sequence[int]) -> None:
        """Take the numbers of the samples."""
        if len(indices) == 0:
            raise ArgumentError("a SubsetRandomSampler needs the number of a sample or more")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        """The numbers; the order is drawn when the first one is asked for."""
        for place in framework_generator().permutation(len(self.indices)).tolist():
            yield self.indices[place]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.indices)


class BatchSampler(Sampler[list[int]]):
    """The numbers of samples, batch by batch.

    Give a dataset, whose samples come in order or shuffled, or a sampler.

    >>> list(BatchSampler(range(5), batch_size=2))
    [[0, 1], [2, 3], [4]]
    >>> len(BatchSampler(sampler=[3, 1, 2], batch_size=2, drop_last=True))
    1
    """

    sampler: Any

    def __init__(
        self,
        dataset: Sized | None = None,
        sampler: Iterable[int] | Sampler[int] | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        """Take what is sampled and how large a batch is."""
        if (dataset is None) == (sampler is None):
            raise ArgumentError("a BatchSampler takes either a dataset or a sampler")
        if isinstance(dataset, IterableDataset):
            raise ArgumentError("samples of an IterableDataset have no numbers to be sampled")
        self.batch_size = _positive("batch_size", batch_size)
        self.shuffle = _truth("shuffle", shuffle)
        self.drop_last = _truth("drop_last", drop_last)
        if dataset is None and shuffle:
            raise ArgumentError("a sampler has an order: shuffle is for a dataset")
        if dataset is not None:
            sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        self.sampler = sampler

    def __iter__(self) -> Iterator[list[int]]:
        """The batches."""
        return self._in_batches(self.sampler)

    def _in_batches(self, indices: Iterable[int]) -> Iterator[list[int]]:
        rest = iter(indices)
        while batch := list(islice(rest, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        """How many batches there are."""
        return self._batches_of(len(self.sampler))

    def _batches_of(self, samples: int) -> int:
        return (samples if self.drop_last else samples + self.batch_size - 1) // self.batch_size


class DistributedBatchSampler(BatchSampler):
    """The batches of one of several processes that share the samples.

    Each gets as many samples: some come twice where they cannot be shared equally. The shuffled
    order depends on the epoch alone, so that all processes agree.

    Parameters
    ----------
    num_replicas, rank
        how many processes there are, and which this one is; as the environment of `launch`
        says; 0 of 1 on the mesh of `fleet.init`, which cuts batches

    Examples
    --------
    >>> list(DistributedBatchSampler(range(5), 2, num_replicas=2, rank=1))
    [[2, 3], [0]]
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        """Take the dataset and which share of it is sampled."""
        super().__init__(dataset, batch_size=batch_size, drop_last=drop_last)
        self.dataset, self.shuffle = dataset, _truth("shuffle", shuffle)
        own, count = share_of_data()
        self.nranks = _positive("num_replicas", count if num_replicas is None else num_replicas)
        if self.nranks > 1 and all_read_all():
            raise ArgumentError(
                f"DistributedBatchSampler(num_replicas={num_replicas}) on the mesh of fleet.init: "
                "each process reads whole batches, which are cut there; leave num_replicas and "
                "rank away, and let batch_size be that of the whole batch"
            )
        self.local_rank = own if rank is None else rank
        if not 0 <= self.local_rank < self.nranks:
            raise ArgumentError(f"rank={rank} of num_replicas={self.nranks} processes")
        self.epoch = 0
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of this process; each iteration is an epoch."""
        order: Any = np.resize(np.arange(len(self.dataset)), self.total_size)
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        # whole batches, one for each process; what is left over is shared equally
        batch = self.batch_size
        whole = len(order) // (batch * self.nranks) * batch * self.nranks
        rounds = order[:whole].reshape(-1, self.nranks, batch)
        left = order[whole:].reshape(self.nranks, -1)
        return self._in_batches(
            np.concatenate([rounds[:, self.local_rank].ravel(), left[self.local_rank]]).tolist()
        )

    def __len__(self) -> int:
        """How many batches this process has."""
        return self._batches_of(self.num_samples)

    def set_epoch(self, epoch: int) -> None:
        """The number of the next epoch, from which the shuffled order follows.

        >>> batches = DistributedBatchSampler(range(6), 2, num_replicas=2, rank=0, shuffle=True)
        >>> batches.set_epoch(1)
        >>> len(list(batches))
        2
        """
        self.epoch = epoch


def _positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value <= 0:
        raise ArgumentError(f"{name} is a whole number above 0, not {value!r}")
    return int(value)


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name} is True or False, not {value!r}")
    return bool(value)
