"""Defines the transforms that distributions are made with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from dy2st.paddle.distribution import constraint, variable
from dy2st.paddle.distribution.transform_base import Transform, Type
from dy2st_runtime.dims import Size
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.ops.rules import broadcast_shapes
from dy2st_runtime.tensor import to_tensor


def _number(value: Any) -> Any:
    return value if isinstance(value, Tensor) else to_tensor(value, dtype="float32")


def _spread(shape: Sequence[Size], *tensors: Any) -> Sequence[Size]:
    return broadcast_shapes("a transform", tuple(shape), *(tuple(t.shape) for t in tensors))


class AbsTransform(Transform):
    """|x|: of one value there are two arguments, which `inverse` both gives.

    >>> fold = dy2st.distribution.AbsTransform()
    >>> fold.forward(dy2st.to_tensor([-2.0])).item()
    2.0
    >>> [x.item() for x in fold.inverse(dy2st.to_tensor([2.0]))]
    [-2.0, 2.0]
    """

    _type: ClassVar[Type] = Type.SURJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return F.abs(x)

    def _inverse(self, y: Any) -> Any:
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return F.zeros([], y.dtype), F.zeros([], y.dtype)


class AffineTransform(Transform):
    """loc + scale * x.

    >>> double = dy2st.distribution.AffineTransform(dy2st.ones([1]), dy2st.full([1], 2.0))
    >>> double.forward(dy2st.to_tensor([3.0])).item(), double.loc.item(), double.scale.item()
    (7.0, 1.0, 2.0)
    """

    _type: ClassVar[Type] = Type.BIJECTION

    def __init__(self, loc: Any, scale: Any) -> None:
        """Take what is added, and the factors."""
        self._loc, self._scale = _number(loc), _number(scale)

    @property
    def loc(self) -> Any:
        """What is added."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The factors."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        return self._loc + self._scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return F.log(F.abs(self._scale))

    def _forward_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return _spread(shape, self._loc, self._scale)

    def _inverse_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return _spread(shape, self._loc, self._scale)


class ExpTransform(Transform):
    """exp(x).

    >>> exp = dy2st.distribution.ExpTransform()
    >>> exp.forward(dy2st.zeros([1])).item(), exp.inverse(dy2st.ones([1])).item()
    (1.0, 0.0)
    """

    _type: ClassVar[Type] = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return F.exp(x)

    def _inverse(self, y: Any) -> Any:
        return F.log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x


class PowerTransform(Transform):
    """x**power of numbers above 0.

    >>> square = dy2st.distribution.PowerTransform(dy2st.full([1], 2.0))
    >>> square.forward(dy2st.to_tensor([3.0])).item(), square.power.item()
    (9.0, 2.0)
    """

    _type: ClassVar[Type] = Type.BIJECTION

    def __init__(self, power: Any) -> None:
        """Take the exponents."""
        self._power = _number(power)

    @property
    def power(self) -> Any:
        """The exponents."""
        return self._power

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return F.pow(x, self._power)

    def _inverse(self, y: Any) -> Any:
        return F.pow(y, 1 / self._power)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return F.log(F.abs(self._power * F.pow(x, self._power - 1)))

    def _forward_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return _spread(shape, self._power)

    def _inverse_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return _spread(shape, self._power)


