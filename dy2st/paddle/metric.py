"""Measures how good predictions are: metrics over many batches, under PaddlePaddle's names."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime import ops
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir.location import without_own_frames_in
from dy2st_runtime.ir.types import is_floating
from dy2st_runtime.lazy import public_dir

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]


def accuracy(
    input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None, name: Any = None
) -> Any:
    """The share of rows whose label is among the k largest: (n, c), (n, 1) -> () float32.

    Of equal elements the first counts as the largest. `correct` and `total` are int tensors of one
    element, which are given the rows that are right and all rows.

    >>> import dy2st
    >>> scores = dy2st.to_tensor([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
    >>> round(float(accuracy(scores, dy2st.to_tensor([[1], [0], [0]]))), 4)
    0.6667
    """
    if len(input.shape) != 2 or len(label.shape) != 2 or label.shape[1] != 1:
        raise ShapeError(
            f"accuracy: input is (n, c) and label (n, 1), not {input.shape} and {label.shape}"
        )
    if is_floating(label.dtype):
        raise DTypeError(f"accuracy: labels are numbers of classes, not {label.dtype}")
    _, places = ops.topk(input, k=k)
    hits = ops.cast(ops.equal(places, ops.cast(label, places.dtype)), "float32")
    right = ops.sum(hits, axis=1)
    for tensor, value in [(correct, ops.sum(right)), (total, ops.sum(ops.ones_like(right)))]:
        if tensor is not None:
            tensor.set_value(ops.reshape(ops.cast(value, tensor.dtype), tensor.shape))
    return ops.mean(right)


class Metric(abc.ABC):
    """A figure over many batches.

    For each batch `update` is given what `compute` makes of predictions and labels; `compute` may
    be part of a converted function. `accumulate` gives the figure, `reset` begins anew.

    >>> class Largest(dy2st.metric.Metric):
    ...     def reset(self):
    ...         self.found = 0.0
    ...     def update(self, value):
    ...         self.found = max(self.found, value)
    ...     def accumulate(self):
    ...         return self.found
    ...     def name(self):
    ...         return "largest"
    >>> metric = Largest()
    >>> metric.reset()
    >>> for value in (1.0, 3.0, 2.0):
    ...     metric.update(*metric.compute(value))
    >>> metric.name(), metric.accumulate()
    ('largest', 3.0)
    """

    @abc.abstractmethod
    def reset(self) -> None:
        """Forget all batches."""

    @abc.abstractmethod
    def update(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch."""

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The figure over all batches since the last `reset`."""

    @abc.abstractmethod
    def name(self) -> Any:
        """What the figure is called."""

    def compute(self, *args: Any) -> Any:
        """What `update` is given: here predictions and labels as they are."""
        return args


class Accuracy(Metric):
    """The share of samples whose label is among the k largest scores, for each k.

    >>> import dy2st
    >>> metric = Accuracy(topk=(1, 2))
    >>> scores = dy2st.to_tensor([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
    >>> metric.update(metric.compute(scores, dy2st.to_tensor([[1], [0]])))
    [0.5, 1.0]
    >>> metric.name()
    ['acc_top1', 'acc_top2']
    """

    total: list[float]
    count: list[int]

    def __init__(self, topk: Sequence[int] = (1,), name: str | None = None) -> None:
        """Take each k and what the figure is called."""
        self.topk, self.maxk = topk, max(topk)
        name = name or "acc"
        self._name = [name] if self.maxk == 1 else [f"{name}_top{k}" for k in topk]
        self.reset()

    def compute(self, pred: Any, label: Any, *args: Any) -> Any:
        """Whether the label is the first score, the second, ...: (..., c) -> (..., maxk) float32.

        Labels are numbers of classes (n,) or (..., 1), or one of c: (..., c).
        """
        places = ops.argsort(pred, descending=True)[..., : self.maxk]
        if len(label.shape) == 1 or (len(label.shape) == 2 and label.shape[-1] == 1):
            label = ops.reshape(label, [-1, 1])
        elif label.shape[-1] != 1:
            label = ops.argmax(label, axis=-1, keepdim=True)
        return ops.cast(ops.equal(places, ops.cast(label, places.dtype)), "float32")

    def update(self, correct: Any, *args: Any) -> Any:
        """Add what `compute` gave; the figures of this batch are returned."""
        hits = _array(correct)
        count = int(np.prod(hits.shape[:-1]))
        right = [float(hits[..., :k].sum()) for k in self.topk]
        self.total = [total + new for total, new in zip(self.total, right)]
        self.count = [before + count for before in self.count]
        return self._figures(right, [count] * len(right))

    def reset(self) -> None:
        """Forget all batches."""
        self.total, self.count = [0.0] * len(self.topk), [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The share, or the list of them if there are several k; 0 without samples."""
        return self._figures(self.total, self.count)

    def _figures(self, right: list[float], counts: list[int]) -> Any:
        shares = [hits / count if count else 0.0 for hits, count in zip(right, counts)]
        return shares[0] if len(shares) == 1 else shares

    def name(self) -> list[str]:
        """What the figures are called, one for each k."""
        return self._name


class Precision(Metric):
    """Of the samples that are predicted to be 1, the share that is: tp / (tp + fp).

    Predictions are probabilities (n,) or (n, 1); from 0.5 on one says 1.

    >>> import numpy as np
    >>> metric = Precision()
    >>> metric.update(np.array([0.1, 0.5, 0.9]), np.array([0, 0, 1]))
    >>> metric.accumulate()
    0.5
    """

    def __init__(self, name: str = "precision") -> None:
        """Take what the figure is called."""
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Add a batch."""
        values, truths = _columns(preds, labels)
        says_one = np.floor(values + 0.5) == 1
        self.tp += int(np.sum(says_one & (truths == 1)))
        self.fp += int(np.sum(says_one & (truths != 1)))

    def reset(self) -> None:
        """Forget all batches."""
        self.tp = self.fp = 0

    def accumulate(self) -> float:
        """The share; 0 if no sample was predicted to be 1."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0

    def name(self) -> str:
        """What the figure is called."""
        return self._name


class Recall(Metric):
    """Of the samples that are 1, the share that is predicted to be: tp / (tp + fn).

    Predictions are probabilities (n,) or (n, 1); above 0.5 one says 1.

    >>> import numpy as np
    >>> metric = Recall()
    >>> metric.update(np.array([0.1, 0.6, 0.9]), np.array([1, 0, 1]))
    >>> metric.accumulate()
    0.5
    """

    def __init__(self, name: str = "recall") -> None:
        """Take what the figure is called."""
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Add a batch."""
        values, truths = _columns(preds, labels)
        says_one = np.rint(values) == 1
        self.tp += int(np.sum(says_one & (truths == 1)))
        self.fn += int(np.sum(~says_one & (truths == 1)))

    def reset(self) -> None:
        """Forget all batches."""
        self.tp = self.fn = 0

    def accumulate(self) -> float:
        """The share; 0 if no sample is 1."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0

    def name(self) -> str:
        """What the figure is called."""
        return self._name


class Auc(Metric):
    """The area under the ROC curve of probabilities, counted in num_thresholds + 1 bins.

    >>> import numpy as np
    >>> metric = Auc()
    >>> metric.update(np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]]), np.array([[0], [1], [0]]))
    >>> metric.accumulate()
    0.5
    """

    def __init__(self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc") -> None:
        """Take the number of thresholds, and what the figure is called."""
        if curve != "ROC":
            raise ArgumentError(
                f"Auc(curve={curve!r}): the area under the ROC curve is all that is computed, also "
                "by PaddlePaddle, whatever is written there; write curve='ROC'"
            )
        self._thresholds, self._name = num_thresholds, name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Add a batch: probabilities (n, 2) of 0 and 1, and labels (n,) or (n, 1)."""
        values, truths = _array(preds), _column("labels", _array(labels))
        if values.shape != (len(truths), 2):
            raise ShapeError(f"preds of {len(truths)} samples are (n, 2), not {values.shape}")
        bins = np.trunc(values[:, 1] * self._thresholds)
        if not np.all((bins >= 0) & (bins <= self._thresholds)):
            raise ArgumentError("predictions are probabilities, from 0 to 1")
        for counts, chosen in [(self._ones, truths != 0), (self._zeros, truths == 0)]:
            counts += np.bincount(bins[chosen].astype("int64"), minlength=len(counts))

    def reset(self) -> None:
        """Forget all batches."""
        self._ones, self._zeros = np.zeros((2, self._thresholds + 1))

    def accumulate(self) -> float:
        """The area; 0 without samples of either kind."""
        ones, zeros = (np.cumsum(counts[::-1]) for counts in (self._ones, self._zeros))
        if not ones[-1] or not zeros[-1]:
            return 0.0
        middle = ones - self._ones[::-1] / 2
        return float(np.sum(self._zeros[::-1] * middle) / ones[-1] / zeros[-1])

    def name(self) -> str:
        """What the figure is called."""
        return self._name


def _array(values: Any) -> Any:
    return values.numpy() if hasattr(values, "numpy") else np.asarray(values)


def _column(what: str, values: Any) -> Any:
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ShapeError(f"{what} are (n,) or (n, 1), not {values.shape}")
    return values


def _columns(preds: Any, labels: Any) -> tuple[Any, Any]:
    values, truths = _column("preds", _array(preds)), _column("labels", _array(labels))
    if len(values) != len(truths):
        raise ShapeError(f"{len(values)} preds for {len(truths)} labels")
    return values, truths


__dir__ = public_dir(__name__)
without_own_frames_in(__name__)
private_modules(__name__)
