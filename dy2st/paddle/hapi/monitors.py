"""Watches a value of evaluations, by callbacks."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from dy2st.paddle.hapi.callbacks import Callback
from dy2st_runtime.errors import ArgumentError


class _Watching(Callback):
    """Knows whether the value is better than ever, by `min_delta`."""

    def __init__(self, monitor: str, mode: str, patience: int, verbose: int, min_delta: float):
        if mode not in ("auto", "min", "max"):
            raise ArgumentError(f"mode is auto, min or max, not {mode!r}")
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self.is_growing = mode == "max" or (mode == "auto" and "acc" in monitor)
        self.min_delta, self.wait = abs(min_delta), 0
        self.best_value = -math.inf if self.is_growing else math.inf

    def _improves(self, logs: dict[str, Any]) -> bool:
        """Whether the value is the best so far, which is kept."""
        if self.monitor not in logs:
            raise ArgumentError(
                f"no evaluation gives {self.monitor!r}: there are {', '.join(sorted(logs))}"
            )
        value = float(np.ravel(logs[self.monitor])[0])
        gain = value - self.best_value if self.is_growing else self.best_value - value
        if gain > self.min_delta:
            self.best_value, self.wait = value, 0
        return gain > self.min_delta


class EarlyStopping(_Watching):
    """Ends training where the value of evaluations has not improved `patience` times in a row.

    With a patience of 0 the first evaluation ends it, as in PaddlePaddle.

    Parameters
    ----------
    monitor, mode
        The name of the value, and whether less ('min') or more ('max') is better.
    patience
        How many evaluations may bring nothing.
    min_delta
        What counts as better.
    baseline
        The value to begin with.
    save_best_model
        Save the best model as `best_model` in the folder of `fit`.

    Examples
    --------
    >>> stop = dy2st.callbacks.EarlyStopping("loss", patience=2, verbose=0, save_best_model=False)
    >>> stop.patience
    2
    """

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ) -> None:
        """Take what is watched, and for how long."""
        super().__init__(monitor, mode, patience, verbose, min_delta)
        self.best_value = self.best_value if baseline is None else baseline
        self.save_best_model = save_best_model

    def on_eval_end(self, logs: Any = None) -> None:
        """Stop, or save the best model as `best_model` in the folder of `fit`."""
        if self._improves(logs):
            folder = self.params.get("save_dir")
            if self.save_best_model and folder is not None:
                self.model.save(os.path.join(folder, "best_model"))
        else:
            self.wait += 1
        if self.wait >= self.patience:
            self.model.stop_training = True
            if self.verbose:
                print(f"{self.monitor} has not improved in {self.wait} evaluations: training ends")


class ReduceLROnPlateau(_Watching):
    """Times `factor` where the value of evaluations has not improved `patience` times.

    Parameters
    ----------
    monitor, mode
        The name of the value, and whether less ('min') or more ('max') is better.
    factor, patience
        What the rate is multiplied by, after how many evaluations.
    min_delta, cooldown
        What counts as better, and for how many evaluations nothing is counted then.
    min_lr
        The lowest rate.

    Examples
    --------
    >>> halve = dy2st.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=2, verbose=0)
    >>> halve.factor, halve.in_cooldown()
    (0.5, False)
    """

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        """Take what is watched, for how long, and by what the rate is multiplied."""
        if factor >= 1:
            raise ArgumentError(f"factor is below 1, not {factor}")
        super().__init__(monitor, mode, patience, verbose, min_delta)
        self.factor, self.cooldown, self.min_lr = factor, cooldown, min_lr
        self.cooldown_counter = 0

    def in_cooldown(self) -> bool:
        """Whether evaluations are not counted yet."""
        return self.cooldown_counter > 0

    def on_eval_end(self, logs: Any = None) -> None:
        """Reduce the rate where it is time."""
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._improves(logs) or self.in_cooldown():
            return
        self.wait += 1
        if self.wait >= self.patience:
            optimizer = self.model.optimizer
            old = optimizer.get_lr()
            if old > self.min_lr:
                optimizer.set_lr(max(old * self.factor, self.min_lr))
                self.cooldown_counter, self.wait = self.cooldown, 0
                if self.verbose:
                    print(f"learning rate {old:g} -> {optimizer.get_lr():g}")
