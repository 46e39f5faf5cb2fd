"""Data parallel training: each process has the model and a part of the batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import numpy as np

from dy2st.paddle.distributed.collectives import group_or_world
from dy2st_runtime.autograd import AfterBackward, is_cleared
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.processes import exchange
from dy2st_runtime.processes.group import Group
from dy2st_runtime.tensor import EagerTensor

Array = np.ndarray[Any, Any]


class DataParallel(Layer):
    """Calls the Layer that it holds as `_layers`, and lets processes learn from all their batches.

    All begin with the values that rank 0 has. After each `backward` the gradients are the means
    over all processes; what one process has added up before is part of that. Saves and loads under
    the names of the Layer.

    Parameters
    ----------
    layers
        The model.
    group
        The processes: all, if no group is given.

    Examples
    --------
    >>> from dy2st_runtime.nn import Linear
    >>> sorted(DataParallel(Linear(2, 3)).state_dict())
    ['bias', 'weight']
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ):
        """Take the model, and the processes: all, if no group is given.

        The sizes of buffers have no effect: gradients of one dtype go at once.
        """
        super().__init__()
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        self.group: Group = group_or_world(group)
        self._means = _Means(self.group, layers.parameters())
        if self.group.nranks > 1:
            take_over(self.group, [*layers.parameters(), *layers.buffers()])
            for parameter in self._means.parameters:
                parameter.register_hook(self._means)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the model gives."""
        return self._layers(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Keep gradients of `backward` in the `with` to this process: the next one sums all up.

        >>> net = dy2st.DataParallel(dy2st.nn.Linear(2, 1))
        >>> with net.no_sync():
        ...     net(dy2st.ones([1, 2])).backward()
        >>> net(dy2st.ones([1, 2])).backward()
        >>> net.parameters()[1].grad.item()
        2.0
        """
        before, self._means.is_on = self._means.is_on, False
        try:
            yield
        finally:
            self._means.is_on = before

    def scale_loss(self, loss: Any) -> Any:
        """The loss: gradients are means over the processes, which need no other one.

        >>> net, loss = dy2st.DataParallel(dy2st.nn.Linear(2, 1)), dy2st.ones([])
        >>> net.scale_loss(loss) is loss
        True
        """
        return loss

    def apply_collective_grads(self) -> None:
        """Take the means of the gradients now, as after `no_sync`.

        >>> dy2st.DataParallel(dy2st.nn.Linear(2, 1)).apply_collective_grads()
        """
        means_of_gradients(self.group, self._means.parameters)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """That of the model."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Give the model its values."""
        return self._layers.set_state_dict(*args, **kwargs)

    set_dict = load_dict = set_state_dict


class _Means(AfterBackward):
    """Makes gradients their means over the processes: at once, or in a Program one by one."""

    at_end, is_on = True, True

    def __init__(self, group: Group, parameters: Sequence[Any]) -> None:
        super().__init__(self._take_if_on)
        self._group = group
        self.parameters = [one for one in parameters if not one.stop_gradient]

    def __call__(self, *gradients: Any) -> Any:
        """The means of gradients that are being recorded: those of one dtype go at once."""
        found = [*gradients]
        for dtype in {one.dtype: None for one in gradients} if self.is_on else ():
            places = [place for place, one in enumerate(gradients) if one.dtype == dtype]
            flat = F.concat([gradients[place].reshape([-1]) for place in places])
            flat = apply("all_reduce", flat, op="avg", ranks=tuple(self._group.ranks))
            parts = F.split(flat, [math.prod(gradients[place].shape) for place in places])
            for place, part in zip(places, parts, strict=True):
                found[place] = part.reshape(gradients[place].shape)
        return found

    def _take_if_on(self) -> None:
        if self.is_on:
            means_of_gradients(self._group, self.parameters)


def means_of_gradients(group: Group, parameters: Sequence[Any]) -> None:
    """Put the means over the processes into `.grad` of all parameters of which any has one."""
    if group.nranks == 1:
        return
    if current_tracer() is not None:
        raise ConversionError(
            "means of gradients over processes, by themselves, in a converted function",
            at=None,
            why="a Program takes them where backward() makes gradients",
            hint="leave the call away, or make it outside",
        )
    for same in _by_dtype(parameters):
        known = [None if one.grad is None or is_cleared(one) else one.grad.array for one in same]
        # Behind the gradients stands which of them there are: a mean of 0 says that none is.
        there = np.array([array is not None for array in known], same[0].array.dtype)
        arrays = [
            np.zeros_like(one.array) if array is None else array
            for one, array in zip(same, known, strict=True)
        ]
        found = _together(group, "gradients", [*arrays, there], exchange.reducer(exchange.AVG))
        for one, mean, share in zip(same, found, found[-1], strict=False):
            if share:
                one.grad = EagerTensor(mean)


def take_over(group: Group, tensors: Sequence[EagerTensor]) -> None:
    """Give tensors the values that the first process of the group has."""
    for same in _by_dtype(tensors):
        arrays = [tensor.array for tensor in same]
        found = _together(group, "the parameters of rank 0", arrays, exchange.from_rank(0))
        for tensor, array in zip(same, found, strict=True):
            tensor.put(array)


def _by_dtype(tensors: Sequence[EagerTensor]) -> list[list[EagerTensor]]:
    def name(tensor: EagerTensor) -> str:
        return str(tensor.array.dtype.name)

    return [[*same] for _, same in groupby(sorted(tensors, key=name), name)]


def _together(
    group: Group, what: str, arrays: Sequence[Array], reduce: Callable[[Array], Array]
) -> list[Array]:
    """Arrays of one dtype over all processes, as one."""
    flat = np.concatenate([array.reshape(-1) for array in arrays])
    what = exchange.described(what, flat)
    work = group.start(what, lambda channel: exchange.combine(channel, what, flat, reduce))
    parts = np.split(group.finish(work), np.cumsum([array.size for array in arrays])[:-1])
    return [part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True)]
