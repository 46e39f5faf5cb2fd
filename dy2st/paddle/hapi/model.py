"""Trains, evaluates and asks a network, with its optimizer, loss and metrics, in one call."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import dy2st
from dy2st.io import DataLoader
from dy2st.paddle.hapi.callbacks import (
    Callback,
    Callbacks,
    LRScheduler,
    ModelCheckpoint,
    ProgBarLogger,
)
from dy2st.paddle.metric import Metric
from dy2st_runtime.errors import ArgumentError, WrongKind
from dy2st_runtime.ir import Tensor
from dy2st_runtime.ir.grad_mode import no_grad


class Model:
    """A network that is trained by `fit`, judged by `evaluate` and asked by `predict`.

    >>> import dy2st
    >>> model = dy2st.Model(dy2st.nn.Linear(2, 1))
    >>> sgd = dy2st.optimizer.SGD(0.1, model.parameters())
    >>> model.prepare(sgd, dy2st.nn.MSELoss())
    >>> len(model.train_batch([dy2st.ones([4, 2])], [dy2st.ones([4, 1])]))
    1
    """

    def __init__(self, network: Any, inputs: Any = None, labels: Any = None) -> None:
        """Take the network, and InputSpecs of what it is called with."""
        self.network = network
        self.stop_training = False
        self._optimizer: Any = None
        self._loss: Callable[..., Any] | None = None
        self._metrics: list[Metric] = []
        self._inputs = _listed(inputs)
        self._count = len(self._inputs)
        if not self._count:  # as many arguments as a call must have
            given = inspect.signature(network.forward).parameters.values()
            kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            self._count = sum(one.kind in kinds and one.default is one.empty for one in given)

    def prepare(
        self, optimizer: Any = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None
    ) -> None:
        """Take an optimizer, a loss of outputs and labels, and metrics."""
        level = amp_configs.get("level") if isinstance(amp_configs, dict) else amp_configs
        if level not in (None, "O0"):
            raise ArgumentError("Model computes in the dtypes of the network: no amp_configs")
        if loss is not None and not callable(loss):
            raise WrongKind(f"a loss is called with outputs and labels, as {loss!r} is not")
        self._optimizer, self._loss = optimizer, loss
        self._metrics = _listed(metrics)

    @property
    def optimizer(self) -> Any:
        """The optimizer; callbacks of PaddlePaddle read it as `_optimizer`."""
        return self._optimizer

    def parameters(self, *args: Any, **kwargs: Any) -> Any:
        """Those of the network."""
        return self.network.parameters(*args, **kwargs)

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """One step: the losses, or they and the values of the metrics.

        Without `update` gradients are added up for the next step.
        """
        self.network.train()
        outputs, losses = self._losses(inputs, labels)
        sum(losses[1:], start=losses[0]).backward()
        if update:
            self.optimizer.step()
            self.optimizer.clear_grad()
        return self._results(outputs, labels, losses)

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """The losses of a batch, or they and the values of the metrics.

        >>> model = dy2st.Model(dy2st.nn.Identity())
        >>> model.prepare(loss=dy2st.nn.MSELoss())
        >>> model.eval_batch([np.ones((1, 2), "float32")], [np.zeros((1, 2), "float32")])
        [1.0]
        """
        self.network.eval()
        with no_grad():
            outputs, losses = self._losses(inputs, labels, needs_loss=False)
            return self._results(outputs, labels, losses)

    def predict_batch(self, inputs: Any) -> list[Any]:
        """The outputs for a batch, as arrays.

        >>> model = dy2st.Model(dy2st.nn.Identity())
        >>> model.prepare()
        >>> model.predict_batch([np.ones((1, 2), "float32")])
        [array([[1., 1.]], dtype=float32)]
        """
        self.network.eval()
        with no_grad():
            outputs = _listed(self.network(*_tensors(inputs)))
        return [output.numpy() for output in outputs]

    def fit(
        self,
        train_data: Any = None,
        eval_data: Any = None,
        batch_size: Any = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Any = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Train for some epochs, and evaluate after every `eval_freq` of them.

        Data are a Dataset, or a DataLoader, or anything that gives batches. `num_iters` ends the
        training after as many steps.

        >>> net = dy2st.nn.Linear(1, 1)
        >>> model = dy2st.Model(net)
        >>> model.prepare(dy2st.optimizer.SGD(0.1, net.parameters()), dy2st.nn.MSELoss())
        >>> data = [(np.ones(1, "float32"), np.full(1, 3.0, "float32"))]
        >>> model.fit(data, epochs=100, verbose=0)
        >>> round(net(dy2st.ones([1, 1])).item(), 3)
        3.0
        """
        sizes = batch_size if isinstance(batch_size, (list, tuple)) else (batch_size, batch_size)
        loader = _loader(train_data, sizes[0], shuffle, drop_last, num_workers)
        judged = None if eval_data is None else _loader(eval_data, sizes[1], workers=num_workers)
        params = {"epochs": epochs, "save_dir": save_dir, "verbose": verbose}
        saving = ModelCheckpoint(save_freq, save_dir)
        call = self._callbacks(callbacks, loader, params, ProgBarLogger(log_freq, verbose), saving)
        self.stop_training, done = False, 0
        call("train_begin", {})
        for epoch in range(epochs):
            call("epoch_begin", epoch, {})
            left = None if num_iters is None else num_iters - done
            logs = self._run(loader, "train", call, left, accumulate_grad_batches)
            done += logs["steps"]
            call("epoch_end", epoch, logs)
            if judged is not None and epoch % eval_freq == 0:
                self._evaluate(judged, call, None)
            if self.stop_training or (num_iters is not None and done >= num_iters):
                break
        call("train_end", {})

    def evaluate(
        self,
        eval_data: Any,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Any = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """The losses of the last batch and the values of the metrics over all, by their names.

        >>> model = dy2st.Model(dy2st.nn.Identity())
        >>> model.prepare(loss=dy2st.nn.MSELoss())
        >>> data = [(np.ones(1, "float32"), np.full(1, 3.0, "float32"))]
        >>> model.evaluate(data, verbose=0)
        {'loss': [4.0]}
        """
        loader = _loader(eval_data, batch_size, workers=num_workers)
        params = {"verbose": verbose}
        call = self._callbacks(callbacks, loader, params, ProgBarLogger(log_freq, verbose))
        logs = self._evaluate(loader, call, num_iters)
        return {name: logs[name] for name in self._names() if name in logs}

    def predict(
        self,
        test_data: Any,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:
        """For each output a list of arrays, one a batch; one array with `stack_outputs`.

        >>> model = dy2st.Model(dy2st.nn.Identity())
        >>> model.prepare()
        >>> model.predict([(np.ones(1, "float32"),)] * 2, verbose=0, stack_outputs=True)
        [array([1., 1.], dtype=float32)]
        """
        loader = _loader(test_data, batch_size, workers=num_workers)
        call = self._callbacks(callbacks, loader, {"verbose": verbose})
        call("predict_begin", {})
        batches = []
        for step, batch in enumerate(loader):
            call("predict_batch_begin", step, {})
            batches.append(self.predict_batch(_listed(batch)[: self._count]))
            call("predict_batch_end", step, {})
        call("predict_end", {})
        outputs = [list(output) for output in zip(*batches, strict=True)]
        return [np.concatenate(output) for output in outputs] if stack_outputs else outputs

    def save(self, path: str, training: bool = True) -> None:
        """Write `path.pdparams` and `path.pdopt`; or, not for training, what `jit.save` writes.

        >>> import os, tempfile
        >>> model = dy2st.Model(dy2st.nn.Linear(2, 1))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/net")
        ...     print(os.listdir(folder))
        ['net.pdparams']
        """
        if not training:
            dy2st.jit.save(self.network, path, input_spec=self._inputs or None)
            return
        dy2st.save(self.network.state_dict(), f"{path}.pdparams")
        if self.optimizer is not None:
            dy2st.save(self.optimizer.state_dict(), f"{path}.pdopt")

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Read what `save` has written for training.

        >>> import tempfile
        >>> model, other = (dy2st.Model(dy2st.nn.Linear(2, 1)) for _ in range(2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/net")
        ...     other.load(f"{folder}/net")
        >>> bool((model.network.weight == other.network.weight).all())
        True
        """
        state = dy2st.load(f"{path}.pdparams")
        if skip_mismatch:
            own = self.network.state_dict()
            state = {
                name: value
                for name, value in state.items()
                if name in own and list(own[name].shape) == list(value.shape)
            }
        self.network.set_state_dict(state)
        if self.optimizer is not None and not reset_optimizer and os.path.exists(f"{path}.pdopt"):
            self.optimizer.set_state_dict(dy2st.load(f"{path}.pdopt"))

    def summary(self, input_size: Any = None, dtype: Any = None) -> Any:
        """Print the layers of the network; give its numbers of parameters.

        >>> model = dy2st.Model(dy2st.nn.Linear(2, 1), [dy2st.static.InputSpec([1, 2])])
        >>> counts = model.summary()  # doctest: +ELLIPSIS
        Layer     Output shape  Parameters
        ...
        >>> counts["total_params"]
        3
        """
        return dy2st.summary(self.network, input_size or self._inputs, dtype)

    def _losses(
        self, inputs: Any, labels: Any, needs_loss: bool = True
    ) -> tuple[list[Any], list[Any]]:
        outputs = _listed(self.network(*_tensors(inputs)))
        if self._loss is None:
            if needs_loss:
                raise ArgumentError("call prepare(optimizer, loss) before training")
            return outputs, []
        return outputs, _listed(self._loss(*outputs, *_tensors(labels)))

    def _results(self, outputs: list[Any], labels: Any, losses: list[Any]) -> Any:
        values = [float(loss.mean()) for loss in losses]
        found = []
        for metric in self._metrics:
            measured = _listed(metric.compute(*outputs, *_tensors(labels)))
            found.append(metric.update(*measured))
        return (values, found) if self._metrics else values

    def _evaluate(self, loader: Any, call: Callbacks, num_iters: int | None) -> dict[str, Any]:
        call("eval_begin", {"steps": _length(loader)})
        logs = self._run(loader, "eval", call, num_iters)
        call("eval_end", logs)
        return logs

    def _run(
        self, loader: Any, mode: str, call: Callbacks, most: int | None, every: int = 1
    ) -> dict[str, Any]:
        """One pass over the data: what the last step gave."""
        for metric in self._metrics:
            metric.reset()
        logs: dict[str, Any] = {"steps": 0, "samples": 0}
        for step, (batch, is_last) in enumerate(_with_last(loader, most)):
            call(f"{mode}_batch_begin", step, logs)
            inputs, labels = batch[: self._count], batch[self._count :]
            if mode == "train":
                found = self.train_batch(inputs, labels, (step + 1) % every == 0 or is_last)
            else:
                found = self.eval_batch(inputs, labels)
            losses = found[0] if self._metrics else found
            values: dict[str, Any] = {"loss": losses} if losses else {}
            for entry in self._metrics:
                values.update(zip(_listed(entry.name()), _listed(entry.accumulate()), strict=True))
            logs.update(values, step=step, batch_size=len(batch[0]))
            logs["steps"] += 1
            logs["samples"] += len(batch[0])
            call(f"{mode}_batch_end", step, logs)
        return logs

    def _names(self) -> list[str]:
        names = ["loss"] if self._loss is not None else []
        return [*names, *(name for metric in self._metrics for name in _listed(metric.name()))]

    def _callbacks(
        self, given: Any, loader: Any, params: dict[str, Any], *own: Callback
    ) -> Callbacks:
        """Those given, after ours of kinds that are not among them."""
        mine = _listed(given)
        kinds = [*own, LRScheduler()] if "epochs" in params else own
        ours = [one for one in kinds if not any(isinstance(other, type(one)) for other in mine)]
        said = {**params, "steps": _length(loader), "metrics": self._names()}
        return Callbacks([*ours, *mine], self, said)


def _length(loader: Any) -> int | None:
    """How many batches there are, if that is known."""
    return len(loader) if hasattr(loader, "__len__") else None


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _tensors(values: Any) -> list[Any]:
    return [
        value if isinstance(value, Tensor) else dy2st.to_tensor(value) for value in _listed(values)
    ]


def _loader(
    data: Any, size: int, shuffle: bool = False, drop_last: bool = False, workers: int = 0
) -> Any:
    """What gives batches: a Dataset gets a DataLoader."""
    if isinstance(data, dy2st.io.Dataset):
        return DataLoader(
            data, batch_size=size, shuffle=shuffle, drop_last=drop_last, num_workers=workers
        )
    return data


def _with_last(batches: Iterable[Any], most: int | None) -> Iterator[tuple[list[Any], bool]]:
    """Batches as lists, and whether each is the last; at most so many."""
    pending: list[Any] | None = None
    for index, batch in enumerate(batches):
        if most is not None and index >= most:
            break
        if pending is not None:
            yield pending, False
        pending = _listed(batch)
    if pending is not None:
        yield pending, True
