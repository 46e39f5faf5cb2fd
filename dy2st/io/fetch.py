"""Fetches a batch from a dataset: the same in the user's process and in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final

from dy2st.io.dataset import IterableDataset

Fetch = Callable[[Any], Any]


class _Exhausted:
    """What is fetched from an IterableDataset that has no more samples."""


EXHAUSTED: Final = _Exhausted()


@dataclass(frozen=True)
class Recipe:
    """What a batch is made of.

    is_batched   whether an order names the samples of a batch, or one sample
    batch_size   of an IterableDataset: a last batch with fewer samples may be dropped
    """

    dataset: Any
    collate: Callable[[Any], Any]
    is_batched: bool
    batch_size: int = 1
    drop_last: bool = False

    @property
    def is_iterable(self) -> bool:
        """Whether samples come one after the other."""
        return isinstance(self.dataset, IterableDataset)

    def orders(self, batch_sampler: Iterable[Any] | None) -> Iterator[Any]:
        """What is to be fetched, batch by batch: numbers of samples, or how many are next."""
        if self.is_iterable:
            return repeat([None] * self.batch_size if self.is_batched else None)
        return iter(range(len(self.dataset)) if batch_sampler is None else batch_sampler)

    def fetcher(self) -> Fetch:
        """Start: what makes a batch of an order."""
        dataset, collate = self.dataset, self.collate
        if not self.is_iterable:
            if self.is_batched:
                return lambda order: collate([dataset[index] for index in order])
            return lambda index: collate(dataset[index])
        samples = iter(dataset)

        def some(order: Iterable[Any]) -> Any:
            batch = [sample for _, sample in zip(order, samples)]
            is_whole = len(batch) == self.batch_size
            return collate(batch) if is_whole or (batch and not self.drop_last) else EXHAUSTED

        def one(order: Any) -> Any:
            sample = next(samples, EXHAUSTED)
            return EXHAUSTED if sample is EXHAUSTED else collate(sample)

        return some if self.is_batched else one
