"""GradScaler: losses are multiplied, so that small gradients are no zeros in float16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.ir.promotion import autocasting
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.parameter_updates import Changing, put, value_of
from dy2st_runtime.tensor import EagerTensor

_HALF = 2  # bytes
_UNSCALED, _STEPPED = "unscaled", "stepped"
_KEPT = (
    *("incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf"),
    *("incr_count", "decr_count", "use_dynamic_loss_scaling"),
)


class GradScaler:
    """Multiplies losses by a scale, and divides the gradients by it before the optimizer's step.

    Where a gradient is infinite or NaN the step is left out. After `decr_every_n_nan_or_inf` such
    steps, one behind the other, the scale is multiplied by `decr_ratio`; after `incr_every_n_steps`
    others by `incr_ratio` (Micikevicius et al. 2017). ValueError for ratios that go the other way.

    >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> opt, scaler = dy2st.optimizer.SGD(0.5, [w]), dy2st.amp.GradScaler(init_loss_scaling=8.0)
    >>> loss = scaler.scale(w * 3.0)
    >>> loss.backward()
    >>> scaler.step(opt)
    >>> scaler.update()
    >>> loss.item(), w.item()
    (24.0, -0.5)
    """

    # What a converted function takes as it is at each call, and never as a constant.
    _changing = Changing({"_incr_count", "_decr_count"})

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 65536.0,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ):
        """Take the first scale and how it changes; ValueError for ratios that go the other way."""
        _checked(incr_ratio > 1.0, incr_ratio, "above 1")
        _checked(0.0 < decr_ratio < 1.0, decr_ratio, "in (0, 1)")
        self._enable = bool(enable)
        self._use_dynamic_loss_scaling = bool(enable and use_dynamic_loss_scaling)
        self._init_loss_scaling = float(init_loss_scaling) if enable else 1.0
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_count, self._decr_count = 0, 0
        self._scale = _scale_of(self._init_loss_scaling)
        # The optimizers since the last update: which one, what was done, and what was found.
        self._done: tuple[tuple[int, str, Any], ...] = ()

    def scale(self, var: Tensor) -> Tensor:
        """The loss times the scale."""
        scaled: Tensor = var * self._scale_as(var.dtype) if self._enable else var
        return scaled

    def _scale_as(self, dtype: Any) -> Any:
        return F.cast(F.reshape(self._scale, []), dtype)

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients by the scale; RuntimeError the second time before `update`.

        >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> opt, scaler = dy2st.optimizer.SGD(0.5, [w]), dy2st.amp.GradScaler(init_loss_scaling=8.0)
        >>> scaler.scale(w * 3.0).backward()
        >>> scaler.unscale_(opt)
        >>> w.grad.item()
        3.0
        """
        if not self._enable:
            return
        stage, _ = self._stage_of(optimizer)
        if stage:
            raise RuntimeError(f"unscale_() of an optimizer that is {stage}: call update() before")
        with no_grad(), autocasting(None):
            found = F.full([], False)
            for parameter in optimizer._parameters:
                if parameter.grad is not None:
                    # A gradient divided by the scale, in float32 if it is shorter.
                    dtype = parameter.grad.dtype
                    wide = dtype if dtype.itemsize > _HALF else "float32"
                    parameter.grad = gradient = F.cast(
                        F.cast(parameter.grad, wide) / self._scale_as(wide), dtype
                    )
                    found = F.logical_or(found, F.logical_not(F.all(F.isfinite(gradient))))
        self._note(optimizer, _UNSCALED, found)

    def _stage_of(self, optimizer: Any) -> tuple[str, Any]:
        """What was done for an optimizer, nothing or one of the two, and what was found."""
        for key, stage, found in self._done:
            if key == id(optimizer):
                return stage, found
        return "", False

    def _note(self, optimizer: Any, stage: str, found: Any) -> None:
        others = [one for one in self._done if one[0] != id(optimizer)]
        self._done = (*others, (id(optimizer), stage, found))

    def step(self, optimizer: Any) -> None:
        """Let the optimizer do its step, unless a gradient is infinite or NaN."""
        if not self._enable:
            optimizer.step()
            return
        if self._stage_of(optimizer)[0] == _STEPPED:
            raise RuntimeError("step() was called since the last update()")
        self._move(optimizer, optimizer.step)
        self._note(optimizer, _STEPPED, self._stage_of(optimizer)[1])
        if not self._use_dynamic_loss_scaling:
            self._done = ()

    def _move(self, optimizer: Any, step: Callable[[], Any]) -> None:
        if not self._stage_of(optimizer)[0]:
            self.unscale_(optimizer)
        if not self._stage_of(optimizer)[1]:
            step()

    def update(self) -> None:
        """Take another scale, by what the steps since the last one have found."""
        if self._use_dynamic_loss_scaling:
            for _, _, found in self._done:
                # Count a step, and move the scale where there were enough of a kind.
                if found:
                    self._incr_count, self._decr_count = 0, self._decr_count + 1
                    if self._decr_count >= self._decr_every_n_nan_or_inf:
                        self._decr_count = 0
                        self._set_scale(self._decr_ratio)
                else:
                    self._incr_count, self._decr_count = self._incr_count + 1, 0
                    if self._incr_count >= self._incr_every_n_steps:
                        self._incr_count = 0
                        self._set_scale(self._incr_ratio)
        self._done = ()

    def _set_scale(self, ratio: float) -> None:
        put(self._scale, value_of(self._scale) * ratio)

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        """`step` and `update`, with what `optimizer.minimize` takes: the scaled loss first.

        Its `backward` is called unless that was done.

        >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> opt, scaler = dy2st.optimizer.SGD(0.5, [w]), dy2st.amp.GradScaler()
        >>> scaler.minimize(opt, scaler.scale(w * 3.0))
        >>> w.item()
        -0.5
        """
        if not self._enable:
            optimizer.minimize(*args, **kwargs)
            return
        # Before the scale is taken out of the gradients: it must go out of these, too.
        optimizer.backward(kwargs["loss"] if "loss" in kwargs else args[0])
        self._move(optimizer, lambda: optimizer.minimize(*args, **kwargs))
        self.update()

    # -- settings ----------------------------------------------------------------------------

    def is_enable(self) -> bool:
        """Whether losses are scaled.

        >>> dy2st.amp.GradScaler(enable=False).is_enable()
        False
        """
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the scale changes.

        >>> dy2st.amp.GradScaler(use_dynamic_loss_scaling=False).is_use_dynamic_loss_scaling()
        False
        """
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        """The first scale.

        >>> dy2st.amp.GradScaler().get_init_loss_scaling()
        65536.0
        """
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Begin again with a scale.

        >>> scaler = dy2st.amp.GradScaler()
        >>> scaler.set_init_loss_scaling(8.0)
        >>> scaler.scale(dy2st.ones([])).item()
        8.0
        """
        self._init_loss_scaling = float(new_init_loss_scaling)
        self._scale.set_value(_scale_of(self._init_loss_scaling))

    def get_incr_ratio(self) -> float:
        """What the scale is multiplied by after many steps.

        >>> dy2st.amp.GradScaler().get_incr_ratio()
        2.0
        """
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Take another one, above 1.

        >>> scaler = dy2st.amp.GradScaler()
        >>> scaler.set_incr_ratio(4.0)
        >>> scaler.get_incr_ratio()
        4.0
        """
        self._incr_ratio = _checked(new_incr_ratio > 1.0, new_incr_ratio, "above 1")

    def get_decr_ratio(self) -> float:
        """What the scale is multiplied by where gradients are infinite or NaN.

        >>> dy2st.amp.GradScaler().get_decr_ratio()
        0.5
        """
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Take another one, below 1.

        >>> scaler = dy2st.amp.GradScaler()
        >>> scaler.set_decr_ratio(0.25)
        >>> scaler.get_decr_ratio()
        0.25
        """
        self._decr_ratio = _checked(0.0 < new_decr_ratio < 1.0, new_decr_ratio, "in (0, 1)")

    def get_incr_every_n_steps(self) -> int:
        """How many steps there are before the scale grows.

        >>> dy2st.amp.GradScaler().get_incr_every_n_steps()
        2000
        """
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Take another number.

        >>> scaler = dy2st.amp.GradScaler()
        >>> scaler.set_incr_every_n_steps(100)
        >>> scaler.get_incr_every_n_steps()
        100
        """
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        """How many steps are left out before the scale shrinks.

        >>> dy2st.amp.GradScaler().get_decr_every_n_nan_or_inf()
        1
        """
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Take another number.

        >>> scaler = dy2st.amp.GradScaler()
        >>> scaler.set_decr_every_n_nan_or_inf(2)
        >>> scaler.get_decr_every_n_nan_or_inf()
        2
        """
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    # -- state -------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later: the scale, how it changes, and what was counted.

        >>> dy2st.amp.GradScaler(init_loss_scaling=8.0).state_dict()["scale"].tolist()
        [8.0]
        """
        if not self._enable:
            return {}
        kept = {name: getattr(self, f"_{name}") for name in _KEPT}
        return {"scale": self._scale.numpy(), **kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a `state_dict`; RuntimeError if it is that of one that scales nothing.

        >>> one, other = dy2st.amp.GradScaler(init_loss_scaling=8.0), dy2st.amp.GradScaler()
        >>> other.load_state_dict(one.state_dict())
        >>> other.get_init_loss_scaling()
        8.0
        """
        if not self._enable:
            return
        if not state_dict:
            raise RuntimeError("the state is empty: it is that of a GradScaler with enable=False")
        self.set_init_loss_scaling(float(np.asarray(state_dict["scale"]).reshape(-1)[0]))
        for name in _KEPT:
            setattr(self, f"_{name}", state_dict[name])

    set_state_dict = load_state_dict


def _scale_of(number: float) -> EagerTensor:
    return EagerTensor(np.full(1, number, np.float32))


def _checked(holds: bool, number: float, limits: str) -> float:
    if not holds:
        raise ArgumentError(f"the ratio is {limits}, not {number}")
    return number


__all__ = ["GradScaler"]
