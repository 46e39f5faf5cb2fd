"""Cuts an axis into shares, which several threads work on: of a loop nest the outermost one.

The function takes two more numbers, `%begin` and `%end`: from where to where it goes along that
axis. What is called is the function around it, which goes from 0 to the end itself where there is
little to do, and else lets all threads take shares until none is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dy2st_runtime.dims import Size, product
from dy2st_runtime.engine.native.nests.nests import Nest, Reduce
from dy2st_runtime.engine.native.nests.stages import cost_of
from dy2st_runtime.engine.native.text.code import Code

# Numbers times instructions: from so many on a helper that sleeps is worth waking; below the other
# number one thread is done before a helper that is awake has its share.
_WORTH_WAKING, _LEAST_WORK = 1 << 20, 1 << 18

# From so much on a place along the axis asks by itself; of others so much is done at once.
_LONG_ROW, _AT_ONCE = 1 << 24, 1 << 20

# Shares for each thread: who is held up by something else takes fewer of them.
_EACH = 4

# Along an axis of vectors a share is whole tiles, or whole vectors where rows lie in lanes.
_TILE, _WIDEST = 512, 64

DECLARED = """\
declare void @parallel(ptr, ptr, i64)
declare i64 @threads_for(i64, i64, i64)
"""


class Share(NamedTuple):
    """An axis, what multiple shares are of, and the work of all of them."""

    axis: Size
    unit: int
    work: Size


def share_of(nest: Nest) -> Share | None:
    """How a nest is cut; None if it is not, or never large."""
    if nest.has_checks or len(nest.parts) != 1 or not nest.parts[0].axes:
        return None
    part = nest.parts[0]
    work = product(part.axes) * (1 + sum(map(cost_of, part.nodes)))
    if part.rows == 0 and (part.columns > 1 or any(isinstance(n, Reduce) for n in part.nodes)):
        return None
    unit = 1 if part.lane != 0 else _WIDEST if part.rows else _TILE
    return share_along(part.axes[0], unit, work)


def is_long_row(nest: Nest) -> bool:
    """Whether one place along the outermost axis is so much work that it asks whether to leave."""
    part = nest.parts[0]
    work = product(part.axes[1:]) * (1 + sum(map(cost_of, part.nodes)))
    return isinstance(work, int) and work >= _LONG_ROW


def share_along(axis: Size, unit: int, work: Size) -> Share | None:
    """How an axis is cut; None if there is never much work."""
    is_little = isinstance(work, int) and work < _LEAST_WORK
    return None if is_little else Share(axis, unit, work)


def functions(unit: int, name: str, types: Sequence[str]) -> str:
    """The function around the one of this name, and that of a share."""
    given = [(type, f"%argument{index}") for index, type in enumerate(types)]
    own = [*given, ("i64", "%total"), ("i64", "%work")]
    code = Code(f"shared_{name}", own, "i64", attributes="noinline nounwind")
    limits = f"i64 {_LEAST_WORK}, i64 {_WORTH_WAKING}"
    threads = code.let(f"call i64 @threads_for(i64 %work, {limits})")
    is_shared = code.compare("sgt", threads, 1)
    with code.when(is_shared):
        wanted = code.times(threads, _EACH)
        units = code.over(code.plus("%total", unit - 1), unit)
        each = code.most(code.over(code.minus(code.plus(units, wanted), 1), wanted), 1)
        each = code.least(each, _few(code, units))
        parts = code.over(code.minus(code.plus(units, each), 1), each)
        # A job has fewer parts than a word of 16 bits counts.
        each = code.choose(code.compare("slt", parts, 1 << 15), each, code.over(units, 1 << 14))
        parts = code.over(code.minus(code.plus(units, each), 1), each)
        task = code.alloca(f"[{len(own)} x i64]", 8)
        values = [*given, ("i64", "%total"), ("i64", code.times(each, unit))]
        for index, (type, value) in enumerate(values):
            code.line(f"store {type} {value}, ptr {code.at(task, index)}")
        arguments = [("ptr", f"@part_of_{name}"), ("ptr", task), ("i64", parts)]
        code.call("parallel", *arguments)
    with code.when(code.no(is_shared)):
        units = code.over(code.plus("%total", unit - 1), unit)
        each = code.times(_few(code, units), unit)
        code.polls = True
        with code.loop("0", "%total", each) as at:
            end = code.least(code.plus(at, each), "%total")
            code.call(name, *given, ("i64", at), ("i64", end))
    return code.end() + "\n" + _one(name, given)


def _few(code: Code, units: str) -> str:
    """How many units are done without asking whether to leave: all, where there is little to do."""
    pieces = code.plus(code.over("%work", _AT_ONCE), 1)
    return code.most(code.over(code.minus(code.plus(units, pieces), 1), pieces), 1)


def _one(name: str, parameters: list[tuple[str, str]]) -> str:
    code = Code(f"part_of_{name}", [("ptr", "%task"), ("i64", "%part")], "i64")

    def loaded(type: str, index: int) -> str:
        return code.let(f"load {type}, ptr {code.at('%task', index)}")

    given = [(type, loaded(type, index)) for index, (type, _) in enumerate(parameters)]
    total, each = (loaded("i64", len(given) + index) for index in (0, 1))
    begin = code.times("%part", each)
    end = code.least(code.plus(begin, each), total)
    code.call(name, *given, ("i64", begin), ("i64", end))
    return code.end()


__all__ = ["DECLARED", "Share", "functions", "share_along", "share_of"]
