"""Losses as layers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.nn.layer import Layer


class CrossEntropyLoss(Layer):
    """-log softmax(input)[label], or with soft labels -sum(label * log softmax(input)).

    (n, classes), (n,) -> scalar, or (n,) without reduction; class numbers are integers, soft
    labels have the shape of the input. `weight` has a factor for each class, `ignore_index` is a
    label that does not count, `label_smoothing` the share of all other classes.
    `use_softmax=False` takes probabilities. See `nn.functional.cross_entropy`.

    >>> loss = dy2st.nn.CrossEntropyLoss()
    >>> scores, labels = dy2st.to_tensor([[0.0, 0.0], [9.0, 0.0]]), dy2st.to_tensor([1, 0])
    >>> round(loss(scores, labels).item(), 4)
    0.3466
    """

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ):
        """Take the settings of the function."""
        super().__init__()
        self.weight, self.ignore_index, self.reduction = weight, ignore_index, reduction
        self.soft_label, self.axis, self.use_softmax = soft_label, axis, use_softmax
        self.label_smoothing, self.name = label_smoothing, name

    def forward(self, input: Any, label: Any) -> Any:
        """(n, classes), (n,) -> scalar, or (n,) without reduction."""
        return F.cross_entropy(
            input,
            label,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            soft_label=self.soft_label,
            axis=self.axis,
            use_softmax=self.use_softmax,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(Layer, private="_weight _ignore_index _reduction"):
    """-input[label], of log-probabilities: (n, classes), (n,) -> scalar, or (n,) without reduction.

    `weight` has a factor for each class, by which the mean is weighted; `ignore_index` is a label
    that does not count.

    >>> log_p = dy2st.to_tensor([[-1.0, -3.0], [-2.0, -4.0]])
    >>> dy2st.nn.NLLLoss()(log_p, dy2st.to_tensor([0, 1])).item()
    2.5
    """

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        name: str | None = None,
    ):
        """Take the settings of the function."""
        super().__init__()
        self._name = name
        self._weight, self._ignore_index, self._reduction = weight, ignore_index, reduction

    def forward(self, input: Any, label: Any) -> Any:
        """(n, classes), (n,) -> scalar, or (n,) without reduction."""
        return F.nll_loss(
            input,
            label,
            weight=self._weight,
            ignore_index=self._ignore_index,
            reduction=self._reduction,
        )


class _Simple(Layer):
    """A loss whose only setting is the reduction."""

    function = ""

    def __init__(self, reduction: str = "mean", name: str | None = None):
        """Take 'mean', 'sum' or 'none'."""
        super().__init__()
        self.name = name
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        """Two tensors of one shape -> scalar, or that shape without reduction."""
        return getattr(F, self.function)(input, label, reduction=self.reduction)


class MSELoss(_Simple):
    """(input - label)**2: two tensors of one shape -> scalar, or that shape with reduction 'none'.

    >>> dy2st.nn.MSELoss()(dy2st.to_tensor([1.0, 3.0]), dy2st.zeros([2])).item()
    5.0
    """

    function = "mse_loss"


class L1Loss(_Simple):
    """|input - label|: two tensors of one shape -> scalar, or that shape with reduction 'none'.

    >>> dy2st.nn.L1Loss("sum")(dy2st.to_tensor([1.0, -3.0]), dy2st.zeros([2])).item()
    4.0
    """

    function = "l1_loss"


class KLDivLoss(Layer):
    """label * (log(label) - input); with `log_target` the label holds logarithms.

    Two tensors of one shape -> scalar. The input holds logarithms of probabilities; 'batchmean'
    divides the sum by the first size, as the divergence of distributions is defined.

    >>> log_p = dy2st.log(dy2st.to_tensor([[0.5, 0.5]]))
    >>> round(dy2st.nn.KLDivLoss("batchmean")(log_p, dy2st.to_tensor([[1.0, 0.0]])).item(), 4)
    0.6931
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False):
        """Take 'mean', 'sum', 'batchmean' or 'none'."""
        super().__init__()
        self.reduction, self.log_target = reduction, log_target

    def forward(self, input: Any, label: Any) -> Any:
        """Two tensors of one shape -> scalar, or that shape without reduction."""
        return F.kl_div(input, label, self.reduction, self.log_target)


class SmoothL1Loss(Layer):
    """d**2 / 2 where |d| < delta, else delta * (|d| - delta / 2), with d = input - label.

    This is Huber's loss; with `is_huber=False` it is divided by delta.

    >>> x, zero = dy2st.to_tensor([0.5, 3.0]), dy2st.zeros([2])
    >>> print(dy2st.nn.SmoothL1Loss("none")(x, zero))
    [0.125 2.5  ]
    """

    def __init__(
        self,
        reduction: str = "mean",
        delta: float = 1.0,
        is_huber: bool = True,
        name: str | None = None,
    ):
        """Take the place where the parabola ends; all is divided by it unless `is_huber`."""
        super().__init__()
        self.name = name
        self.reduction, self.delta, self.is_huber = reduction, delta, is_huber

    def forward(self, input: Any, label: Any) -> Any:
        """Two tensors of one shape -> scalar, or that shape without reduction."""
        return F.smooth_l1_loss(input, label, self.reduction, self.delta, self.is_huber)


class BCELoss(Layer):
    """-(label * log(input) + (1 - label) * log(1 - input)), of probabilities.

    Two tensors of one shape -> scalar, or that shape with reduction 'none'; `weight` broadcasts.

    >>> p, label = dy2st.to_tensor([0.5, 0.5]), dy2st.to_tensor([1.0, 0.0])
    >>> round(dy2st.nn.BCELoss()(p, label).item(), 4)
    0.6931
    """

    def __init__(self, weight: Any = None, reduction: str = "mean", name: str | None = None):
        """Take a weight for every element."""
        super().__init__()
        self.name = name
        self.weight, self.reduction = weight, reduction

    def forward(self, input: Any, label: Any) -> Any:
        """Two tensors of one shape -> scalar, or that shape without reduction."""
        return F.binary_cross_entropy(input, label, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(Layer):
    """`BCELoss` of sigmoid(logit), computed stably.

    `weight` has a factor for every element, `pos_weight` one for positive labels.

    >>> logit, label = dy2st.to_tensor([0.0, 100.0]), dy2st.to_tensor([1.0, 1.0])
    >>> print(dy2st.nn.BCEWithLogitsLoss(reduction="none")(logit, label).round(4))
    [0.6931 0.    ]
    """

    def __init__(
        self,
        weight: Any = None,
        reduction: str = "mean",
        pos_weight: Any = None,
        name: str | None = None,
    ):
        """Take weights for every element and for positive labels."""
        super().__init__()
        self.name = name
        self.weight, self.reduction, self.pos_weight = weight, reduction, pos_weight

    def forward(self, logit: Any, label: Any) -> Any:
        """Two tensors of one shape -> scalar, or that shape without reduction."""
        return F.binary_cross_entropy_with_logits(
            logit, label, weight=self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )
