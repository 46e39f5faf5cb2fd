"""Turning, shifting and tilting of pictures, against exchanges of pixels and closed formulas."""

import numpy as np
import pytest

import dy2st
from dy2st.errors import ArgumentError
from dy2st.paddle.vision import transforms as T


def picture(height=8, width=8):
    return np.random.default_rng(0).integers(0, 256, (height, width, 3)).astype("uint8")


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("quarters", [0, 1, 2, 3, -1])
def test_a_turn_by_right_angles_exchanges_pixels(interpolation, quarters):
    turned = T.rotate(picture(), 90 * quarters, interpolation)
    np.testing.assert_array_equal(turned, np.rot90(picture(), quarters))
    large = T.rotate(picture(5, 8), 90 * quarters, interpolation, expand=True)
    np.testing.assert_array_equal(large, np.rot90(picture(5, 8), quarters))
    back = T.affine(picture(), 90 * quarters, (0, 0), 1.0, (0, 0), interpolation)
    np.testing.assert_array_equal(back, np.rot90(picture(), -quarters))


def test_what_was_outside_is_filled():
    turned = T.rotate(picture(), 45, fill=(1, 2, 3))
    assert turned[0, 0].tolist() == turned[-1, -1].tolist() == [1, 2, 3]
    large = T.rotate(picture(8, 8), 45, expand=True)
    assert large.shape == (12, 12, 3) and not large[0, 0].any()


def test_a_turn_has_a_centre():
    turned = T.rotate(picture(), 180, center=(1, 1))
    np.testing.assert_array_equal(turned[:2, :2], picture()[:2, :2][::-1, ::-1])
    assert not turned[2:].any()


def test_a_picture_is_shifted():
    moved = T.affine(picture(), 0, (2, -1), 1.0, 0, fill=9)
    np.testing.assert_array_equal(moved[:-1, 2:], picture()[1:, :-2])
    assert np.all(moved[-1] == 9) and np.all(moved[:, :2] == 9)


def test_a_picture_is_scaled_about_its_middle():
    large = T.affine(picture(), 0, (0, 0), 2.0, 0)
    np.testing.assert_array_equal(large, picture()[2:6, 2:6].repeat(2, 0).repeat(2, 1))


def test_a_picture_is_slanted():
    ramp = np.broadcast_to(np.arange(40.0), (20, 40))[..., None]
    slanted = T.affine(ramp, 0, (0, 0), 1.0, (45, 0), "bilinear", center=(0, 0))
    np.testing.assert_allclose(slanted[3, 5:20, 0], np.arange(5, 20) + 3.5, atol=1e-7)
    slanted = T.affine(ramp, 0, (0, 0), 1.0, (0, 45), "bilinear", center=(0, 0))
    np.testing.assert_allclose(slanted[0, 2:10, 0], np.arange(2, 10), atol=1e-7)


def test_a_turn_reads_between_pixels():
    y, x = np.mgrid[:30, :30] + 0.5
    plane = (3 * x + 7 * y)[..., None]
    turned = T.rotate(plane, 30, "bilinear")[10:20, 10:20, 0]
    angle = np.deg2rad(30)  # against the clock, where y points down
    u = 15 + np.cos(angle) * (x - 15) - np.sin(angle) * (y - 15)
    v = 15 + np.sin(angle) * (x - 15) + np.cos(angle) * (y - 15)
    np.testing.assert_allclose(turned, (3 * u + 7 * v)[10:20, 10:20], atol=1e-6)


def test_four_points_come_to_stand_at_four_others():
    start = [[0, 0], [8, 0], [8, 8], [0, 8]]
    np.testing.assert_array_equal(T.perspective(picture(), start, start), picture())
    half = [[2, 2], [6, 2], [6, 6], [2, 6]]
    small = T.perspective(picture(), start, half, fill=5)
    np.testing.assert_array_equal(small[2:6, 2:6], picture()[1::2, 1::2])
    assert np.all(small[:2] == 5)
    y, x = np.mgrid[:40, :40] + 0.5
    start, end = [[0, 0], [40, 0], [40, 40], [0, 40]], [[4, 2], [36, 0], [40, 33], [1, 40]]
    seen = np.dstack([T.perspective(c[..., None], start, end, "bilinear") for c in (x, y)])
    corner = seen[4, 7]  # the inverse of the mapping, solved for this point
    rows = [[p[0], p[1], 1, 0, 0, 0, -q[0] * p[0], -q[0] * p[1]] for p, q in zip(start, end)]
    rows += [[0, 0, 0, p[0], p[1], 1, -q[1] * p[0], -q[1] * p[1]] for p, q in zip(start, end)]
    forward = np.append(np.linalg.solve(rows, [q[0] for q in end] + [q[1] for q in end]), 1)
    u, v, w = forward.reshape(3, 3) @ [*corner, 1]
    np.testing.assert_allclose([u / w, v / w], [7.5, 4.5], atol=1e-6)


