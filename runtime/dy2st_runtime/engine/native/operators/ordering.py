"""Writes the functions that all operators which sort share.

    void keys(ptr keys, ptr x, i64 count, i64 step)
    void order(ptr places, ptr keys, i64 count, ptr room)

A key is an unsigned integer for each element of a row: the smaller, the earlier it is. So dtypes
and directions are one case. Elements of equal keys stay in order; there are fewer than 2**32 in a
row.

What is in order already stays as it is. Of a short row each place is counted: how many keys are
smaller, or equal and before it. Of a longer one keys and places are moved together, by one byte of
the keys after the other, the last one first. Behind the keys there is room for a vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import UINT32, UINT64, DType, Lanes, Value

_SHORT = 160
"""Up to how many elements each place is counted: the time grows with the square."""

ROOM = 4
"""How many times the bytes of the keys `order` takes as room."""

_DIGITS = 256

_ATTRIBUTES = "noinline nounwind"


def key_type(dtype: DType) -> DType:
    """The keys of a dtype."""
    return UINT32 if dtype.itemsize <= 4 else UINT64


def key_of(lanes: Lanes, x: Value, descending: bool) -> Value:
    """The keys of elements: NaN is the largest number, and -0.0 is 0.0."""
    unsigned = key_type(x.dtype)
    signed = np.dtype(f"int{8 * unsigned.itemsize}")
    if x.dtype.kind in "bu":
        key = lanes.cast(x, unsigned)
    else:
        highest = lanes.constant(np.iinfo(signed).min, signed)
        if x.dtype.kind == "i":
            key = lanes.bits(lanes.differ(lanes.cast(x, signed), highest), unsigned)
        else:
            # NaNs of any sign and bits are one key, and so are both zeros: -0.0 + 0.0 is 0.0.
            number = lanes.select(lanes.is_nan(x), lanes.constant(np.nan, x.dtype), x)
            bits = lanes.bits(lanes.add(number, lanes.constant(0.0, x.dtype), exactly=True), signed)
            # Bits of positive numbers rise with them; those of negative ones fall, so all are
            # inverted.
            sign = lanes.binary("ashr", bits, lanes.constant(8 * signed.itemsize - 1, signed))
            key = lanes.bits(lanes.differ(bits, lanes.either(sign, highest)), unsigned)
    return lanes.invert(key) if descending else key


def keys(dtype: DType, descending: bool, vector: int) -> str:
    """The function `keys`, for vectors of so many bytes."""
    parameters = [("ptr", "%keys"), ("ptr", "%x"), ("i64", "%count"), ("i64", "%step")]
    code = Code("NAME", parameters, stored(dtype), attributes=_ATTRIBUTES)
    wide = vector // key_type(dtype).itemsize
    end = code.choose(code.compare("eq", "%step", 1), code.up_to("%count", wide), 0)
    for first, last, lanes in (("0", end, Lanes(code, wide)), (end, "%count", Lanes(code, 1))):
        with code.loop(first, last, str(lanes.lanes)) as at:
            x = lanes.load(code.at("%x", code.times(at, "%step")), dtype)
            key = key_of(lanes, x, descending)
            lanes.store(key, at_of(code, "%keys", key.dtype, at))
    return code.end()


def at_of(code: Code, pointer: str, dtype: DType, index: str | int) -> str:
    """The place of an element of any dtype."""
    return code.let(f"getelementptr {stored(dtype)}, ptr {pointer}, i64 {index}")


def order(key: DType, vector: int, polls: bool = False) -> str:
    """The function `order`, for vectors of so many bytes; it may leave its work half done."""
    parameters = [("ptr", "%places"), ("ptr", "%keys"), ("i64", "%count"), ("ptr", "%room")]
    code = Code("NAME", parameters, "i64", attributes=_ATTRIBUTES)
    code.polls = polls
    lanes = Lanes(code, vector // key.itemsize)
    # Data is often in order, and to look takes a small part of the time of sorting.
    # Whether no key is smaller than the one before it.
    wrong, last = code.alloca("i1"), code.most(code.minus("%count", 1), 0)
    code.line(f"store i1 false, ptr {wrong}")
    full = code.up_to(last, lanes.lanes)
    for start, end, wide in (("0", full, lanes), (full, last, Lanes(code, 1))):
        with code.loop(start, end, str(wide.lanes)) as own_place:
            own, following = (
                wide.load(at_of(code, "%keys", key, place), key)
                for place in (own_place, code.plus(own_place, 1))
            )
            found = wide.any(wide.compare("gt", own, following))
            before = code.let(f"load i1, ptr {wrong}")
            code.line(f"store i1 {code.either(before, found)}, ptr {wrong}")
    with _way(code, code.no(code.let(f"load i1, ptr {wrong}"))), code.loop("0", "%count") as at:
        code.line(f"store i64 {at}, ptr {code.at('%places', at)}")
    with _way(code, code.compare("sle", "%count", _SHORT)):
        _ByCounting(code, key, lanes).write()
    _ByBytes(code, key).write()
    return code.end()


@contextmanager
def _way(code: Code, holds: str) -> Iterator[None]:
    """What is written inside is all that is done, if a condition holds."""
    with code.when(holds):
        yield
        code.line("ret void")
        code.begin(code.label("never"))


class _ByCounting:
    """Sorts a short row: as many places as a vector has lanes are counted at once."""

    def __init__(self, code: Code, key: DType, lanes: Lanes) -> None:
        self._code, self._key = code, key
        self._lanes, self._one = lanes, Lanes(code, 1)
        self._total = code.alloca(self._lanes.type(key), 64)
        self._ranks = code.alloca(self._lanes.type(key), 64)

    def write(self) -> None:
        """The whole."""
        code, lanes, key = self._code, self._lanes, self._key
        with code.loop("0", "%count", str(lanes.lanes)) as first:
            own = lanes.load(at_of(code, "%keys", key, first), key)
            end = code.least(code.plus(first, lanes.lanes), "%count")
            lanes.store(lanes.constant(0, key), self._total)
            # Of equal keys the first one comes first: those before count, those behind do not.
            with code.loop("0", first) as at:
                self._add(lanes.compare("le", self._other(at), own))
            with code.loop(first, end) as at:
                other = self._other(at)
                is_equal = lanes.compare("eq", other, own)
                # Which lanes are behind one.
                lane = code.minus(at, first)
                numbers = ", ".join(f"i32 {n}" for n in range(lanes.lanes))
                number = lanes.splat(Value(code.let(f"trunc i64 {lane} to i32"), UINT32))
                is_behind = lanes.compare("gt", Value(f"<{numbers}>", UINT32), number)
                is_before = lanes.both(is_equal, is_behind)
                self._add(lanes.either(lanes.compare("lt", other, own), is_before))
            with code.loop(end, "%count") as at:
                self._add(lanes.compare("lt", self._other(at), own))
            lanes.store(lanes.load(self._total, key), self._ranks)
            with code.loop(first, end) as at:
                lane = code.minus(at, first)
                one = self._one
                rank = one.load(at_of(code, self._ranks, self._key, lane), self._key)
                code.line(f"store i64 {at}, ptr {code.at('%places', one.cast(rank, UINT64).text)}")

    def _other(self, at: str) -> Value:
        place = at_of(self._code, "%keys", self._key, at)
        return self._lanes.splat(self._one.load(place, self._key))

    def _add(self, holds: Value) -> None:
        lanes = self._lanes
        total = lanes.add(lanes.load(self._total, self._key), lanes.cast(holds, self._key))
        lanes.store(total, self._total)


class _ByBytes:
    """Sorts a long row: entries of a key, and before it in memory the place, are moved."""

    def __init__(self, code: Code, key: DType) -> None:
        self._code, self._key, self._bytes = code, key, key.itemsize
        self._bits, self._entry = 8 * key.itemsize, f"i{16 * key.itemsize}"
        self._counts = code.alloca(f"[{self._bytes * _DIGITS} x i32]", 64)
        self._from, self._to = code.alloca("ptr"), code.alloca("ptr")

    def write(self) -> None:
        """The whole."""
        code = self._code
        behind = code.let(f"getelementptr {self._entry}, ptr %room, i64 %count")
        code.line(f"store ptr %room, ptr {self._from}")
        code.line(f"store ptr {behind}, ptr {self._to}")
        self._make()
        with code.loop("0", str(self._bytes)) as byte:
            counts = code.let(f"getelementptr [{_DIGITS} x i32], ptr {self._counts}, i64 {byte}")
            first = self._count_of(counts, self._digit("%room", byte))
            alike = code.let(f"load i32, ptr {first}")
            all = code.let("trunc i64 %count to i32")
            differs = code.let(f"icmp ne i32 {alike}, {all}")
            # Where all keys have the same byte nothing moves, as in the high bytes of small
            # integers.
            with code.when(differs):
                # Entries in the order of this byte; of equal ones in the order in which they are.
                total = code.alloca("i32")
                code.line(f"store i32 0, ptr {total}")
                with code.loop("0", str(_DIGITS)) as digit:  # where the first entry of each goes
                    place = self._count_of(counts, digit)
                    count, before = (code.let(f"load i32, ptr {at}") for at in (place, total))
                    code.line(f"store i32 {before}, ptr {place}")
                    code.line(f"store i32 {code.let(f'add i32 {before}, {count}')}, ptr {total}")
                source, target = (code.let(f"load ptr, ptr {at}") for at in (self._from, self._to))
                with code.loop("0", "%count") as at:
                    entry = self._load(source, at)
                    start = code.let(f"getelementptr {self._entry}, ptr {source}, i64 {at}")
                    goes = self._counted(counts, self._digit(start, byte))
                    to = code.let(f"getelementptr {self._entry}, ptr {target}, i64 {goes}")
                    code.line(f"store {self._entry} {entry}, ptr {to}, align 8")
                code.line(f"store ptr {target}, ptr {self._from}")
                code.line(f"store ptr {source}, ptr {self._to}")
        with code.loop("0", "%count") as at:
            entry = self._load(code.let(f"load ptr, ptr {self._from}"), at)
            # The place lies in the low bits of an entry.
            low = code.let(f"and {self._entry} {entry}, {(1 << self._bits) - 1}")
            place = self._resized(low, 2 * self._bits, 64)
            code.line(f"store i64 {place}, ptr {code.at('%places', at)}")

    def _make(self) -> None:
        """All entries, and how often each byte has each value."""
        code, bytes = self._code, 4 * self._bytes * _DIGITS
        code.line(f"call void @llvm.memset.p0.i64(ptr {self._counts}, i8 0, i64 {bytes}, i1 false)")
        with code.loop("0", "%count") as at:
            key = code.let(f"load i{self._bits}, ptr {at_of(code, '%keys', self._key, at)}")
            wide = code.let(f"zext i{self._bits} {key} to {self._entry}")
            high = code.let(f"shl {self._entry} {wide}, {self._bits}")
            place = self._resized(at, 64, 2 * self._bits)
            entry = code.let(f"or {self._entry} {high}, {place}")
            to = code.let(f"getelementptr {self._entry}, ptr %room, i64 {at}")
            code.line(f"store {self._entry} {entry}, ptr {to}, align 8")
            # Bytes are counted for all passes at once: how often each occurs does not change by
            # moving.
            for byte in range(self._bytes):
                moved = code.let(f"lshr i{self._bits} {key}, {8 * byte}")
                digit = self._resized(code.let(f"and i{self._bits} {moved}, 255"), self._bits, 64)
                counts = code.let(
                    f"getelementptr [{_DIGITS} x i32], ptr {self._counts}, i64 {byte}"
                )
                self._counted(counts, digit)

    def _digit(self, entry: str, byte: str) -> str:
        """A byte of an entry's key, which lies behind the place."""
        at = self._code.plus(byte, self._bytes)
        digit = self._code.let(f"load i8, ptr {at_of(self._code, entry, np.dtype('uint8'), at)}")
        return self._code.let(f"zext i8 {digit} to i64")

    def _count_of(self, counts: str, digit: str) -> str:
        return self._code.let(f"getelementptr i32, ptr {counts}, i64 {digit}")

    def _counted(self, counts: str, digit: str) -> str:
        """Count one more of a digit: how many there were."""
        code, place = self._code, self._count_of(counts, digit)
        count = code.let(f"load i32, ptr {place}")
        code.line(f"store i32 {code.let(f'add i32 {count}, 1')}, ptr {place}")
        return code.let(f"zext i32 {count} to i64")

    def _load(self, entries: str, at: str) -> str:
        place = self._code.let(f"getelementptr {self._entry}, ptr {entries}, i64 {at}")
        return self._code.let(f"load {self._entry}, ptr {place}, align 8")

    def _resized(self, value: str, bits: int, wanted: int) -> str:
        if bits == wanted:
            return value
        word = "zext" if bits < wanted else "trunc"
        return self._code.let(f"{word} i{bits} {value} to i{wanted}")


__all__ = ["ROOM", "at_of", "key_of", "key_type", "keys", "order"]
