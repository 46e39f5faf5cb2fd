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
        if self.is_iterable:
            fetch = self._some_of if self.is_batched else self._next_of
            samples = iter(self.dataset)
            return lambda order: fetch(samples, order)
        return self._batch if self.is_batched else self._sample

    def _batch(self, order: Iterable[Any]) -> Any:
        dataset = self.dataset
        return self.collate([dataset[index] for index in order])

    def _sample(self, index: Any) -> Any:
        return self.collate(self.dataset[index])

    def _some_of(self, samples: Iterator[Any], order: Iterable[Any]) -> Any:
        batch = [sample for _, sample in zip(order, samples)]
        is_whole = len(batch) == self.batch_size
        return self.collate(batch) if is_whole or (batch and not self.drop_last) else EXHAUSTED

    def _next_of(self, samples: Iterator[Any], order: Any) -> Any:
        sample = next(samples, EXHAUSTED)
        return EXHAUSTED if sample is EXHAUSTED else self.collate(sample)
