"""Layers whose parameters are cut along `mp`, on the mesh of `fleet.init`; else they are whole.

Shapes are those of the whole, on a mesh as well, and `gather_output` and `input_is_parallel` say
nothing: where values between layers lie, the engine finds out.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from dy2st.paddle.distributed.fleet.hybrid import cut_parameter, mesh
from dy2st.paddle.mirrors import names_of
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn.common import Embedding, Linear
from dy2st_runtime.nn.layer import Layer

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])
import re
from collections.abc import Callable

from dy2st_runtime.lazy import public_dir
from dy2st_runtime.processes.group import Group, group_with, world


class ColumnParallelLinear(Linear):
    """x @ weight + bias, (*, in) -> (*, out), cut by columns of the weight.

    >>> layer = ColumnParallelLinear(4, 6, has_bias=True)
    >>> layer(dy2st.ones([2, 4])).shape
    [2, 6]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        has_bias: bool | None = None,
        gather_output: bool = True,
        fuse_matmul_bias: bool = False,
        mp_group: Any = None,
        name: str | None = None,
    ):
        """Take the sizes; without `has_bias` there is no bias.

        ArgumentError if `mp_degree` does not divide the columns.
        """
        super().__init__(in_features, out_features, weight_attr, None if has_bias else False)
        cut_parameter(self.weight, 1, "ColumnParallelLinear: out_features")
        cut_parameter(self.bias, 0, "ColumnParallelLinear: out_features")


class RowParallelLinear(Linear):
    """x @ weight + bias, (*, in) -> (*, out), cut by rows of the weight.

    >>> layer = RowParallelLinear(4, 6)
    >>> layer(dy2st.ones([2, 4])).shape
    [2, 6]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        has_bias: bool = True,
        input_is_parallel: bool = False,
        fuse_matmul_bias: bool = False,
        mp_group: Any = None,
        name: str | None = None,
    ):
        """Take the sizes, and whether there is a bias.

        ArgumentError if `mp_degree` does not divide the rows.
        """
        super().__init__(in_features, out_features, weight_attr, None if has_bias else False)
        cut_parameter(self.weight, 0, "RowParallelLinear: in_features")


class VocabParallelEmbedding(Embedding):
    """Rows of a table, (*) -> (*, dim), which is cut by rows.

    >>> VocabParallelEmbedding(10, 4)(dy2st.to_tensor([1, 2])).shape
    [2, 4]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        weight_attr: Any = None,
        mp_group: Any = None,
        name: str | None = None,
    ):
        """Take the sizes of the table; ArgumentError if `mp_degree` does not divide its rows."""
        super().__init__(num_embeddings, embedding_dim, weight_attr=weight_attr)
        cut_parameter(self.weight, 0, "VocabParallelEmbedding: num_embeddings")


class ParallelCrossEntropy(Layer):
    """-log softmax(x)[label], (*, classes), (*, 1) -> (*, 1).

    >>> loss = ParallelCrossEntropy()(dy2st.zeros([1, 2]), dy2st.to_tensor([[0]]))
    >>> round(loss.item(), 4)
    0.6931
    """

    def __init__(self, mp_group: Any = None, name: str | None = None, ignore_index: int = -100):
        """Take the label that counts nothing."""
        super().__init__()
        self.ignore_index = ignore_index

    def forward(self, input: Any, label: Any) -> Any:
        """The loss of every row."""
        return F.softmax_with_cross_entropy(input, label, ignore_index=self.ignore_index)


class RNGStatesTracker:
    """Random numbers that processes share or do not: of one process they are its own.

    `states_` has the names that were added, as scripts look one up before they use it.

    >>> tracker = RNGStatesTracker()
    >>> tracker.add("local", 7)
    >>> with tracker.rng_state("local"):
    ...     x = dy2st.rand([2])
    >>> list(tracker.states_)
    ['local']
    >>> tracker.reset()
    """

    def __init__(self) -> None:
        """No names."""
        self.states_: dict[str, int] = {}

    def reset(self) -> None:
        """Forget the names."""
        self.states_ = {}

    def rng_state(self, name: str = "global_seed") -> AbstractContextManager[None]:
        """Draw from the random numbers of that name in a `with`."""
        return nullcontext()

    def add(self, name: str, seed: int) -> None:
        """Begin random numbers of that name: one process has one sequence."""
        self.states_[name] = seed


_TRACKER = RNGStatesTracker()


def get_rng_state_tracker() -> RNGStatesTracker:
    """The tracker of this process.

    >>> with get_rng_state_tracker().rng_state():
    ...     x = dy2st.rand([2])
    """
    return _TRACKER


def model_parallel_random_seed(seed: int | None = None) -> None:
    """Begin the random numbers of several processes at different seeds: there is one.

    >>> model_parallel_random_seed(7)
    """


_QUESTION = re.compile(
    r"get_(?:(data|model|pipe|pipeline|sharding|sep|stage|expert|context)_)?(?:parallel_)?"
    r"(rank|world_size|id|group|group_src_rank)$"
)


class HybridCommunicateGroup:
    """Answers `get_model_parallel_rank()`, `get_data_parallel_world_size()` and the like.

    It answers for what a process reads and has. Without a mesh all processes share the data, and
    each has the whole model. On a mesh each has whole values, as if it were alone: what it computes
    of a part of the rows, or of the heads, by these numbers would be a part of the model.

    >>> hcg = HybridCommunicateGroup()
    >>> hcg.get_model_parallel_world_size(), hcg.get_stage_id(), hcg.get_data_parallel_group().ranks
    (1, 0, [0])
    """

    is_first_stage = is_last_stage = True

    def __init__(self) -> None:
        """Ask who is there."""
        self.nranks, self.global_rank = world().nranks, world().rank

    def __getattr__(self, name: str) -> Callable[[], Any]:
        """A function that answers for a way to share work."""
        found = _QUESTION.match(name)
        if found is None:
            raise AttributeError(f"a HybridCommunicateGroup has no attribute {name!r}")
        way, asked = found.groups()
        own = [world().rank]

        def answer(*_: Any) -> Any:
            group = world() if way == "data" and mesh() is None else group_with(own)
            facts = {"rank": group.rank, "world_size": group.nranks, "id": 0, "group": group}
            return group.ranks[0] if asked == "group_src_rank" else facts[asked]

        return answer

    def get_check_parallel_group(self, *_: Any) -> Group:
        """The group that checks gradients together.

        >>> HybridCommunicateGroup().get_check_parallel_group().nranks
        1
        """
        return world()

    def get_global_rank(self) -> int:
        """The rank among all processes.

        >>> HybridCommunicateGroup().get_global_rank()
        0
        """
        return world().rank


__all__ = [
    "ColumnParallelLinear",
    "ParallelCrossEntropy",
    "RNGStatesTracker",
    "RowParallelLinear",
    "VocabParallelEmbedding",
    "get_rng_state_tracker",
    "model_parallel_random_seed",
]
__dir__ = public_dir(__name__)
