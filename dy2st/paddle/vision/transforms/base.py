"""Defines a transform: a call that changes the picture of a sample; and chains of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st_runtime.errors import ArgumentError


class BaseTransform:
    """A change of pictures, and of what belongs to them.

    A subclass writes `_apply_image`, and `_apply_boxes`, `_apply_mask` or whatever the keys name.
    `_get_params` is given all inputs beforehand; what it returns is in `params`.

    Parameters
    ----------
    keys
        what the inputs are, in order; further inputs stay as they are

    Examples
    --------
    >>> class Negative(BaseTransform):
    ...     def _apply_image(self, image):
    ...         return 255 - image
    >>> Negative()(55), Negative()((55, "label"))
    (200, (200, 'label'))
    """

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        """Take what the inputs are: an image if it is not said."""
        self.keys = ("image",) if keys is None else keys
        self.params: Any = None
        if isinstance(self.keys, str) or not isinstance(self.keys, Sequence):
            raise ArgumentError(f"keys is a list of names, not {keys!r}")
        for key in self.keys:
            if self._get_apply(key) is None:
                raise NotImplementedError(f"{type(self).__name__} has no method _apply_{key}")

    def __call__(self, inputs: Any) -> Any:
        """The input changed, or the tuple of inputs."""
        entries = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(entries)
        outputs = list(entries)
        for place, key in enumerate(self.keys[: len(entries)]):
            change = self._get_apply(key)
            if change is not None:
                outputs[place] = change(entries[place])
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        return None

    def _get_apply(self, key: str) -> Callable[[Any], Any] | None:
        change: Callable[[Any], Any] | None = getattr(self, f"_apply_{key}", None)
        return change

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_image of its own")

    def _apply_boxes(self, boxes: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_boxes of its own")

    def _apply_mask(self, mask: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_mask of its own")

    def _apply_coords(self, coords: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_coords of its own")


class Compose:
    """Transforms one after the other.

    >>> Compose([abs, str])(-3)
    '3'
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        """Take the transforms in order."""
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        """What all of them make of the data."""
        for transform in self.transforms:
            data = transform(data)
        return data

    def __repr__(self) -> str:
        """One transform a line."""
        lines = [f"    {transform}" for transform in self.transforms]
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])
