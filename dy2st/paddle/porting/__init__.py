"""Ports models of PaddlePaddle: says which of its names are here, and makes imports mean dy2st."""

from dy2st_runtime.lazy import public_dir

__dir__ = public_dir(__name__)
