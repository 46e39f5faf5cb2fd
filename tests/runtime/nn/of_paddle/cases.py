"""Calls of layers and functions that PaddlePaddle has answered: what each is made of.

A case says how a layer or function is made from a package, PaddlePaddle or dy2st, and with which
inputs it is called. `record` asks PaddlePaddle; the answers are in `tests/data/paddle`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """One call: `make(package)` gives what is called with the inputs.

    unknown   the axes of each input whose sizes are unknown where the case is converted
    fixed     the inputs that want no gradient
    """

    name: str
    make: Callable[[Any], Any]
    inputs: tuple[np.ndarray, ...]
    unknown: tuple[tuple[int, ...], ...]
    gradient: bool = True
    fixed: tuple[int, ...] = ()


def wave(*shape: int, phase: float = 0.0, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """Numbers between two others, no two of them alike."""
    steps = np.arange(np.prod(shape, dtype=int)) * 0.71 + phase
    share = (np.sin(steps) + np.sin(steps * 2.3)) / 4 + 0.5
    return (low + share * (high - low)).astype("float32").reshape(shape)


def whole(*shape: int, below: int, step: int = 7, low: int = 0) -> np.ndarray:
    """Integers from `low` to `below` - 1."""
    numbers = np.arange(np.prod(shape, dtype=int)) * step
    return (low + numbers % (below - low)).astype("int64").reshape(shape)


class Cases:
    """The cases of one family, in the order in which they were added."""

    def __init__(self, family: str):
        """Start empty."""
        self.family, self.cases = family, dict[str, Case]()

    def layer(self, name: str, make: Callable[[Any], Any], *inputs: Any, **settings: Any) -> None:
        """Add a call of a layer that `make` makes of the name space `nn`."""
        self._add(name, lambda package: make(package.nn), inputs, **settings)

    def function(self, name: str, call: Callable[..., Any], *inputs: Any, **settings: Any) -> None:
        """Add a call of `call(F, *inputs)`, F being the name space `nn.functional`."""

        def make(package: Any) -> Any:
            return lambda *tensors: call(package.nn.functional, *tensors)

        self._add(name, make, inputs, **settings)

    def _add(
        self,
        name: str,
        make: Callable[[Any], Any],
        inputs: tuple[np.ndarray, ...],
        unknown: tuple[tuple[int, ...], ...] | None = None,
        gradient: bool = True,
        fixed: tuple[int, ...] = (),
    ) -> None:
        assert name not in self.cases, name
        axes = ((0,),) * len(inputs) if unknown is None else unknown
        self.cases[name] = Case(name, make, inputs, axes, gradient, fixed)


def flat(results: Any) -> list[Any]:
    """The tensors of results, in order."""
    if isinstance(results, (list, tuple)):
        return [tensor for part in results for tensor in flat(part)]
    return [] if results is None else [results]


def prepared(package: Any, case: Case) -> tuple[Any, dict[str, Any]]:
    """What a case calls, its parameters set to known numbers; and the parameters."""
    called = case.make(package)
    parameters = dict(called.named_parameters()) if hasattr(called, "named_parameters") else {}
    for number, name in enumerate(sorted(parameters)):
        shape = parameters[name].shape
        parameters[name].set_value(wave(*shape, phase=number + 0.5, low=-0.5, high=0.5))
    return called, parameters


def answer(
    package: Any, case: Case, converted: Callable[[Any], Any] = lambda called: called
) -> dict[str, Any]:
    """What a package gives: results, parameters, and gradients of inputs and parameters.

    `converted` may put another function in place of the one that is called.
    """
    called, parameters = prepared(package, case)
    called = converted(called)
    tensors = [package.to_tensor(array) for array in case.inputs]
    moved = [
        tensor
        for place, (tensor, array) in enumerate(zip(tensors, case.inputs, strict=True))
        if array.dtype.kind == "f" and place not in case.fixed
    ]
    for tensor in moved:
        tensor.stop_gradient = not case.gradient
    results = flat(called(*tensors))
    arrays = [result.numpy() for result in results]
    gradients: list[np.ndarray] = []
    if case.gradient:
        floats = [r for r, array in zip(results, arrays, strict=True) if array.dtype.kind == "f"]
        weights = [wave(*result.shape, phase=2.0) for result in floats]
        loss = sum((r * package.to_tensor(w)).sum() for r, w in zip(floats, weights, strict=True))
        loss.backward()
        wanted = [*moved, *(parameters[name] for name in sorted(parameters))]
        gradients = [np.zeros(t.shape) if t.grad is None else t.grad.numpy() for t in wanted]
    return {
        "results": arrays,
        "parameters": {name: list(p.shape) for name, p in sorted(parameters.items())},
        "gradients": gradients,
    }
