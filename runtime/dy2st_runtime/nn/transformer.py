"""Attention and the encoder of the transformer (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
from typing import Any

from dy2st_runtime.ir import F
from dy2st_runtime.nn.common import Dropout, Linear
from dy2st_runtime.nn.containers import LayerList
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.normalisation import LayerNorm


class MultiHeadAttention(Layer):
    """softmax(q k' / sqrt(d) + mask) v in every head, then a linear layer.

    (n, l, embed), (n, s, kdim), (n, s, vdim) -> (n, l, embed); a bool mask keeps where it is True,
    a float mask is added; it broadcasts to (n, heads, l, s).
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ):
        """Make four linear layers; ValueError if the heads do not divide embed_dim."""
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim {embed_dim} cannot be split into {num_heads} heads")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout, self.need_weights = dropout, need_weights
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(kdim or embed_dim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(vdim or embed_dim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None) -> Any:
        """Attention of query to key and value, which default to the query and the key."""
        key = query if key is None else key
        value = key if value is None else value
        q = self._split(self.q_proj(query))
        k = self._split(self.k_proj(key))
        v = self._split(self.v_proj(value))
        scores = F.matmul(q * self.head_dim**-0.5, k, transpose_y=True)
        weights = F.softmax(_masked(scores, attn_mask), axis=-1)
        if self.dropout:
            weights = F.dropout(weights, p=self.dropout, training=self.training)
        heads = F.transpose(F.matmul(weights, v), [0, 2, 1, 3])
        out = self.out_proj(F.reshape(heads, [heads.shape[0], heads.shape[1], self.embed_dim]))
        return (out, weights) if self.need_weights else out

    def _split(self, x: Any) -> Any:
        """(n, l, embed) -> (n, heads, l, head_dim)."""
        shape = [x.shape[0], x.shape[1], self.num_heads, self.head_dim]
        return F.transpose(F.reshape(x, shape), [0, 2, 1, 3])


class TransformerEncoderLayer(Layer):
    """Self-attention and a two-layer network, each with a residual and a LayerNorm."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        layer_norm_eps: float = 1e-5,
    ):
        """Take the sizes; `normalize_before` puts the norms at the start of each part."""
        super().__init__()
        self.activation, self.normalize_before = activation, normalize_before
        attention = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(d_model, nhead, attention)
        self.linear1 = Linear(d_model, dim_feedforward)
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model)
        self.norm1 = LayerNorm(d_model, layer_norm_eps)
        self.norm2 = LayerNorm(d_model, layer_norm_eps)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)

    def forward(self, src: Any, src_mask: Any = None) -> Any:
        """(n, l, d_model) -> (n, l, d_model)."""
        if self.normalize_before:
            src = src + self._attend(self.norm1(src), src_mask)
            return src + self._feed(self.norm2(src))
        src = self.norm1(src + self._attend(src, src_mask))
        return self.norm2(src + self._feed(src))

    def _attend(self, x: Any, mask: Any) -> Any:
        return self.dropout1(self.self_attn(x, x, x, mask))

    def _feed(self, x: Any) -> Any:
        hidden = getattr(F, self.activation)(self.linear1(x))
        return self.dropout2(self.linear2(self.dropout(hidden)))


class TransformerEncoder(Layer):
    """Encoder layers one after the other: copies of the first, which is the given one."""

    def __init__(
        self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Layer | None = None
    ):
        """Take one layer and how many there shall be."""
        super().__init__()
        copies = [copy.deepcopy(encoder_layer) for _ in range(num_layers - 1)]
        self.layers = LayerList([encoder_layer, *copies])
        self.norm = norm

    def forward(self, src: Any, src_mask: Any = None) -> Any:
        """(n, l, d_model) -> (n, l, d_model)."""
        for layer in self.layers:
            src = layer(src, src_mask)
        return src if self.norm is None else self.norm(src)


def _masked(scores: Any, mask: Any) -> Any:
    if mask is None:
        return scores
    if mask.dtype.kind == "b":
        return F.where(mask, scores, float("-inf"))
    return scores + F.cast(mask, scores.dtype)
