"""The record of an operator, and the table of all records.

`dy2st_runtime.ops` fills the table, one `define(...)` an operator. Everything else asks it: the
tracer and the verifier for types, the tape for gradients, the engines for kernels, the tests for
samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dy2st_runtime.errors import ArgumentError


class Effect(Enum):
    """What an operator does besides computing its results."""

    PURE = "pure"  # may be removed, merged, folded
    RANDOM = "random"  # draws from the generator: order and number matter
    VISIBLE = "visible"  # prints, asserts: must run, in order


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = _Required()


@dataclass(frozen=True, slots=True)
class Sample:
    """One call that the generated tests make: input shapes and dtypes, and attributes.

    `low` and `high` bound the random inputs; sizes given as strings become symbols.
    """

    shapes: tuple[tuple[int, ...], ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ()
    low: float = -2.0
    high: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorDefinition:
    """All target-independent facts about one operator.

    inputs      names in order; a last `xs*` takes any number, a trailing `bias?` may be left out.
    attributes  names with their defaults, REQUIRED where there is none.
    infer       (*types, **attributes) -> a type, or a tuple of types for several results.
    kernel      (*arrays, **attributes) -> an array, or a tuple; Dims in attributes are ints here.
    gradient    (g, y, *inputs, **attributes) -> one entry an input: a value, a thunk that is called
                only if the value is needed, or None. With several results g and y are tuples and g
                may hold None. Written with operators.
    decompose   (*inputs, **attributes) -> results, written with other operators. It stands in for
                whichever of infer, kernel and gradient is not given: the operator is composite.
    data        what it makes of integers that are known as sizes: (*arrays, **attributes) -> an
                array of ints and Dims, a tuple, or None; an input that is not known is its type.
                True where the kernel does that.
    raises      the class of error that the kernel raises for some data although the shapes fit, as
                for a position outside of a tensor.
    promote     positions of inputs that are brought to their common dtype first; True for all.
    """

    name: str
    doc: str
    inputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    infer: Callable[..., Any] | None = None
    kernel: Callable[..., Any] | None = None
    gradient: Callable[..., Any] | None = None
    decompose: Callable[..., Any] | None = None
    data: Callable[..., Any] | bool | None = None
    promote: bool | tuple[int, ...] = False
    effect: Effect = Effect.PURE
    raises: type[Exception] | None = None
    samples: tuple[Sample, ...] = ()

    @property
    def is_primitive(self) -> bool:
        """Whether the operator has no decomposition."""
        return self.decompose is None

    @property
    def is_variadic(self) -> bool:
        """Whether the last input takes any number of values."""
        return bool(self.inputs) and self.inputs[-1].endswith("*")


DEFINITIONS: dict[str, OperatorDefinition] = {}


def define(
    name: str, *, inputs: str | Iterable[str] = (), samples: Iterable[Sample] = (), **facts: Any
) -> OperatorDefinition:
    """Enter an operator into the table; `inputs` may be one string, "x, y, bias?"."""
    if isinstance(inputs, str):
        inputs = [part.strip() for part in inputs.split(",") if part.strip()]
    definition = OperatorDefinition(
        name=name, inputs=tuple(inputs), samples=tuple(samples), **facts
    )
    assert name not in DEFINITIONS, f"operator {name!r} is defined twice"
    assert definition.decompose or definition.infer, f"operator {name!r} has no shape rule"
    DEFINITIONS[name] = definition
    return definition


def lookup(name: str) -> OperatorDefinition:
    """The record of an operator; ArgumentError if there is none of that name."""
    try:
        return DEFINITIONS[name]
    except KeyError:
        raise ArgumentError(f"there is no operator {name!r}") from None
