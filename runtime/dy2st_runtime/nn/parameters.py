"""Parameters: what is wished of one, and making it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime import unique_name
from dy2st_runtime.errors import ArgumentError, WrongKind
from dy2st_runtime.ir import current_tracer
from dy2st_runtime.ir.arguments import as_shape
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.ir.tracing.changes import state_made
from dy2st_runtime.ir.types import given_dtype
from dy2st_runtime.nn.initializer import Constant, Initializer, XavierUniform, global_initializer
from dy2st_runtime.regularizer import WeightDecayRegularizer
from dy2st_runtime.tensor import Parameter


class ParamAttr:
    """Wishes about a parameter.

    Parameters
    ----------
    name
        its name; one is made up if it is left out.
    initializer
        its first values.
    learning_rate
        a factor on the optimizer's.
    regularizer
        what is added to its gradient, instead of the optimizer's weight decay.
    trainable
        whether it has a gradient.
    do_model_average
        whether a moving average of the model counts it.
    need_clip
        whether its gradient is limited by the optimizer's `grad_clip`.

    Examples
    --------
    >>> ParamAttr("w", learning_rate=0.5).learning_rate
    0.5
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ):
        """Keep the wishes; TypeError for a wish of another kind, ValueError for an empty name."""
        _check("name", name, str, type(None))
        if not _is_class(initializer):
            _check("initializer", initializer, Initializer, type(None))
        _check("learning_rate", learning_rate, int, float)
        _check("regularizer", regularizer, WeightDecayRegularizer, type(None))
        if name == "":
            raise ArgumentError("the name of a parameter is not empty: leave it out instead")
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    @staticmethod
    def _to_attr(wish: Any) -> Any:
        """What may stand for a ParamAttr as one; False stays False.

        >>> ParamAttr._to_attr("w").name, ParamAttr._to_attr(False)
        ('w', False)
        """
        if isinstance(wish, ParamAttr) or wish is False:
            return wish
        if wish is None or wish is True:
            return ParamAttr()
        if isinstance(wish, (list, tuple)):
            return [ParamAttr._to_attr(entry) for entry in wish]
        if isinstance(wish, str):
            return ParamAttr(name=wish or None)
        if isinstance(wish, Initializer):
            return ParamAttr(initializer=wish)
        if isinstance(wish, WeightDecayRegularizer):
            return ParamAttr(regularizer=wish)
        raise WrongKind(
            "the attribute of a parameter is a ParamAttr, a name, an initializer, a regularizer, "
            f"None, or False for no parameter, not {type(wish).__name__}"
        )


def _check(what: str, value: Any, *kinds: type) -> None:
    if not isinstance(value, kinds):
        names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise WrongKind(f"{what} of a ParamAttr is {names}, not {type(value).__name__}")


def _is_class(initializer: Any) -> bool:
    """Some models name the class in a ParamAttr that they never use."""
    return isinstance(initializer, type) and issubclass(initializer, Initializer)


def make_parameter(
    shape: Any,
    dtype: Any,
    wish: Any,
    is_bias: bool,
    default: Initializer | None,
    owner: str,
) -> Parameter | None:
    """A new Parameter; None if the wish is False. `owner` begins a name that is made up.

    Without an initializer weights are Xavier-uniform and biases zero.
    """
    attr = ParamAttr._to_attr(wish)
    if attr is False:
        return None
    if _is_class(attr.initializer):
        name = attr.initializer.__name__
        raise WrongKind(f"the initializer of a parameter is an object: write {name}(...)")
    tracer = current_tracer()
    if tracer is not None:
        raise state_made(tracer, "a parameter is made while the function is traced")
    initializer = (
        attr.initializer
        or global_initializer(is_bias)
        or default
        or (Constant(0.0) if is_bias else XavierUniform())
    )
    array = np.empty(as_shape(shape), given_dtype(dtype))
    parameter = Parameter(array, trainable=attr.trainable, name=attr.name or "")
    if attr.name is None:
        parameter.name = unique_name.generate(f"{owner}.{'b' if is_bias else 'w'}")
        parameter.is_named = False
    parameter.optimize_attr["learning_rate"] = attr.learning_rate
    parameter.regularizer = attr.regularizer
    parameter.do_model_average, parameter.need_clip = attr.do_model_average, attr.need_clip
    with no_grad():
        initializer(parameter, None)
    return parameter


def create_parameter(
    shape: Any,
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter | None:
    """A Parameter of a shape and dtype, with first values; None if `attr` is False.

    Without an initializer weights are Xavier-uniform and biases zero.

    >>> create_parameter([2, 3], "float32", name="w").name
    'w'
    """
    wish = ParamAttr(name=name) if attr is None else attr
    owner = unique_name.generate("create_parameter")
    return make_parameter(shape, dtype, wish, is_bias, default_initializer, owner)


__all__ = ["ParamAttr", "create_parameter", "make_parameter"]
