"""What a row of the tables is given: one operator with its operands and attributes as values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st.importers.paddle.graph import Constant, Node, dtype_named
from dy2st.importers.paddle.program_desc import DTYPES
from dy2st_runtime.errors import ArgumentError, Dy2stError, FormatError
from dy2st_runtime.ir.arguments import as_int
from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.tracing.known_values import array_of
from dy2st_runtime.ir.types import DType

_MOST = 10_000
Value = Any
"""A Variable; a list of values; a plain number or list, of an attribute; None: nothing is given."""


class Unsupported(Dy2stError, NotImplementedError):
    """An operator is used in a way that no Program has; the message says which one."""


class Call:
    """One operator as it is recorded: `c[0]` is its first operand, None where it is left out."""

    __slots__ = ("attributes", "builder", "node", "operands", "scope")

    def __init__(self, node: Node, operands: Sequence[Value], builder: Any, scope: Any):
        """`builder` and `scope` are for what has bodies."""
        self.node, self.operands, self.attributes = node, operands, node.attributes
        self.builder, self.scope = builder, scope

    def __getitem__(self, place: int) -> Value:
        return self.operands[place] if place < len(self.operands) else None

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute; what stands there as nothing is the default."""
        value = self.attributes.get(name)
        return default if value is None else value

    def need(self, name: str) -> Any:
        """An attribute that must be there."""
        value = self.attributes.get(name)
        if value is None:
            raise FormatError(f"{self.node.name} has no attribute {name!r}")
        return value

    def dtype(self, name: str = "dtype") -> DType | None:
        """An attribute as a dtype, None for one that is not decided."""
        value = self.attributes.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = DTYPES.get(value)
        if value is None or str(value).lower().startswith("undefined") or value == "":
            return None
        return dtype_named(value)

    def ints(self, place: int) -> Any:
        """Integers of an operand: a list of ints and sizes, or a Variable if they are unknown."""
        value = self[place]
        if isinstance(value, Variable):
            if value.tensor_type.rank > 1:
                value = F.reshape(value, [-1])
            data = data_of(value)
            return value if data is None else data.reshape(-1).tolist()
        if isinstance(value, (list, tuple)):
            return [self._one(entry) for entry in value]
        return [] if value is None else [value]

    @staticmethod
    def _one(value: Any) -> Any:
        """One integer: known, or a Variable without axes."""
        if not isinstance(value, Variable):
            return value
        data = data_of(value)
        if data is not None and data.size == 1:
            return data.item()
        return F.reshape(value, []) if value.ndim else value

    def axes(self, place: int) -> list[int]:
        """Axes of an operand, which must be known."""
        found = self.ints(place)
        if isinstance(found, Variable):
            raise Unsupported(f"{self.node.name}: axes that the model computes")
        return [as_int(axis, "an axis") for axis in found]

    def value(self, place: int) -> Any:
        """One number: a Python number where it is known, else a Variable."""
        value = self[place]
        if isinstance(value, (list, tuple)) and len(value) == 1:
            value = value[0]
        if not isinstance(value, Variable):
            return value
        try:
            found = array_of(value, "a number")
        except Dy2stError:
            return value
        if found.size != 1:
            raise FormatError(f"{self.node.name} takes one number, not {found.size}")
        return found.item()

    def number(self, place: int, what: str) -> Any:
        """One number that must be known."""
        value = self.value(place)
        if isinstance(value, Variable):
            raise Unsupported(f"{self.node.name}: {what} that the model computes")
        return value

    def few(self, count: Any, what: str) -> int:
        """A number of lists' entries or repetitions: a file may say any, and each takes memory."""
        if type(count) is not int or not 0 <= count <= _MOST:
            raise Unsupported(f"{self.node.name} with {count!r:.40} {what}")
        return count

    def refuse_unless(self, holds: bool, what: str) -> None:
        """Unsupported unless something holds."""
        if not holds:
            raise Unsupported(f"{self.node.name} with {what}")


Row = Callable[[Call], Any]


def table(rows: dict[str, Row]) -> Callable[..., Callable[[Row], Row]]:
    """A decorator that enters a function under the names of its operators."""

    def named(*names: str) -> Callable[[Row], Row]:
        def enter(row: Row) -> Row:
            rows.update(dict.fromkeys(names, row))
            return row

        return enter

    return named


def operand(value: Any) -> Any:
    """An operand of the file as a value: constants are what they hold."""
    return value.value if isinstance(value, Constant) else value


def scalar(value: Any) -> Any:
    """A tensor of one element without axes; a number as it is."""
    return F.reshape(value, []) if isinstance(value, Variable) and value.ndim else value


def constant(values: Any, dtype: DType | None, shape: Any = None) -> Variable:
    """A tensor of fixed values."""
    array = np.asarray(values, dtype)
    if shape is not None:
        if array.size != int(np.prod(shape)) or any(size < 0 for size in shape):
            raise ArgumentError(f"{array.size} values do not fit the shape {list(shape)}")
        array = array.reshape(shape)
    made: Variable = F.assign(array)
    return made


__all__ = ["Call", "Unsupported", "Value", "constant", "operand", "scalar", "table"]
