"""Layers and functions of networks that few models use, by the module that is loaded for them."""

from __future__ import annotations

from dy2st_runtime.lazy import places

_LAYERS = "dy2st_runtime.nn.layers"
_FUNCTIONS = "dy2st_runtime.nn.functions"
_OPERATORS = "dy2st_runtime.ops"

_PADS = ("Circular", "Constant", "Reflection", "Replication")

LAYERS = places(
    {
        f"{_LAYERS}.activations": "AlphaDropout Dropout3D FeatureAlphaDropout Maxout RReLU "
        "Softmax2D ThresholdedReLU",
        f"{_FUNCTIONS}.decoding": "BeamSearchDecoder dynamic_decode",
        f"{_LAYERS}.images": "ChannelShuffle Fold PixelShuffle PixelUnshuffle Unflatten Unfold "
        "UpsamplingBilinear2D UpsamplingNearest2D",
        f"{_LAYERS}.losses": "CosineEmbeddingLoss CTCLoss GaussianNLLLoss HingeEmbeddingLoss "
        "MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss "
        "PairwiseDistance PoissonNLLLoss RNNTLoss SoftMarginLoss TripletMarginLoss "
        "TripletMarginWithDistanceLoss",
        f"{_LAYERS}.normalisation": "BatchNorm BatchNorm3D InstanceNorm1D InstanceNorm3D "
        "LocalResponseNorm SpectralNorm SyncBatchNorm",
        f"{_LAYERS}.parameter_dict": "ParameterDict",
        f"{_LAYERS}.padding": "CircularPad1D CircularPad2D CircularPad3D ConstantPad1D "
        "ConstantPad2D ConstantPad3D Pad1D Pad3D ReflectionPad1D ReflectionPad2D ReflectionPad3D "
        "ReplicationPad1D ReplicationPad2D ReplicationPad3D ZeroPad1D ZeroPad2D ZeroPad3D",
        f"{_LAYERS}.transformer_decoder": "Transformer TransformerDecoder TransformerDecoderLayer",
        f"{_LAYERS}.trees": "AdaptiveLogSoftmaxWithLoss HSigmoidLoss",
        f"{_LAYERS}.volumes": "AdaptiveAvgPool3D AdaptiveMaxPool3D AvgPool3D Conv3D "
        "Conv3DTranspose MaxPool3D",
        f"{_LAYERS}.windows": "FractionalMaxPool2D FractionalMaxPool3D LPPool1D LPPool2D "
        "MaxUnPool1D MaxUnPool2D MaxUnPool3D",
    }
)
# Other names of layers, as torch writes them.
LAYERS.update(
    {
        "AdaptiveMaxPool1d": "dy2st_runtime.nn.pooling:AdaptiveMaxPool1D",
        "AdaptiveMaxPool2d": "dy2st_runtime.nn.pooling:AdaptiveMaxPool2D",
        "Conv1d": "dy2st_runtime.nn.convolution:Conv1D",
        "Conv2d": "dy2st_runtime.nn.convolution:Conv2D",
        "Module": "dy2st_runtime.nn.layer:Layer",
        "ModuleDict": "dy2st_runtime.nn.containers:LayerDict",
        "ModuleList": "dy2st_runtime.nn.containers:LayerList",
        "Parameter": "dy2st_runtime.tensor:Parameter",
        "SiLU": "dy2st_runtime.nn.activation:Silu",
    }
)
for _name in (
    *(f"{kind}Pad{axes}D" for kind in _PADS for axes in (1, 2, 3)),
    *("AdaptiveMaxPool3D", "Conv3D", "LPPool1D", "LPPool2D"),
):
    LAYERS[f"{_name[:-1]}d"] = LAYERS[_name]
FUNCTIONALS = places(
    {
        f"{_FUNCTIONS}.activations": "gumbel_softmax logsigmoid maxout rms_norm rrelu swiglu "
        "thresholded_relu thresholded_relu_",
        f"{_FUNCTIONS}.alignment": "ctc_loss rnnt_loss",
        f"{_FUNCTIONS}.distances": "bilinear pairwise_distance",
        f"{_FUNCTIONS}.dropout": "alpha_dropout dropout1d dropout3d feature_alpha_dropout",
        f"{_FUNCTIONS}.flash_attention": "flash_attn_qkvpacked flashmask_attention "
        "sparse_attention",
        f"{_FUNCTIONS}.fractional": "fractional_max_pool2d fractional_max_pool3d",
        f"{_FUNCTIONS}.grid": "affine_grid grid_sample",
        f"{_FUNCTIONS}.likelihood_losses": "dice_loss gaussian_nll_loss label_smooth log_loss "
        "poisson_nll_loss sigmoid_focal_loss",
        f"{_FUNCTIONS}.margin_losses": "class_center_sample cosine_embedding_loss "
        "margin_cross_entropy multi_label_margin_loss multi_label_soft_margin_loss "
        "multi_margin_loss npair_loss soft_margin_loss triplet_margin_loss "
        "triplet_margin_with_distance_loss",
        f"{_FUNCTIONS}.normalisation": "local_response_norm",
        f"{_FUNCTIONS}.pixels": "channel_shuffle pixel_unshuffle temporal_shift zeropad2d",
        f"{_FUNCTIONS}.trees": "adaptive_log_softmax_with_loss gather_tree hsigmoid_loss",
        f"{_FUNCTIONS}.unfold": "fold unfold",
        f"{_FUNCTIONS}.windows": "lp_pool1d lp_pool2d max_unpool1d max_unpool2d max_unpool3d",
        f"{_OPERATORS}.inplace": "elu_ hardtanh_ leaky_relu_ relu_ softmax_ tanh_",
        f"{_OPERATORS}.volumes": "adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d "
        "conv3d_transpose max_pool3d",
    }
)
