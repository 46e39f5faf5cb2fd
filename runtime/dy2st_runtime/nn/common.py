"""Linear, Embedding, Dropout and other small layers."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.nn.initializer import Assign
from dy2st_runtime.nn.layer import Layer


class Identity(Layer):
    """y = x, whatever it was made with.

    >>> dy2st.nn.Identity(54, unused=True)(7)
    7
    """

    def __init__(self, *args: Any, **kwargs: Any):
        """Take and ignore any arguments."""
        super().__init__()

    def forward(self, x: Any) -> Any:
        """y = x."""
        return x


class _SizeOfWeight:
    """One size of a Layer's weight.

    PaddlePaddle has no such attribute, and packages put a property of their own in its place: so
    the constructor sets nothing, and what a subclass sets goes before it.
    """

    def __init__(self, axis: int):
        self._axis = axis

    def __get__(self, layer: Any, owner: type) -> Any:
        return self if layer is None else layer.weight.shape[self._axis]


class Linear(Layer):
    """y = x @ weight + bias: (..., in) @ (in, out) + (out,) -> (..., out).

    `bias_attr=False` leaves the bias out; `weight_attr` and `bias_attr` are ParamAttrs. The weight
    is [in, out], as in PaddlePaddle; torch's is [out, in].

    >>> layer = dy2st.nn.Linear(4, 3)
    >>> layer(dy2st.ones([2, 5, 4])).shape, layer.weight.shape
    ([2, 5, 3], [4, 3])
    >>> layer.in_features, layer.out_features
    (4, 3)
    """

    in_features = _SizeOfWeight(0)
    out_features = _SizeOfWeight(1)
    _transposed_in_torch = ("weight",)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ):
        """Make the parameters; `bias_attr=False` leaves the bias out."""
        super().__init__()
        self.name = name
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """(..., in) -> (..., out)."""
        return F.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}"


class Bilinear(Layer, private="_in1_features _in2_features _out_features"):
    """y[k] = x1 @ weight[k] @ x2 + bias[k]: (n, a), (n, b) -> (n, out).

    >>> layer = dy2st.nn.Bilinear(2, 3, 4)
    >>> layer(dy2st.ones([5, 2]), dy2st.ones([5, 3])).shape, layer.weight.shape
    ([5, 4], [4, 2, 3])
    """

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
        super().__init__()
        self._in1_features, self._in2_features = in1_features, in2_features
        self._out_features, self._name = out_features, name
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        shape = [out_features, in1_features, in2_features]
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """(n, a), (n, b) -> (n, out)."""
        products = F.matmul(F.unsqueeze(x1, [0]), self.weight)  # (out, n, b)
        y = F.transpose(F.sum(products * x2, axis=-1), [1, 0])
        return y if self.bias is None else y + self.bias


class Embedding(
    Layer,
    private="_num_embeddings _embedding_dim _padding_idx _max_norm _norm_type _scale_grad_by_freq",
):
    """y = weight[x]: integers (...) -> (..., embedding_dim).

    `sparse` has no effect. ValueError if `padding_idx` is no row.

    Parameters
    ----------
    num_embeddings, embedding_dim
        The sizes of the table.
    padding_idx
        A row that is zero and gets no gradient.
    max_norm, norm_type
        Rows whose norm, with this exponent, is larger are scaled down to it.
    scale_grad_by_freq
        Divide the gradient of a row by how often it was looked up.

    Examples
    --------
    >>> layer = dy2st.nn.Embedding(10, 4, padding_idx=0)
    >>> y = layer(dy2st.to_tensor([[1, 0], [2, 3]]))
    >>> y.shape, y[0, 1].tolist()
    ([2, 2, 4], [0.0, 0.0, 0.0, 0.0])
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
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ArgumentError(f"padding_idx {padding_idx} is no row of {num_embeddings}")
        self._num_embeddings, self._embedding_dim = num_embeddings, embedding_dim
        self._padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self._max_norm, self._norm_type = max_norm, norm_type
        self._scale_grad_by_freq, self._sparse = scale_grad_by_freq, sparse
        self._size, self._weight_attr, self._name = (
            [num_embeddings, embedding_dim],
            weight_attr,
            name,
        )
        first = None if _weight is None else Assign(_weight)
        weight = self.create_parameter(self._size, weight_attr, dtype, default_initializer=first)
        assert weight is not None
        if _freeze:
            weight.stop_gradient = True
        if self._padding_idx is not None:
            weight.array[self._padding_idx] = 0
        self.weight = weight

    def forward(self, x: Any) -> Any:
        """(...) -> (..., embedding_dim)."""
        return F.embedding(
            x,
            self.weight,
            self._padding_idx,
            self._max_norm,
            self._norm_type,
            scale_grad_by_freq=self._scale_grad_by_freq,
        )

    def extra_repr(self) -> str:
        """Sizes."""
        sizes = f"{self._num_embeddings}, {self._embedding_dim}"
        return sizes if self._padding_idx is None else f"{sizes}, padding_idx={self._padding_idx}"


