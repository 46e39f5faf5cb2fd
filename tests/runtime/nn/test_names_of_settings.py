"""Settings of layers under the names that PaddlePaddle 3.3.1 keeps them by."""

from __future__ import annotations

import pytest

from dy2st_runtime import nn

SETTINGS = {
    "nn.Bilinear(40,50,60)": {"_in1_features": 40, "_in2_features": 50, "_out_features": 60},
    "nn.Embedding(400,400)": {"_num_embeddings": 400, "_embedding_dim": 400, "_sparse": False,
        "_max_norm": None, "_norm_type": 2.0, "_padding_idx": None, "_scale_grad_by_freq": False,
        "_size": [400, 400]},
    "nn.Conv1D(30,40,3)": {"_groups": 1, "_in_channels": 30, "_out_channels": 40,
        "_data_format": "NCL", "_stride": [1], "_dilation": [1], "_kernel_size": [3], "_padding": 0,
        "_padding_mode": "zeros", "output_padding": 0},
    "nn.Conv2D(30,40,3)": {"_groups": 1, "_in_channels": 30, "_out_channels": 40,
        "_data_format": "NCHW", "_stride": [1, 1], "_dilation": [1, 1], "_kernel_size": [3, 3],
        "_padding": 0, "_padding_mode": "zeros", "output_padding": 0},
    "nn.Conv3D(30,40,3)": {"_groups": 1, "_in_channels": 30, "_out_channels": 40,
        "_data_format": "NCDHW", "_stride": [1, 1, 1], "_dilation": [1, 1, 1],
        "_kernel_size": [3, 3, 3], "_padding": 0, "_padding_mode": "zeros", "output_padding": 0},
    "nn.Conv1DTranspose(30,40,3)": {"_groups": 1, "_in_channels": 30, "_out_channels": 40,
        "_data_format": "NCL", "_stride": [1], "_dilation": [1], "_kernel_size": [3], "_padding": 0,
        "_padding_mode": "zeros", "output_padding": 0},
    "nn.Conv2DTranspose(30,40,3)": {"_groups": 1, "_in_channels": 30, "_out_channels": 40,
        "_data_format": "NCHW", "_stride": [1, 1], "_dilation": [1, 1], "_kernel_size": [3, 3],
        "_padding": 0, "_padding_mode": "zeros", "output_padding": 0},
    "nn.Conv3DTranspose(30,40,3)": {"_groups": 1, "_in_channels": 30, "_out_channels": 40,
        "_data_format": "NCDHW", "_stride": [1, 1, 1], "_dilation": [1, 1, 1],
        "_kernel_size": [3, 3, 3], "_padding": 0, "_padding_mode": "zeros", "output_padding": 0},
    "nn.BatchNorm(30)": {"_act": None, "_in_place": False, "_data_layout": "NCHW", "_momentum": 0.9,
        "_epsilon": 1e-05, "_is_test": False, "_use_global_stats": False,
        "_trainable_statistics": False},
    "nn.BatchNorm1D(30)": {"_num_features": 30, "_use_global_stats": None, "_data_format": "NCL",
        "_in_place": False, "_momentum": 0.9, "_epsilon": 1e-05},
    "nn.BatchNorm2D(30)": {"_num_features": 30, "_use_global_stats": None, "_data_format": "NCHW",
        "_in_place": False, "_momentum": 0.9, "_epsilon": 1e-05},
    "nn.BatchNorm3D(30)": {"_num_features": 30, "_use_global_stats": None, "_data_format": "NCDHW",
        "_in_place": False, "_momentum": 0.9, "_epsilon": 1e-05},
    "nn.SyncBatchNorm(30)": {"_num_features": 30, "_use_global_stats": None, "_data_format": "NCHW",
        "_in_place": False, "_momentum": 0.9, "_epsilon": 1e-05},
    "nn.InstanceNorm1D(30)": {"_momentum": 0.9, "_epsilon": 1e-05, "_num_features": 30,
        "_data_format": "NCL"},
    "nn.InstanceNorm2D(30)": {"_momentum": 0.9, "_epsilon": 1e-05, "_num_features": 30,
        "_data_format": "NCHW"},
    "nn.InstanceNorm3D(30)": {"_momentum": 0.9, "_epsilon": 1e-05, "_num_features": 30,
        "_data_format": "NCDHW"},
    "nn.LayerNorm(30)": {"_normalized_shape": [30], "_epsilon": 1e-05},
    "nn.GroupNorm(3,30)": {"_epsilon": 1e-05, "_num_channels": 30, "_num_groups": 3,
        "_data_format": "NCHW"},
    "nn.LocalResponseNorm(5)": {"size": 5, "alpha": 0.0001, "beta": 0.75, "k": 1.0,
        "data_format": "NCHW"},
    "nn.SpectralNorm([400,300])": {"_power_iters": 1, "_eps": 1e-12, "_dim": 0,
        "_weight_shape": [400, 300]},
    "nn.SimpleRNNCell(40,50)": {"input_size": 40, "hidden_size": 50, "activation": "tanh"},
    "nn.LSTMCell(40,50)": {"proj_size": 0, "hidden_size": 50, "input_size": 40},
    "nn.GRUCell(40,50)": {"hidden_size": 50, "input_size": 40},
    "nn.LSTM(4,5,num_layers=2,direction='bidirect')": {"mode": "LSTM", "input_size": 4,
        "hidden_size": 5, "dropout": 0.0, "num_directions": 2, "time_major": False, "num_layers": 2,
        "state_components": 2, "proj_size": 0},
    "nn.GRU(4,5)": {"mode": "GRU", "input_size": 4, "hidden_size": 5, "dropout": 0.0,
        "num_directions": 1, "time_major": False, "num_layers": 1, "state_components": 1,
        "proj_size": 0},
    "nn.SimpleRNN(4,5,2)": {"activation": "tanh", "mode": "RNN_TANH", "input_size": 4,
        "hidden_size": 5, "dropout": 0.0, "num_directions": 1, "time_major": False, "num_layers": 2,
        "state_components": 1, "proj_size": 0},
    "nn.TransformerEncoderLayer(16,4,32)": {"normalize_before": False},
    "nn.PReLU(3)": {"_num_parameters": 3, "_init": 0.25, "_data_format": "NCHW"},
    "nn.GELU()": {"_approximate": False},
    "nn.LeakyReLU()": {"_negative_slope": 0.01},
    "nn.Softmax()": {"_axis": -1},
    "nn.Hardtanh()": {"_min": -1.0, "_max": 1.0},
    "nn.Dropout()": {"p": 0.5, "inplace": False, "axis": None, "mode": "upscale_in_train"},
    "nn.Dropout2D()": {"p": 0.5, "data_format": "NCHW"},
    "nn.Flatten()": {"start_axis": 1, "stop_axis": -1},
    "nn.Upsample(scale_factor=2)": {"size": None, "scale_factor": 2, "mode": "nearest",
        "align_corners": False, "align_mode": 0, "data_format": None,
        "recompute_scale_factor": None},
    "nn.Pad2D(1)": {"padding": [1, 1, 1, 1], "_mode": "constant", "value": 0.0,
        "_data_format": "NCHW"},
    "nn.CosineSimilarity()": {"_axis": 1, "_eps": 1e-08},
    "nn.MaxPool1D(2)": {"kernel_size": 2, "stride": None, "padding": 0, "ceil_mode": False,
        "return_mask": False},
    "nn.MaxPool2D(2)": {"ksize": 2, "stride": None, "padding": 0, "return_mask": False,
        "ceil_mode": False, "data_format": "NCHW"},
    "nn.AvgPool1D(2)": {"kernel_size": 2, "stride": None, "padding": 0, "ceil_mode": False,
        "exclusive": True},
    "nn.AvgPool2D(2)": {"ksize": 2, "stride": None, "padding": 0, "ceil_mode": False,
        "exclusive": True, "divisor": None, "data_format": "NCHW"},
    "nn.AdaptiveAvgPool1D(2)": {"output_size": 2},
    "nn.AdaptiveAvgPool2D(2)": {"_output_size": 2, "_data_format": "NCHW"},
    "nn.AdaptiveMaxPool1D(2)": {"output_size": 2, "return_mask": False},
    "nn.AdaptiveMaxPool2D(2)": {"_output_size": 2, "_return_mask": False},
    "nn.CrossEntropyLoss()": {"weight": None, "reduction": "mean", "ignore_index": -100,
        "soft_label": False, "axis": -1, "use_softmax": True, "label_smoothing": 0.0},
    "nn.MSELoss()": {"reduction": "mean"},
    "nn.BCELoss()": {"weight": None, "reduction": "mean"},
    "nn.NLLLoss()": {"_weight": None, "_ignore_index": -100, "_reduction": "mean"},
    "nn.KLDivLoss()": {"reduction": "mean", "log_target": False},
    "nn.SmoothL1Loss()": {"reduction": "mean", "delta": 1.0, "is_huber": True},
    "nn.BCEWithLogitsLoss()": {"weight": None, "reduction": "mean", "pos_weight": None},
}  # fmt: skip


