"""Layers, losses and initialisers under PaddlePaddle's names: those of `dy2st_runtime.nn`."""

from collections.abc import Sequence
from dy2st.nn import (
    functional as functional,
    init as init,
    initializer as initializer,
    layer as layer,
    quant as quant,
    utils as utils,
)
from dy2st_runtime.ir.tensor import ShapeLike, Tensor, TensorLike
from dy2st_runtime.ir.types import DTypeLike
from dy2st_runtime.nn.activation import (
    CELU as _CELU,
    ELU as _ELU,
    GELU as _GELU,
    GLU as _GLU,
    Hardshrink as _Hardshrink,
    Hardsigmoid as _Hardsigmoid,
    Hardswish as _Hardswish,
    Hardtanh as _Hardtanh,
    LeakyReLU as _LeakyReLU,
    LogSigmoid as _LogSigmoid,
    LogSoftmax as _LogSoftmax,
    Mish as _Mish,
    PReLU as _PReLU,
    ReLU as _ReLU,
    ReLU6 as _ReLU6,
    SELU as _SELU,
    Sigmoid as _Sigmoid,
    Silu as _SiLU,
    Softmax as _Softmax,
    Softplus as _Softplus,
    Softshrink as _Softshrink,
    Softsign as _Softsign,
    Swish as _Swish,
    Tanh as _Tanh,
    Tanhshrink as _Tanhshrink,
)
from dy2st_runtime.nn.clip import (
    ClipGradBase as ClipGradBase,
    ClipGradByGlobalNorm as ClipGradByGlobalNorm,
    ClipGradByNorm as ClipGradByNorm,
    ClipGradByValue as ClipGradByValue,
)
from dy2st_runtime.nn.common import (
    Bilinear as _Bilinear,
    CosineSimilarity as _CosineSimilarity,
    Dropout as _Dropout,
    Dropout2D as _Dropout2D,
    Embedding as _Embedding,
    Flatten as _Flatten,
    Identity as _Identity,
    Linear as _Linear,
    Pad2D as _Pad2D,
    Upsample as _Upsample,
)
from dy2st_runtime.nn.containers import (
    LayerDict as LayerDict,
    LayerDict as _ModuleDict,
    LayerList as LayerList,
    LayerList as _ModuleList,
    ParameterList as ParameterList,
    Sequential as _Sequential,
)
from dy2st_runtime.nn.convolution import (
    Conv1D as _Conv1D,
    Conv1DTranspose as _Conv1DTranspose,
    Conv2D as _Conv2D,
    Conv2DTranspose as _Conv2DTranspose,
)
from dy2st_runtime.nn.functions.decoding import BeamSearchDecoder as BeamSearchDecoder
from dy2st_runtime.nn.initializer import Initializer
from dy2st_runtime.nn.layer import Layer as Layer, Layer as _Module
from dy2st_runtime.nn.layers.activations import (
    AlphaDropout as _AlphaDropout,
    Dropout3D as _Dropout3D,
    FeatureAlphaDropout as _FeatureAlphaDropout,
    Maxout as _Maxout,
    RReLU as _RReLU,
    Softmax2D as _Softmax2D,
    ThresholdedReLU as _ThresholdedReLU,
)
from dy2st_runtime.nn.layers.images import (
    ChannelShuffle as _ChannelShuffle,
    Fold as _Fold,
    PixelShuffle as _PixelShuffle,
    PixelUnshuffle as _PixelUnshuffle,
    Unflatten as _Unflatten,
    Unfold as _Unfold,
    UpsamplingBilinear2D as _UpsamplingBilinear2D,
    UpsamplingNearest2D as _UpsamplingNearest2D,
)
from dy2st_runtime.nn.layers.losses import (
    CTCLoss as _CTCLoss,
    CosineEmbeddingLoss as _CosineEmbeddingLoss,
    GaussianNLLLoss as _GaussianNLLLoss,
    HingeEmbeddingLoss as _HingeEmbeddingLoss,
    MarginRankingLoss as _MarginRankingLoss,
    MultiLabelMarginLoss as _MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss as _MultiLabelSoftMarginLoss,
    MultiMarginLoss as _MultiMarginLoss,
    PairwiseDistance as _PairwiseDistance,
    PoissonNLLLoss as _PoissonNLLLoss,
    RNNTLoss as _RNNTLoss,
    SoftMarginLoss as _SoftMarginLoss,
    TripletMarginLoss as _TripletMarginLoss,
    TripletMarginWithDistanceLoss as _TripletMarginWithDistanceLoss,
)
from dy2st_runtime.nn.layers.normalisation import (
    BatchNorm as _BatchNorm,
    BatchNorm3D as _BatchNorm3D,
    InstanceNorm1D as _InstanceNorm1D,
    InstanceNorm3D as _InstanceNorm3D,
    LocalResponseNorm as _LocalResponseNorm,
    SpectralNorm as _SpectralNorm,
    SyncBatchNorm as _SyncBatchNorm,
)
from dy2st_runtime.nn.layers.padding import (
    CircularPad1D as _CircularPad1D,
    CircularPad2D as _CircularPad2D,
    CircularPad3D as _CircularPad3D,
    ConstantPad1D as _ConstantPad1D,
    ConstantPad2D as _ConstantPad2D,
    ConstantPad3D as _ConstantPad3D,
    Pad1D as _Pad1D,
    Pad3D as _Pad3D,
    ReflectionPad1D as _ReflectionPad1D,
    ReflectionPad2D as _ReflectionPad2D,
    ReflectionPad3D as _ReflectionPad3D,
    ReplicationPad1D as _ReplicationPad1D,
    ReplicationPad2D as _ReplicationPad2D,
    ReplicationPad3D as _ReplicationPad3D,
    ZeroPad1D as _ZeroPad1D,
    ZeroPad2D as _ZeroPad2D,
    ZeroPad3D as _ZeroPad3D,
)
from dy2st_runtime.nn.layers.parameter_dict import ParameterDict as ParameterDict
from dy2st_runtime.nn.layers.transformer_decoder import (
    Transformer as _Transformer,
    TransformerDecoder as _TransformerDecoder,
    TransformerDecoderLayer as _TransformerDecoderLayer,
)
from dy2st_runtime.nn.layers.trees import (
    AdaptiveLogSoftmaxWithLoss as _AdaptiveLogSoftmaxWithLoss,
    HSigmoidLoss as _HSigmoidLoss,
)
from dy2st_runtime.nn.layers.volumes import (
    AdaptiveAvgPool3D as _AdaptiveAvgPool3D,
    AdaptiveMaxPool3D as _AdaptiveMaxPool3D,
    AvgPool3D as _AvgPool3D,
    Conv3D as _Conv3D,
    Conv3DTranspose as _Conv3DTranspose,
    MaxPool3D as _MaxPool3D,
)
from dy2st_runtime.nn.layers.windows import (
    FractionalMaxPool2D as _FractionalMaxPool2D,
    FractionalMaxPool3D as _FractionalMaxPool3D,
    LPPool1D as _LPPool1D,
    LPPool2D as _LPPool2D,
    MaxUnPool1D as _MaxUnPool1D,
    MaxUnPool2D as _MaxUnPool2D,
    MaxUnPool3D as _MaxUnPool3D,
)
from dy2st_runtime.nn.loss import (
    BCELoss as _BCELoss,
    BCEWithLogitsLoss as _BCEWithLogitsLoss,
    CrossEntropyLoss as _CrossEntropyLoss,
    KLDivLoss as _KLDivLoss,
    L1Loss as _L1Loss,
    MSELoss as _MSELoss,
    NLLLoss as _NLLLoss,
    SmoothL1Loss as _SmoothL1Loss,
)
from dy2st_runtime.nn.normalisation import (
    BatchNorm1D as _BatchNorm1D,
    BatchNorm2D as _BatchNorm2D,
    GroupNorm as _GroupNorm,
    InstanceNorm2D as _InstanceNorm2D,
    LayerNorm as _LayerNorm,
    RMSNorm as _RMSNorm,
)
from dy2st_runtime.nn.parameters import ParamAttr as ParamAttr
from dy2st_runtime.nn.pooling import (
    AdaptiveAvgPool1D as _AdaptiveAvgPool1D,
    AdaptiveAvgPool2D as _AdaptiveAvgPool2D,
    AdaptiveMaxPool1D as _AdaptiveMaxPool1D,
    AdaptiveMaxPool2D as _AdaptiveMaxPool2D,
    AvgPool1D as _AvgPool1D,
    AvgPool2D as _AvgPool2D,
    MaxPool1D as _MaxPool1D,
    MaxPool2D as _MaxPool2D,
)
from dy2st_runtime.nn.recurrent import (
    BiRNN as _BiRNN,
    GRU as _GRU,
    GRUCell as _GRUCell,
    LSTM as _LSTM,
    LSTMCell as _LSTMCell,
    RNN as _RNN,
    RNNCellBase as RNNCellBase,
    SimpleRNN as _SimpleRNN,
    SimpleRNNCell as _SimpleRNNCell,
)
from dy2st_runtime.nn.transformer import (
    MultiHeadAttention as _MultiHeadAttention,
    TransformerEncoder as _TransformerEncoder,
    TransformerEncoderLayer as _TransformerEncoderLayer,
)
from dy2st_runtime.place import Place
from dy2st_runtime.tensor import Parameter as Parameter
from typing import Any

