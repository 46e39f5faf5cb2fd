"""Classes in trees and clusters, so that not each of many must be scored; and trees of beams."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import as_int
from dy2st_runtime.nn.scan import scan

# Scores of a node are kept between these, so that no exponential overflows.
_LARGEST = 40.0


def hsigmoid_loss(
    input: Any,
    label: Any,
    num_classes: int,
    weight: Any,
    bias: Any = None,
    path_table: Any = None,
    path_code: Any = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """-log of the product of the choices from the root to the label's leaf: (n, d) -> (n, 1).

    The tree is complete and binary, weight (classes - 1, d) and bias (classes - 1, 1) belong to its
    inner nodes; or `path_table` has the nodes of each sample, (n, l), and `path_code` the choices,
    both -1 behind the end (Morin and Bengio 2005).

    >>> x, weight = dy2st.zeros([1, 3]), dy2st.zeros([3, 3])
    >>> loss = dy2st.nn.functional.hsigmoid_loss(x, dy2st.to_tensor([2]), 4, weight)
    >>> round(loss.exp().item(), 4)  # two choices of one half each
    4.0
    """
    if input.ndim != 2:
        raise ShapeError(f"hsigmoid_loss takes (n, d), not the shape {input.shape}")
    if (path_table is None) != (path_code is None):
        raise ArgumentError("hsigmoid_loss: give both path_table and path_code, or none")
    if path_table is None:
        # (n, 1) -> the nodes from the leaf to the root, (n, l), the choices there, and what is
        # there. Leaf c has the number c + classes, as in a heap: half of a number is that of
        # its parent.
        label = F.reshape(label, [input.shape[0], 1])
        classes = as_int(num_classes, "num_classes")
        if classes < 2:
            raise ArgumentError(f"hsigmoid_loss: at least 2 classes, not {classes}")
        _require_classes("hsigmoid_loss", label, classes)
        depth = (2 * classes - 1).bit_length() - 1
        powers = F.assign([2**level for level in range(depth + 1)])
        numbers = F.floor_divide(F.cast(label, "int64") + classes, powers)
        child, parent = numbers[:, :-1], numbers[:, 1:]
        valid = F.greater_equal(parent, 1)
        nodes = F.where(valid, parent - 1, F.zeros_like(parent))
        codes = F.remainder(child, 2)
    else:
        valid = F.greater_equal(path_table, 0)
        nodes = F.where(valid, path_table, F.zeros_like(path_table))
        codes = F.where(valid, path_code, F.zeros_like(path_code))
    rows = F.gather(weight, nodes)  # (n, l, d)
    scores = F.sum(rows * F.unsqueeze(input, [1]), axis=-1)
    if bias is not None:
        scores = scores + F.gather(F.flatten(bias), nodes)
    scores = F.minimum(F.maximum(scores, -_LARGEST), _LARGEST)
    losses = F.softplus(scores, threshold=float("inf")) - F.cast(codes, input.dtype) * scores
    return F.sum(F.where(valid, losses, F.zeros_like(losses)), axis=1, keepdim=True)


def adaptive_log_softmax_with_loss(
    input: Any,
    label: Any,
    head_weight: Any,
    tail_weights: Sequence[Sequence[Any]],
    cutoffs: Sequence[int],
    head_bias: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(n, d), (n,) -> log p of each label, (n,), and their negative mean (Grave 2016).

    The head scores the classes below cutoffs[0] and every cluster; a cluster its own classes, those
    from one cutoff to the next, by two weights: (d, k) and (k, classes).

    >>> x, label = dy2st.zeros([2, 4]), dy2st.to_tensor([0, 2])
    >>> head, tail = dy2st.ones([4, 3]), [[dy2st.ones([4, 1]), dy2st.ones([1, 2])]]
    >>> score = dy2st.nn.functional.adaptive_log_softmax_with_loss
    >>> log_p, loss = score(x, label, head, tail, [2, 4])
    >>> print(log_p.exp().round(4))
    [0.3333 0.1667]
    """
    is_one = label.ndim == 0
    if is_one:
        input, label = F.unsqueeze(input, [0]), F.unsqueeze(label, [0])
    if input.ndim != 2 or label.ndim != 1:
        raise ShapeError(
            "adaptive_log_softmax_with_loss takes (n, d) and (n,), or (d,) and a number, not "
            f"{input.shape} and {label.shape}"
        )
    _require_classes("adaptive_log_softmax_with_loss", label, cutoffs[-1])
    first = cutoffs[0]
    head = F.log_softmax(F.linear(input, head_weight, head_bias), 1)
    in_head = F.less_than(label, first)
    output = _of_class(head, F.where(in_head, label, F.zeros_like(label)))
    bounds = pairwise(cutoffs)
    for number, ((low, high), (down, up)) in enumerate(zip(bounds, tail_weights, strict=True)):
        inside = F.logical_and(F.greater_equal(label, low), F.less_than(label, high))
        own = F.where(inside, label - low, F.zeros_like(label))
        tail = F.log_softmax(F.linear(F.linear(input, down), up), 1)
        output = F.where(inside, head[:, first + number] + _of_class(tail, own), output)
    if is_one:
        output = F.squeeze(output, 0)
    return output, -F.mean(output)


def _require_classes(name: str, label: Any, classes: int) -> None:
    inside = F.logical_and(F.greater_equal(label, 0), F.less_than(label, classes))
    F.assert_(F.all(inside), f"{name}: the labels are from 0 to {classes - 1}")


def _of_class(log_p: Any, label: Any) -> Any:
    """(n, c), (n,) -> (n,)."""
    picked = F.take_along_axis(log_p, F.unsqueeze(label, [1]), 1, broadcast=False)
    return F.squeeze(picked, 1)


def gather_tree(ids: Any, parents: Any) -> Any:
    """The sequences of a beam search, from the last step back: (t, n, beams) twice -> the same.

    parents[i, j, k] is the beam of step i - 1 from which beam k comes.

    >>> ids = dy2st.to_tensor([[[1, 2]], [[3, 4]]])
    >>> parents = dy2st.to_tensor([[[0, 0]], [[1, 0]]])
    >>> dy2st.nn.functional.gather_tree(ids, parents).tolist()
    [[[2, 1]], [[3, 4]]]
    """
    if ids.ndim != 3 or parents.ndim != 3:
        raise ShapeError(f"gather_tree takes (t, n, beams), not {ids.shape}, {parents.shape}")
    start = F.broadcast_to(F.arange(ids.shape[2]), ids.shape[1:])

    def step(pair: Any, beam: Any) -> tuple[Any, Any]:
        chosen = F.take_along_axis(pair[0], beam, 1, broadcast=False)
        return chosen, F.take_along_axis(pair[1], beam, 1, broadcast=False)

    pairs = F.stack([F.cast(ids, "int64"), F.cast(parents, "int64")], axis=1)
    found, _ = scan(step, pairs, start, is_reverse=True)
    return F.cast(found, ids.dtype)
