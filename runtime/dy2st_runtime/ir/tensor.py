"""Tensor: the one public face of eager tensors and of traced Variables.

It holds the operators and attributes that Python's syntax needs. All other methods (`x.sum()`,
`x.reshape(...)`) are attached by `dy2st_runtime.ops` from the public functions of that name.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dy2st_runtime.dims import Condition, Dim, Size
from dy2st_runtime.dims import product as _product
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import SPELLED, F, apply
from dy2st_runtime.ir.location import hide_own_frames, without_own_frames
from dy2st_runtime.ir.operator_families import ALIASES
from dy2st_runtime.ir.types import DType, TensorType
from dy2st_runtime.lazy import Lazy

numpy_functions = Lazy("dy2st_runtime.array_api.numpy_functions")


_NUMBERS = (int, float, bool, Dim, Condition)


def _leaves_to(other: Any, method: str) -> bool:
    """Whether the right operand is of a user's class that has the reflected operator."""
    kind = type(other)
    if kind in _NUMBERS or isinstance(other, Tensor):
        return False
    return type(getattr(kind, method, None)) is FunctionType


def _operator(name: str, method: str, reflected: str) -> tuple[Any, Any]:
    """The method of an operator, and that of the right operand, which says it the other way round.

    Their errors show the line of the user alone, as those of functions do; for that they need no
    frame of their own.
    """

    def operate(self: Tensor, other: Any) -> Any:
        try:
            return NotImplemented if _leaves_to(other, reflected) else apply(name, self, other)
        except BaseException as error:  # goes on, without our frames
            hide_own_frames(error)
            raise

    def operate_reflected(self: Tensor, other: Any) -> Any:
        try:
            return apply(name, other, self)
        except BaseException as error:  # goes on, without our frames
            hide_own_frames(error)
            raise

    for made, of_python in ((operate, method), (operate_reflected, reflected)):
        made.__name__, made.__qualname__ = of_python, f"Tensor.{of_python}"
    return operate, operate_reflected


