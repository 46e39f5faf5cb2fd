"""A trace in which what Python calls by itself runs converted too.

Classes are prepared when they are met. A function that is met only when a tensor is refused in it
is swapped from then on, and the trace begun anew.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, TypeVar

from dy2st.convert.call import converted_code, is_ignored_module, reason_not_converted
from dy2st.convert.classes import called_by_python
from dy2st.convert.swapping import Swaps
from dy2st.convert.unconverted import Refusals, functions_with
from dy2st.transpiler import is_converted
from dy2st_runtime.errors import ConversionError, TensorAsPython, UndecidedDim

T = TypeVar("T")

# Once met, a function is swapped from the beginning of every later trace.
_met: weakref.WeakSet[FunctionType] = weakref.WeakSet()


class Preparation:
    """What has been swapped for one trace, by class."""

    def __init__(self) -> None:
        """Begin with the functions that earlier traces have met."""
        self.swaps = Swaps(converted_code)
        self._classes: set[tuple[int, bool]] = set()
        for function in list(_met):
            self.swaps.swap(function)

    def meet(self, kind: type, makes: bool) -> None:
        """Prepare a class for its operators and properties, with `makes` for being called."""
        if (id(kind), makes) in self._classes:
            return
        self._classes.add((id(kind), makes))
        for owner in kind.__mro__:
            if not is_ignored_module(owner.__module__):
                for function in called_by_python(owner, makes):
                    self.swaps.swap(function)
        if makes:
            self.meet(type(kind), False)

    def meet_all(self, values: Any) -> None:
        """Prepare the classes of some objects."""
        for value in values:
            self.meet(type(value), False)

    def learn(self, codes: list[CodeType]) -> bool:
        """Swap the functions with these codes; False if none of them can be."""
        found = [f for code in codes if not is_converted(code) for f in functions_with(code)]
        new = [f for f in found if id(f) not in self.swaps.functions and self.swaps.swap(f)]
        _met.update(new)
        return bool(new)


def run_swapped(run: Callable[[Preparation], T]) -> T:
    """Call `run`, again after every function that it has met too late; then undo all swaps."""
    preparation = Preparation()
    try:
        while True:
            with Refusals() as refusals:
                try:
                    result = run(preparation)
                except Exception as error:
                    found: Exception = error
                else:
                    if not refusals.errors:
                        return result
                    found = refusals.errors[0]  # user code has caught it: the result is wrong
            codes = refusals.codes(found)
            if not _is_refusal(found, refusals) or not preparation.learn(codes):
                raise _explained(found, codes)
    finally:
        preparation.swaps.restore()


def _is_refusal(error: Exception, refusals: Refusals) -> bool:
    return isinstance(error, (ConversionError, UndecidedDim)) or bool(refusals.errors)


def _explained(error: Exception, codes: list[CodeType]) -> Exception:
    """The refusal of a tensor in code that is not converted says which code it is, and why."""
    if type(error) is not TensorAsPython or not codes or is_converted(codes[0]):
        return error
    functions = functions_with(codes[0])
    name = functions[0].__qualname__ if functions else codes[0].co_name
    reason = reason_not_converted(functions[0]) if functions else "no function has this code"
    explained = TensorAsPython(
        error.what,
        at=error.at,
        why=f"{name}() is not converted: {reason}; {error.why}",
        hint=error.hint,
    )
    return explained.with_traceback(error.__traceback__)
