"""Runs the processes that fetch batches for a DataLoader, seen from the user's process.

Batch i is fetched by worker i mod n, so what a worker draws with its own seed is the same in every
run. The user's process has no thread for them: one that holds a lock while another loader forks
would block that loader's workers for ever. A pool of the standard library does not fit: it chooses
the worker by chance, keeps threads, and waits for its workers instead of ending them.

Processes, because threads would share one interpreter lock with the training loop. On Linux they
are forked: a dataset may hold what cannot be sent, and a script needs no guard. Python's warning of
other threads is silenced only where there are none of Python's. A connection ends all: who closes
it, or dies, ends the worker at its other side, and a worker that dies is seen by its end.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

from dy2st.io.transport import receive
from dy2st.io.worker import BATCH, FAILED, NO_MORE, SECONDS_TO_END, Plan, work
from dy2st_runtime.errors import ArgumentError, WorkerError


class Workers:
    """All workers of a DataLoader; `stop` ends them."""

    def __init__(self, plan: Plan, prefetch: int, timeout: float) -> None:
        """Start them: each has so many batches ordered in advance."""
        self.owner = os.getpid()
        self._ahead, self._timeout = prefetch * plan.count, timeout
        self._serials, self._round = count(), 0
        self._workers: list[_Worker] = []
        if multiprocessing.current_process().daemon:
            raise ArgumentError(
                f"num_workers={plan.count} in a process that may start no others, as the worker of "
                "another DataLoader is: give the inner DataLoader num_workers=0"
            )
        try:
            for number in range(plan.count):
                ends = [worker.connection for worker in self._workers]
                self._workers.append(_Worker(plan, number, ends))
        except BaseException:  # Ctrl-C too: the workers that have started would stay
            self.stop()
            raise

    def batches(self, orders: Iterator[Any]) -> Iterator[Any]:
        """What is ordered, in that order, from one worker after the other."""
        self._round = round = self._round + 1
        failures: list[Exception] = []
        orders = _until_failure(orders, failures)
        queue, pending = deque(self._workers), deque[tuple[int, _Worker]]()
        self._order(orders, queue, pending)
        while pending:
            serial, worker = pending.popleft()
            kind, value = worker.answer(serial, self._timeout)
            if kind == NO_MORE:
                queue = deque(other for other in queue if other is not worker)
            self._order(orders, queue, pending)
            if kind == FAILED:
                worker.fail(*value)
            if kind == BATCH:
                yield value
            if self._round != round:
                raise ArgumentError(
                    "another iteration over this DataLoader has begun; "
                    "with persistent_workers=True one goes on at a time"
                )
        if failures:
            raise failures[0]

    def _order(
        self, orders: Iterator[Any], queue: deque[_Worker], pending: deque[tuple[int, _Worker]]
    ) -> None:
        while queue and len(pending) < self._ahead:
            try:
                order = next(orders)
            except StopIteration:
                return
            serial = next(self._serials)
            queue[0].order((serial, self._round, order))
            pending.append((serial, queue[0]))
            queue.rotate(-1)

    def stop(self) -> None:
        """End the workers: none is left afterwards."""
        if os.getpid() != self.owner:  # a worker of another loader has a copy of this object
            return
        for worker in self._workers:
            worker.hang_up()
        end = time.monotonic() + SECONDS_TO_END
        for worker in self._workers:
            worker.bury(end)
        self._workers = []


def _until_failure(orders: Iterator[Any], failures: list[Exception]) -> Iterator[Any]:
    """The orders; an error of theirs is kept until the batches ordered before have come."""
    try:
        yield from orders
    except Exception as error:  # of the user's sampler: raised when its turn comes
        failures.append(error)


class _Worker:
    """One of the processes, and the connection to it."""

    def __init__(self, plan: Plan, number: int, others: list[Connection]) -> None:
        """Start it; a forked one gets to know which connections to others it has inherited."""
        context = multiprocessing.get_context()
        is_fork = context.get_start_method() == "fork"
        self.name = f"worker {number} of {plan.count}"
        self.connection, theirs = context.Pipe()
        inherited = [*others, self.connection] if is_fork else []
        self._process: BaseProcess = context.Process(
            target=work, args=(theirs, inherited, plan, number), daemon=True
        )
        try:
            with warnings.catch_warnings():
                # Python warns of any other thread. Those of BLAS are prepared for it, others are
                # not.
                if is_fork and threading.active_count() == 1:
                    warnings.filterwarnings(
                        "ignore", "This process .* use of fork", DeprecationWarning
                    )
                try:
                    self._process.start()
                except (pickle.PicklingError, AttributeError, TypeError) as error:
                    if is_fork:
                        raise
                    raise WorkerError(
                        f"a worker process cannot be given the dataset: {error}. Where "
                        "processes are not forked, all that is sent to them must stand in an "
                        "importable module"
                    ) from error
        except BaseException:  # goes on; the connection has no other owner yet
            self.connection.close()
            raise
        finally:
            theirs.close()  # so that the connection ends with the worker

    def order(self, order: tuple[int, int, Any]) -> None:
        """Have something fetched; if the worker is dead, who waits for the answer gets an error."""
        with suppress(ConnectionError):
            self.connection.send(order)

    def answer(self, serial: int, timeout: float) -> tuple[str, Any]:
        """What has the serial number; older ones belong to an iteration that was given up."""
        end = time.monotonic() + timeout if timeout else None
        while True:
            seconds = None if end is None else max(0.0, end - time.monotonic())
            if not wait([self.connection, self._process.sentinel], seconds):
                raise WorkerError(
                    f"{self.name} of a DataLoader (process {self._process.pid}) gave no batch in "
                    "time: make the timeout longer, or find what the dataset waits for"
                )
            try:
                other, kind, sizes = self.connection.recv()
                value = receive(self.connection, sizes)
            except (EOFError, ConnectionError, OSError) as error:
                self._process.join(SECONDS_TO_END)
                raise WorkerError(
                    f"{self.name} of a DataLoader (process {self._process.pid}) "
                    f"{_how_it_ended(self._process.exitcode)}"
                ) from error
            if other == serial:
                return kind, value

    def fail(self, error: Exception | None, text: str, where: str) -> NoReturn:
        """Raise what the worker raised, with its traceback as the cause."""
        report = WorkerError(f"{self.name} of a DataLoader failed{where}:\n\n{text}")
        if error is None:
            raise report
        raise error from report

    def hang_up(self) -> None:
        """End the connection, also where other processes have inherited it."""
        with suppress(OSError):
            if sys.platform != "win32":
                with socket.socket(fileno=os.dup(self.connection.fileno())) as end:
                    end.shutdown(socket.SHUT_RDWR)
            self.connection.close()

    def bury(self, end: float) -> None:
        """Wait until it has ended, kill it when the time is over."""
        self._process.join(max(0.0, end - time.monotonic()))
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        self._process.close()


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "has closed its connection"
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    hint = "; the system does so when memory runs out" if name == "SIGKILL" else ""
    return f"was killed by {name}{hint}"
