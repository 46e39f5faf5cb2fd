"""Freezes a Program for many sizes to one for one size, or for fewer."""

from __future__ import annotations

from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.errors import SpecError, WrongKind, nearest
from dy2st_runtime.ir import Program, TensorType
from dy2st_runtime.ir.rebuild import rebuild


def freeze(program: Program, **sizes: int) -> Program:
    """The Program with numbers in place of named sizes; those that are not named stay unknown.

    Raises SpecError for a name or number that the Program does not have, ShapeError for numbers
    that break what it requires.

    >>> from dy2st import to_static
    >>> from dy2st.static import InputSpec
    >>> double = to_static(lambda x: x * 2.0, input_spec=[InputSpec(["batch", 4])])
    >>> freeze(double.main_program, batch=8).outputs[0].shape
    [8, 4]
    """
    if not isinstance(program, Program):
        hint = ": give its main_program" if hasattr(program, "main_program") else ""
        raise WrongKind(f"freeze takes a Program, not {program!r:.80}{hint}")
    return rebuild(program, numbers_for(program, sizes))


def named_sizes(program: Program) -> dict[str, Dim]:
    """The symbols of the inputs by name."""
    types = (variable.type for variable in program.inputs)
    shapes = tuple(type.shape for type in types if isinstance(type, TensorType))
    return {str(symbol): symbol for symbol in symbols(shapes)}


def numbers_for(program: Program, sizes: dict[str, int]) -> dict[Dim, int]:
    """The symbols that are named, with their numbers; SpecError if they do not fit."""
    known = named_sizes(program)
    found: dict[Dim, int] = {}
    for name, number in sizes.items():
        if name not in known:
            close = nearest(name, known)
            hint = f": do you mean {close!r}?" if close else f": it has {', '.join(sorted(known))}"
            hint = hint if known else ": all its sizes are numbers"
            raise SpecError(f"{program.name} has no size {name!r}{hint}")
        found[known[name]] = check_number(known[name], number)
    return found


def check_number(symbol: Dim, number: int) -> int:
    """The number, if the symbol may have it."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise SpecError(f"the size {symbol} is an int, not {number!r}")
    low, high = symbol.minimum, symbol.maximum
    if number < low or (high is not None and number > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise SpecError(f"the size {symbol} is {limits}, not {number}")
    return number


__all__ = ["check_number", "freeze", "named_sizes", "numbers_for"]
