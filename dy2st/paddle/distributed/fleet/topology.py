"""How processes are arranged for several kinds of parallel work: each kind has one of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dy2st.paddle.distributed.alone import Group

_ANSWERS = {"rank": 0, "world_size": 1, "id": 0, "group_src_rank": 0}
_QUESTION = re.compile(
    r"get_(?:(?:data|model|pipe|pipeline|sharding|sep|stage|expert|context)_)?(?:parallel_)?"
    r"(rank|world_size|id|group|group_src_rank)$"
)


class HybridCommunicateGroup:
    """Answers `get_model_parallel_rank()`, `get_data_parallel_world_size()` and the like.

    >>> hcg = HybridCommunicateGroup()
    >>> hcg.get_model_parallel_world_size(), hcg.get_stage_id(), hcg.get_data_parallel_group().ranks
    (1, 0, [0])
    """

    nranks, global_rank = 1, 0
    is_first_stage = is_last_stage = True

    def __getattr__(self, name: str) -> Callable[[], Any]:
        """A function that answers for one process."""
        found = _QUESTION.match(name)
        if found is None:
            raise AttributeError(f"a HybridCommunicateGroup has no attribute {name!r}")
        asked = found[1]
        return lambda *_: Group() if asked == "group" else _ANSWERS[asked]

    def get_check_parallel_group(self, *_: Any) -> Group:
        """The group that checks gradients together."""
        return Group()

    def get_global_rank(self) -> int:
        """The rank among all processes."""
        return 0
