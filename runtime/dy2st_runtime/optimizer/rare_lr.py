"""Learning-rate schedules that few people use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dy2st_runtime.errors import ArgumentError, WrongKind
from dy2st_runtime.optimizer.lr import LRScheduler


class NoamDecay(LRScheduler):
    """base * d_model**-0.5 * min(epoch**-0.5, epoch * warmup_steps**-1.5) (Vaswani et al. 2017).

    >>> rate = dy2st.optimizer.lr.NoamDecay(d_model=4, warmup_steps=4)
    >>> [(rate(), rate.step())[0] for _ in range(5)]
    [0.0, 0.0625, 0.125, 0.1875, 0.25]
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take the width of the model, above 0, and the length of the way up."""
        if d_model <= 0:
            raise ArgumentError(f"d_model is above 0, not {d_model}")
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        down = max(self.last_epoch, 1) ** -0.5
        up = self.last_epoch * self.warmup_steps**-1.5
        return float(self.base_lr * self.d_model**-0.5 * min(down, up))


class InverseTimeDecay(LRScheduler):
    """base / (1 + gamma * epoch).

    >>> rate = dy2st.optimizer.lr.InverseTimeDecay(1.0, gamma=1.0)
    >>> [(rate(), rate.step())[0] for _ in range(2)]
    [1.0, 0.5]
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ):
        """Take the speed."""
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """base * lr_lambda(1) * ... * lr_lambda(epoch).

    >>> rate = dy2st.optimizer.lr.MultiplicativeDecay(1.0, lambda epoch: 0.5)
    >>> [(rate(), rate.step())[0] for _ in range(4)]
    [1.0, 0.5, 0.25, 0.125]
    """

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take the factor of an epoch as a function of it."""
        if not callable(lr_lambda):
            raise WrongKind(f"lr_lambda is a function, not {type(lr_lambda).__name__}")
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        return self.base_lr * math.prod(map(self.lr_lambda, range(1, self.last_epoch + 1)))


class LinearLR(LRScheduler):
    """base times a factor that goes from start_factor to end_factor in total_steps.

    >>> rate = dy2st.optimizer.lr.LinearLR(1.0, total_steps=2, start_factor=0.5)
    >>> [(rate(), rate.step())[0] for _ in range(4)]
    [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take the factors: start_factor in (0, 1], end_factor in [0, 1]."""
        if not 0.0 < start_factor <= 1.0 or not 0.0 <= end_factor <= 1.0:
            raise ArgumentError("start_factor is in (0, 1], end_factor in [0, 1]")
        if total_steps <= 0:
            raise ArgumentError(f"total_steps is above 0, not {total_steps}")
        self.total_steps = total_steps
        self.start_factor, self.end_factor = start_factor, end_factor
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        part = min(self.last_epoch, self.total_steps) / self.total_steps
        return self.base_lr * (self.start_factor + (self.end_factor - self.start_factor) * part)


class CosineAnnealingWarmRestarts(LRScheduler):
    """eta_min + (base - eta_min) * (1 + cos(pi * c / T)) / 2, c counted from the last restart.

    The first period is T_0 long, every other T_mult times the one before (Loshchilov 2016).

    >>> rate = dy2st.optimizer.lr.CosineAnnealingWarmRestarts(1.0, T_0=2)
    >>> [(round(rate(), 3), rate.step())[0] for _ in range(4)]
    [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take the periods: ints of at least 1."""
        if T_0 < 1 or T_mult < 1 or int(T_0) != T_0 or int(T_mult) != T_mult:
            raise ArgumentError(f"T_0 and T_mult are ints of at least 1, not {T_0} and {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self.T_i, self.T_cur = T_0, last_epoch
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        wave = math.cos(math.pi * self.T_cur / self.T_i)
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + wave) / 2

    def step(self, epoch: Any = None) -> None:
        """Go to the next epoch, or to a given one, which may be a fraction."""
        wanted = self.last_epoch + 1 if epoch is None else epoch
        if wanted < 0:
            # A step of training may be one Program, which raises it: an error of ours would end
            # the trace.
            raise ValueError(f"an epoch is at least 0, not {wanted}")
        self.T_cur, self.T_i = wanted, self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        super().step(wanted if epoch is None else math.floor(wanted))


class OneCycleLR(LRScheduler):
    """From max / divide_factor up to max and down to the end, in total_steps (Smith 2017).

    Parameters
    ----------
    max_learning_rate
        The top.
    total_steps
        How many steps there are in all; ValueError behind the last one.
    divide_factor
        By how much lower the first rate is.
    end_learning_rate
        The last rate.
    phase_pct
        The share of the steps that go up.
    anneal_strategy
        Along a cosine ('cos') or a line ('linear').
    three_phase
        Go down as long as up, to the first rate, then to the end.

    Examples
    --------
    >>> rate = dy2st.optimizer.lr.OneCycleLR(1.0, total_steps=10, divide_factor=4.0)
    >>> [(round(rate(), 3), rate.step())[0] for _ in range(4)]
    [0.25, 0.625, 1.0, 0.95]
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take the way; anneal_strategy is 'cos' or 'linear'."""
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentError(f"anneal_strategy is 'cos' or 'linear', not {anneal_strategy!r}")
        if not 0 <= phase_pct <= (0.5 if three_phase else 1) or total_steps <= 0:
            raise ArgumentError(
                "phase_pct is in [0, 1], below 0.5 for three phases; total_steps > 0"
            )
        self.total_steps, self._is_linear = total_steps, anneal_strategy == "linear"
        first, last = max_learning_rate / divide_factor, float(end_learning_rate)
        top, end = phase_pct * total_steps - 1, total_steps - 1
        middle = [(2 * phase_pct * total_steps - 2, first)] if three_phase else []
        self._corners = [(0.0, first), (top, max_learning_rate), *middle, (end, last)]
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`; ValueError after the last step."""
        if self.last_epoch > self.total_steps:
            raise ValueError(f"there are {self.total_steps} steps, this is {self.last_epoch}")
        ways = list(zip(self._corners[:-1], self._corners[1:], strict=True))
        (start, low), (end, high) = next(
            (way for way in ways if self.last_epoch <= way[1][0]), ways[-1]
        )
        part = (self.last_epoch - start) / (end - start)
        if self._is_linear:
            return (high - low) * part + low
        return high + (low - high) / 2 * (1 + math.cos(math.pi * part))


class CyclicLR(LRScheduler):
    """Up and down between two rates again and again (Smith 2015).

    Parameters
    ----------
    mode
        'triangular'; 'triangular2' halves the height with every cycle; 'exp_range' multiplies
        it by exp_gamma with every step. `scale_fn` of the cycle or step stands before it.
    base_learning_rate, max_learning_rate
        The two rates.
    step_size_up, step_size_down
        How many steps go up, and down; as many if it is not said.
    scale_mode
        Whether `scale_fn` takes the number of the 'cycle' or of the step ('iterations').

    Examples
    --------
    >>> rate = dy2st.optimizer.lr.CyclicLR(0.0, 1.0, step_size_up=2)
    >>> [(rate(), rate.step())[0] for _ in range(6)]
    [0.0, 0.5, 1.0, 0.5, 0.0, 0.5]
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take the rates and the lengths of both ways."""
        scales: dict[str, Callable[[float], float]] = {
            "triangular": lambda x: 1.0,
            "triangular2": lambda x: 2.0 ** (1 - x),
            "exp_range": lambda x: exp_gamma**x,
        }
        if scale_fn is None and mode not in scales:
            raise ArgumentError(f"mode is one of {', '.join(scales)}, not {mode!r}")
        if scale_mode not in ("cycle", "iterations"):
            raise ArgumentError(f"scale_mode is 'cycle' or 'iterations', not {scale_mode!r}")
        down = step_size_up if step_size_down is None else step_size_down
        self.cycle_size = step_size_up + down
        self.step_up_pct = step_size_up / self.cycle_size
        self.amplitude = float(max_learning_rate) - base_learning_rate
        self._scale = scale_fn or scales[mode]
        by_step = mode == "exp_range" if scale_fn is None else scale_mode == "iterations"
        self.scale_mode = "iterations" if by_step else "cycle"
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        done, part = divmod(self.last_epoch / self.cycle_size, 1.0)
        up = self.step_up_pct
        height = part / up if part <= up else (1 - part) / (1 - up)
        scaled = self._scale(self.last_epoch if self.scale_mode == "iterations" else 1 + done)
        return self.base_lr + self.amplitude * height * scaled


__all__ = [
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "InverseTimeDecay",
    "LinearLR",
    "MultiplicativeDecay",
    "NoamDecay",
    "OneCycleLR",
]