class AdaptiveAvgPool1D(_AdaptiveAvgPool1D):
    """(n, c, l) -> (n, c, out): means of equal parts, which overlap if out does not divide l."""
    output_size: Any
    def __init__(self, output_size: int | Sequence[int | None], name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class AdaptiveAvgPool2D(_AdaptiveAvgPool2D):
    """(n, c, h, w) -> (n, c, *out): means of equal parts; None for a size keeps that of the input."""
    data_format: Any
    output_size: Any
    def __init__(self, output_size: int | Sequence[int | None], data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class AdaptiveAvgPool3D(_AdaptiveAvgPool3D):
    """(n, c, d, h, w) -> (n, c, *out): means of equal parts."""
    def __init__(self, output_size: int | Sequence[int | None], data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class AdaptiveLogSoftmaxWithLoss(_AdaptiveLogSoftmaxWithLoss):
    """Log-probabilities of many classes, the rare ones in clusters (Grave et al. 2016)."""
    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int], weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, div_value: float = 4.0, head_bias: bool = False, name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> tuple[Tensor, Tensor]: ...
class AdaptiveMaxPool1D(_AdaptiveMaxPool1D):
    """(n, c, l) -> (n, c, out): the largest of equal parts; with `return_mask` their places too."""
    output_size: Any
    return_mask: Any
    def __init__(self, output_size: int | Sequence[int | None], return_mask: bool = False, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
AdaptiveMaxPool1d = AdaptiveMaxPool1D
class AdaptiveMaxPool2D(_AdaptiveMaxPool2D):
    """(n, c, h, w) -> (n, c, *out): the largest of equal parts, with `return_mask` their places."""
    output_size: Any
    return_mask: Any
    def __init__(self, output_size: int | Sequence[int | None], return_mask: bool = False, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
AdaptiveMaxPool2d = AdaptiveMaxPool2D
class AdaptiveMaxPool3D(_AdaptiveMaxPool3D):
    """(n, c, d, h, w) -> (n, c, *out): the largest of equal parts."""
    def __init__(self, output_size: int | Sequence[int | None], return_mask: bool = False, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
AdaptiveMaxPool3d = AdaptiveMaxPool3D
class AlphaDropout(_AlphaDropout):
    """Dropout that keeps mean and variance of what SELU gives (Klambauer et al. 2017)."""
    def __init__(self, p: float = 0.5, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class AvgPool1D(_AvgPool1D):
    """(n, c, l) -> (n, c, l'): the mean of every window; `exclusive` does not count padding."""
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, *last: Any, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class AvgPool2D(_AvgPool2D):
    """(n, c, h, w) -> (n, c, h', w'): the mean of every window; `exclusive` counts no padding."""
    divisor: Any
    ksize: Any
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, *last: Any, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class AvgPool3D(_AvgPool3D):
    """(n, c, d, h, w) -> (n, c, d', h', w'): means; `exclusive` counts no padding."""
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, ceil_mode: bool = False, exclusive: bool = True, divisor_override: int | None = None, data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class BCELoss(_BCELoss):
    """-(label * log(input) + (1 - label) * log(1 - input)), of probabilities."""
    def __init__(self, weight: TensorLike | None = None, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class BCEWithLogitsLoss(_BCEWithLogitsLoss):
    """`BCELoss` of sigmoid(logit), computed stably."""
    def __init__(self, weight: TensorLike | None = None, reduction: str = 'mean', pos_weight: TensorLike | None = None, name: str | None = None) -> None: ...
    def forward(self, logit: Tensor, label: Tensor) -> Tensor: ...
class BatchNorm(_BatchNorm):
    """Batch normalisation of (n, c, ...), then the activation `act` by its name."""
    weight: Parameter
    bias: Parameter
    act: Any
    data_format: Any
    epsilon: Any
    momentum: Any
    num_channels: Any
    num_features: Any
    trainable_statistics: Any
    use_global_stats: Any
    def __init__(self, num_channels: int, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-05, param_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, dtype: DTypeLike = 'float32', data_layout: str = 'NCHW', in_place: bool = False, moving_mean_name: str | None = None, moving_variance_name: str | None = None, do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False, trainable_statistics: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
class BatchNorm1D(_BatchNorm1D):
    """Batch normalisation of (n, c) or (n, c, l) (Ioffe and Szegedy 2015)."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    epsilon: Any
    momentum: Any
    num_features: Any
    use_global_stats: Any
    def __init__(self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str | None = None, use_global_stats: bool | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class BatchNorm2D(_BatchNorm2D):
    """Batch normalisation of (n, c, h, w) (Ioffe and Szegedy 2015)."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    epsilon: Any
    momentum: Any
    num_features: Any
    use_global_stats: Any
    def __init__(self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str | None = None, use_global_stats: bool | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class BatchNorm3D(_BatchNorm3D):
    """Batch normalisation of (n, c, d, h, w) (Ioffe and Szegedy 2015); see `BatchNorm2D`."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    epsilon: Any
    momentum: Any
    num_features: Any
    use_global_stats: Any
    def __init__(self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str | None = None, use_global_stats: bool | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class BiRNN(_BiRNN):
    """Runs one cell forwards and one backwards: (n, l, input) -> (n, l, 2*hidden), two states."""
    def __init__(self, cell_fw: Layer, cell_bw: Layer, time_major: bool = False) -> None: ...
    def forward(self, inputs: Tensor, initial_states: Tensor | Sequence[Tensor] | None = None, sequence_length: Tensor | None = None, **kwargs: Any) -> tuple[Tensor, Tensor]: ...
class Bilinear(_Bilinear):
    """y[k] = x1 @ weight[k] @ x2 + bias[k]: (n, a), (n, b) -> (n, out)."""
    weight: Parameter
    bias: Parameter
    in1_features: Any
    in2_features: Any
    out_features: Any
    def __init__(self, in1_features: int, in2_features: int, out_features: int, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, name: str | None = None) -> None: ...
    def forward(self, x1: Tensor, x2: Tensor) -> Tensor: ...
class CELU(_CELU):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) (Barron 2017)."""
    alpha: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class CTCLoss(_CTCLoss):
    """-log of the sum of the probabilities of all alignments (Graves et al. 2006)."""
    def __init__(self, blank: int = 0, reduction: str = 'mean', zero_infinity: bool = False) -> None: ...
    def forward(self, log_probs: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor, norm_by_times: bool = False) -> Tensor: ...
class ChannelShuffle(_ChannelShuffle):
    """(n, c, h, w) -> (n, c, h, w): the first channel of every group, then the second ones."""
    def __init__(self, groups: int, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class CircularPad1D(_CircularPad1D):
    """(n, c, l) goes on with its own other end."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCL', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
CircularPad1d = CircularPad1D
class CircularPad2D(_CircularPad2D):
    """(n, c, h, w) goes on with its own other ends."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
CircularPad2d = CircularPad2D
class CircularPad3D(_CircularPad3D):
    """(n, c, d, h, w) goes on with its own other ends."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
CircularPad3d = CircularPad3D
class ConstantPad1D(_ConstantPad1D):
    """One number around (n, c, l)."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], value: TensorLike, data_format: str = 'NCL', name: str | None = None) -> None: ...
    def forward(self, x: Tensor, mode: str = 'constant') -> Tensor: ...
ConstantPad1d = ConstantPad1D
class ConstantPad2D(_ConstantPad2D):
    """One number around (n, c, h, w), by [left, right, top, bottom]."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], value: TensorLike, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor, mode: str = 'constant') -> Tensor: ...
ConstantPad2d = ConstantPad2D
class ConstantPad3D(_ConstantPad3D):
    """One number around (n, c, d, h, w), by six numbers, those of w first."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], value: TensorLike, data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor, mode: str = 'constant') -> Tensor: ...
ConstantPad3d = ConstantPad3D
class Conv1D(_Conv1D):
    """Cross-correlation along one axis: (n, in, l) -> (n, out, l')."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    dilation: Any
    groups: Any
    in_channels: Any
    kernel_size: Any
    out_channels: Any
    padding: Any
    padding_mode: Any
    stride: Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int], stride: int | Sequence[int] = 1, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, dilation: int | Sequence[int] = 1, groups: int = 1, padding_mode: str = 'zeros', weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str | None = None, output_padding: int | Sequence[int] = 0, bias: bool = True, dtype: DTypeLike | None = None) -> None: ...
    def forward(self, x: Tensor, output_size: int | Sequence[int | None] | None = None) -> Tensor: ...
class Conv1DTranspose(_Conv1DTranspose):
    """The gradient of Conv1D with respect to its input: (n, in, l) -> (n, out, l')."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    dilation: Any
    groups: Any
    in_channels: Any
    kernel_size: Any
    out_channels: Any
    padding: Any
    padding_mode: Any
    stride: Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int], stride: int | Sequence[int] = 1, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, output_padding: int | Sequence[int] = 0, groups: int = 1, dilation: int | Sequence[int] = 1, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str = 'NCL') -> None: ...
    def forward(self, x: Tensor, output_size: int | Sequence[int | None] | None = None) -> Tensor: ...
Conv1d = Conv1D
class Conv2D(_Conv2D):
    """Cross-correlation along two axes: (n, in, h, w) -> (n, out, h', w')."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    dilation: Any
    groups: Any
    in_channels: Any
    kernel_size: Any
    out_channels: Any
    padding: Any
    padding_mode: Any
    stride: Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int], stride: int | Sequence[int] = 1, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, dilation: int | Sequence[int] = 1, groups: int = 1, padding_mode: str = 'zeros', weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str | None = None, output_padding: int | Sequence[int] = 0, bias: bool = True, dtype: DTypeLike | None = None) -> None: ...
    def forward(self, x: Tensor, output_size: int | Sequence[int | None] | None = None) -> Tensor: ...
class Conv2DTranspose(_Conv2DTranspose):
    """The gradient of Conv2D with respect to its input: (n, in, h, w) -> (n, out, h', w')."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    dilation: Any
    groups: Any
    in_channels: Any
    kernel_size: Any
    out_channels: Any
    padding: Any
    padding_mode: Any
    stride: Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int], stride: int | Sequence[int] = 1, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, output_padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str = 'NCHW') -> None: ...
    def forward(self, x: Tensor, output_size: int | Sequence[int | None] | None = None) -> Tensor: ...
Conv2d = Conv2D
class Conv3D(_Conv3D):
    """Cross-correlation along three axes: (n, in, d, h, w) -> (n, out, d', h', w'); see `Conv2D`."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    dilation: Any
    groups: Any
    in_channels: Any
    kernel_size: Any
    out_channels: Any
    padding: Any
    padding_mode: Any
    stride: Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int], stride: int | Sequence[int] = 1, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, dilation: int | Sequence[int] = 1, groups: int = 1, padding_mode: str = 'zeros', weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str | None = None, output_padding: int | Sequence[int] = 0, bias: bool = True, dtype: DTypeLike | None = None) -> None: ...
    def forward(self, x: Tensor, output_size: int | Sequence[int | None] | None = None) -> Tensor: ...
class Conv3DTranspose(_Conv3DTranspose):
    """The gradient of Conv3D with respect to its input: (n, in, d, h, w) -> (n, out, d', h', w')."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    dilation: Any
    groups: Any
    in_channels: Any
    kernel_size: Any
    out_channels: Any
    padding: Any
    padding_mode: Any
    stride: Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int], stride: int | Sequence[int] = 1, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, output_padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str = 'NCDHW') -> None: ...
    def forward(self, x: Tensor, output_size: int | Sequence[int | None] | None = None) -> Tensor: ...
Conv3d = Conv3D
class CosineEmbeddingLoss(_CosineEmbeddingLoss):
    """1 - cos where the label is 1, max(0, cos - margin) where it is -1: (n, d), (n, d), (n,)."""
    def __init__(self, margin: float = 0, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input1: Tensor, input2: Tensor, label: Tensor) -> Tensor: ...
class CosineSimilarity(_CosineSimilarity):
    """x1 . x2 / max(|x1| |x2|, eps) along an axis, which goes: (n, d), (n, d) -> (n,)."""
    axis: Any
    eps: Any
    def __init__(self, axis: int = 1, eps: float = 1e-08) -> None: ...
    def forward(self, x1: Tensor, x2: Tensor) -> Tensor: ...
class CrossEntropyLoss(_CrossEntropyLoss):
    """-log softmax(input)[label], or with soft labels -sum(label * log softmax(input))."""
    def __init__(self, weight: TensorLike | None = None, ignore_index: int = -100, reduction: str = 'mean', soft_label: bool = False, axis: int = -1, use_softmax: bool = True, label_smoothing: float = 0.0, name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class Dropout(_Dropout):
    """While training, zero with probability p; what is kept is divided by 1 - p."""
    def __init__(self, p: float = 0.5, inplace: bool = False, axis: int | Sequence[int] | None = None, mode: str = 'upscale_in_train', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Dropout2D(_Dropout2D):
    """While training, zero whole channels of (n, c, h, w) with probability p."""
    def __init__(self, p: float = 0.5, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Dropout3D(_Dropout3D):
    """While training, zero whole channels of (n, c, d, h, w) with probability p."""
    def __init__(self, p: float = 0.5, data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class ELU(_ELU):
    """x where x > 0, else alpha * (exp(x) - 1) (Clevert et al. 2015)."""
    alpha: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Embedding(_Embedding):
    """y = weight[x]: integers (...) -> (..., embedding_dim)."""
    embedding_dim: Any
    max_norm: Any
    norm_type: Any
    num_embeddings: Any
    padding_idx: Any
    scale_grad_by_freq: Any
    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None, _freeze: bool = False, dtype: DTypeLike | None = None, weight_attr: ParamAttr | Initializer | str | bool | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class FeatureAlphaDropout(_FeatureAlphaDropout):
    """`AlphaDropout` of whole channels of (n, c, ...)."""
    def __init__(self, p: float = 0.5, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Flatten(_Flatten):
    """Axes from start_axis to stop_axis become one: (n, a, b) -> (n, a*b) with the defaults."""
    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Fold(_Fold):
    """(n, c * kh * kw, windows) -> (n, c, h, w): windows added to the image."""
    def __init__(self, output_sizes: ShapeLike, kernel_sizes: int | Sequence[int], dilations: int | Sequence[int] = 1, paddings: int | Sequence[int] = 0, strides: int | Sequence[int] = 1, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class FractionalMaxPool2D(_FractionalMaxPool2D):
    """(n, c, h, w) -> (n, c, *out): the largest of windows of random size (Graham 2014)."""
    def __init__(self, output_size: int | Sequence[int | None], kernel_size: int | Sequence[int] | None = None, random_u: Any = None, return_mask: bool = False, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class FractionalMaxPool3D(_FractionalMaxPool3D):
    """(n, c, d, h, w) -> (n, c, *out): the largest of windows of random size (Graham 2014)."""
    def __init__(self, output_size: int | Sequence[int | None], kernel_size: int | Sequence[int] | None = None, random_u: Any = None, return_mask: bool = False, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class GELU(_GELU):
    """x * (1 + erf(x / sqrt(2))) / 2 (Hendrycks and Gimpel 2016)."""
    approximate: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class GLU(_GLU):
    """a * sigmoid(b), with a and b the halves of an axis: (n, 2*c) -> (n, c) (Dauphin et al. 2016)."""
    axis: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class GRU(_GRU):
    """Layers of GRUCell: (n, l, input) -> (n, l, hidden*directions), last states."""
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, direction: str = 'forward', time_major: bool = False, dropout: float = 0.0, weight_ih_attr: ParamAttr | Initializer | str | bool | None = None, weight_hh_attr: ParamAttr | Initializer | str | bool | None = None, bias_ih_attr: ParamAttr | Initializer | str | bool | None = None, bias_hh_attr: ParamAttr | Initializer | str | bool | None = None, name: str | None = None, **cell_settings: Any) -> None: ...
    def forward(self, inputs: Tensor, initial_states: Tensor | Sequence[Tensor] | None = None, sequence_length: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
class GRUCell(_GRUCell):
    """h' = z * h + (1 - z) * tanh(W x + r * (U h)) (Cho et al. 2014)."""
    def __init__(self, input_size: int, hidden_size: int, weight_ih_attr: ParamAttr | Initializer | str | bool | None = None, weight_hh_attr: ParamAttr | Initializer | str | bool | None = None, bias_ih_attr: ParamAttr | Initializer | str | bool | None = None, bias_hh_attr: ParamAttr | Initializer | str | bool | None = None, name: str | None = None) -> None: ...
    def forward(self, inputs: Tensor, states: Tensor | Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]: ...
class GaussianNLLLoss(_GaussianNLLLoss):
    """(log(v) + (input - label)**2 / v) / 2 with v = max(variance, epsilon)."""
    def __init__(self, full: bool = False, epsilon: float = 1e-06, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor, variance: Tensor) -> Tensor: ...
class GroupNorm(_GroupNorm):
    """Normalise groups of channels of (n, c, ...) (Wu and He 2018)."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    epsilon: Any
    num_channels: Any
    num_groups: Any
    def __init__(self, num_groups: int, num_channels: int, epsilon: float = 1e-05, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str = 'NCHW', name: str | None = None, *, affine: bool = True, device: Place | str | None = None, dtype: DTypeLike | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class HSigmoidLoss(_HSigmoidLoss):
    """-log of the product of the choices from the root to the label's leaf (Morin and Bengio 2005)."""
    weight: Parameter
    bias: Parameter
    def __init__(self, feature_size: int, num_classes: int, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, is_custom: bool = False, is_sparse: bool = False, name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor, path_table: Tensor | None = None, path_code: Tensor | None = None) -> Tensor: ...
class Hardshrink(_Hardshrink):
    """x where |x| > threshold, else 0."""
    threshold: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Hardsigmoid(_Hardsigmoid):
    """min(max(x / 6 + 1/2, 0), 1): straight lines for a sigmoid (Courbariaux et al. 2015)."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Hardswish(_Hardswish):
    """x * min(max(x + 3, 0), 6) / 6 (Howard et al. 2019)."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Hardtanh(_Hardtanh):
    """min(max(x, min), max)."""
    max: Any
    min: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class HingeEmbeddingLoss(_HingeEmbeddingLoss):
    """input where the label is 1, max(0, margin - input) where it is -1."""
    def __init__(self, margin: float = 1.0, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class Identity(_Identity):
    """y = x, whatever it was made with."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class InstanceNorm1D(_InstanceNorm1D):
    """Normalise every channel of every sequence of (n, c, l), or of (n, c) as of length 1."""
    bias: Parameter
    data_format: Any
    epsilon: Any
    momentum: Any
    num_features: Any
    weight: Any
    def __init__(self, num_features: int, epsilon: float = 1e-05, momentum: float = 0.9, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class InstanceNorm2D(_InstanceNorm2D):
    """Normalise every channel of every image of (n, c, h, w) (Ulyanov et al. 2016)."""
    bias: Parameter
    data_format: Any
    epsilon: Any
    momentum: Any
    num_features: Any
    weight: Any
    def __init__(self, num_features: int, epsilon: float = 1e-05, momentum: float = 0.9, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class InstanceNorm3D(_InstanceNorm3D):
    """Normalise every channel of every volume of (n, c, d, h, w)."""
    bias: Parameter
    data_format: Any
    epsilon: Any
    momentum: Any
    num_features: Any
    weight: Any
    def __init__(self, num_features: int, epsilon: float = 1e-05, momentum: float = 0.9, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class KLDivLoss(_KLDivLoss):
    """label * (log(label) - input); with `log_target` the label holds logarithms."""
    def __init__(self, reduction: str = 'mean', log_target: bool = False) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class L1Loss(_L1Loss):
    """|input - label|: two tensors of one shape -> scalar, or that shape with reduction 'none'."""
    def __init__(self, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class LPPool1D(_LPPool1D):
    """(n, c, l) -> (n, c, l'): (sum x**p)**(1/p) of every window, with p = norm_type."""
    def __init__(self, norm_type: float, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, ceil_mode: bool = False, data_format: str = 'NCL', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
LPPool1d = LPPool1D
class LPPool2D(_LPPool2D):
    """(n, c, h, w) -> (n, c, h', w'): (sum x**p)**(1/p) of every window, with p = norm_type."""
    def __init__(self, norm_type: float, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, ceil_mode: bool = False, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
LPPool2d = LPPool2D
class LSTM(_LSTM):
    """Layers of LSTMCell: (n, l, input) -> (n, l, hidden*directions), (h, c)."""
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, direction: str = 'forward', time_major: bool = False, dropout: float = 0.0, weight_ih_attr: ParamAttr | Initializer | str | bool | None = None, weight_hh_attr: ParamAttr | Initializer | str | bool | None = None, bias_ih_attr: ParamAttr | Initializer | str | bool | None = None, bias_hh_attr: ParamAttr | Initializer | str | bool | None = None, proj_size: int = 0, name: str | None = None) -> None: ...
    def forward(self, inputs: Tensor, initial_states: Tensor | Sequence[Tensor] | None = None, sequence_length: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
class LSTMCell(_LSTMCell):
    """c' = f * c + i * g; h' = o * tanh(c') (Hochreiter and Schmidhuber 1997)."""
    def __init__(self, input_size: int, hidden_size: int, weight_ih_attr: ParamAttr | Initializer | str | bool | None = None, weight_hh_attr: ParamAttr | Initializer | str | bool | None = None, bias_ih_attr: ParamAttr | Initializer | str | bool | None = None, bias_hh_attr: ParamAttr | Initializer | str | bool | None = None, proj_size: int = 0, name: str | None = None) -> None: ...
    def forward(self, inputs: Tensor, states: Tensor | Sequence[Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...
class LayerNorm(_LayerNorm):
    """y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes (Ba 2016)."""
    weight: Parameter
    bias: Parameter
    epsilon: Any
    normalized_shape: Any
    def __init__(self, normalized_shape: int | Sequence[int], epsilon: float = 1e-05, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, name: str | None = None, *, elementwise_affine: bool = True, bias: bool = True, device: Place | str | None = None, dtype: DTypeLike | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class LeakyReLU(_LeakyReLU):
    """max(x, 0) + negative_slope * min(x, 0)."""
    negative_slope: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Linear(_Linear):
    """y = x @ weight + bias: (..., in) @ (in, out) + (out,) -> (..., out)."""
    weight: Parameter
    bias: Parameter
    def __init__(self, in_features: int, out_features: int, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class LocalResponseNorm(_LocalResponseNorm):
    """y = x / (k + alpha * the mean of x**2 over `size` channels around)**beta."""
    def __init__(self, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...
class LogSigmoid(_LogSigmoid):
    """-log(1 + exp(-x))."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class LogSoftmax(_LogSoftmax):
    """x - log(sum(exp(x))) along an axis, the last one if it is not said."""
    axis: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class MSELoss(_MSELoss):
    """(input - label)**2: two tensors of one shape -> scalar, or that shape with reduction 'none'."""
    def __init__(self, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class MarginRankingLoss(_MarginRankingLoss):
    """max(0, -label * (input - other) + margin): the label 1 wants input above other, -1 below."""
    def __init__(self, margin: float = 0.0, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, other: Tensor, label: Tensor) -> Tensor: ...
class MaxPool1D(_MaxPool1D):
    """(n, c, l) -> (n, c, l'): the largest element of every window."""
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, *last: Any, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class MaxPool2D(_MaxPool2D):
    """(n, c, h, w) -> (n, c, h', w'): the largest element of every window."""
    ksize: Any
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, *last: Any, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class MaxPool3D(_MaxPool3D):
    """(n, c, d, h, w) -> (n, c, d', h', w'): the largest element of every window."""
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, return_mask: bool = False, ceil_mode: bool = False, data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class MaxUnPool1D(_MaxUnPool1D):
    """(n, c, l), places -> (n, c, l'): maxima back at their places, 0 elsewhere."""
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, data_format: str = 'NCL', output_size: int | Sequence[int | None] | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor, indices: Tensor) -> Tensor: ...
class MaxUnPool2D(_MaxUnPool2D):
    """(n, c, h, w), places -> (n, c, h', w'): maxima back at their places, 0 elsewhere."""
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, data_format: str = 'NCHW', output_size: int | Sequence[int | None] | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor, indices: Tensor) -> Tensor: ...
class MaxUnPool3D(_MaxUnPool3D):
    """(n, c, d, h, w), places -> (n, c, d', h', w'): maxima back at their places, 0 elsewhere."""
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0, data_format: str = 'NCDHW', output_size: int | Sequence[int | None] | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor, indices: Tensor) -> Tensor: ...
class Maxout(_Maxout):
    """(n, c, ...) -> (n, c / groups, ...): the largest of `groups` channels."""
    def __init__(self, groups: int, axis: int | Sequence[int] = 1, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Mish(_Mish):
    """x * tanh(log(1 + exp(x))) (Misra 2019)."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
Module = _Module
ModuleDict = _ModuleDict
ModuleList = _ModuleList
class MultiHeadAttention(_MultiHeadAttention):
    """softmax(q k' / sqrt(d) + mask) v in every head, then a linear layer (Vaswani et al. 2017)."""
    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, kdim: int | None = None, vdim: int | None = None, need_weights: bool = False, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None) -> None: ...
    def forward(self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None, attn_mask: Tensor | None = None, cache: Any = None) -> Tensor: ...
class MultiLabelMarginLoss(_MultiLabelMarginLoss):
    """sum over own classes y and others i of max(0, 1 - x[y] + x[i]) / c: (n, c), (n, c)."""
    def __init__(self, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class MultiLabelSoftMarginLoss(_MultiLabelSoftMarginLoss):
    """The mean over classes of -(y log s(x) + (1 - y) log s(-x)), s the sigmoid: (n, c), (n, c)."""
    def __init__(self, weight: TensorLike | None = None, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class MultiMarginLoss(_MultiMarginLoss):
    """sum over i != y of max(0, margin - x[y] + x[i])**p / c: (n, c), (n,)."""
    def __init__(self, p: float = 1, margin: float = 1.0, weight: TensorLike | None = None, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class NLLLoss(_NLLLoss):
    """-input[label], of log-probabilities: (n, classes), (n,) -> scalar, or (n,) without reduction."""
    ignore_index: Any
    reduction: Any
    weight: Any
    def __init__(self, weight: TensorLike | None = None, ignore_index: int = -100, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class PReLU(_PReLU):
    """max(x, 0) + weight * min(x, 0), the weight is trained (He et al. 2015)."""
    data_format: Any
    init: Any
    num_parameters: Any
    weight: Any
    def __init__(self, num_parameters: int = 1, init: float = 0.25, weight_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Pad1D(_Pad1D):
    """Pad (n, c, l) by [left, right]; mode: 'constant', 'reflect', 'replicate' or 'circular'."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], mode: str = 'constant', value: TensorLike = 0.0, data_format: str = 'NCL', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Pad2D(_Pad2D):
    """Pad (n, c, h, w) by [left, right, top, bottom], or by one number on all sides."""
    data_format: Any
    mode: Any
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], mode: str = 'constant', value: float = 0.0, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Pad3D(_Pad3D):
    """Pad (n, c, d, h, w) by six numbers, those of w first; the modes are those of Pad1D."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], mode: str = 'constant', value: TensorLike = 0.0, data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class PairwiseDistance(_PairwiseDistance):
    """(n, d), (n, d) -> (n,): (sum |x - y + epsilon|**p)**(1/p)."""
    def __init__(self, p: float = 2.0, epsilon: float = 1e-06, keepdim: bool = False, name: str | None = None) -> None: ...
    def forward(self, x: Tensor, y: Tensor) -> Tensor: ...
class PixelShuffle(_PixelShuffle):
    """(n, c*r*r, h, w) -> (n, c, h*r, w*r): channels as squares of pixels (Shi et al. 2016)."""
    def __init__(self, upscale_factor: int, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class PixelUnshuffle(_PixelUnshuffle):
    """(n, c, h*r, w*r) -> (n, c*r*r, h, w): squares of pixels as channels."""
    def __init__(self, downscale_factor: int, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class PoissonNLLLoss(_PoissonNLLLoss):
    """exp(input) - label * input, or without `log_input` input - label * log(input + epsilon)."""
    def __init__(self, log_input: bool = True, full: bool = False, epsilon: float = 1e-08, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class RMSNorm(_RMSNorm):
    """y = x / sqrt(mean(x**2) + epsilon) * weight over the last axes (Zhang and Sennrich 2019)."""
    weight: Parameter
    epsilon: Any
    def __init__(self, normalized_shape: int | Sequence[int], epsilon: float = 1e-06) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class RNN(_RNN):
    """Runs a cell along a sequence: (n, l, input) -> (n, l, hidden), final state."""
    def __init__(self, cell: Layer, is_reverse: bool = False, time_major: bool = False) -> None: ...
    def forward(self, inputs: Tensor, initial_states: Tensor | Sequence[Tensor] | None = None, sequence_length: Tensor | None = None, **kwargs: Any) -> tuple[Tensor, Tensor]: ...
class RNNTLoss(_RNNTLoss):
    """-log of the sum of the probabilities of all paths of a transducer (Graves 2012)."""
    def __init__(self, blank: int = 0, fastemit_lambda: float = 0.001, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor, input_lengths: Tensor, label_lengths: Tensor) -> Tensor: ...
class RReLU(_RReLU):
    """x where x >= 0, else a * x: a is drawn while training, else the mean of its limits (Xu 2015)."""
    def __init__(self, lower: float = 0.125, upper: float = 0.3333333333333333, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class ReLU(_ReLU):
    """max(x, 0), of any shape."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class ReLU6(_ReLU6):
    """min(max(x, 0), 6), of any shape."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class ReflectionPad1D(_ReflectionPad1D):
    """The inner elements of (n, c, l) the other way round, without the edge itself."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCL', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
ReflectionPad1d = ReflectionPad1D
class ReflectionPad2D(_ReflectionPad2D):
    """The inner elements of (n, c, h, w) the other way round, without the edge itself."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
ReflectionPad2d = ReflectionPad2D
class ReflectionPad3D(_ReflectionPad3D):
    """The inner elements of (n, c, d, h, w) the other way round, without the edge itself."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
ReflectionPad3d = ReflectionPad3D
class ReplicationPad1D(_ReplicationPad1D):
    """The elements at the edges of (n, c, l) again."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCL', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
ReplicationPad1d = ReplicationPad1D
class ReplicationPad2D(_ReplicationPad2D):
    """The elements at the edges of (n, c, h, w) again."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
ReplicationPad2d = ReplicationPad2D
class ReplicationPad3D(_ReplicationPad3D):
    """The elements at the edges of (n, c, d, h, w) again."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
ReplicationPad3d = ReplicationPad3D
class SELU(_SELU):
    """scale * elu(x, alpha), which keeps mean 0 and variance 1 (Klambauer et al. 2017)."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Sequential(_Sequential):
    """Layers one after the other: Sequential(a, b)(x) = b(a(x))."""
    def __init__(self, *layers: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class SiLU(_SiLU):
    """x * sigmoid(x), of any shape (Ramachandran et al. 2017)."""
    inplace: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Sigmoid(_Sigmoid):
    """1 / (1 + exp(-x)), of any shape."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
Silu = SiLU
class SimpleRNN(_SimpleRNN):
    """Layers of SimpleRNNCell: (n, l, input) -> (n, l, hidden*directions), last states."""
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, direction: str = 'forward', time_major: bool = False, dropout: float = 0.0, activation: str = 'tanh', weight_ih_attr: ParamAttr | Initializer | str | bool | None = None, weight_hh_attr: ParamAttr | Initializer | str | bool | None = None, bias_ih_attr: ParamAttr | Initializer | str | bool | None = None, bias_hh_attr: ParamAttr | Initializer | str | bool | None = None, name: str | None = None) -> None: ...
    def forward(self, inputs: Tensor, initial_states: Tensor | Sequence[Tensor] | None = None, sequence_length: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
class SimpleRNNCell(_SimpleRNNCell):
    """h' = tanh(W x + b + U h + c), or relu: (n, input), (n, hidden) -> (n, hidden), twice."""
    def __init__(self, input_size: int, hidden_size: int, activation: str = 'tanh', weight_ih_attr: ParamAttr | Initializer | str | bool | None = None, weight_hh_attr: ParamAttr | Initializer | str | bool | None = None, bias_ih_attr: ParamAttr | Initializer | str | bool | None = None, bias_hh_attr: ParamAttr | Initializer | str | bool | None = None, name: str | None = None) -> None: ...
    def forward(self, inputs: Tensor, states: Tensor | Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]: ...
class SmoothL1Loss(_SmoothL1Loss):
    """d**2 / 2 where |d| < delta, else delta * (|d| - delta / 2), with d = input - label."""
    def __init__(self, reduction: str = 'mean', delta: float = 1.0, is_huber: bool = True, name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class SoftMarginLoss(_SoftMarginLoss):
    """log(1 + exp(-label * input)), the labels being 1 and -1."""
    def __init__(self, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, label: Tensor) -> Tensor: ...
class Softmax(_Softmax):
    """exp(x) / sum(exp(x)) along an axis, the last one if it is not said."""
    axis: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Softmax2D(_Softmax2D):
    """softmax over the channels of (n, c, h, w) or (c, h, w)."""
    def __init__(self, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Softplus(_Softplus):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    beta: Any
    threshold: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Softshrink(_Softshrink):
    """sign(x) * max(|x| - threshold, 0)."""
    threshold: Any
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Softsign(_Softsign):
    """x / (1 + |x|)."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class SpectralNorm(_SpectralNorm):
    """y = x / sigma, the largest singular value of x as a matrix (Miyato et al. 2018)."""
    dim: Any
    eps: Any
    power_iters: Any
    weight_shape: Any
    def __init__(self, weight_shape: ShapeLike, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, dtype: DTypeLike = 'float32') -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Swish(_Swish):
    """x * sigmoid(x): `Silu` under another name."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class SyncBatchNorm(_SyncBatchNorm):
    """Batch normalisation over the batches of all processes: while training, means are theirs."""
    weight: Parameter
    bias: Parameter
    data_format: Any
    epsilon: Any
    momentum: Any
    num_features: Any
    use_global_stats: Any
    def __init__(self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Tanh(_Tanh):
    """tanh(x), of any shape."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Tanhshrink(_Tanhshrink):
    """x - tanh(x)."""
    def __init__(self, *settings: Any, name: str | None = None, **named: Any) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class ThresholdedReLU(_ThresholdedReLU):
    """x where x > threshold, else value."""
    def __init__(self, threshold: float = 1.0, value: TensorLike = 0.0, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Transformer(_Transformer):
    """An encoder of sources and a decoder of targets that attends to what the encoder gives."""
    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1, activation: str = 'relu', attn_dropout: float | None = None, act_dropout: float | None = None, normalize_before: bool = False, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, custom_encoder: Layer | None = None, custom_decoder: Layer | None = None) -> None: ...
    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None) -> Tensor: ...
class TransformerDecoder(_TransformerDecoder):
    """Decoder layers one after the other: the given one, and new ones with its settings."""
    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Layer | None = None) -> None: ...
    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None, cache: Any = None) -> Tensor: ...
class TransformerDecoderLayer(_TransformerDecoderLayer):
    """Self-attention, attention to a memory, and a two-layer network: residuals and LayerNorms."""
    def __init__(self, d_model: int, nhead: int, dim_feedforward: int, dropout: float = 0.1, activation: str = 'relu', attn_dropout: float | None = None, act_dropout: float | None = None, normalize_before: bool = False, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, layer_norm_eps: float = 1e-05) -> None: ...
    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None, cache: Any = None) -> Tensor: ...
class TransformerEncoder(_TransformerEncoder):
    """Encoder layers one after the other: the given one, and new ones with its settings."""
    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Layer | None = None) -> None: ...
    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Tensor: ...
class TransformerEncoderLayer(_TransformerEncoderLayer):
    """Self-attention and a two-layer network, each with a residual and a LayerNorm."""
    def __init__(self, d_model: int, nhead: int, dim_feedforward: int, dropout: float = 0.1, activation: str = 'relu', attn_dropout: float | None = None, act_dropout: float | None = None, normalize_before: bool = False, weight_attr: ParamAttr | Initializer | str | bool | None = None, bias_attr: ParamAttr | Initializer | str | bool | None = None, layer_norm_eps: float = 1e-05) -> None: ...
    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Tensor: ...
class TripletMarginLoss(_TripletMarginLoss):
    """max(0, |input - positive| - |input - negative| + margin): (n, d) three times -> scalar."""
    def __init__(self, margin: float = 1.0, p: float = 2.0, epsilon: float = 1e-06, swap: bool = False, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, positive: Tensor, negative: Tensor) -> Tensor: ...
class TripletMarginWithDistanceLoss(_TripletMarginWithDistanceLoss):
    """max(0, d(input, positive) - d(input, negative) + margin), d a function of one's own."""
    def __init__(self, distance_function: Any = None, margin: float = 1.0, swap: bool = False, reduction: str = 'mean', name: str | None = None) -> None: ...
    def forward(self, input: Tensor, positive: Tensor, negative: Tensor) -> Tensor: ...
class Unflatten(_Unflatten):
    """One axis as several: (6, n) -> (2, 3, n) for axis 0 and shape [2, 3]."""
    def __init__(self, axis: int | Sequence[int], shape: ShapeLike, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Unfold(_Unfold):
    """(n, c, h, w) -> (n, c * kh * kw, windows): every window of an image as a column."""
    def __init__(self, kernel_sizes: int | Sequence[int], dilations: int | Sequence[int] = 1, paddings: int | Sequence[int] = 0, strides: int | Sequence[int] = 1, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Upsample(_Upsample):
    """Larger images: (n, c, h, w) -> (n, c, h', w'); see `nn.functional.interpolate`."""
    def __init__(self, size: int | Sequence[int | None] | None = None, scale_factor: float | Sequence[float] | Tensor | None = None, mode: str = 'nearest', align_corners: bool = False, align_mode: int = 0, data_format: str | None = None, recompute_scale_factor: bool | None = None, name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class UpsamplingBilinear2D(_UpsamplingBilinear2D):
    """(n, c, h, w) -> (n, c, h', w'), linear between pixels, the corners at the corners."""
    def __init__(self, size: int | Sequence[int | None] | None = None, scale_factor: float | Sequence[float] | Tensor | None = None, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class UpsamplingNearest2D(_UpsamplingNearest2D):
    """(n, c, h, w) -> (n, c, h', w'), the nearest pixel; `size` or `scale_factor` say how large."""
    def __init__(self, size: int | Sequence[int | None] | None = None, scale_factor: float | Sequence[float] | Tensor | None = None, data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class ZeroPad1D(_ZeroPad1D):
    """Zeros around (n, c, l)."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCL', name: str | None = None) -> None: ...
    def forward(self, x: Tensor, mode: str = 'constant', value: float = 0.0) -> Tensor: ...
class ZeroPad2D(_ZeroPad2D):
    """Zeros around (n, c, h, w), by [left, right, top, bottom]."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor, mode: str = 'constant', value: float = 0.0) -> Tensor: ...
class ZeroPad3D(_ZeroPad3D):
    """Zeros around (n, c, d, h, w), by six numbers, those of w first."""
    def __init__(self, padding: int | str | Sequence[int] | Sequence[Sequence[int]], data_format: str = 'NCDHW', name: str | None = None) -> None: ...
    def forward(self, x: Tensor, mode: str = 'constant', value: float = 0.0) -> Tensor: ...
def dynamic_decode(decoder: Any, inits: Any = None, max_step_num: int | None = None, output_time_major: bool = False, impute_finished: bool = False, is_test: bool = False, return_length: bool = False, **kwargs: Any) -> Tensor:
    """Outputs of all steps and the last states, and the lengths with `return_length`."""