class Dropout(Layer):
    """While training, zero with probability p; what is kept is divided by 1 - p.

    `axis` names the axes that draw independently, all if it is left out; with the mode
    'downscale_in_infer' values are multiplied by 1 - p in inference instead (Srivastava 2014).

    >>> layer = dy2st.nn.Dropout(0.5)
    >>> {*layer(dy2st.ones([20])).tolist()} <= {0.0, 2.0}
    True
    >>> layer.eval()(dy2st.ones([3])).tolist()
    [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        p: float = 0.5,
        inplace: bool = False,
        axis: Any = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ):
        """Take the probability, and the axes that draw independently."""
        super().__init__()
        self.p, self.axis, self.mode, self.inplace, self.name = p, axis, mode, inplace, name

    def forward(self, x: Any) -> Any:
        """Same shape."""
        return F.dropout(x, p=self.p, axis=self.axis, training=self.training, mode=self.mode)

    def extra_repr(self) -> str:
        """The settings."""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}, inplace={self.inplace}"


class Dropout2D(Layer):
    """While training, zero whole channels of (n, c, h, w) with probability p.

    >>> y = dy2st.nn.Dropout2D(0.5)(dy2st.ones([1, 8, 2, 2]))
    >>> bool((y == y[:, :, :1, :1]).all())
    True
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None):
        """Take the probability."""
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def forward(self, x: Any) -> Any:
        """Same shape."""
        return F.dropout2d(x, p=self.p, training=self.training, data_format=self.data_format)


class Flatten(Layer):
    """Axes from start_axis to stop_axis become one: (n, a, b) -> (n, a*b) with the defaults.

    >>> dy2st.nn.Flatten()(dy2st.ones([2, 3, 4])).shape
    [2, 12]
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1):
        """Take the first and the last axis."""
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, x: Any) -> Any:
        """(n, a, b) -> (n, a*b) with the defaults."""
        return F.flatten(x, self.start_axis, self.stop_axis)


class Upsample(Layer):
    """Larger images: (n, c, h, w) -> (n, c, h', w'); see `nn.functional.interpolate`.

    Parameters
    ----------
    size, scale_factor
        How large the result is, or by what it is larger: one of the two.
    mode
        'nearest', 'linear', 'bilinear', 'bicubic', 'trilinear' or 'area'.
    align_corners
        Whether the corners of both images lie upon each other.
    align_mode
        1 for places at whole numbers, 0 for those in the middle of pixels.

    Examples
    --------
    >>> print(dy2st.nn.Upsample(scale_factor=2)(dy2st.to_tensor([[[[1.0, 2.0]]]])))
    [[[[1. 1. 2. 2.]
       [1. 1. 2. 2.]]]]
    """

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
        super().__init__()
        self.size, self.scale_factor, self.name = size, scale_factor, name
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


class Pad2D(Layer, private="_mode _data_format"):
    """Pad (n, c, h, w) by [left, right, top, bottom], or by one number on all sides.

    `mode` is 'constant' (with `value`), 'reflect', 'replicate' or 'circular'.

    >>> print(dy2st.nn.Pad2D([1, 0, 0, 1])(dy2st.ones([1, 1, 1, 2])))
    [[[[0. 1. 1.]
       [0. 0. 0.]]]]
    """

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ):
        """Take one number for all four sides, or four."""
        super().__init__()
        self._data_format, self._name = data_format, name
        self.padding = [padding] * 4 if isinstance(padding, Integral) else list(padding)
        self._mode, self.value = mode, value

    def forward(self, x: Any) -> Any:
        """(n, c, h, w) -> (n, c, h + top + bottom, w + left + right)."""
        return F.pad(x, self.padding, self._mode, self.value, self._data_format)


class CosineSimilarity(Layer, private="_axis _eps"):
    """x1 . x2 / max(|x1| |x2|, eps) along an axis, which goes: (n, d), (n, d) -> (n,).

    >>> x = dy2st.to_tensor([[3.0, 4.0]])
    >>> round(dy2st.nn.CosineSimilarity()(x, dy2st.to_tensor([[4.0, 3.0]])).item(), 4)
    0.96
    """

    def __init__(self, axis: int = 1, eps: float = 1e-8):
        """Take the axis."""
        super().__init__()
        self._axis, self._eps = axis, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        """The axis goes."""
        return F.cosine_similarity(x1, x2, axis=self._axis, eps=self._eps)
