"""From the shapes of calls to the sizes that become symbols: those that were seen to change.

The first shape of a function makes a Program of its own. From the second on, axes whose size has
changed are symbols, each one of its own. Where that cannot be, sizes stay numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dy2st.convert.replay.guards import Guards
from dy2st.jit.concrete_program import ConcreteProgram
from dy2st.jit.input_spec import InputSpec
from dy2st_runtime.dims import Dim, evaluate, symbols
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import Output, TensorType, ValueType
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.sizes import input_sizes
from dy2st_runtime.ir.structure import flatten, is_container, map_entries
from dy2st_runtime.thread_state import ByIdentity

Shapes = tuple[tuple[int, ...], ...]
Axis = tuple[int, int]  # which tensor of the call, which axis of it


class Results(NamedTuple):
    """What a Program gives back, and what it took from outside of its arguments."""

    structure: Any
    types: tuple[ValueType, ...]
    guards: Guards


class Family:
    """Calls that differ in the sizes of their tensors alone."""

    def __init__(self, shapes: Shapes):
        """Begin with the shapes of the first call."""
        self.first = shapes
        self._example: Results | None = None
        self._accepted: ByIdentity[ConcreteProgram, bool] = ByIdentity()
        self._changing: frozenset[Axis] = frozenset()
        self._pinned: frozenset[Axis] = frozenset()

    @property
    def symbolic(self) -> frozenset[Axis]:
        """The axes that are symbols."""
        return self._changing - self._pinned

    def see(self, shapes: Shapes) -> frozenset[Axis]:
        """Learn from a call; returns the axes that were not seen to change before."""
        changed = {
            (index, axis)
            for index, (first, now) in enumerate(zip(self.first, shapes, strict=True))
            for axis, (old, new) in enumerate(zip(first, now, strict=True))
            if old != new
        }
        new = frozenset(changed) - self._changing
        self._changing |= new
        return new

    def compare_with(self, concrete: ConcreteProgram) -> None:
        """Take the Program with numbers for the first shapes as the example for others."""
        self._example = Results(concrete.main_program.structure, _types(concrete), concrete.guards)

    def accepts(self, general: ConcreteProgram) -> bool:
        """Whether a general Program gives the kinds of results that the first Program gave."""
        if not self._accepted.get(general):
            example = self._example
            # With other values outside, the example says nothing of this call.
            is_current = example is not None and example.guards.holds()
            if example is not None and is_current and not agrees(general, example, self.first):
                return False
            self._accepted[general] = True
        return True

    def pin(self, axes: frozenset[Axis]) -> None:
        """Keep axes as numbers; all of them, if it was not one of these that was refused."""
        self._pinned |= (axes & self.symbolic) or self.symbolic


def generalised(specs: dict[str, Any], axes: frozenset[Axis]) -> dict[str, Any]:
    """The same specs with unknown sizes at these axes."""
    count = -1

    def spec(entry: Any) -> Any:
        nonlocal count
        if not isinstance(entry, InputSpec):
            return map_entries(entry, spec)
        count += 1
        # A scalar has no axes, and a NumberSpec must stay one.
        if not entry.shape:
            return entry
        shape = [None if (count, axis) in axes else s for axis, s in enumerate(entry.shape)]
        return InputSpec(shape, entry.dtype, entry.name, entry.stop_gradient)

    return {name: spec(entry) for name, entry in specs.items()}


def axes_text(specs: dict[str, Any], axes: frozenset[Axis]) -> str:
    """`x` axis 0, `y` axis 2."""
    leaves, _ = flatten(specs, lambda entry: isinstance(entry, InputSpec))
    return ", ".join(f"`{leaves[index].name}` axis {axis}" for index, axis in sorted(axes))


def agrees(general: ConcreteProgram, example: Results, shapes: Shapes) -> bool:
    """Whether a general Program gives, for these shapes, results like those of an example.

    It does not where Python code has looked at the text or the kind of a size.
    """
    axes = [size for variable in general.inputs for size in variable.tensor_type.shape]
    real = [size for shape in shapes for size in shape]
    if any(isinstance(a, int) and a != b for a, b in zip(axes, real, strict=True)):
        return True  # nothing to compare: it is for other numbers
    sizes = input_sizes(general.main_program, shapes)
    return _same(general.main_program.structure, example.structure) and all(
        _fits(one, other, sizes) for one, other in zip(_types(general), example.types, strict=True)
    )


def _same(general: Any, example: Any) -> bool:
    """Whether two structures are alike; a number may have become an output."""
    if isinstance(general, Output):
        if general.as_number and not isinstance(example, Output):
            return isinstance(example, (bool, int))
        return isinstance(example, Output) and general.as_number == example.as_number
    if type(general) is not type(example):
        return False
    if isinstance(general, (Choice, Text)):
        left, right = _parts(general), _parts(example)
        return len(left) == len(right) and all(map(_same, left, right))
    if not is_container(general):
        # A constant nan is like another.
        return bool(general == example or general != general)
    if isinstance(general, dict):
        return list(general) == list(example) and all(
            _same(general[k], example[k]) for k in general
        )
    return len(general) == len(example) and all(map(_same, general, example))


def _parts(value: Any) -> tuple[Any, ...]:
    """What stands in a Choice or Text, in order."""
    if isinstance(value, Choice):
        return (value.tag, *value.cases)
    holes = [p if isinstance(p, str) else (p.value, p.conversion, p.spec) for p in value.parts]
    return tuple(holes)


def _types(concrete: ConcreteProgram) -> tuple[ValueType, ...]:
    """Types of the tensors that are given back; numbers are left out."""
    leaves, _ = flatten(concrete.main_program.structure, lambda leaf: isinstance(leaf, Output))
    return tuple(concrete.outputs[leaf.index].type for leaf in leaves if not leaf.as_number)


def _fits(one: ValueType, other: ValueType, sizes: dict[Dim, int]) -> bool:
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return type(one) is type(other)
    if one.dtype != other.dtype or len(one.shape) != len(other.shape):
        return False
    return all(_may_equal(a, b, sizes) for a, b in zip(one.shape, other.shape, strict=True))


def _may_equal(general: Any, example: Any, sizes: dict[Dim, int]) -> bool:
    if not isinstance(example, int) or not set(symbols(general)) <= sizes.keys():
        return True  # the data decides
    try:
        return bool(evaluate(general, sizes) == example)
    except (ShapeError, ZeroDivisionError):
        return False