def test_tensors_are_turned_as_arrays():
    tensor = dy2st.to_tensor(np.moveaxis(picture(), 2, 0))
    for turn in (
        lambda x: T.rotate(x, 20, "bilinear", True, fill=(1, 2, 3)),
        lambda x: T.affine(x, 10, (1, 2), 0.8, (5, 3), "bilinear"),
    ):
        np.testing.assert_array_equal(turn(tensor).numpy(), np.moveaxis(turn(picture()), 2, 0))


RANDOM = [
    T.RandomRotation(30),
    T.RandomRotation((10, 20), "bilinear", center=(0, 0)),
    T.RandomAffine(30),
    T.RandomAffine((0, 0), (0.3, 0.2)),
    T.RandomAffine(0, scale=(0.5, 1.5)),
    T.RandomAffine(0, shear=20),
    T.RandomAffine(0, shear=[0, 20], interpolation="bilinear"),
    T.RandomAffine(0, shear=[0, 20, -10, 10]),
    T.RandomPerspective(0.8),
]


@pytest.mark.parametrize("transform", RANDOM, ids=lambda transform: type(transform).__name__)
def test_the_seed_repeats_what_is_drawn(transform):
    def drawn():
        dy2st.seed(4)
        return [transform(picture()) for _ in range(10)]

    first = drawn()
    assert all(np.array_equal(a, b) for a, b in zip(first, drawn()))
    assert not all(np.array_equal(entry, first[0]) for entry in first)
    assert {entry.shape for entry in first} == {(8, 8, 3)}


def test_nothing_is_turned_where_nothing_may_be():
    for transform in (T.RandomRotation(0), T.RandomAffine(0), T.RandomPerspective(0.0)):
        np.testing.assert_array_equal(transform(picture()), picture())
    np.testing.assert_array_equal(T.RandomPerspective(1.0, 0.0)(picture()), picture())


def test_corners_come_inwards_alone():
    dy2st.seed(0)
    for _ in range(50):
        corners, ends = T.RandomPerspective().get_params(11, 21, 0.5)
        for (x, y), (u, v) in zip(corners, ends):
            assert abs(x - u) <= 2 and abs(y - v) <= 5 and 0 <= u <= 10 and 0 <= v <= 20


@pytest.mark.parametrize(
    "make",
    [
        lambda: T.rotate(picture(), 10, "lanczos"),
        lambda: T.affine(picture(), 0, (0, 0), 0.0, 0),
        lambda: T.affine(picture(), 0, (0, 0, 0), 1.0, 0),
        lambda: T.affine(picture(), 0, (0, 0), 1.0, (1, 2, 3)),
        lambda: T.perspective(picture(), [[0, 0]] * 3, [[0, 0]] * 3),
        lambda: T.RandomRotation(-5),
        lambda: T.RandomRotation((5, 1)),
        lambda: T.RandomAffine(0, translate=(2, 0)),
        lambda: T.RandomAffine(0, shear=(1, 2, 3)),
        lambda: T.RandomPerspective(distortion_scale=2),
    ],
)
def test_what_cannot_be_turned_is_refused(make):
    with pytest.raises(ArgumentError):
        make()


def test_images_of_pil_are_turned_as_by_pil():
    Image = pytest.importorskip("PIL.Image")
    image = Image.fromarray(picture(40, 50))
    for angle in (-30, 17, 135):
        ours, theirs = np.asarray(T.rotate(image, angle)), np.asarray(image.rotate(angle))
        assert np.mean(ours != theirs) < 0.03
        sampling = Image.Resampling.BILINEAR
        theirs = np.asarray(image.rotate(angle, sampling, expand=True)).astype(int)
        ours = np.asarray(T.rotate(image, angle, "bilinear", expand=True))
        assert ours.shape == theirs.shape and np.mean(np.abs(ours - theirs) > 1) < 0.01
