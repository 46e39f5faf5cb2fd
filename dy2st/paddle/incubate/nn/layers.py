"""Builds layers of transformers in few parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.paddle.incubate.nn import functional as fused
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.nn import Layer
from dy2st_runtime.nn.initializer import Constant


class FusedLinear(Layer):
    """x @ weight + bias, with the weight (out, in) if `transpose_weight`.

    >>> import dy2st
    >>> dy2st.incubate.nn.FusedLinear(3, 2)(dy2st.ones([4, 3])).shape
    [4, 2]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        transpose_weight: bool = False,
        name: str | None = None,
    ) -> None:
        """Take the sizes."""
        super().__init__()
        shape = [out_features, in_features] if transpose_weight else [in_features, out_features]
        self.weight = self.create_parameter(shape, attr=weight_attr)
        self.bias = self.create_parameter([out_features], attr=bias_attr, is_bias=True)
        self.transpose_weight = transpose_weight

    def forward(self, input: Any) -> Any:
        """The product."""
        return fused.fused_linear(input, self.weight, self.bias, self.transpose_weight)


class FusedDropoutAdd(Layer):
    """dropout(x) + y.

    >>> layer = dy2st.incubate.nn.FusedDropoutAdd(0.5).eval()
    >>> layer(dy2st.ones([2]), dy2st.ones([2])).tolist()
    [2.0, 2.0]
    """

    def __init__(
        self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None
    ) -> None:
        """Take the probability."""
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, x: Any, y: Any) -> Any:
        """The sum."""
        return fused.fused_dropout_add(x, y, self.p, self.training, self.mode)


class FusedBiasDropoutResidualLayerNorm(Layer):
    """layer_norm(residual + dropout(x + bias)): (..., embed_dim), the same -> the same.

    >>> layer = dy2st.incubate.nn.FusedBiasDropoutResidualLayerNorm(4)
    >>> layer(dy2st.ones([2, 4]), dy2st.ones([2, 4])).shape
    [2, 4]
    """

    def __init__(
        self,
        embed_dim: int,
        dropout_rate: float = 0.5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        epsilon: float = 1e-5,
        name: str | None = None,
    ) -> None:
        """Take the size and the probability."""
        super().__init__()
        self.embed_dim, self.dropout_rate, self._epsilon = embed_dim, dropout_rate, epsilon
        self.linear_bias = self.create_parameter([embed_dim], attr=bias_attr, is_bias=True)
        self.ln_scale, self.ln_bias = _norm(self, embed_dim, weight_attr, bias_attr)

    def forward(self, x: Any, residual: Any) -> Any:
        """The norm."""
        return fused.fused_bias_dropout_residual_layer_norm(
            x,
            residual,
            self.linear_bias,
            self.ln_scale,
            self.ln_bias,
            self.dropout_rate,
            self._epsilon,
            self.training,
        )


