"""A compiled Program: checks what it is called with, runs, and names the user's line on failure."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from dy2st_runtime.engine.numpy.codegen import generate
from dy2st_runtime.engine.numpy.sizes_code import SizesOfCalls
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.aliasing import may_give_back, owner
from dy2st_runtime.ir.checks.broken_sizes import place_text
from dy2st_runtime.ir.checks.misfits import check_inputs
from dy2st_runtime.ir.checks.tracebacks import show_operator
from dy2st_runtime.ir.program import Block, Program, Variable
from dy2st_runtime.ir.sizes import input_sizes

Array = np.ndarray[Any, Any]

_count = 0


class Executable:
    """A Program that runs on NumPy arrays. Several threads may call it at once."""

    def __init__(self, program: Program) -> None:
        """Generate and compile the Python function of the Program."""
        self.program = program
        generated = generate(program)
        self.source = generated.source
        self._lines = generated.lines
        namespace = _compiled(program.name, generated.source, generated.namespace)
        self._function: FunctionType = namespace["run"]
        self._fits: FunctionType = namespace["fits"]
        self._sizes: SizesOfCalls | None = None
        if "sizes" in namespace:
            self._sizes = namespace["of_calls"] = SizesOfCalls(program, namespace["sizes"])
        self._copied = [_may_share(variable) for variable in program.block.yields]

    def run(
        self,
        inputs: Sequence[Array],
        state: Sequence[Array],
        as_is: Container[int] = (),
        as_one: Container[int] = (),
        bare: int = 0,
    ) -> list[Array]:
        """Outputs, then new values of the buffers in `program.updates`.

        `state` holds parameters, then buffers, in the order of `program.state`. The results never
        share memory with what was given, but that a buffer may become one of the arrays in `state`,
        and an output whose number is in `as_is` any that was given, or that a buffer becomes.
        Outputs whose numbers are in `as_one`, too, are one array where the Program has one.
        The last `bare` outputs are given as the Program has them, which may share memory: they are
        for other Programs only. Raises SpecError if an input does not fit.
        """
        self.check(inputs)
        try:
            results = self._function(*inputs, *state)
        except ZeroDivisionError as error:
            raise self._division(error) from None
        except Exception as error:  # goes on, with the place of the operator
            self._add_place(error)
            raise
        first = len(results) - len(self.program.updates)
        if bare:
            given = results[first - bare : first]
            del results[first - bare : first]
            found = self._finished(results, first - bare, (inputs, state), as_is, as_one)
            return [*found[: first - bare], *given, *found[first - bare :]]
        return self._finished(results, first, (inputs, state), as_is, as_one)

    def _finished(
        self,
        results: list[Any],
        first: int,
        held: tuple[Sequence[Array], Sequence[Array]],
        as_is: Container[int],
        as_one: Container[int],
    ) -> list[Array]:
        """What a caller gets, of the results of the function, of which `first` are outputs."""
        copied = self._copied
        if len(copied) > len(results):
            copied = [*copied[:first], *copied[len(copied) - len(self.program.updates) :]]
        if first == len(results) and not (as_is or as_one):
            pairs = zip(results, copied, strict=True)
            return [_output(result, is_shared, {}) for result, is_shared in pairs]
        updates = _updates(results[first:], copied[first:], held[1])
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

    def check(self, inputs: Sequence[Array]) -> None:
        """Raise SpecError unless number, dtypes and shapes of the inputs fit the Program."""
        try:
            if len(inputs) == len(self.program.inputs) and self._fits(*inputs):
                return
        except (ShapeError, ZeroDivisionError):  # a formula that has no value
            pass
        check_inputs(self.program, inputs)

    def takes_shapes(self, shapes: Sequence[Sequence[int]]) -> bool:
        """Whether inputs of the right ranks with these shapes satisfy all that is required."""
        if self._sizes is None:
            return True
        return self._sizes.fit(tuple(input_sizes(self.program, shapes).values()))

    def _division(self, error: ZeroDivisionError) -> Exception:
        """The error itself if a kernel raised it; else a size that only the data decides is 0."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None or trace.tb_frame.f_code is not self._function.__code__:
            self._add_place(error)
            return error
        operator = self._lines.get(trace.tb_lineno)
        place = place_text(operator.location) if operator and operator.location else "?"
        return ShapeError(f"a size is divided by another, which is 0 in this call (from {place})")

    def _add_place(self, error: Exception) -> None:
        """Say which operator failed, and where the user called it."""
        trace = error.__traceback__
        while trace is not None:
            following = trace.tb_next
            if trace.tb_frame.f_code is self._function.__code__:
                operator = self._lines.get(trace.tb_lineno)
                if operator is not None:
                    code = self._function.__code__
                    show_operator(error, operator, code, self.program.name)
            trace = following


def _updates(results: Sequence[Any], copied: Sequence[bool], state: Sequence[Array]) -> list[Array]:
    """New values of buffers; two that are one array stay one, and old values stay what they are."""
    known = {id(array): array for array in state} if results else {}
    for result, is_shared in zip(results, copied, strict=True):
        if not is_shared:
            known[id(result)] = np.asarray(result)
    for result in results:
        if id(result) not in known:
            known[id(result)] = np.array(result)
    return [known[id(result)] for result in results]


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


class _Text:
    """What knows the text of a generated function, as the loader of a module does."""

    def __init__(self, source: str) -> None:
        self._source = source

    def get_source(self, name: str) -> str:
        """The text."""
        return self._source


def compile_program(program: Program) -> Executable:
    """Compile a Program for NumPy."""
    return Executable(program)


def _compiled(name: str, source: str, namespace: dict[str, Any]) -> dict[str, Any]:
    global _count
    _count += 1
    module = f"<dy2st {ascii(name)[1:-1]}>"  # a name may hold any character
    # Debuggers, and the tracebacks that DY2ST_DEBUG shows, ask the loader for the lines.
    namespace |= {"__name__": module, "__loader__": _Text(source)}
    exec(compile(source, f"{module[:-1]} {_count}>.py", "exec"), namespace)
    return namespace


def _may_share(variable: Variable) -> bool:
    """Whether the array may be, or look into, an input, a parameter or a constant."""
    maker = owner(variable).maker
    if isinstance(maker, Block):
        return True
    return maker.name == "constant" or may_give_back(maker)


__all__ = ["Executable", "compile_program"]
