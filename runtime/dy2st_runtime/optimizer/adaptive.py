"""Optimizers that give each element a rate of its own: Adagrad, RMSProp, Lamb and relatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.nn.clip import ClipGradBase
from dy2st_runtime.optimizer.optimizer import Array, Decay, Optimizer, Parameters, Rate, State
from dy2st_runtime.optimizer.optimizers import Adam


class Adagrad(Optimizer):
    """s = s + g**2;  w = w - rate * g / (sqrt(s) + epsilon) (Duchi et al. 2011)."""

    def __init__(
        self,
        learning_rate: Rate,
        epsilon: float = 1e-6,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ):
        """Take the first value of the sum."""
        rule: dict[str, Any] = {
            "epsilon": epsilon,
            "initial_accumulator_value": initial_accumulator_value,
        }
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, **rule)

    def first_state(self, weight: Array, settings: dict[str, Any]) -> State:
        """The sum of squares."""
        return {"moment": np.full_like(weight, settings["initial_accumulator_value"])}

    def update(
        self, weight: Array, gradient: Array, rate: float, state: State, settings: dict[str, Any]
    ) -> Array:
        """One step."""
        kind = weight.dtype.type
        total = state["moment"] = state["moment"] + gradient**2
        return np.asarray(
            weight - kind(rate) * gradient / (np.sqrt(total) + kind(settings["epsilon"]))
        )


class Adadelta(Optimizer):
    """d = g * sqrt((u + epsilon) / (s + epsilon));  w = w - rate * d (Zeiler 2012).

    s and u are moving means of g**2 and d**2.
    """

    slots = ("_avg_squared_grad", "_avg_squared_update")

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ):
        """Take the decay rate of the means."""
        rule: dict[str, Any] = {"epsilon": epsilon, "rho": rho}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, **rule)

    def update(
        self, weight: Array, gradient: Array, rate: float, state: State, settings: dict[str, Any]
    ) -> Array:
        """One step."""
        kind = weight.dtype.type
        rho, rest = kind(settings["rho"]), kind(1 - settings["rho"])
        epsilon = kind(settings["epsilon"])
        grads, updates = self.slots
        mean = state[grads] = rho * state[grads] + rest * gradient**2
        change = gradient * np.sqrt((state[updates] + epsilon) / (mean + epsilon))
        state[updates] = rho * state[updates] + rest * change**2
        return np.asarray(weight - kind(rate) * change)


class Adamax(Adam):
    """m = moving mean of g;  u = max(beta2 * u, |g|);  w = w - rate * m' / (u + epsilon).

    m' is corrected for its start at zero (Kingma and Ba 2014).
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ):
        """Take the decay rates."""
        common: Any = {"parameters": parameters, "weight_decay": weight_decay, "name": name}
        super().__init__(learning_rate, beta1, beta2, epsilon, grad_clip=grad_clip, **common)

    def first_state(self, weight: Array, settings: dict[str, Any]) -> State:
        """Mean and largest at zero, and beta1 to the power of the next step."""
        return {
            "moment": np.zeros_like(weight),
            "inf_norm": np.zeros_like(weight),
            "beta1_pow_acc": np.full(1, settings["beta1"]),
        }

    def update(
        self, weight: Array, gradient: Array, rate: float, state: State, settings: dict[str, Any]
    ) -> Array:
        """One step."""
        kind, beta1 = weight.dtype.type, settings["beta1"]
        m = state["moment"] = kind(beta1) * state["moment"] + kind(1 - beta1) * gradient
        decayed = kind(settings["beta2"]) * state["inf_norm"] + kind(settings["epsilon"])
        largest = state["inf_norm"] = np.maximum(np.abs(gradient), decayed)
        power = float(state["beta1_pow_acc"][0])
        state["beta1_pow_acc"] = state["beta1_pow_acc"] * beta1
        return np.asarray(weight - kind(rate / (1 - power)) * m / largest)


class RMSProp(Optimizer):
    """s = moving mean of g**2;  d = momentum * d + rate * g / sqrt(s + epsilon);  w = w - d.

    `centered` takes the square of the moving mean of g from s (Hinton 2012, Graves 2013).
    """

    slots = ("momentum", "mean_square", "mean_grad")

    def __init__(
        self,
        learning_rate: Rate,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ):
        """Take the decay rate of the means."""
        rule: dict[str, Any] = {
            "rho": rho,
            "epsilon": epsilon,
            "momentum": momentum,
            "centered": centered,
        }
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, **rule)

    def update(
        self, weight: Array, gradient: Array, rate: float, state: State, settings: dict[str, Any]
    ) -> Array:
        """One step."""
        kind = weight.dtype.type
        rho, rest = kind(settings["rho"]), kind(1 - settings["rho"])
        spread = state["mean_square"] = rho * state["mean_square"] + rest * gradient**2
        if settings["centered"]:
            mean = state["mean_grad"] = rho * state["mean_grad"] + rest * gradient
            spread = spread - mean**2
        change = kind(rate) * gradient / np.sqrt(spread + kind(settings["epsilon"]))
        change = state["momentum"] = kind(settings["momentum"]) * state["momentum"] + change
        return np.asarray(weight - change)


