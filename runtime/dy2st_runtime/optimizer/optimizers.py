"""SGD, Momentum, Adam, AdamW: each is one update rule on arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.nn.clip import ClipGradBase
from dy2st_runtime.optimizer.optimizer import Decay, Optimizer, Parameters, Rate, State
from dy2st_runtime.parameter_updates import Value, full_like, kept, maximum, sqrt


class SGD(Optimizer):
    """w = w - rate * g; see `Optimizer` for the arguments.

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> _ = dy2st.optimizer.SGD(0.5, [w]).minimize(w * 3.0)
    >>> w.tolist()
    [-0.5]
    """

    is_elementwise = True

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ):
        """Take what every optimizer takes."""
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, multi_precision)

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        return weight - rate * gradient


class Momentum(Optimizer):
    """v = momentum * v + g;  w = w - rate * v, or with Nesterov w - rate * (g + momentum * v).

    Gradients are multiplied by `rescale_grad` first. `use_multi_tensor` has no effect.

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.Momentum(0.5, momentum=0.5, parameters=[w])
    >>> for _ in range(2):  # v is 1, then 1.5
    ...     _ = opt.apply_gradients([(w, dy2st.ones([1]))])
    >>> w.tolist()
    [-0.25]
    """

    is_elementwise = True
    slots = ("velocity",)

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        momentum: float = 0.9,
        parameters: Parameters = None,
        use_nesterov: bool = False,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ):
        """Take the momentum."""
        rule: dict[str, Any] = {
            "momentum": momentum,
            "use_nesterov": use_nesterov,
            "rescale_grad": rescale_grad,
        }
        common: Any = (learning_rate, parameters, weight_decay, grad_clip, name, multi_precision)
        super().__init__(*common, **rule)
        self._momentum, self._use_nesterov = momentum, bool(use_nesterov)

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        momentum = settings["momentum"]
        if settings["rescale_grad"] != 1.0:
            gradient = gradient * settings["rescale_grad"]
        velocity = state["velocity"] = momentum * state["velocity"] + gradient
        nesterov = settings["use_nesterov"]
        direction = gradient + momentum * velocity if nesterov else velocity
        return weight - rate * direction


class Adam(Optimizer):
    """m, v = moving means of g and g**2;  w = w - rate * m' / (sqrt(v') + epsilon).

    m' and v' are corrected for their start at zero (Kingma and Ba 2014; amsgrad: Reddi et al.
    2018). `lazy_mode` and `use_multi_tensor` have no effect; see `Optimizer` for the other
    arguments.

    Parameters
    ----------
    beta1, beta2
        Decay rates of the two means, at least 0 and below 1.
    epsilon
        What is added to the root, so that nothing is divided by 0.
    multi_precision
        Update parameters of 16 bits in float32, of which a copy is kept.
    amsgrad
        Divide by the largest v until now.

    Examples
    --------
    >>> w = dy2st.to_tensor([1.0, 1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.Adam(0.1, parameters=[w])
    >>> _ = opt.apply_gradients([(w, dy2st.to_tensor([5.0, -0.01]))])
    >>> print(w.round(3))
    [0.9 1.1]
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
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ):
        """Take the decay rates of the means, at least 0 and below 1."""
        rule: dict[str, Any] = {
            "beta1": float(beta1),
            "beta2": float(beta2),
            "epsilon": float(epsilon),
        }
        if not (0 <= rule["beta1"] < 1 and 0 <= rule["beta2"] < 1 and rule["epsilon"] >= 0):
            raise ArgumentError(f"beta1 and beta2 are in [0, 1), epsilon at least 0, not {rule}")
        common: Any = (learning_rate, parameters, weight_decay, grad_clip, name, multi_precision)
        super().__init__(*common, **rule)
        self._beta1, self._beta2, self._epsilon = rule.values()
        self._lazy_mode, self._amsgrad = lazy_mode, amsgrad

    def first_state(self, weight: Value, settings: dict[str, Any]) -> State:
        """Means at zero, and beta1 and beta2 to the power of the next step."""
        slots = ("moment1", "moment2", "moment2_max")[: 2 + self._amsgrad]
        return {
            **{slot: full_like(weight, 0.0) for slot in slots},
            "beta1_pow_acc": kept(settings["beta1"]),
            "beta2_pow_acc": kept(settings["beta2"]),
        }

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        beta1, beta2 = settings["beta1"], settings["beta2"]
        m = state["moment1"] = beta1 * state["moment1"] + (1 - beta1) * gradient
        v = state["moment2"] = beta2 * state["moment2"] + (1 - beta2) * (gradient * gradient)
        if self._amsgrad:
            v = state["moment2_max"] = maximum(state["moment2_max"], v)
        power1, power2 = state["beta1_pow_acc"], state["beta2_pow_acc"]
        state["beta1_pow_acc"], state["beta2_pow_acc"] = power1 * beta1, power2 * beta2
        # m and v are corrected by numbers alone: each element is divided once.
        left = sqrt(1 - power2)
        spread = sqrt(v) + settings["epsilon"] * left.item()
        return weight - rate * (left / (1 - power1)).item() * m / spread


class AdamW(Adam):
    """Adam with decoupled weight decay: first w = w * (1 - rate * decay) (Loshchilov 2017).

    Parameters
    ----------
    weight_decay
        the coefficient, a number.
    lr_ratio
        a function of the parameter: a factor on its learning rate.
    apply_decay_param_fun
        a function of the parameter's name: whether it decays.
    beta1, beta2
        Decay rates of the two means, at least 0 and below 1.
    amsgrad, multi_precision
        As of `Adam`.

    Examples
    --------
    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.AdamW(0.1, parameters=[w], weight_decay=0.5)
    >>> _ = opt.apply_gradients([(w, dy2st.ones([1]))])
    >>> round(w.item(), 3)  # 1 * (1 - 0.1 * 0.5) - 0.1
    0.85
    """

    is_elementwise = True

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        parameters: Parameters = None,
        weight_decay: Any = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ):
        """Take the decay; `use_lowprecision_moment` has no effect."""
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters,
            grad_clip=grad_clip,
            lazy_mode=lazy_mode,
            multi_precision=multi_precision,
            amsgrad=amsgrad,
            name=name,
        )
        self._default_dict["weight_decay"] = self._weight_decay = float(weight_decay)
        self._lr_ratio, self._apply_decay_param_fun = lr_ratio, apply_decay_param_fun

    def _decay_of(self, parameter: Any, settings: dict[str, Any], group: dict[str, Any]) -> Any:
        """The parameter's own regulariser alone: the decay is no part of the gradient."""
        return getattr(parameter, "regularizer", None)

    def _for_parameter(
        self, parameter: Any, rate: float, settings: dict[str, Any]
    ) -> tuple[float, dict[str, Any]]:
        """Both as the functions of the parameter have them."""
        decays = self._apply_decay_param_fun
        if self._lr_ratio is not None:
            rate *= float(self._lr_ratio(parameter))
        if decays is not None and not decays(parameter.name):
            settings = {**settings, "weight_decay": 0.0}
        return super()._for_parameter(parameter, rate, settings)

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        weight = weight * (1 - rate * float(settings["weight_decay"]))
        return super().update(weight, gradient, rate, state, settings)


__all__ = ["SGD", "Adam", "AdamW", "Momentum"]
