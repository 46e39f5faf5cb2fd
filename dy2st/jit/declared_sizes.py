"""From the sizes that InputSpecs name to symbols, their ranges and what they must satisfy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from dy2st.jit.dimension import Declaration, Dim
from dy2st.jit.input_spec import InputSpec
from dy2st_runtime import dims
from dy2st_runtime.dims import Size
from dy2st_runtime.errors import SpecError
from dy2st_runtime.ir import TensorType
from dy2st_runtime.ir.sizes import solved


class Requirement(NamedTuple):
    """A condition that the user declared, and the words for it."""

    condition: Any
    reason: str


class _Sizes:
    """The names of one list of InputSpecs: what was said of each, and where first."""

    def __init__(self) -> None:
        self.declared: dict[str, tuple[Declaration, str]] = {}
        self.requirements: list[Requirement] = []
        self.shapes: list[tuple[Size, ...]] = []

    def declare(self, entry: Declaration, place: str) -> None:
        known, first = self.declared.setdefault(entry.name, (entry, place))
        if known != entry:
            raise SpecError(
                f"the size `{entry.name}` is {known} in the InputSpec of {first}, but {entry} in "
                f"that of {place}: give the limits once, and the name alone elsewhere"
            )
        # Required once for each name, where it is declared first.
        if first == place and entry.multiple > 1:
            condition = entry.symbol % entry.multiple == 0
            self.requirements.append(Requirement(condition, f"declared in InputSpec of {place}"))

    def size(self, entry: Any, place: str, unknown: str) -> Size:
        """The size of one axis, when all declarations are known."""
        if isinstance(entry, str):
            return self.named(entry)
        if entry is None:
            # The user may have declared a size of this very name.
            while unknown in self.declared:
                unknown += "_"
            return self.named(unknown)
        size: Size = entry.size if isinstance(entry, Dim) else entry
        largest = dims.bounds(size)[1]
        if largest is not None and largest < 0:
            raise SpecError(f"{place} of an InputSpec is {size}, which is always below 0")
        least = size >= 0
        if not isinstance(least, bool):
            self.requirements.append(Requirement(least, f"declared in InputSpec of {place}"))
        return size

    def named(self, name: str) -> Size:
        entry, _ = self.declared.setdefault(name, (Declaration(name), ""))
        return entry.symbol


def resolve(
    specs: Sequence[InputSpec], names: Sequence[str]
) -> tuple[list[TensorType], list[Requirement]]:
    """Types of the placeholders, and what the user declared beyond ranges, for one call's specs.

    Unknown sizes are named after argument and axis. Raises SpecError if the specs contradict each
    other, or name a size that no axis determines.
    """
    sizes = _Sizes()
    for spec, name in zip(specs, names, strict=True):
        for axis, entry in enumerate(spec.shape):
            for declaration in _declarations(entry):
                sizes.declare(declaration, f"`{name}`, axis {axis}")
    for entry in (entry for spec in specs for entry in spec.shape if isinstance(entry, str)):
        sizes.named(entry)  # before the unknown sizes choose their names
    types = []
    for spec, name in zip(specs, names, strict=True):
        shape = []
        for axis, entry in enumerate(spec.shape):
            unknown = re.sub(r"\W", "_", f"{name}_axis{axis}")
            unknown = unknown if unknown.isidentifier() else f"_{unknown}"
            shape.append(sizes.size(entry, f"`{name}`, axis {axis}", unknown))
        types.append(TensorType(spec.dtype, shape))
    _check_determined(types, names)
    return types, sizes.requirements


def _declarations(entry: Any) -> list[Declaration]:
    if isinstance(entry, Dim):
        return list(entry.declared.values())
    return [Declaration(str(s), s.minimum, s.maximum) for s in dims.symbols(entry)]


def _check_determined(types: Sequence[TensorType], names: Sequence[str]) -> None:
    """Every symbol can be computed from an axis that holds it alone."""
    solvable = {found.symbol for type in types for size in type.shape if (found := solved(size))}
    for type, name in zip(types, names, strict=True):
        for axis, size in enumerate(type.shape):
            for symbol in dims.symbols(size):
                if symbol not in solvable:
                    raise SpecError(
                        f"`{name}`, axis {axis} of an InputSpec is {size}, from which {symbol} "
                        f"cannot be computed: some axis must be {symbol}, or a multiple of it "
                        "plus a number"
                    )
