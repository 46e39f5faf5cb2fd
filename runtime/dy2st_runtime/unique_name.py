"""Names that are given once: `linear_0`, `linear_1`, ... as PaddlePaddle counts them.

Functions of `AdamW` and checkpoints of optimizers ask by these names. They depend on what was made
before, so Programs never have them, unless a user has chosen the name.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

_HUMP = re.compile(r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")
_snakes: dict[str, str] = {}


class UniqueNameGenerator:
    """Counts how often each name was asked for.

    >>> before = dy2st.utils.unique_name.switch(UniqueNameGenerator("mine_"))
    >>> dy2st.utils.unique_name.generate("linear")
    'mine_linear_0'
    >>> _ = dy2st.utils.unique_name.switch(before)
    """

    def __init__(self, prefix: str = "") -> None:
        """Begin at 0; all names get the prefix."""
        self._prefix = prefix
        self._used: Counter[str] = Counter()

    def __call__(self, key: str) -> str:
        """The next name."""
        number = self._used[key]
        self._used[key] += 1
        return f"{self._prefix}{key}_{number}"


_generators = [UniqueNameGenerator()]


def generate(key: str) -> str:
    """A name that begins with `key`.

    >>> with guard():
    ...     generate("fc"), generate("fc")
    ('fc_0', 'fc_1')
    """
    return _generators[-1](key)


def switch(new_generator: UniqueNameGenerator | None = None) -> UniqueNameGenerator:
    """Count from 0, or go on where another generator is; the one before.

    >>> before = dy2st.utils.unique_name.switch()
    >>> dy2st.utils.unique_name.generate("linear")
    'linear_0'
    >>> _ = dy2st.utils.unique_name.switch(before)
    """
    before = _generators[-1]
    _generators[-1] = UniqueNameGenerator() if new_generator is None else new_generator
    return before


class guard:
    """Count anew in a `with`, with a prefix if a text is given.

    >>> with dy2st.utils.unique_name.guard("mine_"):
    ...     dy2st.utils.unique_name.generate("linear")
    'mine_linear_0'
    """

    def __init__(self, new_generator: Any = None) -> None:
        """Take the prefix or the generator."""
        if isinstance(new_generator, UniqueNameGenerator):
            self._generator = new_generator
        else:
            self._generator = UniqueNameGenerator(new_generator or "")

    def __enter__(self) -> None:
        """Count in the new generator."""
        _generators.append(self._generator)

    def __exit__(self, *_: object) -> None:
        """Go on in the one before."""
        _generators.pop()


def snake_case(name: str) -> str:
    """The name of a class as the first part of the names of its Layers.

    >>> snake_case("Conv1DTranspose"), snake_case("PReLU")
    ('conv1d_transpose', 'p_re_lu')
    """
    if name not in _snakes:
        _snakes[name] = re.sub(_HUMP, "_", name).lower()
    return _snakes[name]


__all__ = ["UniqueNameGenerator", "generate", "guard", "snake_case", "switch"]
