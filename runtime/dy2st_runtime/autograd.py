"""The gradient tape: eager operators leave Nodes behind, `backward` and `grad` walk them.

Gradient rules are written with operators. Run while recording is on (`create_graph=True`) they
leave Nodes of their own, which gives gradients of any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NoReturn, Protocol

import numpy as np

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ArgumentError, ConversionError
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import F, active, apply
from dy2st_runtime.ir.grad_mode import set_grad_enabled
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.ir.promotion import autocasting
from dy2st_runtime.ir.types import is_differentiable
from dy2st_runtime.lazy import Lazy

Array = np.ndarray[Any, Any]
_MANY = 2  # of fewer numbers the strides say nothing
Hook = Callable[[Any], Any]

_inside = Lazy("dy2st_runtime.autodiff.traced_gradients")


class HookHandle:
    """What `register_hook` returns: called, or by `remove()`, it removes the hook."""

    def __init__(self, hooks: list[Hook], hook: Hook):
        """Take the list and the hook in it."""
        self._hooks: list[Hook] | None = hooks
        self._hook = hook

    def remove(self) -> bool:
        """Remove the hook; False if it is removed already."""
        hooks, self._hooks = self._hooks, None
        if hooks is not None:
            hooks.remove(self._hook)
        return hooks is not None

    __call__ = remove


class AfterBackward:
    """A hook of a leaf that is called when its `.grad` is there, and given nothing.

    One with `at_end` is called once, when those of all leaves are there. In a converted function it
    is called with the gradients of its leaves, and gives what they are to become instead.
    """

    at_end = False

    def __init__(self, hook: Callable[[], Any]):
        """Take the hook."""
        self.run = hook

    def __call__(self, *gradients: Any) -> Any:
        """Refused: a Program gives gradients back when it has run."""
        raise ConversionError(
            "a hook of _register_backward_hook() in a converted function",
            at=None,
            why="it runs when gradients are there, which is behind the call",
            hint="call backward() outside, or use register_hook(hook), which gets the gradient",
        )


class Taped(Protocol):
    """What the tape needs of an eager tensor."""

    array: Array
    node: Node | None
    index: int
    stopped: bool
    grad: Any
    hooks: list[Hook] | None

    def alias(self, array: Array, node: Node | None, index: int) -> Any:
        """Another tensor of the same class with this array and maker."""


class HasGradient(Protocol):
    """What the tape asks of whatever computed something: an operator's record, say."""

    @property
    def name(self) -> str:
        """What errors call it."""

    @property
    def gradient(self) -> Callable[..., Any] | None:
        """The rule: (g, y, *inputs, **attributes) -> one entry an input."""


class Edge:
    """One input of a Node as it was when the operator ran; in-place changes come later.

    `needs_gradient` says whether anything behind this input wants a gradient.
    """

    __slots__ = ("array", "index", "needs_gradient", "node", "stopped", "tensor")

    def __init__(self, tensor: Taped):
        """Take a snapshot."""
        self.tensor, self.array, self.stopped = tensor, tensor.array, tensor.stopped
        self.node, self.index = tensor.node, tensor.index
        self.needs_gradient = not self.stopped and (
            self.node is not None or self.array.dtype.kind not in "iub"
        )

    def value(self) -> Any:
        """The input's value then, connected to the same maker."""
        if self.tensor.array is self.array and self.tensor.stopped == self.stopped:
            return self.tensor
        value = self.tensor.alias(self.array, None if self.stopped else self.node, self.index)
        is_leaf = self.node is None is self.tensor.node and self.needs_gradient
        if is_leaf and self.tensor.array.shape == self.array.shape:
            return apply("straight_through", value, self.tensor)  # it has other numbers by now
        return value


