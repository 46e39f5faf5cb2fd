"""Transforms of pictures.

Constants of colours and borders were obtained from PaddlePaddle 3 (images of PIL), those of
resizing from OpenCV, which PaddlePaddle calls for arrays.
"""

import random

import numpy as np
import pytest

import dy2st
from dy2st.errors import ArgumentError
from dy2st.paddle.vision import transforms as T

COLOURS = np.array(
    [
        [[172, 47, 117], [192, 67, 251], [195, 103, 9]],
        [[211, 21, 242], [36, 87, 70], [216, 88, 140]],
    ],
    "uint8",
)
GREY = np.array([[37, 235, 140, 72], [255, 137, 203, 133], [79, 192, 144, 129]], "uint8")


def picture(height=8, width=10, channels=3):
    return np.random.default_rng(0).integers(0, 256, (height, width, channels)).astype("uint8")


def as_chw(image):
    return dy2st.to_tensor(np.moveaxis(image, -1, 0))


CHANGED = [
    (T.adjust_brightness, 0.3, [[51, 14, 35], [57, 20, 75], [58, 30, 2]]),
    (T.adjust_brightness, 1.7, [[255, 79, 198], [255, 113, 255], [255, 175, 15]]),
    (T.adjust_contrast, 0.3, [[126, 89, 110], [132, 95, 150], [133, 105, 77]]),
    (T.adjust_contrast, 1.7, [[217, 5, 124], [251, 39, 255], [255, 100, 0]]),
    (T.adjust_saturation, 0.3, [[116, 78, 99], [145, 107, 162], [142, 114, 86]]),
    (T.adjust_saturation, 1.7, [[228, 15, 134], [238, 26, 255], [247, 91, 0]]),
]


@pytest.mark.parametrize(("change", "factor", "first_row"), CHANGED)
def test_colours_change_as_in_paddle(change, factor, first_row):
    changed = change(COLOURS, factor)
    assert changed.dtype == "uint8" and changed[0].tolist() == first_row
    np.testing.assert_array_equal(change(COLOURS, 1.0), COLOURS)
    np.testing.assert_array_equal(change(as_chw(COLOURS), factor).numpy(), as_chw(changed).numpy())


def test_hues_turn_as_in_paddle_but_for_its_rounding():
    expected = [
        [[147, 172, 47], [251, 145, 68], [9, 195, 62]],
        [[242, 157, 22], [59, 36, 87], [172, 216, 88]],
    ]
    turned = T.adjust_hue(COLOURS, 0.3).astype(int)
    assert np.abs(turned - expected).max() <= 10
    np.testing.assert_array_equal(T.adjust_hue(COLOURS, 0.0), COLOURS)
    there_and_back = T.adjust_hue(T.adjust_hue(COLOURS.astype("float64"), 0.2), -0.2)
    np.testing.assert_allclose(there_and_back, COLOURS, atol=1e-9)
    np.testing.assert_array_equal(T.adjust_hue(GREY, 0.3), GREY)


def test_the_lightness_is_that_of_paddle():
    light = [[92, 125, 120], [103, 70, 132]]
    assert T.to_grayscale(COLOURS)[:, :, 0].tolist() == light
    assert T.Grayscale(3)(as_chw(COLOURS)).numpy().tolist() == [light] * 3


BORDERS = {
    "edge": [37, 37, 235, 140, 72, 72, 72],
    "reflect": [192, 79, 192, 144, 129, 144, 192],
    "symmetric": [255, 255, 137, 203, 133, 133, 203],
}


@pytest.mark.parametrize("mode", BORDERS)
def test_borders_repeat_the_picture_as_in_paddle(mode):
    framed = T.pad(GREY, (1, 2, 2, 1), padding_mode=mode)
    assert framed.shape == (6, 7) and framed[0].tolist() == BORDERS[mode]


def test_borders_have_the_colour_that_is_given():
    framed = T.Pad((1, 0, 0, 1), (7, 8, 9))(COLOURS)
    assert framed.shape == (3, 4, 3)
    np.testing.assert_array_equal(framed[:2, 1:], COLOURS)
    assert np.all(framed[2] == [7, 8, 9]) and np.all(framed[:, 0] == [7, 8, 9])
    assert np.all(T.pad(COLOURS, 2, 5)[:2] == 5) and T.pad(COLOURS, 2).shape == (6, 7, 3)
    assert T.pad(as_chw(COLOURS), (1, 2), (7, 8, 9)).numpy()[:, 0, 0].tolist() == [7, 8, 9]


# The first rows of 5 x 6, and 2 x 3.
RESIZED = [
    ("nearest", [37, 37, 235, 140, 140, 72], [[37, 235, 140], [255, 137, 203]]),
    (
        "bilinear",
        [37, 136, 219.167, 155.833, 106, 72],
        [[111.333, 183.125, 98.667], [132.208, 168.5, 134.792]],
    ),
    (
        "bicubic",
        [-3.749, 140.595, 249.554, 159.655, 89.693, 60.258],
        [[110.501, 201.293, 95.116], [133.938, 175.065, 135.715]],
    ),
]