class Tensor:
    """An n-dimensional array of one element type: computed (eager) or to be computed (traced).

    `dy2st.to_tensor` makes one. Public functions of tensors are methods too: `x.sum(0)` is
    `dy2st.sum(x, 0)`. Python's operators work element by element, with broadcasting; `@` is matmul.

    >>> x = dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> (x @ x + 1).tolist(), (x[0] * 10).sum().item()
    ([[8.0, 11.0], [16.0, 23.0]], 30.0)
    >>> x.shape, x.ndim, x.size, x.dtype
    ([2, 2], 2, 4, dtype('float32'))
    """

    __slots__ = ()
    __hash__ = object.__hash__

    # NumPy arrays on the left hand side must leave the operation to us.
    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """What a ufunc of NumPy or SciPy gives: our function of that name, with its gradient."""
        raise NotImplementedError

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The functions of the array API standard on tensors: `dy2st.array_api`."""
        found = import_module("dy2st_runtime.array_api")
        if api_version not in (None, *found.API_VERSIONS):
            raise ArgumentError(
                f"the array API is that of version {found.__array_api_version__}, not {api_version}"
            )
        return found

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """What a function of NumPy gives: ours, with its gradient; else what NumPy makes of it."""
        made = numpy_functions.apply_function(function, args, kwargs)
        if made is not NotImplemented:
            return made
        return function._implementation(*args, **kwargs)

    @property
    def tensor_type(self) -> TensorType:
        """Element type and sizes in one, as Programs write them.

        >>> print(dy2st.zeros([2, 3]).tensor_type)
        float32[2, 3]
        """
        raise NotImplementedError

    @property
    def dtype(self) -> DType:
        """The element type, a NumPy dtype."""
        return self.tensor_type.dtype

    @property
    def shape(self) -> list[Size]:
        """The sizes, axis by axis; in a traced function an unknown size is a Dim."""
        return list(self.tensor_type.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.tensor_type.shape)

    @property
    def size(self) -> Size:
        """Number of elements."""
        shape = self.tensor_type.shape
        return _product(shape) if shape else 1

    @property
    def T(self) -> Tensor:
        """The tensor with its axes reversed: (n, m) -> (m, n).

        >>> dy2st.to_tensor([[1, 2, 3], [4, 5, 6]]).T.tolist()
        [[1, 4], [2, 5], [3, 6]]
        """
        return F.transpose(self, list(range(self.ndim))[::-1])  # type: ignore[no-any-return]

    @property
    @without_own_frames
    def mT(self) -> Tensor:
        """The tensor with its last two axes exchanged: (..., n, m) -> (..., m, n).

        >>> dy2st.zeros([5, 2, 3]).mT.shape
        [5, 3, 2]
        """
        return F.swapaxes(self, -1, -2)  # type: ignore[no-any-return]

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow through: the opposite of `stop_gradient`.

        >>> x = dy2st.to_tensor([1.0])
        >>> x.requires_grad = True
        >>> x.stop_gradient
        False
        """
        return self.stop_gradient is False

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.stop_gradient = not value  # type: ignore[misc]

    if TYPE_CHECKING:
        # Methods made from public functions, see `attach_methods`.
        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def _inplace_assign(self, other: Any) -> Any:
        """Become another tensor in place, as `assign(other, output=self)`; returns the tensor."""
        self.replace(lambda _: F.assign(other))
        return self

    @without_own_frames
    def __len__(self) -> int:
        """The size of the first axis."""
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return int(self.shape[0])

    __add__, __radd__ = _operator("add", "__add__", "__radd__")
    __sub__, __rsub__ = _operator("subtract", "__sub__", "__rsub__")
    __mul__, __rmul__ = _operator("multiply", "__mul__", "__rmul__")
    __truediv__, __rtruediv__ = _operator("divide", "__truediv__", "__rtruediv__")
    __floordiv__, __rfloordiv__ = _operator("floor_divide", "__floordiv__", "__rfloordiv__")
    __mod__, __rmod__ = _operator("remainder", "__mod__", "__rmod__")
    __pow__, __rpow__ = _operator("pow", "__pow__", "__rpow__")
    __matmul__, __rmatmul__ = _operator("matmul", "__matmul__", "__rmatmul__")
    __and__, __rand__ = _operator("bitwise_and", "__and__", "__rand__")
    __or__, __ror__ = _operator("bitwise_or", "__or__", "__ror__")
    __xor__, __rxor__ = _operator("bitwise_xor", "__xor__", "__rxor__")
    __lt__ = _operator("less_than", "__lt__", "__gt__")[0]
    __le__ = _operator("less_equal", "__le__", "__ge__")[0]
    __gt__ = _operator("greater_than", "__gt__", "__lt__")[0]
    __ge__ = _operator("greater_equal", "__ge__", "__le__")[0]

    @without_own_frames
    def __neg__(self) -> Any:
        return F.neg(self)

    def __pos__(self) -> Any:
        return self

    @without_own_frames
    def __abs__(self) -> Any:
        return F.abs(self)

    @without_own_frames
    def __round__(self, digits: int | None = None) -> Any:
        if not digits:
            return F.round(self)
        scale = 10.0**digits
        return F.round(self * scale) / scale

    @without_own_frames
    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    @without_own_frames
    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    @without_own_frames
    def __invert__(self) -> Any:
        return F.bitwise_not(self)

    @without_own_frames
    def __lshift__(self, other: Any) -> Any:
        if _leaves_to(other, "__rlshift__"):
            return NotImplemented
        return F.bitwise_left_shift(self, other)

    @without_own_frames
    def __rlshift__(self, other: Any) -> Any:
        return F.bitwise_left_shift(other, self)

    @without_own_frames
    def __rshift__(self, other: Any) -> Any:
        if _leaves_to(other, "__rrshift__"):
            return NotImplemented
        return F.bitwise_right_shift(self, other)

    @without_own_frames
    def __rrshift__(self, other: Any) -> Any:
        return F.bitwise_right_shift(other, self)

    @without_own_frames
    def __eq__(self, other: object) -> Any:
        if _leaves_to(other, "__eq__"):
            return NotImplemented
        return False if other is None else apply("equal", self, other)

    @without_own_frames
    def __ne__(self, other: object) -> Any:
        if _leaves_to(other, "__ne__"):
            return NotImplemented
        return True if other is None else apply("not_equal", self, other)

    @without_own_frames
    def __getitem__(self, index: Any) -> Any:
        return F.getitem(self, index)


def attach_methods(functions: dict[str, Callable[..., Any]], names: list[str]) -> None:
    """Make the named public functions methods of Tensor."""
    for name in names:
        assert name not in Tensor.__dict__, f"Tensor has {name!r} already"
        setattr(Tensor, name, functions[name])


class _LateMethod:
    """Stands on Tensor for a method of a family that is not loaded, and gives way to it."""

    def __init__(self, name: str, find: Callable[[str], Any]) -> None:
        self._name, self._find = name, find

    def __get__(self, tensor: Tensor | None, owner: type | None = None) -> Any:
        found = self._find(self._name)
        setattr(Tensor, self._name, found)
        return found if tensor is None else found.__get__(tensor)


def _function(name: str) -> Any:
    function = getattr(F, name)
    return SPELLED.get(ALIASES.get(name, name), function)


def attach_late_methods(names: list[str], find: Callable[[str], Any] = _function) -> None:
    """Give Tensor methods (or properties) that are looked up when one is asked for.

    `find` gives what has a name, by default the function; its family is loaded then.
    """
    for name in names:
        assert name not in Tensor.__dict__, f"Tensor has {name!r} already"
        setattr(Tensor, name, _LateMethod(name, find))
