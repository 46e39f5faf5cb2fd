"""Values, gradients and dtypes against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as TF

import dy2st_runtime as rt
from dy2st_runtime import nn, ops, optimizer
from dy2st_runtime.nn import functional as F

RNG = np.random.default_rng(0)


def random(*shape, low=-2.0, high=2.0):
    return RNG.uniform(low, high, shape)


def compare(ours, theirs, *arrays, tolerance=1e-9):
    """Values, and gradients of one random mixture of the results."""
    mine = [rt.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    others = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    y, z = ours(*mine), theirs(*others)
    assert str(y.dtype) == str(z.dtype).removeprefix("torch.")
    np.testing.assert_allclose(y.numpy(), z.detach().numpy(), rtol=tolerance, atol=tolerance)
    if y.stop_gradient:
        return
    weight = random(*y.shape)
    (y * rt.to_tensor(weight)).sum().backward()
    (z * torch.tensor(weight)).sum().backward()
    for a, b in zip(mine, others, strict=True):
        if b.grad is not None:
            np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-7, atol=1e-9)


ELEMENTWISE = [
    "abs", "exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "asinh", "erf",
    "sigmoid", "relu", "square", "sign", "floor", "ceil", "round", "trunc",
]  # fmt: skip
POSITIVE = ["log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal"]


@pytest.mark.parametrize("shape", [(), (3,), (2, 1, 4), (0, 2)])
@pytest.mark.parametrize("name", [*ELEMENTWISE, *POSITIVE])
def test_unary_functions(name, shape):
    low = 0.1 if name in POSITIVE else -2.0
    compare(getattr(ops, name), getattr(torch, name), random(*shape, low=low))


@pytest.mark.parametrize("shapes", [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((0, 3), (1, 3))])
@pytest.mark.parametrize(
    "name",
    ["add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "remainder", "atan2"],
)
def test_binary_functions(name, shapes):
    arrays = [random(*shape, low=0.3) for shape in shapes]
    compare(getattr(ops, name), getattr(torch, name), *arrays)


@pytest.mark.parametrize("axis", [0, -1, (0, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "logsumexp", "var", "std"])
def test_reductions(name, axis, keepdim):
    compare(
        lambda x: getattr(ops, name)(x, axis=axis, keepdim=keepdim),
        lambda x: getattr(torch, name)(x, dim=axis, keepdim=keepdim),
        random(3, 4, 5),
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "shape"),
    [
        (lambda x: x.prod(axis=1), lambda x: x.prod(1), (3, 4)),
        (lambda x: x.cumsum(axis=1), lambda x: x.cumsum(1), (3, 4)),
        (lambda x: x.cumprod(dim=0), lambda x: x.cumprod(0), (3, 4)),
        (lambda x: x.norm(axis=1), lambda x: x.norm(dim=1), (3, 4)),
        (lambda x: x.argmax(axis=1), lambda x: x.argmax(1), (3, 4)),
        (lambda x: x.reshape([4, -1]), lambda x: x.reshape(4, -1), (3, 4)),
        (lambda x: x.transpose([2, 0, 1]), lambda x: x.permute(2, 0, 1), (2, 3, 4)),
        (lambda x: x.flip([0, 1]), lambda x: x.flip(0, 1), (3, 4)),
        (lambda x: x.roll(2, 1), lambda x: x.roll(2, 1), (3, 4)),
        (lambda x: x.tile([2, 3]), lambda x: x.tile(2, 3), (3, 4)),
        (lambda x: x.expand([5, 3, 4]), lambda x: x.expand(5, 3, 4), (3, 4)),
        (lambda x: x.repeat_interleave(3, 1), lambda x: x.repeat_interleave(3, 1), (3, 4)),
        (lambda x: ops.stack(x.split(2, 0), 1), lambda x: torch.stack(x.chunk(2, 0), 1), (4, 3)),
        (lambda x: ops.concat([x, x * 2], 1), lambda x: torch.cat([x, x * 2], 1), (3, 4)),
        (lambda x: x.tril(1), lambda x: x.tril(1), (3, 4)),
        (lambda x: x[1:, None, ::2], lambda x: x[1:, None, ::2], (3, 4)),
        (lambda x: x[[0, 2, 0]], lambda x: x[[0, 2, 0]], (3, 4)),
        (lambda x: x[..., -1], lambda x: x[..., -1], (3, 4)),
        (lambda x: x[x > 0], lambda x: x[x > 0], (3, 4)),
        (lambda x: ops.sort(x, 1), lambda x: x.sort(1).values, (3, 4)),
        (lambda x: ops.topk(x, 2, 1)[0], lambda x: x.topk(2, 1).values, (3, 4)),
        (lambda x: x.clip(-0.5, 0.5), lambda x: x.clip(-0.5, 0.5), (3, 4)),
        (lambda x: F.pad(x, [1, 2]), lambda x: TF.pad(x, [1, 2]), (2, 3, 4)),
        (
            lambda x: F.pad(x, [1, 2], mode="reflect"),
            lambda x: TF.pad(x, [1, 2], mode="reflect"),
            (2, 3, 4),
        ),
        (
            lambda x: F.pad(x, [1, 2], mode="replicate"),
            lambda x: TF.pad(x, [1, 2], mode="replicate"),
            (2, 3, 4),
        ),
    ],
)
def test_movement_and_indexing(ours, theirs, shape):
    compare(ours, theirs, random(*shape))


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3), (3, 4)), ((3,), (3,)), ((5, 2, 3), (3, 4)), ((3,), (5, 3, 2)), ((0, 3), (3, 2))],
)
def test_matmul(left, right):
    compare(ops.matmul, torch.matmul, random(*left), random(*right))


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 4)]
)
def test_convolutions(stride, padding, dilation, groups):
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    for axes in (1, 2):
        x, w, b = random(2, 4, *[7] * axes), random(8, 4 // groups, *[3] * axes), random(8)
        name = f"conv{axes}d"
        compare(
            lambda x, w, b: getattr(F, name)(x, w, b, **settings),
            lambda x, w, b: getattr(TF, name)(x, w, b, **settings),
            x, w, b,
        )  # fmt: skip
        w = random(4, 8 // groups, *[3] * axes)
        compare(
            lambda x, w, b: getattr(F, f"conv{axes}d_transpose")(x, w, b, **settings),
            lambda x, w, b: getattr(TF, f"conv_transpose{axes}d")(x, w, b, **settings),
            x, w, b,
        )  # fmt: skip


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (3, 1, 1)])
def test_pools(kernel, stride, padding, ceil_mode):
    x = random(2, 3, 7, 8)
    compare(
        lambda x: F.max_pool2d(x, kernel, stride, padding, ceil_mode=ceil_mode),
        lambda x: TF.max_pool2d(x, kernel, stride, padding, ceil_mode=ceil_mode),
        x,
    )
    for exclusive in (False, True):
        compare(
            lambda x: F.avg_pool2d(x, kernel, stride, padding, ceil_mode, exclusive),
            lambda x: TF.avg_pool2d(x, kernel, stride, padding, ceil_mode, not exclusive),
            x,
        )


@pytest.mark.parametrize("size", [1, 3, (2, 5)])
def test_adaptive_pools(size):
    x = random(2, 3, 6, 7)
    compare(lambda x: F.adaptive_avg_pool2d(x, size), lambda x: TF.adaptive_avg_pool2d(x, size), x)
    compare(lambda x: F.adaptive_max_pool2d(x, size), lambda x: TF.adaptive_max_pool2d(x, size), x)


ACTIVATIONS = [
    "gelu", "silu", "mish", "relu6", "leaky_relu", "elu", "celu", "selu", "softplus", "softsign",
    "hardsigmoid", "hardswish", "hardtanh", "hardshrink", "softshrink", "tanhshrink",
]  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    compare(getattr(F, name), getattr(TF, name), random(3, 5, low=-4.0, high=4.0))


def test_activations_with_settings():
    x = random(3, 6, low=-4.0, high=4.0)
    compare(lambda x: F.gelu(x, True), lambda x: TF.gelu(x, approximate="tanh"), x)
    compare(F.log_sigmoid, TF.logsigmoid, x)
    compare(lambda x: F.softmax(x, 0), lambda x: TF.softmax(x, 0), x)
    compare(lambda x: F.log_softmax(x, 1), lambda x: TF.log_softmax(x, 1), x)
    compare(lambda x: F.glu(x), lambda x: TF.glu(x), x)
    compare(F.prelu, TF.prelu, x, random(1))


def test_norms():
    x, w, b = random(4, 6, 3), random(6), random(6)
    compare(
        lambda x, w, b: F.group_norm(x, 3, 1e-5, w, b),
        lambda x, w, b: TF.group_norm(x, 3, w, b),
        x,
        w,
        b,
    )
    compare(
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        lambda x, w, b: TF.instance_norm(x, weight=w, bias=b),
        x, w, b,
    )  # fmt: skip
    w, b = random(6, 3), random(6, 3)
    compare(
        lambda x, w, b: F.layer_norm(x, [6, 3], w, b),
        lambda x, w, b: TF.layer_norm(x, [6, 3], w, b),
        x, w, b,
    )  # fmt: skip
    compare(lambda x: F.normalize(x), lambda x: TF.normalize(x), x)


def test_batch_norm_trains_and_keeps_the_biased_variance_as_paddle_does():
    x = random(8, 4, 3).astype("float32")
    layer = nn.BatchNorm1D(4)
    y = layer(rt.to_tensor(x))
    z = TF.batch_norm(torch.tensor(x), None, None, training=True)
    np.testing.assert_allclose(y.numpy(), z.numpy(), rtol=1e-4, atol=1e-5)
    wide = x.astype("float64")
    np.testing.assert_allclose(layer._mean.numpy(), 0.1 * wide.mean((0, 2)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(layer._variance.numpy(), 0.9 + 0.1 * wide.var((0, 2)), rtol=1e-4)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction):
    x, y = random(4, 5), random(4, 5)
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss"):
        compare(
            lambda a, b: getattr(F, name)(a, b, reduction=reduction),
            lambda a, b: getattr(TF, name)(a, b, reduction=reduction),
            x, y,
        )  # fmt: skip
    p, t = random(4, 5, low=0.1, high=0.9), random(4, 5, low=0.0, high=1.0)
    compare(
        lambda a, b: F.binary_cross_entropy(a, b.detach(), reduction=reduction),
        lambda a, b: TF.binary_cross_entropy(a, b.detach(), reduction=reduction),
        p, t,
    )  # fmt: skip
    compare(
        lambda a, b: F.binary_cross_entropy_with_logits(a, b, reduction=reduction),
        lambda a, b: TF.binary_cross_entropy_with_logits(a, b.detach(), reduction=reduction),
        x, t,
    )  # fmt: skip
    if reduction == "mean":
        return  # torch warns that its mean is going to change
    compare(
        lambda a, b: F.kl_div(a, b.detach(), reduction=reduction),
        lambda a, b: TF.kl_div(a, b.detach(), reduction=reduction),
        np.log(p), t,
    )  # fmt: skip


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(reduction, weighted, smoothing):
    if weighted and smoothing:
        return  # Paddle and torch weigh smoothed labels differently
    label = np.array([0, 2, 1, 7, 2])
    weight = random(3, low=0.5) if weighted else None
    compare(
        lambda x: F.cross_entropy(
            x, rt.to_tensor(label), None if weight is None else rt.to_tensor(weight),
            ignore_index=7, reduction=reduction, label_smoothing=smoothing,
        ).reshape([-1] if reduction == "none" else []),
        lambda x: TF.cross_entropy(
            x, torch.tensor(label), None if weight is None else torch.tensor(weight),
            ignore_index=7, reduction=reduction, label_smoothing=smoothing,
        ),
        random(5, 3),
    )  # fmt: skip


def test_embedding_and_interpolation():
    index = rt.to_tensor(np.array([[0, 2], [1, 2]]))
    other = torch.tensor([[0, 2], [1, 2]])
    compare(lambda w: F.embedding(index, w), lambda w: TF.embedding(other, w), random(3, 4))
    x = random(2, 3, 4, 5)
    compare(
        lambda x: F.interpolate(x, scale_factor=2), lambda x: TF.interpolate(x, scale_factor=2), x
    )
    for corners in (False, True):
        compare(
            lambda x: F.interpolate(x, size=[7, 3], mode="bilinear", align_corners=corners),
            lambda x: TF.interpolate(x, size=[7, 3], mode="bilinear", align_corners=corners),
            x,
        )


@pytest.mark.parametrize("name", ["SimpleRNN", "LSTM", "GRU"])
def test_recurrent_layers(name):
    ours = getattr(nn, name)(3, 4, num_layers=2, direction="bidirect")
    theirs = getattr(torch.nn, name.removeprefix("Simple"))(
        3, 4, num_layers=2, bidirectional=True, batch_first=True
    )
    for part, value in theirs.named_parameters():
        getattr(ours, part).set_value(value.detach().numpy())
    x = random(2, 5, 3).astype("float32")
    y, state = ours(rt.to_tensor(x))
    z, other = theirs(torch.tensor(x))
    np.testing.assert_allclose(y.numpy(), z.detach().numpy(), rtol=1e-5, atol=1e-6)
    pairs = zip(state, other, strict=True) if name == "LSTM" else [(state, other)]
    for a, b in pairs:
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_attention_and_the_encoder_layer():
    ours = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    theirs = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    attention = theirs.self_attn
    for number, part in enumerate(("q_proj", "k_proj", "v_proj")):
        rows = slice(8 * number, 8 * number + 8)
        layer = getattr(ours.self_attn, part)
        layer.weight.set_value(attention.in_proj_weight[rows].detach().numpy().T)
        layer.bias.set_value(attention.in_proj_bias[rows].detach().numpy())
    pairs = [(ours.self_attn.out_proj, attention.out_proj)]
    pairs += [
        (getattr(ours, n), getattr(theirs, n)) for n in ("linear1", "linear2", "norm1", "norm2")
    ]
    for mine, other in pairs:
        value = other.weight.detach().numpy()
        mine.weight.set_value(value.T if value.ndim == 2 else value)
        mine.bias.set_value(other.bias.detach().numpy())
    x = random(3, 5, 8).astype("float32")
    y, z = ours(rt.to_tensor(x)), theirs(torch.tensor(x))
    np.testing.assert_allclose(y.numpy(), z.detach().numpy(), rtol=1e-4, atol=1e-5)


OPTIMIZERS = {
    "SGD": (lambda p: optimizer.SGD(0.1, p), lambda p: torch.optim.SGD(p, 0.1)),
    "SGD with decay": (
        lambda p: optimizer.SGD(0.1, p, weight_decay=0.01),
        lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.01),
    ),
    "Momentum": (
        lambda p: optimizer.Momentum(0.1, 0.9, p),
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    ),
    "Nesterov": (
        lambda p: optimizer.Momentum(0.1, 0.9, p, use_nesterov=True),
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    ),
    "Adam": (lambda p: optimizer.Adam(0.1, parameters=p), lambda p: torch.optim.Adam(p, 0.1)),
    "AdamW": (
        lambda p: optimizer.AdamW(0.1, parameters=p, weight_decay=0.1),
        lambda p: torch.optim.AdamW(p, 0.1, weight_decay=0.1),
    ),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_step_alike_also_when_a_gradient_is_missing_at_times(name):
    make, make_other = OPTIMIZERS[name]
    starts = [random(3), random(2, 2)]
    mine = [rt.tensor.Parameter(s.copy()) for s in starts]
    others = [torch.tensor(s, requires_grad=True) for s in starts]
    step, other_step = make(mine), make_other(others)
    for turn in range(6):
        for tensors in (mine, others):
            loss = (tensors[0] ** 2).sum()
            if turn % 2:
                loss = loss + (tensors[1] ** 3).sum()
            loss.backward()
        step.step()
        other_step.step()
        step.clear_grad(set_to_zero=False)
        other_step.zero_grad()
    for a, b in zip(mine, others, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-7)


def test_the_global_norm_is_clipped_as_torch_does():
    arrays = [random(3) * 10, random(2, 2) * 10]
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    for tensor, array in zip(tensors, arrays, strict=True):
        tensor.grad = torch.tensor(array)
    torch.nn.utils.clip_grad_norm_(tensors, 1.0)
    pairs = nn.ClipGradByGlobalNorm(1.0)([(None, rt.to_tensor(array)) for array in arrays])
    for (_, clipped), tensor in zip(pairs, tensors, strict=True):
        np.testing.assert_allclose(clipped.numpy(), tensor.grad.numpy(), rtol=1e-5)