@pytest.mark.parametrize(("interpolation", "row", "small"), RESIZED)
def test_arrays_are_resized_as_by_opencv(interpolation, row, small):
    floats = GREY.astype("float32")
    large = T.resize(floats, (5, 6), interpolation)
    assert large.dtype == "float32"
    np.testing.assert_allclose(large[0], row, atol=6e-4)
    np.testing.assert_allclose(T.resize(floats, [2, 3], interpolation), small, atol=6e-4)
    whole = T.resize(GREY, (5, 6), interpolation)
    assert whole.dtype == "uint8"
    np.testing.assert_array_equal(whole[0], np.clip(np.rint(row), 0, 255))


def test_the_shorter_side_can_be_given():
    assert T.resize(picture(8, 10), 4).shape == (4, 5, 3)
    assert T.resize(picture(10, 8), 4).shape == (5, 4, 3)
    assert T.resize(as_chw(picture(8, 10)), 16).shape == [3, 16, 20]
    image = picture(8, 10)
    assert T.Resize(8)(image) is image


def test_several_tensors_are_changed_at_once():
    images = [picture(6, 8), picture(6, 8)[::-1]]
    batch = dy2st.to_tensor(np.stack([np.moveaxis(image, -1, 0) for image in images]))
    for change in (lambda x: T.resize(x, (3, 9)), T.hflip, lambda x: T.adjust_contrast(x, 1.0)):
        for got, image in zip(change(batch).numpy(), images):
            np.testing.assert_array_equal(got, np.moveaxis(change(image), -1, 0))


def test_parts_of_a_picture():
    image = picture(7, 10)
    np.testing.assert_array_equal(T.crop(image, 1, 2, 3, 4), image[1:4, 2:6])
    np.testing.assert_array_equal(T.center_crop(image, (4, 5)), image[2:6, 2:7])
    np.testing.assert_array_equal(T.CenterCrop(3)(image), image[2:5, 4:7])
    with pytest.raises(ArgumentError, match=r"not inside a picture of 7 x 10"):
        T.crop(image, 5, 0, 3, 1)


def test_flips_are_arrays_of_their_own():
    image = picture()
    np.testing.assert_array_equal(T.hflip(image), image[:, ::-1])
    np.testing.assert_array_equal(T.vflip(image), image[::-1])
    np.testing.assert_array_equal(T.vflip(as_chw(image)).numpy(), as_chw(image).numpy()[:, ::-1])
    assert not np.shares_memory(T.hflip(image), image)


def test_pictures_become_tensors():
    tensor = T.ToTensor()(COLOURS)
    assert tensor.dtype == "float32"
    np.testing.assert_array_equal(tensor.numpy(), np.moveaxis(COLOURS, 2, 0) / np.float32(255))
    assert T.to_tensor(GREY, "HWC").shape == [3, 4, 1]
    floats = GREY.astype("float64")
    np.testing.assert_array_equal(T.to_tensor(floats).numpy(), floats[None])


def test_pictures_are_normalized():
    mean, std = [120.0, 130.0, 140.0], [50.0, 60.0, 70.0]
    expected = (COLOURS - np.float32(mean)) / np.float32(std)
    by_last = T.normalize(COLOURS, mean, std, "HWC")
    assert by_last.dtype == "float32"
    np.testing.assert_array_equal(by_last, expected)
    by_first = T.Normalize(mean, std)(as_chw(COLOURS))
    np.testing.assert_array_equal(by_first.numpy(), np.moveaxis(expected, 2, 0))
    turned = T.Normalize(0.0, 1.0, "HWC", to_rgb=True)(COLOURS)
    np.testing.assert_array_equal(turned, COLOURS[..., ::-1])


def test_a_part_can_be_erased():
    image = picture()
    erased = T.erase(image, 1, 2, 3, 4, np.array([1, 2, 3]))
    assert np.all(erased[1:4, 2:6] == [1, 2, 3]) and not np.array_equal(erased, image)
    tensor = T.erase(as_chw(image), 1, 2, 3, 4, dy2st.to_tensor([[[1]], [[2]], [[3]]]))
    np.testing.assert_array_equal(tensor.numpy(), as_chw(erased).numpy())
    assert T.erase(image, 1, 2, 3, 4, 0, inplace=True) is image and not image[1:4, 2:6].any()


def test_the_order_of_axes_changes():
    assert T.Transpose()(picture()).shape == (3, 8, 10)
    assert T.Transpose()(GREY).shape == (1, 3, 4)
    assert T.Transpose((1, 2, 0))(as_chw(picture())).shape == [8, 10, 3]


RANDOM = [
    T.RandomHorizontalFlip(),
    T.RandomVerticalFlip(),
    T.RandomCrop(5),
    T.RandomCrop((5, 7), padding=2, padding_mode="reflect"),
    T.RandomCrop(12, pad_if_needed=True),
    T.RandomResizedCrop(6),
    T.RandomErasing(0.8, value=[1, 2, 3]),
    T.RandomErasing(0.8, value="random"),
    T.ColorJitter(0.5, 0.5, 0.5, 0.2),
]


