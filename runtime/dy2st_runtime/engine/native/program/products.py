"""The matrix products of a Program as calls of those functions that `product.py` writes.

A transposed operand is read where it lies, by its strides, so the transposed tensor need not be
made. Leading axes of `a` are rows of one product where `b` has none.
"""

from __future__ import annotations

from collections.abc import Sequence

from dy2st_runtime.dims import Size, product
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.matmul import product_call
from dy2st_runtime.engine.native.matmul.product import declaration, linked
from dy2st_runtime.engine.native.nests.sides import Side, is_single, sides
from dy2st_runtime.engine.native.program.keeping import Keeping
from dy2st_runtime.engine.native.program.places import Places
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.ir.program import Operator


class Products:
    """Writes products into a function."""

    def __init__(
        self, module: Module, function: Function, sizes: Sizes, places: Places, keeping: Keeping
    ) -> None:
        """Functions that are called are linked to the module."""
        self._module, self._function, self._sizes, self._places = module, function, sizes, places
        self._keeping = keeping
        self._processor = Processor.host()

    def write(
        self, operator: Operator, target: str, ending: str = "null", context: str = "null"
    ) -> None:
        """Compute a product where `target` says; its ending may make something else of it."""
        left, right = sides(operator)
        dtype, result = operator.results[0].dtype, operator.results[0].tensor_type.shape
        lead = result[: len(result) - (left.variable.tensor_type.rank > 1) - _has_columns(right)]
        rows = left.shape[-2]
        if is_single(operator):
            rows, lead = product(left.shape[:-1]), ()
        sizes = (rows, right.shape[-1], left.shape[-1])
        value = self._sizes.value
        call = product_call.Call(
            dtype,
            (value(sizes[0]), value(sizes[1]), value(sizes[2])),
            (value(left.row), value(left.column)),
            (value(right.row), value(right.column)),
            value(sizes[1]),
            tuple(self._batch(lead, axis, left, right, sizes) for axis in range(len(lead))),
            packed=self._keeping.panels(operator),
            epilogue=ending,
            context=context,
            is_shared=True,
        )
        pointers = (
            target,
            self._places.address(left.variable),
            self._keeping.operand(right.variable),
        )
        suffix = f"f{8 * dtype.itemsize}"
        scratch, bytes = self._scratch(suffix, call.sizes)
        self._declare(call.function)
        product_call.emit(self._function, call, pointers, scratch, bytes)
        self._function.line(f"call void @scratch_give(ptr {scratch})")

    def _batch(
        self, lead: Sequence[Size], axis: int, left: Side, right: Side, sizes: Sequence[Size]
    ) -> tuple[str, str, str, str]:
        """A leading axis of the result: its size, and the strides of results and operands."""
        value, following = self._sizes.value, product(lead[axis + 1 :])
        behind = len(lead) - axis + 2
        return (
            value(lead[axis]),
            value(following * sizes[0] * sizes[1]),
            self._stride(left, behind, lead[axis]),
            self._stride(right, behind, lead[axis]),
        )

    def _stride(self, side: Side, behind: int, size: Size) -> str:
        """The stride of an operand along an axis, counted from the last; 0 if it has but one."""
        if len(side.shape) < behind:
            return "0"
        own = side.shape[len(side.shape) - behind]
        stride = self._sizes.value(product(side.shape[len(side.shape) - behind + 1 :]))
        if own is size:
            return stride
        if isinstance(own, int):
            return "0" if own == 1 else stride
        is_one = self._function.let(f"icmp eq i64 {self._sizes.value(own)}, 1")
        return self._function.let(f"select i1 {is_one}, i64 0, i64 {stride}")

    def _scratch(self, suffix: str, sizes: tuple[str, str, str]) -> tuple[str, str]:
        name = f"shared_scratch_{suffix}"
        self._declare(name)
        self._module.pool("scratch")
        listed = ", ".join(f"i64 {size}" for size in sizes)
        bytes = self._function.let(f"call i64 @{name}({listed})")
        return self._function.let(f"call ptr @scratch_take(i64 {bytes})"), bytes

    def _declare(self, name: str) -> None:
        suffix = name.rpartition("_")[2]
        library = linked(self._processor, suffix)
        self._module.add(name, declaration(name))
        self._module.link(name, library.addresses[name], library)


def _has_columns(right: Side) -> bool:
    return right.variable.tensor_type.rank > 1


__all__ = ["Products"]
