"""Makes the functions of Python that machine code calls: kernels of NumPy, and refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import ref

import numpy as np

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.engine.native.machine.abi import is_native
from dy2st_runtime.engine.numpy import executable as reference
from dy2st_runtime.errors import OperandChanged, ShapeError
from dy2st_runtime.ir.checks.broken_sizes import broken, place_text
from dy2st_runtime.ir.checks.tracebacks import show_operator
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.functions import program_of
from dy2st_runtime.ir.kernel_errors import as_ours
from dy2st_runtime.ir.program import LocatedConstraint, Operator, Program, Variable
from dy2st_runtime.ir.sizes import origins
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.thread_state import ThreadState


def kernel_call(operator: Operator, program: str, in_place: bool) -> Callable[..., Any]:
    """What computes an operator: of operands, then the sizes in its attributes.

    `in_place` says that it may change its first operand, a list.
    """
    definition = lookup(operator.name)
    kernel = definition.in_place if in_place else definition.kernel
    assert kernel is not None
    count, attributes = len(operator.operands), operator.attributes
    finish = _finish(operator)
    # What is put into a list outlives the memory that it was computed in.
    copies = definition.borrows

    def call(*values: Any) -> Any:
        operands: Sequence[Any] = values[:count]
        if copies:
            operands = [_kept(one) for one in operands]
        sizes = iter(values[count:])
        given = {name: _filled(value, sizes) for name, value in attributes.items()}
        try:
            return finish(kernel(*operands, **given))
        except Exception as error:  # goes on, with the place of the operator
            show_operator(error, operator, call.__code__, program)
            raise

    return call


Run = Callable[..., Any]


_DEEPEST = 16
"""So many calls of machine code are inside of each other: their values lie on the stack of C, which
is small. What they call is left to NumPy's engine, whose calls need none of it."""


class _Calls(ThreadState):
    depth = 0


_calls = _Calls()


class Functions:
    """What the calls in a Program call, each compiled once.

    made    by name, a function of all arrays that gives None if it does not take them, and one that
            takes whatever comes.
    """

    def __init__(self, program: Program) -> None:
        """Nothing is compiled yet; the functions are those of this Program."""
        self.program = program
        self.made: dict[str, tuple[Run | None, Run]] = {}
        self._of_numpy: dict[str, Run] = {}

    def _by_numpy(self, name: str) -> Run:
        """A function as NumPy's engine runs it."""
        if name not in self._of_numpy:
            executable = reference.compile_program(program_of(self.program, name))
            self._of_numpy[name] = executable.compute
        return self._of_numpy[name]

    def call(self, operator: Operator, program: str) -> Run:
        """What machine code calls for a `call`. It takes one frame of Python: calls may be deep."""
        # Functions that call each other do not keep each other: who runs the Program keeps all.
        name, owner = operator.attributes["function"], ref(self)
        finish, is_one = _finish(operator), len(operator.results) == 1
        makes_lists = any(not isinstance(v.type, TensorType) for v in operator.results)

        def run(*operands: Any) -> Any:
            functions = owner()
            assert functions is not None
            entry, other = functions.made[name]
            depth = _calls.depth
            _calls.depth = depth + 1
            try:
                if makes_lists:
                    operands = tuple(map(_kept, operands))
                if depth >= _DEEPEST:
                    results = functions._by_numpy(name)(operands, ())
                else:
                    results = None if entry is None else entry(*operands)
                    if results is None:
                        results = other(operands, ())
                return finish(results[0] if is_one else results)
            except Exception as error:  # goes on, with the place of the call
                if error.__traceback__ is not None:
                    show_operator(error, operator, error.__traceback__, program)
                raise
            finally:
                _calls.depth = depth

        return run


def _kept(value: Any) -> Any:
    """A value that keeps its elements itself: what is put into a list outlives other memory."""
    is_view = isinstance(value, np.ndarray) and not value.flags.owndata
    return value.copy() if is_view else value


def refusing(program: Program, entry: LocatedConstraint, symbols: Sequence[Dim]) -> Any:
    """What raises because a constraint does not hold, of the values of its symbols."""

    def refuse(*values: int) -> None:
        sizes = dict(zip(symbols, values, strict=True))
        raise broken(entry, sizes, origins(program.block.parameters))

    return refuse


def changed(operator: Operator) -> Callable[[], None]:
    """What raises because values are wrong where code looks at them, and right afterwards."""
    kind, *_ = lookup(operator.name).raises or (OperandChanged,)

    def refuse() -> None:
        place = f" (from {place_text(operator.location)})" if operator.location else ""
        text = f"{operator.name}: an operand was changed during the call{place}"
        raise as_ours(operator.name, kind(text))

    return refuse


def misfitting(variable: Variable) -> Callable[[], None]:
    """What raises because a result has other sizes than its type says."""

    def refuse() -> None:
        raise ShapeError(f"{_maker(variable)}: the result has other sizes than {variable.type}")

    return refuse


def outgrown(variable: Variable) -> Callable[[], None]:
    """What raises because sizes that follow from a value are too large."""

    def refuse() -> None:
        raise ShapeError(f"{_maker(variable)}: a result that follows from its sizes is too large")

    return refuse


def _maker(variable: Variable) -> str:
    maker = variable.maker
    if not isinstance(maker, Operator):
        return "a Block"
    return f"{maker.name} (from {place_text(maker.location)})" if maker.location else maker.name


def dividing(operator: Operator) -> Callable[[], None]:
    """What raises because a size of an operator is divided by 0."""

    def refuse() -> None:
        place = place_text(operator.location) if operator.location else "?"
        raise ShapeError(f"a size is divided by another, which is 0 in this call (from {place})")

    return refuse


def _filled(value: Any, sizes: Iterator[int]) -> Any:
    """An attribute with numbers in the places of formulas, in their order."""
    if isinstance(value, tuple):
        return tuple([_filled(entry, sizes) for entry in value])
    if isinstance(value, Condition):
        return bool(next(sizes))
    return next(sizes) if isinstance(value, Dim) else value


def _finish(operator: Operator) -> Callable[[Any], Any]:
    """What makes of results such objects as code reads: arrays row by row, of the right types."""
    types = [result.type for result in operator.results]
    if not types:
        return lambda result: None
    ones = [_finish_one(type) for type in types]
    if len(ones) == 1:
        return ones[0]
    return lambda results: tuple(f(one) for f, one in zip(ones, results, strict=True))


def _finish_one(type: Any) -> Callable[[Any], Any]:
    if not isinstance(type, TensorType):
        return lambda result: result
    if not is_native(type.dtype):
        return np.asarray  # of one element NumPy may give a number
    dtype = type.dtype

    def finish(result: Any) -> Any:
        array = np.asarray(result, dtype)
        # A view would look into memory that is used again.
        flags = array.flags
        is_own = flags.owndata and flags.c_contiguous and flags.aligned
        return array if is_own else np.array(array, order="C")

    return finish


__all__ = [
    "Functions",
    "Run",
    "changed",
    "dividing",
    "kernel_call",
    "misfitting",
    "outgrown",
    "refusing",
]