class ReshapeTransform(Transform):
    """Events of one shape in another: (*batch, *in_event_shape) -> (*batch, *out_event_shape).

    >>> flat = dy2st.distribution.ReshapeTransform((2, 3), (6,))
    >>> flat.forward(dy2st.ones([5, 2, 3])).shape
    [5, 6]
    >>> flat.in_event_shape, flat.out_event_shape
    ((2, 3), (6,))
    """

    _type: ClassVar[Type] = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        """Take two shapes of as many elements."""
        self._in_event_shape, self._out_event_shape = tuple(in_event_shape), tuple(out_event_shape)
        if math.prod(self._in_event_shape) != math.prod(self._out_event_shape):
            raise ArgumentError(f"{in_event_shape} has other elements than {out_event_shape}")

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape before."""
        return self._in_event_shape

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The shape after."""
        return self._out_event_shape

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._in_event_shape))

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._out_event_shape))

    def _forward(self, x: Any) -> Any:
        return F.reshape(x, list(self._forward_shape(x.shape)))

    def _inverse(self, y: Any) -> Any:
        return F.reshape(y, list(self._inverse_shape(y.shape)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return F.zeros(x.shape[: x.ndim - len(self._in_event_shape)], x.dtype)

    def _forward_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return _reshaped(shape, self._in_event_shape, self._out_event_shape)

    def _inverse_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return _reshaped(shape, self._out_event_shape, self._in_event_shape)


def _reshaped(shape: Sequence[Size], old: tuple[int, ...], new: tuple[int, ...]) -> Sequence[Size]:
    batch = len(shape) - len(old)
    if batch < 0 or tuple(shape[batch:]) != old:
        raise ArgumentError(f"events of the shape {list(old)} are taken, not {list(shape)}")
    return (*shape[:batch], *new)


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x)).

    >>> dy2st.distribution.SigmoidTransform().forward(dy2st.zeros([1])).item()
    0.5
    """

    _type: ClassVar[Type] = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(0.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return F.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return F.log(y) - F.log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -F.softplus(-x) - F.softplus(x)


class TanhTransform(Transform):
    """tanh(x).

    >>> dy2st.distribution.TanhTransform().forward(dy2st.zeros([1])).item()
    0.0
    """

    _type: ClassVar[Type] = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(-1.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return F.tanh(x)

    def _inverse(self, y: Any) -> Any:
        return F.atanh(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class _OntoSimplex(Transform):
    """A transform whose values are not negative and sum to 1 along the last axis."""

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return self._longer(shape, 0)

    def _inverse_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return self._longer(shape, 0)

    def _longer(self, shape: Sequence[Size], by: int) -> Sequence[Size]:
        if not shape:
            raise ArgumentError(f"{type(self).__name__} takes events of one axis at least")
        return (*shape[:-1], shape[-1] + by)


class SoftmaxTransform(_OntoSimplex):
    """softmax(x) along the last axis; `inverse` is the logarithm.

    >>> dy2st.distribution.SoftmaxTransform().forward(dy2st.zeros([2])).tolist()
    [0.5, 0.5]
    """

    _type: ClassVar[Type] = Type.OTHER

    def _forward(self, x: Any) -> Any:
        return F.softmax(x, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return F.log(y)


class StickBreakingTransform(_OntoSimplex):
    """Shares of a stick, of which one after the other is broken off: (..., n) -> (..., n + 1).

    >>> import dy2st
    >>> made = dy2st.distribution.StickBreakingTransform().forward(dy2st.to_tensor([0.0, 0.0]))
    >>> print(made.round(3))
    [0.333 0.333 0.333]
    """

    _type: ClassVar[Type] = Type.BIJECTION

    def _forward(self, x: Any) -> Any:
        broken = F.sigmoid(x - _log_rest(x))
        one = F.ones_like(x[..., :1])
        left = F.concat([one, F.cumprod(1 - broken, dim=-1)], axis=-1)
        return F.concat([broken, one], axis=-1) * left

    def _inverse(self, y: Any) -> Any:
        shares = y[..., :-1]
        left = 1 - F.cumsum(shares, axis=-1)
        return F.log(shares) - F.log(left) + _log_rest(shares)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        shares = self._forward(x)[..., :-1]
        return F.sum(F.log(shares) - F.softplus(x - _log_rest(x)), axis=-1)

    def _forward_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return self._longer(shape, 1)

    def _inverse_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return self._longer(shape, -1)


def _log_rest(x: Any) -> Any:
    """The logarithms of n, ..., 1 for n entries of the last axis."""
    return F.log(F.flip(F.cast(F.arange(1, x.shape[-1] + 1), x.dtype), axis=[0]))
