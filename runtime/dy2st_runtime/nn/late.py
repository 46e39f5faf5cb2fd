"""Layers and functions of networks that few models use, by the module that is loaded for them."""

from __future__ import annotations

from dy2st_runtime.late import places

_LAYERS = "dy2st_runtime.nn.layers"
_FUNCTIONS = "dy2st_runtime.nn.functions"
_OPERATORS = "dy2st_runtime.ops"

LAYERS = places(
    {
        f"{_LAYERS}.images": "ChannelShuffle Fold PixelShuffle PixelUnshuffle Unflatten Unfold "
        "UpsamplingBilinear2D UpsamplingNearest2D",
        f"{_LAYERS}.padding": "CircularPad1D CircularPad2D CircularPad3D ConstantPad1D "
        "ConstantPad2D ConstantPad3D Pad1D Pad3D ReflectionPad1D ReflectionPad2D ReflectionPad3D "
        "ReplicationPad1D ReplicationPad2D ReplicationPad3D ZeroPad1D ZeroPad2D ZeroPad3D",
        f"{_LAYERS}.transformer_decoder": "Transformer TransformerDecoder TransformerDecoderLayer",
        f"{_LAYERS}.volumes": "AdaptiveAvgPool3D AdaptiveMaxPool3D AvgPool3D Conv3D "
        "Conv3DTranspose MaxPool3D",
    }
)
FUNCTIONALS = places(
    {
        f"{_FUNCTIONS}.grid": "affine_grid grid_sample",
        f"{_FUNCTIONS}.pixels": "channel_shuffle pixel_unshuffle temporal_shift",
        f"{_FUNCTIONS}.unfold": "fold unfold",
        f"{_FUNCTIONS}.zero_padding": "zeropad2d",
        f"{_OPERATORS}.inplace": "elu_ hardtanh_ leaky_relu_ relu_ softmax_ tanh_",
        f"{_OPERATORS}.volumes": "adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d "
        "conv3d_transpose max_pool3d",
    }
)
