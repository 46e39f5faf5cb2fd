"""What makes tensors: of data, of arrays, of results; and the tensor that an optimizer trains."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy import ndarray

from dy2st_runtime import unique_name
from dy2st_runtime.autograd import Array
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.eager_tensor import EagerTensor, form_of, wrapped
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import F, stack
from dy2st_runtime.ir.location import warn_user, without_own_frames
from dy2st_runtime.ir.promotion import as_array, exact_array
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.traced_list import TracedList
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.ir.types import given_dtype


def _data_of_parameter(data: Any) -> Array:
    if isinstance(data, EagerTensor):
        return data.array
    if data is None:
        return np.zeros(0, np.float32)
    if not isinstance(data, np.ndarray):
        raise ArgumentError(
            f"a Parameter is made of a tensor or an array with data, not {data!r:.80}; "
            "create_parameter(shape, dtype) makes one of a shape"
        )
    return data


class Parameter(EagerTensor):
    """A tensor that an optimizer trains.

    It takes any attribute. These are asked for by optimizers:
    optimize_attr     `learning_rate` in it is a factor on the optimizer's.
    regularizer       what is added to the gradient, instead of the optimizer's weight decay.
    need_clip         whether the gradient is limited.
    do_model_average  whether a moving average of the model counts it.

    >>> weight = dy2st.Parameter(np.array([1.0, 2.0], "float32"))
    >>> optimizer = dy2st.optimizer.SGD(0.5, parameters=[weight])
    >>> (weight * weight).sum().backward()
    >>> optimizer.step()
    >>> weight.tolist(), weight.trainable
    ([0.0, 0.0], True)
    """

    regularizer: Any = None
    need_clip = True
    do_model_average = True
    is_distributed = False
    persistable = True
    # Whether a user chose the name: the others depend on what was made before.
    is_named = True

    def __init__(
        self,
        data: Any = None,
        requires_grad: bool = True,
        name: str = "",
        *,
        trainable: bool | None = None,
    ):
        """Of a tensor's data, or an array; needs gradients unless `requires_grad` is False.

        `trainable` is another name of `requires_grad`. ArgumentError if data is anything else.
        """
        needs = requires_grad if trainable is None else trainable
        super().__init__(_data_of_parameter(data), stop_gradient=not needs, name=name)
        self.optimize_attr: dict[str, Any] = {"learning_rate": 1.0}
        if not name and not isinstance(data, np.ndarray):
            self.name, self.is_named = unique_name.generate("parameter"), False

    @classmethod
    def from_tensor(cls, tensor: Any, **options: Any) -> Parameter:
        """A parameter with the data of a tensor; other options than its own are attributes.

        >>> weight = dy2st.Parameter.from_tensor(dy2st.ones([2]), name="scale", need_clip=False)
        >>> weight.name, weight.need_clip
        ('scale', False)
        """
        made = cls(tensor, trainable=options.pop("trainable", True), name=options.pop("name", ""))
        vars(made).update(options)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> EagerTensor:
        """A leaf with a copy of the data, and of what optimizers ask for."""
        copied = super().__deepcopy__(memo)
        vars(copied).update(copy.deepcopy(vars(self), memo))
        if not self.is_named:
            copied.name = unique_name.generate(f"{self.name}_deepcopy")
        return copied

    @property
    def trainable(self) -> bool:
        """Whether gradients are computed; the opposite of `stop_gradient`."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value

    @property
    def block(self) -> None:
        """None: what initialisers may be given beside a parameter, and leave alone.

        >>> dy2st.Parameter(np.ones(2)).block is None
        True
        """


