"""Computes parts of a model again for gradients, instead of keeping their values."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from dy2st_runtime.autograd import Edge, Node, gathered
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.grad_mode import is_grad_enabled, set_grad_enabled
from dy2st_runtime.ir.promotion import autocast, autocasting
from dy2st_runtime.ir.structure import flatten, rebuild
from dy2st_runtime.ir.tracing.tracer import Tracer, converted, current_tracer
from dy2st_runtime.nn import Layer
from dy2st_runtime.ops.generator import get_rng_state, set_rng_state
from dy2st_runtime.tensor import EagerTensor


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`, of which only what it begins with is kept for gradients.

    They are the same to the last bit: the second time the function finds the same random numbers,
    and buffers of a Layer become what they were. Where it computes other numbers, that is refused.
    In a converted function random numbers are kept, and so is what a branch or a loop that a tensor
    decides gives and keeps.

    >>> from dy2st import nn, ones
    >>> block = nn.Linear(2, 2)
    >>> recompute(block, ones([1, 2])).sum().backward()
    >>> block.bias.grad.tolist()
    [1.0, 1.0]
    """
    for option in ("preserve_rng_state", "use_reentrant"):
        kwargs.pop(option, None)
    tracer = current_tracer()
    if tracer is not None:
        with _numbered(tracer):
            return converted(function)(*args, **kwargs)
    if not is_grad_enabled():
        return function(*args, **kwargs)
    return _Call(function, (args, kwargs)).first()


@contextmanager
def _numbered(tracer: Tracer) -> Iterator[None]:
    """What is traced inside belongs together; what is called in there is part of it."""
    before = tracer.recompute_call
    tracer.recompute_call = before or len(tracer.block.operators) + 1
    try:
        yield
    finally:
        tracer.recompute_call = before


class _Call:
    """A call that can be made again."""

    def __init__(self, function: Callable[..., Any], arguments: Any) -> None:
        self._function = function
        tensors, self._structure = flatten(arguments, _is_tensor)
        self._given = [Edge(tensor) for tensor in tensors]
        self._random, self._settings = get_rng_state(), autocast()

    def first(self) -> Any:
        """The results, made by one Node."""
        given = [edge.tensor for edge in self._given]
        result = self._run(given)
        tensors, structure = flatten(result, _is_tensor)
        self._results = [weakref.ref(tensor.array) for tensor in tensors]
        known = {id(tensor) for tensor in given}
        nodes = [one.node for one in tensors if one.node is not None and id(one) not in known]
        if not nodes:
            return result
        node, made = _Again(self, list(_ends(nodes, given)), tensors), dict[int, Any]()
        for place, one in enumerate(tensors):
            is_made = one.node is not None and id(one) not in known
            made.setdefault(id(one), one.alias(one.array, node, place) if is_made else one)
        return rebuild(structure, [made[id(one)] for one in tensors])

    def again(self) -> tuple[list[Any], dict[int, Any]]:
        """The tensors of the results, and those that stand for what was given, by its id."""
        stand_ins = [EagerTensor(edge.array, edge.stopped) for edge in self._given]
        buffers = [(one, one.array) for one in _buffers(self._function)]
        now = get_rng_state()
        set_rng_state(self._random)
        try:
            with set_grad_enabled(True), autocasting(self._settings):
                tensors, _ = flatten(self._run(stand_ins), _is_tensor)
        finally:
            set_rng_state(now)
            for buffer, array in buffers:
                buffer.put(array)
        # other results than those of the first time, as far as anybody still has them
        if len(tensors) != len(self._results):
            self.refuse("gives other results")
        for tensor, known in zip(tensors, self._results, strict=True):
            before = known()
            if before is not None and tensor.array.tobytes() != before.tobytes():
                self.refuse("computes other numbers")
        pairs = zip(self._given, stand_ins, strict=True)
        return tensors, {id(edge.tensor): one for edge, one in pairs}

    def _run(self, tensors: list[Any]) -> Any:
        args, kwargs = rebuild(self._structure, tensors)
        return self._function(*args, **kwargs)

    def refuse(self, what: str) -> NoReturn:
        """Say that the call cannot be made again."""
        name = getattr(self._function, "__name__", type(self._function).__name__)
        raise ArgumentError(
            f"recompute: {name} {what} when it is called again for gradients; let nothing that it "
            "reads change before backward(), and give it all tensors as arguments"
        )


class _Again(Node):
    """A call on the tape: to find gradients it is made again."""

    __slots__ = ("_call",)

    def __init__(self, call: _Call, ends: list[Any], tensors: list[Any]) -> None:
        super().__init__(_RECORD, ends, [], {})
        self._call: _Call | None = call
        self.outputs = [_NOTHING] * len(tensors)

    def gradients(self, output_gradients: list[Any]) -> list[Any]:
        """Gradients of what the call has read, None where there is none."""
        edges, call = self.edges, self._call
        assert edges is not None and call is not None
        if is_grad_enabled():
            raise ArgumentError(
                "recompute: the gradient of a gradient through it; call the function itself"
            )
        tensors, stand_ins = call.again()
        wanted = [stand_ins.get(id(edge.tensor), edge.tensor) for edge in edges]
        for edge, tensor in zip(edges, wanted, strict=True):
            if tensor.array is not edge.array:
                call.refuse("finds other parameters")
        pairs = zip(tensors, output_gradients, strict=True)
        seeds = [(one, gradient) for one, gradient in pairs if gradient is not None]
        sums, _ = gathered(seeds, create_graph=False, retain_graph=True)
        return [sums.of_leaves.get(id(tensor), (None, None))[1] for tensor in wanted]

    def free(self) -> None:
        """Drop what the Node holds."""
        super().free()
        self._call = None


class _Record:
    """What the tape calls such a Node."""

    name = "recompute"
    gradient = None


_RECORD = _Record()
_NOTHING: Any = np.zeros(0)


def _ends(nodes: Iterable[Any], given: list[Any]) -> Iterator[Any]:
    """What gradients of these Nodes go to: given tensors, and leaves."""
    known = {(one.node, one.index): one for one in given if one.node is not None}
    todo, seen, found = list(nodes), set(nodes), set[int]()
    while todo:
        for edge in todo.pop().edges or ():
            if not edge.needs_gradient:
                continue
            is_end = edge.node is None or (edge.node, edge.index) in known
            tensor = known.get((edge.node, edge.index), edge.tensor)
            if is_end and id(tensor) not in found:
                found.add(id(tensor))
                yield tensor
            elif not is_end and edge.node not in seen:
                seen.add(edge.node)
                todo.append(edge.node)


def _buffers(function: Any) -> list[Any]:
    """The buffers of the Layer that is called, or whose method is."""
    for one in (function, getattr(function, "__self__", None)):
        if isinstance(one, Layer):
            return list(one.buffers())
    return []


def _is_tensor(value: Any) -> bool:
    return isinstance(value, EagerTensor)


__all__ = ["recompute"]
