"""Optimizers that give each element a rate of its own: Adagrad, RMSProp, Lamb and relatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dy2st_runtime.nn.clip import ClipGradBase
from dy2st_runtime.optimizer.optimizer import Decay, Optimizer, Parameters, Rate, State
from dy2st_runtime.optimizer.optimizers import Adam
from dy2st_runtime.parameter_updates import (
    Value,
    absolute,
    full_like,
    kept,
    maximum,
    norm,
    sqrt,
)


class Adagrad(Optimizer):
    """s = s + g**2;  w = w - rate * g / (sqrt(s) + epsilon) (Duchi et al. 2011).

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.Adagrad(0.1, parameters=[w])
    >>> _ = opt.apply_gradients([(w, dy2st.to_tensor([5.0]))])
    >>> round(w.item(), 3)
    0.9
    """

    is_elementwise = True

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

    def first_state(self, weight: Value, settings: dict[str, Any]) -> State:
        """The sum of squares."""
        return {"moment": full_like(weight, settings["initial_accumulator_value"])}

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        total = state["moment"] = state["moment"] + gradient * gradient
        return weight - rate * gradient / (sqrt(total) + settings["epsilon"])


class Adadelta(Optimizer):
    """d = g * sqrt((u + epsilon) / (s + epsilon));  w = w - rate * d (Zeiler 2012).

    s and u are moving means of g**2 and d**2.

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.Adadelta(1.0, epsilon=1.0, rho=0.0, parameters=[w])
    >>> _ = opt.apply_gradients([(w, dy2st.ones([1]))])
    >>> round(w.item(), 3)  # 1 - sqrt(1 / 2)
    0.293
    """

    is_elementwise = True
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
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        rho, rest = settings["rho"], (1 - settings["rho"])
        epsilon = settings["epsilon"]
        grads, updates = self.slots
        mean = state[grads] = rho * state[grads] + rest * (gradient * gradient)
        change = gradient * sqrt((state[updates] + epsilon) / (mean + epsilon))
        state[updates] = rho * state[updates] + rest * change**2
        return weight - rate * change


class Adamax(Adam):
    """m = moving mean of g;  u = max(beta2 * u, |g|);  w = w - rate * m' / (u + epsilon).

    m' is corrected for its start at zero (Kingma and Ba 2014).

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.Adamax(0.1, parameters=[w])
    >>> _ = opt.apply_gradients([(w, dy2st.to_tensor([5.0]))])
    >>> round(w.item(), 3)
    0.9
    """

    is_elementwise = True

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

    def first_state(self, weight: Value, settings: dict[str, Any]) -> State:
        """Mean and largest at zero, and beta1 to the power of the next step."""
        return {
            "moment": full_like(weight, 0.0),
            "inf_norm": full_like(weight, 0.0),
            "beta1_pow_acc": kept(settings["beta1"]),
        }

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        beta1 = settings["beta1"]
        m = state["moment"] = beta1 * state["moment"] + (1 - beta1) * gradient
        decayed = settings["beta2"] * state["inf_norm"] + settings["epsilon"]
        largest = state["inf_norm"] = maximum(absolute(gradient), decayed)
        power = state["beta1_pow_acc"].item()
        state["beta1_pow_acc"] = state["beta1_pow_acc"] * beta1
        return weight - rate / (1 - power) * m / largest


class RMSProp(Optimizer):
    """s = moving mean of g**2;  d = momentum * d + rate * g / sqrt(s + epsilon);  w = w - d.

    `centered` takes the square of the moving mean of g from s (Hinton 2012, Graves 2013).

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.RMSProp(0.1, rho=0.75, parameters=[w])
    >>> _ = opt.apply_gradients([(w, dy2st.to_tensor([5.0]))])
    >>> round(w.item(), 3)  # 1 - 0.1 * 5 / sqrt(25 / 4)
    0.8
    """

    is_elementwise = True
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
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        rho, rest = settings["rho"], (1 - settings["rho"])
        spread = state["mean_square"] = rho * state["mean_square"] + rest * (gradient * gradient)
        if settings["centered"]:
            mean = state["mean_grad"] = rho * state["mean_grad"] + rest * gradient
            spread = spread - mean**2
        change = rate * gradient / sqrt(spread + settings["epsilon"])
        change = state["momentum"] = settings["momentum"] * state["momentum"] + change
        return weight - change


class Lamb(Adam):
    """r = m' / (sqrt(v') + epsilon) + decay * w;  w = w - rate * |w| / |r| * r (You et al. 2019).

    Where `exclude_from_weight_decay_fn(parameter)` is True there is no decay, and without
    `always_adapt` no factor |w| / |r|.

    Parameters
    ----------
    lamb_weight_decay
        The decay.
    beta1, beta2
        Decay rates of the two means, at least 0 and below 1.
    multi_precision
        Update parameters of 16 bits in float32.

    Examples
    --------
    >>> w = dy2st.to_tensor([2.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.Lamb(0.1, lamb_weight_decay=0.0, parameters=[w])
    >>> _ = opt.apply_gradients([(w, dy2st.to_tensor([5.0]))])
    >>> round(w.item(), 3)
    1.9
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
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        excluded = self._exclude_from_weight_decay_fn
        is_out = excluded is not None and excluded(settings["parameter"])
        decay = 0.0 if is_out else settings["lamb_weight_decay"]
        zeros = full_like(weight, 0.0)
        direction = -super().update(zeros, gradient, 1.0, state, settings) + decay * weight
        if decay > 0 or self._always_adapt:
            size, way = norm([weight]), norm([direction])
            rate = rate * size / way if size > 0 and way > 0 else rate
        return weight - rate * direction


class NAdam(Optimizer):
    """Adam with Nesterov's momentum, whose weight mu grows from step to step (Dozat 2016).

    mu_t = beta1 * (1 - 0.96**(t * momentum_decay) / 2).

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.NAdam(0.1, parameters=[w])
    >>> _ = opt.apply_gradients([(w, dy2st.to_tensor([5.0]))])
    >>> w.item() < 1.0
    True
    """

    is_elementwise = True

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

    def first_state(self, weight: Value, settings: dict[str, Any]) -> State:
        """Means at zero, and what the next step multiplies."""
        return {
            "moment1": full_like(weight, 0.0),
            "moment2": full_like(weight, 0.0),
            "momentum_decay_pow": kept(1.0),
            "beta2_pow": kept(1.0),
            "mu_product": kept(1.0),
        }

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        beta1, beta2 = settings["beta1"], settings["beta2"]
        growth = 0.96 ** settings["momentum_decay"]
        decay = state["momentum_decay_pow"] = state["momentum_decay_pow"] * growth
        power = state["beta2_pow"] = state["beta2_pow"] * beta2
        now = decay.item()
        mu, next_mu = beta1 * (1 - 0.5 * now), beta1 * (1 - 0.5 * now * growth)
        product = state["mu_product"] = state["mu_product"] * mu
        m = state["moment1"] = beta1 * state["moment1"] + (1 - beta1) * gradient
        v = state["moment2"] = beta2 * state["moment2"] + (1 - beta2) * (gradient * gradient)
        done = product.item()
        ahead = next_mu / (1 - done * next_mu) * m + (1 - mu) / (1 - done) * gradient
        spread = sqrt(v / (1 - power.item())) + settings["epsilon"]
        return weight - rate * ahead / spread


class RAdam(Optimizer):
    """Adam that starts as momentum alone, until its second mean is known well (Liu et al. 2019).

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.RAdam(0.1, parameters=[w])
    >>> _ = opt.apply_gradients([(w, dy2st.to_tensor([5.0]))])
    >>> round(w.item(), 3)
    0.5
    """

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

    def first_state(self, weight: Value, settings: dict[str, Any]) -> State:
        """Means at zero, and what the next step multiplies."""
        return {
            "moment1": full_like(weight, 0.0),
            "moment2": full_like(weight, 0.0),
            "beta1_pow": kept(1.0),
            "beta2_pow": kept(1.0),
            "rho": kept(0.0),
        }

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        beta1, beta2 = settings["beta1"], settings["beta2"]
        power1 = state["beta1_pow"] = state["beta1_pow"] * beta1
        power2 = state["beta2_pow"] = state["beta2_pow"] * beta2
        step = state["rho"] = state["rho"] + 1
        m = state["moment1"] = beta1 * state["moment1"] + (1 - beta1) * gradient
        v = state["moment2"] = beta2 * state["moment2"] + (1 - beta2) * (gradient * gradient)
        mean = m / (1 - power1.item())
        longest = 2 / (1 - beta2) - 1
        left = 1 - power2.item()
        length = longest - 2 * step.item() * power2.item() / left
        if length <= 5:
            return weight - rate * mean
        ratio = (length - 4) * (length - 2) * longest
        ratio /= (longest - 4) * (longest - 2) * length
        spread = sqrt(v) + settings["epsilon"]
        factor = math.sqrt(ratio) * math.sqrt(left)
        return weight - rate * factor * mean / spread


__all__ = ["Adadelta", "Adagrad", "Adamax", "Lamb", "NAdam", "RAdam", "RMSProp"]
