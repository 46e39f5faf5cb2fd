"""Sums of many numbers in float32: within 2e-5 on all engines, as docs/engines.md says."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as P

COUNT = 1_000_000
CALLS = {
    "sum": (P.sum, (COUNT,)),
    "mean": (P.mean, (COUNT,)),
    "sum of rows": (lambda x: P.sum(x, 0), (COUNT // 2, 2)),
    "mean of rows": (lambda x: P.mean(x, 0), (COUNT // 2, 2)),
    "sum along rows": (lambda x: P.sum(x, 1), (2, COUNT // 2)),
    "sum of a turned matrix": (lambda x: P.sum(x.t(), 1), (COUNT // 2, 2)),
    "sum of channels": (lambda x: P.sum(x, [0, 2], keepdim=True), (COUNT // 4, 2, 2)),
}


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("name", CALLS)
def test_a_million_equal_numbers_have_their_sum(name, engine):
    function, shape = CALLS[name]
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
