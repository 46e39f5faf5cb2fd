"""Padding along axes of which elements are taken away, and with complex numbers."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as P
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError

F = P.nn.functional
ROW = np.arange(4.0)
# What PaddlePaddle 3.3.1 gives for the row 0 1 2 3.
PADDED = [
    ("replicate", (-4, 5), [3, 3, 3, 3, 3]),
    ("replicate", (2, -4), [0, 0]),
    ("replicate", (-1, 2), [1, 2, 3, 3, 3]),
    ("reflect", (2, -4), [2, 1]),
    ("reflect", (-1, 2), [1, 2, 3, 2, 1]),
    ("circular", (-4, 5), [0, 1, 2, 3, 0]),
    ("circular", (2, -4), [2, 3]),
    ("circular", (-1, 2), [1, 2, 3, 0, 1]),
    ("circular", (1, -1), [3, 0, 1, 2]),
    ("constant", (-1, 2), [1, 2, 3, 0, 0]),
]


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize(("mode", "pads", "wanted"), PADDED)
def test_places_are_counted_from_all_elements(mode, pads, wanted, engine):
    def padded(x):
        return F.pad(x, list(pads), mode, data_format="NCL")

    x = P.to_tensor(ROW.reshape(1, 1, 4), stop_gradient=False)
    y = (padded if engine == "eager" else P.to_static(padded, engine=engine))(x)
    assert y.tolist() == [[wanted]]
    y.sum().backward()
    counts = [0 if mode == "constant" and k == 0 else wanted.count(k) for k in range(4)]
    assert x.grad.tolist() == [[counts]]


@pytest.mark.parametrize("mode", ["replicate", "reflect", "circular", "constant"])
def test_no_more_is_taken_away_than_there_is(mode):
    with pytest.raises(ShapeError, match="takes more"):
        F.pad(P.ones([1, 1, 4]), [-3, -2], mode, data_format="NCL")


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
def test_complex_tensors_are_padded_with_complex_numbers(engine):
    def padded(x):
        return F.pad(x, [1, -1], value=1 - 2j)

    x = P.to_tensor([1j, 2.0])
    y = (padded if engine == "eager" else P.to_static(padded, engine=engine))(x)
    assert y.dtype == np.complex64
    assert y.tolist() == [1 - 2j, 1j]
    with pytest.raises(DTypeError, match="complex"):
        F.pad(P.ones([2]), [1, 1], value=1j)


def test_a_complex_number_is_for_known_pads():
    pads = P.to_tensor([1, 1])
    with pytest.raises(ArgumentError, match="numbers"):
        P.to_static(lambda x, p: F.pad(x, p, value=1j))(P.to_tensor([1j]), pads)