@pytest.mark.parametrize("transform", RANDOM, ids=lambda transform: type(transform).__name__)
def test_the_seed_repeats_what_is_drawn(transform):
    def drawn():
        dy2st.seed(4)
        return [transform(image) for _ in range(20)]

    image, state = picture(), random.getstate()
    first = drawn()
    assert all(np.array_equal(a, b) for a, b in zip(first, drawn()))
    assert not all(np.array_equal(entry, first[0]) for entry in first)
    assert {entry.shape for entry in first} == {first[0].shape}
    assert {entry.dtype for entry in first} == {image.dtype}
    assert random.getstate() == state and np.array_equal(image, picture())
    tensor = transform(as_chw(image))
    assert tensor.shape == [3, *first[0].shape[:2]] and tensor.dtype == "uint8"


@pytest.mark.parametrize(
    ("ratio", "part"),
    [((5.0, 6.0), (slice(3, 5), slice(0, 10))), ((0.2, 0.25), (slice(0, 8), slice(4, 6)))],
)
def test_a_shape_that_never_fits_gives_the_middle(ratio, part):
    cut = T.RandomResizedCrop((2, 2), (0.9, 1.0), ratio)
    np.testing.assert_array_equal(cut(picture()), T.resize(picture()[part], (2, 2)))


def test_probabilities_0_and_1_are_certain():
    image = picture()
    for kind, flip in [(T.RandomHorizontalFlip, T.hflip), (T.RandomVerticalFlip, T.vflip)]:
        assert kind(0.0)(image) is image
        np.testing.assert_array_equal(kind(1.0)(image), flip(image))


def test_nothing_is_jittered_unless_it_is_asked_for():
    image = picture()
    assert T.ColorJitter()(image) is image
    dark = T.BrightnessTransform((0.0, 0.0))(image)
    assert not dark.any() and T.HueTransform(0)(image) is image


def test_transforms_follow_each_other():
    chain = T.Compose(
        [T.Resize(6), T.CenterCrop(4), T.ToTensor(), T.Normalize([0.5] * 3, [0.5] * 3)]
    )
    assert chain(picture()).shape == [3, 4, 4]
    assert repr(T.Compose([abs])) == "Compose(\n    <built-in function abs>\n)"


def test_keys_say_what_is_changed():
    class Both(T.BaseTransform):
        def _get_params(self, inputs):
            return len(inputs)

        def _apply_image(self, image):
            return image * self.params

        def _apply_mask(self, mask):
            return -mask

    assert Both(("image", "mask"))((5, 7, "rest")) == (15, -7, "rest")
    assert Both(("mask",))((5, 7)) == (-5, 7) and Both()(5) == 5
    with pytest.raises(NotImplementedError, match="_apply_sound"):
        Both(("image", "sound"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: T.resize("picture", 4),
        lambda: T.resize(np.ones(3), 4),
        lambda: T.resize(GREY, (1, 2, 3)),
        lambda: T.resize(GREY, 8, "lanczos"),
        lambda: T.pad(GREY, (1, 2, 3)),
        lambda: T.pad(GREY, 1, 0, "mirror"),
        lambda: T.to_tensor(GREY, "NCHW"),
        lambda: T.to_grayscale(picture(channels=4)),
        lambda: T.to_grayscale(picture(), 2),
        lambda: T.adjust_hue(picture(), 0.6),
        lambda: T.adjust_contrast(picture(), -1),
        lambda: T.erase(as_chw(picture()), 0, 0, 1, 1, 0, inplace=True),
        lambda: T.RandomCrop(20)(picture()),
        lambda: T.RandomErasing(value="noise"),
        lambda: T.RandomErasing(1.0, value=[1, 2])(picture()),
        lambda: T.RandomHorizontalFlip(1.5),
        lambda: T.RandomResizedCrop(4, scale=(1.0, 0.5)),
        lambda: T.ColorJitter(brightness=-1),
        lambda: T.ColorJitter(hue=0.7),
        lambda: T.Resize(4, keys="image"),
    ],
)
def test_what_cannot_be_done_is_refused(make):
    with pytest.raises(ArgumentError):
        make()


def test_images_of_pil_stay_such():
    Image = pytest.importorskip("PIL.Image")
    image = Image.fromarray(COLOURS)
    for change in (
        T.hflip,
        T.vflip,
        T.to_grayscale,
        lambda x: T.pad(x, 1),
        lambda x: T.crop(x, 0, 0, 1, 2),
    ):
        changed = change(image)
        assert isinstance(changed, Image.Image)
        np.testing.assert_array_equal(
            np.asarray(changed).reshape(change(COLOURS).shape), change(COLOURS)
        )
    assert T.Resize((6, 7))(image).size == (7, 6) and T.Resize(4)(image).size == (6, 4)
    np.testing.assert_array_equal(T.ToTensor()(image).numpy(), T.ToTensor()(COLOURS).numpy())
    np.testing.assert_array_equal(
        T.Normalize(0.0, 1.0, "HWC")(image), T.Normalize(0.0, 1.0, "HWC")(COLOURS)
    )
    with pytest.raises(ArgumentError, match="convert"):
        T.hflip(image.convert("P"))
