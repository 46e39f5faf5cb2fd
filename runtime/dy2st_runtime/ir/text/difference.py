"""Compares two Programs: equal up to the names of values, or a listing of differences.

    removed: add; added: 2 relu
    --- before
    +++ after
    @@ -9,2 +9,3 @@
       ^bb0(%x: tensor<2xf32>):
    -    %0 = "dy2st.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    +    %new = "dy2st.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    +    %new_1 = "dy2st.relu"(%new) : (tensor<2xf32>) -> tensor<2xf32>

Lines are paired without the names of values in them. Then what is paired, or stands alone in the
place of something else, is given the names of the left: a line differs only if it says so itself.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.text.alignment import aligned
from dy2st_runtime.ir.text.printer import Line, Names, program_lines

_DIGITS = re.compile(r'"0x([0-9A-F]{64,})"')
_SHOWN_DIGITS = 16


class _Place(NamedTuple):
    """A line of the listing: its mark, its text, and how many lines of each side are before it."""

    mark: str
    text: str
    left: int
    right: int


def difference(
    left: Program,
    right: Program,
    titles: tuple[str, str] = ("left", "right"),
    context: int = 3,
    most: int = 20,
) -> str:
    """ "" if the Programs are equal up to locations and the names of values, else how they differ.

    The listing is that of `diff -u`, up to `most` places of it, below the operators that were
    removed and added. Time is in proportion to the Programs, as long as they differ in at most
    some thousand lines.
    """
    # All lines of the listing, and the lines that are paired.
    shapes = [program_lines(side, False, names=_NoNames()) for side in (left, right)]
    texts = [[line.text for line in side] for side in shapes]
    indices = aligned(texts[0], texts[1])
    pairs = [(shapes[0][i], shapes[1][j]) for i, j in indices]
    replaced = [(shapes[0][i], shapes[1][j]) for i, j in _replaced(indices)]
    own = Names()
    ours = program_lines(left, False, names=own)
    # The left's inputs, parameters and buffers for those of the right that have their names.
    of_left, of_right = ({v.name: v for v in side.inputs} | side.state for side in (left, right))
    same = {variable: of_left[name] for name, variable in of_right.items() if name in of_left}
    other_names = _LeftNames(own, _same_variables(pairs + replaced, same))
    theirs = program_lines(right, False, names=other_names)
    places = list(_marked([line.text for line in ours], [line.text for line in theirs], indices))
    if all(place.mark == " " for place in places):
        return ""
    # `removed: 2 add; added: relu`, of operators that have no partner.
    partners = [{line.shows for line in side} for side in zip(*pairs, strict=True)] or [
        set(),
        set(),
    ]
    counted = []
    for what, program, paired in zip(("removed", "added"), (left, right), partners):
        alone = Counter(o.name for o in program.walk() if o not in paired)
        shown = [f"{count} {name}" if count > 1 else name for name, count in sorted(alone.items())]
        counted += [f"{what}: {', '.join(shown)}"] * bool(shown)
    head = [*(["; ".join(counted)] if counted else []), f"--- {titles[0]}", f"+++ {titles[1]}"]
    # The changed lines and those around them, in hunks as of `diff -u`.
    lines: list[str] = []
    # Ranges of lines that are shown.
    hunks: list[tuple[int, int]] = []
    for index, place in enumerate(places):
        if place.mark == " ":
            continue
        start, end = max(0, index - context), min(len(places), index + context + 1)
        if hunks and start <= hunks[-1][1]:
            start = hunks.pop()[0]
        hunks.append((start, end))
    for start, end in hunks[:most]:
        hunk = places[start:end]
        counts = [sum(place.mark in marks for place in hunk) for marks in (" -", " +")]
        lines.append(f"@@ -{hunk[0].left + 1},{counts[0]} +{hunk[0].right + 1},{counts[1]} @@")
        lines += [f"{place.mark}{_DIGITS.sub(_checksum, place.text)}" for place in hunk]
    if len(hunks) > most:
        lines.append(f"... and {len(hunks) - most} more places")
    return "\n".join([*head, *lines]) + "\n"


def difference_of_models(
    left: Sequence[Program], right: Sequence[Program], titles: tuple[str, str] = ("left", "right")
) -> str:
    """The same of Programs that belong together, paired by name; a single one is, whatever its."""
    if len(left) == len(right) == 1:
        return difference(left[0], right[0], titles)
    ours, theirs = ({program.name: program for program in side} for side in (left, right))
    parts = [f"only in {titles[0]}: {name!r}\n" for name in ours if name not in theirs]
    parts += [f"only in {titles[1]}: {name!r}\n" for name in theirs if name not in ours]
    for name, program in ours.items():
        if name in theirs:
            found = difference(program, theirs[name], titles)
            parts += [f"in the Program {name!r}:\n{found}"] * bool(found)
    return "".join(parts)


# -- pairing lines ----------------------------------------------------------------------------


class _NoNames(Names):
    def of(self, variable: Variable) -> str:
        """The same for all."""
        return "%"


class _LeftNames(Names):
    """The names of the left for what is paired; for all else of the right, names of its own."""

    def __init__(self, left: Names, same: Mapping[Variable, Variable]):
        """`same` has the left's Variable for every paired one of the right."""
        super().__init__()
        self._taken = {name[1:] for name in left.given().values()}
        self._names = {theirs: left.of(ours) for theirs, ours in same.items()}

    def of(self, variable: Variable) -> str:
        """The name; without one of its own, `new`: a number would say something of the left."""
        if variable not in self._names:
            self._names[variable] = f"%{self.unused(variable.name or 'new')}"
        return self._names[variable]


def _replaced(indices: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Lines between paired ones, if there are as many of both: their values are called the same."""
    for (i, j), (next_i, next_j) in pairwise(indices):
        if next_i - i == next_j - j:
            yield from zip(range(i + 1, next_i), range(j + 1, next_j))


def _same_variables(
    pairs: Sequence[tuple[Line, Line]], known: Mapping[Variable, Variable]
) -> dict[Variable, Variable]:
    """The left's Variable for every Variable of the right that stands in its place."""
    same = dict(known)
    used = set(known.values())
    for left, right in pairs:
        ours, theirs = _defined(left), _defined(right)
        if len(ours) != len(theirs):
            continue
        for variable, other in zip(ours, theirs):
            if other not in same and variable not in used:
                same[other] = variable
                used.add(variable)
    return same


def _defined(line: Line) -> list[Variable]:
    if isinstance(line.shows, Operator):
        return line.shows.results
    return line.shows.parameters if isinstance(line.shows, Block) else []


def _marked(
    left: Sequence[str], right: Sequence[str], indices: Sequence[tuple[int, int]]
) -> Iterator[_Place]:
    i = j = 0
    for pair in [*[p for p in indices if left[p[0]] == right[p[1]]], (len(left), len(right))]:
        for index in range(i, pair[0]):
            yield _Place("-", left[index], index, j)
        for index in range(j, pair[1]):
            yield _Place("+", right[index], pair[0], index)
        i, j = pair[0] + 1, pair[1] + 1
        if pair[0] < len(left):
            yield _Place(" ", left[pair[0]], pair[0], pair[1])


# -- showing ----------------------------------------------------------------------------------


def _checksum(match: re.Match[str]) -> str:
    digits = match.group(1)
    checksum = zlib.crc32(bytes.fromhex(digits))
    return f'"0x{digits[:_SHOWN_DIGITS]}..." ({len(digits) // 2} bytes, CRC-32 {checksum:08x})'


__all__ = ["difference", "difference_of_models"]
