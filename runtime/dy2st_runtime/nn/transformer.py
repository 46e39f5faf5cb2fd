"""Attention and the encoder of the transformer (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.nn import functional
from dy2st_runtime.nn.common import Dropout, Linear
from dy2st_runtime.nn.containers import LayerList
from dy2st_runtime.nn.layer import Layer, ParamAttr
from dy2st_runtime.nn.normalisation import LayerNorm


class Cache(NamedTuple):
    """Keys and values of all places so far, (n, heads, l, head_dim): each call makes it longer."""

    k: Any
    v: Any


class StaticCache(NamedTuple):
    """Keys and values of a memory, (n, heads, s, head_dim), which every call uses as they are."""

    k: Any
    v: Any


class MultiHeadAttention(Layer):
    """softmax(q k' / sqrt(d) + mask) v in every head, then a linear layer (Vaswani et al. 2017).

    (n, l, embed), (n, s, kdim), (n, s, vdim) -> (n, l, embed). The mask broadcasts to
    (n, heads, l, s): a float mask is added, a bool or integer one adds -1e9 where it is 0. A cache
    of `gen_cache` keeps keys and values from call to call. ArgumentError if the heads do not divide
    embed_dim.

    Parameters
    ----------
    embed_dim, num_heads
        Features of queries and outputs, and the number of heads.
    dropout
        The probability that a weight is left out while training.
    kdim, vdim
        Features of keys and values, if they are others.
    need_weights
        Give the weights, (n, heads, l, s), too.

    Examples
    --------
    >>> attention = dy2st.nn.MultiHeadAttention(8, 2)
    >>> x = dy2st.ones([1, 3, 8])
    >>> attention(x).shape
    [1, 3, 8]
    >>> y, cache = attention(x, cache=attention.gen_cache(x))
    >>> cache.k.shape, attention.compute_kv(x, x)[1].shape
    ([1, 2, 3, 4], [1, 2, 3, 4])
    """

    Cache, StaticCache = Cache, StaticCache
    _names_in_torch = {
        "in_proj_weight": ("q_proj.weight", "k_proj.weight", "v_proj.weight"),
        "in_proj_bias": ("q_proj.bias", "k_proj.bias", "v_proj.bias"),
        **{f"{part}_proj_weight": (f"{part}_proj.weight",) for part in "qkv"},
    }

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
        """Make four linear layers; ArgumentError if the heads do not divide embed_dim."""
        super().__init__()
        if embed_dim < 1 or num_heads < 1 or embed_dim % num_heads:
            raise ArgumentError(f"embed_dim {embed_dim} cannot be split into {num_heads} heads")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.head_dim = embed_dim // num_heads
        self.dropout, self.need_weights = dropout, need_weights
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def forward(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        attn_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        """Attention of query to key and value, which default to the query.

        After the output come the weights with `need_weights`, and the next cache if one is given.
        """
        key = query if key is None else key
        value = query if value is None else value
        q = self._split(self.q_proj(query))
        if isinstance(cache, StaticCache):
            k, v = cache.k, cache.v
        else:
            k, v = self.compute_kv(key, value)
            if isinstance(cache, Cache):
                k, v = F.concat([cache.k, k], axis=2), F.concat([cache.v, v], axis=2)
                cache = Cache(k, v)
        scores = F.matmul(q * self.head_dim**-0.5, k, transpose_y=True)
        if attn_mask is not None:
            scores = scores + as_added_mask(attn_mask, scores.dtype)
        weights = F.softmax(scores, axis=-1)
        if self.dropout:
            weights = F.dropout(weights, p=self.dropout, training=self.training)
        heads = F.transpose(F.matmul(weights, v), [0, 2, 1, 3])
        out = self.out_proj(F.reshape(heads, [heads.shape[0], heads.shape[1], self.embed_dim]))
        results = [out, *([weights] if self.need_weights else []), *([cache] if cache else [])]
        return out if len(results) == 1 else tuple(results)

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """(n, s, kdim), (n, s, vdim) -> keys and values, (n, heads, s, head_dim) each."""
        return self._split(self.k_proj(key)), self._split(self.v_proj(value))

    def gen_cache(self, key: Any, value: Any = None, type: Any = Cache) -> Any:
        """A first cache for `forward`: of a memory for StaticCache; else empty, or (key, value)."""
        if type is StaticCache:
            return StaticCache(*self.compute_kv(key, value))
        if value is not None:
            return Cache(key, value)
        shape = [key.shape[0], self.num_heads, 0, self.head_dim]
        return Cache(F.zeros(shape, key.dtype), F.zeros(shape, key.dtype))

    def _split(self, x: Any) -> Any:
        """(n, l, embed) -> (n, heads, l, head_dim)."""
        shape = [x.shape[0], x.shape[1], self.num_heads, self.head_dim]
        return F.transpose(F.reshape(x, shape), [0, 2, 1, 3])


class TransformerEncoderLayer(Layer):
    """Self-attention and a two-layer network, each with a residual and a LayerNorm.

    (n, l, d_model) -> (n, l, d_model), and the next cache if one is given. `weight_attr` and
    `bias_attr` are for all parameters, or lists for attention and for the linear layers.

    Parameters
    ----------
    d_model, nhead, dim_feedforward
        Features, the number of heads, features in the middle of the network.
    dropout, attn_dropout, act_dropout
        Probabilities behind each part, of attention weights and behind the activation; the last
        two are the first unless given.
    activation
        The name of a function of `nn.functional`.
    normalize_before
        Put the norms at the start of each part.
    layer_norm_eps
        The epsilon of the norms.

    Examples
    --------
    >>> layer = dy2st.nn.TransformerEncoderLayer(8, 2, 16)
    >>> layer(dy2st.ones([1, 3, 8])).shape
    [1, 3, 8]
    >>> y, cache = layer(dy2st.ones([1, 1, 8]), cache=layer.gen_cache(dy2st.ones([1, 1, 8])))
    >>> cache.k.shape
    [1, 2, 1, 4]
    """

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
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ):
        """Take the sizes; `normalize_before` puts the norms at the start of each part.

        The attributes are for all parameters, or a list for attention and for the linear layers.
        """
        self._config = settings(locals())
        super().__init__()
        self.normalize_before = normalize_before
        weights, biases = attributes_for(weight_attr, 2), attributes_for(bias_attr, 2)
        attention = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(
            d_model, nhead, attention, weight_attr=weights[0], bias_attr=biases[0]
        )
        self.linear1 = Linear(d_model, dim_feedforward, weights[1], biases[1])
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[1], biases[1])
        self.norm1 = LayerNorm(d_model, layer_norm_eps)
        self.norm2 = LayerNorm(d_model, layer_norm_eps)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = getattr(functional, activation)

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """(n, l, d_model) -> (n, l, d_model), and the next cache if one is given."""

        def attend(x: Any) -> Any:
            nonlocal cache
            attended = self.self_attn(x, x, x, src_mask, cache)
            if cache is not None:
                attended, cache = attended
            return self.dropout1(attended)

        src = residual(self, self.norm1, attend, src)
        src = residual(self, self.norm2, self._feed, src)
        return src if cache is None else (src, cache)

    def gen_cache(self, src: Any) -> Cache:
        """An empty cache for as many sequences as there are in `src`."""
        return self.self_attn.gen_cache(src)  # type: ignore[no-any-return]

    def _feed(self, x: Any) -> Any:
        hidden = self.dropout(self.activation(self.linear1(x)))
        return self.dropout2(self.linear2(hidden))


class TransformerEncoder(Layer):
    """Encoder layers one after the other: the given one, and new ones with its settings.

    `norm` is a layer at the end. A call takes and gives caches if `cache` is given, one a layer.

    >>> layer = dy2st.nn.TransformerEncoderLayer(8, 2, 16)
    >>> encoder = dy2st.nn.TransformerEncoder(layer, 2)
    >>> encoder(dy2st.ones([1, 3, 8])).shape, len(encoder.gen_cache(dy2st.ones([1, 3, 8])))
    ([1, 3, 8], 2)
    """

    def __init__(
        self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Layer | None = None
    ):
        """Take one layer and how many there shall be."""
        super().__init__()
        self.layers = alike(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """(n, l, d_model) -> (n, l, d_model), and the next caches if some are given."""
        caches = []
        for index, layer in enumerate(self.layers):
            if cache is None:
                src = layer(src, src_mask=src_mask)
            else:
                src, after = layer(src, src_mask=src_mask, cache=cache[index])
                caches.append(after)
        src = src if self.norm is None else self.norm(src)
        return src if cache is None else (src, caches)

    def gen_cache(self, src: Any) -> list[Cache]:
        """An empty cache for every layer."""
        return [layer.gen_cache(src) for layer in self.layers]


def residual(layer: Any, norm: Layer, part: Callable[[Any], Any], x: Any) -> Any:
    """x + part(norm(x)) if the norms of the layer come first, else norm(x + part(x))."""
    return x + part(norm(x)) if layer.normalize_before else norm(x + part(x))


def alike(layer: Layer, count: int) -> LayerList:
    """The layer, and as many new ones of its class and settings as are missing.

    A layer that does not keep its settings as `_config` is copied, with its parameters.
    """
    config = getattr(layer, "_config", None)
    more = [
        copy.deepcopy(layer) if config is None else type(layer)(**config) for _ in range(count - 1)
    ]
    return LayerList([layer, *more])


def settings(arguments: dict[str, Any]) -> dict[str, Any]:
    """What `__init__` was called with, from its locals."""
    return {name: value for name, value in arguments.items() if name not in ("self", "__class__")}


def attributes_for(attribute: Any, count: int) -> list[Any]:
    """One attribute a part: a list has them all, anything else is for each of them.

    A name gets the number of the part, so that no two parameters have the same.
    """
    if isinstance(attribute, (list, tuple)):
        if len(attribute) != count:
            raise ArgumentError(f"{count} attributes of parameters, not {len(attribute)}")
        return list(attribute)
    if not isinstance(attribute, ParamAttr) or not attribute.name:
        return [attribute] * count
    parts = [copy.copy(attribute) for _ in range(count)]
    for number, part in enumerate(parts):
        part.name = f"{attribute.name}_{number}"
    return parts


def as_added_mask(mask: Any, dtype: Any) -> Any:
    """A mask to add to scores: of a bool or integer one -1e9 where it is 0, else 0.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> print(as_added_mask(to_tensor([True, False]), "float32"))
    [ 0.e+00 -1.e+09]
    """
    if mask is None or mask.dtype == dtype:
        return mask
    added = F.cast(mask, dtype)
    return (added - 1.0) * 1e9 if mask.dtype.kind in "biu" else added
