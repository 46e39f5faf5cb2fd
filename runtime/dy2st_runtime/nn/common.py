"""Linear, Embedding, Dropout and other small layers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.nn.initializer import Assign
from dy2st_runtime.nn.layer import Layer


class Identity(Layer):
    """y = x."""

    def __init__(self, *args: Any, **kwargs: Any):
        """Take and ignore any arguments."""
        super().__init__()

    def forward(self, x: Any) -> Any:
        """y = x."""
        return x


class Linear(Layer):
    """y = x @ weight + bias: (..., in) @ (in, out) + (out,) -> (..., out).

    >>> Linear(4, 3).weight.shape
    [4, 3]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ):
        """Make the parameters; `bias_attr=False` leaves the bias out."""
        super().__init__(name)
        self.in_features, self.out_features = in_features, out_features
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """(..., in) -> (..., out)."""
        return F.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}"


class Bilinear(Layer):
    """y[k] = x1 @ weight[k] @ x2 + bias[k]: (n, a), (n, b) -> (n, out)."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ):
        """Make the parameters."""
        super().__init__(name)
        shape = [out_features, in1_features, in2_features]
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """(n, a), (n, b) -> (n, out)."""
        products = F.matmul(F.unsqueeze(x1, [0]), self.weight)  # (out, n, b)
        y = F.transpose(F.sum(products * x2, axis=-1), [1, 0])
        return y if self.bias is None else y + self.bias


class Embedding(Layer):
    """y = weight[x]: integers (...) -> (..., embedding_dim).

    The row `padding_idx` is zero and gets no gradient. Rows whose norm is above `max_norm` are
    scaled down to it.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        dtype: Any = None,
        weight_attr: Any = None,
        name: str | None = None,
    ):
        """Make the table, or take `_weight`; `sparse` is accepted and has no effect."""
        super().__init__(name)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"padding_idx {padding_idx} is no row of {num_embeddings}")
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        shape = [num_embeddings, embedding_dim]
        first = None if _weight is None else Assign(_weight)
        weight = self.create_parameter(shape, weight_attr, dtype, default_initializer=first)
        assert weight is not None
        if _freeze:
            weight.stop_gradient = True
        if self.padding_idx is not None:
            weight.array[self.padding_idx] = 0
        self.weight = weight

    def forward(self, x: Any) -> Any:
        """(...) -> (..., embedding_dim)."""
        return F.embedding(
            x,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            scale_grad_by_freq=self.scale_grad_by_freq,
        )

    def extra_repr(self) -> str:
        """Sizes."""
        return f"{self.weight.shape[0]}, {self.weight.shape[1]}, padding_idx={self.padding_idx}"


class Dropout(Layer):
    """While training, zero with probability p; see `nn.functional.dropout`."""

    def __init__(
        self,
        p: float = 0.5,
        inplace: bool = False,
        axis: Any = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ):
        """Take the probability, and the axes that draw independently."""
        super().__init__(name)
        self.p, self.axis, self.mode = p, axis, mode

    def forward(self, x: Any) -> Any:
        """Same shape."""
        return F.dropout(x, p=self.p, axis=self.axis, training=self.training, mode=self.mode)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"


class Dropout2D(Layer):
    """While training, zero whole channels of (n, c, h, w) with probability p."""

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None):
        """Take the probability."""
        super().__init__(name)
        self.p, self.data_format = p, data_format

    def forward(self, x: Any) -> Any:
        """Same shape."""
        return F.dropout2d(x, p=self.p, training=self.training, data_format=self.data_format)


class Flatten(Layer):
    """Axes from start_axis to stop_axis become one."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1):
        """Take the first and the last axis."""
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, x: Any) -> Any:
        """(n, a, b) -> (n, a*b) with the defaults."""
        return F.flatten(x, self.start_axis, self.stop_axis)


class Upsample(Layer):
    """Larger images; see `nn.functional.interpolate`."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ):
        """Take the new size or a factor, and how places are found."""
        super().__init__(name)
        self.size, self.scale_factor = size, scale_factor
        self.mode, self.align_corners, self.align_mode = mode, align_corners, align_mode
        self.data_format = data_format
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, x: Any) -> Any:
        """(n, c, h, w) -> (n, c, h', w')."""
        return F.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self.mode,
            align_corners=self.align_corners,
            align_mode=self.align_mode,
            data_format=self.data_format,
            recompute_scale_factor=self.recompute_scale_factor,
        )


class Pad2D(Layer):
    """Pad (n, c, h, w) by [left, right, top, bottom]; see `nn.functional.pad`."""

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ):
        """Take one number for all four sides, or four."""
        super().__init__(name)
        self.data_format = data_format
        self.padding = [padding] * 4 if isinstance(padding, int) else list(padding)
        self.mode, self.value = mode, value

    def forward(self, x: Any) -> Any:
        """(n, c, h, w) -> (n, c, h + top + bottom, w + left + right)."""
        return F.pad(x, self.padding, self.mode, self.value, self.data_format)


class CosineSimilarity(Layer):
    """x1 . x2 / max(|x1| |x2|, eps) along an axis."""

    def __init__(self, axis: int = 1, eps: float = 1e-8):
        """Take the axis."""
        super().__init__()
        self.axis, self.eps = axis, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        """The axis goes."""
        return F.cosine_similarity(x1, x2, axis=self.axis, eps=self.eps)
