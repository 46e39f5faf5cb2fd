"""Functions that models import from PaddlePaddle's own files though their names are private."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn.layer import Layer, ParamAttr
from dy2st_runtime.nn.normalisation import BatchNorm2D, InstanceNorm2D


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
        raise ValueError(f"{len(attrs)} attributes are given for {n} parameters")
    return [_attr(attr) for attr in attrs]


def _attr(attr: Any) -> Any:
    if attr is False or isinstance(attr, ParamAttr):
        return attr
    return ParamAttr(name=attr) if isinstance(attr, str) else ParamAttr()


def _update_padding_nd(padding: int | list[int], num_dims: int) -> list[int]:
    """One number a dimension."""
    return [padding] * num_dims if isinstance(padding, (int, np.integer)) else list(padding)


def _base(kind: type) -> type:
    """What all layers of a family are; Layer itself is none."""
    return kind.__mro__[kind.__mro__.index(Layer) - 1]


_BatchNormBase, _InstanceNormBase = _base(BatchNorm2D), _base(InstanceNorm2D)