@pytest.mark.parametrize("made", SETTINGS)
def test_settings_are_read_by_paddles_names(made):
    layer = eval(made, {"nn": nn})
    assert {name: getattr(layer, name) for name in SETTINGS[made]} == SETTINGS[made]


@pytest.mark.parametrize("made", SETTINGS)
def test_every_layer_has_paddles_stores(made):
    layer = eval(made, {"nn": nn})
    stores = "_parameters _buffers _sub_layers _full_name _dtype _non_persistable_buffer_names_set"
    assert all(hasattr(layer, name) for name in stores.split())
    assert layer.full_name() == layer._full_name


@pytest.mark.parametrize(
    ("made", "name", "private"),
    [
        (nn.BatchNorm2D(3), "momentum", "_momentum"),
        (nn.Conv2D(1, 1, 1), "padding", "_padding"),
        (nn.LeakyReLU(), "negative_slope", "_negative_slope"),
        (nn.AdaptiveAvgPool2D(1), "output_size", "_output_size"),
        (nn.MaxPool2D(2), "ksize", "kernel_size"),
        (nn.PReLU(), "weight", "_weight"),
    ],
)
def test_two_names_are_one_setting(made, name, private):
    value = made._weight if name == "weight" else 3
    setattr(made, name, value)
    assert getattr(made, private) is value and getattr(made, name) is value
    assert name not in vars(made)