class Node:
    """One operator that ran: what its gradient rule will ask for."""

    __slots__ = ("attributes", "definition", "edges", "hooks", "outputs")

    def __init__(
        self,
        definition: HasGradient,
        inputs: Sequence[Taped],
        outputs: Sequence[Array],
        attributes: dict[str, Any],
    ):
        """Keep inputs and results; results as arrays, so that nothing refers in a circle."""
        self.definition = definition
        self.edges: list[Edge] | None = [Edge(tensor) for tensor in inputs]
        self.outputs: list[Array] = list(outputs)
        self.attributes = attributes
        self.hooks: dict[int, list[Hook]] = {}

    def gradients(self, output_gradients: list[Any]) -> list[Any]:
        """Gradients of the inputs, None where there is none."""
        edges = self.edges
        assert edges is not None
        rule = self.definition.gradient
        if rule is None:
            return [None] * len(edges)
        like = edges[0].tensor
        outputs = [like.alias(array, self, i) for i, array in enumerate(self.outputs)]
        single = len(outputs) == 1
        g, y = (
            (output_gradients[0], outputs[0])
            if single
            else (tuple(output_gradients), tuple(outputs))
        )
        results = rule(g, y, *[edge.value() for edge in edges], **self.attributes)
        results = results if isinstance(results, (tuple, list)) else (results,)
        assert len(results) == len(edges), f"gradient of {self.definition.name}: wrong number"
        return [
            (entry() if callable(entry) else entry) if edge.needs_gradient else None
            for entry, edge in zip(results, edges, strict=True)
        ]

    def free(self) -> None:
        """Drop what the Node holds."""
        self.edges = None
        self.outputs = []


class _Sums:
    """Gradients gathered so far, by Node result and by leaf."""

    def __init__(self) -> None:
        self.of_nodes: dict[Node, list[Any]] = {}
        self.of_leaves: dict[int, tuple[Taped, Any]] = {}

    def add(self, tensor: Taped, node: Node | None, index: int, gradient: Any) -> None:
        if node is None:
            known = self.of_leaves.get(id(tensor))
            total = gradient if known is None else F.add(known[1], gradient)
            self.of_leaves[id(tensor)] = (tensor, total)
            return
        if node.edges is None:
            raise RuntimeError(
                "the graph was freed by an earlier backward(); pass retain_graph=True to keep it"
            )
        sums = self.of_nodes.setdefault(node, [None] * len(node.outputs))
        sums[index] = gradient if sums[index] is None else F.add(sums[index], gradient)


class _SumsBeside(_Sums):
    """As `_Sums`, without what some tensors would get: there no gradient flows."""

    def __init__(self, stops: Sequence[Taped]) -> None:
        super().__init__()
        self._nodes = {(tensor.node, tensor.index) for tensor in stops if tensor.node is not None}
        self._leaves = {id(tensor) for tensor in stops if tensor.node is None}

    def add(self, tensor: Taped, node: Node | None, index: int, gradient: Any) -> None:
        is_stop = id(tensor) in self._leaves if node is None else (node, index) in self._nodes
        if not is_stop:
            super().add(tensor, node, index, gradient)


def _order(roots: Sequence[Node]) -> list[Node]:
    """Nodes behind the roots, every Node before the makers of its inputs."""
    done: set[Node] = set()
    order: list[Node] = []
    for root in roots:
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, left = stack.pop()
            if left:
                order.append(node)
                continue
            if node in done:
                continue
            done.add(node)
            stack.append((node, True))
            for edge in node.edges or ():
                if edge.node is not None and edge.node not in done:
                    stack.append((edge.node, False))
    return order[::-1]


def depends(tensor: Taped, other: Taped) -> bool:
    """Whether a tensor is another one, or was computed of it."""
    if tensor is other or tensor.node is None:
        return tensor is other
    order = _order([tensor.node])
    if other.node is not None:
        return other.node in order
    return any(edge.tensor is other for node in order for edge in node.edges or ())


def _walk(
    seeds: Sequence[tuple[Taped, Any]],
    create_graph: bool,
    retain_graph: bool,
    stops: Sequence[Taped] = (),
) -> tuple[_Sums, dict[tuple[Node, int], Any]]:
    """As `gathered`, with what hooks of leaves make of it."""
    sums, finished = gathered(seeds, create_graph, retain_graph, stops)
    if not any(tensor.hooks for tensor, _ in sums.of_leaves.values()):
        return sums, finished
    with set_grad_enabled(create_graph), autocasting(None):
        for key, (tensor, total) in sums.of_leaves.items():
            for hook in tensor.hooks or ():
                changed = None if isinstance(hook, AfterBackward) else hook(total)
                total = total if changed is None else changed
            sums.of_leaves[key] = (tensor, total)
    return sums, finished


