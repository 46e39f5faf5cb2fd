"""Finds the best path of tags through scores, by Viterbi's algorithm."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.nn import Layer
from dy2st_runtime.nn.scan import scan


def viterbi_decode(
    potentials: Any,
    transition_params: Any,
    lengths: Any,
    include_bos_eos_tag: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The highest sum of scores along a path of tags, and the path.

    (batch, time, tags), (tags, tags), (batch,) -> (batch,), (batch, max(lengths)) int64. A step
    from tag i to tag j adds `transition_params[i, j]`. With `include_bos_eos_tag` the last tag
    begins each path and the last but one ends it, unseen: rows `[-1]` and `[-2]` are what they add,
    of the first and of the last tag. Beyond its length a path is 0.

    >>> import dy2st
    >>> scores = dy2st.to_tensor([[[1.0, 0.0], [0.0, 2.0]]])
    >>> best, path = viterbi_decode(scores, dy2st.zeros([2, 2]), dy2st.to_tensor([2]), False)
    >>> best.tolist(), path.tolist()
    ([3.0], [[0, 1]])
    """
    if potentials.ndim != 3 or transition_params.ndim != 2:
        raise ShapeError(
            "viterbi_decode takes (batch, time, tags) and (tags, tags), "
            f"not {potentials.shape} and {transition_params.shape}"
        )
    tags, steps = potentials.shape[2], potentials.shape[1]
    lengths = F.cast(lengths, "int64")
    is_in = F.arange(steps) < F.unsqueeze(lengths, 1)
    marked = F.concat([potentials, F.unsqueeze(F.cast(is_in, potentials.dtype), -1)], axis=-1)
    stays = F.arange(tags)

    def step(x: Any, alpha: Any) -> tuple[Any, Any]:
        scores, is_on = x[:, :tags], x[:, tags:] > 0
        reached = F.unsqueeze(alpha, 2) + transition_params
        better = F.max(reached, axis=1) + scores
        return F.where(is_on, F.argmax(reached, axis=1), stays), F.where(is_on, better, alpha)

    first = potentials[:, 0]
    if include_bos_eos_tag:
        first = first + transition_params[-1]
    pointers, alpha = scan(step, F.transpose(marked, [1, 0, 2])[1:], first)
    if include_bos_eos_tag:
        alpha = alpha + transition_params[-2]  # a row, as in PaddlePaddle
    path = _backtracked(pointers, F.argmax(alpha, axis=-1))
    path = F.where(is_in, path, F.zeros_like(path))
    return F.max(alpha, axis=-1), path[:, : F.max(lengths)]


def _backtracked(pointers: Any, last: Any) -> Any:
    """The tags that pointers lead back to: (time - 1, batch, tags), (batch,) -> (batch, time)."""

    def step(x: Any, tag: Any) -> tuple[Any, Any]:
        before = F.squeeze(F.take_along_axis(x, F.unsqueeze(tag, 1), 1), 1)
        return before, before

    tags, _ = scan(step, pointers, last, is_reverse=True)
    return F.transpose(F.concat([tags, F.unsqueeze(last, 0)], axis=0), [1, 0])


class ViterbiDecoder(Layer):
    """A layer that keeps transitions, (tags, tags), and decodes with them as `viterbi_decode` does.

    >>> decoder = dy2st.text.ViterbiDecoder(dy2st.zeros([2, 2]), include_bos_eos_tag=False)
    >>> scores = dy2st.to_tensor([[[1.0, 0.0], [0.0, 2.0]]])
    >>> best, path = decoder(scores, dy2st.to_tensor([2]))
    >>> best.tolist(), path.tolist()
    ([3.0], [[0, 1]])
    """

    def __init__(
        self, transitions: Any, include_bos_eos_tag: bool = True, name: str | None = None
    ) -> None:
        """Take the transitions: (tags, tags)."""
        super().__init__()
        self.transitions = transitions
        self.include_bos_eos_tag = include_bos_eos_tag

    def forward(self, potentials: Any, lengths: Any) -> Any:
        """The best scores and paths."""
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag)
