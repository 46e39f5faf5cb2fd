"""Has what transforms share: values, inverses, logarithms of slopes; and composes transforms."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from dy2st.paddle.distribution import variable
from dy2st.paddle.distribution.distribution import Distribution, sum_last
from dy2st_runtime.dims import Size
from dy2st_runtime.errors import ArgumentError, WrongKind
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.ops.rules import broadcast_shapes

_transformed = Lazy("dy2st.paddle.distribution.transformed_distribution")


class Type(enum.Enum):
    """How many arguments one value has, and whether all values are reached.

    >>> kind = dy2st.distribution.transform.Type
    >>> [one.name for one in kind], kind.is_injective(kind.BIJECTION)
    (['BIJECTION', 'INJECTION', 'SURJECTION', 'OTHER'], True)
    """

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, _type: Type) -> bool:
        """Whether no two arguments have one value."""
        return _type in (cls.BIJECTION, cls.INJECTION)


class Transform:
    """A function of tensors.

    A subclass gives `_forward`, `_inverse`, and `_forward_log_det_jacobian` or
    `_inverse_log_det_jacobian`; and `_domain` and `_codomain` where events have axes.

    >>> double = dy2st.distribution.AffineTransform(dy2st.zeros([1]), dy2st.full([1], 2.0))
    >>> x = dy2st.to_tensor([3.0])
    >>> double.forward(x).tolist(), double.inverse(x).tolist()
    ([6.0], [1.5])
    >>> round(double.forward_log_det_jacobian(x).exp().item(), 4)
    2.0
    >>> round(double.inverse_log_det_jacobian(x).exp().item(), 4)
    0.5
    >>> list(double.forward_shape([5, 1])), list(double.inverse_shape([5, 1]))
    ([5, 1], [5, 1])
    """

    _type: ClassVar[Type] = Type.INJECTION

    def __init__(self) -> None:
        """Take nothing."""

    @property
    def _domain(self) -> variable.Variable:
        return variable.real

    @property
    def _codomain(self) -> variable.Variable:
        return variable.real

    def _is_injective(self) -> bool:
        return Type.is_injective(self._type)

    def __call__(self, input: Any) -> Any:
        """A tensor forward; a distribution transformed; a chain with another transform after it."""
        if isinstance(input, Distribution):
            return _transformed.TransformedDistribution(input, [self])
        if isinstance(input, Transform):
            return ChainTransform([self, input])
        return self.forward(input)

    def forward(self, x: Any) -> Any:
        """The value at x."""
        _require_rank(x, self._domain)
        return self._forward(x)

    def inverse(self, y: Any) -> Any:
        """The argument whose value is y."""
        _require_rank(y, self._codomain)
        return self._inverse(y)

    def forward_log_det_jacobian(self, x: Any) -> Any:
        """The logarithm of the size of the slope at x, of each event."""
        _require_rank(x, self._domain)
        if not self._is_injective():
            raise NotImplementedError(f"{type(self).__name__} is not injective: it has no slope")
        forward, inverse = self._slope("forward"), self._slope("inverse")
        if forward is not None:
            return forward(x)
        if inverse is None:
            raise self._without("_forward_log_det_jacobian")
        return -inverse(self.forward(x))

    def inverse_log_det_jacobian(self, y: Any) -> Any:
        """The logarithm of the size of the slope of the inverse at y."""
        _require_rank(y, self._codomain)
        forward, inverse = self._slope("forward"), self._slope("inverse")
        if inverse is not None:
            return inverse(y)
        if forward is None:
            raise self._without("_forward_log_det_jacobian")
        return -forward(self.inverse(y))

    def forward_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        """The shape of the value of an argument of a shape."""
        return self._forward_shape(shape)

    def inverse_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        """The shape of the argument of a value of a shape."""
        return self._inverse_shape(shape)

    def _forward(self, x: Any) -> Any:
        raise self._without("_forward")

    def _inverse(self, y: Any) -> Any:
        raise self._without("_inverse")

    def _forward_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return shape

    def _inverse_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return shape

    def _slope(self, way: str) -> Callable[[Any], Any] | None:
        return getattr(self, f"_{way}_log_det_jacobian", None)

    def _without(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {name}")


def _require_rank(x: Any, events: variable.Variable) -> None:
    if not isinstance(x, Tensor):
        raise WrongKind(f"a transform takes a tensor, not {x!r}")
    if x.ndim < events.event_rank:
        raise ArgumentError(
            f"events of this transform have {events.event_rank} axes, the tensor {x.ndim}"
        )


def sum_slope(transform: Transform, x: Any, rank: int) -> Any:
    """The logarithm of the slope at x, summed over all `rank` axes of an event."""
    slope = transform.forward_log_det_jacobian(x)
    more = rank - transform._domain.event_rank
    if not more:
        return slope
    batch = tuple(x.shape[: x.ndim - transform._domain.event_rank])
    return sum_last(F.expand(slope, broadcast_shapes("a slope", tuple(slope.shape), batch)), more)


class ChainTransform(Transform):
    """Transforms one after the other.

    >>> import dy2st
    >>> from dy2st.paddle.distribution import ChainTransform, ExpTransform, TanhTransform
    >>> float(ChainTransform([TanhTransform(), ExpTransform()]).forward(dy2st.to_tensor(0.0)))
    1.0
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        """Take the transforms, the first one first."""
        if not all(isinstance(entry, Transform) for entry in transforms):
            raise WrongKind("ChainTransform takes a sequence of Transform")
        self.transforms = transforms

    def _is_injective(self) -> bool:
        return all(entry._is_injective() for entry in self.transforms)

    def _forward(self, x: Any) -> Any:
        for entry in self.transforms:
            x = entry.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for entry in reversed(self.transforms):
            y = entry.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        rank, total = self._domain.event_rank, 0.0
        for entry in self.transforms:
            total = total + sum_slope(entry, x, rank)
            x = entry.forward(x)
            rank += entry._codomain.event_rank - entry._domain.event_rank
        return total

    def _forward_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        for entry in self.transforms:
            shape = entry.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        for entry in reversed(self.transforms):
            shape = entry.inverse_shape(shape)
        return shape

    @property
    def _domain(self) -> variable.Variable:
        needed = grown = 0
        for entry in self.transforms:
            needed = max(needed, entry._domain.event_rank - grown)
            grown += entry._codomain.event_rank - entry._domain.event_rank
        first = self.transforms[0]._domain
        return variable.Independent(first, needed - first.event_rank)

    @property
    def _codomain(self) -> variable.Variable:
        given = grown = 0
        for entry in reversed(self.transforms):
            given = max(given, entry._codomain.event_rank + grown)
            grown += entry._codomain.event_rank - entry._domain.event_rank
        last = self.transforms[-1]._codomain
        return variable.Independent(last, given - last.event_rank)