def gathered(
    seeds: Sequence[tuple[Taped, Any]],
    create_graph: bool,
    retain_graph: bool,
    stops: Sequence[Taped] = (),
) -> tuple[_Sums, dict[tuple[Node, int], Any]]:
    """Run the tape backwards, never through `stops`; return sums for leaves and Node results."""
    sums = _SumsBeside(stops) if stops else _Sums()
    finished: dict[tuple[Node, int], Any] = {}
    with set_grad_enabled(create_graph), autocasting(None):
        for tensor, seed in seeds:
            sums.add(tensor, tensor.node, tensor.index, seed)
        order = _order([t.node for t, _ in seeds if t.node is not None])
        for node in order:
            gradients = sums.of_nodes.pop(node, None)
            if gradients is None:
                continue
            for index, gradient in enumerate(gradients):
                for hook in node.hooks.get(index, ()) if gradient is not None else ():
                    changed = hook(gradients[index])
                    gradients[index] = gradients[index] if changed is None else changed
                finished[node, index] = gradients[index]
            edges = node.edges
            for edge, gradient in zip(edges or (), node.gradients(gradients), strict=False):
                if gradient is not None:
                    sums.add(edge.tensor, edge.node, edge.index, gradient)
            if not retain_graph:
                node.free()
    return sums, finished


def backward(tensor: Any, gradient: Any = None, retain_graph: bool = False) -> None:
    """Add d tensor / d leaf to `leaf.grad` of every leaf that needs gradients.

    Without a gradient to start with it is that of the sum of the elements. Raises ArgumentError if
    the tensor does not depend on anything that needs gradients.
    """
    if tensor.stop_gradient:
        refuse_stopped(tensor)
    seed = seed_of(tensor, gradient)
    sums, _ = _walk([(tensor, seed)], create_graph=False, retain_graph=retain_graph)
    at_end: dict[AfterBackward, None] = {}
    for leaf, total in sums.of_leaves.values():
        if leaf.stopped:
            continue
        known = leaf.grad
        if known is None or known.array is no_gradient(known.array.shape, known.array.dtype):
            leaf.grad = total.alias(total.array, None, 0)
        else:
            with set_grad_enabled(False):
                leaf.grad = F.add(known, total)
        for hook in leaf.hooks or ():
            if isinstance(hook, AfterBackward):
                if hook.at_end:
                    at_end[hook] = None
                else:
                    hook.run()
    for hook in at_end:
        hook.run()


