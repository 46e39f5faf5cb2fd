"""Shows layers that are loaded late to type checkers; nothing imports it."""

from dy2st_runtime.nn.activation import (
    Silu as SiLU,
)
from dy2st_runtime.nn.containers import (
    LayerDict as ModuleDict,
)
from dy2st_runtime.nn.containers import (
    LayerList as ModuleList,
)
from dy2st_runtime.nn.convolution import (
    Conv1D as Conv1d,
)
from dy2st_runtime.nn.convolution import (
    Conv2D as Conv2d,
)
from dy2st_runtime.nn.functions.decoding import (
    BeamSearchDecoder,
    dynamic_decode,
)
from dy2st_runtime.nn.layer import (
    Layer as Module,
)
from dy2st_runtime.nn.layers.activations import (
    AlphaDropout,
    Dropout3D,
    FeatureAlphaDropout,
    Maxout,
    RReLU,
    Softmax2D,
    ThresholdedReLU,
)
from dy2st_runtime.nn.layers.images import (
    ChannelShuffle,
    Fold,
    PixelShuffle,
    PixelUnshuffle,
    Unflatten,
    Unfold,
    UpsamplingBilinear2D,
    UpsamplingNearest2D,
)
from dy2st_runtime.nn.layers.losses import (
    CosineEmbeddingLoss,
    CTCLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    PairwiseDistance,
    PoissonNLLLoss,
    RNNTLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from dy2st_runtime.nn.layers.normalisation import (
    BatchNorm,
    BatchNorm3D,
    InstanceNorm1D,
    InstanceNorm3D,
    LocalResponseNorm,
    SpectralNorm,
    SyncBatchNorm,
)
from dy2st_runtime.nn.layers.padding import (
    CircularPad1D,
    CircularPad2D,
    CircularPad3D,
    ConstantPad1D,
    ConstantPad2D,
    ConstantPad3D,
    Pad1D,
    Pad3D,
    ReflectionPad1D,
    ReflectionPad2D,
    ReflectionPad3D,
    ReplicationPad1D,
    ReplicationPad2D,
    ReplicationPad3D,
    ZeroPad1D,
    ZeroPad2D,
    ZeroPad3D,
)
from dy2st_runtime.nn.layers.padding import (
    CircularPad1D as CircularPad1d,
)
from dy2st_runtime.nn.layers.padding import (
    CircularPad2D as CircularPad2d,
)
from dy2st_runtime.nn.layers.padding import (
    CircularPad3D as CircularPad3d,
)
from dy2st_runtime.nn.layers.padding import (
    ConstantPad1D as ConstantPad1d,
)
from dy2st_runtime.nn.layers.padding import (
    ConstantPad2D as ConstantPad2d,
)
from dy2st_runtime.nn.layers.padding import (
    ConstantPad3D as ConstantPad3d,
)
from dy2st_runtime.nn.layers.padding import (
    ReflectionPad1D as ReflectionPad1d,
)
from dy2st_runtime.nn.layers.padding import (
    ReflectionPad2D as ReflectionPad2d,
)
from dy2st_runtime.nn.layers.padding import (
    ReflectionPad3D as ReflectionPad3d,
)
from dy2st_runtime.nn.layers.padding import (
    ReplicationPad1D as ReplicationPad1d,
)
from dy2st_runtime.nn.layers.padding import (
    ReplicationPad2D as ReplicationPad2d,
)
from dy2st_runtime.nn.layers.padding import (
    ReplicationPad3D as ReplicationPad3d,
)
from dy2st_runtime.nn.layers.parameter_dict import (
    ParameterDict,
)
from dy2st_runtime.nn.layers.transformer_decoder import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
)
from dy2st_runtime.nn.layers.trees import (
    AdaptiveLogSoftmaxWithLoss,
    HSigmoidLoss,
)
from dy2st_runtime.nn.layers.volumes import (
    AdaptiveAvgPool3D,
    AdaptiveMaxPool3D,
    AvgPool3D,
    Conv3D,
    Conv3DTranspose,
    MaxPool3D,
)
from dy2st_runtime.nn.layers.volumes import (
    AdaptiveMaxPool3D as AdaptiveMaxPool3d,
)
from dy2st_runtime.nn.layers.volumes import (
    Conv3D as Conv3d,
)
from dy2st_runtime.nn.layers.windows import (
    FractionalMaxPool2D,
    FractionalMaxPool3D,
    LPPool1D,
    LPPool2D,
    MaxUnPool1D,
    MaxUnPool2D,
    MaxUnPool3D,
)
from dy2st_runtime.nn.layers.windows import (
    LPPool1D as LPPool1d,
)
from dy2st_runtime.nn.layers.windows import (
    LPPool2D as LPPool2d,
)
from dy2st_runtime.nn.pooling import (
    AdaptiveMaxPool1D as AdaptiveMaxPool1d,
)
from dy2st_runtime.nn.pooling import (
    AdaptiveMaxPool2D as AdaptiveMaxPool2d,
)
from dy2st_runtime.tensor import (
    Parameter,
)

__all__ = [
    "AdaptiveAvgPool3D",
    "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3D",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool3D",
    "BatchNorm",
    "BatchNorm3D",
    "BeamSearchDecoder",
    "CTCLoss",
    "ChannelShuffle",
    "CircularPad1D",
    "CircularPad1d",
    "CircularPad2D",
    "CircularPad2d",
    "CircularPad3D",
    "CircularPad3d",
    "ConstantPad1D",
    "ConstantPad1d",
    "ConstantPad2D",
    "ConstantPad2d",
    "ConstantPad3D",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3D",
    "Conv3DTranspose",
    "Conv3d",
    "CosineEmbeddingLoss",
    "Dropout3D",
    "FeatureAlphaDropout",
    "Fold",
    "FractionalMaxPool2D",
    "FractionalMaxPool3D",
    "GaussianNLLLoss",
    "HSigmoidLoss",
    "HingeEmbeddingLoss",
    "InstanceNorm1D",
    "InstanceNorm3D",
    "LPPool1D",
    "LPPool1d",
    "LPPool2D",
    "LPPool2d",
    "LocalResponseNorm",
    "MarginRankingLoss",
    "MaxPool3D",
    "MaxUnPool1D",
    "MaxUnPool2D",
    "MaxUnPool3D",
    "Maxout",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "Pad1D",
    "Pad3D",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "RNNTLoss",
    "RReLU",
    "ReflectionPad1D",
    "ReflectionPad1d",
    "ReflectionPad2D",
    "ReflectionPad2d",
    "ReflectionPad3D",
    "ReflectionPad3d",
    "ReplicationPad1D",
    "ReplicationPad1d",
    "ReplicationPad2D",
    "ReplicationPad2d",
    "ReplicationPad3D",
    "ReplicationPad3d",
    "SiLU",
    "SoftMarginLoss",
    "Softmax2D",
    "SpectralNorm",
    "SyncBatchNorm",
    "ThresholdedReLU",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "UpsamplingBilinear2D",
    "UpsamplingNearest2D",
    "ZeroPad1D",
    "ZeroPad2D",
    "ZeroPad3D",
    "dynamic_decode",
]
