"""Tensor, as users see it."""

import builtins
import numpy as np
from collections.abc import Callable, Iterator, Sequence
from dy2st_runtime.autograd import HookHandle
from dy2st_runtime.ir.types import DTypeLike, TensorType
from dy2st_runtime.place import Place
from types import EllipsisType
from typing import Any, Literal, TypeAlias, overload

TensorLike: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | complex
ShapeLike: TypeAlias = int | Sequence[int | Tensor | None] | Tensor
_One: TypeAlias = int | slice | None | EllipsisType | Tensor | np.ndarray[Any, Any] | list[Any]
Index: TypeAlias = _One | tuple[_One | tuple[int, ...], ...]
def attach_methods(functions: dict[str, Callable[..., Any]], names: list[str]) -> None: ...
def attach_late_methods(names: list[str], find: Callable[[str], Any] = ...) -> None: ...
class Tensor:
    """An n-dimensional array of one element type: computed, or to be computed in a trace."""
    @property
    def tensor_type(self) -> TensorType: ...
    @property
    def T(self) -> Tensor:
        """The tensor with its axes reversed: (n, m) -> (m, n)."""
    def abs(self, name: str | None = None) -> Tensor:
        """|x|, elementwise: (...,) -> (...,); the slope at 0 is 0."""
    def abs_(self, name: str | None = None) -> Tensor:
        """x becomes `abs` of x, in place: for all who hold it."""
    def acos(self, name: str | None = None) -> Tensor:
        """The arc cosine in radians, elementwise: (...,) -> (...,); NaN beyond -1 and 1."""
    def acos_(self, name: str | None = None) -> Tensor:
        """x becomes `acos` of x, in place: for all who hold it."""
    def acosh(self, name: str | None = None) -> Tensor:
        """The inverse of cosh, elementwise: (...,) -> (...,); NaN below 1."""
    def acosh_(self, name: str | None = None) -> Tensor:
        """x becomes `acosh` of x, in place: for all who hold it."""
    def add(self, y: TensorLike, name: str | None = None, alpha: TensorLike = 1) -> Tensor:
        """x + alpha * y, elementwise with broadcasting: (...,) + (...,) -> (...,)."""
    def add_(self, y: TensorLike, name: str | None = None, *, alpha: TensorLike = 1) -> Tensor:
        """x becomes `add` of x, in place: for all who hold it."""
    def add_n(self, name: str | None = None) -> Tensor:
        """The sum of tensors of one shape: a list of (...,) -> (...,)."""
    def addmm(self, x: TensorLike, y: TensorLike, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """beta * input + alpha * (x @ y): (n, m), (n, k), (k, m) -> (n, m)."""
    def addmm_(self, x: TensorLike, y: TensorLike, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """x becomes `addmm` of x, in place: for all who hold it."""
    def all(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """Whether all elements are true (not 0) along axes, all by default: bools, True of no elements."""
    def allclose(self, y: TensorLike, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False, name: str | None = None) -> Tensor:
        """Whether `isclose` holds for every element: a 0-d bool."""
    def amax(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The largest element along axes: `max` under another name."""
    def amin(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The smallest element along axes: `min` under another name."""
    def angle(self, name: str | None = None) -> Tensor:
        """The angle to the right half of the axis, in (-pi, pi], elementwise; NaN of NaN."""
    def any(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """Whether any element is true (not 0) along axes, all by default: bools, False of no elements."""
    def apply(self, func: Callable[[Any], Any]) -> Tensor:
        """func(x); refused where gradients flow, which would not see what `func` does in place."""
    def apply_(self, func: Callable[[Any], Any]) -> Tensor:
        """x becomes func(x); refused as `apply` is."""
    def argmax(self, axis: builtins.int | None = None, keepdim: builtins.bool = False, dtype: DTypeLike = 'int64', name: str | None = None) -> Tensor:
        """The index of the (first) largest element along an axis, or in the flattened tensor."""
    def argmin(self, axis: builtins.int | None = None, keepdim: builtins.bool = False, dtype: DTypeLike = 'int64', name: str | None = None) -> Tensor:
        """The index of the (first) smallest element along an axis, or in the flattened tensor."""
    def argsort(self, axis: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = False, name: str | None = None) -> Tensor:
        """The places of the elements in order along an axis; always stable, NaN the largest."""
    def argwhere(self) -> Tensor:
        """The places of the elements that are not 0: (...,) -> (count, rank), int64."""
    def as_complex(self, name: str | None = None) -> Tensor:
        """The parts along the last axis as one complex number: (..., 2) -> (...)."""
    def as_real(self, name: str | None = None) -> Tensor:
        """The parts of complex numbers along a new last axis: (...) -> (..., 2)."""
    def as_strided(self, shape: ShapeLike, stride: builtins.int | Sequence[builtins.int], offset: builtins.int = 0, name: str | None = None) -> Tensor:
        """Elements of the flattened x, `stride[i]` apart along axis i, from `offset` bytes on."""
    def asin(self, name: str | None = None) -> Tensor:
        """The arc sine in radians, elementwise: (...,) -> (...,); NaN beyond -1 and 1."""
    def asin_(self, name: str | None = None) -> Tensor:
        """x becomes `asin` of x, in place: for all who hold it."""
    def asinh(self, name: str | None = None) -> Tensor:
        """The inverse of sinh, elementwise: (...,) -> (...,)."""
    def asinh_(self, name: str | None = None) -> Tensor:
        """x becomes `asinh` of x, in place: for all who hold it."""
    def assign(self, output: Tensor | None = None) -> Tensor:
        """The same value as a tensor of its own; `output` is another tensor that becomes it."""
    def astype(self, dtype: DTypeLike) -> Tensor:
        """x in another dtype: `cast` under another name."""
    def atan(self, name: str | None = None) -> Tensor:
        """The arc tangent in radians, elementwise: (...,) -> (...,), between -pi/2 and pi/2."""
    def atan2(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The angle of the point (y, x) in radians, in [-pi, pi], elementwise with broadcasting."""
    def atan_(self, name: str | None = None) -> Tensor:
        """x becomes `atan` of x, in place: for all who hold it."""
    def atanh(self, name: str | None = None) -> Tensor:
        """The inverse of tanh, elementwise: (...,) -> (...,); inf at 1, NaN beyond."""
    def atanh_(self, name: str | None = None) -> Tensor:
        """x becomes `atanh` of x, in place: for all who hold it."""
    def atleast_1d(self, *, name: str | None = None) -> Tensor:
        """Tensors with at least one axis; a list of several."""
    def atleast_2d(self, *, name: str | None = None) -> Tensor:
        """Tensors with at least two axes, vectors as rows; a list of several."""
    def atleast_3d(self, *, name: str | None = None) -> Tensor:
        """Tensors with at least three axes: (n,) -> (1, n, 1), (n, m) -> (n, m, 1)."""
    def backward(self, grad_tensor: Tensor | None = None, retain_graph: builtins.bool = False) -> None:
        """Add the gradients of this tensor to `.grad` of the leaves behind it."""
    def baddbmm(self, x: TensorLike, y: TensorLike, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """beta * input + alpha * x @ y: (b, n, m), (b, n, k), (b, k, m) -> (b, n, m)."""
    def baddbmm_(self, x: TensorLike, y: TensorLike, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """x becomes `baddbmm` of x, in place: for all who hold it."""
    def bernoulli_(self, p: builtins.float = 0.5, name: str | None = None) -> Tensor:
        """x becomes 1 with probability p, else 0, element by element, in place: for all who hold it."""
    def bfloat16(self) -> Tensor:
        """x as bfloat16, by `cast`: (...,) -> (...,)."""
    def bincount(self, weights: TensorLike | None = None, minlength: TensorLike = 0, name: str | None = None) -> Tensor:
        """How often each integer from 0 on occurs in a vector, or the sum of the weights there."""
    def bitwise_and(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The bits that both integers have, elementwise with broadcasting; `and` of bools."""
    def bitwise_and_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `bitwise_and` of x, in place: for all who hold it."""
    def bitwise_invert(self, name: str | None = None) -> Tensor:
        """All bits of an integer changed, elementwise, -x - 1 if it has a sign; `not` of bools."""
    def bitwise_invert_(self, name: str | None = None) -> Tensor:
        """x becomes `bitwise_not` of x, in place: for all who hold it."""
    def bitwise_left_shift(self, y: TensorLike, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """x * 2**y of integers, without the bits that leave on the left: (...,), (...,) -> (...,)."""
    def bitwise_left_shift_(self, y: TensorLike, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """x becomes `bitwise_left_shift` of x, in place: for all who hold it."""
    def bitwise_not(self, name: str | None = None) -> Tensor:
        """All bits of an integer changed, elementwise, -x - 1 if it has a sign; `not` of bools."""
    def bitwise_not_(self, name: str | None = None) -> Tensor:
        """x becomes `bitwise_not` of x, in place: for all who hold it."""
    def bitwise_or(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The bits that one or both integers have, elementwise with broadcasting; `or` of bools."""
    def bitwise_or_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `bitwise_or` of x, in place: for all who hold it."""
    def bitwise_right_shift(self, y: TensorLike, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """floor(x / 2**y) of integers; without is_arithmetic zeros come in from the left."""
    def bitwise_right_shift_(self, y: TensorLike, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
        """x becomes `bitwise_right_shift` of x, in place: for all who hold it."""
    def bitwise_xor(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The bits that one of two integers has, elementwise with broadcasting; unequal bools."""
    def bitwise_xor_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `bitwise_xor` of x, in place: for all who hold it."""
    def block_diag(self, name: str | None = None) -> Tensor:
        """Matrices along a diagonal, with zeros around: (n, k), (m, l) -> (n + m, k + l)."""
    def bmm(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The matrix products of a batch: (b, n, k) @ (b, k, m) -> (b, n, m)."""
    def bool(self) -> Tensor:
        """x as bool, by `cast`: (...,) -> (...,)."""
    def broadcast_tensors(self, name: str | None = None) -> list[Tensor]:
        """All tensors repeated to the shape that they broadcast to: (n, 1), (m,) -> two of (n, m)."""
    @overload
    def broadcast_to(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """x repeated to a shape, by the rules of broadcasting: (m,) -> (n, m), (n, 1) -> (n, m)."""
    @overload
    def broadcast_to(self, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
        """x repeated to a shape, by the rules of broadcasting: (m,) -> (n, m), (n, 1) -> (n, m)."""
    def bucketize(self, sorted_sequence: TensorLike, out_int32: builtins.bool = False, right: builtins.bool = False, name: str | None = None) -> Tensor:
        """How many elements of a sorted vector lie before each element of x."""
    def byte(self) -> Tensor:
        """x as uint8, by `cast`: (...,) -> (...,)."""
    def cast(self, dtype: DTypeLike) -> Tensor:
        """x in another dtype; the same tensor if it has the dtype already."""
    def cast_(self, dtype: DTypeLike) -> Tensor:
        """x becomes `cast` of x, in place: for all who hold it."""
    def cauchy_(self, loc: TensorLike | Sequence[Any] = 0, scale: TensorLike | Sequence[Any] = 1, name: str | None = None) -> Tensor:
        """x becomes random numbers of the Cauchy distribution around `loc`, in place: for all who hold it."""
    def cdist(self, y: TensorLike, p: builtins.float = 2.0, compute_mode: str = 'use_mm_for_euclid_dist_if_necessary', name: str | None = None) -> Tensor:
        """The p-norms of the differences of all rows: (..., n, k), (..., m, k) -> (..., n, m)."""
    def cdouble(self) -> Tensor:
        """x as complex128, by `cast`: (...,) -> (...,)."""
    def ceil(self, name: str | None = None) -> Tensor:
        """The smallest integer that is not below x, elementwise: (...,) -> (...,), in the dtype of x."""
    def ceil_(self, name: str | None = None) -> Tensor:
        """x becomes `ceil` of x, in place: for all who hold it."""
    def cfloat(self) -> Tensor:
        """x as complex64, by `cast`: (...,) -> (...,)."""
    def char(self) -> Tensor:
        """x as int8, by `cast`: (...,) -> (...,)."""
    def cholesky(self, upper: builtins.bool = False, name: str | None = None) -> Tensor:
        """The lower triangular L with L @ L.T = x, or with `upper` U with U.T @ U = x."""
    def cholesky_inverse(self, upper: builtins.bool = False, name: str | None = None) -> Tensor:
        """The inverse of x @ x.T for a lower triangular x, or of x.T @ x with `upper`."""
    def cholesky_solve(self, y: TensorLike, upper: builtins.bool = False, name: str | None = None) -> Tensor:
        """z with y @ y.T @ z = x for a lower triangular y, or y.T @ y @ z = x with `upper`."""
    def chunk(self, chunks: builtins.int, axis: builtins.int | Sequence[builtins.int] = 0, name: str | None = None) -> list[Tensor]:
        """`chunks` equal parts along an axis: (2 * n, ...) -> two of (n, ...)."""
    def clamp(self, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
        """min(max(x, min), max), in the dtype of x: (...,) -> (...,); the slope at a limit is 1."""
    def clamp_(self, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
        """x becomes `clip` of x, in place: for all who hold it."""
    def clear_grad(self) -> None:
        """Forget the gradient: `.grad` is None again."""
    def clear_gradient(self, set_to_zero: builtins.bool = True) -> None:
        """Set the gradient to zero, or forget it; None stays None."""
    def clip(self, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
        """min(max(x, min), max), in the dtype of x: (...,) -> (...,); the slope at a limit is 1."""
    def clip_(self, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
        """x becomes `clip` of x, in place: for all who hold it."""
    def clone(self, name: str | None = None) -> Tensor:
        """The same value as a tensor of its own; gradients flow through."""
    def combinations(self, r: builtins.int = 2, with_replacement: builtins.bool = False, name: str | None = None) -> Tensor:
        """All choices of r elements of a vector, in order: (n,) -> (count, r)."""
    def complex128(self) -> Tensor:
        """x as complex128, by `cast`: (...,) -> (...,)."""
    def complex64(self) -> Tensor:
        """x as complex64, by `cast`: (...,) -> (...,)."""
    def concat(self, axis: builtins.int | Sequence[builtins.int] = 0, name: str | None = None) -> Tensor:
        """Tensors one after the other along an axis: (n, k), (m, k) -> (n + m, k)."""
    def cond(self, p: Any = None, name: str | None = None) -> Tensor:
        """The condition number of matrices."""
    def conj(self, name: str | None = None) -> Tensor:
        """The conjugate, elementwise; x, if it is real."""
    def contiguous(self) -> Tensor:
        """The tensor itself: its elements lie one after the other for whoever asks."""
    def copy_(self, other: TensorLike, blocking: builtins.bool = False) -> Tensor:
        """x becomes a copy of another tensor, broadcast to its shape and in its dtype, in place: for all who hold it."""
    def copysign(self, y: TensorLike, name: str | None = None) -> Tensor:
        """|x| with the sign of y, elementwise with broadcasting."""
    def copysign_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `copysign` of x, in place: for all who hold it."""
    def corrcoef(self, rowvar: builtins.bool = True, name: str | None = None) -> Tensor:
        """The coefficients of correlation of the rows (or columns): (n, k) -> (n, n)."""
    def cos(self, name: str | None = None) -> Tensor:
        """The cosine of radians, elementwise: (...,) -> (...,)."""
    def cos_(self, name: str | None = None) -> Tensor:
        """x becomes `cos` of x, in place: for all who hold it."""
    def cosh(self, name: str | None = None) -> Tensor:
        """The hyperbolic cosine (e**x + e**-x) / 2, elementwise: (...,) -> (...,)."""
    def cosh_(self, name: str | None = None) -> Tensor:
        """x becomes `cosh` of x, in place: for all who hold it."""
    def count_nonzero(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """How many elements are not 0 along axes, all by default: int64."""
    def cov(self, rowvar: builtins.bool = True, ddof: builtins.bool = True, fweights: TensorLike | None = None, aweights: TensorLike | None = None, name: str | None = None) -> Tensor:
        """The covariances of the rows (or columns): (n, k) -> (n, n), as `numpy.cov`."""
    def cpu(self) -> Tensor:
        """The tensor itself: it lies on the CPU."""
    def crop(self, shape: ShapeLike | None = None, offsets: Sequence[builtins.int | Tensor] | Tensor | None = None, name: str | None = None) -> Tensor:
        """The part of x of a shape that begins at `offsets`; -1 means all that is left."""
    def cross(self, y: TensorLike, axis: builtins.int = 9, name: str | None = None) -> Tensor:
        """The cross products along an axis of size 3: the first such axis, if none is given."""
    def cuda(self, device_id: Any = None, blocking: builtins.bool = True) -> Tensor:
        """The tensor itself, if jax finds that GPU: converted functions compute there."""
    def cummax(self, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> tuple[Tensor, Tensor]:
        """The maximum up to each place along an axis, and where it is; flattened without an axis."""
    def cummin(self, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> tuple[Tensor, Tensor]:
        """The minimum up to each place along an axis, and where it is; flattened without an axis."""
    def cumprod(self, dim: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """The product of the elements up to each place along an axis, or of the flattened tensor."""
    def cumprod_(self, dim: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """x becomes `cumprod` of x, in place: for all who hold it."""
    def cumsum(self, axis: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """The sum of the elements up to each place along an axis, or of the flattened tensor."""
    def cumsum_(self, axis: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """x becomes `cumsum` of x, in place: for all who hold it."""
    def cumulative_trapezoid(self, x: TensorLike | None = None, dx: builtins.float | None = None, axis: builtins.int = -1, name: str | None = None) -> Tensor:
        """The area under y up to each place but the first along an axis: (..., n) -> (..., n - 1)."""
    @property
    def data(self) -> Tensor:
        """The numbers without gradients: a tensor that shares them with this one."""
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def data_ptr(self) -> builtins.int:
        """The address of the first element."""
    def deg2rad(self, name: str | None = None) -> Tensor:
        """Degrees as radians: x * pi / 180."""
    def det(self, name: str | None = None) -> Tensor:
        """The determinant of matrices: (..., n, n) -> (...)."""
    def detach(self, name: str | None = None) -> Tensor:
        """The same value; gradients do not flow through."""
    def detach_(self) -> Tensor:
        """Let no gradient flow through from here on; the tensor itself."""
    @property
    def device(self) -> str:
        """The name of the device where the tensor lies."""
    def diag(self, offset: TensorLike = 0, padding_value: TensorLike = 0, name: str | None = None) -> Tensor:
        """A matrix with x on a diagonal and `padding_value` elsewhere, or the diagonal of a matrix."""
    def diag_embed(self, offset: TensorLike = 0, dim1: builtins.int = -2, dim2: builtins.int = -1) -> Tensor:
        """Matrices with the last axis on a diagonal and zeros around: (..., n) -> (..., n, n)."""
    def diagflat(self, offset: TensorLike = 0, name: str | None = None) -> Tensor:
        """A matrix with all elements of x on a diagonal: (n,) -> (n, n)."""
    def diagonal(self, offset: TensorLike = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None) -> Tensor:
        """The diagonal between two axes, as a new last axis: (n, n, ...) -> (..., n)."""
    def diagonal_scatter(self, y: TensorLike, offset: TensorLike = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None) -> Tensor:
        """x with y as the diagonal between two axes: (n, n), (n,) -> (n, n)."""
    def diff(self, n: builtins.int = 1, axis: builtins.int = -1, prepend: TensorLike | None = None, append: TensorLike | None = None, name: str | None = None) -> Tensor:
        """The differences of neighbours along an axis, n times over; x alone for n = 0."""
    def digamma(self, name: str | None = None) -> Tensor:
        """The derivative of `lgamma`, elementwise."""
    def digamma_(self, name: str | None = None) -> Tensor:
        """x becomes `digamma` of x, in place: for all who hold it."""
    def dim(self) -> builtins.int:
        """The number of axes."""
    def dist(self, y: TensorLike, p: builtins.float = 2, name: str | None = None) -> Tensor:
        """The p-norm of x - y, with broadcasting: a 0-d tensor."""
    def div(self, y: TensorLike, name: str | None = None, rounding_mode: str | None = None) -> Tensor:
        """x / y, elementwise with broadcasting; integers give a float."""
    def div_(self, y: TensorLike, name: str | None = None, rounding_mode: str | None = None) -> Tensor:
        """x becomes `divide` of x, in place: for all who hold it."""
    def divide(self, y: TensorLike, name: str | None = None, rounding_mode: str | None = None) -> Tensor:
        """x / y, elementwise with broadcasting; integers give a float."""
    def divide_(self, y: TensorLike, name: str | None = None, rounding_mode: str | None = None) -> Tensor:
        """x becomes `divide` of x, in place: for all who hold it."""
    def dot(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The sum of products along the last axis: (..., n), (..., n) -> (...)."""
    def double(self) -> Tensor:
        """x as float64, by `cast`: (...,) -> (...,)."""
    def dsplit(self, num_or_indices: builtins.int | Sequence[builtins.int] | Tensor, name: str | None = None) -> list[Tensor]:
        """`tensor_split` along the third axis: (n, m, 2 * k) -> two of (n, m, k)."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type, a NumPy dtype."""
    def eig(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The eigenvalues of square matrices, and their vectors of length 1 as columns."""
    def eigh(self, UPLO: str = 'L', name: str | None = None) -> tuple[Tensor, Tensor]:
        """The eigenvalues of symmetric matrices in order, and their vectors as columns."""
    def eigvals(self, name: str | None = None) -> Tensor:
        """The eigenvalues of square matrices, complex, in no order: (..., n, n) -> (..., n)."""
    def eigvalsh(self, UPLO: str = 'L', name: str | None = None) -> Tensor:
        """The eigenvalues of symmetric matrices in ascending order: (..., n, n) -> (..., n)."""
    def element_size(self) -> builtins.int:
        """The bytes of one element."""
    def elu_(self, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """x becomes `elu` of x, in place: for all who hold it."""
    def eq(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x == y, elementwise with broadcasting: bools."""
    def equal(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x == y, elementwise with broadcasting: bools."""
    def equal_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `equal` of x, in place: for all who hold it."""
    def equal_all(self, y: TensorLike, name: str | None = None) -> Tensor:
        """Whether two tensors have the same shape and elements: a 0-d bool tensor."""
    def erf(self, name: str | None = None) -> Tensor:
        """2 / sqrt(pi) * integral of exp(-t**2) from 0 to x, elementwise: (...,) -> (...,)."""
    def erf_(self, name: str | None = None) -> Tensor:
        """x becomes `erf` of x, in place: for all who hold it."""
    def erfinv(self, name: str | None = None) -> Tensor:
        """y with erf(y) = x, elementwise: inf at 1, NaN beyond."""
    def erfinv_(self, name: str | None = None) -> Tensor:
        """x becomes `erfinv` of x, in place: for all who hold it."""
    def exp(self, name: str | None = None) -> Tensor:
        """e**x, elementwise: (...,) -> (...,); integers give floats."""
    def exp_(self, name: str | None = None) -> Tensor:
        """x becomes `exp` of x, in place: for all who hold it."""
    @overload
    def expand(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """x repeated to a shape; -1 keeps the size of x."""
    @overload
    def expand(self, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
        """x repeated to a shape; -1 keeps the size of x."""
    def expand_as(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x repeated to the shape of y: (m,), (n, m) -> (n, m)."""
    def expm1(self, name: str | None = None) -> Tensor:
        """e**x - 1, elementwise: (...,) -> (...,); exact near 0, where exp(x) - 1 is not."""
    def expm1_(self, name: str | None = None) -> Tensor:
        """x becomes `expm1` of x, in place: for all who hold it."""
    def exponential_(self, lam: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """x becomes random numbers of the density lam * exp(-lam * x), in place: for all who hold it."""
    def fill_(self, value: TensorLike) -> Tensor:
        """x becomes one number everywhere, in place: for all who hold it."""
    def fill_diagonal_(self, value: TensorLike, offset: builtins.int = 0, wrap: builtins.bool = False, name: str | None = None) -> Tensor:
        """x becomes itself with one number on the diagonal of the matrix, in place: for all who hold it."""
    def fill_diagonal_tensor(self, y: TensorLike, offset: TensorLike = 0, dim1: builtins.int = 0, dim2: builtins.int = 1, name: str | None = None) -> Tensor:
        """x with y as the diagonal between two axes: (n, n), (n,) -> (n, n)."""
    def fill_diagonal_tensor_(self, y: TensorLike, offset: TensorLike = 0, dim1: builtins.int = 0, dim2: builtins.int = 1, name: str | None = None) -> Tensor:
        """x becomes `fill_diagonal_tensor` of x, in place: for all who hold it."""
    def flatten(self, start_axis: builtins.int = 0, stop_axis: builtins.int = -1, name: str | None = None) -> Tensor:
        """The axes from start_axis to stop_axis as one: (n, k, m) -> (n, k * m) for 1 and -1."""
    def flatten_(self, start_axis: builtins.int = 0, stop_axis: builtins.int = -1, name: str | None = None) -> Tensor:
        """x becomes `flatten` of x, in place: for all who hold it."""
    def flip(self, axis: builtins.int | Sequence[builtins.int] | None, name: str | None = None) -> Tensor:
        """The elements along axes in reverse order: (..., n, ...) -> (..., n, ...)."""
    def float(self) -> Tensor:
        """x as float32, by `cast`: (...,) -> (...,)."""
    def float16(self) -> Tensor:
        """x as float16, by `cast`: (...,) -> (...,)."""
    def float32(self) -> Tensor:
        """x as float32, by `cast`: (...,) -> (...,)."""
    def float64(self) -> Tensor:
        """x as float64, by `cast`: (...,) -> (...,)."""
    def floor(self, name: str | None = None) -> Tensor:
        """The largest integer that is not above x, elementwise: (...,) -> (...,), in the dtype of x."""
    def floor_(self, name: str | None = None) -> Tensor:
        """x becomes `floor` of x, in place: for all who hold it."""
    def floor_divide(self, y: TensorLike, name: str | None = None) -> Tensor:
        """floor(x / y), elementwise with broadcasting, in the dtype of the operands."""
    def floor_divide_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `floor_divide` of x, in place: for all who hold it."""
    def floor_mod(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x - floor(x / y) * y, elementwise with broadcasting: has the sign of y, as in Python."""
    def floor_mod_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `remainder` of x, in place: for all who hold it."""
    def fmax(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The larger one, elementwise; the other one where one is NaN, the first of equal ones."""
    def fmin(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The smaller one, elementwise; the other one where one is NaN, the first of equal ones."""
    def frac(self, name: str | None = None) -> Tensor:
        """x without its whole part: x - trunc(x)."""
    def frac_(self, name: str | None = None) -> Tensor:
        """x becomes `frac` of x, in place: for all who hold it."""
    def frexp(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """m and e with x = m * 2**e and 0.5 <= |m| < 1; both have the dtype of x."""
    def gammainc(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The integral of t**(x-1) * exp(-t) from 0 to y, divided by gamma(x); elementwise."""
    def gammainc_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `gammainc` of x, in place: for all who hold it."""
    def gammaincc(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The integral of t**(x-1) * exp(-t) from y to inf, divided by gamma(x); elementwise."""
    def gammaincc_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `gammaincc` of x, in place: for all who hold it."""
    def gammaln(self, name: str | None = None) -> Tensor:
        """The logarithm of |gamma(x)|, elementwise; inf at 0, -1, -2, ..."""
    def gammaln_(self, name: str | None = None) -> Tensor:
        """x becomes `lgamma` of x, in place: for all who hold it."""
    def gather(self, index: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, name: str | None = None) -> Tensor:
        """The slices of x at the places `index` along an axis: (n, ...), (m,) -> (m, ...)."""
    def gather_nd(self, index: TensorLike, name: str | None = None) -> Tensor:
        """x[tuple(index[..., :])]: the last axis of `index` names a place along the first axes of x."""
    def gcd(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The greatest common divisor of integers, elementwise with broadcasting."""
    def gcd_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `gcd` of x, in place: for all who hold it."""
    def ge(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x >= y, elementwise with broadcasting: bools."""
    def geometric_(self, probs: TensorLike | Sequence[Any], name: str | None = None) -> Tensor:
        """x becomes how many tries the first success takes, each of probability `probs`, in place: for all who hold it."""
    def get_device(self) -> builtins.int:
        """The number of the GPU, -1 for the CPU."""
    def get_strides(self, dim: builtins.int | None = None) -> Any:
        """How many elements lie between neighbours along an axis, or along each."""
    def get_tensor(self) -> Tensor:
        """The tensor itself."""
    @property
    def grad(self) -> Tensor:
        """The gradient that `backward` has summed up, None before."""
    @grad.setter
    def grad(self, value: Tensor) -> None: ...
    @property
    def grad_fn(self) -> Any:
        """What the tape has of the operator that made the tensor, None for leaves."""
    def gradient(self) -> Any:
        """The gradient as a NumPy array, None before `backward`."""
    def greater(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x > y, elementwise with broadcasting: bools."""
    def greater_equal(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x >= y, elementwise with broadcasting: bools."""
    def greater_equal_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `greater_equal` of x, in place: for all who hold it."""
    def greater_than(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x > y, elementwise with broadcasting: bools."""
    def greater_than_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `greater_than` of x, in place: for all who hold it."""
    def gt(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x > y, elementwise with broadcasting: bools."""
    def half(self) -> Tensor:
        """x as float16, by `cast`: (...,) -> (...,)."""
    def hardtanh_(self, min: builtins.float = -1.0, max: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """x becomes `hardtanh` of x, in place: for all who hold it."""
    def heaviside(self, y: TensorLike, name: str | None = None) -> Tensor:
        """0 where x is below 0, y where x is 0, 1 above; NaN of NaN."""
    def histogram(self, bins: builtins.int = 100, min: builtins.float = 0.0, max: builtins.float = 0.0, weight: TensorLike | None = None, density: builtins.bool = False, name: str | None = None) -> Tensor:
        """How many elements lie in each of `bins` equal bins from min to max; int64 without weights."""
    def histogram_bin_edges(self, bins: builtins.int = 100, min: builtins.float = 0.0, max: builtins.float = 0.0, name: str | None = None) -> Tensor:
        """The ends of the bins that `histogram` makes: (bins + 1,), float32."""
    def householder_product(self, tau: TensorLike, name: str | None = None) -> Tensor:
        """The first columns of H1 @ H2 @ ..., reflections at the columns of x: (..., n, m)."""
    def hsplit(self, num_or_indices: builtins.int | Sequence[builtins.int] | Tensor, name: str | None = None) -> list[Tensor]:
        """`tensor_split` along the second axis, or along the only one: (n, 2 * m) -> two of (n, m)."""
    def hypot(self, y: TensorLike, name: str | None = None) -> Tensor:
        """sqrt(x**2 + y**2), elementwise with broadcasting."""
    def hypot_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `hypot` of x, in place: for all who hold it."""
    def i0(self, name: str | None = None) -> Tensor:
        """The modified Bessel function of the first kind of order 0, elementwise."""
    def i0_(self, name: str | None = None) -> Tensor:
        """x becomes `i0` of x, in place: for all who hold it."""
    def i0e(self, name: str | None = None) -> Tensor:
        """exp(-|x|) * i0(x), elementwise."""
    def i1(self, name: str | None = None) -> Tensor:
        """The modified Bessel function of the first kind of order 1, elementwise."""
    def i1e(self, name: str | None = None) -> Tensor:
        """exp(-|x|) * i1(x), elementwise."""
    def imag(self, name: str | None = None) -> Tensor:
        """The imaginary part, elementwise; 0 of real numbers."""
    def increment(self, value: builtins.float = 1.0, name: str | None = None) -> Tensor:
        """x + value in the dtype of x: (...,) -> (...,)."""
    def index_add(self, index: TensorLike, axis: builtins.int, value: TensorLike, alpha: TensorLike = 1, name: str | None = None) -> Tensor:
        """x with `alpha * value` added to its slices at the places `index` along an axis."""
    def index_add_(self, index: TensorLike, axis: builtins.int, value: TensorLike, alpha: TensorLike = 1, name: str | None = None) -> Tensor:
        """x becomes `index_add` of x, in place: for all who hold it."""
    def index_fill(self, index: TensorLike, axis: builtins.int, value: TensorLike, name: str | None = None) -> Tensor:
        """x with one number in its slices at the places `index` along an axis."""
    def index_fill_(self, index: TensorLike, axis: builtins.int, value: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `index_fill` of x, in place: for all who hold it."""
    def index_put(self, indices: Sequence[Tensor], value: TensorLike, accumulate: builtins.bool = False, name: str | None = None) -> Tensor:
        """x[indices] = value as a new tensor; added instead with `accumulate`."""
    def index_put_(self, indices: Sequence[Tensor], value: TensorLike, accumulate: builtins.bool = False, name: str | None = None) -> Tensor:
        """x becomes `index_put` of x, in place: for all who hold it."""
    def index_sample(self, index: TensorLike) -> Tensor:
        """x[i, index[i, j]]: (n, k), (n, m) -> (n, m)."""
    def index_select(self, index: TensorLike, axis: builtins.int = 0, name: str | None = None) -> Tensor:
        """The slices of x at the places `index` along an axis: (n, ...), (m,) -> (m, ...)."""
    def inner(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The sums of products along the last axes: (..., n), (*, n) -> (..., *)."""
    def int(self) -> Tensor:
        """x as int32, by `cast`: (...,) -> (...,)."""
    def int16(self) -> Tensor:
        """x as int16, by `cast`: (...,) -> (...,)."""
    def int32(self) -> Tensor:
        """x as int32, by `cast`: (...,) -> (...,)."""
    def int64(self) -> Tensor:
        """x as int64, by `cast`: (...,) -> (...,)."""
    def int8(self) -> Tensor:
        """x as int8, by `cast`: (...,) -> (...,)."""
    def inverse(self, name: str | None = None) -> Tensor:
        """The inverse of matrices: (..., n, n) -> (..., n, n); LinAlgError if one has none."""
    def is_complex(self) -> builtins.bool:
        """Whether the elements are complex numbers."""
    def is_contiguous(self) -> builtins.bool:
        """True: elements lie one after the other for whoever asks."""
    @property
    def is_cuda(self) -> builtins.bool:
        """False: there is no GPU."""
    def is_dense(self) -> builtins.bool:
        """Whether all elements are kept: True."""
    def is_dist(self) -> builtins.bool:
        """Whether the tensor lies on a mesh of devices."""
    def is_empty(self, name: str | None = None) -> Tensor:
        """Whether there are no elements: a 0-d bool tensor."""
    def is_floating_point(self) -> builtins.bool:
        """Whether the dtype is a float."""
    def is_integer(self) -> builtins.bool:
        """Whether the dtype is an integer."""
    @property
    def is_leaf(self) -> builtins.bool:
        """Whether no operator that is recorded made the tensor, or no gradient flows through."""
    def is_same_shape(self, y: TensorLike) -> builtins.bool:
        """Whether two tensors have the same sizes."""
    def is_selected_rows(self) -> builtins.bool:
        """Whether only some rows are kept: False."""
    def is_sparse(self) -> builtins.bool:
        """Whether only elements that are not 0 are kept: False."""
    def is_sparse_coo(self) -> builtins.bool:
        """Whether only elements that are not 0 are kept, with their places: False."""
    def is_sparse_csr(self) -> builtins.bool:
        """Whether only elements that are not 0 are kept, row by row: False."""
    def is_tensor(self) -> builtins.bool:
        """True: any tensor is one."""
    def isclose(self, y: TensorLike, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False, name: str | None = None) -> Tensor:
        """|x - y| <= atol + rtol * |y|, elementwise; an infinity is close to itself alone."""
    def isfinite(self, name: str | None = None) -> Tensor:
        """Whether x is neither infinite nor NaN, elementwise: bools."""
    def isin(self, test_x: TensorLike, assume_unique: builtins.bool = False, invert: builtins.bool = False, name: str | None = None) -> Tensor:
        """Whether each element is one of those of `test_x`, or with `invert` whether it is none."""
    def isinf(self, name: str | None = None) -> Tensor:
        """Whether x is infinite, elementwise: bools."""
    def isnan(self, name: str | None = None) -> Tensor:
        """Whether x is not a number, elementwise: bools."""
    def isneginf(self, name: str | None = None) -> Tensor:
        """Whether an element is -inf: (...,) -> (...,), bool."""
    def isposinf(self, name: str | None = None) -> Tensor:
        """Whether an element is inf: (...,) -> (...,), bool."""
    def isreal(self, name: str | None = None) -> Tensor:
        """Whether the imaginary part of an element is 0: (...,) -> (...,), bool."""
    def item(self, *index: builtins.int) -> Any:
        """The one element, or the one at `index`, as a Python number."""
    @property
    def itemsize(self) -> builtins.int:
        """The bytes of one element."""
    def kron(self, y: TensorLike, name: str | None = None) -> Tensor:
        """Every element of x times all of y: (n, m), (k, l) -> (n * k, m * l)."""
    def kthvalue(self, k: builtins.int, axis: builtins.int | None = None, keepdim: builtins.bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The k-th smallest element along an axis (k from 1), and its place."""
    def lcm(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The least common multiple of integers, elementwise with broadcasting."""
    def lcm_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `lcm` of x, in place: for all who hold it."""
    def ldexp(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x * 2**y, elementwise with broadcasting."""
    def ldexp_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `ldexp` of x, in place: for all who hold it."""
    def le(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x <= y, elementwise with broadcasting: bools."""
    def leaky_relu_(self, negative_slope: builtins.float = 0.01, name: str | None = None) -> Tensor:
        """x becomes `leaky_relu` of x, in place: for all who hold it."""
    def lerp(self, y: TensorLike, weight: TensorLike, name: str | None = None) -> Tensor:
        """x + weight * (y - x), and exactly y where the weight is 1: (...,), (...,), (...,) -> (...,)."""
    def lerp_(self, y: TensorLike, weight: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `lerp` of x, in place: for all who hold it."""
    def less(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x < y, elementwise with broadcasting: bools."""
    def less_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `less_than` of x, in place: for all who hold it."""
    def less_equal(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x <= y, elementwise with broadcasting: bools."""
    def less_equal_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `less_equal` of x, in place: for all who hold it."""
    def less_than(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x < y, elementwise with broadcasting: bools."""
    def less_than_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `less_than` of x, in place: for all who hold it."""
    def lgamma(self, name: str | None = None) -> Tensor:
        """The logarithm of |gamma(x)|, elementwise; inf at 0, -1, -2, ..."""
    def lgamma_(self, name: str | None = None) -> Tensor:
        """x becomes `lgamma` of x, in place: for all who hold it."""
    def log(self, name: str | None = None) -> Tensor:
        """The natural logarithm, elementwise: (...,) -> (...,); -inf at 0, NaN below."""
    def log10(self, name: str | None = None) -> Tensor:
        """The logarithm to base 10, elementwise: (...,) -> (...,)."""
    def log10_(self, name: str | None = None) -> Tensor:
        """x becomes `log10` of x, in place: for all who hold it."""
    def log1p(self, name: str | None = None) -> Tensor:
        """log(1 + x), elementwise: (...,) -> (...,); exact near 0, where 1 + x is not."""
    def log1p_(self, name: str | None = None) -> Tensor:
        """x becomes `log1p` of x, in place: for all who hold it."""
    def log2(self, name: str | None = None) -> Tensor:
        """The logarithm to base 2, elementwise: (...,) -> (...,)."""
    def log2_(self, name: str | None = None) -> Tensor:
        """x becomes `log2` of x, in place: for all who hold it."""
    def log_(self, name: str | None = None) -> Tensor:
        """x becomes `log` of x, in place: for all who hold it."""
    def log_normal_(self, mean: TensorLike = 1.0, std: TensorLike = 2.0, name: str | None = None) -> Tensor:
        """x becomes exp of normal random numbers, in place: for all who hold it."""
    def logaddexp(self, y: TensorLike, name: str | None = None) -> Tensor:
        """log(exp(x) + exp(y)) without overflow, elementwise with broadcasting."""
    def logcumsumexp(self, axis: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """log of the sum of exp(x) up to each place along an axis, without overflow."""
    def logical_and(self, y: TensorLike, name: str | None = None) -> Tensor:
        """Whether both are true (not 0), elementwise with broadcasting."""
    def logical_and_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `logical_and` of x, in place: for all who hold it."""
    def logical_not(self, name: str | None = None) -> Tensor:
        """Whether x is false (0), elementwise: bools."""
    def logical_not_(self, name: str | None = None) -> Tensor:
        """x becomes `logical_not` of x, in place: for all who hold it."""
    def logical_or(self, y: TensorLike, name: str | None = None) -> Tensor:
        """Whether one or both are true (not 0), elementwise with broadcasting."""
    def logical_or_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `logical_or` of x, in place: for all who hold it."""
    def logical_xor(self, y: TensorLike, name: str | None = None) -> Tensor:
        """Whether exactly one is true (not 0), elementwise with broadcasting."""
    def logical_xor_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `logical_xor` of x, in place: for all who hold it."""
    def logit(self, eps: builtins.float | None = None, name: str | None = None) -> Tensor:
        """log(x / (1 - x)); x is limited to [eps, 1 - eps] first if eps is given."""
    def logit_(self, eps: builtins.float | None = None, name: str | None = None) -> Tensor:
        """x becomes `logit` of x, in place: for all who hold it."""
    def logsumexp(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """log(sum(exp(x))) along axes, all by default; without overflow."""
    def long(self) -> Tensor:
        """x as int64, by `cast`: (...,) -> (...,)."""
    def lstsq(self, y: TensorLike, rcond: builtins.float | None = None, driver: str | None = None, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """z with the least |x @ z - y|, the squared distances, the rank, the singular values."""
    def lt(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x < y, elementwise with broadcasting: bools."""
    @overload
    def lu(self, pivot: builtins.bool = True, get_infos: Literal[False] = False, name: str | None = None) -> tuple[Tensor, Tensor]:
        """L below the diagonal and U in one, with x = P @ L @ U, and the rows exchanged (from 1)."""
    @overload
    def lu(self, pivot: builtins.bool = True, *, get_infos: Literal[True], name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """L below the diagonal and U in one, with x = P @ L @ U, and the rows exchanged (from 1)."""
    def lu_unpack(self, y: TensorLike, unpack_ludata: builtins.bool = True, unpack_pivots: builtins.bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """P, L and U with P @ L @ U = the matrix of which `lu` gave x and y; None of what is not asked for."""
    @property
    def mT(self) -> Tensor:
        """The tensor with its last two axes exchanged: (..., n, m) -> (..., m, n)."""
    def masked_fill(self, mask: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
        """x with `value` where the mask is true, with broadcasting: (...,), (...,), () -> (...,)."""
    def masked_fill_(self, mask: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `masked_fill` of x, in place: for all who hold it."""
    def masked_scatter(self, mask: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
        """x with the elements of `value`, in order, where the mask is true; both broadcast."""
    def masked_scatter_(self, mask: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `masked_scatter` of x, in place: for all who hold it."""
    def masked_select(self, mask: TensorLike, name: str | None = None) -> Tensor:
        """The elements of x where the mask is true, as a vector; both broadcast."""
    def matmul(self, y: TensorLike, transpose_x: builtins.bool = False, transpose_y: builtins.bool = False, name: str | None = None) -> Tensor:
        """x @ y, batches broadcast: (..., n, k) @ (..., k, m) -> (..., n, m)."""
    def matrix_power(self, n: builtins.int, name: str | None = None) -> Tensor:
        """x @ x @ ..., n times; of the inverse for n below 0: (..., n, n) -> (..., n, n)."""
    def matrix_rank(self, tol: builtins.float | Tensor | None = None, hermitian: builtins.bool = False, atol: builtins.float | Tensor | None = None, rtol: builtins.float | Tensor | None = None, name: str | None = None) -> Tensor:
        """How many singular values are above a tolerance: (..., n, m) -> (...), int64."""
    def matrix_transpose(self, name: str | None = None) -> Tensor:
        """The last two axes exchanged: (..., n, m) -> (..., m, n)."""
    def max(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The largest element along axes, all by default; equal ones share the gradient."""
    def maximum(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The larger of x and y, elementwise with broadcasting; equal ones share the gradient."""
    def mean(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None, dtype: DTypeLike | None = None) -> Tensor:
        """The mean along axes, all by default; of integers a float."""
    def median(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, mode: str = 'avg', name: str | None = None) -> Tensor:
        """The element in the middle along an axis; of two the mean, or with mode 'min' the smaller."""
    def min(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The smallest element along axes, all by default; equal ones share the gradient."""
    def minimum(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The smaller of x and y, elementwise with broadcasting; equal ones share the gradient."""
    def mm(self, mat2: TensorLike, name: str | None = None) -> Tensor:
        """(n, k) @ (k, m) -> (n, m): `matmul` under another name."""
    def mod(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x - floor(x / y) * y: `remainder` under another name."""
    def mod_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `remainder` of x, in place: for all who hold it."""
    def mode(self, axis: builtins.int = -1, keepdim: builtins.bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The most frequent element along an axis (the smallest of several), and its last place."""
    def moveaxis(self, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int], name: str | None = None) -> Tensor:
        """The axes `source` at the places `destination`, the others in order."""
    def msort(self) -> Tensor:
        """The elements in order along the first axis: (n, ...) -> (n, ...)."""
    def mul(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x * y, elementwise with broadcasting: (...,) * (...,) -> (...,)."""
    def mul_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `multiply` of x, in place: for all who hold it."""
    def multi_dot(self, name: str | None = None) -> Tensor:
        """The product of several matrices; the first and the last may be vectors."""
    def multigammaln(self, p: builtins.int, name: str | None = None) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension p, elementwise."""
    def multigammaln_(self, p: builtins.int, name: str | None = None) -> Tensor:
        """x becomes `multigammaln` of x, in place: for all who hold it."""
    def multinomial(self, num_samples: TensorLike = 1, replacement: builtins.bool = False, name: str | None = None) -> Tensor:
        """Indices drawn with probabilities in proportion to x: (..., n) -> (..., num_samples)."""
    def multiplex(self, index: TensorLike, name: str | None = None) -> Tensor:
        """Row i of the tensor that index[i] chooses: several of (n, ...), (n, 1) -> (n, ...)."""
    def multiply(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x * y, elementwise with broadcasting: (...,) * (...,) -> (...,)."""
    def multiply_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `multiply` of x, in place: for all who hold it."""
    def mv(self, vec: TensorLike, name: str | None = None) -> Tensor:
        """A matrix times a vector: (n, k) @ (k,) -> (n,)."""
    name: str
    def nan_to_num(self, nan: builtins.float = 0.0, posinf: builtins.float | None = None, neginf: builtins.float | None = None, name: str | None = None) -> Tensor:
        """x with numbers in place of NaN, inf and -inf: the largest of the dtype if none is given."""
    def nan_to_num_(self, nan: builtins.float = 0.0, posinf: builtins.float | None = None, neginf: builtins.float | None = None, name: str | None = None) -> Tensor:
        """x becomes `nan_to_num` of x, in place: for all who hold it."""
    def nanmean(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The mean of the elements that are not NaN, along axes: (..., n) -> (...) along the last axis."""
    def nanmedian(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, mode: str = 'avg', name: str | None = None) -> Tensor:
        """`median` of the elements that are not NaN: (..., n) -> (...) along the last axis."""
    def nanquantile(self, q: TensorLike | Sequence[builtins.float], axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, interpolation: str = 'linear') -> Tensor:
        """`quantile` of the elements that are not NaN, along axes."""
    def nansum(self, axis: builtins.int | Sequence[builtins.int] | None = None, dtype: DTypeLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The sum of the elements that are not NaN, along axes: (..., n) -> (...) along the last axis."""
    def narrow(self, dim: builtins.int, start: TensorLike, length: builtins.int) -> Tensor:
        """`length` slices along an axis, from `start` on: x[start : start + length]."""
    @property
    def nbytes(self) -> builtins.int:
        """The bytes of all elements."""
    @property
    def ndim(self) -> builtins.int:
        """Number of axes."""
    def ndimension(self) -> builtins.int:
        """The number of axes."""
    def ne(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x != y, elementwise with broadcasting: bools."""
    def neg(self, name: str | None = None) -> Tensor:
        """-x, elementwise: (...,) -> (...,), in the dtype of x."""
    def neg_(self, name: str | None = None) -> Tensor:
        """x becomes `neg` of x, in place: for all who hold it."""
    def negative(self, name: str | None = None) -> Tensor:
        """-x, elementwise: (...,) -> (...,), in the dtype of x."""
    def new_empty(self, *sizes: Any, size: builtins.int | Sequence[builtins.int | None] | None = None, dtype: DTypeLike | None = None, device: Place | str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
        """A tensor of a shape, all 0, of the dtype of x unless another is given."""
    def new_full(self, size: builtins.int | Sequence[builtins.int | None], fill_value: TensorLike, **options: Any) -> Tensor:
        """A tensor of one number, of the dtype of x unless another is given."""
    def new_ones(self, *sizes: Any, size: builtins.int | Sequence[builtins.int | None] | None = None, dtype: DTypeLike | None = None, device: Place | str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
        """A tensor of a shape, all 1, of the dtype of x unless another is given."""
    def new_zeros(self, *sizes: Any, size: builtins.int | Sequence[builtins.int | None] | None = None, dtype: DTypeLike | None = None, device: Place | str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
        """A tensor of a shape, all 0, of the dtype of x unless another is given."""
    def nextafter(self, y: TensorLike, name: str | None = None) -> Tensor:
        """The next float from x towards y, elementwise with broadcasting."""
    @overload
    def nonzero(self, as_tuple: Literal[False] = False) -> Tensor:
        """The places of the elements that are not 0: (count, rank), or one vector an axis."""
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]:
        """The places of the elements that are not 0: (count, rank), or one vector an axis."""
    def norm(self, p: builtins.float | str | None = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """(sum |x|**p)**(1/p) along axes, all by default; p may be inf, -inf, 0, or "fro" for 2."""
    def normal_(self, mean: TensorLike = 0.0, std: TensorLike = 1.0, name: str | None = None) -> Tensor:
        """x becomes normal random numbers, in place: for all who hold it."""
    def not_equal(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x != y, elementwise with broadcasting: bools."""
    def not_equal_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `not_equal` of x, in place: for all who hold it."""
    def numel(self, name: str | None = None) -> Tensor:
        """The number of elements as a 0-d int64 tensor; `x.size` is the number."""
    def numpy(self, blocking: builtins.bool = True) -> np.ndarray[Any, Any]:
        """The data as a NumPy array of its own; `blocking` has no effect on a CPU."""
    def ormqr(self, tau: TensorLike, y: TensorLike, left: builtins.bool = True, transpose: builtins.bool = False, name: str | None = None) -> Tensor:
        """Q @ y for the Q of `householder_product`, Q.T @ y with `transpose`, y @ Q without `left`."""
    def outer(self, y: TensorLike, name: str | None = None) -> Tensor:
        """All products: (n,), (m,) -> (n, m)."""
    def pad(self, pad: builtins.int | Sequence[builtins.int] | Tensor, mode: str = 'constant', value: builtins.float | complex = 0.0, data_format: str | None = None, pad_from_left_axis: builtins.bool = True, name: str | None = None) -> Tensor:
        """More elements around x; mode: 'constant', 'reflect', 'replicate' or 'circular'."""
    def pca_lowrank(self, q: builtins.int | None = None, center: builtins.bool = True, niter: builtins.int = 2, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """`svd_lowrank` of x less the mean of its rows, with `center`."""
    def pdist(self, p: builtins.float = 2.0, name: str | None = None) -> Tensor:
        """The p-norms of the differences of each two rows: (n, k) -> (n * (n - 1) / 2,)."""
    def permute(self, *order: Any, dims: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
        """The axes in another order, given as a list or one by one: axis order[i] is axis i then."""
    def pin_memory(self, blocking: builtins.bool = True) -> Tensor:
        """Refused: jax has memory of its own for that."""
    def pinv(self, rcond: builtins.float | Tensor = 1e-15, hermitian: builtins.bool = False, name: str | None = None) -> Tensor:
        """The pseudoinverse: (..., n, m) -> (..., m, n); singular values up to rcond * the largest count as 0."""
    @property
    def place(self) -> Place:
        """Where the tensor lies: on the CPU."""
    @property
    def placements(self) -> Any:
        """How the tensor lies on each axis of its mesh of devices, None if it lies on none."""
    def polar(self, angle: TensorLike, name: str | None = None) -> Tensor:
        """abs * exp(i angle) of two tensors of floats, which broadcast: (...,), (...,) -> (...,)."""
    def polygamma(self, n: builtins.int, name: str | None = None) -> Tensor:
        """The derivative of order n of `digamma`, elementwise."""
    def polygamma_(self, n: builtins.int, name: str | None = None) -> Tensor:
        """x becomes `polygamma` of x, in place: for all who hold it."""
    def positive(self, name: str | None = None) -> Tensor:
        """+x, which is x: (...,) -> (...,)."""
    def pow(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x**y, elementwise with broadcasting."""
    def pow_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `pow` of x, in place: for all who hold it."""
    @property
    def process_mesh(self) -> Any:
        """The mesh of devices that the tensor lies on, or None."""
    def prod(self, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """The product along axes, all by default; 1 of no elements."""
    def put_along_axis(self, indices: TensorLike, values: TensorLike, axis: builtins.int, reduce: str = 'assign', include_self: builtins.bool = True, broadcast: builtins.bool = True) -> Tensor:
        """arr with values at places along an axis, element by element, or joined with them."""
    def put_along_axis_(self, indices: TensorLike, values: TensorLike, axis: builtins.int, reduce: str = 'assign', include_self: builtins.bool = True, broadcast: builtins.bool = True) -> Tensor:
        """x becomes `put_along_axis` of x, in place: for all who hold it."""
    def qr(self, mode: str = 'reduced', name: str | None = None) -> tuple[Tensor, Tensor]:
        """Q with orthonormal columns and the upper triangular R with Q @ R = x."""
    def quantile(self, q: TensorLike | Sequence[builtins.float], axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, interpolation: str = 'linear', name: str | None = None) -> Tensor:
        """The element at q of the way (0 to 1) through the elements in order, along axes."""
    def rad2deg(self, name: str | None = None) -> Tensor:
        """Radians as degrees: x * 180 / pi."""
    def random_(self, from_: builtins.int = 0, to: builtins.int | None = None, generator: Any = None) -> Tensor:
        """Random integers from `from_` to to - 1 in place; by default all that the dtype has from 0."""
    def rank(self) -> Tensor:
        """The number of axes as a 0-d int32 tensor; `x.ndim` is the number."""
    def ravel(self) -> Tensor:
        """All elements as a vector: (...,) -> (count,)."""
    def real(self, name: str | None = None) -> Tensor:
        """The real part, elementwise; x, if it is real."""
    def reciprocal(self, name: str | None = None) -> Tensor:
        """1 / x, elementwise: (...,) -> (...,); integers give floats."""
    def reciprocal_(self, name: str | None = None) -> Tensor:
        """x becomes `reciprocal` of x, in place: for all who hold it."""
    def reduce_as(self, target: TensorLike, name: str | None = None) -> Tensor:
        """The sums of x in the shape of `target`, which broadcasts to that of x: (n, m), (m,) -> (m,)."""
    def register_hook(self, hook: Callable[[Any], Any]) -> HookHandle:
        """Call `hook(gradient)` in backward; what it returns replaces the gradient."""
    def relu(self, name: str | None = None) -> Tensor:
        """max(x, 0), elementwise: (...,) -> (...,); the slope at 0 is 0."""
    def relu_(self, name: str | None = None) -> Tensor:
        """x becomes `relu` of x, in place: for all who hold it."""
    def remainder(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x - floor(x / y) * y, elementwise with broadcasting: has the sign of y, as in Python."""
    def remainder_(self, y: TensorLike, name: str | None = None) -> Tensor:
        """x becomes `remainder` of x, in place: for all who hold it."""
    def renorm(self, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
        """x with every slice along an axis scaled down to a p-norm of at most max_norm."""
    def renorm_(self, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
        """x becomes `renorm` of x, in place: for all who hold it."""
    def repeat(self, *times: Any, repeats: builtins.int | Sequence[builtins.int] | Tensor | None = None) -> Tensor:
        """x put together repeats[i] times along axis i: `tile`, which takes numbers one by one too."""
    def repeat_interleave(self, repeats: builtins.int | Sequence[builtins.int] | Tensor, axis: builtins.int | None = None, name: str | None = None, output_size: builtins.int | None = None) -> Tensor:
        """Every element along an axis `repeats` times in a row; a list has one number an element."""
    @property
    def requires_grad(self) -> builtins.bool:
        """Whether gradients flow through: the opposite of `stop_gradient`."""
    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None: ...
    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor:
        """Let gradients flow through, or not; the tensor itself."""
    @overload
    def reshape(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """The same elements in another shape, row by row; the result is a view of x."""
    @overload
    def reshape(self, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
        """The same elements in another shape, row by row; the result is a view of x."""
    @overload
    def reshape_(self, shape: ShapeLike, name: str | None = None) -> Tensor:
        """x becomes `reshape` of x, in place: for all who hold it."""
    @overload
    def reshape_(self, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
        """x becomes `reshape` of x, in place: for all who hold it."""
    def resize_(self, shape: ShapeLike, fill_zero: builtins.bool = False, name: str | None = None) -> Tensor:
        """The first elements in another shape, in place; more than there are only with fill_zero."""
    def retain_grads(self) -> None:
        """Keep the gradient of a tensor that is no leaf in `.grad` too; leaves have theirs."""
    def reverse(self, axis: builtins.int | Sequence[builtins.int] | None, name: str | None = None) -> Tensor:
        """The elements along axes in reverse order: (..., n, ...) -> (..., n, ...)."""
    def roll(self, shifts: builtins.int | Sequence[builtins.int], axis: builtins.int | Sequence[builtins.int] | None = None, name: str | None = None) -> Tensor:
        """The elements along axes shifted; what leaves at one end comes in at the other."""
    def rot90(self, k: builtins.int = 1, axes: Sequence[builtins.int] = ..., name: str | None = None) -> Tensor:
        """The plane of two axes rotated by k quarters, from the first axis towards the second."""
    def round(self, decimals: builtins.int = 0, name: str | None = None) -> Tensor:
        """The nearest integer, halves to even, elementwise: (...,) -> (...,)."""
    def round_(self, decimals: builtins.int = 0, name: str | None = None) -> Tensor:
        """x becomes `round` of x, in place: for all who hold it."""
    def rsqrt(self, name: str | None = None) -> Tensor:
        """1 / sqrt(x), elementwise: (...,) -> (...,)."""
    def rsqrt_(self, name: str | None = None) -> Tensor:
        """x becomes `rsqrt` of x, in place: for all who hold it."""
    def scale(self, scale: builtins.float | Tensor = 1.0, bias: TensorLike = 0.0, bias_after_scale: builtins.bool = True, act: Any = None, name: str | None = None) -> Tensor:
        """x * scale + bias, or (x + bias) * scale without `bias_after_scale`; then `act` by its name."""
    def scale_(self, scale: TensorLike | Sequence[Any] = 1.0, bias: TensorLike = 0.0, bias_after_scale: builtins.bool = True, act: Any = None, name: str | None = None) -> Tensor:
        """x becomes `scale` of x, in place: for all who hold it."""
    def scatter(self, index: TensorLike, updates: TensorLike, overwrite: builtins.bool = True, name: str | None = None) -> Tensor:
        """x with the rows `index` replaced by `updates`, or, without overwrite, by sums of updates."""
    def scatter_(self, index: TensorLike, updates: TensorLike, overwrite: builtins.bool = True, name: str | None = None) -> Tensor:
        """x becomes `scatter` of x, in place: for all who hold it."""
    def scatter_add(self, dim: builtins.int, index: TensorLike, src: TensorLike) -> Tensor:
        """input with elements of src added at places along an axis, element by element."""
    def scatter_add_(self, dim: builtins.int, index: TensorLike, src: TensorLike) -> Tensor:
        """x becomes `scatter_add` of x, in place: for all who hold it."""
    @overload
    def scatter_nd(self, updates: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
        """Zeros with `updates` added at the places that the last axis of `index` names."""
    @overload
    def scatter_nd(self, updates: TensorLike, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
        """Zeros with `updates` added at the places that the last axis of `index` names."""
    def scatter_nd_add(self, index: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
        """x with `updates` added at the places that the last axis of `index` names."""
    def scatter_reduce(self, dim: builtins.int, index: TensorLike, src: TensorLike, reduce: str, *, include_self: builtins.bool = True) -> Tensor:
        """input joined with elements of src at places along an axis: sum, prod, mean, amin, amax."""
    def select_scatter(self, values: TensorLike, axis: builtins.int, index: builtins.int, name: str | None = None) -> Tensor:
        """x with the slice at a place along an axis replaced: (n, m), (m,) -> (n, m) for axis 0."""
    def set_(self, source: TensorLike | None = None, shape: ShapeLike | None = None, stride: builtins.int | Sequence[builtins.int] | None = None, offset: builtins.int = 0) -> Tensor:
        """x becomes `source`, in the given shape, or a tensor without elements, in place: for all who hold it."""
    def set_value(self, value: TensorLike) -> None:
        """Replace the data by an array or tensor of the same shape; the dtype stays."""
    def sgn(self, name: str | None = None) -> Tensor:
        """-1, 0 or 1; of complex numbers x / |x|, and 0 of 0."""
    @property
    def shape(self) -> list[builtins.int]:
        """The sizes, axis by axis."""
    def shard_index(self, index_num: builtins.int, nshards: builtins.int, shard_id: builtins.int, ignore_value: builtins.int = -1) -> Tensor:
        """Places within shard `shard_id` of `nshards`; `ignore_value` for those of other shards."""
    def short(self) -> Tensor:
        """x as int16, by `cast`: (...,) -> (...,)."""
    def sigmoid(self, name: str | None = None) -> Tensor:
        """1 / (1 + exp(-x)), elementwise: (...,) -> (...,)."""
    def sigmoid_(self, name: str | None = None) -> Tensor:
        """x becomes `sigmoid` of x, in place: for all who hold it."""
    def sign(self, name: str | None = None) -> Tensor:
        """-1, 0 or 1, elementwise: (...,) -> (...,); of complex numbers x / |x|, and 0 of 0."""
    def signbit(self, name: str | None = None) -> Tensor:
        """Whether the sign is a minus, that of -0.0 too: (...,) -> (...,), bool."""
    def sin(self, name: str | None = None) -> Tensor:
        """The sine of radians, elementwise: (...,) -> (...,)."""
    def sin_(self, name: str | None = None) -> Tensor:
        """x becomes `sin` of x, in place: for all who hold it."""
    def sinc(self, name: str | None = None) -> Tensor:
        """sin(pi x) / (pi x), 1 at 0: (...,) -> (...,)."""
    def sinc_(self, name: str | None = None) -> Tensor:
        """x becomes `sinc` of x, in place: for all who hold it."""
    def sinh(self, name: str | None = None) -> Tensor:
        """The hyperbolic sine (e**x - e**-x) / 2, elementwise: (...,) -> (...,)."""
    def sinh_(self, name: str | None = None) -> Tensor:
        """x becomes `sinh` of x, in place: for all who hold it."""
    @property
    def size(self) -> builtins.int:
        """Number of elements."""
    def slice(self, axes: builtins.int | Sequence[builtins.int], starts: Sequence[builtins.int | Tensor] | Tensor, ends: Sequence[builtins.int | Tensor] | Tensor) -> Tensor:
        """input[start:end] along each of the axes."""
    def slice_scatter(self, value: TensorLike, axes: Sequence[builtins.int], starts: Sequence[Any], ends: Sequence[Any], strides: Sequence[builtins.int], name: str | None = None) -> Tensor:
        """x with the elements between starts and ends along axes replaced."""
    def slogdet(self, name: str | None = None) -> Tensor:
        """The sign of the determinant and the logarithm of its magnitude: (..., n, n) -> (2, ...)."""
    def softmax(self, axis: builtins.int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """exp(x) / sum(exp(x)) along an axis, without overflow: the shape of x."""
    def softmax_(self, axis: builtins.int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """x becomes `softmax` of x, in place: for all who hold it."""
    def solve(self, y: TensorLike, left: builtins.bool = True, name: str | None = None) -> Tensor:
        """z with x @ z = y, or z @ x = y without `left`: (..., n, n), (..., n, k) -> (..., n, k)."""
    def sort(self, axis: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = False, name: str | None = None) -> Tensor:
        """The elements in order along an axis; NaN are the largest."""
    def split(self, num_or_sections: builtins.int | Sequence[builtins.int] | Tensor, axis: builtins.int | Sequence[builtins.int] = 0, name: str | None = None) -> list[Tensor]:
        """Parts along an axis: a number of equal ones, or of the given sizes (one may be -1)."""
    def split_with_sizes(self, split_sizes: Any, dim: builtins.int = 0) -> list[Tensor]:
        """Parts of the given sizes along an axis."""
    def sqrt(self, name: str | None = None) -> Tensor:
        """The square root, elementwise: (...,) -> (...,); NaN of negative numbers."""
    def sqrt_(self, name: str | None = None) -> Tensor:
        """x becomes `sqrt` of x, in place: for all who hold it."""
    def square(self, name: str | None = None) -> Tensor:
        """x * x, elementwise: (...,) -> (...,), in the dtype of x."""
    def square_(self, name: str | None = None) -> Tensor:
        """x becomes `square` of x, in place: for all who hold it."""
    def squeeze(self, axis: builtins.int | Sequence[builtins.int] | None = None, name: str | None = None) -> Tensor:
        """Without axes of size 1: all of them, or the given ones if their size is 1."""
    def squeeze_(self, axis: builtins.int | Sequence[builtins.int] | None = None, name: str | None = None) -> Tensor:
        """x becomes `squeeze` of x, in place: for all who hold it."""
    def stack(self, axis: builtins.int = 0, name: str | None = None) -> Tensor:
        """Tensors of one shape along a new axis: two of (n,) -> (2, n), or (n, 2) for axis 1."""
    def stanh(self, scale_a: builtins.float = 0.67, scale_b: builtins.float = 1.7159, name: str | None = None) -> Tensor:
        """scale_b * tanh(scale_a * x): (...,) -> (...,)."""
    def std(self, axis: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, keepdim: builtins.bool = False, name: str | None = None, correction: builtins.float = 1, dtype: DTypeLike | None = None) -> Tensor:
        """The square root of `var`, which divides by n - correction, along axes."""
    @property
    def stop_gradient(self) -> builtins.bool:
        """Whether no gradient flows through; True of what `to_tensor` makes, False of parameters."""
    @stop_gradient.setter
    def stop_gradient(self, value: builtins.bool) -> None: ...
    def stride(self, dim: builtins.int | None = None) -> Any:
        """How many elements lie between neighbours along an axis, or along each."""
    def strided_slice(self, axes: builtins.int | Sequence[builtins.int], starts: Sequence[builtins.int | Tensor] | Tensor, ends: Sequence[builtins.int | Tensor] | Tensor, strides: builtins.int | Sequence[builtins.int], name: str | None = None) -> Tensor:
        """x[start:end:stride] along each of the axes."""
    @property
    def strides(self) -> list[builtins.int]:
        """How many elements lie between neighbours along each axis."""
    def sub(self, y: TensorLike, name: str | None = None, alpha: TensorLike = 1) -> Tensor:
        """x - alpha * y, elementwise with broadcasting: (...,) - (...,) -> (...,)."""
    def sub_(self, y: TensorLike, name: str | None = None, alpha: TensorLike = 1) -> Tensor:
        """x becomes `subtract` of x, in place: for all who hold it."""
    def subtract(self, y: TensorLike, name: str | None = None, alpha: TensorLike = 1) -> Tensor:
        """x - alpha * y, elementwise with broadcasting: (...,) - (...,) -> (...,)."""
    def subtract_(self, y: TensorLike, name: str | None = None, *, alpha: TensorLike = 1) -> Tensor:
        """x becomes `subtract` of x, in place: for all who hold it."""
    def sum(self, axis: builtins.int | Sequence[builtins.int] | None = None, dtype: DTypeLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
        """The sum along axes, all by default; integers and bools give int64 as in NumPy."""
    def svd(self, full_matrices: builtins.bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """U, s and V.T with U @ diag(s) @ V.T = x: (..., n, m) -> (..., n, k), (..., k), (..., k, m)."""
    def svd_lowrank(self, q: builtins.int | None = None, niter: builtins.int = 2, M: Any = None, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """The q (6) largest singular values of x - M with their vectors: U, s, V; computed exactly."""
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int, name: str | None = None) -> Tensor:
        """Two axes exchanged; the result is a view of x."""
    def swapdims(self, perm: builtins.int | Sequence[builtins.int] | None = None, *more: Any, name: str | None = None, dim0: builtins.int | None = None, dim1: builtins.int | None = None) -> Tensor:
        """The axes in another order: axis i of the result is axis perm[i] of x."""
    def t(self, name: str | None = None) -> Tensor:
        """The transposed matrix: (n, m) -> (m, n); vectors and numbers stay."""
    def t_(self, name: str | None = None) -> Tensor:
        """x becomes `t` of x, in place: for all who hold it."""
    def take(self, index: TensorLike, mode: str = 'raise', name: str | None = None) -> Tensor:
        """The elements of the flattened x at the places `index`; the result has the index's shape."""
    def take_along_axis(self, indices: TensorLike, axis: builtins.int, broadcast: builtins.bool = True) -> Tensor:
        """arr[..., indices[..., i, ...], ...]: places along an axis, element by element."""
    def take_along_dim(self, indices: TensorLike, axis: builtins.int, broadcast: builtins.bool = True) -> Tensor:
        """arr[..., indices[..., i, ...], ...]: places along an axis, element by element."""
    def tan(self, name: str | None = None) -> Tensor:
        """The tangent of radians, elementwise: (...,) -> (...,)."""
    def tan_(self, name: str | None = None) -> Tensor:
        """x becomes `tan` of x, in place: for all who hold it."""
    def tanh(self, name: str | None = None) -> Tensor:
        """The hyperbolic tangent sinh(x) / cosh(x), elementwise: (...,) -> (...,)."""
    def tanh_(self, name: str | None = None) -> Tensor:
        """x becomes `tanh` of x, in place: for all who hold it."""
    def tensor_split(self, num_or_indices: builtins.int | Sequence[builtins.int] | Tensor, axis: builtins.int | Sequence[builtins.int] = 0, name: str | None = None) -> list[Tensor]:
        """Parts along an axis: so many, the first ones longer by 1, or up to the given places."""
    def tensordot(self, y: TensorLike, axes: builtins.int | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] | Tensor = 2, name: str | None = None) -> Tensor:
        """The sum of products over pairs of axes: the last n of x and the first n of y, or as given."""
    def tile(self, repeat_times: builtins.int | Sequence[builtins.int] | Tensor, name: str | None = None) -> Tensor:
        """x put together repeat_times[i] times along axis i; missing axes of either are in front."""
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """In another dtype, or on a device, or both: `to("float64")`, `to("cpu")`, `to(other)`."""
    def to_dense(self) -> Tensor:
        """The tensor itself."""
    def to_device(self, device: Place | str, /, *, stream: Any = None) -> Tensor:
        """The tensor itself, on the device "cpu", which is the only one; other names are refused."""
    def tolist(self) -> Any:
        """The data as nested lists of Python numbers."""
    def topk(self, k: builtins.int, axis: builtins.int | None = None, largest: builtins.bool = True, sorted: builtins.bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The k largest (or smallest) elements along an axis in order, and their places."""
    def trace(self, offset: TensorLike = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None) -> Tensor:
        """The sum of the diagonal between two axes: (n, n, ...) -> (...)."""
    def transpose(self, perm: builtins.int | Sequence[builtins.int] | None = None, *more: Any, name: str | None = None, dim0: builtins.int | None = None, dim1: builtins.int | None = None) -> Tensor:
        """The axes in another order: axis i of the result is axis perm[i] of x."""
    def transpose_(self, perm: builtins.int | Sequence[builtins.int] | None = None, *more: Any, name: str | None = None, dim0: builtins.int | None = None, dim1: builtins.int | None = None) -> Tensor:
        """x becomes `transpose` of x, in place: for all who hold it."""
    def trapezoid(self, x: TensorLike | None = None, dx: builtins.float | None = None, axis: builtins.int = -1, name: str | None = None) -> Tensor:
        """The area under y along an axis by trapezoids, at places x or `dx` (1) apart."""
    def triangular_solve(self, y: TensorLike, upper: builtins.bool = True, transpose: builtins.bool = False, unitriangular: builtins.bool = False, name: str | None = None) -> Tensor:
        """z with x @ z = y for a triangular x, whose other triangle is not read."""
    def tril(self, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
        """x below and on a diagonal of the last two axes, zeros above: (..., n, m) -> (..., n, m)."""
    def tril_(self, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
        """x becomes `tril` of x, in place: for all who hold it."""
    def triu(self, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
        """x above and on a diagonal of the last two axes, zeros below: (..., n, m) -> (..., n, m)."""
    def triu_(self, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
        """x becomes `triu` of x, in place: for all who hold it."""
    def true_divide(self, y: TensorLike, name: str | None = None, rounding_mode: str | None = None) -> Tensor:
        """x / y, elementwise with broadcasting; integers give a float."""
    def trunc(self, name: str | None = None) -> Tensor:
        """x without its fraction, elementwise: (...,) -> (...,), in the dtype of x."""
    def trunc_(self, name: str | None = None) -> Tensor:
        """x becomes `trunc` of x, in place: for all who hold it."""
    @property
    def type(self) -> Any:
        """`VarType.DENSE_TENSOR`: no other kind is here."""
    def type_as(self, other: TensorLike) -> Tensor:
        """The tensor in the dtype of another."""
    def uint8(self) -> Tensor:
        """x as uint8, by `cast`: (...,) -> (...,)."""
    def unbind(self, axis: builtins.int = 0) -> list[Tensor]:
        """The tensors along an axis, without it: (2, n) -> two of (n,)."""
    @overload
    def unflatten(self, axis: builtins.int, shape: ShapeLike, name: str | None = None) -> Tensor:
        """One axis as several: (6, n) -> (2, 3, n) for axis 0 and shape [2, 3]; one may be -1."""
    @overload
    def unflatten(self, axis: builtins.int, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
        """One axis as several: (6, n) -> (2, 3, n) for axis 0 and shape [2, 3]; one may be -1."""
    def unfold(self, axis: builtins.int, size: builtins.int, step: builtins.int, name: str | None = None) -> Tensor:
        """Windows along an axis, as a new last axis: (..., n, ...) -> (..., count, ..., size)."""
    def uniform_(self, min: builtins.float = 0, max: builtins.float = 1.0, seed: builtins.int = 0, name: str | None = None) -> Tensor:
        """x becomes uniform random numbers in [min, max), in place: for all who hold it."""
    @overload
    def unique(self, return_index: Literal[False] = False, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', sorted: builtins.bool = True, name: str | None = None) -> Tensor:
        """The distinct elements, always in order (or slices along an axis), and what else is asked for."""
    @overload
    def unique(self, *, return_index: Literal[True], return_inverse: builtins.bool = False, return_counts: builtins.bool = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', sorted: builtins.bool = True, name: str | None = None) -> tuple[Tensor, ...]:
        """The distinct elements, always in order (or slices along an axis), and what else is asked for."""
    @overload
    def unique(self, return_index: builtins.bool = False, *, return_inverse: Literal[True], return_counts: builtins.bool = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', sorted: builtins.bool = True, name: str | None = None) -> tuple[Tensor, ...]:
        """The distinct elements, always in order (or slices along an axis), and what else is asked for."""
    @overload
    def unique(self, return_index: builtins.bool = False, return_inverse: builtins.bool = False, *, return_counts: Literal[True], axis: builtins.int | None = None, dtype: DTypeLike = 'int64', sorted: builtins.bool = True, name: str | None = None) -> tuple[Tensor, ...]:
        """The distinct elements, always in order (or slices along an axis), and what else is asked for."""
    @overload
    def unique_consecutive(self, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> Tensor:
        """One of each run of equal elements (or slices along an axis), and what else is asked for."""
    @overload
    def unique_consecutive(self, *, return_inverse: Literal[True], return_counts: builtins.bool = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> tuple[Tensor, ...]:
        """One of each run of equal elements (or slices along an axis), and what else is asked for."""
    @overload
    def unique_consecutive(self, return_inverse: builtins.bool = False, *, return_counts: Literal[True], axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> tuple[Tensor, ...]:
        """One of each run of equal elements (or slices along an axis), and what else is asked for."""
    def unsqueeze(self, axis: builtins.int | Sequence[builtins.int], name: str | None = None) -> Tensor:
        """With an axis of size 1 at a place of the result: (n, m) -> (n, 1, m) for axis 1."""
    def unsqueeze_(self, axis: builtins.int | Sequence[builtins.int], name: str | None = None) -> Tensor:
        """x becomes `unsqueeze` of x, in place: for all who hold it."""
    def unstack(self, axis: builtins.int = 0, num: builtins.int | None = None) -> list[Tensor]:
        """The tensors along an axis, without it; ShapeError if they are not `num`."""
    def value(self) -> Tensor:
        """The tensor itself."""
    def vander(self, n: builtins.int | Sequence[builtins.int] | None = None, increasing: builtins.bool = False, name: str | None = None) -> Tensor:
        """The powers of the elements of a vector, one a column: (m,) -> (m, n), highest first."""
    def var(self, axis: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, keepdim: builtins.bool = False, name: str | None = None, correction: builtins.float = 1, dtype: DTypeLike | None = None) -> Tensor:
        """The mean squared distance from the mean along axes, divided by n - correction."""
    def vecdot(self, y: TensorLike, axis: builtins.int = -1, name: str | None = None) -> Tensor:
        """The sums of products conj(x) * y along an axis: (..., n), (..., n) -> (...)."""
    def view(self, shape_or_dtype: Sequence[builtins.int] | DTypeLike | None = None, *sizes: Any, name: str | None = None) -> Tensor:
        """The same elements in another shape; the bits in another dtype are refused."""
    def view_as(self, other: TensorLike, name: str | None = None) -> Tensor:
        """The same elements in the shape of another tensor."""
    def view_as_complex(self, name: str | None = None) -> Tensor:
        """The parts along the last axis as one complex number: (..., 2) -> (...)."""
    def view_as_real(self, name: str | None = None) -> Tensor:
        """The parts of complex numbers along a new last axis: (...) -> (..., 2)."""
    def vsplit(self, num_or_indices: builtins.int | Sequence[builtins.int] | Tensor, name: str | None = None) -> list[Tensor]:
        """`tensor_split` along the first axis of a tensor of two or more: (2 * n, m) -> two of (n, m)."""
    @overload
    def where(self) -> tuple[Tensor, ...]:
        """x where the condition holds, else y, with broadcasting: (...,), (...,), (...,) -> (...,)."""
    @overload
    def where(self, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
        """x where the condition holds, else y, with broadcasting: (...,), (...,), (...,) -> (...,)."""
    def where_(self, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None) -> Tensor:
        """x becomes `where` of x, in place: for all who hold it."""
    def zero_(self) -> Tensor:
        """x becomes 0 everywhere, in place: for all who hold it."""
    def __add__(self, other: TensorLike) -> Tensor: ...
    def __radd__(self, other: TensorLike) -> Tensor: ...
    def __sub__(self, other: TensorLike) -> Tensor: ...
    def __rsub__(self, other: TensorLike) -> Tensor: ...
    def __mul__(self, other: TensorLike) -> Tensor: ...
    def __rmul__(self, other: TensorLike) -> Tensor: ...
    def __truediv__(self, other: TensorLike) -> Tensor: ...
    def __rtruediv__(self, other: TensorLike) -> Tensor: ...
    def __floordiv__(self, other: TensorLike) -> Tensor: ...
    def __rfloordiv__(self, other: TensorLike) -> Tensor: ...
    def __mod__(self, other: TensorLike) -> Tensor: ...
    def __rmod__(self, other: TensorLike) -> Tensor: ...
    def __pow__(self, other: TensorLike) -> Tensor: ...
    def __rpow__(self, other: TensorLike) -> Tensor: ...
    def __matmul__(self, other: TensorLike) -> Tensor: ...
    def __rmatmul__(self, other: TensorLike) -> Tensor: ...
    def __and__(self, other: TensorLike) -> Tensor: ...
    def __rand__(self, other: TensorLike) -> Tensor: ...
    def __or__(self, other: TensorLike) -> Tensor: ...
    def __ror__(self, other: TensorLike) -> Tensor: ...
    def __xor__(self, other: TensorLike) -> Tensor: ...
    def __rxor__(self, other: TensorLike) -> Tensor: ...
    def __lshift__(self, other: TensorLike) -> Tensor: ...
    def __rlshift__(self, other: TensorLike) -> Tensor: ...
    def __rshift__(self, other: TensorLike) -> Tensor: ...
    def __rrshift__(self, other: TensorLike) -> Tensor: ...
    def __lt__(self, other: TensorLike) -> Tensor: ...
    def __le__(self, other: TensorLike) -> Tensor: ...
    def __gt__(self, other: TensorLike) -> Tensor: ...
    def __ge__(self, other: TensorLike) -> Tensor: ...
    def __eq__(self, other: TensorLike | None) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: TensorLike | None) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __divmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]: ...
    def __rdivmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]: ...
    def __round__(self, digits: builtins.int | None = None) -> Tensor: ...
    def __getitem__(self, index: Index) -> Tensor: ...
    def __setitem__(self, index: Index, value: TensorLike | Sequence[Any]) -> None: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __len__(self) -> builtins.int: ...
    def __contains__(self, value: TensorLike) -> builtins.bool: ...
    def __bool__(self) -> builtins.bool: ...
    def __int__(self) -> builtins.int: ...
    def __index__(self) -> builtins.int: ...
    def __float__(self) -> builtins.float: ...
    def __complex__(self) -> builtins.complex: ...
    def __hash__(self) -> builtins.int: ...
    def __bytes__(self) -> builtins.bytes: ...
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> np.ndarray[Any, Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...
