"""A trace in which what Python calls by itself runs converted too.

Classes are prepared when they are met. A function that is met only when a tensor is refused in it
is swapped from then on, and the trace begun anew.
"""

from __future__ import annotations

import inspect
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any, TypeVar

from dy2st.convert.by_turns import Decided, by_turns
from dy2st.convert.call import converted_code, is_ignored_module, reason_not_converted
from dy2st.convert.classes import called_by_python
from dy2st.convert.effects import effects_of
from dy2st.convert.heap import Heap, containers_in, reached
from dy2st.convert.regions import is_insisting
from dy2st.convert.relays import Passed, relaying
from dy2st.convert.swapping import Swaps
from dy2st.convert.unconverted import Refusals, functions_with, location_of
from dy2st.transpiler import is_converted
from dy2st_runtime.by_identity import ByIdentity
from dy2st_runtime.errors import (
    ConversionError,
    Dy2stError,
    Location,
    TensorAsPython,
    UndecidedDim,
)
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.thread_state import Before, end_withs

T = TypeVar("T")

# What a trace of a function has met too late is swapped from the beginning of its later traces.
_met: ByIdentity[FunctionType, list[weakref.ref[FunctionType]]] = ByIdentity()


class Preparation:
    """What has been swapped for one trace, by class."""

    def __init__(self, traced: Any) -> None:
        """Begin with nothing changed."""
        self._before = Before()
        self._met = _met.get(traced) or []
        if type(traced) is FunctionType:
            _met[traced] = self._met
        self.swaps = Swaps(converted_code)
        self._heap: Heap | None = None
        self.decided = Decided()  # the generators that run their consumers
        self.passed = Passed()  # where functions relay exceptions
        self._classes: set[tuple[int, bool]] = set()

    def begin(self) -> None:
        """Swap the functions that earlier traces of the same function have met."""
        for met in list(self._met):
            function = met()
            if function is not None:
                self.swaps.swap(function)

    def end(self) -> None:
        """Have this thread, and all code, as before; a second time does nothing."""
        self._before.put_back()
        self.swaps.restore()

    def remember(
        self, function: Callable[..., Any], owner: Any, arguments: Sequence[Any]
    ) -> dict[int, tuple[Any, str]]:
        """Note what a function can change, to undo that if the trace begins anew.

        Gives the lists and dicts that outlive the call, each with what holds it.
        """
        self._heap = reached(function, (owner, *arguments), hands_out=False, owner="an argument")
        given = set(map(id, containers_in(list(arguments))))
        return {key: held for key, held in self._heap.outside().items() if key not in given}

    def buffers(self) -> list[tuple[dict[str, Any], str, Any]]:
        """Where the function finds registered buffers, and the tensors that they are."""
        assert self._heap is not None
        layers = [owner for owner, _ in self._heap.objects if isinstance(owner, Layer)]
        return [(o._buffers, n, tensor) for o in layers for n, tensor in o._buffers.items()]

    def held_elsewhere(self) -> frozenset[int]:
        """The tensors that something else holds than one buffer of a Layer."""
        assert self._heap is not None
        counts = Counter(id(tensor) for _, _, tensor in self.buffers())
        return frozenset((*self._heap.tensors, *(key for key in counts if counts[key] > 1)))

    def effects(self, function: Callable[..., Any]) -> list[str]:
        """What the function has done to objects from outside, which only a trace does."""
        code = getattr(inspect.unwrap(function), "__code__", None)
        place = Location(code.co_filename, code.co_firstlineno) if code else Location("?", 0)
        assert self._heap is not None
        return effects_of(self._heap, place)

    def meet(self, kind: type, makes: bool) -> None:
        """Prepare a class for its operators and properties, with `makes` for being called."""
        if (id(kind), makes) in self._classes:
            return
        self._classes.add((id(kind), makes))
        for owner in kind.__mro__:
            if not is_ignored_module(str(owner.__module__)):
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
        self._met += map(weakref.ref, new)
        return bool(new)

    def undo(self) -> None:
        """Undo what the function has done to objects from outside."""
        if self._heap is not None:
            self._heap.put_back()


def run_swapped(traced: Any, run: Callable[[Preparation], T], is_attempt: bool = False) -> T:
    """Call `run`, which traces a function, again for every function that it has met too late.

    All swaps are undone at the end; after an attempt that fails, and after Ctrl-C, all else too.
    """
    preparation = Preparation(traced)
    try:
        try:
            return _begun_anew(preparation, run)
        finally:
            preparation.end()
    except BaseException as error:
        end_withs(error)
        if is_attempt or isinstance(error, KeyboardInterrupt):
            preparation.undo()
        raise
    finally:
        preparation.end()  # once more: Ctrl-C may have come in the midst of the first


def _begun_anew(preparation: Preparation, run: Callable[[Preparation], T]) -> T:
    """The result of the first trace that is not refused for what it has met too late."""
    preparation.begin()
    while True:
        with (
            Refusals() as refusals,
            by_turns(preparation.decided),
            relaying(preparation.passed),
        ):
            try:
                result = run(preparation)
            except Exception as error:  # raised again below, unless another trace avoids it
                found: Exception | None = error
            else:
                # A refusal that user code has caught makes the result wrong.
                found = next(iter(refusals.errors), None)
        if not preparation.passed.is_new:
            if found is None:
                return result
            _find_a_form(preparation, found, refusals)
        preparation.undo()


def _find_a_form(preparation: Preparation, error: Exception, refusals: Refusals) -> None:
    """Let other forms of some functions avoid an error in the next trace, or raise it."""
    codes = refusals.codes(error)
    if _is_refusal(error, refusals):
        if preparation.decided.add(error, codes) or preparation.learn(codes):
            return
        preparation.undo()
    if refusals.errors and not isinstance(error, Dy2stError):
        # C code, such as functools.reduce(), has said in its own words that it was refused.
        raise refusals.errors[-1] from None
    raise _explained(error, codes)


def _is_refusal(error: Exception, refusals: Refusals) -> bool:
    return isinstance(error, (ConversionError, UndecidedDim)) or bool(refusals.errors)


def _explained(error: Exception, codes: list[CodeType]) -> Exception:
    """The refusal of a tensor in code that is not converted says which code it is, and why."""
    if is_insisting(error) and str(error).startswith("Choice.keys()"):
        return TensorAsPython(
            "`**` in a call takes one of several dicts",
            at=location_of(error),
            why="which keywords there are is known only when the Program runs",
            hint="call the function in both branches",
        ).with_traceback(error.__traceback__)
    if is_insisting(error):
        return TensorAsPython(
            f"C code asks an object of the user: {error}",
            at=location_of(error),
            why="the answer depends on a tensor, and C code needs it at once",
            hint="ask the object in converted code: `if object:`, `len(object)`, a loop",
        ).with_traceback(error.__traceback__)
    if type(error) is not TensorAsPython or not codes or is_converted(codes[0]):
        return error
    functions = functions_with(codes[0])
    name = functions[0].__qualname__ if functions else codes[0].co_name
    reason = reason_not_converted(functions[0]) if functions else "no function has this code"
    told = f"; {name}() runs as Python, since {reason}"  # by the frame, if it was watched
    explained = TensorAsPython(
        error.what,
        at=error.at,
        why=f"{name}() is not converted: {reason}; {error.why.removesuffix(told)}",
        hint=error.hint,
    )
    return explained.with_traceback(error.__traceback__)
