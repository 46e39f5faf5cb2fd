"""Selects the first elements of a row in order, without the order of the others.

    void first(ptr places, ptr keys, i64 count, i64 wanted, ptr room)

The best that were found so far are kept, and what is better than the last of those that are wanted
is put behind them, until there is no room: then they are sorted, and those that are wanted stay.
Most elements are only compared, as many at once as a vector has lanes. Of equal ones the first
stay, since what comes later has to be better.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dy2st_runtime.engine.native.operators.ordering import ROOM, at_of
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import DType, Lanes, Value

_MORE = 64
"""How many more than twice the elements that are wanted are kept until they are sorted."""

_LINE = 16
"""Elements whose keys, of any width, are whole cache lines."""


def room(code: Code, key: DType, count: str, wanted: str) -> str:
    """The bytes of room that `first` takes."""
    return code.times(_kept(code, count, wanted), (ROOM + 2) * key.itemsize + 24)


def _kept(code: Code, count: str, wanted: str) -> str:
    """How many elements are kept at most, with room for a vector behind them."""
    return code.up_to(code.plus(_most(code, count, wanted), 2 * _LINE - 1), _LINE)


def _most(code: Code, count: str, wanted: str) -> str:
    return code.least(count, code.plus(code.times(wanted, 2), _MORE))


def first(key: DType, vector: int, order: str) -> str:
    """The function `first`, which calls `order`."""
    return _First(key, vector // key.itemsize, order).text()


class _First:
    """Writes `first`."""

    def __init__(self, key: DType, lanes: int, order: str) -> None:
        pointers, numbers = ("%places", "%keys"), ("%count", "%wanted")
        parameters = [("ptr", name) for name in pointers] + [("i64", name) for name in numbers]
        parameters.append(("ptr", "%room"))
        code = self._code = Code("NAME", parameters, "i64", attributes="noinline nounwind")
        self._key, self._order = key, order
        self._lanes, self._one = Lanes(code, lanes), Lanes(code, 1)
        self._count, self._limit = code.alloca("i64"), code.alloca(self._one.type(key))
        self._most = _most(code, "%count", "%wanted")
        kept, self._room = _kept(code, "%count", "%wanted"), "%room"
        self._keys, self._best = (self._part(kept, key.itemsize) for _ in range(2))
        self._own, self._places, self._found = (self._part(kept, 8) for _ in range(3))

    def _part(self, count: str, itemsize: int) -> str:
        """The next part of the room."""
        part, bytes = self._room, self._code.times(count, itemsize)
        self._room = self._code.let(f"getelementptr i8, ptr {part}, i64 {bytes}")
        return part

    def text(self) -> str:
        """The function."""
        code, some, none = self._code, self._code.label("some"), self._code.label("none")
        code.branch(code.compare("eq", "%wanted", 0), none, some)
        code.begin(none)
        code.line("ret void")
        code.begin(some)
        # The first elements are kept; behind the last one nothing is better than any.
        key = self._key
        # A vector may be read across the end.
        worst = self._lanes.constant(-1, key)
        self._lanes.store(worst, at_of(code, "%keys", key, "%count"))
        with code.loop("0", self._most) as place:
            self._keep(place, place)
        self._set(self._most)
        self._sort()
        with code.loop(self._most, "%count", str(self._lanes.lanes)) as at:
            # Keep those of a vector that are better than the last one that is wanted.
            lanes, key = self._lanes, self._key
            limit = Value(code.let(f"load {self._one.type(key)}, ptr {self._limit}"), key)
            found = lanes.load(at_of(code, "%keys", key, at), key)
            # Strictly: of equal ones the first stay.
            better = lanes.compare("lt", found, lanes.splat(limit))
            bits, wide = f"i{lanes.lanes}", f"<{lanes.lanes} x i1>"
            mask = code.let(
                f"zext {bits} {code.let(f'bitcast {wide} {better.text} to {bits}')} to i64"
            )
            with self._lanes_of(mask) as lane:
                number = self._number()
                self._keep(number, code.plus(at, lane))
                self._set(code.plus(number, 1))
            with code.when(code.compare("sge", self._number(), self._most)):
                self._sort()
        # After a sort there are just as many as are wanted, already in order.
        with code.when(code.compare("ne", self._number(), "%wanted")):
            self._sort()
        self._copy("%places", self._own, 8)
        return code.end()

    @contextmanager
    def _lanes_of(self, mask: str) -> Iterator[str]:
        """A loop over the bits of a mask."""
        code, rest = self._code, self._code.alloca("i64")
        code.line(f"store i64 {mask}, ptr {rest}")
        with code.repeat(rest, lambda bits: code.compare("ne", bits, 0)) as bits:
            yield code.let(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 true)")
            others = code.let(f"and i64 {bits}, {code.let(f'add i64 {bits}, -1')}")
            code.line(f"store i64 {others}, ptr {rest}")

    def _keep(self, number: str, place: str) -> None:
        code, key, one = self._code, self._key, self._one
        own = one.load(at_of(code, "%keys", key, place), key)
        one.store(own, at_of(code, self._keys, key, number))
        code.line(f"store i64 {place}, ptr {code.at(self._own, number)}")

    def _sort(self) -> None:
        """Those that are wanted, in order, of those that are kept."""
        code, key, one = self._code, self._key, self._one
        pointers = [("ptr", self._found), ("ptr", self._keys)]
        code.call(self._order, *pointers, ("i64", self._number()), ("ptr", self._room))
        with code.loop("0", "%wanted") as at:
            place = code.let(f"load i64, ptr {code.at(self._found, at)}")
            best = one.load(at_of(code, self._keys, key, place), key)
            one.store(best, at_of(code, self._best, key, at))
            own = code.let(f"load i64, ptr {code.at(self._own, place)}")
            code.line(f"store i64 {own}, ptr {code.at(self._places, at)}")
        self._copy(self._keys, self._best, key.itemsize)
        self._copy(self._own, self._places, 8)
        self._set("%wanted")
        last = one.load(at_of(code, self._keys, key, code.minus("%wanted", 1)), key)
        code.line(f"store {one.type(key)} {last.text}, ptr {self._limit}")

    def _copy(self, target: str, source: str, itemsize: int) -> None:
        bytes = self._code.times("%wanted", itemsize)
        arguments = f"ptr {target}, ptr {source}, i64 {bytes}, i1 false"
        self._code.line(f"call void @llvm.memcpy.p0.p0.i64({arguments})")

    def _number(self) -> str:
        """How many are kept."""
        return self._code.let(f"load i64, ptr {self._count}")

    def _set(self, number: str) -> None:
        self._code.line(f"store i64 {number}, ptr {self._count}")


__all__ = ["first", "room"]
