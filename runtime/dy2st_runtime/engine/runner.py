"""Does what every engine does around its computing; a subclass says how to compute.

An executable that can say more than how long a call took has two methods: `measure(clock)` lets it
read the clock before and after each step from then on, `measure(None)` ends that, and `spans()`
gives what was measured since it was asked last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dy2st_runtime.ir.aliasing import may_give_back, owner
from dy2st_runtime.ir.checks.broken_sizes import check_inputs, refusal
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.sizes import input_sizes
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.resident import Resident

Array = np.ndarray[Any, Any]
Clock = Callable[[], Any]
"""Seconds; or seconds and what else is to be known at that moment."""


@dataclass(eq=False, slots=True)
class Span:
    """A step that ran, from what the clock said before it to what it said after.

    what       what runs: `matmul`, `nest exp add`.
    operators  those of a Program that it computes; the last one says where it comes from.
    calls      how often it ran in that time. An engine that counts gives one Span for all of them,
               from 0.0 to their seconds.
    """

    what: str
    operators: Sequence[Operator]
    start: Any
    end: Any
    calls: int = 1
    is_counted: bool = False


@runtime_checkable
class Measurable(Protocol):
    """An executable that knows how long its steps take."""

    def measure(self, clock: Clock | None) -> None:
        """Measure from now on, or end it."""

    def spans(self) -> list[Span]:
        """What ran since this was asked last."""


class Runner:
    """An Executable, but for `compute`: it checks what is given, and copies what may be shared.

    >>> class Doubling(dy2st.engine.Runner):
    ...     def compute(self, inputs, state):
    ...         return [inputs[0] * 2]
    >>> f = dy2st.to_static(lambda x: x + x)
    >>> y = f(dy2st.ones([2]))
    >>> runner = Doubling(f.main_program)
    >>> x = np.array([1.0, 2.0], "float32")
    >>> runner.check([x])
    >>> runner.run([x], [])
    [array([2., 4.], dtype=float32)]
    >>> runner.takes_shapes([[2]])
    True
    """

    source = ""
    has_resident_state = False

    def __init__(self, program: Program) -> None:
        """Look which results may share memory with what is given."""
        self.program = program
        self._copied = [may_share(variable) for variable in program.block.yields]
        has_lists = any(isinstance(one.type, ArrayType) for one in program.block.yields)
        self._are_new = not (any(self._copied) or has_lists or program.updates)

    def compute(self, inputs: Sequence[Array], state: Sequence[Array]) -> list[Any]:
        """Outputs, then updates, as the Program has them: arrays, and lists of arrays.

        A result that is one of the arrays given, or another result, is that very object. Of the
        sizes only those have been checked that inputs give: what the constraints of the Program
        say is still to be held, with a ShapeError. Every engine writes its own, as here:

        >>> class Doubling(dy2st.engine.Runner):
        ...     def compute(self, inputs, state):
        ...         return [inputs[0] * 2]
        """
        raise NotImplementedError

    def run(
        self,
        inputs: Sequence[Array],
        state: Sequence[Array],
        as_is: Container[int] = (),
        as_one: Collection[int] = (),
        bare: int = 0,
    ) -> list[Array]:
        """Outputs, then new values of buffers: see `contract.Executable`."""
        self.check(inputs)
        results = self.compute(inputs, state)
        if self._are_new and not (as_is or as_one or bare):
            return [one if type(one) is np.ndarray else np.asarray(one) for one in results]
        return self.given(results, (inputs, state), as_is, as_one, bare)

    def run_resident(self, inputs: Sequence[Array], state: Sequence[Resident]) -> list[Any]:
        """Of an engine that keeps state, which says so by `has_resident_state`: others have `run`.

        >>> f = dy2st.to_static(lambda x: x + x)
        >>> y = f(dy2st.ones([2]))
        >>> runner = dy2st.engine.Runner(f.main_program)
        >>> runner.has_resident_state
        False
        """
        raise NotImplementedError

    def resident_values(self, state: Sequence[Resident]) -> list[Any]:
        """The arrays: of an engine that moves them each time.

        >>> from dy2st_runtime.resident import Resident
        >>> f = dy2st.to_static(lambda x: x + x)
        >>> y = f(dy2st.ones([2]))
        >>> dy2st.engine.Runner(f.main_program).resident_values([Resident(np.ones(2))])
        [array([1., 1.])]
        """
        return [one.array for one in state]

    def given(
        self,
        results: list[Any],
        held: tuple[Sequence[Array], Sequence[Array]],
        as_is: Container[int],
        as_one: Collection[int],
        bare: int,
        copied: list[bool] | None = None,
    ) -> list[Array]:
        """What `run` gives for what was computed; `copied` is what may be shared in this call.

        >>> f = dy2st.to_static(lambda x: x + x)
        >>> y = f(dy2st.ones([2]))
        >>> runner = dy2st.engine.Runner(f.main_program)
        >>> runner.given([np.ones(2)], ([], []), as_is=(), as_one=(), bare=0)
        [array([1., 1.])]
        """
        copied = self._copied if copied is None else copied
        first = len(results) - len(self.program.updates)
        if bare:
            given = results[first - bare : first]
            del results[first - bare : first]
            found = self._finished(results, first - bare, held, as_is, as_one, copied)
            return [*found[: first - bare], *given, *found[first - bare :]]
        return self._finished(results, first, held, as_is, as_one, copied)

    def check(self, inputs: Sequence[Array]) -> None:
        """Raise SpecError unless number, dtypes and shapes of the inputs fit the Program."""
        check_inputs(self.program, inputs)

    def takes_shapes(self, shapes: Sequence[Sequence[int]]) -> bool:
        """Whether inputs of the right ranks with these shapes satisfy all that is required."""
        return refusal(self.program, input_sizes(self.program, shapes)) is None

    def explain(self) -> str:
        """A line an operator, with the user's line, in the order in which they run.

        >>> f = dy2st.to_static(lambda x: x.exp())
        >>> y = f(dy2st.ones([2]))
        >>> dy2st.engine.Runner(f.main_program).explain().split()[0]
        'exp'
        """
        return "\n".join(listed(self.program.block, lambda operator: ""))

    def _finished(
        self,
        results: list[Any],
        first: int,
        held: tuple[Sequence[Array], Sequence[Array]],
        as_is: Container[int],
        as_one: Collection[int],
        copied: list[bool],
    ) -> list[Array]:
        """What a caller gets, of the results of the function, of which `first` are outputs."""
        if len(copied) > len(results):
            copied = [*copied[:first], *copied[len(copied) - len(self.program.updates) :]]
        if first == len(results) and not (as_is or as_one):
            pairs = zip(results, copied, strict=True)
            return [_output(result, is_shared, {}) for result, is_shared in pairs]
        # New values of buffers; two that are one array stay one, and old values stay what they are.
        new = results[first:]
        news = {id(array): array for array in held[1]} if new else {}
        for result, is_shared in zip(new, copied[first:], strict=True):
            if not is_shared:
                news[id(result)] = np.asarray(result)
        for result in new:
            if id(result) not in news:
                news[id(result)] = np.array(result)
        updates = [news[id(result)] for result in new]
        known: dict[int, Array] = {}
        if as_is:
            known = {id(array): array for array in (*held[0], *held[1])}
            known.update(zip(map(id, results[first:]), updates, strict=True))
        ones, outputs = dict(known), []
        for index, (result, is_shared) in enumerate(zip(results[:first], copied, strict=False)):
            if index in as_one:
                outputs.append(_one(result, is_shared, ones))
            else:
                outputs.append(_output(result, is_shared, known if index in as_is else {}))
        return outputs + updates


def _output(result: Any, is_shared: bool, known: Mapping[int, Array]) -> Any:
    """An array that shares no memory, or is one of those known; a list stays a list."""
    if isinstance(result, list):
        return [_output(entry, True, known) for entry in result]
    if id(result) in known:
        return known[id(result)]
    return np.array(result) if is_shared else np.asarray(result)


def _one(result: Any, is_shared: bool, ones: dict[int, Array]) -> Any:
    """As `_output`; what is one array in several outputs stays one."""
    if isinstance(result, list):
        return [_one(entry, True, ones) for entry in result]
    if id(result) not in ones:
        ones[id(result)] = _output(result, is_shared, {})
    return ones[id(result)]


def listed(block: Block, word: Callable[[Operator], str], depth: int = 0) -> Iterator[str]:
    """A line for each operator but constants: what a word says of it, its name, and its line."""
    for operator in block.operators:
        if operator.name != "constant":
            place = f"  (line {operator.location.line})" if operator.location else ""
            yield f"{'  ' * depth}{word(operator)}{operator.name}{place}"
            for inner in operator.blocks:
                yield from listed(inner, word, depth + 1)


def may_share(variable: Variable) -> bool:
    """Whether the array may be, or look into, an input, a parameter or a constant."""
    maker = owner(variable).maker
    if isinstance(maker, Block):
        return True
    return maker.name == "constant" or may_give_back(maker)


__all__ = ["Clock", "Measurable", "Runner", "Span", "listed", "may_share"]
