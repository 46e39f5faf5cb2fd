"""Compares every call of a converted function with plain Python, for a whole test suite.

DY2ST_COMPARE=1 in the environment begins it when dy2st is imported. A call runs as a Program; all
that it has changed is put back while Python makes it once more; then results and what was left
behind are compared, and the first difference raises ComparisonError.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import sys
from collections import Counter
from typing import Any

from dy2st.diagnostics.comparing import (
    Comparison,
    ComparisonError,
    Outcome,
    Pair,
    differs,
    outcome_of,
    plain,
)
from dy2st.diagnostics.kept_state import KeptState
from dy2st.diagnostics.subjects import calls_made, layer_paths, name_of
from dy2st.jit.static_function import StaticFunction, set_usual_way
from dy2st_runtime.errors import counted
from dy2st_runtime.ir import current_tracer
from dy2st_runtime.ir.location import place_of, without_own_frames
from dy2st_runtime.thread_state import ThreadState

_SIDES = ("Python", "the Program")


class _Now(ThreadState):
    """Whether this thread makes a call to compare it: calls inside are part of it."""

    compares = False


class EveryCall:
    """What compares all calls from `begin` on, and says at the end what it could not."""

    def __init__(self) -> None:
        """Nothing is compared yet."""
        self.count = 0
        self.left_out: Counter[str] = Counter()
        self._now = _Now()

    def begin(self) -> None:
        """Compare all calls from now on."""
        set_usual_way(self.call)

    def end(self) -> None:
        """Compare no more."""
        set_usual_way(None)

    @without_own_frames
    def call(self, function: StaticFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call both ways; what the Program gives.

        Raises ComparisonError where they differ.
        """
        if self._now.compares or current_tracer() is not None:
            with calls_made(None):
                return function(*args, **kwargs)
        self._now.compares = True
        try:
            return self._both_ways(function, args, kwargs)
        finally:
            self._now.compares = False

    def _both_ways(
        self, function: StaticFunction, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        roots = [("", function), *((f"argument {n}", one) for n, one in enumerate(args, 1))]
        roots += kwargs.items()
        kept = KeptState(roots)
        with calls_made(None):
            right = outcome_of(function, args, kwargs, kept)
        why = kept.unknown[0] if kept.unknown else _why_not(function)
        if why:
            self.left_out[
                f"{name_of(function)} ({place_of(function.dygraph_function)}): {why}"
            ] += 1
        else:
            self.count += 1
            self._compare(function, args, kwargs, (kept, KeptState(roots)), right)
        if right.error is not None:
            raise right.error
        return right.result

    def _compare(
        self,
        function: StaticFunction,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        states: tuple[KeptState, KeptState],
        right: Outcome,
    ) -> None:
        before, after = states
        try:
            before.put_back()
            with contextlib.redirect_stdout(io.StringIO()):
                left = outcome_of(plain(function), args, kwargs, before)
                wrong = differs(left, right, _SIDES, None)
                if wrong is None:
                    return
                before.put_back()
                pair = Pair(before, (plain(function), function), args, kwargs, None)
                with calls_made(None):
                    paths = layer_paths(function)
                    found = pair.compared(name_of(function), _SIDES, paths, (None, function.engine))
        finally:
            after.put_back()
        if found.is_equal:
            # Either it is rounding alone, or the call before has left something.
            if pair.is_steady:
                found = Comparison(name_of(function), _SIDES, 0, *wrong)
            else:
                return
        raise ComparisonError(found)

    def said(self) -> str:
        """How many calls were compared, and which were not, and why."""
        lines = [f"DY2ST_COMPARE: {counted(self.count, 'call')} compared"]
        lines += [f"  {count} not: {what}" for what, count in self.left_out.items()]
        return "\n".join(lines)


def _why_not(function: StaticFunction) -> str:
    """Why Python must not make a call once more; empty if it may."""
    last = function.program_cache.last()
    if last is None:
        return ""
    if last.effects:
        return "it asks for what is another one at each call"
    for operator in last.main_program.walk():
        if operator.name == "write":
            return "it writes into a stream of the user's"
    return ""


def begin() -> None:
    """Compare every call of this process, and say at its end what was not compared."""
    every = EveryCall()
    every.begin()
    atexit.register(lambda: print(every.said(), file=sys.stderr))


__all__ = ["EveryCall", "begin"]
