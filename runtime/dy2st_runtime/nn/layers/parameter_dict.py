"""Parameters by name, as a Layer."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import Parameter


class ParameterDict(Layer):
    """A dict of Parameters that are registered.

    >>> table = dy2st.nn.ParameterDict({"w": dy2st.create_parameter([2, 3], "float32")})
    >>> table.update({"b": dy2st.create_parameter([3], "float32")})
    >>> list(table.keys()), table["w"].shape
    (['w', 'b'], [2, 3])
    >>> len(table.values()), [(name, one.shape) for name, one in table.items()]
    (2, [('w', [2, 3]), ('b', [3])])
    """

    def __init__(self, parameters: Any = None):
        """Take the first parameters: a dict or (name, parameter) pairs."""
        super().__init__()
        self.update(parameters or {})

    def update(self, parameters: Any) -> None:
        """Add or replace parameters."""
        pairs: Iterable[tuple[str, Parameter]] = (
            parameters.items() if isinstance(parameters, (Mapping, ParameterDict)) else parameters
        )
        for name, parameter in pairs:
            self.add_parameter(name, parameter)

    def keys(self) -> KeysView[str]:
        """The names in order."""
        return self._parameters.keys()

    def values(self) -> ValuesView[Parameter]:
        """The parameters in order."""
        return self._parameters.values()

    def items(self) -> ItemsView[str, Parameter]:
        """Names and parameters in order."""
        return self._parameters.items()

    def __getitem__(self, key: str) -> Parameter:
        """A parameter by name."""
        return self._parameters[key]  # type: ignore[no-any-return]

    def __setitem__(self, key: str, parameter: Parameter) -> None:
        """Add or replace a parameter."""
        self.add_parameter(key, parameter)

    def __contains__(self, key: object) -> bool:
        """Whether there is a parameter of this name."""
        return key in self._parameters

    def __len__(self) -> int:
        """How many parameters."""
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        """The names in order."""
        return iter(self._parameters)
