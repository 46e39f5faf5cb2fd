"""Cuts an axis into vectors: wide ones first, then one register at a time; the last is masked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.lanes import INT32, INT64, Lanes, Value

_STRAIGHT = 64
"""Up to how many elements a rest of known length has vectors of its own lengths, without masks."""


class Span(NamedTuple):
    """Part of an axis: from start to end in steps of so many lanes, the last perhaps masked."""

    start: str
    end: str
    lanes: int
    masked: bool = False
    once: bool = False


@dataclass(frozen=True)
class Place:
    """Where along the axis of lanes code is written: the first index, and which lanes count."""

    lanes: Lanes
    index: str
    mask: str | None


class Spans:
    """Writes loops over an axis, for vectors of so many lanes."""

    def __init__(self, function: Function, narrow: int, wide: int) -> None:
        """`narrow` lanes fill a register, `wide` ones are worked on at once; powers of two."""
        self.function, self.narrow, self.wide = function, narrow, wide

    def split(
        self, start: str, end: str, length: int | None, has_middle: bool = False
    ) -> list[Span]:
        """The spans from start to end; the length, if it is known.

        Else all that wide vectors leave has masks; or the last vector alone, behind a middle.
        """
        if length is None:
            return self._unknown(start, end, has_middle)
        spans, at, rest = [], 0, length
        for lanes in sorted({self.wide, self.narrow}, reverse=True):
            whole = rest // lanes * lanes
            if whole:
                spans.append(self._known(start, at, whole, lanes))
                at, rest = at + whole, rest - whole
        if rest and length > _STRAIGHT:
            return [*spans, Span(self._plus(start, at), end, self.narrow, True, True)]
        lanes = self.narrow
        while rest:
            if rest >= lanes:
                spans.append(self._known(start, at, lanes, lanes))
                at, rest = at + lanes, rest - lanes
            lanes //= 2
        return spans

    def _known(self, start: str, at: int, whole: int, lanes: int) -> Span:
        first, last = self._plus(start, at), self._plus(start, at + whole)
        return Span(first, last, lanes, once=whole == lanes)

    def _unknown(self, start: str, end: str, has_middle: bool) -> list[Span]:
        length, spans = self.function.let(f"sub i64 {end}, {start}"), []
        at = start
        for lanes in sorted({self.wide, self.narrow if has_middle else self.wide}, reverse=True):
            whole = self.function.let(f"and i64 {length}, {-lanes}")
            following = whole if start == "0" else self.function.let(f"add i64 {start}, {whole}")
            spans.append(Span(at, following, lanes))
            at = following
        return [*spans, Span(at, end, self.narrow, masked=True)]

    def _plus(self, start: str, number: int) -> str:
        if number == 0:
            return start
        if start == "0":
            return str(number)
        return self.function.let(f"add i64 {start}, {number}")

    @contextmanager
    def along(self, span: Span) -> Iterator[Place]:
        """The loop over a span."""
        lanes = Lanes(self.function, span.lanes)
        if span.once:
            yield Place(lanes, span.start, self._mask(span, lanes, span.start))
            return
        with self.function.loop(span.start, span.end, str(span.lanes)) as index:
            yield Place(lanes, index, self._mask(span, lanes, index))

    def _mask(self, span: Span, lanes: Lanes, index: str) -> str | None:
        """Which lanes are inside; few are left where it is asked."""
        if not span.masked or span.lanes == 1:
            return None
        left = self.function.let(f"sub i64 {span.end}, {index}")
        short = self.function.let(f"trunc i64 {left} to i32")
        wide = lanes.splat(Value(short, INT32))
        numbers = ", ".join(f"i32 {lane}" for lane in range(span.lanes))
        return self.function.let(f"icmp slt <{span.lanes} x i32> <{numbers}>, {wide.text}")


def counted(place: Place) -> Value:
    """The indices of the lanes."""
    lanes = place.lanes
    first = lanes.splat(Value(place.index, INT64))
    if lanes.lanes == 1:
        return first
    numbers = ", ".join(f"i64 {lane}" for lane in range(lanes.lanes))
    return lanes.add(first, Value(f"<{numbers}>", INT64))


__all__ = ["Place", "Span", "Spans", "counted"]
