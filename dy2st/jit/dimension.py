"""Dim: what the user says of an unknown size, its name, limits and divisor."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dy2st_runtime import dims


@dataclass(frozen=True)
class Declaration:
    """The values that a size of this name may have."""

    name: str
    minimum: int = 0
    maximum: int | None = None
    multiple: int = 1

    @property
    def symbol(self) -> dims.Dim:
        """The symbol that stands for the size in Programs."""
        return dims.symbol(self.name, self.minimum, self.maximum)

    def __str__(self) -> str:
        """`from 1 to 512, a multiple of 8`."""
        limits = f"at least {self.minimum}"
        if self.maximum is not None:
            limits = f"from {self.minimum} to {self.maximum}"
        return limits if self.multiple == 1 else f"{limits}, a multiple of {self.multiple}"


class Dim:
    """An unknown size in an InputSpec: its name, its limits, and what divides it.

    The same name in several inputs is the same size. Formulas of sizes are sizes too.

    >>> n = Dim("n", min=1, max=512, multiple=8)
    >>> n, 2 * n + 1
    (Dim('n', min=1, max=512, multiple=8), Dim(2*n + 1))
    """

    __slots__ = ("declared", "size")

    declared: Mapping[str, Declaration]
    size: dims.Dim

    def __init__(self, name: str, min: int = 0, max: int | None = None, multiple: int = 1):
        """Check what is said; TypeError or ValueError name what has no meaning."""
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"the name of a size is an identifier, not {name!r}")
        _check_number(name, "min", min, 0)
        _check_number(name, "multiple", multiple, 1)
        if max is not None:
            _check_number(name, "max", max, 0)
            if max < min:
                raise ValueError(f"the size {name} has no value: min={min} is above max={max}")
            if max // multiple * multiple < min:
                raise ValueError(
                    f"the size {name} has no value: no multiple of {multiple} lies from {min} to "
                    f"{max}"
                )
        declaration = Declaration(name, min, max, multiple)
        self.declared, self.size = {name: declaration}, declaration.symbol

    def _combined(self, operation: Callable[[Any, Any], Any], other: Any) -> Any:
        """A Dim for the result, or an int if the symbols cancel."""
        value: dims.Size
        if isinstance(other, Dim):
            declared, value = _merged(self.declared, other.declared), other.size
        elif isinstance(other, int) and not isinstance(other, bool):
            declared, value = dict(self.declared), other
        else:
            return NotImplemented
        size = operation(self.size, value)
        if not isinstance(size, dims.Dim):
            return size
        result = object.__new__(Dim)
        # What has cancelled needs no declaration: no axis would determine it.
        names = {str(symbol) for symbol in dims.symbols(size)}
        result.declared = {name: entry for name, entry in declared.items() if name in names}
        result.size = size
        return result

    def __add__(self, other: Any) -> Any:
        return self._combined(lambda a, b: a + b, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._combined(lambda a, b: a - b, other)

    def __rsub__(self, other: Any) -> Any:
        return self._combined(lambda a, b: b - a, other)

    def __mul__(self, other: Any) -> Any:
        return self._combined(lambda a, b: a * b, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._combined(lambda a, b: a // b, other)

    def __mod__(self, other: Any) -> Any:
        return self._combined(lambda a, b: a % b, other)

    def __eq__(self, other: object) -> bool:
        """Equal when the formula and all declarations are."""
        return isinstance(other, Dim) and self._key() == other._key()

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return str(self.size), tuple(sorted(self.declared.items()))

    def __repr__(self) -> str:
        """As one would write it."""
        if not dims.is_symbol(self.size):
            return f"Dim({self.size})"
        (entry,) = self.declared.values()
        parts = [repr(entry.name)]
        parts += [f"min={entry.minimum}"] * (entry.minimum != 0)
        parts += [f"max={entry.maximum}"] * (entry.maximum is not None)
        parts += [f"multiple={entry.multiple}"] * (entry.multiple != 1)
        return f"Dim({', '.join(parts)})"


def _merged(
    left: Mapping[str, Declaration], right: Mapping[str, Declaration]
) -> dict[str, Declaration]:
    for name, entry in right.items():
        known = left.get(name, entry)
        if known != entry:
            raise ValueError(
                f"the size {name} is {known} in one part of a formula, {entry} in another"
            )
    return {**left, **right}


def _check_number(name: str, what: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} of the size {name} is an int, not {value!r}")
    if value < least:
        raise ValueError(f"{what} of the size {name} is at least {least}, not {value}")
