"""Transforms pictures under PaddlePaddle's names: arrays, tensors, and images of PIL."""

from dy2st.paddle.vision.transforms.base import BaseTransform as BaseTransform, Compose as Compose
from dy2st.paddle.vision.transforms.fixed import (
    CenterCrop as CenterCrop,
    Grayscale as Grayscale,
    Normalize as Normalize,
    Pad as Pad,
    Resize as Resize,
    ToTensor as ToTensor,
    Transpose as Transpose,
)
from dy2st.paddle.vision.transforms.functional import (
    adjust_brightness as adjust_brightness,
    adjust_contrast as adjust_contrast,
    adjust_hue as adjust_hue,
    adjust_saturation as adjust_saturation,
    center_crop as center_crop,
    crop as crop,
    erase as erase,
    hflip as hflip,
    normalize as normalize,
    pad as pad,
    resize as resize,
    to_grayscale as to_grayscale,
    to_tensor as to_tensor,
    vflip as vflip,
)
from dy2st.paddle.vision.transforms.random_transforms import (
    BrightnessTransform as BrightnessTransform,
    ColorJitter as ColorJitter,
    ContrastTransform as ContrastTransform,
    HueTransform as HueTransform,
    RandomCrop as RandomCrop,
    RandomErasing as RandomErasing,
    RandomHorizontalFlip as RandomHorizontalFlip,
    RandomResizedCrop as RandomResizedCrop,
    RandomVerticalFlip as RandomVerticalFlip,
    SaturationTransform as SaturationTransform,
)
from dy2st.paddle.vision.transforms.rotation import (
    RandomAffine as RandomAffine,
    RandomPerspective as RandomPerspective,
    RandomRotation as RandomRotation,
)
from dy2st.paddle.vision.transforms.warping import (
    affine as affine,
    perspective as perspective,
    rotate as rotate,
)

