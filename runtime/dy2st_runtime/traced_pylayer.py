"""PyLayers in a Program: their `backward` is called when the gradient is, with that run's tensors.

A Program in the making keeps what `forward` has kept as operands of the operator `sealed`, and the
function itself beside the text of an attribute. A saved Program has the text alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Tensor, Tracer, Variable, apply, current_tracer
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.structure import flatten, rebuild
from dy2st_runtime.ir.tracing.tracer import converted

_KEPT = (Tensor, Dim, Condition, Choice, Text)


def sealed(tracer: Tracer, layer: Any, context: Any, outputs: Sequence[Any], inputs: Any) -> Any:
    """The outputs of a PyLayer, whose gradient is its `backward`."""
    kept, structure = flatten(vars(context), lambda entry: isinstance(entry, _KEPT))
    fixed = [id(output) in context._fixed for output in outputs]
    maker, values = layer.__name__, []
    if all(_is_as_it_was(tracer, entry) for entry in kept):
        maker, values = Maker(layer, context, structure, kept, outputs, len(inputs)), kept
    if len(outputs) == 1:
        made = [apply("sealed", *outputs, *inputs, *values, maker=maker)]
    else:
        made = apply("sealed_results", *outputs, *inputs, *values, count=len(outputs), maker=maker)
    return [F.detach(y) if stops else y for y, stops in zip(made, fixed, strict=True)]


def _is_as_it_was(tracer: Tracer, entry: Any) -> bool:
    """Whether what `forward` has kept can be an operand: as it was then, and visible here."""
    if isinstance(entry, (Choice, Text)):
        return False
    if not isinstance(entry, Variable):
        return True
    is_there = any(block is entry.block for block in tracer.block.outwards())
    is_changed = entry.overwritten is not None or tracer.captured(entry) is not entry
    return is_there and not is_changed and entry.number is not float


class Maker(str):
    """The name of a PyLayer in a Program, with the function itself."""

    def __new__(cls, layer: Any, *_: Any) -> Maker:
        """Be its name."""
        return super().__new__(cls, layer.__name__)

    def __init__(
        self,
        layer: Any,
        context: Any,
        structure: Any,
        kept: Sequence[Any],
        outputs: Sequence[Any],
        count: int,
    ) -> None:
        """Take what `forward` has kept, and how many tensors it took."""
        self._layer, self._context, self._structure = layer, context, structure
        self._kept, self._outputs, self._count = list(kept), list(outputs), count

    def gradient(self, g: Any, y: Any, values: Sequence[Any]) -> list[Any]:
        """What `backward` gives for operands of the operator: nothing for outputs, and what is
        kept."""
        gradients, results = (g, y) if isinstance(y, tuple) else ((g,), (y,))
        start = len(results)
        inputs, kept = values[start : start + self._count], values[start + self._count :]
        # What `forward` has kept, with tensors of this run.
        places = {id(output): place for place, output in enumerate(self._outputs)}
        leaves = [
            results[places[id(old)]] if id(old) in places else _like(old, value)
            for old, value in zip(self._kept, kept, strict=True)
        ]
        made = type(self._context)()
        vars(made).update(rebuild(self._structure, leaves))
        context = made
        if context._makes_zeros:
            pairs = zip(gradients, results, strict=True)
            gradients = [F.zeros_like(out).detach() if got is None else got for got, out in pairs]
        found = converted(self._layer.backward)(context, *gradients)
        found = [*found] if isinstance(found, (tuple, list)) else [found]
        if len(found) != len(inputs):
            self._refuse(f"returns {len(found)} gradients for {len(inputs)} tensors")
        for number, (gradient, tensor) in enumerate(zip(found, inputs, strict=True)):
            if gradient is None and _needs_gradient(tensor):
                self._refuse(f"returns None for tensor {number}, which needs a gradient")
            if gradient is not None and list(gradient.shape) != list(tensor.shape):
                raise ShapeError(
                    f"{self}.backward() returns a gradient of shape {gradient.shape} for tensor "
                    f"{number}, which has {tensor.shape}"
                )
        return [None] * start + found + [None] * len(kept)

    def _refuse(self, what: str) -> None:
        raise ArgumentError(f"{self}.backward() {what}; return one a tensor, zeros for none")


def _needs_gradient(tensor: Any) -> bool:
    tracer = current_tracer()
    if not tensor.tensor_type.is_differentiable:
        return False
    return not (tensor.stop_gradient if tracer is None else tracer.flags.stops(tensor))


def _like(old: Any, value: Any) -> Any:
    """What was kept, in this run: a number where it was one."""
    if current_tracer() is not None:
        return value if isinstance(old, Tensor) else old
    is_number = isinstance(old, (Dim, Condition)) or getattr(old, "number", None) is not None
    return value.item() if is_number else value


__all__ = ["Maker", "sealed"]
