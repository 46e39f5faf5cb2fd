"""Transforms pictures under PaddlePaddle's names: arrays, tensors, and images of PIL."""

from dy2st.paddle.private_modules import private_modules
from dy2st.paddle.vision.transforms.base import BaseTransform, Compose
from dy2st.paddle.vision.transforms.fixed import (
    CenterCrop,
    Grayscale,
    Normalize,
    Pad,
    Resize,
    ToTensor,
    Transpose,
)
from dy2st.paddle.vision.transforms.functional import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
    center_crop,
    crop,
    erase,
    hflip,
    normalize,
    pad,
    resize,
    to_grayscale,
    to_tensor,
    vflip,
)
from dy2st.paddle.vision.transforms.random_transforms import (
    BrightnessTransform,
    ColorJitter,
    ContrastTransform,
    HueTransform,
    RandomCrop,
    RandomErasing,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    SaturationTransform,
)
from dy2st.paddle.vision.transforms.rotation import RandomAffine, RandomPerspective, RandomRotation
from dy2st.paddle.vision.transforms.warping import affine, perspective, rotate
from dy2st_runtime.ir.location import without_own_frames_in
from dy2st_runtime.lazy import public_dir

__all__ = [
    "BaseTransform",
    "BrightnessTransform",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ContrastTransform",
    "Grayscale",
    "HueTransform",
    "Normalize",
    "Pad",
    "RandomAffine",
    "RandomCrop",
    "RandomErasing",
    "RandomHorizontalFlip",
    "RandomPerspective",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "SaturationTransform",
    "ToTensor",
    "Transpose",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "affine",
    "center_crop",
    "crop",
    "erase",
    "hflip",
    "normalize",
    "pad",
    "perspective",
    "resize",
    "rotate",
    "to_grayscale",
    "to_tensor",
    "vflip",
]
__dir__ = public_dir(__name__)
without_own_frames_in(__name__)

private_modules(__name__)
