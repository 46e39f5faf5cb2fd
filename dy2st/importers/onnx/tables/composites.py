"""Operators that functions of `importers/onnx/functions` compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.onnx.calls import Call, Row, row, rows
from dy2st.importers.onnx.functions import (
    attention,
    casts,
    fourier,
    grids,
    pooling,
    quantisation,
    recurrent,
    regions,
    resize,
)
from dy2st.importers.onnx.tensors import dtype_of


def _of(
    function: Callable[..., Any], known: str = "", dtypes: str = "", outputs: bool = False
) -> Row:
    """A row that gives inputs by place and attributes by name.

    `known` are the places of inputs that are given as numbers where the model knows them, `dtypes`
    attributes that name an element type; `outputs` says that it asks how many are wanted.
    """
    places, kinds = [int(place) for place in known.split()], dtypes.split()

    def row(n: Call) -> Any:
        inputs = [n.numbers(i) if i in places else one for i, one in enumerate(n.inputs)]
        attributes = {
            name: dtype_of(value) if name in kinds else value
            for name, value in n.attributes.items()
        }
        if outputs:
            attributes["outputs"] = n.count
        return function(*inputs, **attributes)

    return row


@row("Resize")
def _resize(n: Call) -> Any:
    if n.version < 11:
        return resize.upsample(n[0], n.numbers(1), mode=n.get("mode", "nearest"))
    # Older files give tensors of no elements for what they leave out.
    given = [n.numbers(place) for place in (1, 2, 3)]
    roi, scales, sizes = (None if isinstance(one, list) and not one else one for one in given)
    return resize.resize(n[0], roi, scales, sizes, **n.attributes)


@row("Upsample")
def _upsample(n: Call) -> Any:
    scales = n.get("scales")
    if scales is None and n.version < 7:
        scales = [1.0, 1.0, n.attributes["height_scale"], n.attributes["width_scale"]]
    mode = n.get("mode", "nearest").replace("bilinear", "linear")
    return resize.upsample(n[0], n.numbers(1) if scales is None else scales, mode=mode)


def _recurrent(function: Callable[..., Any]) -> Row:
    """Without the attribute by which old versions left out outputs."""

    def row(n: Call) -> Any:
        attributes = {k: v for k, v in n.attributes.items() if k != "output_sequence"}
        return function(*n.inputs, **attributes)

    return row


@row("DFT")
def _dft(n: Call) -> Any:
    axis = n.get("axis", 1) if n.version < 20 else n.numbers(2)
    attributes = {k: v for k, v in n.attributes.items() if k != "axis"}
    return fourier.dft(n[0], n.numbers(1), -2 if axis is None else axis, **attributes)


@row("RoiAlign")
def _roi_align(n: Call) -> Any:
    attributes = dict(n.attributes)
    if n.version < 16:
        attributes["coordinate_transformation_mode"] = "output_half_pixel"
    return regions.roi_align(n[0], n[1], n[2], **attributes)


rows(
    {
        "AffineGrid": _of(grids.affine_grid, known="1"),
        "Attention": _of(attention.attention, dtypes="softmax_precision"),
        "AveragePool": _of(pooling.average_pool),
        "BlackmanWindow": _of(fourier.blackman_window, known="0", dtypes="output_datatype"),
        "Cast": _of(casts.cast, dtypes="to"),
        "CastLike": _of(casts.cast_like),
        "CausalConvWithState": _of(attention.causal_conv_with_state),
        "Col2Im": _of(regions.col2im, known="1 2"),
        "ConvInteger": _of(quantisation.conv_integer),
        "DeformConv": _of(regions.deform_conv),
        "DequantizeLinear": _of(quantisation.dequantize_linear, dtypes="output_dtype"),
        "DynamicQuantizeLinear": _of(quantisation.dynamic_quantize_linear),
        "GRU": _recurrent(recurrent.gru),
        "GridSample": _of(grids.grid_sample),
        "HammingWindow": _of(fourier.hamming_window, known="0", dtypes="output_datatype"),
        "HannWindow": _of(fourier.hann_window, known="0", dtypes="output_datatype"),
        "LRN": _of(regions.lrn),
        "LSTM": _recurrent(recurrent.lstm),
        "LinearAttention": _of(attention.linear_attention),
        "LpPool": _of(pooling.lp_pool),
        "MatMulInteger": _of(quantisation.matmul_integer),
        "MaxPool": _of(pooling.max_pool, outputs=True),
        "MaxRoiPool": _of(regions.max_roi_pool),
        "MaxUnpool": _of(pooling.max_unpool, known="2"),
        "MelWeightMatrix": _of(fourier.mel_weight_matrix, "0 1 2 3 4", "output_datatype"),
        "NonMaxSuppression": _of(regions.non_max_suppression, known="2 3 4"),
        "QLinearConv": _of(quantisation.qlinear_conv),
        "QLinearMatMul": _of(quantisation.qlinear_matmul),
        "QuantizeLinear": _of(quantisation.quantize_linear, dtypes="output_dtype precision"),
        "RNN": _recurrent(recurrent.rnn),
        "RotaryEmbedding": _of(attention.rotary_embedding),
        "STFT": _of(fourier.stft, known="1 3"),
        "TensorScatter": _of(attention.tensor_scatter),
    }
)
