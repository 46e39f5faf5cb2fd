"""Loads batches of a dataset, made here or by worker processes."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, overload

from dy2st.io.collate import as_new_tensors, as_tensors, default_collate_fn, default_convert_fn
from dy2st.io.dataset import Dataset, IterableDataset
from dy2st.io.fetch import EXHAUSTED, Recipe
from dy2st.io.sampler import BatchSampler
from dy2st.io.worker import Plan
from dy2st.io.workers import Workers
from dy2st_runtime.errors import ArgumentError, WorkerError, WrongKind
from dy2st_runtime.ops.generator import generator

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dy2st_runtime.ir import Tensor

Batch = TypeVar("Batch")


class _Options(TypedDict, total=False):
    """All that a DataLoader may be given by name, but the dataset and `collate_fn`."""

    feed_list: None
    places: Any
    return_list: bool
    batch_sampler: Iterable[Any] | None
    batch_size: int | None
    shuffle: bool
    drop_last: bool
    num_workers: int
    use_buffer_reader: bool
    reader_buffer_size: int
    prefetch_factor: int
    use_shared_memory: bool
    timeout: float
    worker_init_fn: Callable[[int], Any] | None
    persistent_workers: bool


class DataLoader(Generic[Batch]):
    """The batches of a dataset as tensors, nested as its samples are.

    Batches come in order, however many workers there are. Orders are drawn by the generator that
    `seed` sets, so they do not depend on the number of workers; each worker has a seed of its own
    (`get_worker_info().seed`) that `random`, NumPy and this package start with there.

    Workers are started as `multiprocessing` starts processes: on Linux they are forked, elsewhere
    the dataset is sent to them and `if __name__ == "__main__":` guards the main module. They end
    with the iteration, also one that is left by `break`, an error or Ctrl-C. What a dataset raises
    in a worker is raised here, with the worker's traceback as its cause; WorkerError says that a
    worker was killed or gave nothing in time.

    `places`, `return_list`, `use_buffer_reader` and `reader_buffer_size` make no difference.

    Parameters
    ----------
    dataset
        samples by number, or an IterableDataset
    batch_sampler
        which samples make a batch; else batch_size, shuffle and drop_last say it
    batch_size
        samples of a batch; None: each sample by itself, as it is
    collate_fn
        makes a batch of a list of samples; `default_collate_fn` stacks fields
    num_workers
        processes that make batches; 0: they are made when they are asked for
    prefetch_factor
        batches that each worker makes in advance
    use_shared_memory
        arrays of 1 MB and more come in shared memory, where the system has it
    timeout
        seconds after which a batch that does not come is an error; 0: never
    worker_init_fn
        called in each worker with its number before all else
    persistent_workers
        keep the workers from one iteration to the next

    Examples
    --------
    >>> import numpy as np
    >>> rows = [(np.full(2, i, "float32"), i) for i in range(5)]
    >>> for x, label in DataLoader(rows, batch_size=2):
    ...     print(x.shape, label.numpy())
    [2, 2] [0 1]
    [2, 2] [2 3]
    [1, 2] [4]
    """

    @overload
    def __init__(
        self: DataLoader[Batch],
        dataset: Any,
        *,
        collate_fn: Callable[[Any], Batch],
        **options: Unpack[_Options],
    ) -> None: ...

    @overload
    def __init__(
        self: DataLoader[list[Tensor]],
        dataset: Dataset[tuple[Any, ...]] | Sequence[tuple[Any, ...] | list[Any]],
        *,
        collate_fn: None = None,
        **options: Unpack[_Options],
    ) -> None: ...

    @overload
    def __init__(
        self: DataLoader[dict[str, Tensor]],
        dataset: Dataset[dict[str, Any]] | Sequence[dict[str, Any]],
        *,
        collate_fn: None = None,
        **options: Unpack[_Options],
    ) -> None: ...

    @overload
    def __init__(
        self: DataLoader[Any],
        dataset: Any,
        *,
        collate_fn: None = None,
        **options: Unpack[_Options],
    ) -> None: ...

    def __init__(
        self,
        dataset: Any,
        feed_list: Any = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Iterable[Any] | None = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        """Take what is loaded and how."""
        if feed_list is not None:
            raise ArgumentError("feed_list is of static graphs; a batch is passed to the model")
        _at_least(0, num_workers=num_workers, timeout=timeout)
        _at_least(1, prefetch_factor=prefetch_factor)
        self.dataset, self.return_list, self.places = dataset, return_list, places
        self.drop_last, self.collate_fn = drop_last, collate_fn
        self.num_workers, self.prefetch_factor = num_workers, prefetch_factor
        self.use_buffer_reader, self.reader_buffer_size = use_buffer_reader, reader_buffer_size
        self.use_shared_memory, self.timeout = use_shared_memory, timeout
        self.worker_init_fn, self.persistent_workers = worker_init_fn, persistent_workers
        self.batch_size = None if batch_sampler is not None else batch_size
        self.batch_sampler = self._sampler(batch_sampler, batch_size, shuffle, drop_last)
        self._kept: Workers | None = None

    def _sampler(
        self, sampler: Iterable[Any] | None, size: int | None, shuffle: bool, drop_last: bool
    ) -> Any:
        """What makes batches of numbers; None where samples have none, or come by themselves."""
        if sampler is not None and (size != 1 or shuffle or drop_last):
            raise ArgumentError(
                "a batch_sampler says which samples make a batch: "
                "give it without batch_size, shuffle and drop_last"
            )
        if size is None and (shuffle or drop_last):
            raise ArgumentError("batch_size=None makes no batches: shuffle and drop_last have none")
        if size is not None:
            _at_least(1, batch_size=size)
        if not isinstance(self.dataset, IterableDataset):
            made = BatchSampler(self.dataset, None, shuffle, size, drop_last) if size else None
            return made if sampler is None else sampler
        if sampler is not None or shuffle:
            raise ArgumentError(
                "samples of an IterableDataset come in its own order: "
                "neither a batch_sampler nor shuffle can change it"
            )
        return None

    def __len__(self) -> int:
        """How many batches there are."""
        if isinstance(self.dataset, IterableDataset):
            raise WrongKind("a DataLoader of an IterableDataset has no len()")
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __call__(self) -> Iterator[Batch]:
        """The batches, as `iter` gives them."""
        return iter(self)

    def __iter__(self) -> Iterator[Batch]:
        """The batches; work begins when the first one is asked for."""
        is_batched = self.batch_size is not None or self.batch_sampler is not None
        collate = self.collate_fn or (default_collate_fn if is_batched else default_convert_fn)
        recipe = Recipe(self.dataset, collate, is_batched, self.batch_size or 1, self.drop_last)
        # Drawn in any case: what is drawn afterwards does not depend on the number of workers.
        seed = int(generator().integers(2**62))
        orders = recipe.orders(self.batch_sampler)
        if self.num_workers:
            workers = self._workers(recipe, seed)
            is_kept = self.persistent_workers
            try:
                for batch in workers.batches(orders):
                    yield as_tensors(batch)
            except WorkerError:
                is_kept = False
                raise
            finally:
                if not is_kept:
                    self._kept = None
                    workers.stop()
        else:
            convert = as_tensors if recipe.collate is default_collate_fn else as_new_tensors
            fetch = recipe.fetcher()
            for order in orders:
                batch = fetch(order)
                if batch is EXHAUSTED:
                    return
                yield convert(batch)

    def _workers(self, recipe: Recipe, seed: int) -> Workers:
        if self._kept is not None and self._kept.owner == os.getpid():
            return self._kept
        plan = Plan(recipe, self.num_workers, seed, self.use_shared_memory, self.worker_init_fn)
        workers = Workers(plan, self.prefetch_factor, self.timeout)
        if self.persistent_workers:
            self._kept = workers
            weakref.finalize(self, workers.stop)
        return workers


def _at_least(least: int, **given: float) -> None:
    for name, value in given.items():
        if value < least:
            raise ArgumentError(f"{name} is {least} or more, not {value!r}")