class IndependentTransform(Transform):
    """A transform of which more axes are one event.

    >>> import dy2st
    >>> from dy2st.paddle.distribution import ExpTransform, IndependentTransform
    >>> made = IndependentTransform(ExpTransform(), 1)
    >>> float(made.forward_log_det_jacobian(dy2st.to_tensor([1.0, 2.0])))
    3.0
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        """Take the transform and how many axes are added."""
        if not isinstance(base, Transform):
            raise WrongKind(f"IndependentTransform takes a Transform, not {type(base).__name__}")
        if reinterpreted_batch_rank <= 0:
            raise ArgumentError(
                f"reinterpreted_batch_rank is above 0, not {reinterpreted_batch_rank}"
            )
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank

    def _is_injective(self) -> bool:
        return self._base._is_injective()

    def _forward(self, x: Any) -> Any:
        return self._base.forward(x)

    def _inverse(self, y: Any) -> Any:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return sum_slope(self._base, x, self._domain.event_rank)

    def _forward_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: Sequence[Size]) -> Sequence[Size]:
        return self._base.inverse_shape(shape)

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(self._base._domain, self._reinterpreted_batch_rank)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(self._base._codomain, self._reinterpreted_batch_rank)


class StackTransform(Transform):
    """Transforms side by side along an axis.

    >>> exp, tanh = dy2st.distribution.ExpTransform(), dy2st.distribution.TanhTransform()
    >>> both = dy2st.distribution.StackTransform([exp, tanh], axis=0)
    >>> both.forward(dy2st.zeros([2, 1])).tolist(), both.axis, len(both.transforms)
    ([[1.0], [0.0]], 0, 2)
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        """Take one transform for each entry of the axis."""
        if not transforms or not all(isinstance(entry, Transform) for entry in transforms):
            raise WrongKind("StackTransform takes a sequence of Transform")
        self._transforms = transforms
        self._axis = axis

    @property
    def transforms(self) -> Sequence[Transform]:
        """The transforms."""
        return self._transforms

    @property
    def axis(self) -> int:
        """The axis."""
        return self._axis

    def _is_injective(self) -> bool:
        return all(entry._is_injective() for entry in self._transforms)

    def _each(self, name: str, x: Any) -> Any:
        if not -x.ndim <= self._axis < x.ndim or x.shape[self._axis] != len(self._transforms):
            raise ArgumentError(
                f"axis {self._axis} has one entry for each of {len(self._transforms)} transforms, "
                f"not the shape {x.shape}"
            )
        parts = zip(F.unstack(x, self._axis), self._transforms, strict=True)
        return F.stack([getattr(entry, name)(part) for part, entry in parts], self._axis)

    def _forward(self, x: Any) -> Any:
        return self._each("forward", x)

    def _inverse(self, y: Any) -> Any:
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._each("forward_log_det_jacobian", x)

    @property
    def _domain(self) -> variable.Variable:
        return variable.Stack([entry._domain for entry in self._transforms], self._axis)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Stack([entry._codomain for entry in self._transforms], self._axis)
