"""Bytes between processes, by jax: two collectives on bytes, from which all others are made.

A channel belongs to some ranks. It has a mesh of one CPU device a process, and both collectives are
the identity under `jax.jit` that wants its result elsewhere: whole everywhere, or transposed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np

from dy2st_runtime.errors import ArgumentError, PeerError, PeerTimeout
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.processes import Environment
from dy2st_runtime.processes.roll_call import roll_call

Array = np.ndarray[Any, Any]
R = TypeVar("R")

_jax = Lazy("jax")
_sharding = Lazy("jax.sharding")

_HEADER = 512
_SIZE = 8


# -- joining ----------------------------------------------------------------------------------


def connect(env: Environment) -> None:
    """Meet all other processes; ArgumentError without jax, PeerTimeout if they do not come."""
    if find_spec("jax") is None:
        raise ArgumentError(
            f"{env.world_size} processes need jax to speak to each other: pip install 'dy2st[jax]'"
        )
    config = _jax.config  # it takes seconds, which are not to count while others wait
    roll_call(env)
    config.update("jax_cpu_collectives_implementation", "gloo")
    if hasattr(config, "jax_enable_preemption_service"):
        # It would take SIGTERM for a wish to save, and the process would live on.
        config.update("jax_enable_preemption_service", False)
    try:
        _jax.distributed.initialize(
            env.coordinator,
            env.world_size,
            env.rank,
            cluster_detection_method="deactivate",
        )
    except RuntimeError as error:
        raise PeerError(f"rank {env.rank} cannot meet at {env.coordinator}: {error}") from None


def disconnect() -> None:
    """Leave; all others leave, too."""
    _jax.distributed.shutdown()


# -- work in another thread -------------------------------------------------------------------


class Work(Generic[R]):
    """What another thread does meanwhile."""

    def __init__(self, what: str, run: Callable[[], R]) -> None:
        """Take what errors call it, and the function."""
        self.what, self._run = what, run
        self._done = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None

    def do(self) -> None:
        """Run it here, and keep the result or the error."""
        try:
            self._result = self._run()
        except BaseException as error:
            self._error = error
        self._done.set()

    def is_done(self) -> bool:
        """Whether there is a result or an error."""
        return self._done.is_set()

    def result(self, timeout: float, ranks: Sequence[int]) -> R:
        """The result, when it is there; PeerTimeout after so many seconds.

        Waiting can be interrupted, which a collective itself cannot.
        """
        if not self._done.wait(timeout):
            raise PeerTimeout(
                f"{self.what} has waited {timeout:g} s for the others of the ranks {list(ranks)}: "
                "one of them hangs, or does not call it"
            )
        if self._error is not None:
            raise self._error
        result: R = self._result
        return result


class _Worker(threading.Thread):
    """Does one work after the other; it does not keep the process alive."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.works: SimpleQueue[Work[Any]] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while True:
            self.works.get().do()


# -- bytes ------------------------------------------------------------------------------------


class Channel:
    """What connects some ranks, in this order; of all processes only these may make it."""

    def __init__(self, ranks: Sequence[int], rank: int) -> None:
        """Take the ranks, and the one of this process."""
        self.ranks, self.place = list(ranks), list(ranks).index(rank)
        self._worker = _Worker()
        self._layouts: Any = None

    def start(self, what: str, run: Callable[[Channel], R]) -> Work[R]:
        """Do this in the thread of the channel, behind all that was started before."""
        work = Work(what, lambda: run(self))
        self._worker.works.put(work)
        return work

    def meet(self, what: str, size: int, hint: str = "") -> list[int]:
        """Learn the numbers of all others, which do the same: else PeerError, on all of them.

        The error ends with the hint.
        """
        text = what.encode()[: _HEADER - _SIZE].ljust(_HEADER - _SIZE)
        header = np.frombuffer(size.to_bytes(_SIZE, "little") + text, np.uint8)
        found = [row.tobytes() for row in self.gather(header)]
        calls = [entry[_SIZE:].rstrip().decode(errors="replace") for entry in found]
        if len({*calls}) > 1:
            with suppress(PeerError):  # whoever ends now ends before some others have read it
                self.gather(header)
            differing = "; ".join(f"rank {r}: {call}" for r, call in zip(self.ranks, calls))
            rest = f"; {hint}" if hint else ""
            raise PeerError(f"the processes do not do the same: {differing}{rest}")
        return [int.from_bytes(entry[:_SIZE], "little") for entry in found]

    def gather(self, data: Array) -> Array:
        """Rows of bytes from all, (k) -> (ranks, k)."""
        return self._moved(data[None], 0)

    def swap(self, rows: Array) -> Array:
        """Row i to the i-th rank, (ranks, k) -> (ranks, k): a row from each."""
        return self._moved(rows[None], 1)[:, 0]

    def _moved(self, block: Array, kind: int) -> Array:
        size = block.shape[-1]
        padded = np.zeros((*block.shape[:-1], _padded(size)), np.uint8)
        padded[..., :size] = block
        try:
            # How the bytes of the ranks lie, and the two ways to move them.
            if self._layouts is None:
                of_rank: dict[int, Any] = {}
                for device in _jax.devices("cpu"):
                    of_rank.setdefault(device.process_index, device)
                mesh = _sharding.Mesh(np.array([of_rank[rank] for rank in self.ranks]), ("ranks",))
                spec, on = _sharding.PartitionSpec, _sharding.NamedSharding
                moves = [
                    _jax.jit(lambda x: x, out_shardings=on(mesh, target))
                    for target in (spec(), spec(None, "ranks"))
                ]
                self._layouts = on(mesh, spec("ranks")), moves
            by_rows, moves = self._layouts
            shape = (len(self.ranks), *padded.shape[1:])
            given = _jax.make_array_from_process_local_data(by_rows, padded, shape)
            moved: Array = np.asarray(moves[kind](given).addressable_data(0))
        except (RuntimeError, ValueError) as error:
            first = str(error).strip().partition("\n")[0]
            raise PeerError(f"a process of the ranks {self.ranks} is gone: {first}") from None
        return moved[..., :size]


def _padded(size: int) -> int:
    """A size at most an eighth larger, of which there are few: each is compiled once.

    >>> [_padded(n) for n in (0, 512, 513, 1000, 1000000)]
    [64, 512, 576, 1024, 1048576]
    """
    step = 1 << max((size - 1).bit_length() - 4, 3)
    return max(-(-size // step) * step, 64)
