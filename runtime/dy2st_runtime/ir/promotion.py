"""Completes what an operator is given, and decides dtypes, before it is recorded or run.

Integers beside floats follow NumPy's rules, or PaddlePaddle's; mixed precision computes in a short
float where users ask for it. The switches act on what users compute and trace: both are said in
casts in front of the same operators, so a Program means the same wherever it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ArgumentError, DTypeError, Dy2stError, NoTensor
from dy2st_runtime.ir.definition import REQUIRED, OperatorDefinition
from dy2st_runtime.ir.dispatch import F, active
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.sizes import fresh_symbols_from
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.types import ArrayType, DType, TensorType, is_differentiable
from dy2st_runtime.thread_state import ThreadState

# A Python number that becomes a tensor, and one that goes on behaving as a Python number.
SCALAR_DTYPES: dict[type, str] = {bool: "bool", int: "int64", float: "float32"}
COMPLEX = np.dtype("complex64")
"""What a Python complex number beside numbers becomes."""
NUMBER_DTYPES: dict[type, str] = {bool: "bool", int: "int64", float: "float64"}


def complete(definition: OperatorDefinition, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """All attributes of an operator in the order of its record; ArgumentError if they are wrong."""
    known = definition.attributes
    if attributes.keys() == known.keys():
        return {name: attributes[name] for name in known} if known else {}
    for name in attributes:
        if name not in known:
            raise ArgumentError(f"{definition.name} has no attribute {name!r}")
    full = {name: attributes.get(name, default) for name, default in known.items()}
    for name, value in full.items():
        if value is REQUIRED:
            raise ArgumentError(f"{definition.name} needs the attribute {name!r}")
    return full


def drop_missing(definition: OperatorDefinition, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs without optional ones that are not given (None at the end)."""
    names = definition.inputs
    while inputs and inputs[-1] is None and names[min(len(inputs), len(names)) - 1][-1] == "?":
        inputs = inputs[:-1]
    if len(inputs) == len(names):
        return inputs
    needed = sum(1 for name in names if name[-1] not in "?*")
    if len(inputs) < needed or (len(inputs) > len(names) and not definition.is_variadic):
        raise ArgumentError(f"{definition.name} takes ({', '.join(names)}), not {len(inputs)}")
    return inputs


def is_promoted(definition: OperatorDefinition, index: int) -> bool:
    """Whether an input is brought to the common dtype."""
    promote = definition.promote
    return promote if isinstance(promote, bool) else index in promote


def common_dtype(definition: OperatorDefinition, inputs: Sequence[Any]) -> DType | None:
    """The dtype that promoted inputs share: NumPy's rule, Python numbers and Dims being weak."""
    promote = definition.promote
    if not promote:
        return None
    promoted = inputs
    if isinstance(promote, tuple):
        promoted = [inputs[place] for place in promote if place < len(inputs)]
    dtypes = [_weak(value) for value in promoted]
    tensors = [one for one in dtypes if isinstance(one, np.dtype)]
    if not tensors:
        # No tensor stands beside these numbers of Python: they alone decide the dtype.
        kinds = [type(number) for number in dtypes]
        if complex in kinds:
            return COMPLEX
        table = NUMBER_DTYPES if all_numbers(inputs) else SCALAR_DTYPES
        return np.result_type(*[np.dtype(table[kind]) for kind in kinds])
    common: DType = tensors[0]
    if not common.isnative or tensors.count(common) != len(tensors):
        common = np.result_type(*tensors)
    # All real numbers yield to floats: NumPy is slow to say so, and knows nothing of bfloat16.
    yields = common.kind in "fV" and complex not in map(type, dtypes)
    if yields or len(tensors) == len(dtypes):
        return common
    return np.result_type(*dtypes)


def all_numbers(inputs: Sequence[Any]) -> bool:
    """Whether Python would compute with numbers here: one or more is traced, none a tensor."""
    traced = False
    for value in inputs:
        if isinstance(value, Variable):
            if value.number is None:
                return False
            traced = True
        elif isinstance(value, (Dim, Condition)):
            traced = True
        elif type(value) not in SCALAR_DTYPES:
            return False
    return traced


def _weak(value: Any) -> Any:
    """What np.result_type wants to see: a dtype, or a Python number that yields to dtypes."""
    if isinstance(value, Variable):
        return value.tensor_type.dtype if value.number is None else value.number(0)
    if isinstance(value, Tensor):
        return value.dtype
    if isinstance(value, Dim):
        return 0
    if isinstance(value, Condition):
        return False
    if type(value) in SCALAR_DTYPES or type(value) is complex:
        return value
    if isinstance(value, int):  # a member of an IntEnum
        return int(value)
    return as_array(value, None).dtype


