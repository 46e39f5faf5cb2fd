"""What adds up is exact: short floats are computed in float32, long sums in parts, on all engines."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import dy2st as P

F = P.nn.functional
LABELS = P.to_tensor(np.arange(6) % 5)


def _loss(function, *more):
    return lambda x: function(x, P.zeros_like(x) + 0.25, *more)


def _classes(function):
    return lambda x: function(x, LABELS)


LONG = {  # along an axis of many numbers, whose sum or sum of squares float16 does not have
    "sum": lambda x: P.sum(x, 0),
    "flat_sum": P.sum,
    "mean": lambda x: P.mean(x, 0),
    "flat_mean": P.mean,
    "nansum": lambda x: P.nansum(x, 0),
    "nanmean": lambda x: P.nanmean(x, 0),
    "sum_to": lambda x: P.ones([2], x.dtype).expand([3000, 2]) * x,
    "cumsum": lambda x: P.cumsum(x / 16, 0),
    "logcumsumexp": lambda x: P.logcumsumexp(x / 64, 0),
    "trapezoid": lambda x: P.trapezoid(x, axis=0),
    "var": lambda x: P.var(x, 0),
    "std": lambda x: P.std(x, 0),
    "norm": lambda x: P.norm(x, 2, 0),
    "norm_3": lambda x: P.norm(x, 3, 0),
    "logsumexp": lambda x: P.logsumexp(x, 0),
    "softmax": lambda x: F.softmax(x, 0),
    "log_softmax": lambda x: F.log_softmax(x, 0),
    "layer_norm": lambda x: F.layer_norm(x.t(), [3000]),
    "rms_norm": lambda x: F.rms_norm(x.t(), [3000])[0],
    "normalize": lambda x: F.normalize(x, axis=0),
    "avg_pool1d": lambda x: F.avg_pool1d(x.t().unsqueeze(0), 3000),
    "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x.t().unsqueeze(0), 1),
    "dist": lambda x: P.dist(x, P.zeros_like(x)),
    "mse_loss": _loss(F.mse_loss),
    "l1_loss": _loss(F.l1_loss),
    "smooth_l1_loss": _loss(F.smooth_l1_loss),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x.flip([0]), axis=0),
}
BATCHES = {  # of (6, 5)
    "prod": lambda x: P.prod(x, 1),
    "cumprod": lambda x: P.cumprod(x, 1),
    "cross_entropy": _classes(F.cross_entropy),
    "nll_loss": _classes(F.nll_loss),
    "binary_cross_entropy_with_logits": _loss(F.binary_cross_entropy_with_logits),
    "kl_div": _loss(F.kl_div),
    "batch_norm": lambda x: F.batch_norm(x, P.zeros([5]), P.ones([5]), training=True),
    "group_norm": lambda x: F.group_norm(x.reshape([6, 5, 1]), 1),
    "instance_norm": lambda x: F.instance_norm(x.reshape([2, 3, 5])),
    "local_response_norm": lambda x: F.local_response_norm(x.unsqueeze(-1), 3),
    "softplus": F.softplus,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, True),
    "silu": F.silu,
    "sigmoid": F.sigmoid,
    "mish": F.mish,
    "elu": F.elu,
    "selu": F.selu,
    "celu": lambda x: F.celu(x, 0.7),
    "log_sigmoid": F.log_sigmoid,
    "softsign": F.softsign,
    "tanhshrink": F.tanhshrink,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
}
NORMS = ("batch_norm", "group_norm", "instance_norm")
DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
CALLS = {**LONG, **BATCHES}


def _input(name, dtype):
    rng = np.random.default_rng(3)
    made = rng.normal(8, 100, (3000, 2)) if name in LONG else rng.normal(0, 2, (6, 5))
    made *= 300 if name in NORMS else 1 / 64 if "softmax" in name else 1
    return made.astype(dtype)


def _run(function, array):
    x = P.to_tensor(array, stop_gradient=False)
    y = function(x)
    weights = np.random.default_rng(4).normal(0, 1, y.shape).astype(np.float16)
    (y.astype("float32") * P.to_tensor(weights.astype(np.float32))).sum().backward()
    return y.numpy(), x.grad.numpy()


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_short_floats_give_what_float32_gives_rounded(name, dtype, engine):
    array = _input(name, DTYPES[dtype])
    wanted, slope = _run(CALLS[name], array.astype(np.float32))
    function = CALLS[name] if engine == "eager" else P.to_static(CALLS[name], engine=engine)
    found, gradient = _run(function, array)
    assert found.dtype == gradient.dtype == DTYPES[dtype]
    ulp = 2.0**-10 if dtype == "float16" else 2.0**-7
    np.testing.assert_allclose(found.astype(float), wanted.astype(dtype).astype(float), rtol=ulp)
    np.testing.assert_allclose(
        gradient.astype(float), slope.astype(float), rtol=2 * ulp, atol=4 * ulp * abs(slope).max()
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_of_a_bias_are_sums_in_float32(dtype):
    linear = P.nn.Linear(4, 2)
    linear.to(dtype=dtype)
    linear(P.ones([8192, 4], dtype)).sum().backward()
    assert linear.bias.grad.tolist() == [8192.0, 8192.0]
    assert linear.weight.grad.tolist() == [[8192.0, 8192.0]] * 4


def test_the_dtype_that_is_asked_for_stays():
    x = P.full([300], 300.0, "float16")
    assert P.norm(x, dtype="float32").dtype == P.float32
    assert F.softmax(x, dtype="float32").dtype == P.float32
    assert P.sum(x, dtype="float32").item() == 90000


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_orders_have_their_place_for_nan(dtype, engine):
    def orders(x):
        most, where = P.cummax(x, 1)
        top, places = P.topk(x, 2, 1)
        return P.sort(x, 1), P.argsort(x, 1, descending=True), P.unique(x), most, where, top, places

    call = orders if engine == "eager" else P.to_static(orders, engine=engine)
    nan = float("nan")
    x = P.to_tensor([[nan, 1.0, 5.0], [3.0, nan, 1.0], [2.0, 2.0, nan]])
    for found, wanted in zip(call(x.astype(dtype)), orders(x), strict=True):
        np.testing.assert_array_equal(found.astype("float32").numpy(), wanted.numpy())


# -- sums of many numbers --------------------------------------------------------------------------


COUNT = 1_000_000
SUMS = {
    "sum": (P.sum, (COUNT,)),
    "mean": (P.mean, (COUNT,)),
    "sum of rows": (lambda x: P.sum(x, 0), (COUNT // 2, 2)),
    "mean of rows": (lambda x: P.mean(x, 0), (COUNT // 2, 2)),
    "sum along rows": (lambda x: P.sum(x, 1), (2, COUNT // 2)),
    "sum of a turned matrix": (lambda x: P.sum(x.t(), 1), (COUNT // 2, 2)),
    "sum of channels": (lambda x: P.sum(x, [0, 2], keepdim=True), (COUNT // 4, 2, 2)),
}


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("name", SUMS)
def test_a_million_equal_numbers_have_their_sum(name, engine):
    function, shape = SUMS[name]
    call = function if engine == "eager" else P.to_static(lambda x: function(x), engine=engine)
    x = P.full(list(shape), 0.1)
    found = call(x)
    each = float(np.float32(0.1))
    wanted = each if "mean" in name else each * x.size / found.size
    np.testing.assert_allclose(found.numpy().astype(float), wanted, rtol=2e-5)


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
def test_the_gradient_of_a_bias_is_right_for_many_rows(engine):
    bias = P.zeros([3])
    bias.stop_gradient = False
    add = lambda x, b: x + b  # noqa: E731
    add = add if engine == "eager" else P.to_static(add, engine=engine)
    (add(P.zeros([100_000, 3]), bias) * 0.1).sum().backward()
    np.testing.assert_allclose(bias.grad.numpy(), 10_000, rtol=2e-5)


@pytest.mark.parametrize("count", [2049, 3000, 2500 * 2])
def test_blocks_leave_nothing_out(count):
    x = np.arange(2 * count, dtype="float32").reshape(count, 2) % 7
    for axis, keep in ((0, False), (0, True)):
        found = P.sum(P.to_tensor(x), axis, keepdim=keep).numpy()
        np.testing.assert_array_equal(found, x.sum(axis, dtype=float, keepdims=keep))
