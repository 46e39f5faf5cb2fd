"""linspace and logspace of integers, and between ends that only the run tells."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as P

# Ends, number and what PaddlePaddle 3.3.1 gives for int64.
SPACED = [
    ((4.3, -3, 10), [4, 3, 2, 1, 0, 0, 0, -1, -2, -3]),
    ((0, 7.9, 8), [0, 1, 2, 3, 4, 5, 6, 7]),
    ((-3.7, 2.2, 6), [-3, -2, -1, 0, 1, 2]),
    ((0.9, 5, 9), [0, 0, 1, 1, 2, 3, 3, 4, 5]),
    ((2.5, 7.5, 1), [2]),
]
POWERS = [
    ((0, 1.2, 4), 10.0, [1, 2, 4, 10]),
    ((0.5, 3.7, 5), 10.0, [1, 5, 31, 177, 1000]),
    ((-1, 2, 7), 2.7, [0, 0, 1, 1, 2, 2, 4]),
]


@pytest.mark.parametrize(("ends", "wanted"), SPACED)
def test_linspace_of_integers_cuts_its_ends_first(ends, wanted):
    assert P.linspace(*ends, dtype="int64").tolist() == wanted


@pytest.mark.parametrize(("ends", "base", "wanted"), POWERS)
def test_logspace_of_integers_cuts_its_ends_and_base_first(ends, base, wanted):
    assert P.logspace(*ends, base=base, dtype="int64").tolist() == wanted


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(("ends", "wanted"), SPACED)
def test_linspace_between_tensors_is_that_between_numbers(ends, wanted, engine):
    first, last, count = ends
    traced = P.to_static(lambda a, b: P.linspace(a, b, count, "int64"), engine=engine)
    assert traced(P.to_tensor(first), P.to_tensor(last)).tolist() == wanted


@pytest.mark.parametrize("count", range(8))
def test_linspace_of_floats_is_that_of_numpy(count):
    made = P.linspace(-1.25, 3.5, count, "float64")
    np.testing.assert_allclose(made.numpy(), np.linspace(-1.25, 3.5, count), rtol=1e-15)
