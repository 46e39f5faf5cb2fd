"""Movement, indexing and order against torch: values and gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as TF

import dy2st_runtime as rt
from dy2st_runtime import ops

RNG = np.random.default_rng(1)
X = RNG.standard_normal((4, 3, 5))
ROWS = np.array([1, 3, 1])
ALONG = RNG.integers(0, 3, (4, 2, 5))
MASK = X > 0


def compare(ours, theirs, *arrays):
    """Values, and gradients of one random mixture of the result."""
    mine = [rt.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    others = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    y, z = ours(*mine), theirs(*others)
    np.testing.assert_allclose(y.numpy(), z.detach().numpy(), rtol=1e-12)
    weight = RNG.standard_normal(tuple(y.shape))
    (y * rt.to_tensor(weight)).sum().backward()
    (z * torch.tensor(weight)).sum().backward()
    for left, right in zip(mine, others, strict=True):
        if right.requires_grad:
            np.testing.assert_allclose(left.grad.numpy(), right.grad.numpy(), rtol=1e-12)


UPDATES = RNG.standard_normal((3, 3, 5))
VALUES = RNG.standard_normal((4, 2, 5))
CASES = {
    "x[rows]": (lambda x, i: x[i], lambda x, i: x[i], X, ROWS),
    "x[:, cols, 1:]": (lambda x, i: x[:, i % 3, 1:], lambda x, i: x[:, i % 3, 1:], X, ROWS),
    "x[rows, :, cols]": (lambda x, i: x[i, :, i], lambda x, i: x[i, :, i], X, ROWS),
    "x[mask]": (lambda x, m: x[m], lambda x, m: x[m], X, MASK),
    "x[0, None, ::2]": (lambda x: x[0, None, ::2], lambda x: x[0, None, ::2], X),
    "index_select": (
        lambda x, i: x.index_select(i, 0),
        lambda x, i: x.index_select(0, i),
        X,
        ROWS,
    ),
    "take_along_axis": (
        lambda x, i: x.take_along_axis(i, 1, broadcast=False),
        lambda x, i: torch.take_along_dim(x, i, 1),
        X,
        ALONG,
    ),
    "index_add": (
        lambda x, i, v: x.index_add(i, 0, v),
        lambda x, i, v: x.index_add(0, i, v),
        X,
        ROWS,
        UPDATES,
    ),
    "put_along_axis add": (
        lambda x, i, v: x.put_along_axis(i, v, 1, "add", broadcast=False),
        lambda x, i, v: x.scatter_add(1, i, v),
        X,
        ALONG,
        VALUES,
    ),
    "masked_fill": (
        lambda x, m: x.masked_fill(m, 3.0),
        lambda x, m: x.masked_fill(m, 3.0),
        X,
        MASK,
    ),
    "sort": (lambda x: x.sort(1, True), lambda x: torch.sort(x, dim=1, descending=True).values, X),
    "topk": (lambda x: x.topk(2, 2)[0], lambda x: x.topk(2, 2).values, X),
    "pad reflect": (
        lambda x: x.pad([1, 2], "reflect", data_format="NCL"),
        lambda x: TF.pad(x, [1, 2], "reflect"),
        X,
    ),
    "pad replicate": (
        lambda x: x.pad([1, 2], "replicate", data_format="NCL"),
        lambda x: TF.pad(x, [1, 2], "replicate"),
        X,
    ),
    "pad circular": (
        lambda x: x.pad([1, 2], "circular", data_format="NCL"),
        lambda x: TF.pad(x, [1, 2], "circular"),
        X,
    ),
    "pad negative": (
        lambda x: x.pad([-1, 2], value=3.0, data_format="NCL"),
        lambda x: TF.pad(x, [-1, 2], value=3.0),
        X,
    ),
    "roll": (lambda x: x.roll([1, -2], [0, 2]), lambda x: x.roll([1, -2], [0, 2]), X),
    "rot90": (lambda x: x.rot90(3, [1, 2]), lambda x: x.rot90(3, [1, 2]), X),
    "tile": (lambda x: x.tile([2, 1, 2]), lambda x: x.tile(2, 1, 2), X),
    "repeat_interleave": (
        lambda x: x.repeat_interleave([2, 0, 1], 1),
        lambda x: x.repeat_interleave(torch.tensor([2, 0, 1]), 1),
        X,
    ),
    "moveaxis": (lambda x: x.moveaxis(0, -1), lambda x: x.moveaxis(0, -1), X),
    "unflatten": (lambda x: x.unflatten(0, [2, -1]), lambda x: x.unflatten(0, [2, -1]), X),
    "stack": (
        lambda x: ops.stack([x, x * x], 1),
        lambda x: torch.stack([x, x * x], 1),
        X,
    ),
    "split": (
        lambda x: x.split([1, 4], 2)[1] * x.split([2, 3], 2)[1][..., :1],
        lambda x: x.split([1, 4], 2)[1] * x.split([2, 3], 2)[1][..., :1],
        X,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_torch(name):
    compare(*CASES[name])


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        ((slice(1, 3),), (2, 3, 5)),
        ((slice(None), 1), (4, 5)),
        ((np.array([1, 3]),), (2, 3, 5)),
        ((slice(None), np.array([0, 2]), slice(None, None, 2)), (4, 2, 3)),
        ((Ellipsis, -1), ()),
    ],
)
def test_gradients_of_a_change_in_place_are_those_of_torch(index, shape):
    value = RNG.standard_normal(shape)

    def theirs(x, v):
        y = x.clone()
        y[tuple(torch.tensor(i) if isinstance(i, np.ndarray) else i for i in index)] = v
        return y

    compare(lambda x, v: ops.setitem(x, index, v), theirs, X, value)