@lru_cache(maxsize=1024)
def no_gradient(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """The zeros that `clear_grad` of an optimizer leaves: one zero, for all tensors of a shape.

    Nobody can write to it.
    """
    return np.ndarray(shape, dtype, bytes(dtype.itemsize), 0, (0,) * len(shape))


def is_cleared(leaf: Any) -> bool:
    """Whether the gradient of a leaf is one zero that stands for all.

    Such zeros are left by `clear_grad`, of a converted function too.
    """
    array = None if leaf._grad is None else leaf._grad.array
    if array is None or array.size < _MANY:
        return False
    return not any(array.strides) and not array.flat[0]


def cut_off(tensor: Any) -> None:
    """Let a tensor, or those of a list, be as if a `backward` had freed what made them."""
    if isinstance(tensor, list):
        for one in tensor:
            cut_off(one)
        return
    node = Node(lookup("assign"), [], [], {})
    node.free()
    tensor.node, tensor.index, tensor.stopped = node, 0, False


def refuse_stopped(tensor: Any) -> NoReturn:
    """Raise the error of a `backward` that has nowhere to go."""
    if not is_differentiable(tensor.dtype):
        raise ArgumentError(
            f"backward() of a tensor of dtype {tensor.dtype}, which has no gradient: compute the "
            "loss in floats; a cast to integers or bools ends every gradient"
        )
    raise ArgumentError(
        "backward() of a tensor that has stop_gradient=True: nothing that it was computed from "
        "wants a gradient. Set x.stop_gradient = False on what you differentiate by before it "
        "is used, and compute outside of no_grad()"
    )


@without_own_frames
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Any]:
    """Gradients of the sum of outputs with respect to each input, without touching `.grad`.

    `create_graph` makes the result differentiable itself. An input that no output depends on gives
    None with `allow_unused` and ArgumentError without. No gradient flows through `no_grad_vars`.

    >>> x = dy2st.to_tensor([3.0], stop_gradient=False)
    >>> (first,) = dy2st.grad(x**3, x, create_graph=True)
    >>> first.tolist(), dy2st.grad(first, x)[0].tolist()
    ([27.0], [18.0])
    """
    if not only_inputs:
        raise ArgumentError("grad: call backward() for the gradients of all leaves")
    several = isinstance(no_grad_vars, (set, frozenset))
    stops = [] if no_grad_vars is None else _as_list([*no_grad_vars] if several else no_grad_vars)
    outputs, inputs = _as_list(outputs), _as_list(inputs)
    seeds = [None] * len(outputs) if grad_outputs is None else _as_list(grad_outputs)
    pairs = [(output, seed_of(output, seed)) for output, seed in zip(outputs, seeds, strict=True)]
    tracer = active()
    if hasattr(tracer, "captured"):
        if stops:
            raise ArgumentError(
                "grad: no_grad_vars while a function is traced; use x.detach() where no gradient "
                "is to flow"
            )
        results = _traced(tracer, pairs, inputs, create_graph, not allow_unused)
    else:
        retain = create_graph if retain_graph is None else retain_graph
        # The gradients by the tape, None for an input that has no part in the outputs.
        wanted = [(t.node, t.index) for t in inputs]
        sums, finished = _walk(pairs, create_graph, retain, stops)
        results = [
            finished.get((node, index)) if node else sums.of_leaves.get(id(tensor), (None, None))[1]
            for tensor, (node, index) in zip(inputs, wanted, strict=True)
        ]
        results = [_wanting(result) for result in results] if create_graph else results
    if not allow_unused and any(result is None for result in results):
        for one in inputs:
            if not is_differentiable(one.dtype):
                raise ArgumentError(
                    f"grad: an input of dtype {one.dtype} has no gradient: cast it to a float "
                    "before it is used, and take the gradient by that"
                )
        raise ArgumentError(
            "an input has no part in the outputs; pass allow_unused=True to get None for it"
        )
    return results


def _wanting(result: Any) -> Any:
    """A gradient that can be differentiated, though it may depend on nothing."""
    if result is None or not result.stopped:
        return result
    result = result.alias(result.array, None, 0)  # it may be a tensor of the user's
    result.stopped = False
    return result


def _traced(
    tracer: Any,
    pairs: Sequence[tuple[Any, Any]],
    inputs: Sequence[Any],
    create_graph: bool,
    is_needed: bool,
) -> list[Any]:
    """The gradients, recorded into the Program in the making."""
    outputs = [tracer.captured(output) for output, _ in pairs]
    seeds = [tracer.variable(seed) for _, seed in pairs]
    ends = [*map(tracer.captured, inputs)]
    found: list[Any] = _inside.gradients(tracer, outputs, seeds, ends, create_graph, is_needed)
    return found


def seed_of(tensor: Any, gradient: Any) -> Any:
    """The gradient to start with: of the sum of the elements, if none is given."""
    if gradient is None:
        array = getattr(tensor, "array", None)
        if array is None or active() is not None:
            return F.ones_like(tensor).detach()
        return tensor.alias(np.ones(array.shape, array.dtype), None, 0)
    if not hasattr(gradient, "shape"):
        raise ArgumentError(f"the gradient to start with is a tensor, not {gradient!r:.80}")
    what = f"the gradient has shape {gradient.shape}, the tensor has {tensor.shape}"
    if len(gradient.shape) != len(tensor.shape):
        raise ArgumentError(what)
    for size, wanted in zip(gradient.shape, tensor.shape, strict=True):
        if isinstance(size, int) and isinstance(wanted, int) and size != wanted:
            raise ArgumentError(what)
        require_equal(size, wanted, what)
    return gradient


def _as_list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]
