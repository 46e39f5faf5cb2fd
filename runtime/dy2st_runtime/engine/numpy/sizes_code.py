"""Code for sizes: what a call's shapes must be, and all sizes that follow from them, once a call.

    def fits(x0, x1):                   # whether the inputs are such as the Program takes
        if x0.dtype != dtype_x0 or len(x0.shape) != 2: return False
        ...
    def sizes(s1, s2):                  # runs when the sizes are not those of the last call
        t1 = (s1 // 2)                  # equal parts of formulas are computed once
        t2 = (t1 == s2)
        if not t2: raise ShapeError
        return (t1, (t1, 4))

Which requirement failed, and the words for it, are found again from the Program, after a failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime.dims import Dim, Size, is_symbol, to_python
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.checks.broken_sizes import refusal
from dy2st_runtime.ir.program import Program, Variable
from dy2st_runtime.ir.sizes import Origin, origins
from dy2st_runtime.ir.types import TensorType

_INNERMOST = re.compile(r"(?:\b(?:min|max|broadcast))?\([^()]*\)")
_BARE = re.compile(r"(?<!\w)\((-?\d+|[a-z]\d+)\)")

Values = tuple[Any, ...]
Entry = tuple[tuple[int, ...] | None, Values]


@dataclass
class SizeCode:
    """The body of `sizes`: formulas taken apart so that equal parts have one name."""

    lines: list[str] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)
    _parts: dict[str, str] = field(default_factory=dict)

    def part(self, text: str) -> str:
        """The name of a formula's value, computed where it is first asked for."""
        text = _BARE.sub(r"\1", text)
        while match := _INNERMOST.search(text):
            inner = match.group()
            name = self._parts.get(inner)
            if name is None:
                name = self._parts[inner] = f"t{len(self._parts)}"
                self.lines.append(f"{name} = {inner}")
            text = _BARE.sub(r"\1", f"{text[: match.start()]}{name}{text[match.end() :]}")
        return text

    def require(self, text: str) -> None:
        """Fail unless a condition holds."""
        self.lines.append(f"if not {self.part(text)}: raise ShapeError")

    def result(self, text: str) -> str:
        """The name by which the Program's code knows the value of a formula."""
        part = self.part(text)
        return self.results.setdefault(part, f"e{len(self.results)}")

    def function(self, arguments: list[str]) -> list[str]:
        """The lines of `sizes`."""
        values = "".join(f"{part}, " for part in self.results)
        return [
            f"def sizes({', '.join(arguments)}):",
            *(f"    {line}" for line in self.lines),
            f"    return ({values})",
        ]


class SizesOfCalls:
    """The sizes that follow from those of the last call; computed anew when the sizes change."""

    def __init__(self, program: Program, compute: Callable[..., Values]):
        """`compute` is the generated `sizes`; it raises, without words, if the sizes do not fit."""
        self.last: Entry = (None, ())
        self._program, self._compute = program, compute

    def fit(self, key: tuple[int, ...]) -> bool:
        """Whether a call with these sizes would not be refused."""
        try:
            self._compute(*key)
        except (ShapeError, ZeroDivisionError):
            return False
        return True

    def renew(self, key: tuple[int, ...]) -> Entry:
        """Check and compute; ShapeError in the user's terms."""
        try:
            entry = (key, self._compute(*key))
        except (ShapeError, ZeroDivisionError):
            error = refusal(self._program, dict(zip(origins_of(self._program), key, strict=True)))
            assert error is not None, "a size fails that the Program does not need"
            raise error from None
        # One assignment: another thread sees the old sizes or the new ones.
        self.last = entry
        return entry


def origins_of(program: Program) -> dict[Dim, Origin]:
    """Where the symbols come from that are known when a Program starts."""
    return origins(program.block.parameters)


def bound_text(origin: Origin, array: str) -> str:
    """The value of a symbol as a Python expression."""
    _, factor, offset = origin.solved
    real = f"{array}.shape[{origin.axis}]"
    return real if (factor, offset) == (1, 0) else f"({real} - {offset}) // {factor}"


def fits_function(program: Program, namespace: dict[str, Any]) -> list[str]:
    """The lines of `fits`: whether the inputs have the dtypes and sizes that the Program takes."""
    names_of_all = [f"x{index}" for index in range(len(program.inputs))]
    pairs = zip(program.inputs, names_of_all, strict=True)
    arrays = {v: name for v, name in pairs if isinstance(v.type, TensorType)}
    lines = []
    for variable, array in arrays.items():
        namespace[f"dtype_{array}"] = variable.dtype
        rank = variable.tensor_type.rank
        lines.append(
            f"if {array}.dtype != dtype_{array} or len({array}.shape) != {rank}: return False"
        )
    known, names = origins(program.inputs), dict[Dim, str]()
    for symbol, origin in known.items():
        name = names[symbol] = f"s{len(names)}"
        lines.append(f"{name} = {bound_text(origin, arrays[origin.variable])}")
        largest = "" if symbol.maximum is None else f" <= {symbol.maximum}"
        lines.append(f"if not {symbol.minimum} <= {name}{largest}: return False")
    tests = [
        f"{array}.shape[{axis}] == {to_python(size, names.__getitem__)}"
        for variable, array in arrays.items()
        for axis, size in enumerate(variable.tensor_type.shape)
        if not _binds(size, known, variable, axis)
    ]
    lines.append(f"return {' and '.join(tests) or True}")
    return [f"def fits({', '.join(names_of_all)}):", *(f"    {line}" for line in lines)]


def _binds(size: Size, known: Mapping[Dim, Origin], variable: Variable, axis: int) -> bool:
    """Whether this axis is where a symbol comes from."""
    if not isinstance(size, Dim) or not is_symbol(size):
        return False
    origin = known[size]
    return origin.variable is variable and origin.axis == axis


__all__ = ["Entry", "SizeCode", "SizesOfCalls", "bound_text", "fits_function", "origins_of"]