def as_array(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """A NumPy array of a Python number, nested list or array; Python floats become float32."""
    if dtype is None and type(value) in SCALAR_DTYPES:
        dtype = np.dtype(SCALAR_DTYPES[type(value)])
    elif dtype is None and type(value) is complex:
        dtype = COMPLEX
    array = exact_array(value, dtype)
    if dtype is None and array.dtype.char in "dD" and _is_python(value):
        return array.astype("float32" if array.dtype.char == "d" else COMPLEX)
    return array


def exact_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """A NumPy array of a Python number, nested list or array, with all digits of Python's."""
    try:
        array = np.asarray(value, dtype)
    except OverflowError as error:
        if active() is None:
            raise
        raise ArgumentError(f"{value!r:.80} has more bits than an int of a Program") from error
    except ValueError as error:
        why = ": its lists differ in length" if "inhomogeneous" in str(error) else ""
        raise NoTensor(f"{value!r:.80} is not a tensor and cannot be made one{why}") from None
    if array.dtype.kind not in "fiubVc" or array.dtype.names:
        raise NoTensor(f"{value!r:.80} is not a tensor and cannot be made one")
    if array.dtype.char in "gG" and array.dtype.itemsize > np.dtype("d").itemsize:
        shorter = "float64" if array.dtype.char == "g" else "complex128"
        raise DTypeError(f"a tensor has no dtype {array.dtype}: give astype({shorter!r}) of it")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _is_python(data: Any) -> bool:
    """Whether nested lists end in Python numbers only."""
    if isinstance(data, (list, tuple)):
        return all(_is_python(entry) for entry in data)
    return not hasattr(data, "dtype")


Infer = Callable[[OperatorDefinition, Sequence[Any], Mapping[str, Any]], Sequence[Any]]

NUMPY, PADDLE = "numpy", "paddle"
FLOAT = np.dtype("float32")
"""What PaddlePaddle makes of integers that become floats."""

_of_all = [NUMPY]


class _OfThread(ThreadState):
    mode: str | None = None


_own = _OfThread()


def set_promotion(mode: str) -> None:
    """Let integers beside floats be as "numpy" or "paddle" has it, in all threads, from now on.

    "numpy": `int / int`, `sqrt(int)`, `mean(int)` and an integer tensor with a float give what
    NumPy 2 gives, float64 for int64. "paddle": they give float32, and an integer tensor and a
    float64 of NumPy yield to the dtype of a float tensor. A converted function has a Program for
    each.

    >>> dy2st.set_promotion("paddle")
    >>> dy2st.sqrt(dy2st.to_tensor([4])).dtype
    dtype('float32')
    >>> dy2st.set_promotion("numpy")
    >>> dy2st.sqrt(dy2st.to_tensor([4])).dtype
    dtype('float64')
    """
    _of_all[:] = [_checked(mode)]


def get_promotion() -> str:
    """The rule in force: "numpy" or "paddle".

    >>> dy2st.get_promotion()
    'numpy'
    """
    return _own.mode or _of_all[0]


@contextmanager
def promotion(mode: str) -> Iterator[None]:
    """Let a rule be in force in a `with`, in this thread: see `set_promotion`.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> with promotion("paddle"):
    ...     str((to_tensor([1, 2]) / 2).dtype)
    'float32'
    """
    before, _own.mode = _own.mode, _checked(mode)
    try:
        yield
    finally:
        _own.mode = before


def _checked(mode: str) -> str:
    if mode not in (NUMPY, PADDLE):
        raise ArgumentError(f"promotion is {NUMPY!r} or {PADDLE!r}, not {mode!r}")
    return mode


def is_paddles() -> bool:
    """Whether PaddlePaddle's rule is in force."""
    return (_own.mode or _of_all[0]) is PADDLE


def integers_beside(dtype: DType) -> DType:
    """What an integer tensor of a dtype becomes beside a Python float."""
    return FLOAT if is_paddles() else np.result_type(dtype, 0.5)


def as_paddle(
    definition: OperatorDefinition,
    inputs: tuple[Any, ...],
    attributes: Mapping[str, Any],
    infer: Infer,
) -> tuple[Any, ...]:
    """The inputs of an operator, integers cast to the float that PaddlePaddle makes of them.

    A float64 of NumPy is a float of Python to it, so `x / np.sqrt(n)` has the dtype of x.
    """
    if "dtype" in definition.attributes or all_numbers(inputs):
        return inputs
    if any(type(value) is np.float64 for value in inputs):
        inputs = tuple(
            float(value) if type(value) is np.float64 and _counts(definition, place) else value
            for place, value in enumerate(inputs)
        )
    # The float that promoted integer tensors stand beside, None if there is none.
    if not definition.promote:
        common = None
    else:
        values = [value for place, value in enumerate(inputs) if is_promoted(definition, place)]
        floats = [
            value.dtype for value in values if _is_tensor(value) and is_differentiable(value.dtype)
        ]
        if floats:
            common = np.result_type(*floats)
        else:
            # Whether it is a Python float, a traced one too, or a complex number.
            common = (
                FLOAT
                if any(
                    type(value) in (float, complex) or getattr(value, "number", None) is float
                    for value in values
                )
                else None
            )
    if common is None and _gives_floats(definition, inputs, attributes, infer):
        common = FLOAT
    if common is None:
        return inputs
    return tuple(
        F.cast(value, common) if _is_integer(value) and _counts(definition, place) else value
        for place, value in enumerate(inputs)
    )


def _counts(definition: OperatorDefinition, place: int) -> bool:
    return not definition.promote or is_promoted(definition, place)


def _gives_floats(
    definition: OperatorDefinition,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    infer: Infer,
) -> bool:
    """Whether an operator of integers gives floats, and not always float32."""
    if not inputs or not all(_is_integer(value) for value in inputs):
        return False
    # Asked about the very sizes, the shape rule requires nothing that the operator will not.
    dtypes = [value.dtype if _is_tensor(value) else np.dtype("int64") for value in inputs]
    if definition.promote:
        dtypes = [np.result_type(*dtypes)] * len(dtypes)
    shapes = [tuple(value.shape) if _is_tensor(value) else () for value in inputs]
    types = [TensorType(*each) for each in zip(dtypes, shapes, strict=True)]
    try:
        with fresh_symbols_from():
            results = infer(definition, types, attributes)
    except (Dy2stError, ValueError, TypeError, IndexError):  # the operator itself will say it
        return False
    first = results[0] if results else None
    return isinstance(first, TensorType) and first.is_floating and first.dtype != FLOAT


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) and getattr(value, "number", None) is None


