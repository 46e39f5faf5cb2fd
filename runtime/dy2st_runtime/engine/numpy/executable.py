"""A compiled Program: checks what it is called with, runs, and names the user's line on failure."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, evaluate, is_symbol, symbols
from dy2st_runtime.engine.numpy.codegen import generate
from dy2st_runtime.errors import SpecError
from dy2st_runtime.ir.program import Block, Program, Variable
from dy2st_runtime.ir.types import TensorType

Array = np.ndarray[Any, Any]

# Kernels whose results may be views of their first operand, or the operand itself.
_VIEWS = frozenset(
    ("reshape", "transpose", "slice", "split", "broadcast_to", "assign", "detach", "flip", "sum_to")
)
_count = 0


class Executable:
    """A Program that runs on NumPy arrays. Several threads may call it at once."""

    def __init__(self, program: Program) -> None:
        """Generate and compile the Python function of the Program."""
        self.program = program
        generated = generate(program)
        self.source = generated.source
        self._lines = generated.lines
        self._function = _compiled(program.name, generated.source, generated.namespace)
        self._copied = [_may_share(variable) for variable in program.block.yields]
        self._seen: Any = None

    def run(self, inputs: Sequence[Array], state: Sequence[Array]) -> list[Array]:
        """Outputs, then new values of the buffers in `program.updates`.

        `state` holds parameters, then buffers, in the order of `program.state`. The results never
        share memory with what was given. Raises SpecError if an input does not fit.
        """
        self.check(inputs)
        try:
            results = self._function(*inputs, *state)
        except Exception as error:
            self._add_place(error)
            raise
        return [
            _own(result) if copied or isinstance(result, list) else np.asarray(result)
            for result, copied in zip(results, self._copied, strict=True)
        ]

    def check(self, inputs: Sequence[Array]) -> None:
        """Raise SpecError unless number, dtypes and shapes of the inputs fit the Program."""
        types = [(array.dtype, array.shape) for array in inputs]
        if types == self._seen:
            return
        _check_inputs(self.program, inputs)
        self._seen = types

    def _add_place(self, error: Exception) -> None:
        """Note which operator failed, and where the user called it."""
        if sys.version_info < (3, 11):
            return
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code is self._function.__code__:
                operator = self._lines.get(trace.tb_lineno)
                if operator is not None:
                    error.add_note(f"in the operator {operator.name!r} of {operator.location}")
            trace = trace.tb_next


def _own(result: Any) -> Any:
    """A copy that shares no memory; a list of the Program stays a list."""
    if isinstance(result, list):
        return [np.array(entry) for entry in result]
    return np.array(result)


def compile_program(program: Program) -> Executable:
    """Compile a Program for NumPy."""
    return Executable(program)


def _compiled(name: str, source: str, namespace: dict[str, Any]) -> FunctionType:
    global _count
    _count += 1
    filename = f"<dy2st {name} {_count}>"
    exec(compile(source, filename, "exec"), namespace)
    # Tracebacks and debuggers show the generated lines.
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    function: FunctionType = namespace["run"]
    return function


def _may_share(variable: Variable, depth: int = 0) -> bool:
    """Whether the array may be, or look into, an input, a parameter or a constant."""
    maker = variable.maker
    if isinstance(maker, Block) or depth > 100:
        return True
    if maker.name in _VIEWS:
        return _may_share(maker.operands[0], depth + 1)
    return maker.name in ("constant", "cond", "while", "array_read", "array_pop")


# -- checking inputs --------------------------------------------------------------------------


def _check_inputs(program: Program, inputs: Sequence[Array]) -> None:
    if len(inputs) != len(program.inputs):
        names = ", ".join(f"`{v.name}`" for v in program.inputs)
        raise SpecError(
            f"{program.name}() takes {len(program.inputs)} tensors ({names}), not {len(inputs)}"
        )
    sizes: dict[Dim, tuple[int, str]] = {}
    for variable, array in zip(program.inputs, inputs, strict=True):
        _check_input(variable, array, sizes)
    known = {symbol: size for symbol, (size, _) in sizes.items()}
    for variable, array in zip(program.inputs, inputs, strict=True):
        for axis, wanted in enumerate(variable.tensor_type.shape):
            is_known = all(symbol in known for symbol in symbols(wanted))
            if is_known and evaluate(wanted, known) != array.shape[axis]:
                raise SpecError(
                    f"argument `{variable.name}`, axis {axis}: {array.shape[axis]}; must be "
                    f"{wanted} = {evaluate(wanted, known)}"
                )


def _check_input(variable: Variable, array: Array, sizes: dict[Dim, tuple[int, str]]) -> None:
    type: TensorType = variable.tensor_type
    if array.ndim != type.rank:
        raise SpecError(
            f"argument `{variable.name}` has {array.ndim} axes, shape {list(array.shape)}; the "
            f"Program takes {type.rank}: {list(type.shape)}"
        )
    if array.dtype != type.dtype:
        raise SpecError(
            f"argument `{variable.name}` has dtype {array.dtype}; the Program takes {type.dtype}: "
            "cast it"
        )
    for axis, (wanted, size) in enumerate(zip(type.shape, array.shape, strict=True)):
        place = f"argument `{variable.name}`, axis {axis}"
        if isinstance(wanted, int) and size != wanted:
            raise SpecError(f"{place}: {size}; the Program takes {wanted}")
        if isinstance(wanted, Dim) and is_symbol(wanted):
            _check_symbol(wanted, size, place, sizes)


def _check_symbol(symbol: Dim, size: int, place: str, sizes: dict[Dim, tuple[int, str]]) -> None:
    first, where = sizes.setdefault(symbol, (size, place))
    if first != size:
        raise SpecError(f"{place}: {size}; must equal {where}: {first} (both are `{symbol}`)")
    low, high = symbol.minimum, symbol.maximum
    if size < low or (high is not None and size > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise SpecError(f"{place}: {size}; `{symbol}` is {limits}")


__all__ = ["Executable", "compile_program"]
