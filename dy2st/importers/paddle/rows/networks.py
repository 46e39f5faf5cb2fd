"""Convolutions, pools, norms, resizing, attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call, table
from dy2st_runtime.dims import product
from dy2st_runtime.errors import FormatError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.nn import functional as nn
from dy2st_runtime.nn.functions.deformable import deform_conv2d

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)


def _padding(c: Call) -> Any:
    how = c.get("padding_algorithm", "EXPLICIT")
    return how if how in ("SAME", "VALID") else [*c.get("paddings", [0])]


def _layout(c: Call, default: str = "NCHW") -> str:
    found = c.get("data_format", default)
    return default if found == "AnyLayout" else str(found)


def _conv(axes: int) -> Row:
    function, layout = (F.conv2d, "NCHW") if axes == 2 else (F.conv3d, "NCDHW")

    def row(c: Call) -> Any:
        return function(
            c[0], c[1], c[2], c.get("strides", 1), _padding(c), c.get("dilations", 1),
            c.get("groups", 1), _layout(c, layout),
        )  # fmt: skip

    return row


def _conv_transpose(axes: int) -> Row:
    def row(c: Call) -> Any:
        size = c.get("output_size") if c[2] is None else c.ints(2)
        given = {
            "stride": c.get("strides", 1), "padding": _padding(c),
            "output_padding": 0 if size else c.get("output_padding") or 0,
            "dilation": c.get("dilations", 1), "groups": c.get("groups", 1),
            "output_size": size or None,
        }  # fmt: skip
        function = F.conv2d_transpose if axes == 2 else F.conv3d_transpose
        layout = _layout(c, "NCHW" if axes == 2 else "NCDHW")
        return function(c[0], c[1], c[3], data_format=layout, **given)

    return row


@_row("deformable_conv")
def _deformable(c: Call) -> Any:
    return deform_conv2d(
        c[0], c[1], c[2], None, c.get("strides", 1), c.get("paddings", 0), c.get("dilations", 1),
        c.get("deformable_groups", 1), c.get("groups", 1), c[3],
    )  # fmt: skip


def _check_parts(c: Call, sizes: Any) -> None:
    """Of an adaptive pool: each part is computed on its own where the size is unknown."""
    for size in sizes if isinstance(sizes, list) else []:
        if isinstance(size, int):
            c.few(max(size, 0), "parts")


def _pool(axes: int) -> Row:
    def row(c: Call) -> Any:
        kernel = c.get("kernel_size") if c[1] is None else c.ints(1)
        layout = _layout(c, "NCHW" if axes == 2 else "NCDHW")
        kind = "max" if c.get("pooling_type", "max") == "max" else "avg"
        is_last = layout.endswith("C")
        if c.get("global_pooling", False) or c.get("adaptive", False):
            size = [1] * axes if c.get("global_pooling", False) else kernel
            _check_parts(c, size)
            x = F.moveaxis(c[0], -1, 1) if is_last else c[0]
            made = getattr(F, f"adaptive_{kind}_pool{axes}d")(x, size)
            return F.moveaxis(made, 1, -1) if is_last else made
        given = {"ceil_mode": c.get("ceil_mode", False), "data_format": layout}
        if kind == "avg":
            given["exclusive"] = c.get("exclusive", True)
        function = getattr(F, f"{kind}_pool{axes}d")
        return function(c[0], kernel, c.get("strides", kernel), _padding(c), **given)

    return row


def _max_with_index(axes: int) -> Row:
    def row(c: Call) -> Any:
        kernel = c.need("kernel_size")
        if c.get("adaptive", False) or c.get("global_pooling", False):
            size = [1] * axes if c.get("global_pooling", False) else kernel
            _check_parts(c, size)
            made = getattr(F, f"adaptive_max_pool{axes}d")(c[0], size, return_mask=True)
        else:
            made = getattr(F, f"max_pool{axes}d")(
                c[0], kernel, c.get("strides", kernel), _padding(c), True, c.get("ceil_mode", False)
            )
        return made[0], F.cast(made[1], "int32")

    return row


def _unpool(axes: int) -> Row:
    def row(c: Call) -> Any:
        size = c.get("output_size") if c[2] is None else c.ints(2)
        function = nn.max_unpool2d if axes == 2 else nn.max_unpool3d
        return function(
            c[0], c[1], c.get("ksize", c.get("kernel_size")), c.get("strides"),
            c.get("paddings", 0), output_size=size or None,
        )  # fmt: skip

    return row


@_row("lp_pool2d")
def _lp_pool(c: Call) -> Any:
    return nn.lp_pool2d(
        c[0], c.get("norm_type", 2.0), c.ints(1) if c[1] is not None else c.need("kernel_size"),
        c.get("strides"), c.get("paddings", 0), c.get("ceil_mode", False), _layout(c),
    )  # fmt: skip


# -- norms ------------------------------------------------------------------------------------


@_row("batch_norm", "sync_batch_norm")
def _batch_norm(c: Call) -> Any:
    x, layout = c[0], _layout(c)
    epsilon = c.get("epsilon", 1e-5)
    axis = x.ndim - 1 if layout.endswith("C") and x.ndim > 2 else min(1, x.ndim - 1)
    shape = [-1 if place == axis else 1 for place in range(x.ndim)]
    mean, variance = c[1], c[2]
    if not (c.get("is_test", False) or c.get("use_global_stats", False)):
        others = [place for place in range(x.ndim) if place != axis]
        mean, variance = F.mean(x, others), F.var(x, others, unbiased=False)
    elif layout == "NCHW" or x.ndim == 4:
        return F.batch_norm(x, mean, variance, c[3], c[4], False, 0.9, epsilon, _ranked(x, layout))
    scale = F.rsqrt(F.add(variance, epsilon))
    scale = scale if c[3] is None else F.multiply(scale, c[3])
    made = F.multiply(F.subtract(x, F.reshape(mean, shape)), F.reshape(scale, shape))
    return made if c[4] is None else F.add(made, F.reshape(c[4], shape))


def _ranked(x: Any, layout: str) -> str:
    """The layout of a tensor of as many axes: files say NCHW for all of them."""
    last = {2: "NC", 3: "NLC", 4: "NHWC", 5: "NDHWC"}
    first = {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}
    return (last if layout.endswith("C") else first).get(x.ndim, layout)


@_row("layer_norm")
def _layer_norm(c: Call) -> Any:
    x, scale, bias = c[0], c[1], c[2]
    sizes = [*x.shape][c.get("begin_norm_axis", 1) :]
    weights = [None if one is None else F.reshape(one, sizes) for one in (scale, bias)]
    return F.layer_norm(x, sizes, *weights, c.get("epsilon", 1e-5))


@_row("group_norm")
def _group_norm(c: Call) -> Any:
    return F.group_norm(
        c[0], c.get("groups", -1), c.get("epsilon", 1e-5), c[1], c[2], _ranked(c[0], _layout(c))
    )


@_row("rms_norm")
def _rms_norm(c: Call) -> Any:
    shape = c.get("normalized_shape") or [*c[0].shape][-1:]
    axes = [*range(-len(shape), 0)]
    x = F.cast(c[0], "float32") if c[0].dtype.itemsize < 4 else c[0]
    scale = F.rsqrt(F.add(F.mean(F.square(x), axes, True), c.get("epsilon", 1e-5)))
    made = F.cast(F.multiply(x, scale), c[0].dtype)
    return made if c[1] is None else F.multiply(made, F.reshape(c[1], shape))


@_row("norm")
def _norm(c: Call) -> Any:
    squares = F.sum(F.square(c[0]), [c.get("axis", -1)], keepdim=True)
    norm = F.sqrt(F.add(squares, c.get("epsilon", 1e-10)))
    return F.divide(c[0], norm), norm


@_row("lrn")
def _lrn(c: Call) -> Any:
    n, k, layout = c.get("n", 5), c.get("k", 2.0), _layout(c)
    alpha, beta = c.get("alpha", 1e-4), c.get("beta", 0.75)
    return nn.local_response_norm(c[0], n, alpha * n, beta, k, layout)


@_row("spectral_norm")
def _spectral(c: Call) -> Any:
    weight, dim = c[0], c.get("dim", 0)
    order = [dim, *(axis for axis in range(weight.ndim) if axis != dim)]
    moved = F.transpose(weight, order)
    matrix = F.reshape(moved, [moved.shape[0], product(moved.shape[1:])])
    u, v, epsilon = c[1], c[2], c.get("eps", 1e-12)
    for _ in range(c.few(c.get("power_iters", 1), "rounds")):
        v = F.mv(F.transpose(matrix, [1, 0]), u)
        v = F.divide(v, F.add(F.sqrt(F.sum(F.square(v))), epsilon))
        u = F.mv(matrix, v)
        u = F.divide(u, F.add(F.sqrt(F.sum(F.square(u))), epsilon))
    return F.divide(weight, F.sum(F.multiply(u, F.mv(matrix, v))))


# -- resizing ---------------------------------------------------------------------------------


def _interp(mode: str) -> Row:
    axes = {"linear": 1, "trilinear": 3}.get(mode)

    def row(c: Call) -> Any:
        x = c[0]
        count = axes or x.ndim - 2
        names = ("out_d", "out_h", "out_w")[-count:]
        size: Any = [c.get(name, -1) for name in names]
        factor: Any = c.get("scale") or None
        if isinstance(factor, list):
            factor = factor * count if len(factor) == 1 else factor
        if c[2]:
            size = [Call._one(one) for one in c[2]]
            factor = None
        elif c[1] is not None:
            size, factor = c.ints(1), None
        elif c[3] is not None:
            factor = c.value(3)
        if isinstance(factor, (int, float)):
            factor = [factor] * count if factor > 0 else None
        how = {} if mode == "nearest" else {"align_corners": c.get("align_corners", True)}
        layout = c.get("data_format", "NCHW")
        given = {"size": size} if factor is None else {"scale_factor": factor}
        if c.get("align_corners", False) and mode == "nearest":
            c.refuse_unless(False, "align_corners")
        return F.interpolate(
            x, mode=mode, align_mode=c.get("align_mode", 1), data_format=_as_ranked(x, layout),
            **given, **how,
        )  # fmt: skip

    return row


def _as_ranked(x: Any, layout: str) -> str:
    last = {3: "NWC", 4: "NHWC", 5: "NDHWC"}
    first = {3: "NCW", 4: "NCHW", 5: "NCDHW"}
    return (last if layout.endswith("C") else first).get(x.ndim, layout)


@_row("grid_sample")
def _grid_sample(c: Call) -> Any:
    return nn.grid_sample(
        c[0], c[1], c.get("mode", "bilinear"), c.get("padding_mode", "zeros"),
        c.get("align_corners", True),
    )  # fmt: skip


@_row("affine_grid")
def _affine_grid(c: Call) -> Any:
    shape = c.ints(1)
    if isinstance(shape, Variable):
        c.refuse_unless(False, "a shape that the model computes")
    return nn.affine_grid(c[0], shape, c.get("align_corners", True))


# -- others -----------------------------------------------------------------------------------


@_row("dropout")
def _dropout(c: Call) -> Any:
    p = 0.5 if c[2] is None else c.number(2, "a rate")
    is_scaled = c.get("mode", "downgrade_in_infer") == "downgrade_in_infer"
    if c.get("is_test", False):
        return F.scale(c[0], 1.0 - p) if is_scaled else F.assign(c[0])
    mode = "downscale_in_infer" if is_scaled else "upscale_in_train"
    return F.dropout(c[0], p, training=True, mode=mode)


@_row("softmax")
def _softmax(c: Call) -> Any:
    return F.softmax(c[0], c.get("axis", -1))


@_row("embedding")
def _embedding(c: Call) -> Any:
    padding = c.get("padding_idx", -1)
    ids, weight = c[0], c[1]
    return F.embedding(ids, weight, None if padding == -1 else padding)


@_row("flash_attn")
def _attention(c: Call) -> Any:
    """(n, l, heads, d), thrice."""
    if not c.get("is_test", True) and c.get("dropout", 0.0):
        c.refuse_unless(False, "dropout")
    q, k, v = c[0], c[1], c[2]
    groups = q.shape[2] // k.shape[2]
    if not (isinstance(groups, int) and groups == 1):
        k, v = (F.repeat_interleave(one, groups, 2) for one in (k, v))
    return F.scaled_dot_product_attention(
        q, k, v, c[4], 0.0, c.get("causal", False), training=False
    )


@_row("fused_softmax_mask")
def _masked_softmax(c: Call) -> Any:
    return F.softmax(F.add(c[0], c[1]), -1)


@_row("fused_softmax_mask_upper_triangle")
def _causal_softmax(c: Call) -> Any:
    x = c[0]
    rows = F.arange(x.shape[-2])
    keep = F.less_equal(F.unsqueeze(F.arange(x.shape[-1]), 0), F.unsqueeze(rows, 1))
    return F.softmax(F.where(keep, x, F.full_like(x, -1e9)), -1)


_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "": lambda x: x,
    "none": lambda x: x,
    "identity": lambda x: x,
    "relu": lambda x: F.relu(x),
    "gelu": lambda x: F.gelu(x),
    "sigmoid": lambda x: F.sigmoid(x),
    "tanh": lambda x: F.tanh(x),
    "swish": lambda x: F.silu(x),
    "relu6": lambda x: F.relu6(x),
    "hard_swish": lambda x: F.hardswish(x),
}


def _activated(x: Any, name: Any) -> Any:
    if name not in _ACTIVATIONS:
        raise FormatError(f"a fused operator has the activation {name!r:.80}")
    return _ACTIVATIONS[name](x)


@_row("fused_gemm_epilogue")
def _gemm(c: Call) -> Any:
    made = F.matmul(c[0], c[1], c.get("trans_x", False), c.get("trans_y", False))
    return _activated(F.add(made, c[2]), c.get("activation", "none"))


@_row("fc")
def _fc(c: Call) -> Any:
    x, count = c[0], c.get("in_num_col_dims", 1)
    made = F.matmul(F.reshape(x, [*x.shape[:count], product(x.shape[count:])]), c[1])
    made = made if c[2] is None else F.add(made, F.reshape(c[2], [-1]))
    return _activated(made, c.get("activation_type", ""))


@_row("fused_conv2d_add_act")
def _fused_conv(c: Call) -> Any:
    made = F.conv2d(
        c[0], c[1], None if c[2] is None else F.reshape(c[2], [-1]), c.get("strides", 1),
        _padding(c), c.get("dilations", 1), c.get("groups", 1), _layout(c),
    )  # fmt: skip
    made = made if c[3] is None else F.add(made, c[3])
    return _activated(made, c.get("activation", "relu"))


@_row("fused_dropout_add")
def _dropout_add(c: Call) -> Any:
    p, is_scaled = c.get("p", 0.0), c.get("mode") == "downscale_in_infer"
    x = c[0]
    if not c.get("is_test", False):
        x = F.dropout(x, p, mode=c.get("mode", "upscale_in_train"))
    elif is_scaled:
        x = F.scale(x, 1.0 - p)
    return F.add(x, c[1])


def _joined(c: Call) -> Any:
    """x with a bias and what went past it: what norms of transformers begin with."""
    x = c[0]
    for other in (c[1], c[2]):
        x = x if other is None else F.add(x, other)
    c.refuse_unless(c.get("quant_scale", -1.0) <= 0, "quantised results")
    return x


def _fused_norm(is_layer: bool) -> Row:
    def row(c: Call) -> Any:
        x, epsilon = _joined(c), c.get("epsilon", 1e-5)
        sizes = [*x.shape][c.get("begin_norm_axis", x.ndim - 1) :]
        axes = [*range(-len(sizes), 0)]
        if is_layer:
            x = F.subtract(x, F.mean(x, axes, True))
        y = F.multiply(x, F.rsqrt(F.add(F.mean(F.square(x), axes, True), epsilon)))
        y = y if c[3] is None else F.multiply(y, F.reshape(c[3], sizes))
        y = y if c[4] is None else F.add(y, F.reshape(c[4], sizes))
        return y, x

    return row


def _fractional(axes: int) -> Row:
    def row(c: Call) -> Any:
        function = nn.fractional_max_pool2d if axes == 2 else nn.fractional_max_pool3d
        kernel = [size for size in c.get("kernel_size", []) if size] or None
        u = c.get("random_u", 0.0)
        c.refuse_unless(u > 0, "random places")
        y, places = function(c[0], c.need("output_size"), kernel, u, return_mask=True)
        return y, F.cast(places, "int32")

    return row


@_row("skip_layernorm")
def _skip_layer_norm(c: Call) -> Any:
    both = F.add(c[0], c[1])
    return F.layer_norm(both, [*both.shape][-1:], c[2], c[3], c.get("epsilon", 1e-5))


ROWS |= {
    "affine_channel": lambda c: F.add(
        F.multiply(c[0], F.reshape(c[1], [1, -1, 1, 1])), F.reshape(c[2], [1, -1, 1, 1])),
    "bicubic_interp": _interp("bicubic"),
    "bilinear_interp": _interp("bilinear"),
    "conv2d": _conv(2),
    "conv2d_transpose": _conv_transpose(2),
    "conv3d": _conv(3),
    "conv3d_transpose": _conv_transpose(3),
    "depthwise_conv2d": _conv(2),
    "depthwise_conv2d_transpose": _conv_transpose(2),
    "fractional_max_pool2d": _fractional(2),
    "fractional_max_pool3d": _fractional(3),
    "fused_bias_residual_layernorm": _fused_norm(True),
    "fused_rms_norm_quant": _fused_norm(False),
    "gumbel_softmax": lambda c: nn.gumbel_softmax(c[0], c.get("temperature", 1.0),
                                                  c.get("hard", False), c.get("axis", -1)),
    "instance_norm": lambda c: F.instance_norm(c[0], weight=c[1], bias=c[2],
                                               eps=c.get("epsilon", 1e-5)),
    "linear_interp": _interp("linear"),
    "linear_v2": lambda c: F.linear(c[0], c[1], c[2]),
    "log_softmax": lambda c: F.log_softmax(c[0], c.get("axis", -1)),
    "max_pool2d_with_index": _max_with_index(2),
    "max_pool3d_with_index": _max_with_index(3),
    "nearest_interp": _interp("nearest"),
    "pool2d": _pool(2),
    "pool3d": _pool(3),
    "trilinear_interp": _interp("trilinear"),
    "unpool": _unpool(2),
    "unpool3d": _unpool(3),
}  # fmt: skip

__all__ = ["ROWS"]
