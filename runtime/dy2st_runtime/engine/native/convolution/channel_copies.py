"""Copies channels of images that lie beside each other into another image of that kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dy2st_runtime.engine.native.convolution import line_code
from dy2st_runtime.engine.native.convolution.channels import Run
from dy2st_runtime.engine.native.convolution.library import RESULT, Library, joined
from dy2st_runtime.engine.native.convolution.line_code import Known, Memories, place_of
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import FLOAT32, Lanes
from dy2st_runtime.lazy import once

_PIXELS = 16
"""So many places of an image are filled run by run, and stay in the nearest cache meanwhile."""

_NUMBERS = ("pixels", "channels", "runs")
_WIDTH = len(Run._fields) + 1  # of a run here: its fields, and how many channels its source has


class Move(NamedTuple):
    """How much there is: places of the images, channels of the result, and its runs.

    sources   how many channels each source has.
    """

    pixels: int
    channels: int
    runs: Sequence[Run]
    sources: Sequence[int]

    def bind_arguments(self, memories: Memories) -> Any:
        """What the code reads."""
        numbers = [self.pixels, self.channels, len(self.runs)]
        for run in self.runs:
            numbers += [*run, self.sources[run.source]]
        arguments = [RESULT, *(joined(number) for number in range(len(self.sources)))]
        return line_code.bind_arguments(numbers, memories, arguments)

    def address(self, library: Library) -> int:
        """Where the code is."""
        return line_code.loaded(library, "move", _text()).addresses["move"]


@once
def _text() -> str:
    def counts(code: Code, known: Known) -> tuple[str, str, str]:
        blocks = code.over(code.plus(known["pixels"], _PIXELS - 1), _PIXELS)
        return blocks, "1", code.times(known["channels"], _PIXELS)

    return line_code.text("move", _NUMBERS, (), counts, _line)


def _line(code: Code, known: Known, block: str, _: str) -> None:
    """Some places, run by run."""
    begin = code.times(block, _PIXELS)
    end = code.least(code.plus(begin, _PIXELS), known["pixels"])
    memories = code.plus(code.times(known["runs"], _WIDTH), len(_NUMBERS))
    result = _elements(code, memories)
    with code.loop("0", known["runs"]) as number:
        at = code.plus(code.times(number, _WIDTH), len(_NUMBERS))
        fields = [place_of(code, "%about", code.plus(at, field)) for field in range(_WIDTH)]
        source, first, count, to, step, own = fields
        read = code.at(_elements(code, code.plus(code.plus(memories, 1), source)), first)
        written = code.at(result, to)
        is_whole = code.compare("eq", step, 1)
        for applies, one in ((is_whole, "1"), (code.no(is_whole), step)):
            with code.when(applies), code.loop(begin, end) as pixel:
                places = (
                    code.at(read, code.times(pixel, own)),
                    code.at(written, code.times(pixel, known["channels"])),
                )
                # By vectors, the last of which begins so early that it is whole; few channels one
                # by one.
                size = line_code.LANES
                is_few = code.compare("slt", count, size)
                with code.when(is_few), code.loop("0", count) as at:
                    _copy_vector(code, 1, places, at, one)
                with code.when(code.no(is_few)), code.loop("0", count, str(size)) as start:
                    at = code.least(start, code.minus(count, size))
                    _copy_vector(code, size, places, at, one)


def _elements(code: Code, index: str) -> str:
    """Where the elements of a memory are that is bind_arguments at some place."""
    memory = code.let(f"load ptr, ptr {code.let(f'getelementptr i64, ptr %about, i64 {index}')}")
    return code.let(f"call ptr @elements(ptr {memory})")


def _copy_vector(code: Code, size: int, places: tuple[str, str], at: str, step: str) -> None:
    source, result = places
    lanes = Lanes(code, size)
    value = lanes.load(code.at(source, at), FLOAT32)
    to = code.at(result, code.times(at, step))
    if step == "1":
        lanes.store(value, to)
        return
    for lane in range(size):
        one = value.text
        if size > 1:
            one = code.let(f"extractelement {lanes.type(FLOAT32)} {value.text}, i32 {lane}")
        code.line(f"store float {one}, ptr {code.at(to, code.times(step, lane))}")


__all__ = ["Move"]
