"""Calls back between the steps of training: reports, checkpoints, rates."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from dy2st.optimizer import lr as rates
from dy2st_runtime.errors import ArgumentError


class Callback:
    """Methods that `Model` calls when it begins and ends something; each does nothing.

    A class of one's own writes those that it needs; `self.model` is the Model.

    >>> class Epochs(dy2st.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print("epoch", epoch)
    >>> net = dy2st.nn.Linear(2, 1)
    >>> model = dy2st.Model(net)
    >>> model.prepare(dy2st.optimizer.SGD(0.1, net.parameters()), dy2st.nn.MSELoss())
    >>> data = [(np.ones(2, "float32"), np.ones(1, "float32"))]
    >>> model.fit(data, epochs=2, verbose=0, callbacks=Epochs())
    epoch 0
    epoch 1
    >>> each = dy2st.callbacks.Callback()  # in this order, for one epoch of one batch
    >>> _ = each.on_train_begin(), each.on_epoch_begin(0), each.on_train_batch_begin(0)
    >>> _ = each.on_train_batch_end(0), each.on_epoch_end(0)
    >>> _ = each.on_eval_begin(), each.on_eval_batch_begin(0), each.on_eval_batch_end(0)
    >>> _ = each.on_eval_end(), each.on_train_end()
    >>> _ = each.on_predict_begin(), each.on_predict_batch_begin(0), each.on_predict_batch_end(0)
    >>> _ = each.on_predict_end()
    """

    model: Any
    params: dict[str, Any]

    def set_params(self, params: dict[str, Any]) -> None:
        """Take what `fit` was called with.

        >>> callback = dy2st.callbacks.Callback()
        >>> callback.set_params({"epochs": 2})
        >>> callback.params
        {'epochs': 2}
        """
        self.params = params

    def set_model(self, model: Any) -> None:
        """Take the model.

        >>> callback = dy2st.callbacks.Callback()
        >>> callback.set_model(dy2st.Model(dy2st.nn.Linear(2, 1)))
        >>> type(callback.model).__name__
        'Model'
        """
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Before all epochs."""

    def on_train_end(self, logs: Any = None) -> None:
        """After all epochs."""

    def on_eval_begin(self, logs: Any = None) -> None:
        """Before an evaluation."""

    def on_eval_end(self, logs: Any = None) -> None:
        """After an evaluation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before predictions."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After predictions."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch."""

    def on_train_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a step of training."""

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """After a step of training."""

    def on_eval_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a batch of an evaluation."""

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        """After a batch of an evaluation."""

    def on_predict_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a batch of predictions."""

    def on_predict_batch_end(self, step: int, logs: Any = None) -> None:
        """After a batch of predictions."""


class Callbacks:
    """Several callbacks as one: each is called in turn."""

    def __init__(self, each: Iterable[Callback], model: Any, params: dict[str, Any]) -> None:
        """Take them, and pass them the model and what it was called with."""
        self.each = list(each)
        for callback in self.each:
            callback.set_model(model)
            callback.set_params(params)

    def __call__(self, event: str, *given: Any) -> None:
        """Call `on_` and the event of each."""
        for callback in self.each:
            getattr(callback, f"on_{event}")(*given)


class ProgBarLogger(Callback):
    """Prints losses and metrics, of every few steps and of the last; nothing with verbose 0.

    >>> dy2st.callbacks.ProgBarLogger(log_freq=10, verbose=1).log_freq
    10
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        """Take every how many steps a line is printed."""
        self.log_freq, self.verbose = log_freq, verbose
        self._steps: int | None = None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Print the number of the epoch."""
        self._steps = self.params.get("steps")
        if self.verbose:
            print(f"Epoch {epoch + 1}/{self.params.get('epochs')}")

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Print a line."""
        if (step + 1) % self.log_freq == 0:
            self._line(logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Print a line of the last step, if it has none."""
        if logs["steps"] % self.log_freq:
            self._line(logs)

    def on_eval_begin(self, logs: Any = None) -> None:
        """Print that an evaluation begins."""
        self._steps = logs.get("steps")
        if self.verbose:
            print("Eval begin...")

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        """Print a line."""
        self.on_train_batch_end(step, logs)

    def on_eval_end(self, logs: Any = None) -> None:
        """Print a line of the last step, if it has none, and the number of samples."""
        self.on_epoch_end(0, logs)
        if self.verbose:
            print(f"Eval samples: {logs.get('samples')}")

    def _line(self, logs: dict[str, Any]) -> None:
        if self.verbose:
            of = f"/{self._steps}" if self._steps else ""
            values = []
            for name in self.params["metrics"]:
                numbers = " ".join(f"{float(entry):.4f}" for entry in np.ravel(logs[name]))
                values.append(f"{name}: {numbers}")
            print(f"step {logs['steps']}{of} - {' - '.join(values)}")


class ModelCheckpoint(Callback):
    """Saves the model every `save_freq` epochs, and as `final` in the end.

    >>> import os, tempfile
    >>> net = dy2st.nn.Linear(2, 1)
    >>> model = dy2st.Model(net)
    >>> model.prepare(dy2st.optimizer.SGD(0.1, net.parameters()), dy2st.nn.MSELoss())
    >>> data = [(np.ones(2, "float32"), np.ones(1, "float32"))]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save = dy2st.callbacks.ModelCheckpoint(1, folder)
    ...     model.fit(data, epochs=1, verbose=0, callbacks=save)
    ...     print(sorted(os.listdir(folder)))
    ['0.pdopt', '0.pdparams', 'final.pdopt', 'final.pdparams']
    """

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        """Take how often, and the folder; nothing is saved without one."""
        self.save_freq, self.save_dir = save_freq, save_dir

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Save as the number of the epoch."""
        if self.save_dir is not None and epoch % self.save_freq == 0:
            self.model.save(os.path.join(self.save_dir, str(epoch)))

    def on_train_end(self, logs: Any = None) -> None:
        """Save as `final`."""
        if self.save_dir is not None:
            self.model.save(os.path.join(self.save_dir, "final"))


class LRScheduler(Callback):
    """Steps the scheduler of the learning rate, after each batch or after each epoch.

    >>> net = dy2st.nn.Linear(2, 1)
    >>> rate = dy2st.optimizer.lr.StepDecay(1.0, step_size=1, gamma=0.5)
    >>> model = dy2st.Model(net)
    >>> model.prepare(dy2st.optimizer.SGD(rate, net.parameters()), dy2st.nn.MSELoss())
    >>> by_epoch = dy2st.callbacks.LRScheduler(by_step=False, by_epoch=True)
    >>> by_epoch.set_model(model)
    >>> by_epoch.on_epoch_end(0)
    >>> rate()
    0.5
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        """Take after what: one of the two."""
        if by_step and by_epoch:
            raise ArgumentError("a rate goes on by steps or by epochs, not by both")
        self.by_step, self.by_epoch = by_step, by_epoch

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """Step by batches."""
        if self.by_step:
            self._go_on()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Step by epochs."""
        if self.by_epoch:
            self._go_on()

    def _go_on(self) -> None:
        rate = getattr(self.model.optimizer, "_learning_rate", None)
        if isinstance(rate, rates.LRScheduler):
            rate.step()
