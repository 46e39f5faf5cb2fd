"""L-BFGS: steps along directions from the last gradients (Liu and Nocedal 1989)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, ConversionError
from dy2st_runtime.ir import current_tracer
from dy2st_runtime.nn.clip import ClipGradBase
from dy2st_runtime.optimizer.line_search import strong_wolfe
from dy2st_runtime.optimizer.optimizer import Decay, Optimizer, Parameters

Array = np.ndarray[Any, Any]
Closure = Callable[[], Any]

_LEAST_CURVATURE = 1e-10


class LBFGS(Optimizer):
    """w = w - rate * H g, where H is made of the last changes of w and g (Nocedal 1980).

    `step(closure)` takes several steps; `closure` clears the gradients, computes the loss, calls
    its `backward` and returns it. ValueError for another line search, or for groups of parameters.

    Parameters
    ----------
    learning_rate
        The length of a step, or of the first try of a line search.
    max_iter, max_eval
        How many steps, and calls of the closure, there are at most; 5 / 4 max_iter.
    tolerance_grad, tolerance_change
        Stop where no gradient, or no change, is larger than this.
    history_size
        How many of the last changes H is made of.
    line_search_fn
        None or 'strong_wolfe'.

    Examples
    --------
    >>> w = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> opt = dy2st.optimizer.LBFGS(0.1, parameters=[w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     opt.clear_grad()
    ...     loss = ((w - 3.0) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = opt.step(closure)
    >>> print(w.round(2))
    [3. 3.]
    """

    def __init__(
        self,
        learning_rate: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ):
        """Take where to stop; ValueError for another line search, or for groups."""
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        if line_search_fn not in (None, "strong_wolfe"):
            raise ArgumentError(f"line_search_fn is None or 'strong_wolfe', not {line_search_fn!r}")
        if len(self._groups) > 1:
            raise ArgumentError("LBFGS takes parameters, not groups of them")
        self.max_iter = max_iter
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change = tolerance_grad, tolerance_change
        self.history_size, self.line_search_fn = history_size, line_search_fn
        self._pairs: list[tuple[Array, Array]] = []  # changes of the weights and of gradients
        self._scale = 1.0  # what H is without them
        self._last: tuple[Array, Array] | None = None  # the last step and gradient

    def step(self, closure: Closure | None = None) -> Any:
        """Take steps; the loss before them. ArgumentError without a closure."""
        if closure is None:
            raise ArgumentError("LBFGS computes the loss again and again: write step(closure)")
        if current_tracer() is not None:
            raise ConversionError(
                "LBFGS.step() is called in a converted function",
                why="how often it computes the loss, and what it remembers, depend on the losses",
                hint="convert the closure, which has the forward and backward, and call "
                "optimizer.step(to_static(closure)) outside",
            )
        first = closure()
        loss, gradient, evaluations = float(first), self._gradient(), 1
        for iteration in range(1, self.max_iter + 1):
            if np.abs(gradient).max(initial=0.0) <= self.tolerance_grad:
                break
            # -H g by two loops over the pairs, after a pair has been made of the last step.
            if self._last is not None:
                moved, old = self._last
                change = gradient - old
                curvature = float(change @ moved)
                if curvature > _LEAST_CURVATURE:
                    self._pairs = [*self._pairs, (moved, change)][-self.history_size :]
                    self._scale = curvature / float(change @ change)
            q, shares = -gradient, []
            for moved, change in reversed(self._pairs):
                share = float(moved @ q) / float(change @ moved)
                shares.append(share)
                q = q - share * change
            q = q * self._scale
            for (moved, change), share in zip(self._pairs, reversed(shares), strict=True):
                q = q + moved * (share - float(change @ q) / float(change @ moved))
            direction = q
            rate = self.get_lr()
            if self._last is None:
                rate *= min(1.0, 1.0 / float(np.abs(gradient).sum()))
            slope = float(gradient @ direction)
            if slope > -self.tolerance_change:
                break
            is_last = iteration == self.max_iter
            before, old = loss, gradient
            rate, loss, gradient, count = self._along(
                closure, direction, rate, loss, gradient, slope, is_last
            )
            evaluations += count
            self._last = direction * rate, old
            is_small = np.abs(direction * rate).max() <= self.tolerance_change
            is_flat = abs(loss - before) < self.tolerance_change and count > 0
            if is_last or is_small or is_flat or evaluations >= self.max_eval:
                break
        return first

    def _along(
        self,
        closure: Closure,
        direction: Array,
        rate: float,
        loss: float,
        gradient: Array,
        slope: float,
        is_last: bool,
    ) -> tuple[float, float, Array, int]:
        """Move the weights; how far, the loss and gradient there, and how often they were asked."""
        start = [parameter.array for parameter in self._parameters]

        def at(far: float) -> tuple[float, Array]:
            self._place(start, direction * far)
            return float(closure()), self._gradient()

        if self.line_search_fn is None:
            self._place(start, direction * rate)
            if is_last:
                return rate, loss, gradient, 0
            return rate, float(closure()), self._gradient(), 1
        far, loss, gradient, count = strong_wolfe(at, direction, rate, (loss, gradient), slope)
        self._place(start, direction * far)
        return far, loss, gradient, count

    def _gradient(self) -> Array:
        """All gradients in one array, limited and with weight decay."""
        pairs = [(p, p.grad) for p in self._parameters if p.grad is not None]
        if self._grad_clip is not None:
            pairs = self._grad_clip(pairs)
        known = {id(parameter): gradient.array for parameter, gradient in pairs}
        parts = []
        for parameter in self._parameters:
            part = known.get(id(parameter), np.zeros_like(parameter.array))
            decay = self._decay_of(parameter, self._default_dict, {})
            parts.append((part if decay is None else part + decay(parameter.array)).ravel())
        return np.concatenate(parts)

    def _place(self, start: list[Array], change: Array) -> None:
        """Put the weights where they were, and this far on."""
        offset = 0
        for parameter, array in zip(self._parameters, start, strict=True):
            part = change[offset : offset + array.size].reshape(array.shape)
            parameter.put((array + part).astype(array.dtype))
            offset += array.size

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later."""
        return {"pairs": list(self._pairs), "scale": self._scale, "last": self._last}

    live_state_dict = state_dict

    def set_state_dict(self, state_dict: Any) -> None:
        """Go on from a `state_dict`."""
        self._pairs, self._scale = list(state_dict["pairs"]), state_dict["scale"]
        self._last = state_dict["last"]


__all__ = ["LBFGS"]