class FusedMultiHeadAttention(Layer):
    """Attention of a sequence to itself, with dropout, residual and layer norm: (b, s, n).

    Parameters
    ----------
    embed_dim, num_heads
        Features, and the number of heads.
    dropout_rate, attn_dropout_rate
        Probabilities of dropout of the result, and of attention weights.
    normalize_before
        Put the norm before the attention.
    qkv_weight_attr, qkv_bias_attr, linear_weight_attr, linear_bias_attr
        ParamAttrs of both linear layers.
    pre_ln_scale_attr, pre_ln_bias_attr, ln_scale_attr, ln_bias_attr
        ParamAttrs of the norm before, and of the one after.
    transpose_qkv_wb
        The weight is (n, 3 * n), not (3, heads, size, n).

    Examples
    --------
    >>> layer = dy2st.incubate.nn.FusedMultiHeadAttention(8, 2)
    >>> layer(dy2st.ones([1, 3, 8])).shape
    [1, 3, 8]
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout_rate: float = 0.5,
        attn_dropout_rate: float = 0.5,
        kdim: int | None = None,
        vdim: int | None = None,
        normalize_before: bool = False,
        need_weights: bool = False,
        qkv_weight_attr: Any = None,
        qkv_bias_attr: Any = None,
        linear_weight_attr: Any = None,
        linear_bias_attr: Any = None,
        pre_ln_scale_attr: Any = None,
        pre_ln_bias_attr: Any = None,
        ln_scale_attr: Any = None,
        ln_bias_attr: Any = None,
        epsilon: float = 1e-5,
        nranks: int = 1,
        ring_id: int = -1,
        transpose_qkv_wb: bool = False,
        name: str | None = None,
    ) -> None:
        """Take the sizes and probabilities."""
        super().__init__()
        if embed_dim % num_heads or need_weights or nranks != 1:
            raise ArgumentError(
                "embed_dim is a multiple of num_heads, need_weights False and nranks 1: "
                f"{embed_dim}, {num_heads}, {need_weights}, {nranks}"
            )
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.dropout_rate, self.attn_dropout_rate = dropout_rate, attn_dropout_rate
        self.normalize_before, self.transpose_qkv_wb = normalize_before, transpose_qkv_wb
        self._epsilon = epsilon
        heads = [3, num_heads, self.head_dim]
        weight = [embed_dim, 3 * embed_dim] if transpose_qkv_wb else [*heads, embed_dim]
        self.qkv_weight = self.create_parameter(weight, attr=qkv_weight_attr)
        bias = [3 * embed_dim] if transpose_qkv_wb else heads
        self.qkv_bias = self.create_parameter(bias, attr=qkv_bias_attr, is_bias=True)
        self.linear_weight = self.create_parameter([embed_dim, embed_dim], attr=linear_weight_attr)
        self.linear_bias = self.create_parameter([embed_dim], attr=linear_bias_attr, is_bias=True)
        self.pre_ln_scale = self.pre_ln_bias = self.ln_scale = self.ln_bias = None
        if normalize_before:
            found = _norm(self, embed_dim, pre_ln_scale_attr, pre_ln_bias_attr)
            self.pre_ln_scale, self.pre_ln_bias = found
        else:
            self.ln_scale, self.ln_bias = _norm(self, embed_dim, ln_scale_attr, ln_bias_attr)

    def forward(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        attn_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        """The sequence; with a cache that of keys and values, too."""
        if (key is not None and key is not query) or (value is not None and value is not query):
            raise ArgumentError("FusedMultiHeadAttention attends to the query alone")
        if attn_mask is not None and attn_mask.dtype.kind in "biu":
            # added to scores: a large number below 0 where a mask of bools or ints is 0
            attn_mask = (F.cast(attn_mask, query.dtype) - 1.0) * 1e9
        return fused.fused_multi_head_attention(
            query,
            self.qkv_weight,
            self.linear_weight,
            self.normalize_before,
            self.pre_ln_scale,
            self.pre_ln_bias,
            self.ln_scale,
            self.ln_bias,
            self._epsilon,
            self.qkv_bias,
            self.linear_bias,
            cache,
            attn_mask,
            self.dropout_rate,
            self.attn_dropout_rate,
            self._epsilon,
            self.training,
            num_heads=self.num_heads,
            transpose_qkv_wb=self.transpose_qkv_wb,
        )


class FusedFeedForward(Layer):
    """Two linear layers with activation, dropout, residual and layer norm: (b, s, n).

    Parameters
    ----------
    d_model, dim_feedforward
        Features, and those in the middle.
    dropout_rate, act_dropout_rate
        Probabilities of dropout of the result, and behind the activation.
    activation
        'relu' or 'gelu'.
    normalize_before
        Put the norm before the linear layers.

    Examples
    --------
    >>> layer = dy2st.incubate.nn.FusedFeedForward(8, 16)
    >>> layer(dy2st.ones([1, 3, 8])).shape
    [1, 3, 8]
    """

    def __init__(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        epsilon: float = 1e-5,
        activation: str = "relu",
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        linear1_weight_attr: Any = None,
        linear1_bias_attr: Any = None,
        linear2_weight_attr: Any = None,
        linear2_bias_attr: Any = None,
        ln1_scale_attr: Any = None,
        ln1_bias_attr: Any = None,
        ln2_scale_attr: Any = None,
        ln2_bias_attr: Any = None,
        nranks: int = 1,
        ring_id: int = -1,
        name: str | None = None,
    ) -> None:
        """Take the sizes and probabilities."""
        super().__init__()
        if nranks != 1:
            raise ArgumentError(f"nranks is 1, not {nranks}: layers stand on one machine")
        self._dropout_rate, self._epsilon = dropout_rate, epsilon
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate
        self._act_method, self._normalize_before = activation, normalize_before
        wide, narrow = [d_model, dim_feedforward], [dim_feedforward, d_model]
        self._linear1_weight = self.create_parameter(wide, attr=linear1_weight_attr)
        self._linear1_bias = self.create_parameter(
            [dim_feedforward], attr=linear1_bias_attr, is_bias=True
        )
        self._linear2_weight = self.create_parameter(narrow, attr=linear2_weight_attr)
        self._linear2_bias = self.create_parameter([d_model], attr=linear2_bias_attr, is_bias=True)
        self._ln1_scale = self._ln1_bias = self._ln2_scale = self._ln2_bias = None
        if normalize_before:
            self._ln1_scale, self._ln1_bias = _norm(self, d_model, ln1_scale_attr, ln1_bias_attr)
        else:
            self._ln2_scale, self._ln2_bias = _norm(self, d_model, ln2_scale_attr, ln2_bias_attr)

    def forward(self, src: Any, cache: Any = None) -> Any:
        """The sequence."""
        return fused.fused_feedforward(
            src,
            self._linear1_weight,
            self._linear2_weight,
            self._linear1_bias,
            self._linear2_bias,
            self._ln1_scale,
            self._ln1_bias,
            self._ln2_scale,
            self._ln2_bias,
            self._act_dropout_rate,
            self._dropout_rate,
            self._act_method,
            self._epsilon,
            self._epsilon,
            self._normalize_before,
            self.training,
        )


class FusedTransformerEncoderLayer(Layer):
    """Attention, then two linear layers: (b, s, n) -> (b, s, n).

    >>> import dy2st
    >>> layer = dy2st.incubate.nn.FusedTransformerEncoderLayer(8, 2, 16)
    >>> layer(dy2st.ones([2, 3, 8])).shape
    [2, 3, 8]
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        activation: str = "relu",
        attn_dropout_rate: float | None = None,
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        """Take the sizes and probabilities; attributes of both halves, or a list of two."""
        super().__init__()
        weights, biases = _two(weight_attr), _two(bias_attr)
        attention = dropout_rate if attn_dropout_rate is None else attn_dropout_rate
        self.fused_attn = FusedMultiHeadAttention(
            d_model,
            nhead,
            dropout_rate,
            attention,
            normalize_before=normalize_before,
            **{f"{name}_attr": weights[0] for name in ("qkv_weight", "linear_weight")},
            **{f"{name}_attr": weights[0] for name in ("pre_ln_scale", "ln_scale")},
            **{f"{name}_attr": biases[0] for name in ("qkv_bias", "linear_bias")},
            **{f"{name}_attr": biases[0] for name in ("pre_ln_bias", "ln_bias")},
        )
        self.ffn = FusedFeedForward(
            d_model,
            dim_feedforward,
            dropout_rate,
            activation=activation,
            act_dropout_rate=act_dropout_rate,
            normalize_before=normalize_before,
            **{f"linear{index}_weight_attr": weights[1] for index in (1, 2)},
            **{f"linear{index}_bias_attr": biases[1] for index in (1, 2)},
        )

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """The sequence; with a cache that of keys and values, too."""
        found = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        if cache is None:
            return self.ffn(found)
        return self.ffn(found[0]), found[1]


def _norm(layer: Layer, size: int, scale_attr: Any, bias_attr: Any) -> tuple[Any, Any]:
    """Parameters of a layer norm."""
    scale = layer.create_parameter([size], attr=scale_attr, default_initializer=Constant(value=1.0))
    return scale, layer.create_parameter([size], attr=bias_attr, is_bias=True)


def _two(attr: Any) -> Sequence[Any]:
    return attr if isinstance(attr, (list, tuple)) else [attr, attr]
