"""Losses over many classes, with parameters of their own, as layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.nn.functions.trees import adaptive_log_softmax_with_loss, hsigmoid_loss
from dy2st_runtime.nn.layer import Layer


class HSigmoidLoss(Layer):
    """-log of the product of the choices from the root to the label's leaf (Morin and Bengio 2005).

    (n, d), (n,) -> (n, 1). The tree of the classes is complete and binary, or one's own with
    `is_custom`; see `nn.functional.hsigmoid_loss`.

    >>> loss = dy2st.nn.HSigmoidLoss(3, 4)
    >>> loss.weight.shape, loss(dy2st.zeros([2, 3]), dy2st.to_tensor([0, 3])).shape
    ([3, 3], [2, 1])
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ):
        """Make a weight and a bias for every inner node; of one's own tree there are as many."""
        super().__init__(name)
        if num_classes < 2 and not is_custom:
            raise ArgumentError(f"HSigmoidLoss: at least 2 classes, not {num_classes}")
        self.feature_size, self.num_classes = feature_size, num_classes
        self.is_custom, self.is_sparse = is_custom, is_sparse
        nodes = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([nodes, feature_size], weight_attr)
        self.bias = self.create_parameter([nodes, 1], bias_attr, is_bias=True)

    def forward(self, input: Any, label: Any, path_table: Any = None, path_code: Any = None) -> Any:
        """(n, d), (n,) -> (n, 1)."""
        if self.is_custom and path_table is None:
            raise ArgumentError("HSigmoidLoss: a tree of one's own needs path_table and path_code")
        return hsigmoid_loss(
            input, label, self.num_classes, self.weight, self.bias, path_table, path_code
        )


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Log-probabilities of many classes, the rare ones in clusters (Grave et al. 2016).

    `cutoffs` are the classes at which clusters begin; each cluster's weights are `div_value` times
    narrower than those before. The call gives log p of each label and their negative mean.

    >>> layer = dy2st.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10])
    >>> output, loss = layer(dy2st.ones([3, 8]), dy2st.to_tensor([0, 5, 19]))
    >>> output.shape, loss.shape, layer.log_prob(dy2st.ones([3, 8])).shape
    ([3], [], [3, 20])
    >>> layer.predict(dy2st.ones([3, 8])).shape
    [3]
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        weight_attr: Any = None,
        bias_attr: Any = None,
        div_value: float = 4.0,
        head_bias: bool = False,
        name: str | None = None,
    ):
        """Make the head, and two weights for each cluster: each is `div_value` times narrower."""
        super().__init__(name)
        given = list(cutoffs)
        if not given or given != sorted({c for c in given if 0 < c < n_classes}):
            raise ArgumentError(
                f"AdaptiveLogSoftmaxWithLoss: cutoffs rise between 0 and {n_classes}, not {given}"
            )
        self.in_features, self.n_classes, self.div_value = in_features, n_classes, div_value
        self.cutoffs = [*given, n_classes]
        self.shortlist_size, self.n_clusters = given[0], len(given)
        self.head_size = self.shortlist_size + self.n_clusters
        self.is_head_bias = head_bias
        self.head_weight = self.create_parameter([in_features, self.head_size], weight_attr)
        self.head_bias = (
            self.create_parameter([self.head_size], bias_attr, is_bias=True) if head_bias else None
        )
        self.tail_weights = []
        for number, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            width = int(in_features // div_value ** (number + 1))
            shapes = ([in_features, width], [width, high - low])
            pair = [self.create_parameter(shape, weight_attr) for shape in shapes]
            for part, parameter in enumerate(pair):
                self.add_parameter(f"tail_w{number}_{part}", parameter)
            self.tail_weights.append(pair)

    def forward(self, input: Any, label: Any) -> tuple[Any, Any]:
        """(n, d), (n,) -> log p of each label, (n,), and their negative mean."""
        return adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input: Any) -> Any:
        """(n, d) -> log p of all classes, (n, classes)."""
        head = F.log_softmax(F.linear(input, self.head_weight, self.head_bias), 1)
        first = self.shortlist_size
        parts = [head[:, :first]]
        for number, (down, up) in enumerate(self.tail_weights):
            tail = F.log_softmax(F.linear(F.linear(input, down), up), 1)
            parts.append(tail + head[:, first + number : first + number + 1])
        return F.concat(parts, axis=1)

    def predict(self, input: Any) -> Any:
        """(n, d) -> the likeliest class of each, (n,)."""
        return F.argmax(self.log_prob(input), axis=1)
