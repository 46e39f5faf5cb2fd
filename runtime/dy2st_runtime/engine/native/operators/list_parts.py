"""Writes functions that make a list of some entries of another one."""

from __future__ import annotations

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import INT64, DType, Lanes


def gather(module: Module, dtype: DType) -> str:
    """The name of a function for the entries at places: (list, places, their number).

    Another one of the name with `_fits` at its end says whether all of them are there.
    """
    name = f"gather_{dtype.name}"
    parameters = [("ptr", "%list"), ("ptr", "%places"), ("i64", "%count")]
    code = Code(f"{name}_fits", parameters, "ptr", "i1", "noinline nounwind")
    outside = code.label("outside")
    with code.loop("0", "%count") as iteration:
        place, length = _place(code, iteration, dtype)
        inside = code.label("inside")
        code.branch(code.let(f"icmp ult i64 {place}, {length}"), inside, outside)
        code.begin(inside)
    code.line("ret i1 true")
    code.begin(outside)
    code.line("ret i1 false")
    module.add(f"{name}_fits", code.text())
    code = Code(name, parameters, "ptr", "ptr", "noinline")
    made = _new(code, "%count")
    with code.loop("0", "%count") as iteration:
        # Another thread may have written into the places since they were looked at.
        place, length = _place(code, iteration, dtype)
        is_inside = code.let(f"icmp ult i64 {place}, {length}")
        _copy(code, made, iteration, code.choose(is_inside, place, 0))
    code.line(f"ret ptr {made}")
    module.add(name, code.text())
    return name


def slicing(module: Module) -> str:
    """The name of a function: (list, start, stop, step, whether start and stop are there)."""
    parameters = [("ptr", "%list"), *_NUMBERS, *_GIVEN]
    code = Code("slice_of_list", parameters, "ptr", "ptr", "noinline")
    length = code.let(f"load i64, ptr {_at(code, '%list', abi.LENGTH)}")
    first = code.alloca("i64")
    declared = ", ".join(f"{type} {name}" for type, name in (*_NUMBERS, *_GIVEN))
    called = f"@{cutting(module)}({declared}, i64 {length}, ptr {first})"
    count = code.let(f"call i64 {called}")
    start, made = code.let(f"load i64, ptr {first}"), _new(code, count)
    with code.loop("0", count) as iteration:
        _copy(code, made, iteration, code.plus(start, code.let(f"mul i64 {iteration}, %step")))
    code.line(f"ret ptr {made}")
    module.add("slice_of_list", code.text())
    return "slice_of_list"


_NUMBERS = (("i64", "%start"), ("i64", "%stop"), ("i64", "%step"))
_GIVEN = (("i1", "%has_start"), ("i1", "%has_stop"))


def cutting(module: Module) -> str:
    """The name of a function that says how many places a slice has.

    (start, stop, step, whether start and stop are there, how many places there are, and where the
    first place of the slice is to be written)
    """
    parameters = [*_NUMBERS, *_GIVEN, ("i64", "%length"), ("ptr", "%first")]
    code = Code("cut", parameters, "i64", "i64", "noinline nounwind")
    length, is_back = "%length", code.compare("slt", "%step", 0)
    last = code.minus(length, 1)
    low = code.choose(is_back, -1, 0)
    high = code.choose(is_back, last, length)
    start = _end(code, "%start", "%has_start", length, (low, high), code.choose(is_back, high, low))
    stop = _end(code, "%stop", "%has_stop", length, (low, high), code.choose(is_back, low, high))
    # As many steps as begin before the end.
    far = code.choose(is_back, code.minus(start, stop), code.minus(stop, start))
    by = code.choose(is_back, code.let("sub i64 0, %step"), "%step")
    up = code.let(f"udiv i64 {code.let(f'sub i64 {code.most(far, 1)}, 1')}, {by}")
    code.line(f"store i64 {start}, ptr %first")
    code.line(f"ret i64 {code.choose(code.compare('sgt', far, 0), code.plus(up, 1), 0)}")
    module.add("cut", code.text())
    return "cut"


def _end(code: Code, end: str, has: str, length: str, limits: tuple[str, str], without: str) -> str:
    """An end of a slice as a place, or as close to it as there are places."""
    place = code.choose(code.compare("slt", end, 0), code.let(f"add i64 {end}, {length}"), end)
    place = code.least(code.most(place, limits[0]), limits[1])
    return code.choose(has, place, without)


def _place(code: Code, iteration: str, dtype: DType) -> tuple[str, str]:
    """The place that a number means, counted from the start; and how many there are."""
    lanes = Lanes(code, 1)
    address = code.let(f"getelementptr {stored(dtype)}, ptr %places, i64 {iteration}")
    number = lanes.cast(lanes.load(address, dtype), INT64).text
    length = code.let(f"load i64, ptr {_at(code, '%list', abi.LENGTH)}")
    behind = code.let(f"add i64 {number}, {length}")
    return code.choose(code.compare("slt", number, 0), behind, number), length


def _new(code: Code, count: str) -> str:
    """A new list without entries yet; what the function gives if there is no memory."""
    made = code.let(f"call ptr @PyList_New(i64 {count})")
    none, some = code.label("none"), code.label("some")
    code.branch(code.let(f"icmp eq ptr {made}, null"), none, some)
    code.begin(none)
    code.line("ret ptr null")
    code.begin(some)
    return made


def _copy(code: Code, made: str, place: str, source: str) -> None:
    entry = code.let(f"load ptr, ptr {code.at(_entries(code, '%list'), source)}")
    code.line(f"call void @Py_IncRef(ptr {entry})")
    code.line(f"store ptr {entry}, ptr {code.at(_entries(code, made), place)}")


def _entries(code: Code, array: str) -> str:
    return code.let(f"load ptr, ptr {_at(code, array, abi.ITEMS)}")


def _at(code: Code, object: str, offset: int) -> str:
    return code.let(f"getelementptr i8, ptr {object}, i64 {offset}")


__all__ = ["cutting", "gather", "slicing"]
