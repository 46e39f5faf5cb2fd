"""The paths of Layers in a trace, `layers.0.conv1`: by them people find operators again."""

from __future__ import annotations

from itertools import count

from dy2st_runtime.nn.layer import Layer


class LayerPaths:
    """Layers by id, with their paths; each entry holds its Layer, so that the id stays its own."""

    def __init__(self) -> None:
        """Know none."""
        self._known: dict[int, tuple[Layer, str]] = {}
        self._taken: set[str] = set()

    def of(self, layer: Layer, around: str) -> str:
        """The path of a Layer that is called while one of the path `around` runs.

        What no Layer holds, or a list of Python's, is called by its class.
        """
        if id(layer) not in self._known:
            name = type(layer).__name__
            wish = f"{around}.{name}" if around else name
            tried = (wish if number == 0 else f"{wish}_{number}" for number in count())
            self.enter(layer, next(path for path in tried if path not in self._taken))
        return self._known[id(layer)][1]

    def enter(self, layer: Layer, path: str) -> None:
        """Know a Layer and all inside of it; those that are known keep the path that they have."""
        todo = [(layer, path)]
        while todo:
            layer, path = todo.pop()
            if id(layer) in self._known:
                continue
            self._known[id(layer)] = layer, path
            self._taken.add(path)
            held = layer.__dict__.get("_sub_layers", {})
            inner = [(one, f"{path}.{name}" if path else name) for name, one in held.items()]
            todo += [entry for entry in reversed(inner) if entry[0] is not None]


__all__ = ["LayerPaths"]
