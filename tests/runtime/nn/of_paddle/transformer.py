"""Cases of attention, encoders and decoders."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.runtime.nn.of_paddle.cases import Cases, wave

CASES = Cases("transformer")
X, Y = wave(2, 3, 4), wave(2, 5, 4, phase=1.0)
KEEP = np.array([[True, True, False]] * 3)
SIZES = ((0, 1), (0, 1))


def attention(**settings: Any) -> Any:
    """A layer of two heads of two."""
    return lambda nn: nn.MultiHeadAttention(4, 2, **settings)


CASES.layer("attention", attention(), X, unknown=((0, 1),))
CASES.layer("attention to another", attention(), X, Y, Y, unknown=(*SIZES, (0, 1)))
CASES.layer("attention of the query to other values", attention(), X, X * 2, unknown=SIZES)
CASES.layer("attention with weights", attention(need_weights=True), X)
CASES.layer("attention of other sizes", attention(kdim=3, vdim=5), X, wave(2, 5, 3), wave(2, 5, 5))
CASES.layer("attention without bias", attention(bias_attr=False), X)
for kind in ("bool", "int32", "float32"):
    CASES.layer(
        f"attention with a mask of {kind}",
        attention(),
        X,
        X,
        X,
        np.broadcast_to(KEEP, (2, 2, 3, 3)).astype(kind),
    )
CASES.layer(
    "attention to nothing",
    attention(need_weights=True),
    X,
    X,
    X,
    np.zeros((1, 1, 3, 3), bool),
    unknown=((0,), (0,), (0,), ()),
)
CASES.layer("encoder layer", lambda nn: nn.TransformerEncoderLayer(4, 2, 6, 0.0), X)
CASES.layer(
    "encoder layer, norms first",
    lambda nn: nn.TransformerEncoderLayer(
        4, 2, 6, 0.0, "gelu", normalize_before=True, bias_attr=False, layer_norm_eps=1e-3
    ),
    X,
    unknown=((0, 1),),
)
CASES.layer(
    "encoder layer, attributes by part",
    lambda nn: nn.TransformerEncoderLayer(4, 2, 6, 0.0, bias_attr=[False, None]),
    X,
)
CASES.layer(
    "encoder",
    lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0), 2, nn.LayerNorm(4)),
    X,
    np.broadcast_to(KEEP, (2, 2, 3, 3)),
)
CASES.layer(
    "decoder layer", lambda nn: nn.TransformerDecoderLayer(4, 2, 6, 0.0), X, Y, unknown=SIZES
)
CASES.layer(
    "decoder layer, norms first",
    lambda nn: nn.TransformerDecoderLayer(
        4, 2, 6, 0.0, "gelu", normalize_before=True, bias_attr=[False, None, False]
    ),
    X,
    Y,
)
CASES.layer(
    "decoder",
    lambda nn: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6, 0.0), 2),
    X,
    Y,
    np.broadcast_to(KEEP, (2, 2, 3, 3)),
    unknown=((0,), (0, 1), (0,)),
)
CASES.layer(
    "transformer", lambda nn: nn.Transformer(4, 2, 1, 1, 6, dropout=0.0), Y, X, unknown=SIZES
)
CASES.layer(
    "transformer, attributes by part",
    lambda nn: nn.Transformer(4, 2, 1, 2, 6, 0.0, bias_attr=[False, None]),
    Y,
    X,
)
