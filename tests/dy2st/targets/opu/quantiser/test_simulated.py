"""Errors of sums and means of rounded numbers, against plain loops."""

import numpy as np
import pytest

from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.layer import Activation, Order, Pooling
from dy2st.targets.opu.quantiser import calibrate, quantise
from dy2st.targets.opu.quantiser.fraction_lengths import FIRST, SEED_LAST
from tests.dy2st.targets.opu.hand_networks import Builder


def rounded(x, fraclen):
    """Integers of real numbers: no number here is halfway between two."""
    return np.clip(np.rint(x.astype(np.float64) * 2.0**fraclen), -128, 127)


def with_residual():
    b = Builder((4, 4, 3))
    first = b.conv(0, 5, kernel=1)
    relu = {"activation_type": Activation.RELU, "residual_source": [first]}
    b.conv(0, 5, kernel=1, res_position=Order.RESIDUAL_ACTIVATION_POOLING, scale=2.0, **relu)
    return b.done(), b.inputs(2)[0]


def test_a_sum_has_the_error_of_its_rounded_parts():
    network, images = with_residual()
    found = calibrate(network, images)
    values = run_float(network, images)
    layer = network.layer(2)
    layer.activation_type, layer.residual_source, layer.residual = 0, [], 0
    cut = run_float(network, images)[2]
    for fraclen in range(-6, 14):
        both = np.clip(rounded(cut, fraclen) + rounded(values[1], fraclen), 0, 127)
        wanted = ((both * 2.0**-fraclen - values[2]) ** 2).sum()
        got = found.made[2].errors[fraclen - FIRST]
        assert got == pytest.approx(wanted, rel=1e-5)


def test_what_is_rounded_to_zero_costs_all_and_what_is_never_chosen_is_infinite():
    network, images = with_residual()
    errors = calibrate(network, images).made[2].errors
    whole = (run_float(network, images)[2].astype(np.float64) ** 2).sum()
    assert errors[0] == pytest.approx(whole, rel=1e-6)
    assert np.isfinite(errors[: SEED_LAST + 1 - FIRST]).all()
    assert np.isinf(errors[SEED_LAST + 1 - FIRST :]).all()


def test_a_mean_may_be_of_clamped_numbers_if_its_own_steps_are_finer_then():
    b = Builder((8, 8, 3))
    mean = {"pooling_size": [1, 8, 8], "pooling_stride": [1, 8, 8]}
    relu = {"activation_type": Activation.RELU}
    b.conv(0, 16, kernel=1, pooling_type=Pooling.AVERAGE, **mean, **relu)
    network, images = b.done(), b.inputs(4)[0]
    found = calibrate(network, images)
    report = quantise(network, images)
    length = network.layer(1).output_fraclen
    errors = found.made[1].errors[length - 3 - FIRST : length + 4 - FIRST]
    assert int(np.argmin(errors)) == 3
    largest = quantise(network, images, "max")
    assert network.layer(1).output_fraclen < length
    assert report.layers[0].own_snr > largest.layers[0].own_snr
