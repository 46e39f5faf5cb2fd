"""Programs that run from a file: what their calls leave for the next one is state of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.convert.replay.effects import Keeping
from dy2st.jit.concrete_program import ConcreteProgram
from dy2st.jit.static_function import StaticFunction
from dy2st.jit.trace import names_of
from dy2st_runtime.errors import ConversionError, Dy2stError
from dy2st_runtime.ir.location import place_of
from dy2st_runtime.nn.layer import Layer

_MOST_ROUNDS = 8
"""Traces, each of which finds other places that are kept, before it is no use."""

Traced = tuple[StaticFunction, ConcreteProgram]


def for_file(functions: Sequence[Traced]) -> list[ConcreteProgram]:
    """The Programs of functions that go on by themselves, in a file of all of them.

    Numbers and tensors outside that calls read and write become buffers, one for each place. The
    functions are traced again for that, until no trace finds another place; those that write
    nothing outside stay what they are.

    Raises ConversionError if a place is of no use as a buffer.
    """
    found = [concrete for _, concrete in functions]
    if not any(concrete.leaves_more for concrete in found):
        return found
    names: dict[int, str] = {}
    tensors: set[str] = set()
    for layer in (function.class_instance for function, _ in functions):
        if isinstance(layer, Layer):
            inner = layer.named_sublayers(include_self=True)
            names = {**{id(one): name for name, one in inner}, **names}
            tensors |= {*names_of(layer).values()}
    keeping = Keeping(names, frozenset(tensors))
    for _ in range(_MOST_ROUNDS):
        known, size = len(keeping.kept), keeping.size
        found = [_again(function, concrete, keeping) for function, concrete in functions]
        is_all = keeping.size == size if len(functions) > 1 else len(keeping.kept) == known
        if is_all or any(one.finished.lost for one in found):
            break
    return found


def _again(function: StaticFunction, concrete: ConcreteProgram, keeping: Keeping) -> Any:
    """The Program with what is kept so far as its state."""
    labels = ", ".join(f"`{one.label}`" for one in keeping.kept.values())
    try:
        return function.for_file(concrete, keeping)
    except Dy2stError as error:
        if not labels:
            raise
        raise ConversionError(
            f"{concrete.main_program.name}() changes {labels} for the next call, and what it does "
            "with that has no form in a Program that is saved or compiled",
            at=error.at if isinstance(error, ConversionError) else place_of(concrete.function),
            why=str(error).splitlines()[0],
            hint="return what changes, and pass it in again",
        ) from error
