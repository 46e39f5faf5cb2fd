"""An entry run by Python and through one Program, and what came of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import dy2st
from dy2st.errors import Dy2stError, ParseError, PassError, VerifyError
from dy2st.jit import StaticFunction, to_static
from tests.dy2st.model_code.catalogue import Case
from tests.dy2st.model_code.comparing import Seen, difference, kinds_of, seen


class Verdict(NamedTuple):
    """`equal`, `refused`, `different` or `error`, and what is to be said of it."""

    kind: str
    says: str = ""


class Refused(Exception):
    """The Program is refused where Python gives a value."""


class Failed(Exception):
    """The Program raises what neither Python raises nor dy2st means by it."""


def verdict(case: Case) -> Verdict:
    """Run both ways and compare."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function, state = case.entry.made()
        wanted = [_outcome(function, state, call) for call in case.arguments()]
        function, state = case.entry.made()
        static = to_static(function, input_spec=case.spec())
        found, end = _calls(static, state, case.arguments(), wanted)
    said = _compared(case, wanted, found, static)
    if end is None or said.kind == "different":
        return said
    cause = str(end.__cause__).splitlines() or [""]
    kind = "refused" if isinstance(end, Refused) else "error"
    return Verdict(kind, f"{type(end.__cause__).__name__}: {cause[0]}")


def _sizes(static: Any) -> list[Any]:
    """The unknown sizes of the arguments of what was traced."""
    last = static.program_cache.last() if isinstance(static, StaticFunction) else None
    return [size for v in last.inputs for size in v.shape] if last is not None else []


def _calls(
    static: Any, state: Any, calls: list[tuple[Any, ...]], wanted: list[Seen]
) -> tuple[list[Seen], Refused | Failed | None]:
    """What calls in a row give, and what ends the row."""
    found: list[Seen] = []
    for call, one in zip(calls, wanted):
        try:
            found.append(_through(static, state, call, one))
        except (Refused, Failed) as end:
            return found, end
    return found, None


def _compared(case: Case, wanted: list[Seen], found: list[Seen], static: Any) -> Verdict:
    kinds = kinds_of(wanted)
    for number, (one, other) in enumerate(zip(wanted, found)):
        said = difference(one, other, kinds)
        if said:
            return Verdict("different", f"call {number}: {said}")
    if len(found) == len(wanted) and not case.entry.makes and len(static.program_cache) != 1:
        return Verdict("different", f"{len(static.program_cache)} Programs for one InputSpec")
    for size in _sizes(static):
        try:
            str(size)
        except TypeError as error:  # it would be so for all later Programs of the process
            return Verdict("error", f"a size of an argument has no text any more: {error}")
    return Verdict("equal")


def _outcome(function: Callable[..., Any], state: Any, call: tuple[Any, ...]) -> Seen:
    """What a call gives or raises, its arguments after it, and the state."""
    dy2st.seed(3)
    try:
        result = function(*call)
    except Exception as error:
        result = error
    return Seen("call", {"": seen(result), "arguments": seen(call), "state": seen(state)})


def _through(function: Any, state: Any, call: tuple[Any, ...], wanted: Seen) -> Seen:
    """The same of a converted function, unless it ends in an exception that Python has not."""
    dy2st.seed(3)
    try:
        result = function(*call)
    except Exception as error:
        result = error
        if type(error).__name__ != wanted.parts[""].kind:
            internal = (VerifyError, PassError, ParseError)
            is_meant = isinstance(error, Dy2stError) and not isinstance(error, internal)
            raise (Refused if is_meant else Failed) from error
    return Seen("call", {"": seen(result), "arguments": seen(call), "state": seen(state)})


__all__ = ["Verdict", "verdict"]
