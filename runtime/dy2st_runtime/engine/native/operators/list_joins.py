"""Writes functions that make one tensor of those in a list."""

from __future__ import annotations

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.ir.types import TensorType


def total_and_join(module: Module, result: TensorType, axis: int, is_new: bool) -> tuple[str, str]:
    """The names of two functions, for lists of tensors that become one along an axis.

    total(list)         how long the axis becomes; -1 if there are no tensors, or they do not fit
    join(list, total)   the new array, or null
    """
    kind = f"{'stack' if is_new else 'concat'}_{result.rank}_{axis}"
    number, width = result.dtype.num, result.dtype.itemsize
    code = Code(f"total_{kind}", [("ptr", "%list")], "i8", "i64", "noinline nounwind")
    count, total = _count(code, "%list"), code.alloca("i64")
    some, none = code.label("some"), code.label("none")
    code.line(f"store i64 0, ptr {total}")
    code.branch(code.compare("sgt", count, 0), some, none)
    code.begin(some)
    own = result.rank - is_new
    first = _sizes(code, _entry(code, "%list", "0"), own)
    with code.loop("0", count) as index:
        sizes = _sizes(code, _entry(code, "%list", index), own)
        for place, (size, wanted) in enumerate(zip(sizes, first, strict=True)):
            if is_new or place != axis:
                fits = code.label("fits")
                code.branch(code.compare("eq", size, wanted), fits, none)
                code.begin(fits)
        more = "1" if is_new else sizes[axis]
        code.line(f"store i64 {code.plus(code.let(f'load i64, ptr {total}'), more)}, ptr {total}")
    code.line(f"ret i64 {code.let(f'load i64, ptr {total}')}")
    code.begin(none)
    code.line("ret i64 -1")
    module.add(f"total_{kind}", code.text())
    join = f"join_{kind}_{number}"
    module.add(join, _Join(join, result.rank, axis, is_new).text(number, width))
    return f"total_{kind}", join


def _field(code: Code, object: str, offset: int) -> str:
    place = code.let(f"getelementptr i8, ptr {object}, i64 {offset}")
    return code.let(f"load ptr, ptr {place}")


def _entry(code: Code, array: str, index: str) -> str:
    place = code.let(f"getelementptr ptr, ptr {_field(code, array, abi.ITEMS)}, i64 {index}")
    return code.let(f"load ptr, ptr {place}")


def _count(code: Code, array: str) -> str:
    return code.let(f"load i64, ptr {code.let(f'getelementptr i8, ptr {array}, i64 {abi.LENGTH}')}")


def _sizes(code: Code, item: str, rank: int) -> list[str]:
    """The sizes of an array."""
    own = _field(code, item, abi.SIZES)
    places = [code.let(f"getelementptr i64, ptr {own}, i64 {axis}") for axis in range(rank)]
    return [code.let(f"load i64, ptr {place}") for place in places]


class _Join:
    """Copies each tensor where it belongs: a piece for each place along the axes before."""

    def __init__(self, name: str, rank: int, axis: int, is_new: bool) -> None:
        parameters = [("ptr", "%list"), ("i64", "%total")]
        self.code = Code(name, parameters, "i8", "ptr", "noinline")
        self.rank, self.axis, self.is_new = rank, axis, is_new

    def text(self, number: int, width: int) -> str:
        code, axis = self.code, self.axis
        first = _sizes(code, _entry(code, "%list", "0"), self.rank - self.is_new)
        behind = first[axis + (not self.is_new) :]
        whole = [*first[:axis], "%total", *behind]
        axes = code.alloca(f"[{self.rank} x i64]")
        for own, size in enumerate(whole):
            entry = code.let(f"getelementptr i64, ptr {axes}, i64 {own}")
            code.line(f"store i64 {size}, ptr {entry}")
        made = code.let(
            f"call ptr @PyArray_New(ptr @array_type, i32 {self.rank}, ptr {axes}, i32 {number}, "
            "ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        there = code.label("made")
        code.branch(code.let(f"icmp eq ptr {made}, null"), "done", there)
        code.begin(there)
        inner, outer = str(width), "1"
        for size in behind:
            inner = code.times(inner, size)
        for size in first[:axis]:
            outer = code.times(outer, size)
        target = _field(code, made, abi.DATA)
        start = self.code.alloca("i64")
        code.line(f"store i64 0, ptr {start}")
        row = code.times("%total", inner)
        with code.loop("0", _count(code, "%list")) as index:
            item = _entry(code, "%list", index)
            wide = "1" if self.is_new else _sizes(code, item, self.rank)[self.axis]
            bytes, data = code.times(wide, inner), _field(code, item, abi.DATA)
            before = code.let(f"load i64, ptr {start}")
            with code.loop("0", outer) as place:
                to = code.at(target, code.plus(before, code.times(place, row)))
                source = code.at(data, code.times(place, bytes))
                arguments = f"ptr {to}, ptr {source}, i64 {bytes}, i1 false"
                code.line(f"call void @llvm.memcpy.p0.p0.i64({arguments})")
            code.line(f"store i64 {code.plus(before, bytes)}, ptr {start}")
        code.jump("done")
        code.begin("done")
        code.line(f"ret ptr {made}")
        return code.text()


__all__ = ["total_and_join"]
