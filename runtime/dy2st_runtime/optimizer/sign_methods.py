"""Optimizers that remember gradients: their signs (Rprop), or those of the last batches (ASGD)."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.nn.clip import ClipGradBase
from dy2st_runtime.optimizer.optimizer import Decay, Optimizer, Parameters, Rate, State
from dy2st_runtime.parameter_updates import (
    Value,
    clip,
    full_like,
    kept,
    rows_like,
    sign,
    where,
    with_row,
)


class Rprop(Optimizer):
    """Every element moves by a rate of its own against the sign of its gradient (Riedmiller 1993).

    The rate is multiplied by etas[1] where the sign stays, and by etas[0] where it changes, within
    `learning_rate_range`; where it changes, the element stays for one step.

    >>> w = dy2st.to_tensor([1.0, 1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.Rprop(0.01, parameters=[w], etas=(0.5, 1.5))
    >>> for _ in range(2):  # 0.01, then 0.01 * 1.5
    ...     _ = opt.apply_gradients([(w, dy2st.to_tensor([5.0, -0.1]))])
    >>> print(w.round(3))
    [0.975 1.025]
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        learning_rate_range: tuple[float, float] = (1e-5, 50),
        parameters: Parameters = None,
        etas: tuple[float, float] = (0.5, 1.2),
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ):
        """Take the limits of the rates, and their factors: ValueError unless they fit."""
        low, high = learning_rate_range
        if not 0 < low <= high or not 0 < etas[0] < 1 < etas[1]:
            raise ArgumentError("0 < learning_rate_range[0] <= [1] and 0 < etas[0] < 1 < etas[1]")
        rule: dict[str, Any] = {"learning_rate_range": (low, high), "etas": tuple(etas)}
        common: Any = (learning_rate, parameters, None, grad_clip, name, multi_precision)
        super().__init__(*common, **rule)

    def first_state(self, weight: Value, settings: dict[str, Any]) -> State:
        """The last gradient, and the rates."""
        rates = full_like(weight, self.get_lr())
        return {"prevs": full_like(weight, 0.0), "learning_rates": rates}

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        down, up = settings["etas"]
        same = gradient * state["prevs"]
        factor = where(same > 0, up, where(same < 0, down, full_like(same, 1.0)))
        rates = clip(state["learning_rates"] * factor, *settings["learning_rate_range"])
        gradient = where(same < 0, full_like(gradient, 0.0), gradient)
        state["prevs"], state["learning_rates"] = gradient, rates
        return weight - sign(gradient) * rates


class ASGD(Optimizer):
    """w = w - rate / n * the sum of the last gradients of n batches (Le Roux et al. 2012).

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.ASGD(0.1, batch_num=1, parameters=[w])
    >>> _ = opt.apply_gradients([(w, dy2st.to_tensor([5.0]))])
    >>> round(w.item(), 3)
    0.5
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        batch_num: int = 1,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ):
        """Take the number of batches, which come in the same order in every epoch."""
        if batch_num <= 0:
            raise ArgumentError(f"batch_num is above 0, not {batch_num}")
        common: Any = (learning_rate, parameters, weight_decay, grad_clip, name, multi_precision)
        super().__init__(*common, batch_num=int(batch_num))

    def first_state(self, weight: Value, settings: dict[str, Any]) -> State:
        """The sum, the gradients, and how often there was a step."""
        rows = rows_like(weight, settings["batch_num"])
        return {"d": full_like(weight, 0.0), "y": rows, "m": kept(0.0)}

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """One step."""
        count, step = settings["batch_num"], int(state["m"].item())
        place = step % count
        total = state["d"] = state["d"] - state["y"][place] + gradient
        state["y"], state["m"] = with_row(state["y"], place, gradient), state["m"] + 1
        return weight - rate / min(step + 1, count) * total


__all__ = ["ASGD", "Rprop"]
