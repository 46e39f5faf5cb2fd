"""Functions that models import from PaddlePaddle's own files though their names are private."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn.convolution import _Convolution
from dy2st_runtime.nn.layer import HookRemover, Layer, ParamAttr
from dy2st_runtime.nn.normalisation import BatchNorm2D, InstanceNorm2D

HookRemoveHelper = HookRemover
_FORMATS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


def in_declarative_mode() -> bool:
    """Whether a graph is made by hand: False, as a converted function means what Python does.

    >>> in_declarative_mode()
    False
    """
    return False


in_to_static_mode = in_declarative_mode


def _convert_attention_mask(attn_mask: Any, dtype: Any) -> Any:
    """A mask to add to scores: bool and int masks give (mask - 1) * 1e9, floats stay.

    None stays None; the dtype of the result is `dtype`.
    """
    if attn_mask is None:
        return None
    kind = attn_mask.dtype.kind
    mask = F.cast(attn_mask, dtype)
    return (mask - 1.0) * 1e9 if kind in "biu" else mask


def _convert_param_attr_to_list(param_attr: Any, n: int) -> list[Any]:
    """One ParamAttr a parameter, from one for all or a list; False stays False.

    >>> _convert_param_attr_to_list(False, 2)
    [False, False]
    """
    attrs = param_attr if isinstance(param_attr, (list, tuple)) else [param_attr] * n
    if len(attrs) != n:
        raise ArgumentError(f"{len(attrs)} attributes are given for {n} parameters")
    return [_attr(attr) for attr in attrs]


def _attr(attr: Any) -> Any:
    if attr is False or isinstance(attr, ParamAttr):
        return attr
    return ParamAttr(name=attr) if isinstance(attr, str) else ParamAttr()


def _update_padding_nd(padding: int | list[int], num_dims: int) -> list[int]:
    """One number a dimension."""
    return [padding] * num_dims if isinstance(padding, (int, np.integer)) else list(padding)


class _AnyConvolution(type):
    """So that `isinstance(layer, _ConvNd)` holds for all convolutions."""

    def __instancecheck__(cls, layer: Any) -> bool:
        """Whether it is a convolution; of classes made from _ConvNd, one of them."""
        return issubclass(type(layer), _Convolution if cls.__name__ == "_ConvNd" else cls)


class _ConvNd(_Convolution, metaclass=_AnyConvolution):
    """A convolution over as many axes as it is told, to make classes of."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        transposed: bool,
        dims: int,
        stride: Any = 1,
        padding: Any = 0,
        padding_mode: str = "zeros",
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
    ):
        """Make the parameters."""
        object.__setattr__(self, "axes", dims)
        object.__setattr__(self, "transposed", transposed)
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            weight_attr,
            bias_attr,
            data_format or _FORMATS[dims],
            output_padding,
        )


def _base(kind: type) -> type:
    """What all layers of a family are; Layer itself is none."""
    return kind.__mro__[kind.__mro__.index(Layer) - 1]


_BatchNormBase, _InstanceNormBase = _base(BatchNorm2D), _base(InstanceNorm2D)
