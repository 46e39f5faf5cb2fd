"""Writes the matrix products of a Program as calls of those functions that `product.py` writes.

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
from dy2st_runtime.engine.native.program.hoisting import Ahead
from dy2st_runtime.engine.native.program.lifetimes import bytes_of
from dy2st_runtime.engine.native.program.places import Places
from dy2st_runtime.engine.native.program.prepacked_code import Keeping
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.ir.program import Operator, Variable


class Products:
    """Writes products into a function."""

    def __init__(
        self, module: Module, function: Function, sizes: Sizes, places: Places, keeping: Keeping
    ) -> None:
        """Functions that are called are linked to the module."""
        self._module, self._function, self._sizes, self._places = module, function, sizes, places
        self._keeping = keeping
        self._processor = Processor.host()
        self._made_ahead: dict[Ahead, tuple[str, str]] = {}

    def write(
        self, operator: Operator, target: str, ending: str = "null", context: str = "null"
    ) -> None:
        """Compute a product where `target` says; its ending may make something else of it."""
        left, right = sides(operator)
        result = operator.results[0].tensor_type.shape
        matrices = [side for side in (left, right) if side.variable.tensor_type.rank > 1]
        lead = result[: len(result) - len(matrices)]
        rows = left.shape[-2]
        if is_single(operator):
            rows, lead = product(left.shape[:-1]), ()
        sizes = (rows, right.shape[-1], left.shape[-1])
        batch = tuple(self._batch(lead, axis, left, right, sizes) for axis in range(len(lead)))
        places = target, self._places.address(left.variable)
        self._call(operator, places, self._sizes.value(rows), batch, (ending, context))

    def _call(
        self,
        operator: Operator,
        places: tuple[str, str],
        rows: str,
        batch: tuple[tuple[str, str, str, str], ...] = (),
        what: tuple[str, str] = ("null", "null"),
    ) -> None:
        """So many rows, from an address to another one, times the right side of a product."""
        left, right = sides(operator)
        dtype, value = operator.results[0].dtype, self._sizes.value
        call = product_call.Call(
            dtype,
            (rows, value(right.shape[-1]), value(left.shape[-1])),
            (value(left.row), value(left.column)),
            (value(right.row), value(right.column)),
            value(right.shape[-1]),
            batch,
            packed=self._keeping.panels(operator),
            epilogue=what[0],
            context=what[1],
            is_shared=True,
        )
        target, source = places
        pointers = (target, source, self._keeping.operand(right.variable))
        name = f"shared_scratch_f{8 * dtype.itemsize}"
        self._declare(name)
        self._module.pool("scratch")
        listed = ", ".join(f"i64 {size}" for size in call.sizes)
        bytes = self._function.let(f"call i64 @{name}({listed})")
        scratch = self._function.let(f"call ptr @scratch_take(i64 {bytes})")
        self._declare(call.function)
        product_call.emit(self._function, call, pointers, scratch, bytes)
        self._function.line(f"call void @scratch_give(ptr {scratch})")

    # -- ahead ---------------------------------------------------------------------------------

    def begin_ahead(self, ahead: Ahead) -> None:
        """Where a loop begins, nothing has been made ahead."""
        self._places.make(ahead.room)
        if ahead not in self._made_ahead:
            self._made_ahead[ahead] = self._function.alloca("i64"), self._function.alloca("i64")
        for slot in self._made_ahead[ahead]:
            self._function.line(f"store i64 0, ptr {slot}")

    def write_ahead(
        self, operator: Operator, ahead: Ahead, target: str, ending: str, context: str
    ) -> None:
        """Take the product from what was made ahead; if it is not there, make more."""
        function = self._function
        first, count = self._made_ahead[ahead]
        # Which row is taken, counted from the first one, and how many there are.
        size = self._sizes.value(ahead.whole.tensor_type.shape[ahead.axis])
        index = self._places.load(ahead.index)
        is_negative = function.let(f"icmp slt i64 {index}, 0")
        again = function.let(f"add i64 {index}, {size}")
        place = function.let(f"select i1 {is_negative}, i64 {again}, i64 {index}")
        start, known = (function.let(f"load i64, ptr {slot}") for slot in (first, count))
        behind = function.let(f"sub i64 {place}, {start}")
        more, ready = function.label("more"), function.label("ready")
        function.branch(function.let(f"icmp ult i64 {behind}, {known}"), ready, more)
        function.begin(more)
        # Twice as many rows are made as there are, if it is the next one. A loop that goes
        # backwards takes the one in front of those.
        follows = function.let(f"icmp eq i64 {behind}, {known}")
        is_back = function.let(f"icmp eq i64 {behind}, -1")
        is_next = function.let(f"or i1 {follows}, {is_back}")
        twice = function.let(f"mul i64 {known}, 2")
        wanted = function.let(f"select i1 {is_next}, i64 {twice}, i64 1")
        wanted = function.let(f"call i64 @llvm.smax.i64(i64 {wanted}, i64 1)")
        before = function.let(f"add i64 {place}, 1")
        left = function.let(f"sub i64 {size}, {place}")
        left = function.let(f"select i1 {is_back}, i64 {before}, i64 {left}")
        for most in (str(ahead.count), left):
            wanted = function.let(f"call i64 @llvm.smin.i64(i64 {wanted}, i64 {most})")
        front = function.let(f"sub i64 {before}, {wanted}")
        begin = function.let(f"select i1 {is_back}, i64 {front}, i64 {place}")
        source = self._row(self._places.address(ahead.whole), operator.operands[0], begin)
        rows = function.let(f"mul i64 {wanted}, {ahead.rows}")
        self._call(operator, (self._places.address(ahead.room), source), rows)
        function.line(f"store i64 {begin}, ptr {first}")
        function.line(f"store i64 {wanted}, ptr {count}")
        function.jump(ready)
        function.begin(ready)
        own = function.let(f"sub i64 {place}, {function.let(f'load i64, ptr {first}')}")
        made = self._row(self._places.address(ahead.room), operator.results[0], own)
        self._places.copy(target, made, operator.results[0].tensor_type)
        if ending != "null":
            columns = self._sizes.value(ahead.room.tensor_type.shape[1])
            where = f"i64 {columns}, i64 0, i64 {ahead.rows}, i64 0, i64 {columns}"
            function.line(f"call void {ending}(ptr {context}, ptr {target}, {where})")

    def _row(self, start: str, like: Variable, number: str) -> str:
        """The address of one of many tensors that lie one behind the other."""
        bytes = self._function.let(f"mul i64 {number}, {bytes_of(like.tensor_type)}")
        return self._function.let(f"getelementptr i8, ptr {start}, i64 {bytes}")

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

    def _declare(self, name: str) -> None:
        suffix = name.rpartition("_")[2]
        library = linked(self._processor, suffix)
        self._module.add(name, declaration(name))
        self._module.link(name, library.addresses[name], library)


__all__ = ["Products"]
