"""Learning rates that change from step to step: `scheduler.step()` moves to the next value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import ArgumentError, WrongKind
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.lazy import lazy_names, places, public_dir
from dy2st_runtime.parameter_updates import Changing


class LRScheduler:
    """Base of all schedules: `get_lr` gives the rate at `last_epoch`.

    An optimizer takes one as its learning rate; `step()` of the schedule, once an epoch or a batch,
    moves it. With `verbose` it prints each rate.

    >>> class Halves(dy2st.optimizer.lr.LRScheduler):
    ...     def get_lr(self):
    ...         return self.base_lr / 2**self.last_epoch
    >>> rate = Halves(0.5)
    >>> first = rate()
    >>> rate.step()
    >>> first, rate(), rate.state_dict()
    (0.5, 0.25, {'last_epoch': 1, 'last_lr': 0.25})
    >>> rate.set_state_dict({"last_epoch": 0, "last_lr": 0.5})
    >>> rate()
    0.5
    """

    # What a converted function takes as it is at each call, and never as a constant.
    _changing = Changing({"last_epoch", "last_lr"})

    def __init_subclass__(cls, **others: Any) -> None:
        """Let errors of our own constructors show the line of the user alone."""
        super().__init_subclass__(**others)
        if cls.__module__.startswith("dy2st_runtime.") and "__init__" in vars(cls):
            cls.__init__ = without_own_frames(cls.__init__)  # type: ignore[method-assign]

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False):
        """Start at `last_epoch + 1`."""
        try:
            self.base_lr = self.last_lr = float(learning_rate)
        except TypeError:
            raise WrongKind(
                f"{type(self).__name__} takes a learning rate first, a number, and no "
                f"{type(learning_rate).__name__}; an optimizer takes the schedule: "
                "SGD(learning_rate=schedule)"
            ) from None
        self.last_epoch = last_epoch
        self.verbose = verbose
        self.step()

    def __call__(self) -> float:
        """The rate now."""
        return self.last_lr

    def get_lr(self) -> float:
        """The rate at `last_epoch`; each schedule writes its own.

        >>> dy2st.optimizer.lr.StepDecay(1.0, step_size=2).get_lr()
        1.0
        """
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to a given one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = self.get_lr()
        if self.verbose:
            print(
                f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate {self.last_lr}"
            )

    def state_keys(self) -> None:
        """Set `keys`: the names of the attributes that are needed to go on later.

        >>> rate = dy2st.optimizer.lr.StepDecay(1.0, step_size=2)
        >>> rate.state_keys()
        >>> rate.keys
        ['last_epoch', 'last_lr']
        """
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later."""
        self.state_keys()
        return {key: getattr(self, key) for key in self.keys if key in self.__dict__}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a `state_dict`; KeyError if something is missing."""
        self.state_keys()
        for key in self.keys:
            setattr(self, key, state_dict[key])

    def set_dict(self, state_dict: dict[str, Any]) -> None:
        """`set_state_dict`.

        >>> rate = dy2st.optimizer.lr.StepDecay(1.0, step_size=2)
        >>> rate.set_dict({"last_epoch": 4, "last_lr": 0.01})
        >>> rate()
        0.01
        """
        self.set_state_dict(state_dict)


class StepDecay(LRScheduler):
    """base * gamma**(epoch // step_size).

    >>> rate = dy2st.optimizer.lr.StepDecay(1.0, step_size=2, gamma=0.5)
    >>> [(rate(), rate.step())[0] for _ in range(5)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take the step and the factor."""
        if step_size < 1:
            raise ArgumentError(f"StepDecay: step_size is 1 epoch or more, not {step_size}")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        return float(self.base_lr * self.gamma ** (self.last_epoch // self.step_size))


class MultiStepDecay(LRScheduler):
    """base * gamma**(how many milestones are reached).

    >>> rate = dy2st.optimizer.lr.MultiStepDecay(1.0, milestones=[1, 3], gamma=0.5)
    >>> [(rate(), rate.step())[0] for _ in range(5)]
    [1.0, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take the epochs at which the rate drops."""
        self.milestones, self.gamma = list(milestones), gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        return self.base_lr * self.gamma ** sum(self.last_epoch >= m for m in self.milestones)


class ExponentialDecay(LRScheduler):
    """base * gamma**epoch.

    >>> rate = dy2st.optimizer.lr.ExponentialDecay(1.0, gamma=0.5)
    >>> [(rate(), rate.step())[0] for _ in range(4)]
    [1.0, 0.5, 0.25, 0.125]
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ):
        """Take the factor of an epoch."""
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        return self.base_lr * self.gamma**self.last_epoch


class NaturalExpDecay(ExponentialDecay):
    """base * exp(-gamma * epoch).

    >>> rate = dy2st.optimizer.lr.NaturalExpDecay(1.0, gamma=1.0)
    >>> [(round(rate(), 3), rate.step())[0] for _ in range(3)]
    [1.0, 0.368, 0.135]
    """

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """(base - end) * (1 - epoch / decay_steps)**power + end.

    With `cycle` the length grows by whole multiples of decay_steps, else the end stays.

    >>> rate = dy2st.optimizer.lr.PolynomialDecay(1.0, decay_steps=4, end_lr=0.0)
    >>> [(rate(), rate.step())[0] for _ in range(6)]
    [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take the end and the way there; with `cycle` the length grows by whole multiples."""
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        steps, epoch = self.decay_steps, self.last_epoch
        if self.cycle:
            steps *= max(math.ceil(epoch / steps), 1)
        rest = 1.0 - min(epoch, steps) / steps
        return float((self.base_lr - self.end_lr) * rest**self.power + self.end_lr)


class CosineAnnealingDecay(LRScheduler):
    """eta_min + (base - eta_min) * (1 + cos(pi * epoch / T_max)) / 2 (Loshchilov, Hutter 2016).

    >>> rate = dy2st.optimizer.lr.CosineAnnealingDecay(1.0, T_max=4)
    >>> [(round(rate(), 3), rate.step())[0] for _ in range(5)]
    [1.0, 0.854, 0.5, 0.146, 0.0]
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take half the period and the lowest rate."""
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        wave = math.cos(math.pi * self.last_epoch / self.T_max)
        return self.eta_min + (self.base_lr - self.eta_min) * (1.0 + wave) / 2.0


class LambdaDecay(LRScheduler):
    """base * lr_lambda(epoch).

    >>> rate = dy2st.optimizer.lr.LambdaDecay(1.0, lambda epoch: 0.5**epoch)
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
        """Take the factor as a function of the epoch."""
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        return self.base_lr * self.lr_lambda(self.last_epoch)


class PiecewiseDecay(LRScheduler):
    """values[i] where i boundaries are reached; ValueError unless there is one value more.

    >>> rate = dy2st.optimizer.lr.PiecewiseDecay([1, 3], [0.5, 0.25, 0.125])
    >>> [(rate(), rate.step())[0] for _ in range(5)]
    [0.5, 0.25, 0.25, 0.125, 0.125]
    """

    def __init__(
        self,
        boundaries: Sequence[int],
        values: Sequence[float],
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take one value more than boundaries."""
        if len(values) != len(boundaries) + 1:
            raise ArgumentError(f"{len(boundaries)} boundaries need {len(boundaries) + 1} values")
        self.boundaries, self.values = list(boundaries), list(values)
        super().__init__(values[0], last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        return self.values[sum(self.last_epoch >= b for b in self.boundaries)]


class LinearWarmup(LRScheduler):
    """From start_lr to end_lr in warmup_steps, then the given rate or schedule.

    >>> rate = dy2st.optimizer.lr.LinearWarmup(1.0, warmup_steps=2, start_lr=0.0, end_lr=1.0)
    >>> [(rate(), rate.step())[0] for _ in range(4)]
    [0.0, 0.5, 1.0, 1.0]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        """Take what comes after the warm-up."""
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps
        self.start_lr, self.end_lr = start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        if self.last_epoch < self.warmup_steps:
            return self.start_lr + (self.end_lr - self.start_lr) * (
                self.last_epoch / self.warmup_steps
            )
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return float(self.learning_rate)

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later, of the schedule after the warm-up too."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a `state_dict`; KeyError if something is missing."""
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])


class ReduceOnPlateau(LRScheduler):
    """Times `factor` when the metric has not improved for more than `patience` steps.

    `mode` 'min' takes less as better, 'max' more, by `threshold`, relative or absolute
    (`threshold_mode`); `cooldown` steps after a drop do not count. ValueError for other modes, or a
    factor that is not below 1.

    >>> rate = dy2st.optimizer.lr.ReduceOnPlateau(1.0, factor=0.5, patience=1)
    >>> for loss in (3.0, 3.0, 3.0):
    ...     rate.step(loss)
    >>> rate()
    0.5
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ):
        """Take what counts as better, and how to go down."""
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ArgumentError("mode is 'min' or 'max', threshold_mode 'rel' or 'abs'")
        if factor >= 1.0:
            raise ArgumentError("factor is below 1")
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.epsilon = cooldown, min_lr, epsilon
        self.best: float | None = None
        self.num_bad_epochs = self.cooldown_counter = 0
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch, self.verbose = 0, verbose

    def state_keys(self) -> None:
        """Set `keys`: the names of the attributes that are needed to go on later."""
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def get_lr(self) -> float:
        """The rate now."""
        return self.last_lr

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Report the metric of an epoch."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        value = float(metrics)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
        elif self.best is None or self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            lower = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - lower > self.epsilon:
                self.last_lr = lower

    def _is_better(self, value: float) -> bool:
        assert self.best is not None
        margin = self.threshold * (abs(self.best) if self.threshold_mode == "rel" else 1.0)
        return value < self.best - margin if self.mode == "min" else value > self.best + margin


_RARE = "CosineAnnealingWarmRestarts CyclicLR InverseTimeDecay LinearLR MultiplicativeDecay "
LATE = places({"dy2st_runtime.optimizer.rare_lr": _RARE + "NoamDecay OneCycleLR"})

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, LATE)

__dir__ = public_dir(__name__)