class Lamb(Adam):
    """r = m' / (sqrt(v') + epsilon) + decay * w;  w = w - rate * |w| / |r| * r (You et al. 2019).

    Where `exclude_from_weight_decay_fn(parameter)` is True there is no decay, and without
    `always_adapt` no factor |w| / |r|.
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-6,
        parameters: Parameters = None,
        grad_clip: ClipGradBase | None = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ):
        """Take the decay, and who does not decay."""
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters,
            grad_clip=grad_clip,
            multi_precision=multi_precision,
            name=name,
        )
        self._default_dict["lamb_weight_decay"] = float(lamb_weight_decay)
        self._exclude_from_weight_decay_fn = exclude_from_weight_decay_fn
        self._always_adapt = always_adapt

    def update(
        self, weight: Array, gradient: Array, rate: float, state: State, settings: dict[str, Any]
    ) -> Array:
        """One step."""
        kind, excluded = weight.dtype.type, self._exclude_from_weight_decay_fn
        is_out = excluded is not None and excluded(settings["parameter"])
        decay = 0.0 if is_out else settings["lamb_weight_decay"]
        zeros = np.zeros_like(weight)
        direction = -super().update(zeros, gradient, 1.0, state, settings) + kind(decay) * weight
        if decay > 0 or self._always_adapt:
            sizes = [float(np.linalg.norm(array.ravel())) for array in (weight, direction)]
            rate *= sizes[0] / sizes[1] if sizes[0] > 0 and sizes[1] > 0 else 1.0
        return np.asarray(weight - kind(rate) * direction)


class NAdam(Optimizer):
    """Adam with Nesterov's momentum, whose weight mu grows from step to step (Dozat 2016).

    mu_t = beta1 * (1 - 0.96**(t * momentum_decay) / 2).
    """

    def __init__(
        self,
        learning_rate: Rate = 0.002,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: float = 1e-8,
        momentum_decay: float = 0.004,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ):
        """Take the decay rates."""
        rule: dict[str, Any] = {"beta1": float(beta1), "beta2": float(beta2), "epsilon": epsilon}
        rule["momentum_decay"] = momentum_decay
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, **rule)

    def first_state(self, weight: Array, settings: dict[str, Any]) -> State:
        """Means at zero, and what the next step multiplies."""
        return {
            "moment1": np.zeros_like(weight),
            "moment2": np.zeros_like(weight),
            "momentum_decay_pow": np.ones(1),
            "beta2_pow": np.ones(1),
            "mu_product": np.ones(1),
        }

    def update(
        self, weight: Array, gradient: Array, rate: float, state: State, settings: dict[str, Any]
    ) -> Array:
        """One step."""
        kind, beta1, beta2 = weight.dtype.type, settings["beta1"], settings["beta2"]
        growth = 0.96 ** settings["momentum_decay"]
        decay = state["momentum_decay_pow"] = state["momentum_decay_pow"] * growth
        power = state["beta2_pow"] = state["beta2_pow"] * beta2
        mu, next_mu = beta1 * (1 - 0.5 * decay[0]), beta1 * (1 - 0.5 * decay[0] * growth)
        product = state["mu_product"] = state["mu_product"] * mu
        m = state["moment1"] = kind(beta1) * state["moment1"] + kind(1 - beta1) * gradient
        v = state["moment2"] = kind(beta2) * state["moment2"] + kind(1 - beta2) * gradient**2
        ahead = kind(next_mu / (1 - product[0] * next_mu)) * m
        ahead = ahead + kind((1 - mu) / (1 - product[0])) * gradient
        spread = np.sqrt(v / kind(1 - power[0])) + kind(settings["epsilon"])
        return np.asarray(weight - kind(rate) * ahead / spread)


class RAdam(Optimizer):
    """Adam that starts as momentum alone, until its second mean is known well (Liu et al. 2019)."""

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: float = 1e-8,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ):
        """Take the decay rates."""
        rule: dict[str, Any] = {"beta1": float(beta1), "beta2": float(beta2), "epsilon": epsilon}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, **rule)

    def first_state(self, weight: Array, settings: dict[str, Any]) -> State:
        """Means at zero, and what the next step multiplies."""
        return {
            "moment1": np.zeros_like(weight),
            "moment2": np.zeros_like(weight),
            "beta1_pow": np.ones(1),
            "beta2_pow": np.ones(1),
            "rho": np.zeros(1),
        }

    def update(
        self, weight: Array, gradient: Array, rate: float, state: State, settings: dict[str, Any]
    ) -> Array:
        """One step."""
        kind, beta1, beta2 = weight.dtype.type, settings["beta1"], settings["beta2"]
        power1 = state["beta1_pow"] = state["beta1_pow"] * beta1
        power2 = state["beta2_pow"] = state["beta2_pow"] * beta2
        step = state["rho"] = state["rho"] + 1
        m = state["moment1"] = kind(beta1) * state["moment1"] + kind(1 - beta1) * gradient
        v = state["moment2"] = kind(beta2) * state["moment2"] + kind(1 - beta2) * gradient**2
        mean = m / kind(1 - power1[0])
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step[0] * power2[0] / (1 - power2[0])
        if length <= 5:
            return np.asarray(weight - kind(rate) * mean)
        ratio = (length - 4) * (length - 2) * longest
        ratio /= (longest - 4) * (longest - 2) * length
        spread = np.sqrt(v) + kind(settings["epsilon"])
        factor = math.sqrt(ratio) * math.sqrt(1 - power2[0])
        return np.asarray(weight - kind(rate) * mean * kind(factor) / spread)


__all__ = ["Adadelta", "Adagrad", "Adamax", "Lamb", "NAdam", "RAdam", "RMSProp"]
