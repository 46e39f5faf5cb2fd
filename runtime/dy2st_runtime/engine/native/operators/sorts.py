"""Sorts: the places of elements in order, of all of them or of the first."""

from __future__ import annotations

from dy2st_runtime.dims import Size, product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.nests.shares import share_along
from dy2st_runtime.engine.native.operators import ordering, selection
from dy2st_runtime.engine.native.operators.ordering import at_of
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import UINT64, DType
from dy2st_runtime.ir.program import Operator

_IS_DOWN = {"argsort": "descending", "top_places": "largest"}
"""The operators, and the attribute that says whether the largest element is the first."""


@writer(lambda operator: operator.name in _IS_DOWN and abi.is_native(operator.operands[0].dtype))
def _order(body: Body, step: Step, operator: Operator) -> None:
    x, attributes = operator.operands[0], operator.attributes
    axis, shape = attributes["axis"], x.tensor_type.shape
    rows = Rows(x.dtype, attributes[_IS_DOWN[operator.name]], "count" in attributes, polls=True)
    name = rows.add(body.module)
    inner, number = product(shape[axis + 1 :]), product((*shape[:axis], *shape[axis + 1 :]))
    target, source = body.place(operator.results[0]), body.places.address(x)
    arguments = [f"ptr {target}", f"ptr {source}"]
    sizes: list[Size] = [shape[axis], inner, attributes.get("count", shape[axis])]
    arguments += [f"i64 {body.sizes.value(size)}" for size in sizes]
    # Rows are sorted each for itself, so threads take some of them each.
    share = share_along(number, 1, product(shape) * rows.work)
    if share is None:
        arguments += ["i64 0", f"i64 {body.sizes.value(number)}"]
    else:
        name, numbers = body.shared(name, [one.split()[0] for one in arguments], share)
        arguments += numbers
    with body.lock.without(body.lock.is_long([shape]), polls=True):
        body.function.line(f"call void @{name}({', '.join(arguments)})")


class Rows:
    """The function that sorts rows, each of elements that lie `inner` apart.

    void rows(ptr out, ptr x, i64 count, i64 inner, i64 wanted, i64 begin, i64 end)
    """

    def __init__(self, dtype: DType, is_down: bool, selects: bool, polls: bool = False) -> None:
        """`selects`: fewer are wanted than there are. `polls`: who calls reads no place after."""
        self._polls = polls
        self._dtype, self._is_down, self._selects = dtype, is_down, selects
        self._key, self._vector = ordering.key_type(dtype), Processor.host().vector_bytes
        self.work = 16 if selects else 128  # of each element, as of numbers in a nest

    def add(self, module: Module) -> str:
        """Put it into a module, with all that it calls: its name."""
        key, vector = self._key, self._vector
        module.pool("scratch")
        keys = module.shared(ordering.keys(self._dtype, self._is_down, vector), "keys")
        # What selects looks up by what is ordered, so that must be whole.
        order = ordering.order(key, vector, polls=self._polls and not self._selects)
        sort = module.shared(order, "order")
        if self._selects:
            sort = module.shared(selection.first(key, vector, sort), "first")
        return module.shared(self._text(keys, sort), "rows")

    def _text(self, keys: str, sort: str) -> str:
        sizes = ("%count", "%inner", "%wanted", "%begin", "%end")
        numbers = [("i64", size) for size in sizes]
        code = Code("NAME", [("ptr", "%out"), ("ptr", "%x"), *numbers], stored(self._dtype))
        code.polls, code.leaving = self._polls, "leaving"
        # Memory for the keys of a row, for its places, and for what sorts.
        key_bytes = self._key.itemsize
        bytes_of_keys = _lines(code, code.plus(code.times("%count", key_bytes), self._vector))
        bytes_of_places = _lines(code, code.times("%wanted", 8))
        if self._selects:
            rest = selection.room(code, self._key, "%count", "%wanted")
        else:
            rest = code.times("%count", ordering.ROOM * key_bytes)
        bytes = code.plus(code.plus(bytes_of_keys, bytes_of_places), rest)
        own_keys = code.let(f"call ptr @scratch_take(i64 {bytes})")
        own_places = code.let(f"getelementptr i8, ptr {own_keys}, i64 {bytes_of_keys}")
        room = code.let(f"getelementptr i8, ptr {own_places}, i64 {bytes_of_places}")
        is_row = code.compare("eq", "%inner", 1)
        counts = [("i64", "%count"), *([("i64", "%wanted")] if self._selects else [])]
        with code.loop("%begin", "%end") as row:
            first = code.times(code.over(row, "%inner"), "%inner")
            column = code.minus(row, first)
            source = code.at("%x", code.plus(code.times(first, "%count"), column))
            to = code.plus(code.times(first, "%wanted"), column)
            target = at_of(code, "%out", UINT64, to)
            # Rows that lie in one piece are sorted where they belong.
            places = code.choose(is_row, target, own_places, "ptr")
            given = [("ptr", own_keys), ("ptr", source), ("i64", "%count"), ("i64", "%inner")]
            code.call(keys, *given)
            code.call(sort, ("ptr", places), ("ptr", own_keys), *counts, ("ptr", room))
            # Places of a row lie together, and are to lie `inner` apart.
            with code.when(code.no(is_row)), code.loop("0", "%wanted") as at:
                place = code.let(f"load i64, ptr {at_of(code, own_places, UINT64, at)}")
                to = at_of(code, target, UINT64, code.times(at, "%inner"))
                code.line(f"store i64 {place}, ptr {to}")
        # A signal that ends the loop gives the scratch back, too.
        code.jump("leaving")
        code.begin("leaving")
        code.line(f"call void @scratch_give(ptr {own_keys})")
        return code.end()


def _lines(code: Code, bytes: str) -> str:
    """Bytes up to a whole number of cache lines."""
    return code.let(f"and i64 {code.plus(bytes, 63)}, -64")


SORTS = (_order,)

__all__ = ["SORTS", "Rows"]
