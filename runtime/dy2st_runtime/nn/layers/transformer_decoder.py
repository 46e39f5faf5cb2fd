"""The decoder of the transformer, and encoder and decoder as one model (Vaswani et al. 2017)."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.nn import functional
from dy2st_runtime.nn.common import Dropout, Linear
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.normalisation import LayerNorm
from dy2st_runtime.nn.transformer import (
    Cache,
    MultiHeadAttention,
    StaticCache,
    TransformerEncoder,
    TransformerEncoderLayer,
    alike,
    attributes_for,
    residual,
    settings,
)
from dy2st_runtime.ops.creation import get_default_dtype


class TransformerDecoderLayer(Layer):
    """Self-attention, attention to a memory, and a two-layer network: residuals and LayerNorms.

    (n, l, d_model), (n, s, d_model) -> (n, l, d_model), and the next caches if they are given.

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

    Examples
    --------
    >>> layer = dy2st.nn.TransformerDecoderLayer(8, 2, 16)
    >>> memory = dy2st.ones([1, 4, 8])
    >>> layer(dy2st.ones([1, 3, 8]), memory).shape
    [1, 3, 8]
    >>> own, other = layer.gen_cache(memory)
    >>> own.k.shape, other.k.shape
    ([1, 2, 0, 4], [1, 2, 4, 4])
    """

    _names_in_torch = {"multihead_attn": ("cross_attn",)}

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

        The attributes are for all parameters, or a list for the three parts.
        """
        self._config = settings(locals())
        super().__init__()
        self.normalize_before = normalize_before
        weights, biases = attributes_for(weight_attr, 3), attributes_for(bias_attr, 3)
        attention = dropout if attn_dropout is None else attn_dropout
        self.self_attn, self.cross_attn = (
            MultiHeadAttention(d_model, nhead, attention, weight_attr=weight, bias_attr=bias)
            for weight, bias in zip(weights[:2], biases[:2], strict=True)
        )
        self.linear1 = Linear(d_model, dim_feedforward, weights[2], biases[2])
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[2], biases[2])
        self.norm1 = LayerNorm(d_model, layer_norm_eps)
        self.norm2 = LayerNorm(d_model, layer_norm_eps)
        self.norm3 = LayerNorm(d_model, layer_norm_eps)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = getattr(functional, activation)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        """(n, l, d_model), (n, s, d_model) -> (n, l, d_model), and the next caches if given."""
        own, other = (None, None) if cache is None else cache

        def attend(x: Any) -> Any:
            nonlocal own
            attended = self.self_attn(x, x, x, tgt_mask, own)
            if own is not None:
                attended, own = attended
            return self.dropout1(attended)

        def look(x: Any) -> Any:
            attended = self.cross_attn(x, memory, memory, memory_mask, other)
            return self.dropout2(attended if other is None else attended[0])

        tgt = residual(self, self.norm1, attend, tgt)
        tgt = residual(self, self.norm2, look, tgt)
        tgt = residual(self, self.norm3, self._feed, tgt)
        return tgt if cache is None else (tgt, (own, other))

    def gen_cache(self, memory: Any) -> tuple[Cache, StaticCache]:
        """An empty cache of the own places, and the keys and values of the memory."""
        return (
            self.self_attn.gen_cache(memory),
            self.cross_attn.gen_cache(memory, memory, StaticCache),
        )

    def _feed(self, x: Any) -> Any:
        hidden = self.dropout(self.activation(self.linear1(x)))
        return self.dropout3(self.linear2(hidden))


class TransformerDecoder(Layer):
    """Decoder layers one after the other: the given one, and new ones with its settings.

    >>> layer = dy2st.nn.TransformerDecoderLayer(8, 2, 16)
    >>> decoder, memory = dy2st.nn.TransformerDecoder(layer, 2), dy2st.ones([1, 4, 8])
    >>> decoder(dy2st.ones([1, 3, 8]), memory).shape, len(decoder.gen_cache(memory))
    ([1, 3, 8], 2)
    """

    def __init__(
        self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Layer | None = None
    ):
        """Take one layer and how many there shall be."""
        super().__init__()
        self.layers = alike(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        """(n, l, d_model), (n, s, d_model) -> (n, l, d_model), and the next caches if given."""
        masks, caches = {"tgt_mask": tgt_mask, "memory_mask": memory_mask}, []
        for index, layer in enumerate(self.layers):
            if cache is None:
                tgt = layer(tgt, memory, **masks)
            else:
                tgt, after = layer(tgt, memory, **masks, cache=cache[index])
                caches.append(after)
        tgt = tgt if self.norm is None else self.norm(tgt)
        return tgt if cache is None else (tgt, caches)

    def gen_cache(self, memory: Any, do_zip: bool = False) -> list[Any]:
        """First caches by layer; with `do_zip` all own ones, then all of the memory."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


class Transformer(Layer):
    """An encoder of sources and a decoder of targets that attends to what the encoder gives.

    (n, s, d_model), (n, l, d_model) -> (n, l, d_model) (Vaswani et al. 2017).

    Parameters
    ----------
    d_model, nhead, dim_feedforward
        Features, the number of heads, features in the middle of the networks.
    num_encoder_layers, num_decoder_layers
        How many layers there are.
    dropout, attn_dropout, act_dropout, activation, normalize_before
        As of `TransformerEncoderLayer`.
    custom_encoder, custom_decoder
        An encoder, or a decoder, of one's own.

    Examples
    --------
    >>> model = dy2st.nn.Transformer(8, 2, 1, 1, 16)
    >>> model(dy2st.ones([2, 4, 8]), dy2st.ones([2, 3, 8])).shape
    [2, 3, 8]
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Layer | None = None,
        custom_decoder: Layer | None = None,
    ):
        """Take the sizes, or an encoder or a decoder of one's own."""
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout)
        weights, biases = _by_part(weight_attr), _by_part(bias_attr)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*sizes, normalize_before, weights[0], biases[0])
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model))
        self.encoder = custom_encoder
        if custom_decoder is None:
            last = TransformerDecoderLayer(*sizes, normalize_before, weights[1], biases[1])
            custom_decoder = TransformerDecoder(last, num_decoder_layers, LayerNorm(d_model))
        self.decoder = custom_decoder
        self.d_model, self.nhead = d_model, nhead

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
    ) -> Any:
        """(n, s, d_model), (n, l, d_model) -> (n, l, d_model)."""
        memory = self.encoder(src, src_mask=src_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)

    def generate_square_subsequent_mask(self, length: Any) -> Any:
        """(length, length): 0 for places up to the own one, -inf for those that follow.

        >>> print(Transformer(2, 1, 1, 1, 2).generate_square_subsequent_mask(2))
        [[  0. -inf]
         [  0.   0.]]
        """
        dtype = get_default_dtype()
        places = F.arange(length)
        later = F.greater_than(places, F.unsqueeze(places, [1]))
        zeros = F.zeros([length, length], dtype)
        return F.where(later, F.full([length, length], float("-inf"), dtype), zeros)


def _by_part(attribute: Any) -> tuple[Any, Any]:
    """Attributes for an encoder layer, of two parts, and for a decoder layer, of three."""
    if not isinstance(attribute, (list, tuple)):
        return attribute, attribute
    if not 1 <= len(attribute) <= 3:
        raise ArgumentError(f"one to three attributes of parameters, not {len(attribute)}")
    first, last = attribute[0], attribute[-1]
    middle = attribute[1] if len(attribute) == 3 else first
    return [first, last], [first, middle, last]