def _is_integer(value: Any) -> bool:
    """Whether it is a tensor of integers or bools, or a number that stands for one."""
    if isinstance(value, Variable) and not isinstance(value.type, TensorType):
        return False
    return value.dtype.kind in "iub" if isinstance(value, Tensor) else type(value) in (int, bool)


LONG = np.dtype("float32")
_SHORT = ("float16", "bfloat16")


@dataclass(frozen=True)
class Autocast:
    """The settings that are in force.

    short      the short float.
    white      the operators that compute in it.
    black      those that compute in float32.
    others     what all others compute in: None is what their operands are, the widest of them.
    """

    level: str
    short: DType
    white: frozenset[str]
    black: frozenset[str]
    others: DType | None

    def dtype_of(self, name: str) -> DType | None:
        """What an operator computes in; None if its operands say it."""
        if name in self.white:
            return self.short
        return LONG if name in self.black else self.others


class _Casting(ThreadState):
    settings: Autocast | None = None


_casting = _Casting()


def autocast() -> Autocast | None:
    """The settings in force; None where mixed precision is not asked for."""
    return _casting.settings


class autocasting:
    """Let settings be in force in a `with`, in this thread."""

    def __init__(self, settings: Autocast | None):
        """Take them."""
        self._settings = settings
        self._outer: list[Autocast | None] = []

    def __enter__(self) -> None:
        """From now on."""
        self._outer.append(_casting.settings)
        _casting.settings = self._settings

    def __exit__(self, *_: object) -> None:
        """No more."""
        _casting.settings = self._outer.pop()


def cast_inputs(
    settings: Autocast, definition: OperatorDefinition, inputs: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The inputs of an operator in the dtype in which it is to compute."""
    wanted = settings.dtype_of(definition.name)
    if wanted is None or "dtype" in definition.attributes:  # it says what it gives
        return inputs
    return tuple(
        F.cast(one, wanted) if _is_cast(one) and one.dtype != wanted else one for one in inputs
    )


def _is_cast(value: Any) -> bool:
    """Whether it is a tensor of float32 or a short float."""
    if not isinstance(value, Tensor) or getattr(value, "number", None) is not None:
        return False
    if isinstance(getattr(value, "type", None), ArrayType):
        return False
    return value.dtype == LONG or value.dtype.name in _SHORT
