"""Calibration: what is taken in, what is refused and what is shown."""

import numpy as np
import pytest

from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.layer import Activation, Order, Pooling
from dy2st.targets.opu.quantiser.calibrate import calibrate
from dy2st.targets.opu.quantiser.fraction_lengths import FIRST, statistics
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from tests.dy2st.targets.opu.hand_networks import Builder


def small():
    b = Builder((5, 4, 3))
    b.conv(b.conv(0, 6), 2, kernel=1)
    return b.done(), b.inputs(6)[0]


def test_every_input_counts():
    network, images = small()
    found = calibrate(network, images)
    values = run_float(network, images)
    assert found.count == 6
    for index, tensor in {0: images, **values}.items():
        assert found.tensors[index].largest == pytest.approx(float(tensor.max()), rel=1e-6)
        np.testing.assert_allclose(
            found.tensors[index].errors, statistics(tensor).errors, rtol=1e-3, atol=1e-9
        )


def test_a_generator_a_list_of_batches_and_an_array_are_the_same_inputs():
    network, images = small()
    whole = calibrate(network, images)
    one = calibrate(network, (image for image in images))
    two = calibrate(network, [images[:2], images[2:]])
    three = calibrate(network, [(image,) for image in images])
    for other in (one, two, three):
        assert other.count == 6
        for index, stats in whole.tensors.items():
            np.testing.assert_allclose(other.tensors[index].errors, stats.errors, rtol=1e-3)


def test_a_network_with_two_inputs_takes_pairs():
    b = Builder((4, 4, 2), (4, 4, 3))
    b.conv([0, -1], 4)
    network = b.done()
    pairs = [b.inputs() for _ in range(3)]
    found = calibrate(network, pairs)
    assert found.tensors[-1].largest == max(float(second.max()) for _, second in pairs)
    with pytest.raises(ArgumentError, match="calibration input 1: the network has 2 inputs, not 1"):
        calibrate(network, [pairs[0], pairs[1][0]])
    mixed = [pairs[0][0], np.concatenate([pairs[0][1]] * 2)]
    with pytest.raises(ShapeError, match="calibration input 0: its arrays have different batch"):
        calibrate(network, [mixed])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_finite_number_is_refused_with_input_and_place(value):
    network, images = small()
    images[4, 2, 1, 0] = value
    with pytest.raises(ArgumentError, match=rf"calibration input 4 has {value} at \[0, 2, 1, 0\]"):
        calibrate(network, images)
    with pytest.raises(ArgumentError, match=rf"calibration input 1 has {value} at \[1, 2, 1, 0\]"):
        calibrate(network, [images[:3], images[3:]])


def test_a_wrong_shape_or_dtype_is_refused_with_the_inputs_number():
    network, images = small()
    with pytest.raises(ShapeError, match=r"calibration input 2.*\[1, 3, 5, 4\].*\[n, 5, 4, 3\]"):
        calibrate(network, [images[0], images[1], images[2].transpose(2, 0, 1)])
    with pytest.raises(DTypeError, match="calibration input 1.*uint8: an array of floats"):
        calibrate(network, [images[0], images[1].astype(np.uint8)])
    with pytest.raises(DTypeError, match="calibration input 0 is a float"):
        calibrate(network, [1.5])
    with pytest.raises(ShapeError, match="for a single image put it into a list"):
        calibrate(network, images[0])
    with pytest.raises(ArgumentError, match="give at least one"):
        calibrate(network, [])


def test_an_infinite_parameter_and_an_overflow_are_refused_with_the_layer():
    network, images = small()
    network.weights[2][0, 0, 3, 1] = np.inf
    with pytest.raises(ArgumentError, match=r"layer 2: its weight at \[0, 0, 3, 1\] is inf"):
        calibrate(network, images)
    network.weights[2][0, 0, 3, 1] = 3e38
    with pytest.raises(ArgumentError, match="layer 2 overflows float32 on calibration input 0"):
        calibrate(network, images * 100)


def test_parameters_that_are_missing_or_do_not_fit_are_refused_with_the_layer():
    network, images = small()
    network.biases[1] = network.biases[1][:4]
    with pytest.raises(ArgumentError, match=r"layer 1: its bias has the shape \[4\]; \[6\] is"):
        calibrate(network, images)
    network, images = small()
    network.weights[2] = network.weights[2][0, 0]
    with pytest.raises(ArgumentError, match=r"layer 2.*\[6, 2\]; \[height, width, 6, 2\] is"):
        calibrate(network, images)
    del network.weights[2]
    with pytest.raises(ArgumentError, match="layer 2 has no weight"):
        calibrate(network, images)


@pytest.mark.parametrize("number", [0.0, 0.5])
def test_images_of_one_number_are_refused(number):
    network, images = small()
    images[:] = number
    with pytest.raises(ArgumentError, match=f"all numbers of calibration input 0 are {number:g}, "):
        calibrate(network, images)
    images[-1, 0, 0, 0] += 0.25
    assert calibrate(network, images).count == len(images)


def test_half_precision_is_computed_in_single():
    network, images = small()
    found = calibrate(network, images.astype(np.float16))
    assert found.tensors[0].largest == float(images.astype(np.float16).max())


def of_one_layer(**facts):
    b = Builder((4, 4, 3))
    first = b.conv(0, 3, kernel=1)
    if "res_position" in facts:
        facts["residual_source"] = [first]
    b.conv(0, 3, kernel=1, scale=3.0, **facts)
    return b.done(), b.inputs(2)[0]


def test_what_is_cut_in_front_of_a_residual_counts():
    network, images = of_one_layer(res_position=Order.RESIDUAL_ACTIVATION_POOLING)
    found = calibrate(network, images)
    values = run_float(network, images)
    assert list(found.within) == [(2, "residual")]
    assert found.within[2, "residual"].largest == pytest.approx(
        float((values[2] - values[1]).max()), rel=1e-5
    )


def test_what_is_cut_in_front_of_a_mean_counts():
    pooling = {"pooling_size": [1, 4, 4], "pooling_stride": [1, 4, 4]}
    network, images = of_one_layer(pooling_type=Pooling.AVERAGE, **pooling)
    found = calibrate(network, images)
    assert found.within[2, "pooling"].largest > 2 * found.tensors[2].largest


def test_behind_a_leaky_relu_an_eighth_of_the_negative_range_is_left():
    network, images = of_one_layer(activation_type=Activation.LEAKY)
    found = calibrate(network, images)
    values = run_float(network, images)[2].astype(np.float64)
    fraclen = next(f for f in range(12) if values.min() * 2**f < -17)
    clamped = np.clip(np.rint(values * 2**fraclen), -16, 127) * 2.0**-fraclen
    wanted = ((clamped - values) ** 2).sum()
    assert found.made[2].errors[fraclen - FIRST] == pytest.approx(wanted, rel=1e-3)
