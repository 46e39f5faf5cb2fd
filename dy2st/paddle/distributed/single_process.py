"""Answers who takes part: one process, which is rank 0 of 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.nn.layer import Layer


class Group:
    """Processes that work together: this one alone.

    >>> Group().nranks, Group().rank, Group().ranks
    (1, 0, [0])
    """

    id = rank = 0
    nranks = world_size = 1
    name = "_default_pg"

    def __init__(self) -> None:
        """Rank 0 alone."""
        self.ranks = [0]

    @property
    def process_group(self) -> Group:
        """The group itself."""
        return self

    def is_member(self) -> bool:
        """Whether this process takes part."""
        return True

    def get_group_rank(self, rank: int) -> int:
        """The rank in the group of a process, -1 if it takes no part."""
        return 0 if rank == 0 else -1


_GROUP = Group()


def _get_default_group() -> Group:
    """The group of all processes."""
    return _GROUP


_get_global_group = _get_default_group


class ParallelEnv:
    """What a process knows of itself and the others.

    >>> ParallelEnv().rank, ParallelEnv().world_size
    (0, 1)
    """

    rank = local_rank = device_id = dev_id = 0
    world_size = nranks = nrings = 1
    device_type = "cpu"
    current_endpoint = ""

    def __init__(self) -> None:
        """Nothing is to be found out."""
        self.trainer_endpoints = [""]


def get_rank(group: Any = None) -> int:
    """The rank of this process.

    >>> get_rank()
    0
    """
    return 0


def get_world_size(group: Any = None) -> int:
    """How many processes take part.

    >>> get_world_size()
    1
    """
    return 1


def barrier(group: Any = None) -> None:
    """Wait for all processes: this one is here."""


def init_parallel_env(nccl_config: Any = None) -> Group:
    """Begin; the group of all processes."""
    return _GROUP


def is_initialized() -> bool:
    """Whether processes are connected: with one there is nothing to connect."""
    return False


def is_available() -> bool:
    """Whether these functions can be called."""
    return True


def get_backend(group: Any = None) -> str:
    """What connects the processes."""
    return "ALONE"


def destroy_process_group(group: Any = None) -> None:
    """Take the group apart: there is nothing to do."""


def get_group(id: int = 0) -> Group:
    """The group of that number: the one group."""
    return _GROUP


def new_group(ranks: Sequence[int] | None = None, *_: Any, **__: Any) -> Group:
    """A group of some processes; ArgumentError if there is any but rank 0 among them."""
    if ranks is not None and list(ranks) not in ([], [0]):
        _refuse(f"a group of the ranks {list(ranks)}")
    return _GROUP


class SpawnContext:
    """What `spawn` gives back: the processes have ended."""

    processes: Sequence[Any] = ()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end: it is over."""
        return True


def spawn(
    func: Callable[..., Any],
    args: Iterable[Any] = (),
    nprocs: int = -1,
    join: bool = True,
    daemon: bool = False,
    **options: Any,
) -> SpawnContext:
    """Call `func(*args)` in this process, once; ArgumentError for more processes than one.

    >>> _ = spawn(print, ("trained",))
    trained
    """
    if nprocs not in (-1, 0, 1):
        _refuse(f"spawn(..., nprocs={nprocs})")
    func(*args)
    return SpawnContext()


def launch() -> NoReturn:
    """Refuse: one process is started by running the script."""
    _refuse("launch()")


def _is_parallel_ctx_initialized() -> bool:
    """Whether several processes are connected: False."""
    return False


def _refuse(what: str) -> NoReturn:
    raise ArgumentError(
        f"{what}: dy2st runs in one process, which is rank 0 of 1; run the script by itself"
    )


class DataParallel(Layer):
    """Calls the Layer that it holds as `_layers`; saves and loads under that one's names.

    >>> from dy2st_runtime.nn import Linear
    >>> sorted(DataParallel(Linear(2, 3)).state_dict())
    ['bias', 'weight']
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ):
        """Take the model; the rest says how processes exchange gradients, and there is one."""
        super().__init__()
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the model gives."""
        return self._layers(*inputs, **kwargs)

    def no_sync(self) -> AbstractContextManager[None]:
        """Compute without exchanging gradients, which never happens."""
        return nullcontext()

    def scale_loss(self, loss: Any) -> Any:
        """The loss, divided by the number of processes."""
        return loss

    def apply_collective_grads(self) -> None:
        """Sum gradients over processes: they are what they are."""

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """That of the model."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Give the model its values."""
        return self._layers.set_state_dict(*args, **kwargs)

    set_dict = load_dict = set_state_dict