@without_own_frames
def to_tensor(
    data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> EagerTensor:
    """A tensor with a copy of `data`: numbers, nested lists, arrays, tensors.

    Python floats become float32, ints int64; arrays keep their dtype. With `stop_gradient=False`
    gradients flow through.

    >>> dy2st.to_tensor([[1.0, 2.0]]), dy2st.to_tensor([1, 2]).dtype
    (Tensor(shape=[1, 2], dtype=float32, stop_gradient=True,
           [[1., 2.]]), dtype('int64'))
    """
    # The most frequent call, in which every step is felt.
    is_plain = type(data) is ndarray and dtype is None and not stack.interpreters
    if is_plain and data.dtype.char in "?bBhHiIlLqQefd" and data.dtype.isnative:
        return EagerTensor(data.__copy__(), stop_gradient)
    wanted = None if dtype is None else given_dtype(dtype)
    if _has_traced(data):
        # A copy, from which no gradient flows back; several are brought to one dtype as by stack.
        made: EagerTensor = F.detach(_stacked(data, wanted))
    elif (tracer := current_tracer()) is not None:
        array = _array_of(data, wanted)
        if array.size > 1:
            warn_user(
                f"to_tensor() of {array.size} numbers inside a converted function "
                "becomes a constant of the Program, not a parameter or buffer in the saved file. "
                "In a Layer write self.name = to_tensor(...) in __init__ and use self.name here; "
                "what changes from call to call give to the function as a tensor."
            )
        constant: Any = tracer.constant(array)
        made = constant
    else:
        return EagerTensor(_array_of(data, wanted), stop_gradient)
    made.stop_gradient = stop_gradient
    return made


def _array_of(data: Any, dtype: np.dtype[Any] | None) -> Array:
    """A copy of the data as an array."""
    if isinstance(data, EagerTensor):
        data = data.array
    if hasattr(data, "__array__"):
        return np.array(as_array(data, None), dtype=dtype)
    numbers = _numbers(data)
    return np.array(as_array(numbers, None) if dtype is None else exact_array(numbers), dtype)


def _stacked(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Tensors and sizes, in lists or alone, as one tensor."""
    data = data.of_python() if type(data) is TracedList else data
    if isinstance(data, Tensor):
        return F.assign(data if dtype is None else F.cast(data, dtype))
    if isinstance(data, (Dim, Condition)):
        return F.cast(data, dtype or ("int64" if isinstance(data, Dim) else "bool"))
    if not isinstance(data, (list, tuple)):
        return to_tensor(data, dtype)
    parts = [_stacked(entry, dtype) for entry in data]  # each loses nothing on the way
    if dtype is None and not _has_tensors(data) and any(part.dtype.kind == "f" for part in parts):
        dtype = np.dtype("float32")  # numbers of Python, a traced one among them
    stacked = F.stack(parts)
    return stacked if dtype is None else F.cast(stacked, dtype)


def _has_tensors(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(_has_tensors(entry) for entry in data)
    return isinstance(data, Tensor) and getattr(data, "number", None) is None


def _has_traced(data: Any) -> bool:
    if isinstance(data, (list, tuple)) and type(data) is not TracedList:
        return any(_has_traced(entry) for entry in data)
    return isinstance(data, (Tensor, Dim, Condition, TracedList))


@without_own_frames
def from_numpy(ndarray: Array) -> EagerTensor:
    """A tensor on the same memory as the array; do not change the array afterwards.

    >>> dy2st.from_numpy(np.array([1.0, 2.0])).dtype
    dtype('float64')
    """
    return EagerTensor(as_array(ndarray, None))


@without_own_frames
def from_dlpack(dlpack: Any, device: Any = None, copy: bool | None = None) -> EagerTensor:
    """A tensor on the same memory as any object that speaks DLPack, or on a copy of it.

    >>> dy2st.from_dlpack(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    array = np.from_dlpack(dlpack)
    return EagerTensor(array.copy() if copy else array)


def _numbers(data: Any) -> Any:
    """Nested lists with tensors among them as nested lists of numbers and arrays."""
    if isinstance(data, (list, tuple)):
        return [_numbers(entry) for entry in data]
    return data.array if isinstance(data, EagerTensor) else data


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, eager or traced.

    >>> dy2st.is_tensor(dy2st.ones([2])), dy2st.is_tensor(np.ones(2))
    (True, False)
    """
    return isinstance(x, Tensor)


__all__ = [
    "EagerTensor",
    "Parameter",
    "form_of",
    "from_dlpack",
    "from_numpy",
    "is_tensor",
    "to_tensor",
    "wrapped",
]
