"""How many leaves a layout has, and of which types."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from dy2st.convert.values.layout import Cases, Layout, Leaf, Number, Same, SequenceLayout
from dy2st_runtime.dims import Dim
from dy2st_runtime.ir import ArrayType
from dy2st_runtime.ir.join import any_size
from dy2st_runtime.ir.types import TensorType, ValueType

DTYPES = {bool: np.dtype("bool"), int: np.dtype("int64"), float: np.dtype("float64")}


def width(element: Layout | None) -> int:
    """How many arrays hold elements of a layout."""
    return 1 if element is None else max(1, count(element))


def count(node: Layout) -> int:
    """How many leaves a layout has."""
    if isinstance(node, Same):
        return 0
    if isinstance(node, (Number, Leaf)):
        return 1
    if isinstance(node, SequenceLayout):
        return width(node.element)
    if isinstance(node, Cases):
        return 1 + sum(map(count, node.cases))
    return sum(map(count, node.items))


def types_of(node: Layout, fixed: Container[Dim] = ()) -> list[ValueType]:
    """The types of the leaves, as far as the layout tells.

    Elements of arrays may differ in sizes that are not made of `fixed`.
    """
    if isinstance(node, Same):
        return []
    if isinstance(node, Number):
        return [TensorType(DTYPES[node.kind], ())]
    if isinstance(node, Leaf):
        return [node.type]
    if isinstance(node, SequenceLayout):
        if node.element is None:
            return [ArrayType(None)]
        types = types_of(node.element, fixed) or [TensorType(DTYPES[int], ())]
        return [_array(type, fixed) for type in types]
    if isinstance(node, Cases):
        own = [_array(type, fixed) for case in node.cases for type in types_of(case, fixed)]
        return [TensorType(DTYPES[int], ()), *own]
    return [type for item in node.items for type in types_of(item, fixed)]


def _array(element: ValueType, fixed: Container[Dim]) -> ArrayType:
    return ArrayType(element if isinstance(element, ArrayType) else any_size(element, fixed))
