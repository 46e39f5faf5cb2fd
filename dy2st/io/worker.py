"""Runs a worker: a process that fetches batches for a DataLoader."""

from __future__ import annotations

import os
import pickle
import random
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

import numpy as np

from dy2st.io.collate import as_arrays
from dy2st.io.fetch import EXHAUSTED, Fetch, Recipe
from dy2st.io.transport import Packed
from dy2st_runtime.ops.generator import seed as seed_framework

SECONDS_TO_END = 5.0
"""What a worker may take for the sample that it is at, before it is ended."""

BATCH, FAILED, NO_MORE = "batch", "failed", "no more"
"""What an answer is."""


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows of itself; `id` counts from 0, `seed` is of this worker alone.

    >>> dy2st.io.WorkerInfo(id=0, num_workers=2, seed=7, dataset=[1, 2])
    WorkerInfo(id=0, num_workers=2, seed=7, dataset=[1, 2])
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader what it knows of itself, elsewhere None.

    >>> get_worker_info() is None
    True
    """
    return _info


@dataclass(frozen=True)
class Plan:
    """What all workers of a DataLoader are given."""

    recipe: Recipe
    count: int
    seed: int
    is_shared: bool
    init: Callable[[int], Any] | None


class _Stopped(Exception):
    """Nobody waits for the batch any more."""


class _Watched:
    """An order, at which sample the worker is, and an end where nobody waits any more."""

    def __init__(self, order: Any, stop: threading.Event) -> None:
        self._order, self._stop = order, stop
        self.sample: Any = None

    def __iter__(self) -> Iterator[Any]:
        for sample in self._order:
            if self._stop.is_set():
                raise _Stopped
            self.sample = sample
            yield sample
        self.sample = None


def work(connection: Connection, inherited: list[Connection], plan: Plan, number: int) -> None:
    """Fetch what is ordered until the connection ends."""
    # Ctrl-C reaches all processes of a terminal, and the user's own ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:  # they would keep up the connections of the user's process
        other.close()
    stop, orders = threading.Event(), SimpleQueue[Any]()
    threading.Thread(target=_listen, args=(connection, orders, stop), daemon=True).start()
    bench = _Bench(plan, number, stop)
    try:
        while (order := orders.get()) is not None:
            serial, kind, packed = bench.answer(*order)
            connection.send((serial, kind, packed.sizes))
            packed.send(connection)
    except (_Stopped, ConnectionError):
        return


def _listen(connection: Connection, orders: SimpleQueue[Any], stop: threading.Event) -> None:
    """Pass orders on, so that nobody waits who sends one; end with the connection."""
    try:
        while True:
            orders.put(connection.recv())
    except (EOFError, OSError):
        stop.set()
        orders.put(None)
    time.sleep(SECONDS_TO_END)
    os._exit(1)


class _Bench:
    """Where a worker makes batches."""

    def __init__(self, plan: Plan, number: int, stop: threading.Event) -> None:
        self._plan, self._number, self._stop = plan, number, stop
        self._is_ready = False
        self._round = -1
        self._fetch: Fetch

    def answer(self, serial: int, round: int, order: Any) -> tuple[int, str, Packed]:
        """What has the serial number: a batch, an error, or that there are no more."""
        watched = _Watched(order if self._plan.recipe.is_batched else [order], self._stop)
        try:
            batch = self._batch(round, watched if self._plan.recipe.is_batched else order)
            if batch is EXHAUSTED:
                return serial, NO_MORE, Packed(None, False)
            return serial, BATCH, Packed(as_arrays(batch), self._plan.is_shared)
        except _Stopped:
            raise
        except Exception as error:  # the user's own: raised again where batches are asked for
            sample = watched.sample if self._plan.recipe.is_batched else order
            # the error if it survives the journey, and as a text in any case
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            where = "" if sample is None else f" at sample {sample!r}"
            return (
                serial,
                FAILED,
                Packed((error if _is_portable(error) else None, text, where), False),
            )

    def _batch(self, round: int, order: Any) -> Any:
        if not self._is_ready:
            self._get_ready()
        if self._round != round:
            self._fetch, self._round = self._plan.recipe.fetcher(), round
        batch = self._fetch(order)
        if batch is EXHAUSTED:  # some iterators would begin anew
            self._fetch = lambda order: EXHAUSTED
        return batch

    def _get_ready(self) -> None:
        global _info
        plan, seed = self._plan, self._plan.seed + self._number
        random.seed(seed)
        np.random.seed(np.random.SeedSequence(seed).generate_state(4))
        seed_framework(seed)
        _info = WorkerInfo(self._number, plan.count, seed, plan.recipe.dataset)
        if plan.init is not None:
            plan.init(self._number)
        self._is_ready = True


def _is_portable(error: Exception) -> bool:
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:  # whatever an error of the user's does there
        return False
