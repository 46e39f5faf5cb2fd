"""DataParallel: a model as every process has it. With one process it is the model."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from dy2st_runtime.nn.layer import Layer


class DataParallel(Layer):
    """Calls the Layer that it holds as `_layers`; saves and loads under that one's names.

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
        """Take the model; the rest says how processes exchange gradients, and there is one."""
        super().__init__()
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the model gives."""
        return self._layers(*inputs, **kwargs)

    def no_sync(self) -> AbstractContextManager[None]:
        """Compute without exchanging gradients, which never happens."""
        return nullcontext()

    def scale_loss(self, loss: Any) -> Any:
        """The loss, divided by the number of processes."""
        return loss

    def apply_collective_grads(self) -> None:
        """Sum gradients over processes: they are what they are."""

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """That of the model."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Give the model its values."""
        return self._layers.set_state_dict(*args, **kwargs)

    set_dict = load_dict = set_state_dict
