"""Layers and functions of networks that few models use, by the module that is loaded for them."""

from __future__ import annotations

from dy2st_runtime.late import places

LAYERS = places(
    {
        "dy2st_runtime.nn.layers.transformer_decoder": "Transformer TransformerDecoder "
        "TransformerDecoderLayer",
    }
)
FUNCTIONALS = places(
    {
        "dy2st_runtime.ops.inplace": "elu_ hardtanh_ leaky_relu_ relu_ softmax_ tanh_",
    }
)
