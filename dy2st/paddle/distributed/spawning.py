"""Calls a function, or runs a script, in several new processes."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import connection, get_context
from typing import Any

from dy2st.paddle.distributed.hosts import Failure, Hosts
from dy2st_runtime.errors import PeerError
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.processes import environment

_launching = Lazy("dy2st.paddle.distributed.launching")  # slow to load
_GRACE = 3.0


class SpawnContext:
    """What `spawn` gives back: the processes, and how to wait for them."""

    def __init__(self, processes: Sequence[Any] = (), pipes: Sequence[Any] = ()) -> None:
        """Take the processes, and what each may tell of its failure."""
        self.processes, self._pipes = list(processes), list(pipes)

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end; False if it has not come in time.

        Raises PeerError, with rank and traceback, if one fails: then the others are ended.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            # Asked once for both: one that ends in between would leave nothing to wait for.
            while waiting := [p.sentinel for p in self.processes if p.exitcode is None]:
                if any(process.exitcode for process in self.processes):
                    time.sleep(0.3)  # who loses the one that failed fails in the same moment
                    break
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return False
                connection.wait(waiting, left)
        except BaseException:
            self.end()
            raise
        failures = [self._failure(rank) for rank in range(len(self.processes))]
        self.end()
        known = [failure for failure in failures if failure is not None]
        if known:
            raise PeerError(min(known, key=lambda one: one.is_result).text())
        return True

    def _failure(self, rank: int) -> Failure | None:
        process = self.processes[rank]
        if not process.exitcode:
            return None
        shown = self._pipes[rank].recv() if self._pipes[rank].poll() else ""
        code = process.exitcode
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        return Failure(rank, "this machine", how, shown)

    def end(self) -> None:
        """End the processes that still run."""
        begun = [process for process in self.processes if process.pid is not None]
        for process in begun:
            process.terminate()
        for process in begun:
            process.join(_GRACE)
            process.kill()
            process.join()


def spawn(
    func: Callable[..., Any],
    args: Iterable[Any] = (),
    nprocs: int = -1,
    join: bool = True,
    daemon: bool = False,
    **options: Any,
) -> SpawnContext:
    """Call `func(*args)` in so many new processes, ranks 0 to nprocs - 1; -1 is this one alone.

    The function and what it is given go there by pickle, and it calls `init_parallel_env()`. Raises
    PeerError, with rank and traceback, if one fails: then the others are ended.

    >>> _ = spawn(print, ("trained",))
    trained
    """
    if nprocs in (-1, 0, 1):
        func(*args)
        return SpawnContext()
    plan = Hosts(1, "", 0, environment().join_timeout).plan(nprocs)
    context = get_context("spawn")
    processes, pipes = [], []
    for rank in range(nprocs):
        ours, theirs = context.Pipe(duplex=False)
        given = (func, tuple(args), plan.environment(rank), theirs)
        processes.append(context.Process(target=_call, args=given, daemon=daemon))
        pipes.append(ours)
    started = SpawnContext(processes, pipes)
    try:
        for process in processes:
            process.start()
        if join:
            started.join()
    except BaseException:
        started.end()
        raise
    return started


def launch() -> None:
    """Run a script in several processes, by the arguments of the command line.

    It is what `python -m dy2st.distributed.launch --nproc_per_node 2 train.py` does.

    >>> dy2st.distributed.launch()  # doctest: +SKIP
    """
    sys.exit(_launching.main(sys.argv[1:]))


def _call(func: Callable[..., Any], args: Any, variables: dict[str, str], pipe: Any) -> None:
    """What a new process does."""
    os.environ.update(variables)
    try:
        func(*args)
    except BaseException as error:
        if isinstance(error, SystemExit) and not error.code:
            raise
        pipe.send(traceback.format_exc())
        sys.stdout.flush()
        os._exit(1)  # the others would be waited for
