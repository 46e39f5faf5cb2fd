"""Defines datasets: what has samples, by number or in order, and what is made of others."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, NoReturn, TypeVar

from dy2st_runtime.errors import ArgumentError, PlaceError, ShapeError, WrongKind
from dy2st_runtime.ops.generator import generator as framework_generator

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Samples by number: a subclass writes `__getitem__` and `__len__`.

    >>> class Squares(Dataset):
    ...     def __getitem__(self, idx):
    ...         return idx * idx
    ...     def __len__(self):
    ...         return 5
    >>> Squares()[3]
    9
    """

    def __getitem__(self, idx: int) -> T:
        """The sample of a number."""
        raise NotImplementedError(f"class {type(self).__name__} has no __getitem__ of its own")

    def __len__(self) -> int:
        """How many samples there are."""
        raise NotImplementedError(f"class {type(self).__name__} has no __len__ of its own")


class IterableDataset(Dataset[T]):
    """Samples one after the other, such as lines of a stream: a subclass writes `__iter__`.

    Each worker of a DataLoader iterates over a copy; `get_worker_info()` says which part is
    its own.

    >>> class Count(IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    >>> list(Count())
    [0, 1, 2]
    """

    def __iter__(self) -> Iterator[T]:
        """The samples from the first on."""
        raise NotImplementedError(f"class {type(self).__name__} has no __iter__ of its own")

    def __getitem__(self, idx: int) -> NoReturn:
        """Refuse: samples have no numbers."""
        raise WrongKind(f"samples of the IterableDataset {type(self).__name__} have no numbers")

    def __len__(self) -> int:
        """Refuse: nobody knows how many samples there are."""
        raise WrongKind(f"the IterableDataset {type(self).__name__} has no len()")


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Rows of tensors that have the same size in their first axis.

    >>> import dy2st
    >>> rows = TensorDataset([dy2st.to_tensor([1, 2, 3]), dy2st.to_tensor([4, 5, 6])])
    >>> [int(entry) for entry in rows[1]], len(rows)
    ([2, 5], 3)
    """

    def __init__(self, tensors: Sequence[Any]) -> None:
        """Take the tensors."""
        sizes = [tensor.shape[0] for tensor in tensors]
        if len(set(sizes)) != 1:
            raise ShapeError(f"tensors of a TensorDataset have as many rows each, not {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        """The row of each tensor."""
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        """The number of rows."""
        return int(self.tensors[0].shape[0])


class ComposeDataset(Dataset[tuple[Any, ...]]):
    """Datasets of one length side by side: a sample has the fields of all of theirs.

    >>> len(ComposeDataset([range(3), "abc"])), ComposeDataset([range(3), "abc"])[1]
    (3, (1, 'b'))
    """

    def __init__(self, datasets: Sequence[Any]) -> None:
        """Take the datasets."""
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError("a ComposeDataset is made of one dataset or more")
        _refuse_iterable(self.datasets, "a ComposeDataset")
        lengths = [len(dataset) for dataset in self.datasets]
        if len(set(lengths)) != 1:
            raise ShapeError(f"datasets side by side are as long as each other, not {lengths}")

    def __len__(self) -> int:
        """The length of each of them."""
        return len(self.datasets[0])

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        """The fields of the sample in each of them."""
        fields: list[Any] = []
        for dataset in self.datasets:
            sample = dataset[idx]
            fields += sample if isinstance(sample, (list, tuple)) else [sample]
        return tuple(fields)


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other.

    >>> class Count(IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3))
    >>> list(ChainDataset([Count(), Count()]))
    [0, 1, 2, 0, 1, 2]
    """

    def __init__(self, datasets: Sequence[IterableDataset[Any]]) -> None:
        """Take the datasets."""
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError("a ChainDataset is made of one dataset or more")
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise ArgumentError(
                    f"a ChainDataset is made of IterableDatasets, not of {type(dataset).__name__}; "
                    "ConcatDataset joins those whose samples have numbers"
                )

    def __iter__(self) -> Iterator[Any]:
        """The samples of the first, then of the next."""
        for dataset in self.datasets:
            yield from dataset


class ConcatDataset(Dataset[T]):
    """Datasets one after the other, whose samples have numbers.

    >>> joined = ConcatDataset(["abc", "de"])
    >>> len(joined), joined[3], joined[-1]
    (5, 'd', 'e')
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        """Take the datasets."""
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError("a ConcatDataset is made of one dataset or more")
        _refuse_iterable(self.datasets, "a ConcatDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Sequence[Any]) -> list[int]:
        """The number of samples up to the end of each.

        >>> ConcatDataset.cumsum(["abc", "de"])
        [3, 5]
        """
        return list(accumulate(len(entry) for entry in sequence))

    def __len__(self) -> int:
        """The samples of all of them."""
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T:
        """The sample of a number; a negative one counts from the end."""
        if not -len(self) <= idx < len(self):
            raise PlaceError(f"sample {idx} of {len(self)}")
        idx %= len(self)
        place = bisect_right(self.cumulative_sizes, idx)
        before = self.cumulative_sizes[place - 1] if place else 0
        sample: T = self.datasets[place][idx - before]
        return sample


class Subset(Dataset[T]):
    """Those samples of a dataset whose numbers are given.

    >>> list(Subset("abcde", [4, 0]))
    ['e', 'a']
    """

    def __init__(self, dataset: Dataset[T] | Sequence[T], indices: Sequence[int]) -> None:
        """Take the dataset and the numbers."""
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: int) -> T:
        """The sample that has the number at this place."""
        sample: T = self.dataset[self.indices[idx]]
        return sample

    def __len__(self) -> int:
        """How many numbers there are."""
        return len(self.indices)


def random_split(
    dataset: Dataset[T] | Sequence[T], lengths: Sequence[float], generator: Any = None
) -> list[Subset[T]]:
    """The samples, shuffled, in disjoint parts of these lengths, or fractions whose sum is 1.

    What fractions leave over goes to the first parts, one sample each. `generator` is a NumPy
    Generator; without it the one that `seed` sets draws.

    >>> [len(part) for part in random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        count = len(dataset)
        if any(fraction < 0 for fraction in lengths):
            raise ArgumentError(f"fractions of a dataset lie between 0 and 1, not {list(lengths)}")
        floors = [math.floor(count * fraction) for fraction in lengths]
        over = count - sum(floors)
        lengths = [length + (place < over) for place, length in enumerate(floors)]
    if sum(lengths) != len(dataset):
        raise ArgumentError(f"parts of lengths {list(lengths)} do not make up {len(dataset)}")
    draws = framework_generator() if generator is None else generator
    order = draws.permutation(len(dataset)).tolist()
    ends = list(accumulate(int(length) for length in lengths))
    return [Subset(dataset, order[start:end]) for start, end in zip([0, *ends], ends)]


def _refuse_iterable(datasets: Sequence[Any], what: str) -> None:
    for dataset in datasets:
        if isinstance(dataset, IterableDataset):
            raise ArgumentError(
                f"{what} asks for samples by number, which the IterableDataset "
                f"{type(dataset).__name__} does not have; ChainDataset joins such"
            )
