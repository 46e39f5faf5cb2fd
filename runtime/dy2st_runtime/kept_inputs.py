"""Inputs that a saved model keeps from call to call, beside its buffers.

A buffer is a tensor of one shape. What has another form from call to call, a cache that grows or a
list, is an input of the Program whose value of now lies among the arrays: a call takes it from
there, and puts the output in its place that the Program names as its new value. A list `x` is
stored as its length under `x`, and its entries as `x[0]`, `x[1]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.errors import ParameterMismatch
from dy2st_runtime.ir.program import Program, Variable
from dy2st_runtime.ir.structure import Output, flatten
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType, own_dtype
from dy2st_runtime.tensor import wrapped

Array = np.ndarray[Any, Any]


class ListOfTensors(list[Any]):
    """What stands for a list among the inputs of a Program."""

    stopped = stop_gradient = True

    @property
    def array(self) -> list[Any]:
        """The arrays, for an engine."""
        return [entry.array for entry in self]


def kept_inputs(
    program: Program, arrays: Mapping[str, Any], programs: Iterable[Program] = ()
) -> list[Variable]:
    """The inputs of a Program, one of some, that have a value among the arrays of a model.

    An array of a parameter or buffer is none of an input that is called like it.

    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"], name="x")])
    >>> [one.name for one in kept_inputs(double.main_program, {"x": np.ones(2)})]
    ['x']
    """
    state = {name for one in (program, *programs) for name in one.state}
    return [one for one in program.inputs if one.name in arrays and one.name not in state]


def array_names(programs: Sequence[Program], arrays: Mapping[str, Any]) -> list[str]:
    """The names of the arrays of the inputs that Programs keep.

    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"], name="x")])
    >>> array_names([double.main_program], {"x": 1, "x[0]": 2, "y": 3})
    ['x', 'x[0]']
    """
    kept = {one.name for program in programs for one in kept_inputs(program, arrays, programs)}
    return [name for name in arrays if name.partition("[")[0] in kept]


def as_arrays(name: str, value: Any) -> dict[str, Any]:
    """What is stored of an input: an array, or of a list its length and its entries.

    >>> as_arrays("x", [np.ones(2), np.ones(1)])
    {'x': array(2), 'x[0]': array([1., 1.]), 'x[1]': array([1.])}
    """
    if not isinstance(value, list):
        return {name: value}
    found: dict[str, Any] = {name: np.asarray(len(value), "int64")}
    for place, entry in enumerate(value):
        found.update(as_arrays(f"{name}[{place}]", entry))
    return found


def from_arrays(name: str, type: ValueType | None, arrays: Mapping[str, Any], where: Any) -> Any:
    """The value of an input that is kept; ParameterMismatch if the arrays do not fit its type.

    >>> from_arrays("x", ArrayType(None), as_arrays("x", []), "the file")
    []
    """
    array = arrays.get(name)
    if array is None:
        raise ParameterMismatch(f"{where} lacks {name!r}, an entry of a list that the model keeps")
    if not isinstance(type, ArrayType):
        if type is None or not _fits(type, array):
            raise ParameterMismatch(
                f"{where}: {name!r} has dtype {array.dtype} and shape {list(array.shape)}; the "
                f"Program keeps {type or 'nothing there'}"
            )
        return wrapped(np.asarray(array, own_dtype(array.dtype)))
    is_length = array.dtype == np.int64 and array.ndim == 0
    if not is_length or not 0 <= int(array) < len(arrays):
        raise ParameterMismatch(f"{where}: {name!r} is not the length of a list that it holds")
    entries = (f"{name}[{place}]" for place in range(int(array)))
    return ListOfTensors(from_arrays(entry, type.element, arrays, where) for entry in entries)


def _fits(type: TensorType, array: Any) -> bool:
    pairs = zip(type.shape, array.shape, strict=False)
    sizes = all(size == real for size, real in pairs if isinstance(size, int))
    return bool(type.dtype == array.dtype and type.rank == array.ndim and sizes)


def held(value: Any, is_given_away: bool) -> Any:
    """The value of an output as the next call takes it: a copy of what the caller gets, too.

    >>> y = dy2st.ones([2])
    >>> held(y, is_given_away=False) is y, held([y], is_given_away=True)[0] is y
    (True, False)
    """
    if isinstance(value, list):
        return ListOfTensors(held(entry, is_given_away) for entry in value)
    if value.node is not None:
        value = value.detach()
    return value.clone() if is_given_away else value


def results_of(program: Program) -> set[int]:
    """The outputs that a caller gets.

    >>> sorted(results_of(dy2st.to_static(lambda x: [x, x * 2]).get_concrete_program(
    ...     dy2st.ones([2])).main_program))
    [0, 1]
    """
    leaves, _ = flatten(program.structure, lambda entry: isinstance(entry, Output))
    return {leaf.index for leaf in leaves}


__all__ = [
    "ListOfTensors",
    "array_names",
    "as_arrays",
    "from_arrays",
    "held",
    "kept_inputs",
    "results_of",
]
