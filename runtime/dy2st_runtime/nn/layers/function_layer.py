"""Layers that keep the settings of one function and call it with them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, ClassVar

from dy2st_runtime.errors import WrongKind
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor


def settings(*needed: str, **defaults: Any) -> Signature:
    """What a Layer takes: names that must be given, names with a default, and `name`.

    >>> settings("groups", data_format="NCHW")
    <Signature (groups, data_format='NCHW', name=None)>
    """
    kind = Parameter.POSITIONAL_OR_KEYWORD
    given = [Parameter(name, kind) for name in needed]
    chosen = [Parameter(name, kind, default=defaults[name]) for name in defaults]
    return Signature([*given, *chosen, Parameter("name", kind, default=None)])


class OfFunction(Layer):
    """A Layer that calls `calls` with its inputs and its settings; subclasses name both.

    Every setting is an attribute, and may be changed.

    >>> from dy2st_runtime.ir import F
    >>> class Clip(OfFunction, calls=lambda x, min, max: F.clip(x, min, max),
    ...            takes=settings("min", max=1.0)):
    ...     "Numbers between two others."
    >>> print(Clip(0.0), Clip(0.0)(F.ones([1]) * 3.0))
    Clip(min=0.0, max=1.0) [1.]
    """

    _function: ClassVar[Callable[..., Any]]
    takes: ClassVar[Signature]

    def __init_subclass__(
        cls, calls: Callable[..., Any] | None = None, takes: Signature | None = None
    ) -> None:
        """Note the function and the settings; a subclass of a subclass has those of its base."""
        super().__init_subclass__()
        if calls is not None:
            cls._function = staticmethod(calls)
        if takes is not None:
            cls.takes = takes
            if "__init__" not in vars(cls):
                cls.__signature__ = takes  # type: ignore[attr-defined]

    def __init__(self, *given: Any, **named: Any):
        """Take the settings by position or name."""
        try:
            bound = self.takes.bind(*given, **named)
        except TypeError as error:
            raise WrongKind(f"{type(self).__name__}{self.takes}: {error}") from None
        bound.apply_defaults()
        super().__init__(bound.arguments.pop("name"))
        for name, value in bound.arguments.items():
            if isinstance(value, EagerTensor):
                self.register_buffer(name, value, persistable=False)
            else:
                setattr(self, name, value)

    def settings(self) -> dict[str, Any]:
        """The settings as they are now."""
        return {name: getattr(self, name) for name in self.takes.parameters if name != "name"}

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """What the function gives."""
        return self._function(*inputs, **named, **self.settings())

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self.settings().items())
