"""PyLayer: a function with a gradient of its own.

Eagerly its `backward` stands on the tape. In a converted function its `forward` is recorded, and
`backward` is called when a gradient is taken.
"""

from __future__ import annotations

from typing import Any, NoReturn

from dy2st_runtime.autograd import Edge, Node
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, Tensor, current_tracer
from dy2st_runtime.ir.grad_mode import is_grad_enabled, no_grad
from dy2st_runtime.ir.tracing.tracer import converted
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.tensor import EagerTensor

_traced = Lazy("dy2st_runtime.traced_pylayer")


class PyLayerContext:
    """What `forward` keeps for `backward`: tensors, and any attribute that is set.

    >>> class Cube(dy2st.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         ctx.factor = 3.0
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensor()
    ...         return gradient * ctx.factor * x * x
    >>> x = dy2st.to_tensor([2.0], stop_gradient=False)
    >>> Cube.apply(x).backward()
    >>> x.grad.item()
    12.0
    """

    def __init__(self) -> None:
        """Nothing is kept."""
        self._saved: list[Any] = []
        self._fixed: set[int] = set()
        self._makes_zeros = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors, inputs or outputs; later changes in place do not reach them."""
        self._saved = [
            Edge(t) if isinstance(t, EagerTensor) and current_tracer() is None else t
            for t in tensors
        ]

    def saved_tensor(self) -> tuple[Any, ...]:
        """The tensors that were kept."""
        return tuple(t.value() if isinstance(t, Edge) else t for t in self._saved)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that were kept.

        >>> context = dy2st.autograd.PyLayerContext()
        >>> context.save_for_backward(dy2st.ones([2]))
        >>> len(context.saved_tensors)
        1
        """
        return self.saved_tensor()

    def mark_not_inplace(self, *args: Any) -> None:
        """Say that inputs are not changed in place: tensors share no changes here.

        >>> dy2st.autograd.PyLayerContext().mark_not_inplace()
        """

    def mark_non_differentiable(self, *args: Any) -> None:
        """Let no gradient flow through these outputs.

        >>> class Split(dy2st.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         places = x.argmax()
        ...         ctx.mark_non_differentiable(places)
        ...         return x * 2.0, places
        ...     @staticmethod
        ...     def backward(ctx, gradient, unused):
        ...         return gradient * 2.0
        >>> y, places = Split.apply(dy2st.to_tensor([1.0, 3.0], stop_gradient=False))
        >>> y.stop_gradient, places.stop_gradient
        (False, True)
        """
        self._fixed = {id(tensor) for tensor in args}

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros, or None, for outputs that nothing depends on.

        >>> dy2st.autograd.PyLayerContext().set_materialize_grads(False)
        """
        self._makes_zeros = bool(value)

    def set_grad_in_dtype_consistent(self, flag: bool) -> None:
        """Nothing: gradients have the dtypes of the outputs.

        >>> dy2st.autograd.PyLayerContext().set_grad_in_dtype_consistent(True)
        """


class PyLayer:
    """Base of functions with static methods `forward(ctx, ...)` and `backward(ctx, *gradients)`.

    `backward` gets the gradient of every tensor that `forward` returns, and returns one for every
    tensor that it takes, in order.

    >>> class Twice(dy2st.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> x = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> Twice.apply(x).backward()
    >>> x.grad.tolist()
    [2.0]
    """

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; every function writes its own, as `Halved` does here.

        >>> class Double(dy2st.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2.0
        ...     @staticmethod
        ...     def backward(ctx, gradient):
        ...         return gradient * 2.0
        >>> Double.apply(dy2st.ones([1])).item()
        2.0
        """
        raise NotImplementedError("a PyLayer has a static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the gradients of the inputs; every function writes its own."""
        raise NotImplementedError("a PyLayer has a static method backward(ctx, *gradients)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and put `backward` on the tape."""
        context = converted(PyLayerContext)()
        arguments = (*args, *kwargs.values())
        for argument in arguments:
            if isinstance(argument, (list, tuple, dict)) and _holds_tensors(argument):
                raise ArgumentError(
                    "PyLayer.apply() takes tensors as arguments of their own, not in a list or "
                    "dict: write apply(*tensors)"
                )
        inputs: list[Any] = [one for one in arguments if isinstance(one, Tensor)]
        tracer = current_tracer()
        if tracer is not None:
            with no_grad():
                outputs = converted(cls.forward)(context, *args, **kwargs)
            made: list[Any] = []
            _mapped(outputs, lambda tensor, _: made.append(tensor))
            if made:
                made = _traced.sealed(tracer, cls, context, made, inputs)
            return _mapped(outputs, lambda _, number: made[number])
        is_taped = is_grad_enabled() and any(not tensor.stopped for tensor in inputs)
        edges = [Edge(tensor) for tensor in inputs]
        with no_grad():
            outputs = cls.forward(context, *args, **kwargs)
        return _Rule(cls, context, edges, outputs).taped() if is_taped else outputs


def _holds_tensors(values: Any) -> bool:
    entries = values.values() if isinstance(values, dict) else values
    return any(isinstance(entry, Tensor) and not entry.stop_gradient for entry in entries)


def _mapped(outputs: Any, change: Any) -> Any:
    """The outputs with `change(tensor, number)` for tensors."""
    if isinstance(outputs, Tensor):
        return change(outputs, 0)
    if not isinstance(outputs, (tuple, list)):
        return outputs
    changed, count = [], 0
    for output in outputs:
        if isinstance(output, Tensor):
            output, count = change(output, count), count + 1
        changed.append(output)
    return type(outputs)(changed)


class _Rule:
    """What a Node asks of an operator: its name, and the gradient, which `backward` computes."""

    def __init__(
        self, layer: type[PyLayer], context: PyLayerContext, edges: list[Edge], outputs: Any
    ) -> None:
        self.name, self._backward = layer.__name__, layer.backward
        self._context, self._edges, self._outputs = context, edges, outputs

    def taped(self) -> Any:
        """The outputs, made by a Node on the tape."""
        arrays: list[Any] = []
        _mapped(self._outputs, lambda tensor, _: arrays.append(tensor.array))
        node = Node(self, [edge.tensor for edge in self._edges], arrays, {})
        node.edges = self._edges
        made: dict[int, EagerTensor] = {}

        def connected(tensor: Any, number: int) -> Any:
            is_fixed = id(tensor) in self._context._fixed or tensor.array.dtype.kind in "iub"
            made[id(tensor)] = tensor.alias(tensor.array, None if is_fixed else node, number)
            return made[id(tensor)]

        outputs = _mapped(self._outputs, connected)
        inputs = {id(edge.tensor) for edge in self._edges}
        for place, kept in enumerate(self._context._saved):
            if isinstance(kept, Edge) and id(kept.tensor) in made.keys() - inputs:
                self._context._saved[place] = Edge(made[id(kept.tensor)])
        del self._outputs
        return outputs

    def gradient(self, g: Any, y: Any, *inputs: Any) -> list[Any]:
        """What `backward` gives for the inputs, in order."""
        gradients, outputs = (g, y) if isinstance(y, tuple) else ((g,), (y,))
        if self._context._makes_zeros:
            pairs = zip(gradients, outputs, strict=True)
            gradients = [F.zeros_like(out).detach() if got is None else got for got, out in pairs]
        results = self._backward(self._context, *gradients)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        if len(results) != len(self._edges):
            self._refuse(f"returns {len(results)} gradients for {len(self._edges)} tensors")
        for number, (result, edge) in enumerate(zip(results, self._edges, strict=True)):
            if result is None and edge.needs_gradient:
                self._refuse(f"returns None for tensor {number}, which needs a gradient")
            if result is not None and tuple(result.shape) != edge.array.shape:
                raise ShapeError(
                    f"{self.name}.backward() returns a gradient of shape {result.shape} for "
                    f"tensor {number}, which has {list(edge.array.shape)}"
                )
        return results

    def _refuse(self, what: str) -> NoReturn:
        raise ArgumentError(f"{self.name}.backward() {what}; return one a tensor, zeros for none")
