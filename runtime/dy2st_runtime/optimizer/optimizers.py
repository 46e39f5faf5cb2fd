"""SGD, Momentum, Adam, AdamW: each is one update rule on arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, ParameterMismatch
from dy2st_runtime.nn.clip import GradientClip
from dy2st_runtime.optimizer.lr import LRScheduler
from dy2st_runtime.regularizer import L2Decay, WeightDecayRegularizer
from dy2st_runtime.tensor import EagerTensor, Parameter

Array = np.ndarray[Any, Any]


class Optimizer:
    """Base: gathers gradients, regularises and clips them, and updates every parameter.

    learning_rate   a number or a schedule.
    parameters      the Parameters to train.
    weight_decay    a coefficient of L2Decay, or a regulariser.
    grad_clip       a limit on the gradients, after weight decay has been added as in Paddle.
    """

    slots: tuple[str, ...] = ()

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Iterable[Parameter] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: GradientClip | None = None,
    ):
        """Check and keep; ArgumentError without parameters."""
        call = f"{type(self).__name__}(learning_rate, parameters=layer.parameters())"
        if isinstance(learning_rate, (list, tuple, dict, Iterator)):
            raise ArgumentError(
                "the first argument of an optimizer is its learning rate, and parameters were "
                f"given: write {call}"
            )
        self._parameters = list(parameters or ())
        if not self._parameters:
            raise ArgumentError(f"an optimizer needs parameters to move: write {call}")
        for parameter in self._parameters:
            if not isinstance(parameter, EagerTensor):
                raise TypeError(f"parameters are tensors, not {type(parameter).__name__}")
        self._learning_rate = learning_rate
        is_number = isinstance(weight_decay, (int, float))
        decay: Any = L2Decay(weight_decay) if is_number else weight_decay  # type: ignore[arg-type]
        self._decay: WeightDecayRegularizer | None = decay
        self._clip = grad_clip
        # Of every parameter, how often it was updated: some have no gradient in some steps.
        self._steps = [0] * len(self._parameters)
        self._state: list[dict[str, Array]] = [{} for _ in self._parameters]

    def get_lr(self) -> float:
        """The learning rate now."""
        rate = self._learning_rate
        if isinstance(rate, LRScheduler):
            return rate()
        return float(rate)

    def set_lr(self, value: float) -> None:
        """Set the learning rate; TypeError if a schedule decides it."""
        if isinstance(self._learning_rate, LRScheduler):
            raise TypeError("the learning rate is decided by a schedule")
        self._learning_rate = float(value)

    def step(self) -> None:
        """Update every parameter that has a gradient."""
        entries = [
            (i, parameter, parameter.grad.array)
            for i, parameter in enumerate(self._parameters)
            if parameter.grad is not None and not parameter.stop_gradient
        ]
        gradients = [self._regularised(p.array, g) for _, p, g in entries]
        if self._clip is not None:
            gradients = self._clip(gradients)
        rate = self.get_lr()
        for (i, parameter, _), gradient in zip(entries, gradients, strict=True):
            weight = parameter.array
            state = self._state[i]
            for slot in self.slots:
                state.setdefault(slot, np.zeros_like(weight))
            self._steps[i] += 1
            step = weight.dtype.type(rate), self._steps[i]
            parameter.array = self.update(weight, gradient, *step, state)

    def _regularised(self, weight: Array, gradient: Array) -> Array:
        return gradient if self._decay is None else gradient + self._decay(weight)

    def update(
        self, weight: Array, gradient: Array, rate: Any, step: int, state: dict[str, Array]
    ) -> Array:
        """The new weight after `step` updates, this one counted; changes the arrays in `state`."""
        raise NotImplementedError

    def clear_grad(self, set_to_zero: bool = False) -> None:
        """Forget the gradients, or set them to zero."""
        for parameter in self._parameters:
            if set_to_zero and parameter.grad is not None:
                parameter.grad = EagerTensor(np.zeros_like(parameter.array))
            else:
                parameter.grad = None

    clear_gradients = clear_grad

    def minimize(self, loss: Any) -> None:
        """`loss.backward()` and `step()`."""
        loss.backward()
        self.step()

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later: moments by position and name, steps, schedule."""
        state: dict[str, Any] = {
            f"{i}.{slot}": array.copy()
            for i, slots in enumerate(self._state)
            for slot, array in slots.items()
        }
        state["steps"] = list(self._steps)
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state_dict`; ParameterMismatch if it belongs to other parameters."""
        slots: list[dict[str, Array]] = [{} for _ in self._parameters]
        for key, array in state.items():
            if key in ("steps", "LR_Scheduler"):
                continue
            index, _, slot = key.partition(".")
            fits = index.isdigit() and int(index) < len(slots) and slot in self.slots
            if not fits or np.shape(array) != self._parameters[int(index)].array.shape:
                raise ParameterMismatch(f"{key!r} does not fit the parameters of this optimizer")
            slots[int(index)][slot] = np.array(array)
        self._state, self._steps = slots, list(state.get("steps", self._steps))
        if isinstance(self._learning_rate, LRScheduler) and "LR_Scheduler" in state:
            self._learning_rate.set_state_dict(state["LR_Scheduler"])


class SGD(Optimizer):
    """w = w - rate * g."""

    def update(
        self, weight: Array, gradient: Array, rate: Any, step: int, state: dict[str, Array]
    ) -> Array:
        """One step."""
        return np.asarray(weight - rate * gradient)


class Momentum(Optimizer):
    """v = momentum * v + g;  w = w - rate * v, or with Nesterov w - rate * (g + momentum * v)."""

    slots = ("velocity",)

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Iterable[Parameter] | None = None,
        use_nesterov: bool = False,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: GradientClip | None = None,
    ):
        """Take the momentum."""
        super().__init__(learning_rate, parameters, weight_decay, grad_clip)
        self._momentum, self._nesterov = momentum, use_nesterov

    def update(
        self, weight: Array, gradient: Array, rate: Any, step: int, state: dict[str, Array]
    ) -> Array:
        """One step."""
        momentum = weight.dtype.type(self._momentum)
        velocity = state["velocity"] = momentum * state["velocity"] + gradient
        direction = gradient + momentum * velocity if self._nesterov else velocity
        return np.asarray(weight - rate * direction)


class Adam(Optimizer):
    """m, v = moving means of g and g**2;  w = w - rate * m' / (sqrt(v') + epsilon).

    m' and v' are corrected for their start at zero (Kingma and Ba 2014).
    """

    slots = ("moment1", "moment2")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Parameter] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: GradientClip | None = None,
    ):
        """Take the decay rates of the means."""
        super().__init__(learning_rate, parameters, weight_decay, grad_clip)
        self._betas, self._epsilon = (beta1, beta2), epsilon

    def update(
        self, weight: Array, gradient: Array, rate: Any, step: int, state: dict[str, Array]
    ) -> Array:
        """One step."""
        kind = weight.dtype.type
        beta1, beta2 = self._betas
        m = state["moment1"] = kind(beta1) * state["moment1"] + kind(1 - beta1) * gradient
        v = state["moment2"] = kind(beta2) * state["moment2"] + kind(1 - beta2) * gradient**2
        mean = m / kind(1 - beta1**step)
        spread = np.sqrt(v / kind(1 - beta2**step)) + kind(self._epsilon)
        return np.asarray(weight - rate * mean / spread)


class AdamW(Adam):
    """Adam with decoupled weight decay: first w = w * (1 - rate * decay) (Loshchilov 2017)."""

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Parameter] | None = None,
        weight_decay: float = 0.01,
        grad_clip: GradientClip | None = None,
    ):
        """Take the coefficient of the decay, a number."""
        super().__init__(learning_rate, beta1, beta2, epsilon, parameters, None, grad_clip)
        self._decoupled = float(weight_decay)

    def update(
        self, weight: Array, gradient: Array, rate: Any, step: int, state: dict[str, Array]
    ) -> Array:
        """One step."""
        weight = weight * weight.dtype.type(1 - float(rate) * self._decoupled)
        return super().update(weight, gradient, rate, step, state)


__all__ = ["SGD", "Adam", "AdamW", "Momentum", "Optimizer"]
